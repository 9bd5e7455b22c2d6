"""Text that a spreadsheet would run as a formula, made harmless; and rows as CSV and as lossless JSON lines.

A participant can write ``=HYPERLINK(…)`` into a comment. In every CSV file such a cell begins with an apostrophe, which
spreadsheets show as text; what was written is unchanged in the JSON lines next to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from lexiscope.core.run import csv_field
from lexiscope.items.tables.spreadsheet import neutral_text

Cell = str | int | float | bool | None

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.ASCII)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
# readers that split lines as Unicode does would cut a JSON line here
_LINE_ENDS = re.compile("[\x85\u2028\u2029\ud800-\udfff]")


def neutral_answer(text: str) -> str:
    """Return an answer that no spreadsheet runs; a number below zero, as a scale has it, stays a number.

    >>> neutral_answer("-2"), neutral_answer("-2+3")
    ('-2', "'-2+3")
    """
    return text if _NUMBER.fullmatch(text) else neutral_text(text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, answers: Sequence[str] = ()) -> str:
    """Return rows as CSV in UTF-8 with LF: text is neutral, a missing cell is bare, an empty text is quoted.

    *answers* are the columns whose text may be a number that was given as an answer.
    """
    as_answer = [name in answers for name in header]
    lines = [",".join(_text_cell(name, is_answer=False) for name in header)]
    for row in rows:
        lines.append(",".join(csv_cell(cell, is_answer=own) for cell, own in zip(row, as_answer, strict=True)))
    return "\n".join(lines) + "\n"


def csv_cell(cell: Cell, *, is_answer: bool) -> str:
    """Return a cell as it is in a line of CSV; *is_answer*: its text may be a number that was given as an answer."""
    return _text_cell(cell, is_answer) if isinstance(cell, str) else cell_text(cell)


def json_cell(cell: Cell) -> str:
    """Return a cell as it is in a line of JSON."""
    return _safe_json(_ENCODER.encode(cell))


def json_line(row: Mapping[str, object]) -> str:
    """Return a row as one line of JSON that reads back exactly, for any text.

    >>> json_line({"comment": "=1+1\\u2028"})
    '{"comment": "=1+1\\\\u2028"}'
    """
    return _safe_json(_ENCODER.encode(row))


def _safe_json(text: str) -> str:
    return _LINE_ENDS.sub(lambda match: f"\\u{ord(match.group()):04x}", text) if not text.isascii() else text


def jsonl_text(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json_line(row) + "\n" for row in rows)


def cell_text(cell: Cell) -> str:
    """Return what a reader of the CSV gets for a cell.

    >>> cell_text(2.0), cell_text("=1"), cell_text(None), cell_text(False)
    ('2', "'=1", '', 'False')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return neutral_text(cell)
    if isinstance(cell, bool | int):
        return str(cell)
    # a missing number is a missing cell: "nan" would be text to half of the readers
    if cell != cell:
        return ""
    return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)


# most cells of a long table repeat: ids, words, sentences, rules
@lru_cache(maxsize=1 << 14)
def _text_cell(text: str, is_answer: bool) -> str:
    return csv_field(neutral_answer(text) if is_answer else neutral_text(text)) or '""'
