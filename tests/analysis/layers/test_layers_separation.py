"""Sense separation is the share of comparisons in which different senses lie further apart."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.bootstrap import bootstrap
from lexiscope.analysis.layers.layers import sense_separation, separation_by_layer
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate


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


def test_each_layer_separates_as_alone_and_draws_are_those_of_the_rows() -> None:
    """By layer, value and interval are those of the layer alone; a draw is the share on the rows of the words drawn."""
    rng = np.random.default_rng(7)
    words = np.repeat(np.arange(12), 5)
    same = rng.integers(0, 2, 60).astype(bool)
    distance = np.round(rng.normal(size=(60, 3)) + np.where(same, 0.0, 0.7)[:, None], 1)
    curve = separation_by_layer(distance, same, groups=words, resamples=300, seed=2)
    for layer in range(3):
        alone = sense_separation(distance[:, layer], same, groups=words, resamples=300, seed=2)
        assert (curve.at(layer).value, curve.at(layer).interval) == (alone.value, alone.interval)

    def share(rows: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
        near, far = distance[rows, 1][same[rows]], distance[rows, 1][~same[rows]]
        return float(np.mean(np.sign(far[:, None] - near[None, :]) / 2 + 0.5))

    slow = bootstrap(share, 60, groups=words, resamples=300, seed=2)
    found = curve.at(1).interval
    assert found is not None
    assert (found.low, found.high) == pytest.approx((slow.low, slow.high), abs=1e-12)


def test_the_best_of_layers_alike_is_lower_where_its_choice_is_allowed_for() -> None:
    """Twenty layers of noise: the best is above chance, the one that allows for the choice holds .5."""
    rng = np.random.default_rng(8)
    words, same = np.repeat(np.arange(20), 4), np.tile([True, False], 40)
    curve = separation_by_layer(rng.normal(size=(80, 20)), same, groups=words, resamples=400)
    chosen = curve.chosen
    assert isinstance(chosen, Estimate)
    assert chosen.name == "sense_separation(measure=auc,layer=chosen)"
    assert chosen.value < float(curve.best_value().value or 0)
    assert chosen.interval.low < 0.5 < chosen.interval.high
