"""Published spans against the letters of their targets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import Place, SpanError
from lexiscope.items.read.target_forms import is_form_of, token_span, verified_usage

HERE = Place("rows.txt", 7, 1)


@given(st.lists(st.text(alphabet="ab\u00a0.銀", max_size=4), min_size=1, max_size=9), st.data())
def test_tokens_are_set_off_by_spaces_alone(tokens: list[str], data: st.DataObject) -> None:
    """The span of token i holds what stands at position i of ``text.split(" ")``, empty tokens counted."""
    text, index = " ".join(tokens), data.draw(st.integers(0, len(tokens) - 1))
    start, end = token_span(text, index)
    assert text[start:end] == text.split(" ")[index] == tokens[index]


@pytest.mark.parametrize("index", [-1, 3])
def test_a_token_that_is_not_there(index: int) -> None:
    """A position outside the text is refused with the number of tokens."""
    with pytest.raises(SpanError, match=rf"E103.*no token {index} in a text of 3 tokens"):
        token_span("a b c", index)


@pytest.mark.parametrize(
    ("form", "lemma", "language"),
    [
        ("drove", "drive", "en"),
        ("went", "go", "en"),
        ("Was", "be", "en"),
        ("geschieden", "scheiden", "de"),
        ("eingestuft", "einstufen", "de"),
        ("Ärzte", "Arzt", "de"),
        ("suis", "être", "fr"),
        ("läheb", "minema", "et"),
        ("知っ", "知る", "ja"),
        ("дните", "ден", "bg"),
        ("upheld", "hold", "en"),
    ],
)
def test_forms(form: str, lemma: str, language: str) -> None:
    """A form begins like its lemma, shares half of its letters with it, or stands in the table; marks are ignored."""
    assert is_form_of(form, lemma, language)


@pytest.mark.parametrize(("form", "lemma"), [("of", "bank"), (".", "rendez-vous"), ("went", "come"), ("the", "bank")])
def test_no_forms(form: str, lemma: str) -> None:
    """Neighbours of a target and signs are no forms of it."""
    assert not is_form_of(form, lemma, "en")


def test_a_span_in_its_place() -> None:
    """A correct span gives a usage with lemma, part of speech and language."""
    usage = verified_usage("The banks.", (4, 9), place=HERE, lemma="bank", pos="NOUN", language="en")
    assert (usage.target, usage.lemma, usage.pos, usage.language) == ("banks", "bank", "NOUN", "en")


@pytest.mark.parametrize(
    ("span", "what"),
    [
        ((4, 8), r"E101\] span 4:8 covers 'bank': it begins or ends inside a word"),
        ((0, 3), r"E101\] span 0:3 covers 'The': its letters match no known form of 'bank'"),
        ((3, 9), r"E104\] span 3:9 starts or ends with white space"),
        ((9, 99), r"E103\] span 9:99 does not lie inside a text of 10 characters"),
        ((3, 4), r"E104\] span 3:4 starts or ends with white space"),
    ],
)
def test_a_wrong_span_names_its_line(span: tuple[int, int], what: str) -> None:
    """Every fault has file, line and the column at which the span begins."""
    with pytest.raises(SpanError, match=rf"rows\.txt:7:{span[0] + 1}: \[{what}"):
        verified_usage("The banks.", span, place=HERE, lemma="bank", language="en")


def test_scripts_without_spaces_have_no_edges() -> None:
    """In Chinese, Japanese and Korean a target may stand between letters."""
    assert verified_usage("我去銀行了", (2, 4), place=HERE, lemma="銀行", language="zh").target == "銀行"
    with pytest.raises(SpanError, match="inside a word"):
        verified_usage("我去銀行了", (2, 4), place=HERE, lemma="銀行", language="und")


def test_oddities_that_are_known_may_stay() -> None:
    """A target that is another word as published is taken where it is listed, and only there."""
    text = {"place": HERE, "lemma": "call", "language": "en"}
    assert verified_usage("A round of it", (2, 7), odd={("round", "call")}, **text).target == "round"  # type: ignore[arg-type]
    with pytest.raises(SpanError, match="no known form of 'call'"):
        verified_usage("A round of it", (2, 7), odd={("round", "shout")}, **text)  # type: ignore[arg-type]
