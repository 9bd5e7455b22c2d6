"""The store of a study: everything that people answered, committed before it is acknowledged, never overwritten.

One process opens a study's folder; in it one thread writes (``writer.py``). A study, its database, the secret key and
the backups live in one folder. Methods return after the commit; :meth:`Store.submit_later` gives a future instead.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

import pyarrow as pa

from lexiscope.annotation.store import answers, audit, backup, erasure, export, participants, places
from lexiscope.annotation.store.checks import check_form, check_text
from lexiscope.annotation.store.engine import DATABASE_NAME, Database, connect, sa, vacuum
from lexiscope.annotation.store.places import Choose, Lease, ListLoad, least_filled, stamp
from lexiscope.annotation.store.record import (
    Answer,
    AnswerRefused,
    Phase,
    Receipt,
    State,
    StateError,
    StudyRecord,
    Trial,
)
from lexiscope.annotation.store.schema import ANSWERS, LISTS, METADATA, SCHEMA_VERSION, STUDY
from lexiscope.annotation.store.writer import Job, T, Writer
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.lock import locked
from lexiscope.core.response import ResponseTable

HOLD = timedelta(minutes=30)
"""How long a place is held without a sign of life, unless the study says otherwise."""


class Store:
    """A study's store, open in this process. Use it as a context manager."""

    def __init__(self, study: StudyRecord, database: Database, folder: Path, *, clock: Callable[[], datetime]) -> None:
        self.study, self.folder = study, folder
        self._database, self._clock, self._held = database, clock, ExitStack()
        self._items = {item.item_id: item for item in study.items}
        self._key = _read_key(folder)
        _prepare(database, study, self._key, stamp(clock()))
        self._writer = Writer(database)

    @classmethod
    def open(
        cls,
        folder: Path,
        study: StudyRecord,
        *,
        url: str | None = None,
        unsafe_fast: bool = False,
        clock: Callable[[], datetime] | None = None,
    ) -> Store:
        """Open the study's store in *folder*, or make it there.

        *url* names a PostgreSQL database instead of the folder's SQLite file; several processes may then open the
        study. Errors: :class:`RunError` where another process has the study open, or the folder holds another study or
        another version of its definition; :class:`StorageError`.
        """
        with ExitStack() as held:
            if url is None:
                held.enter_context(_one_server(folder))
            folder.mkdir(parents=True, exist_ok=True)
            database = connect(folder, url=url, unsafe_fast=unsafe_fast)
            held.callback(database.dispose)
            store = cls(study, database, folder, clock=clock or (lambda: datetime.now(UTC)))
            store._held = held.pop_all()
            return store

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is waiting, close the database, give the lock back."""
        self._writer.close()
        self._held.close()

    # -- participants -----------------------------------------------------------------------------------------

    def invite(self, platform_id: str | None = None, *, session: str | None = None) -> str:
        """Return the random id of the participant with this platform id, the same at every arrival."""
        now = self._now()
        return self._write(
            lambda c: participants.invite(c, self._key, platform_id=platform_id, session=session, at=now)
        )

    def find(self, platform_id: str) -> str | None:
        """Return the random id that belongs to a platform id, if there is one."""
        with self._database.read.begin() as connection:
            return participants.find(connection, self._key, platform_id)

    def record_consent(self, participant_id: str, *, text: str, version: str) -> None:
        """Record the consent to a text (version, hash, time); the participant is ``consented``."""
        now = self._now()
        self._write(lambda c: participants.consent(c, participant_id, text=text, version=version, at=now))

    def change_state(self, participant_id: str, to: State, *, reason: str) -> None:
        """Go to another state; the participant's place follows: used up, given back, or taken up again.

        Errors: :class:`StateError` where the change is not legal.
        """
        now = self._clock()
        self._write(lambda c: self._change_state(c, participant_id, to, reason, now))

    def history(self, participant_id: str) -> list[participants.StateChange]:
        """Return a participant's changes of state, oldest first."""
        with self._database.read.begin() as connection:
            return participants.history(connection, participant_id)

    def issue_code(self, participant_id: str, kind: str = "completed") -> str:
        """Return the participant's completion code, the same at every call; only committed rows count.

        Errors: :class:`StateError` where the state, or a trial without an answer, does not allow it.
        """
        now = self._now()
        return self._write(lambda c: participants.issue_code(c, self.study, participant_id, kind, at=now))

    # -- places -----------------------------------------------------------------------------------------------

    def take_place(self, participant_id: str, *, hold: timedelta = HOLD, choose: Choose = least_filled) -> Lease:
        """Take a place on a list for a time. Errors: :class:`NoPlaceLeft`, :class:`StateError`."""
        now = self._clock()
        return self._write(lambda c: self._take_place(c, participant_id, now, hold, choose))

    def renew_place(self, participant_id: str, *, hold: timedelta = HOLD) -> Lease:
        """Hold the place for longer; who comes too late may be surplus. Errors: :class:`StateError`."""
        now = self._clock()
        return self._write(lambda c: self._renew_place(c, participant_id, now, hold))

    def release_place(self, participant_id: str) -> Lease:
        """Give a place back, with an entry in the audit log. Errors: :class:`StateError`."""
        now = self._now()
        return self._write(
            lambda c: self._log_lease(c, "release", places.release(c, participant_id, status="released"), now)
        )

    def loads(self) -> dict[str, ListLoad]:
        """Return how full each list is."""
        with self._database.read.begin() as connection:
            return places.loads(connection, self._clock())

    def set_places(self, list_id: str, n_places: int, *, actor: str) -> None:
        """Change the number of places of a list, with an entry in the audit log."""
        now = self._now()

        def job(connection: sa.Connection) -> None:
            places.set_places(connection, list_id, n_places)
            details = {"list_id": list_id, "places": n_places}
            audit.append(connection, self._key, at=now, actor=actor, action="set_places", details=details)

        self._write(job)

    # -- answers ----------------------------------------------------------------------------------------------

    def lay_out(self, participant_id: str, phase: Phase, trials: Sequence[Trial]) -> None:
        """Fix a participant's trials of a phase and their order; the same plan again changes nothing.

        Errors: :class:`AnswerRefused` for an item that the study does not have, or that comes twice,
        :class:`StateError` where there is another plan.
        """
        ids = [trial.item_id for trial in trials]
        for item_id in ids:
            if item_id not in self._items:
                raise AnswerRefused("item_id", f"the study has no item {item_id!r}")
        if len(set(ids)) != len(ids):
            raise AnswerRefused("item_id", "an item comes twice in one phase")

        def job(connection: sa.Connection) -> None:
            participants.state_of(connection, participant_id)
            answers.lay_out(connection, participant_id, phase, trials)

        self._write(job)

    def plan(self, participant_id: str, phase: Phase = Phase.TRIALS) -> list[Trial]:
        """Return a participant's trials of a phase in their order."""
        with self._database.read.begin() as connection:
            return answers.plan(connection, participant_id, phase)

    def submit(self, answer: Answer) -> Receipt:
        """Store an answer; return after the commit. A repetition gets the first receipt.

        Errors: :class:`AnswerRefused` naming the field, :class:`AnswerConflict` where another answer came first,
        :class:`StorageError` where the database failed: then nothing was stored, and the answer can be sent again.
        """
        return self.submit_later(answer).result()

    def submit_later(self, answer: Answer) -> Future[Receipt]:
        """Queue an answer; the future is done after the commit (``asyncio.wrap_future`` awaits it).

        What is wrong in itself (a type, a bound) is refused at once, the rest through the future.
        """
        check_form(answer)
        now = self._clock()
        return self._writer.put(
            lambda c: answers.submit(c, answer, self._items, revisable=self.study.revisable, now=now)
        )

    def progress(self, participant_id: str, phase: Phase = Phase.TRIALS) -> answers.Progress:
        """Return where a participant stands and what comes next, for going on with the session on any device."""
        with self._database.read.begin() as connection:
            return answers.progress(connection, participant_id, phase)

    def answers_of(self, participant_id: str) -> list[dict[str, object]]:
        """Return every stored answer of a participant, overwritten ones too, in the order in which they came."""
        with self._database.read.begin() as connection:
            query = sa.select(ANSWERS).where(ANSWERS.c.participant_id == participant_id).order_by(ANSWERS.c.id)
            return [dict(row) for row in connection.execute(query).mappings()]

    # -- tables -----------------------------------------------------------------------------------------------

    def responses(
        self,
        *,
        states: Collection[State] | None = export.FINISHED,
        phases: Collection[Phase] = export.READ_BY_STATISTICS,
    ) -> ResponseTable:
        """Return the effective answers as the statistics read them (see :func:`export.responses`)."""
        with self._database.read.begin() as connection:
            return export.responses(connection, self.study, states=states, phases=phases)

    def long_export(self) -> pa.Table:
        """Return one row per judgment with the columns of :data:`export.LONG_SCHEMA`."""
        with self._database.read.begin() as connection:
            return export.long_export(connection, self.study)

    # -- keeping ----------------------------------------------------------------------------------------------

    def log(self, action: str, *, actor: str, details: Mapping[str, object] | None = None) -> None:
        """Append an entry to the audit log. The details must not hold an id of the recruiting platform."""
        for field, text in (("action", action), ("actor", actor)):
            check_text(field, text, longest=200)
        check_text("details", json.dumps(dict(details or {}), ensure_ascii=False), longest=100_000)
        now = self._now()
        self._write(lambda c: audit.append(c, self._key, at=now, actor=actor, action=action, details=details or {}))

    def verify(self) -> backup.StoreCheck:
        """Check the database file, the audit log's chain, and the rules that every answer obeys."""
        return backup.check(self._database, self._key)

    def backup(self, target: Path | None = None) -> Path:
        """Copy the database while it is in use, by default into ``backups/``; return the copy's path."""
        name = f"{self._clock().astimezone(UTC):%Y%m%dT%H%M%S_%f}.sqlite"
        return backup.write_backup(self._database, target or self.folder / backup.BACKUPS / name)

    def forget(self, participant_id: str, *, actor: str) -> erasure.Erasure:
        """Remove a participant's platform identity, and the answers if the study says so, backups included.

        Only copies in the study's ``backups/`` are reached. Errors: :class:`AnswerRefused` for an unknown
        participant, :class:`StorageError` where another program holds the database open.
        """
        now, keep = self._now(), self.study.keep_answers

        def job(connection: sa.Connection) -> tuple[tuple[str, ...], int]:
            participants.state_of(connection, participant_id)
            texts = erasure.identity_of(connection, participant_id)
            removed = erasure.erase(connection, participant_id, keep_answers=keep, at=now)
            details = {"participant_id": participant_id, "answers_removed": removed}
            audit.append(connection, self._key, at=now, actor=actor, action="forget", details=details)
            return texts, removed

        texts, removed = self._write(job)
        copies = sorted((self.folder / backup.BACKUPS).glob("*.sqlite"))
        for copy in copies:
            erasure.erase_in_backup(copy, participant_id, keep_answers=keep, at=now)
        vacuum(self._database)
        files = [*copies, *self.folder.glob("*.sqlite*")]
        return erasure.Erasure(participant_id, bool(texts), removed, erasure.files_with(files, texts))

    # -- inside -----------------------------------------------------------------------------------------------

    def _write(self, job: Job[T]) -> T:
        return self._writer.put(job).result()

    def _now(self) -> str:
        return stamp(self._clock())

    def _renew_place(self, connection: sa.Connection, participant_id: str, now: datetime, hold: timedelta) -> Lease:
        state = participants.state_of(connection, participant_id)
        if state not in (State.QUALIFIED, State.ACTIVE):
            raise StateError(f"a participant who is {state} does not hold a place")
        return places.renew(connection, participant_id, now=now, hold=hold)

    def _take_place(
        self, connection: sa.Connection, participant_id: str, now: datetime, hold: timedelta, choose: Choose
    ) -> Lease:
        state = participants.state_of(connection, participant_id)
        known = places.lease_of(connection, participant_id)
        if known is not None:
            return self._renew_place(connection, participant_id, now, hold)
        lease = places.take(connection, participant_id, state, now=now, hold=hold, choose=choose)
        return self._log_lease(connection, "take", lease, stamp(now))

    def _change_state(
        self, connection: sa.Connection, participant_id: str, to: State, reason: str, now: datetime
    ) -> None:
        at, lease = stamp(now), places.lease_of(connection, participant_id)
        if to is State.ACTIVE and lease is not None and lease.status == "released":
            # back from "returned" or "timed out": the old place while it is free, else surplus
            places.renew(connection, participant_id, now=now, hold=HOLD)
        left = participants.change_state(connection, participant_id, to, reason=reason, at=at)
        if lease is None:
            return
        if to in (State.EXCLUDED, State.RETURNED, State.TIMED_OUT):
            released = places.release(
                connection, participant_id, status="excluded" if to is State.EXCLUDED else "released"
            )
            self._log_lease(connection, f"release: {to}", released, at)
        elif to in (State.FINISHED, State.ACCEPTED) and left is not State.FINISHED:
            self._log_lease(connection, str(to), places.use_up(connection, participant_id, now=now), at)

    def _log_lease(self, connection: sa.Connection, action: str, lease: Lease, at: str) -> Lease:
        details = {"participant_id": lease.participant_id, "list_id": lease.list_id, "surplus": lease.surplus}
        audit.append(connection, self._key, at=at, actor="store", action=f"place {action}", details=details)
        return lease


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


def _prepare(database: Database, study: StudyRecord, key: bytes, at: str) -> None:
    """Make the tables of a new study, or check that the stored study is this one."""
    for name, text in (("study_id", study.study_id), ("definition", study.definition)):
        check_text(name, text, longest=100_000_000)
    with database.write.begin() as connection:
        METADATA.create_all(connection)
        stored = connection.execute(sa.select(STUDY)).first()
        if stored is None:
            row = {"study_id": study.study_id, "definition": study.definition, "sha256": study.sha256}
            connection.execute(STUDY.insert(), {**row, "schema_version": SCHEMA_VERSION, "created_at": at})
            rows = [{"list_id": name, "ordinal": k, "places": n} for k, (name, n) in enumerate(study.places.items())]
            if not rows:
                raise InputError("a study has at least one list with places")
            connection.execute(LISTS.insert(), rows)
            details = {"study_id": study.study_id, "sha256": study.sha256}
            audit.append(connection, key, at=at, actor="store", action="create", details=details)
        elif stored.schema_version != SCHEMA_VERSION:
            raise RunError(f"this study has tables of version {stored.schema_version}, this program {SCHEMA_VERSION}")
        elif (stored.study_id, stored.sha256) != (study.study_id, study.sha256):
            raise RunError(
                f"the stored study is {stored.study_id!r} with another definition",
                why=f"stored {stored.sha256[:12]}, given {study.sha256[:12]}",
                hint="a definition is frozen at launch; give a changed study its own folder",
            )
        elif not audit.fits(connection, key):
            raise RunError("the secret key in the folder is not the one of this study", hint="put the right file back")
