"""Text that a spreadsheet would run as a formula, made harmless; and rows as CSV and as lossless JSON lines.

A participant can write ``=HYPERLINK(…)`` into a comment. In every CSV file such a cell begins with an apostrophe, which
spreadsheets show as text; what was written stands unchanged in the JSON lines beside it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

Cell = str | int | float | bool | None

_LIVE = frozenset("=+-@")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.ASCII)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_NEEDS_QUOTES = re.compile(r'[",\r\n]')
# readers that split lines as Unicode does would cut a JSON line here
_LINE_ENDS = re.compile("[\x85\u2028\u2029\ud800-\udfff]")


def is_live(text: str) -> bool:
    r"""Say whether a spreadsheet could read a text as a formula.

    It is live where it starts, after white space and invisible characters, with ``=``, ``+``, ``-`` or ``@`` in any
    width, or where that white space holds a tab or a line end. *Source:* OWASP ASVS 5 1.2.10.

    >>> [is_live(text) for text in ("=1+1", "  \uff1d1", "\t2", "a = b", "")]
    [True, True, True, False, False]
    """
    for char in text:
        if char in "\t\r\n":
            return True
        if not _is_invisible(char):
            return unicodedata.normalize("NFKC", char)[:1] in _LIVE or char == "\u2212"
    return False


def neutral(text: str) -> str:
    """Return a text that no spreadsheet runs: an apostrophe stands before one that is live.

    >>> neutral("=1+1"), neutral("bank")
    ("'=1+1", 'bank')
    """
    return f"'{text}" if is_live(text) else text


def neutral_answer(text: str) -> str:
    """Return an answer that no spreadsheet runs; a number below zero, as a scale has it, stays a number.

    >>> neutral_answer("-2"), neutral_answer("-2+3")
    ('-2', "'-2+3")
    """
    return text if _NUMBER.fullmatch(text) else neutral(text)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]], *, answers: Sequence[str] = ()) -> str:
    """Return rows as CSV in UTF-8 with LF: text is neutral, a missing cell is bare, an empty text is quoted.

    *answers* are the columns whose text may be a number that was given as an answer.
    """
    as_answer = [name in answers for name in header]
    lines = [",".join(_quoted(neutral(name)) for name in header)]
    lines += [",".join(_cell(cell, number) for cell, number in zip(row, as_answer, strict=True)) for row in rows]
    return "\n".join(lines) + "\n"


def json_line(row: Mapping[str, object]) -> str:
    """Return a row as one line of JSON that reads back exactly, whatever its text.

    >>> json_line({"comment": "=1+1\\u2028"})
    '{"comment": "=1+1\\\\u2028"}'
    """
    text = _ENCODER.encode(row)
    return _LINE_ENDS.sub(lambda found: f"\\u{ord(found.group()):04x}", text) if not text.isascii() else text


def jsonl_text(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json_line(row) + "\n" for row in rows)


def _is_invisible(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf")


def cell_text(cell: Cell) -> str:
    """Return what a reader of the CSV gets for a cell.

    >>> cell_text(2.0), cell_text("=1"), cell_text(None), cell_text(False)
    ('2', "'=1", '', 'False')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return neutral(cell)
    return str(cell) if isinstance(cell, bool | int) else _number(cell)


def _cell(cell: Cell, is_answer: bool) -> str:
    return _text_cell(cell, is_answer) if isinstance(cell, str) else cell_text(cell)


# most cells of a long table repeat: ids, words, sentences, rules
@lru_cache(maxsize=1 << 14)
def _text_cell(text: str, is_answer: bool) -> str:
    return _quoted(neutral_answer(text) if is_answer else neutral(text))


def _number(value: float) -> str:
    # a missing number is a missing cell: "nan" would be text to half of the readers
    if value != value:
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _quoted(text: str) -> str:
    if text and not _NEEDS_QUOTES.search(text) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'
