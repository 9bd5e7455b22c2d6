"""Word counts of a table or a lexicon, and the random nouns that are drawn with them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.build.minimal_pairs.word_counts import (
    draw_nouns,
    excluded_words,
    lexicon_frequencies,
    matched_nouns,
    read_frequencies,
    tagged_count,
    with_random_nouns,
)
from lexiscope.core.errors import InputError
from lexiscope.datasets.synonymy import collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import Lexicon, plain_lemmas


def test_reading_frequencies(tmp_path: Path) -> None:
    """A column of words, one of counts, in any case; each fault at its line."""
    path = tmp_path / "counts.tsv"
    path.write_text("word\tcount\nrole\t90\npart\t9.5\nRole\t10\n", encoding="utf-8")
    assert read_frequencies(path) == {"role": 90.0 + 10, "part": 9.5}
    for rows, code in (("role\tmany", "E446"), ("role\t-1", "E446"), ("part\t1\npart\t2", "E449")):
        path.write_text(f"word\tcount\n{rows}\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"counts\.tsv:[23]:(?s:.*)\[{code}\]"):
            read_frequencies(path)
    with pytest.raises(InputError, match="no column 'n'"):
        read_frequencies(path, count="n")
    path.write_text("word\tcount\n", encoding="utf-8")
    with pytest.raises(InputError, match="E002"):
        read_frequencies(path)


@pytest.fixture(scope="module")
def lexicon(published: Path) -> Lexicon:
    return wordnet.load(published / "wordnet30/WordNet-3.0.tar.xz")


@pytest.mark.published
def test_a_plural_counts_as_its_lemma(lexicon: Lexicon) -> None:
    """*lands* has the count of *land*; *glasses*, a lemma itself, its own; what is no noun was never tagged."""
    assert (
        tagged_count(lexicon, "lands")
        == tagged_count(lexicon, "land")
        == sum(sense.count for sense in lexicon.senses("land", "n"))
    )
    assert tagged_count(lexicon, "glasses") == sum(sense.count for sense in lexicon.senses("glasses", "n"))
    assert tagged_count(lexicon, "xyzzy") == 0
    found = lexicon_frequencies(lexicon, ["Lands", "xyzzy"])
    assert found == {"lands": tagged_count(lexicon, "land"), "xyzzy": 0}
    assert found["lands"] > 0


NOUNS = [f"noun{k}" for k in range(40)]


ITEM = SynonymItem("1", "noun1", "noun2", "noun3", "the noun1 fell", 4, 9, synset=("noun1", "noun2", "noun4"))


@given(st.integers(0, 10**6), st.text(max_size=5), st.sets(st.sampled_from(NOUNS), max_size=30))
def test_nothing_excluded_is_drawn(seed: int, key: str, excluded: set[str]) -> None:
    """Ten different nouns, none excluded, whatever the seed; the same seed and key draw the same."""
    drawn = draw_nouns([*NOUNS, *NOUNS], excluded={word.upper() for word in excluded}, key=key, seed=seed)
    assert len(set(drawn)) == 10
    assert not set(drawn) & excluded
    assert drawn == draw_nouns(NOUNS, excluded=excluded, key=key, seed=seed)


def test_the_draw_depends_on_item_and_seed() -> None:
    """Another item or seed is another draw; what else is drawn does not matter."""
    draws = {draw_nouns(NOUNS, excluded=(), key=key, seed=seed) for key in "abc" for seed in (0, 1)}
    assert len(draws) == 6


def test_too_few_nouns() -> None:
    """Fewer than are wanted is an error, not a shorter set."""
    with pytest.raises(InputError, match=r"item '1': \[E444\] 10 nouns are wanted and 3 are left"):
        draw_nouns(NOUNS[:3], excluded=(), key="1")


def test_an_item_excludes_its_words_and_its_synset() -> None:
    """Target, synonym, distractor, and the lemmas that the item names."""
    assert excluded_words(ITEM) == {"noun1", "noun2", "noun3", "noun4"}
    (drawn,) = with_random_nouns([ITEM], NOUNS[:14])
    assert set(drawn.random_nouns) == set(NOUNS[:14]) - {"noun1", "noun2", "noun3", "noun4"}


@given(st.sampled_from(NOUNS), st.integers(0, 100))
def test_matched_nouns_are_the_nearest_in_frequency(word: str, seed: int) -> None:
    """With as many nearest ones as are drawn, no noun left out is nearer than one that is drawn."""
    counts = {noun: 3**k % 1000 for k, noun in enumerate(NOUNS)}
    drawn = matched_nouns(NOUNS, counts, word, excluded=[word], key="1", seed=seed, nearest=10)
    assert word not in drawn
    assert len(set(drawn)) == 10
    distance = {noun: abs(math.log1p(counts[noun]) - math.log1p(counts[word])) for noun in NOUNS if noun != word}
    assert max(distance[noun] for noun in drawn) <= min(
        (distance[noun] for noun in distance if noun not in drawn), default=math.inf
    )


def test_a_word_without_frequency() -> None:
    """The word to be matched must be listed; a noun that is not has frequency 0."""
    with pytest.raises(InputError, match=r"\[E445\] the frequency of 'noun2'"):
        with_random_nouns([ITEM], NOUNS, frequencies={"noun5": 3.0})
    assert matched_nouns(NOUNS, {"x": 0.0}, "x", excluded=(), key="1", nearest=10)


def test_case_of_a_table_is_ignored() -> None:
    """A German noun is found in a table in small letters, and the other way round."""
    counts = {"haus": 10.0, "Tor": 9.0, "see": 1.0}
    assert matched_nouns(["Tor", "See"], counts, "Haus", excluded=(), key="1", n=1, nearest=1) == ("Tor",)


def published_nouns(number: int, nouns: Sequence[str], words: Iterable[str]) -> tuple[str, ...]:
    """Return the nouns of an item by the published rule: drawn with replacement, seeded with the item's number.

    *number* counts from 1; *nouns* is the list with its repetitions; of each of *words* (target, synonym, distractor)
    the first occurrence in it is struck out. The rule does not rule out a synonym of another sense, nor a word twice.
    *Source:* the synonymy study, released code and files.
    """
    left = list(nouns)
    for word in words:
        if word in left:
            left.remove(word)
    return tuple(random.Random(160 + number).choices(left, k=10))


def test_the_published_rule() -> None:
    """First occurrence of each word struck out, Python's generator seeded with 160 + number, with replacement."""
    nouns = ["soil", "oak", "soil", "dirt", "moon"]
    expected = tuple(random.Random(160 + 3).choices(["oak", "soil", "moon"], k=10))
    assert published_nouns(3, nouns, ("soil", "dirt", "gate")) == expected


@pytest.mark.published
def test_the_released_nouns_of_all_items(published: Path) -> None:
    """The rule gives the ten released nouns of all 200 items."""
    nouns = (published / "synonymy/random_nouns_10000.txt").read_text(encoding="utf-8").split()
    for item in collection(published):
        words = (item.target, item.synonym, item.published_distractor or item.distractor)
        assert published_nouns(item.number, nouns, words) == item.random_nouns, item.item_id


@pytest.mark.published
def test_the_list_comes_from_wordnet(published: Path, lexicon: Lexicon) -> None:
    """The first 10,000 plain noun lemmas of WordNet 3.0 are the released list: 94,938 characters, 8,201 distinct."""
    nouns = plain_lemmas(lexicon, "n", 10_000)
    text = "".join(f"{noun}\n" for noun in nouns)
    assert text == (published / "synonymy/random_nouns_10000.txt").read_text(encoding="utf-8")
    assert (len(text), len(set(nouns))) == (94_938, 8_201)


@pytest.mark.published
def test_drawn_with_wordnet_nothing_is_a_synonym_of_any_sense(published: Path, lexicon: Lexicon) -> None:
    """Over all 200 items no drawn noun shares a noun synset with the target; matched ones are about as frequent."""
    items, nouns = collection(published), plain_lemmas(lexicon, "n", 10_000)
    counts = lexicon_frequencies(lexicon, {*nouns, *(item.synonym for item in items)})
    for frequencies in (None, counts):
        for item in with_random_nouns(items, nouns, lexicon=lexicon, frequencies=frequencies, seed=5):
            senses = {
                s.synset_id
                for lemma in (item.target, *lexicon.base_forms(item.target, "n"))
                for s in lexicon.synsets(lemma, "n")
            }
            for noun in item.random_nouns:
                assert not senses & {s.synset_id for s in lexicon.synsets(noun, "n")}
            assert not {item.target, item.synonym, item.distractor} & set(item.random_nouns)
            assert len(set(item.random_nouns)) == 10
