"""Plain lines: literal cells, every line placed, files that go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.tables.plain_lines import expect_parallel, read_lines


def _file(folder: Path, content: str, name: str = "rows.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8"))
    return path


def test_text_is_literal(tmp_path: Path) -> None:
    """Quotation marks, no-break spaces and Unicode line separators are letters; only LF and CR LF end a line."""
    rows = read_lines(_file(tmp_path, 'a\t"b\r\n"c\td\u2028e\x85f\u00a0g'))
    assert rows.lines == ('a\t"b', '"c\td\u2028e\x85f\u00a0g')
    assert rows.cells(1, ("one", "two")) == ['"c', "d\u2028e\x85f\u00a0g"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_last_line_may_lack_its_end(tmp_path: Path, end: str) -> None:
    """A file with and without a final line end has the same lines; an empty line between two is one."""
    assert read_lines(_file(tmp_path, f"a\n\nb{end}")).lines == ("a", "", "b")


def test_faults_have_file_line_and_column(tmp_path: Path) -> None:
    """A wrong number of cells, no number, an unknown label: file, line, column and a caret under the cell."""
    path = _file(tmp_path, "a\tb\n\nx\t12a\tT")
    rows = read_lines(path)
    with pytest.raises(InputError, match=r"rows\.txt:1: this line has 2 cells, not 3: one, two, three are needed"):
        rows.cells(0, ("one", "two", "three"))
    with pytest.raises(
        InputError, match=r"rows\.txt:3:3: a whole number is needed here; there is '12a'\n.*\n {5}\t\^\^\^"
    ):
        rows.number(2, 1, "12a")
    with pytest.raises(InputError, match=r"rows\.txt:3:7: one of 1, 0 is needed here; there is 'T'"):
        rows.one_of(2, "T", {"1": "t", "0": "f"}, cell=2)
    assert rows.number(2, 1, "12") == 12


@pytest.mark.parametrize("number", ["-1", "١", "", " 1", "1.0"])
def test_only_plain_digits_are_numbers(tmp_path: Path, number: str) -> None:
    """A sign, white space, other digits than 0 to 9 and fractions are no positions."""
    with pytest.raises(InputError, match="whole number"):
        read_lines(_file(tmp_path, f"x\t{number}")).number(0, 1, number)


def test_files_of_unequal_length(tmp_path: Path) -> None:
    """The file that differs is named with both numbers and the line at which one of them ends."""
    first, other = read_lines(_file(tmp_path, "a\nb\nc")), read_lines(_file(tmp_path, "T\nF", "gold.txt"))
    expect_parallel(first, first)
    with pytest.raises(InputError, match=r"gold\.txt:3: this file has 2 lines, .*rows\.txt has 3"):
        expect_parallel(first, other)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """An empty file and one that is not UTF-8 are refused by name."""
    with pytest.raises(InputError, match=r"rows\.txt:1: this file is empty"):
        read_lines(_file(tmp_path, ""))
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"a\nb\xe9")
    with pytest.raises(InputError, match=r"latin\.txt:2: this file is not UTF-8: byte 0xe9"):
        read_lines(latin)
