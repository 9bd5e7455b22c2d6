"""CSV tables read strictly: every cell knows its line, and the first bad one is named with file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import csv_lines
from lexiscope.resources.tables.cells import columns_of
from lexiscope.resources.tables.rows import RowReader

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Booleans = np.ndarray[Any, np.dtype[np.bool_]]

# bytes of a first line; what is longer is no header
_LONGEST_HEADER = 2**20

TRUTHS: Mapping[str, bool] = {"True": True, "TRUE": True, "False": False, "FALSE": False}


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """The cells of a CSV file as text, by column, with the line on which each row begins.

    ``columns`` maps each name of the header, in its order, to the cells of that column.
    """

    path: Path
    columns: Mapping[str, tuple[str, ...]]
    lines: Sequence[int]
    delimiter: str = ","

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self.columns[name]

    def place(self, row: int, name: str | None = None) -> Place:
        """Return where a row is in the file, and with *name* where that cell is in its line."""
        line = self.lines[row]
        if name is None:
            return Place(str(self.path), line)
        rows = RowReader(self.path, delimiter=self.delimiter).rows()
        there = next(record for record in rows if record.line == line)
        return there.place(list(self.columns).index(name), width=max(1, len(self.columns[name][row])))

    def rows(self) -> Iterator[tuple[Place, dict[str, str]]]:
        """Yield each row with its place: its cells by column."""
        for number, cells in enumerate(zip(*self.columns.values(), strict=True)):
            yield self.place(number), dict(zip(self.columns, cells, strict=True))

    def refuse(self, row: int, name: str, why: str, *, hint: str = "") -> NoReturn:
        """Raise :class:`InputError` about one cell: what was needed there, and what is there."""
        what = f"column {name!r}: {why}; there is {self.columns[name][row]!r}"
        raise InputError(what, place=self.place(row, name), hint=hint or "correct the cell")

    def floats(self, name: str) -> Floats:
        """Return a column as finite numbers.

        Errors: :class:`InputError` naming the first cell that is empty, NaN, infinite or no number.
        """
        numbers: Floats = np.array(self._convert(name, float, "a number is needed here"), dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(numbers))
        if bad.size:
            self.refuse(int(bad[0]), name, "a finite number is needed here")
        return numbers

    def integers(self, name: str) -> Integers:
        """Return a column as whole numbers.

        Errors: :class:`InputError` naming the first cell that is none.
        """
        return np.array(self._convert(name, int, "a whole number is needed here"), dtype=np.int64)

    def booleans(self, name: str, truths: Mapping[str, bool] = TRUTHS) -> Booleans:
        """Return a column as truth values, written as the keys of *truths*.

        Errors: :class:`InputError` naming the first cell with another value.
        """
        return np.array(self._convert(name, truths.__getitem__, f"one of {', '.join(truths)} is needed here"))

    def join(self, names: Sequence[str], index: Mapping[tuple[str, ...], int]) -> Integers:
        """Return for each row the number under which *index* has the cells of these columns.

        Errors: :class:`InputError` naming the first row whose key is unknown.
        """
        numbers = [index.get(key, -1) for key in zip(*(self.columns[name] for name in names), strict=True)]
        if -1 in numbers:
            self.refuse(numbers.index(-1), names[0], f"{' and '.join(names)} together must be a known key")
        return np.array(numbers, dtype=np.int64)

    def expect(self, name: str, cells: Sequence[str]) -> None:
        """Check a column against the cells that another file says it must have.

        Errors: :class:`InputError` naming the first cell that differs.
        """
        if self.columns[name] == tuple(cells):
            return
        for row, (cell, expected) in enumerate(zip(self.columns[name], cells, strict=True)):
            if cell != expected:
                self.refuse(row, name, f"{expected!r} is needed here", hint="this row contradicts another file")

    def expect_length(self, n_rows: int, made_of: str) -> None:
        """Check the number of rows; *made_of* says where it comes from.

        Errors: :class:`InputError` naming the file and its last line.
        """
        if len(self) != n_rows:
            raise InputError(
                f"this file has {len(self)} rows, not {n_rows} ({made_of})",
                place=self.place(len(self) - 1),
                hint="it is cut off or not the file that it should be: fetch it again",
            )

    def distinct(self, *names: str) -> None:
        """Check that no two rows have the same cells in these columns.

        Errors: :class:`InputError` naming the first row that repeats another.
        """
        keys = list(zip(*(self.columns[name] for name in names), strict=True))
        if len(set(keys)) == len(keys):
            return
        seen: dict[tuple[str, ...], int] = {}
        for row, key in enumerate(keys):
            if key in seen:
                self.refuse(
                    row, names[0], f"{' and '.join(names)} together are already in line {self.lines[seen[key]]}"
                )
            seen[key] = row

    def _convert(self, name: str, convert: Callable[[str], Any], why: str) -> list[Any]:
        cells = self.columns[name]
        try:
            return [convert(cell) for cell in cells]
        except (ValueError, KeyError):
            # the rule is applied a second time only to find the cell that broke it
            for row, cell in enumerate(cells):
                if not _converts(cell, convert):
                    self.refuse(row, name, why)
            raise


def read_csv(
    path: Path,
    columns: Sequence[str] | None = None,
    *,
    optional: Sequence[str] = (),
    delimiter: str = ",",
    may_be_empty: bool = False,
) -> DelimitedTable:
    """Read a CSV file in UTF-8 (with or without byte-order mark) whole, or not at all.

    With *columns* the header must be exactly these names in this order, with or without *optional* ones. Line ends may
    be LF or CRLF.
    Errors: :class:`InputError` with file and line: those of :class:`~lexiscope.resources.tables.rows.RowReader`,
    missing or unknown columns, a NUL character; no rows, unless it *may_be_empty*.
    """
    try:
        header, header_line, columns_read, lines = columns_of(read_text(path), delimiter)
        _check_header(path, header_line, header, columns, optional)
        cells = dict(zip(header, map(tuple, columns_read), strict=True))
    except (csv.Error, ValueError) as error:
        # whole files are read fast; the reader of single rows says what is wrong, and where. A header that lacks a
        # column is the reason for rows of another length
        if names := read_header(path):
            _check_header(path, 1, names, columns, optional)
        for _ in RowReader(path, delimiter=delimiter).rows():
            pass
        raise InputError("this file is not a table", code="E005", place=Place(str(path), 1), why=str(error)) from error
    if not lines and not may_be_empty:
        what = "this file has a header but no rows"
        raise InputError(what, code="E002", place=Place(str(path), header_line), hint="fetch or export it again")
    return DelimitedTable(path, cells, lines, delimiter)


def write_rows(header: Sequence[str], rows: Sequence[Sequence[str]], *, newline: str = "\n") -> bytes:
    """Return a CSV file as UTF-8 bytes, cells quoted only where they must be."""
    return csv_lines(header, rows, newline=newline).encode("utf-8")


def read_header(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file, none where it is empty; nothing else is read.

    Errors: :class:`InputError` E003 if that line is not text in UTF-8.
    """
    with path.open("rb") as stream:
        first = stream.readline(_LONGEST_HEADER)
    try:
        if b"\0" in first:
            raise ValueError("there is a zero byte in it")
        return next(csv.reader([first.decode("utf-8-sig")]), [])
    except (ValueError, csv.Error) as error:
        what, hint = "this is not a table of text in UTF-8", "save it as CSV, in UTF-8"
        raise InputError(what, code="E003", place=Place(str(path), 1), why=str(error)[-80:], hint=hint) from error


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, with or without byte-order mark, with its own line ends.

    Errors: :class:`InputError` with file and line where it cannot be read, is not UTF-8 or holds a NUL character.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        what, hint = f"the file cannot be read: {error.strerror}", "check its name and its rights"
        raise InputError(what, code="E001", place=Place(str(path)), hint=hint) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        raise InputError(
            f"this file is not UTF-8: byte 0x{data[error.start]:02x} cannot be read",
            place=Place(str(path), before.count(b"\n") + 1),
            hint="save it as UTF-8",
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError("this file holds a NUL character", place=Place(str(path), line), hint="save it as UTF-8 text")
    return text


def _check_header(
    path: Path, line: int, header: list[str], columns: Sequence[str] | None, optional: Sequence[str]
) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"columns occur twice: {', '.join(map(repr, twice))}", place=Place(str(path), line))
    named = [name for name in header if name not in optional]
    if columns is None or list(columns) == named:
        return
    missing = [name for name in columns if name not in header]
    extra = [name for name in named if name not in columns]
    said = [f"missing {', '.join(map(repr, missing))}"] if missing else []
    said += [f"unknown {', '.join(map(repr, extra))}"] if extra else []
    raise InputError(
        f"the columns of this file are not as expected: {'; '.join(said) or 'their order differs'}",
        place=Place(str(path), line),
        hint=f"the header must be {','.join(columns)}",
    )


def _converts(cell: str, convert: Callable[[str], Any]) -> bool:
    try:
        convert(cell)
    except (ValueError, KeyError):
        return False
    return True
