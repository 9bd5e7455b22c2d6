"""The embedded synonymy items: complete, drawn by rule, our own, and sound by WordNet's lights."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.build.minimal_pairs.word_counts import with_random_nouns
from lexiscope.core.errors import DataError
from lexiscope.datasets import mini_synonymy, synonymy
from lexiscope.datasets.mini_synonymy import CARD, collection, load, nouns
from lexiscope.items.choice_sets.articles import indefinite_article
from lexiscope.items.choice_sets.minimal_pairs import choice_sets
from lexiscope.resources.lexicons import wordnet
from lexiscope.tasks.minimal_pair import check_choice_set


def plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[k : k + length]) for k in range(len(words) - length + 1)}


def test_the_design() -> None:
    """40 items, 35 targets of which five stand there in two senses, 16 choice sets each, all of them sound."""
    items, dataset = collection(), load()
    assert [item.item_id for item in items] == [f"{number:02d}" for number in range(1, 41)]
    twice = [word for word, n in Counter(item.target for item in items).items() if n == 2]
    assert twice == ["bill", "court", "ring", "spring", "stock"]
    assert len({item.sentence for item in items}) == 40
    assert len(dataset.items) == 40 * 16
    assert len(dataset.responses) == 0
    for item in dataset.items:
        check_choice_set(item)


def test_a_target_stands_once_and_no_other_word_of_the_item_beside_it() -> None:
    """The sentence holds its target once, and none of the synonyms or the distractor: nothing gives the answer away."""
    for item in collection():
        words = plain_words(item.sentence)
        assert words.count(item.target) == 1, item.item_id
        assert not {item.synonym, item.distractor, *item.synset} - {item.target} & set(words), item.item_id
        assert dict(item.extra)["gloss"]


def test_articles_are_right_in_every_text() -> None:
    """Wherever *a* or *an* stands before a word, it is the one that the word takes."""
    for item in choice_sets(collection()):
        for usage in item.usages:
            for article, word in re.findall(r"\b([Aa]n?) ([\w-]+)", usage.text):
                assert article.lower() == indefinite_article(word), usage.text


def test_the_random_nouns_are_drawn_by_the_rule() -> None:
    """Seed 0, from the embedded list: different nouns, none of them a word of the item."""
    items = collection()
    bare = [replace(item, random_nouns=()) for item in items]
    assert with_random_nouns(bare, nouns(), seed=0) == items
    assert len(nouns()) == len(set(nouns())) == 122
    for item in items:
        assert not set(item.random_nouns) & {item.target, item.distractor, *item.synset}
        assert not set(item.random_nouns) & set(plain_words(item.sentence))


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedded file that is not the one of the card is not read."""
    monkeypatch.setattr(mini_synonymy, "ITEMS", replace(CARD.files[0], sha256="0" * 64))
    with pytest.raises(DataError, match="install lexiscope again"):
        load()


@pytest.mark.published
def test_wordnet_agrees(published: Path) -> None:
    """Synonym and distractor stand in different synsets of the target, and no random noun in any of them."""
    lexicon = wordnet.load(published / "wordnet30/WordNet-3.0.tar.xz")
    for item in collection():
        members = [set(synset.lemmas) for synset in lexicon.synsets(item.target, "n")]
        right = {k for k, lemmas in enumerate(members) if item.synonym in lemmas}
        wrong = {k for k, lemmas in enumerate(members) if item.distractor in lemmas}
        assert right, item.item_id
        assert wrong, item.item_id
        assert not right & wrong, item.item_id
        assert not set().union(*members) & set(item.random_nouns), item.item_id


@pytest.mark.published
def test_no_sentence_is_taken_from_semcor_or_the_study(published: Path) -> None:
    """No six words in a row are those of a SemCor sentence, and no triple of words is that of a published item."""
    mine = {run for item in collection() for run in runs(plain_words(item.sentence), 6)}
    with gzip.open(published / "semcor/semcor.data.xml.gz", "rt", encoding="utf-8") as stream:
        # read as text: parsing the corpus takes far longer than looking for six words does
        theirs = plain_words(re.sub("<[^>]*>", " ", stream.read()))
    assert len(theirs) > 700_000
    assert [run for run in zip(*(theirs[k:] for k in range(6)), strict=False) if run in mine] == []
    published_triples = {(item.target, item.synonym, item.distractor) for item in synonymy.collection(published)}
    assert not {(item.target, item.synonym, item.distractor) for item in collection()} & published_triples
