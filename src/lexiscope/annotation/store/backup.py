"""Backups while the study runs, putting one back, and checking a database file."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lexiscope.annotation.store import seals
from lexiscope.annotation.store.audit import verify as verify_audit
from lexiscope.annotation.store.engine import DATABASE_NAME, Database, StorageError, sa, storage_error
from lexiscope.core.errors import DataError, InputError, Place
from lexiscope.core.lock import locked

BACKUPS, KEY_NAME = "backups", "secret.key"
_BY_DATE = re.compile(r"\d{8}T\d{6}_\d{6}\.sqlite")


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What a check of a study's database found; ``problems`` is empty where all is well."""

    answers: int
    audit_entries: int
    problems: tuple[str, ...]


def copies_in(folder: Path) -> list[Path]:
    """Return the copies in a study's ``backups/``, sorted by name, those made by date oldest first."""
    return sorted((folder / BACKUPS).glob("*.sqlite"))


def copy_key(folder: Path) -> None:
    """Put the study's key beside its backups: without it, a restored study finds no participant again.

    Errors: :class:`StorageError` where it cannot be written.
    """
    own, copy = folder / KEY_NAME, folder / BACKUPS / KEY_NAME
    if copy.exists() and copy.read_bytes() == own.read_bytes():
        return
    half = copy.with_name(f"{KEY_NAME}.part")
    try:
        half.unlink(missing_ok=True)
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(own.read_bytes())
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(half, copy)
    except OSError as error:
        raise StorageError("the key was not copied", place=Place(str(copy)), why=str(error)) from error
    _sync_folder(copy.parent)


def prune(folder: Path, *, keep: int) -> None:
    """Remove all but the newest copies that were made by date.

    The newest is the one that has seen most: a clock that was put back gives a new copy an old name.
    """
    by_date = sorted((copy for copy in copies_in(folder) if _BY_DATE.fullmatch(copy.name)), key=_seen)
    for old in by_date[: max(0, len(by_date) - keep)]:
        old.unlink()


def _seen(copy: Path) -> tuple[int, str]:
    """How many entries of the audit log a copy has, then its name; one that cannot be read has seen nothing."""
    try:
        with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return int(connection.execute("SELECT coalesce(max(id), 0) FROM audit").fetchone()[0]), copy.name
    except sqlite3.Error:
        return 0, copy.name


def write_backup(database: Database, target: Path) -> Path:
    """Copy a SQLite database that is in use; the copy holds every answer acknowledged before the call.

    The copy is complete, checked and on the disk before it gets its name. Errors: :class:`InputError` for PostgreSQL
    (use its own tools) or a target that exists, :class:`StorageError` where the copy cannot be made.
    """
    if database.path is None:
        raise InputError("a PostgreSQL study is backed up by PostgreSQL", hint="use pg_dump")
    if target.exists():
        raise InputError("there is a file of this name already", place=Place(str(target)))
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f"{target.name}.part")
    try:
        _copy(database.path, half)
        os.replace(half, target)
    except (sqlite3.Error, OSError) as error:
        raise storage_error(error, database) from error
    finally:
        half.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return target


def restore(backup: Path, folder: Path, *, key: Path | None = None) -> Path:
    """Put a backup into a study folder that has no database; return the database's path.

    The study's ``secret.key`` is the one in the folder, or named by *key*, or the one that lies beside the backup.
    Errors: :class:`DataError` for a damaged backup, :class:`InputError` where a database or no key is there,
    :class:`RunError` where the study is open.
    """
    problems = file_problems(backup)
    if problems:
        raise DataError("this backup is damaged", place=Place(str(backup)), why=problems[0])
    with locked(folder):
        target = folder / DATABASE_NAME
        if target.exists():
            raise InputError("the folder has a database", place=Place(str(target)), hint="move it away first")
        own = folder / KEY_NAME
        beside = backup.with_name(KEY_NAME)
        key = beside if key is None and beside.exists() else key
        if not own.exists() and key is None:
            raise InputError("the study's key is needed", place=Place(str(own)), hint="name the file: key=…")
        if not own.exists() and key is not None:
            own.touch(mode=0o600)
            shutil.copyfile(key, own)
        # what is left of a lost database's log must not be applied to this one
        for leftover in (target.with_name(f"{target.name}-wal"), target.with_name(f"{target.name}-shm")):
            leftover.unlink(missing_ok=True)
        half = target.with_name(f"{target.name}.part")
        _copy(backup, half)
        os.replace(half, target)
        _sync_folder(folder)
    return target


def file_problems(path: Path) -> tuple[str, ...]:
    """Return what SQLite's own check says is wrong with a database file."""
    if not path.is_file():
        return (f"there is no file {path}",)
    try:
        with closing(sqlite3.connect(path)) as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
            found += [f"{row[0]}, row {row[1]}: there is no such {row[2]}" for row in broken]
    except sqlite3.DatabaseError as error:
        return (str(error),)
    return tuple(found)


def check(connection: sa.Connection, key: bytes, *, file: Path | None) -> StoreCheck:
    """Check the file, the chain of the audit log, and the rules that every answer obeys."""
    problems = list(file_problems(file)) if file is not None else []
    audit = verify_audit(connection, key)
    problems += [f"audit log: {problem}" for problem in audit.problems]
    problems += seals.problems(connection)
    for name, query in _RULES:
        broken = int(connection.execute(query).scalar_one())
        problems += [f"{broken} answers {name}"] if broken else []
    answers = int(connection.execute(sa.text("SELECT count(*) FROM answers")).scalar_one())
    return StoreCheck(answers, audit.entries, tuple(problems))


_RULES = (
    (
        "of participants without a consent",
        sa.text("SELECT count(*) FROM answers WHERE participant_id NOT IN (SELECT participant_id FROM consents)"),
    ),
    (
        "to items that were not in the participant's plan",
        sa.text(
            "SELECT count(*) FROM answers a WHERE NOT EXISTS (SELECT 1 FROM trials t WHERE t.participant_id ="
            " a.participant_id AND t.phase = a.phase AND t.item_id = a.item_id AND t.position = a.position)"
        ),
    ),
    (
        "whose earlier answer is missing",
        sa.text(
            "SELECT count(*) FROM answers a WHERE a.revision > 0 AND NOT EXISTS (SELECT 1 FROM answers b WHERE"
            " b.id = a.supersedes AND b.participant_id = a.participant_id AND b.phase = a.phase"
            " AND b.item_id = a.item_id AND b.revision = a.revision - 1)"
        ),
    ),
)


def _copy(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    target.touch(mode=0o600)
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        # one file, without a log beside it
        new.execute("PRAGMA journal_mode=DELETE")
        if new.execute("PRAGMA quick_check").fetchone()[0] != "ok":
            raise StorageError("the copy is damaged", place=Place(str(target)))
    with target.open("rb+") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
