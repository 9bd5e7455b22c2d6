"""A sheet that people fill in and a table that leaves the program, as lists of columns with their meaning.

Every sheet is written and read back here. Tables that only leave the program are in
:mod:`lexiscope.items.sheets.form`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Generic, Literal, NoReturn, TypeVar

import pyarrow as pa

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import storable_text
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED
from lexiscope.items.sheets.long_rows import TOGETHER, ColumnRows, n_given
from lexiscope.items.tables.neutral import Cell, csv_text, jsonl_text
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet, write_sheet

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TextColumn(Generic[T]):
    """A column of a sheet: its name, and the text of its cell for each thing that has a row.

    ``back`` says what becomes of the column when the sheet is read: it must be ``unchanged``, it was ``filled`` in by
    people and ``read`` makes a value of the text, or it is ``ignored`` and may be missing. ``read`` raises
    :class:`InputError` without a place for a text that it refuses.
    """

    name: str
    cell: Callable[[T], str]
    back: Literal["unchanged", "filled", "ignored"] = "unchanged"
    read: Callable[[str], Any] = str


def answer_column(
    name: str, read: Callable[[str], Any] = str, cell: Callable[[Any], str] = lambda _: ""
) -> TextColumn[Any]:
    """Return a column that people fill in; *cell* is what is in it before."""
    return TextColumn(name, cell, "filled", read)


def note_column(name: str, cell: Callable[[T], str]) -> TextColumn[T]:
    """Return a column that is there to be read by people only."""
    return TextColumn(name, cell, "ignored")


@dataclass(frozen=True, slots=True)
class FilledRow(Generic[T]):
    """A row that came back: the thing that it is about, and the values of its filled columns by name."""

    thing: T
    values: Mapping[str, Any]
    row: SheetRow

    def refuse(self, column: str, what: str, *, code: str, hint: str) -> NoReturn:
        """Raise :class:`InputError` at the cell of a column."""
        raise InputError(what, code=code, place=self.row.place(column), hint=hint)


@dataclass(frozen=True, slots=True)
class SheetForm(Generic[T]):
    """A kind of sheet: what it is called in errors, its columns in order, and which of them has the id of a row."""

    what: str
    columns: tuple[TextColumn[T], ...]
    key: str

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def write(self, path: Path | str, things: Iterable[T]) -> None:
        """Write a row for each thing, in their order.

        Errors: :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
        """
        write_sheet(path, self.header, ([column.cell(thing) for column in self.columns] for thing in things))

    def read(self, path: Path | str, things: Iterable[T], *, complete: bool = True) -> Iterator[FilledRow[T]]:
        """Yield the rows in the order of the sheet, which people may have sorted otherwise.

        White space around an id, and how much of it is in a cell that was shown, do not count.
        Errors: :class:`InputError` E471 (a row of no thing), E472 (a thing occurs twice), E474 (what was shown has
        been changed), and if *complete* E473 (a thing is missing); those of the columns' ``read`` with their place;
        those of :func:`~lexiscope.items.tables.spreadsheet.read_sheet`.
        """
        (key,) = (column for column in self.columns if column.name == self.key)
        shown = [column for column in self.columns if column.back == "unchanged" and column is not key]
        answered = [column for column in self.columns if column.back == "filled"]
        by_id = {key.cell(thing): thing for thing in things}
        lines: dict[str, int] = {}
        for row in read_sheet(path, [column.name for column in (key, *shown, *answered)], what=self.what):
            row_id = row.cells[self.key].strip()
            if row_id not in by_id:
                hint = "keep the ids as they were written, and read the sheet with the items that it was made of"
                raise InputError(f"the sheet has no row {row_id!r}", code="E471", place=row.place(self.key), hint=hint)
            if row_id in lines:
                hint = f"it is also in line {lines[row_id]}: keep the one that counts"
                raise InputError(f"{row_id!r} occurs twice", code="E472", place=row.place(self.key), hint=hint)
            lines[row_id] = row.row.line
            thing = by_id[row_id]
            for column in shown:
                _check_unchanged(row, column.name, column.cell(thing), row_id)
            yield FilledRow(thing, {column.name: _value(row, column) for column in answered}, row)
        missing = [row_id for row_id in by_id if row_id not in lines]
        if missing and complete:
            raise InputError(
                f"{len(missing)} of {len(by_id)} rows are missing from the sheet",
                code="E473",
                place=Place(str(path), item_id=missing[0]),
                hint="a row without an answer stays in the sheet, its answer empty",
            )


_MARKS = frozenset({"x", "1", "yes", "y", "true", "weird"})
_NO_MARKS = frozenset({"", "0", "no", "n", "false"})


def parse_mark(text: str) -> bool:
    """Read a cell that is marked with x, 1 or yes.

    >>> parse_mark("X"), parse_mark("")
    (True, False)

    Errors: :class:`InputError` E475 for anything else in a cell that is not empty, 0 or no.
    """
    sign = text.casefold()
    if sign not in _MARKS | _NO_MARKS:
        raise InputError(
            f"{text!r} is not a mark", code="E475", hint="write x, or nothing; remarks belong in the comment"
        )
    return sign in _MARKS


def _check_unchanged(row: SheetRow, column: str, shown: str, row_id: str) -> None:
    # a spreadsheet may fold white space and turn line ends
    if row.cells[column].split() != shown.split():
        what, hint = (
            f"the cell {column!r} of {row_id!r} is not as it was shown",
            f"put it back: {shown!r}; corrections belong in the comment",
        )
        raise InputError(what, code="E474", place=row.place(column), hint=hint)


def _value(row: SheetRow, column: TextColumn[Any]) -> Any:
    try:
        return column.read(row.cells[column.name])
    except InputError as error:
        place = row.place(column.name)
        raise InputError(error.what, code=error.code, place=place, why=error.why, hint=error.hint) from error


# -- sheet ----------------------------------------------------------------------------------------------------------
# A table as it leaves the program: its columns say what they mean, and the codebook is made of what they say.


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
    """A table with the name of its file, what a row of it is, its columns and its rows; long ones are kept by columns.

    A file of it is written in blocks: the text of a million rows would need as much memory again.
    """

    file: str
    row_is: str
    columns: tuple[SheetColumn, ...]
    rows: Sequence[tuple[Cell, ...]]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> list[Cell]:
        """Return the cells of a column."""
        at = self.header.index(name)
        return [row[at] for row in self.rows]

    def distinct_cells(self, name: str) -> Iterator[Sequence[Cell]]:
        """Yield cells of a column, each at least once, some thousands of rows at a time."""
        if isinstance(self.rows, ColumnRows):
            return self.rows.distinct(self.header.index(name))
        return iter([self.column(name)])

    def n_given(self, name: str) -> int:
        """Return how many cells of a column are not missing; a number that is NaN is missing."""
        if isinstance(self.rows, ColumnRows):
            return self.rows.n_given(self.header.index(name))
        return n_given(self.column(name))

    def csv(self) -> str:
        """Return the table as CSV that no spreadsheet runs."""
        return b"".join(self.csv_blocks()).decode("utf-8")

    def csv_blocks(self) -> Iterator[bytes | pa.Buffer]:
        """Yield the CSV file in UTF-8, in blocks of whole lines."""
        answers = [column.name for column in self.columns if column.answer]
        if not isinstance(self.rows, ColumnRows):
            yield _encoded(csv_text(self.header, self.rows, answers=answers))
            return
        yield _encoded(csv_text(self.header, ()))
        yield from self.rows.csv_blocks([name in answers for name in self.header])

    def jsonl_blocks(self) -> Iterator[bytes | pa.Buffer]:
        """Yield the table as lossless JSON lines in UTF-8, in blocks of them."""
        header = self.header
        if isinstance(self.rows, ColumnRows):
            yield from self.rows.jsonl_blocks(header)
        else:
            yield _encoded(jsonl_text(dict(zip(header, row, strict=True)) for row in self.rows))


def _encoded(text: str) -> bytes:
    return storable_text(text).encode("utf-8")


def sheet_of(file: str, row_is: str, columns: Sequence[SheetColumn], rows: Iterable[Mapping[str, Cell]]) -> Sheet:
    """Return a table from rows by name; a cell that a row does not name is missing."""
    names = [column.name for column in columns]
    cells = (tuple(map(row.get, names)) for row in rows)
    first = tuple(islice(cells, TOGETHER))
    if len(first) < TOGETHER:
        return Sheet(file, row_is, tuple(columns), first)
    later = iter(lambda: tuple(islice(cells, TOGETHER)), ())
    blocks = (list(zip(*rows, strict=True)) for rows in chain([first], later))
    return Sheet(file, row_is, tuple(columns), ColumnRows.of_cells(blocks))


KIND = SheetColumn(
    KIND_COLUMN, "whose answers the row holds: participant, model, or simulated for a simulated participant", "category"
)
"""The column that marks answers of simulated participants."""


def marked_simulated(sheet: Sheet) -> Sheet:
    """Return a table of a rehearsal with its mark: every row says that its answers are of simulated participants."""
    if KIND.name in sheet.header:
        return sheet
    marked = (
        sheet.rows.with_constant(SIMULATED)
        if isinstance(sheet.rows, ColumnRows)
        else tuple((*row, SIMULATED) for row in sheet.rows)
    )
    return replace(sheet, columns=(*sheet.columns, KIND), rows=marked)
