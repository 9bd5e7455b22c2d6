"""The store of a study: every answer, committed before it is acknowledged and never overwritten.

One process opens a study's folder; in it one thread writes (``writer.py``). A study, its database, the secret key and
the backups live in one folder. Methods return after the commit; :meth:`Store.submit_later` gives a future instead.
What needs nothing but the database is read by the functions of this folder's modules: ``store.read(study_status)``.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from lexiscope.annotation.store import accounts, answers, audit, export, overview, participants, places
from lexiscope.annotation.store.checks import check_form, check_text
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.open_study import CLOCK_JUMPED
from lexiscope.annotation.store.places import Choose, Lease, ListLoad, least_filled, stamp
from lexiscope.annotation.store.record import (
    AnswerRefused,
    BrowserAnswer,
    NoPlaceLeft,
    Phase,
    Receipt,
    Review,
    State,
    StateError,
    Status,
    StoredTrial,
)
from lexiscope.annotation.store.safekeeping import Safekeeping
from lexiscope.annotation.store.schema import ANSWERS, PARTICIPANTS
from lexiscope.core.response import ResponseTable
from lexiscope.core.simulated import SIMULATED_ID

HELD_AGAIN = "places held again"


class Store(Safekeeping):
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
        return self.read(participants.find_participant, self._key, platform_id)

    def record_consent(self, participant_id: str, *, text: str, version: str) -> None:
        """Record the consent to a text (version, hash, time); the participant is ``consented``."""
        now = self._now()
        self._write(lambda c: participants.record_consent(c, participant_id, text=text, version=version, at=now))

    def change_state(self, participant_id: str, to: State, *, reason: str) -> None:
        """Go to another state; the participant's place follows: used up, given back, or taken up again.

        Errors: :class:`StateError` where the change is not legal.
        """
        now = self._clock()
        self._write(lambda c: self._change_state(c, participant_id, to, reason, now))

    def mark_away(self, people: Mapping[str, State], *, reason: str, actor: str) -> dict[str, State]:
        """Mark active participants as returned or timed out; return those marked, with the states that they left.

        Their places are free at once, and the audit log notes each of them. Participants who finished, were screened
        out or declined are not changed, nor those who came back after the same reason was noted. One transaction.
        Errors: :class:`AnswerRefused` for an unknown participant.
        """
        now = self._clock()

        def job(connection: sa.Connection) -> dict[str, State]:
            wanted = {
                who: participants.state_before_leaving(connection, who, to, reason=reason) for who, to in people.items()
            }
            marked = {who: left for who, left in wanted.items() if left is not None}
            for who, left in marked.items():
                self._change_state(connection, who, people[who], reason, now)
                details = {"participant_id": who, "from": str(left), "to": str(people[who]), "reason": reason}
                audit.append(connection, self._key, at=stamp(now), actor=actor, action="change_state", details=details)
            return marked

        return self._write(job)

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
        return self._write(lambda c: self._take_place(c, participant_id, now, hold or self._hold_time, choose))

    def renew_place(self, participant_id: str, *, hold: timedelta | None = None) -> Lease:
        """Hold the place for longer; who comes too late may be surplus. Errors: :class:`StateError`."""
        now = self.held_now()
        return self._write(lambda c: self._renew_place(c, participant_id, now, hold or self._hold_time))

    def hold_again(self) -> int:
        """Hold again every place that was held when the study was last served; return how many.

        While no server runs participants cannot answer, and its clock may be set. The audit log notes it.
        """
        now = self.held_now()

        def job(connection: sa.Connection) -> int:
            jumped = audit.latest_entry(connection, (CLOCK_JUMPED, HELD_AGAIN))
            ahead = json.loads(jumped.details)["seconds"] if jumped is not None and jumped.action == CLOCK_JUMPED else 0
            _, (last,) = audit.entries(connection, without=(), limit=1, offset=0)
            ended = datetime.fromisoformat(last.at) - timedelta(seconds=ahead)
            n = places.hold_again(connection, last=ended, now=now, hold=self._hold_time)
            at, details = stamp(self._clock()), {"places": n, "minutes": self.study.hold_minutes}
            audit.append(connection, self._key, at=at, actor="store", action=HELD_AGAIN, details=details)
            return n

        return self._write(job)

    def loads(self) -> dict[str, ListLoad]:
        """Return how full each list is."""
        return self.read(places.list_loads, self.held_now())

    def set_places(self, list_id: str, n_places: int, *, actor: str) -> None:
        """Change the number of places of a list, with an entry in the audit log."""

        def job(connection: sa.Connection) -> None:
            places.set_places(connection, list_id, n_places)
            self._audit(connection, "set_places", actor=actor, list_id=list_id, places=n_places)

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

    def submit(self, answer: BrowserAnswer) -> Receipt:
        """Store an answer; return after the commit. A repetition gets the first receipt.

        Errors: :class:`AnswerRefused` naming the field, :class:`AnswerConflict` where another answer came first,
        :class:`StorageError` where the database failed: then nothing was stored, and the answer can be sent again.
        """
        return self.submit_later(answer).result()

    def submit_later(self, answer: BrowserAnswer) -> Future[Receipt]:
        """Queue an answer; the future is done after the commit (``asyncio.wrap_future`` awaits it).

        An answer with a wrong type or bound is rejected at once, the rest through the future.
        """
        check_form(answer)
        now = self._clock()
        return self._writer.put(lambda c: answers.submit(c, answer, self.study, self._items, now=now))

    def progress(self, participant_id: str, phase: Phase = Phase.TRIALS) -> answers.Progress:
        """Return a participant's state and next trial, with which a session is resumed on any device."""
        return self.read(answers.progress, self.study, participant_id, phase)

    def answers_of(self, participant_id: str) -> list[dict[str, object]]:
        """Return every stored answer of a participant, overwritten ones too, in the order in which they came."""
        query = sa.select(ANSWERS).where(ANSWERS.c.participant_id == participant_id).order_by(ANSWERS.c.id)
        return self.read(lambda c: [dict(row) for row in c.execute(query).mappings()])

    # -- tables -----------------------------------------------------------------------------------------------

    def responses(
        self,
        *,
        states: Collection[State] | None = export.FINISHED,
        phases: Collection[Phase] = export.READ_BY_STATISTICS,
    ) -> ResponseTable:
        """Return the effective answers as the statistics read them (see :func:`export.responses`)."""
        return self.read(export.responses, self.study, states=states, phases=phases)

    def responses_and_judgments(self) -> tuple[ResponseTable, pa.Table]:
        """Return the responses of participants who finished, and all judgments in the form of the long export."""
        return self.read(export.responses_and_judgments, self.study)

    def trial_answers(self) -> list[Mapping[str, Any]]:
        """Return the latest answer of each participant to each trial, by participant and position, as database rows."""
        return self.read(export.effective_answers, ANSWERS.c.phase == str(Phase.TRIALS))

    # -- the study --------------------------------------------------------------------------------------------

    def set_status(self, status: Status, *, actor: str) -> None:
        """Pause, resume or close the study, with an entry in the audit log. Errors: :class:`AnswerRefused`."""
        now = self._now()

        def job(connection: sa.Connection) -> None:
            if overview.set_status(connection, status, actor=actor, at=now):
                self._audit(connection, "set_status", actor=actor, status=status)

        self._write(job)

    def sign(self, name: str, plan: Mapping[str, object]) -> None:
        """Sign the plan of the study: *name* is who signs it, *plan* what it says; the audit log keeps both.

        Errors: :class:`StateError` where it was signed before; :class:`AnswerRefused` for a name that is not a text.
        """
        check_text("name", name, longest=200)

        def job(connection: sa.Connection) -> None:
            signed = audit.latest_entry(connection, (overview.SIGNED,))
            if signed is not None:
                raise StateError(f"the plan was signed by {signed.actor} on {signed.at}: a plan is signed once")
            details = {**plan, "sha256": self.study.sha256}
            self._audit(connection, overview.SIGNED, actor=name, **details)

        self._write(job)

    def people(self) -> list[overview.ListedParticipant]:
        """Return all participants in the order of their arrival, under their random ids."""
        since = stamp(self._clock() - self._hold_time)
        return self.read(overview.listed_participants, now=stamp(self.held_now()), since=since)

    def item_counts(self) -> dict[str, tuple[int, int, int]]:
        """Return for each item the numbers of its valid, active and excluded participants."""
        return self.read(overview.item_counts, stamp(self.held_now()))

    def record_review(self, review: Review) -> None:
        """Append a decision about an answer; earlier ones are kept. Errors: :class:`AnswerRefused`."""
        self._write(lambda c: overview.record_review(c, review))

    def holds_simulated(self) -> bool:
        """Return whether participants of this study are simulated: every page with their numbers reports it."""
        ids = PARTICIPANTS.c.participant_id
        simulated = sa.select(ids).where(ids.startswith(SIMULATED_ID)).limit(1)
        return self.read(lambda c: self.study.simulated or c.execute(simulated).first() is not None)

    # -- accounts of researchers, tokens of lab participants --------------------------------------------------

    def set_password(self, name: str, password_hash: str, *, actor: str) -> None:
        """Make an account or change its password, which ends its sessions; the audit log notes it without the hash."""
        now = self._now()

        def job(connection: sa.Connection) -> None:
            accounts.set_password(connection, name, password_hash, at=now)
            self._audit(connection, "set_password", actor=actor, name=name)

        self._write(job)

    def open_session(self, token_sha256: str, name: str, expires_at: datetime) -> None:
        """Record a session by its token's hash. Errors: :class:`AnswerRefused` for an unknown account."""
        now, until = self._now(), stamp(expires_at)
        self._write(lambda c: accounts.open_session(c, token_sha256, name, expires_at=until, now=now))

    def session(self, token_sha256: str) -> str | None:
        """Return the name of the account while its session lasts."""
        return self.read(accounts.session_account, token_sha256, now=self._now())

    def close_session(self, token_sha256: str) -> None:
        """End a session."""
        self._write(lambda c: accounts.close_session(c, token_sha256))

    def set_setup_secret(self, sha256: str, expires_at: datetime) -> None:
        """Record the hash of the one-time set-up secret; an earlier one is void."""
        until = stamp(expires_at)
        self._write(lambda c: accounts.set_setup_secret(c, sha256, expires_at=until))

    def use_setup_secret(self, sha256: str) -> bool:
        """Return whether this is the set-up secret: true once, before it expires."""
        now = self._now()
        return self._write(lambda c: accounts.use_setup_secret(c, sha256, now=now))

    def begin_attempt(self, key: str, *, now: datetime, most: int, lasts: timedelta) -> int | timedelta:
        """Record an attempt under a key; return its number, or how long to wait if *most* were made in that time.

        All workers of a study count together. Only a hash of the key under the study's secret is stored.
        """
        hashed = hmac.digest(self._key, f"attempt\n{key}".encode("utf-8", "surrogatepass"), "sha256").hex()

        def wait() -> timedelta | None:
            recent = self.read(accounts.attempts_since, hashed, now - lasts)
            return recent[0] + lasts - now if len(recent) >= most else None

        # who tries on and on is refused without a transaction that writes
        refused = wait()
        if refused is not None:
            return refused
        number = self._write(lambda c: accounts.begin_attempt(c, hashed, now=now, most=most, lasts=lasts))
        return number if number is not None else wait() or lasts

    def forget_attempt(self, number: int) -> None:
        """Remove an attempt: it was right, or it was never checked."""
        self._write(lambda c: accounts.forget_attempt(c, number))

    def make_tokens(self, n: int, *, actor: str) -> list[str]:
        """Invite *n* participants and return a token for each, 160 random bits; only their hashes are stored.

        Errors: :class:`AnswerRefused` for a number outside 1 to 10,000.
        """
        if isinstance(n, bool) or not 1 <= n <= 10_000:
            raise AnswerRefused("n", "a number from 1 to 10,000 is expected")
        check_text("actor", actor, longest=200)
        now, simulated = self._now(), self.study.simulated

        def job(connection: sa.Connection) -> list[str]:
            invited = [
                participants.invite(connection, self._key, platform_id=None, session=None, at=now, simulated=simulated)
                for _ in range(n)
            ]
            self._audit(connection, "make_tokens", actor=actor, tokens=n)
            return [accounts.make_token(connection, participant_id) for participant_id in invited]

        return self._write(job)

    # -- inside -----------------------------------------------------------------------------------------------

    @property
    def _hold_time(self) -> timedelta:
        return timedelta(minutes=self.study.hold_minutes)

    def _check_items(self, ids: Sequence[str]) -> None:
        for item_id in ids:
            if item_id not in self._items:
                raise AnswerRefused("item_id", f"the study has no item {item_id!r}")

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
        existing = places.lease_of(connection, participant_id)
        if existing is not None:
            return self._renew_place(connection, participant_id, now, hold)
        status = overview.study_status(connection)
        if status != "running":
            raise NoPlaceLeft(f"the study is {status} and accepts no new participants")
        lease = places.take(connection, participant_id, state, now=now, hold=hold, choose=choose)
        return self._log_lease(connection, "take", lease, self._now())

    def _change_state(
        self, connection: sa.Connection, participant_id: str, to: State, reason: str, now: datetime
    ) -> None:
        at, held, lease = stamp(now), self.held_now(), places.lease_of(connection, participant_id)
        if to is State.ACTIVE and lease is not None and lease.status == "released":
            # back from "returned" or "timed out": the old place while it is free, else surplus
            self._renew(connection, participant_id, held, self._hold_time)
        left = participants.change_state(connection, self.study, participant_id, to, reason=reason, at=at)
        if lease is None:
            return
        if to in (State.EXCLUDED, State.RETURNED, State.TIMED_OUT):
            released = places.release(
                connection, participant_id, status="excluded" if to is State.EXCLUDED else "released"
            )
            self._log_lease(connection, f"release: {to}", released, at)
        elif to in (State.FINISHED, State.ACCEPTED) and left is not State.FINISHED:
            used = places.use_up(connection, participant_id, now=held, has_place=self._has_place)
            self._log_lease(connection, str(to), used, at)

    def _log_lease(self, connection: sa.Connection, action: str, lease: Lease, at: str) -> Lease:
        details = {"participant_id": lease.participant_id, "list_id": lease.list_id, "surplus": lease.surplus}
        audit.append(connection, self._key, at=at, actor="store", action=f"place {action}", details=details)
        return lease
