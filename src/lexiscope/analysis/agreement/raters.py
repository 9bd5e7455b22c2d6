"""How well raters agree: each rater with the others, raters in pairs, and where a model stands among them.

Two numbers go by the name "leave-one-out" in the literature. ``leave_one_out`` is what the name says: a rater against
the mean of the *other* raters. ``included`` keeps the rater's own rating in that mean, which makes agreement look
higher (SAW-C §3.4: .77 instead of .73). Both are here, under their own names.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    IntArray,
    mean_interval,
    percentile_interval,
    resample_counts,
)
from lexiscope.analysis.correlation import average_ranks, grouped_correlations, spread_within
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, statistic_name

Method = Literal["spearman", "pearson"]


@dataclass(frozen=True, slots=True, eq=False)
class RaterAgreement:
    """Each rater's correlation with the group, and its summary over raters.

    *Shape:* values, n_items (raters with a value,). *Unit:* correlation, −1 to 1. *Higher means:* agrees more with the
    group. ``interval`` is of the mean over raters: raters' values are resampled, the items are held fixed.
    ``undefined`` gives the reason for each rater that is not in ``values``.
    """

    variant: Literal["leave_one_out", "included"]
    method: Method
    rater_ids: tuple[str, ...]
    values: FloatArray
    n_items: IntArray
    undefined: Mapping[str, str]
    interval: Interval

    @property
    def name(self) -> str:
        """The printed name: which variant, which correlation."""
        return statistic_name(f"{self.variant}_agreement", method=self.method)

    @property
    def n_raters(self) -> int:
        """How many raters have a value."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean over raters."""
        return float(self.values.mean())

    @property
    def median(self) -> float:
        """The median over raters."""
        return float(np.median(self.values))

    @property
    def sd(self) -> float:
        """The SD (n − 1) over raters."""
        return float(self.values.std(ddof=1))

    @property
    def minimum(self) -> float:
        """The rater who agrees least."""
        return float(self.values.min())

    @property
    def maximum(self) -> float:
        """The rater who agrees most."""
        return float(self.values.max())

    def results(self) -> tuple[Estimate, ...]:
        """Return the summary over raters: the mean with its interval, median, SD, the lowest and the highest rater.

        >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
        >>> leave_one_out(ratings, resamples=0).results()[1]
        Estimate(leave_one_out_agreement(method=spearman,summary=median) = 0.866, n = 3)
        """
        note = "; ".join(f"{rater}: {reason}" for rater, reason in self.undefined.items())
        summaries = ("mean", self.mean), ("median", self.median), ("sd", self.sd)
        return tuple(
            Estimate(
                statistic_name(f"{self.variant}_agreement", method=self.method, summary=summary),
                value,
                self.interval if summary == "mean" else NO_INTERVAL,
                self.n_raters,
                note=note,
            )
            for summary, value in (*summaries, ("min", self.minimum), ("max", self.maximum))
        )


def leave_one_out(
    ratings: Ratings,
    *,
    method: Method = "spearman",
    minimum: int = 3,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> RaterAgreement:
    """Return each rater's correlation with the mean of the other raters, over the items that others rated too.

    *Source:* SAW-C §3.4 (the statistic that is named there), RAW-C. A rater with fewer than ``minimum`` such items, or
    with a constant column, is listed as undefined.

    Errors: :class:`StatisticError` where fewer than two raters have a value.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> leave_one_out(ratings).values.round(4).tolist()  # a: 1 2 3 against 1.5 3 3, ranks 1 2.5 2.5
    [0.866, 0.5, 0.866]
    """
    return _agreement(ratings, "leave_one_out", method, minimum, level, resamples, seed)


def included(
    ratings: Ratings,
    *,
    method: Method = "spearman",
    minimum: int = 3,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> RaterAgreement:
    """Return each rater's correlation with the mean of all raters, the rater's own rating included.

    *Source:* what SAW-C's script computes under the name of leave-one-out (§3.4). It is too high by construction; use
    :func:`leave_one_out` unless a published figure is to be recomputed. Items that nobody else rated are left out.

    Errors: :class:`StatisticError` where fewer than two raters have a value.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> included(ratings).values.round(4).tolist()  # means 4/3, 8/3, 3: ranks 1 2 3
    [1.0, 0.5, 1.0]
    """
    return _agreement(ratings, "included", method, minimum, level, resamples, seed)


def pairwise_agreement(
    ratings: Ratings,
    *,
    method: Method = "spearman",
    minimum: int = 3,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the mean over pairs of raters of the correlation on the items that both rated.

    The interval resamples raters. Pairs that share too few items, or are constant on them, do not count: ``n`` counts
    the others. *Higher means:* raters agree more.

    Errors: :class:`StatisticError` where no pair has a value.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> round(pairwise_agreement(ratings).value, 4)  # (a,b) .5, (a,c) 1, (b,c) .5
    0.6667
    """
    *pairs, _, correlations = correlate_raters(ratings, method=method, minimum=minimum)
    defined = ~np.isnan(correlations)
    if not defined.any():
        raise StatisticError(f"no two raters share {minimum} items on which both vary, so no pair has a value")
    values, first, second = correlations[defined], pairs[0][defined], pairs[1][defined]
    draws = resampled_means(values, (first, second), ratings.n_raters, resamples=resamples, seed=seed)
    name, interval = statistic_name("pairwise_agreement", method=method), percentile_interval(draws, level=level)
    return Estimate(name, float(values.mean()), interval, len(values), ratings.n_raters)


def model_place(agreement: RaterAgreement, model_rho: float, *, level: float = 0.95, called: str = "ρ") -> Estimate:
    """Return the share of raters whose agreement lies strictly below a model's correlation with the norms.

    *model_rho* is signed so that higher means closer to people: for cosine distances, the negative of the correlation,
    *called* ``−ρ``. The note counts the raters. The interval is Wilson's, raters being the sample. *Source:* SAW-C
    §4.4.

    Errors: :class:`StatisticError` where *model_rho* is not a correlation.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> model_place(leave_one_out(ratings), 0.9).note
    '3 of 3 raters are below ρ = 0.9000'
    """
    if not -1 <= model_rho <= 1:
        raise StatisticError(f"{model_rho} is not a correlation")
    below, n = int(np.sum(agreement.values < model_rho)), agreement.n_raters
    name = statistic_name("raters_below_model", among=agreement.variant, method=agreement.method)
    note = f"{below} of {n} raters are below {called} = {model_rho:.4f}"
    # Wilson's interval with the margin rounded in this order: recorded results hold its last digits
    z, share = NormalDist().inv_cdf((1 + level) / 2), below / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    method = statistic_name("wilson", level=f"{level:g}")
    interval = Interval(max(0.0, centre - margin), min(1.0, centre + margin), level, method)
    return Estimate(name, share, interval, n, note=note)


def _agreement(
    ratings: Ratings,
    variant: Literal["leave_one_out", "included"],
    method: Method,
    minimum: int,
    level: float,
    resamples: int,
    seed: int,
) -> RaterAgreement:
    unitless = ratings.without_unit()
    group, usable = _group_means(unitless, variant)
    rater, own = ratings.rater[usable], unitless.value[usable]
    values = grouped_correlations(own, group[usable], rater, ratings.n_raters, kind=method)
    n_items = np.bincount(rater, minlength=ratings.n_raters).astype(np.int64)
    # two items always correlate at +1 or -1; below the minimum a value would be noise
    defined = ~np.isnan(values) & (n_items >= minimum)
    undefined = {
        ratings.rater_ids[code]: _why_undefined(ratings, code, usable, int(n_items[code]), minimum)
        for code in np.flatnonzero(~defined).tolist()
    }
    if defined.sum() < 2:
        raise StatisticError(
            f"agreement is undefined: {int(defined.sum())} of {ratings.n_raters} raters have a value",
            why=next((f"{rater}: {reason}" for rater, reason in undefined.items()), "there are no raters"),
        )
    kept = values[defined]
    interval = mean_interval(kept, level=level, resamples=resamples, seed=seed)
    ids = tuple(ratings.rater_ids[code] for code in np.flatnonzero(defined))
    return RaterAgreement(variant, method, ids, kept, n_items[defined], undefined, interval)


def _group_means(ratings: Ratings, variant: str) -> tuple[FloatArray, BoolArray]:
    """The mean each rating is compared with, and whether there is one. *Shape:* (ratings,) each."""
    if variant == "included":
        # where nobody else rated an item, its mean is the own rating, which would agree with itself
        return ratings.means()[ratings.item], ratings.counts()[ratings.item] > 1
    # sum minus own rating, over n - 1: exact for whole numbers, so equal means of others are ties
    others = ratings.counts()[ratings.item] - 1
    rest = ratings.sums()[ratings.item] - ratings.value
    means = np.divide(rest, others, out=np.full(len(ratings), np.nan), where=others > 0)
    return (means if ratings.is_integer else settle(means, ratings.value)), others > 0


def _why_undefined(ratings: Ratings, code: int, usable: BoolArray, n_items: int, minimum: int) -> str:
    own = ratings.value[usable & (ratings.rater == code)]
    if n_items < minimum:
        return f"{n_items} items with a rating by others; at least {minimum} are needed"
    if np.ptp(own) == 0:
        return f"gave {own[0]:g} to all {n_items} items"
    return f"the others' means are the same on all {n_items} items"


# -- correlations of all pairs of raters on the items that both rated -----------------------------------------------
# Correlations of all pairs of raters on the items that both rated, and their mean when raters are resampled.
#
# A thousand raters of a hundred items are half a million pairs with fifty million shared ratings. They are made a few
# raters at a time, so that memory depends on the number of pairs, not on the number of ratings that they share.


# shared ratings, and possible pairs, that are looked at in one step
_ROWS = 1 << 18
_BINS = 1 << 20
# from this share of all possible pairs on, a full matrix is faster than a sparse one
_FULL = 0.05


def correlate_raters(ratings: Ratings, *, method: str, minimum: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Correlate every two raters on the items that both rated. *Higher means:* the two agree more; −1 to 1.

    Returned are, for each pair that shares an item, the codes of the first and the second rater (first < second), the
    number of shared items, and the correlation: NaN where one of the two is constant on the shared items or they share
    fewer than *minimum*. *Shape:* (pairs,) each, sorted by first, then second rater.

    ``method`` is ``spearman`` (ranks among the shared items, ties sharing their mean rank) or ``pearson``.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> correlate_raters(ratings, method="spearman", minimum=3)[3].round(4).tolist()  # (a,b), (a,c), (b,c)
    [0.5, 1.0, 0.5]
    """
    ratings = ratings.without_unit()
    groups = _complete_groups(ratings)
    if groups:
        parts = [_all_pairs(ratings, group, method) for group in groups]
    else:
        shared = _Shared(ratings)
        parts = [_some_pairs(ratings, shared, low, high, method) for low, high in shared.steps()]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else [np.empty(0)] * 4
    order = np.lexsort((columns[1], columns[0]))
    first, second, n_items = (column[order].astype(np.int64) for column in columns[:3])
    return first, second, n_items, np.where(n_items < minimum, np.nan, columns[3][order])


def resampled_means(
    values: FloatArray, pairs: tuple[IntArray, IntArray], n_raters: int, *, resamples: int, seed: int
) -> FloatArray:
    """Return the mean over pairs when raters are resampled: a pair counts as often as the product of its raters' draws.

    *Shape:* values, pairs (pairs,) → (resamples,); NaN where no pair is drawn.

    >>> pairs = (np.array([0, 0, 1]), np.array([1, 2, 2]))
    >>> next(resample_counts(3, resamples=2, seed=1)).tolist()  # how often each of the three raters is drawn
    [[0, 2, 1], [2, 0, 1]]
    >>> resampled_means(np.array([0.1, 0.3, 0.8]), pairs, 3, resamples=2, seed=1).tolist()  # 2 * .8 / 2, 2 * .3 / 2
    [0.8, 0.3]
    """
    parts = [_matrix(data, pairs, n_raters) for data in (values, np.ones(len(values)))]
    draws = []
    for block in resample_counts(n_raters, resamples=resamples, seed=seed):
        weights = block.astype(np.float64)
        total, mass = (((part.T @ weights.T).T * weights).sum(axis=1) for part in parts)
        draws.append(np.divide(total, mass, out=np.full(len(block), np.nan), where=mass > 0))
    return np.concatenate(draws)


def _complete_groups(ratings: Ratings) -> list[IntArray]:
    """Rater codes of the groups that rated the same items and none of another group's; empty where raters overlap."""
    starts = np.searchsorted(ratings.rater, np.arange(ratings.n_raters + 1))
    raters_of: dict[bytes, list[int]] = {}
    for rater, (low, high) in enumerate(itertools.pairwise(starts.tolist())):
        if high > low:
            raters_of.setdefault(ratings.item[low:high].tobytes(), []).append(rater)
    n_items = sum(starts[group[0] + 1] - starts[group[0]] for group in raters_of.values())
    overlap = n_items > len(np.unique(ratings.item))
    return [] if overlap else [np.array(group, dtype=np.int64) for group in raters_of.values()]


def _all_pairs(ratings: Ratings, group: IntArray, method: str) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """All pairs of raters who rated the same items, from one matrix product. *Shape:* (pairs,) each."""
    chosen = np.isin(ratings.rater, group)
    n = int(chosen.sum()) // len(group)
    value, row = ratings.value[chosen], np.repeat(np.arange(len(group)), n)
    ranked = average_ranks(value, groups=row) if method == "spearman" else value
    table = spread_within(ranked, row, len(group)).reshape(len(group), n)
    first, second = np.triu_indices(len(group), k=1)
    squares = (table * table).sum(axis=1)
    scale = np.sqrt(squares[first] * squares[second])
    cross = (table @ table.T)[first, second]
    # a rater who gave one rating throughout has squares of exactly zero
    values = np.divide(cross, scale, out=np.full(len(first), np.nan), where=scale > 0)
    return group[first], group[second], np.full(len(first), n, dtype=np.int64), np.clip(values, -1, 1)


class _Shared:
    """Where the ratings of an item that come after a rating, by rater code, are found."""

    def __init__(self, ratings: Ratings) -> None:
        self.order = np.lexsort((ratings.rater, ratings.item)).astype(np.int64)
        n = ratings.counts()
        position = np.arange(len(self.order)) - np.repeat(np.cumsum(n) - n, n)
        # per rating in the order of the table, which is by rater: its place by item, and how many follow it there
        self.place = np.empty(len(self.order), dtype=np.int64)
        self.place[self.order] = np.arange(len(self.order))
        self.later = np.empty(len(self.order), dtype=np.int64)
        self.later[self.order] = np.repeat(n, n) - 1 - position
        self.starts = np.searchsorted(ratings.rater, np.arange(ratings.n_raters + 1))
        self.rows = np.diff(np.concatenate(([0], np.cumsum(self.later)))[self.starts])
        self.codes = np.unique(ratings.value, return_inverse=True)[1].reshape(-1).astype(np.int64)
        self.n_codes = int(self.codes.max(initial=0)) + 1

    def steps(self) -> Iterator[tuple[int, int]]:
        """Ranges of first raters whose pairs are made in one step; always one rater at least."""
        low, most, rows = 0, max(1, _BINS // max(len(self.rows), 1)), 0
        for rater, n in enumerate(self.rows.tolist()):
            if rater > low and (rows + n > _ROWS or rater - low >= most):
                yield low, rater
                low, rows = rater, 0
            rows += n
        if len(self.rows):
            yield low, len(self.rows)


def _some_pairs(
    ratings: Ratings, shared: _Shared, low: int, high: int, method: str
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """The pairs whose first rater is in a range: raters, shared items, correlation. *Shape:* (pairs,) each."""
    own = np.arange(shared.starts[low], shared.starts[high])
    later = shared.later[own]
    first = np.repeat(own, later)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(later) - later, later) + 1
    second = shared.order[shared.place[first] + offset]
    size = ratings.n_raters
    pair = (ratings.rater[first] - low) * size + ratings.rater[second]
    n = np.bincount(pair, minlength=(high - low) * size)
    if method == "spearman":
        x, y = (_ranks(pair, n, shared.codes[rows], shared.n_codes) for rows in (first, second))
    else:
        x, y = ratings.value[first], ratings.value[second]
    values = grouped_correlations(x, y, pair, len(n), kind="pearson")
    there = np.flatnonzero(n)
    return there // size + low, there % size, n[there], values[there]


def _ranks(pair: IntArray, n: IntArray, code: IntArray, n_codes: int) -> FloatArray:
    """Average ranks within each pair. *Shape:* pair, code (rows,) → (rows,); n (pairs,) counts the rows of each."""
    key = pair * n_codes + code
    if len(n) * n_codes <= 2 * len(key):
        # few distinct ratings: counting them is enough, nothing need be sorted
        table = np.bincount(key, minlength=len(n) * n_codes).reshape(len(n), n_codes)
        return np.asarray((np.cumsum(table, axis=1) - table + (table + 1) / 2).ravel()[key])
    # pair and value in one whole number: one sort of integers, several times faster than a sort by two keys
    order = np.argsort(key)
    in_order = key[order]
    first_tied = np.flatnonzero(np.diff(in_order, prepend=-1))
    length = np.diff(np.append(first_tied, len(key)))
    ranks = np.empty(len(key))
    ranks[order] = np.repeat(first_tied + (length + 1) / 2, length) - np.repeat(np.cumsum(n) - n, n)
    return ranks


def _matrix(data: FloatArray, pairs: tuple[IntArray, IntArray], n_raters: int) -> Any:
    """The pairs as a matrix, (raters, raters), sparse where few of all possible pairs exist."""
    from scipy import sparse

    # of ten thousand raters in lists, few have a pair in common
    table = sparse.csr_matrix((data, pairs), shape=(n_raters, n_raters))
    return table.toarray() if len(data) > _FULL * n_raters**2 else table
