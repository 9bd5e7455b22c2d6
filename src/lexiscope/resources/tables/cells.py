"""A table of cells by column, from a file in any spelling: rows with a separator, or JSON; every cell has its place.

Whole files are read at once; the reader of single rows is asked only where that fails, and says what is wrong.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import is_text, parse_json
from lexiscope.resources.tables.rows import Row, RowReader
from lexiscope.resources.tables.spelling import Spelling

Report = Callable[[InputError], None]
JsonObject = Mapping[str, Any]
_DECODER = json.JSONDecoder()
_LINE_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class MovedRow(Row):
    """A row whose cells stand elsewhere in the file: cell *i* is the cell ``at[i]`` of the row ``base``."""

    base: Row = field(default_factory=lambda: Row("", 0, [], ""))
    at: tuple[int | None, ...] = ()

    def place(self, index: int | None = None, *, offset: int = 0, width: int = 1) -> Place:
        """Return the place of the cell in the file; for a cell that is in no column there, the place of the row."""
        there = None if index is None or index >= len(self.at) else self.at[index]
        return self.base.place(there, offset=offset, width=width)


@dataclass(frozen=True, slots=True, eq=False)
class CellTable:
    """The cells of a file as text. ``columns`` has a sequence for each name of the ``header``, *shape:* (rows,) each.

    ``lines`` are the lines on which the rows begin. A table that was made of another (a column per rater turned into a
    row per rating) knows for each row its row there, and for each column its column there (one, or one for each row).
    """

    path: str
    spelling: Spelling
    header: tuple[str, ...]
    columns: tuple[Sequence[str], ...]
    lines: Sequence[int]
    text: str = field(repr=False, default="")
    header_line: int = 1
    _rows: Sequence[Row] = field(repr=False, default=())
    _base: CellTable | None = None
    _of: Sequence[int] = field(repr=False, default=())
    _at: tuple[int | Sequence[int] | None, ...] = field(repr=False, default=())
    _starts: list[int] = field(repr=False, default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, name: str) -> Sequence[str]:
        return self.columns[self.header.index(name)]

    def row(self, number: int) -> Row:
        """Return a row, which knows the places of its cells."""
        fields = [column[number] for column in self.columns]
        if self._base is not None:
            at = tuple(there if there is None or isinstance(there, int) else there[number] for there in self._at)
            base = self._base.row(self._of[number])
            return MovedRow(self.path, base.line, fields, base.raw, base.delimiter, base=base, at=at)
        if self._rows:
            return self._rows[number]
        if self.spelling.form != "rows":
            return Row(self.path, self.lines[number], fields, "", begins=(0,) * len(fields))
        end = self.lines[number + 1] if number + 1 < len(self.lines) else None
        return Row(self.path, self.lines[number], fields, self._raw(self.lines[number], end), self.spelling.separator)

    def rows(self) -> Iterator[Row]:
        """Yield all rows."""
        return (self.row(number) for number in range(len(self)))

    @property
    def header_row(self) -> Row:
        """The header as a row."""
        if self._base is not None:
            return replace(self._base.header_row, fields=list(self.header))
        raw = self._raw(self.header_line, self.header_line + 1) if self.spelling.form == "rows" else ""
        return Row(self.path, self.header_line, list(self.header), raw, self.spelling.separator)

    def place(self, number: int, name: str | None = None, *, width: int | None = None) -> Place:
        """Return the place of a row, or of its cell in a column."""
        if name is None:
            return self.row(number).place()
        index = self.header.index(name)
        return self.row(number).place(index, width=max(1, len(self.columns[index][number])) if width is None else width)

    def kept(self, numbers: Sequence[int]) -> CellTable:
        """Return the table of some rows."""
        columns = tuple([column[number] for number in numbers] for column in self.columns)
        return self.moved(self.header, columns, numbers, tuple(range(len(self.header))))

    def moved(
        self,
        header: Sequence[str],
        columns: Sequence[Sequence[str]],
        of: Sequence[int],
        at: Sequence[int | Sequence[int] | None],
    ) -> CellTable:
        """Return a table that is made of this one: *of* are the rows here, *at* the columns here."""
        lines = [self.lines[number] for number in of]
        return CellTable(
            self.path, self.spelling, tuple(header), tuple(columns), lines, header_line=self.header_line,
            _base=self, _of=of, _at=tuple(at),
        )  # fmt: skip

    def _raw(self, line: int, end: int | None) -> str:
        """The text from one line up to another."""
        if not self._starts:
            self._starts.extend([0, *(match.end() for match in re.finditer("\n", self.text))])
        begin = self._starts[line - 1] if line <= len(self._starts) else len(self.text)
        return self.text[begin : self._starts[end - 1] if end is not None and end <= len(self._starts) else None]


# -- rows with a separator ------------------------------------------------------------------------------------------


def cells_of_rows(path: Path | str, spelling: Spelling, text: str, report: Report | None = None) -> CellTable:
    """Return the table of a text with a separator between its cells.

    A first column without a name in the header, as R writes the names of rows, is called by the empty text.
    Errors: :class:`InputError` E002 to E005 as :class:`RowReader` reports them; with *report* the errors of rows are
    given to it, and these rows are excluded.
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        hint = "save the file as text in UTF-8"
        raise InputError("a NUL character: this is not text", code="E003", place=Place(str(path), line), hint=hint)
    begin = 0
    for _ in range(spelling.begin):
        begin = text.index("\n", begin) + 1
    try:
        if not is_text(text):
            raise ValueError("bytes that are no letters")
        header, header_line, columns, lines = columns_of(
            text[begin:], spelling.separator, first_line=spelling.begin + 1, row_names=True
        )
    except (csv.Error, ValueError):
        return _by_rows(path, spelling, text, report)
    return CellTable(str(path), spelling, tuple(map(str.strip, header)), tuple(columns), lines, text, header_line)


def columns_of(
    text: str, separator: str, *, first_line: int = 1, row_names: bool = False
) -> tuple[list[str], int, list[list[str]], Sequence[int]]:
    """Return the header of a text, its line, the cells of each column, and the line on which each row begins.

    Empty lines are excluded. With *row_names*, every row may have one cell more than the header: a first column without
    a name, or nothing behind a last separator. Errors: :class:`csv.Error` for broken quotes, :class:`ValueError` for
    rows of another width than the header, and for a text without a header.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header: list[str] = next(filter(None, reader), [])
    if not header:
        raise ValueError("there is no header")
    n_header_lines = 1 + sum(len(_LINE_END.findall(name)) for name in header)
    header_line = reader.line_num - n_header_lines + first_line
    columns: list[list[str]] = []
    lines = list[int]()
    seen = reader.line_num
    # rows in blocks: a list of a million lists costs more than reading them
    while block := list(islice(reader, _BLOCK)):
        single = reader.line_num - seen == len(block)
        numbers: Sequence[int] = range(seen + first_line, seen + first_line + len(block))
        if not single:
            numbers = _line_numbers(block, seen + first_line, reader.line_num - seen)
        if not all(block):
            numbers = [number for number, row in zip(numbers, block, strict=True) if row]
            block = [row for row in block if row]
        seen = reader.line_num
        if not block:
            continue
        if not columns:
            if row_names and len(block[0]) == len(header) + 1:
                # rows end with a separator, unless they begin with their numbers
                numbered = [row[0] for row in block[:2]] in (["1"], ["0"], ["1", "2"], ["0", "1"])
                header.insert(0 if numbered or any(row[-1].strip() for row in block) else len(header), "")
            columns = [[] for _ in header]
        for column, cells in zip(columns, zip(*block, strict=True), strict=True):
            column.extend(cells)
        lines.extend(numbers)
    return header, header_line, columns or [[] for _ in header], lines


_BLOCK = 4096


def _line_numbers(rows: Sequence[Sequence[str]], first: int, n_lines: int) -> Sequence[int]:
    """The line on which each of several rows begins, some of which have line breaks in their cells."""
    numbers, line = [], first
    for row in rows:
        numbers.append(line)
        line += 1 + sum(len(_LINE_END.findall(cell)) for cell in row)
    if line != first + n_lines:
        raise ValueError("lines that cannot be counted")
    return numbers


def _by_rows(path: Path | str, spelling: Spelling, text: str, report: Report | None) -> CellTable:
    reader = RowReader(path, report, spelled=(spelling, text))
    rows = list(reader.rows())
    if not rows:
        return CellTable(str(path), spelling, (), (), (), text)
    header, *rows = rows
    columns = tuple(zip(*(row.fields for row in rows), strict=True)) if rows else ((),) * len(header.fields)
    lines = [row.line for row in rows]
    return CellTable(str(path), spelling, reader.header, columns, lines, text, header.line, _rows=rows)


# -- JSON -----------------------------------------------------------------------------------------------------------


def json_objects(path: Path | str, spelling: Spelling, text: str) -> list[tuple[int, JsonObject]]:
    """Return the objects of a JSON file with their lines: those of its array, or one or several in each line.

    Errors: :class:`InputError` E005 for text that is no JSON, and for JSON that holds no objects.
    """
    values = _json_values(str(path), text) if spelling.form == "json" else _json_lines(str(path), text)
    objects: list[tuple[int, JsonObject]] = []
    for line, value in values:
        if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), list):
            # a list under one name: {"data": [...]}
            value = next(iter(value.values()))
        # a platform may put the list of a participant's trials into each line
        for entry in value if isinstance(value, list) else [value]:
            if not isinstance(entry, dict):
                what, hint = "this JSON value is not an object", 'write one object for each row: {"item": "a"}'
                raise InputError(what, code="E005", place=Place(str(path), line), hint=hint)
            objects.append((line, entry))
    if not objects:
        raise InputError("the file is empty", code="E002", place=Place(str(path)), hint="write at least one object")
    return objects


def cells_of_objects(
    path: Path | str, spelling: Spelling, text: str, objects: Sequence[tuple[int, JsonObject]]
) -> CellTable:
    """Return JSON objects as a table: keys are columns, inner keys follow a point, a list is its JSON text.

    An absent or null value is an empty cell.

    >>> spelling = Spelling(form="json_lines", separator="")
    >>> table = cells_of_objects("a", spelling, "", [(1, {"item": "i", "data": {"a": 1}}), (2, {"item": "j"})])
    >>> table.header, table.columns
    (('item', 'data.a'), (['i', 'j'], ['1', '']))
    """
    flat = [(line, dict(_flat(entry))) for line, entry in objects]
    header = tuple(dict.fromkeys(key for _, entry in flat for key in entry))
    columns = tuple([entry.get(key, "") for _, entry in flat] for key in header)
    lines = [line for line, _ in flat]
    starts = [0, *(match.end() for match in re.finditer("\n", text))] if text else []
    rows = []
    for line, entry in flat:
        raw = text[starts[line - 1] :].split("\n", 1)[0] if line <= len(starts) else ""
        cells = [entry.get(key, "") for key in header]
        begins = tuple(_begin_of(raw, key.rpartition(".")[2], cell) for key, cell in zip(header, cells, strict=True))
        rows.append(Row(str(path), line, cells, raw, begins=begins))
    return CellTable(str(path), spelling, header, columns, lines, text, _rows=rows)


def _begin_of(raw: str, key: str, cell: str) -> int:
    at = max(0, raw.find(f'"{key}"'))
    return max(0, raw.find(cell, at + len(key) + 2 if at else 0))


def _flat(entry: JsonObject, before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        elif isinstance(value, str):
            yield f"{before}{key}", value
        else:
            text = "" if value is None else json.dumps(value, ensure_ascii=False)
            yield f"{before}{key}", text


def _json_lines(path: str, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except ValueError as error:
                place = Place(path, number, text=line.rstrip("\r")[:200])
                hint = "write one JSON object in each line"
                raise InputError(f"this line is not JSON ({error})", code="E005", place=place, hint=hint) from error


def _json_values(path: str, text: str) -> Iterator[tuple[int, Any]]:
    """The values of an array with the line on which each begins; a file of one object is that object."""
    try:
        whole = parse_json(text)
    except ValueError as error:
        raise InputError(
            f"this is not JSON ({error})", code="E005", place=Place(path), hint="export it again"
        ) from error
    if not isinstance(whole, list):
        yield 1, whole
        return
    at, line, counted = text.index("[") + 1, 1, 0
    for value in whole:
        while text[at] in " \t\r\n,":
            at += 1
        line, counted = line + text.count("\n", counted, at), at
        yield line, value
        _, at = _DECODER.raw_decode(text, at)
