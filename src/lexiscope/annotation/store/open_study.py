"""A study that is open in this process: its database, its one writer, its secret key and its clock."""

from __future__ import annotations

import hmac
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, Self

from lexiscope.annotation.store import audit, backup, files, seals
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import (
    DATABASE_NAME,
    UNREADABLE,
    DamagedError,
    Database,
    StorageError,
    checkpoint,
    connect,
    hold_still,
    is_damage,
    make_file,
    read_error,
    read_only,
    sa,
    storage_error,
)
from lexiscope.annotation.store.files import StudyFiles
from lexiscope.annotation.store.mark import LogMark, file_digest, rows_digest
from lexiscope.annotation.store.migrate import migrate, stored_version
from lexiscope.annotation.store.participants import Began, HeldTime
from lexiscope.annotation.store.places import HasPlace, has_free_place, stamp
from lexiscope.annotation.store.record import StudyRecord
from lexiscope.annotation.store.schema import ALEMBIC_VERSION, LISTS, METADATA, SCHEMA_VERSION, STUDY
from lexiscope.annotation.store.writer import Job, Outage, T, Writer, reason_of
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.run import folder_lock

P = ParamSpec("P")
CLOCK_JUMPED = "clock jumped"
CHECKED_AT_ONCE = 20_000_000
"""A database of fewer bytes is checked before it opens: beginning another process would take as long."""


class OpenStudy:
    """An open study's database; the base of :class:`Store`. Use it as a context manager."""

    def __init__(
        self,
        study: StudyRecord,
        database: Database,
        folder: Path,
        *,
        clock: Callable[[], datetime],
        has_place: HasPlace = has_free_place,
        copy_of: Path | None = None,
        checked: bool = True,
        check_later: bool = False,
        unsafe_fast: bool = False,
        new: bool = False,
        steady: Callable[[], float] | None = None,
        began: Began | None = None,
    ) -> None:
        self.held_time = HeldTime(clock, steady, began=began)
        self.study, self.folder = study, folder
        self._database, self._clock, self._held = database, clock, ExitStack()
        self._has_place = has_place
        # what is left of an earlier study whose database was lost
        self.set_aside: Path | None = None
        # the folder that errors name, and that keeps the mark
        self._origin, self._is_copy, self._unsafe_fast = copy_of or folder, copy_of is not None, unsafe_fast
        # the copies without identities, and whether the database file was rewritten without them
        self._purged: set[Path] = set()
        self._wiped = False
        # what the maintenance thread could not do in its last turn, by job
        self.not_kept: dict[str, str] = {}
        # a copy made while a participant is erased would still hold them
        self._copying = threading.RLock()
        self._items = {item.item_id: item for item in study.items}
        # a change of the closed study that only the digest of its rows shows
        self._changed_outside: tuple[str, ...] = ()
        # every row was checked since the study was opened (PostgreSQL checks its own files)
        self._is_checked = True
        self._files: StudyFiles | None = None
        self._is_to_be_marked = False
        self._key = self._prepare(checked=checked, check_later=check_later, new=new)
        if database.path is not None:
            self._files = StudyFiles(database.path, self._examine)
        self._writer = Writer(
            database,
            lambda c, rows: seals.seal(c, self._key, rows, at=self._now()),
            files=self._files,
            committed=self._record_commit,
            failure=self._failure,
        )

    @classmethod
    def open(
        cls,
        folder: Path,
        study: StudyRecord,
        *,
        url: str | None = None,
        unsafe_fast: bool = False,
        clock: Callable[[], datetime] | None = None,
        has_place: HasPlace = has_free_place,
        new: bool = False,
        copy_of: Path | None = None,
        checked: bool = True,
        check_later: bool = False,
        steady: Callable[[], float] | None = None,
        began: Began | None = None,
    ) -> Self:
        """Open the study's store in *folder*, or make it there if the folder has no trace of a study.

        *url* names a PostgreSQL database instead of the folder's SQLite file; several processes may then open the
        study. *has_place* is the study's rule for participants who come back after the lease has expired. *new* starts
        a study again whose database is lost or damaged; what is left of the earlier one is kept in a separate folder.
        *copy_of* is the folder of which *folder* holds a throwaway copy. Without *checked* a database that can be read
        opens although its content has problems, for :meth:`Safekeeping.verify` to list them. With *check_later* a
        large file opens at once that is byte for byte what was closed last, after its rows had been checked, or that
        is a copy: :attr:`check_is_due` says that the caller has the rows checked while the study is open. Places are
        held by the seconds of *steady* (the system's monotonic clock), which count from *began*; *clock* gives the
        times that are stored.

        Errors: :class:`DatabaseLostError` and :class:`DamagedError`, which name the way back, before anything is
        made; :class:`InputError` for *new* where a sound database is there; :class:`RunError` where another process has
        the study open, or the folder holds another version of its definition; :class:`StorageError`.
        """
        with ExitStack() as held:
            if url is None:
                error = files.missing_database_error(folder)
                if error is not None and not new:
                    raise error
                held.enter_context(_lock_folder(folder))
            aside = _set_lost_study_aside(folder) if new and url is None else None
            folder.mkdir(backup.FOLDER_MODE, parents=True, exist_ok=True)
            begun = url is None and not (folder / DATABASE_NAME).exists()
            if begun:
                make_file(folder)
            database = connect(folder, url=url, unsafe_fast=unsafe_fast)
            try:
                store = cls(
                    study,
                    database,
                    folder,
                    clock=clock or (lambda: datetime.now(UTC)),
                    has_place=has_place,
                    copy_of=copy_of,
                    checked=checked,
                    check_later=check_later,
                    unsafe_fast=unsafe_fast,
                    new=new,
                    steady=steady,
                    began=began,
                )
            except BaseException as error:
                database.dispose()
                if begun:
                    _remove_new_files(folder)
                if url is None and isinstance(error, UNREADABLE):
                    raise files.opening_error(error, copy_of or folder) from error
                if isinstance(error, sa.exc.SQLAlchemyError):
                    raise storage_error(error, database.path) from error
                raise
            store.set_aside = store.set_aside or aside
            held.callback(store._keep_closing_mark)
            held.callback(database.dispose)
            store._held = held.pop_all()
            return store

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is waiting, close the database, give the lock back."""
        self._writer.close()
        self._is_to_be_marked = self._is_present_at_close()
        if self._files is not None:
            self._files.close()
        self._held.close()

    @property
    def trouble(self) -> str:
        """The reason why answers cannot be saved now; empty while they are saved."""
        if self._writer.ended is not None:
            return f"the writer ended: {self._writer.ended}"
        try:
            if self._files is not None:
                self._files.check_present()
        except StorageError as error:
            return error.what
        return ""

    @property
    def outage(self) -> Outage:
        """Whether the last try to read or to store something failed, and why."""
        return self._writer.outage

    def when_writer_ends(self, act: Callable[[], None]) -> None:
        """Call *act* if the writer can no longer store anything, after every waiting job was answered."""
        self._writer.when_ended = act
        if self._writer.ended is not None:
            act()

    @property
    def check_is_due(self) -> bool:
        """Return whether rows remain to be checked since the study was opened."""
        return not self._is_checked

    def record_check(self, problem: str) -> None:
        """Take what the check found that the opening left for later; after a problem nothing is stored or read."""
        if problem and self._files is not None:
            self._files.damage = self._files.damage or files.damaged_database_error(self._origin, problem)
        self._is_checked = not problem

    @property
    def is_shared(self) -> bool:
        """Return whether other processes may write to this study too (PostgreSQL)."""
        return self._database.path is None

    def read(self, query: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what a query reads in a transaction, for example ``store.read(state_changes, participant_id)``.

        Errors: those of the query; :class:`StorageError` if the database cannot be read, which begins an outage.
        """
        if self._files is not None:
            self._files.check_present()
        try:
            with self._database.read.begin() as connection:
                return query(connection, *args, **kwargs)
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError) as error:
            if self._files is not None and is_damage(error):
                raise self._failure(error) from error
            failure = read_error(error, self._database.path)
            # a file that is gone is reported where it is found
            if not self.trouble:
                self.outage.record_failure(reason_of(failure, error))
            raise failure from error

    def hold_still(self) -> None:
        """Read from now on what is stored at this moment, also while a server writes to the same database.

        A copy of a SQLite study does not change. Errors: :class:`StorageError`.
        """
        if self.is_shared:
            try:
                self._held.callback(hold_still(self._database))
            except sa.exc.SQLAlchemyError as error:
                raise read_error(error, None) from error

    def _write(self, job: Job[T]) -> T:
        return self._writer.put(job).result()

    # -- opening, noting, closing -----------------------------------------------------------------------------

    def _prepare(self, *, checked: bool, check_later: bool, new: bool) -> bytes:
        """Make the tables of a new study, or check that the database is the study's and bring it up to date.

        Returns the study's key.
        """
        study, database, folder, at = self.study, self._database, self.folder, stamp(self._clock())
        for name, text in (("study_id", study.study_id), ("definition", study.definition)):
            check_text(name, text, longest=100_000_000)
        # asked before the database: another worker may launch the study in this moment
        launched = files.is_launched(folder)
        with self._connect_unchanged() as connection:
            version = stored_version(connection)
        if version and new and self.is_shared:
            raise InputError(
                "the PostgreSQL database holds a study, so no new one is begun in it",
                hint="leave out --new; to start again without its answers, name an empty database",
            )
        if version == 0:
            if launched and new:
                self.set_aside = files.set_files_aside(folder)
            elif launched:
                raise files.lost_database_error(self._origin, "the database holds no study", shared=self.is_shared)
            key = _make_key(folder)
            with database.write.begin() as connection:
                # asked again: of several workers on PostgreSQL the first one to get here does the work
                if stored_version(connection) == 0:
                    _make_tables(connection, study, key, at)
            _finish_key(folder)
            self._open_mark()
            return key
        key = _read_key(folder, self._origin)
        self._check(key, version, checked=checked, check_later=check_later)
        self._open_mark()
        if version < SCHEMA_VERSION:
            if database.path is not None:
                name = f"before_version_{SCHEMA_VERSION}_{at[:19].replace(':', '')}_{secrets.token_hex(3)}.sqlite"
                backup.write_backup(database, folder / backup.BACKUPS / name)
            with database.write.begin() as connection:
                version = stored_version(connection)
                if version < SCHEMA_VERSION:
                    migrate(connection, key, version=version, at=at)
            self._open_mark()
        return key

    def _connect_unchanged(self) -> AbstractContextManager[sa.Connection]:
        """Return a connection that changes nothing, not even the mode of a file that is not the study's."""
        path = self._database.path
        return (self._database.read if path is None else read_only(path)).begin()

    def _check(self, key: bytes, version: int, *, checked: bool, check_later: bool) -> None:
        """Check that a stored study is this one, is the latest, and is whole (PostgreSQL checks its own files)."""
        mark, path = LogMark.read(self.folder), self._database.path
        later = path is not None and check_later and version == SCHEMA_VERSION and self._may_wait(path, key, mark)
        self._is_checked = path is None or (checked and not later)
        if path is not None and checked and not later:
            problems = backup.file_problems(path)
            if problems:
                raise files.damaged_database_error(self._origin, problems[0])
        with self._connect_unchanged() as connection:
            why = backup.reason_not_latest(connection, key, mark)
            if why:
                raise files.lost_database_error(self._origin, why, shared=self.is_shared)
            changed = backup.definition_problems(connection)
            if changed:
                raise files.damaged_database_error(self._origin, changed[0])
            _check_definition(connection, self.study)
            if path is not None and not later:
                problems = backup.content_problems(connection, key, mark, self.study)
                # a migration would seal what it finds
                if problems and (checked or version < SCHEMA_VERSION):
                    raise files.damaged_database_error(self._origin, problems[0])
                self._changed_outside = problems if backup.CHANGED in problems else ()

    def _may_wait(self, path: Path, key: bytes, mark: LogMark | None) -> bool:
        """Return whether rows may be checked later: a file is large, and is a throwaway copy or exactly as closed."""
        if path.stat().st_size <= CHECKED_AT_ONCE:
            return False
        if self._is_copy:
            return True
        return mark is not None and bool(mark.file) and hmac.compare_digest(file_digest(path, key), mark.file)

    def _examine(self) -> None:
        """Check the database after another program wrote to its file. Errors: :class:`StorageError`."""
        path = self._database.path
        if path is None:
            return
        # what SQLite remembers of the file's pages may no longer be so
        self._database.dispose()
        try:
            problems = backup.file_problems(path)
            if not problems:
                with read_only(path).connect() as connection:
                    why = backup.reason_not_latest(connection, self._key, self._last_mark)
                    problems = (why,) if why else backup.content_problems(connection, self._key, None, self.study)
        except UNREADABLE as error:
            raise files.damaged_database_error(self._origin, error) from error
        if problems:
            raise files.damaged_database_error(self._origin, f"changed by another program: {problems[0]}")

    def _failure(self, error: BaseException) -> StorageError:
        """Return what a failed transaction's callers get; damage is remembered, and nothing is stored after it."""
        if self._files is not None and (is_damage(error) or isinstance(error, DamagedError)):
            why = error.why if isinstance(error, DamagedError) else getattr(error, "orig", None) or error
            self._files.damage = self._files.damage or files.damaged_database_error(self._origin, why)
            return self._files.damage
        if isinstance(error, StorageError):
            return error
        if isinstance(error, sa.exc.SQLAlchemyError | sqlite3.Error):
            return storage_error(error, self._database.path)
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        return StorageError("the transaction failed: nothing of it is saved", why=why)

    def _open_mark(self) -> None:
        """Note that the study is open; from now on the mark follows each commit."""
        if self._unsafe_fast and self._database.path is not None:
            # the mark must not lead: what it names must be on the disk
            with suppress(StorageError):
                checkpoint(self._database)
        with self._database.read.begin() as connection:
            self._last_mark = LogMark.of(connection)
        if not self._is_copy:
            self._last_mark.write(self.folder, lasting=True)

    def _record_commit(self, mark: LogMark) -> None:
        """Record a commit. If the mark cannot be written, it names an earlier commit, which is still true."""
        self._last_mark = mark
        if not self._is_copy and not self._unsafe_fast:
            with suppress(OSError):
                mark.write(self.folder, lasting=False)

    def _is_present_at_close(self) -> bool:
        """Whether the file that is being closed is the study's; what another program wrote to it was not checked."""
        if self._files is None or self._is_copy:
            return False
        self._is_checked = self._is_checked and self._files.is_as_recorded
        try:
            self._files.check_present()
        except StorageError:
            return False
        return True

    def _keep_closing_mark(self) -> None:
        """Write the mark of the closed file: first the digest that a moment suffices for, then that of all rows."""
        path = self._database.path
        if path is None or not self._is_to_be_marked:
            return
        with suppress(OSError, *UNREADABLE), read_only(path).connect() as connection:
            mark = LogMark(*audit.head(connection), file=file_digest(path, self._key) if self._is_checked else "")
            mark.write(self.folder, lasting=True)
            replace(mark, rows=rows_digest(connection)).write(self.folder, lasting=True)

    def _now(self) -> str:
        self._watch_clock()
        return stamp(self._clock())

    def held_now(self) -> datetime:
        """Return the time by which places are held."""
        self._watch_clock()
        return self.held_time.now()

    def _watch_clock(self) -> None:
        """Note in the audit log that the clock jumped: places are held as if it had not."""
        ahead = self.held_time.jump()
        if ahead is not None:
            at = stamp(self._clock())
            details = {"seconds": round(ahead)}
            with suppress(StorageError):
                self._writer.put(
                    lambda c: audit.append(c, self._key, at=at, actor="store", action=CLOCK_JUMPED, details=details)
                )

    def _audit(self, connection: sa.Connection, action: str, *, actor: str, **details: object) -> None:
        audit.append(connection, self._key, at=self._now(), actor=actor, action=action, details=details)


def _lock_folder(folder: Path) -> ExitStack:
    """Hold the folder's lock. Errors: :class:`RunError` where the study is open elsewhere, or cannot be written to."""
    held = ExitStack()
    try:
        held.enter_context(folder_lock(folder, mode=backup.FOLDER_MODE))
    except RunError as error:
        if isinstance(error.__cause__, OSError):
            raise RunError(
                "the folder of this study cannot be made or written to",
                place=Place(str(folder)),
                why=str(error.__cause__),
                hint="give the account that runs this command the right to write to it, or name another folder",
            ) from error
        raise RunError(
            "this study is open in another process",
            place=Place(str(folder)),
            why=error.what,
            hint="one process serves a SQLite study; for several workers store it in PostgreSQL (url=…)",
        ) from error
    return held


def _set_lost_study_aside(folder: Path) -> Path | None:
    """Set a lost study's files aside. Errors: :class:`InputError` where the database is sound."""
    path, key = folder / DATABASE_NAME, folder / backup.KEY_NAME
    if files.is_in_postgresql(folder):
        raise files.in_postgresql_error(folder)
    if path.is_file() and path.stat().st_size and key.exists() and not backup.unusable(folder, key.read_bytes()):
        raise InputError(
            "the study's database is intact, so it is not replaced",
            place=Place(str(path)),
            hint="leave out --new; for another study name another folder",
        )
    return files.set_files_aside(folder)


def _remove_new_files(folder: Path) -> None:
    """Remove the file of a new study that could not be opened, unless its first tables are committed."""
    if not (folder / backup.KEY_NAME).exists():
        for name in (f"{DATABASE_NAME}-wal", f"{DATABASE_NAME}-shm", DATABASE_NAME, backup.HALF_KEY_NAME):
            (folder / name).unlink(missing_ok=True)


def _read_key(folder: Path, origin: Path) -> bytes:
    """Return the study's secret key, which is not in the database; errors name the folder *origin*."""
    path, half = folder / backup.KEY_NAME, folder / backup.HALF_KEY_NAME
    if not path.exists() and half.exists():
        _finish_key(folder)
    place = Place(str(origin / backup.KEY_NAME))
    if not path.exists():
        copy = origin / backup.BACKUPS / backup.KEY_NAME
        hint = f"put the file back: {copy} is a copy of it" if copy.exists() else "put the file back"
        raise RunError("the study's secret key is missing", place=place, hint=hint)
    key = path.read_bytes()
    if len(key) != 32:
        raise RunError("the study's secret key is damaged: it has 32 bytes", place=place)
    return key


def _make_key(folder: Path) -> bytes:
    """Make a new study's key under a temporary name: only a committed study has a ``secret.key``.

    Of several workers that start at once one makes it.
    """
    path = folder / backup.HALF_KEY_NAME
    if not path.exists():
        half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(secrets.token_bytes(32))
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(half, path)
        half.unlink()
    return path.read_bytes()


def _finish_key(folder: Path) -> None:
    # another worker may have done it
    with suppress(FileNotFoundError):
        (folder / backup.HALF_KEY_NAME).rename(folder / backup.KEY_NAME)


def _make_tables(connection: sa.Connection, study: StudyRecord, key: bytes, at: str) -> None:
    rows = [{"list_id": name, "ordinal": k, "places": n} for k, (name, n) in enumerate(study.places.items())]
    if not rows:
        raise InputError("a study has at least one list with places")
    METADATA.create_all(connection)
    row = {"study_id": study.study_id, "definition": study.definition, "sha256": study.sha256}
    connection.execute(STUDY.insert(), {**row, "schema_version": SCHEMA_VERSION, "created_at": at})
    connection.execute(LISTS.insert(), rows)
    connection.execute(ALEMBIC_VERSION.insert(), {"version_num": str(SCHEMA_VERSION)})
    details = {"study_id": study.study_id, "sha256": study.sha256}
    audit.append(connection, key, at=at, actor="store", action="create", details=details)


def _check_definition(connection: sa.Connection, study: StudyRecord) -> None:
    stored = connection.execute(sa.select(STUDY.c.study_id, STUDY.c.sha256, STUDY.c.definition)).one()
    same = stored.definition == study.definition or (study.same_as is not None and study.same_as(stored.definition))
    if stored.study_id != study.study_id or not same:
        raise RunError(
            f"the stored study is {stored.study_id!r} with another definition",
            why=f"stored {stored.sha256[:12]}, given {study.sha256[:12]}",
            hint="a definition is frozen at launch; give a changed study its own folder",
        )
