"""Tables that people open in a spreadsheet: no cell is run as a formula, letters survive, and they can be read back."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import csv_field, write_atomically
from lexiscope.resources.tables.rows import Row, RowReader

_LIVE = frozenset("=+-@")


def is_live(text: str) -> bool:
    r"""Return whether a spreadsheet could read a text as a formula.

    It is live where it starts, after white space and invisible characters, with ``=``, ``+``, ``-`` or ``@`` in any
    width, or where that white space holds a tab or a line end. *Source:* OWASP ASVS 5 1.2.10.

    >>> [is_live(text) for text in ("=1+1", "  \uff1d1", "\t2", "a = b", "")]
    [True, True, True, False, False]
    """
    for char in text:
        if char in "\t\r\n":
            return True
        if not (char.isspace() or unicodedata.category(char) in ("Zs", "Zl", "Zp", "Cc", "Cf")):
            return unicodedata.normalize("NFKC", char)[:1] in _LIVE or char == "\u2212"
    return False


def neutral_text(text: str) -> str:
    """Return a text that no spreadsheet runs: an apostrophe is before one that is live.

    >>> neutral_text("=1+1"), neutral_text("bank")
    ("'=1+1", 'bank')
    """
    return f"'{text}" if is_live(text) else text


def protect_cell(text: str) -> str:
    """Return a cell that no spreadsheet runs and that :func:`restore_cell` gives back exactly.

    >>> protect_cell("=1+1"), protect_cell("' -- yes"), protect_cell("'s")
    ("'=1+1", "'' -- yes", "'s")
    """
    return f"'{text}" if is_live(text.lstrip("'")) else text


def restore_cell(text: str) -> str:
    """Return what :func:`protect_cell` was given.

    >>> restore_cell("'=1+1"), restore_cell("'' -- yes"), restore_cell("'s")
    ('=1+1', "' -- yes", "'s")
    """
    return text[1:] if text.startswith("'") and is_live(text.lstrip("'")) else text


def write_sheet(path: Path | str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table as CSV that spreadsheets open well: UTF-8 with byte-order mark, CRLF, and no live cell.

    Errors: :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    lines = [",".join(csv_field(protect_cell(cell)) for cell in row) + "\r\n" for row in [header, *rows]]
    # without the mark, common spreadsheets take UTF-8 for the letters of the country's old encoding
    write_atomically(Path(path), "\ufeff" + "".join(lines))


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row of a sheet that came back: its cells by column, and the row that knows their places."""

    cells: dict[str, str]
    row: Row
    columns: tuple[str, ...]

    def place(self, column: str) -> Place:
        """Return where the cell of a column is in the file."""
        index = self.columns.index(column) if column in self.columns else None
        return self.row.place(index, width=max(1, len(self.cells.get(column, ""))))


def read_sheet(path: Path | str, needed: Sequence[str], *, what: str, ours: bool = True) -> Iterator[SheetRow]:
    """Yield the rows of a table that may come back from a spreadsheet (commas, semicolons or tabs).

    Cells of a sheet of *ours* are :func:`restore_cell`; those of a table that a user made are unchanged. Other columns
    than *needed* may be there too.
    Errors: :class:`InputError` E001 to E005 for a file that cannot be read, E006 (it is not *what*) for a missing
    column, E007 for a column that occurs twice.
    """
    reader = RowReader(path)
    rows = reader.rows()
    header = next(rows, None)
    columns = reader.header
    missing = [name for name in needed if name not in columns]
    if header is None or missing:
        hint = "keep the columns of the sheet as they were written"
        place = header.place() if header is not None else Place(str(path))
        raise InputError(f"this is not {what}: no column {missing[0]!r}", code="E006", place=place, hint=hint)
    twice = [name for name in needed if columns.count(name) > 1]
    if twice:
        raise InputError(f"the column {twice[0]!r} occurs twice", code="E007", place=header.place(), hint="keep one")
    for row in rows:
        cells = map(restore_cell, row.fields) if ours else row.fields
        yield SheetRow(dict(zip(columns, cells, strict=True)), row, columns)
