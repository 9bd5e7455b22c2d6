"""The store of a study: everything that people answered, committed before it is acknowledged, never overwritten.

One process opens a study's folder; in it one thread writes (``writer.py``). A study, its database, the secret key and
the backups live in one folder. Methods return after the commit; :meth:`Store.submit_later` gives a future instead.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta

import pyarrow as pa

from lexiscope.annotation.store import answers, audit, export, overview, participants, places
from lexiscope.annotation.store.checks import check_form
from lexiscope.annotation.store.desk import Desk
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.opened import CLOCK_JUMPED
from lexiscope.annotation.store.places import Choose, Lease, ListLoad, least_filled, stamp
from lexiscope.annotation.store.record import (
    AnswerRefused,
    BrowserAnswer,
    NoPlaceLeft,
    Phase,
    Receipt,
    State,
    StateError,
    StoredTrial,
)
from lexiscope.annotation.store.safekeeping import Safekeeping
from lexiscope.annotation.store.schema import ANSWERS
from lexiscope.core.response import ResponseTable

HELD_AGAIN = "places held again"


class Store(Desk, Safekeeping):
    """A study's store, open in this process. Use it as a context manager."""

    # -- participants -----------------------------------------------------------------------------------------

    def invite(self, platform_id: str | None = None, *, session: str | None = None) -> str:
        """Return the random id of the participant with this platform id, the same at every arrival."""
        now, simulated = self._now(), self.study.simulated
        return self._write(
            lambda c: participants.invite(
                c, self._key, platform_id=platform_id, session=session, at=now, simulated=simulated
            )
        )

    def find(self, platform_id: str) -> str | None:
        """Return the random id that belongs to a platform id, if there is one."""
        with self._read() as connection:
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

    def mark_away(self, people: Mapping[str, State], *, reason: str, actor: str) -> dict[str, State]:
        """Mark people as returned or timed out who are under way; return whom, with the states that they left.

        Their places are free at once, and the audit log notes each of them. Who has finished, was screened out or did
        not consent is left as they are; so is who came back after the same reason was noted. All in one transaction.
        Errors: :class:`AnswerRefused` for an unknown participant.
        """
        now = self._clock()

        def job(connection: sa.Connection) -> dict[str, State]:
            wanted = {who: participants.left_by(connection, who, to, reason=reason) for who, to in people.items()}
            marked = {who: left for who, left in wanted.items() if left is not None}
            for who, left in marked.items():
                self._change_state(connection, who, people[who], reason, now)
                details = {"participant_id": who, "from": str(left), "to": str(people[who]), "reason": reason}
                audit.append(connection, self._key, at=stamp(now), actor=actor, action="change_state", details=details)
            return marked

        return self._write(job)

    def history(self, participant_id: str) -> list[participants.StateChange]:
        """Return a participant's changes of state, oldest first."""
        with self._read() as connection:
            return participants.history(connection, participant_id)

    def issue_code(self, participant_id: str, kind: str = "completed") -> str:
        """Return the participant's completion code, the same at every call; only committed rows count.

        Errors: :class:`StateError` where the state, or a trial without an answer, does not allow it.
        """
        now = self._now()
        return self._write(lambda c: participants.issue_code(c, self.study, participant_id, kind, at=now))

    # -- places -----------------------------------------------------------------------------------------------

    def take_place(self, participant_id: str, *, hold: timedelta | None = None, choose: Choose = least_filled) -> Lease:
        """Take a place on a list for a time, ``hold_minutes`` of the study unless *hold* says otherwise.

        Errors: :class:`NoPlaceLeft`, also while the study is paused or closed; :class:`StateError`.
        """
        now = self.held_now()
        return self._write(lambda c: self._take_place(c, participant_id, now, hold or self._hold, choose))

    def renew_place(self, participant_id: str, *, hold: timedelta | None = None) -> Lease:
        """Hold the place for longer; who comes too late may be surplus. Errors: :class:`StateError`."""
        now = self.held_now()
        return self._write(lambda c: self._renew_place(c, participant_id, now, hold or self._hold))

    def hold_again(self) -> int:
        """Hold anew every place that was held when the study was last served; return how many.

        While no server runs nobody can answer, and its clock may be set. The audit log notes it.
        """
        now = self.held_now()

        def job(connection: sa.Connection) -> int:
            jumped = audit.latest(connection, (CLOCK_JUMPED, HELD_AGAIN))
            ahead = json.loads(jumped.details)["seconds"] if jumped is not None and jumped.action == CLOCK_JUMPED else 0
            _, (last,) = audit.entries(connection, without=(), limit=1, offset=0)
            ended = datetime.fromisoformat(last.at) - timedelta(seconds=ahead)
            n = places.hold_again(connection, last=ended, now=now, hold=self._hold)
            details = {"places": n, "minutes": self.study.hold_minutes}
            audit.append(
                connection, self._key, at=stamp(self._clock()), actor="store", action=HELD_AGAIN, details=details
            )
            return n

        return self._write(job)

    def loads(self) -> dict[str, ListLoad]:
        """Return how full each list is."""
        with self._read() as connection:
            return places.loads(connection, self.held_now())

    def set_places(self, list_id: str, n_places: int, *, actor: str) -> None:
        """Change the number of places of a list, with an entry in the audit log."""
        now = self._now()

        def job(connection: sa.Connection) -> None:
            places.set_places(connection, list_id, n_places)
            details = {"list_id": list_id, "places": n_places}
            audit.append(connection, self._key, at=now, actor=actor, action="set_places", details=details)

        self._write(job)

    # -- answers ----------------------------------------------------------------------------------------------

    def lay_out(self, participant_id: str, phase: Phase, trials: Sequence[StoredTrial]) -> None:
        """Fix a participant's trials of a phase and their order; the same plan again changes nothing.

        Errors: :class:`AnswerRefused` for an item that the study does not have, or that comes twice,
        :class:`StateError` where there is another plan.
        """
        ids = [trial.item_id for trial in trials]
        self._check_items(ids)
        if len(set(ids)) != len(ids):
            raise AnswerRefused("item_id", "an item comes twice in one phase")

        def job(connection: sa.Connection) -> None:
            participants.state_of(connection, participant_id)
            answers.lay_out(connection, participant_id, phase, trials)

        self._write(job)

    def extend(self, participant_id: str, phase: Phase, trial: StoredTrial) -> int:
        """Append one trial to a participant's plan, where items are drawn one by one; return its position.

        The item that is the last already keeps its position and its order. Errors: :class:`StateError` while the last
        trial has no answer, or where the study draws no items; :class:`AnswerRefused` for an item that the study does
        not have or the plan has already.
        """
        if not self.study.written:
            raise StateError("this study lays out all trials at once")
        self._check_items([trial.item_id])

        def job(connection: sa.Connection) -> int:
            participants.state_of(connection, participant_id)
            return answers.extend(connection, participant_id, phase, trial)

        return self._write(job)

    def plan(self, participant_id: str, phase: Phase = Phase.TRIALS) -> list[StoredTrial]:
        """Return a participant's trials of a phase in their order."""
        with self._read() as connection:
            return answers.plan(connection, participant_id, phase)

    def submit(self, answer: BrowserAnswer) -> Receipt:
        """Store an answer; return after the commit. A repetition gets the first receipt.

        Errors: :class:`AnswerRefused` naming the field, :class:`AnswerConflict` where another answer came first,
        :class:`StorageError` where the database failed: then nothing was stored, and the answer can be sent again.
        """
        return self.submit_later(answer).result()

    def submit_later(self, answer: BrowserAnswer) -> Future[Receipt]:
        """Queue an answer; the future is done after the commit (``asyncio.wrap_future`` awaits it).

        What is wrong in itself (a type, a bound) is refused at once, the rest through the future.
        """
        check_form(answer)
        now = self._clock()
        return self._writer.put(lambda c: answers.submit(c, answer, self.study, self._items, now=now))

    def progress(self, participant_id: str, phase: Phase = Phase.TRIALS) -> answers.Progress:
        """Return where a participant stands and what comes next, for going on with the session on any device."""
        with self._read() as connection:
            return answers.progress(connection, self.study, participant_id, phase)

    def answers_of(self, participant_id: str) -> list[dict[str, object]]:
        """Return every stored answer of a participant, overwritten ones too, in the order in which they came."""
        with self._read() as connection:
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
        with self._read() as connection:
            return export.responses(connection, self.study, states=states, phases=phases)

    def long_export(self) -> pa.Table:
        """Return one row per judgment with the columns of :data:`export.LONG_SCHEMA`."""
        with self._read() as connection:
            return export.long_export(connection, self.study)

    # -- inside -----------------------------------------------------------------------------------------------

    @property
    def _hold(self) -> timedelta:
        return timedelta(minutes=self.study.hold_minutes)

    def _check_items(self, ids: Sequence[str]) -> None:
        for item_id in ids:
            if item_id not in self._items:
                raise AnswerRefused("item_id", f"the study has no item {item_id!r}")

    def _use_up(self, connection: sa.Connection, participant_id: str, now: datetime) -> Lease:
        return places.use_up(connection, participant_id, now=now, has_place=self._has_place)

    def _renew_place(self, connection: sa.Connection, participant_id: str, now: datetime, hold: timedelta) -> Lease:
        state = participants.state_of(connection, participant_id)
        if state not in (State.QUALIFIED, State.ACTIVE):
            raise StateError(f"a participant who is {state} does not hold a place")
        return self._renew(connection, participant_id, now, hold)

    def _renew(self, connection: sa.Connection, participant_id: str, now: datetime, hold: timedelta) -> Lease:
        return places.renew(connection, participant_id, now=now, hold=hold, has_place=self._has_place)

    def _take_place(
        self, connection: sa.Connection, participant_id: str, now: datetime, hold: timedelta, choose: Choose
    ) -> Lease:
        state = participants.state_of(connection, participant_id)
        known = places.lease_of(connection, participant_id)
        if known is not None:
            return self._renew_place(connection, participant_id, now, hold)
        status = overview.status(connection)
        if status != "running":
            raise NoPlaceLeft(f"the study is {status}: nobody new is taken in")
        lease = places.take(connection, participant_id, state, now=now, hold=hold, choose=choose)
        return self._log_lease(connection, "take", lease, self._now())

    def _change_state(
        self, connection: sa.Connection, participant_id: str, to: State, reason: str, now: datetime
    ) -> None:
        at, held, lease = stamp(now), self.held_now(), places.lease_of(connection, participant_id)
        if to is State.ACTIVE and lease is not None and lease.status == "released":
            # back from "returned" or "timed out": the old place while it is free, else surplus
            self._renew(connection, participant_id, held, self._hold)
        left = participants.change_state(connection, self.study, participant_id, to, reason=reason, at=at)
        if lease is None:
            return
        if to in (State.EXCLUDED, State.RETURNED, State.TIMED_OUT):
            released = places.release(
                connection, participant_id, status="excluded" if to is State.EXCLUDED else "released"
            )
            self._log_lease(connection, f"release: {to}", released, at)
        elif to in (State.FINISHED, State.ACCEPTED) and left is not State.FINISHED:
            self._log_lease(connection, str(to), self._use_up(connection, participant_id, held), at)

    def _log_lease(self, connection: sa.Connection, action: str, lease: Lease, at: str) -> Lease:
        details = {"participant_id": lease.participant_id, "list_id": lease.list_id, "surplus": lease.surplus}
        audit.append(connection, self._key, at=at, actor="store", action=f"place {action}", details=details)
        return lease
