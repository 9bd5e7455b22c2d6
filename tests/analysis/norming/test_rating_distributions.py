"""Distributions of ratings: compared with scipy, and with halves counted by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.norming.rating_distributions import (
    compare_distributions,
    counts_at_points,
    disagreement,
    divergence,
    earth_movers_distance,
    entropy,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined

POINTS = (0.0, 1.0, 2.0, 4.0)


def test_distances_of_two_distributions_equal_scipy() -> None:
    """Earth mover's distance, divergence with half a count added, entropy, and the mean difference of two ratings."""
    rng = np.random.default_rng(1)
    first, second = (rng.integers(0, 6, (20, 4)) + np.array(own) for own in ([1, 0, 0, 1], [0, 1, 1, 0]))
    moved, bits = earth_movers_distance(first, second, POINTS), divergence(first, second)
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        assert moved[row] == pytest.approx(stats.wasserstein_distance(POINTS, POINTS, a, b))
        assert bits[row] == pytest.approx(stats.entropy(a + 0.5, b + 0.5, base=2))
        assert entropy(first)[row] == pytest.approx(stats.entropy(a, base=2))
        ratings = np.repeat(POINTS, a)
        pairs = [abs(x - y) for x, y in combinations(ratings, 2)]
        assert disagreement(first, POINTS)[row] == pytest.approx(np.mean(pairs))


def simulated(seed: int) -> tuple[Ratings, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Twelve raters of 60 items that differ in their mean and in how much raters disagree; the shares of each point."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([0.4] * 5, 60)
    values = np.array([rng.choice(5, 12, p=own) for own in shares]).T
    names = [f"i{i:02}" for i in range(60)]
    return Ratings.from_arrays(np.repeat([f"r{r:02}" for r in range(12)], 60), names * 12, values.ravel()), shares


def test_a_model_that_knows_the_shares_reaches_the_ceiling() -> None:
    """The true shares are closer to half of the people than the other half is: it has noise, they have none. A model
    with the shares of another item is farther, and its entropies are unrelated."""
    ratings, shares = simulated(2)
    good = {(own.name, own.subject): own for own in compare_distributions(ratings, shares, range(5), splits=4)}
    bad = {(own.name, own.subject): own for own in compare_distributions(ratings, shares[::-1], range(5), splits=4)}
    for (name, subject), ceiling in good.items():
        if subject:
            own, other = good[name, ""], bad[name, ""]
            assert isinstance(own, Estimate)
            assert isinstance(other, Estimate)
            assert isinstance(ceiling, Estimate)
            better = own.value < ceiling.value < other.value
            assert better if "correlation" not in name else own.value > ceiling.value > other.value
            assert own.interval.low < own.value < own.interval.high


def test_a_model_with_one_rating_has_no_disagreement() -> None:
    """Its entropy is the same for each item: the correlations are undefined, with the remedy; distances are not."""
    ratings, _ = simulated(3)
    single = counts_at_points(np.arange(60) % 5, np.arange(60), 60, range(5))
    by_name = {(own.name, own.subject): own for own in compare_distributions(ratings, single, range(5), splits=2)}
    undefined = by_name["entropy_correlation(method=spearman)", ""]
    assert isinstance(undefined, Undefined)
    assert "ask the model several times" in undefined.reason
    assert isinstance(by_name["earth_movers_distance", ""], Estimate)
    with pytest.raises(StatisticError, match="7 is not a point of the scale"):
        counts_at_points([7], [0], 1, range(5))
