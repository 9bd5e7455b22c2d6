"""Backups of a running study, restoring one, and checking a database file."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from lexiscope.annotation.store import audit, places, seals
from lexiscope.annotation.store.engine import (
    DATABASE_NAME,
    FILE_ERRORS,
    UNREADABLE,
    DamagedError,
    Database,
    StorageError,
    connect,
    open_file,
    read_error,
    read_only,
    sa,
    storage_error,
)
from lexiscope.annotation.store.mark import LogMark, rows_digest
from lexiscope.annotation.store.migrate import stored_version
from lexiscope.annotation.store.record import Kind, Phase, State, StudyRecord
from lexiscope.annotation.store.schema import (
    ALEMBIC_VERSION,
    ANSWERS,
    AUDIT,
    AUDIT_HEAD,
    LEASES,
    LISTS,
    METADATA,
    STATES,
    STUDY,
    TIME,
    TRIALS,
)
from lexiscope.annotation.store.seals import sealed_in
from lexiscope.core.errors import DataError, InputError, Place
from lexiscope.core.run import folder_lock

BACKUPS, KEY_NAME = "backups", "secret.key"
HALF_KEY_NAME = f"{KEY_NAME}.new"
"""The key of a study whose first tables are not committed yet."""
FOLDER_MODE = 0o700
"""The mode of a folder that is made for a study or its copies; one that was there keeps its mode."""
_BY_DATE = re.compile(r"\d{8}T\d{6}_\d{6}\.sqlite")


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What a check of a study's database found; ``problems`` is empty where all is well."""

    answers: int
    audit_entries: int
    problems: tuple[str, ...]


CHANGED = "rows were changed after the study was closed"
"""The problem of a closed study's database that only the digest of its rows shows."""


def copies_in(folder: Path) -> list[Path]:
    """Return the copies in a study's ``backups/``, sorted by name, those made by date oldest first."""
    return sorted((folder / BACKUPS).glob("*.sqlite"))


def copy_key(folder: Path) -> None:
    """Copy the study's key to its backups: without it, a restored study cannot look up its participants.

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

    The newest is the one with the longest log: a clock that was set back gives a new copy an old name.
    """
    by_date = sorted((copy for copy in copies_in(folder) if _BY_DATE.fullmatch(copy.name)), key=_log_length)
    for old in by_date[: max(0, len(by_date) - keep)]:
        old.unlink()


def newest_sound(folder: Path) -> Path | None:
    """Return the copy in ``backups/`` with the longest log of those that SQLite finds sound, if there is one."""
    for copy in sorted(copies_in(folder), key=_log_length, reverse=True):
        if _log_length(copy)[0] and not file_problems(copy):
            return copy
    return None


def _log_length(copy: Path) -> tuple[int, str]:
    """The number of audit log entries of a copy, then its name; 0 if it cannot be read."""
    try:
        with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return int(connection.execute("SELECT coalesce(max(id), 0) FROM audit").fetchone()[0]), copy.name
    except (sqlite3.Error, ValueError, TypeError):
        return 0, copy.name


def write_backup(database: Database, target: Path) -> Path:
    """Copy a SQLite database that is in use; the copy holds every answer acknowledged before the call.

    The copy is complete, checked and on the disk before it gets its name. Errors: :class:`InputError` for PostgreSQL
    (use its own tools) or a target that exists, :class:`StorageError` where the copy cannot be made,
    :class:`DamagedError` where the database is damaged.
    """
    if database.path is None:
        raise InputError("a PostgreSQL study is backed up by PostgreSQL", hint="use pg_dump")
    if target.exists():
        raise InputError("there is a file of this name already", place=Place(str(target)))
    target.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    half = target.with_name(f"{target.name}.part")
    try:
        copy_database(database.path, half)
        problems = file_problems(half)
        if problems:
            raise DamagedError("the database is damaged: it was not copied", place=Place(str(target)), why=problems[0])
        os.replace(half, target)
    except (*FILE_ERRORS, OSError) as error:
        raise storage_error(error, database.path) from error
    finally:
        half.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return target


@dataclass(frozen=True, slots=True)
class Restored:
    """The database that a backup was restored to, and the former one (``None`` if there was none), which is kept."""

    database: Path
    former: Path | None


def restore(backup: Path, folder: Path, *, key: Path | None = None) -> Restored:
    """Restore a study's database from a backup.

    A database in the folder that is empty, damaged or not the study's latest is kept under another name; a sound one
    stays, and is an error. The study's ``secret.key`` is the one in the folder, or named by *key*, or the one next to
    the backup. Errors: :class:`DataError` for a damaged backup, or one of another study; :class:`InputError` where a
    sound database or no key is there, :class:`RunError` where the study is open.
    """
    problems = file_problems(backup)
    if problems:
        raise DataError("this backup is damaged", place=Place(str(backup)), why=problems[0])
    with folder_lock(folder, mode=FOLDER_MODE):
        target, own, nearby = folder / DATABASE_NAME, folder / KEY_NAME, backup.with_name(KEY_NAME)
        if not own.exists():
            if target.exists() and target.stat().st_size:
                raise InputError("the folder has a database", place=Place(str(target)), hint="move it away first")
            key = nearby if key is None and nearby.exists() else key
            if key is None:
                raise InputError("the study's key is needed", place=Place(str(own)), hint="name the file: --key FILE")
        secret = (own if own.exists() or key is None else key).read_bytes()
        mark = _mark_of_backup(backup, secret)
        former = _keep_former(folder, secret) if target.exists() else None
        if not own.exists():
            own.touch(mode=0o600)
            own.write_bytes(secret)
        # what is left of a lost database's log must not be applied to this one
        for leftover in (target.with_name(f"{target.name}-wal"), target.with_name(f"{target.name}-shm")):
            leftover.unlink(missing_ok=True)
        half = target.with_name(f"{target.name}.part")
        copy_database(backup, half)
        os.replace(half, target)
        # from here on this is the state that the study had last
        mark.write(folder, lasting=True)
        _sync_folder(folder)
    return Restored(target, former)


def accept_restored(url: str, folder: Path, *, key: Path | None = None) -> StoreCheck:
    """Take a PostgreSQL database that was restored from a dump as the state that its study had last; return its check.

    The study's ``secret.key`` is the one in the folder, or named by *key*. Answers that came after the dump are not in
    it. Errors: :class:`DataError` where the database is not the study's, or not sound; :class:`InputError` where no key
    is there, or no address of a database.
    """
    own = folder / KEY_NAME
    source = own if own.exists() or key is None else key
    if not source.exists():
        raise InputError("the study's key is needed", place=Place(str(own)), hint="name the file: --key FILE")
    secret, database = source.read_bytes(), connect(folder, url=url)
    try:
        with database.read.begin() as connection:
            why = "it has no tables of a study" if not stored_version(connection) else ""
            why = why or reason_not_latest(connection, secret, None)
            result = StoreCheck(0, 0, (why,)) if why else check(connection, secret, file=None)
            if result.problems:
                raise DataError("this database cannot be taken for the study's", why=result.problems[0])
            mark = LogMark.of(connection)
    except sa.exc.SQLAlchemyError as error:
        raise read_error(error, None) from error
    finally:
        database.dispose()
    folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    if source != own:
        own.touch(mode=0o600)
        own.write_bytes(secret)
    mark.write(folder, lasting=True)
    _sync_folder(folder)
    return result


def _mark_of_backup(backup: Path, key: bytes) -> LogMark:
    """Return the mark of a backup. Errors: :class:`DataError` where it holds no study of this key."""
    place = Place(str(backup))
    try:
        with read_only(backup).connect() as connection:
            if not audit.key_fits(connection, key):
                raise DataError("this backup is of another study: the secret key is not its key", place=place)
            return LogMark.of(connection)
    except UNREADABLE as error:
        raise DataError("this backup is damaged", place=place, why=str(error).splitlines()[0]) from error


def _keep_former(folder: Path, key: bytes) -> Path | None:
    """Rename a database that cannot be used; ``None`` for an empty file, which goes.

    Errors: :class:`InputError` where it is sound.
    """
    target = folder / DATABASE_NAME
    if not target.stat().st_size:
        return None
    if not unusable(folder, key):
        raise InputError("the folder has a database", place=Place(str(target)), hint="move it away first")
    former = folder / f"replaced_{datetime.now(UTC):%Y%m%dT%H%M%S_%f}.sqlite"
    for ending in ("-wal", ""):
        part = target.with_name(f"{target.name}{ending}")
        if part.exists():
            part.rename(former.with_name(f"{former.name}{ending}"))
    return former


def unusable(folder: Path, key: bytes, study: StudyRecord | None = None) -> str:
    """Return why the database in a folder is not the study's latest, or is not sound; empty where it is both.

    It is compared with *study* if that is given.
    """
    path, mark = folder / DATABASE_NAME, LogMark.read(folder)
    problems = file_problems(path)
    if problems:
        return problems[0]
    try:
        with read_only(path).connect() as connection:
            if stored_version(connection) == 0:
                return "the file holds no study"
            why = reason_not_latest(connection, key, mark)
            return why or next(iter(content_problems(connection, key, mark, study)), "")
    except UNREADABLE as error:
        return str(error).partition("\n")[0]


def reason_not_latest(connection: sa.Connection, key: bytes, mark: LogMark | None) -> str:
    """Return why a database is not the one that a study had last; empty where it is."""
    if not audit.key_fits(connection, key):
        return "the secret key in the folder is not the one of this database: one of the two was replaced"
    if mark is not None and not mark.is_in(connection):
        entries = audit.head(connection)[0]
        return (
            f"the database is not the latest: its log has {entries} entries and not entry {mark.entries} of the study, "
            "so answers may be missing from it"
        )
    return ""


def content_problems(
    connection: sa.Connection, key: bytes, mark: LogMark | None, study: StudyRecord | None = None
) -> tuple[str, ...]:
    """Return what is wrong with the content of a database, compared with *study* if it is given; not with its file."""
    problems = check(connection, key, file=None, study=study).problems
    if problems or mark is None or not mark.rows or connection.dialect.name != "sqlite":
        return problems
    return () if hmac.compare_digest(rows_digest(connection), mark.rows) else (CHANGED,)


def file_problems(path: Path) -> tuple[str, ...]:
    """Return what SQLite's own check says is wrong with a database file."""
    if not path.is_file():
        return (f"there is no file {path}",)
    if not path.stat().st_size:
        return ("the file is empty",)
    try:
        with closing(open_file(path)) as connection:
            problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            violations = connection.execute("PRAGMA foreign_key_check").fetchall()
            problems += [f"{row[0]}, row {row[1]}: there is no such {row[2]}" for row in violations]
    except FILE_ERRORS as error:
        return (str(error),)
    return tuple(problems)


def check(connection: sa.Connection, key: bytes, *, file: Path | None, study: StudyRecord | None = None) -> StoreCheck:
    """Check the file, the chain of the audit log, the types of all cells, and the rules that every answer obeys.

    With *study* lists and items are compared with it. The tables may be those of an older version.
    """
    version = stored_version(connection)
    problems = list(file_problems(file)) if file is not None else []
    log = audit.verify(connection, key)
    problems += [f"audit log: {problem}" for problem in log.problems]
    problems += definition_problems(connection)
    problems += seals.seal_problems(connection, version)
    problems += unexpected_values(connection, version)
    problems += unknown_lists_and_items(study, connection) if study is not None else []
    for name, query in _RULES:
        n_violations = int(connection.execute(query).scalar_one())
        problems += [name.format(n=n_violations)] if n_violations else []
    answers = int(connection.execute(sa.text("SELECT count(*) FROM answers")).scalar_one())
    return StoreCheck(answers, log.entries, tuple(problems))


def definition_problems(connection: sa.Connection) -> list[str]:
    """Compare the stored definition with the first entry of the audit log, which :func:`audit.key_fits` has checked."""
    stored = connection.execute(sa.select(STUDY.c.study_id, STUDY.c.sha256, STUDY.c.definition)).one()
    launched = json.loads(connection.execute(sa.select(AUDIT.c.details).where(AUDIT.c.id == 1)).scalar_one())
    computed = hashlib.sha256(stored.definition.encode("utf-8")).hexdigest()
    agrees = {
        "study_id": stored.study_id == launched["study_id"],
        "sha256": hmac.compare_digest(str(stored.sha256).encode("utf-8", "replace"), launched["sha256"].encode()),
        "definition": hmac.compare_digest(computed.encode(), launched["sha256"].encode()),
    }
    return [f"study.{name}: it is not what was launched" for name, same in agrees.items() if not same]


_RULES = (
    (
        "answers of participants without a consent: {n}",
        sa.text("SELECT count(*) FROM answers WHERE participant_id NOT IN (SELECT participant_id FROM consents)"),
    ),
    (
        "answers to items that were not in the participant's plan: {n}",
        sa.text(
            "SELECT count(*) FROM answers a WHERE NOT EXISTS (SELECT 1 FROM trials t WHERE t.participant_id ="
            " a.participant_id AND t.phase = a.phase AND t.item_id = a.item_id AND t.position = a.position)"
        ),
    ),
    (
        "answers whose earlier answer is missing: {n}",
        sa.text(
            "SELECT count(*) FROM answers a WHERE a.revision > 0 AND NOT EXISTS (SELECT 1 FROM answers b WHERE"
            " b.id = a.supersedes AND b.participant_id = a.participant_id AND b.phase = a.phase"
            " AND b.item_id = a.item_id AND b.revision = a.revision - 1)"
        ),
    ),
    (
        "trials.position: plans whose trials are not numbered 0, 1, 2, …: {n}",
        sa.text(
            "SELECT count(*) FROM (SELECT 1 FROM trials GROUP BY participant_id, phase"
            " HAVING min(position) <> 0 OR max(position) <> count(*) - 1) AS odd"
        ),
    ),
)


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database that may be in use into one file, and wait for the disk.

    Errors: those of :data:`FILE_ERRORS`.
    """
    target.unlink(missing_ok=True)
    target.touch(mode=0o600)
    with closing(open_file(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        # one file, without a log
        new.execute("PRAGMA journal_mode=DELETE")
    with target.open("rb+") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# -- values that the store cannot have written ----------------------------------------------------------------------
# SQLite stores any value that another program writes, in a column of any type. What reads the rows relies on their
# types, so that unexpected values are found when a study is opened. Rows of sealed tables are compared with their
# hashes (``seals.py``), the audit log with its chain; this is for the other tables.


_CHECKED_ELSEWHERE = {AUDIT, AUDIT_HEAD, ALEMBIC_VERSION}
_OWN_ITEMS = {str(Phase.DEMOGRAPHICS), str(Phase.DEBRIEF)}
"""The phases whose items are questions about the participant and the study."""


def unexpected_values(connection: sa.Connection, version: int) -> list[str]:
    """Return the columns with a value that the store does not write; the value is not named: it may be a platform id.

    The values of a column are far fewer than its rows, but for those of participants. An older version has fewer
    tables, and seals fewer of them.
    """
    problems, tables = [], set(sa.inspect(connection).get_table_names())
    checked_elsewhere = {*_CHECKED_ELSEWHERE, *sealed_in(version)}
    for table in METADATA.sorted_tables:
        for column in () if table in checked_elsewhere or table.name not in tables else table.columns:
            is_written = _KNOWN.get(column) or _value_check(column)
            # as it is stored: SQLAlchemy would read it as what it should be
            values = connection.execute(sa.select(sa.type_coerce(column, sa.types.NullType())).distinct()).scalars()
            if not all((value is None and column.nullable) or is_written(value) for value in values):
                problems.append(f"{table.name}.{column.name}: a value is there that the store does not write")
    return problems


def unknown_lists_and_items(study: StudyRecord, connection: sa.Connection) -> list[str]:
    """Return the columns with a list or an item that the study does not have; what is shown is looked up there."""
    self_report_ids = {item.item_id for item in study.items if item.kind is Kind.SELF_REPORT}
    item_ids = {item.item_id for item in study.items} - self_report_ids
    lists = set(connection.execute(sa.select(LISTS.c.list_id)).scalars())
    planned = connection.execute(sa.select(TRIALS.c.phase, TRIALS.c.item_id).distinct()).all()
    problems = [] if lists == set(study.places) else ["lists.list_id: its lists are not those of the study"]
    if any(item_id not in (self_report_ids if phase in _OWN_ITEMS else item_ids) for phase, item_id in planned):
        problems.append("trials.item_id: an item is planned that the study does not have in this phase")
    return problems


def _value_check(column: sa.Column[Any]) -> Callable[[Any], bool]:
    """Return the check that a column's values are of its type."""
    if isinstance(column.type, sa.Boolean):
        # PostgreSQL has a type for it, SQLite has not
        return lambda value: isinstance(value, bool | int) and value in (0, 1)
    if isinstance(column.type, sa.Integer):
        # the tables that are exported have whole numbers of 32 bits
        return lambda value: type(value) is int and -(2**31) <= value < 2**31
    if isinstance(column.type, sa.Float):
        return lambda value: type(value) in (int, float) and math.isfinite(value)
    return _is_time if column.type is TIME else lambda value: isinstance(value, str)


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_order(value: object) -> bool:
    """Check that a value is the order of a trial's options, as JSON."""
    try:
        order = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return False
    if not isinstance(order, list) or any(type(position) is not int for position in order):
        return False
    return sorted(order) == list(range(len(order)))


_KNOWN: dict[sa.Column[Any], Callable[[Any], bool]] = {
    LEASES.c.status: get_args(places.Status).__contains__,
    TRIALS.c.phase: tuple(Phase).__contains__,
    TRIALS.c.display_order: _is_order,
    ANSWERS.c.phase: tuple(Phase).__contains__,
    ANSWERS.c.display_order: _is_order,
    STATES.c.from_state: tuple(State).__contains__,
    STATES.c.to_state: tuple(State).__contains__,
}
