"""A study's answers as tables: the response table that the statistics read, and the long export.

The effective answer to an item is the latest one; earlier ones stay in the database. Participants appear under their
random ids only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import Kind, Phase, State, StudyItem, StudyRecord
from lexiscope.annotation.store.schema import ANSWERS, ERASURES, LEASES, STATES
from lexiscope.core.columnar.on_disk import TablesOnDisk, joined_on_disk
from lexiscope.core.response import SCHEMA, Response, ResponseTable
from lexiscope.core.simulated import KIND_COLUMN, PARTICIPANT, kind_of_person
from lexiscope.items.sheets.long_rows import mapped, whole, whole_texts

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
_ALL_CELLS = (
    *_RESPONSE_CELLS,
    *("phase", "revision", "guessed_word", "display_order", "side", "shown_at", "comment", "flags"),
    *("guideline_version", "item_sha256"),
)
_FLAG_COLUMNS = {
    "label_undecided": "undecided",
    "flag_nonsensical": "nonsensical",
    "flag_weird": "weird",
    "flag_skipped": "skipped",
    "flag_not_found": "not_found",
}
_TOGETHER = 5_000
"""The number of answers that are objects of Python at a time."""
_LONG_TEXT = (
    "study_id task_type item_id confusion_set list_id slot:int participant_id participant_kind trial_index:int phase "
    "kind display_order side response response_text label_undecided:bool flag_nonsensical:bool flag_weird:bool "
    "guessed_word comment shown_at answered_at rt_ms:float n_revisions:int guideline_version item_sha256 excluded:bool "
    "exclusion_rule flag_skipped:bool flag_not_found:bool"
)
FREE_TEXTS = ("response_text", "guessed_word", "comment")
"""The columns of the long export with what participants typed."""
_TYPES = {"": pa.string(), "int": pa.int32(), "bool": pa.bool_(), "float": pa.float64()}
LONG_SCHEMA = pa.schema([(part.partition(":")[0], _TYPES[part.partition(":")[2]]) for part in _LONG_TEXT.split()])
_CODED = pa.dictionary(pa.int32(), pa.string())
_TIMES = ("shown_at", "answered_at")
_CODED_SCHEMA = pa.schema(
    [field if field.type != pa.string() or field.name in _TIMES else field.with_type(_CODED) for field in LONG_SCHEMA]
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
    asked = ANSWERS.c.phase.in_([str(phase) for phase in phases])
    made, tables = _ResponseBatches(connection, study, states), list[ResponseTable]()
    for rows in _batches(connection, _RESPONSE_CELLS, asked):
        tables += made.of(rows)
    return ResponseTable.concat([*tables, made.completion_times()])


def responses_and_judgments(connection: sa.Connection, study: StudyRecord) -> tuple[ResponseTable, pa.Table]:
    """Return :func:`responses` of the participants who finished, and the long export; the answers are read once.

    The long export has one row per judgment, every phase and every participant, with the columns of
    :data:`LONG_SCHEMA`. Texts that many rows have in common are dictionaries: they are most of a judgment. Both tables
    are in temporary files. Errors: :class:`~lexiscope.core.errors.RunError` where these cannot be written.
    """
    made = _ResponseBatches(connection, study, FINISHED)
    read = pa.array([str(phase) for phase in READ_BY_STATISTICS])
    long = TablesOnDisk()
    long.append(_CODED_SCHEMA.empty_table())

    def given() -> Iterator[ResponseTable]:
        for rows in _batches(connection, _ALL_CELLS):
            long.append(_long_batch(rows, made.items, study, made.by_participant))
            yield from made.of(rows.filter(pc.is_in(_texts(rows["phase"]), read)))
        yield made.completion_times()

    return ResponseTable.on_disk(given()), joined_on_disk(long, _joined)


def _joined(parts: Sequence[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    return whole_texts(parts) if name in FREE_TEXTS else whole(parts)


class _ResponseBatches:
    """The responses of participants in some states (``None``: in any), made of the answers batch by batch."""

    def __init__(self, connection: sa.Connection, study: StudyRecord, states: Collection[State] | None) -> None:
        self.items = {item.item_id: item for item in study.items}
        self.by_participant = participant_states(connection)
        removed = sa.select(ERASURES.c.participant_id).where(ERASURES.c.answers == "removed")
        self._erased = set(connection.execute(removed).scalars())
        self._study = study
        self._included = {
            who for who, person in self.by_participant.items() if states is None or person.state in states
        }

    def of(self, batch: pa.Table) -> Iterator[ResponseTable]:
        """Yield the responses that answers with the cells of :data:`_RESPONSE_CELLS` make, if they make any."""
        rows = batch.filter(mapped(batch["participant_id"], self._included.__contains__, pa.bool_()))
        if len(rows):
            yield _response_batch(rows, self.items, self._study, self.by_participant)

    def completion_times(self) -> ResponseTable:
        """Return the time that each participant took."""
        people = {who: self.by_participant[who] for who in sorted(self._included - self._erased)}
        return ResponseTable.from_rows(_completion_times(self._study, people))


def _effective(columns: Iterable[str], *conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Return the query of the latest answers, by participant, phase and position."""
    later = ANSWERS.alias("later")
    superseded = sa.select(later.c.id).where(later.c.supersedes == ANSWERS.c.id)
    order = (ANSWERS.c.participant_id, ANSWERS.c.phase, ANSWERS.c.position)
    chosen = (ANSWERS.c[name] for name in columns)
    return sa.select(*chosen).where(~superseded.exists(), *conditions).order_by(*order)


def _batches(
    connection: sa.Connection, columns: Sequence[str], *conditions: sa.ColumnElement[bool]
) -> Iterator[pa.Table]:
    """Yield the latest answers some thousands at a time: as objects of Python, a million would need gigabytes."""
    schema = pa.schema([(name, _arrow_type(ANSWERS.c[name])) for name in columns])
    query = _effective(columns, *conditions).execution_options(yield_per=_TOGETHER)
    for rows in connection.execute(query).partitions():
        cells = zip(*rows, strict=True)
        table = pa.table([pa.array(column, field.type) for column, field in zip(cells, schema, strict=True)], schema)
        # the next rows are read before these are replaced
        del rows
        yield table


def _arrow_type(column: sa.Column[Any]) -> pa.DataType:
    if isinstance(column.type, sa.Float):
        return pa.float64()
    if isinstance(column.type, sa.Integer):
        return pa.int32()
    return pa.string() if column.name in _TIMES else _CODED


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
    rows: pa.Table,
    items: Mapping[str, StudyItem],
    study: StudyRecord,
    by_participant: Mapping[str, ParticipantState],
) -> ResponseTable:
    """Return rows of :data:`_RESPONSE_CELLS` as responses."""

    def of_item(make: Callable[[StudyItem], str | None]) -> pa.Array:
        return mapped(rows["item_id"], lambda name: make(items[name]), pa.string())

    checks = of_item(lambda item: _CHECKS.get(item.kind))
    is_answer = checks.is_null()
    lists = mapped(rows["participant_id"], lambda who: by_participant[who].list_id, pa.string())
    return ResponseTable.from_columns(
        {
            "subject_id": rows["participant_id"],
            # responses of simulated participants are marked by their ids
            "subject_kind": PARTICIPANT,
            "item_id": rows["item_id"],
            "task": study.task,
            "measure": pc.coalesce(pc.cast(checks, pa.string()), _texts(rows["measure"])),
            "value": _values(rows, is_answer, items),
            "option": pc.if_else(is_answer, _texts(rows["option"]), None),
            "view": mapped(lists, lambda name: _view(study, name), pa.string()),
            "list_id": lists,
            "position": rows["position"],
            "rt_ms": _durations(rows),
            "answered_at": rows["answered_at"].cast(SCHEMA.field("answered_at").type),
            "raw": pc.coalesce(_answer_texts(rows), _texts(rows["text"])),
            "scale": of_item(
                lambda item: (
                    str(item.question.scale) if item.kind in _RATED_KINDS and item.question.scale is not None else None
                )
            ),
        }
    )


def _values(rows: pa.Table, is_answer: pa.Array, items: Mapping[str, StudyItem]) -> pa.ChunkedArray:
    """Return the numbers that were answered; answers to checks are 1 if they are accepted, else 0."""
    asked = rows.select(["item_id", "value", "option"]).filter(pc.invert(is_answer))
    if not len(asked):
        return rows["value"]
    given = zip(*(column.to_pylist() for column in asked.columns), strict=True)
    right = [float((value if value is not None else option) in items[name].accept) for name, value, option in given]
    return pc.replace_with_mask(rows["value"], pc.invert(is_answer), pa.array(right, pa.float64()))


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
    rows: pa.Table,
    items: Mapping[str, StudyItem],
    study: StudyRecord,
    by_participant: Mapping[str, ParticipantState],
) -> pa.Table:
    """Return rows of :data:`_ALL_CELLS` with the columns of :data:`LONG_SCHEMA`."""

    def of_item(make: Callable[[StudyItem], str | None]) -> pa.Array:
        return mapped(rows["item_id"], lambda name: make(items[name]), pa.string())

    def of_person(make: Callable[[ParticipantState], Any], kind: pa.DataType) -> pa.Array:
        return mapped(rows["participant_id"], lambda who: make(by_participant[who]), kind)

    def marked(flag: str) -> pa.Array:
        # few combinations of flags occur
        return mapped(rows["flags"], lambda text: flag in json.loads(text), pa.bool_())

    def constant(text: str) -> pa.Array:
        return pa.repeat(text, len(rows)).dictionary_encode()

    columns = {
        **{name: rows[name] for name in rows.column_names if name in _CODED_SCHEMA.names},
        "study_id": constant(study.study_id),
        "task_type": constant(study.task),
        "confusion_set": of_item(lambda item: item.confusion_set),
        "list_id": of_person(lambda person: person.list_id, pa.string()),
        "slot": of_person(lambda person: person.slot, pa.int32()),
        KIND_COLUMN: mapped(rows["participant_id"], kind_of_person, pa.string()),
        "trial_index": rows["position"],
        "kind": of_item(lambda item: str(item.kind)),
        "response": _answer_texts(rows),
        "response_text": rows["text"],
        "rt_ms": _durations(rows),
        "n_revisions": rows["revision"],
        "excluded": of_person(lambda person: person.state is State.EXCLUDED, pa.bool_()),
        "exclusion_rule": of_person(
            lambda person: person.reason if person.state is State.EXCLUDED else None, pa.string()
        ),
        **{column: marked(flag) for column, flag in _FLAG_COLUMNS.items()},
    }
    made = pa.table({field.name: columns[field.name] for field in _CODED_SCHEMA})
    return made.cast(_CODED_SCHEMA)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string())


def _durations(rows: pa.Table) -> pa.ChunkedArray:
    """The browser's measure if there is one: the server's has the network in it."""
    return pc.coalesce(rows["rt_ms"], rows["rt_server_ms"])


def _answer_texts(rows: pa.Table) -> pa.ChunkedArray:
    """Return answers as text: the number, or the option; missing where the answer is a text or empty."""
    numbers = mapped(rows["value"], lambda value: _answer_text(value, None, None), pa.string())
    return pc.coalesce(numbers.cast(pa.string()), _texts(rows["option"]))


def answer_text(row: Mapping[str, Any]) -> str | None:
    """Return an answer as text: the number, the option or the text; ``None`` for an empty one."""
    return _answer_text(row["value"], row["option"], row["text"])


def _answer_text(value: float | None, option: str | None, text: str | None) -> str | None:
    if value is not None:
        return str(int(value)) if value.is_integer() else repr(value)
    return option if option is not None else text
