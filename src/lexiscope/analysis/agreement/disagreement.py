"""Observed and expected disagreement of ratings within and across items, at the four levels of measurement.

Each level has its closed form, so that no square table of values is needed: nominal by counts, interval by sums and
sums of squares, ordinal by mid-ranks, ratio by nodes (:mod:`lexiscope.analysis.agreement.ratio_distance`). A resample
of items only changes how often each is counted: everything here takes weights of groups of items and returns one number
per draw. *Source:* Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.agreement.ratio_distance import nodes_of, on_nodes, pair_sums
from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.analysis.correlation import spread_within

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")

Sums = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# up to this many distinct values, their coincidences are held for each group of items
_FEW_VALUES = 32
# within units of more pairs per value than this, pairs are not gone through one by one
_PAIRS = 64
# cells of a table that is held with its zeros
_DENSE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Items with two ratings or more: sparse counts (units, values), the distinct values, ratings per unit."""

    table: Any
    values: FloatArray
    size: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Disagreement:
    """Disagreement as a function of the weights of groups of units.

    *Shape:* size (groups,), the ratings of each group. ``sums`` takes weights (draws, groups) and returns the observed
    and the expected disagreement (draws,): over all ordered pairs of ratings of one unit, each over its unit's ratings
    − 1, and over all ordered pairs of ratings. ``width`` is how many numbers it holds for each draw.
    """

    size: FloatArray
    sums: Sums
    width: int


def disagreement(units: Units, level: Level, groups: IntArray, n_groups: int) -> Disagreement:
    """Return the disagreement of some units at a level. *Shape:* groups (units,), the code of each unit's group."""
    make = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}[level]
    sums, width = make(units, groups, n_groups)
    return Disagreement(_by_group(units.size, groups, n_groups), sums, max(width, n_groups, len(units.size)))


def _by_group(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    return np.asarray(np.bincount(groups, weights=values, minlength=n_groups))


def _group_table(table: Any, groups: IntArray, n_groups: int) -> Any:
    """The rows of a sparse table added up by group. *Shape:* (units, values) → (groups, values)."""
    # imported here: the command line must start without scipy
    from scipy import sparse

    entries = (np.ones(len(groups)), (groups, np.arange(len(groups))))
    return (sparse.csr_matrix(entries, shape=(n_groups, len(groups))) @ table).tocsr()


def _dense_if_small(counts: Any) -> Any:
    """A table as an array where that is small: products with it are then several times as fast."""
    few = not isinstance(counts, np.ndarray) and counts.shape[0] * counts.shape[1] <= _DENSE
    return counts.toarray() if few else counts


def _marginals(weights: FloatArray, counts: Any) -> FloatArray:
    """How often each value, or node, occurs in each draw. *Shape:* (draws, groups), (groups, n) → (draws, n)."""
    if isinstance(counts, np.ndarray):
        return np.asarray(weights @ counts)
    return np.ascontiguousarray((counts.T @ weights.T).T)


def _interval(units: Units, groups: IntArray, n_groups: int) -> tuple[Sums, int]:
    # centred: a large common offset would cancel in the difference of two huge sums
    x = spread_within(units.values, np.zeros(len(units.values), dtype=np.int64), 1)
    sum_x, sum_xx = units.table @ x, units.table @ (x * x)
    pairs = 2 * units.size * sum_xx - 2 * sum_x**2
    # rounding may leave -1e-17 where a unit agrees
    within = _by_group(np.maximum(pairs, 0.0) / (units.size - 1), groups, n_groups)
    n, sx, sxx = (_by_group(part, groups, n_groups) for part in (units.size, sum_x, sum_xx))

    def sums(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        squares = 2 * (weights @ n) * (weights @ sxx)
        expected = squares - 2 * (weights @ sx) ** 2
        # a draw of one value leaves rounding error of its squares, never a real spread
        return weights @ within, np.where(expected > 1e-12 * squares, expected, 0.0)

    return sums, n_groups


def _nominal(units: Units, groups: IntArray, n_groups: int) -> tuple[Sums, int]:
    pairs = units.size**2 - np.asarray(units.table.power(2).sum(axis=1)).ravel()
    within = _by_group(pairs / (units.size - 1), groups, n_groups)
    n = _by_group(units.size, groups, n_groups)
    counts = _group_table(units.table, groups, n_groups)
    shared = np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.float64)
    if min(float((shared**2).sum()), float(n_groups) ** 2) <= counts.nnz:
        # few values are shared: how many pairs of equal ratings two groups have is the smaller table
        equal = (counts @ counts.T).tocsr()
        return lambda weights: (
            weights @ within,
            (weights @ n) ** 2 - np.einsum("dg,gd->d", weights, equal @ weights.T),
        ), n_groups
    counts = _dense_if_small(counts)

    def sums(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        return weights @ within, (weights @ n) ** 2 - (_marginals(weights, counts) ** 2).sum(axis=1)

    return sums, counts.shape[1]


def _ratio(units: Units, groups: IntArray, n_groups: int) -> tuple[Sums, int]:
    nodes = nodes_of(units.values)
    within = _by_group(_ratio_within(units, nodes) / (units.size - 1), groups, n_groups)
    counts = _dense_if_small(on_nodes(_group_table(units.table, groups, n_groups), nodes))
    # nodes leave rounding error, never a real spread, where a draw has one value only
    n = _by_group(units.size, groups, n_groups)
    least = 0.0 if nodes.exact else 1e-13 * float(nodes.distances.max())

    def sums(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        expected = pair_sums(_marginals(weights, counts), nodes.distances)
        return weights @ within, np.where(expected > least * (weights @ n) ** 2, expected, 0.0)

    return sums, len(nodes.distances)


def _ratio_within(units: Units, nodes: Any) -> FloatArray:
    """Sum of the ratio distances of all ordered pairs of each unit, pair by pair unless units are long."""
    distinct = np.diff(units.table.indptr)
    if float((distinct.astype(np.float64) ** 2).sum()) > _PAIRS * units.table.nnz:
        return pair_sums(on_nodes(units.table, nodes), nodes.distances)
    value, count = units.values[units.table.indices], units.table.data
    after = np.repeat(units.table.indptr[1:], distinct) - np.arange(units.table.nnz) - 1
    total, entry, lag = np.zeros(units.table.nnz), np.arange(units.table.nnz), 1
    # each entry with the one that stands `lag` later in its unit
    while len(entry := entry[after[entry] >= lag]):
        other = entry + lag
        sum_of_two = value[entry] + value[other]
        share = np.divide(value[entry] - value[other], sum_of_two, out=np.zeros(len(entry)), where=sum_of_two > 0)
        total[entry] += 2 * count[entry] * count[other] * share**2
        lag += 1
    return np.asarray(np.add.reduceat(total, units.table.indptr[:-1]))


def _ordinal(units: Units, groups: IntArray, n_groups: int) -> tuple[Sums, int]:
    """Krippendorff's ordinal distance of two values is the distance of their mid-ranks in this very draw."""
    values = len(units.values)
    if values <= _FEW_VALUES:
        return _ordinal_few(units, groups, n_groups), values * (values + 2)
    table, by_value = units.table, units.table.T.tocsr()
    once = by_value.nnz == values and bool((by_value.data == 1).all())
    holder = by_value.indices.astype(np.int64)

    def spread(of_units: FloatArray) -> FloatArray:
        # where every value occurs once, each has one unit, and a look-up does what the sparse product would
        return np.asarray(of_units[holder] if once else by_value @ of_units)

    def one(weights: FloatArray) -> tuple[float, float]:
        n = float(weights @ units.size)
        count = spread(weights)
        # mid-ranks; their mean is n / 2
        score = np.cumsum(count)
        score -= 0.5 * count
        score -= n / 2
        unit_sums = table @ score
        score *= score
        by_size = weights / (units.size - 1)
        squares = spread(by_size * units.size) @ score
        return 2 * float(squares - by_size @ unit_sums**2), 2 * n * float(count @ score)

    def sums(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        # one draw at a time: its vectors then stay in the processor's cache, which a table of draws would not
        found = np.array([one(row[groups]) for row in weights]).reshape(-1, 2)
        return np.maximum(found[:, 0], 0.0), found[:, 1]

    return sums, values


def _ordinal_few(units: Units, groups: IntArray, n_groups: int) -> Sums:
    """As :func:`_ordinal`, from the coincidences of the values: all draws in one product of matrices."""
    values = len(units.values)
    counts = _group_table(units.table, groups, n_groups).toarray()
    coincidences = group_coincidences(units, groups, n_groups).reshape(n_groups, -1)

    def sums(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        marginals = weights @ counts
        score = np.cumsum(marginals, axis=1) - marginals / 2
        distance = (score[:, :, None] - score[:, None, :]) ** 2
        observed = np.einsum("dv,dv->d", weights @ coincidences, distance.reshape(len(weights), values * values))
        return observed, np.einsum("dv,dvw,dw->d", marginals, distance, marginals)

    return sums


def group_coincidences(units: Units, groups: IntArray, n_groups: int) -> FloatArray:
    """Return how often each two values coincide within a unit, over its ratings − 1, added up by group.

    *Shape:* (groups, values, values).
    """
    found = np.zeros((n_groups, len(units.values), len(units.values)))
    for value, row in enumerate(units.table.T.tocsr()):
        # of the ratings with this value: which others their units hold, themselves left out
        others = units.table.multiply(row.T / (units.size - 1)[:, None]).tocsr()
        found[:, value] = _group_table(others, groups, n_groups).toarray()
        found[:, value, value] -= _by_group(row.toarray().ravel() / (units.size - 1), groups, n_groups)
    return found
