"""How well raters agree with themselves: ratings of the same item by the same rater, an earlier and a later one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.accuracy import share_interval
from lexiscope.analysis.bootstrap import FloatArray, GroupLabels, resampled_units
from lexiscope.analysis.correlation import spearman
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name


@dataclass(frozen=True, slots=True, eq=False)
class Retest:
    """Pairs of ratings of one item by one rater. *Shape:* earlier, later, raters, items (pairs,).

    Three ratings of one item by one rater are three pairs.
    """

    earlier: FloatArray
    later: FloatArray
    raters: tuple[str, ...]
    items: tuple[str, ...]

    def exact(
        self, *, groups: Mapping[str, str] | None = None, level: float = 0.95, resamples: int = 2000, seed: int = 0
    ) -> Estimate:
        """Return the share of pairs of equal ratings. *Unit:* share, 0 to 1. ``n`` counts pairs.

        Pairs of one item, or of one of *groups* (item → word), are a cluster in the interval.
        Errors: :class:`StatisticError` without pairs.
        """
        if not len(self.earlier):
            raise StatisticError("no rater rated an item repeatedly")
        clusters, same = self._clusters(groups), self.earlier == self.later
        interval, n = share_interval(same, groups=clusters, level=level, resamples=resamples, seed=seed)
        return Estimate(statistic_name(_NAME, method="exact"), float(same.mean()), interval, len(same), n)

    def spearman(
        self, *, groups: Mapping[str, str] | None = None, level: float = 0.95, resamples: int = 2000, seed: int = 0
    ) -> Estimate:
        """Return Spearman's correlation of earlier with later ratings over the pairs of all raters.

        Pooled over raters: lasting differences between raters in leniency raise it. The interval resamples items, or
        *groups* (item → word). *Higher means:* raters agree more with themselves.
        Errors: :class:`StatisticError` for fewer than 3 pairs, or where the earlier or the later ratings are all equal.
        """
        clusters = self._clusters(groups)
        rho = spearman(self.earlier, self.later, groups=clusters, level=level, resamples=resamples, seed=seed)
        return rho.about(name=statistic_name(_NAME, method="spearman"))

    def _clusters(self, groups: Mapping[str, str] | None) -> GroupLabels:
        labels = (item if groups is None else groups[item] for item in self.items)
        return GroupLabels(labels, "items" if groups is None else resampled_units(groups))


_NAME = "retest_agreement"


def retest(raters: Sequence[str], items: Sequence[str], values: ArrayLike) -> Retest:
    """Return the pairs of ratings of one item by one rater, from ratings in the order in which they were given.

    *Shape:* raters, items, values (ratings,), NaN where a rating is missing.

    >>> twice = retest(["a", "a", "b", "a"], ["i", "i", "i", "i"], [1, 2, 4, 2])
    >>> list(zip(twice.earlier.tolist(), twice.later.tolist(), strict=True))
    [(1.0, 2.0), (1.0, 2.0), (2.0, 2.0)]
    >>> round(twice.exact().value, 3)
    0.333
    """
    given: dict[tuple[str, str], list[float]] = {}
    for rater, item, value in zip(raters, items, np.asarray(values, dtype=np.float64).tolist(), strict=True):
        if value == value:
            given.setdefault((rater, item), []).append(value)
    rows = [(*key, *pair) for key, own in given.items() for pair in combinations(own, 2)]
    columns = tuple(zip(*rows, strict=True)) or ((), (), (), ())
    who, what, earlier, later = columns
    return Retest(np.array(earlier, dtype=np.float64), np.array(later, dtype=np.float64), tuple(who), tuple(what))
