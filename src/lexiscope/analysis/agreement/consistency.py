"""Are the norms the same for groups of raters, and does every item have enough ratings?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lexiscope.analysis.bootstrap import BoolArray, FloatArray
from lexiscope.analysis.correlation import Kind, pearson, r_squared, spearman
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, statistic_name

_CORRELATE = {"pearson": pearson, "spearman": spearman, "r_squared": r_squared}


@dataclass(frozen=True, slots=True)
class TopUp:
    """An item that has fewer ratings than the minimum: how many it has, and how many more it needs."""

    item_id: str
    list_id: str
    n: int
    needed: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many valid ratings items have, which are short of the minimum, and how many more raters each list needs.

    ``lists`` gives (list, raters needed) for the lists with a short item: a rater rates every item of a list once, so a
    list needs as many more as its shortest item.
    """

    minimum: int
    n_min: int
    n_mean: float
    n_max: int
    n_items: int
    short: tuple[TopUp, ...]
    lists: tuple[tuple[str, int], ...]

    @property
    def is_complete(self) -> bool:
        """Whether every item has the minimum."""
        return not self.short


def group_consistency(
    ratings: Ratings,
    groups: Mapping[str, str],
    *,
    kind: Kind = "pearson",
    minimum: int = 1,
    words: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Correlate the item means of each two groups of raters (*groups*: rater id → country), named in the condition.

    Items count where both groups have at least ``minimum`` ratings. The interval resamples items, or *words* (item id →
    word). *Higher means:* the groups' norms agree more. *Source:* SAW-C §3.4.

    Errors: :class:`InputError` for a rater without a group; :class:`StatisticError` with one group, or for two groups
    that share fewer than 3 items.
    """
    missing = [rater for rater in ratings.rater_ids if rater not in groups]
    if missing:
        raise InputError(f"{len(missing)} raters have no group, first {missing[0]!r}")
    of_rater = np.array([groups[rater] for rater in ratings.rater_ids], dtype=str)
    labels = sorted(set(of_rater.tolist()))
    if len(labels) < 2:
        raise StatisticError(f"consistency needs two groups of raters, not only {labels}")
    means = {label: _item_means(ratings, of_rater == label, minimum) for label in labels}
    words_of = None if words is None else ratings.item_labels(words)
    results = []
    for first, second in combinations(labels, 2):
        # only items that both groups rated: a mean over different items would compare items, not people
        both = ~np.isnan(means[first]) & ~np.isnan(means[second])
        if both.sum() < 3:
            raise StatisticError(f"{first!r} and {second!r} share {int(both.sum())} items with {minimum} ratings each")
        of_word = None if words_of is None else words_of[both]
        correlation = _CORRELATE[kind](
            means[first][both], means[second][both], groups=of_word, level=level, resamples=resamples, seed=seed
        )
        name = statistic_name("group_consistency", method=kind)
        results.append(correlation.about(name=name, condition=f"{first}–{second}"))
    return tuple(results)


def coverage(ratings: Ratings, *, minimum: int = 10, lists: Mapping[str, str] | None = None) -> Coverage:
    """Count the valid ratings per item and list what has to be topped up; *lists*: item id → list.

    Items that no one rated are known only if *lists* names them. *Source:* SAW-C §3.2 (at least 10 per pair).

    >>> ratings = Ratings.from_arrays(["a", "b", "a"], ["i", "i", "j"], [1, 2, 3])
    >>> found = coverage(ratings, minimum=2, lists={"i": "1", "j": "1"})
    >>> found.n_min, found.n_mean, found.lists
    (1, 1.5, (('1', 1),))
    """
    counts = dict(zip(ratings.item_ids, ratings.counts().tolist(), strict=True))
    # an item that nobody rated is in no rating; the lists know it
    for item in lists or {}:
        counts.setdefault(item, 0)
    if not counts:
        raise StatisticError("there are no items to count ratings of")
    absent = [item for item in counts if lists is not None and item not in lists]
    if absent:
        raise InputError(f"{len(absent)} rated items are in no list, first {absent[0]!r}")
    of_list = lists or {}
    short = tuple(
        TopUp(item, of_list.get(item, ""), n, minimum - n) for item, n in sorted(counts.items()) if n < minimum
    )
    # one more rater of a list adds one rating to each of its items
    needs: dict[str, int] = {}
    for entry in short:
        needs[entry.list_id] = max(needs.get(entry.list_id, 0), entry.needed)
    values = list(counts.values())
    mean = sum(values) / len(values)
    return Coverage(minimum, min(values), mean, max(values), len(values), short, tuple(sorted(needs.items())))


def rating_counts(ratings: Ratings, item_ids: Sequence[str]) -> dict[str, Estimate]:
    """Return how many raters and ratings there are, and the fewest, mean and most of an item, by their labels.

    Items of *item_ids* that no one rated are in no rating, but count.

    >>> counts = rating_counts(Ratings.from_arrays(["a", "b"], ["i", "i"], [1, 2]), ["i", "j"])
    >>> {label: count.value for label, count in counts.items()}["Ratings per pair, fewest"]
    0
    """
    of_item = dict(zip(ratings.item_ids, ratings.counts().tolist(), strict=True))
    n = [of_item.get(item, 0) for item in item_ids]
    summaries = {"fewest": ("min", min(n)), "mean": ("mean", sum(n) / len(n)), "most": ("max", max(n))}
    return {
        "Participants": Estimate("n_participants", len(np.unique(ratings.rater))),
        "Ratings": Estimate("n_trials", len(ratings.value)),
        **{
            f"Ratings per pair, {label}": Estimate(statistic_name("ratings_per_item", summary=summary), value, n=len(n))
            for label, (summary, value) in summaries.items()
        },
    }


def describe_participants(of: Mapping[str, Mapping[str, str]], ages: Sequence[float] = ()) -> dict[str, Estimate]:
    """Return how many participants there are of each country, gender …, and their ages, by their labels.

    *of* is what is known of them: label (``Country``) → participant → value. *Source:* SAW-C §3.2.

    >>> people = describe_participants({"Country": {"a": "MX", "b": "MX"}}, [20, 30])
    >>> [(label, of.name, of.value) for label, of in people.items()][:2]
    [('Country: MX', 'n_participants(by=country)', 2), ('Age, mean', 'age(summary=mean)', 25.0)]
    """
    rows: dict[str, Estimate] = {}
    for label, known in of.items():
        by = label.lower()
        for value, count in sorted(Counter(known.values()).items()):
            number = Estimate(statistic_name("n_participants", by=by), count, condition=f"{by}={value}")
            rows[f"{label}: {value}"] = number
    if len(ages):
        for summary, of_ages in (("mean", np.mean), ("median", np.median), ("min", np.min), ("max", np.max)):
            rows[f"Age, {summary}"] = Estimate(
                statistic_name("age", summary=summary), float(of_ages(np.asarray(ages))), n=len(ages)
            )
    return rows


def _item_means(ratings: Ratings, raters: BoolArray, minimum: int) -> FloatArray:
    """Item means within some raters, NaN where they gave fewer than *minimum* ratings."""
    part = ratings.select(raters[ratings.rater])
    return np.where(part.counts() >= max(1, minimum), part.means(), np.nan)
