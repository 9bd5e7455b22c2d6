"""Exports of programs for experiments in a browser: Gorilla, jsPsych, PCIbex.

Gorilla: a row for each event of a participant; the answers are rows of zones that take a response.

jsPsych: one object (or row) for each trial, of one participant or of several; buttons are numbered from 0.

PCIbex (and Ibex): a results file whose columns are named in comments, which change from block to block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lexiscope.core.foreign import parse_json
from lexiscope.resources.platforms.layout import ITEM_NAMES, PARTICIPANT_NAMES, ProgramExport, first_named, is_number
from lexiscope.resources.tables.cells import CellTable, JsonObject, cells_of_objects, columns_of
from lexiscope.resources.tables.rows import Row
from lexiscope.resources.tables.spelling import Spelling

_LAST_EVENT = "END OF FILE"
_RATER = "Participant Private ID"


def gorilla_layout(table: CellTable) -> ProgramExport | None:
    """Return the layout of the data of a task or a questionnaire; ``None`` for another table."""
    if _RATER not in table.header or not {"Response", "Event Index"} & set(table.header):
        return None
    kept = [number for number in range(len(table)) if _answers_zone(table, number)]
    answers = table.kept(kept)
    spreadsheet = [name for name in table.header if name.startswith("Spreadsheet: ")]
    plain = {name.removeprefix("Spreadsheet: "): name for name in (*table.header, *spreadsheet)}
    item = plain.get(first_named(list(plain), ITEM_NAMES), "") or first_named(table.header, ("Question Key",))
    notes = []
    if not item and "Spreadsheet Row" in table.header:
        item = "Spreadsheet Row"
        notes.append("No column of the spreadsheet names the items: they are its rows.")
    fields = {"rater": (_RATER,), "rating": ("Response",)}
    if item:
        fields["item"] = (item,)
    own = {name for name in table.header if name in _GORILLA_COLUMNS or name.startswith(_GORILLA_STARTS)}
    return ProgramExport(answers, "Gorilla", fields, tuple(notes), frozenset(own))


def _answers_zone(table: CellTable, number: int) -> bool:
    """Whether a row has a response that a participant gave, not a button that continues, and a number if others
    have."""
    cells = {name: table[name][number].strip() for name in _LOOKED_AT if name in table.header}
    if not cells.get("Response") or cells.get("Event Index") == _LAST_EVENT or not table[_RATER][number].strip():
        return False
    if "Zone Type" in cells:
        # the first Task Builder: response_rating_scale_likert, continue_button …
        return cells["Zone Type"].startswith("response_")
    if "Response Type" in cells:
        # the second one: response, continue, action, info …
        return cells["Response Type"].casefold() == "response"
    return is_number(cells["Response"])


_LOOKED_AT = ("Response", "Event Index", "Zone Type", "Response Type")
_GORILLA_STARTS = ("UTC ", "Local ", "Experiment ", "Participant ", "Task ", "Tree Node ", "Randomise ", "Room ",
                   "Screen ", "Zone ", "Reaction ", "Response", "Object ", "Tag", "Counterbalance")  # fmt: skip
_GORILLA_COLUMNS = {
    *("Event Index", "Repeat Key", "Schedule ID", "Checkpoint", "Spreadsheet", "Spreadsheet Name", "Spreadsheet Row"),
    *("Trial Number", "Attempt", "Correct", "Incorrect", "Dishonest", "X Coordinate", "Y Coordinate", "Timed Out"),
    *(
        "randomise_blocks",
        "randomise_trials",
        "display",
        "Display",
        "Question Key",
        "Question",
        "Key",
        "Current Display",
    ),
    *("Manipulation", "Current Spreadsheet", "Store", "Onset Time", "Clock Time", "Absolute Onset Time"),
}
"""The columns that Gorilla adds to those of the spreadsheet."""


_MARKS = {"trial_type", "trial_index"}
_BY_ORDER = "participant (by order)"
_QUESTION = "question"
_ANSWERS = ("response", "responses", "button_pressed")
_JSPSYCH_COLUMNS = frozenset(
    {
        *("rt", "stimulus", "trial_type", "trial_index", "time_elapsed", "internal_node_id", "plugin_version"),
        *("question_order", "view_history", "slider_start", "button_pressed", "key_press", "correct", "success"),
        *("timeout", "failed_images", "failed_audio", "failed_video", "response_type"),
    }
)
"""The columns that the program and its plugins add to those of a study."""
_FROM_ZERO = "jsPsych numbers buttons from 0: the first point of a scale of buttons is 0."


def jspsych_layout_of_objects(
    path: Path | str, spelling: Spelling, text: str, objects: Sequence[tuple[int, JsonObject]]
) -> ProgramExport | None:
    """Return the layout of trials as JSON; ``None`` for other objects."""
    trials = [(line, entry) for line, entry in objects if set(entry) >= _MARKS]
    if not trials:
        return None
    # several questions of a trial are read from the text of its answers, as in a CSV file
    flat = [(line, {name: _cell(name, value) for name, value in entry.items()}) for line, entry in trials]
    return jspsych_layout(cells_of_objects(path, spelling, text, flat))


def jspsych_layout(table: CellTable) -> ProgramExport | None:
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
    added = [_BY_ORDER] * (not rater) + [_QUESTION] * several
    kept = [name for name in table.header if name not in (answer, *added)]
    columns = [[table[name][number] for number in of] for name in kept]
    columns += [[raters[number] for number in of]] * (not rater) + [questions] * several + [values]
    at = [*(table.header.index(name) for name in kept), *[None] * len(added), table.header.index(answer)]
    moved = table.moved((*kept, *added, answer), columns, of, at)
    fields: dict[str, tuple[str, ...]] = {"rater": (rater or _BY_ORDER,), "rating": (answer,)}
    if identity or several:
        fields["item"] = (*[identity] * bool(identity), *[_QUESTION] * several)
    notes = _notes(table, rater=rater, identity=item or (_QUESTION if several else identity))
    return ProgramExport(moved, "jsPsych", fields, notes, _JSPSYCH_COLUMNS)


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


_COLUMN = re.compile(r"#\s*(\d+)\.\s*(.*?)\.?\s*$")
_TIME, _HASH = "Results reception time", "MD5 hash of participant's IP address"
_SENDER = "reception time and hash of the address"
_RATED = {"Choice", "Selection", "Final"}
"""The parameters of PennController whose value is an answer: of a Scale, a Selector, a TextInput."""
_ANSWER = "Answer"
_PCIBEX_COLUMNS = frozenset(
    {
        *(_TIME, _HASH, "Controller name", "Order number of item", "Item number", "Inner element number"),
        *("Element number", "Type", "Group", "Label", "Latin Square Group", "PennElementType", "PennElementName"),
        *(
            "Parameter",
            "EventTime",
            "Question",
            "Time taken to answer",
            "Whether or not answer was correct",
            "Comments",
        ),
    }
)
"""The columns that the program adds to those that a study logs."""


def pcibex_layout(path: Path | str, spelling: Spelling, text: str) -> ProgramExport:
    """Return the layout of a results file: the rows that hold an answer.

    A participant is who sent one set of results: the time at which it was received, and the hash of the address.
    """
    header, rows = _rows(str(path), text)
    table = CellTable(
        str(path), spelling, tuple(header), tuple([row.fields[index] for row in rows] for index in range(len(header))),
        [row.line for row in rows], text, _rows=rows,
    )  # fmt: skip
    penn = "Parameter" in header and "Value" in header
    kept = [number for number in range(len(table)) if _is_answer(table, number, penn=penn)]
    answers = table.kept(kept)
    rater, item = first_named(header, PARTICIPANT_NAMES), first_named(header, ITEM_NAMES)
    notes = []
    if not rater or not all(cell.strip() for cell in answers[rater]):
        senders = [f"{time} {address[:8]}" for time, address in zip(answers[_TIME], answers[_HASH], strict=True)]
        count, width = range(len(answers)), len(answers.header)
        names, columns = (*answers.header, _SENDER), (*answers.columns, senders)
        answers, rater = answers.moved(names, columns, count, (*range(width), None)), _SENDER
        notes.append("No column names the participants: each set of results is one.")
    fields = {"rater": (rater,), "rating": ("Value" if penn else _ANSWER,)}
    if item:
        fields["item"] = (item,)
    return ProgramExport(answers, "PCIbex", fields, tuple(notes), _PCIBEX_COLUMNS)


def _is_answer(table: CellTable, number: int, *, penn: bool) -> bool:
    if penn:
        return table["Parameter"][number] in _RATED and table["Value"][number].strip() not in ("", "NULL")
    return _ANSWER in table.header and table[_ANSWER][number].strip() not in ("", "NULL")


def _rows(path: str, text: str) -> tuple[list[str], list[Row]]:
    """All rows under one header. A block of comments renames the columns from its first number on."""
    names: dict[int, str] = {}
    header: dict[str, None] = {}
    read: list[tuple[int, str, dict[str, str], list[str]]] = []
    in_comments = False
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if line.startswith("#"):
            match = _COLUMN.match(line)
            if match:
                column = int(match[1])
                if not in_comments:
                    names = {place: name for place, name in names.items() if place < column}
                names[column], in_comments = match[2], True
            elif "Columns below this comment" in line:
                in_comments = False
            continue
        in_comments = False
        if not line.strip():
            continue
        cells = columns_of(line, ",")[0]
        values = {names.get(place, f"column {place}"): unquote(cell) for place, cell in enumerate(cells, start=1)}
        header.update(dict.fromkeys(values))
        read.append((number, line, values, cells))
    columns = list(header)
    rows = []
    for number, line, values, cells in read:
        places = {name: sum(len(cell) + 1 for cell in cells[:index]) for index, name in enumerate(values)}
        begins = tuple(places.get(name, 0) for name in columns)
        rows.append(Row(path, number, [values.get(name, "") for name in columns], line, begins=begins))
    return columns, rows
