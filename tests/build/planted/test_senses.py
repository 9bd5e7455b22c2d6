"""Pseudo-words: how they are drawn, what planting changes, which usages are drawn, and made-up text."""

from __future__ import annotations

from collections import Counter

import pytest

from lexiscope.build.planted.senses import (
    PseudoWord,
    made_up_text,
    plant_words,
    planted_pairs,
    planted_usages,
    pseudo_words,
    unambiguous_nouns,
)
from lexiscope.core.errors import InputError
from lexiscope.resources.lexicons import wordnet

COUNTS = {f"w{chr(97 + n)}": 10 + n for n in range(20)} | {f"v{chr(97 + n)}": 100 + n for n in range(20)} | {"n't": 15}


BANDS = ((10, 40), (100, 200))


LINES = [["a", "banana", "on", "a", "door"], ["the", "door"], ["no", "fruit"], ["banana", "banana"]]


PLANTED = [PseudoWord("banana", "door")]


def test_words_are_drawn_within_bands() -> None:
    """So many from each band, no word twice, the more frequent first, the same for the same seed."""
    found = pseudo_words(COUNTS, 5, bands=BANDS, seed=3)
    assert [each.first[0] for each in found] == ["w"] * 5 + ["v"] * 5
    assert len({word for each in found for word in (each.first, each.second)}) == 20
    assert all(COUNTS[each.first] >= COUNTS[each.second] for each in found)
    assert found == pseudo_words(COUNTS, 5, bands=BANDS, seed=3) != pseudo_words(COUNTS, 5, bands=BANDS, seed=4)


def test_words_of_other_kinds_and_like_frequency_are_paired() -> None:
    """The two of a pseudo-word are of different kinds, nearest in frequency, and nothing else is drawn."""
    kinds = {f"w{chr(97 + n)}": "animal" if n % 4 < 2 else "place" for n in range(12)}
    for seed in range(5):
        found = pseudo_words(COUNTS, 2, bands=BANDS[:1], kinds=kinds, seed=seed)
        assert all(kinds[each.first] != kinds[each.second] for each in found)
        # wa occurs 10 times, wb 11 …; words of the other kind are at most two places away
        assert all(COUNTS[each.first] - COUNTS[each.second] <= 2 for each in found[:1])
    with pytest.raises(InputError, match="of another kind than"):
        pseudo_words(COUNTS, 6, bands=BANDS[:1], kinds=dict.fromkeys(kinds, "animal"))


@pytest.mark.published
def test_unambiguous_nouns_have_one_sense(published: object) -> None:
    """WordNet 3.0: no word of two senses, no inflected form, no other part of speech, no short word."""
    found = unambiguous_nouns(["guitar", "bank", "infantry", "guitars", "quickly", "elm", "xyzzy"], wordnet.load())
    assert found == {"guitar": "noun.artifact", "infantry": "noun.group"}


def test_what_cannot_be_drawn_is_refused() -> None:
    """E715: a band with too few words, a pseudo-word that is a word, a word in two pseudo-words."""
    with pytest.raises(InputError, match="20 words occur 10 to 39 times, 22 are needed"):
        pseudo_words(COUNTS, 11, bands=BANDS[:1])
    with pytest.raises(InputError, match="already"):
        pseudo_words({"a": 2, "b": 1, "ab": 9}, 1, bands=[(1, 3)])
    with pytest.raises(InputError, match="two pseudo-words"):
        list(plant_words(LINES, [*PLANTED, PseudoWord("door", "fruit")]))


def test_planting_changes_those_words_alone() -> None:
    """Each occurrence of both words is written as one word; all else stays."""
    counts = Counter(word for line in plant_words(LINES, PLANTED) for word in line)
    assert counts == Counter({"bananadoor": 5, "a": 2, "on": 1, "the": 1, "no": 1, "fruit": 1})


def test_usages_know_what_stood_there() -> None:
    """Every occurrence is one usage at its span, filed under the word that stood there."""
    found = planted_usages(LINES, PLANTED)
    assert [(each.target, each.lemma) for each in found] == [("bananadoor", "bananadoor")] * 5
    assert [(each.text, each.start, each.sense) for each in found] == [
        ("a bananadoor on a bananadoor", 2, "banana"),
        ("bananadoor bananadoor", 0, "banana"),
        ("bananadoor bananadoor", 11, "banana"),
        ("a bananadoor on a bananadoor", 18, "door"),
        ("the bananadoor", 4, "door"),
    ]


def test_occurrences_are_drawn_evenly() -> None:
    """At most so many for each word; over seeds, each of ten occurrences is drawn about equally often."""
    lines = [["banana", f"c{n}"] for n in range(10)]
    drawn = Counter(each.text for seed in range(400) for each in planted_usages(lines, PLANTED, per_word=3, seed=seed))
    assert sum(drawn.values()) == 400 * 3
    assert min(drawn.values()) > 80
    assert max(drawn.values()) < 160
    assert planted_usages(lines, PLANTED, per_word=3, seed=1) == planted_usages(lines, PLANTED, per_word=3, seed=1)


def test_a_line_has_words_of_one_topic_and_common_ones() -> None:
    """Each line: the given number of words, of one topic or common to all; the same seed gives the same text."""
    text = made_up_text(200, n_topics=3, n_words=8, n_common=4, length=9, seed=2)
    assert text == made_up_text(200, n_topics=3, n_words=8, n_common=4, length=9, seed=2)
    assert text != made_up_text(200, n_topics=3, n_words=8, n_common=4, length=9, seed=3)
    common = set(text.common)
    for line in text.lines:
        assert len(line) == 9
        assert any(set(line) - common <= set(topic) for topic in text.topics)
    share = sum(word in common for line in text.lines for word in line) / (200 * 9)
    assert share == pytest.approx(0.2, abs=0.04)


def test_pseudo_words_join_topics() -> None:
    """The two words of a pseudo-word are of different topics, and no word stands in two of them."""
    text = made_up_text(5)
    pairs = planted_pairs(text, 12)
    topic_of = {word: number for number, topic in enumerate(text.topics) for word in topic}
    words = [word for pair in pairs for word in (pair.first, pair.second)]
    assert len(set(words)) == 24
    assert all(topic_of[pair.first] != topic_of[pair.second] for pair in pairs)


def test_what_makes_no_text_is_refused() -> None:
    """No line, a share above 1, one topic, more pseudo-words than words."""
    with pytest.raises(InputError, match="made-up text needs"):
        made_up_text(0)
    with pytest.raises(InputError, match="made-up text needs"):
        made_up_text(1, share_common=1.5)
    for text, n in ((made_up_text(1, n_topics=1), 1), (made_up_text(1, n_topics=2, n_words=2), 3)):
        with pytest.raises(InputError, match="pseudo-words"):
            planted_pairs(text, n)
