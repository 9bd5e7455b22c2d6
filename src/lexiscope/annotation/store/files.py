"""The files of an open SQLite study: they must be the ones that were opened, and changed by its writer alone.

A database that is moved away, deleted or replaced still stores answers through the open handle, and they are lost.
 So the path is compared with what was opened before and after each commit. A file that another program
wrote to is checked from its first row before the next answer is stored.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lexiscope.annotation.store.engine import FILE_ERRORS, StorageError, open_file
from lexiscope.core.errors import Place

LOG = logging.getLogger("lexiscope.annotation")
_Identity = tuple[int, int] | None
_State = tuple[int, int] | None


class StudyFiles:
    """The database file and the write-ahead log of an open study.

    *examine* checks the whole database through new connections and raises where something is wrong.
    """

    def __init__(self, path: Path, examine: Callable[[], None]) -> None:
        self.path, self._examine = path, examine
        self._log = path.with_name(f"{path.name}-wal")
        # while a connection is open SQLite keeps the log, so that its identity stays
        self._held: sqlite3.Connection | None = open_file(path, mode="rw")
        with suppress(*FILE_ERRORS):
            self._held.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self._opened = [_identity(path), _identity(self._log)]
        self._known = self._states()
        self.damage: StorageError | None = None
        """The damage that was found: from then on nothing is stored."""
        self._reported = ""

    def check_present(self) -> None:
        """Check that the path still leads to the open files, and that no damage was found.

        Errors: :class:`StorageError`.
        """
        if self.damage is not None:
            self._report(self.damage)
            raise self.damage
        present = [_identity(self.path), _identity(self._log)]
        # a log that SQLite had not made yet is the one that it made since
        self._opened[1] = self._opened[1] or present[1]
        if self._opened != present:
            error = StorageError(
                "the database was moved, deleted or replaced while the study was open: nothing is saved",
                place=Place(str(self.path)),
                hint="put the same file back, or stop the server and restore the newest backup",
            )
            self._report(error)
            raise error
        self._reported = ""

    def _report(self, error: StorageError) -> None:
        """Write an error to the server's messages once, and again where it passed and came back."""
        if self._reported != error.what:
            self._reported = error.what
            LOG.error("%s", error)

    def check_unchanged(self) -> None:
        """Check before a commit that no other program wrote to the files since the last one.

        Errors: :class:`StorageError`; damage is remembered.
        """
        self.check_present()
        now = self._states()
        if now != self._known:
            try:
                self._examine()
            except StorageError as error:
                self.damage = error
                self._report(error)
                raise
            self._known = now

    def record(self) -> None:
        """Note the state of the files after a commit or checkpoint of the writer."""
        self._known = self._states()

    @property
    def log_bytes(self) -> int:
        """The size of the write-ahead log."""
        state = _state(self._log)
        return 0 if state is None else state[0]

    def close(self) -> None:
        """Let SQLite remove the log with the last connection."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def _states(self) -> list[_State]:
        return [_state(self.path), _state(self._log)]


def _identity(path: Path) -> _Identity:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _state(path: Path) -> _State:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
