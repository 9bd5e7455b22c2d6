"""The embedded stories: complete, ambiguous by rule, and our own."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from lexiscope.core.errors import DataError
from lexiscope.core.usage import occurrences
from lexiscope.datasets import ambistory, mini_ambistory
from lexiscope.datasets.mini_ambistory import CARD, load, setups
from lexiscope.resources.lexicons import wordnet
from lexiscope.tasks import plausibility


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs(text: str, length: int) -> set[tuple[str, ...]]:
    tokens = words(text)
    return {tuple(tokens[k : k + length]) for k in range(len(tokens) - length + 1)}


def all_texts() -> list[str]:
    return [
        text for one in setups() for text in (one.precontext, one.usage.text, *one.senses, *one.examples, *one.endings)
    ]


def test_the_design() -> None:
    """24 setups × 3 stories × 2 meanings, 24 words: 13 nouns, 6 verbs, 5 adjectives; no answers of anybody."""
    dataset = load()
    assert len(dataset.items) == 24 * 3 * 2
    assert Counter(Counter(item.conditions["story"] for item in dataset.items).values()) == {2: 24 * 3}
    assert Counter(one.usage.pos for one in setups()) == {"NOUN": 13, "VERB": 6, "ADJ": 5}
    assert len({item.word for item in dataset.items}) == 24
    assert len(dataset.responses) == 0
    assert Counter(item.conditions["intention"] for item in dataset.items) == {
        "intended": 48,
        "unintended": 48,
        "open": 48,
    }


def test_the_homonym_stands_once_and_nowhere_else() -> None:
    """The word is in the ambiguous sentence once, in each example once, and in no form elsewhere in the story."""
    for one in setups():
        assert len(occurrences(one.usage.text, one.homonym)) == 1
        assert [len(occurrences(example, one.homonym)) for example in one.examples] == [1, 1]
        # the letters that all regular forms of the word share
        stem = (one.usage.lemma or "").rstrip("e")
        elsewhere = words(" ".join((one.precontext, *one.endings, *one.senses)))
        assert [word for word in elsewhere if word.startswith((stem, one.homonym))] == []


def test_texts_are_plain_sentences() -> None:
    """Three sentences before; one sentence each for the rest; definitions are no sentences; plain letters only."""
    for one in setups():
        assert len(re.findall(r"[.!?](?= |$)", one.precontext)) == 3
        for text in (one.usage.text, *one.endings, *one.examples):
            assert text[0].isupper()
            assert len(re.findall(r"[.!?]", text)) == 1
            assert text.endswith(".")
        assert all(not sense.endswith(".") and sense[0].islower() for sense in one.senses)
    assert all(text.isascii() and "  " not in text and text == text.strip() for text in all_texts())


def test_no_text_comes_twice() -> None:
    """Every setup has texts of its own, and its two meanings, examples and endings differ."""
    assert len(set(all_texts())) == 24 * 8


def test_endings_are_alike_in_length() -> None:
    """An ending does not give itself away by its length: 7 to 16 words, the two of a setup within six of each other."""
    for one in setups():
        lengths = [len(ending.split()) for ending in one.endings]
        assert all(7 <= length <= 16 for length in lengths)
        assert abs(lengths[0] - lengths[1]) <= 6


def test_every_item_can_be_asked() -> None:
    """The task finds all that its page and its prompt need."""
    for item in load().items:
        plausibility.SCREEN.check(item)
        ending = str(item.conditions["ending"])
        assert plausibility.story(item).count(".") == 4 + bool(ending)


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another sha256 than the pinned one: nothing is loaded."""
    monkeypatch.setattr(mini_ambistory, "STORIES", replace(mini_ambistory.STORIES, sha256="0" * 64))
    with pytest.raises(DataError, match="the embedded stories were changed"):
        load()


def test_the_card_says_that_nobody_rated() -> None:
    """No ratings, so no scale, and the card says so."""
    assert CARD.scale is None
    assert "No one has rated" in CARD.remarks[0]


@pytest.mark.published
def test_nothing_is_taken_from_ambistory(published: None) -> None:
    """No six words in a row are those of a published story, definition or example."""
    theirs: set[tuple[str, ...]] = set()
    for item in ambistory.load().items:
        told = (plausibility.story(item), str(item.conditions["sense"]), str(item.conditions["example"]))
        theirs |= {run for text in told for run in runs(text, 6)}
    assert [run for text in all_texts() for run in runs(text, 6) if run in theirs] == []


@pytest.mark.published
def test_definitions_are_not_those_of_wordnet(published: None) -> None:
    """No definition shares five words in a row with a gloss of its word; no example is one of WordNet's."""
    lexicon = wordnet.load()
    for one in setups():
        synsets = lexicon.synsets(one.usage.lemma or "")
        assert len(synsets) > 1
        glosses = {run for synset in synsets for run in runs(synset.gloss, 5)}
        assert [run for sense in one.senses for run in runs(sense, 5) if run in glosses] == []
        examples = {" ".join(words(example)) for synset in synsets for example in synset.examples}
        assert not examples & {" ".join(words(example)) for example in one.examples}


def test_runs_of_words() -> None:
    """The comparison's own tool: all runs of a length, in order."""
    assert runs("A b c d.", 2) == set(pairwise("abcd"))
