"""A span is checked once, when a usage is read; a target is never searched for again."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import SpanError
from lexiscope.core.usage import Usage, check_span, locate, occurrences


def test_target_is_what_stands_at_the_span() -> None:
    """The target is the text between the offsets."""
    assert Usage("Era una función social", 8, 15).target == "función"


@pytest.mark.parametrize(("start", "end", "code"), [(-1, 3, "E103"), (3, 3, "E103"), (0, 99, "E103"), (4, 6, "E104")])
def test_bad_spans_are_refused(start: int, end: int, code: str) -> None:
    """A span outside the text, empty, or with white space at its ends is an error with a stable code."""
    with pytest.raises(SpanError) as caught:
        Usage("It is a bank", start, end)
    assert caught.value.code == code


def test_a_target_that_occurs_twice_needs_a_span() -> None:
    """Without a span, two occurrences are an error that points at the second."""
    with pytest.raises(SpanError) as caught:
        locate("The bank is far from the bank", "bank")
    assert caught.value.code == "E102"
    assert caught.value.place is not None
    assert caught.value.place.column == 26
    assert str(caught.value).splitlines()[2].index("^") == 4 + 25


def test_a_target_that_is_missing_is_named() -> None:
    """A target inside another word does not count."""
    with pytest.raises(SpanError, match="E101"):
        locate("He went bankrupt", "bank")


def test_normal_forms_are_told_apart() -> None:
    """A target that differs only in its Unicode normal form is not found, and the message says why."""
    with pytest.raises(SpanError, match="normal forms"):
        locate(unicodedata.normalize("NFD", "Era una función social"), "función")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (unicodedata.normalize("NFD", "Limpió el baño"), "ban"),
        (unicodedata.normalize("NFD", "Limpió el baño"), "o"),
        ("यह कला है", "कल"),
        ("می\u200cخواهم", "خواهم"),
        ("בַּנְק", "בַּנ"),
    ],
)
def test_a_word_goes_on_over_marks_and_joiners(text: str, inside: str) -> None:
    """Combining marks and joiners belong to the word: its first letters alone are no target, and the error says why."""
    assert occurrences(text, inside) == []
    with pytest.raises(SpanError, match="part of a longer word"):
        locate(text, inside)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_word_with_marks_is_found_in_its_own_form(form: str) -> None:
    """Text and target in the same normal form meet, whichever it is; the span covers the marks."""
    text, word = (unicodedata.normalize(form, part) for part in ("Limpió el baño.", "baño"))
    start, end = locate(text, word)
    assert (text[start:end], end) == (word, len(text) - 1)


@pytest.mark.parametrize(
    ("text", "word", "spans"),
    [
        ("Il cherche l'hôtel", "hôtel", [(13, 18)]),
        ("Il cherche l’hôtel", "hôtel", [(13, 18)]),
        ("Il cherche l'hôtel", "l'hôtel", [(11, 18)]),
        ("a bank-holiday", "bank", [(2, 6)]),
        ("a bank-holiday", "bank-holiday", [(2, 14)]),
        ("the river_bank", "bank", []),
        ("a a a", "a a", [(0, 3)]),
        ("我去银行", "银行", []),
    ],
)
def test_apostrophes_and_hyphens_end_a_word(text: str, word: str, spans: list[tuple[int, int]]) -> None:
    """A part before or after an apostrophe or hyphen is a word; so is the whole, where it is the target."""
    assert occurrences(text, word) == spans


def test_case_is_ignored_only_where_exact_case_is_absent() -> None:
    """A sentence-initial capital is found; an exact match wins over it."""
    assert occurrences("Bank holiday", "bank") == [(0, 4)]
    assert occurrences("Bank or bank", "bank") == [(8, 12)]


def test_span_letters_are_checked() -> None:
    """A span that covers other letters is E101 with a caret."""
    with pytest.raises(SpanError, match="covers 'the'"):
        check_span("in the bank", 3, 6, "bank")


@given(st.text(alphabet="abc ", max_size=8), st.text(alphabet="abc ", max_size=8))
def test_locate_finds_what_was_put_in(left: str, right: str) -> None:
    """A word put between two texts that do not hold it is found at its place."""
    text = f"{left} xyz {right}"
    start, end = locate(text, "xyz")
    assert (text[start:end], start) == ("xyz", len(left) + 1)
