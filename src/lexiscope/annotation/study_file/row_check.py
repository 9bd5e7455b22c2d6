"""Every row of a study's database is checked by another process, while this one works with the study."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from lexiscope.annotation.store.backup import KEY_NAME, unusable
from lexiscope.annotation.study_file.freeze import FrozenStudy

_NICE = 10


class RowCheck:
    """A check in another process, which ends with the block that it is used in, done or not."""

    def __init__(self, study: FrozenStudy, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._reply, theirs = context.Pipe()
        self._process = context.Process(target=_check, args=(theirs, folder), name="lexiscope-check", daemon=True)
        with _ignored_interrupts():
            self._process.start()
        theirs.close()
        # the study is larger than a pipe: it is sent while the process starts, and not if it never does
        self._sending = threading.Thread(target=self._send, args=(study,), daemon=True)
        self._sending.start()

    def _send(self, study: FrozenStudy) -> None:
        with suppress(OSError):
            self._reply.send(study)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._reply.close()

    def stop(self) -> None:
        """End the process; :meth:`wait` in another thread raises :class:`EOFError`."""
        self._process.kill()
        self._process.join()
        self._sending.join()

    def wait(self) -> str:
        """Return what is wrong with the rows, empty where nothing is.

        Errors: :class:`EOFError` where the process ended before it had an answer.
        """
        try:
            return str(self._reply.recv())
        except ConnectionError as error:
            raise EOFError from error


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Start a process for which Ctrl-C is not meant: it inherits that the signal is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _check(waiting: Connection, folder: Path) -> None:
    study = study_from(waiting)
    with suppress(OSError):
        waiting.send(unusable(folder, (folder / KEY_NAME).read_bytes(), study.record))


def study_from(waiting: Connection, *, gone: Callable[[], None] = lambda: None) -> FrozenStudy:
    """Return the study that the process that waits sends first; this process ends with that one, after *gone*.

    Ctrl-C is for the other process, and what it does has precedence on the processor.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)

    def receive() -> FrozenStudy:
        try:
            study: FrozenStudy = waiting.recv()
        except (EOFError, OSError):
            gone()
            os._exit(1)
        return study

    study = receive()
    # nothing more is sent, so that what comes next is the end of the connection
    threading.Thread(target=receive, daemon=True).start()
    return study
