"""The substitution task: articles, tokenised punctuation, two candidates in shuffled order, what is not told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import Line, Shown
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.articles import indefinite_article, with_article
from lexiscope.items.choice_sets.surface import join_punctuation
from lexiscope.items.read.importer import import_items
from lexiscope.tasks.substitution import (
    SCREEN,
    candidates,
    example_items,
    options,
    right_candidate,
    sentence_with,
    stimulus,
)

SENTENCE = "She wore an anorak , and it rained ."
USAGE = Usage(SENTENCE, 12, 18, language="en")
ITEM = Item("i", "d", (USAGE,), conditions={"option_1": "jacket", "option_2": "umbrella"})

AN_WORDS = (
    "apple egg island orange umbrella hour hourly hourglass honest honour honorable heir heiress heirloom "
    "uninvited unimportant unidentified unissued uninteresting urban ugly uncle us usher utter urn ultimate "
    "onerous only opera élan 8 8th 80 11 11,000 18 18.5 1850 800 X-ray x-axis e-mail FBI MP NBA SUV HTML yttrium "
    "Euler unillustrated"
)
A_WORDS = (
    "banana year yellow university unit union unique uniform unicorn unilateral unisex unanimous European "
    "euphemism ewe use user useful usual utensil utopia uranium ukulele one one-way once ouija hat horse history "
    "houri herb 1 10 100 110 111 1,100 180 1,800 19 U-turn UFO UN USB CD NATO UNESCO PhD T-shirt ñandú"
)
AN, A = AN_WORDS.split(), A_WORDS.split()


def text_of(line: Line) -> str:
    return "".join(text for text, _ in line)


@pytest.mark.parametrize(("words", "article"), [(AN, "an"), (A, "a")])
def test_the_article_follows_the_sound(words: list[str], article: str) -> None:
    """Vowel letters take *an*; silent h, the sounds of you and won, numbers and spelled-out letters by how they are
    read."""
    assert [word for word in words if indefinite_article(word) != article] == []
    assert [word for word in words if indefinite_article(f"“{word}” thing") != article] == []


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("She bought a ", "umbrella", "She bought an "),
        ("She bought an ", "hat", "She bought a "),
        ("A ", "hour", "An "),
        ("An ", "unit", "A "),
        ("It rained. A ", "hour", "It rained. An "),
        ('He said, "A ', "hour", 'He said, "An '),
        ("SHE BOUGHT A ", "UMBRELLA", "SHE BOUGHT AN "),
        ("SHE BOUGHT AN ", "HAT STAND", "SHE BOUGHT A "),
        ('She bought a "', "umbrella", 'She bought an "'),
        ("She bought a big ", "umbrella", "She bought a big "),
        ("She bought the ", "umbrella", "She bought the "),
        ("vitamin A ", "excess", "vitamin A "),
        ("vitamin-a ", "excess", "vitamin-a "),
        ("Anna ", "excess", "Anna "),
        ("the panda ", "excess", "the panda "),
        ("", "excess", ""),
    ],
)
def test_only_an_article_right_before_is_changed(before: str, word: str, expected: str) -> None:
    """*a* and *an* change where they stand right before the word, in their case; all else stays."""
    assert with_article(before, word) == expected


@given(st.text(max_size=30), st.sampled_from(AN + A))
def test_changing_the_article_twice_is_changing_it_once(before: str, word: str) -> None:
    """An article that is right stays, whatever stands before it."""
    once = with_article(before, word)
    assert with_article(once, word) == once


@pytest.mark.parametrize(
    ("tokenised", "written"),
    [
        ("Well , yes .", "Well, yes."),
        ("( see below )", "(see below)"),
        ("He did n't , he 's gone , they 'll see .", "He didn't, he's gone, they'll see."),
        ("`` Stay , '' she said .", "“Stay,” she said."),
        ("¿ Quién es ? ¡ Nadie !", "¿Quién es? ¡Nadie!"),
        ("about .5 of it", "about .5 of it"),
        ("press the 'd' key", "press the 'd' key"),
        ("a 'swing' tune", "a 'swing' tune"),
        ("and so on ...", "and so on..."),
        ("As it is written, with 3.5 (or so).", "As it is written, with 3.5 (or so)."),
    ],
)
def test_tokenised_punctuation_is_joined(tokenised: str, written: str) -> None:
    """Spaces before closing and after opening signs go; a written text stays as it is."""
    assert join_punctuation(tokenised) == written
    assert join_punctuation(written) == written


def test_three_rows_with_the_target_and_the_candidates() -> None:
    """The sentence stands there three times: with [target], and as options with each [candidate], article adapted."""
    assert text_of(stimulus(ITEM, Shown())["sentence"]) == "She wore an [anorak], and it rained."  # type: ignore[arg-type]
    lines = [choice.lines[0] for choice in options(ITEM, "full")]
    assert [text_of(line) for line in lines] == [
        "She wore a [jacket], and it rained.",
        "She wore an [umbrella], and it rained.",
    ]
    assert [[text for text, bold in line if bold] for line in lines] == [["[jacket]"], ["[umbrella]"]]


def test_articles_are_adapted_in_english_only() -> None:
    """In another language *a* is another word: "a casa" stays."""
    usage = Usage("Fue a casa ayer", 6, 10, language="es")
    assert text_of(sentence_with(usage, "iglesia")) == "Fue a [iglesia] ayer"
    assert text_of(sentence_with(replace(USAGE, language="en-GB"), "jacket")).startswith("She wore a [")


def test_the_order_is_shuffled_and_the_keys_do_not_tell_the_file_s() -> None:
    """A trial shows the options in its order; keys follow the alphabet, so swapped columns change no key."""
    swapped = replace(ITEM, conditions={"option_1": "umbrella", "option_2": "jacket"})
    assert SCREEN.shuffles_options
    assert [c.value for c in SCREEN.choices(ITEM, Shown(order=(1, 0)))] == ["umbrella", "jacket"]
    assert {c.key: c.value for c in options(ITEM, "full")} == {c.key: c.value for c in options(swapped, "full")}


def test_candidates_come_from_options_or_columns() -> None:
    """``options`` or the two columns; anything but two different words is refused, naming the item."""
    assert candidates(replace(ITEM, options=("coat", "roof"), conditions={})) == ("coat", "roof")
    assert candidates(ITEM) == ("jacket", "umbrella")
    for broken in ({}, {"option_1": "coat"}, {"option_1": "coat", "option_2": " Coat"}):
        with pytest.raises(InputError, match=r"item 'i': \[E617\].*two different candidates"):
            SCREEN.check(replace(ITEM, conditions=broken))
    with pytest.raises(InputError, match="two different candidates"):
        SCREEN.check(replace(ITEM, options=("a", "b", "c")))


def test_the_right_candidate_is_gold_or_a_column() -> None:
    """The key is in ``gold`` or ``correct_option``; a key that is no candidate is refused."""
    assert right_candidate(ITEM) is None
    assert right_candidate(replace(ITEM, gold="jacket")) == "jacket"
    assert right_candidate(replace(ITEM, conditions={**ITEM.conditions, "correct_option": "umbrella"})) == "umbrella"
    with pytest.raises(InputError, match="'coat' is not one of the candidates"):
        right_candidate(replace(ITEM, gold="coat"))


def test_an_item_file_is_enough(tmp_path: Path) -> None:
    """A table with sentence, target, both candidates and the key."""
    path = tmp_path / "items.csv"
    path.write_text("item_id,sentence,target,option_1,option_2,correct_option\na,An oak fell .,oak,hail,tree,tree\n")
    (item,) = import_items(path, dataset="d", task="substitution", language="en").items
    SCREEN.check(item)
    assert (candidates(item), right_candidate(item)) == (("hail", "tree"), "tree")
    assert text_of(options(item, "full")[1].lines[0]) == "A [tree] fell."


def test_a_weird_item_may_stay_empty() -> None:
    """With the mark the choice may be left out, with a choice both are stored, the comment too."""
    assert SCREEN.read({"flag_weird": "1", "comment": "two readings"}, ITEM).option is None
    both = SCREEN.read({"flag_weird": "1", "option": "1"}, ITEM)
    assert (both.option, both.flags) == ("jacket", ("weird",))


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_stand_in_the_guidelines(language: str) -> None:
    """Each example's candidates stand in the guidelines, and its target in brackets; the right one is a candidate."""
    text = SCREEN.guidelines(language)
    for item in example_items(language):
        assert f"[{item.usages[0].target}]" in text
        assert all(f"**{word}**" in text for word in candidates(item))
        assert right_candidate(item) == item.gold
