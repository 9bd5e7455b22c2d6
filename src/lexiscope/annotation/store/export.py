"""A study's answers as tables: the response table that the statistics read, and the long export.

The effective answer to an item is the latest one; earlier ones stay in the database. Participants appear under their
random ids only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import Kind, Phase, State, StudyItem, StudyRecord
from lexiscope.annotation.store.schema import ANSWERS, ERASURES, LEASES, STATES
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.simulated import KIND_COLUMN, kind_of_person

FINISHED = frozenset({State.FINISHED, State.ACCEPTED, State.EXCLUDED})
"""The states of participants who answered everything or were excluded."""

READ_BY_STATISTICS = (Phase.DEMOGRAPHICS, Phase.QUALIFICATION, Phase.TRIALS, Phase.DEBRIEF)
"""The phases whose answers are responses: practice is none, and a reveal asks the same item again."""

_RATED_KINDS = (Kind.ITEM, Kind.CATCH)
_LONG_TEXT = (
    "study_id task_type item_id confusion_set list_id slot:int participant_id participant_kind trial_index:int phase "
    "kind display_order side response response_text label_undecided:bool flag_nonsensical:bool flag_weird:bool "
    "guessed_word comment shown_at answered_at rt_ms:float n_revisions:int guideline_version item_sha256 excluded:bool "
    "exclusion_rule flag_skipped:bool flag_not_found:bool"
)
_TYPES = {"": pa.string(), "int": pa.int32(), "bool": pa.bool_(), "float": pa.float64()}
LONG_SCHEMA = pa.schema([(part.partition(":")[0], _TYPES[part.partition(":")[2]]) for part in _LONG_TEXT.split()])


@dataclass(frozen=True, slots=True)
class ParticipantState:
    """A participant's state with its reason and time, the times of all states, and the place.

    Of ``consented`` and ``active`` the first time is kept, of every other state the last. ``holds_until`` is given
    while a place is held, run out or not.
    """

    state: State
    reason: str
    at: str
    times: dict[State, str] = field(default_factory=dict)
    list_id: str | None = None
    slot: int | None = None
    ordinal: int | None = None
    surplus: bool = False
    holds_until: str | None = None


def responses(
    connection: sa.Connection,
    study: StudyRecord,
    *,
    states: Collection[State] | None,
    phases: Collection[Phase],
) -> ResponseTable:
    """Return the effective answers as responses; ``states=None`` means participants in any state.

    Attention and qualification items become the measures ``attention_check`` and ``qualification`` (1 = accepted
    answer), catch items keep their measure. Each participant who finished has a row ``completion_time``: from becoming
    active to finishing by the server's clock. *Unit:* milliseconds.
    """
    items = {item.item_id: item for item in study.items}
    by_participant = participant_states(connection)
    included = {who for who, participant in by_participant.items() if states is None or participant.state in states}
    names = {str(phase) for phase in phases}
    rows = [
        _response(row, items[row["item_id"]], study, by_participant[row["participant_id"]])
        for row in effective_answers(connection)
        if row["participant_id"] in included and row["phase"] in names
    ]
    removed = sa.select(ERASURES.c.participant_id).where(ERASURES.c.answers == "removed")
    erased = set(connection.execute(removed).scalars())
    rows += _completion_times(study, {who: by_participant[who] for who in sorted(included - erased)})
    return ResponseTable.from_rows(rows)


def long_export(connection: sa.Connection, study: StudyRecord) -> pa.Table:
    """Return one row per judgment, every phase and every participant, with the columns of :data:`LONG_SCHEMA`."""
    items = {item.item_id: item for item in study.items}
    by_participant = participant_states(connection)
    rows = [
        _long_row(row, items[row["item_id"]], study, by_participant[row["participant_id"]])
        for row in effective_answers(connection)
    ]
    return pa.Table.from_pylist(rows, schema=LONG_SCHEMA)


def effective_answers(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[Mapping[str, Any]]:
    """Return the latest answer of each participant to each item and phase, by participant, phase and position.

    *conditions* are conditions on the answers: only the latest answers that meet them are returned.
    """
    later = ANSWERS.alias("later")
    superseded = sa.select(later.c.id).where(later.c.supersedes == ANSWERS.c.id)
    order = (ANSWERS.c.participant_id, ANSWERS.c.phase, ANSWERS.c.position)
    query = sa.select(ANSWERS).where(~superseded.exists(), *conditions).order_by(*order)
    return [dict(row) for row in connection.execute(query).mappings()]


def participant_states(connection: sa.Connection) -> dict[str, ParticipantState]:
    """Return the state of every participant, in two queries."""
    leases = {row.participant_id: row for row in connection.execute(sa.select(LEASES))}
    states: dict[str, ParticipantState] = {}
    for row in connection.execute(sa.select(STATES).order_by(STATES.c.participant_id, STATES.c.number)):
        state, before = State(row.to_state), states.get(row.participant_id)
        times = {**(before.times if before is not None else {})}
        # from the first beginning to the last finish: the session, or its trials
        if state not in (State.CONSENTED, State.ACTIVE) or state not in times:
            times[state] = row.at
        lease = leases.get(row.participant_id)
        place: tuple[Any, ...] = ()
        if lease is not None:
            until = lease.expires_at if lease.status == "held" else None
            place = (lease.list_id, lease.number, lease.ordinal, lease.surplus, until)
        states[row.participant_id] = ParticipantState(state, row.reason, row.at, times, *place)
    return states


def _view(study: StudyRecord, list_id: str | None) -> str:
    """What participants of a list see of an item; who has no list has seen no item of one."""
    return study.views.get(list_id or "", "full")


def _response(row: Mapping[str, Any], item: StudyItem, study: StudyRecord, participant: ParticipantState) -> Response:
    measure, value, option = row["measure"], row["value"], row["option"]
    if item.kind in (Kind.ATTENTION, Kind.QUALIFICATION):
        measure = "attention_check" if item.kind is Kind.ATTENTION else "qualification"
        value, option = float((value if value is not None else option) in item.accept), None
    return Response(
        subject_id=row["participant_id"],
        subject_kind=kind_of_person(row["participant_id"]),
        item_id=row["item_id"],
        task=study.task,
        measure=measure,
        value=value,
        option=option,
        view=_view(study, participant.list_id),
        list_id=participant.list_id,
        position=row["position"],
        rt_ms=_duration(row),
        answered_at=datetime.fromisoformat(row["answered_at"]),
        raw=answer_text(row),
        scale=str(item.question.scale) if item.kind in _RATED_KINDS and item.question.scale is not None else None,
    )


def _completion_times(study: StudyRecord, by_participant: Mapping[str, ParticipantState]) -> Iterable[Response]:
    for who, participant in by_participant.items():
        if State.ACTIVE in participant.times and State.FINISHED in participant.times:
            begun, ended = (
                datetime.fromisoformat(participant.times[state]) for state in (State.ACTIVE, State.FINISHED)
            )
            milliseconds = (ended - begun).total_seconds() * 1000
            # a clock that was set back makes no time, and no time is not zero
            value, raw = (milliseconds, None) if milliseconds >= 0 else (None, "the server's clock was set back")
            yield Response(
                subject_id=who,
                subject_kind=kind_of_person(who),
                item_id="completion_time",
                task=study.task,
                measure="completion_time",
                value=value,
                view=_view(study, participant.list_id),
                list_id=participant.list_id,
                answered_at=ended,
                raw=raw,
            )


def _long_row(
    row: Mapping[str, Any], item: StudyItem, study: StudyRecord, participant: ParticipantState
) -> dict[str, Any]:
    flags = json.loads(row["flags"])
    excluded = participant.state is State.EXCLUDED
    same = ("item_id", "participant_id", "phase", "display_order", "side", "guessed_word", "comment")
    return {
        **{name: row[name] for name in (*same, "shown_at", "answered_at", "guideline_version", "item_sha256")},
        "study_id": study.study_id,
        "task_type": study.task,
        "confusion_set": item.confusion_set,
        "list_id": participant.list_id,
        "slot": participant.slot,
        KIND_COLUMN: kind_of_person(row["participant_id"]),
        "trial_index": row["position"],
        "kind": str(item.kind),
        "response": _number(row["value"]) if row["value"] is not None else row["option"],
        "response_text": row["text"],
        "label_undecided": "undecided" in flags,
        "flag_nonsensical": "nonsensical" in flags,
        "flag_weird": "weird" in flags,
        "rt_ms": _duration(row),
        "n_revisions": row["revision"],
        "excluded": excluded,
        "exclusion_rule": participant.reason if excluded else None,
        "flag_skipped": "skipped" in flags,
        "flag_not_found": "not_found" in flags,
    }


def _duration(row: Mapping[str, Any]) -> float | None:
    """The browser's measure where there is one: the server's holds the network too."""
    measured: float | None = row["rt_ms"] if row["rt_ms"] is not None else row["rt_server_ms"]
    return measured


def answer_text(row: Mapping[str, Any]) -> str | None:
    """Return an answer as text: the number, the option or the text; ``None`` for an empty one."""
    if row["value"] is not None:
        return _number(row["value"])
    text: str | None = row["option"] if row["option"] is not None else row["text"]
    return text


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
