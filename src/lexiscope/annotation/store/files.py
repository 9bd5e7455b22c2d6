"""The files of an open SQLite study, and what happens if they are missing, empty, damaged or another study's.

A database that is moved away, deleted or replaced still stores answers through the open handle, and they are lost.
 So the path is compared with what was opened before and after each commit. A file that another program
wrote to is checked from its first row before the next answer is stored.
"""

from __future__ import annotations

import logging
import os
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from lexiscope.annotation.store import backup
from lexiscope.annotation.store.engine import (
    DATABASE_NAME,
    FILE_ERRORS,
    DamagedError,
    StorageError,
    open_file,
    storage_error,
)
from lexiscope.annotation.store.mark import MARK_NAME, LogMark
from lexiscope.core.errors import Place, RunError
from lexiscope.core.showing import counted

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
    def is_as_recorded(self) -> bool:
        """Whether no damage was found and no other program wrote to the files since the writer did."""
        return self.damage is None and self._states() == self._known

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


# -- loss -----------------------------------------------------------------------------------------------------------
# A study's database that is missing, empty, damaged or another study's: the error, recovery, a new start.
#
# A launched study has a key; from then on its database is never made again silently. The error names the newest backup
# and the command that restores it. Nothing here deletes a file.


_SURROUNDINGS = ("BUSY", "LOCKED", "FULL", "CANTOPEN", "READONLY", "PERM", "NOMEM", "INTERRUPT", "IOERR_WRITE")


class DatabaseLostError(RunError):
    """The folder of a launched study has no database, an empty one, or one that is not the study's latest."""


def missing_database_error(folder: Path) -> DatabaseLostError | None:
    """Return the error where a folder has traces of a study but no database, or an empty one."""
    path, traces = folder / DATABASE_NAME, _study_traces(folder)
    empty = path.is_file() and not path.stat().st_size
    if not traces or (path.is_file() and not empty):
        return None
    if is_in_postgresql(folder):
        return in_postgresql_error(folder)
    what = "the database is empty" if empty else "the database is missing"
    return lost_database_error(folder, f"{what}, although the folder has {' and '.join(traces)}")


def is_in_postgresql(folder: Path) -> bool:
    """Check whether a folder is that of a study in PostgreSQL: without the key in it, the study is lost."""
    mark = LogMark.read(folder)
    return mark is not None and mark.is_shared


def in_postgresql_error(folder: Path) -> DatabaseLostError:
    """Return the error for a study in PostgreSQL of which the database is not named."""
    hint = "name its database: --postgres URL; for another study name another folder"
    return DatabaseLostError("this study is stored in PostgreSQL", place=Place(str(folder)), hint=hint)


def lost_database_error(folder: Path, what: str, *, shared: bool = False) -> DatabaseLostError:
    """Return the error for a database that is not the one that a study had last (*shared*: in PostgreSQL)."""
    place = Place(str(folder if shared else folder / DATABASE_NAME))
    return DatabaseLostError(what, place=place, hint=recovery_hint(folder, shared=shared))


def damaged_database_error(folder: Path, why: object) -> DamagedError:
    """Return the error for a database that is damaged; *why* is SQLite's message or the first problem of a check."""
    # the first line: what follows may quote rows
    reason = (str(why).splitlines() or [""])[0]
    return DamagedError(
        f"the database is damaged ({reason})", place=Place(str(folder / DATABASE_NAME)), hint=recovery_hint(folder)
    )


def opening_error(error: Exception, folder: Path) -> StorageError:
    """Return the error for what a SQLite database raised while it was opened: its surroundings, or damage."""
    original = getattr(error, "orig", None) or error
    name = str(getattr(original, "sqlite_errorname", "") or "").removeprefix("SQLITE_")
    if name.startswith(_SURROUNDINGS):
        return storage_error(error, folder / DATABASE_NAME)
    return damaged_database_error(folder, original)


def recovery_hint(folder: Path, *, shared: bool = False) -> str:
    """Return what to do, in one line: the command that restores the newest sound backup, if there is one."""
    if shared:
        command = f"lexiscope annotate restore {shlex.quote(str(folder))} --postgres URL"
        return f"restore the PostgreSQL database from its newest dump, then accept its state: {command}"
    again = "start again without its answers: lexiscope annotate serve STUDY --new"
    newest = backup.newest_sound(folder)
    if newest is None:
        return f"no usable backup in {folder / backup.BACKUPS}: put the database file back, or {again}"
    command = f"lexiscope annotate restore {shlex.quote(str(folder))} {shlex.quote(str(newest))}"
    return f"restore the newest backup: {command}"


def set_files_aside(folder: Path) -> Path | None:
    """Move a lost study's database, key, mark and backups into a new folder; return it, ``None`` if empty."""
    names = [DATABASE_NAME, f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm", MARK_NAME]
    names += [backup.KEY_NAME, backup.HALF_KEY_NAME, backup.BACKUPS]
    present = [name for name in names if (folder / name).exists()]
    if not present:
        return None
    aside = folder / f"before_{datetime.now(UTC):%Y%m%dT%H%M%S_%f}"
    aside.mkdir(backup.FOLDER_MODE)
    for name in present:
        (folder / name).rename(aside / name)
    return aside


def is_launched(folder: Path) -> bool:
    """Check whether a study was launched in a folder: it has a key, a mark or backups."""
    return bool(_study_traces(folder))


def _study_traces(folder: Path) -> list[str]:
    names = [name for name in (backup.KEY_NAME, MARK_NAME) if (folder / name).exists()]
    copies = len(backup.copies_in(folder))
    return names + ([counted(copies, "backup")] if copies else [])
