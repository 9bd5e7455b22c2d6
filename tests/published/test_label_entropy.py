"""Label entropies that were printed, or computed from the same files by other scripts."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from lexiscope.analysis.bias.entropy import MeanEntropy, label_entropy
from lexiscope.core import catalog
from lexiscope.items.arrange.word_rules import word_rows

pytestmark = pytest.mark.published


@functools.cache
def _entropy(name: str, split: str, word: str, rows: str) -> MeanEntropy:
    found = word_rows(catalog.dataset(name).items, split=split, word=word, rows=rows)
    return label_entropy(found.words, found.labels, word=found.word, rows=found.rows, resamples=200)


@pytest.mark.parametrize(
    ("name", "word", "rows", "value"),
    [
        ("wic", "surface_lower", "all", 0.4022),
        ("wic", "lemma", "all", 0.4033),
        ("mcl_wic", "lemma", "all", 0.2976),
        ("mcl_wic", "lemma_pos", "all", 0.2766),
        ("wic_tsv", "lemma", "first_of_context", 0.4212),
        ("wic_tsv", "lemma", "all", 0.4920),
        ("am2ico?language=fi", "surface", "all", 0.5685),
        ("am2ico?language=tr", "surface", "all", 0.5813),
        ("am2ico?language=eu", "surface", "all", 0.5303),
        ("am2ico?language=id", "surface", "all", 0.5174),
        ("am2ico?language=ka", "surface", "all", 0.4505),
        ("am2ico?language=fi", "last_surface", "all", 0.5130),
        ("am2ico?language=tr", "last_surface", "all", 0.4903),
    ],
)
def test_training_sets(published: Path, name: str, word: str, rows: str, value: float) -> None:
    """Natural log, words with two rows or more; what the word is and which rows count stand in the name."""
    found = _entropy(name, "train", word, rows)
    assert found.name == f"label_entropy(word={word},rows={rows},base=e,min_count=2)"
    assert round(found.value, 4) == value
    assert found.interval.low < found.value < found.interval.high


def test_first_rows_of_wic_tsv(published: Path) -> None:
    """The 2,828 rows of WiC-TSV have 2,137 distinct (word, context); 691 are left out, none is hidden."""
    found = word_rows(catalog.dataset("wic_tsv").items, split="train", rows="first_of_context")
    assert (len(found.words), found.n_repeated, found.n_hidden) == (2_137, 691, 0)


def test_german_sample_of_xl_wic(published: Path) -> None:
    """.1868 by lemma; a word's majority label covers 87.6 % of its rows on average (printed: 87 %)."""
    found = _entropy("xl_wic", "dev", "lemma", "all")
    assert round(found.value, 4) == 0.1868
    assert round(found.majority_share, 3) == 0.876
    assert found.same_share == 260 / 360
