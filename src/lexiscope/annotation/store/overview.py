"""What the dashboard reads from a running study: participants, items, marked answers, reviews, the study's status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast, get_args

from lexiscope.annotation.store import audit, seals
from lexiscope.annotation.store.answers import WRITTEN
from lexiscope.annotation.store.checks import check_text
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.export import answer_text, effective_answers, participant_states
from lexiscope.annotation.store.record import AnswerRefused, Phase, Review, State, Status, Verdict
from lexiscope.annotation.store.schema import ANSWERS, CODES, LEASES, PARTICIPANTS, REVIEWS, STATES, STATUSES, TRIALS


@dataclass(frozen=True, slots=True)
class ListedParticipant:
    """A participant as the dashboard lists them: state, its time, and progress.

    ``number`` counts the participants of the study from 1 and seeds their trials (:attr:`Lease.ordinal`); ``slot`` is
    their place within the list, ``None`` for who is surplus.
    ``reason`` is that of the last change of state; ``last_at`` the time of the last answer or change of state. Times
    are UTC text. ``n_answered`` counts the trials of every phase that have an answer. ``consented_at`` is when the
    session began. ``silent`` says that no place is held and nothing came for as long as a place is held; of people who
    are done it means nothing.
    """

    participant_id: str
    state: State
    reason: str
    list_id: str | None
    number: int | None
    slot: int | None
    surplus: bool
    created_at: str
    active_at: str | None
    finished_at: str | None
    n_answered: int
    last_at: str
    consented_at: str | None = None
    silent: bool = False


SIGNED = "sign_plan"
"""The action of the audit log that is the signature of a plan."""


@dataclass(frozen=True, slots=True)
class PlanSignature:
    """The signature of a study's plan: who signed it, when (UTC), and what.

    ``sha256`` is that of the definition with its items; ``questions`` are those that it named, by id with their texts.
    """

    by: str
    at: str
    sha256: str
    study: str
    questions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer with a comment or a flag; ``given`` is the answer as text."""

    answer_id: int
    participant_id: str
    item_id: str
    phase: Phase
    position: int
    given: str | None
    comment: str | None
    flags: tuple[str, ...]
    answered_at: str


def plan_signature(connection: sa.Connection) -> PlanSignature | None:
    """Return the signature of the plan; ``None`` where no person signed it."""
    entry = audit.latest_entry(connection, (SIGNED,))
    if entry is None:
        return None
    details = json.loads(entry.details)
    return PlanSignature(entry.actor, entry.at, details["sha256"], details["study"], details["questions"])


def first_answer_at(connection: sa.Connection) -> str:
    """Return when the first answer was stored, those to questions about the participant included; empty if none was."""
    return connection.execute(sa.select(sa.func.min(ANSWERS.c.answered_at))).scalar_one() or ""


def listed_participants(connection: sa.Connection, *, now: str, since: str) -> list[ListedParticipant]:
    """Return all participants in the order of their arrival, in four queries; *since* is a place's time before now."""
    first = sa.func.sum(sa.case((ANSWERS.c.revision == 0, 1), else_=0))
    answered = sa.select(ANSWERS.c.participant_id, first, sa.func.max(ANSWERS.c.answered_at))
    counted = {row[0]: (int(row[1]), row[2]) for row in connection.execute(answered.group_by(ANSWERS.c.participant_id))}
    states = participant_states(connection)
    arrived = connection.execute(sa.select(PARTICIPANTS).order_by(PARTICIPANTS.c.created_at)).all()
    listed = []
    for who, created_at in arrived:
        current, (n_answered, last) = states[who], counted.get(who, (0, ""))
        last_at = max(last, current.at)
        silent = last_at <= since and (current.holds_until is None or current.holds_until <= now)
        listed.append(
            ListedParticipant(
                participant_id=who,
                state=current.state,
                reason=current.reason,
                list_id=current.list_id,
                number=current.ordinal,
                slot=current.slot,
                surplus=current.surplus,
                created_at=created_at,
                active_at=current.times.get(State.ACTIVE),
                finished_at=current.times.get(State.FINISHED),
                n_answered=n_answered,
                last_at=last_at,
                consented_at=current.times.get(State.CONSENTED),
                silent=silent,
            )
        )
    return listed


def issued_codes(connection: sa.Connection) -> dict[str, dict[str, str]]:
    """Return the codes that were issued: by participant, by kind."""
    by_participant: dict[str, dict[str, str]] = {}
    for row in connection.execute(sa.select(CODES)):
        by_participant.setdefault(row.participant_id, {})[row.kind] = row.code
    return by_participant


def _latest_states() -> sa.Subquery:
    """The present state of every participant."""
    last = sa.select(STATES.c.participant_id.label("who"), sa.func.max(STATES.c.number).label("number"))
    last_one = last.group_by(STATES.c.participant_id).subquery()
    joined = STATES.join(last_one, (STATES.c.participant_id == last_one.c.who) & (STATES.c.number == last_one.c.number))
    return sa.select(STATES.c.participant_id, STATES.c.to_state).select_from(joined).subquery()


def item_counts(connection: sa.Connection, now: str) -> dict[str, tuple[int, int, int]]:
    """Return for each item of a laid-out trial how many people count: valid, active, excluded.

    Valid is who finished and answered it, active who holds a place that has not run out and has it in the plan,
    excluded who answered it and was excluded. Skips count nowhere.
    """
    states = _latest_states()
    answer = (
        sa.select(ANSWERS.c.participant_id, ANSWERS.c.item_id)
        .where(WRITTEN, ANSWERS.c.phase == str(Phase.TRIALS))
        .subquery()
    )
    has_answer = answer.c.item_id.is_not(None)
    valid = has_answer & states.c.to_state.in_((str(State.FINISHED), str(State.ACCEPTED)))
    active = (states.c.to_state == str(State.ACTIVE)) & (LEASES.c.status == "held") & (LEASES.c.expires_at > now)
    excluded = has_answer & (states.c.to_state == str(State.EXCLUDED))
    same = (answer.c.participant_id == TRIALS.c.participant_id) & (answer.c.item_id == TRIALS.c.item_id)
    joined = (
        TRIALS.join(states, states.c.participant_id == TRIALS.c.participant_id)
        .outerjoin(LEASES, LEASES.c.participant_id == TRIALS.c.participant_id)
        .outerjoin(answer, same)
    )
    sums = (sa.func.sum(sa.case((kind, 1), else_=0)) for kind in (valid, active, excluded))
    query = sa.select(TRIALS.c.item_id, *sums).select_from(joined).where(TRIALS.c.phase == str(Phase.TRIALS))
    rows = connection.execute(query.group_by(TRIALS.c.item_id).order_by(TRIALS.c.item_id))
    return {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in rows}


def written_counts(connection: sa.Connection) -> dict[str, int]:
    """Return how many people wrote for each item: effective answers to trials that are not skips.

    The answers of excluded participants are not counted.
    """
    states = _latest_states()
    query = (
        sa.select(ANSWERS.c.item_id, sa.func.count())
        .join(states, states.c.participant_id == ANSWERS.c.participant_id)
        .where(WRITTEN, ANSWERS.c.phase == str(Phase.TRIALS), states.c.to_state != str(State.EXCLUDED))
        .group_by(ANSWERS.c.item_id)
    )
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def marked_answers(connection: sa.Connection) -> list[MarkedAnswer]:
    """Return the effective answers that carry a comment or a flag."""
    is_marked = (ANSWERS.c.comment != "") | (ANSWERS.c.flags != "[]")
    return [_marked_answer(row) for row in effective_answers(connection, is_marked)]


def _marked_answer(row: Mapping[str, Any]) -> MarkedAnswer:
    same = ("participant_id", "item_id", "position", "comment", "answered_at")
    return MarkedAnswer(
        answer_id=row["id"],
        phase=Phase(row["phase"]),
        given=answer_text(row),
        flags=tuple(json.loads(row["flags"])),
        **{name: row[name] for name in same},
    )


def record_review(connection: sa.Connection, review: Review) -> int:
    """Append a review and return its number.

    Errors: :class:`AnswerRefused` for an unknown answer or verdict, or a text that cannot be stored.
    """
    if review.verdict not in get_args(Verdict):
        raise AnswerRefused("verdict", f"there is no verdict {review.verdict!r}", hint="accepted or rejected")
    check_text("reason", review.reason, longest=10_000, empty=review.verdict == "accepted")
    check_text("actor", review.actor, longest=200)
    check_text("at", review.at, longest=32)
    if review.text is not None:
        check_text("text", review.text, longest=100_000)
    answer = sa.select(ANSWERS.c.id).where(ANSWERS.c.id == review.answer_id)
    if connection.execute(answer).scalar() is None:
        raise AnswerRefused("answer_id", f"there is no answer {review.answer_id}")
    return int(seals.insert(connection, REVIEWS, asdict(review)))


def stored_reviews(connection: sa.Connection) -> list[Review]:
    """Return all reviews, oldest first; the latest of an answer counts."""
    names = ("answer_id", "verdict", "reason", "text", "actor", "at")
    rows = connection.execute(sa.select(*(REVIEWS.c[name] for name in names)).order_by(REVIEWS.c.id))
    return [Review(*row) for row in rows]


def study_status(connection: sa.Connection) -> Status:
    """Return whether the study runs, as it does from its launch on."""
    latest = connection.execute(sa.select(STATUSES.c.status).order_by(STATUSES.c.id.desc()).limit(1)).scalar()
    return cast(Status, latest or "running")


def set_status(connection: sa.Connection, to: Status, *, actor: str, at: str) -> bool:
    """Append a status; return whether it differs from the one before.

    Errors: :class:`AnswerRefused` for a text that is not a status.
    """
    if to not in get_args(Status):
        raise AnswerRefused("status", f"there is no status {to!r}", hint="running, paused or closed")
    if study_status(connection) == to:
        return False
    seals.insert(connection, STATUSES, {"status": to, "actor": check_text("actor", actor, longest=200), "at": at})
    return True


def closed_at(connection: sa.Connection) -> str | None:
    """Return when the study was closed, ``None`` where it is not."""
    last = connection.execute(sa.select(STATUSES).order_by(STATUSES.c.id.desc()).limit(1)).first()
    return str(last.at) if last is not None and last.status == "closed" else None
