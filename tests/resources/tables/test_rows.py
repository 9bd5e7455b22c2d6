"""Rows of a delimited file: every row knows its line, every field its column, every bad byte its offset."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.tables.rows import Row, RowReader


def read(path: Path, content: bytes) -> tuple[list[Row], list[InputError]]:
    path.write_bytes(content)
    errors: list[InputError] = []
    return list(RowReader(path, errors.append).rows()), errors


def place_of(error: InputError) -> Place:
    assert error.place is not None
    return error.place


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("delimiter", [b",", b";", b"\t"])
def test_bom_line_ends_and_delimiters(tmp_path: Path, bom: bytes, end: bytes, delimiter: bytes) -> None:
    """A byte-order mark, CRLF, tabs and semicolons change nothing in what is read."""
    content = bom + end.join([delimiter.join([b"a", b"b"]), delimiter.join([b"1", "ñ".encode()])]) + end
    rows, errors = read(tmp_path / "t.csv", content)
    assert [row.fields for row in rows] == [["a", "b"], ["1", "ñ"]]
    assert errors == []


def test_a_quoted_line_break_keeps_the_line_numbers_right(tmp_path: Path) -> None:
    """A row is named by its first line, a character in it by its own line and column."""
    rows, _ = read(tmp_path / "t.csv", b'a,b\n"one\ntwo ""x""",y\nlast,z\n')
    assert [row.line for row in rows] == [1, 2, 4]
    place = rows[1].place(0, offset=len('one\ntwo "'), width=1)
    # line 3 reads: two ""x""",y  and the x stands in its 7th column
    assert (place.line, place.column, place.text) == (3, 7, 'two ""x""",y')
    assert rows[1].place(1).column == 12


@given(st.lists(st.text('ab",;\n é', max_size=6), min_size=2, max_size=4))
def test_every_character_of_every_field_is_found(fields: list[str]) -> None:
    """Whatever is quoted, the place of a character in a field is that character in the file's line."""
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerow(fields)
    row = Row("t.csv", 1, fields, sink.getvalue())
    for index, text in enumerate(fields):
        for offset in (offset for offset, char in enumerate(text) if char != "\n"):
            place = row.place(index, offset=offset)
            assert place.text is not None
            assert place.column is not None
            assert place.text == sink.getvalue().split("\n")[(place.line or 0) - 1]
            assert place.text[place.column - 1] == text[offset]


def test_a_bad_byte_is_named_by_its_offset_and_the_row_left_out(tmp_path: Path) -> None:
    """Invalid UTF-8 is reported once per bad line with the byte's offset in the file; the other rows are read."""
    content = b"a,b\nx,1\n" + "año,2\n".encode("latin-1") + b"y,3\n" + b"\xffz,4\n"
    rows, errors = read(tmp_path / "t.csv", content)
    assert [row.fields[0] for row in rows] == ["a", "x", "y"]
    # "a,b\n" and "x,1\n" are 8 bytes, then "a": the ñ is byte 9
    assert [(error.code, place_of(error).line, place_of(error).column) for error in errors] == [
        ("E003", 3, 2),
        ("E003", 5, 1),
    ]
    assert "byte 9 of the file (0xf1)" in errors[0].what
    assert "año" in errors[0].hint


def test_utf16_is_named(tmp_path: Path) -> None:
    """A UTF-16 file is one finding, not one per line."""
    rows, errors = read(tmp_path / "t.csv", "a,b\n1,2\n".encode("utf-16"))
    assert rows == []
    assert [error.code for error in errors] == ["E003"]


def test_unclosed_quote_names_the_line_where_the_row_begins(tmp_path: Path) -> None:
    """A quote that is never closed must not swallow the rest of the file in silence."""
    rows, errors = read(tmp_path / "t.csv", b'a,b\n1,2\n3,"open\n5,6\n')
    assert [row.line for row in rows] == [1, 2]
    assert [(error.code, place_of(error).line, place_of(error).text) for error in errors] == [("E005", 3, '3,"open')]


def test_old_line_ends_are_named(tmp_path: Path) -> None:
    """A file with bare carriage returns as line ends is refused with the reason."""
    rows, errors = read(tmp_path / "t.csv", b"a,b\r1,2\r3,4\r")
    assert rows == []
    assert [error.code for error in errors] == ["E005"]
    assert "carriage return" in errors[0].what


def test_a_broken_quote_costs_its_row_only(tmp_path: Path) -> None:
    """Reading goes on after a row with broken quotes."""
    rows, errors = read(tmp_path / "t.csv", b'a,b\n"x"y,2\n3,4\n')
    assert [row.fields for row in rows] == [["a", "b"], ["3", "4"]]
    assert [(error.code, place_of(error).line) for error in errors] == [("E005", 2)]


def test_wrong_number_of_fields(tmp_path: Path) -> None:
    """A row with more or fewer fields than the header is reported and left out; blank lines are nothing."""
    rows, errors = read(tmp_path / "t.csv", b"a,b\n1\n\n1,2,3\n4,5\n")
    assert [row.fields for row in rows] == [["a", "b"], ["4", "5"]]
    assert [(error.code, place_of(error).line) for error in errors] == [("E004", 2), ("E004", 4)]


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"])
def test_a_spreadsheet_is_named(tmp_path: Path, start: bytes) -> None:
    """A spreadsheet is one finding that says so, not a list of bad bytes."""
    rows, errors = read(tmp_path / "t.csv", start + b"\xff\n\xfe\n")
    assert rows == []
    assert [(error.code, "spreadsheet" in error.what) for error in errors] == [("E003", True)]


def test_blank_lines_before_the_header_are_counted_and_skipped(tmp_path: Path) -> None:
    """The header is the first line that holds something: it tells the delimiter, and lines keep their numbers."""
    rows, errors = read(tmp_path / "t.csv", b"\n  \r\na;b\n1;2\n3\n")
    assert [(row.line, row.fields) for row in rows] == [(3, ["a", "b"]), (4, ["1", "2"])]
    assert [(error.code, place_of(error).line) for error in errors] == [("E004", 5)]


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n\n", b"\xef\xbb\xbf \r\n"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    """An empty file is E002."""
    assert [error.code for error in read(tmp_path / "t.csv", content)[1]] == ["E002"]


def test_a_missing_file(tmp_path: Path) -> None:
    """A file that is not there is E001, raised where errors are raised."""
    with pytest.raises(InputError, match="E001"):
        list(RowReader(tmp_path / "none.csv").rows())


def test_a_broken_header_ends_the_reading(tmp_path: Path) -> None:
    """No later row may be taken for the header."""
    rows, errors = read(tmp_path / "t.csv", b'"a"x,b\n1,2\n')
    assert rows == []
    assert [error.code for error in errors] == ["E005"]


def test_a_parquet_file_is_named(tmp_path: Path) -> None:
    """A Parquet file is one finding that names the way out: its bytes are not text in another encoding."""
    rows, errors = read(tmp_path / "t.parquet", b"PAR1\xff\n\xfe\n")
    assert rows == []
    assert [(error.code, "Parquet" in error.what, "CSV" in error.hint) for error in errors] == [("E003", True, True)]


def test_json_lines_are_rows(tmp_path: Path) -> None:
    """Keys of all objects are the header; numbers and truth values are text, null and absent ones empty.

    A value is found at its column: ``ñu`` begins behind 14 signs. A list of objects and a nested value are refused.
    """
    content = '{"word": "a", "n": 1.5}\n\n{"word": "b", "s": "ñu", "n": null, "t": true}\n{"word": ["c"]}\n'
    rows, errors = read(tmp_path / "t.jsonl", content.encode())
    assert [row.fields for row in rows] == [
        ["word", "n", "s", "t"],
        ["a", "1.5", "", ""],
        ["b", "", "ñu", "true"],
    ]
    assert [row.line for row in rows[1:]] == [1, 3]
    place = rows[2].place(2, width=2)
    assert (place.line, place.column) == (3, content.splitlines()[2].index("ñu") + 1)
    assert [(error.code, place_of(error).line) for error in errors] == [("E005", 4)]
    rows, errors = read(tmp_path / "t.json", b'[{"word": "a"}]')
    assert (rows, [error.code for error in errors]) == ([], ["E005"])
