"""One writer per folder: a lock that a killed process gives up by dying."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
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
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside the block; make the folder where it is missing.

    The lock is the operating system's, so it goes with the process that holds it, however that process ends. Where the
    block fails before it has written anything, the lock's file goes, and with it every folder that was made for it.
    Errors: :class:`RunError` naming the other process, or a folder that cannot be made or written to.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    with _open_lock_file(folder) as stream:
        if not _take_lock(stream) or not _is_file_at(folder / LOCK_NAME, stream):
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
        try:
            yield
        except BaseException:
            # still under the lock, so that no other process can have begun to write here
            _remove_what_was_made(folder, missing)
            raise
        # no process holds it: the file is empty
        with contextlib.suppress(OSError):
            os.ftruncate(stream.fileno(), 0)


def _remove_what_was_made(folder: Path, made_folders: Sequence[Path]) -> None:
    """Remove the lock's file where nothing else is in the folder, and those folders that were *made_folders* for it."""
    # an open file cannot be removed on Windows: there the folder stays, with the lock alone in it
    with contextlib.suppress(OSError):
        if [path.name for path in folder.iterdir()] == [LOCK_NAME]:
            (folder / LOCK_NAME).unlink()
            for made_folder in made_folders:
                made_folder.rmdir()


def _is_file_at(path: Path, stream: IO[str]) -> bool:
    """Whether the file that was opened is the one at this path: a process that leaves may have removed it since."""
    with contextlib.suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(stream.fileno()))
    return False


def _open_lock_file(folder: Path) -> IO[str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / LOCK_NAME).open("a+", encoding="ascii")
    except OSError as error:
        where = Place(str(folder))
        why, hint = str(error), "name another folder with --out"
        raise RunError("this run folder cannot be made or written to", place=where, why=why, hint=hint) from error


def _take_lock(stream: IO[str]) -> bool:
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
