"""Surface realisation: a word in its target's place, clean and as published; plural, capital, punctuation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.items.choice_sets.surface import (
    PUBLISHED_PLURALS,
    Mode,
    Placed,
    is_english,
    is_plural,
    join_punctuation,
    place_word,
    published_article,
    published_join,
    with_capital,
)


def placed(sentence: str, target: str, word: str, **how: object) -> Placed:
    start = sentence.index(target)
    return place_word(sentence, (start, start + len(target)), word, **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "target", "word", "clean", "published"),
    [
        ("He wrote a book .", "book", "essay", "He wrote an essay.", "He wrote an essay."),
        ("He wrote an essay .", "essay", "book", "He wrote a book.", "He wrote a book."),
        # the sound and the letter
        ("It took a day .", "day", "hour", "It took an hour.", "It took a hour."),
        ("It was an option .", "option", "unit", "It was a unit.", "It was an unit."),
        ("He is a man .", "man", "European", "He is a European.", "He is a European."),
        ("It was an attack .", "attack", "use", "It was a use.", "It was an use."),
        ("He called a man .", "man", "FBI agent", "He called an FBI agent.", "He called a FBI agent."),
        # the letter rule sees lower-case articles with a space on both sides only
        ("A book fell .", "book", "essay", "An essay fell.", "A essay fell."),
        ("a book fell .", "book", "essay", "an essay fell.", "a essay fell."),
        ("Is it ( a book ) ?", "book", "essay", "Is it (an essay)?", "Is it (an essay)?"),
        # an article further away stays
        ("a big book", "book", "essay", "a big essay", "a big essay"),
        # a capital at the beginning of a sentence
        ("Rain fell .", "Rain", "showers", "Showers fell.", "showers fell."),
        ("`` Rain fell '' .", "Rain", "showers", '"Showers fell".', '"showers fell".'),
        ("The Rain fell .", "Rain", "showers", "The showers fell.", "The showers fell."),
    ],
)
def test_a_word_in_its_targets_place(sentence: str, target: str, word: str, clean: str, published: str) -> None:
    """Clean: the sound decides, capitals follow; published: the letter, the word as it is. The span is the word's."""
    for mode, expected in (("clean", clean), ("published", published)):
        found = placed(sentence, target, word, tokenised=True, mode=mode)
        assert found.text == expected, mode
        assert found.word.lower() == word.lower()


@pytest.mark.parametrize("mode", ["clean", "published"])
@pytest.mark.parametrize("tokenised", [False, True])
def test_a_final_stop_that_belongs_to_the_target_stays(*, mode: Mode, tokenised: bool) -> None:
    """The stop of an abbreviation is a letter of the word: kept in its own place, replaced together with the word."""
    sentence = "They moved to the U.S."
    own, other, plain = (
        placed(sentence, "U.S.", word, tokenised=tokenised, mode=mode) for word in ("U.S.", "U.K.", "city")
    )
    assert (own.text, own.word) == (sentence, "U.S.")
    assert (other.text, other.word) == ("They moved to the U.K.", "U.K.")
    assert (plain.text, plain.word) == ("They moved to the city", "city")


def test_the_letter_rule_can_be_asked_for_in_clean_mode() -> None:
    """``article="letter"`` keeps all else clean."""
    assert placed("It took a day .", "day", "hour", tokenised=True, article="letter").text == "It took a hour."


def test_articles_are_english() -> None:
    """In another language *a* is another word."""
    assert placed("Fue a casa .", "casa", "iglesia", tokenised=True, language="es").text == "Fue a iglesia."
    assert is_english("en-GB")
    assert not is_english("es")


def test_a_text_that_is_not_tokenised_keeps_its_spaces() -> None:
    """Spaces of a written text are its writer's."""
    assert placed("Wait , a book !", "book", "essay").text == "Wait , an essay !"


@given(
    st.sampled_from(["clean", "published"]), st.text(alphabet="ab ,.()'`", max_size=12), st.sampled_from(["u", "bc"])
)
def test_the_span_is_always_the_words(mode: Mode, around: str, word: str) -> None:
    """Whatever stands around it, the span covers the inserted word and nothing else."""
    found = place_word(f"{around} x {around}", (len(around) + 1, len(around) + 2), word, tokenised=True, mode=mode)
    assert found.word == word


def test_a_target_in_its_own_place_changes_no_article() -> None:
    """ "an historian" stays where nothing is replaced."""
    assert placed("He is an historian .", "historian", "historian", tokenised=True).text == "He is an historian."


@pytest.mark.parametrize(
    ("tokenised", "published"),
    [
        ("Well , yes .", "Well, yes."),
        ("( see [ 3 ] )", "(see [3])"),
        ("He 's sure they 're n't .", "He's sure they'ren't."),
        ("`` Stay , '' she said .", '"Stay," she said.'),
        ("in 20 - 25 yr. .", "in 20 - 25 yr.."),
        ("( ' roots ' )", "(' roots ')"),
        # by letters: a quotation that begins with s loses its space
        ("a 'swing' tune", "a'swing' tune"),
        ("about .5 of it", "about.5 of it"),
    ],
)
def test_punctuation_as_published(tokenised: str, published: str) -> None:
    """Fixed strings in a fixed order, whatever they belong to."""
    assert published_join(tokenised) == published


def test_straight_quotes_on_request() -> None:
    """The tokeniser's quotation marks become straight ones where the texts of a study had them."""
    assert join_punctuation("`` Stay '' .", quotes="straight") == '"Stay".'
    assert join_punctuation("`` Stay '' .") == "“Stay”."


def test_the_published_article() -> None:
    """ " a " and " an " right before the word, in small letters; nothing else."""
    assert published_article("to a ", "oak") == "to an "
    assert published_article("to an ", "fir") == "to a "
    assert published_article("to an ", "Oak") == "to a "
    assert published_article("to the ", "oak") == "to the "
    assert published_article("", "oak") == ""


def test_plurals() -> None:
    """Clean: a form of its lemma, or a noun without singular; published: a closed list."""
    assert is_plural("comforts", ["comfort"])
    assert is_plural("women", ["woman"])
    assert is_plural("cities", ["city"])
    assert is_plural("Boxes", ["box"])
    assert is_plural("scissors")
    assert not any(is_plural(word, [word]) for word in ("gas", "lens", "politeness", "oak", "species"))
    assert not is_plural("news", ["new", "news"])
    assert [word for word in ("means", "billiards", "scissors") if is_plural(word, mode="published")] == ["means"]
    assert len(PUBLISHED_PLURALS) == 8


def test_capitals() -> None:
    """Clean: only the first letter changes; published: the others become small."""
    assert (with_capital("soil"), with_capital("DNA"), with_capital("")) == ("Soil", "DNA", "")
    assert (with_capital("soil", mode="published"), with_capital("DNA", mode="published")) == ("Soil", "Dna")
