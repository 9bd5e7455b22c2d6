"""Correlations of all pairs of raters on the items that both rated, and their mean when raters are resampled.

A thousand raters of a hundred items are half a million pairs with fifty million shared ratings. They are made a few
raters at a time, so that memory depends on the number of pairs, not on the number of ratings that they share.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, IntArray, resample_counts
from lexiscope.analysis.correlation import average_ranks, grouped_correlations, spread_within
from lexiscope.analysis.ratings import Ratings

# shared ratings, and possible pairs, that are looked at in one step
_ROWS = 1 << 18
_BINS = 1 << 20

# from this share of all possible pairs on, a full matrix is faster than a sparse one
_FULL = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class RaterPairs:
    """The pairs of raters who share an item: who they are, on how many items, and their correlation.

    *Shape:* all (pairs,), sorted by first, then second rater; ``first`` and ``second`` are rater codes, first < second.
    ``value`` is NaN where one of the two is constant on the shared items or they share fewer than the minimum.
    """

    first: IntArray
    second: IntArray
    n_items: IntArray
    value: FloatArray


def correlate_raters(ratings: Ratings, *, method: str, minimum: int) -> RaterPairs:
    """Correlate every two raters on the items that both rated. *Higher means:* the two agree more; −1 to 1.

    ``method`` is ``spearman`` (ranks among the shared items, ties sharing their mean rank) or ``pearson``.

    >>> ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])
    >>> correlate_raters(ratings, method="spearman", minimum=3).value.round(4).tolist()  # (a,b), (a,c), (b,c)
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
    return RaterPairs(first, second, n_items, np.where(n_items < minimum, np.nan, columns[3][order]))


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
    found: dict[bytes, list[int]] = {}
    for rater, (low, high) in enumerate(itertools.pairwise(starts.tolist())):
        if high > low:
            found.setdefault(ratings.item[low:high].tobytes(), []).append(rater)
    n_items = sum(starts[group[0] + 1] - starts[group[0]] for group in found.values())
    overlap = n_items > len(np.unique(ratings.item))
    return [] if overlap else [np.array(group, dtype=np.int64) for group in found.values()]


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
    found = np.flatnonzero(n)
    return found // size + low, found % size, n[found], values[found]


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
