"""How well raters agree: each rater with the others, raters in pairs, and where a model is among them.

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
from typing import Literal

import numpy as np

from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray
from lexiscope.analysis.correlation import average_ranks, grouped_correlations, spread_within
from lexiscope.analysis.jackknife import MOST, LeftOut, jackknife_interval, left_out_groups, no_jackknife
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, statistic_name

Method = Literal["spearman", "pearson"]


@dataclass(frozen=True, slots=True, eq=False)
class RaterAgreement:
    """Each rater's correlation with the group, and its summary over raters.

    *Shape:* values, n_items (raters with a value,). *Unit:* correlation, −1 to 1. *Higher means:* agrees more with the
    group. ``interval`` is of the mean over raters: raters are the sample, the items are held fixed. ``undefined`` gives
    the reason for each rater that is not in ``values``. ``left_out`` holds the mean, and ``left_out_squares`` the mean
    of the squares, without each rater or group of raters: without a rater the means of the others are others, too.
    """

    variant: Literal["leave_one_out", "included"]
    method: Method
    rater_ids: tuple[str, ...]
    values: FloatArray
    n_items: IntArray
    undefined: Mapping[str, str]
    interval: Interval
    left_out: LeftOut
    left_out_squares: LeftOut

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
    with a constant column, is listed as undefined. The interval is of the mean over raters: a jackknife over raters on
    Fisher's z. ``resamples`` is the most raters that are excluded one by one, 0 for no interval; more are excluded in
    groups, which ``seed`` deals.

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
    :func:`leave_one_out` unless a published figure must be recomputed. Items that no other rater rated are excluded.
    The interval is made as there.

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

    The interval is a jackknife over raters on Fisher's z: raters are the sample, the items are held fixed. Pairs that
    share too few items, or are constant on them, do not count: ``n`` counts the others. ``resamples`` is the most
    raters that are excluded one by one, 0 for no interval. *Higher means:* raters agree more.

    Errors: :class:`StatisticError` where no pair has a value.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> round(pairwise_agreement(ratings).value, 4)  # (a,b) .5, (a,c) 1, (b,c) .5
    0.6667
    """
    first, second, _, correlations = correlate_raters(ratings, method=method, minimum=minimum)
    defined = ~np.isnan(correlations)
    if not defined.any():
        raise StatisticError(f"no two raters share {minimum} items on which both vary, so no pair has a value")
    values, pairs = correlations[defined], (first[defined], second[defined])
    left_out = means_without_raters(values, pairs, ratings.n_raters, resamples=resamples, seed=seed)
    interval = _over_raters(float(values.mean()), left_out, level=level, resamples=resamples)
    name = statistic_name("pairwise_agreement", method=method)
    return Estimate(name, float(values.mean()), interval, len(values), ratings.n_raters)


def model_place(
    agreement: RaterAgreement, model_rho: float, *, level: float = 0.95, called: str = "ρ", chosen: bool = False
) -> Estimate:
    """Return the share of raters whose agreement lies strictly below a model's correlation with the norms.

    *model_rho* is signed so that higher means closer to people: for cosine distances, the negative of the correlation,
    *called* ``−ρ``. The note counts the raters. The interval is Wilson's, raters being the sample. *chosen* says that
    *model_rho* allows for its layer having been chosen (:func:`~lexiscope.analysis.layers.layers.at_chosen_layer`):
    the name has ``layer=chosen``. *Source:* SAW-C §4.4.

    Errors: :class:`StatisticError` where *model_rho* is not a correlation.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> place = model_place(leave_one_out(ratings), 0.9)
    >>> place.note, place.interval.method
    ('3 of 3 raters are below ρ = 0.9000', 'wilson(over=raters,level=0.95)')
    """
    if not -1 <= model_rho <= 1:
        raise StatisticError(f"{model_rho} is not a correlation")
    below, n = int(np.sum(agreement.values < model_rho)), agreement.n_raters
    of_layer = {"layer": "chosen"} if chosen else {}
    name = statistic_name("raters_below_model", among=agreement.variant, method=agreement.method, **of_layer)
    note = f"{below} of {n} raters are below {called} = {model_rho:.4f}"
    # Wilson's interval with the margin rounded in this order: recorded results hold its last digits
    z, share = NormalDist().inv_cdf((1 + level) / 2), below / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    margin = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    method = statistic_name("wilson", over="raters", level=f"{level:g}")
    interval = Interval(max(0.0, centre - margin), min(1.0, centre + margin), level, method)
    return Estimate(name, share, interval, n, note=note)


# ratings that are ranked again for one interval: of longer tables, groups of raters are left out
_RANKED = 1 << 22
_FEWEST = 50
# groups × ratings that are looked at in one step
_CELLS = 1 << 20


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
    if variant == "included":
        # where nobody else rated an item, its mean is the own rating, which would agree with itself
        group, usable = unitless.means()[unitless.item], unitless.counts()[unitless.item] > 1
    else:
        group, usable = mean_of_others(unitless)
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
    left_out, squares = (
        _without_raters(
            unitless, variant, method, minimum, np.where(defined, values, np.nan), resamples=resamples, seed=seed
        )
        if resamples
        else (LeftOut.singly([]), LeftOut.singly([]))
    )
    interval = _over_raters(float(kept.mean()), left_out, level=level, resamples=resamples)
    ids = tuple(ratings.rater_ids[code] for code in np.flatnonzero(defined))
    return RaterAgreement(
        variant, method, ids, kept, n_items[defined], undefined, interval, left_out=left_out, left_out_squares=squares
    )


def _over_raters(value: float, left_out: LeftOut, *, level: float, resamples: int) -> Interval:
    """The interval of a mean of correlations over raters or pairs of raters."""
    if not resamples:
        return no_jackknife("no resamples were asked for", resampled="raters", scale="fisher_z", level=level)
    return jackknife_interval(value, left_out, resampled="raters", scale="fisher_z", level=level)


def _without_raters(
    ratings: Ratings, variant: str, method: Method, minimum: int, values: FloatArray, *, resamples: int, seed: int
) -> tuple[LeftOut, LeftOut]:
    """The mean of the raters' correlations, and of their squares, without each rater or group of raters.

    Only raters who share an item with those excluded are compared again; of the others, *values* holds.
    """
    present = np.flatnonzero(np.bincount(ratings.rater, minlength=ratings.n_raters))
    most = int(np.clip(_RANKED // max(len(ratings), 1), _FEWEST, MOST))
    dealt, n_groups = left_out_groups(len(present), resamples=resamples, seed=seed, most=most)
    group = np.full(ratings.n_raters, -1, dtype=np.int64)
    group[present] = dealt
    step = max(1, _CELLS // len(ratings))
    parts = [
        _mean_without(ratings, variant, method, minimum, values, group, low, min(low + step, n_groups))
        for low in range(0, n_groups, step)
    ]
    sizes = np.bincount(dealt, minlength=n_groups).astype(np.float64)
    means, squares = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LeftOut(means, sizes), LeftOut(squares, sizes)


def _mean_without(
    ratings: Ratings,
    variant: str,
    method: Method,
    minimum: int,
    values: FloatArray,
    group: IntArray,
    low: int,
    high: int,
) -> tuple[FloatArray, FloatArray]:
    """As :func:`_without_raters`, of the groups from *low* to *high*. *Shape:* → (groups,) each."""
    n_groups, n_raters, n_items = high - low, ratings.n_raters, ratings.n_items
    own_group = group[ratings.rater] - low
    gone = np.flatnonzero((own_group >= 0) & (own_group < n_groups))
    cell = own_group[gone] * n_items + ratings.item[gone]
    left = ratings.counts() - np.bincount(cell, minlength=n_groups * n_items).reshape(n_groups, n_items)
    taken = np.bincount(cell, weights=ratings.value[gone], minlength=n_groups * n_items).reshape(n_groups, n_items)
    sums = ratings.sums() - taken
    touched = left < ratings.counts()
    starts = np.flatnonzero(np.diff(ratings.rater, prepend=-1))
    met = np.zeros((n_groups, n_raters), dtype=bool)
    met[:, ratings.rater[starts]] = np.logical_or.reduceat(touched[:, ratings.item], starts, axis=1)
    absent = np.zeros((n_groups, n_raters), dtype=bool)
    of_chunk = np.flatnonzero((group >= low) & (group < high))
    absent[group[of_chunk] - low, of_chunk] = True
    anew = met & ~absent
    # one row for each rating of a rater who is compared anew, where another rating of the item is left
    of_group, row = np.nonzero(anew[:, ratings.rater] & (left > 1)[:, ratings.item])
    item, own = ratings.item[row], ratings.value[row]
    others = 1 if variant == "leave_one_out" else 0
    means = (sums[of_group, item] - others * own) / (left[of_group, item] - others)
    means = means if ratings.is_integer else settle(means, ratings.value)
    key = of_group * n_raters + ratings.rater[row]
    size = np.bincount(key, minlength=n_groups * n_raters)
    correlations = _correlations_by_key(own, means, key, size, method)
    correlations = np.where(size >= minimum, correlations, np.nan).reshape(n_groups, n_raters)
    every = np.where(anew, correlations, np.where(absent, np.nan, values))
    n = np.sum(~np.isnan(every), axis=1)
    of_enough = n > 1
    means, squares = (
        np.divide(np.nansum(part, axis=1), n, out=np.full(n_groups, np.nan), where=of_enough)
        for part in (every, every**2)
    )
    return means, squares


def _correlations_by_key(x: FloatArray, y: FloatArray, key: IntArray, size: IntArray, method: Method) -> FloatArray:
    """Correlation within each run of rows of one key. *Shape:* x, y, key (rows,), size (keys,) → (keys,)."""
    used = np.flatnonzero(size)
    lengths = size[used]
    if method == "spearman" and len(used) and (lengths == lengths[0]).all():
        # raters of equally many items: rows of a table, ranked several times as fast
        first, second = (_row_ranks(part.reshape(len(used), -1)) - (lengths[0] + 1) / 2 for part in (x, y))
        cross, xx, yy = ((a * b).sum(axis=1) for a, b in ((first, second), (first, first), (second, second)))
        scale = np.sqrt(xx * yy)
        correlations = np.full(len(size), np.nan)
        correlations[used] = np.clip(np.divide(cross, scale, out=np.full(len(used), np.nan), where=scale > 0), -1, 1)
        return correlations
    return grouped_correlations(x, y, key, len(size), kind=method)


def _row_ranks(table: FloatArray) -> FloatArray:
    """Average ranks within each row. *Shape:* (rows, columns), kept."""
    n_rows, n = table.shape
    order = np.argsort(table, axis=1)
    ordered = np.take_along_axis(table, order, axis=1)
    new = np.ones((n_rows, n), dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.flatnonzero(new.ravel())
    length = np.diff(np.append(first, n_rows * n))
    ranks = np.empty(n_rows * n)
    ranks[(order + (np.arange(n_rows) * n)[:, None]).ravel()] = np.repeat(first % n + (length + 1) / 2, length)
    return ranks.reshape(n_rows, n)


def mean_of_others(ratings: Ratings) -> tuple[FloatArray, BoolArray]:
    """Return the mean of the other ratings of the same item, and whether there are any. *Shape:* (ratings,) each.

    >>> means, usable = mean_of_others(Ratings.from_arrays(list("abca"), list("iiij"), [1, 2, 4, 5]))
    >>> means.tolist(), usable.tolist()
    ([3.0, nan, 2.5, 1.5], [True, False, True, True])
    """
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
# Correlations of all pairs of raters on the items that both rated, and their mean without some of the raters.
#
# A thousand raters of a hundred items are half a million pairs with fifty million shared ratings. They are made a few
# raters at a time, so that memory depends on the number of pairs, not on the number of ratings that they share.


# shared ratings, and possible pairs, that are looked at in one step
_ROWS = 1 << 18
_BINS = 1 << 20


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


def means_without_raters(
    values: FloatArray, pairs: tuple[IntArray, IntArray], n_raters: int, *, resamples: int, seed: int
) -> LeftOut:
    """Return the mean over pairs without those of each rater, or group of raters; NaN where no pair is left.

    *Shape:* values, pairs (pairs,).

    >>> pairs = (np.array([0, 0, 1]), np.array([1, 2, 2]))
    >>> means_without_raters(np.array([0.1, 0.3, 0.8]), pairs, 3, resamples=3, seed=0).values.round(12).tolist()
    [0.8, 0.3, 0.1]
    """
    present = np.unique(np.concatenate(pairs))
    dealt, n_groups = left_out_groups(len(present), resamples=resamples, seed=seed)
    group = np.zeros(n_raters, dtype=np.int64)
    group[present] = dealt
    first, second = (group[side] for side in pairs)
    within = first == second
    totals = []
    for data in (values, np.ones(len(values))):
        sides = [np.bincount(codes, weights=data, minlength=n_groups) for codes in (first, second)]
        # a pair of one group is lost once
        twice = np.bincount(first[within], weights=data[within], minlength=n_groups)
        totals.append(data.sum() - (sides[0] + sides[1] - twice))
    left = totals[1] > 0.5
    means = np.divide(totals[0], totals[1], out=np.full(n_groups, np.nan), where=left)
    return LeftOut(means, np.bincount(dealt, minlength=n_groups).astype(np.float64))


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
    """Where the ratings per item that come after a rating, by rater code, are found."""

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
