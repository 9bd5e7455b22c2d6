"""Bootstrap intervals of what is read off a whole curve over layers: Expected Layer, last-layer drop, differences.

Groups of items (words) are resampled; a resample reweights sums of products per group, so no regression is fitted anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    FloatArray,
    group_codes,
    percentile_interval,
    resample_counts,
    resampled_units,
)
from lexiscope.analysis.comparison import bootstrap_p
from lexiscope.analysis.correlation import correlation_draws, correlation_value, is_constant, standardised
from lexiscope.analysis.regression import group_products, weighted_sums
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

# A layer whose part that earlier layers do not give has less than this share of its variance adds nothing.
_NOTHING_NEW = 1e-10


def last_layer_drop_interval(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the interval of 1 − R² at the last layer / highest R²; the highest is found anew in each resample.

    *Shape:* distance (items, layers); norms and groups (items,). *Unit:* share of the highest R².
    *Source:* SAW-C §5.3. Errors: :class:`StatisticError` where the norms are constant.
    """
    draws = _r_squared_draws(distance, norms, groups, resamples, seed)
    highest = draws.max(axis=1, initial=0.0)
    drop = np.divide(draws[:, -1], highest, out=np.full(len(draws), np.nan), where=highest > 0)
    return _interval(1 - drop, groups, len(np.asarray(norms)), level)


def highest_difference(
    first: ArrayLike,
    second: ArrayLike,
    norms: ArrayLike,
    *,
    between: str,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the highest R² of *first* − the highest of *second*, both on the same resamples.

    *between* names what the first distances have and the second have not. A layer without variation explains nothing.

    *Shape:* first and second (items, layers); norms and groups (items,).
    *Higher means:* the first is closer to people. *Source:* SAW-C fn 11 (with − without stop).
    """
    draws = [_r_squared_draws(distance, norms, groups, resamples, seed) for distance in (first, second)]
    highest = [drawn.max(axis=1, initial=0.0) for drawn in draws]
    interval = _interval(highest[0] - highest[1], groups, len(np.asarray(norms)), level)
    values = [max(_r_squared_values(distance, norms), default=0.0) for distance in (first, second)]
    name = statistic_name("r_squared_difference", of="max_over_layers", between=between)
    note = f"{values[0]:.4f} with, {values[1]:.4f} without"
    return Estimate(name, values[0] - values[1], interval, len(np.asarray(norms)), note=note)


def highest_combinations(
    distances: Sequence[ArrayLike],
    norms: ArrayLike,
    weights: Sequence[tuple[str, ArrayLike]],
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return weighted sums of the highest R² of several subjects, all on the same resamples, with p of a sum of 0.

    *weights* are the statistic's name and a weight per subject: (−1, 1) is a difference, (x − x̄) / Σ (x − x̄)² the
    least-squares slope on x. The highest layer is found anew in each resample. p is that of
    :func:`~lexiscope.analysis.comparison.bootstrap_p`, ``None`` without an interval.

    *Shape:* distances each (items, layers); norms and groups (items,); weights each (subjects,).
    *Source:* SAW-C §5.2.

    Errors: :class:`StatisticError` where the norms are constant or weights do not go with the subjects.
    """
    values = np.array([max(_r_squared_values(distance, norms), default=0.0) for distance in distances])
    by_layer = (_r_squared_draws(distance, norms, groups, resamples, seed) for distance in distances)
    draws = np.array([drawn.max(axis=1, initial=0.0) for drawn in by_layer])
    n, combined = len(np.asarray(norms)), []
    for name, given in weights:
        own = np.asarray(given, dtype=np.float64)
        if own.shape != values.shape:
            raise StatisticError(f"{name}: weights of shape {own.shape} do not go with {len(values)} subjects")
        drawn = own @ draws
        interval, (_, n_groups) = _interval(drawn, groups, n, level), group_codes(groups, n)
        p = bootstrap_p(drawn, n_groups=n_groups) if interval.is_defined else None
        combined.append(Estimate(name, float(own @ values), interval, n, p=p))
    return tuple(combined)


def expected_layer_r_squared_interval(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the interval of the Expected Layer by R² (signed deltas, cumulative from layer 0).

    The same as :func:`lexiscope.analysis.layers.expected_layer.expected_layer_interval` with ``r_squared``, without
    fitting.

    *Shape:* distance (items, L + 1) for layers 0…L; norms and groups (items,). *Unit:* layers. *Source:* SAW-C A.2.
    Errors: :class:`StatisticError` with fewer than two layers or where the norms are constant.
    """
    columns, y = _check_columns(distance, norms)
    if columns.shape[1] < 2:
        raise StatisticError("an expected layer needs at least one layer above the embeddings")
    used = [layer for layer in range(columns.shape[1]) if not is_constant(columns[:, layer])]
    codes, n_groups = group_codes(groups, len(y))
    sums = group_products(standardised(columns[:, used]), standardised(y[:, None]), codes, n_groups)
    layers = np.array(used, dtype=np.float64)
    draws = []
    for counts in resample_counts(n_groups, resamples=resamples, seed=seed):
        gains = _sequential_gains(weighted_sums(counts, sums))
        # layer 0 is where the cumulative regressions start: it has no delta
        gains[:, layers == 0] = 0.0
        total = gains.sum(axis=1)
        draws.append(np.divide(gains @ layers, total, out=np.full(len(total), np.nan), where=total > 1e-12))
    return _interval(np.concatenate(draws), groups, len(y), level)


def _interval(draws: FloatArray, groups: ArrayLike | None, n: int, level: float) -> Interval:
    units, (_, n_groups) = resampled_units(groups), group_codes(groups, n)
    return percentile_interval(draws, level=level, resampled=units, n_groups=n_groups)


def _sequential_gains(products: FloatArray) -> FloatArray:
    """What each predictor adds to the explained sum of squares after those before it. *Shape:* (draws, predictors).

    *products* are sums of products of (1, predictors, outcome), *Shape:* (draws, k, k); they are eliminated in order.
    """
    # draws last, so that each step runs over all of them in one go; below the diagonal is what is above it
    left = np.ascontiguousarray(products.transpose(1, 2, 0))
    first = np.einsum("iib->ib", left).copy()
    k = len(left)
    gains = np.zeros((left.shape[2], k - 2))
    for column in range(k - 1):
        pivot = left[column, column]
        sound = pivot > _NOTHING_NEW * first[column]
        row = np.where(sound, left[column, column + 1 :], 0.0)
        scale = np.where(sound, pivot, 1.0)
        if column:
            gains[:, column - 1] = row[-1] ** 2 / scale
        for place in range(k - column - 1):
            left[column + 1 + place, column + 1 + place :] -= row[place] * row[place:] / scale
    return gains


def _r_squared_draws(
    distance: ArrayLike, norms: ArrayLike, groups: ArrayLike | None, resamples: int, seed: int
) -> FloatArray:
    """R² of every layer in every resample; a layer without variation explains nothing. *Shape:* (draws, layers)."""
    columns, y = _check_columns(distance, norms)
    draws = np.zeros((resamples, columns.shape[1]))
    used = [layer for layer in range(columns.shape[1]) if not is_constant(columns[:, layer])]
    if used:
        draws[:, used] = np.nan_to_num(
            correlation_draws(columns[:, used], y, kind="r_squared", groups=groups, resamples=resamples, seed=seed)
        )
    return draws


def _r_squared_values(distance: ArrayLike, norms: ArrayLike) -> list[float]:
    columns, y = _check_columns(distance, norms)
    return [correlation_value(column, y, kind="r_squared") for column in columns.T if not is_constant(column)]


def _check_columns(distance: ArrayLike, norms: ArrayLike) -> tuple[FloatArray, FloatArray]:
    columns, y = np.asarray(distance, dtype=np.float64), np.asarray(norms, dtype=np.float64)
    if columns.ndim != 2 or len(columns) != len(y):
        raise StatisticError(f"distances of shape {columns.shape} do not go with {len(y)} norms")
    if is_constant(y):
        raise StatisticError("the norms are constant: there is nothing to explain")
    return columns, y
