"""Intervals of a statistic of raters × items from its values without some of the ratings: which are excluded, and how.

A statistic gives its values without each group of ratings; here the groups are made, of the ratings of each rater, of
each item or word, and of each rater's ratings of one item or word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    are excluded whole, instead of items.

    Errors: :class:`StatisticError` where *resampled* is unknown.
    """
    if resampled not in RESAMPLED:
        raise StatisticError(f"nothing is resampled as {resampled!r}; valid names: {', '.join(RESAMPLED)}")
    units = resampled_units(groups)
    printed = {"raters_and_items": f"raters_and_{units}", "raters": "raters", "items": units}[resampled]
    rater, item = _numbered(ratings, groups)
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


def ratings_lost_together(
    ratings: Ratings, groups: Mapping[str, str] | None, *, seed: int, most: int, spared: float
) -> int:
    """Return how many ratings of nearly any item are excluded with a group of raters of :func:`crossed_interval`.

    Raters of the same items are rarely in one group. Of the items and groups with a rating in common, a share of
    *spared* may have more. It is 0 if no raters are excluded (*most* = 0).

    >>> raters, items = [f"r{rater}" for rater in range(60) for _ in range(4)], [f"i{item}" for item in range(40)] * 6
    >>> ratings = Ratings.from_arrays(raters, items, np.random.default_rng(0).normal(size=240))
    >>> [ratings_lost_together(ratings, None, seed=0, most=most, spared=0.1) for most in (0, 60, 15, 2)]
    [0, 1, 2, 4]
    """
    if not most:
        return 0
    rater, _ = _numbered(ratings, groups)
    group, n_groups = left_out_groups(int(rater.max()) + 1, resamples=most, seed=seed, most=most)
    _, lost = np.unique(ratings.item * n_groups + group[rater], return_counts=True)
    return int(np.sort(lost)[int((1 - spared) * (len(lost) - 1))])


def _numbered(ratings: Ratings, groups: Mapping[str, str] | None) -> tuple[IntArray, IntArray]:
    """The number of the rater and of the item or word of each rating: who is excluded together does not depend on
    what they are called."""
    names = np.array(ratings.item_ids) if groups is None else ratings.item_labels(groups)
    return order_by_content(ratings.rater, names[ratings.item], ratings.value)


def order_by_content(rater: ArrayLike, item: ArrayLike, value: ArrayLike) -> tuple[IntArray, IntArray]:
    """Return the numbers of the rater and of the item of each rating, in an order that no renaming changes.

    Raters and items are distinguished by their ratings alone: by their values, by whose they are and of what, and so on
    (colour refinement). Raters who remain alike, but are not twins (the same ratings of the same items), are
    distinguished one after the other. Twins may change places without any effect. *Shape:* all (ratings,).

    >>> order_by_content(["ana", "eva", "eva"], ["i", "i", "j"], [1, 2, 3])[0].tolist() == order_by_content(
    ...     ["zoe", "eva", "eva"], ["x", "x", "a"], [1, 2, 3])[0].tolist()
    True
    """
    raters, items, values = (
        np.unique(np.asarray(side), return_inverse=True)[1].reshape(-1).astype(np.int64)
        for side in (rater, item, value)
    )
    none = np.zeros(int(raters.max()) + 1, np.int64), np.zeros(int(items.max()) + 1, np.int64)
    colours = _refined(raters, items, values, none)
    own = _content(raters, values, items, len(colours[0]))
    for _ in range(_MOST_TOLD_APART):
        # a colour with raters of different ratings has raters who are alike only by their place in the design
        pairs = np.unique(np.column_stack([colours[0], own.astype(np.int64)]), axis=0)[:, 0]
        alike = np.flatnonzero(np.bincount(pairs) > 1)
        if not len(alike):
            break
        marked = 2 * colours[0]
        marked[np.flatnonzero(colours[0] == alike[0])[0]] += 1
        colours = _refined(raters, items, values, (marked, colours[1]))
    by_rater, by_item = (np.argsort(np.argsort(colour, kind="stable"), kind="stable") for colour in colours)
    return by_rater[raters].astype(np.int64), by_item[items].astype(np.int64)


_MOST_TOLD_APART = 200


def _refined(
    raters: IntArray, items: IntArray, values: IntArray, colours: tuple[IntArray, IntArray]
) -> tuple[IntArray, IntArray]:
    """The colours of raters and items, split by their ratings until no colour is split any more."""
    of_rater, of_item = colours
    n = 0
    while (now := len(np.unique(of_rater)) + len(np.unique(of_item))) > n:
        n = now
        of_item = _split(of_item, _content(items, values, of_rater[raters], len(of_item)))
        of_rater = _split(of_rater, _content(raters, values, of_item[items], len(of_rater)))
    return of_rater, of_item


def _content(units: IntArray, values: IntArray, others: IntArray, n_units: int) -> NDArray[np.uint64]:
    """A number for the ratings of each unit in any order: their values, each with the colour of its other side."""
    with np.errstate(over="ignore"):
        mixed = _mix(_mix(values.astype(np.uint64)) + others.astype(np.uint64))
        sums = np.zeros(n_units, dtype=np.uint64)
        np.add.at(sums, units, mixed)
    return sums


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 (Steele, Lea & Flood 2014): numbers that lie close become numbers that do not."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def _split(colour: IntArray, content: NDArray[np.uint64]) -> IntArray:
    return np.unique(np.rec.fromarrays([colour, content]), return_inverse=True)[1].reshape(-1).astype(np.int64)
