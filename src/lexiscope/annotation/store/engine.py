"""The database behind a study: SQLite in the study's folder, or PostgreSQL by URL.

Everything that differs between the two databases is in this file and in the triggers of ``schema.py``. SQLite runs
in WAL mode with ``synchronous=FULL``: a commit that was acknowledged survives a power cut.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lexiscope.core.errors import InputError, Place, RunError, require

try:
    import sqlalchemy as sa
except ModuleNotFoundError:
    require("sqlalchemy", "annotate")
    raise

__all__ = [
    "DATABASE_NAME",
    "FILE_ERRORS",
    "UNREADABLE",
    "DamagedError",
    "Database",
    "StorageError",
    "checkpoint",
    "connect",
    "has_log",
    "hold_still",
    "is_damage",
    "make_file",
    "open_file",
    "read_error",
    "read_only",
    "sa",
    "shorten_log",
    "storage_error",
    "vacuum",
]

DATABASE_NAME = "study.sqlite"
# any number: workers of one PostgreSQL study take turns at their transactions under it
_TURN = 0x1E815C09E
_LOCKED = "database is locked"
_WAITS, _CONNECT_SECONDS = "synchronous_commit", "10"
_PATIENCE_SECONDS, _AGAIN_SECONDS = 2.0, 0.2


FILE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite's own calls raise; in a damaged file even the message may be no text (``UnicodeDecodeError``)."""

UNREADABLE = (sqlite3.Error, sa.exc.SQLAlchemyError, ValueError, TypeError, KeyError, AttributeError, OverflowError)
"""What reading a damaged database raises: SQLite's errors, and those of cells that no longer hold what was stored."""


class StorageError(RunError):
    """The database did not take a transaction, or cannot be read (disk full, file damaged, connection lost).

    Nothing of the transaction was stored.
    """


class DamagedError(StorageError):
    """The database is damaged: it cannot be read, or does not hold what the study stored."""


@dataclass(frozen=True, slots=True)
class Database:
    """Two pools on one database: ``write`` takes the write lock when a transaction begins, ``read`` does not.

    ``path`` is the SQLite file, ``None`` for PostgreSQL.
    """

    write: sa.Engine
    read: sa.Engine
    path: Path | None

    def dispose(self) -> None:
        """Close all connections."""
        self.write.dispose()
        self.read.dispose()


def connect(folder: Path, *, url: str | None = None, unsafe_fast: bool = False) -> Database:
    """Connect to the database of a study folder, or to a PostgreSQL *url*.

    A SQLite file must exist (:func:`make_file`): connecting never makes one. ``unsafe_fast`` (SQLite) sets
    ``synchronous=NORMAL``: a power cut may then lose acknowledged answers.
    Errors: :class:`InputError` for a URL that names neither database.
    """
    if url is not None:
        postgres = _postgres_url(url)
        require("psycopg", "postgres")
        # what one call reads is of one moment, whatever other workers write meanwhile
        write, read = sa.create_engine(postgres), sa.create_engine(postgres, isolation_level="REPEATABLE READ")
        for engine in (write, read):
            sa.event.listen(engine, "connect", _wait_for_disk)
        sa.event.listen(write, "begin", _take_turn)
        return Database(write, read, None)
    path = (folder / DATABASE_NAME).absolute()
    synchronous = "NORMAL" if unsafe_fast else "FULL"
    return Database(_sqlite(path, "BEGIN IMMEDIATE", synchronous), _sqlite(path, "BEGIN", synchronous), path)


def _postgres_url(url: str) -> sa.URL:
    """Return a PostgreSQL address as SQLAlchemy reads it. Errors: :class:`InputError`, without a password in it."""
    example = "postgresql://USER@HOST/DATABASE"
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise InputError(
            "this is not the address of a PostgreSQL database", hint=f"write --postgres {example}"
        ) from error
    if not parsed.drivername.startswith("postgresql"):
        what = f"a study is stored in SQLite or PostgreSQL, not {parsed.drivername!r}"
        raise InputError(what, hint=f"write --postgres {example}")
    # without a limit of its own, a database that does not answer would be waited for without end
    limit = {} if "connect_timeout" in parsed.query else {"connect_timeout": _CONNECT_SECONDS}
    return parsed.set(drivername="postgresql+psycopg").update_query_dict(limit)


def hold_still(database: Database) -> Callable[[], None]:
    """Let all later readings see the state of a PostgreSQL study at this moment; return what ends it.

    A server may write meanwhile. Errors: :class:`sqlalchemy.exc.SQLAlchemyError`.
    """
    # the transaction keeps the state that others read
    holder = database.read.connect()
    name = holder.execute(sa.select(sa.func.pg_export_snapshot())).scalar_one()
    statement = f"SET TRANSACTION SNAPSHOT '{name}'"
    sa.event.listen(database.read, "begin", lambda connection: connection.exec_driver_sql(statement))
    return holder.close


def make_file(folder: Path) -> Path:
    """Make the empty SQLite file of a new study and return its path. Errors: :class:`FileExistsError`."""
    path = folder / DATABASE_NAME
    # platform ids are in it: for its owner's eyes, as are the log files, which take over its mode
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return path


def open_file(path: Path, *, mode: str = "ro", timeout: float = 5.0) -> sqlite3.Connection:
    """Open an existing SQLite file (*mode* ``ro`` or ``rw``); a missing one is an error and is not made.

    Errors: :class:`sqlite3.Error`.
    """
    # without a log no process has the file open: reading it as it is leaves no empty log behind
    alone = mode == "ro" and not has_log(path)
    name = f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if alone else ''}"
    return sqlite3.connect(name, uri=True, timeout=timeout, check_same_thread=False)


def has_log(path: Path) -> bool:
    """Check whether a SQLite file has a write-ahead log: a process has it open, or was killed."""
    return path.with_name(f"{path.name}-wal").exists()


def read_only(path: Path) -> sa.Engine:
    """Return an engine that reads a SQLite file through separate connections, each closed after its use."""
    return _engine(lambda: open_file(path), sa.pool.NullPool)


def vacuum(database: Database) -> None:
    """Rewrite the SQLite file without its deleted rows and empty the WAL.

    In PostgreSQL the tables are rewritten; its log and its backups are the administrator's.
    Errors: :class:`StorageError` where a reader keeps the WAL from being emptied, or the database failed.
    """
    try:
        _rewrite(database)
    except sa.exc.SQLAlchemyError as error:
        raise storage_error(error, database.path) from error


def _rewrite(database: Database) -> None:
    if database.path is None:
        with database.write.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM FULL identities")
            connection.exec_driver_sql("VACUUM FULL answers")
        return
    checkpoint(database)
    with database.write.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM")
    checkpoint(database)


def checkpoint(database: Database) -> None:
    """Move the WAL into the database file and cut it to nothing.

    Errors: :class:`StorageError` where a reader keeps a part of it.
    """
    with database.write.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
    if busy:
        raise StorageError(
            "the write-ahead log could not be emptied",
            place=Place(str(database.path)),
            why="another program reads the database",
            hint="close other programs that have the file open, then repeat",
        )


def shorten_log(database: Database) -> None:
    """Move what no reader needs of the WAL into the SQLite file, without waiting.

    Errors: :class:`sa.exc.SQLAlchemyError`.
    """
    with database.write.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")


def is_damage(error: BaseException) -> bool:
    """Check whether SQLite reports that the file is damaged, or no database.

    >>> is_damage(sqlite3.OperationalError("database is locked"))
    False
    """
    names = {getattr(link, "sqlite_errorname", "") or "" for link in _chain(error)}
    undecodable = any(
        isinstance(link, UnicodeDecodeError) or "Could not decode to UTF-8" in str(link) for link in _chain(error)
    )
    return undecodable or any(name == "SQLITE_NOTADB" or name.startswith("SQLITE_CORRUPT") for name in names)


def storage_error(error: BaseException, path: Path | None) -> StorageError:
    """Return the typed error for a failure of the database (*path*: the SQLite file), naming a full disk as such."""
    names = {getattr(link, "sqlite_errorname", "") for link in _chain(error)}
    place = Place(str(path)) if path is not None else None
    if any(name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR_WRITE") for name in names):
        return StorageError(
            "the disk is full: the transaction was not stored",
            place=place,
            hint="free disk space; the study then continues without a restart",
        )
    if _is_locked(error):
        return StorageError(
            "another program has locked the database: the transaction was not stored",
            place=place,
            hint="end the transaction of that program (a database browser, a sqlite3 shell); the study then continues",
        )
    return StorageError("the database did not take a transaction", place=place, why=str(error).splitlines()[0])


def read_error(error: BaseException, path: Path | None) -> StorageError:
    """Return the typed error for a failure to read the database."""
    place = Place(str(path)) if path is not None else None
    hint = "the next request tries it again; if the error persists, run lexiscope annotate verify"
    return StorageError("the database cannot be read", place=place, why=str(error).splitlines()[0], hint=hint)


def _engine(creator: Callable[[], sqlite3.Connection], poolclass: type[sa.Pool]) -> sa.Engine:
    """Return an engine of SQLite connections; all engines compile a statement once between them.

    A study is opened by several engines, of which each would compile some hundred statements.
    """
    dialect, compiled = _compiled()
    engine = sa.create_engine(
        "sqlite://", creator=creator, poolclass=poolclass, execution_options={"compiled_cache": compiled}
    )
    # what was compiled is found again by its dialect
    engine.dialect = dialect
    return engine


@cache
def _compiled() -> tuple[sa.Dialect, sa.util.LRUCache[object, object]]:
    """Return SQLite's dialect, which knows the version of the library, and what was compiled for it."""
    engine = sa.create_engine("sqlite://")
    with engine.connect():
        pass
    engine.dispose()
    return engine.dialect, sa.util.LRUCache(1_000)


def _sqlite(path: Path, begin: str, synchronous: str) -> sa.Engine:
    engine = _engine(lambda: open_file(path, mode="rw", timeout=_PATIENCE_SECONDS), sa.pool.QueuePool)
    patience = _Patience()

    def _prepare(connection: sqlite3.Connection, _record: object) -> None:
        # transactions are begun below, not by the driver: it would begin them late and without the write lock
        connection.isolation_level = None
        # checkpoints are the writer's alone: it notes what they do to the file
        settings = ("foreign_keys=ON", "secure_delete=ON", "wal_autocheckpoint=0")
        for pragma in ("journal_mode=WAL", f"synchronous={synchronous}", *settings):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA synchronous").fetchone()[0] != {"NORMAL": 1, "FULL": 2}[synchronous]:
            raise StorageError(f"SQLite did not accept synchronous={synchronous}", place=Place(str(path)))

    def _begin(connection: sa.Connection) -> None:
        # AUTOCOMMIT means none: VACUUM and checkpoints refuse to run inside a transaction
        if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
            patience.begin(connection, begin)
        else:
            patience.wait(connection, _PATIENCE_SECONDS)

    sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    return engine


class _Patience:
    """How long a transaction waits while another program holds the write lock.

    The first waits for some seconds. While the lock lasts, those after it are told so at once, but for one now and then
    that tries again: a participant learns within seconds that an answer is not saved yet, however many are waiting.
    """

    def __init__(self) -> None:
        self._was_locked, self._not_before = False, 0.0

    def begin(self, connection: sa.Connection, statement: str) -> None:
        """Begin a transaction. Errors: :class:`sqlalchemy.exc.OperationalError` where the lock is held."""
        if time.monotonic() < self._not_before:
            raise sa.exc.OperationalError(statement, None, sqlite3.OperationalError(_LOCKED))
        seconds = _AGAIN_SECONDS if self._was_locked else _PATIENCE_SECONDS
        self.wait(connection, seconds)
        try:
            connection.exec_driver_sql(statement)
        except sa.exc.OperationalError as error:
            if _is_locked(error):
                self._was_locked, self._not_before = True, time.monotonic() + _AGAIN_SECONDS
            raise
        self._was_locked = False

    def wait(self, connection: sa.Connection, seconds: float) -> None:
        """Let the next statement wait for the lock for some seconds."""
        connection.exec_driver_sql(f"PRAGMA busy_timeout={round(1000 * seconds)}")


def _is_locked(error: BaseException) -> bool:
    return any(isinstance(link, sqlite3.OperationalError) and str(link) == _LOCKED for link in _chain(error))


def _wait_for_disk(connection: Any, _record: object) -> None:
    """Have a commit wait for the disk, where the database's settings say that it need not."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config(name, 'on', false) FROM pg_settings WHERE name = %s AND setting = 'off'", (_WAITS,)
        )
    connection.commit()


def _take_turn(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT":
        return
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_TURN)))


def _chain(error: BaseException) -> list[BaseException]:
    """The error, what the driver raised, and what it was raised while handling."""
    errors: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is not None and current not in errors:
            errors.append(current)
            waiting += [current.__cause__, current.__context__, getattr(current, "orig", None)]
    return errors
