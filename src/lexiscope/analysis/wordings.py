"""Wordings as a sample: one statistic in each wording of a prompt, its mean, and intervals over wordings and items.

The wordings that a researcher writes are few of the many in which a question can be put. A mean over them that is to
hold for others needs an interval in which wordings vary; that they vary on items of a sample adds the items' part.
Every item is asked in every wording, so that both can be excluded in turn, and each answer alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray, group_codes, require_finite, value_or_nan
from lexiscope.analysis.comparison import area_under_roc
from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.jackknife import (
    LeftOut,
    Scale,
    crossed_jackknife_interval,
    jackknife_interval,
    left_out_groups,
)
from lexiscope.analysis.ranks import CORRELATIONS
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Interval

WORDINGS = "wordings"
"""What is resampled, in the plural."""


@dataclass(frozen=True, slots=True, eq=False)
class OverWordings:
    """A statistic over wordings: ``values`` and ``intervals`` (items resampled) of each, in their order.

    ``mean`` is the mean of the values, ``sd`` their standard deviation (n − 1), NaN of one wording. ``over_wordings``
    is the interval of the mean on these items for other wordings; ``over_items`` on other items for these wordings,
    ``over_both`` on other items for other wordings. ``n`` counts the items, ``n_groups`` their groups (words).
    """

    statistic: str
    values: tuple[float, ...]
    intervals: tuple[Interval, ...]
    mean: float
    sd: float
    over_wordings: Interval
    over_items: Interval
    over_both: Interval
    n: int
    n_groups: int


def over_wordings(
    statistic: str,
    columns: Sequence[ArrayLike],
    labels: Sequence[str],
    *,
    norm: ArrayLike | None = None,
    units: str = "words",
    level: float = 0.95,
    seed: int = 0,
) -> OverWordings:
    """Return a statistic of the answers in each wording, and its mean over them with three intervals.

    *columns* are the answers in one wording each, without missing values; *labels* the groups of the items, which are
    excluded whole, called *units*. *statistic* is ``mean``, ``accuracy``, a correlation with *norm*, or ``auc``, the
    area under the ROC curve, of which *norm* has the correct answers, 0 or 1.
    *Shape:* columns (wordings, items), labels and norm (items,).

    All intervals are jackknives by Student's t: of correlations on Fisher's z, of accuracies and areas after Wilson, of
    means on their own scale. Over wordings, that of a mean is the mean ± t SD / √k on k − 1 degrees of freedom. Over
    both, the variances over wordings and over items are added, and that of single answers (what an item does to one
    wording and not to the others), which both contain, is taken away.
    Fewer than three wordings give no interval over them, and the reason.

    *Source:* Cameron, Gelbach & Miller 2011; Owen 2007 (crossed random effects).

    Errors: :class:`StatisticError` for another statistic, other shapes, missing values, and where the statistic is
    undefined for a wording.

    >>> rated = over_wordings("mean", [[1, 2, 3], [2, 3, 4], [4, 5, 6]], ["a", "b", "c"])
    >>> rated.values, round(rated.mean, 4), round(rated.sd, 4)
    ((2.0, 3.0, 5.0), 3.3333, 1.5275)
    >>> [round(end, 4) for end in (rated.over_wordings.low, rated.over_wordings.high)]  # ± 4.3027 × 1.5275 / √3
    [-0.4612, 7.1279]
    """
    rows = np.array([np.asarray(column, dtype=np.float64) for column in columns])
    if rows.ndim != 2 or rows.shape[1] != len(labels) or len(rows) < 2 or not len(labels):
        raise StatisticError(f"two wordings or more of {len(labels)} items are needed, not the shape {rows.shape}")
    kind = next((kind for kind in CORRELATIONS if kind == statistic), None)
    if kind is None and statistic not in ("mean", "accuracy", "auc"):
        known = ", ".join(("mean", "accuracy", "auc", *CORRELATIONS))
        raise StatisticError(f"no statistic {statistic!r} over wordings: {known}")
    target = np.zeros(len(labels)) if norm is None else np.asarray(norm, dtype=np.float64)
    if (kind is not None or statistic == "auc") and (norm is None or target.shape != (len(labels),)):
        raise StatisticError(f"{statistic} over wordings needs a norm of each of the {len(labels)} items")
    require_finite(statistic, rows, target)

    def value(row: FloatArray, kept: IntArray) -> float:
        if statistic == "auc":
            return area_under_roc(row[kept], target[kept])
        if kind is None:
            return float(row[kept].mean())
        return correlation_value(row[kept], target[kept], kind=kind)

    everything = np.arange(len(labels), dtype=np.int64)
    values = np.array([value(row, everything) for row in rows])
    codes, n_groups = group_codes(list(labels), len(labels))
    part, n_parts = left_out_groups(n_groups, resamples=n_groups, seed=seed)
    sizes = np.bincount(part, minlength=n_parts).astype(np.float64)
    kept_rows = [everything[part[codes] != number] for number in range(n_parts)]
    # (wordings, parts): each wording without each part of the items
    without = np.array([[value_or_nan(partial(value, row), kept) for kept in kept_rows] for row in rows])
    k = len(rows)
    scale: Scale = "fisher_z" if kind is not None else "identity" if statistic == "mean" else "wilson"
    mean = float(values.mean())
    by_wording = LeftOut.singly((values.sum() - values) / (k - 1))
    by_item = LeftOut(without.mean(axis=0), sizes)
    # of single answers: what an item does to all wordings alike is in the items' part, and must not be taken away
    moves = values[:, None] - without
    alone = (moves - moves.mean(axis=0)) * math.sqrt(k / (k - 1))
    by_answer = LeftOut((mean - alone / k).ravel(), np.tile(sizes, k))
    return OverWordings(
        statistic,
        tuple(values.tolist()),
        tuple(
            jackknife_interval(own, LeftOut(row, sizes), resampled=units, scale=scale, level=level)
            for own, row in zip(values.tolist(), without, strict=True)
        ),
        mean,
        float(values.std(ddof=1)),
        jackknife_interval(mean, by_wording, resampled=WORDINGS, scale=scale, level=level),
        jackknife_interval(mean, by_item, resampled=units, scale=scale, level=level),
        crossed_jackknife_interval(
            mean, by_wording, by_item, by_answer, raters=WORDINGS, items=units, scale=scale, level=level
        ),
        len(labels),
        n_groups,
    )
