"""A table as it leaves the program: its columns say what they mean, and the codebook is made of what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lexiscope.core.simulated import KIND_COLUMN, SIMULATED
from lexiscope.items.tables.neutral import Cell, csv_text, jsonl_text

ColumnKind = Literal["id", "text", "category", "integer", "number", "truth", "time"]


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column: name, meaning, kind of cell, unit.

    ``low`` and ``high`` bound the values where they are bounded by definition. A ``category`` has few levels, which the
    codebook lists; a ``text`` is free, and an ``id`` names something. ``answer`` marks a text column that may hold
    numbers given as answers.
    """

    name: str
    meaning: str
    kind: ColumnKind = "text"
    unit: str = ""
    low: float | None = None
    high: float | None = None
    levels: tuple[str, ...] = ()
    answer: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A table with the name of its file, what a row of it is, its columns and its rows."""

    file: str
    row_is: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> list[Cell]:
        """Return the cells of a column."""
        at = self.header.index(name)
        return [row[at] for row in self.rows]

    def csv(self) -> str:
        """Return the table as CSV that no spreadsheet runs."""
        answers = [column.name for column in self.columns if column.answer]
        return csv_text(self.header, self.rows, answers=answers)

    def jsonl(self) -> str:
        """Return the table as lossless JSON lines."""
        header = self.header
        return jsonl_text(dict(zip(header, row, strict=True)) for row in self.rows)


def sheet_of(file: str, row_is: str, columns: Sequence[SheetColumn], rows: Sequence[Mapping[str, Cell]]) -> Sheet:
    """Return a table from rows by name; a cell that a row does not name is missing."""
    cells = tuple(tuple(row.get(column.name) for column in columns) for row in rows)
    return Sheet(file, row_is, tuple(columns), cells)


KIND = SheetColumn(
    KIND_COLUMN, "whose answers the row holds: participant, model, or simulated for a simulated participant", "category"
)
"""The column that marks answers of simulated participants."""


def marked_simulated(sheet: Sheet) -> Sheet:
    """Return a table of a rehearsal with its mark: every row says that its answers are of simulated participants."""
    if KIND.name in sheet.header:
        return sheet
    return replace(sheet, columns=(*sheet.columns, KIND), rows=tuple((*row, SIMULATED) for row in sheet.rows))
