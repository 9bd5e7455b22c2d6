"""Contracts are run together: everything that is broken is told at once, by contract, and nothing is hidden."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lexiscope.core.errors import SpecError
from lexiscope.testing import ContractError
from lexiscope.testing.contract import hold, named


def is_short(text: str) -> Iterator[str]:
    """A text has at most three letters."""
    if len(text) > 3:
        yield f"{text!r} has {len(text)} letters"


def is_lower(text: str) -> Iterator[str]:
    """Every letter is small.

    What follows the first sentence is not part of the rule.
    """
    yield from (f"{letter!r} is not small" for letter in text if letter != letter.lower())


def is_number(text: str) -> Iterator[str]:
    """The text is a number."""
    float(text)
    yield from ()


RULES = named(is_short, is_lower)


def test_what_is_kept_is_named() -> None:
    """All contracts by their names, or the one that was asked for."""
    assert hold("text abc", "abc", RULES) == ("is_short", "is_lower")
    assert hold("text abcd", "abcd", RULES, "is_lower") == ("is_lower",)


def test_everything_that_is_broken_is_told_at_once() -> None:
    """The error names the thing, each broken contract with its rule, and its sentences; of many, the first five."""
    with pytest.raises(ContractError) as caught:
        hold("text ABCDEFG", "ABCDEFG", RULES)
    assert str(caught.value).splitlines() == [
        "the text ABCDEFG breaks 2 contracts:",
        "",
        "is_short: A text has at most three letters.",
        "  'ABCDEFG' has 7 letters",
        "",
        "is_lower: Every letter is small.",
        *(f"  {letter!r} is not small" for letter in "ABCDE"),
        "  and 2 more",
    ]
    assert len(caught.value.broken["is_lower"]) == 7
    assert isinstance(caught.value, AssertionError)


def test_an_exception_of_the_thing_has_the_contract_as_a_note() -> None:
    """What the code of a plug-in raises is passed on, and says which contract was running."""
    with pytest.raises(ValueError, match="could not convert") as caught:
        hold("text abc", "abc", named(is_number))
    assert caught.value.__notes__ == ["text abc, contract is_number: The text is a number."]


def test_an_unknown_contract_is_an_error() -> None:
    """The nearest name is suggested."""
    with pytest.raises(SpecError, match="no contract 'is_shirt'") as caught:
        hold("text abc", "abc", RULES, "is_shirt")
    assert caught.value.hint == "did you mean 'is_short'?"
