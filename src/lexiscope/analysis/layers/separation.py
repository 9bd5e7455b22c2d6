"""How well a distance keeps senses apart, where nobody has rated the items."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray, bootstrap, group_codes
from lexiscope.analysis.correlation import average_ranks, settle_ties
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name

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
    """Return how often a pair of different senses lies further apart than a pair of the same sense, ties half.

    It is the area under the ROC curve. *Shape:* distance, same_sense, groups (items,); same_sense of 0/1 or booleans.
    *Unit:* share, 0 to 1; .5 is chance. *Higher means:* the senses are better separated. *groups* are the words that
    items share; the interval resamples them. *Source:* Mann and Whitney 1947, U / (n1 n2).
    Errors: :class:`StatisticError` where lengths differ, a distance is not finite, or one kind of pair is missing.

    >>> found = sense_separation([0.1, 0.3, 0.2, 0.4], [1, 1, 0, 0], resamples=50)
    >>> found.value  # .2 > .1; .4 > .1 and .3: 3 of 2 * 2 comparisons
    0.75
    """
    values, same = np.asarray(distance, dtype=np.float64), np.asarray(same_sense, dtype=bool)
    if values.ndim != 1 or values.shape != same.shape or not np.isfinite(values).all():
        raise StatisticError(f"{values.shape} distances, all finite, and {same.shape} sense relations must go together")
    # distances of equal vectors differ by rounding noise, which must not decide a comparison
    values = settle_ties(values)

    def share(rows: IntArray) -> float:
        return _share(values[rows], same[rows])

    value = share(np.arange(len(values)))
    interval = bootstrap(share, len(values), groups=groups, resamples=resamples, seed=seed, level=level)
    return Estimate(NAME, value, interval, len(values), group_codes(groups, len(values))[1])


def _share(values: FloatArray, same: BoolArray) -> float:
    n_same, n_different = int(same.sum()), int((~same).sum())
    if not n_same or not n_different:
        raise StatisticError("separation needs pairs of the same sense and of different senses")
    smallest = n_different * (n_different + 1) / 2
    return (float(average_ranks(values)[~same].sum()) - smallest) / (n_same * n_different)
