"""A table: what it says, how its numbers are printed, and the same as CSV, plain text and JSON.

LaTeX is in :mod:`lexiscope.report.page.stored`, HTML in :mod:`lexiscope.report.page.html`. All of them print what
:func:`layout` lays out, so a number looks the same everywhere; only CSV and JSON keep full precision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any, Literal, TypeVar, cast

import numpy as np

from lexiscope.core.errors import InputError, text_width
from lexiscope.core.result import AtMost
from lexiscope.core.run import csv_lines
from lexiscope.core.showing import call_presenter, counted
from lexiscope.core.simulated import KIND_COLUMN

#: Shown where there is no value; a note says why.
DASH = "—"
Row = TypeVar("Row")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Missing:
    """A cell without a value, and why; printed as a dash with the reason in a note."""

    reason: str


@dataclass(frozen=True, slots=True)
class IntervalCell:
    """An interval, printed ``[low, high]``, or ``value [low, high]`` where its estimate is in the same cell."""

    low: float
    high: float
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Noted:
    """Words with a remark; the remark is printed as a lettered note below the table."""

    text: str
    note: str


Cell = Noted | str | bool | int | float | IntervalCell | Missing | None


@dataclass(frozen=True, slots=True)
class Format:
    """How numbers of a column are printed; text stays as it is.

    ``number``: fixed *digits*, without the leading zero where *leading_zero* is false (for bounded quantities);
    ``integer``: thousands apart; ``p``: like a bounded number, ``< .001`` below a unit of the last digit and
    ``> .999`` where it would round to 1; the smallest p that draws can give is rounded up, after ``≤``.
    """

    kind: Literal["number", "integer", "p", "text"] = "number"
    digits: int = 2
    leading_zero: bool = True


TEXT = Format("text")
INTEGER = Format("integer", 0)
BOUNDED = Format("number", 2, leading_zero=False)
P_VALUE = Format("p", 3, leading_zero=False)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: header, alignment, number format, a note to its header, and the language of its words."""

    header: str
    format: Format = TEXT
    align: Literal["left", "right", ""] = ""
    note: str = ""
    language: str = ""

    @property
    def right(self) -> bool:
        """Whether cells are aligned right: as asked, else numbers are and text is not."""
        return self.align == "right" if self.align else self.format.kind != "text"


Head = str | tuple[str, Format] | Column


def columns(*heads: Head) -> tuple[Column, ...]:
    """Return columns: a header alone is a column of words, a header with a format one of numbers.

    >>> [(column.header, column.format.kind) for column in columns("Subject", ("n", INTEGER))]
    [('Subject', 'text'), ('n', 'integer')]
    """
    return tuple(
        head if isinstance(head, Column) else Column(head) if isinstance(head, str) else Column(*head) for head in heads
    )


@dataclass(frozen=True, slots=True)
class Table:
    """A finished table; the first column names the rows. Not-a-number and numpy scalars are replaced on the way in.

    ``people`` is ``simulated`` where its numbers are of simulated participants: its CSV then says so in a column.

    Errors: :class:`InputError` where a row has another number of cells than there are columns, or the name cannot be
    a file name.
    """

    name: str
    number: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    people: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(f"{self.name!r} cannot name a table", hint="use letters, digits, _ and -, a letter first")
        for index, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                what = f"row {index} of table {self.name!r} has {len(row)} cells for {len(self.columns)} columns"
                raise InputError(what)
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "notes", tuple(self.notes))
        object.__setattr__(self, "rows", tuple(tuple(_plain_cell(cell) for cell in row) for row in self.rows))

    def __repr__(self) -> str:
        size = f"{counted(len(self.rows), 'row')}, {counted(len(self.columns), 'column')}"
        return f"Table({self.name}: {size}, {self.title!r})"

    def frame(self) -> Any:
        """Return the table as a pandas table with full precision, its columns those of its CSV."""
        return call_presenter("frame_of_table", self)

    def plot(self, column: str = "", title: str = "") -> Any:
        """Return a column as a figure: a dot a row, with its interval. Without *column*, the first with intervals."""
        return call_presenter("plot_table", self, column, title)

    def _repr_html_(self) -> str:
        return cast(str, call_presenter("table_html", self))


def table_of(
    name: str,
    title: str,
    rows: Iterable[Row],
    cells: Mapping[Head, Callable[[Row], Cell]],
    *,
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return a table with one row for each of *rows*; *cells* are the columns, each with what it shows of a row.

    >>> table_of("t", "Sizes", ["ab", "c"], {"Word": str.upper, ("Letters", INTEGER): len}).rows
    (('AB', 2), ('C', 1))
    """
    body = tuple(tuple(cell(row) for cell in cells.values()) for row in rows)
    return Table(name, number, title, columns(*cells), body, tuple(notes))


def drop_empty(table: Table) -> Table:
    """Return the table without columns (after the first) in which no row has anything."""
    full = [i for i in range(len(table.columns)) if i == 0 or any(row[i] not in (None, "") for row in table.rows)]
    rows = tuple(tuple(row[index] for index in full) for row in table.rows)
    return replace(table, columns=tuple(table.columns[index] for index in full), rows=rows)


@dataclass(frozen=True, slots=True)
class Printed:
    """A cell or header as printed, and the letter of its note (empty where it has none)."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """A table as printed: headers, rows, lettered notes (letter, text), and notes to the whole table."""

    headers: tuple[Printed, ...]
    rows: tuple[tuple[Printed, ...], ...]
    lettered: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def layout(table: Table) -> Layout:
    """Print every cell and give each distinct header note and reason for a missing value one letter."""
    letters: dict[str, str] = {}
    headers = tuple(Printed(column.header, _letter(letters, column.note)) for column in table.columns)
    formats = [column.format for column in table.columns]
    rows = tuple(
        tuple(_printed_cell(cell, form, letters) for cell, form in zip(row, formats, strict=True)) for row in table.rows
    )
    return Layout(headers, rows, tuple((letter, text) for text, letter in letters.items()), table.notes)


def with_minus_signs(text: str) -> str:
    """Return a text whose negative numbers begin with a minus sign; hyphens between letters and digits stay.

    >>> with_minus_signs("gpt-2: -0.5 [-.9, -.1]")
    'gpt-2: −0.5 [−.9, −.1]'
    """
    return re.sub(r"(?<![\w.)\]])-(?=\.?\d)", "−", text)


def format_number(value: float, form: Format) -> str:
    """Return *value* as *form* prints it, with a true minus sign.

    >>> format_number(-0.597, BOUNDED), format_number(109850880, INTEGER), format_number(0.0000003, P_VALUE)
    ('−.60', '109,850,880', '< .001')
    >>> format_number(AtMost(2 / 401), P_VALUE)  # no draw of 400 was as extreme
    '≤ .005'
    >>> format_number(-0.001, Format(digits=2))  # never a negative zero
    '0.00'
    """
    if form.kind == "p" and value < 10.0**-form.digits:
        return "< " + _without_leading_zero(f"{10.0**-form.digits:.{form.digits}f}")
    if form.kind == "p" and isinstance(value, AtMost):
        # rounded down it would be below what the draws show; the slack keeps .005 from becoming .006
        value = math.ceil(value * 10**form.digits - 1e-9) / 10**form.digits
        return f"≤ {_without_leading_zero(f'{value:.{form.digits}f}')}"
    if form.kind == "p" and value >= 1 - 0.5 * 10.0**-form.digits:
        return "> " + _without_leading_zero(f"{1 - 10.0**-form.digits:.{form.digits}f}")
    text = f"{value:,.0f}" if form.kind == "integer" else f"{value:.{form.digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.removeprefix("-")
    text = text.replace("-", "−")
    return text if form.leading_zero else _without_leading_zero(text)


def p_equation(value: float) -> str:
    """Return a p with its sign, as sentences print it.

    >>> p_equation(0.037), p_equation(0.0000003), p_equation(1.0), p_equation(AtMost(2 / 401))
    ('p = .037', 'p < .001', 'p > .999', 'p ≤ .005')
    """
    printed = format_number(value, P_VALUE)
    return f"p = {printed}" if printed.startswith(".") else f"p {printed}"


def interval_text(interval: IntervalCell, form: Format) -> str:
    """Return an interval as tables print it, after its estimate if it has one.

    >>> interval_text(IntervalCell(-0.2, 0.31, 0.1), BOUNDED), interval_text(IntervalCell(0.2, 0.3), BOUNDED)
    ('.10 [−.20, .31]', '[.20, .30]')
    """
    value = "" if interval.value is None else f"{format_number(interval.value, form)} "
    return f"{value}[{format_number(interval.low, form)}, {format_number(interval.high, form)}]"


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV text; numbers keep full precision, ``None`` and not-a-number are empty.

    >>> csv_text(["a", "b"], [[0.1, None], ["x,y", float("nan")]])
    'a,b\\n0.1,\\n"x,y",\\n'
    """
    return csv_lines(header, ([_csv_value(value) for value in row] for row in rows))


def _csv_value(value: object) -> object:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else value


def to_csv(table: Table) -> str:
    """Return the table as CSV with full precision; a column with intervals becomes three, missing cells are empty."""
    return csv_text(*wide_rows(table))


def wide_rows(table: Table) -> tuple[list[str], list[list[object]]]:
    """Return header and rows of the table at full precision; a column with intervals becomes three."""
    wide = [any(isinstance(row[index], IntervalCell) for row in table.rows) for index in range(len(table.columns))]
    header = []
    for column, is_wide in zip(table.columns, wide, strict=True):
        header += [column.header] + ([f"{column.header} low", f"{column.header} high"] if is_wide else [])
    rows = [_wide_cells(row, wide) for row in table.rows]
    if not table.people:
        return header, rows
    return [*header, KIND_COLUMN], [[*row, table.people] for row in rows]


def to_text(table: Table) -> str:
    """Return the table as plain text for a terminal, columns aligned, notes below."""
    laid = layout(table)
    grid = [[f"{cell.text}{_superscript(cell.mark)}" for cell in row] for row in (laid.headers, *laid.rows)]
    widths = [max(text_width(row[index]) for row in grid) for index in range(len(table.columns))]
    lines = ["  ".join(_pad(cell, widths[i], table.columns[i].right) for i, cell in enumerate(row)) for row in grid]
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    title = f"Table {table.number}. {table.title}" if table.number else table.title
    notes = [f"{_superscript(letter)} {text}" for letter, text in laid.lettered] + list(laid.notes)
    body = [title, rule, lines[0], rule, *lines[1:], rule, *notes]
    return "\n".join(line.rstrip() for line in body) + "\n"


def _plain_cell(cell: object) -> Cell:
    value = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, float) and not math.isfinite(value):
        return Missing("not defined")
    if isinstance(value, IntervalCell):
        return _plain_interval_cell(value)
    if value is None or isinstance(value, str | bool | int | float | Missing | Noted):
        return value
    raise InputError(f"a table cell cannot hold {type(value).__name__}: {value!r}")


def _plain_interval_cell(interval: IntervalCell) -> Cell:
    ends = (float(interval.low), float(interval.high))
    value = None if interval.value is None else float(interval.value)
    if value is not None and not math.isfinite(value):
        return Missing("not defined")
    if not all(map(math.isfinite, ends)):
        return Missing("interval not defined") if value is None else value
    return IntervalCell(*ends, value)


def _letter(letters: dict[str, str], note: str) -> str:
    if not note:
        return ""
    if note not in letters:
        index = len(letters)
        letters[note] = ascii_lowercase[index % 26] * (1 + index // 26)
    return letters[note]


def _printed_cell(cell: Cell, form: Format, letters: dict[str, str]) -> Printed:
    if isinstance(cell, Missing):
        return Printed(DASH, _letter(letters, cell.reason))
    if isinstance(cell, Noted):
        return Printed(cell.text, _letter(letters, cell.note))
    if cell is None:
        return Printed(DASH)
    if isinstance(cell, bool):
        return Printed("yes" if cell else "no")
    if isinstance(cell, IntervalCell):
        return Printed(interval_text(cell, form))
    if isinstance(cell, str):
        return Printed(cell)
    return Printed(str(cell) if form.kind == "text" else format_number(cell, form))


def _without_leading_zero(text: str) -> str:
    return re.sub(r"^(−?)0\.", r"\1.", text)


def _wide_cells(row: Sequence[Cell], wide: Sequence[bool]) -> list[object]:
    cells: list[object] = []
    for cell, is_wide in zip(row, wide, strict=True):
        if isinstance(cell, IntervalCell):
            cells += [cell.value, cell.low, cell.high]
        else:
            value = None if isinstance(cell, Missing) else cell.text if isinstance(cell, Noted) else cell
            cells += [value, *([None, None] if is_wide else [])]
    return cells


def _superscript(letter: str) -> str:
    # superscript letters: all of a–z but q have one in Unicode
    return letter.translate(str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"))


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * (width - text_width(text))
    return space + text if right else text + space
