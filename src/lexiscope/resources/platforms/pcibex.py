"""PCIbex (and Ibex): a results file whose columns are named in comments, which change from block to block."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from lexiscope.resources.platforms.layout import ITEM_NAMES, PARTICIPANT_NAMES, ProgramExport, first_named
from lexiscope.resources.tables.cells import CellTable, columns_of
from lexiscope.resources.tables.rows import Row
from lexiscope.resources.tables.spelling import Spelling

_COLUMN = re.compile(r"#\s*(\d+)\.\s*(.*?)\.?\s*$")
_TIME, _HASH = "Results reception time", "MD5 hash of participant's IP address"
_PARTICIPANT = "reception time and hash of the address"
_RATED = {"Choice", "Selection", "Final"}
"""The parameters of PennController whose value is an answer: of a Scale, a Selector, a TextInput."""
_ANSWER = "Answer"
_OWN = frozenset(
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


def layout_of(path: Path | str, spelling: Spelling, text: str) -> ProgramExport:
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
        answers, rater = _with_senders(answers), _PARTICIPANT
        notes.append("No column names the participants: each set of results is one.")
    fields = {"rater": (rater,), "rating": ("Value" if penn else _ANSWER,)}
    if item:
        fields["item"] = (item,)
    return ProgramExport(answers, "PCIbex", fields, tuple(notes), _OWN)


def _is_answer(table: CellTable, number: int, *, penn: bool) -> bool:
    if penn:
        return table["Parameter"][number] in _RATED and table["Value"][number].strip() not in ("", "NULL")
    return _ANSWER in table.header and table[_ANSWER][number].strip() not in ("", "NULL")


def _with_senders(table: CellTable) -> CellTable:
    senders = [f"{time} {address[:8]}" for time, address in zip(table[_TIME], table[_HASH], strict=True)]
    count, width = range(len(table)), len(table.header)
    return table.moved((*table.header, _PARTICIPANT), (*table.columns, senders), count, (*range(width), None))


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
