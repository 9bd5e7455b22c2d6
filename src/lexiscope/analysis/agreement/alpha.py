"""Krippendorff's alpha at four levels of measurement, with missing ratings and an interval over raters and items.

Alpha is 1 minus observed over expected disagreement. Both follow from the coincidence matrix (``coincidence_matrix``);
they are summed in closed form (below), which gives the same number, needs no square matrix for many distinct values,
and lets a table without some ratings be a reweighting. For N ratings with V distinct values, alpha costs a sort,
N log N, and sums in N; at the ratio level 20 V more where V is large. *Source:* Krippendorff 2011, Computing
Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.agreement.left_out import Resampled, crossed_interval
from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray, resample_counts
from lexiscope.analysis.correlation import distinct_values, spread_within
from lexiscope.analysis.jackknife import MOST
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name

# entries of the sparse tables without some ratings, and groups of ratings, that are held at once
_ENTRIES = 1 << 19
_GROUPS = 256
# entries that are gone through for one interval: of long tables of many values, fewer and larger groups are left out
_BUDGET = 1 << 24
_FEWEST = 50
# numbers held at once for a block of draws: about what a processor's cache holds
_CELLS_OF_DRAWS = 1 << 18


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "interval",
    resampled: Resampled = "raters_and_items",
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return Krippendorff's alpha; by default its interval allows for other raters and for other items.

    1 means perfect agreement, 0 agreement as by chance, a negative value systematic disagreement. ``n`` counts the
    items with two ratings or more; ratings of other items do not enter (``ratings.n_pairable`` counts those that do).

    The interval is a jackknife on Fisher's z of an intraclass correlation. *resampled* says what is a sample:
    ``raters_and_items`` (what would other raters agree on, and on other items of this kind?), ``raters`` (on these
    items), or ``items`` (these raters on other items). Where raters differ in severity, an interval that holds them
    fixed is too short by far for five raters. ``groups`` (item id → word) are excluded whole, instead of items.

    ``resamples`` is the most units that are excluded one by one (see
    :func:`lexiscope.analysis.jackknife.left_out_groups`), 0 for no interval; ``seed`` deals more units into groups.

    Alpha of one item is 0, because its disagreement is all that there is to expect; it has no interval. Alpha of two
    raters has none over raters: without one of them no pair is left.

    *Higher means:* raters agree more. *Source:* AmbiStory §4.1 (``level="interval"``).

    Errors: :class:`StatisticError` for one rater, no item with two ratings, no variation, an unknown level, or negative
    values at the ratio level.

    >>> ratings = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2])
    >>> round(krippendorff_alpha(ratings, level="nominal", resampled="items").value, 9)  # 1 - 5 * 2 / (6² - 3² - 3²)
    0.444444444
    """
    if level not in LEVELS:
        raise StatisticError(f"no level {level!r} of Krippendorff's alpha; valid names: {', '.join(LEVELS)}")
    units, paired = _units(ratings)
    if level == "ratio" and units.values.min() < 0:
        raise StatisticError("the ratio level needs ratings that are not negative", hint='use level="interval"')
    # all units as one group: a single number needs no table of groups
    whole = disagreement(units, level, np.zeros(len(units.size), dtype=np.int64), 1)
    value = float(_alphas(whole, np.ones((1, 1)))[0])
    if np.isnan(value):
        raise StatisticError(
            f"alpha is undefined: all {int(units.size.sum())} ratings are {units.values[0]:g}",
            why="without variation there is no disagreement to expect",
        )
    # sums of interval alpha have no limit of their own
    interval = crossed_interval(
        value,
        ratings.select(paired.kept),
        lambda codes, n_groups: _left_out(units, paired, level, codes, n_groups),
        resampled=resampled,
        groups=groups,
        scale="intraclass_z",
        level=confidence,
        resamples=resamples,
        seed=seed,
        most=MOST if level == "interval" else int(np.clip(_BUDGET // max(units.table.nnz, 1), _FEWEST, MOST)),
    )
    return Estimate(statistic_name("krippendorff_alpha", level=level), value, interval, len(units.size))


def coincidence_matrix(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values and how often each two coincide within an item, over its number of ratings − 1.

    *Shape:* (values,), (values, values); the entries sum to the number of pairable ratings.

    Errors: :class:`StatisticError` where no item has two ratings.

    >>> coincidence_matrix(Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2]))[1].tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    units, _ = _units(ratings)
    # every unit in one group: the coincidences of the whole
    all_in_one = np.zeros(len(units.size), dtype=np.int64)
    return units.values, group_coincidences(units, all_in_one, 1)[0]


def alpha_draws(
    ratings: Ratings, codes: IntArray, n_groups: int, *, level: Level = "interval", resamples: int, seed: int
) -> FloatArray:
    """Return alpha in each resample of *n_groups* groups of items, some of which may have no item here.

    *Shape:* codes (items,), the group of each item → (resamples,). NaN without variation.
    Errors: those of :func:`krippendorff_alpha`.
    """
    units, _ = _units(ratings)
    kept = np.flatnonzero(ratings.counts() > 1)
    weighted = disagreement(units, level, codes[kept], n_groups)
    step = max(1, _CELLS_OF_DRAWS // weighted.width)
    blocks = resample_counts(n_groups, resamples=resamples, seed=seed)
    # a few draws at a time: a table of all draws by all distinct values would not fit into memory
    parts = (block[start : start + step] for block in blocks for start in range(0, len(block), step))
    return np.concatenate([_alphas(weighted, part.astype(np.float64)) for part in parts])


@dataclass(frozen=True, slots=True, eq=False)
class _Paired:
    """The ratings of units, each by its unit and the code of its value.

    *Shape:* kept (all ratings,), the others (ratings kept,).
    """

    kept: BoolArray
    unit: IntArray
    value: IntArray


def _units(ratings: Ratings) -> tuple[Units, _Paired]:
    # imported here: the command line must start without scipy
    from scipy import sparse

    counts = ratings.counts()
    kept = np.flatnonzero(counts > 1).astype(np.int64)
    if not len(kept):
        raters = len(np.unique(ratings.rater))
        raise StatisticError(
            f"alpha is undefined: no item has ratings of two raters ({raters} raters, {ratings.n_items} items)"
        )
    row = np.full(ratings.n_items, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    paired = row[ratings.item] >= 0
    values, code = distinct_values(ratings.value[paired])
    unit = row[ratings.item[paired]]
    table = sparse.csr_matrix((np.ones(len(code)), (unit, code)), shape=(len(kept), len(values)))
    return Units(table, values, counts[kept].astype(np.float64)), _Paired(paired, unit, code)


def _left_out(units: Units, paired: _Paired, level: Level, codes: IntArray, n_groups: int) -> FloatArray:
    """Alpha without each group of ratings, NaN where it is undefined. *Shape:* codes (ratings,) → (groups,).

    Without a group, the table is the whole one less the units that the group rated, plus what is left of these: three
    groups of units with the weights 1, −1 and 1. A unit with one rating left is none.
    """
    # one entry for each group and unit it rated
    pairs, which = np.unique(codes * len(units.size) + paired.unit, return_inverse=True)
    group, unit = np.divmod(pairs, len(units.size))
    which = which.reshape(-1)
    if level == "interval":
        return _left_out_by_sums(units, paired, group, unit, which, n_groups)
    lengths = np.diff(units.table.indptr)[unit]
    ends = np.cumsum(np.bincount(group, weights=lengths, minlength=n_groups))
    starts = [0]
    while starts[-1] < n_groups:
        first = starts[-1]
        reached = int(np.searchsorted(ends, (ends[first - 1] if first else 0) + _ENTRIES, side="right"))
        starts.append(min(max(reached, first + 1), first + _GROUPS, n_groups))
    parts = []
    for low, high in itertools.pairwise(starts):
        chosen = np.flatnonzero((group >= low) & (group < high))
        rows = np.flatnonzero(np.isin(which, chosen))
        place = np.full(len(pairs), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        removed = (place[which[rows]], paired.value[rows])
        parts.append(_alphas_without(units, level, group[chosen] - low, unit[chosen], removed, high - low))
    return np.concatenate(parts)


def _alphas_without(
    units: Units, level: Level, group: IntArray, unit: IntArray, removed: tuple[IntArray, IntArray], n_groups: int
) -> FloatArray:
    """Alpha without each group; *removed*: the entry (of *group* and *unit*) and the value of each rating excluded."""
    # imported here: the command line must start without scipy
    from scipy import sparse

    touched = units.table[unit]
    gone = sparse.csr_matrix((np.ones(len(removed[0])), removed), shape=touched.shape)
    size = units.size[unit] - np.asarray(gone.sum(axis=1)).ravel()
    rest = (touched - gone)[np.flatnonzero(size > 1)]
    table = sparse.vstack([units.table, touched, rest]).tocsr()
    sizes = np.concatenate([units.size, units.size[unit], size[size > 1]])
    every = np.zeros(len(units.size), dtype=np.int64)
    groups = np.concatenate([every, 1 + group, 1 + n_groups + group[size > 1]])
    weighted = disagreement(Units(table, units.values, sizes), level, groups, 1 + 2 * n_groups)
    own = np.eye(n_groups)
    return _alphas(weighted, np.hstack([np.ones((n_groups, 1)), -own, own]))


def _left_out_by_sums(
    units: Units, paired: _Paired, group: IntArray, unit: IntArray, which: IntArray, n_groups: int
) -> FloatArray:
    """Interval alpha without each group, from sums and sums of squares alone."""
    x = spread_within(units.values, np.zeros(len(units.values), dtype=np.int64), 1)

    def within(n: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
        pairs = np.maximum(2 * n * squares - 2 * sums**2, 0.0)
        return np.divide(pairs, n - 1, out=np.zeros(len(n)), where=n > 1)

    def moments(rows: IntArray, n_rows: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        given = x[paired.value]
        return tuple(  # type: ignore[return-value]
            np.bincount(rows, weights=part, minlength=n_rows) for part in (np.ones(len(given)), given, given * given)
        )

    whole = moments(paired.unit, len(units.size))
    rest = tuple(part[unit] - gone for part, gone in zip(whole, moments(which, len(group)), strict=True))
    left = rest[0] > 1
    # what a group takes away: its units, less what is left of them
    n, sums, squares = (
        part.sum() - np.bincount(group, weights=part[unit] - np.where(left, remaining, 0.0), minlength=n_groups)
        for part, remaining in zip(whole, rest, strict=True)
    )
    by_unit = within(*whole)
    change = by_unit[unit] - np.where(left, within(*rest), 0.0)
    observed = by_unit.sum() - np.bincount(group, weights=change, minlength=n_groups)
    expected = 2 * n * squares - 2 * sums**2
    # of one value only, rounding is left of the squares, never a real spread
    sound = expected > 1e-12 * 2 * n * squares
    ratio = np.divide((n - 1) * observed, expected, out=np.full(n_groups, np.nan), where=sound)
    return np.asarray(1 - ratio)


def _alphas(weighted: WeightedDisagreement, weights: FloatArray) -> FloatArray:
    """Alpha of each reweighting of the groups, NaN without variation. *Shape:* weights (draws, groups) → (draws,)."""
    n = weights @ weighted.size
    observed, expected = weighted.sums(weights)
    sound = expected > 0
    ratio = np.divide((n - 1) * observed, expected, out=np.full(len(n), np.nan), where=sound)
    return np.asarray(1 - ratio)


# -- observed and expected disagreement, at the four levels ---------------------------------------------------------
# Observed and expected disagreement of ratings within and across items, at the four levels of measurement.
#
# Each level has its closed form, so that no square table of values is needed: nominal by counts, interval by sums and
# sums of squares, ordinal by mid-ranks, ratio by nodes (below). A resample
# of items only changes how often each is counted: everything here takes weights of groups of items and returns one
# number per draw. *Source:* Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.


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
class WeightedDisagreement:
    """Disagreement as a function of the weights of groups of units.

    *Shape:* size (groups,), the ratings of each group. ``sums`` takes weights (draws, groups) and returns the observed
    and the expected disagreement (draws,): over all ordered pairs of ratings of one unit, each over its unit's ratings
    − 1, and over all ordered pairs of ratings. ``width`` is how many numbers it holds for each draw.
    """

    size: FloatArray
    sums: Sums
    width: int


def disagreement(units: Units, level: Level, groups: IntArray, n_groups: int) -> WeightedDisagreement:
    """Return the disagreement of some units at a level. *Shape:* groups (units,), the code of each unit's group."""
    make = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}[level]
    sums, width = make(units, groups, n_groups)
    return WeightedDisagreement(_by_group(units.size, groups, n_groups), sums, max(width, n_groups, len(units.size)))


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

    def of_draw(weights: FloatArray) -> tuple[float, float]:
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
        pairs = np.array([of_draw(row[groups]) for row in weights]).reshape(-1, 2)
        return np.maximum(pairs[:, 0], 0.0), pairs[:, 1]

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
    coincidences = np.zeros((n_groups, len(units.values), len(units.values)))
    for value, row in enumerate(units.table.T.tocsr()):
        # of the ratings with this value: which others their units hold, themselves left out
        others = units.table.multiply(row.T / (units.size - 1)[:, None]).tocsr()
        coincidences[:, value] = _group_table(others, groups, n_groups).toarray()
        coincidences[:, value, value] -= _by_group(row.toarray().ravel() / (units.size - 1), groups, n_groups)
    return coincidences


# -- the ratio distance, summed over all pairs of many values -------------------------------------------------------
# The ratio distance ((c − k) / (c + k))² summed over all pairs of many values, without looking at every pair.
#
# With c = eᵃ and k = eᵇ the distance is tanh²((a − b) / 2): a smooth function of two logarithms, analytic as far as
# ±πi. So the logarithms are cut into boxes no wider than 2, and each value is written as a mixture of the 20 Chebyshev
# nodes of its box; the distance of two mixtures is the sum of the distances of their nodes. On a box of that width the
# error falls as 6.4⁻ⁿ with the number of nodes, which for 20 is below what a float can hold: the sums are those of all
# pairs to about 1e-15 of the largest distance. Cost: values × 20, and nodes² once. *Source:* barycentric interpolation,
# Berrut & Trefethen 2004.


# up to this many distinct values stand for themselves
EXACT_VALUES = 512
_NODES = 20
_WIDTH = 2.0
_ROWS = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """What stands for the values in the sums: *distances* (nodes, nodes), and each value's *box* and *place* in it.

    A box is a run of nodes; ``place`` is −1 to 1. Without boxes each value is its own node.
    """

    distances: FloatArray
    box: IntArray
    place: FloatArray

    @property
    def exact(self) -> bool:
        """Whether each value is its own node."""
        return not len(self.box)


def ratio_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return ((c − k) / (c + k))² for every value c of the first and k of the second, 0 for two zeros.

    *Shape:* (n,), (m,) → (n, m).

    >>> ratio_distances(np.array([1.0, 0.0]), np.array([3.0, 0.0])).tolist()  # (2 / 4)², (1 / 1)²; (3 / 3)², 0
    [[0.25, 1.0], [1.0, 0.0]]
    """
    total = first[:, None] + second[None, :]
    share = np.divide(first[:, None] - second[None, :], total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(share**2)


def nodes_of(values: FloatArray) -> Nodes:
    """Return the nodes of some values, which are distinct, sorted, and not negative. *Shape:* values (values,)."""
    if len(values) <= EXACT_VALUES:
        return Nodes(ratio_distances(values, values), np.empty(0, dtype=np.int64), np.empty(0))
    zeros = int(values[0] == 0)
    logs = _logarithms(values[zeros:])
    boxes = max(1, int(np.ceil(logs[-1] / _WIDTH)))
    half = logs[-1] / boxes / 2
    # boxes between clusters of values hold none and get no nodes
    number = np.minimum((logs / (2 * half)).astype(np.int64), boxes - 1)
    filled, box = np.unique(number, return_inverse=True)
    centres = (2 * filled + 1) * half
    at = (centres[:, None] + half * _chebyshev()[None, :]).ravel()
    distances = np.tanh((at[:, None] - at[None, :]) / 2) ** 2
    if zeros:
        # 0 has no logarithm: a box with one value, as far as can be from every other
        distances = np.pad(distances, ((0, _NODES), (0, _NODES)), constant_values=1.0)
        distances[-_NODES:, -_NODES:] = 0.0
        box = np.concatenate([[len(filled)], box.reshape(-1)])
        logs, centres = np.concatenate([[0.0], logs]), np.append(centres, 0.0)
    place = (logs - centres[box.reshape(-1)]) / half
    return Nodes(distances, box.reshape(-1).astype(np.int64), np.clip(place, -1.0, 1.0))


def on_nodes(table: Any, nodes: Nodes) -> Any:
    """Return the counts of a sparse table as counts of nodes. *Shape:* (units, values) → (units, nodes)."""
    if nodes.exact:
        return table
    columns = table.tocsc()
    spread = np.zeros((table.shape[0], len(nodes.distances)))
    for start, end in _runs(nodes.box):
        first = int(nodes.box[start]) * _NODES
        spread[:, first : first + _NODES] += columns[:, start:end] @ _mixtures(nodes.place[start:end])
    return spread


def pair_sums(counts: Any, distances: FloatArray) -> FloatArray:
    """Return the sum of the distances of all ordered pairs within each row of counts. *Shape:* (rows, nodes) → (rows,).

    >>> pair_sums(np.array([[2.0, 1.0]]), np.array([[0.0, 0.25], [0.25, 0.0]])).tolist()  # 2 * 2 * 1 * .25
    [1.0]
    """
    dense = counts if isinstance(counts, np.ndarray) else counts.toarray()
    return np.asarray(np.maximum(np.einsum("un,un->u", dense @ distances, dense), 0.0))


def _logarithms(values: FloatArray) -> FloatArray:
    """log(value / smallest), exact to the last digits also where all values are close to each other."""
    least = values[0]
    near = values < 2 * least
    logs = np.log(values) - np.log(least)
    logs[near] = np.log1p((values[near] - least) / least)
    return np.asarray(logs)


def _chebyshev() -> FloatArray:
    return np.asarray(np.cos((2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES)))


def _mixtures(place: FloatArray) -> FloatArray:
    """The share of each node in each value, by Lagrange's polynomials. *Shape:* (values,) → (values, nodes)."""
    at = _chebyshev()
    weight = np.sin((2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES)) * (-1.0) ** np.arange(_NODES)
    gap = place[:, None] - at[None, :]
    hit, node = np.nonzero(gap == 0)
    gap[hit, node] = 1.0
    shares = weight / gap
    # a value on a node is that node
    shares[hit] = 0.0
    shares[hit, node] = 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(shares)


def _runs(box: IntArray) -> list[tuple[int, int]]:
    """Where each run of values of one box starts and ends, long runs in parts that fit into memory."""
    edges = np.flatnonzero(np.diff(box)) + 1
    ends = [*edges.tolist(), len(box)]
    starts = [0, *edges.tolist()]
    return [
        (low, min(low + _ROWS, end))
        for start, end in zip(starts, ends, strict=True)
        for low in range(start, end, _ROWS)
    ]
