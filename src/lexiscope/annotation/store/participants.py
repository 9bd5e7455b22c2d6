"""Participants: identities (in a separate table), consents, states, completion codes, and the time places are held."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from lexiscope.annotation.store import seals
from lexiscope.annotation.store.answers import WRITTEN
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import TRANSITIONS, AnswerRefused, Phase, State, StateError, StudyRecord
from lexiscope.annotation.store.schema import ANSWERS, CODES, CONSENTS, IDENTITIES, LEASES, PARTICIPANTS, STATES, TRIALS
from lexiscope.core.simulated import SIMULATED_ID

CODE_STATES = {
    "completed": frozenset({State.FINISHED, State.ACCEPTED, State.EXCLUDED}),
    "screened_out": frozenset({State.SCREENED_OUT}),
    "no_consent": frozenset({State.DECLINED}),
}
"""The kinds of completion code, and the states in which each may be issued."""

UNDER_WAY = frozenset({State.INVITED, State.CONSENTED, State.QUALIFIED, State.ACTIVE})
"""The states of participants who have neither finished nor left."""

# letters and digits that are not mistaken for each other: 32 of them, 5 bits each
_CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class StateChange:
    """One change of a participant's state, with its reason and its time in UTC."""

    from_state: State | None
    to_state: State
    reason: str
    at: str


def lookup_hash(key: bytes, platform_id: str) -> str:
    """Return the keyed hash under which a platform id is looked up."""
    return hmac.new(key, platform_id.encode("utf-8"), hashlib.sha256).hexdigest()


def invite(
    connection: sa.Connection,
    key: bytes,
    *,
    platform_id: str | None,
    session: str | None,
    at: str,
    simulated: bool = False,
) -> str:
    """Return the random id of the participant with this platform id, making it at the first arrival.

    The id of a simulated participant begins with :data:`~lexiscope.core.simulated.SIMULATED_ID`: it is in every row of
    every table that is made of the answers. It follows from the platform id, so that a rehearsal can be repeated.

    Errors: :class:`AnswerRefused` for an id that cannot be stored.
    """
    if platform_id is not None:
        check_text("platform_id", platform_id, longest=200)
        existing = find_participant(connection, key, platform_id)
        if existing is not None:
            return existing
    if session is not None:
        check_text("session", session, longest=200)
    if simulated and platform_id is not None:
        # a simulated id protects no person; made of the platform id, it is the same in every run with the same seed
        participant_id = SIMULATED_ID + hashlib.sha256(platform_id.encode()).hexdigest()[:32]
    else:
        participant_id = f"{SIMULATED_ID if simulated else 'p'}{secrets.token_hex(16)}"
    connection.execute(PARTICIPANTS.insert(), {"participant_id": participant_id, "created_at": at})
    if platform_id is not None:
        row = {"lookup": lookup_hash(key, platform_id), "platform_id": platform_id, "session": session}
        connection.execute(IDENTITIES.insert(), {"participant_id": participant_id, **row})
    _append_state(connection, participant_id, None, State.INVITED, "arrived", at=at)
    return participant_id


def find_participant(connection: sa.Connection, key: bytes, platform_id: str) -> str | None:
    """Return the random id that belongs to a platform id, if there is one."""
    wanted = sa.select(IDENTITIES.c.participant_id).where(IDENTITIES.c.lookup == lookup_hash(key, platform_id))
    return connection.execute(wanted).scalar()


def state_changes(connection: sa.Connection, participant_id: str) -> list[StateChange]:
    """Return the changes of state of a participant, oldest first.

    Errors: :class:`AnswerRefused` for a participant that the study does not know.
    """
    columns = (STATES.c.from_state, STATES.c.to_state, STATES.c.reason, STATES.c.at)
    query = sa.select(*columns).where(STATES.c.participant_id == participant_id).order_by(STATES.c.number)
    rows = connection.execute(query).all()
    if not rows:
        raise AnswerRefused("participant_id", "the study has no such participant")
    return [StateChange(State(r[0]) if r[0] is not None else None, State(r[1]), r[2], r[3]) for r in rows]


def state_of(connection: sa.Connection, participant_id: str) -> State:
    """Return a participant's state."""
    return state_changes(connection, participant_id)[-1].to_state


def record_consent(connection: sa.Connection, participant_id: str, *, text: str, version: str, at: str) -> None:
    """Record the consent to a text, by its version and hash, and go to ``consented``."""
    check_text("version", version, longest=200)
    check_text("text", text, longest=1_000_000)
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    row = {"participant_id": participant_id, "text_version": version, "text_sha256": digest, "at": at}
    past = state_changes(connection, participant_id)
    _check_legal(past, State.CONSENTED)
    seals.insert(connection, CONSENTS, row)
    _append_state(connection, participant_id, past[-1].to_state, State.CONSENTED, f"consent text {version}", at=at)


def change_state(
    connection: sa.Connection, study: StudyRecord, participant_id: str, to: State, *, reason: str, at: str
) -> State:
    """Go to another state, with a reason; return the state that was left.

    Errors: :class:`StateError` where the change is not legal, or the new state requires what has not happened: no
    consent, no list (``active``), trials without an answer or too few written answers (``finished``).
    """
    check_text("reason", reason, longest=1000)
    past = state_changes(connection, participant_id)
    _check_legal(past, to)
    _check_grounds(connection, study, participant_id, to, past)
    _append_state(connection, participant_id, past[-1].to_state, to, reason, at=at)
    return past[-1].to_state


def state_before_leaving(connection: sa.Connection, participant_id: str, to: State, *, reason: str) -> State | None:
    """Return the state that an active participant would leave for ``returned`` or ``timed_out``; ``None`` if they stay.

    A participant who came back after this was recorded for this reason stays: a list applied twice changes nothing.
    """
    past = state_changes(connection, participant_id)
    current = past[-1].to_state
    gave_back_late = to is State.RETURNED and current is State.TIMED_OUT
    noted = any(change.to_state is to and change.reason == reason for change in past)
    return current if (current in UNDER_WAY or gave_back_late) and not noted else None


def issue_code(connection: sa.Connection, study: StudyRecord, participant_id: str, kind: str, *, at: str) -> str:
    """Return the participant's completion code of a kind, the same at every call.

    Errors: :class:`StateError` where the participant's state, or a trial without an answer, does not allow it.
    """
    if kind not in CODE_STATES:
        raise AnswerRefused("kind", f"unknown code {kind!r}", hint=f"valid names: {', '.join(CODE_STATES)}")
    is_theirs = (CODES.c.participant_id == participant_id) & (CODES.c.kind == kind)
    existing = connection.execute(sa.select(CODES.c.code).where(is_theirs)).scalar()
    if existing is not None:
        return str(existing)
    state = state_of(connection, participant_id)
    missing = _missing_answers(connection, study, participant_id) if kind == "completed" else ""
    if state not in CODE_STATES[kind] or missing:
        why = missing or f"the participant is {state}"
        raise StateError(f"no code {kind!r} is issued: {why}")
    code = study.codes.get(kind) or "".join(secrets.choice(_CODE_LETTERS) for _ in range(10))
    seals.insert(connection, CODES, {"participant_id": participant_id, "kind": kind, "code": code, "at": at})
    return code


def count_unanswered(connection: sa.Connection, participant_id: str) -> int:
    """Return how many planned trials of the phases ``trials`` and ``reveal`` have no answer."""
    phases = (str(Phase.TRIALS), str(Phase.REVEAL))
    planned = sa.select(sa.func.count()).where(TRIALS.c.participant_id == participant_id, TRIALS.c.phase.in_(phases))
    first_answers = (
        (ANSWERS.c.participant_id == participant_id) & ANSWERS.c.phase.in_(phases) & (ANSWERS.c.revision == 0)
    )
    answered = sa.select(sa.func.count()).where(first_answers)
    return int(connection.execute(planned).scalar_one()) - int(connection.execute(answered).scalar_one())


def count_written(connection: sa.Connection, participant_id: str) -> int:
    """Return how many of a participant's trials have an answer that is not a skip."""
    is_theirs = (ANSWERS.c.participant_id == participant_id) & (ANSWERS.c.phase == str(Phase.TRIALS))
    return int(connection.execute(sa.select(sa.func.count()).where(is_theirs, WRITTEN)).scalar_one())


def _missing_answers(connection: sa.Connection, study: StudyRecord, participant_id: str) -> str:
    """Return which answers a participant still has to give, as text; empty if none."""
    n_open = count_unanswered(connection, participant_id)
    if n_open:
        return f"{n_open} trials have no answer"
    owed = study.written - count_written(connection, participant_id) if study.written else 0
    return f"{owed} written answers are missing" if owed > 0 else ""


def _check_legal(past: list[StateChange], to: State) -> None:
    now = past[-1]
    legal = set(TRANSITIONS[now.to_state])
    if now.to_state in (State.RETURNED, State.TIMED_OUT):
        # the way back: to the state that was left when the participant went away
        left = next(c.from_state for c in reversed(past) if c.from_state not in (State.RETURNED, State.TIMED_OUT))
        legal |= {left} if left is not None else set()
    if to not in legal:
        allowed = ", ".join(sorted(legal)) or "no other"
        raise StateError(f"a participant who is {now.to_state} cannot become {to}", hint=f"possible: {allowed}")


def _check_grounds(
    connection: sa.Connection, study: StudyRecord, participant_id: str, to: State, past: list[StateChange]
) -> None:
    if to is State.CONSENTED and all(change.to_state is not State.CONSENTED for change in past):
        raise StateError("a participant becomes consented by record_consent, with the text")
    if to is State.ACTIVE:
        held = sa.select(LEASES.c.status).where(LEASES.c.participant_id == participant_id)
        if connection.execute(held).scalar() != "held":
            raise StateError("a participant without a list cannot become active", hint="take a place first")
    if to is State.ACCEPTED and all(change.to_state is not State.FINISHED for change in past):
        raise StateError("a participant who did not finish cannot become accepted")
    if to is State.FINISHED:
        planned = sa.select(sa.func.count()).where(TRIALS.c.participant_id == participant_id)
        if not connection.execute(planned.where(TRIALS.c.phase == str(Phase.TRIALS))).scalar():
            raise StateError("a participant without trials cannot become finished")
        missing = _missing_answers(connection, study, participant_id)
        if missing:
            raise StateError(f"a participant cannot become finished: {missing}")


def _append_state(
    connection: sa.Connection, participant_id: str, left: State | None, to: State, reason: str, *, at: str
) -> None:
    n_states = sa.select(sa.func.count()).where(STATES.c.participant_id == participant_id)
    number = connection.execute(n_states).scalar_one()
    row = {"number": number, "from_state": left and str(left), "to_state": str(to), "reason": reason, "at": at}
    seals.insert(connection, STATES, {"participant_id": participant_id, **row})


# -- the time by which places are held: it advances evenly, even if the server's clock is changed -------------------
# Places run out at stored times. If these were compared with the clock, a clock that is set a day forward would free
# every place, and one that is set back would keep places of people who left.


JUMP_SECONDS = 60.0
"""The clock jumped where it differs by more than this from what it told before."""
Began = tuple[str, float]
"""The clock's time and the monotonic seconds at one moment, from which time is counted."""


class HeldTime:
    """The clock's time when a study was opened, and the seconds since by a clock that cannot be set.

    *began* is that of another process of the same machine which serves the same study: their times agree.
    """

    def __init__(
        self, clock: Callable[[], datetime], steady: Callable[[], float] | None = None, *, began: Began | None = None
    ) -> None:
        self._clock, self._steady = clock, steady or time.monotonic
        self.began: Began = began or (clock().isoformat(), self._steady())
        self._begin = datetime.fromisoformat(self.began[0])
        self._noted, self._noting = 0.0, threading.Lock()

    def now(self) -> datetime:
        """Return the time by which places are held."""
        return self._begin + timedelta(seconds=self._steady() - self.began[1])

    def jump(self) -> float | None:
        """Return the clock's lead, if it jumped since the last call. *Unit:* seconds."""
        ahead = (self._clock() - self.now()).total_seconds()
        with self._noting:
            if abs(ahead - self._noted) <= JUMP_SECONDS:
                return None
            self._noted = ahead
            return ahead
