"""Storing answers: a repeated one gets its first receipt, a valid one becomes a row, any other is rejected by field."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from lexiscope.annotation.store import seals
from lexiscope.annotation.store.checks import SKIPPED, check_content
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.places import Lease, stamp
from lexiscope.annotation.store.record import (
    ANSWERING,
    AnswerConflict,
    AnswerRefused,
    BrowserAnswer,
    Phase,
    Receipt,
    State,
    StateError,
    StoredTrial,
    StudyItem,
    StudyRecord,
)
from lexiscope.annotation.store.schema import ANSWERS, LEASES, PARTICIPANTS, STATES, TRIALS

_WHO: sa.BindParameter[str] = sa.bindparam("who")
_WHAT: sa.BindParameter[str] = sa.bindparam("what")
_WHEN: sa.BindParameter[str] = sa.bindparam("when")
_KEY: sa.BindParameter[str] = sa.bindparam("key")
_MINE = (ANSWERS.c.participant_id == _WHO) & (ANSWERS.c.phase == _WHEN)
_REPEATED = sa.select(ANSWERS).where(_MINE, ANSWERS.c.item_id == _WHAT, ANSWERS.c.client_key == _KEY)
_LATEST = sa.select(ANSWERS).where(_MINE, ANSWERS.c.item_id == _WHAT).order_by(ANSWERS.c.revision.desc()).limit(1)
_ANSWERED = sa.select(sa.func.count()).where(_MINE, ANSWERS.c.revision == 0)
_STATE = sa.select(STATES.c.to_state).where(STATES.c.participant_id == _WHO).order_by(STATES.c.number.desc()).limit(1)
_TRIAL = (TRIALS.c.participant_id == _WHO) & (TRIALS.c.phase == _WHEN) & (TRIALS.c.item_id == _WHAT)
# one query for what decides about a first answer
_SITUATION = sa.select(
    _STATE.scalar_subquery().label("state"),
    sa.select(TRIALS.c.position).where(_TRIAL).scalar_subquery().label("position"),
    sa.select(TRIALS.c.display_order).where(_TRIAL).scalar_subquery().label("display_order"),
    sa.select(TRIALS.c.side).where(_TRIAL).scalar_subquery().label("side"),
    _ANSWERED.scalar_subquery().label("answered"),
    _REPEATED.with_only_columns(ANSWERS.c.id).scalar_subquery().label("repeated"),
)
# flags are a closed set of words, written as JSON
_SKIPPED = f'%"{SKIPPED}"%'
_LATER = ANSWERS.alias("later")
_SUPERSEDED = sa.select(_LATER.c.id).where(_LATER.c.supersedes == ANSWERS.c.id).exists()
WRITTEN = ANSWERS.c.flags.not_like(_SKIPPED) & ~_SUPERSEDED
"""The condition on answers: effective, and not a skip."""
_WRITTEN = sa.select(sa.func.count()).where(_MINE, WRITTEN)
_PROGRESS = (
    sa.select(
        _STATE.scalar_subquery().label("state"),
        _ANSWERED.scalar_subquery().label("answered"),
        sa.select(sa.func.count())
        .where(TRIALS.c.participant_id == _WHO, TRIALS.c.phase == _WHEN)
        .scalar_subquery()
        .label("n_trials"),
        *(LEASES.c[field.name] for field in fields(Lease)),
    )
    .select_from(PARTICIPANTS.outerjoin(LEASES, LEASES.c.participant_id == PARTICIPANTS.c.participant_id))
    .where(PARTICIPANTS.c.participant_id == _WHO)
)
_NEXT = sa.select(TRIALS.c.item_id, TRIALS.c.display_order, TRIALS.c.side).where(
    TRIALS.c.participant_id == _WHO, TRIALS.c.phase == _WHEN, TRIALS.c.position == sa.bindparam("position")
)
_COPIED = (
    *("participant_id", "item_id", "client_key", "position", "value", "option", "text", "guessed_word"),
    *("supersedes", "rt_ms", "rt_server_ms", "comment", "page_version", "guideline_version"),
)
_CONTENT = ("position", "value", "option", "text", "guessed_word", "comment", "supersedes")


def lay_out(connection: sa.Connection, participant_id: str, phase: Phase, trials: Sequence[StoredTrial]) -> None:
    """Store a participant's trials of a phase in the order in which they will be shown. The plan is fixed thereby.

    Errors: :class:`StateError` where the phase has another plan already.
    """
    rows = [_trial_row(participant_id, phase, position, trial) for position, trial in enumerate(trials)]
    stored = planned_trials(connection, participant_id, phase)
    if stored and stored != list(trials):
        raise StateError(f"the participant has another order of {phase} already")
    if rows and not stored:
        connection.execute(TRIALS.insert(), rows)


def _trial_row(participant_id: str, phase: Phase, position: int, trial: StoredTrial) -> dict[str, Any]:
    order = json.dumps(trial.display_order)
    row = {"participant_id": participant_id, "phase": str(phase), "position": position}
    return {**row, "item_id": trial.item_id, "display_order": order, "side": trial.side}


def planned_trials(connection: sa.Connection, participant_id: str, phase: Phase = Phase.TRIALS) -> list[StoredTrial]:
    """Return a participant's trials of a phase in their order."""
    of_phase = (TRIALS.c.participant_id == participant_id) & (TRIALS.c.phase == str(phase))
    rows = connection.execute(sa.select(TRIALS).where(of_phase).order_by(TRIALS.c.position)).all()
    return [StoredTrial(row.item_id, tuple(json.loads(row.display_order)), row.side) for row in rows]


def extend(connection: sa.Connection, participant_id: str, phase: Phase, trial: StoredTrial) -> int:
    """Append one trial to a participant's plan and return its position; the last one again changes nothing.

    Errors: :class:`StateError` while the last trial has no answer, :class:`AnswerRefused` for an item of the plan.
    """
    plan = planned_trials(connection, participant_id, phase)
    ids = [planned.item_id for planned in plan]
    if ids and ids[-1] == trial.item_id:
        return len(plan) - 1
    if trial.item_id in ids:
        raise AnswerRefused("item_id", f"the item {trial.item_id!r} is trial {ids.index(trial.item_id)} already")
    answered = connection.execute(_ANSWERED, {"who": participant_id, "when": str(phase)}).scalar_one()
    if answered < len(plan):
        raise StateError(f"trial {answered} of {phase} has no answer yet")
    connection.execute(TRIALS.insert(), _trial_row(participant_id, phase, len(plan), trial))
    return len(plan)


@dataclass(frozen=True, slots=True)
class Progress:
    """A participant's state and place, and in one phase the next trial, its position and the number of trials.

    ``trial`` is ``None`` if every trial of the phase has an answer. ``n_written`` is the number of answers that are not
    skips.
    """

    state: State
    lease: Lease | None
    next_position: int
    n_trials: int
    trial: StoredTrial | None
    n_written: int


def progress(connection: sa.Connection, study: StudyRecord, participant_id: str, phase: Phase) -> Progress:
    """Return a participant's progress in two queries (three if items can be skipped); every page needs it.

    Errors: :class:`AnswerRefused` for a participant that the study does not know.
    """
    keys = {"who": participant_id, "when": str(phase)}
    row_of_participant = connection.execute(_PROGRESS, keys).first()
    if row_of_participant is None:
        raise AnswerRefused("participant_id", "the study has no such participant")
    state, answered, n_trials, *lease = row_of_participant
    row = connection.execute(_NEXT, {**keys, "position": answered}).first()
    trial = None if row is None else StoredTrial(row[0], tuple(json.loads(row[1])), row[2])
    written = connection.execute(_WRITTEN, keys).scalar_one() if study.written else answered
    return Progress(State(state), Lease(*lease) if lease[0] is not None else None, answered, n_trials, trial, written)


def submit(
    connection: sa.Connection,
    answer: BrowserAnswer,
    study: StudyRecord,
    items: Mapping[str, StudyItem],
    *,
    now: datetime,
) -> Receipt:
    """Store an answer and return its receipt; repeat the first receipt for the same answer under a known client key.

    Errors: :class:`AnswerRefused` naming the field, :class:`AnswerConflict` where another answer came first, also
    under the same key.
    """
    keys = {
        "who": answer.participant_id,
        "what": answer.item_id,
        "when": str(answer.phase),
        "key": answer.client_key,
    }
    situation = connection.execute(_SITUATION, keys).one()
    if situation.repeated is not None:
        first = connection.execute(_REPEATED, keys).one()
        # response times may differ if a browser sends an answer twice
        same = all(getattr(first, name) == getattr(answer, name) for name in _CONTENT)
        if not (same and set(json.loads(first.flags)) == set(answer.flags)):
            raise AnswerConflict(first.id, "another answer was stored under the same key", field="client_key")
        return _receipt(first._asdict())
    item = _check_situation(answer, situation, items)
    latest = connection.execute(_LATEST, keys).first() if answer.position < situation.answered else None
    _check_revision(answer, latest, study.revisable)
    check_content(answer, item, skippable=study.written > 0 and answer.phase is Phase.TRIALS)
    row = _row(answer, item, situation)
    row["revision"] = 0 if latest is None else latest.revision + 1
    row["next_position"] = situation.answered + (latest is None)
    row["answered_at"] = stamp(now)
    answer_id = seals.insert(connection, ANSWERS, row)
    return _receipt({**row, "id": answer_id})


def _check_situation(
    answer: BrowserAnswer, situation: sa.Row[*tuple[Any, ...]], items: Mapping[str, StudyItem]
) -> StudyItem:
    if situation.state is None:
        raise AnswerRefused("participant_id", "the study has no such participant")
    if answer.item_id not in items:
        raise AnswerRefused("item_id", f"the study has no item {answer.item_id!r}")
    if State(situation.state) not in ANSWERING[answer.phase]:
        raise AnswerRefused("phase", f"a participant who is {situation.state} does not answer in {answer.phase}")
    if situation.position is None:
        raise AnswerRefused("item_id", f"the item {answer.item_id!r} is not among this participant's {answer.phase}")
    if answer.position != situation.position:
        raise AnswerRefused("position", f"the item {answer.item_id!r} is trial {situation.position}")
    if answer.position > situation.answered:
        raise AnswerRefused("position", f"trial {situation.answered} comes first: no trial is skipped")
    return items[answer.item_id]


def _check_revision(
    answer: BrowserAnswer, latest: sa.Row[*tuple[Any, ...]] | None, revisable: frozenset[Phase]
) -> None:
    if latest is None:
        if answer.supersedes is not None:
            raise AnswerRefused("supersedes", "there is no earlier answer to this item")
        return
    if answer.phase not in revisable:
        raise AnswerConflict(latest.id, f"answers in {answer.phase} are final, and this item has one")
    if answer.supersedes != latest.id:
        raise AnswerConflict(latest.id, "another answer to this item was stored first")


def _row(answer: BrowserAnswer, item: StudyItem, situation: sa.Row[*tuple[Any, ...]]) -> dict[str, Any]:
    row = {name: getattr(answer, name) for name in _COPIED}
    for name in ("value", "rt_ms", "rt_server_ms"):
        # as the database gives it back, so that its seal fits; 0.0 is added to make -0.0 a plain zero
        row[name] = None if row[name] is None else float(row[name]) + 0.0
    row |= {"phase": str(answer.phase), "measure": item.question.measure, "item_sha256": item.sha256}
    row |= {"display_order": situation.display_order, "side": situation.side}
    row["shown_at"] = None if answer.shown_at is None else stamp(answer.shown_at)
    row["flags"] = json.dumps(sorted(set(answer.flags)))
    return row


def _receipt(row: Mapping[str, Any]) -> Receipt:
    return Receipt(
        answer_id=row["id"],
        item_id=row["item_id"],
        phase=Phase(row["phase"]),
        client_key=row["client_key"],
        revision=row["revision"],
        next_position=row["next_position"],
        answered_at=row["answered_at"],
    )
