"""Human ceilings: how well people predict people. Each definition has its own name; they are never mixed in one column.

A model is often said to be "at human level". Which human level? On the same ratings these functions give different
numbers, because they answer different questions: one rater against the others (``leave_one_out_rho`` and its squares),
the luckiest rater of each group (``best_rater``), the group as a whole (``majority_accuracy``), or one half of the
group against the other (``split_half``).

AmbiStory's "human upper bound" takes, in each small group, the rater who agrees best with the others on the few items
of the test split: the highest of five noisy numbers. It is not a ceiling for a model. ``single_rater`` gives what one
rater reaches, ``shuffled_best_raters`` what the same recipe gives where raters are shuffled within items, so that no
rater is better than another. *Source:* AmbiStory §5.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import mode

import numpy as np

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.agreement.choices import majority
from lexiscope.analysis.agreement.raters import RaterAgreement, leave_one_out, mean_of_others
from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    IntArray,
    group_sums,
    mean_interval,
    resampled_units,
)
from lexiscope.analysis.correlation import correlation_value, spread_within
from lexiscope.analysis.jackknife import LeftOut, jackknife_interval, left_out_groups, no_jackknife
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, parse_statistic, statistic_name

# from this mean correlation of halves down, the corrected reliability would be -1 or below
_LOWEST = -1 / 3


_COUNTED = {
    "best_rater_correlation": "groups of raters",
    "best_rater_accuracy_within_sd": "groups of raters",
    "shuffled_best_rater": "groups of raters",
    "reliability_of_means": "items",
    "majority_accuracy": "items",
    "split_half_reliability": "items",
}


def counted_in(ceiling: str) -> str:
    """Return what the n of a ceiling counts, by its name.

    >>> counted_in("split_half_reliability(splits=200)"), counted_in("mean_rater_correlation(variant=included)")
    ('items', 'raters')
    """
    return _COUNTED.get(parse_statistic(ceiling)[0], "raters")


def agreement_ceilings(agreement: RaterAgreement) -> tuple[Estimate | Undefined, ...]:
    """Return the ceilings that follow from the agreement of single raters, or why one of them has no value.

    These are the mean correlation, the square of the mean, and the mean of the squares, each under its own name. The
    note of a ceiling is its definition, here as elsewhere.
    """
    squares = {
        "squared_mean_rater_correlation": partial(squared_mean_rho, agreement),
        "mean_squared_rater_correlation": partial(mean_squared_rho, agreement),
    }
    ceilings: list[Estimate | Undefined] = [leave_one_out_rho(agreement)]
    for base, make in squares.items():
        try:
            ceilings.append(make())
        except StatisticError as error:
            name = statistic_name(base, variant=agreement.variant, method=agreement.method)
            ceilings.append(Undefined(name, error.what, agreement.n_raters))
    return tuple(ceilings)


def leave_one_out_rho(agreement: RaterAgreement) -> Estimate:
    """Return the mean over raters of their correlation with the group. *Higher means:* raters agree more.

    *Source:* SAW-C Figure 4. Which group (without or with the rater) is the agreement's variant; the name shows it.
    """
    name = statistic_name("mean_rater_correlation", variant=agreement.variant, method=agreement.method)
    definition = "mean over raters of the correlation of a rater with the mean of " + _group_of(agreement)
    return Estimate(name, agreement.mean, agreement.interval, agreement.n_raters, note=definition)


def squared_mean_rho(agreement: RaterAgreement) -> Estimate:
    """Return the square of the mean correlation: the line drawn in SAW-C Figure 6 as the human R².

    *Unit:* share of variance. *Source:* SAW-C §5.2. It is below :func:`mean_squared_rho` wherever raters differ.

    Errors: :class:`StatisticError` where the mean correlation is negative: its square would pass for agreement.
    """
    _refuse_negative(agreement)
    name = statistic_name("squared_mean_rater_correlation", variant=agreement.variant, method=agreement.method)
    definition = "square of the mean over raters of the correlation of a rater with the mean of " + _group_of(agreement)
    # an interval that spans 0 has squares from 0
    ends = sorted((agreement.interval.low**2, agreement.interval.high**2))
    low = 0.0 if agreement.interval.low < 0 < agreement.interval.high else ends[0]
    interval = replace(agreement.interval, low=low, high=ends[1])
    return Estimate(name, agreement.mean**2, interval, agreement.n_raters, note=definition)


def mean_squared_rho(agreement: RaterAgreement, *, level: float = 0.95) -> Estimate:
    """Return the mean over raters of the squared correlation: what one rater explains of the group's means, on average.

    *Unit:* share of variance. Its interval is a jackknife over raters, as that of the agreement. Where single raters
    correlate negatively, the definition says how many: their squares count as if they agreed.

    Errors: :class:`StatisticError` where the mean correlation is negative.
    """
    _refuse_negative(agreement)
    name = statistic_name("mean_squared_rater_correlation", variant=agreement.variant, method=agreement.method)
    squares = agreement.values**2
    definition = "mean over raters of the squared correlation of a rater with the mean of " + _group_of(agreement)
    negative = int((agreement.values < 0).sum())
    if negative:
        definition += f" ({negative} of {agreement.n_raters} correlations are negative and count by their squares)"
    value = float(squares.mean())
    if agreement.left_out_squares.n:
        interval = jackknife_interval(
            value, agreement.left_out_squares, resampled="raters", scale="root_fisher_z", level=level
        )
    else:
        interval = no_jackknife("no resamples were asked for", resampled="raters", scale="root_fisher_z", level=level)
    return Estimate(name, value, interval, agreement.n_raters, note=definition)


def best_rater(
    agreement: RaterAgreement,
    groups: Mapping[str, str],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the correlation of the best rater of each group, averaged over groups; *groups*: rater id → group.

    This picks the maximum of several noisy numbers, so it overstates what a person can do, the more so the fewer the
    items of a group. *Source:* AmbiStory §5.1 (human upper bound). A group in which no one has a value is excluded from
    ``n``. The interval resamples groups.

    Errors: :class:`InputError` for a rater without a group.
    """
    best = best_of_groups(agreement.rater_ids, agreement.values, groups)
    name = statistic_name("best_rater_correlation", variant=agreement.variant, method=agreement.method)
    definition = "mean over groups of the highest correlation of one of its raters with the mean of "
    interval = mean_interval(best, level=level, resamples=resamples, seed=seed, resampled="groups", within=(-1.0, 1.0))
    return Estimate(name, float(best.mean()), interval, len(best), note=definition + _group_of(agreement))


def best_of_groups(rater_ids: Sequence[str], values: FloatArray, groups: Mapping[str, str]) -> FloatArray:
    """Return the highest value of a rater in each group that has one, groups in code point order. *Shape:* (groups,).

    Errors: :class:`InputError` for a rater without a group.

    >>> best_of_groups(["a", "b", "c"], np.array([0.1, 0.4, 0.2]), {"a": "x", "b": "x", "c": "y"}).tolist()
    [0.4, 0.2]
    """
    missing = [rater for rater in rater_ids if rater not in groups]
    if missing:
        raise InputError(f"{len(missing)} raters have no group, first {missing[0]!r}")
    labels, code = np.unique([groups[rater] for rater in rater_ids], return_inverse=True)
    best = np.full(len(labels), -np.inf)
    # unlike fancy assignment, this keeps the maximum where a group occurs many times
    np.maximum.at(best, code.reshape(-1), values)
    return best


def reliability_of_means(alpha: Estimate, n_ratings: float) -> Estimate:
    """Return the reliability of the mean of *n_ratings* ratings: alpha, corrected for length by Spearman and Brown.

    Its square root is the highest correlation that a predictor of the true score could reach with such means.
    *Source:* AmbiStory: .5061 with five ratings makes .837. The interval is alpha's, corrected alike, at least −1.
    Errors: as :func:`spearman_brown`.
    """
    interval = alpha.interval
    if interval.is_defined:
        # from this alpha down the corrected value would be below -1, as in split_half
        lowest = -1 / (2 * n_ratings - 1)
        bounds = (max(interval.low, lowest), max(interval.high, lowest))
        low, high = (spearman_brown(bound, factor=n_ratings) for bound in bounds)
        interval = replace(interval, low=low, high=high)
    name = statistic_name("reliability_of_means", of=alpha.name, ratings=f"{n_ratings:g}", spearman_brown="of_value")
    definition = f"reliability of the mean of {n_ratings:g} ratings, by Spearman-Brown from {alpha.name}"
    value = spearman_brown(alpha.value, factor=n_ratings)
    return Estimate(name, value, interval, alpha.n, note=definition)


def majority_accuracy(choices: Ratings, gold: Mapping[str, float], *, level: float = 0.95) -> Estimate:
    """Return the share of items whose most frequent choice is the gold answer; a tie is not a majority and is wrong.

    *Unit:* share, 0 to 1. *gold*: item id → value. Items that no one answered are not counted. Wilson's interval.

    Errors: :class:`InputError` for an item without a gold answer; :class:`StatisticError` without answered items.
    """
    missing = [item for item in choices.item_ids if item not in gold]
    if missing:
        raise InputError(f"{len(missing)} items have no gold answer, first {missing[0]!r}")
    voted = majority(choices)
    answered = voted.n > 0
    if not answered.any():
        raise StatisticError("no item was answered, so the majority has no accuracy")
    right = int((voted.value == np.array([gold[item] for item in choices.item_ids]))[answered].sum())
    n = int(answered.sum())
    definition = "share of items whose most frequent choice is the gold answer, ties counted as wrong"
    return Estimate("majority_accuracy", right / n, wilson_interval(right, n, level=level), n, note=definition)


def split_half(
    ratings: Ratings,
    *,
    splits: int = 200,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the split-half reliability of the item means, corrected for length by Spearman and Brown.

    Raters are split at random into halves of equal size, ``splits`` times; each item needs a rating in both halves, or
    is excluded from that split. With r̄ the mean over splits of Pearson's r between the halves' means, reliability is
    2 r̄ / (1 + r̄): the mean is corrected once. The correction falls without bound as r nears −1, so the mean of
    corrected values would follow the few splits with the lowest r. The interval is a jackknife of r̄ over items, or
    ``groups`` of items (item id → word), on Fisher's z, its ends corrected alike; an end below −1/3 counts as −1, the
    lowest value there is. ``resamples`` is the most items that are excluded one by one, 0 for no interval. *Higher
    means:* norms replicate better. *Source:* the correction is that of Spearman 1910 and Brown 1910.

    Errors: :class:`StatisticError` with fewer than 4 raters, if a half has no variation, or with r̄ below −1/3,
    where the corrected value would be below −1.

    >>> values = [1, 2, 3, 4, 1, 2, 4, 3, 1, 2, 4, 3, 1, 2, 3, 4]  # four raters of four items: a and d agree, b and c
    >>> ratings = Ratings.from_arrays(np.repeat(list("abcd"), 4), np.tile(list("ijkl"), 4), values)
    >>> round(split_half(ratings, splits=1, seed=2, resamples=0).value, 6)  # a d against b c: 2 * .8 / (1 + .8)
    0.888889
    """
    if len(np.unique(ratings.rater)) < 4 or splits < 1:
        raise StatisticError("split-half reliability needs at least 4 raters and 1 split")
    first, second, given = _halves(ratings.without_unit(), splits, seed)
    moments = _moments(first, second, given)
    mean_r = float(_row_means(_correlations([np.ones((1, len(part))) @ part for part in moments]))[0])
    if np.isnan(mean_r):
        raise StatisticError("split-half reliability is undefined: no split has 3 items that vary in both halves")
    value = spearman_brown(mean_r)
    interval = _over_items(ratings, mean_r, moments, groups, level=level, resamples=resamples, seed=seed)
    name = statistic_name("split_half_reliability", spearman_brown="of_mean", splits=splits)
    definition = (
        "correlation of the item means of two random halves of the raters, its mean over splits corrected once by "
        "Spearman-Brown"
    )
    return Estimate(name, value, interval, ratings.n_items, note=definition)


def spearman_brown(r: float, *, factor: float = 2.0) -> float:
    """Return the reliability of a test *factor* times as long. *Source:* Spearman 1910, Brown 1910.

    Errors: :class:`StatisticError` where *r* is not a correlation, *factor* is not positive, or the corrected value
    would be below −1: for twice the length, with r below −1/3; at r = −1 it has no value at all.

    >>> spearman_brown(0.5)  # 2 * .5 / (1 + .5)
    0.6666666666666666
    >>> spearman_brown(-0.25)  # 2 * -.25 / (1 - .25)
    -0.6666666666666666
    """
    if not -1 <= r <= 1 or factor <= 0:
        raise StatisticError(f"the Spearman-Brown correction needs −1 <= r <= 1 and a length, not {r:g} and {factor:g}")
    scale = 1 + (factor - 1) * r
    # without a division: for a scale near 0 the quotient has no digits
    if factor * r < -scale:
        raise StatisticError(
            f"reliability is undefined: a correlation of {r:.4f}, corrected for {factor:g} times the "
            "length by Spearman-Brown, would be below −1",
            hint="check for raters that used the scale in reverse",
        )
    return factor * r / scale


def _refuse_negative(agreement: RaterAgreement) -> None:
    if agreement.mean < 0:
        raise StatisticError(
            f"the mean correlation of raters is negative ({agreement.mean:.4f}): its square would pass for agreement",
            hint="use the mean correlation, which keeps its sign",
        )


def _group_of(agreement: RaterAgreement) -> str:
    return "the other raters" if agreement.variant == "leave_one_out" else "all raters, the rater included"


def _halves(ratings: Ratings, splits: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Item means in each half, and 1 where both halves have one. *Shape:* (items, splits) each."""
    generator = np.random.default_rng(seed)
    first, second, given = (np.zeros((ratings.n_items, splits)) for _ in range(3))
    for split in range(splits):
        # every other rater of a random order: halves differ by one rater at most
        in_first = (generator.permutation(ratings.n_raters) % 2 == 0)[ratings.rater]
        a, b = _means(ratings, in_first), _means(ratings, ~in_first)
        both = ~np.isnan(a) & ~np.isnan(b)
        if not both.any():
            continue
        given[:, split] = both
        # centred, so that sums of squares keep their digits
        first[both, split], second[both, split] = _spread(a[both]), _spread(b[both])
    return first, second, given


def _spread(values: FloatArray) -> FloatArray:
    """Deviations from the mean, the largest between .5 and 1; zeros where all values are one."""
    return spread_within(values, np.zeros(len(values), dtype=np.int64), 1)


def _means(ratings: Ratings, chosen: BoolArray) -> FloatArray:
    item: IntArray = ratings.item[chosen]
    n = np.bincount(item, minlength=ratings.n_items)
    sums = np.bincount(item, weights=ratings.value[chosen], minlength=ratings.n_items)
    return np.asarray(np.divide(sums, n, out=np.full(ratings.n_items, np.nan), where=n > 0))


def _over_items(
    ratings: Ratings,
    mean_r: float,
    moments: list[FloatArray],
    groups: Mapping[str, str] | None,
    *,
    level: float,
    resamples: int,
    seed: int,
) -> Interval:
    """The interval of the corrected mean of *mean_r* over splits, by leaving out items or groups of items."""
    units = resampled_units(groups)
    # items of one word can be split, but not resampled
    labels = np.arange(ratings.n_items) if groups is None or not resamples else ratings.item_labels(groups)
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    n_units = int(codes.max()) + 1
    reason = "no resamples were asked for" if not resamples else f"one of the {units} only" if n_units < 2 else ""
    if reason:
        return no_jackknife(reason, resampled=units, scale="fisher_z", level=level)
    group, n_groups = left_out_groups(n_units, resamples=resamples, seed=seed)
    of_item = group[codes].astype(np.int64)
    left = [part.sum(axis=0)[None] - group_sums(part, of_item, n_groups) for part in moments]
    sizes = np.bincount(group, minlength=n_groups).astype(np.float64)
    parts = LeftOut(_row_means(_correlations(left)), sizes)
    interval = jackknife_interval(mean_r, parts, resampled=units, scale="fisher_z", level=level)
    low, high = (max(end, _LOWEST) for end in (interval.low, interval.high))
    return replace(interval, low=2 * low / (1 + low), high=2 * high / (1 + high))


def _moments(a: FloatArray, b: FloatArray, given: FloatArray) -> list[FloatArray]:
    """What the correlation of the halves is a function of, as sums over items. *Shape:* (items, splits) each."""
    return [given, a, b, a * a, b * b, a * b]


def _correlations(sums: list[FloatArray]) -> FloatArray:
    """Correlation of the halves of each split from the sums of :func:`_moments`. *Shape:* (draws, splits), kept."""
    n, sa, sb, saa, sbb, sab = sums
    safe = np.maximum(n, 1)
    cross, aa, bb = sab - sa * sb / safe, saa - sa * sa / safe, sbb - sb * sb / safe
    # two items, or items without variation, have no correlation; the means have no unit
    sound = (n >= 3) & (aa > 1e-12 * safe) & (bb > 1e-12 * safe)
    return np.asarray(np.clip(np.where(sound, cross / np.sqrt(np.where(sound, aa * bb, 1.0)), np.nan), -1, 1))


def _row_means(values: FloatArray) -> FloatArray:
    """Mean of each row's defined values, NaN where there is none."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=1)
    total = np.where(defined, values, 0.0).sum(axis=1)
    return np.asarray(np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0))


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
        raise StatisticError("no item has three ratings, so no rater can be compared with the SD of the others")
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
