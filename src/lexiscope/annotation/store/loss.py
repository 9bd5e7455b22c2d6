"""A study's database that is missing, empty, damaged or another study's: the error, recovery, a new start.

A launched study has a key; from then on its database is never made again silently. The error names the newest backup
and the command that restores it. Nothing here deletes a file.
"""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from pathlib import Path

from lexiscope.annotation.store import backup
from lexiscope.annotation.store.engine import DATABASE_NAME, DamagedError, StorageError, storage_error
from lexiscope.annotation.store.mark import MARK_NAME
from lexiscope.core.errors import Place, RunError

_SURROUNDINGS = ("BUSY", "LOCKED", "FULL", "CANTOPEN", "READONLY", "PERM", "NOMEM", "INTERRUPT", "IOERR_WRITE")


class DatabaseLostError(RunError):
    """The folder of a launched study has no database, an empty one, or one that is not the study's latest."""


def missing_database_error(folder: Path) -> DatabaseLostError | None:
    """Return the error where a folder has traces of a study but no database, or an empty one."""
    path, traces = folder / DATABASE_NAME, _study_traces(folder)
    empty = path.is_file() and not path.stat().st_size
    if not traces or (path.is_file() and not empty):
        return None
    what = "the database is empty" if empty else "the database is missing"
    return lost_database_error(folder, f"{what}, although the folder has {' and '.join(traces)}")


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
    again = "start again without its answers: lexiscope annotate serve STUDY --new"
    if shared:
        return f"restore the PostgreSQL database from its newest dump, or {again}"
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
    aside.mkdir(mode=0o700)
    for name in present:
        (folder / name).rename(aside / name)
    return aside


def is_launched(folder: Path) -> bool:
    """Check whether a study was launched in a folder: it has a key, a mark or backups."""
    return bool(_study_traces(folder))


def _study_traces(folder: Path) -> list[str]:
    names = [name for name in (backup.KEY_NAME, MARK_NAME) if (folder / name).exists()]
    copies = len(backup.copies_in(folder))
    return names + ([f"{copies} {'backup' if copies == 1 else 'backups'}"] if copies else [])
