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


def test_a_missing_extra_is_one_error_with_the_install_line() -> None:
    """A missing optional package is named with the extra that installs it."""
    with pytest.raises(MissingExtraError, match=r"pip install 'lexiscope\[models\]'"):
        require("a_package_that_is_not_there", "models")
