"""Mean distance by layer and condition, with intervals that resample groups of items (words)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, group_codes, percentile_interval, ratio_draws
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Interval


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
        intervals = tuple(percentile_interval(draws[:, layer], level=level) for layer in range(columns.shape[1]))
        by_condition.append(ConditionLayers(str(label), columns[chosen].mean(axis=0), intervals, int(chosen.sum())))
    return tuple(by_condition)
