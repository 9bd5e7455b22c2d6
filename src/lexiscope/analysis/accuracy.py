"""Accuracy of decisions: share right, compared with chance, with intervals; and contrasts of two conditions.

Items that come from one sentence are not independent: the main interval counts them as fewer items (as many as would
vary as much), the Wilson interval takes items as independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    BoolArray,
    group_codes,
    group_sums,
    grouped_mean_interval,
    no_interval,
    resampled_units,
    student_quantile,
)
from lexiscope.analysis.significance import TestResult, mcnemar, paired_t
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

# a variance of nothing but floating-point error is none
_TINY = 1e-24


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of right decisions.

    ``clustered`` allows for clusters of items (sentences), ``wilson`` takes items as independent. ``chance`` is what
    guessing reaches, NaN where it is not known; ``p_above_chance`` the exact one-sided binomial p of at least as many
    right decisions by chance. ``n_tied`` decisions were ties, which count as wrong. *Unit:* share, 0 to 1.
    """

    value: float
    n: int
    n_correct: int
    n_tied: int
    n_clusters: int
    chance: float
    p_above_chance: float
    clustered: Interval
    wilson: Interval

    def percent(self, name: str) -> Estimate:
        """Return the share as an estimate called *name*, with the interval of clusters. *Unit:* percent.

        >>> found = accuracy([1, 1, 1, 0], resamples=0).percent("right")
        >>> found.value, found.unit, found.n
        (75.0, 'percent', 4)
        """
        return Estimate(name, self.value, self.clustered, self.n, self.n_clusters).times(100, "percent")

    def results(self, **named: object) -> tuple[Estimate, ...]:
        """Return the accuracy, the bounds of Wilson's interval, chance and the number of ties. *Unit:* percent.

        *named* are parameters of their names, as what a score was divided by.

        >>> found = accuracy([1, 1, 1, 0], chance=0.5, resamples=0).results(per="token")
        >>> [(result.name, result.value) for result in found if result.name[0] in "pc"]
        [('percent_right(per=token)', 75.0), ('chance(of=percent_right,per=token)', 50.0)]
        """
        known = not math.isnan(self.chance)
        right = Estimate(
            statistic_name("percent_right", **named),
            100 * self.n_correct / self.n,
            self.clustered.times(100),
            self.n,
            self.n_clusters,
            unit="percent",
            p=self.p_above_chance if known else None,
            note=f"{self.n_correct} of {self.n}",
        )
        beside = {
            statistic_name("wilson", bound="low", **named): 100 * self.wilson.low,
            statistic_name("wilson", bound="high", **named): 100 * self.wilson.high,
        } | ({statistic_name("chance", of="percent_right", **named): 100 * self.chance} if known else {})
        ties = Estimate(statistic_name("n_tied", **named), float(self.n_tied), n=self.n)
        return right, *(Estimate(name, value, n=self.n, unit="percent") for name, value in beside.items()), ties


@dataclass(frozen=True, slots=True)
class PairedDecisions:
    """Two sets of decisions on the same items: the difference of accuracies and the tests of it.

    The four counts add up to ``n``. ``interval`` resamples clusters. ``t`` and ``exact`` are missing where they are
    undefined (no item differs, or all differ alike); ``note`` then has the reason. *Higher means:* the first is better.
    """

    difference: float
    n: int
    both_right: int
    only_first: int
    only_second: int
    neither: int
    interval: Interval
    t: TestResult | None
    exact: TestResult | None
    note: str = ""

    def results(self) -> tuple[Estimate | Undefined, ...]:
        """Return the difference in points, t with its p, McNemar's exact p, and how many only one of the two has right.

        >>> found = contrast([1, 1, 1, 0], [1, 0, 0, 1], resamples=0).results()
        >>> [(result.name, result.value) for result in found][3:]
        [('mcnemar_p', 1.0), ('discordant(only=first)', 2.0), ('discordant(only=second)', 1.0)]
        """
        n, reason = self.n, self.note.partition("undefined: ")[2]
        tests: list[Estimate | Undefined] = [Undefined(name, reason, n) for name in ("paired_t", "paired_t_p")]
        if self.t is not None:
            t, p = self.t.statistic, self.t.p
            tests = [Estimate("paired_t", t, n=n, p=p), Estimate("paired_t_p", p, n=n)]
        exact = Undefined("mcnemar_p", reason, n) if self.exact is None else Estimate("mcnemar_p", self.exact.p, n=n)
        only = (("first", self.only_first), ("second", self.only_second))
        return (
            Estimate("percent_right_difference", 100 * self.difference, self.interval.times(100), n, unit="points"),
            *tests,
            exact,
            *(Estimate(statistic_name("discordant", only=side), float(count), n=n) for side, count in only),
        )


def chance_level(n_options: int, *, n_winners: int = 1) -> float:
    """Return the chance that *n_winners* given options are the best of *n_options* exchangeable ones.

    >>> chance_level(2), chance_level(11), chance_level(12, n_winners=2) == 1 / 66
    (0.5, 0.09090909090909091, True)

    Errors: :class:`StatisticError` where there are not more options than winners.
    """
    if not 1 <= n_winners < n_options:
        raise StatisticError(f"{n_winners} winners of {n_options} options is not a choice")
    return float(Fraction(1, math.comb(n_options, n_winners)))


def wilson_interval(n_correct: int, n: int, *, level: float = 0.95, over: str = "items") -> Interval:
    """Return the Wilson score interval of a share, items taken as independent. *Source:* Wilson 1927.

    *over* is what the share is of, in the plural, for the printed name.

    >>> interval = wilson_interval(1, 2)
    >>> round(interval.low, 4), round(interval.high, 4), interval.method
    (0.0945, 0.9055, 'wilson(over=items,level=0.95)')

    Errors: :class:`StatisticError` without items, or with more right than there are.
    """
    if not 0 <= n_correct <= n or not n:
        raise StatisticError(f"{n_correct} right of {n} is not a share")
    low, high = _wilson_bounds(n_correct / n, n, NormalDist().inv_cdf((1 + level) / 2))
    return Interval(low, high, level, statistic_name("wilson", over=over, level=f"{level:g}"))


def _wilson_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    weight = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / weight
    margin = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    # rounding must leave no share outside its own interval
    return min(max(0.0, middle - margin), share), max(min(1.0, middle + margin), share)


def share_interval(
    hits: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Interval, int]:
    """Return the interval of a share of items that lie in clusters, and the number of clusters.

    Wilson's, of as many independent items as would vary as much as the clusters do (at most all items; as many as
    there are clusters where the share does not vary), with the t quantile of the clusters. Without *groups*, or where
    each item is its own, it is Wilson's interval of the items. It is computed without draws: *resamples* and *seed*,
    the options of all intervals, change nothing, but without resamples there are no intervals. Percentiles of draws
    hold a share of .9 of 15 clusters 89 % of the time, one of .98 70 %; this interval 94 and 97 %
    (docs/reference/coverage.md).

    *Shape:* hits (items,) of 0 and 1, groups (items,).
    *Source:* Korn & Graubard 1998, Survey Methodology 24 (effective number); Dean & Pagano 2015 (Wilson's with it).

    >>> words = ["a", "a", "b", "b", "c", "c"]
    >>> interval, n = share_interval([1, 1, 0, 0, 1, 0], groups=words)  # as 3 items, t of 2 degrees of freedom
    >>> round(interval.low, 3), round(interval.high, 3), interval.method, n
    (0.036, 0.964, 'wilson(over=groups,level=0.95)', 3)
    """
    values = np.asarray(hits, dtype=np.float64)
    units, n = resampled_units(groups), len(values)
    if len(set(range(n)) if groups is None else set(np.asarray(groups).tolist())) < 2:
        return no_interval("one group has no variation", level=level, resamples=0, resampled=units), 1
    codes, count = group_codes(groups, n)
    if not resamples:
        return no_interval("no resamples were asked for", level=level, resamples=0, resampled=units), count
    share, effective, z = float(values.mean()), float(n), NormalDist().inv_cdf((1 + level) / 2)
    if count < n:
        rest = group_sums(values - share, codes, count)
        # 0 to rounding where all items are alike
        variance = count / (count - 1) * float(rest @ rest) / n**2
        varies = variance > _TINY and 0 < share < 1
        effective, z = min(share * (1 - share) / variance if varies else count, n), student_quantile(level, count - 1)
    low, high = _wilson_bounds(share, effective, z)
    return Interval(low, high, level, statistic_name("wilson", over=units, level=f"{level:g}")), count


def accuracy(
    correct: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    tied: ArrayLike | None = None,
    chance: float = math.nan,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> Accuracy:
    """Return the share of right decisions with its intervals.

    *Shape:* correct, clusters, tied (items,). *clusters* are what varies (a sentence that serves several items is one:
    :func:`share_interval`); without them every item is its own. Of one cluster alone the share has no interval.

    >>> found = accuracy([1, 1, 1, 0], chance=0.5, resamples=0)
    >>> found.value, round(found.p_above_chance, 9)  # (4 + 1) / 2**4
    (0.75, 0.3125)

    Errors: :class:`StatisticError` without items, or where *correct* is not 0 and 1.
    """
    right = _flags(correct)
    interval, count = share_interval(right, groups=clusters, level=level, resamples=resamples, seed=seed)
    n, n_correct = len(right), int(right.sum())
    return Accuracy(
        value=n_correct / n,
        n=n,
        n_correct=n_correct,
        n_tied=0 if tied is None else int(np.sum(_flags(tied))),
        n_clusters=count,
        chance=chance,
        p_above_chance=_binomial_tail(n_correct, n, chance),
        clustered=interval,
        wilson=wilson_interval(n_correct, n, level=level),
    )


def contrast(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> PairedDecisions:
    """Compare two sets of decisions on the same items: paired t-test, exact McNemar test, interval by clusters.

    One cluster alone cannot be resampled: the difference has no interval.
    *Shape:* (items,) each. *Source:* Ivan et al. 2025, App. E (the t-test).

    >>> found = contrast([1, 1, 1, 0], [1, 0, 0, 1], resamples=0)  # 2 only first, 1 only second
    >>> found.difference, found.only_first, found.only_second, found.exact.p
    (0.25, 2, 1, 1.0)

    Errors: :class:`StatisticError` for unequal lengths or values other than 0 and 1.
    """
    a, b = _flags(first), _flags(second)
    if len(a) != len(b):
        raise StatisticError(f"a contrast needs decisions on the same items, not {len(a)} and {len(b)}")
    moved = a.astype(np.float64) - b.astype(np.float64)
    interval = grouped_mean_interval(moved, clusters, level=level, resamples=resamples, seed=seed)
    only_first, only_second = int(np.sum(a & ~b)), int(np.sum(~a & b))
    t, exact, note = _tests(a, b, only_first, only_second, level)
    return PairedDecisions(
        difference=(only_first - only_second) / len(a),
        n=len(a),
        both_right=int(np.sum(a & b)),
        only_first=only_first,
        only_second=only_second,
        neither=int(np.sum(~a & ~b)),
        interval=interval,
        t=t,
        exact=exact,
        note=note,
    )


def _tests(
    a: BoolArray, b: BoolArray, only_first: int, only_second: int, level: float
) -> tuple[TestResult | None, TestResult | None, str]:
    if not only_first + only_second:
        return None, None, "undefined: the two differ on no item"
    exact = mcnemar(only_first, only_second, level=level)
    if max(only_first, only_second) == len(a):
        return None, exact, "t is undefined: the two differ on every item, in one direction"
    return paired_t(a.astype(np.float64), b.astype(np.float64), level=level), exact, ""


def _binomial_tail(n_correct: int, n: int, chance: float) -> float:
    """P(at least this many of n right) by chance, summed exactly; NaN where chance is not known."""
    if math.isnan(chance):
        return math.nan
    if not 0 < chance < 1:
        raise StatisticError(f"a chance level is between 0 and 1, not {chance:g}")
    terms = [
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(chance)
        + (n - k) * math.log1p(-chance)
        for k in range(n_correct, n + 1)
    ]
    return min(1.0, math.fsum(math.exp(term) for term in terms))


def _flags(values: ArrayLike) -> BoolArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array) or not np.isin(array, (0.0, 1.0)).all():
        raise StatisticError("decisions are a column of 0 and 1, at least one")
    return np.asarray(array == 1.0)
