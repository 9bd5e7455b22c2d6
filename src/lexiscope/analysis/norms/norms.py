"""Norms: what people said about each item, and about each condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, GroupLabels, IntArray, resampled_units
from lexiscope.analysis.correlation import centred_within, spearman
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import correlation_p
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name
from lexiscope.core.simulated import COLLECTED


@dataclass(frozen=True, slots=True, eq=False)
class Norms:
    """The norm of each item: mean, SD (n − 1), median, n, and how often each point of the scale was chosen.

    *Shape:* mean, sd, median, n (items,); point_counts (items, points). *Unit:* that of the ratings.
    *Source:* SAW-C §3.4. NaN is only where ``unrated`` (no rating: no mean) or ``sd_undefined`` (one rating: no SD)
    lists the item.
    """

    item_ids: tuple[str, ...]
    mean: FloatArray
    sd: FloatArray
    median: FloatArray
    n: IntArray
    points: tuple[float, ...]
    point_counts: IntArray

    @property
    def unrated(self) -> tuple[str, ...]:
        """Items without a rating: their mean and median are undefined."""
        return tuple(self.item_ids[i] for i in np.flatnonzero(self.n == 0))

    @property
    def sd_undefined(self) -> tuple[str, ...]:
        """Items with fewer than two ratings: their SD is undefined."""
        return tuple(self.item_ids[i] for i in np.flatnonzero(self.n < 2))

    @property
    def n_min(self) -> int:
        """The smallest number of ratings per item."""
        return int(self.n.min())

    @property
    def n_mean(self) -> float:
        """The mean number of ratings per item."""
        return float(self.n.sum() / len(self.n))

    @property
    def n_max(self) -> int:
        """The largest number of ratings per item."""
        return int(self.n.max())

    def row(self, item_id: str) -> int:
        """Return the row of an item.

        Errors: :class:`InputError` where the item is unknown.
        """
        if item_id not in self.item_ids:
            raise InputError(f"no norm for item {item_id!r}", place=Place(item_id=item_id))
        return self.item_ids.index(item_id)


def norms(ratings: Ratings, *, points: Sequence[float] | None = None) -> Norms:
    """Return the norm of every item.

    ``points`` are the points of the scale to count; by default the values that occur, where all are whole numbers.
    Means of whole numbers are an exact sum over a count. *Source:* SAW-C §3.4.

    Errors: :class:`StatisticError` without items, :class:`InputError` where a rating is not among the points.

    >>> table = norms(Ratings.from_arrays(["a", "b", "c", "a"], ["i", "i", "i", "j"], [1, 2, 5, 4]))
    >>> table.mean.tolist(), table.median.tolist(), table.sd_undefined  # (1 + 2 + 5) / 3 and 4 / 1
    ([2.6666666666666665, 4.0], [2.0, 4.0], ('j',))
    """
    if not ratings.n_items:
        raise StatisticError("there are no items, so there are no norms")
    n = ratings.counts()
    scale, table = _point_counts(ratings, points)
    return Norms(ratings.item_ids, ratings.means(), item_sd(ratings), _medians(ratings), n, scale, table)


def mean_ratings(responses: ResponseColumns, item_ids: Sequence[str]) -> FloatArray:
    """Return the mean of people's ratings of each item, or the published mean if no ratings were published.

    *Shape:* (items,), NaN for an item without either. Simulated participants count as people.

    >>> from lexiscope import Response, ResponseTable
    >>> rows = [Response(who, "participant", "i", "t", "rating", value) for who, value in (("a", 1), ("b", 4))]
    >>> mean_ratings(ResponseTable.from_rows(rows), ["i", "j"]).tolist()
    [2.5, nan]
    """
    rated = responses.where(measure="rating", subject_kind=COLLECTED)
    known = responses.where(measure="norm", subject_kind="norm").by_item()
    if len(rated):
        ratings = Ratings.from_table(rated, kinds=COLLECTED, repeats="mean")
        known = dict(zip(ratings.item_ids, ratings.means().tolist(), strict=True))
    return np.array([known.get(item_id, np.nan) for item_id in item_ids], dtype=np.float64)


def item_sd(ratings: Ratings) -> FloatArray:
    """Return the SD (n − 1) of each item's ratings, NaN with fewer than two. *Shape:* (items,).

    >>> item_sd(Ratings.from_arrays(["a", "b", "a"], ["i", "i", "j"], [1, 3, 3])).tolist()  # sqrt((1 + 1) / 1)
    [1.4142135623730951, nan]
    """
    deviations = centred_within(ratings.value, ratings.item, ratings.n_items)
    # deviations first, squares after: the textbook shortcut loses all digits of a small SD around a large mean
    squares = np.bincount(ratings.item, weights=deviations**2, minlength=ratings.n_items)
    n = ratings.counts()
    return np.asarray(np.sqrt(np.divide(squares, n - 1, out=np.full(ratings.n_items, np.nan), where=n > 1)))


def mean_item_sd(ratings: Ratings) -> Estimate:
    """Return the mean over items of the SD (n − 1) of their ratings; ``n`` counts the items with two ratings or more.

    *Higher means:* raters disagree more. *Source:* AmbiStory §4.1.

    Errors: :class:`StatisticError` where no item has two ratings.

    >>> ratings = Ratings.from_arrays(["a", "b", "a", "b"], ["i", "i", "j", "j"], [2, 2, 1, 3])
    >>> mean_item_sd(ratings).value  # (0 + sqrt(2)) / 2
    0.7071067811865476
    """
    sd = item_sd(ratings)
    defined = sd[~np.isnan(sd)]
    if not len(defined):
        raise StatisticError("no item has two ratings, so no item has an SD")
    return Estimate(statistic_name("mean_item_sd", ddof=1), float(defined.mean()), n=len(defined))


def mean_sd_by_group(ratings: Ratings, groups: Mapping[str, str]) -> tuple[Estimate, ...]:
    """Return the mean SD (n − 1) of the items of each group (item id → word), its condition; the largest first.

    *Higher means:* raters disagree more. *Source:* AmbiStory §4.1 (*identities* 1.59). Items with fewer than two
    ratings are excluded; groups of such items alone are not there.

    Errors: :class:`InputError` naming an item without a group.

    >>> ratings = Ratings.from_arrays(["a", "b", "a", "b"], ["i", "i", "j", "j"], [2, 2, 1, 3])
    >>> [(mean.condition, mean.value) for mean in mean_sd_by_group(ratings, {"i": "bank", "j": "note"})]
    [('note', 1.4142135623730951), ('bank', 0.0)]
    """
    sd = item_sd(ratings)
    labels, code = np.unique(ratings.item_labels(groups), return_inverse=True)
    defined = ~np.isnan(sd)
    kept = code.reshape(-1)[defined]
    n, total = np.bincount(kept, minlength=len(labels)), np.bincount(kept, weights=sd[defined], minlength=len(labels))
    name = statistic_name("mean_sd_by_group", ddof=1)
    means = [Estimate(name, float(total[k] / n[k]), n=int(n[k]), condition=str(labels[k])) for k in np.flatnonzero(n)]
    return tuple(sorted(means, key=lambda mean: (-mean.value, mean.condition)))


def condition_means(ratings: Ratings, conditions: Mapping[str, str]) -> tuple[Estimate | Undefined, ...]:
    """Return the mean and the SD (n − 1) of all ratings in each condition that has some, every trial counted once.

    *conditions* maps item ids to their condition. *Source:* SAW-C §3.5. Conditions come in code point order. With fewer
    than two ratings, a condition has neither, and has the reason.

    Errors: :class:`InputError` naming an item without a condition.

    >>> ratings = Ratings.from_arrays(["a", "b", "a"], ["i", "i", "j"], [5, 4, 1])
    >>> few, _, mean, _ = condition_means(ratings, {"i": "same", "j": "different"})
    >>> few.reason, mean.condition, mean.value
    ("condition 'different' has 1 ratings; an SD needs at least 2", 'same', 4.5)
    """
    labels, of_item = np.unique(ratings.item_labels(conditions), return_inverse=True)
    of_rating = of_item.reshape(-1)[ratings.item]
    names = [statistic_name(f"condition_{kind}", over="trials") for kind in ("mean", "sd")]
    means: list[Estimate | Undefined] = []
    for code in np.unique(of_rating):
        values, condition = ratings.value[of_rating == code], str(labels[code])
        if len(values) < 2:
            reason = f"condition {condition!r} has {len(values)} ratings; an SD needs at least 2"
            means += [Undefined(name, reason, len(values), condition=condition) for name in names]
            continue
        numbers = (float(values.sum() / len(values)), float(values.std(ddof=1)))
        means += [
            Estimate(name, value, n=len(values), condition=condition)
            for name, value in zip(names, numbers, strict=True)
        ]
    return tuple(means)


def _medians(ratings: Ratings) -> FloatArray:
    """The middle rating of each item, or the mean of the two middle ones."""
    n = ratings.counts()
    in_order = ratings.value[np.lexsort((ratings.value, ratings.item))]
    start = np.cumsum(n) - n
    medians = np.full(ratings.n_items, np.nan)
    rated = n > 0
    # for an odd n both are the middle rating
    low, high = start[rated] + (n[rated] - 1) // 2, start[rated] + n[rated] // 2
    medians[rated] = (in_order[low] + in_order[high]) / 2
    return medians


def _point_counts(ratings: Ratings, points: Sequence[float] | None) -> tuple[tuple[float, ...], IntArray]:
    if points is None:
        points = np.unique(ratings.value).tolist() if ratings.is_integer else ()
        if not points:
            return (), np.zeros((ratings.n_items, 0), dtype=np.int64)
    scale = np.array(sorted(points), dtype=np.float64)
    place = np.clip(np.searchsorted(scale, ratings.value), 0, len(scale) - 1)
    off = np.flatnonzero(scale[place] != ratings.value)
    if len(off):
        item = ratings.item_ids[ratings.item[off[0]]]
        raise InputError(f"rating {ratings.value[off[0]]:g} is not a point of the scale", place=Place(item_id=item))
    flat = np.bincount(ratings.item * len(scale) + place, minlength=ratings.n_items * len(scale))
    return tuple(scale.tolist()), flat.reshape(ratings.n_items, len(scale)).astype(np.int64)


# -- what goes with the ratings of items -----------------------------------------------------------------------------


def correlations_with_counts(
    counts: Mapping[str, Mapping[str, float | None]],
    ratings: Ratings,
    *,
    name: str = "count_rho",
    groups: Mapping[str, str],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the correlations of counts of items (of their sense in a corpus) with means and SDs of their ratings.

    *counts* are those of each source by item id; items with ``None`` (not known) are excluded. A source
    with a name is a parameter of the statistic. Spearman's correlation, with the p of independent items, which is also
    given as a separate number for the means; *groups* (item id → word) are resampled whole for the interval. SDs that
    differ in their last bit are equal: ranks would distinguish them. *Source:* AmbiStory §4.2.

    >>> people = Ratings.from_arrays(list("ab") * 4, list("iijjkkll"), [1, 1, 2, 3, 4, 3, 5, 5])
    >>> counts, words = {"": dict(zip("ijkl", (0, 1, 2, 9)))}, dict(zip("ijkl", "vwxy"))
    >>> found = correlations_with_counts(counts, people, groups=words)
    >>> found[0].name, round(found[0].value, 9)
    ('count_rho(with=mean)', 1.0)
    """
    sides = {"mean": ratings.means(), "sd": settle(item_sd(ratings), ratings.value)}
    results, values_of_p = list[Estimate | Undefined](), list[Estimate]()
    for what, y in sides.items():
        for source, by_item in counts.items():
            given = {"with": what, **({"counts": source} if source else {})}
            own, counted = statistic_name(name, **given), [by_item[item] for item in ratings.item_ids]
            known = [place for place, count in enumerate(counted) if count is not None]
            x = [count for count in counted if count is not None]
            labels = GroupLabels((groups[ratings.item_ids[place]] for place in known), resampled_units(groups))
            try:
                rho = spearman(x, y[known], groups=labels, level=level, resamples=resamples, seed=seed)
                p = correlation_p(rho.value, rho.n)
            except StatisticError as error:
                results.append(Undefined(own, error.what, len(x)))
                continue
            results.append(rho.about(name=own, p=p))
            values_of_p += [Estimate(statistic_name(name, **given, value="p"), p, n=rho.n)] if what == "mean" else []
    return (*results, *values_of_p)
