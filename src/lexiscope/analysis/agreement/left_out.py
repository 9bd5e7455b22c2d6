"""Intervals of a statistic of raters × items from its values without some of the ratings: which are left out, and how.

A statistic gives its values without each group of ratings; here the groups are made, of the ratings of each rater, of
each item or word, and of each rater's ratings of one item or word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, IntArray, resampled_units
from lexiscope.analysis.jackknife import (
    MOST,
    LeftOut,
    Scale,
    crossed_jackknife_interval,
    jackknife_interval,
    left_out_groups,
    no_jackknife,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Interval

Resampled = Literal["raters_and_items", "raters", "items"]
RESAMPLED: tuple[Resampled, ...] = ("raters_and_items", "raters", "items")
Without = Callable[[IntArray, int], FloatArray]
"""A statistic without each group of ratings: takes the group of each rating and their number. *Shape:* → (groups,)."""


def crossed_interval(
    value: float,
    ratings: Ratings,
    without: Without,
    *,
    resampled: Resampled,
    groups: Mapping[str, str] | None,
    scale: Scale,
    level: float,
    resamples: int,
    seed: int,
    most: int = MOST,
) -> Interval:
    """Return the interval of a statistic of some ratings, where raters, items or both are a sample.

    *ratings* are those that count; *without* gives the statistic without groups of them; ``groups`` (item id → word)
    are left out whole, instead of items.

    Errors: :class:`StatisticError` where *resampled* is unknown.
    """
    if resampled not in RESAMPLED:
        raise StatisticError(f"nothing is resampled as {resampled!r}; there are: {', '.join(RESAMPLED)}")
    units = resampled_units(groups)
    printed = {"raters_and_items": f"raters_and_{units}", "raters": "raters", "items": units}[resampled]
    rater = np.unique(ratings.rater, return_inverse=True)[1].reshape(-1).astype(np.int64)
    names = np.array(ratings.item_ids) if groups is None else ratings.item_labels(groups)
    item = np.unique(names[ratings.item], return_inverse=True)[1].reshape(-1).astype(np.int64)
    n_raters, n_items = int(rater.max()) + 1, int(item.max()) + 1
    if n_items < 2 and resampled != "raters":
        unit = units.removesuffix("s")
        return no_jackknife(f"one {unit} cannot be resampled", resampled=printed, scale=scale, level=level)

    if n_raters < 3 and resampled != "items":
        reason = f'{n_raters} raters are too few to be resampled; resampled="items" holds them fixed'
        return no_jackknife(reason, resampled=printed, scale=scale, level=level)
    if not resamples:
        return no_jackknife("no resamples were asked for", resampled=printed, scale=scale, level=level)

    def left_out(codes: IntArray, n_units: int) -> LeftOut:
        group, n_groups = left_out_groups(n_units, resamples=resamples, seed=seed, most=most)
        sizes = np.bincount(group, minlength=n_groups).astype(np.float64)
        return LeftOut(without(group[codes], n_groups), sizes)

    mean_number = len(ratings) / len(np.unique(ratings.item))
    if resampled != "raters_and_items":
        codes, n_units = (rater, n_raters) if resampled == "raters" else (item, n_items)
        parts = left_out(codes, n_units)
        return jackknife_interval(value, parts, resampled=printed, scale=scale, level=level, ratings=mean_number)
    cells, cell = np.unique(rater * n_items + item, return_inverse=True)
    return crossed_jackknife_interval(
        value,
        left_out(rater, n_raters),
        left_out(item, n_items),
        left_out(cell.reshape(-1).astype(np.int64), len(cells)),
        items=units,
        scale=scale,
        level=level,
        ratings=mean_number,
    )
