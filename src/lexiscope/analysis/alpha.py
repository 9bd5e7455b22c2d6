"""Krippendorff's alpha at four levels of measurement, with missing ratings and an interval over items.

Alpha is 1 minus observed over expected disagreement. Both follow from the coincidence matrix (``coincidence_matrix``);
here they are summed unit by unit, which gives the same number, needs no square matrix for many distinct values, and
lets a resample of items be a reweighting. *Source:* Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Items with two ratings or more: sparse counts (units, values), the distinct values, ratings per unit."""

    table: Any
    values: FloatArray
    size: FloatArray


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
    value = float(_alphas(units, np.ones((1, len(units.size))), level)[0])
    if np.isnan(value):
        raise StatisticError(
            f"alpha is undefined: all {int(units.size.sum())} ratings are {units.values[0]:g}",
            why="without variation there is no disagreement to expect",
        )
    labels = None if groups is None else ratings.item_labels(groups)[kept]
    codes, count = group_codes(labels, len(units.size))
    blocks = resample_counts(count, resamples=resamples, seed=seed)
    draws = np.concatenate([_alphas(units, block[:, codes].astype(np.float64), level) for block in blocks])
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


def _alphas(units: _Units, weights: FloatArray, level: Level) -> FloatArray:
    """Alpha of each reweighting of the units, NaN without variation. *Shape:* weights (draws, units) → (draws,)."""
    # a resample of items only changes how often each unit is counted
    n = weights @ units.size
    marginals = np.asarray((units.table.T @ weights.T).T)
    if level == "ordinal":
        # Krippendorff's ordinal distance of two values is the distance of their mid-ranks in this very sample
        scores = np.cumsum(marginals, axis=1) - marginals / 2
        observed, expected = _ordinal(units, weights, marginals, scores)
    else:
        observed = weights @ _within(units, level)
        expected = _expected(marginals, units.values, level)
    sound = expected > 1e-12 * n
    ratio = np.divide((n - 1) * observed, expected, out=np.full(len(n), np.nan), where=sound)
    return np.asarray(1 - ratio)


def _within(units: _Units, level: Level) -> FloatArray:
    """Sum of the squared distances of all ordered pairs of ratings of a unit, over its ratings − 1."""
    if level == "nominal":
        pairs = units.size**2 - np.asarray(units.table.power(2).sum(axis=1)).ravel()
    elif level == "interval":
        x = _centred_values(units)
        pairs = np.asarray(2 * units.size * (units.table @ (x * x)) - 2 * (units.table @ x) ** 2)
    else:
        pairs = np.asarray(units.table.multiply(units.table @ _ratio_distances(units.values)).sum(axis=1)).ravel()
    # rounding may leave -1e-17 where a unit agrees
    return np.asarray(np.maximum(pairs, 0.0) / (units.size - 1))


def _expected(marginals: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """Sum of the squared distances of all ordered pairs of ratings, whatever their unit. *Shape:* (draws,)."""
    n = marginals.sum(axis=1)
    if level == "nominal":
        return np.asarray(n**2 - (marginals**2).sum(axis=1))
    if level == "interval":
        # centred: a large common offset would cancel in the difference of two huge sums
        x = values - values.mean()
        return np.asarray(2 * n * (marginals @ (x * x)) - 2 * (marginals @ x) ** 2)
    return np.asarray(((marginals @ _ratio_distances(values)) * marginals).sum(axis=1))


def _ordinal(
    units: _Units, weights: FloatArray, marginals: FloatArray, scores: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Observed and expected disagreement on scores that differ from draw to draw. *Shape:* (draws,) each."""
    middle = (marginals * scores).sum(axis=1, keepdims=True) / marginals.sum(axis=1, keepdims=True)
    scores = scores - middle
    size = units.size[:, None]
    pairs = 2 * size * (units.table @ (scores**2).T) - 2 * (units.table @ scores.T) ** 2
    observed = np.einsum("bu,ub->b", weights, np.maximum(pairs, 0.0) / (size - 1))
    expected = 2 * marginals.sum(axis=1) * (marginals * scores**2).sum(axis=1)
    return observed, np.asarray(expected)


def _centred_values(units: _Units) -> FloatArray:
    return np.asarray(units.values - units.values.mean())


def _ratio_distances(values: FloatArray) -> FloatArray:
    """((c − k) / (c + k))² for every two values, 0 for two zeros."""
    total = values[:, None] + values[None, :]
    share = np.divide(values[:, None] - values[None, :], total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(share**2)
