"""The check of every row of a study's database by another process, while this one works with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from lexiscope.annotation.store.backup import KEY_NAME, unusable
from lexiscope.annotation.study_file.freeze import FrozenStudy

_NICE = 10


class RowCheck:
    """A check that runs in a process of its own until it is done, or until the block that it is used in ends."""

    def __init__(self, study: FrozenStudy, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._reply, theirs = context.Pipe()
        given = (theirs, study, folder)
        self._process = context.Process(target=_check, args=given, name="lexiscope-check", daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._reply.close()

    def stop(self) -> None:
        """End the process; whoever waits for its answer gets an :class:`EOFError`."""
        self._process.kill()
        self._process.join()

    def wait(self) -> str:
        """Return what is wrong with the rows, empty where nothing is.

        Errors: :class:`EOFError` where the process ended before it had an answer.
        """
        return str(self._reply.recv())


def _check(reply: Connection, study: FrozenStudy, folder: Path) -> None:
    # Ctrl-C is for the process that waits, which ends this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    threading.Thread(target=_end_with, args=(reply,), daemon=True).start()
    with suppress(BrokenPipeError):
        reply.send(unusable(folder, (folder / KEY_NAME).read_bytes(), study.record))


def _end_with(waiting: Connection) -> None:
    """End when the process that waits is gone: it never says anything, so all that can come is the connection's end."""
    with suppress(EOFError, OSError):
        waiting.recv()
    os._exit(1)
