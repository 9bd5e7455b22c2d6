"""Rows of a delimited text file, each with its place: file, line, column of every field, byte of every bad character.

A file of JSON lines (an object with texts and numbers in each line) is a table too: its keys are the columns. Every
table of the package that has a header and may quote its cells is read here. An error is raised, or given to a function
that collects errors; the rows after a broken row are then read too.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.resources.tables.spelling import PARQUET, Spelling

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SURROGATE = re.compile("[\udc80-\udcff]")
_SPREADSHEET = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its first line, its fields, its text as it is in the file; of JSON lines, also where values begin."""

    path: str
    line: int
    fields: list[str]
    raw: str
    delimiter: str = ","
    begins: tuple[int, ...] = ()

    def place(self, index: int | None = None, *, offset: int = 0, width: int = 1) -> Place:
        """Return the place of a field, or of a character inside it; without an index the place of the row."""
        if index is None or index >= len(self.fields):
            return Place(self.path, self.line, text=_first_line(self.raw) or None)
        if self.begins:
            at = self.begins[index]
        elif '"' in self.raw:
            positions = _field_positions(self.raw, self.delimiter)[index]
            at = positions[min(offset, len(positions) - 1)]
        else:
            at = sum(len(field) + 1 for field in self.fields[:index]) + min(offset, len(self.fields[index]))
        begin = self.raw.rfind("\n", 0, at) + 1
        text = _first_line(self.raw[begin:])
        shown = max(1, min(width, len(text) - (at - begin)))
        return Place(self.path, self.line + self.raw.count("\n", 0, at), at - begin + 1, None, text, shown)


class RowReader:
    """Reads a CSV (or tab- or semicolon-separated) file in UTF-8, with or without byte-order mark, LF or CRLF.

    Without *delimiter*, it is the most frequent of the three in the header, and a file that begins with a brace is read
    as JSON lines. Rows that cannot be read (bytes that are
    not UTF-8, broken quotes, a wrong number of fields) raise :class:`InputError` E001 to E005; with *report*, the error
    is given to it and the row is skipped. *spelled* is a file of any encoding and separator that was read before
    (:func:`~lexiscope.resources.tables.spelling.read_spelled`): its rows are those of its text.
    """

    def __init__(
        self,
        path: Path | str,
        report: Callable[[InputError], None] | None = None,
        *,
        delimiter: str | None = None,
        spelled: tuple[Spelling, str] | None = None,
    ) -> None:
        delimiter = spelled[0].separator if spelled is not None else delimiter
        self.path, self.delimiter = str(path), delimiter or ","
        self.header: tuple[str, ...] = ()
        self._report, self._fixed, self._spelled = report, delimiter is not None, spelled
        self._line, self._damaged, self._block = 0, False, [""]

    def rows(self) -> Iterator[Row]:
        """Yield the header's row (it sets :attr:`header`), then every readable row; report the others."""
        if self._spelled is not None:
            yield from self._rows_of(self._text_lines(*self._spelled))
            return
        try:
            with Path(self.path).open("rb") as stream:
                yield from self._rows(stream)
        except OSError as error:
            self._say("E001", f"the file cannot be read: {error.strerror}", hint="check its name and its rights")

    def _rows(self, stream: io.BufferedReader) -> Iterator[Row]:
        start = stream.peek(4)[:4]
        stream.seek(len(_BOM) if start[:3] == _BOM else 0)
        if start[:2] in _UTF16:
            self._say("E003", "the file is UTF-16, not UTF-8 (byte 0)", hint="save it as UTF-8")
            return
        if start in _SPREADSHEET:
            self._say("E003", "this is a spreadsheet, not a text file", hint="save it as CSV in UTF-8")
            return
        if start == PARQUET:
            hint = "save it as CSV in UTF-8; lexiscope agree also reads a response table in Parquet (responses.parquet)"
            self._say("E003", "this is a Parquet file, not a text file", hint=hint)
            return
        yield from self._rows_of(self._lines(stream))

    def _rows_of(self, lines: Iterator[str]) -> Iterator[Row]:
        first = next((line for line in lines if not line.isspace()), None)
        if first is None:
            self._say("E002", "the file is empty", hint="write a header and at least one row")
            return
        if not self._fixed and first.lstrip()[:1] in ("{", "["):
            yield from self._json_rows(first, lines)
            return
        reader = self._csv_reader(first, lines)
        for row in self._records(reader):
            if not self.header:
                self.header = tuple(name.strip() for name in row.fields)
                yield row
            elif self._has_right_size(row):
                yield row

    def _json_rows(self, first: str, lines: Iterator[str]) -> Iterator[Row]:
        """Yield the keys of all objects as the header, then the values of each; an absent or null value is empty."""
        objects: list[tuple[int, str, dict[str, Any]]] = []
        for text in chain((first,), lines):
            raw = text.rstrip("\r\n")
            try:
                content = parse_json(raw) if raw.strip() else {}
            except ValueError as error:
                content = str(error)
            if not isinstance(content, dict) or any(isinstance(value, dict | list) for value in content.values()):
                hint = 'write one object with texts and numbers in each line: {"item_id": "a", "word": "bank"}'
                why = f" ({content})" if isinstance(content, str) else ""
                place = Place(self.path, self._line, text=raw)
                self._say("E005", f"the line is not a JSON object of texts and numbers{why}", place, hint=hint)
            elif content:
                objects.append((self._line, raw, content))
        if not objects:
            return
        self.header = tuple(dict.fromkeys(key for _, _, content in objects for key in content))
        for line, raw, content in ((1, "", dict(zip(self.header, self.header, strict=True))), *objects):
            cells = [content.get(key, "") for key in self.header]
            texts = [cell if isinstance(cell, str) else "" if cell is None else json.dumps(cell) for cell in cells]
            begins = (max(0, raw.find(f'{key}"')) + len(key) + 1 for key in self.header)
            yield Row(
                self.path,
                line,
                texts,
                raw,
                begins=tuple(max(0, raw.find(text, at)) for text, at in zip(texts, begins, strict=True)),
            )

    def _lines(self, stream: io.BufferedReader) -> Iterator[str]:
        offset = stream.tell()
        for raw in stream:
            self._line += 1
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                text = raw.decode("utf-8", "replace")
                self._damaged = True
                self._say_not_utf8(raw, offset, error)
            offset += len(raw)
            self._block.append(text)
            yield text

    def _text_lines(self, spelling: Spelling, text: str) -> Iterator[str]:
        """The lines of a text from the one of the header on; bytes that were no letters are reported."""
        offset = 0
        for line in io.StringIO(text, newline="\n"):
            self._line, begin, offset = self._line + 1, offset, offset + len(line)
            if self._line <= spelling.begin:
                continue
            if not line.isascii() and _SURROGATE.search(line):
                raw = line.encode(spelling.encoding, "surrogateescape")
                self._damaged = True
                try:
                    raw.decode(spelling.encoding)
                except UnicodeDecodeError as error:
                    before = text[:begin].encode(spelling.encoding, "surrogateescape")
                    self._say_not_utf8(raw, len(before) + 3 * spelling.marked, error)
            self._block.append(line)
            yield line

    def _csv_reader(self, first: str, lines: Iterator[str]) -> Iterator[list[str]]:
        # the header was read to find the delimiter and is given again, so its line is counted again
        self._line -= 1
        self._block = []
        if not self._fixed:
            self.delimiter = max(",;\t", key=first.count)
        # strict: an unclosed quote must not swallow the rest of the file in silence
        return csv.reader(self._again(first, lines), delimiter=self.delimiter, strict=True)

    def _again(self, first: str, lines: Iterator[str]) -> Iterator[str]:
        self._line += 1
        self._block.append(first)
        yield first
        yield from lines

    def _records(self, reader: Iterator[list[str]]) -> Iterator[Row]:
        while True:
            line = self._line + 1
            self._block.clear()
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._say_broken_row(line, str(error))
                if not self.header:
                    return
                continue
            if fields and not (self._damaged and self.header):
                yield Row(self.path, line, fields, "".join(self._block), self.delimiter)
            self._damaged = False

    def _has_right_size(self, row: Row) -> bool:
        if len(row.fields) == len(self.header):
            return True
        fault = f"the row has {len(row.fields)} fields, the header names {len(self.header)}"
        hint = "add or remove delimiters; put a field that contains the delimiter into double quotes"
        self._say("E004", fault, row.place(), hint=hint)
        return False

    def _say(self, code: str, message: str, place: Place | None = None, *, hint: str) -> None:
        error = InputError(message, code=code, place=place or Place(self.path), hint=hint)
        if self._report is None:
            raise error
        self._report(error)

    def _say_not_utf8(self, raw: bytes, offset: int, error: UnicodeDecodeError) -> None:
        column = len(raw[: error.start].decode("utf-8")) + 1
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        guess = raw.decode("cp1252", "replace").rstrip("\r\n")
        message = f"byte {offset + error.start} of the file (0x{raw[error.start]:02x}) is not UTF-8"
        hint = f"save the file as UTF-8; read as Windows-1252 the line would be: {guess}"
        self._say("E003", message, Place(self.path, self._line, column, None, text), hint=hint)

    def _say_broken_row(self, line: int, reason: str) -> None:
        what = f"the quotes are broken ({reason})"
        if "end of data" in reason:
            what = "a quoted field is never closed"
        elif "new-line character" in reason:
            what = "a bare carriage return stands outside quotes; save the file with LF or CRLF line ends"
        place = Place(self.path, line, text=_first_line("".join(self._block)))
        self._damaged = False
        hint = 'close the field with a double quote, and write a quote inside a quoted field twice ("")'
        self._say("E005", f"the row cannot be read: {what}", place, hint=hint)


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0].rstrip("\r")


def _field_positions(raw: str, delimiter: str) -> list[list[int]]:
    """For each field, where each of its characters is in the raw row, and where the field ends."""
    fields: list[list[int]] = []
    current: list[int] = []
    at, quoted, fresh = 0, False, True
    while at < len(raw):
        char = raw[at]
        if quoted and char == '"' and raw[at + 1 : at + 2] == '"':
            current.append(at)
            at += 1
        elif char == '"' and (quoted or fresh):
            quoted = not quoted
        elif quoted or char not in (delimiter, "\r", "\n"):
            current.append(at)
        elif char == delimiter:
            fields.append([*current, at])
            current = []
        else:
            break
        fresh = char == delimiter and not quoted
        at += 1
    return [*fields, [*current, at]]
