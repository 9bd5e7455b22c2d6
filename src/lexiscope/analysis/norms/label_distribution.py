"""How often each point of the scale occurs: in all ratings, in rounded means, in what models predict.

*Source:* AmbiStory §4.2 (all ratings) and Table 6 (mean ratings rounded to whole numbers and models' labels, for
all, open and ended stories).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.accuracy import share_interval
from lexiscope.analysis.bootstrap import (
    BoolArray,
    GroupLabels,
    cluster_labels,
    group_codes,
    groups_of,
    percentile_interval,
    ratio_draws,
    resampled_units,
)
from lexiscope.analysis.norms.predictions import Predictions, Rounding, rounded
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.significance import marginal_homogeneity
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

_FEWEST_GROUPS = 2
SCALE: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0, 5.0)


@dataclass(frozen=True, slots=True)
class LabelShares:
    """The share of each point of a scale. *Unit:* share, 0 to 1; shares add up to 1.

    ``intervals`` resample items, or the groups that were given. ``n_missing`` items have no label.
    """

    name: str
    points: tuple[float, ...]
    counts: tuple[int, ...]
    shares: tuple[float, ...]
    intervals: tuple[Interval, ...]
    n: int
    n_missing: int

    def results(self, statistic: str) -> tuple[Estimate, ...]:
        """Return the share of each point, which is a parameter of the name *statistic*. *Unit:* percent."""
        points = zip(self.points, self.shares, self.intervals, strict=True)
        return tuple(
            Estimate(
                statistic_name(statistic, point=f"{point:g}"), 100 * share, interval.times(100), self.n, unit="percent"
            )
            for point, share, interval in points
        )

    def ends(self, statistic: str) -> Estimate:
        """Return the share of the lowest and the highest point together, without an interval. *Unit:* percent."""
        name = statistic_name(statistic, point=f"{self.points[0]:g}_or_{self.points[-1]:g}")
        return Estimate(name, 100 * (self.shares[0] + self.shares[-1]), n=self.n, unit="percent")


def label_shares(
    labels: ArrayLike,
    *,
    name: str,
    points: Sequence[float] = SCALE,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> LabelShares:
    """Return the share of each point among labels; NaN is a missing label. *Shape:* labels, groups (rows,).

    >>> found = label_shares([1, 5, 5, float("nan")], name="toy", resamples=0)
    >>> found.counts, found.n_missing
    ((1, 0, 0, 0, 2), 1)

    Errors: :class:`InputError` for a label that is no point; :class:`StatisticError` without labels.
    """
    values = np.asarray(labels, dtype=np.float64)
    given = ~np.isnan(values)
    if not given.any():
        raise StatisticError(f"{name} has no labels")
    is_point = values[given][:, None] == np.asarray(points, dtype=np.float64)[None, :]
    if not is_point.any(axis=1).all():
        off = values[given][~is_point.any(axis=1)][0]
        raise InputError(f"{off:g} is not a point of the scale", hint="round predictions first (rounded)")
    interval = partial(share_interval, groups=groups_of(groups, given), level=level, resamples=resamples, seed=seed)
    intervals = tuple(interval(is_point[:, k])[0] for k in range(len(points)))
    counts = is_point.sum(axis=0)
    shares = tuple((counts / counts.sum()).tolist())
    missing = len(values) - int(counts.sum())
    return LabelShares(name, tuple(points), tuple(counts.tolist()), shares, intervals, int(counts.sum()), missing)


def rating_shares(
    ratings: Ratings,
    *,
    points: Sequence[float] = SCALE,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> LabelShares:
    """Return the share of each point among all single ratings; intervals resample items, or *groups* of items.

    Errors: as :func:`label_shares`; :class:`InputError` E506 for an item without a group.
    """
    own = GroupLabels(ratings.item_ids, "items") if groups is None else cluster_labels(ratings.item_ids, groups)
    where = groups_of(own, ratings.item)
    name = "rating_shares"
    return label_shares(
        ratings.value, name=name, points=points, groups=where, level=level, resamples=resamples, seed=seed
    )


def mean_label_table(
    ratings: Ratings,
    conditions: Mapping[str, str],
    *,
    rounding: Rounding = "half_up",
    points: Sequence[float] = SCALE,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, LabelShares]:
    """Return the shares of rounded mean ratings, on all items and by condition (item id → open, ended).

    Halves go up, as for predictions: one rule for people and models. Halves to even (Python's own rule) is the other
    *rounding*; they differ with six ratings only, and on AmbiStory's test split not at all.
    *Source:* AmbiStory Table 6, human rows.
    Errors: as :func:`label_shares`; :class:`InputError` for an item without a condition or a group.
    """
    means = rounded(ratings.means(), rule=rounding, low=min(points), high=max(points))
    labels = dict(zip(ratings.item_ids, means.tolist(), strict=True))
    return label_table(labels, conditions, points=points, groups=groups, level=level, resamples=resamples, seed=seed)


def label_table(
    labels: Predictions,
    conditions: Mapping[str, str],
    *,
    points: Sequence[float] = SCALE,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, LabelShares]:
    """Return the shares of a subject's labels on all items (``all``), then in each condition: a block of Table 6.

    Errors: as :func:`mean_label_table`.
    """
    items = list(labels)
    values = np.array([np.nan if labels[item] is None else labels[item] for item in items], dtype=np.float64)
    condition = np.array(cluster_labels(items, conditions, what="condition"))
    group = cluster_labels(items, groups, what="group")

    def shares(chosen: BoolArray, name: str) -> LabelShares:
        rows = np.flatnonzero(chosen)
        return label_shares(
            values[rows],
            name=name,
            points=points,
            groups=groups_of(group, rows),
            level=level,
            resamples=resamples,
            seed=seed,
        )

    parts = {"all": np.ones(len(items), dtype=bool)}
    parts |= {label: condition == label for label in sorted(set(condition.tolist()))}
    return {part: shares(chosen, part) for part, chosen in parts.items()}


def label_differences(
    labels: Predictions,
    conditions: Mapping[str, str],
    *,
    first: str,
    second: str,
    points: Sequence[float] = SCALE,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return, for each point, its share among the labels of one condition minus that in another one.

    *Unit:* percentage points. Intervals resample *groups* (item id → word), the same ones in both conditions. Items
    without a label are excluded. *Source:* AmbiStory §5.3.2 (labels of ended against open stories, Table 6).
    Errors: :class:`InputError` for an item without a condition or a group; :class:`StatisticError` where a condition
    has no labels.

    >>> labels = {"i": 1.0, "j": 5.0, "k": 5.0, "l": None}
    >>> kinds = {"i": "ended", "j": "ended", "k": "open", "l": "open"}
    >>> found = label_differences(labels, kinds, first="ended", second="open", points=(1, 5), resamples=0)
    >>> [(one.name, one.value) for one in found][1]
    ('label_share_difference(of=ended_minus_open,point=5)', -50.0)
    """
    given = {item: label for item, label in labels.items() if label is not None}
    items = list(given)
    condition = np.array(cluster_labels(items, conditions, what="condition"), dtype=object)
    values = np.array([given[item] for item in items], dtype=np.float64)
    own = cluster_labels(items, groups, what="group")
    codes, n_groups = group_codes(own, len(items))
    sides = [(condition == name).astype(np.float64) for name in (first, second)]
    if not all(side.any() for side in sides):
        raise StatisticError(f"there are no labels of {first if not sides[0].any() else second} items")
    differences = []
    for point in points:
        chosen = [side * (values == point) for side in sides]
        share = [float(hits.sum() / side.sum()) for hits, side in zip(chosen, sides, strict=True)]
        # one seed draws the same groups for both conditions
        drawn = [
            ratio_draws(hits, side, codes, n_groups, resamples=resamples, seed=seed)
            for hits, side in zip(chosen, sides, strict=True)
        ]
        interval = percentile_interval(
            drawn[0] - drawn[1], level=level, resampled=resampled_units(own), n_groups=n_groups
        )
        name = statistic_name("label_share_difference", of=f"{first}_minus_{second}", point=f"{point:g}")
        value = 100 * (share[0] - share[1])
        differences.append(Estimate(name, value, interval.times(100), len(items), n_groups, unit="points"))
    return tuple(differences)


def label_shift(
    first: Predictions,
    second: Predictions,
    people: Predictions,
    *,
    sides: tuple[str, str] = ("base", "tuned"),
    points: Sequence[float] = SCALE,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the distances of the labels of two subjects from people's as distributions, and whether the two differ.

    The distance is half the sum of the absolute differences of the shares (total variation): the percent of labels that
    would have to change. Returned are that of the first subject, that of the second, second − first with its interval
    (below 0: the second is nearer to people), and the Stuart–Maxwell test of equal margins, χ² with its p, which takes
    items as independent. Compared are the items that all three have a label of; *sides* are what the two are called.
    *Source:* AmbiStory §5.3.2 (Table 6); Stuart 1955, Maxwell 1970.
    Errors: :class:`InputError` for a label that is no point; :class:`StatisticError` where the two give no item
    different labels, or no item has a label of all three.

    >>> labels = [dict(zip("ijklm", given)) for given in ((2, 2, 2, 4, 4), (1, 2, 3, 4, 5), (1, 2, 3, 4, 5))]
    >>> found = label_shift(*labels, resamples=0)  # shares .4 and .6 of two labels against five of .2
    >>> [round(result.value, 9) for result in found][:3]
    [60.0, 0.0, -60.0]
    """
    items = [item for item in people if all(side.get(item) is not None for side in (first, second, people))]
    if not items:
        raise StatisticError("no item has a label of both subjects and of people")
    columns = np.array([[side[item] for item in items] for side in (first, second, people)], dtype=np.float64)
    shown = columns[:, :, None] == np.asarray(points, dtype=np.float64)
    if not shown.any(axis=2).all():
        off = columns[~shown.any(axis=2)][0]
        raise InputError(f"{off:g} is not a point of the scale", hint="round predictions first (rounded)")
    own = cluster_labels(items, groups, what="group")
    codes, n_groups = group_codes(own, len(items))
    flags = shown.astype(np.float64)
    shares, ones = flags.mean(axis=1), np.ones(len(items))
    drawn = [ratio_draws(side, ones, codes, n_groups, resamples=resamples, seed=seed) for side in flags]
    values = [50 * float(np.abs(shares[side] - shares[2]).sum()) for side in (0, 1)]
    distances = [50 * np.abs(drawn[side] - drawn[2]).sum(axis=1) for side in (0, 1)]
    interval = percentile_interval(
        distances[1] - distances[0], level=level, resampled=resampled_units(own), n_groups=n_groups
    )
    name, n = "label_distance", len(items)
    test = marginal_homogeneity(flags[0].T @ flags[1])
    of = f"{sides[1]}_minus_{sides[0]}"
    return (
        *(
            Estimate(statistic_name(name, of=side), value, n=n, unit="percent")
            for side, value in zip(sides, values, strict=True)
        ),
        Estimate(
            statistic_name("label_distance_difference", of=of), values[1] - values[0], interval, n, n_groups,
            unit="points",
        ),
        Estimate(statistic_name("marginal_homogeneity", of=of), test.statistic, n=n, p=test.p),
    )  # fmt: skip


def rounded_twice(share: float, *, decimals: int = 1) -> float:
    """Return a percentage as it prints where it was rounded to one more decimal before.

    Three cells of AmbiStory's Table 6 are such: 23.548 is 23.5, but 23.55 and then 23.6.

    >>> round(23.548, 1), rounded_twice(23.548)
    (23.5, 23.6)
    """
    # away from zero at a half, as people round; binary fractions would decide 23.55 by chance
    step = 10 ** (decimals + 1)
    first = np.floor(abs(share) * step + 0.5)
    return float(np.sign(share) * np.floor(first / 10 + 0.5) / 10**decimals)
