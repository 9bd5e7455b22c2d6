"""Single raters against the others of their group, the best of each group, and how much of that is selection.

The paper's "human upper bound" takes, in each small group, the rater who agrees best with the others on the few items
of the test split: the highest of five noisy numbers. It is no ceiling for a model. Beside it stand what one rater
reaches (``single_rater``), and what the same recipe gives where raters are shuffled within items, so that no rater is
better than another (``shuffled_best_raters``). *Source:* AmbiStory §5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lexiscope.analysis.agreement.ceilings import Ceiling, best_of_groups, best_rater
from lexiscope.analysis.agreement.raters import RaterAgreement, leave_one_out
from lexiscope.analysis.bootstrap import BoolArray, FloatArray, mean_interval
from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

# the paper's recipe counts groups of which two items are in the test split
_FEWEST_ITEMS = 2


@dataclass(frozen=True, slots=True, eq=False)
class RaterAccuracy:
    """Each rater's accuracy within SD of the others. *Shape:* values, n_items (raters,).

    ``pooled`` counts every rating once. Items need three raters, so that the others have an SD.
    """

    rater_ids: tuple[str, ...]
    values: FloatArray
    n_items: FloatArray
    pooled: float
    n_ratings: int


@dataclass(frozen=True, slots=True)
class SingleRater:
    """One rater against the others of the same item.

    ``rho_pooled`` is Spearman's correlation over all ratings at once, ``mean_rho`` the mean over raters of theirs (with
    ``sd``, ``lowest``, ``highest``), ``accuracy`` the share of ratings within SD of the others. ``interval`` is that of
    ``mean_rho``, raters resampled. ``n_undefined`` raters have no correlation of their own, and count in the others.
    """

    rho_pooled: float
    mean_rho: float
    sd: float
    lowest: float
    highest: float
    interval: Interval
    accuracy: float
    n_raters: int
    n_undefined: int
    n_ratings: int

    def results(self) -> tuple[Estimate, ...]:
        """Return both correlations, the second with its SD over raters, and the accuracy."""
        name = "single_rater_rho"
        return (
            Estimate(statistic_name(name, over="ratings"), self.rho_pooled, n=self.n_ratings),
            Estimate(statistic_name(name, over="raters"), self.mean_rho, self.interval, self.n_raters),
            Estimate(f"{name}_sd", self.sd, n=self.n_raters),
            Estimate("single_rater_accuracy_within_sd", self.accuracy, n=self.n_ratings),
        )


@dataclass(frozen=True, slots=True)
class BestRaters:
    """The best rater of each group, chosen apart for each metric, averaged over groups."""

    spearman: Ceiling
    accuracy: Ceiling
    n_constant: int


@dataclass(frozen=True, slots=True)
class ShuffledBestRaters:
    """What :func:`best_raters` gives where ratings are shuffled among the raters of an item: mean and SD over shuffles.

    The part of the ceiling that is selection: nobody is better than anybody else here.
    """

    spearman: float
    spearman_sd: float
    accuracy: float
    accuracy_sd: float
    n_groups: int
    shuffles: int
    seed: int

    def results(self) -> tuple[Estimate, ...]:
        """Return both means over groups of raters; the SDs over shuffles are in their notes."""
        control = "the same recipe with ratings shuffled among the raters of each sample: what selection alone gives"
        ceilings = (
            ("spearman", self.spearman, self.spearman_sd),
            ("accuracy_within_sd", self.accuracy, self.accuracy_sd),
        )
        return tuple(
            Estimate(
                statistic_name("shuffled_best_rater", metric=metric, shuffles=self.shuffles),
                mean,
                n=self.n_groups,
                note=f"{control} (SD over shuffles {spread:.4f})",
            )
            for metric, mean, spread in ceilings
        )


def rater_accuracy(ratings: Ratings) -> RaterAccuracy:
    """Return how often each rater lies within max(1, SD) of the mean of the others (SD of the others, n − 1).

    *Unit:* share, 0 to 1. *Higher means:* closer to the others.
    Errors: :class:`StatisticError` where no item has three ratings.

    >>> three = Ratings.from_arrays(list("abcabc"), list("iiijjj"), [1, 2, 2, 5, 1, 1])
    >>> rater_accuracy(three).values.tolist()  # a: |1 - 2| = 1, |5 - 1| = 4; b: |2 - 1.5| < 1, |1 - 3| < 2.83
    [0.0, 1.0, 1.0]
    """
    right, usable = _within_others(ratings)
    if not usable.any():
        raise StatisticError("no item has three ratings, so nobody can be compared with the SD of the others")
    rater = ratings.rater[usable]
    n = np.bincount(rater, minlength=ratings.n_raters).astype(np.float64)
    hits = np.bincount(rater, weights=right[usable].astype(np.float64), minlength=ratings.n_raters)
    seen = n > 0
    ids = tuple(ratings.rater_ids[code] for code in np.flatnonzero(seen))
    return RaterAccuracy(ids, hits[seen] / n[seen], n[seen], float(right[usable].mean()), int(usable.sum()))


def single_rater(
    ratings: Ratings, *, minimum: int = 3, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> SingleRater:
    """Return how well one rater predicts the others: the honest figure beside a best-rater ceiling.

    Raters with fewer than *minimum* items, or a constant column, have no correlation of their own: of two items it
    would be −1 or 1. *Source:* measured on AmbiStory's test split: .650 pooled, .616 per rater, .698 accuracy.
    Errors: :class:`StatisticError` where fewer than two raters have a correlation, or no item has three ratings.
    """
    each = leave_one_out(ratings, minimum=minimum, level=level, resamples=resamples, seed=seed)
    close = rater_accuracy(ratings)
    unitless = ratings.without_unit()
    others, usable = _mean_of_others(unitless)
    return SingleRater(
        rho_pooled=correlation_value(unitless.value[usable], others[usable], kind="spearman"),
        mean_rho=each.mean,
        sd=each.sd,
        lowest=each.minimum,
        highest=each.maximum,
        interval=each.interval,
        accuracy=close.pooled,
        n_raters=each.n_raters,
        n_undefined=len(each.undefined),
        n_ratings=close.n_ratings,
    )


def best_raters(
    ratings: Ratings, groups: Mapping[str, str], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> BestRaters:
    """Return the mean over groups of the best rater's correlation, and of the best rater's accuracy within SD.

    *groups*: rater id → group. Each metric has its own best rater; constant columns, which have no correlation, are
    ignored. The intervals resample groups.
    Errors: :class:`InputError` for a rater without a group; :class:`StatisticError` as :func:`single_rater`.
    """
    each = leave_one_out(ratings, minimum=_FEWEST_ITEMS, resamples=0)
    ranked = best_rater(each, groups, level=level, resamples=resamples, seed=seed)
    close = rater_accuracy(ratings)
    best = best_of_groups(close.rater_ids, close.values, groups)
    ceiling = Ceiling(
        name=statistic_name("best_rater_accuracy_within_sd", variant="leave_one_out"),
        value=float(best.mean()),
        interval=mean_interval(best, level=level, resamples=resamples, seed=seed),
        n=len(best),
        definition="mean over groups of the highest share of one rater's ratings within SD of the other raters",
    )
    return BestRaters(ranked, ceiling, len(each.undefined))


def shuffled_best_raters(
    ratings: Ratings, groups: Mapping[str, str], *, shuffles: int = 100, seed: int = 0
) -> ShuffledBestRaters:
    """Return what the recipe of :func:`best_raters` gives where the ratings of each item change raters at random.

    *Source:* measured on AmbiStory's test split: .825 ± .008 and .882 ± .007, against .8341 and .8920 unshuffled.
    Errors: as :func:`best_raters`; :class:`StatisticError` with fewer than two shuffles.
    """
    if shuffles < 2:
        raise StatisticError("a control by shuffling needs at least two shuffles")
    generator = np.random.default_rng(seed)
    found = np.empty((shuffles, 2))
    n_groups = 0
    for number in range(shuffles):
        mixed = _shuffled(ratings, generator)
        each: RaterAgreement = leave_one_out(mixed, minimum=_FEWEST_ITEMS, resamples=0)
        close = rater_accuracy(mixed)
        best = best_of_groups(each.rater_ids, each.values, groups)
        found[number, 0], n_groups = best.mean(), len(best)
        found[number, 1] = best_of_groups(close.rater_ids, close.values, groups).mean()
    mean, sd = found.mean(axis=0), found.std(axis=0, ddof=1)
    (rho, accuracy), (rho_sd, accuracy_sd) = mean.tolist(), sd.tolist()
    return ShuffledBestRaters(rho, rho_sd, accuracy, accuracy_sd, n_groups, shuffles, seed)


def _mean_of_others(ratings: Ratings) -> tuple[FloatArray, BoolArray]:
    """The mean of the other ratings of the same item, and whether there are any. *Shape:* (ratings,) each."""
    n = ratings.counts()[ratings.item] - 1
    rest = ratings.sums()[ratings.item] - ratings.value
    means = np.divide(rest, n, out=np.full(len(ratings), np.nan), where=n > 0)
    return (means if ratings.is_integer else settle(means, ratings.value)), n > 0


def _within_others(ratings: Ratings) -> tuple[BoolArray, BoolArray]:
    """Whether each rating lies within SD of the others, and whether they are two or more. *Shape:* (ratings,) each."""
    n = ratings.counts()[ratings.item]
    usable = n >= 3
    means, sds = ratings.means()[ratings.item], item_sd(ratings)[ratings.item]
    # leaving one of n values out of mean and variance; centred, so that no digits cancel
    away = ratings.value - means
    others = np.divide(-away, n - 1, out=np.zeros(len(n)), where=usable)
    squares = np.where(usable, sds**2 * (n - 1), 0.0) - np.where(usable, away**2 * n / np.maximum(n - 1, 1), 0.0)
    sd = np.sqrt(np.divide(np.maximum(squares, 0.0), n - 2, out=np.zeros(len(n)), where=usable))
    return is_within_sd(away, others, sd), usable


def _shuffled(ratings: Ratings, generator: np.random.Generator) -> Ratings:
    slots = np.argsort(ratings.item, kind="stable")
    drawn = np.lexsort((generator.random(len(ratings)), ratings.item))
    value = np.empty_like(ratings.value)
    value[slots] = ratings.value[drawn]
    return replace(ratings, value=value)
