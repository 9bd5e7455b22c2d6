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
    Errors: :class:`RunError` naming the other process, or a folder that cannot be made or written to.
    """
    with _opened(folder) as stream:
        if not _take(stream):
            stream.seek(0)
            raise RunError(
                f"another process ({stream.read().strip() or 'of unknown number'}) is writing to this run folder",
                place=Place(str(folder)),
                hint="wait until it has finished, or name another folder",
            )
        # the number is a courtesy to others: where the disk is full, the first file of the run says so
        with contextlib.suppress(OSError):
            os.ftruncate(stream.fileno(), 0)
            os.write(stream.fileno(), f"pid {os.getpid()}\n".encode("ascii"))
        yield


def _opened(folder: Path) -> IO[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / LOCK_NAME).open("a+", encoding="ascii")
    except OSError as error:
        where = Place(str(folder))
        why, hint = str(error), "name another folder with --out"
        raise RunError("this run folder cannot be made or written to", place=where, why=why, hint=hint) from error


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
