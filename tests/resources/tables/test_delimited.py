"""CSV tables: every cell knows where it stands, and nothing is read by halves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.tables.delimited import read_csv, read_header, write_rows


def _file(folder: Path, content: str | bytes) -> Path:
    path = folder / "table.csv"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def _message(path: Path, columns: tuple[str, ...] | None = ("word", "rating")) -> str:
    with pytest.raises(InputError) as caught:
        read_csv(path, columns)
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "word,rating\nbank,3\nbark,5\n",
        "word,rating\r\nbank,3\r\nbark,5\r\n",
        "\ufeffword,rating\nbank,3\nbark,5",
        '"word","rating"\n"bank","3"\n\n"bark","5"\n',
    ],
)
def test_the_same_table_in_any_usual_form(tmp_path: Path, content: str) -> None:
    """Byte-order mark, CRLF, quotes, an empty line and a missing last line end change nothing."""
    table = read_csv(_file(tmp_path, content), ("word", "rating"))
    assert table["word"] == ("bank", "bark")
    assert table.integers("rating").tolist() == [3, 5]


def test_lines_are_exact_where_cells_span_lines(tmp_path: Path) -> None:
    """A row's line is that on which it begins, also after a quoted cell with line ends and after empty lines."""
    table = read_csv(_file(tmp_path, 'word,note\nbank,"a\nb"\n\nbark,c\n'))
    assert list(table.lines) == [2, 5]
    assert str(table.place(1)).endswith("table.csv:5")


def test_a_bad_cell_is_named_with_line_column_and_caret(tmp_path: Path) -> None:
    """The message shows file, line, column, the line itself with a caret below the cell, and what to do."""
    table = read_csv(_file(tmp_path, 'word,rating\n"a, b",3\nbark,five\n'))
    with pytest.raises(InputError) as caught:
        table.floats("rating")
    place = caught.value.place
    assert place is not None
    assert (place.line, place.column, place.width) == (3, len("bark,") + 1, len("five"))
    assert "    bark,five\n         ^^^^" in str(caught.value)
    assert "'five'" in str(caught.value)


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-Infinity", "", "4;5"])
def test_numbers_are_finite(tmp_path: Path, cell: str) -> None:
    """NaN, infinity, an empty cell and text are no numbers: the error names the line."""
    table = read_csv(_file(tmp_path, f"word,rating\nbank,1\nbark,{cell}\n"))
    with pytest.raises(InputError, match=r"table\.csv:3:6: column 'rating'"):
        table.floats("rating")


def test_whole_numbers_and_truth_values(tmp_path: Path) -> None:
    """A fraction is no whole number, and a truth value is one of the words that were agreed on."""
    table = read_csv(_file(tmp_path, "n,same\n1,True\n2.0,FALSE\n"))
    assert table.booleans("same").tolist() == [True, False]
    with pytest.raises(InputError, match=r":3:1: column 'n': a whole number"):
        table.integers("n")
    with pytest.raises(InputError, match=r":2:3: column 'same': one of ja, nein"):
        table.booleans("same", {"ja": True, "nein": False})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("  \nword,rating\nbank,3\n", "table.csv:1: the columns of this file are not as expected"),
        ("", "table.csv: [E002] the file is empty"),
        ("word,rating\n", "table.csv:1: [E002] this file has a header but no rows"),
        ("word\nbank\n", "missing 'rating'"),
        ("word,rating,age\nbank,3,40\n", "unknown 'age'"),
        ("rating,word\n3,bank\n", "their order differs"),
        ("word,word\na,b\n", "columns occur twice: 'word'"),
        ("word,rating\nbank,3\nbark\n", "table.csv:3: [E004] the row has 1 fields, the header names 2"),
        ("word,rating\nbank,3,4\n", "table.csv:2: [E004] the row has 3 fields, the header names 2"),
        (
            'word,rating\nbank,3\n"bark,4\n',
            "table.csv:3: [E005] the row cannot be read: a quoted field is never closed",
        ),
        (b"word,rating\nbank,3\nca\xf1on,4\n", "table.csv:3: this file is not UTF-8: byte 0xf1"),
        ("word,rating\nbank,3\n".encode("utf-16"), "table.csv:1: this file is not UTF-8"),
        (b"word,rating\nbank,\x003\n", "table.csv:2: this file holds a NUL character"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, content: str | bytes, said: str) -> None:
    """Missing, extra or reordered columns, cut rows, open quotes and foreign encodings are named, never guessed."""
    assert said in _message(_file(tmp_path, content))


def test_a_first_line_of_white_space_is_no_header(tmp_path: Path) -> None:
    """The reader of single rows would skip the line; a whole table is refused."""
    assert ":1: [E005] this file is not a table" in _message(_file(tmp_path, "  \nword,rating\nbank,3\n"), None)


def test_every_truncation_inside_a_row_is_noticed(tmp_path: Path) -> None:
    """A file cut off before the last cell of its last row begins is refused, wherever the cut is."""
    whole = "word,rating,note\nbank,3,x\nbark,5,y\n"
    for cut in range(len("word,rating,note\nbank,3,x\n") + 1, len(whole) - len("y\n") - 1):
        assert ":3: [E004] the row has" in _message(_file(tmp_path, whole[:cut]), ("word", "rating", "note"))


def test_join_expect_distinct_and_length(tmp_path: Path) -> None:
    """Rows are joined by key, compared with another file, and checked for repeats and number."""
    table = read_csv(_file(tmp_path, "a,b\nx,1\ny,2\nx,1\n"))
    np.testing.assert_array_equal(table.join(["a", "b"], {("x", "1"): 7, ("y", "2"): 8}), [7, 8, 7])
    with pytest.raises(InputError, match=r":3:1: column 'a': a and b together must be a known key; there is 'y'"):
        table.join(["a", "b"], {("x", "1"): 7})
    with pytest.raises(InputError, match=r":4:1: column 'a': a and b together are already in line 2"):
        table.distinct("a", "b")
    with pytest.raises(InputError, match=r":3:3: column 'b': '3' is needed here; there is '2'"):
        table.expect("b", ["1", "3", "1"])
    with pytest.raises(InputError, match=r":4: this file has 3 rows, not 4 \(2 x 2\)"):
        table.expect_length(4, "2 x 2")
    table.expect("b", ["1", "2", "1"])
    table.expect_length(3, "all")


def test_written_rows_read_back(tmp_path: Path) -> None:
    """Cells with commas, quotes and line ends survive writing and reading."""
    rows = [["a,b", 'say "no"'], ["line\nend", "ñ"]]
    table = read_csv(_file(tmp_path, write_rows(["one", "two"], rows)))
    assert [list(row) for row in zip(table["one"], table["two"], strict=True)] == rows


def test_the_header_alone(tmp_path: Path) -> None:
    """The names of the columns are read and nothing else; what is no text is refused with the file, not decoded."""
    assert read_header(_file(tmp_path, b'\xef\xbb\xbfa,"b,c"\r\n\xff')) == ["a", "b,c"]
    assert read_header(_file(tmp_path, "")) == []
    for first in (b"\xf1\x8d[\n", b"a,b\0\n", b"\xff" * 2**21):
        with pytest.raises(InputError, match=r":1: \[E003\] this is not a table of text") as error:
            read_header(_file(tmp_path, first))
        assert len(str(error.value)) < 400
