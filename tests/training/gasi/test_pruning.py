"""Pruning: λ lies between duplicates and neighbours, no pair is left under it, a pruned folder loads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError, RunError
from lexiscope.resources.vectors.sense_vectors import SenseVectors, read_sense_vectors, read_settings
from lexiscope.training.gasi.pruning import prune_senses, pruned_mask, pruning_threshold, senses_by_frequency
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.shards import make_shards
from lexiscope.training.gasi.train import mask_of, train_gasi, write_senses
from lexiscope.training.gasi.vocabulary import VocabularyLimits

from .corpus import write_corpus


def planted(n_words: int = 60, seed: int = 0) -> tuple[SenseVectors, np.ndarray]:
    """Vectors in which the second sense of every second word is its first one with a little noise."""
    rng = np.random.default_rng(seed)
    senses = rng.normal(size=(n_words, 3, 12))
    copied = np.arange(n_words) % 2 == 0
    senses[copied, 1] = senses[copied, 0] + 0.05 * rng.normal(size=(copied.sum(), 12))
    counts = np.arange(n_words, 0, -1) * 10
    mask = np.ones((n_words, 3), np.bool_)
    words = tuple(f"w{n}" for n in range(n_words))
    return SenseVectors(words, counts, senses.astype(np.float32), senses[:, 0].astype(np.float32), mask), copied


def pair_distances(vectors: SenseVectors, mask: np.ndarray) -> list[float]:
    """Every cosine distance of two senses of a word that are there, by brute force."""
    found = []
    for rows, there in zip(vectors.senses.astype(float), mask, strict=True):
        units = [row / np.linalg.norm(row) for row in rows[there]]
        found += [1 - float(a @ b) for n, a in enumerate(units) for b in units[:n]]
    return found


def test_the_threshold_separates_planted_duplicates() -> None:
    """λ is halfway between the two means, above every planted duplicate, and below what was not planted."""
    vectors, copied = planted()
    found = pruning_threshold(vectors)
    assert found.value == (found.duplicates + found.neighbours) / 2
    # a pair may only be found from one of its senses, and every planted one is nearest to the other
    assert found.n_duplicates >= copied.sum()
    assert found.duplicates < found.value < found.neighbours
    mask = pruned_mask(vectors, found.value)
    assert (mask.sum(axis=1)[copied] <= 2).all()
    assert not (mask[copied, 0] & mask[copied, 1]).any()
    assert (mask.sum(axis=1)[~copied] == 3).mean() > 0.8


def test_the_threshold_by_hand() -> None:
    """Two words: a's senses are 1 - cos 60° = .5 apart; b lies at a right angle to both, D_nn = 1: λ = .75."""
    a = np.array([[1, 0, 0], [0.5, np.sqrt(0.75), 0]])
    b = np.array([[0, 0, 1], [0, 0, 1]])
    mask = np.array([[True, True], [True, False]])
    vectors = SenseVectors(("a", "b"), np.array([3, 2]), np.stack([a, b]).astype(np.float32), b.astype("f4"), mask)
    found = pruning_threshold(vectors)
    assert (found.duplicates, found.neighbours, found.value) == pytest.approx((0.5, 1.0, 0.75), abs=1e-6)
    assert (found.n_duplicates, found.n_neighbours, found.words) == (1, 2, ("a",))


@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.01, 1.9))
@settings(max_examples=60, deadline=None)
def test_no_pair_is_left_under_the_threshold(seed: int, n_senses: int, threshold: float) -> None:
    """Whatever the vectors: no pair below λ, at least one sense a word, nothing that was masked comes back, and a
    word without such a pair keeps all."""
    rng = np.random.default_rng(seed)
    senses = rng.normal(size=(12, n_senses, 3)).astype(np.float32)
    mask = rng.random((12, n_senses)) < 0.8
    mask[:, 0] = True
    vectors = SenseVectors(tuple("abcdefghijkl"), np.arange(12, 0, -1), senses, senses[:, 0], mask)
    left = pruned_mask(vectors, threshold)
    assert all(distance >= threshold - 1e-6 for distance in pair_distances(vectors, left))
    assert left.any(axis=1).all()
    assert not (left & ~mask).any()
    for word in range(12):
        alone = replace(vectors, senses=senses[[word]], mask=mask[[word]])
        if all(distance >= threshold for distance in pair_distances(alone, mask[[word]])):
            assert (left[word] == mask[word]).all()


@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(0.05, 1.5))
@settings(max_examples=60, deadline=None)
def test_senses_go_one_by_one(seed: int, n_senses: int, threshold: float) -> None:
    """Appendix C.1 by hand: count the near ones of each sense, drop that with most, count anew, until none has any.

    Of equals the one nearest to the rest goes, then the later one.
    """
    rng = np.random.default_rng(seed)
    senses = rng.normal(size=(8, n_senses, 3)).astype(np.float32)
    mask = rng.random((8, n_senses)) < 0.9
    mask[:, 0] = True
    vectors = SenseVectors(tuple("abcdefgh"), np.arange(8, 0, -1), senses, senses[:, 0], mask)
    found = pruned_mask(vectors, threshold)
    for word in range(8):
        units = {k: row / np.linalg.norm(row) for k, row in enumerate(senses[word].astype(float)) if mask[word, k]}
        while True:
            apart = {k: [1 - float(units[k] @ units[o]) for o in units if o != k] for k in units}
            near = {k: sum(distance < threshold for distance in rest) for k, rest in apart.items()}
            if not any(near.values()):
                break
            del units[max(near, key=lambda k: (near[k], -round(sum(apart[k]), 9), k))]
        assert set(np.flatnonzero(found[word])) == set(units)


def test_the_most_duplicated_goes_first() -> None:
    """The middle of three senses in a row is near both others: it goes, and the two that are far apart stay."""
    angles = np.radians([0, 40, 80])
    senses = np.stack([np.cos(angles), np.sin(angles)], axis=1)[None].astype(np.float32)
    vectors = SenseVectors(("a",), np.array([1]), senses, senses[:, 0], np.ones((1, 3), np.bool_))
    assert pruned_mask(vectors, 1 - np.cos(np.radians(50))).tolist() == [[True, False, True]]
    assert pruned_mask(vectors, 1 - np.cos(np.radians(30))).tolist() == [[True, True, True]]
    assert pruned_mask(vectors, 1.9).sum() == 1


def test_where_nothing_is_duplicated_there_is_no_threshold() -> None:
    """E714 where no sense has another sense of its word among its nearest, and where words have one sense."""
    vectors, _ = planted()
    apart = replace(vectors, senses=np.random.default_rng(1).normal(size=(60, 3, 12)).astype(np.float32))
    with pytest.raises(InputError, match="no duplicate"):
        pruning_threshold(apart, nearest=1, n_words=3)
    with pytest.raises(InputError, match="no word of these vectors has two senses"):
        pruning_threshold(replace(vectors, mask=np.arange(3) == np.zeros((60, 1))))


def test_a_pruned_folder_keeps_vectors_and_says_how(tmp_path: Path) -> None:
    """The vectors are the same, the mask is smaller; a folder that is taken is refused."""
    vectors, copied = planted()
    write_senses(tmp_path / "a", vectors, {"settings": {"senses": 3}})
    found = prune_senses(tmp_path / "a", out=tmp_path / "b")
    again = read_sense_vectors(tmp_path / "b")
    np.testing.assert_array_equal(again.senses, vectors.senses)
    assert found.n_before == 180
    assert found.n_after == again.mask.sum() <= 180 - copied.sum()
    about = read_settings(tmp_path / "b")
    assert about["pruned"]["threshold"] == found.threshold
    assert about["settings"] == {"senses": 3}
    with pytest.raises(InputError, match="E714"):
        prune_senses(tmp_path / "a", out=tmp_path / "b")
    with pytest.raises(InputError, match="E714"):
        prune_senses(tmp_path / "a", out=tmp_path / "c", threshold=0.0)
    assert not (tmp_path / "c").exists()
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "report.html").write_text("")
    with pytest.raises(RunError, match=r"report\.html of something else"):
        prune_senses(tmp_path / "a", out=tmp_path / "study")
    with pytest.raises(RunError, match="this is a file"):
        prune_senses(tmp_path / "a", out=tmp_path / "study" / "report.html")


def test_retraining_keeps_to_the_mask(tmp_path: Path) -> None:
    """Trained again on the same corpus, the senses that were pruned have no probability; another corpus is refused."""
    shards = make_shards([write_corpus(tmp_path)], tmp_path / "s", limits=VocabularyLimits(min_count=1))
    how = GasiSettings(dimensions=8, epochs=2, subsampling=0.0)
    train_gasi(shards, out=tmp_path / "a", settings=how)
    prune_senses(tmp_path / "a", out=tmp_path / "b", threshold=0.6)
    mask = mask_of(tmp_path / "b", shards)
    assert 48 <= mask.sum() < 3 * 48
    found = train_gasi(shards, out=tmp_path / "c", settings=how, mask=mask)
    assert found.n_senses == mask.sum()
    np.testing.assert_array_equal(read_sense_vectors(tmp_path / "c").mask, mask)
    other = make_shards([write_corpus(tmp_path)], tmp_path / "o", limits=VocabularyLimits(min_count=1, top=9))
    with pytest.raises(InputError, match="E713"):
        mask_of(tmp_path / "b", other)


def test_senses_by_frequency_counts_every_word() -> None:
    """Bins of equally many words, the most frequent first; every word is in one cell."""
    vectors, _ = planted()
    mask = np.arange(3) <= (np.arange(60) < 20)[:, None]
    rows = senses_by_frequency(replace(vectors, mask=mask), bins=3)
    assert [(row.first_rank, row.last_rank, row.n_words, row.mean) for row in rows] == [
        (1, 20, (0, 20, 0), 2.0),
        (21, 40, (20, 0, 0), 1.0),
        (41, 60, (20, 0, 0), 1.0),
    ]
    with pytest.raises(InputError, match="E714"):
        senses_by_frequency(vectors, bins=61)
