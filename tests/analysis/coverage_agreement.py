"""Simulated studies of agreement: how often the intervals hold the truth, by default settings.

Each case draws a study of a population whose truth is known, by formula or from a study far larger, and returns the
interval of the statistic and that truth. ``tests/analysis/test_coverage.py`` counts them, and prints the table; a small
version runs in ``tests/analysis/agreement/test_left_out.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TypedDict

import numpy as np
from scipy import stats

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import (
    best_rater,
    majority_accuracy,
    mean_squared_rho,
    reliability_of_means,
    split_half,
    squared_mean_rho,
)
from lexiscope.analysis.agreement.choices import cohen_kappa, fleiss_kappa, percent_agreement, vote_share
from lexiscope.analysis.agreement.consistency import group_consistency
from lexiscope.analysis.agreement.raters import included, leave_one_out, pairwise_agreement
from lexiscope.analysis.bootstrap import FloatArray, GroupOf
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.result import Interval

Study = Callable[[np.random.Generator, int], tuple[float, float, float]]


class Case(TypedDict):
    """A statistic, its design in words, the sizes at which it is tried, and a function that simulates one study."""

    statistic: str
    design: str
    n: list[int]
    function: Study


def ratings_of(table: FloatArray) -> Ratings:
    """Ratings of a table without gaps, or with NaN for them. *Shape:* (raters, items)."""
    rater, item = np.nonzero(~np.isnan(table))
    ids = (tuple(f"{name}{number:05}" for number in range(size)) for name, size in zip("ri", table.shape, strict=True))
    return Ratings(rater.astype(np.int64), item.astype(np.int64), table[rater, item], *ids)


# -- ratings: items and raters are drawn; what is fixed is said in the design ---------------------------------------

_SD = 0.5
"""SD of the severity of raters, where there is one; items and noise have 1."""


def _ratings(rng: np.random.Generator, n_raters: int, n_items: int, severity: float) -> FloatArray:
    items, raters = rng.standard_normal(n_items), severity * rng.standard_normal((n_raters, 1))
    return np.asarray(items + raters + rng.standard_normal((n_raters, n_items)))


def _points(values: FloatArray) -> FloatArray:
    """The same on a scale from 0 to 4."""
    return np.clip(np.round(2 + 1.2 * values), 0, 4)


@cache
def _fixed_items(n_items: int) -> FloatArray:
    return np.random.default_rng(7).standard_normal(n_items)


def _raters_of_fixed_items(rng: np.random.Generator, n_raters: int, n_items: int = 60) -> Ratings:
    """Raters who differ in severity, in how far they follow the items, and in noise."""
    follow = rng.uniform(0.2, 1.4, (n_raters, 1))
    noise = rng.uniform(0.6, 1.4, (n_raters, 1)) * rng.standard_normal((n_raters, n_items))
    severity = _SD * rng.standard_normal((n_raters, 1))
    return ratings_of(_points(follow * _fixed_items(n_items) + severity + noise))


def _bounds(interval: Interval, truth: float) -> tuple[float, float, float]:
    # without bounds nothing is excluded: two raters of twenty items may agree on all
    if not interval.is_defined:
        return -math.inf, math.inf, truth
    return interval.low, interval.high, truth


_OVER_RATERS: dict[str, Callable[[Ratings, int], tuple[float, Interval]]] = {
    "leave_one_out_agreement": lambda ratings, n: _pair(leave_one_out(ratings, resamples=n)),
    "included_agreement": lambda ratings, n: _pair(included(ratings, resamples=n)),
    "squared_mean_rater_correlation": lambda ratings, n: _value(squared_mean_rho(leave_one_out(ratings, resamples=n))),
    "mean_squared_rater_correlation": lambda ratings, n: _value(mean_squared_rho(leave_one_out(ratings, resamples=n))),
    "pairwise_agreement": lambda ratings, n: _value(pairwise_agreement(ratings, resamples=n)),
}


def _pair(agreement) -> tuple[float, Interval]:  # type: ignore[no-untyped-def]
    return agreement.mean, agreement.interval


def _value(estimate) -> tuple[float, Interval]:  # type: ignore[no-untyped-def]
    return estimate.value, estimate.interval


@cache
def _truth_over_raters(statistic: str, n: int) -> float:
    """The mean of the statistic over studies of *n* raters of the fixed items; the square of a mean is that of it."""
    rng = np.random.default_rng(11)
    base = "leave_one_out_agreement" if statistic == "squared_mean_rater_correlation" else statistic
    studies = max(200, 12_000 // n)
    mean = float(np.mean([_OVER_RATERS[base](_raters_of_fixed_items(rng, n), 0)[0] for _ in range(studies)]))
    return mean**2 if base != statistic else mean


def _over_raters(statistic: str) -> Study:
    def study(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
        _, interval = _OVER_RATERS[statistic](_raters_of_fixed_items(rng, n), 2000)
        return _bounds(interval, _truth_over_raters(statistic, n))

    return study


# -- alpha ----------------------------------------------------------------------------------------------------------


def _alpha_items(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    interval = krippendorff_alpha(ratings_of(_ratings(rng, 5, n, 0.0))).interval
    return _bounds(interval, 1 / 2)


def _alpha_raters(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    interval = krippendorff_alpha(ratings_of(_ratings(rng, n, 60, _SD))).interval
    return _bounds(interval, 1 / (2 + _SD**2))


def _alpha_over(resampled: str) -> Study:
    def study(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
        table = _ratings(rng, n, 60, 0.0) if resampled == "items" else _fixed_alpha(rng, n)
        interval = krippendorff_alpha(ratings_of(table), resampled=resampled).interval  # type: ignore[arg-type]
        return _bounds(interval, 1 / 2 if resampled == "items" else _truth_of_fixed_alpha())

    return study


def _fixed_alpha(rng: np.random.Generator, n_raters: int) -> FloatArray:
    severity = _SD * rng.standard_normal((n_raters, 1))
    return np.asarray(_fixed_items(60) + severity + rng.standard_normal((n_raters, 60)))


@cache
def _truth_of_fixed_alpha() -> float:
    return krippendorff_alpha(ratings_of(_fixed_alpha(np.random.default_rng(3), 20_000)), resamples=0).value


@cache
def _truth_on_points(level: Level) -> float:
    """Alpha of the population: the probabilities of two raters' points for one item, summed over the items' values."""
    item, weight = np.polynomial.hermite_e.hermegauss(200)
    ends = (np.array([-np.inf, 0.5, 1.5, 2.5, 3.5, np.inf]) - 2) / 1.2
    # given the item, a rating varies by severity and noise
    points = np.diff(stats.norm.cdf((ends - item[:, None]) / math.sqrt(1 + _SD**2)), axis=1)
    together = np.einsum("i,ia,ib->ab", weight / weight.sum(), points, points)
    alone = together.sum(axis=0)
    value = np.arange(5.0)
    if level == "ordinal":
        value = np.cumsum(alone) - alone / 2
    apart = (value[:, None] - value) ** 2
    if level == "ratio":
        apart /= np.maximum(value[:, None] + value, 1.0) ** 2
    return 1 - float((together * apart).sum() / (np.outer(alone, alone) * apart).sum())


def _alpha_of_points(level: Level) -> Study:
    def study(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
        ratings = ratings_of(_points(_ratings(rng, n, 60, _SD)))
        return _bounds(krippendorff_alpha(ratings, level=level).interval, _truth_on_points(level))

    return study


def _alpha_of_lists(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    """Raters in lists: each of n/8 lists has 20 items and 8 raters of its own."""
    table = np.full((n, n // 8 * 20), np.nan)
    for number in range(n // 8):
        table[number * 8 : number * 8 + 8, number * 20 : number * 20 + 20] = _ratings(rng, 8, 20, _SD)
    return _bounds(krippendorff_alpha(ratings_of(table)).interval, 1 / (2 + _SD**2))


def _alpha_by_words(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    """Items of n words, four of each, alike within a word; eight raters."""
    words = np.sqrt(0.5) * np.repeat(rng.standard_normal(n), 4)
    own = np.sqrt(0.5) * rng.standard_normal(4 * n)
    severity = _SD * rng.standard_normal((8, 1))
    ratings = ratings_of(words + own + severity + rng.standard_normal((8, 4 * n)))
    groups = GroupOf({item: f"w{number // 4}" for number, item in enumerate(ratings.item_ids)}, "words")
    return _bounds(krippendorff_alpha(ratings, groups=groups).interval, 1 / (2 + _SD**2))


def _reliability(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    alpha = krippendorff_alpha(ratings_of(_ratings(rng, 5, n, 0.0)))
    return _bounds(reliability_of_means(alpha, 5).interval, 5 / 6)


# -- choices --------------------------------------------------------------------------------------------------------

_OPTIONS = 3


def _choices(rng: np.random.Generator, n_raters: int, n_items: int) -> FloatArray:
    """Each rater knows the answer of an item with a chance that differs between raters and items, or guesses."""
    right = rng.integers(0, _OPTIONS, n_items)
    ease = rng.uniform(-1.5, 1.5, n_items) + rng.normal(0, 0.7, (n_raters, 1)) + 0.5
    knows = rng.random((n_raters, n_items)) < 1 / (1 + np.exp(-ease))
    return np.where(knows, right, rng.integers(0, _OPTIONS, (n_raters, n_items))).astype(np.float64)


@cache
def _truth_of_choices() -> tuple[float, float]:
    whole = ratings_of(_choices(np.random.default_rng(9), 500, 4000))
    alpha = krippendorff_alpha(whole, level="nominal", resamples=0).value
    return percent_agreement(whole, resamples=0).value, alpha


def _percent(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    return _bounds(percent_agreement(ratings_of(_choices(rng, n, 60))).interval, _truth_of_choices()[0])


@cache
def _true_fleiss() -> float:
    return fleiss_kappa(ratings_of(_choices(np.random.default_rng(9), 500, 4000)), resamples=0).value


def _fleiss(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    return _bounds(fleiss_kappa(ratings_of(_choices(rng, n, 60))).interval, _true_fleiss())


def _percent_high(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    """Two raters, who agree on nine of ten items: only items are a sample."""
    same = rng.random(n) < 0.9
    interval = percent_agreement(ratings_of(np.stack([np.zeros(n), 1.0 - same])), resampled="items").interval
    return _bounds(interval, 0.9)


def _nominal(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    interval = krippendorff_alpha(ratings_of(_choices(rng, n, 60)), level="nominal").interval
    return _bounds(interval, _truth_of_choices()[1])


_CELLS = np.array([[0.35, 0.06, 0.03], [0.05, 0.2, 0.05], [0.02, 0.04, 0.2]])


def _kappa(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    first, second = np.divmod(rng.choice(9, size=n, p=_CELLS.ravel()), 3)
    chance = float(_CELLS.sum(axis=1) @ _CELLS.sum(axis=0))
    return _bounds(cohen_kappa(first, second).interval, (float(np.trace(_CELLS)) - chance) / (1 - chance))


_VOTES = np.array([0.6, 0.25, 0.15])


def _votes(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    """Three votes on each of n items, by raters who judge one item each."""
    votes = rng.choice(3, size=(n, 3), p=_VOTES)
    item, number = np.repeat(np.arange(n), 3), np.arange(3 * n)
    raters, items = (tuple(f"{k:05}" for k in range(size)) for size in (3 * n, n))
    ratings = Ratings(number, item, votes.ravel().astype(np.float64), raters, items)
    a, b, c = _VOTES
    # all three alike; all different; else two of three
    alike, different = float((_VOTES**3).sum()), 6 * float(a * b * c)
    truth = alike + different / 3 + (1 - alike - different) * 2 / 3
    return _bounds(vote_share(ratings).interval, truth)  # type: ignore[union-attr]


def _majority(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    right = (rng.random((3, n)) < 0.75).astype(np.float64)
    ratings = ratings_of(right)
    found = majority_accuracy(ratings, dict.fromkeys(ratings.item_ids, 1.0))
    return _bounds(found.interval, 0.75**3 + 3 * 0.75**2 * 0.25)


# -- ceilings and consistency ---------------------------------------------------------------------------------------


def _split_half(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    found = split_half(ratings_of(_ratings(rng, 8, n, _SD)), splits=35)
    return _bounds(found.interval, 1 / (1 + 1 / 8))


def _consistency(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    ratings = ratings_of(_ratings(rng, 16, n, _SD))
    groups = {rater: "ab"[number % 2] for number, rater in enumerate(ratings.rater_ids)}
    return _bounds(group_consistency(ratings, groups)[0].interval, 1 / (1 + 1 / 8))


def _best_of_groups(rng: np.random.Generator, n: int) -> tuple[Ratings, dict[str, str]]:
    """n groups of five raters, each with ten items of its own."""
    table = np.full((5 * n, 10 * n), np.nan)
    for number in range(n):
        table[5 * number : 5 * number + 5, 10 * number : 10 * number + 10] = _points(_ratings(rng, 5, 10, _SD))
    ratings = ratings_of(table)
    return ratings, {rater: f"g{number // 5:04}" for number, rater in enumerate(ratings.rater_ids)}


@cache
def _truth_of_best() -> float:
    rng = np.random.default_rng(13)
    studies = [_best_of_groups(rng, 50) for _ in range(40)]
    found = [best_rater(leave_one_out(ratings, resamples=0), groups, resamples=0) for ratings, groups in studies]
    return float(np.mean([estimate.value for estimate in found]))


def _best(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    ratings, groups = _best_of_groups(rng, n)
    return _bounds(best_rater(leave_one_out(ratings, resamples=0), groups).interval, _truth_of_best())


_ITEMS_FIXED = "raters who differ in severity, slope and noise; 60 items, fixed; 5 points"

CASES: list[Case] = [
    {
        "statistic": "leave_one_out_agreement",
        "design": f"n {_ITEMS_FIXED}",
        "n": [5, 10, 30],
        "function": _over_raters("leave_one_out_agreement"),
    },
    *(
        Case(statistic=name, design=f"n {_ITEMS_FIXED}", n=n, function=_over_raters(name))
        for name, n in (
            ("included_agreement", [5, 10, 30]),
            # of five raters, one study in a thousand has a negative mean, which has no square
            ("squared_mean_rater_correlation", [10, 30]),
            ("mean_squared_rater_correlation", [10, 30]),
        )
    ),
    {
        "statistic": "pairwise_agreement",
        "design": f"n {_ITEMS_FIXED}",
        "n": [5, 8, 30],
        "function": _over_raters("pairwise_agreement"),
    },
    {"statistic": "krippendorff_alpha", "design": "5 raters, n items", "n": [20, 60, 200], "function": _alpha_items},
    {
        "statistic": "krippendorff_alpha",
        "design": "n raters of different severity, 60 items",
        "n": [5, 10, 20],
        "function": _alpha_raters,
    },
    {
        "statistic": "krippendorff_alpha(resampled=items)",
        "design": "n raters, 60 items",
        "n": [2, 5],
        "function": _alpha_over("items"),
    },
    {
        "statistic": "krippendorff_alpha(resampled=raters)",
        "design": "n raters of different severity, 60 items, fixed",
        "n": [10, 20],
        "function": _alpha_over("raters"),
    },
    *(
        Case(
            statistic=f"krippendorff_alpha(level={level})",
            design="n raters of different severity, 60 items, 5 points",
            n=[5, 20],
            function=_alpha_of_points(level),
        )
        for level in ("ordinal", "ratio")
    ),
    {
        "statistic": "krippendorff_alpha(level=nominal)",
        "design": "n raters, 60 questions of 3 options",
        "n": [5, 20],
        "function": _nominal,
    },
    {
        "statistic": "krippendorff_alpha",
        "design": "lists of 20 items with 8 raters each, n raters in all",
        "n": [16, 64],
        "function": _alpha_of_lists,
    },
    {
        "statistic": "krippendorff_alpha",
        "design": "8 raters, n words of 4 items, whole words excluded",
        "n": [15, 60],
        "function": _alpha_by_words,
    },
    {"statistic": "reliability_of_means", "design": "5 raters, n items", "n": [20, 60], "function": _reliability},
    {
        "statistic": "percent_agreement",
        "design": "n raters, 60 questions of 3 options",
        "n": [5, 20],
        "function": _percent,
    },
    {
        "statistic": "fleiss_kappa",
        "design": "n raters, 60 questions of 3 options",
        "n": [5, 20],
        "function": _fleiss,
    },
    {
        "statistic": "percent_agreement(resampled=items)",
        "design": "2 raters, n items, .9 the same",
        "n": [20, 60],
        "function": _percent_high,
    },
    {"statistic": "cohen_kappa", "design": "2 raters, n items, 3 options", "n": [20, 50, 200], "function": _kappa},
    {"statistic": "vote_share", "design": "n items, 3 votes each", "n": [20, 60], "function": _votes},
    {"statistic": "majority_accuracy", "design": "n items, 3 votes each", "n": [40, 100], "function": _majority},
    {"statistic": "split_half_reliability", "design": "8 raters, n items", "n": [20, 60], "function": _split_half},
    {
        "statistic": "group_consistency",
        "design": "2 groups of 8 raters, n items",
        "n": [25, 60],
        "function": _consistency,
    },
    {
        "statistic": "best_rater_correlation",
        "design": "n groups of 5 raters and 10 items",
        "n": [10, 30],
        "function": _best,
    },
]
