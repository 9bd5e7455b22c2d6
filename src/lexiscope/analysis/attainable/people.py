"""What people attain on rated items: one person, the mean of people, and what a flawless predictor would reach.

Ratings vary, so that no predictor correlates 1 with their means. *One person* is a rater against the mean of the
item's other raters. The *mean of people* is what the mean of as many other people would be expected to reach: the
reliability R of the item means. *Attainable* is √R: the correlation of a flawless predictor with these means.

R = 1 − mean(s²ᵢ / kᵢ) / var(ȳᵢ), with kᵢ ratings of item i, of mean ȳᵢ and variance s²ᵢ (n − 1). It is the ratio of two
variances, of Pearson's scale; the correlation of random halves of the ratings of each item, corrected by Spearman and
Brown, says how much that matters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lexiscope.analysis.agreement.ceilings import spearman_brown
from lexiscope.analysis.agreement.raters import leave_one_out, mean_of_others
from lexiscope.analysis.attainable.word_draws import RESAMPLES, WordDraws, word_draws
from lexiscope.analysis.bootstrap import FloatArray, IntArray, percentile_interval
from lexiscope.analysis.correlation import correlation_value, settle_ties, weighted_correlations
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name

Of = Literal["mean", "spread"]
"""What of an item's ratings is predicted: their mean, or their standard deviation."""
SPLITS = 50
_LEAST: Mapping[Of, int] = {"mean": 2, "spread": 4}
"""The fewest ratings per item: two for a variance; four for the standard deviations of two halves."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedItems:
    """Rated items: what of them is predicted, what people attain, and the same in resamples and without each rater.

    ``norm`` is the mean of the ratings of each item, or their standard deviation. ``reliability`` is R in each
    resample of words, ``without`` R without each rater, ``norms_without`` the norm without each rater (NaN where too
    few ratings are left); both are empty where raters are not persons. *Shape:* norm (items,); reliability
    (resamples,); norms_without (raters, items).
    """

    items: tuple[str, ...]
    norm: FloatArray
    draws: WordDraws
    person: Estimate | Undefined
    mean: Estimate | Undefined
    attainable: Estimate | Undefined
    halves: Estimate | Undefined
    reliability: FloatArray
    raters: tuple[str, ...]
    without: FloatArray
    norms_without: FloatArray

    @property
    def ceilings(self) -> Mapping[str, Estimate | Undefined]:
        """The ceilings by the names that a battery gives them."""
        return {"one_person": self.person, "mean_of_people": self.mean, "attainable": self.attainable}

    def ceiling_draws(self, name: str) -> FloatArray:
        """Return a ceiling in each resample; NaN where it has no value. One person is held fixed."""
        if name == "one_person":
            return np.full(len(self.reliability), self.person.value if isinstance(self.person, Estimate) else np.nan)
        return _ceiling(name, self.reliability)

    def ceiling_without(self, name: str) -> FloatArray:
        """Return a ceiling without each rater. *Shape:* (raters,)."""
        if name == "one_person":
            return np.full(len(self.without), self.person.value if isinstance(self.person, Estimate) else np.nan)
        return _ceiling(name, self.without)


def _ceiling(name: str, reliability: FloatArray) -> FloatArray:
    sound = np.where(reliability > 0, reliability, np.nan)
    return np.sqrt(sound) if name == "attainable" else sound


def rated_items(
    ratings: Ratings,
    words: Mapping[str, str],
    *,
    of: Of = "mean",
    persons: bool = True,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RatedItems:
    """Return what people attain on rated items; *words* (item → word) is what is resampled.

    *persons*: each rater is one person. One person is then the mean over raters of their correlation with the mean of
    the others (:func:`~lexiscope.analysis.agreement.raters.leave_one_out`), and everything is computed again without
    each rater. Otherwise the correlation is pooled over all ratings. Items with fewer than two ratings are excluded;
    for the spread, with fewer than four, and its reliability is that of random halves.

    *Unit:* correlation. *Higher means:* people agree more. Errors: :class:`StatisticError` for fewer than 3 such items
    or 2 words; :class:`InputError` for an item without a word.

    >>> values = [1, 2, 4, 5, 2, 2, 5, 4, 1, 3, 4, 4]  # three raters of four items
    >>> ratings = Ratings.from_arrays(np.repeat(list("abc"), 4), np.tile(list("ijkl"), 3), values)
    >>> rated = rated_items(ratings, {"i": "bank", "j": "bank", "k": "bat", "l": "cup"}, resamples=50)
    >>> round(rated.mean.value, 4)  # 1 − (1/3 / 3) / var(4/3, 7/3, 13/3, 13/3) = 1 − (1/9) / (9/4)
    0.9506
    """
    counts = ratings.counts()
    kept = np.flatnonzero(counts >= _LEAST[of])
    if len(kept) < 3:
        raise StatisticError(f"{len(kept)} items have at least {_LEAST[of]} ratings: there is no ceiling")
    own = ratings.of_items([ratings.item_ids[row] for row in kept.tolist()])
    labels = own.item_labels(words)
    draws = word_draws(labels.tolist(), resamples=resamples, seed=seed)
    # about the grand mean, so that squares keep their digits
    centred = own.value - own.value.mean()
    moments = _moments_of(*_item_sums(centred, own.item, own.n_items))
    halves = _halves_reliability(own, draws, of, seed)
    if of == "spread":
        reliability, drawn = halves
        norm = settle_ties(np.sqrt(moments.variance))
    else:
        reliability, drawn = _reliability(moments), _drawn_reliability(moments, draws)
        norm = own.means()
    about = {"n": own.n_items, "n_groups": draws.n_words}
    params = {"of": "item_means" if of == "mean" else "item_spread"}
    mean, attainable = (
        _estimate(name, params, value, values, level, about)
        for name, value, values in (
            ("reliability", reliability, drawn),
            (
                "attainable_correlation",
                math.sqrt(reliability) if reliability > 0 else math.nan,
                np.sqrt(np.where(drawn > 0, drawn, np.nan)),
            ),
        )
    )
    split = _estimate("reliability", params | {"by": "halves"}, *halves, level, about)
    without, norms_without, raters = np.empty(0), np.empty((0, 0)), tuple[str, ...]()
    if persons and of == "mean":
        without, norms_without = _without_each_rater(own)
        raters = own.rater_ids
    person = _one_person(own, draws, of, persons=persons, level=level, resamples=resamples, seed=seed)
    return RatedItems(
        own.item_ids, norm, draws, person, mean, attainable, split, drawn, raters, without, norms_without
    )  # fmt: skip


def _estimate(
    name: str, params: Mapping[str, str], value: float, drawn: FloatArray, level: float, about: Mapping[str, int]
) -> Estimate | Undefined:
    printed = statistic_name(name, **params)
    if not value > 0:
        return Undefined(printed, "an item's ratings vary as much as those of different items", about["n"])
    interval = percentile_interval(
        drawn, level=level, resampled="words", n_groups=about["n_groups"], within=(-1.0, 1.0)
    )
    return Estimate(printed, value, interval, about["n"], about["n_groups"])


# -- reliability of item means --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """Ratings by item: how many, their mean and variance (n − 1). *Shape:* (items,) each."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray


def _item_sums(values: FloatArray, item: IntArray, n_items: int) -> list[FloatArray]:
    """How many values each item has, their sum, and the sum of their squares. *Shape:* (items,) each."""
    parts = (np.ones_like(values), values, values * values)
    return [np.asarray(np.bincount(item, weights=part, minlength=n_items), dtype=np.float64) for part in parts]


def _moments_of(n: FloatArray, s: FloatArray, ss: FloatArray) -> _Moments:
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = s / n
        variance = np.maximum(ss - s * mean, 0.0) / (n - 1)
    return _Moments(n, mean, variance)


def _reliability(moments: _Moments) -> float:
    noise = float((moments.variance / moments.n).mean())
    spread = float(moments.mean.var(ddof=1))
    return 1 - noise / spread if spread > 0 else math.nan


def _drawn_reliability(moments: _Moments, draws: WordDraws) -> FloatArray:
    parts = np.column_stack([np.ones_like(moments.n), moments.variance / moments.n, moments.mean, moments.mean**2])
    n, noise, s, ss = draws.sums(parts).T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (ss - s * s / n) / (n - 1)
        return np.asarray(np.where((n > 2) & (spread > 0), 1 - noise / n / spread, np.nan))


def _without_each_rater(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """R, and the item means, without each rater; items that keep fewer than two ratings are excluded."""
    centre = float(ratings.value.mean())
    values = ratings.value - centre
    sums = _item_sums(values, ratings.item, ratings.n_items)
    without = np.full(ratings.n_raters, np.nan)
    norms = np.full((ratings.n_raters, ratings.n_items), np.nan)
    for rater in range(ratings.n_raters):
        own = ratings.rater == rater
        rated, given = ratings.item[own], values[own]
        less = [part.copy() for part in sums]
        for part, gone in zip(less, (np.ones_like(given), given, given * given), strict=True):
            part[rated] -= gone
        kept = less[0] >= _LEAST["mean"]
        if kept.sum() < 3:
            continue
        n, s, ss = (part[kept] for part in less)
        without[rater] = _reliability(_moments_of(n, s, ss))
        norms[rater, kept] = settle_ties(centre + less[1][kept] / less[0][kept])
    return without, norms


# -- random halves --------------------------------------------------------------------------------------------------


def _halves_reliability(ratings: Ratings, draws: WordDraws, of: Of, seed: int) -> tuple[float, FloatArray]:
    """Reliability by random halves of the ratings of each item: mean correlation, corrected once (Spearman–Brown)."""
    first, second = _half_statistics(ratings, of, seed)
    # centred, so that sums of squares keep their digits
    a, b = (part - np.nanmean(part, axis=0) for part in (first, second))
    known = ~np.isnan(a) & ~np.isnan(b)
    a, b = np.where(known, a, 0.0), np.where(known, b, 0.0)
    parts = np.stack([known.astype(np.float64), a, b, a * a, b * b, a * b], axis=1)
    value = float(_corrected(_half_correlations(parts.sum(axis=0)[None]))[0])
    return value, _corrected(_half_correlations(draws.sums(parts)))


def _half_statistics(ratings: Ratings, of: Of, seed: int) -> tuple[FloatArray, FloatArray]:
    generator = np.random.default_rng(seed)
    least = 1 if of == "mean" else 2
    sides = np.full((2, ratings.n_items, SPLITS), np.nan)
    values = ratings.value - ratings.value.mean()
    order_of = np.argsort(ratings.item, kind="stable")
    for split in range(SPLITS):
        # every other rating of an item, in a random order of its ratings
        shuffled = order_of[np.lexsort((generator.random(len(order_of)), ratings.item[order_of]))]
        item = ratings.item[shuffled]
        starts = np.flatnonzero(np.append(True, item[1:] != item[:-1]))
        place = np.arange(len(item)) - np.repeat(starts, np.diff(np.append(starts, len(item))))
        for side in range(2):
            chosen = place % 2 == side
            n, s, ss = _item_sums(values[shuffled][chosen], item[chosen], ratings.n_items)
            moments = _moments_of(n, s, ss)
            column = moments.mean if of == "mean" else np.sqrt(moments.variance)
            sides[side, :, split] = np.where(n >= least, column, np.nan)
    return sides[0], sides[1]


def _half_correlations(sums: FloatArray) -> FloatArray:
    """The mean over splits of the correlation of the halves. *Shape:* sums (draws, 6, splits) → (draws,)."""
    n, sa, sb, saa, sbb, sab = np.moveaxis(sums, 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross, aa, bb = sab - sa * sb / n, saa - sa * sa / n, sbb - sb * sb / n
        r = np.where((n > 2) & (aa > 0) & (bb > 0), cross / np.sqrt(aa * bb), np.nan)
    known = ~np.isnan(r)
    return np.asarray(np.where(known, r, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def _corrected(r: FloatArray) -> FloatArray:
    # below −1/3 the corrected value would be below −1; rounding may leave a correlation a little above 1
    return np.array([spearman_brown(min(max(float(value), -1 / 3), 1.0)) for value in r])


# -- one person -----------------------------------------------------------------------------------------------------


def _one_person(
    ratings: Ratings, draws: WordDraws, of: Of, *, persons: bool, level: float, resamples: int, seed: int
) -> Estimate | Undefined:
    if of == "spread":
        name = statistic_name("one_person", of="item_spread")
        return Undefined(name, "one person gives one rating of an item, which has no spread", ratings.n_items)
    if persons:
        name = statistic_name("one_person", method="spearman", over="raters")
        try:
            agreement = leave_one_out(ratings, level=level, resamples=resamples, seed=seed)
        except StatisticError as error:
            return Undefined(name, error.what, ratings.n_raters)
        return Estimate(name, agreement.mean, agreement.interval, agreement.n_raters)
    name = statistic_name("one_person", method="spearman", over="ratings")
    others, usable = mean_of_others(ratings)
    given, expected = ratings.value[usable], others[usable]
    item: IntArray = ratings.item[usable]
    try:
        value = correlation_value(given, expected, kind="spearman")
    except StatisticError as error:
        return Undefined(name, error.what, len(given))
    # a pooled correlation of many ratings needs no more draws for two digits
    some = draws.first(min(500, len(draws.counts)))
    drawn = weighted_correlations(given[:, None], expected, some.codes[item], some.counts, kind="spearman")[:, 0]
    interval = percentile_interval(drawn, level=level, resampled="words", n_groups=draws.n_words, within=(-1.0, 1.0))
    return Estimate(name, value, interval, len(given), draws.n_words)
