"""What people attain, by hand and against independent code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.attainable.people import rated_items
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined

VALUES = np.array([[1, 2, 4, 5, 3, 2], [2, 2, 5, 4, 3, 1], [1, 3, 4, 4, 2, 2], [2, 1, 5, 5, 4, 2]], dtype=float)
"""Ratings of four persons of six items."""
WORDS = {"i0": "bank", "i1": "bank", "i2": "bat", "i3": "bat", "i4": "cup", "i5": "cup"}


def table(values: np.ndarray = VALUES) -> Ratings:
    rater, item = np.nonzero(~np.isnan(values))
    return Ratings.from_arrays([f"r{k}" for k in rater], [f"i{k}" for k in item], values[rater, item])


def reliability(values: np.ndarray) -> float:
    """1 − mean(s² / k) / var(means), written as the definition says."""
    k = (~np.isnan(values)).sum(axis=0)
    noise = np.mean(np.nanvar(values, axis=0, ddof=1) / k)
    return float(1 - noise / np.var(np.nanmean(values, axis=0), ddof=1))


def value(result: Estimate | Undefined) -> float:
    assert isinstance(result, Estimate)
    return result.value


def test_the_mean_of_people_and_the_attainable() -> None:
    """R as defined, its root, and the norms, also where a rating is missing."""
    with_gap = VALUES.copy()
    with_gap[3, 0] = np.nan
    for values in (VALUES, with_gap):
        rated = rated_items(table(values), WORDS, resamples=100)
        assert value(rated.mean) == pytest.approx(reliability(values))
        assert value(rated.attainable) == pytest.approx(np.sqrt(reliability(values)))
        assert rated.norm == pytest.approx(np.nanmean(values, axis=0))


def test_without_each_rater_everything_is_computed_again() -> None:
    """R and the means without a person are those of the other three."""
    rated = rated_items(table(), WORDS, resamples=100)
    for row, rater in enumerate(rated.raters):
        others = np.delete(VALUES, int(rater[1:]), axis=0)
        assert rated.without[row] == pytest.approx(reliability(others))
        assert rated.norms_without[row] == pytest.approx(others.mean(axis=0))


def test_one_person_is_a_rater_against_the_others() -> None:
    """The mean over persons of Spearman's rho; pooled over ratings where raters are no persons."""
    others = [np.delete(VALUES, k, axis=0).mean(axis=0) for k in range(4)]
    each = [stats.spearmanr(VALUES[k], others[k])[0] for k in range(4)]
    assert value(rated_items(table(), WORDS, resamples=100).person) == pytest.approx(np.mean(each))
    pooled = stats.spearmanr(VALUES.ravel(), np.concatenate(others))[0]
    rated = rated_items(table(), WORDS, persons=False, resamples=100)
    assert value(rated.person) == pytest.approx(pooled)
    assert (rated.raters, len(rated.without)) == ((), 0)


def test_resamples_are_weights_of_words() -> None:
    """In a resample R is computed with each item as often as its word was drawn."""
    rated = rated_items(table(), WORDS, resamples=60)
    names = sorted(set(WORDS.values()))
    for draw in range(60):
        times = rated.draws.counts[draw, [names.index(WORDS[item]) for item in rated.items]]
        if len(set(np.flatnonzero(times))) < 3:
            continue
        assert rated.reliability[draw] == pytest.approx(reliability(np.repeat(VALUES, times, axis=1)))


def test_halves_agree_with_the_ratio_of_variances() -> None:
    """On many items the two estimates are close: 1 / (1 + 1 / 8) with eight ratings of equal noise."""
    generator = np.random.default_rng(3)
    values = generator.normal(size=400) + generator.normal(size=(8, 400))
    raters, items = np.repeat(np.arange(8), 400).astype(str), np.tile(np.arange(400), 8).astype(str)
    rated = rated_items(Ratings.from_arrays(raters, items, values.ravel()), {f"{k}": f"w{k}" for k in range(400)})
    assert value(rated.mean) == pytest.approx(8 / 9, abs=0.02)
    assert value(rated.halves) == pytest.approx(value(rated.mean), abs=0.01)


def test_the_spread_of_ratings_has_a_ceiling_of_its_own() -> None:
    """The norm is the standard deviation of the ratings of an item; one person has none."""
    rated = rated_items(table(), WORDS, of="spread", resamples=100)
    assert rated.norm == pytest.approx(VALUES.std(axis=0, ddof=1))
    assert isinstance(rated.person, Undefined)


def test_people_who_do_not_agree_have_no_ceiling() -> None:
    """Ratings that vary as much within items as between them: no root of a negative number."""
    values = np.array([[1.0, 5, 1, 5, 1, 5], [5.0, 1, 5, 1, 5, 1], [3.0, 3, 3, 3, 3, 2]])
    rated = rated_items(table(values), WORDS, resamples=50)
    assert isinstance(rated.attainable, Undefined)
    with pytest.raises(StatisticError, match="0 items have at least 2 ratings"):
        rated_items(table(VALUES[:1]), WORDS)
