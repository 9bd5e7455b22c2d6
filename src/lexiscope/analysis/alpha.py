"""Krippendorff's alpha at four levels of measurement, with missing ratings and an interval over items.

Alpha is 1 minus observed over expected disagreement. Both follow from the coincidence matrix (``coincidence_matrix``);
here they are summed unit by unit, which gives the same number, needs no square matrix for many distinct values, and
lets a resample of items be a reweighting. *Source:* Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.bootstrap import (
    FloatArray,
    IntArray,
    Interval,
    group_codes,
    percentile_interval,
    resample_counts,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import statistic_name

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha: 1 = perfect agreement, 0 = as by chance, negative = systematic disagreement.

    ``n_ratings`` counts the pairable ratings, ``n_unpaired`` those on items that only one rater rated (they do not
    enter).
    """

    name: str
    value: float
    interval: Interval
    n_items: int
    n_ratings: int
    n_unpaired: int
    n_raters: int


# cells of a table of draws and distinct values that is made in one step: continuous ratings have many distinct values
_CELLS = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Items with two ratings or more: sparse counts (units, values), the distinct values, ratings per unit."""

    table: Any
    values: FloatArray
    size: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Disagreement:
    """What no resample changes: the disagreement within each unit, and between units or values at the ratio level.

    *Shape:* within (units,); between (units, units) or (values, values), whichever is smaller. Both are empty where the
    level does not use them.
    """

    within: FloatArray
    between: FloatArray


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "interval",
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Alpha:
    """Return Krippendorff's alpha. The items are the units; ``groups`` (item id → word) are resampled whole.

    *Higher means:* raters agree more. *Source:* AmbiStory §4.1 (``level="interval"``).

    Errors: :class:`StatisticError` for one rater, no item with two ratings, no variation, an unknown level, or negative
    values at the ratio level.

    >>> ratings = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2])
    >>> round(krippendorff_alpha(ratings, level="nominal", resamples=200).value, 9)  # 1 - 5 * 2 / (6² - 3² - 3²)
    0.444444444
    """
    if level not in LEVELS:
        raise StatisticError(f"no level {level!r} of Krippendorff's alpha; there are: {', '.join(LEVELS)}")
    units, kept = _units(ratings)
    if level == "ratio" and units.values.min() < 0:
        raise StatisticError("the ratio level needs ratings that are not negative", hint='use level="interval"')
    fixed = _Disagreement(_within(units, level), _between(units, level))
    value = float(_alphas(units, fixed, np.ones((1, len(units.size))), level)[0])
    if np.isnan(value):
        raise StatisticError(
            f"alpha is undefined: all {int(units.size.sum())} ratings are {units.values[0]:g}",
            why="without variation there is no disagreement to expect",
        )
    labels = None if groups is None else ratings.item_labels(groups)[kept]
    codes, count = group_codes(labels, len(units.size))
    blocks = resample_counts(count, resamples=resamples, seed=seed)
    step = max(1, _CELLS // max(len(units.values), len(codes)))
    # a few draws at a time: a table of all draws by all distinct values would not fit into memory
    parts = (block[start : start + step] for block in blocks for start in range(0, max(len(block), 1), step))
    draws = np.concatenate([_alphas(units, fixed, part[:, codes].astype(np.float64), level) for part in parts])
    n, name = int(units.size.sum()), statistic_name("krippendorff_alpha", level=level)
    interval = percentile_interval(draws, level=confidence)
    return Alpha(name, value, interval, len(units.size), n, len(ratings) - n, len(np.unique(ratings.rater)))


def coincidence_matrix(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values and how often each two coincide within an item, over its number of ratings − 1.

    *Shape:* (values,), (values, values); the entries sum to the number of pairable ratings.

    Errors: :class:`StatisticError` where no item has two ratings.

    >>> coincidence_matrix(Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2]))[1].tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    units, _ = _units(ratings)
    table = units.table.toarray()
    scaled = table / (units.size - 1)[:, None]
    return units.values, np.asarray(scaled.T @ table - np.diag(scaled.sum(axis=0)))


def _units(ratings: Ratings) -> tuple[_Units, IntArray]:
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
    values, code = np.unique(ratings.value[paired], return_inverse=True)
    entries = (np.ones(len(code)), (row[ratings.item[paired]], code.reshape(-1)))
    table = sparse.csr_matrix(entries, shape=(len(kept), len(values)))
    return _Units(table, values, counts[kept].astype(np.float64)), kept


def _alphas(units: _Units, fixed: _Disagreement, weights: FloatArray, level: Level) -> FloatArray:
    """Alpha of each reweighting of the units, NaN without variation. *Shape:* weights (draws, units) → (draws,)."""
    # a resample of items only changes how often each unit is counted
    n = weights @ units.size
    if level == "ordinal":
        observed, expected = _ordinal(units, weights)
    else:
        observed = weights @ fixed.within
        expected = _expected(units, fixed, weights, level)
    sound = expected > 1e-12 * n
    ratio = np.divide((n - 1) * observed, expected, out=np.full(len(n), np.nan), where=sound)
    return np.asarray(1 - ratio)


def _within(units: _Units, level: Level) -> FloatArray:
    """Sum of the squared distances of all ordered pairs of ratings of a unit, over its ratings − 1."""
    if level == "ordinal":
        return np.empty(0)
    if level == "nominal":
        pairs = units.size**2 - np.asarray(units.table.power(2).sum(axis=1)).ravel()
    elif level == "interval":
        x = _centred_values(units)
        pairs = np.asarray(2 * units.size * (units.table @ (x * x)) - 2 * (units.table @ x) ** 2)
    else:
        pairs = np.array([_ratio_within(units, unit) for unit in range(len(units.size))])
    # rounding may leave -1e-17 where a unit agrees
    return np.asarray(np.maximum(pairs, 0.0) / (units.size - 1))


def _ratio_within(units: _Units, unit: int) -> float:
    start, end = units.table.indptr[unit : unit + 2]
    values, counts = units.values[units.table.indices[start:end]], units.table.data[start:end]
    return float(sum(counts[rows] @ (_ratio_distances(values[rows], values) @ counts) for rows in _slices(len(values))))


def _between(units: _Units, level: Level) -> FloatArray:
    """Sums of ratio distances between units, or the distances of values where there are fewer values than units."""
    if level != "ratio":
        return np.empty((0, 0))
    values, size = units.values, len(units.size)
    if len(values) <= size:
        return _ratio_distances(values, values)
    # units × values, then units × units: the distances of all values are never held at once
    total = np.zeros((size, size))
    for rows in _slices(len(values)):
        total += units.table[:, rows] @ (units.table @ _ratio_distances(values, values[rows])).T
    return total


def _slices(length: int) -> Iterator[slice]:
    """Parts of a range such that a table of a part by the whole has few enough cells."""
    step = max(1, _CELLS // max(length, 1))
    return (slice(start, start + step) for start in range(0, length, step))


def _expected(units: _Units, fixed: _Disagreement, weights: FloatArray, level: Level) -> FloatArray:
    """Sum of the squared distances of all ordered pairs of ratings, whatever their unit. *Shape:* (draws,)."""
    n = weights @ units.size
    if level == "interval":
        # centred: a large common offset would cancel in the difference of two huge sums
        x = _centred_values(units)
        return np.asarray(2 * n * (weights @ (units.table @ (x * x))) - 2 * (weights @ (units.table @ x)) ** 2)
    if level == "ratio" and len(units.values) > len(units.size):
        return np.asarray(((weights @ fixed.between) * weights).sum(axis=1))
    marginals = _marginals(units, weights)
    if level == "nominal":
        return np.asarray(n**2 - (marginals**2).sum(axis=1))
    return np.asarray(((marginals @ fixed.between) * marginals).sum(axis=1))


def _marginals(units: _Units, weights: FloatArray) -> FloatArray:
    """How often each value occurs in each reweighting of the units. *Shape:* (draws, values)."""
    return np.asarray((units.table.T @ weights.T).T)


def _ordinal(units: _Units, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Observed and expected disagreement on scores that differ from draw to draw. *Shape:* (draws,) each."""
    # values × draws throughout, as the sparse product makes it: transposing would cost more than the arithmetic
    marginals = np.asarray(units.table.T @ weights.T)
    # Krippendorff's ordinal distance of two values is the distance of their mid-ranks in this very sample
    scores = np.cumsum(marginals, axis=0)
    scores -= marginals / 2
    n = weights @ units.size
    scores -= np.einsum("vb,vb->b", marginals, scores) / n
    sums = units.table @ scores
    scores *= scores
    size = units.size[:, None]
    pairs = 2 * size * (units.table @ scores) - 2 * sums**2
    observed = np.einsum("bu,ub->b", weights, np.maximum(pairs, 0.0) / (size - 1))
    return observed, np.asarray(2 * n * np.einsum("vb,vb->b", marginals, scores))


def _centred_values(units: _Units) -> FloatArray:
    return np.asarray(units.values - units.values.mean())


def _ratio_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """((c − k) / (c + k))² for every value c of the first and k of the second, 0 for two zeros."""
    total = first[:, None] + second[None, :]
    share = np.divide(first[:, None] - second[None, :], total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(share**2)
