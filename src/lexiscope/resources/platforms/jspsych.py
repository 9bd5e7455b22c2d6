"""jsPsych: one object (or row) for each trial, of one participant or of several; buttons are numbered from 0."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexiscope.core.foreign import parse_json
from lexiscope.resources.platforms.layout import ITEM_NAMES, PARTICIPANT_NAMES, ProgramExport, first_named
from lexiscope.resources.tables.cells import CellTable, JsonObject, cells_of_objects
from lexiscope.resources.tables.spelling import Spelling

_MARKS = {"trial_type", "trial_index"}
_PARTICIPANT = "participant (by order)"
_QUESTION = "question"
_ANSWERS = ("response", "responses", "button_pressed")
_OWN = frozenset(
    {
        *("rt", "stimulus", "trial_type", "trial_index", "time_elapsed", "internal_node_id", "plugin_version"),
        *("question_order", "view_history", "slider_start", "button_pressed", "key_press", "correct", "success"),
        *("timeout", "failed_images", "failed_audio", "failed_video", "response_type"),
    }
)
"""The columns that the program and its plugins add to those of a study."""
_FROM_ZERO = "jsPsych numbers buttons from 0: the first point of a scale of buttons is 0."


def layout_of_objects(
    path: Path | str, spelling: Spelling, text: str, objects: Sequence[tuple[int, JsonObject]]
) -> ProgramExport | None:
    """Return the layout of trials as JSON; ``None`` for other objects."""
    trials = [(line, entry) for line, entry in objects if set(entry) >= _MARKS]
    if not trials:
        return None
    # several questions of a trial are read from the text of its answers, as in a CSV file
    flat = [(line, {name: _cell(name, value) for name, value in entry.items()}) for line, entry in trials]
    return layout_of(cells_of_objects(path, spelling, text, flat))


def layout_of(table: CellTable) -> ProgramExport | None:
    """Return the layout of trials as a table; ``None`` for another table."""
    if not set(table.header) >= _MARKS or not set(table.header) & set(_ANSWERS):
        return None
    answer = next(name for name in _ANSWERS if name in table.header)
    item, rater = first_named(table.header, ITEM_NAMES), first_named(table.header, PARTICIPANT_NAMES)
    raters = list(table[rater]) if rater else _by_order(table)
    identity = item or first_named(table.header, ("stimulus",))
    of: list[int] = []
    values: list[str] = []
    questions: list[str] = []
    for number, cell in enumerate(table[answer]):
        # pages without an item (consent, instructions) have buttons, too
        if identity and not table[identity][number].strip():
            continue
        for question, value in _answers_in(cell):
            of.append(number)
            values.append(value)
            questions.append(question)
    several = len(set(questions)) > 1
    added = [_PARTICIPANT] * (not rater) + [_QUESTION] * several
    kept = [name for name in table.header if name not in (answer, *added)]
    columns = [[table[name][number] for number in of] for name in kept]
    columns += [[raters[number] for number in of]] * (not rater) + [questions] * several + [values]
    at = [*(table.header.index(name) for name in kept), *[None] * len(added), table.header.index(answer)]
    moved = table.moved((*kept, *added, answer), columns, of, at)
    fields: dict[str, tuple[str, ...]] = {"rater": (rater or _PARTICIPANT,), "rating": (answer,)}
    if identity or several:
        fields["item"] = (*[identity] * bool(identity), *[_QUESTION] * several)
    notes = _notes(table, rater=rater, identity=item or (_QUESTION if several else identity))
    return ProgramExport(moved, "jsPsych", fields, notes, _OWN)


def _notes(table: CellTable, *, rater: str, identity: str) -> tuple[str, ...]:
    notes = [_FROM_ZERO] if any("button" in kind or "likert" in kind for kind in set(table["trial_type"])) else []
    if not rater:
        notes.append("No column names the participants: each series of trials (trial_index from 0) is one.")
    if identity in ("stimulus", _QUESTION):
        notes.append(f"No column names the items: they are distinguished by their {identity}.")
    return tuple(notes)


def _by_order(table: CellTable) -> list[str]:
    """A number for each participant: a new one begins where the index of the trial falls."""
    names, number, last = [], 0, float("inf")
    for cell in table["trial_index"]:
        index = float(cell) if cell.strip().replace(".", "", 1).isdigit() else last + 1
        number += index <= last
        last = index
        names.append(f"participant {number}")
    return names


def _answers_in(cell: str) -> list[tuple[str, str]]:
    """The answers in a cell with the names of their questions: one without a name, or those of a survey."""
    text = cell.strip()
    if text in ("", "null", '"'):
        return []
    if text.startswith("{"):
        try:
            content: Any = parse_json(text)
        except ValueError:
            return [("", text)]
        if isinstance(content, Mapping):
            return [(str(name), "" if value is None else str(value)) for name, value in content.items()]
    return [("", text)]


def _cell(name: str, value: Any) -> Any:
    # the answers of a survey stay one cell, as in a CSV file
    return json.dumps(value, ensure_ascii=False) if name in _ANSWERS and isinstance(value, Mapping) else value
