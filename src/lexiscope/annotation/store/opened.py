"""A study that is open in this process: its database, its one writer, its secret key and its clock."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from lexiscope.annotation.store import audit, backup, seals
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import DATABASE_NAME, Database, connect, read_error, sa
from lexiscope.annotation.store.migrate import migrate, stored_version
from lexiscope.annotation.store.places import HasPlace, has_free_place, stamp
from lexiscope.annotation.store.record import StudyRecord
from lexiscope.annotation.store.schema import ALEMBIC_VERSION, LISTS, METADATA, SCHEMA_VERSION, STUDY
from lexiscope.annotation.store.writer import Job, T, Writer
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.lock import locked


class OpenedStudy:
    """A study's database, opened; the base of :class:`Store`. Use it as a context manager."""

    def __init__(
        self,
        study: StudyRecord,
        database: Database,
        folder: Path,
        *,
        clock: Callable[[], datetime],
        has_place: HasPlace = has_free_place,
    ) -> None:
        self.study, self.folder = study, folder
        self._database, self._clock, self._held = database, clock, ExitStack()
        self._has_place = has_place
        # the copies without identities, and whether the database file was rewritten without them
        self._purged: set[Path] = set()
        self._wiped = False
        # what the keeper could not do at its last turn, by job
        self.not_kept: dict[str, str] = {}
        # a copy made while somebody is forgotten would remember them
        self._copying = threading.RLock()
        self._items = {item.item_id: item for item in study.items}
        self._key = _read_key(folder)
        _prepare(database, study, folder, self._key, stamp(clock()))
        self._writer = Writer(database, lambda c, rows: seals.seal(c, self._key, rows, at=self._now()))

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
    ) -> Self:
        """Open the study's store in *folder*, or make it there.

        *url* names a PostgreSQL database instead of the folder's SQLite file; several processes may then open the
        study. *has_place* is the study's rule for who comes back after the lease ran out. Errors: :class:`RunError`
        where another process has the study open, or the folder holds another study or another version of its
        definition; :class:`StorageError`.
        """
        with ExitStack() as held:
            if url is None:
                held.enter_context(_one_server(folder))
            folder.mkdir(parents=True, exist_ok=True)
            database = connect(folder, url=url, unsafe_fast=unsafe_fast)
            held.callback(database.dispose)
            store = cls(study, database, folder, clock=clock or (lambda: datetime.now(UTC)), has_place=has_place)
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
        self._held.close()

    @property
    def is_shared(self) -> bool:
        """Say whether other processes may write to this study too (PostgreSQL)."""
        return self._database.path is None

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        try:
            with self._database.read.begin() as connection:
                yield connection
        except sa.exc.SQLAlchemyError as error:
            raise read_error(error, self._database) from error

    def _write(self, job: Job[T]) -> T:
        return self._writer.put(job).result()

    def _now(self) -> str:
        return stamp(self._clock())

    def _audit(self, connection: sa.Connection, action: str, *, actor: str, **details: object) -> None:
        audit.append(connection, self._key, at=self._now(), actor=actor, action=action, details=details)


def _one_server(folder: Path) -> ExitStack:
    """Hold the folder's lock, or say that the study is open elsewhere."""
    held = ExitStack()
    try:
        held.enter_context(locked(folder))
    except RunError as error:
        raise RunError(
            "this study is open in another process",
            place=Place(str(folder)),
            why=error.what,
            hint="one process serves a SQLite study; for several workers store it in PostgreSQL (url=…)",
        ) from error
    return held


def _read_key(folder: Path) -> bytes:
    """Return the study's secret key, making it when the folder is new. It is not in the database nor in backups."""
    path = folder / backup.KEY_NAME
    if not path.exists():
        if (folder / DATABASE_NAME).exists() and (folder / DATABASE_NAME).stat().st_size:
            raise RunError("the study's secret key is missing", place=Place(str(path)), hint="put the file back")
        _make_key(path)
    key = path.read_bytes()
    if len(key) != 32:
        raise RunError("the study's secret key is damaged: it has 32 bytes", place=Place(str(path)))
    return key


def _make_key(path: Path) -> None:
    """Write a key under another name, then give it its own: of several workers that start at once one succeeds."""
    half = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(secrets.token_bytes(32))
        stream.flush()
        os.fsync(stream.fileno())
    with suppress(FileExistsError):
        os.link(half, path)
    half.unlink()


def _prepare(database: Database, study: StudyRecord, folder: Path, key: bytes, at: str) -> None:
    """Make the tables of a new study, bring older ones up to date, and check that the stored study is this one."""
    for name, text in (("study_id", study.study_id), ("definition", study.definition)):
        check_text(name, text, longest=100_000_000)
    with database.read.begin() as connection:
        version = stored_version(connection)
    if 0 < version < SCHEMA_VERSION and database.path is not None:
        name = f"before_version_{SCHEMA_VERSION}_{at[:19].replace(':', '')}_{secrets.token_hex(3)}.sqlite"
        backup.write_backup(database, folder / backup.BACKUPS / name)
    with database.write.begin() as connection:
        # asked again: of several workers on PostgreSQL the first one to get here does the work
        version = stored_version(connection)
        if version == 0:
            _make(connection, study, key, at)
            return
        _check_same(connection, study, key)
        if version < SCHEMA_VERSION:
            migrate(connection, key, version=version, at=at)


def _make(connection: sa.Connection, study: StudyRecord, key: bytes, at: str) -> None:
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


def _check_same(connection: sa.Connection, study: StudyRecord, key: bytes) -> None:
    stored = connection.execute(sa.select(STUDY.c.study_id, STUDY.c.sha256, STUDY.c.definition)).one()
    same = stored.definition == study.definition or (study.same_as is not None and study.same_as(stored.definition))
    if stored.study_id != study.study_id or not same:
        raise RunError(
            f"the stored study is {stored.study_id!r} with another definition",
            why=f"stored {stored.sha256[:12]}, given {study.sha256[:12]}",
            hint="a definition is frozen at launch; give a changed study its own folder",
        )
    if not audit.fits(connection, key):
        raise RunError("the secret key in the folder is not the one of this study", hint="put the right file back")
