"""W10: no cell of a CSV file is run by a spreadsheet, and nothing that was written is lost."""

from __future__ import annotations

import csv
import io
import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.items.tables.neutral import csv_text, json_line, jsonl_text, neutral_answer
from lexiscope.items.tables.spreadsheet import neutral_text

TRIGGERS = "=+-@\t\r＝＋－＠﹢﹣﹦﹫"
# every character that can be stored: the store refuses NUL and lone surrogates
CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
LEADING = st.text(st.sampled_from(" \u00a0\u2003\u200b\ufeff\u3000\n\x0b"), max_size=4)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=20),
    st.builds("{}{}{}".format, LEADING, st.sampled_from(TRIGGERS), st.text(CHARACTERS, max_size=8)),
)


def would_run(cell: str) -> bool:
    """The rule, written a second time: what stands first once white space of any sort is taken away."""
    rest = cell.lstrip(" \u00a0\u2003\u200b\ufeff\u3000\n\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029")
    return unicodedata.normalize("NFKC", rest[:1])[:1] in tuple("=+-@\t\r")


@settings(max_examples=1200, deadline=None)
@given(st.lists(TEXTS, min_size=3, max_size=3), TEXTS)
def test_no_cell_is_live_and_json_lines_are_exact(cells: list[str], name: str) -> None:
    """0 live cells in 1,200 tables, headers too; the JSON lines give back every character."""
    read = list(csv.reader(io.StringIO(csv_text(["a", "b", name], [cells]), newline=""), strict=True))
    assert [cell for row in read for cell in row if would_run(cell)] == []
    assert [each.removeprefix("'") for each in read[1]] == [each.removeprefix("'") for each in cells]
    row = dict(zip(("x", "y", "z"), cells, strict=True))
    lines = jsonl_text([row, row]).encode("utf-8").decode("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [row, row]


def test_numbers_are_untouched() -> None:
    """Numbers stay numbers: below zero, as cells and as answers that are stored as text; a missing one is bare."""
    text = csv_text(["n", "response", "comment"], [[-1.5, "-2", "-2"], [None, "-2+3", ""]], answers=["response"])
    assert text == "n,response,comment\n-1.5,-2,'-2\n,'-2+3,\"\"\n"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("  +1", "'  +1"),
        ("\u3000＠SUM(A1)", "'\u3000＠SUM(A1)"),
        ("\u2212 5", "'\u2212 5"),
        ("a=b", "a=b"),
        ("'=1", "'=1"),
        ("", ""),
    ],
)
def test_what_is_neutralised(text: str, safe: str) -> None:
    """A live text gets an apostrophe, any other stays as it is."""
    assert neutral_text(text) == safe


def test_an_answer_may_be_a_number() -> None:
    """Scales below zero: -3 stays; a text that begins like a number and goes on is none."""
    assert [neutral_answer(text) for text in ("-3", "-0.5", "-3x", "+3")] == ["-3", "-0.5", "'-3x", "'+3"]


def test_a_lone_surrogate_does_not_break_a_line() -> None:
    """What no file can hold as UTF-8 is written as an escape and read back."""
    assert json.loads(json_line({"a": "\ud800"}).encode("utf-8")) == {"a": "\ud800"}
