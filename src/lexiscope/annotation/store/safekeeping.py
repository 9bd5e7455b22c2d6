"""Keeping a study safe: audit log, checks, backups at regular times, storage health, removal of identities.

In an erasure, deleted rows are overwritten (``secure_delete``) and the files rewritten (``VACUUM``): the platform
identity is gone from the database, its log and its backups. The answers are kept under the random id or removed, as the
study definition says.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

from lexiscope.annotation.store import audit, backup, files, overview, participants, seals
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import FILE_ERRORS, UNREADABLE, DamagedError, sa, vacuum
from lexiscope.annotation.store.open_study import OpenStudy
from lexiscope.annotation.store.places import stamp
from lexiscope.annotation.store.record import AnswerRefused, Status
from lexiscope.annotation.store.schema import (
    ANSWERS,
    ERASURES,
    IDENTITIES,
    PARTICIPANTS,
    REVIEWS,
    SCHEMA_VERSION,
    TOKENS,
)
from lexiscope.core.errors import InputError, LexiscopeError

SAVED_AGAIN = "saving again"


@dataclass(frozen=True, slots=True)
class Erasure:
    """The result of an erasure: what was removed, and the files that still contain the identity.

    ``still_in`` names files only where the person wrote the id themselves, for instance into a comment that is kept.
    """

    participant_id: str
    identity_removed: bool
    answers_removed: int
    still_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """The number of identities and tokens that were removed, and the files that still contain one."""

    removed: int
    still_in: tuple[str, ...]


def identity_of(connection: sa.Connection, participant_id: str) -> tuple[str, ...]:
    """Return the texts that identify a participant on the recruiting platform: the id, and the session if known."""
    is_theirs = IDENTITIES.c.participant_id == participant_id
    row = connection.execute(sa.select(IDENTITIES.c.platform_id, IDENTITIES.c.session).where(is_theirs)).first()
    return tuple(text for text in row if text) if row is not None else ()


def erase(
    connection: sa.Connection, key: bytes, participant_id: str, *, keep_answers: bool, actor: str, at: str
) -> int:
    """Remove the identity and, unless they are kept, the answers, with an entry in the audit log.

    Returns how many answers were removed. Backups of an older version are supported; they do not have all tables.
    """
    tables = set(sa.inspect(connection).get_table_names())
    connection.execute(IDENTITIES.delete().where(IDENTITIES.c.participant_id == participant_id))
    if TOKENS.name in tables:
        connection.execute(TOKENS.delete().where(TOKENS.c.participant_id == participant_id))
    is_theirs = ERASURES.c.participant_id == participant_id
    if connection.execute(sa.select(ERASURES.c.answers).where(is_theirs)).first() is None:
        row = {"participant_id": participant_id, "answers": "kept" if keep_answers else "removed", "at": at}
        seals.insert(connection, ERASURES, row)
    removed = {} if keep_answers else _remove_answers(connection, participant_id, tables)
    for table in (ANSWERS, REVIEWS):
        seals.withdraw(connection, table, removed.get(table.name, ()))
    details = {"participant_id": participant_id, **removed, seals.VOID: True}
    audit.append(connection, key, at=at, actor=actor, action=seals.ERASED, details=details)
    return len(removed.get("answers", ()))


def _remove_answers(connection: sa.Connection, participant_id: str, tables: set[str]) -> dict[str, list[int]]:
    """Remove the answers and the reviews of them; return the numbers of both."""
    # latest first: an answer that another one supersedes cannot go before it
    ids = sa.select(ANSWERS.c.id).where(ANSWERS.c.participant_id == participant_id).order_by(ANSWERS.c.revision.desc())
    answer_ids = list(connection.execute(ids).scalars())
    reviews: list[int] = []
    if REVIEWS.name in tables:
        of_them = REVIEWS.c.answer_id.in_(sa.select(ANSWERS.c.id).where(ANSWERS.c.participant_id == participant_id))
        reviews = list(connection.execute(sa.select(REVIEWS.c.id).where(of_them)).scalars())
        connection.execute(REVIEWS.delete().where(of_them))
    for answer_id in answer_ids:
        connection.execute(ANSWERS.delete().where(ANSWERS.c.id == answer_id))
    return {"answers": answer_ids, "reviews": reviews}


def erase_in_backup(path: Path, key: bytes, participant_id: str, *, keep_answers: bool, actor: str, at: str) -> None:
    """Remove a participant from a backup as from the database, and rewrite its file."""

    def job(connection: sa.Connection) -> None:
        in_backup = sa.select(PARTICIPANTS.c.participant_id).where(PARTICIPANTS.c.participant_id == participant_id)
        if connection.execute(in_backup).first() is not None:
            erase(connection, key, participant_id, keep_answers=keep_answers, actor=actor, at=at)
            seals.seal(connection, key, seals.unsealed_rows(connection), at=at)

    _change_backup(path, job)


def identities(connection: sa.Connection) -> tuple[str, ...]:
    """Return every text that identifies a participant on the recruiting platform."""
    rows = connection.execute(sa.select(IDENTITIES.c.platform_id, IDENTITIES.c.session))
    return tuple(text for row in rows for text in row if text)


def purge(connection: sa.Connection, key: bytes, *, actor: str, at: str) -> int:
    """Remove the identities and tokens of all participants, with an entry in the audit log; return how many."""
    removed = int(connection.execute(IDENTITIES.delete()).rowcount)
    if TOKENS.name in sa.inspect(connection).get_table_names():
        removed += int(connection.execute(TOKENS.delete()).rowcount)
    if removed:
        audit.append(connection, key, at=at, actor=actor, action="purge_identities", details={"removed": removed})
    return removed


def purge_in_backup(path: Path, key: bytes, *, actor: str, at: str) -> None:
    """Remove all identities and tokens from a backup and rewrite its file."""
    _change_backup(path, lambda connection: purge(connection, key, actor=actor, at=at))


def _change_backup(path: Path, job: Callable[[sa.Connection], object]) -> None:
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA secure_delete=ON")
        job(connection)
    engine.dispose()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection_:
        connection_.execute("VACUUM")


def files_with(files: Iterable[Path], texts: Iterable[str]) -> tuple[str, ...]:
    """Return the files whose bytes hold one of the texts.

    >>> files_with([], ["5f3c"])
    ()
    """
    wanted = [text.encode("utf-8") for text in texts]
    return tuple(str(file) for file in files if _holds(file, wanted))


def _holds(file: Path, wanted: list[bytes]) -> bool:
    """Search a file piece by piece, pieces overlapping by the longest text."""
    longest = max((len(text) for text in wanted), default=0)
    if not longest or not file.is_file():
        return False
    with file.open("rb") as stream:
        tail = b""
        while piece := stream.read(1 << 20):
            joined = tail + piece
            if any(text in joined for text in wanted):
                return True
            tail = joined[-longest:]
    return False


class Safekeeping(OpenStudy):
    """The protection of a study's data: checks, backups, and the removal of identities in the promised time."""

    def probe(self) -> None:
        """Store an entry in the audit log if the last try to store something failed: it ends the outage, or fails too.

        Errors: :class:`StorageError`.
        """
        if self.outage.reason:
            self.log(SAVED_AGAIN, actor="store", details={"seconds": round(self.outage.seconds)})

    def log(self, action: str, *, actor: str, details: Mapping[str, object] | None = None) -> None:
        """Append an entry to the audit log. The details must not hold an id of the recruiting platform.

        Errors: :class:`AnswerRefused` for a text that cannot be stored, or an action that only the store may note.
        """
        for name, text in (("action", action), ("actor", actor)):
            check_text(name, text, longest=200)
        if action in (seals.ACTION, seals.ERASED):
            raise AnswerRefused("action", f"{action!r} is noted by the store alone")
        check_text("details", json.dumps(dict(details or {}), ensure_ascii=False), longest=100_000)
        now = self._now()
        self._write(lambda c: audit.append(c, self._key, at=now, actor=actor, action=action, details=details or {}))

    def audit_entries(self, *, limit: int = 100, offset: int = 0) -> tuple[int, tuple[audit.AuditEntry, ...]]:
        """Return the number of entries of the audit log, without seals of rows, and a page of them, newest first."""
        return self.read(audit.entries, without=(seals.ACTION,), limit=limit, offset=offset)

    def verify(self) -> backup.StoreCheck:
        """Check the database file, the audit log's chain, the seals of all rows, and the rules of every answer.

        Errors: :class:`StorageError` where the database cannot be read.
        """
        try:
            check = self.read(backup.check, self._key, file=self._database.path, study=self.study)
        except UNREADABLE as error:
            raise files.damaged_database_error(self._origin, error) from error
        return replace(check, problems=check.problems + self._changed_outside)

    def backup(self, target: Path | None = None) -> Path:
        """Copy the database while it is in use, by default into ``backups/``; return the copy's path.

        The study's key is copied to ``backups/``, too: keep both, and keep them as safe as the study.
        """
        name = f"{self._clock().astimezone(UTC):%Y%m%dT%H%M%S_%f}.sqlite"
        if self._files is not None:
            self._files.check_present()
        with self._copying:
            try:
                path = backup.write_backup(self._database, target or self.folder / backup.BACKUPS / name)
            except DamagedError as error:
                # found by a copy, true of the study: nothing more is acknowledged
                raise self._failure(error) from error
            if target is None:
                backup.copy_key(self.folder)
            return path

    def platform_ids(self) -> frozenset[str]:
        """Return every platform id that is kept, to take them out of what people wrote; never to be shown."""
        return self.read(lambda c: frozenset(c.execute(sa.select(IDENTITIES.c.platform_id)).scalars()))

    def participants_by_id(self, ids: Collection[str]) -> dict[str, str]:
        """Return participants' random ids by those of these ids that are known: a person's or a submission's."""
        columns = (IDENTITIES.c.platform_id, IDENTITIES.c.session, IDENTITIES.c.participant_id)
        rows = self.read(lambda c: c.execute(sa.select(*columns)).all())
        known = {session: who for _, session, who in rows if session} | {
            platform_id: who for platform_id, _, who in rows
        }
        return {wanted: known[wanted] for wanted in ids if wanted in known}

    def prune_backups(self, *, keep: int) -> None:
        """Remove all but the newest copies that were made by date into ``backups/``."""
        with self._copying:
            backup.prune(self.folder, keep=keep)

    def health(self) -> Health:
        """Return the state of the study's storage: disk space, log, last backup, status, failed maintenance.

        Errors: :class:`StorageError` if the database cannot be read.
        """
        status, synchronous = self.read(lambda c: (overview.study_status(c), commit_setting(c)))
        disk, path = shutil.disk_usage(self.folder), self._database.path
        newest = max((copy.stat().st_mtime for copy in backup.copies_in(self.folder)), default=None)
        log = None if path is None else path.with_name(f"{path.name}-wal")
        return Health(
            free_bytes=disk.free,
            low=is_low(disk.free, disk.total),
            wal_bytes=log.stat().st_size if log is not None and log.exists() else 0,
            synchronous=synchronous,
            backup_age_s=None if newest is None else max(0.0, self._clock().timestamp() - newest),
            status=status,
            version=SCHEMA_VERSION,
            not_kept=dict(self.not_kept),
            trouble=self.trouble or self.outage.reason,
        )

    def forget(self, participant_id: str, *, actor: str) -> Erasure:
        """Remove a participant's platform identity, and the answers if the study says so, backups included.

        Only copies in the study's ``backups/`` are reached. Errors: :class:`AnswerRefused` for an unknown
        participant, :class:`StorageError` where another program holds the database open.
        """
        check_text("actor", actor, longest=200)
        now, keep, key = self._now(), self.study.keep_answers, self._key

        def job(connection: sa.Connection) -> tuple[tuple[str, ...], int]:
            participants.state_of(connection, participant_id)
            texts = identity_of(connection, participant_id)
            return texts, erase(connection, key, participant_id, keep_answers=keep, actor=actor, at=now)

        with self._copying:
            texts, removed = self._write(job)
            for copy in backup.copies_in(self.folder):
                erase_in_backup(copy, key, participant_id, keep_answers=keep, actor=actor, at=now)
            return Erasure(participant_id, bool(texts), removed, self._wipe(texts))

    def due_purge(self) -> datetime | None:
        """Return when the platform ids are due to be deleted: ``retain_days`` after the study was closed.

        ``None`` while it is not closed, or where the study names no number of days.
        """
        closed = self.read(overview.closed_at)
        if closed is None or self.study.retain_days is None:
            return None
        return datetime.fromisoformat(closed) + timedelta(days=self.study.retain_days)

    def purge_identities(self, now: datetime | None = None) -> Purge:
        """Delete the platform ids and tokens of all participants if they are due, backups included; else do nothing.

        A file is rewritten once: again only where ids came back, or another program kept it from being rewritten.
        Errors: :class:`StorageError` where another program holds the database open.
        """
        due, moment = self.due_purge(), now or self._clock()
        if due is None or moment < due:
            return Purge(0, ())
        at, key = stamp(moment), self._key

        def job(connection: sa.Connection) -> tuple[tuple[str, ...], int]:
            return identities(connection), purge(connection, key, actor="store", at=at)

        with self._copying:
            texts, removed = self._write(job)
            self._wiped = self._wiped and not removed
            for copy in backup.copies_in(self.folder):
                if copy not in self._purged:
                    purge_in_backup(copy, key, actor="store", at=at)
                    self._purged.add(copy)
            left = () if self._wiped else self._wipe(texts)
            self._wiped = not left
            return Purge(removed, left)

    def _wipe(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Rewrite the database without what was deleted; return the files that hold one of the texts still."""
        self._writer.put_alone(lambda: vacuum(self._database)).result()
        return files_with([*backup.copies_in(self.folder), *self.folder.glob("*.sqlite*")], texts)


# -- the state of a study's storage: disk space, the write-ahead log, the age of the last backup --------------------


LOW_SHARE, LOW_BYTES = 0.05, 200_000_000
"""Less free space than either is low."""
_SQLITE = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a running study's storage, for monitoring programs.

    ``low``: the disk of the study's folder has less than 5 % or 200 MB left. ``synchronous``: the database's own word
    for what a commit waits for. ``backup_age_s``: ``None`` if ``backups/`` has no backup. ``version``: that of the
    tables. ``not_kept``: the maintenance jobs (``backup``, ``purge``) that failed last time, with the reason.
    ``trouble``: why no answer can be saved, empty while answers are saved. *Unit:* bytes; seconds.
    """

    free_bytes: int
    low: bool
    wal_bytes: int
    synchronous: str
    backup_age_s: float | None
    status: Status
    version: int
    not_kept: Mapping[str, str] = field(default_factory=dict, hash=False)
    trouble: str = ""


def is_low(free: int, total: int) -> bool:
    """Return whether so little space is left that the researcher should act.

    >>> is_low(10**9, 10**10), is_low(10**9, 10**11), is_low(10**8, 10**9)
    (False, True, True)
    """
    return free < LOW_BYTES or free < LOW_SHARE * total


def commit_setting(connection: sa.Connection) -> str:
    """Return the database's own word for what a commit waits for."""
    if connection.dialect.name == "postgresql":
        return str(connection.exec_driver_sql("SHOW synchronous_commit").scalar_one())
    return _SQLITE[int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())]


# -- backups and retention at regular times, in a thread that is started and stopped by hand ------------------------


# failures of the disk or the database; any other is a fault of the program and ends the thread with its traceback
_FAILURES = (LexiscopeError, OSError, *FILE_ERRORS, sa.exc.SQLAlchemyError)


class MaintenanceThread:
    """A thread that makes backups at regular times, keeps the newest copies, and deletes platform ids when due.

    Use it as a context manager, or start it. With *keep* 0 it makes no copies: a PostgreSQL study is backed up by
    PostgreSQL.

    The two jobs do not depend on each other, and one that fails is tried again the next time; ``problem`` and the
    store's health have the last failure. Only copies that backups made by date are removed, never one made
    before a migration.
    """

    def __init__(self, store: Safekeeping, *, every: float, keep: int) -> None:
        if every <= 0 or keep < 0:
            raise InputError("maintenance runs every N minutes (N above 0) and keeps 0 or more copies")
        self.problem: Exception | None = None
        self._store, self._seconds, self._keep = store, 60 * every, keep
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lexiscope-maintenance", daemon=True)

    def __enter__(self) -> MaintenanceThread:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; the first backup is due when the newest copy is older than the interval."""
        self._thread.start()

    def stop(self) -> None:
        """End after the backup that is being made, if one is. Stop it before the store is closed."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        wait = self._first_wait()
        while not self._stop.wait(wait):
            backup_error = self._try("backup", self._back_up) if self._keep else None
            purge_error = self._try("purge", self._store.purge_identities)
            self.problem = backup_error or purge_error
            wait = self._seconds

    def _try(self, name: str, job: Callable[[], object]) -> Exception | None:
        try:
            job()
        except _FAILURES as error:
            # the first line: what follows may quote rows
            self._store.not_kept[name] = str(error).partition("\n")[0]
            return error
        self._store.not_kept.pop(name, None)
        return None

    def _back_up(self) -> None:
        self._store.backup()
        self._store.prune_backups(keep=self._keep)

    def _first_wait(self) -> float:
        try:
            age = self._store.health().backup_age_s if self._keep else None
        except _FAILURES:
            return 0.0
        return 0.0 if age is None else max(0.0, self._seconds - age)
