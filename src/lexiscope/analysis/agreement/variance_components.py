"""Where ratings differ: between items, between raters, and what neither explains; and what a mean of ratings is worth.

Each group of raters judged the same items, all of them. A two-way analysis of variance within groups, pooled over
groups, gives the components; the intraclass correlations follow. *Source:* Shrout & Fleiss 1979, case 2 (raters are a
sample), for several groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, statistic_name


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Variance of items, raters and residual, the test of raters, and the reliability of one rating.

    *Unit:* squared points of the scale; a component may come out below 0, which means none. ``f`` tests whether raters
    differ in leniency, with the degrees of freedom ``df`` and ``p``.
    """

    item: float
    rater: float
    residual: float
    f: float
    df: tuple[int, int]
    p: float
    n_groups: int
    n_items: int
    n_raters: int
    n_ratings: int

    @property
    def icc_single(self) -> float:
        """ICC(2,1): the share of the variance of one rating that is the items'."""
        return self.icc_mean(1)

    def icc_mean(self, n_ratings: int) -> float:
        """ICC(2,k): the reliability of the mean of *n_ratings* ratings.

        >>> round(VarianceComponents(1.2, 0.1, 1.1, 2.0, (1, 1), 0.1, 1, 2, 2, 4).icc_mean(4), 6)  # 1.2 / (1.2 + .3)
        0.8
        """
        return self.item / (self.item + (self.rater + self.residual) / n_ratings)

    def results(self, n_ratings: int) -> tuple[Estimate, ...]:
        """Return the components, the reliability of one rating and of the mean of *n_ratings*, and F with its p."""
        parts = (("sample", self.item), ("rater", self.rater), ("residual", self.residual))
        return (
            *(Estimate(statistic_name("variance", of=name), value) for name, value in parts),
            *(
                Estimate(statistic_name("icc", model=2, ratings=several), self.icc_mean(several), n=self.n_items)
                for several in (1, n_ratings)
            ),
            Estimate("rater_effect_f", self.f, n=self.n_raters, p=self.p),
        )


def variance_components(ratings: Ratings, groups: Mapping[str, str]) -> VarianceComponents:
    """Return the variance components of raters within groups; *groups*: rater id → group.

    Every rater of a group must have rated every item of it, and every item belongs to one group.
    Errors: :class:`InputError` for a rater without a group; :class:`StatisticError` where a group lacks a rating, or
    has fewer than two raters or items.

    >>> two = Ratings.from_arrays(list("aaabbb"), list("ijkijk"), [1, 2, 6, 3, 4, 5])
    >>> found = variance_components(two, {"a": "g", "b": "g"})
    >>> found.item, found.rater, found.residual  # MS 6.5, 1.5, 1.5: (6.5 - 1.5) / 2, (1.5 - 1.5) / 3
    (2.5, 0.0, 1.5)
    """
    from scipy import stats

    sums, freedom, sizes = np.zeros(3), np.zeros(3), np.zeros(2)
    tables = _tables(ratings, groups)
    for table in tables:
        items, raters = table.shape
        squares, degrees = _squares(table)
        sums, freedom = sums + squares, freedom + degrees
        # what a component counts for in its mean square: the other side's number
        sizes = sizes + np.array([raters * (items - 1.0), items * (raters - 1.0)])
    mean = sums / freedom
    residual = float(mean[2])
    # what rounding leaves of ratings of this size is not a residual
    if residual <= (16 * np.finfo(np.float64).eps * max(float(np.max(np.abs(table))) for table in tables)) ** 2:
        raise StatisticError("variance components are undefined: nothing is left over items and raters")
    item, rater = ((mean[:2] - residual) * freedom[:2] / sizes).tolist()
    f, df = float(mean[1] / residual), (int(freedom[1]), int(freedom[2]))
    return VarianceComponents(
        item=item,
        rater=rater,
        residual=residual,
        f=f,
        df=df,
        p=float(stats.f.sf(f, *df)),
        n_groups=len(tables),
        n_items=sum(len(table) for table in tables),
        n_raters=sum(table.shape[1] for table in tables),
        n_ratings=sum(table.size for table in tables),
    )


def _tables(ratings: Ratings, groups: Mapping[str, str]) -> list[FloatArray]:
    """The ratings of each group. *Shape:* (items, raters) each."""
    missing = [rater for rater in ratings.rater_ids if rater not in groups]
    if missing:
        raise InputError(f"{len(missing)} raters have no group, first {missing[0]!r}")
    labels, of_rater = np.unique([groups[rater] for rater in ratings.rater_ids], return_inverse=True)
    group = of_rater.reshape(-1)[ratings.rater]
    order = np.argsort(group, kind="stable")
    edges = np.searchsorted(group[order], np.arange(len(labels) + 1))
    cut = zip(labels.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return [_table(ratings, order[start:end], label) for label, start, end in cut if end > start]


def _table(ratings: Ratings, rows: IntArray, label: str) -> FloatArray:
    items, item = np.unique(ratings.item[rows], return_inverse=True)
    raters, rater = np.unique(ratings.rater[rows], return_inverse=True)
    if len(rows) != len(items) * len(raters) or min(len(items), len(raters)) < 2:
        raise StatisticError(
            f"group {label!r} has {len(rows)} ratings of {len(items)} items by {len(raters)} raters",
            why="the components need every rating of two raters and two items or more",
        )
    table = np.empty((len(items), len(raters)))
    table[item.reshape(-1), rater.reshape(-1)] = ratings.value[rows]
    return table


def _squares(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of squares and degrees of freedom of items, raters and residual."""
    items, raters = table.shape
    centred = table - table.mean()
    by_item, by_rater = centred.mean(axis=1), centred.mean(axis=0)
    rest = centred - by_item[:, None] - by_rater[None, :]
    squares = [raters * (by_item**2).sum(), items * (by_rater**2).sum(), (rest**2).sum()]
    return np.array(squares), np.array([items - 1.0, raters - 1.0, (items - 1.0) * (raters - 1.0)])
