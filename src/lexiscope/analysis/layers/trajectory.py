"""How a statistic changes over the layers of a subject, the mean of a family, and mean distances by condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    FloatArray,
    group_codes,
    percentile_interval,
    ratio_draws,
    resampled_units,
)
from lexiscope.analysis.layers.intervals import last_layer_drop_intervals
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Curve, Estimate, Interval, Result, Undefined, statistic_name

Shape = Literal["rise_and_plateau", "rise_and_fall"]
DROP_AGAINST_OTHERS = statistic_name("last_layer_drop", against="other_layers")
"""What the last layer loses against the best of the other layers; negative where it is above them all."""


@dataclass(frozen=True, slots=True)
class FamilyCurve:
    """The mean curve of the subjects of one family.

    ``name`` says how layers of subjects of unequal depth were put together. ``counts`` is the number of values behind
    each point (subjects, or layers of subjects for bins).

    *Shape:* positions, values, counts (points,). *Unit:* positions from 0 (or the first bin) to 1.
    """

    name: str
    family: str
    subjects: tuple[str, ...]
    positions: FloatArray
    values: FloatArray
    counts: tuple[int, ...]

    def results(self) -> tuple[Result, ...]:
        """Return the value at each position, with the subjects as its note; a bin without a layer is undefined."""
        members = ", ".join(self.subjects)
        results: list[Result] = []
        for position, value, n in zip(self.positions, self.values, self.counts, strict=True):
            condition = f"family={self.family} position={position:.2g}"
            if n:
                results.append(Estimate(self.name, float(value), n=n, condition=condition, note=members))
            else:
                results.append(Undefined(self.name, f"no layer of {members} falls here", condition=condition))
        return tuple(results)


def drop_from_peak(r_squared: ArrayLike, *, threshold: float = 0.15) -> tuple[float, Shape]:
    """Return how much of the peak of R² over the layers 0…L is lost at the last layer, 1 − last / peak, with a label.

    The label is ``rise_and_fall`` where the drop exceeds *threshold*. The paper names two shapes without a limit
    between them; *threshold* is ours.

    *Shape:* r_squared (L + 1,), NaN where undefined. *Higher means:* more of the peak is lost, 0 to 1.
    *Source:* SAW-C §5.3. Errors: :class:`StatisticError` where the last layer is undefined, no value is above 0, or
    there is no layer above the embeddings.

    >>> drop, shape = drop_from_peak([0.0, 0.1, 0.4, 0.3])
    >>> round(drop, 12), shape  # 1 - .3 / .4
    (0.25, 'rise_and_fall')
    """
    values = np.asarray(r_squared, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise StatisticError("a trajectory needs the embeddings and at least one layer")
    if np.isnan(values[-1]) or not np.nanmax(values) > 0:
        raise StatisticError("there is no value at the last layer, or none above 0 at all")
    drop = float(1 - values[-1] / np.nanmax(values))
    return drop, "rise_and_fall" if drop > threshold else "rise_and_plateau"


def last_layer_drop(
    curve: Curve,
    distance: ArrayLike,
    norms: ArrayLike,
    *,
    threshold: float = 0.15,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return what of the highest R² of a curve is lost at the last layer, and what is left, as shares of the highest.

    The last number is the loss against the highest R² of the *other* layers: below 0, the last layer is above them all.
    Other than the first, which is 0 by definition where the last layer is the best, it says how certain this is.

    A layer without an R² (constant distances) explains nothing: it counts as 0, which the note says of the last one.
    The interval is that of *distance* and *norms*, of which the curve is (:func:`r_squared_by_layer`).

    *Shape:* distance (items, L + 1), norms and groups (items,). *Higher means:* (drop) more is lost, up to 1.
    *Source:* SAW-C §5.3; the drop against the other layers is ours.

    >>> from lexiscope.analysis.layers.layers import r_squared_by_layer
    >>> distance, norms = [[0, 4, 1], [0, 3, 3], [0, 2, 2], [0, 1, 4]], [1, 2, 3, 4]
    >>> drop, left, _ = last_layer_drop(r_squared_by_layer(distance, norms, resamples=0), distance, norms, resamples=0)
    >>> round(drop.value, 2), round(left.value, 2), drop.note  # R² of 1, then of .8²
    (0.36, 0.64, 'rise_and_fall at a threshold of 0.15')
    """
    try:
        values = np.nan_to_num(curve.array(), nan=0.0)
        share, shape = drop_from_peak(values, threshold=threshold)
    except StatisticError as error:
        return (Undefined("last_layer_drop", error.what, curve.n),)
    note, last = f"{shape} at a threshold of {threshold}", curve.values[-1]
    if last.value is None:
        note += f"; the last layer counts as 0: {last.remark}"
    interval, against = last_layer_drop_intervals(
        distance, norms, groups=groups, level=level, resamples=resamples, seed=seed
    )
    if share == 0:
        note += "; the last layer is the best: the drop is 0 by definition"
    others = float(values[:-1].max())
    margin: Estimate | Undefined = Undefined(DROP_AGAINST_OTHERS, "no other layer has an R² above 0", curve.n)
    if others > 0:
        higher = "the last layer is below the best of the others"
        margin = Estimate(DROP_AGAINST_OTHERS, 1 - float(values[-1]) / others, against, curve.n, higher=higher)
    return (
        Estimate("last_layer_drop", share, interval, curve.n, note=note),
        Estimate("last_over_max_r_squared", 1 - share, n=curve.n),
        margin,
    )


def family_by_depth_ratio(
    curves: Mapping[str, ArrayLike], families: Mapping[str, str], *, ratios: Sequence[float] | None = None
) -> tuple[FamilyCurve, ...]:
    """Average curves by family at equal layer depth ratios, each curve interpolated linearly between its layers.

    *curves* maps subjects to values at layers 0…L; *families* maps every one of them to its family. *ratios* defaults
    to 0, .1 … 1. A curve that is undefined (a constant layer 0) does not count.

    *Source:* SAW-C §5.3 (its layer depth ratio). Errors: :class:`StatisticError` where a subject has no family.

    At ratio .5 the first curve is 2 (its layer 1 of 2), the second (0 + 1) / 2 = .5; their mean is 1.25:

    >>> family_by_depth_ratio({"a": [0, 2, 4], "b": [0, 1]}, {"a": "F", "b": "F"}, ratios=[0.5])[0].values.tolist()
    [1.25]
    """
    grid = np.linspace(0, 1, 11) if ratios is None else np.asarray(ratios, dtype=np.float64)
    family_curves = []
    for family, members in _members(curves, families):
        table = np.array([_interpolate(np.asarray(curves[name], dtype=np.float64), grid) for name in members])
        family_curves.append(_family_curve("family_mean(position=depth_ratio)", family, members, grid, list(table.T)))
    return tuple(family_curves)


def family_by_ntile(
    curves: Mapping[str, ArrayLike], families: Mapping[str, str], *, bins: int = 10
) -> tuple[FamilyCurve, ...]:
    """Average curves by family as the paper's Figure 8 does: layers binned by order within each subject.

    The bins are not depth ratios: a subject with 5 layers fills the first 5 of 10 bins only. All layers in a bin count
    alike, so subjects with more layers count more. The position of a bin is bin / *bins*.

    *Source:* SAW-C Figure 8. Errors: :class:`StatisticError` where a subject has no family.

    >>> family_by_ntile({"a": [0, 2, 4], "b": [0, 1]}, {"a": "F", "b": "F"}, bins=2)[0].values.tolist()
    [0.6666666666666666, 2.5]
    """
    # labelled as the paper's axis labels them, although a short subject's last layer is not at 1
    positions = np.arange(1, bins + 1) / bins
    name = statistic_name("family_mean", position="ntile", bins=bins)
    family_curves = []
    for family, members in _members(curves, families):
        values = np.concatenate([np.asarray(curves[member], dtype=np.float64) for member in members])
        tiles = np.concatenate([ntile(len(np.asarray(curves[member])), bins) for member in members])
        columns = [values[tiles == tile] for tile in range(1, bins + 1)]
        family_curves.append(_family_curve(name, family, members, positions, columns))
    return tuple(family_curves)


def ntile(n: int, bins: int) -> FloatArray:
    """Number n ordered values by bins 1…bins of nearly equal size, as dplyr's ``ntile`` does.

    The first n mod bins bins hold one value more; with fewer values than bins the last bins stay empty.

    *Shape:* (n,).

    >>> ntile(5, 3).tolist(), ntile(2, 10).tolist()
    ([1.0, 1.0, 2.0, 2.0, 3.0], [1.0, 2.0])
    """
    if n < 0 or bins < 1:
        raise StatisticError(f"{n} values cannot be put into {bins} bins")
    sizes = [n // bins + (tile < n % bins) for tile in range(bins)]
    return np.repeat(np.arange(1.0, bins + 1), sizes)


def _interpolate(values: FloatArray, grid: FloatArray) -> FloatArray:
    if values.ndim != 1 or len(values) < 2:
        raise StatisticError("a curve over depth needs the embeddings and at least one layer")
    # outside its known layers a curve stays undefined: it is not continued flat
    known = ~np.isnan(values)
    if not known.any():
        raise StatisticError("a curve without any value cannot be averaged")
    depths = np.arange(len(values)) / (len(values) - 1)
    return np.interp(grid, depths[known], values[known], left=np.nan, right=np.nan)


def _members(curves: Mapping[str, ArrayLike], families: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Subjects by family, both in the order of their names."""
    missing = sorted(set(curves) - set(families))
    if missing:
        raise StatisticError(
            f"no family is given for {', '.join(missing)}", hint="name the family of every subject, or leave it out"
        )
    names = sorted({families[subject] for subject in curves})
    return [(name, sorted(subject for subject in curves if families[subject] == name)) for name in names]


def _family_curve(
    name: str, family: str, members: list[str], positions: FloatArray, columns: list[FloatArray]
) -> FamilyCurve:
    known = [column[~np.isnan(column)] for column in columns]
    values = np.array([column.mean() if len(column) else np.nan for column in known])
    return FamilyCurve(name, family, tuple(members), positions, values, tuple(len(column) for column in known))


# -- mean distance by layer and condition, with intervals that resample groups of items (words) ---------------------


@dataclass(frozen=True, slots=True, eq=False)
class ConditionLayers:
    """The mean distance of the items in one condition, layer by layer.

    *Shape:* ``mean`` (layers,), one interval per layer. *Unit:* cosine distance. *Higher means:* less related.
    """

    condition: str
    mean: FloatArray
    intervals: tuple[Interval, ...]
    n: int


def distance_by_condition(
    distance: ArrayLike,
    conditions: Sequence[str],
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[ConditionLayers, ...]:
    """Return mean distance and interval at every layer for each condition, in the order of their names.

    *Shape:* distance (items, layers); conditions and groups (items,). *Source:* SAW-C §4.2, Figure 3.
    Errors: :class:`StatisticError` where the lengths differ.

    >>> found = distance_by_condition([[0, 1], [0, 3], [0, 5]], ["a", "a", "b"], resamples=20)
    >>> [(entry.condition, entry.mean.tolist(), entry.n) for entry in found]  # (1 + 3) / 2 at the second layer
    [('a', [0.0, 2.0], 2), ('b', [0.0, 5.0], 1)]
    """
    columns = np.asarray(distance, dtype=np.float64)
    labels = np.asarray(conditions, dtype=str)
    if columns.ndim != 2 or len(columns) != len(labels):
        raise StatisticError(f"distances of shape {columns.shape} do not go with {len(labels)} conditions")
    codes, n_groups = group_codes(groups, len(labels))
    by_condition = []
    for label in np.unique(labels):
        chosen = labels == label
        ones = np.ones(int(chosen.sum()))
        draws = ratio_draws(columns[chosen], ones, codes[chosen], n_groups, resamples=resamples, seed=seed)
        # the groups with an item in this condition are those whose number limits it
        present = len(np.unique(codes[chosen]))
        interval = partial(percentile_interval, level=level, resampled=resampled_units(groups), n_groups=present)
        intervals = tuple(interval(draws[:, layer]) for layer in range(columns.shape[1]))
        by_condition.append(ConditionLayers(str(label), columns[chosen].mean(axis=0), intervals, int(chosen.sum())))
    return tuple(by_condition)
