"""Accuracy beside chance, its two intervals, and contrasts with t and exact McNemar."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.accuracy import accuracy, chance_level, contrast, share_interval, wilson_interval
from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.core.errors import StatisticError


def test_chance_of_two_eleven_and_both_of_twelve() -> None:
    """1/2, 1/11, and 1/66 = 2 · 1 / (12 · 11) for two given words to be the two best of twelve."""
    assert chance_level(2) == 1 / 2
    assert chance_level(11) == 1 / 11
    assert chance_level(12, n_winners=2) == pytest.approx(2 / (12 * 11), abs=1e-15)
    with pytest.raises(StatisticError):
        chance_level(1)


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10), (170, 200), (1, 3)])
def test_wilson_is_scipys(right: int, n: int) -> None:
    """The score interval without continuity correction, inside 0 to 1."""
    expected = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    found = wilson_interval(right, n)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_accuracy_above_chance_is_the_exact_binomial_tail() -> None:
    """135 of 200 at chance 1/2: the specification gives p = 4e-7, one-sided."""
    found = accuracy([1] * 135 + [0] * 65, chance=0.5, resamples=50)
    assert found.value == 0.675
    assert found.p_above_chance == pytest.approx(stats.binomtest(135, 200, alternative="greater").pvalue, rel=1e-9)
    assert f"{found.p_above_chance:.0e}" == "4e-07"


def test_clusters_widen_the_interval() -> None:
    """100 items in 20 sentences that are right or wrong as a whole: the interval is that of 20 values, not of 100."""
    rng = np.random.default_rng(5)
    whole = np.repeat(rng.integers(0, 2, 20), 5)
    alone = accuracy(whole, resamples=2000, seed=1).clustered
    together = accuracy(whole, clusters=np.repeat(np.arange(20), 5), resamples=2000, seed=1)
    assert together.n_clusters == 20
    # the SD of a mean of 20 values is √5 times that of 100
    ratio = (together.clustered.high - together.clustered.low) / (alone.high - alone.low)
    assert ratio == pytest.approx(math.sqrt(5), rel=0.15)


def test_clusters_of_one_item_are_items() -> None:
    """The names of clusters do not matter, only who shares one: it is Wilson's interval of the items."""
    right = [1, 0, 1, 1, 0, 1]
    of_clusters, of_items = accuracy(right, clusters=list("abcdef")), accuracy(right)
    assert (of_clusters.clustered.low, of_clusters.clustered.high) == (of_items.wilson.low, of_items.wilson.high)
    assert (of_items.clustered.low, of_items.clustered.high) == (of_items.wilson.low, of_items.wilson.high)


def test_the_interval_of_clusters_is_wilsons_of_the_effective_number() -> None:
    """p (1 − p) over the variance of a share of clusters (Cochran 1977, 3.5) is the number of items; t of clusters."""
    groups, right = list("aaabbccddd"), [1, 1, 0, 1, 1, 0, 0, 1, 0, 0]
    found, n_clusters = share_interval(right, groups=GroupLabels(groups, "sentences"))
    p = 0.5
    rest = [sum(hit - p for hit, group in zip(right, groups, strict=True) if group == name) for name in "abcd"]
    variance = 4 / 3 * sum(value**2 for value in rest) / 10**2
    effective, t = min(p * (1 - p) / variance, 10), stats.t.ppf(0.975, 3)
    # Wilson's bounds are the roots of (p − x)² = t² x (1 − x) / n
    roots = np.roots([1 + t**2 / effective, -(2 * p + t**2 / effective), p**2])
    assert (found.low, found.high) == pytest.approx(sorted(roots))
    assert (found.method, n_clusters) == ("wilson(over=sentences,level=0.95)", 4)
    sure, _ = share_interval([1] * 10, groups=groups)
    assert (sure.low, sure.high) == pytest.approx((4 / (4 + t**2), 1.0))  # as 4 right of 4, with t


def test_a_contrast_is_scipys_paired_t_and_the_exact_binomial() -> None:
    """t on the 0/1 differences with ddof 1; McNemar on the discordant items alone."""
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    found = contrast(first, second, resamples=20)
    expected = stats.ttest_rel(first, second)
    assert found.t is not None
    assert found.exact is not None
    assert (found.t.statistic, found.t.p) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)
    assert found.exact.p == stats.binomtest(found.only_first, found.only_first + found.only_second).pvalue
    assert found.both_right + found.only_first + found.only_second + found.neither == 200
    assert found.difference == pytest.approx(first.mean() - second.mean(), abs=1e-12)


def test_fifteen_more_of_two_hundred_gives_the_printed_t() -> None:
    """Nested criteria, 15 more right of 200: t = −√(199 · 15 / 185) = −4.02, as the paper prints for gap filling."""
    wide, narrow = [1] * 40 + [0] * 160, [1] * 25 + [0] * 175
    found = contrast(narrow, wide, resamples=0)
    assert found.t is not None
    assert found.t.statistic == pytest.approx(-math.sqrt(199 * 15 / 185), abs=1e-12)
    assert f"{found.t.statistic:.2f}" == "-4.02"


def test_what_is_undefined_says_so() -> None:
    """No differing item: no test at all. All differ one way: no t, but an exact p."""
    same = contrast([1, 0, 1], [1, 0, 1], resamples=10)
    assert (same.t, same.exact) == (None, None)
    assert "no item" in same.note
    ends = contrast([1, 1, 1], [0, 0, 0], resamples=10)
    assert ends.t is None
    assert ends.exact is not None
    assert ends.exact.p == 2 * 0.5**3


@pytest.mark.parametrize("wrong", [[0.5, 1.0], [], [1, 2]])
def test_only_zero_and_one_are_decisions(wrong: list[float]) -> None:
    """A score that slipped in is refused, not averaged."""
    with pytest.raises(StatisticError):
        accuracy(wrong)


def test_one_cluster_has_a_share_without_an_interval() -> None:
    """Two items of one sentence, one item alone: the share is there, and why it has no interval."""
    for found in (accuracy([1, 0], clusters=["s", "s"]), accuracy([1])):
        assert (found.n_clusters, found.clustered.is_defined) == (1, False)
        assert found.clustered.note == "no interval: one group has no variation"


def test_one_cluster_has_a_difference_without_an_interval() -> None:
    """Items of one sentence: 2 of 3 right against 1 of 3 is 1/3; one group cannot be resampled: the note says so."""
    found = contrast([1, 1, 0], [1, 0, 0], clusters=["a", "a", "a"], resamples=50)
    assert found.difference == pytest.approx(1 / 3)
    assert found.interval.note == "no interval: one group has no variation"
