"""Claims of paid requests, kept with the answers: no two workers pay for the same request at the same time.

A worker writes a claim, durably, before it sends a request, and seals it once the answer is kept. A claim without an
answer, whose worker is gone, may have been paid: another worker may ask again, and is told who had it before. A worker
is gone when the operating system has given up its lock (same machine), or when it has not renewed its lease (another
machine: file systems of a network do not all pass on locks).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import IO, TypeVar
from uuid import uuid4

from lexiscope.core.errors import Place, RunError
from lexiscope.core.run import take_lock, write_atomically
from lexiscope.core.showing import counted

LEASE = 60.0
"""How long a worker of another machine counts as alive after it last renewed its lease. *Unit:* seconds."""

LOG = logging.getLogger(__name__)
Answer = TypeVar("Answer")
GONE = "a process ended between request and reply"
"""Why a request of a claim may have been paid whose worker is gone."""

_RELEASED = "released\n"
_NAME = 40
# seconds
_LOOK_AGAIN = 0.5


def warn_of_possibly_paid(subject_id: str, n: int) -> None:
    """Warn of *n* requests that may have been paid without a reply, if there are any."""
    if n:
        LOG.warning(
            "%s: %s may have been paid without a reply. Counted as possibly_paid.", subject_id, counted(n, "request")
        )


class RequestClaims:
    """The claims of one worker on the requests of one log, in *folder*; without a folder it holds none.

    It is a context manager: the lease of *lease* seconds is renewed inside the block. Of every request there are claims
    0, 1, 2 …, each a file that only one worker can make; the last one counts. None is removed before there is an
    answer, so that a worker that looks late cannot take what has been taken meanwhile.
    Errors: :class:`RunError` where the folder cannot be written to.
    """

    def __init__(self, folder: Path | None, *, lease: float = LEASE) -> None:
        self.worker = uuid4().hex
        self._folder, self._lease = folder, lease
        self._stream: IO[bytes] | None = None
        self._held: dict[str, Path] = {}
        self._ended = Event()
        self._renewer = Thread(target=self._renew, daemon=True)

    def __enter__(self) -> RequestClaims:
        if self._folder is not None:
            with _written(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                self._stream = self._worker_file(self.worker).open("x+b")
                self._stream.write(_machine())
                self._stream.flush()
                # nobody else knows this file
                take_lock(self._stream)
            self._renewer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._ended.set()
            self._renewer.join()
            self._stream.close()
            with contextlib.suppress(OSError):
                self._worker_file(self.worker).unlink()

    def take(self, name: str) -> tuple[str, ...] | None:
        """Claim the request of this name; return the workers that had claimed it and are gone, in order.

        ``None`` where a living worker has it. Who has a claim looks for an answer before it sends anything: another
        worker may have kept one just before. Errors: :class:`RunError` where the claim cannot be written.
        """
        if self._folder is None:
            return ()
        gone: list[str] = []
        for number in itertools.count():
            path = self._folder / f"{name[:_NAME]}.{number}"
            with _written(path):
                if _make_durably(path, f"{self.worker}\n"):
                    self._held[name] = path
                    return tuple(gone)
                state = self._state(path)
            if state is None:
                return None
            if state:
                gone.append(state)
        raise AssertionError("there is always a further number")

    def answer(
        self,
        name: str,
        *,
        kept: Callable[[], Answer | None],
        ask: Callable[[Sequence[str]], Answer],
        wait: Callable[[float], None],
    ) -> Answer:
        """Return the kept answer to the request of this name, or ask under a claim; wait while another worker asks.

        *kept* looks for the answer, also for one that another process has added. *ask* is given the workers that had a
        claim and are gone, counts what may have been paid, and keeps the answer. *wait* pauses, in seconds.
        Errors: those of the three; the claim is given back.
        """
        while (gone := self.take(name)) is None:
            answer = kept()
            if answer is not None:
                return answer
            LOG.info("another process asks for a reply that is needed here: waiting for it")
            wait(_LOOK_AGAIN)
        try:
            answer = kept()
            if answer is None:
                answer = ask(gone)
        except BaseException:
            # all that may have been paid for it is counted
            self.release(name)
            raise
        self.seal(name)
        return answer

    def release(self, name: str) -> None:
        """Give a claim back: the request came to an end, and what may have been paid for it has been counted."""
        if self._folder is not None:
            write_atomically(self._held.pop(name), _RELEASED)

    def seal(self, name: str) -> None:
        """Remove all claims on a request whose answer is kept."""
        if self._folder is not None:
            self._held.pop(name)
            for path in self._folder.glob(f"{name[:_NAME]}.*"):
                path.unlink(missing_ok=True)

    def _state(self, path: Path) -> str | None:
        """Return the worker of a claim that is gone, "" for a claim given back, ``None`` for one that holds."""
        try:
            content, written = path.read_text("ascii"), path.stat().st_mtime
        except FileNotFoundError:
            # sealed meanwhile: there is an answer
            return None
        if content == _RELEASED:
            return ""
        if not content.endswith("\n"):
            # its worker is writing it, or ended while it did: before it sent anything
            return "" if self._now() - written > self._lease else None
        worker = content.strip()
        return None if self._is_alive(worker) else worker

    def _is_alive(self, worker: str) -> bool:
        path = self._worker_file(worker)
        try:
            with path.open("r+b") as stream:
                if stream.read() == _machine():
                    return not take_lock(stream)
            return self._now() - path.stat().st_mtime <= self._lease
        except FileNotFoundError:
            # it left in peace, but for this claim
            return False

    def _now(self) -> float:
        """Return the time by the clock of the file system: those of two machines differ."""
        path = self._worker_file(self.worker)
        os.utime(path)
        return path.stat().st_mtime

    def _renew(self) -> None:
        while not self._ended.wait(self._lease / 4):
            with contextlib.suppress(OSError):
                os.utime(self._worker_file(self.worker))

    def _worker_file(self, worker: str) -> Path:
        assert self._folder is not None
        return self._folder / f"worker-{worker}"


def _machine() -> bytes:
    """Return what tells this machine from others, without its name."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:16].encode()


@contextlib.contextmanager
def _written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError("a claim on a request cannot be kept", place=Place(str(path)), why=str(error)) from error


def _make_durably(path: Path, content: str) -> bool:
    """Make a file that outlasts a power cut; return whether it was not there before."""
    try:
        with path.open("x", encoding="ascii") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return False
    if sys.platform != "win32":
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    return True
