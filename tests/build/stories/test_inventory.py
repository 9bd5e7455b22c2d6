"""Lengths and inventory of stories: by hand on two setups, and as printed on AmbiStory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.build.stories.inventory import guessed_lemmas, story_inventory, story_lengths
from lexiscope.build.stories.stories import StorySetup, story_samples
from lexiscope.core.dataset import Dataset
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import ambistory, mini_ambistory
from lexiscope.resources.lexicons import wordnet

FIRST = StorySetup(
    "s1", Usage("The match ended.", 4, 9), "One two. Three.", ("game", "stick"), ("a", "b"), ("It was late.", "Ouch.")
)
SECOND = replace(FIRST, setup_id="s2", usage=Usage("A match is here.", 2, 7), senses=("stick", "game"))


@pytest.fixture(scope="module")
def loaded(published: Path) -> Dataset:
    return ambistory.load()


def items_of(*setups: StorySetup) -> tuple[Item, ...]:
    return tuple(item for setup in setups for item in story_samples(setup, dataset="d"))


def test_lengths_by_hand() -> None:
    """Words between white space: parts over setups and ended stories, whole stories with the open ones."""
    found = story_lengths(items_of(FIRST, SECOND))
    assert (found.n_setups, found.n_ended, found.n_stories) == (2, 4, 6)
    assert (found.precontext, found.sentence, found.ending) == (3, (3 + 4) / 2, (3 + 1 + 3 + 1) / 4)
    assert found.story == (6 + 3 + 6 + 1 + 6 + 7 + 3 + 7 + 1 + 7) / 6
    ending = found.results()[2]
    assert (ending.name, ending.value, ending.n) == ("mean_words(of=ending)", found.ending, 4)


def test_inventory_by_hand() -> None:
    """One form, two setups whose meanings are the same in another order: two ordered pairs, one unordered."""
    found = story_inventory(items_of(FIRST, SECOND))
    assert (found.forms, found.setups, found.sentences_per_form) == (1, 2, 2)
    assert (found.sense_pairs, found.ordered_pairs, found.unordered_pairs) == (2, 2, 1)
    assert found.setups_per_form == (("match", 2),)
    assert [(one.name, one.value, one.condition) for one in found.results()] == [
        ("n_sense_pairs", 2, ""),
        ("sentences_per_form", 2, ""),
        ("setups_of_form", 2, "match"),
    ]
    assert found.sentence().endswith("2.00 ambiguous sentences for each form, the most for match (2).")


def test_a_pair_counts_once_in_each_split() -> None:
    """The same form and meanings in two splits are two sense pairs, and one pair in all."""
    both = items_of(replace(FIRST, extra={"split": "train"}), replace(FIRST, setup_id="s3", extra={"split": "test"}))
    found = story_inventory(both)
    assert (found.sense_pairs, found.ordered_pairs) == (2, 1)


def test_stories_of_another_design_are_counted() -> None:
    """A setup may have one meaning; of open stories alone there is no length of endings."""
    items = items_of(FIRST)
    assert (story_inventory(items[::2]).setups, story_inventory(items[::2]).sense_pairs) == (1, 1)
    lengths = story_lengths(items[4:])
    assert (lengths.n_stories, lengths.n_ended) == (1, 0)
    assert [result.name for result in lengths.results()] == [
        f"mean_words(of={part})" for part in ("precontext", "sentence", "story")
    ]


def test_the_mini_stories() -> None:
    """24 setups of 24 forms; a story has about 50 words, as the published ones do (49.8)."""
    items = mini_ambistory.load().items
    found = story_inventory(items)
    assert (found.forms, found.setups, found.sense_pairs) == (24, 24, 24)
    lengths = story_lengths(items)
    assert (lengths.n_stories, lengths.n_ended) == (72, 48)
    assert 40 < lengths.story < 55


@pytest.mark.published
def test_published_lengths(loaded: Dataset) -> None:
    """Table 2: 31.5, 9.24, 13.5 and 49.77 words; measured apart from this code 31.52, 9.245, 13.51 and 49.774."""
    found = story_lengths(loaded.items)
    assert (round(found.precontext, 2), round(found.sentence, 3), round(found.ending, 2)) == (31.52, 9.245, 13.51)
    assert round(found.story, 3) == 49.774
    assert (found.n_setups, found.n_ended, found.n_stories) == (633, 1_266, 1_899)


@pytest.mark.published
def test_published_inventory(loaded: Dataset) -> None:
    """§4.1: 361 forms, 411 sense pairs, 1.75 sentences a form; *change* has 10, *lousy* 9, *bars* and *shot* 7."""
    found = story_inventory(loaded.items)
    assert (found.forms, found.sense_pairs, found.ordered_pairs, found.unordered_pairs) == (361, 411, 410, 405)
    assert round(found.sentences_per_form, 2) == 1.75
    assert found.setups_per_form[:4] == (("change", 10), ("lousy", 9), ("bars", 7), ("shot", 7))
    assert len({form.casefold() for form, _ in found.setups_per_form}) == 358
    of_split = [
        story_inventory([item for item in loaded.items if item.conditions["split"] == split]).sense_pairs
        for split in ("train", "dev", "test")
    ]
    assert of_split == [245, 63, 103]


@pytest.mark.published
def test_guessed_lemmas(loaded: Dataset) -> None:
    """The paper's 305 lemmas come out as the shortest base form of any part of speech; an unknown form is its own."""
    forms = [form for form, _ in story_inventory(loaded.items).setups_per_form]
    guessed = guessed_lemmas(forms, wordnet.load())
    assert (len(guessed), len(set(guessed.values()))) == (361, 305)
    assert guessed_lemmas(["Qwertzes"], wordnet.load()) == {"Qwertzes": "qwertzes"}
