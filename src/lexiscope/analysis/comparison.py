"""Comparisons: the difference of a statistic between two sides on the same draws, with its interval and p.

A side is a statistic of some rows: one subject, layer, view or condition. Both sides share the groups of their rows
(words): each resample draws the same groups for both, so that what they have in common is not counted as chance. The
sides may have the same rows (two models) or others (two conditions of a word).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.agreement.alpha import Level, alpha_draws, krippendorff_alpha
from lexiscope.analysis.bootstrap import (
    FEWEST_OF_PERCENTILES,
    FloatArray,
    IntArray,
    group_codes,
    group_sums,
    percentile_interval,
    ratio_draws,
    require_finite,
    resample_counts,
    resample_rows,
    resampled_units,
    student_share,
    value_or_nan,
)
from lexiscope.analysis.correlation import (
    correlation_value,
    drawn_correlations,
    settle_ties,
    weighted_separations,
)
from lexiscope.analysis.ranks import CORRELATIONS, RankSet, rank_sets_of_draws
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.significance import TestResult, permutation, sign_flip
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost, Interval

Draw = Callable[[IntArray, int, int, int], FloatArray]
ExactTest = Literal["sign_flip", "permutation"]
"""Tests of a difference of two means that assume exchangeability and no distribution."""
STATISTICS = (*CORRELATIONS, "auc", "accuracy", "mean", "alpha")
"""Named statistics: correlations and the area under the ROC curve of two columns, the mean of one, alpha of ratings."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A statistic of one side: its value, the group of each of its rows, and its values in resamples of groups.

    ``draw(codes, n_groups, resamples, seed)`` takes the code of each row's group, of the groups of both sides.
    """

    name: str
    value: float
    labels: tuple[str, ...]
    draw: Draw


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The difference of two sides, *first* minus *second*, with its interval and p.

    ``p`` is twice the smaller share of resamples at or beyond 0, the data counted as one of them: an
    :class:`~lexiscope.core.result.AtMost` if no resample is, ``None`` without an interval. ``n`` are the rows of the
    first side, ``n_groups`` the groups of both.
    """

    name: str
    first: float
    second: float
    interval: Interval
    p: float | None
    n: int
    n_groups: int

    @property
    def value(self) -> float:
        """The difference."""
        return self.first - self.second

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval has bounds, and 0 is not between them."""
        return self.interval.is_defined and not self.interval.low <= 0 <= self.interval.high


def side_of_columns(statistic: str, columns: Sequence[ArrayLike], labels: Sequence[str]) -> Side:
    """Return a side of a named statistic: of two columns for a correlation and ``auc``, else of one.

    *Shape:* columns and labels (rows,). Errors: :class:`StatisticError` for another statistic or number of columns, for
    missing values, for an accuracy of other values than 0 to 1, and for an area without both kinds of correct answers.

    >>> side_of_columns("auc", [[0.1, 0.4, 0.3, 0.2], [0, 1, 1, 0]], list("aabb")).value
    1.0
    """
    arrays = [np.asarray(column, dtype=np.float64) for column in columns]
    if statistic not in STATISTICS or statistic == "alpha":
        raise StatisticError(f"no statistic of columns {statistic!r}; valid names: {', '.join(STATISTICS[:-1])}")
    wanted = 2 if statistic in (*CORRELATIONS, "auc") else 1
    if len(arrays) != wanted or any(array.shape != (len(labels),) for array in arrays) or not len(labels):
        shapes = [array.shape for array in arrays]
        raise StatisticError(f"{statistic} needs {wanted} columns of {len(labels)} rows, not shapes {shapes}")
    require_finite(statistic, *arrays)
    kind = next((kind for kind in CORRELATIONS if kind == statistic), None)
    if kind is not None:
        x, y = arrays
        value = correlation_value(x, y, kind=kind)

        def draw(codes: IntArray, n_groups: int, resamples: int, seed: int) -> FloatArray:
            return drawn_correlations(x, y, codes, n_groups, kind=kind, resamples=resamples, seed=seed)

        return Side(statistic, value, tuple(labels), draw)
    if statistic == "auc":
        return _side_of_area(arrays[0], arrays[1], labels)
    (values,) = arrays
    if statistic == "accuracy" and not ((values >= 0) & (values <= 1)).all():
        raise StatisticError("an accuracy is a mean of decisions: values are between 0 (wrong) and 1 (right)")

    def draw_mean(codes: IntArray, n_groups: int, resamples: int, seed: int) -> FloatArray:
        return ratio_draws(values, np.ones(len(values)), codes, n_groups, resamples=resamples, seed=seed)

    return Side(statistic, float(values.mean()), tuple(labels), draw_mean)


def area_under_roc(values: FloatArray, truth: FloatArray) -> float:
    """Return how often a value with the correct answer 1 exceeds one with 0, ties half. *Shape:* (rows,) each.

    Errors: :class:`StatisticError` for correct answers other than 0 and 1, or of one kind alone.
    """
    if not np.isin(truth, (0.0, 1.0)).all() or len(set(truth.tolist())) < 2:
        raise StatisticError("an area under the curve needs correct answers of both kinds, 0 and 1")
    everything = np.ones((1, len(values)), dtype=np.int64)
    return float(weighted_separations(values[:, None], truth > 0, np.arange(len(values)), everything)[0, 0])


def _side_of_area(values: FloatArray, truth: FloatArray, labels: Sequence[str]) -> Side:
    settled = settle_ties(values)

    def draw(codes: IntArray, n_groups: int, resamples: int, seed: int) -> FloatArray:
        blocks = resample_counts(n_groups, resamples=resamples, seed=seed)
        drawn = [weighted_separations(settled[:, None], truth > 0, codes, counts)[:, 0] for counts in blocks]
        return np.concatenate(drawn)

    return Side("auc", area_under_roc(settled, truth), tuple(labels), draw)


def side_of_ratings(ratings: Ratings, groups: Mapping[str, str] | None = None, *, level: Level = "interval") -> Side:
    """Return a side of Krippendorff's alpha; items, or groups of items (item id → word), are resampled.

    Errors: those of :func:`~lexiscope.analysis.agreement.alpha.krippendorff_alpha`.
    """
    value = krippendorff_alpha(ratings, level=level, resamples=0).value
    labels = tuple(ratings.item_ids if groups is None else (groups[item] for item in ratings.item_ids))

    def draw(codes: IntArray, n_groups: int, resamples: int, seed: int) -> FloatArray:
        return alpha_draws(ratings, codes, n_groups, level=level, resamples=resamples, seed=seed)

    return Side("alpha", value, labels, draw)


def side_of_rows(statistic: Callable[[IntArray], float], labels: Sequence[str], *, name: str = "statistic") -> Side:
    """Return a side of any statistic of row indices; if it raises :class:`StatisticError`, a draw has no value.

    Errors: those of the statistic on all rows.
    """

    def draw(codes: IntArray, n_groups: int, resamples: int, seed: int) -> FloatArray:
        rows = resample_rows(codes, n_groups, resamples=resamples, seed=seed)
        return np.array([value_or_nan(statistic, chosen) for chosen in rows])

    return Side(name, float(statistic(np.arange(len(labels), dtype=np.int64))), tuple(labels), draw)


def compare_sides(
    first: Side,
    second: Side,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    resampled: str = "",
) -> PairedDifference:
    """Return the difference of two sides, *first* minus *second*, on the same resamples of their groups.

    *resampled* is what the groups are called, in the plural, for the printed name of the interval.
    Errors: :class:`StatisticError` for two statistics, and for fewer than 2 groups.

    >>> words, right = ["a", "a", "b", "c"], side_of_columns("accuracy", [[1, 1, 1, 0]], ["a", "a", "b", "c"])
    >>> compare_sides(right, side_of_columns("accuracy", [[1, 0, 0, 0]], words), resamples=200).value
    0.5
    """
    if first.name != second.name:
        raise StatisticError(f"{first.name} and {second.name} are two statistics: there is no difference")
    n = len(first.labels)
    codes, count = group_codes([*first.labels, *second.labels], n + len(second.labels))
    draws = first.draw(codes[:n], count, resamples, seed) - second.draw(codes[n:], count, resamples, seed)
    units = resampled or resampled_units(first.labels)
    interval = percentile_interval(draws, level=level, resampled=units, n_groups=count)
    p = bootstrap_p(draws, n_groups=count) if interval.is_defined else None
    return PairedDifference(first.name, first.value, second.value, interval, p, n, count)


def exchange_test(
    test: ExactTest,
    first: ArrayLike,
    second: ArrayLike,
    *,
    labels: tuple[Sequence[str], Sequence[str]],
    paired: bool,
    resamples: int = 9999,
    seed: int = 0,
) -> TestResult:
    """Test whether two sides have the same mean by exchanging what could have been exchanged: signs, or groups.

    ``sign_flip`` turns the signs of differences, those of one group (a word) together: of the rows, if the sides are
    *paired* (the same items), otherwise of the means of each group that both sides have. ``permutation`` deals out the
    means of groups again to sides that share none of them. *labels* are the groups of the rows of both sides.

    *Shape:* first, labels[0] (n1,); second, labels[1] (n2,); n1 = n2 if paired. *Higher means:* the first is larger.

    Errors: :class:`StatisticError` for a test that is not the right one of these sides (the message says which is), for
    fewer than 2 groups, and for values that do not differ.

    >>> words = (["bank", "bat", "seal"], ["bank", "bat", "seal"])
    >>> exchange_test("sign_flip", [5, 6, 9], [4, 4, 4], labels=words, paired=True).p  # 2 of 2**3 choices of signs
    0.25
    >>> words = (["bank", "bat", "seal"], ["club", "ring", "bark"])
    >>> exchange_test("permutation", [3, 5, 6], [1, 2, 4], labels=words, paired=False).p  # 4 of 20 ways to deal
    0.2
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    here, there = (_group_means(values, names) for values, names in zip((a, b), labels, strict=True))
    shared = [name for name in here if name in there]
    if test == "sign_flip":
        if paired:
            return sign_flip(a, b, groups=list(labels[0]), resamples=resamples, seed=seed)
        if len(shared) < 2:
            hint = "use the permutation test" if not shared else "the bootstrap p has no such limit"
            raise StatisticError(
                f"the sign-flip test needs 2 groups that both sides have, not {len(shared)}", hint=hint
            )
        means = ([side[name] for name in shared] for side in (here, there))
        return sign_flip(*means, resamples=resamples, seed=seed)
    if test != "permutation":
        raise StatisticError(f"no test {test!r}; valid names: sign_flip, permutation")
    if shared:
        raise StatisticError(
            f"the permutation test needs sides without a group in common; they share {len(shared)}",
            why="values of one group are alike, so they cannot be dealt out as if they were independent",
            hint="use the sign-flip test",
        )
    return permutation(list(here.values()), list(there.values()), resamples=resamples, seed=seed)


def _group_means(values: FloatArray, labels: Sequence[str]) -> dict[str, float]:
    """The mean of each group, in the order in which the groups appear."""
    codes, count = group_codes(list(labels), len(values))
    sums, sizes = group_sums(values, codes, count), group_sums(np.ones(len(values)), codes, count)
    first = np.unique(codes, return_index=True)[1]
    names = {int(codes[row]): labels[row] for row in first.tolist()}
    return {names[code]: float(sums[code] / sizes[code]) for code in codes[np.sort(first)].tolist()}


def bootstrap_p(draws: ArrayLike, *, n_groups: int = 0) -> float:
    """Return the two-sided p of no difference: twice the smaller share of draws at or beyond 0.

    The data count as one draw more, so that p is never 0. If no draw is at or beyond 0, the p is
    :class:`~lexiscope.core.result.AtMost` this. Draws without a value do not count. Given *n_groups*, the
    share is that of Student's t as in :func:`~lexiscope.analysis.bootstrap.percentile_interval`: p is below .05 where
    that interval excludes 0. Of fewer than six groups, t is the mean of the draws over their standard deviation.

    >>> bootstrap_p([1.0, 2.0, 3.0, -1.0])  # 2 × (1 + 1) / (4 + 1)
    0.8
    >>> round(bootstrap_p([*[1.0] * 979, *[-1.0] * 20], n_groups=6), 3)  # z = Φ⁻¹(.021); t = z √(5 / 6), 5 degrees
    0.123
    """
    values = np.asarray(draws, dtype=np.float64)
    values = values[~np.isnan(values)]
    shrunk = math.sqrt((n_groups - 1) / n_groups) if n_groups > 1 else 1.0
    if 1 < n_groups < FEWEST_OF_PERCENTILES and np.ptp(values) > 0:
        return 2 * student_share(-abs(float(values.mean() / values.std())) * shrunk, n_groups - 1)
    below, above = int((values <= 0).sum()), int((values >= 0).sum())
    share = (min(below, above) + 1) / (len(values) + 1)
    if n_groups > 1 and share < 0.5:
        share = student_share(NormalDist().inv_cdf(share) * shrunk, n_groups - 1)
    p = min(1.0, 2 * share)
    return p if min(below, above) else AtMost(p)


# -- sets of ranks --------------------------------------------------------------------------------------------------


def rank_sets(
    sides: Sequence[Side], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[RankSet, ...]:
    """Return the set of ranks of each side, the highest value first, from all paired differences on the same draws.

    Two sides differ where the confidence interval of their difference excludes 0. The intervals hold for all pairs
    together: their width comes from the largest deviation of any pair in each resample. So the chance that any of the
    sets is without the true rank is about 1 − *level*. *Source:* Mogstad, Romano, Shaikh & Wilhelm 2024.

    Errors: :class:`StatisticError` for sides of several statistics, fewer than 2 groups, or draws without a value.

    >>> sides = [side_of_columns("accuracy", [column], list("abcdef")) for column in ([1] * 6, [1] * 6, [0] * 6)]
    >>> [str(ranks) for ranks in rank_sets(sides)]
    ['1–2', '1–2', '3']
    """
    names = {side.name for side in sides}
    if len(names) > 1:
        raise StatisticError(f"ranks of several statistics cannot be compared: {', '.join(sorted(names))}")
    if len(sides) < 2:
        return tuple(RankSet(1, 1) for _ in sides)
    codes, count = group_codes([label for side in sides for label in side.labels], sum(len(s.labels) for s in sides))
    parts = np.split(codes, np.cumsum([len(side.labels) for side in sides])[:-1])
    draws = np.column_stack([side.draw(own, count, resamples, seed) for side, own in zip(sides, parts, strict=True)])
    return rank_sets_of_draws(np.array([side.value for side in sides]), draws, level, count)
