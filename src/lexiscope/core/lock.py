"""One writer per folder: a lock that a killed process gives up by dying."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lexiscope.core.errors import Place, RunError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_NAME = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside the block; make the folder where it is missing.

    The lock is the operating system's, so it goes with the process that holds it, however that process ends.
    Errors: :class:`RunError` naming the other process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK_NAME).open("a+", encoding="ascii") as stream:
        if not _take(stream):
            stream.seek(0)
            raise RunError(
                f"another process ({stream.read().strip() or 'of unknown number'}) is writing to this run folder",
                place=Place(str(folder)),
                hint="wait until it has finished, or name another folder",
            )
        stream.seek(0)
        stream.truncate()
        stream.write(f"pid {os.getpid()}\n")
        stream.flush()
        yield


def _take(stream: IO[str]) -> bool:
    """Take the lock without waiting; it is released when the file is closed."""
    with contextlib.suppress(BlockingIOError, PermissionError):
        if sys.platform == "win32":
            # far behind the content, which others must still be able to read
            stream.seek(1 << 20)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
