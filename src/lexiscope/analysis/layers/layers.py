"""One statistic per layer: AIC of a sense boundary, separation of senses, and r, rho and R² with norms.

Layer 0 is the embedding layer. Its distances are often constant or floating-point noise: a layer without a value
keeps its place in the curve and has the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    MOST_UNDEFINED,
    BoolArray,
    FloatArray,
    IntArray,
    group_codes,
    group_folds,
    group_sums,
    grouped_mean_interval,
    groups_of,
    mean_interval,
    percentile_interval,
    resample_counts,
    resample_rows,
    resampled_units,
    value_or_nan,
)
from lexiscope.analysis.comparison import bootstrap_p
from lexiscope.analysis.correlation import (
    Kind,
    average_ranks,
    correlation_interval,
    correlation_value,
    is_constant,
    settle_ties,
    signed_kind,
    sound_draws,
    weighted_correlations,
    weighted_separations,
)
from lexiscope.analysis.regression import log_score, logistic, logistic_predictors, ols
from lexiscope.analysis.thresholds import FOLDS, fold_counts
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import (
    Curve,
    CurvePoint,
    Estimate,
    Interval,
    Undefined,
    parse_statistic,
    statistic_name,
)

# Cosine distances of identical vectors differ from 0 by a few units of 1e-16; a spread below this is that noise.
_NOISE = 1e-9
R, RHO = (statistic_name(kind, of="distance", **{"with": "norms"}) for kind in ("pearson", "spearman"))
"""The names of the correlations of distances with norms."""
NO_BOUNDARY = "no layer separates the senses"
"""How the caution of a curve of AIC begins whose lowest value is not below that of the intercept alone."""
WRONG_DIRECTION = "the wrong direction"
"""How a caution begins where the distance of a layer goes against the hypothesis; a colon and the reason follow."""
SEPARATED = "the senses are separated without error"
"""How the reason begins for a lowest AIC that is undefined because a layer separates the senses perfectly."""

_Layers = tuple[Sequence[int] | None, int | None]
OfRows = Callable[[FloatArray, IntArray], float]
"""A statistic of the values at one layer, ``statistic(values, rows)``: of all items, and the indices of those drawn."""
_Chosen = Kind | OfRows | Literal["auc"]


def layer_depth_ratio(layer: int, last_layer: int) -> float:
    """Return how deep a layer lies: layer / L.

    *Higher means:* closer to the output; 0 = embeddings, 1 = last layer. *Source:* SAW-C §5.3.
    The embeddings of a subject without further layers have the ratio 0.
    Errors: :class:`StatisticError` where the layer lies outside 0..L.

    >>> layer_depth_ratio(6, 12)
    0.5
    """
    if not 0 <= layer <= last_layer:
        raise StatisticError(f"layer {layer} of {last_layer} has no depth ratio")
    return layer / last_layer if last_layer else 0.0


def values_by_layer(answers: ResponseColumns, item_ids: Sequence[str]) -> tuple[tuple[int, ...], FloatArray]:
    """Return the numbers of the layers, and a subject's answers with a column for each, in the order of the items.

    *answers* are those of one subject, on one measure in one view; those to other items are excluded. A subject without
    layers has no numbers and one column.

    *Shape:* (layers,), (items, layers). Errors: :class:`InputError` where an item has no answer at a layer.
    """
    rows = {item_id: row for row, item_id in enumerate(item_ids)}
    codes, known = answers.codes("item_id")
    row = np.array([rows.get(item_id, -1) for item_id in known], dtype=np.int64)[codes]
    layer = answers.column("layer")
    numbers = np.unique(layer[~np.isnan(layer)]).astype(int)
    column = np.searchsorted(numbers, layer) if len(numbers) else np.zeros(len(row), dtype=int)
    matrix = np.full((len(rows), max(1, len(numbers))), np.nan)
    matrix[row[row >= 0], column[row >= 0]] = answers.column("value")[row >= 0]
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        subject, measure, views = (
            ", ".join(map(str, answers.unique(name))) or "none" for name in ("subject_id", "measure", "view")
        )
        raise InputError(
            f"{subject} has no {measure} for {len(missing)} of {matrix.size} items and layers in the view {views!r}",
            why=f"the first is item {item_ids[int(missing[0][0])]!r}",
            hint="finish the collection of this subject, or remove the subject",
        )
    return tuple(numbers.tolist()), matrix


def aic_by_layer(
    distance: ArrayLike,
    same_sense: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    last_layer: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    choice: bool = False,
) -> Curve:
    """Return, for each layer, the AIC of the logistic regression of same_sense on that layer's distance alone.

    AIC = deviance + 2 · 2 coefficients; the ``baseline`` is the intercept alone, deviance + 2 · 1. The ``caution`` says
    where even the lowest AIC is not below it, or where items with the same sense are farther apart at that layer.
    With *choice*, the curve has what is left of the lowest AIC if its layer is chosen on other words
    (:func:`held_out_deviance`, of which *groups*, *level*, *resamples* and *seed* are options).

    *Shape:* distance (items, layers); same_sense (items,) of 0/1 or booleans. *layers* defaults to 0, 1, … and
    *last_layer*, the L of the depth ratio, to the highest of them.
    *Higher means:* a worse separation of the senses. *Source:* SAW-C §4.2.
    Errors: :class:`StatisticError` where all items have one sense relation; a layer that cannot be fitted is an
    entry without a value.

    >>> curve = aic_by_layer([[0, 1], [0, 3], [0, 2], [0, 4]], [1, 0, 0, 1])
    >>> curve.best, curve.values[0].remark
    (1, "predictor 'distance' is zero everywhere")
    """
    columns = _columns(distance, len(np.asarray(same_sense)))
    numbers, last = _layer_numbers((layers, last_layer), columns.shape[1])
    baseline = logistic(same_sense, np.empty((len(columns), 0)), []).aic
    entries = [_aic_entry(columns[:, column], same_sense, layer, last) for column, layer in enumerate(numbers)]
    curve = _curve("aic", "lower", entries, len(columns), len(columns), baseline)
    if curve.best is None:
        return curve
    curve = replace(curve, caution=_no_boundary(curve, columns[:, numbers.index(curve.best)], same_sense))
    fitted = [column for column, entry in enumerate(entries) if entry.value is not None]
    if not choice or len(fitted) + len(separated_layers(curve)) < 2:
        return curve
    chosen, *others = held_out_deviance(
        columns[:, fitted], same_sense, layers=[numbers[column] for column in fitted], groups=groups, level=level,
        resamples=resamples, seed=seed,
    )  # fmt: skip
    if separated := ", ".join(map(str, separated_layers(curve))):
        why = f"{SEPARATED} at layer {separated}: no finite AIC"
        return replace(curve, chosen=Undefined(chosen.name, why, curve.n))
    return replace(curve, chosen=chosen, held_out=tuple(others))


def r_squared_by_layer(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    last_layer: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    choice: bool = False,
) -> Curve:
    """Return the share of the norms' variance that each layer's distance explains (unadjusted R²).

    R² has no direction: the ``caution`` says where distance rises with relatedness at the best layer.

    *Shape:* distance (items, layers), norms and groups (items,); *layers* and *last_layer* as in
    :func:`aic_by_layer`. *Higher means:* a closer fit; 0 to 1.
    *groups* are the words that items share; intervals resample them. ``resamples=0`` leaves intervals out. With
    *choice* the curve says what is left at the best layer when its having been chosen is allowed for.
    *Source:* SAW-C §4.3. Errors: :class:`StatisticError` where the norms are constant, missing, or fewer than 3.

    >>> curve = r_squared_by_layer([[0, 1], [0, 2], [0, 3], [0, 4]], [1, 3, 2, 4], resamples=0)
    >>> curve.values[0].value, round(curve.values[1].value, 12)  # r = 4 / 5
    (None, 0.64)
    """
    curve = correlations_by_layer(
        distance, norms, kind="r_squared", better="higher", layers=layers, last_layer=last_layer, groups=groups,
        level=level, resamples=resamples, seed=seed, choice=choice,
    )  # fmt: skip
    return _with_direction(curve, distance, norms)


def r_by_layer(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    last_layer: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    choice: bool = False,
) -> Curve:
    """Return Pearson's r of each layer's distance with the norms; the best layer is the most negative one.

    *Shape:* as :func:`r_squared_by_layer`. *Higher means:* distance rises with relatedness (−1 is the ideal).
    *Source:* SAW-C §4.3. Errors: as :func:`r_squared_by_layer`.

    >>> round(r_by_layer([[4], [3], [2], [1]], [1, 3, 2, 4], resamples=0).values[0].value, 12)  # -4 / 5
    -0.8
    """
    return correlations_by_layer(
        distance, norms, kind="pearson", better="lower", name=R, layers=layers, last_layer=last_layer, groups=groups,
        level=level, resamples=resamples, seed=seed, choice=choice,
    )  # fmt: skip


def rho_by_layer(
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    last_layer: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    choice: bool = False,
) -> Curve:
    """Return Spearman's rho of each layer's distance with the norms; the best layer is the most negative one.

    Norms must be integer sums divided by counts: rounding noise breaks ties and changes rho.

    *Shape:* as :func:`r_squared_by_layer`. *Higher means:* distance rises with relatedness (−1 is the ideal).
    *Source:* SAW-C §4.3. Errors: as :func:`r_squared_by_layer`.

    >>> round(rho_by_layer([[9], [3], [2], [1]], [1, 3, 2, 4], resamples=0).values[0].value, 12)  # -4 / 5
    -0.8
    """
    curve = correlations_by_layer(
        distance, norms, kind="spearman", better="lower", name=RHO, layers=layers, last_layer=last_layer, groups=groups,
        level=level, resamples=resamples, seed=seed, choice=choice,
    )  # fmt: skip
    return _with_direction(curve, distance, norms)


def correlations_by_layer(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: Kind,
    better: Literal["higher", "lower"] = "higher",
    name: str = "",
    layers: Sequence[int] | None = None,
    last_layer: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    choice: bool = False,
) -> Curve:
    """Return the correlation of each layer's values with y. *name* is the printed name, if it is not the kind's.

    With *choice*, the curve has the estimate that allows for the best layer having been chosen on the same items
    (:mod:`lexiscope.analysis.layers.layers`), unless only one layer has a value.

    *Shape:* columns (items, layers), y and groups (items,); else as :func:`r_squared_by_layer`.
    Errors: :class:`StatisticError` where y is constant, missing, or shorter than 3.

    >>> rising, noise = np.arange(30.0), np.random.default_rng(1).normal(size=30)
    >>> curve = correlations_by_layer(np.column_stack([noise, rising]), rising, kind="pearson", choice=True)
    >>> curve.best, round(curve.chosen.value, 2)
    (1, 1.0)
    """
    target = np.asarray(y, dtype=np.float64)
    X = _columns(columns, len(target))
    numbers, last = _layer_numbers((layers, last_layer), X.shape[1])
    _, n_groups = group_codes(groups, len(target))
    # correlating the norms with themselves refuses constant or missing norms before any layer is looked at
    correlation_value(target, target, kind=kind)
    draws, intervals = None, list[Interval | None]([None] * len(numbers))
    if resamples:
        signed = sound_draws(X, target, kind=signed_kind(kind), groups=groups, resamples=resamples, seed=seed)
        units = resampled_units(groups)
        intervals = [
            correlation_interval(column, kind=kind, level=level, resampled=units, n_groups=n_groups)
            for column in signed.T
        ]
        draws = signed**2 if kind == "r_squared" else signed
    entries = [
        _correlation_entry(X[:, column], target, kind, layer, last, intervals[column])
        for column, layer in enumerate(numbers)
    ]
    curve = _curve(name or kind, better, entries, len(target), n_groups, None)
    if not choice or sum(entry.value is not None for entry in entries) < 2:
        return curve
    chosen = at_chosen_layer(
        X, target, kind=kind, better=better, name=name, layers=numbers, draws=draws, groups=groups, level=level,
        resamples=resamples, seed=seed,
    )  # fmt: skip
    return replace(curve, chosen=chosen)


def statistic_by_layer(
    columns: ArrayLike,
    statistic: OfRows,
    *,
    name: str,
    better: Literal["higher", "lower"] = "higher",
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Curve:
    """Return any statistic of each layer's values, with intervals and the value that allows for the choice of a layer.

    *statistic* gets the values of one layer and the indices of the rows of the groups drawn; if it raises
    :class:`StatisticError` or returns NaN, it is undefined there. *better* is the direction of the best layer.

    *Shape:* columns (items, layers), groups (items,). Errors: :class:`StatisticError` for columns of another shape.

    >>> columns = np.column_stack([np.arange(40.0), np.ones(40)])
    >>> curve = statistic_by_layer(columns, lambda values, rows: values[rows].mean(), name="length", resamples=50)
    >>> curve.array().tolist(), curve.best, round(curve.chosen.value, 9)
    ([19.5, 1.0], 0, 19.5)
    """
    X = _columns(columns, len(np.asarray(columns)))
    numbers, last = _layer_numbers((layers, None), X.shape[1])
    codes, n_groups = group_codes(groups, len(X))
    units, every = resampled_units(groups), np.arange(len(X))
    draws = _layer_draws(X, np.zeros(len(X)), statistic, codes, n_groups, resamples=resamples, seed=seed)
    entries = []
    for layer, column, drawn in zip(numbers, X.T, draws.T, strict=True):
        ratio = layer_depth_ratio(layer, last)
        try:
            value = float(statistic(column, every))
        except StatisticError as error:
            entries.append(CurvePoint(layer, ratio, None, remark=error.what))
            continue
        if not math.isfinite(value):
            entries.append(CurvePoint(layer, ratio, None, remark=f"its function returned {value}"))
            continue
        interval = percentile_interval(drawn, level=level, resampled=units, n_groups=n_groups) if resamples else None
        entries.append(CurvePoint(layer, ratio, value, interval, interval.note if interval else ""))
    curve = _curve(name, better, entries, len(X), n_groups, None)
    if not resamples or sum(entry.value is not None for entry in entries) < 2:
        return curve
    chosen = at_chosen_layer(
        X, np.zeros(len(X)), kind=statistic, better=better, name=name, layers=numbers, draws=draws, groups=groups,
        level=level, resamples=resamples, seed=seed,
    )  # fmt: skip
    return replace(curve, chosen=chosen)


def results_by_layer(curve: Curve) -> tuple[Estimate | Undefined, ...]:
    """Return the statistic at each layer, then that of the model without distance, where the curve has one.

    >>> curve = aic_by_layer([[1], [3], [2], [4]], [1, 0, 0, 1])
    >>> [result.name for result in results_by_layer(curve)]
    ['aic', 'aic(model=intercept_only)']
    """
    by_layer = tuple(curve.estimate(point.layer) for point in curve.values)
    if curve.baseline is None:
        return by_layer
    alone = Estimate(statistic_name(curve.statistic, model="intercept_only"), curve.baseline, n=curve.n)
    return (*by_layer, alone.about(**_place(curve)))


def best_results(curve: Curve) -> tuple[Estimate | Undefined, ...]:
    """Return the best value over layers and its layer, with what to know of them; nothing where no layer has a value.

    Both are undefined where a layer separates the outcomes without error: another layer's AIC must not pass for the
    lowest. The value is too good, having been chosen on the same items; where the curve has the one that allows for the
    choice (:func:`at_chosen_layer`), it comes last.

    >>> curve = r_squared_by_layer([[0, 4], [0, 3], [0, 2], [0, 1]], [1, 3, 2, 4], resamples=0)
    >>> [(result.name, round(result.value, 2)) for result in best_results(curve)]
    [('max_r_squared_over_layers', 0.64), ('best_layer(by=r_squared)', 1.0)]
    """
    if curve.best is None:
        return ()
    plain = parse_statistic(curve.statistic)[0]
    over = f"{'max' if curve.better == 'higher' else 'min'}_{plain}_over_layers"
    by = statistic_name("best_layer", by=plain)
    separated = ", ".join(map(str, separated_layers(curve)))
    if separated:
        why = f"{SEPARATED} at layer {separated}: no finite AIC"
        return tuple(Undefined(name, why, curve.n).about(**_place(curve)) for name in (over, by))
    best = curve.estimate(curve.best)
    assert isinstance(best, Estimate)
    note = _join(best.note, curve.caution)
    tied = f"tied with layers {curve.tied}" if len(curve.tied) > 1 else ""
    layer = Estimate(by, float(curve.best), n=curve.n, unit="layer", note=_join(tied, note))
    allowing = (*((curve.chosen,) if curve.chosen else ()), *curve.held_out)
    results = (layer, *(result for result in allowing))
    return replace(best, name=over, note=note), *(result.about(**_place(curve)) for result in results)


def separated_layers(curve: Curve) -> tuple[int, ...]:
    """Return the layers whose distances separate the outcomes without error: their AIC is not finite."""
    return tuple(point.layer for point in curve.values if point.value is None and "separate" in point.remark)


def _place(curve: Curve) -> dict[str, str]:
    return {name: getattr(curve, name) for name in ("subject", "dataset", "view", "condition")}


def _no_boundary(curve: Curve, distance: FloatArray, same_sense: ArrayLike) -> str:
    """Whether even the lowest AIC separates nothing, or pairs with the same sense are farther apart there."""
    lowest, base = curve.best_value().value, curve.baseline
    if base is not None and lowest is not None and lowest >= base:
        return f"{NO_BOUNDARY}: no AIC is below that of a model without distance ({base:.2f})"
    same = np.asarray(same_sense, dtype=bool)
    near, far = float(distance[same].mean()), float(distance[~same].mean())
    if near <= far:
        return ""
    means = f"mean distance {near:.3f} against {far:.3f}"
    return f"{WRONG_DIRECTION}: pairs with the same sense are farther apart ({means})"


def _with_direction(curve: Curve, distance: ArrayLike, norms: ArrayLike) -> Curve:
    """The curve with a caution where distance rises with relatedness at its best layer."""
    if curve.best is None:
        return curve
    column = [point.layer for point in curve.values].index(curve.best)
    r = correlation_value(np.asarray(distance, dtype=np.float64)[:, column], norms, kind="pearson")
    farther = f"{WRONG_DIRECTION}: pairs at a larger distance are rated as more related"
    return replace(curve, caution=f"{farther} (r = {r:.3f})") if r > 0 else curve


def _correlation_entry(
    x: FloatArray, y: FloatArray, kind: Kind, layer: int, last: int, interval: Interval | None
) -> CurvePoint:
    ratio = layer_depth_ratio(layer, last)
    try:
        value = correlation_value(x, y, kind=kind)
    except StatisticError as error:
        return CurvePoint(layer, ratio, None, remark=error.what)
    return CurvePoint(layer, ratio, value, interval, _join(_noise(x), interval.note if interval else ""))


def _aic_entry(x: FloatArray, same_sense: ArrayLike, layer: int, last: int) -> CurvePoint:
    ratio = layer_depth_ratio(layer, last)
    if is_constant(x) and x[0] != 0:
        return CurvePoint(layer, ratio, None, remark=f"all {len(x)} distances are {x[0]:g}")
    try:
        fit = logistic(same_sense, x, ["distance"])
    except StatisticError as error:
        return CurvePoint(layer, ratio, None, remark=error.what)
    return CurvePoint(layer, ratio, fit.aic, remark=_join(_noise(x), *fit.remarks))


def _join(*remarks: str) -> str:
    return "; ".join(remark for remark in remarks if remark)


def _noise(x: FloatArray) -> str:
    spread = float(np.ptp(x))
    return f"the distances differ by at most {spread:.1e}: floating-point noise" if spread < _NOISE else ""


def _curve(
    statistic: str,
    better: Literal["higher", "lower"],
    entries: Sequence[CurvePoint],
    n: int,
    n_groups: int,
    baseline: float | None,
) -> Curve:
    known = [entry.value for entry in entries if entry.value is not None]
    target = (max(known) if better == "higher" else min(known)) if known else None
    tied = tuple(entry.layer for entry in entries if entry.value is not None and entry.value == target)
    return Curve(statistic, better, tuple(entries), min(tied, default=None), tied, n, n_groups, baseline)


def _columns(distance: ArrayLike, n: int) -> FloatArray:
    columns = np.asarray(distance, dtype=np.float64)
    if columns.ndim != 2 or len(columns) != n or not columns.shape[1]:
        raise StatisticError(f"distances of shape {columns.shape} do not go with {n} items: (items, layers) expected")
    return columns


def _layer_numbers(layers: _Layers, count: int) -> tuple[tuple[int, ...], int]:
    given, last = layers
    numbers = tuple(range(count)) if given is None else tuple(given)
    if len(numbers) != count or len(set(numbers)) != count:
        raise StatisticError(f"{len(numbers)} layer numbers ({len(set(numbers))} distinct) for {count} columns")
    return numbers, max(numbers) if last is None else last


# -- the correlation at a layer that was chosen on the same items ---------------------------------------------------
# The correlation at a layer that was chosen on the same items, with an estimate that allows for the choice.
#
# The highest of many correlations is too high: a layer is also chosen because chance favours it. In each bootstrap
# resample, the layer is chosen on the words that were drawn, and its correlation is taken on the words that were left
# out (about 37 %), which had no part in the choice. *Source:* Tsamardinos, Greasidou & Borboudakis 2018, Machine
# Learning 107 (bootstrap bias-corrected cross-validation); distances need no training, so a resample has nothing to
# fit. Harrell's optimism correction (Efron & Gong 1983) was not used: with no relation at all it removes 1/√2 of the
# excess.
#
# Two properties of the words left out are not due to the choice. Items of few words can correlate more than those of
# many, because the means of words differ: of each layer, the mean of its left-out correlations is replaced by its
# correlation on all words. And they vary more: each deviation from the estimate is multiplied by √(m / (G − m)), where
# m of G words were left out (the delete-d jackknife: Shao & Wu 1989, Annals of Statistics 17). The percentiles of these
# deviations are the interval.
#
# Coverage of the 95 % interval in 200 simulated studies each (13 layers; 12 words × 6, 25 × 6 and 60 × 4 items): 96.5
# to 100 where no layer is related, 93.5 to 97.0 where layers differ, 98.0 to 99.0 where all are equally good. That of
# the percentile interval of the highest correlation: 62.5 to 92.5, 85.0 to 97.0 and 78.5 to 80.0.


_FEWEST = 3
"""The fewest items of which a correlation is taken."""
_MOST_NAMED = 3


def at_chosen_layer(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: _Chosen,
    better: Literal["higher", "lower"] = "higher",
    name: str = "",
    layers: Sequence[int] | None = None,
    draws: FloatArray | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | Undefined:
    """Return the correlation with y at the best layer, allowing for the layer having been chosen on the same items.

    *draws* are the correlations of each layer in each resample (:func:`correlation_draws` under the same seed), NaN
    where undefined; they are computed if they are not given. The kind ``auc`` is :func:`sense_separation`, of which y
    says where the senses differ; a function is a statistic of rows (:func:`statistic_by_layer`), which needs a *name*.
    For ``r_squared`` a left-out correlation of the other sign than that of all words counts as negative before the mean
    is squared; a negative mean is an R² of 0. The note names the layers that were chosen most often.

    *Shape:* columns (items, layers); y and groups (items,); draws (resamples, layers). *Higher means:* what the
    correlation means. Errors: :class:`StatisticError` for fewer than 2 words.

    >>> noise = np.random.default_rng(1).normal(size=(60, 13))
    >>> found = at_chosen_layer(noise[:, 1:], noise[:, 0], kind="spearman", resamples=200)
    >>> found.name, found.interval.low < 0 < found.interval.high
    ('spearman(layer=chosen)', True)
    """
    X, target = np.asarray(columns, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _, n_groups = group_codes(groups, len(target))
    plain, params = parse_statistic(name or str(kind))
    name = statistic_name(plain, **params, layer="chosen")
    numbers = tuple(range(X.shape[1])) if layers is None else tuple(layers)
    if not resamples:
        return Undefined(name, "nothing was resampled", len(target))
    left_out = left_out_draws(
        X, target, kind=kind, better=better, draws=draws, groups=groups, resamples=resamples, seed=seed
    )
    if left_out.reason:
        return Undefined(name, left_out.reason, len(target))
    units = resampled_units(groups)
    interval = percentile_interval(left_out.ends, level=level, method="left_out_words", resampled=units)
    note = _choice_counts(left_out.chosen[left_out.chosen >= 0], numbers)
    return Estimate(name, left_out.value, interval, len(target), n_groups, note=note)


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutDraws:
    """What the layer that is chosen in each resample gives on the words that are not in the resample.

    ``value`` is the mean over resamples, ``ends`` are the draws around it that make its interval, ``chosen`` the column
    of the layer, −1 if no layer has a value. ``reason``: why the value is undefined; empty if it is not.
    *Shape:* ends, chosen (resamples,).
    """

    value: float
    ends: FloatArray
    chosen: IntArray
    reason: str = ""


def difference_at_chosen_layers(
    first: ArrayLike | LeftOutDraws,
    second: ArrayLike | LeftOutDraws,
    y: ArrayLike,
    *,
    kind: Kind,
    name: str = "",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | Undefined:
    """Return the correlation of *first* with y minus that of *second*, allowing for both layers having been chosen.

    As :func:`at_chosen_layer`: in each resample, each side's layer is chosen on the words that were drawn, and both are
    scored on the same excluded words. A side with one column has one layer, and no choice. p is that of
    :func:`~lexiscope.analysis.comparison.bootstrap_p` of these differences. The interval is wide: in 300 simulated
    studies each (8 layers against 1; 12 words × 6, 25 × 6 and 60 × 4 items) it held no difference in 96 to 99 %.

    A side that is compared several times is given as its :func:`left_out_draws` of the same items under the same seed.

    *Shape:* first and second (items, layers), the numbers of layers may differ; y and groups (items,).
    *Higher means:* the first is closer to y. Errors: :class:`StatisticError` for fewer than 2 groups.

    >>> rng = np.random.default_rng(1)
    >>> y = rng.normal(size=60)
    >>> good, noise = y[:, None] + rng.normal(size=(60, 4)), rng.normal(size=(60, 9))
    >>> difference = difference_at_chosen_layers(good, noise, y, kind="pearson", resamples=200)
    >>> difference.name, difference.interval.low > 0
    ('pearson_difference_at_chosen_layers', True)
    """
    target, name = np.asarray(y, dtype=np.float64), name or statistic_name(f"{kind}_difference_at_chosen_layers")
    if not resamples:
        return Undefined(name, "nothing was resampled", len(target))
    _, n_groups = group_codes(groups, len(target))
    left, right = (
        side
        if isinstance(side, LeftOutDraws)
        else left_out_draws(side, target, kind=kind, groups=groups, resamples=resamples, seed=seed)
        for side in (first, second)
    )
    if reason := left.reason or right.reason:
        return Undefined(name, reason, len(target))
    ends = left.ends - right.ends
    interval = percentile_interval(ends, level=level, method="left_out_words", resampled=resampled_units(groups))
    p = bootstrap_p(ends) if interval.is_defined else None
    return Estimate(name, left.value - right.value, interval, len(target), n_groups, p=p)


def left_out_draws(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: _Chosen,
    better: Literal["higher", "lower"] = "higher",
    draws: FloatArray | None = None,
    groups: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> LeftOutDraws:
    """Return what the layer chosen in each resample gives on the other words (:func:`at_chosen_layer`).

    *Shape:* columns (items, layers); y and groups (items,); draws (resamples, layers).
    Errors: :class:`StatisticError` for fewer than 2 groups.

    >>> columns = np.arange(60.0)[:, None] * [1, -1]
    >>> left_out = left_out_draws(columns, np.arange(60.0), kind="pearson", resamples=50)
    >>> round(left_out.value, 9), set(left_out.chosen.tolist())
    (1.0, {0})
    """
    X, target = np.asarray(columns, dtype=np.float64), np.asarray(y, dtype=np.float64)
    codes, n_groups = group_codes(groups, len(target))
    if draws is None:
        draws = _layer_draws(X, target, kind, codes, n_groups, resamples=resamples, seed=seed)
    better_draws = np.where(np.isnan(draws), -np.inf, draws if better == "higher" else -draws)
    # a resample in which no layer has a value chooses none
    chosen = np.where(np.isnan(draws).all(axis=1), -1, better_draws.argmax(axis=1))
    used, sizes = np.unique(chosen[chosen >= 0]), np.bincount(codes, minlength=n_groups)
    signed: _Chosen = kind if callable(kind) or kind == "auc" else signed_kind(kind)
    left_out, spread, start = np.full((resamples, len(used)), np.nan), np.empty(resamples), 0
    for counts in resample_counts(n_groups, resamples=resamples, seed=seed):
        left = (counts == 0).astype(np.int64)
        m, enough = left.sum(axis=1), np.flatnonzero(left @ sizes >= _FEWEST)
        rows = start + enough
        if callable(signed):
            drawn = [np.flatnonzero(groups_left[codes]) for groups_left in left[enough]]
            left_out[rows] = _values_of_rows(X[:, used], signed, drawn)
        elif signed == "auc":
            left_out[rows] = weighted_separations(X[:, used], target > 0, codes, left[enough])
        else:
            left_out[rows] = weighted_correlations(X[:, used], target, codes, left[enough], kind=signed)
        spread[start : start + len(counts)] = np.sqrt(m / (n_groups - m))
        start += len(counts)
    # the same layer in words left out and in all words: few words differ from many, whether it was chosen or not
    full = np.array([_of_all(X[:, layer], target, signed) for layer in used])
    known = ~np.isnan(left_out)
    scores = left_out - np.where(known, left_out, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1) + full
    if kind == "r_squared":
        # R² is counted in the direction that all words have: it could not fall below 0 otherwise
        scores *= np.sign(full)
    values = np.full(resamples, np.nan)
    values[chosen >= 0] = scores[chosen >= 0, np.searchsorted(used, chosen[chosen >= 0])]
    undefined = int(np.isnan(values).sum())
    if undefined > MOST_UNDEFINED * resamples:
        of = "statistic" if callable(kind) else "correlation"
        what = f"in {undefined} of {resamples} resamples the {of} of the excluded words is undefined"
        return LeftOutDraws(math.nan, values, chosen, what)
    value = float(np.nanmean(values))
    ends = value + (values - value) * spread
    if kind == "r_squared":
        value, ends = max(value, 0.0) ** 2, np.maximum(ends, 0.0) ** 2
    if callable(kind):
        return LeftOutDraws(value, ends, chosen)
    lowest = 0 if kind == "auc" else -1
    return LeftOutDraws(float(np.clip(value, lowest, 1)), np.clip(ends, lowest, 1), chosen)


def held_out_deviance(
    distance: ArrayLike,
    same_sense: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the deviance of words held out at the layer of the lowest AIC of the others: an AIC without its choice.

    The words are dealt into folds. On the words of the other folds, the logistic regression of same_sense on distance
    is fitted at every layer and the layer of the lowest AIC is chosen; under it, the deviance (−2 log probability) of
    the words held out is taken. The sum over all words estimates what an AIC estimates for a model that was not chosen
    (Stone 1977, Journal of the Royal Statistical Society B 39), on the same scale. Returned are this sum, that of the
    intercept alone in the same folds, and the second minus the first, whose interval is that of a sum over words
    (:func:`~lexiscope.analysis.bootstrap.mean_interval`; Vehtari, Gelman & Gabry 2017, Statistics and Computing 27,
    §5.1). The note of the first says how many folds chose which layer. All three are undefined, with the reason, if
    a layer separates the senses in a fold without error.

    *Shape:* distance (items, layers); same_sense and groups (items,); without *groups*, items are held out.
    *Higher means:* (deviance) a worse separation of the senses, (deviance saved) a better one.

    >>> rng = np.random.default_rng(1)
    >>> same = np.arange(60) % 2
    >>> distance = rng.normal(size=(60, 5)) - [0, 0, 0, 0, 1] * same[:, None]
    >>> chosen, alone, saved = held_out_deviance(distance, same)
    >>> chosen.note, abs(round(alone.value - chosen.value - saved.value, 9))
    ('chosen in the folds: layer 4 in 10 of 10', 0.0)
    """
    units = resampled_units(groups)
    names = tuple(
        statistic_name(name, held_out=units, **about)
        for name, about in (
            ("deviance", {"layer": "chosen"}),
            ("deviance", {"model": "intercept_only"}),
            ("deviance_saved", {"layer": "chosen"}),
        )
    )
    same = np.asarray(same_sense, dtype=np.float64)
    X = _columns(distance, len(same))
    numbers, _ = _layer_numbers((layers, None), X.shape[1])
    if groups is not None and len(set(np.asarray(groups).tolist())) < 2:
        return tuple(
            Undefined(name, f"all items are of one of the {units}: none can be held out", len(same)) for name in names
        )
    try:
        codes, n_groups = group_codes(groups, len(same))
        fold_of = group_folds(codes, n_groups, folds=folds, seed=seed)
        learnt = fold_of != np.arange(fold_of.max() + 1)[:, None]
        log_odds = np.array([logistic_predictors(same, column, learnt) for column in X.T])
    except StatisticError as error:
        return tuple(Undefined(name, f"if {units} are held out, {error.what}", len(same)) for name in names)
    shares = learnt @ same / learnt.sum(axis=1)
    scores, undefined = log_score(same, log_odds), np.isnan(log_odds).any(axis=2)
    if undefined.all(axis=0).any():
        what = (
            "without the words of one fold, no layer can be fitted: one sense relation is missing, or all are constant"
        )
        return tuple(Undefined(name, what, len(same)) for name in names)
    best = np.where(undefined, np.inf, np.where(learnt, scores, 0.0).sum(axis=2)).argmin(axis=0)
    of_chosen = scores[best[fold_of], fold_of, np.arange(len(same))]
    alone = log_score(same, np.log(shares / (1 - shares))[fold_of])
    saved = alone - of_chosen
    per_group = group_sums(saved, codes, n_groups)
    interval = mean_interval(per_group, level=level, resamples=resamples, seed=seed, resampled=units).times(n_groups)
    n, note = len(same), fold_counts([numbers[layer] for layer in best.tolist()])
    return (
        Estimate(names[0], float(of_chosen.sum()), n=n, n_groups=n_groups, note=note),
        Estimate(names[1], float(alone.sum()), n=n, n_groups=n_groups),
        Estimate(names[2], float(saved.sum()), interval, n, n_groups, note=note),
    )


HELD_OUT_RESIDUAL = statistic_name("mean_residual", model="norm~distance", layer="chosen")
"""The mean residual of words whose layer and regression are those of other words."""


def held_out_residuals(
    norms: ArrayLike,
    distance: ArrayLike,
    conditions: Sequence[str],
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the mean residual of each condition under ``norm ~ distance`` of words that it was not fitted to.

    Words are dealt into folds. The layer (of the highest R²) and the regression are those of the words of the other
    folds, so that an item has no part in the choice of its layer. The note says how many folds chose which layer.
    Intervals resample groups and hold the predictions fixed.

    *Shape:* norms, conditions and groups (items,); distance (items, layers); *layers* defaults to 0, 1, … L.
    *Unit:* of the norms. *Higher means:* people rate these items as more related than the regression expects.
    *Source:* residuals of SAW-C §4.5. Errors: :class:`StatisticError` with fewer than 2 groups, and if a regression is
    undefined without the words of one fold.

    >>> distance = np.column_stack([np.zeros(8), np.arange(8.0)])
    >>> means = held_out_residuals(np.arange(8.0) % 4, distance, list("aaaabbbb"), resamples=0)
    >>> [mean.condition for mean in means], means[0].note
    (['a', 'b'], 'chosen in the folds: layer 1 in 8 of 8')
    """
    y, X = np.asarray(norms, dtype=np.float64), np.asarray(distance, dtype=np.float64)
    numbers = tuple(range(X.shape[1])) if layers is None else tuple(layers)
    codes, n_groups = group_codes(groups, len(y))
    residuals, chosen = np.empty(len(y)), []
    for out, best in _best_of_other_folds(X, y, numbers, group_folds(codes, n_groups, folds=folds, seed=seed)):
        chosen.append(best)
        column = X[:, numbers.index(best)]
        a, b = (row.estimate for row in ols(y[~out], column[~out], ["distance"]).coefficients)
        residuals[out] = y[out] - (a + b * column[out])
    note, labels = fold_counts(chosen), np.asarray(conditions, dtype=str)
    means = []
    for label in np.unique(labels):
        rows = labels == label
        interval = grouped_mean_interval(
            residuals[rows], groups_of(groups, rows), level=level, resamples=resamples, seed=seed
        )
        value, n = float(residuals[rows].mean()), int(rows.sum())
        mean = Estimate(HELD_OUT_RESIDUAL, value, interval, n, len(set(codes[rows].tolist())))
        means.append(mean.about(condition=str(label), note=note))
    return tuple(means)


def held_out_predictor(
    norms: ArrayLike,
    distance: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    seed: int = 0,
) -> tuple[FloatArray, str]:
    """Return each item's distance at the layer of the highest R² of other words, and how many folds chose which layer.

    Words are dealt into folds. Distances of two layers have two scales: those of a fold are standardised by the words
    of the other folds, so that one regression takes them all. As a predictor it has no advantage from the choice of its
    layer.

    *Shape:* norms and groups (items,); distance (items, layers); returned (items,). *Unit:* standard deviations.
    Errors: :class:`StatisticError` with fewer than 2 groups, and if no layer has an R² without the words of one fold.

    >>> distance = np.column_stack([np.zeros(8), np.arange(8.0)])
    >>> column, note = held_out_predictor(np.arange(8.0) % 4, distance, groups=list("aaaabbbb"), folds=2)
    >>> column[:4].round(2).tolist(), note  # (0 … 3 − 5.5) / SD of 4 … 7
    ([-4.92, -4.02, -3.13, -2.24], 'chosen in the folds: layer 1 in 2 of 2')
    """
    y, X = np.asarray(norms, dtype=np.float64), np.asarray(distance, dtype=np.float64)
    numbers = tuple(range(X.shape[1])) if layers is None else tuple(layers)
    codes, n_groups = group_codes(groups, len(y))
    predictor, chosen = np.empty(len(y)), []
    for out, best in _best_of_other_folds(X, y, numbers, group_folds(codes, n_groups, folds=folds, seed=seed)):
        chosen.append(best)
        column = X[:, numbers.index(best)]
        predictor[out] = (column[out] - column[~out].mean()) / column[~out].std()
    return predictor, fold_counts(chosen)


def _best_of_other_folds(
    X: FloatArray, y: FloatArray, numbers: Sequence[int], fold_of: IntArray
) -> Iterator[tuple[BoolArray, int]]:
    """Yield the items of each fold with the layer of the highest R² of the items of the others."""
    for fold in range(int(fold_of.max()) + 1):
        out = fold_of == fold
        best = r_squared_by_layer(X[~out], y[~out], layers=numbers, resamples=0).best
        if best is None:
            raise StatisticError("without the words of one fold no layer has an R²")
        yield out, best


def _values_of_rows(columns: FloatArray, statistic: OfRows, draws: Iterable[IntArray]) -> FloatArray:
    """A statistic of the rows of each draw at each layer, NaN where undefined. *Shape:* (draws, layers)."""
    values = [[value_or_nan(partial(statistic, column), rows) for column in columns.T] for rows in draws]
    # a function may return an infinite number: what it is of these rows is as little known as NaN
    return np.where(np.isfinite(values), values, np.nan) if values else np.empty((0, columns.shape[1]))


def _of_all(x: FloatArray, y: FloatArray, kind: _Chosen) -> float:
    if callable(kind):
        return value_or_nan(partial(kind, x), np.arange(len(x)))
    return _share(x, y == 0) if kind == "auc" else correlation_value(x, y, kind=kind)


def _layer_draws(
    X: FloatArray,
    y: FloatArray,
    kind: _Chosen,
    codes: IntArray,
    n_groups: int,
    *,
    resamples: int,
    seed: int,
) -> FloatArray:
    """The statistic of each layer in each resample. *Shape:* (resamples, layers)."""
    if callable(kind):
        return _values_of_rows(X, kind, resample_rows(codes, n_groups, resamples=resamples, seed=seed))
    if kind != "auc":
        return sound_draws(X, y, kind=kind, groups=codes, resamples=resamples, seed=seed)
    blocks = resample_counts(n_groups, resamples=resamples, seed=seed)
    return np.concatenate([weighted_separations(X, y > 0, codes, counts) for counts in blocks])


def _choice_counts(chosen: IntArray, numbers: Sequence[int]) -> str:
    """The layers that most resamples chose, with their shares."""
    counts = np.bincount(chosen, minlength=len(numbers))
    first = [layer for layer in np.argsort(-counts, kind="stable")[:_MOST_NAMED] if counts[layer]]
    shares = ", ".join(f"layer {numbers[layer]} in {100 * counts[layer] / len(chosen):.0f} %" for layer in first)
    return f"chosen in the resamples: {shares}"


# -- how well a distance keeps senses apart, where nobody has rated the items ---------------------------------------


NAME = statistic_name("sense_separation", measure="auc")


def sense_separation(
    distance: ArrayLike,
    same_sense: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return how often a pair of different senses has a larger distance than a pair of the same sense, ties half.

    It is the area under the ROC curve. *Shape:* distance, same_sense, groups (items,); same_sense of 0/1 or booleans.
    *Unit:* share, 0 to 1; .5 is chance. *Higher means:* the senses are better separated. *groups* are the words that
    items share; the interval resamples them. *Source:* Mann and Whitney 1947, U / (n1 n2).
    Errors: :class:`StatisticError` where lengths differ, a distance is not finite, or one kind of pair is missing.

    >>> found = sense_separation([0.1, 0.3, 0.2, 0.4], [1, 1, 0, 0], resamples=50)
    >>> found.value  # .2 > .1; .4 > .1 and .3: 3 of 2 * 2 comparisons
    0.75
    """
    values = np.asarray(distance, dtype=np.float64)
    if values.ndim != 1:
        raise StatisticError(f"{values.shape} distances are not one of each item")
    curve = separation_by_layer(
        values[:, None], same_sense, groups=groups, level=level, resamples=resamples, seed=seed, choice=False
    )
    separation = curve.estimate(0)
    assert isinstance(separation, Estimate)
    return replace(separation, layer=None)


def separation_by_layer(
    distance: ArrayLike,
    same_sense: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    last_layer: int | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    choice: bool = True,
) -> Curve:
    """Return how well each layer separates the senses (:func:`sense_separation`), on the same resamples of words.

    With *choice*, the curve has the estimate that allows for the best layer having been chosen on the same items.

    *Shape:* distance (items, layers); same_sense and groups (items,). *Higher means:* better separated; 0 to 1.
    Errors: those of :func:`sense_separation`.

    >>> curve = separation_by_layer([[2, 1], [1, 3], [3, 2], [4, 4]], [1, 1, 0, 0], resamples=50, choice=False)
    >>> curve.array().tolist(), curve.best
    ([1.0, 0.75], 0)
    """
    same = np.asarray(same_sense, dtype=bool)
    X = np.asarray(distance, dtype=np.float64)
    if X.ndim != 2 or same.ndim != 1 or len(X) != len(same) or not np.isfinite(X).all():
        raise StatisticError(f"{X.shape} distances, all finite, and {same.shape} sense relations must go together")
    # distances of equal vectors differ by rounding noise, which must not decide a comparison
    X, numbers = settle_ties(X), _layer_numbers((layers, last_layer), X.shape[1])
    values = [_share(column, same) for column in X.T]
    codes, n_groups = group_codes(groups, len(same))
    draws = _layer_draws(X, (~same).astype(np.float64), "auc", codes, n_groups, resamples=resamples, seed=seed)
    units = resampled_units(groups)
    interval = partial(percentile_interval, level=level, resampled=units, n_groups=n_groups, within=(0, 1))
    entries = [
        CurvePoint(layer, layer_depth_ratio(layer, numbers[1]), value, interval(column))
        for layer, value, column in zip(numbers[0], values, draws.T, strict=True)
    ]
    curve = _curve(NAME, "higher", entries, len(same), n_groups, None)
    if not choice or len(entries) < 2:
        return curve
    chosen = at_chosen_layer(
        X, ~same, kind="auc", name=NAME, layers=numbers[0], draws=draws, groups=groups, level=level,
        resamples=resamples, seed=seed,
    )  # fmt: skip
    return replace(curve, chosen=chosen)


def _share(values: FloatArray, same: BoolArray) -> float:
    n_same, n_different = int(same.sum()), int((~same).sum())
    if not n_same or not n_different:
        raise StatisticError("separation needs pairs of the same sense and of different senses")
    smallest = n_different * (n_different + 1) / 2
    return (float(average_ranks(values)[~same].sum()) - smallest) / (n_same * n_different)
