"""Sheets open in a spreadsheet as text, and come back as they were."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.items.tables.spreadsheet import is_live, protect_cell, read_sheet, restore_cell, write_sheet

BEFORE = ("", "'", " ", "''", "' ")
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)


@settings(max_examples=300, deadline=None)
@given(TEXTS | st.builds("{}{}{}".format, st.sampled_from(BEFORE), st.sampled_from("=+-@＝"), TEXTS))
def test_no_cell_runs_and_all_come_back(text: str) -> None:
    """What is written is never live, and reading takes the added apostrophe away again."""
    assert not is_live(protect_cell(text))
    assert restore_cell(protect_cell(text)) == text


def test_a_sheet_comes_back_from_a_spreadsheet(tmp_path: Path) -> None:
    """Letters, quotes, line ends and live cells survive; the file begins with the byte-order mark."""
    file = tmp_path / "sheet.csv"
    rows = [["1", "caf\u00e9, \u201cbar\u201d"], ["2", '=HYPERLINK("x")'], ["3", 'a\r\n"b";c']]
    write_sheet(file, ["id", "text"], rows)
    assert file.read_bytes().startswith(b"\xef\xbb\xbfid,text\r\n")
    found = list(read_sheet(file, ["id", "text"], what="a sheet"))
    assert [[one.cells["id"], one.cells["text"]] for one in found] == rows
    assert found[1].place("text").line == 3
    with file.open(encoding="utf-8-sig", newline="") as stream:
        assert [row[1] for row in csv.reader(stream)][2] == '\'=HYPERLINK("x")'


@pytest.mark.parametrize(
    ("content", "code"), [("id;other\n1;2\n", "E006"), ("id,text,text\n1,2,3\n", "E007"), ("", "E002")]
)
def test_what_is_no_sheet_is_refused(tmp_path: Path, content: str, code: str) -> None:
    """A missing column, a column that stands twice and an empty file have codes and name the file."""
    file = tmp_path / "sheet.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_sheet(file, ["id", "text"], what="a sheet"))
    assert caught.value.code == code
    assert str(file) in str(caught.value)
