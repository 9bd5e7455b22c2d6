"""A study whose participants answer by rule, as the tables that a store would give: nobody's judgments."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.store.export import LONG_SCHEMA
from lexiscope.annotation.store.record import State
from lexiscope.annotation.study_file.assignment import plan_trials
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import build_design
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage

READING = timedelta(minutes=4)
"""From consent to the first trial."""
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class MadePerson:
    """A participant as the store knows them."""

    participant_id: str
    state: State
    reason: str
    list_id: str | None
    number: int | None
    surplus: bool
    created_at: str
    active_at: str | None
    finished_at: str | None
    n_answered: int
    last_at: str | None
    consented_at: str | None = None


@dataclass(frozen=True)
class Answered:
    """What somebody says to an item: a number, an option or a text, and what stands beside it."""

    value: float | None = None
    option: str | None = None
    text: str | None = None
    nonsensical: bool = False
    weird: bool = False
    undecided: bool = False
    guessed: str | None = None
    comment: str | None = None
    skipped: bool = False
    not_found: bool = False


Answers = Callable[[int, Item, int], Answered]
"""Participant's number, item, position → what is answered."""


def pair(name: str, word: str, **conditions: Any) -> Item:
    """A pair of two sentences of a word, made up here."""
    usages = (
        Usage(f"{word} stands here, {name}", 0, len(word), lemma=word, language="en"),
        Usage(f"{word} stands there, {name}", 0, len(word), lemma=word, language="en"),
    )
    return Item(name, "made_up", usages, conditions=conditions)


def rated(number: int, item: Item, position: int) -> Answered:
    """A rating near 4 for the same sense, near 2 for different ones; the catch trial is answered rightly."""
    if position >= 0 and item.gold is not None:
        return Answered(value=float(item.gold))
    rng = random.Random(f"{number}/{item.item_id}")
    middle = 4 if item.conditions.get("same_sense") else 2
    return Answered(value=float(min(5, max(1, round(middle + rng.gauss(0, 0.8))))))


def collected(
    definition: StudyDefinition,
    items: Sequence[Item],
    *,
    per_list: int,
    answers: Answers = rated,
    measure: str = "rating",
    minutes: Callable[[int], float] = lambda number: 12 + number % 5,
    **more: Any,
) -> StudyData:
    """A study in which every list has its participants; *more* are further parts of what is collected."""
    design = build_design(items, definition.design, definition.catch)
    rows: list[dict[str, Any]] = []
    responses: list[Response] = []
    people: list[MadePerson] = []
    numbers: dict[str, int] = {}
    n_lists = len(design.lists)
    for number in range(1, 1 + per_list * n_lists):
        list_number = (number - 1) % n_lists
        slot, list_id, who = 1 + (number - 1) // n_lists, str(list_number + 1), f"p{number:032x}"
        numbers[who] = number
        begun = START + timedelta(hours=number)
        ended = begun + timedelta(minutes=minutes(number))
        for trial in plan_trials(definition, design, list_number=list_number, number=number):
            said = answers(number, trial.item, trial.position)
            at = begun + timedelta(seconds=2 * trial.position + 1)
            side = trial.side if len(trial.item.usages) > 1 else None
            row = {"participant_id": who, "list_id": list_id, "slot": slot, "kind": trial.kind, "side": side}
            rows.append(_row(definition, trial.item, trial.position, said, at) | row)
            responses.append(_response(definition, who, list_id, trial.item, trial.position, said, at, measure))
        time = Response(who, "participant", "completion_time", definition.task, "completion_time")
        milliseconds = (ended - begun).total_seconds() * 1000
        responses.append(_with(time, value=milliseconds, list_id=list_id, answered_at=ended))
        times = (_text(begun), _text(begun), _text(ended))
        state = ("finished", "every trial is answered")
        people.append(
            MadePerson(
                *(who, State(state[0]), state[1], list_id, slot, False, *times, len(design.lists[0]), times[2]),
                consented_at=_text(begun - READING),
            )
        )
    table = pa.Table.from_pylist(rows, schema=LONG_SCHEMA)
    return StudyData(
        definition, design, measure, ResponseTable.from_rows(responses), table, tuple(people), numbers, **more
    )


def _text(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


def _row(definition: StudyDefinition, item: Item, position: int, said: Answered, at: datetime) -> dict[str, Any]:
    number = None if said.value is None else f"{said.value:g}"
    return {
        "study_id": definition.name,
        "task_type": definition.task,
        "item_id": item.item_id,
        "confusion_set": item.word,
        "participant_kind": "participant",
        "trial_index": position,
        "phase": "trials",
        "display_order": "[]",
        "response": number if number is not None else said.option,
        "response_text": said.text,
        "label_undecided": said.undecided,
        "flag_nonsensical": said.nonsensical,
        "flag_weird": said.weird,
        "guessed_word": said.guessed,
        "comment": said.comment,
        "shown_at": _text(at - timedelta(seconds=1)),
        "answered_at": _text(at),
        "rt_ms": 1000.0,
        "n_revisions": 0,
        "guideline_version": "0123456789ab",
        "item_sha256": "0" * 64,
        "excluded": False,
        "exclusion_rule": None,
        "flag_skipped": said.skipped,
        "flag_not_found": said.not_found,
    }


def _response(
    definition: StudyDefinition,
    who: str,
    list_id: str,
    item: Item,
    position: int,
    said: Answered,
    at: datetime,
    measure: str,
) -> Response:
    raw = said.text if said.value is None else f"{said.value:g}"
    base = Response(who, "participant", item.item_id, definition.task, measure, said.value, said.option)
    return _with(base, list_id=list_id, position=position, rt_ms=1000.0, answered_at=at, raw=raw)


def _with(response: Response, **changes: Any) -> Response:

    return replace(response, **changes)
