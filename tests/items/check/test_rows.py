"""How the sentences of a pair differ."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lexiscope.items.check.item_file import check_file
from lexiscope.items.check.rows import differences_beyond_cue, sentence_statistics, word_changes


def test_one_replaced_word_is_the_design() -> None:
    """A pair that differs in one word has no remark, wherever the word stands."""
    assert differences_beyond_cue("She saw the old bat", "She saw the big bat") is None
    assert differences_beyond_cue("Old bats flew", "Big bats flew") is None


@pytest.mark.parametrize(
    ("first", "second", "remark"),
    [
        ("Vio el ala norte", "Vio el ala de águila", "norte → de águila (preposition)"),
        ("It was a legal act", "It was an odd act", "a legal → an odd (determiner)"),
        ("Vio el cura", "Vio la cura nueva", "el → la (determiner), (nothing) → nueva"),
        ("He ran", "He ran fast", "(nothing) → fast"),
    ],
)
def test_spill_over_is_named(first: str, second: str, remark: str) -> None:
    """What differs beyond one replaced word is written out, determiners and prepositions by name."""
    assert differences_beyond_cue(first, second) == remark


def test_identical_sentences_have_no_changes() -> None:
    """Nothing differs, so there is nothing to name."""
    assert word_changes("a b c", "a b c") == ()
    assert differences_beyond_cue("a b c", "a b c") is None


def test_statistics_without_sentences() -> None:
    """The mean length of no sentences is missing, not zero."""
    assert sentence_statistics([], []).mean_words is None


@pytest.mark.published
def test_saw_c_sentence_lengths(published: Path) -> None:
    """SAW-C §3.1 and footnote 4: 4.7162 words over 451 sentences; 187 of 812 pairs differ in length (173, 14)."""
    with (published / "sawc/sawc_sentence_pairs.csv").open(encoding="utf-8-sig", newline="") as stream:
        pairs = [(row["Sentence_1"], row["Sentence_2"]) for row in csv.DictReader(stream)]
    found = sentence_statistics((sentence for pair in pairs for sentence in pair), pairs)
    assert (found.n_sentences, found.n_pairs) == (451, 812)
    assert found.mean_words == pytest.approx(4.7162, abs=5e-5)
    assert found.length_differences == ((0, 625), (1, 173), (2, 14))
    assert found.n_unequal_pairs == 173 + 14


@pytest.mark.published
@pytest.mark.parametrize("name", ["sawc_stimlist", "sawc_sentence_pairs", "sawc_relatedness_full_critical_data"])
def test_saw_c_passes_the_check(published: Path, name: str) -> None:
    """The released files have no errors; five words have unbalanced senses, 236 pairs differ in more than one word.

    236 is 187 (other length) plus the pairs of equal length in which two words or more were replaced.
    """
    report = check_file(published / f"sawc/{name}.csv")
    assert report.errors == ()
    assert report.n_words == 102
    assert report.counts == {"W205": 5, "W206": 236}
    assert f"{report.statistics.mean_words:.4f}" == "4.7162"
