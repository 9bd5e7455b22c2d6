"""Single raters against the others of their group, the best of each group, and how much of that is selection.

The paper's "human upper bound" takes, in each small group, the rater who agrees best with the others on the few items
of the test split: the highest of five noisy numbers. It is not a ceiling for a model. ``single_rater`` gives what one
rater reaches, ``shuffled_best_raters`` what the same recipe gives where raters are shuffled within items, so that no
rater is better than another. *Source:* AmbiStory §5.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from statistics import mode

import numpy as np

from lexiscope.analysis.agreement.ceilings import best_of_groups, best_rater
from lexiscope.analysis.agreement.raters import leave_one_out, mean_of_others
from lexiscope.analysis.bootstrap import BoolArray, FloatArray, mean_interval
from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name

# the paper's recipe counts groups of which two items are in the test split
_FEWEST_ITEMS = 2


def rater_accuracy(ratings: Ratings) -> tuple[tuple[str, ...], FloatArray]:
    """Return how often each rater is within max(1, SD) of the mean of the others (SD of the others, n − 1).

    Items need three raters, so that the others have an SD; raters without such an item are not among the ids.
    *Shape:* (raters,) each. *Unit:* share, 0 to 1. *Higher means:* closer to the others.
    Errors: :class:`StatisticError` where no item has three ratings.

    >>> three = Ratings.from_arrays(list("abcabc"), list("iiijjj"), [1, 2, 2, 5, 1, 1])
    >>> rater_accuracy(three)[1].tolist()  # a: |1 - 2| = 1, |5 - 1| = 4; b: |2 - 1.5| < 1, |1 - 3| < 2.83
    [0.0, 1.0, 1.0]
    """
    right, usable = _within_others(ratings)
    rater = ratings.rater[usable]
    n = np.bincount(rater, minlength=ratings.n_raters).astype(np.float64)
    hits = np.bincount(rater, weights=right[usable].astype(np.float64), minlength=ratings.n_raters)
    seen = n > 0
    return tuple(ratings.rater_ids[code] for code in np.flatnonzero(seen)), hits[seen] / n[seen]


def single_rater(
    ratings: Ratings, *, minimum: int = 3, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[Estimate, ...]:
    """Return how well one rater predicts the others of the same item: the honest figure for a best-rater ceiling.

    These are Spearman's correlation over all ratings at once, the mean over raters of theirs (the interval resamples
    raters) with its SD, and the share of ratings within SD of the others. Raters with fewer than *minimum* items, or a
    constant column, have no separate correlation: with two items it would be −1 or 1.
    *Source:* measured on AmbiStory's test split: .650 pooled, .616 per rater, .698 accuracy.
    Errors: :class:`StatisticError` where fewer than two raters have a correlation, or no item has three ratings.
    """
    agreement = leave_one_out(ratings, minimum=minimum, level=level, resamples=resamples, seed=seed)
    right, compared = _within_others(ratings)
    unitless = ratings.without_unit()
    others, usable = mean_of_others(unitless)
    pooled = correlation_value(unitless.value[usable], others[usable], kind="spearman")
    name, n_ratings, n_raters = "single_rater_rho", int(compared.sum()), agreement.n_raters
    return (
        Estimate(statistic_name(name, over="ratings"), pooled, n=n_ratings),
        Estimate(statistic_name(name, over="raters"), agreement.mean, agreement.interval, n_raters),
        Estimate(f"{name}_sd", agreement.sd, n=n_raters),
        Estimate("single_rater_accuracy_within_sd", float(right[compared].mean()), n=n_ratings),
    )


def best_raters(
    ratings: Ratings, groups: Mapping[str, str], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> tuple[Estimate, Estimate]:
    """Return the mean over groups of the best rater's correlation, and of the best rater's accuracy within SD.

    *groups*: rater id → group. Each metric has its own best rater; constant columns, which have no correlation, are
    ignored. The intervals resample groups.
    Errors: :class:`InputError` for a rater without a group; :class:`StatisticError` as :func:`single_rater`.
    """
    agreement = leave_one_out(ratings, minimum=_FEWEST_ITEMS, resamples=0)
    best = best_of_groups(*rater_accuracy(ratings), groups)
    within_sd = Estimate(
        statistic_name("best_rater_accuracy_within_sd", variant="leave_one_out"),
        float(best.mean()),
        mean_interval(best, level=level, resamples=resamples, seed=seed, resampled="groups", within=(-1.0, 1.0)),
        len(best),
        note="mean over groups of the highest share of one rater's ratings within SD of the other raters",
    )
    return best_rater(agreement, groups, level=level, resamples=resamples, seed=seed), within_sd


def shuffled_best_raters(
    ratings: Ratings, groups: Mapping[str, str], *, shuffles: int = 100, seed: int = 0
) -> tuple[Estimate, Estimate]:
    """Return what the recipe of :func:`best_raters` gives where the ratings of each item change raters at random.

    That is the part of the ceiling that is selection: no rater is better than another here. Both are means over
    shuffles; their notes give the SD over shuffles.
    *Source:* measured on AmbiStory's test split: .825 ± .008 and .882 ± .007, against .8341 and .8920 unshuffled.
    Errors: as :func:`best_raters`; :class:`StatisticError` with fewer than two shuffles.
    """
    if shuffles < 2:
        raise StatisticError("a control by shuffling needs at least two shuffles")
    generator = np.random.default_rng(seed)
    means, n_groups = np.empty((shuffles, 2)), 0
    for number in range(shuffles):
        mixed = _shuffle_ratings(ratings, generator)
        agreement = leave_one_out(mixed, minimum=_FEWEST_ITEMS, resamples=0)
        best = best_of_groups(agreement.rater_ids, agreement.values, groups)
        means[number] = best.mean(), best_of_groups(*rater_accuracy(mixed), groups).mean()
        n_groups = len(best)
    control = "the same recipe with ratings shuffled among the raters of each sample: what selection alone gives"
    correlation, within_sd = (
        Estimate(
            statistic_name("shuffled_best_rater", metric=metric, shuffles=shuffles),
            mean,
            n=n_groups,
            note=f"{control} (SD over shuffles {sd:.4f})",
        )
        for metric, mean, sd in zip(
            ("spearman", "accuracy_within_sd"), means.mean(axis=0).tolist(), means.std(axis=0, ddof=1), strict=True
        )
    )
    return correlation, within_sd


def rater_groups(ratings: Ratings, groups: Mapping[str, str]) -> tuple[Estimate, ...]:
    """Return how items were shared out among groups of raters: groups, items of a group, ratings per item.

    *groups*: rater id → group. The usual number of items of a group is the most frequent one, of several the smallest.

    >>> shared = Ratings.from_arrays(list("abac"), list("iijk"), [1, 2, 3, 4])
    >>> [(result.name, result.value) for result in rater_groups(shared, {"a": "1", "b": "1", "c": "2"})][:2]
    [('n_rater_groups', 2), ('samples_per_group(summary=min)', 1)]
    """
    rated = zip(ratings.item.tolist(), ratings.rater.tolist(), strict=True)
    group_of_rater = [groups[rater] for rater in ratings.rater_ids]
    sizes = sorted(Counter(group for group, _ in {(group_of_rater[rater], item) for item, rater in rated}).values())
    n_ratings = ratings.counts()
    numbers = {
        "n_rater_groups": len(sizes),
        "samples_per_group(summary=min)": sizes[0],
        "samples_per_group(summary=mode)": mode(sizes),
        "samples_per_group(summary=max)": sizes[-1],
        "ratings_per_item(summary=min)": int(n_ratings.min()),
        "ratings_per_item(summary=max)": int(n_ratings.max()),
    }
    return tuple(Estimate(name, value) for name, value in numbers.items())


def _within_others(ratings: Ratings) -> tuple[BoolArray, BoolArray]:
    """Whether each rating is within SD of the others, and whether they are two or more. *Shape:* (ratings,) each."""
    n = ratings.counts()[ratings.item]
    usable = n >= 3
    if not usable.any():
        raise StatisticError("no item has three ratings, so no one can be compared with the SD of the others")
    means, sds = ratings.means()[ratings.item], item_sd(ratings)[ratings.item]
    # leaving one of n values out of mean and variance; centred, so that no digits cancel
    away = ratings.value - means
    others = np.divide(-away, n - 1, out=np.zeros(len(n)), where=usable)
    squares = np.where(usable, sds**2 * (n - 1), 0.0) - np.where(usable, away**2 * n / np.maximum(n - 1, 1), 0.0)
    sd = np.sqrt(np.divide(np.maximum(squares, 0.0), n - 2, out=np.zeros(len(n)), where=usable))
    return is_within_sd(away, others, sd), usable


def _shuffle_ratings(ratings: Ratings, generator: np.random.Generator) -> Ratings:
    slots = np.argsort(ratings.item, kind="stable")
    drawn = np.lexsort((generator.random(len(ratings)), ratings.item))
    value = np.empty_like(ratings.value)
    value[slots] = ratings.value[drawn]
    return replace(ratings, value=value)
