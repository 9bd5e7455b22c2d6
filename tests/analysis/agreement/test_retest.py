"""Ratings of one item by one rater, an earlier and a later one: pairs, their correlation, the share that are equal."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lexiscope.analysis.agreement.retest import retest
from lexiscope.core.errors import StatisticError


def test_every_two_ratings_of_a_rater_are_a_pair() -> None:
    """Three ratings are three pairs, each in its order; a missing one is in none, and raters are never paired."""
    pairs = retest(list("aabaaab"), list("ijiiijj"), [1, 5, 1, 2, 3, math.nan, 5])
    earlier_later = zip(pairs.raters, pairs.items, pairs.earlier.tolist(), pairs.later.tolist(), strict=True)
    assert list(earlier_later) == [("a", "i", 1, 2), ("a", "i", 1, 3), ("a", "i", 2, 3)]


def test_the_worked_example() -> None:
    """Earlier 1 2 3 4 and later 1 3 2 4: ρ = 1 − 6 · (0 + 1 + 1 + 0) / (4 · 15) = .8; two of four pairs are equal."""
    earlier, later = [1, 2, 3, 4], [1, 3, 2, 4]
    pairs = retest(["a"] * 8, list("ijklijkl"), earlier + later)
    rho, same = pairs.spearman(resamples=200), pairs.exact()
    assert (rho.name, rho.n, round(rho.value, 12)) == ("retest_agreement(method=spearman)", 4, 0.8)
    assert (same.name, same.n, same.value) == ("retest_agreement(method=exact)", 4, 2 / 4)
    assert same.interval.low is not None
    assert same.interval.low < 0.5 < (same.interval.high or 0)


def test_words_are_resampled_whole() -> None:
    """Items of one word are one cluster of the intervals."""
    pairs = retest(["a"] * 8, list("ijklijkl"), [1, 2, 3, 4, 1, 3, 2, 4])
    words = {"i": "bank", "j": "bank", "k": "seal", "l": "seal"}
    assert (pairs.exact(groups=words).n_groups, pairs.exact().n_groups) == (2, 4)


def test_without_pairs_there_is_no_value() -> None:
    """A table in which no rater rated an item twice has no agreement of raters with themselves."""
    with pytest.raises(StatisticError, match="no rater rated an item repeatedly"):
        retest(["a", "b"], ["i", "i"], np.array([1.0, 2.0])).exact()
