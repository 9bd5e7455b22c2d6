"""Errors: the text in four parts, carets under the place, and the install line of a missing extra."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import LexiscopeError, MissingExtraError, Place, require
from lexiscope.items.tables.findings import Finding


def test_error_text_says_what_where_why_and_what_to_do() -> None:
    """The four parts stand in one order, with a caret under the column."""
    error = LexiscopeError(
        "wrong", code="E1", place=Place("f.csv", 2, 3, text="abcd", width=2), why="because", hint="mend"
    )
    assert str(error) == "f.csv:2:3: [E1] wrong\n    abcd\n      ^^\n  why: because\n  what to do: mend"


@pytest.mark.parametrize(
    ("text", "target", "carets"),
    [
        ("a ban\u0303o", "ban\u0303o", "  ^^^^"),
        ("銀行 bank", "銀行", "^^^^"),
        ("銀行 bank", "bank", "     ^^^^"),
        ("\ta b", "b", "\t  ^"),
    ],
)
def test_carets_stand_under_what_a_terminal_shows(text: str, target: str, carets: str) -> None:
    """Marks take no room, wide characters two places, a tab stays a tab; a finding and its error show the same."""
    place = Place("f.csv", 1, text.index(target) + 1, text=text, width=len(target))
    assert place.caret().split("\n")[1] == "    " + carets
    finding = Finding.from_place("E101", "wrong", place)
    assert finding.caret == carets
    assert str(finding.error()).split("\n")[2] == "    " + carets


@pytest.mark.parametrize("quote", ["", "'", '"', "'\"", "\\'"])
def test_a_long_text_is_shortened_where_it_is_quoted(quote: str) -> None:
    """An id or a cell may be a book; its beginning and its end are enough, and what follows it stays readable."""
    long = f"begin{quote}" + "x" * 100_000 + f"{quote}end"
    error = LexiscopeError(f"no item {long!r} in 'f.csv'", place=Place("f.csv", 2, item_id=long), why=f"{long!r} isn't")
    assert len(str(error)) < 2_000
    assert str(error).count("begin") == str(error).count("end") == 3
    assert "in 'f.csv'\n" in str(error)
    assert "more characters" in error.sentences
    # what a program reads of an error is whole
    assert long in error.place.item_id if error.place is not None and error.place.item_id else False


def test_prose_between_apostrophes_is_not_a_quotation() -> None:
    """However long it is."""
    prose = f"the rater's items {'and items ' * 100}are not the file's"
    assert str(LexiscopeError(prose)) == prose


@pytest.mark.parametrize("column", [1, 50_000, 100_000])
def test_of_a_long_line_the_part_at_the_column_is_shown(column: int) -> None:
    """The caret is under the same character."""
    line = "".join(chr(ord("a") + number % 26) for number in range(100_000))
    shown, carets = Place("f.csv", 1, column, text=line).caret().split("\n")
    assert len(shown) < 320
    assert shown[carets.index("^")] == line[column - 1]
    whole = Place("f.csv", 1, text=line).caret()
    assert len(whole) < 400


def test_a_missing_extra_is_one_error_with_the_install_line() -> None:
    """A missing optional package is named with the extra that installs it."""
    with pytest.raises(MissingExtraError, match=r"pip install 'lexiscope\[models\]'"):
        require("a_package_that_is_not_there", "models")
