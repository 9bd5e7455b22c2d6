"""A study's answers as tables: the response table that the statistics read, and the long export.

The effective answer to an item is the latest one; earlier ones stay in the database. Participants appear under their
random ids only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import Kind, Phase, State, StudyItem, StudyRecord
from lexiscope.annotation.store.schema import ANSWERS, ERASURES, LEASES, STATES
from lexiscope.core.response import SCHEMA, Response, ResponseTable
from lexiscope.core.simulated import KIND_COLUMN, PARTICIPANT, kind_of_person

FINISHED = frozenset({State.FINISHED, State.ACCEPTED, State.EXCLUDED})
"""The states of participants who answered everything or were excluded."""

READ_BY_STATISTICS = (Phase.DEMOGRAPHICS, Phase.QUALIFICATION, Phase.TRIALS, Phase.DEBRIEF)
"""The phases whose answers are responses: practice is none, and a reveal asks the same item again."""

_RATED_KINDS = (Kind.ITEM, Kind.CATCH)
_CHECKS = {Kind.ATTENTION: "attention_check", Kind.QUALIFICATION: "qualification"}
"""The measures of items whose answers are right or wrong."""
_RESPONSE_CELLS = (
    *("participant_id", "item_id", "measure", "value", "option", "text", "position", "rt_ms", "rt_server_ms"),
    "answered_at",
)
_FLAG_COLUMNS = {
    "label_undecided": "undecided",
    "flag_nonsensical": "nonsensical",
    "flag_weird": "weird",
    "flag_skipped": "skipped",
    "flag_not_found": "not_found",
}
_TOGETHER = 20_000
"""The number of answers that are objects of Python at a time."""
_LONG_TEXT = (
    "study_id task_type item_id confusion_set list_id slot:int participant_id participant_kind trial_index:int phase "
    "kind display_order side response response_text label_undecided:bool flag_nonsensical:bool flag_weird:bool "
    "guessed_word comment shown_at answered_at rt_ms:float n_revisions:int guideline_version item_sha256 excluded:bool "
    "exclusion_rule flag_skipped:bool flag_not_found:bool"
)
_TYPES = {"": pa.string(), "int": pa.int32(), "bool": pa.bool_(), "float": pa.float64()}
LONG_SCHEMA = pa.schema([(part.partition(":")[0], _TYPES[part.partition(":")[2]]) for part in _LONG_TEXT.split()])
_CODED = pa.dictionary(pa.int32(), pa.string())
_CODED_SCHEMA = pa.schema(
    [
        field if field.type != pa.string() or field.name in ("shown_at", "answered_at") else field.with_type(_CODED)
        for field in LONG_SCHEMA
    ]
)


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
    by_participant = participant_states(connection)
    included = {who for who, participant in by_participant.items() if states is None or participant.state in states}
    items = {item.item_id: item for item in study.items}
    asked = ANSWERS.c.phase.in_([str(phase) for phase in phases])
    tables = []
    for batch in _batches(connection, _RESPONSE_CELLS, asked):
        rows = [row for row in batch if row.participant_id in included]
        if rows:
            tables.append(_response_batch(rows, items, study, by_participant))
    removed = sa.select(ERASURES.c.participant_id).where(ERASURES.c.answers == "removed")
    erased = set(connection.execute(removed).scalars())
    people = {who: by_participant[who] for who in sorted(included - erased)}
    return ResponseTable.concat([*tables, ResponseTable.from_rows(_completion_times(study, people))])


def long_export(connection: sa.Connection, study: StudyRecord) -> pa.Table:
    """Return one row per judgment, every phase and every participant, with the columns of :data:`LONG_SCHEMA`.

    Texts that many rows have in common are dictionaries: they are most of a judgment.
    """
    items = {item.item_id: item for item in study.items}
    by_participant = participant_states(connection)
    batches = _batches(connection, ANSWERS.columns.keys())
    return pa.concat_tables(
        [_CODED_SCHEMA.empty_table(), *(_long_batch(rows, items, study, by_participant) for rows in batches)]
    )


def _effective(columns: Iterable[str], *conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Return the query of the latest answers, by participant, phase and position."""
    later = ANSWERS.alias("later")
    superseded = sa.select(later.c.id).where(later.c.supersedes == ANSWERS.c.id)
    order = (ANSWERS.c.participant_id, ANSWERS.c.phase, ANSWERS.c.position)
    chosen = (ANSWERS.c[name] for name in columns)
    return sa.select(*chosen).where(~superseded.exists(), *conditions).order_by(*order)


def _batches(
    connection: sa.Connection, columns: Iterable[str], *conditions: sa.ColumnElement[bool]
) -> Iterator[Sequence[Any]]:
    """Yield the latest answers some thousands at a time: as objects of Python, a million would need gigabytes."""
    query = _effective(columns, *conditions).execution_options(yield_per=_TOGETHER)
    yield from connection.execute(query).partitions()


def effective_answers(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[Mapping[str, Any]]:
    """Return the latest answer of each participant to each item and phase, by participant, phase and position.

    *conditions* are conditions on the answers: only the latest answers that meet them are returned.
    """
    query = _effective(ANSWERS.columns.keys(), *conditions)
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


def _response_batch(
    rows: Sequence[Any],
    items: Mapping[str, StudyItem],
    study: StudyRecord,
    by_participant: Mapping[str, ParticipantState],
) -> ResponseTable:
    """Return rows of :data:`_RESPONSE_CELLS` as responses."""
    cells = dict(zip(_RESPONSE_CELLS, zip(*map(tuple, rows), strict=True), strict=True))
    asked = [items[name] for name in cells["item_id"]]
    checks = [_CHECKS.get(item.kind) for item in asked]
    lists = [by_participant[who].list_id for who in cells["participant_id"]]
    given = list(zip(asked, checks, cells["value"], cells["option"], strict=True))
    return ResponseTable.from_columns(
        {
            "subject_id": cells["participant_id"],
            # responses of simulated participants are marked by their ids
            "subject_kind": PARTICIPANT,
            "item_id": cells["item_id"],
            "task": study.task,
            "measure": [check or measure for check, measure in zip(checks, cells["measure"], strict=True)],
            "value": [
                value if check is None else float((value if value is not None else option) in item.accept)
                for item, check, value, option in given
            ],
            "option": [option if check is None else None for _, check, _, option in given],
            "view": [_view(study, name) for name in lists],
            "list_id": lists,
            "position": cells["position"],
            "rt_ms": list(map(_duration, cells["rt_ms"], cells["rt_server_ms"])),
            "answered_at": pa.array(cells["answered_at"]).cast(SCHEMA.field("answered_at").type),
            "raw": list(map(_answer_text, cells["value"], cells["option"], cells["text"])),
            "scale": [
                str(item.question.scale) if item.kind in _RATED_KINDS and item.question.scale is not None else None
                for item in asked
            ],
        }
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


def _long_batch(
    rows: Sequence[Any],
    items: Mapping[str, StudyItem],
    study: StudyRecord,
    by_participant: Mapping[str, ParticipantState],
) -> pa.Table:
    """Return rows of the table of answers with the columns of :data:`LONG_SCHEMA`."""
    cells = dict(zip(ANSWERS.columns.keys(), zip(*map(tuple, rows), strict=True), strict=True))
    asked = [items[name] for name in cells["item_id"]]
    people = [by_participant[who] for who in cells["participant_id"]]
    excluded = [participant.state is State.EXCLUDED for participant in people]
    # few combinations of flags occur
    marked = {text: frozenset[str](json.loads(text)) for text in set(cells["flags"])}
    same = ("item_id", "participant_id", "phase", "display_order", "side", "guessed_word", "comment")
    columns = {
        **{name: cells[name] for name in (*same, "shown_at", "answered_at", "guideline_version", "item_sha256")},
        "study_id": [study.study_id] * len(rows),
        "task_type": [study.task] * len(rows),
        "confusion_set": [item.confusion_set for item in asked],
        "list_id": [participant.list_id for participant in people],
        "slot": [participant.slot for participant in people],
        KIND_COLUMN: [kind_of_person(who) for who in cells["participant_id"]],
        "trial_index": cells["position"],
        "kind": [str(item.kind) for item in asked],
        "response": [_answer_text(*given, None) for given in zip(cells["value"], cells["option"], strict=True)],
        "response_text": cells["text"],
        "rt_ms": list(map(_duration, cells["rt_ms"], cells["rt_server_ms"])),
        "n_revisions": cells["revision"],
        "excluded": excluded,
        "exclusion_rule": [person.reason if out else None for person, out in zip(people, excluded, strict=True)],
        **{column: [flag in marked[text] for text in cells["flags"]] for column, flag in _FLAG_COLUMNS.items()},
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in _CODED_SCHEMA], schema=_CODED_SCHEMA)


def _duration(measured: float | None, by_server: float | None) -> float | None:
    """The browser's measure if there is one: the server's has the network in it."""
    return measured if measured is not None else by_server


def answer_text(row: Mapping[str, Any]) -> str | None:
    """Return an answer as text: the number, the option or the text; ``None`` for an empty one."""
    return _answer_text(row["value"], row["option"], row["text"])


def _answer_text(value: float | None, option: str | None, text: str | None) -> str | None:
    if value is not None:
        return str(int(value)) if value.is_integer() else repr(value)
    return option if option is not None else text
