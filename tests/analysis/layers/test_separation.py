"""Sense separation is the share of comparisons in which different senses lie further apart."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.layers.separation import sense_separation
from lexiscope.core.errors import StatisticError


def test_it_is_the_share_of_all_comparisons() -> None:
    """It equals counting every same-sense pair against every different-sense pair, ties half."""
    rng = np.random.default_rng(3)
    distance, same = rng.integers(0, 6, 40) / 10, rng.integers(0, 2, 40).astype(bool)
    wins = [(d > s) + 0.5 * (d == s) for d in distance[~same] for s in distance[same]]
    assert sense_separation(distance, same, resamples=20).value == pytest.approx(sum(wins) / len(wins), abs=1e-12)


def test_rounding_noise_decides_nothing() -> None:
    """Distances that are equal but for floating-point noise are ties: chance."""
    noisy = [1e-16, 0.0, 2e-16, 0.0]
    assert sense_separation(noisy, [1, 1, 0, 0], resamples=20).value == 0.5


def test_the_interval_resamples_words() -> None:
    """With one word per kind of answer, whole words are drawn: the interval is wider than over single items."""
    rng = np.random.default_rng(5)
    words = np.repeat(np.arange(10), 8)
    same = np.tile([True, False], 40)
    distance = rng.normal(np.where(same, 0.0, rng.normal(1.0, 2.0, 10)[words]), 0.1)
    by_word = sense_separation(distance, same, groups=words, resamples=400).interval
    by_item = sense_separation(distance, same, resamples=400).interval
    assert by_word.high - by_word.low > 1.5 * (by_item.high - by_item.low)


@pytest.mark.parametrize(
    ("distance", "same"), [([1.0, 2.0], [1, 1]), ([1.0], [1, 0]), ([np.nan, 1.0], [1, 0]), ([[1.0]], [[1]])]
)
def test_undefined_is_an_error(distance: list[float], same: list[int]) -> None:
    """One kind of pair, unequal lengths or a missing distance give an error, never a number."""
    with pytest.raises(StatisticError):
        sense_separation(distance, same, resamples=20)
