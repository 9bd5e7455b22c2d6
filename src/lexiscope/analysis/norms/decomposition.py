"""What explains the norms: shares of variance of sense and distance, and what is left over by condition.

Intervals are those of groups of items (words). Leaving a group out, or drawing it twice, only changes how often its
sums of products count, so 2000 refits cost one pass over the items.

A share of variance, and what a block adds to it, are never below 0, and fits to few words explain too much. Percentiles
of draws are too high for both reasons: with five predictors of 25 words they hold the truth 87 % of the time, and never
where a block adds nothing. These intervals are therefore jackknives on Fisher's z of the root, which hold it 93 to 97 %
of the time in both cases (docs/reference/coverage.md). What two blocks share has both signs and keeps its draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    FloatArray,
    GroupLabels,
    IntArray,
    group_codes,
    group_sums,
    percentile_interval,
    resample_counts,
    resampled_units,
)
from lexiscope.analysis.correlation import safe_unit, standardised
from lexiscope.analysis.jackknife import LeftOut, jackknife_interval, left_out_groups, no_jackknife
from lexiscope.analysis.regression import OlsFit, group_products, ols, weighted_sums
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name

RESIDUAL = statistic_name("mean_residual", model="norm~distance")
"""The mean residual of norms under a regression on the distances of one layer."""
# Directions of a resample with less than this share of the variance of the strongest one are treated as absent.
_RANK = 1e-10


def explained_variance(
    norms: ArrayLike,
    models: Mapping[str, ArrayLike],
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Return the unadjusted R² of several linear models of the norms, with intervals that leave out each group once.

    *Shape:* norms and groups (items,); each model (items,) or (items, predictors), without a column of ones.
    *Unit:* share of variance. *Higher means:* more is explained. *Source:* SAW-C §4.5.
    Errors: :class:`StatisticError` where a model is not identified or the norms are constant.

    >>> shares = explained_variance([1, 3, 2, 4], {"x": [1, 2, 3, 4]}, resamples=50)
    >>> round(shares["x"].value, 12)  # .8 ** 2
    0.64
    """
    sums, values, n = _products(norms, models, groups)
    return {
        name: _share("r_squared", name, values[name], _r_squared_without(sums[name], resamples, seed), level, n, groups)
        for name in models
    }


def variance_decomposition(
    norms: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: tuple[str, str] = ("sense", "distance"),
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Decompose the variance that two blocks of predictors explain into unique and shared parts.

    Returned are the R² of the first block, of the second, and of both; what the first adds to the second (both −
    second), what the second adds to the first (both − first), and what they share (first + second − both), which is
    negative where each block explains more in the presence of the other (suppression). All R² are unadjusted.

    *Shape:* norms and groups (items,); the blocks (items,) or (items, predictors). *Unit:* share of variance.
    *Source:* SAW-C §4.5 (R² of sense, of distance, and of both).
    Errors: :class:`StatisticError` where a block is constant, the blocks are collinear, or the norms are constant.

    Two orthogonal predictors share nothing:

    >>> *_, shared = variance_decomposition([0, 1, 2, 4], [0, 0, 1, 1], [0, 1, 0, 1], resamples=50)
    >>> round(abs(shared.value), 12)
    0.0
    """
    blocks = [_block(first), _block(second)]
    both = np.column_stack(blocks)
    models = {"first": blocks[0], "second": blocks[1], "both": both}
    sums, values, n = _products(norms, models, groups)
    labels = dict(zip(models, (*names, "+".join(names)), strict=True))
    without = {model: _r_squared_without(sums[model], resamples, seed) for model in models}
    parts = [_share("r_squared", labels[model], values[model], without[model], level, n, groups) for model in models]
    for of, other in (("first", "second"), ("second", "first")):
        left = np.maximum(without["both"].values - without[other].values, 0.0)
        added = values["both"] - values[other]
        added_without = LeftOut(left, without["both"].sizes)
        parts.append(_share("unique_r_squared", labels[of], added, added_without, level, n, groups))
    draws = {model: _r_squared_draws(sums[model], resamples, seed) for model in models}
    common = values["first"] + values["second"] - values["both"]
    drawn = draws["first"] + draws["second"] - draws["both"]
    units = resampled_units(groups)
    interval = percentile_interval(drawn, level=level, resampled=units, n_groups=len(sums["both"]))
    name = statistic_name("shared_r_squared", of=labels["both"])
    return (*parts, Estimate(name, common, interval, n, len(sums["both"])))


def crossed(flag: ArrayLike, levels: Sequence[str]) -> FloatArray:
    """Return the predictors of a flag crossed with a factor: the flag, each further level, its product with the flag.

    The first level by code point is the reference. *Shape:* flag and levels (items,) → (items, predictors).

    >>> crossed([True, False, True], ["a", "b", "b"]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    marked, labels = np.asarray(flag, dtype=np.float64), np.asarray(levels, dtype=str)
    further = [(labels == level).astype(np.float64) for level in np.unique(labels)[1:]]
    return np.column_stack([marked, *(column for level in further for column in (level, level * marked))])


def residuals_by_condition(
    norms: ArrayLike,
    X: ArrayLike,
    names: Sequence[str],
    conditions: Sequence[str],
    *,
    model: str,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[OlsFit, tuple[Estimate, ...]]:
    """Regress the norms on X, without the condition; return the fit and the mean residual of each condition.

    A residual is observed − fitted: *higher means:* people rate these items as more related than the regression
    expects. *model* names the regression, ``norm~distance``. Intervals refit the regression in each resample of groups.
    Conditions come in the order of their names.

    *Shape:* norms, conditions and groups (rows,); X (rows,) or (rows, predictors) with one name each.
    *Unit:* of the norms. *Source:* SAW-C §4.5, §5.4. Errors: :class:`StatisticError` where the regression is
    undefined or a condition has fewer than 2 rows.

    A flat line leaves each condition's distance from the overall mean of 2.5:

    >>> x, conditions = [1, 2, 1, 2], ["different", "different", "same", "same"]
    >>> _, means = residuals_by_condition([1, 1, 4, 4], x, ["x"], conditions, model="norm~x", resamples=50)
    >>> [(mean.condition, round(mean.value, 12)) for mean in means]
    [('different', -1.5), ('same', 1.5)]
    """
    y, predictors = np.asarray(norms, dtype=np.float64), _block(X)
    fit = ols(y, predictors, names)
    labels, membership = np.unique(np.asarray(conditions, dtype=str), return_inverse=True)
    if len(membership) != len(y):
        raise StatisticError(f"{len(membership)} conditions for {len(y)} rows")
    small = [str(label) for code, label in enumerate(labels) if np.sum(membership == code) < 2]
    if small:
        raise StatisticError(f"a condition needs at least 2 rows; too few in: {', '.join(small)}")
    codes, n_groups = group_codes(groups, len(y))
    unit = safe_unit(y)
    draws = _residual_draws(y / unit, predictors, membership, len(labels), codes, n_groups, resamples, seed) * unit
    means = []
    for code, label in enumerate(labels):
        rest = fit.residuals[membership == code]
        units, present = resampled_units(groups), len(np.unique(codes[membership == code]))
        interval = percentile_interval(draws[:, code], level=level, resampled=units, n_groups=present)
        name = statistic_name("mean_residual", model=model)
        means.append(Estimate(name, float(rest.mean()), interval, len(rest), n_groups, condition=str(label)))
    return fit, tuple(means)


def pooled_residuals(
    norms: ArrayLike,
    distance: ArrayLike,
    conditions: Sequence[str],
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[OlsFit, tuple[Estimate, ...]]:
    """Return the fit of ``norm ~ distance * layer`` over all items and layers, and mean residuals by condition.

    Every item enters once per layer with the same norm, so rows are not independent: intervals resample groups.

    *Shape:* norms, conditions, groups (items,); distance (items, layers); *layers* defaults to 0, 1, … L.
    *Unit:* of the norms. *Source:* SAW-C §5.4, Figure 5. Errors: as :func:`residuals_by_condition`.
    """
    columns = np.asarray(distance, dtype=np.float64)
    if columns.ndim != 2 or columns.shape[0] != len(conditions):
        raise StatisticError(f"distances of shape {columns.shape} do not go with {len(conditions)} conditions")
    n, count = columns.shape
    numbers = np.arange(count) if layers is None else np.asarray(layers)
    if numbers.shape != (count,):
        raise StatisticError(f"{numbers.shape} layer numbers for {count} columns")
    # row by row: all layers of the first item, then of the second, as the repeated norms below
    flat, layer = columns.ravel(), np.tile(numbers, n).astype(np.float64)
    return residuals_by_condition(
        np.repeat(np.asarray(norms, dtype=np.float64), count),
        np.column_stack([flat, layer, flat * layer]),
        ["distance", "layer", "distance:layer"],
        np.repeat(np.asarray(conditions, dtype=str), count).tolist(),
        model="norm~distance*layer",
        groups=GroupLabels(
            np.repeat(np.arange(n) if groups is None else np.asarray(groups), count), resampled_units(groups)
        ),
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _block(X: ArrayLike) -> FloatArray:
    block = np.asarray(X, dtype=np.float64)
    return block[:, None] if block.ndim == 1 else block


def _share(
    kind: str, of: str, value: float, without: LeftOut, level: float, n: int, groups: ArrayLike | None
) -> Estimate:
    """A share of variance with its interval. *without* has no values if no intervals are wanted."""
    units, (_, n_groups) = resampled_units(groups), group_codes(groups, n)
    interval = (
        # rounding alone carries what a block adds below 0
        jackknife_interval(max(value, 0.0), without, resampled=units, scale="root_fisher_z", level=level)
        if without.n
        else no_jackknife("no resamples were asked for", resampled=units, scale="root_fisher_z", level=level)
    )
    return Estimate(statistic_name(kind, of=of), value, interval, n, n_groups)


def _products(
    norms: ArrayLike, models: Mapping[str, ArrayLike], groups: ArrayLike | None
) -> tuple[dict[str, FloatArray], dict[str, float], int]:
    """The sums of products of each model in each group, its R² on the data, and the number of items."""
    y = np.asarray(norms, dtype=np.float64)
    y = y / safe_unit(y)
    codes, n_groups = group_codes(groups, len(y))
    values, sums = {}, {}
    for name, X in models.items():
        block = _block(X)
        # a share of variance has no unit, whatever becomes of the coefficients
        block = block / safe_unit(block)
        values[name] = ols(y, block, [f"{name}[{column}]" for column in range(block.shape[1])]).r_squared
        sums[name] = group_products(standardised(block), standardised(y[:, None]), codes, n_groups)
    return sums, values, len(y)


def _r_squared_draws(sums: FloatArray, resamples: int, seed: int) -> FloatArray:
    """R² of a model in each resample of groups. *Shape:* sums (groups, k, k) → (resamples,)."""
    blocks = resample_counts(len(sums), resamples=resamples, seed=seed)
    return np.concatenate([_r_squared(weighted_sums(counts, sums)) for counts in blocks])


def _r_squared_without(sums: FloatArray, resamples: int, seed: int) -> LeftOut:
    """R² of a model without each group; nothing if there are no resamples. *Shape:* sums (groups, k, k)."""
    if not resamples:
        return LeftOut.singly([])
    together, n = left_out_groups(len(sums), resamples=resamples, seed=seed)
    left = sums.sum(axis=0) - group_sums(sums, together, n)
    return LeftOut(_r_squared(left), np.bincount(together, minlength=n).astype(np.float64))


def _coefficients(products: FloatArray) -> FloatArray:
    """Least-squares coefficients of each resample; a predictor that a resample lost gets 0. *Shape:* (draws, k)."""
    inverse = np.linalg.pinv(products[:, :-1, :-1], rcond=_RANK, hermitian=True)
    return np.asarray(np.einsum("bij,bj->bi", inverse, products[:, :-1, -1]))


def _r_squared(products: FloatArray) -> FloatArray:
    """R² of each resample, NaN where the outcome is constant in it. *Shape:* (draws,)."""
    explained = np.einsum("bi,bi->b", _coefficients(products), products[:, :-1, -1])
    about_mean = products[:, 0, -1] ** 2 / products[:, 0, 0]
    total = products[:, -1, -1] - about_mean
    # a resample of items with equal norms has no variance to explain
    sound = total > _RANK * products[:, 0, 0]
    return np.where(sound, (explained - about_mean) / np.where(sound, total, 1.0), np.nan)


def _residual_draws(
    y: FloatArray,
    X: FloatArray,
    membership: IntArray,
    n_conditions: int,
    codes: IntArray,
    n_groups: int,
    resamples: int,
    seed: int,
) -> FloatArray:
    """Mean residual of each condition in each resample, NaN where it has no row. *Shape:* (draws, conditions)."""
    scaled = standardised(X)
    sums = group_products(scaled, y[:, None], codes, n_groups)
    rows = np.column_stack([np.ones(len(y)), scaled, y])
    totals = np.zeros((n_groups, n_conditions, rows.shape[1]))
    np.add.at(totals, (codes, membership), rows)
    drawn = []
    for counts in resample_counts(n_groups, resamples=resamples, seed=seed):
        beta = _coefficients(weighted_sums(counts, sums))
        total = weighted_sums(counts, totals)
        size = total[:, :, 0]
        rest = total[:, :, -1] - np.einsum("bck,bk->bc", total[:, :, :-1], beta)
        drawn.append(np.divide(rest, size, out=np.full_like(rest, np.nan), where=size > 0))
    return np.concatenate(drawn)
