"""Number needed to beat: how many people's mean is as close to the mean of other people as a model is.

The mean of k raters of each item is correlated with the mean of its other raters, and the model with the mean of the
*same* others. Both are averaged over random draws of the k. The number needed to beat is the smallest k at which people
reach the model. A model with a number of 1 is not closer than one person is. *Source:* Trott 2024 (Open Mind 8,
Behavior Research Methods 56).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from lexiscope.analysis.agreement.left_out import crossed_interval, ratings_lost_together
from lexiscope.analysis.bootstrap import FloatArray, GroupOf, IntArray, resampled_units
from lexiscope.analysis.norming.centaur import CentaurNorms
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Contrast, Estimate, Interval, Undefined, statistic_name
from lexiscope.core.showing import counted

Method = Literal["spearman", "pearson"]
DRAWS, LEFT_OUT_DRAWS = 100, 10
"""Draws of k raters for the estimates, and for each value with some raters or words excluded."""
SPARED = 0.1
"""This share of the items may have fewer raters than the draws need; they are excluded."""
MOST_PEOPLE = 15
"""The largest k that is tried."""
MOST_LEFT_OUT = 80
"""Largest number of raters, words and groups of ratings that are excluded in turn for an interval."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberNeeded:
    """How close the mean of k people comes to other people, and each model to the same others.

    ``people`` holds an estimate for k = 1, 2, …; ``models`` that of each model with the same others, ``centaurs`` that
    of k people and the model together, ``differences`` people minus model. ``needed`` is the number needed to beat.
    """

    people: tuple[Estimate, ...]
    models: Mapping[str, tuple[Estimate, ...]]
    centaurs: Mapping[str, tuple[Estimate, ...]]
    differences: Mapping[str, tuple[Contrast, ...]]
    needed: Mapping[str, Estimate | Undefined]

    def results(self) -> tuple[Estimate | Undefined | Contrast, ...]:
        """Return every result: the numbers needed first."""
        curves = [result for own in (*self.models.values(), *self.centaurs.values()) for result in own]
        return (*self.needed.values(), *self.people, *curves, *(d for own in self.differences.values() for d in own))


def number_needed_to_beat(
    ratings: Ratings,
    models: Mapping[str, FloatArray],
    *,
    groups: Mapping[str, str] | None = None,
    centaurs: Mapping[str, CentaurNorms] | None = None,
    persons: bool = True,
    method: Method = "spearman",
    draws: int = DRAWS,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    most_left_out: int = MOST_LEFT_OUT,
) -> NumberNeeded:
    """Return the number needed to beat of each model, with the curves of which it is made.

    *models* are the answers by name, higher = higher rating. *Shape of each:* (items,), in the order of
    ``ratings.item_ids``, NaN where there is none. Only items that every model answered count. *groups* is the word of
    each item. *centaurs* combine k people with a model (:func:`~lexiscope.analysis.norming.centaur.centaur_norms`).

    Intervals leave out each rater, each word and the ratings of both (a crossed jackknife), over fewer draws. If it is
    unknown which ratings are of one *person* (``persons=False``), they leave out words only. The
    interval of the number needed is made of those of the differences: from the smallest k at which people may reach the
    model to the smallest at which they are shown to. If no k of the data is shown to, it has no upper end, and its
    note says so.

    Errors: :class:`StatisticError` with fewer than 3 raters of nearly every item.

    >>> rng, true, raters = np.random.default_rng(3), np.arange(200.0), [f"r{i}" for i in range(8)]
    >>> people = Ratings.from_arrays(
    ...     np.repeat(raters, 200), [f"i{i:03}" for i in range(200)] * 8, np.tile(true, 8) + rng.normal(0, 40, 1600)
    ... )  # a rating is off by 40, the mean of three by 23, and the model by 25
    >>> result = number_needed_to_beat(people, {"model": true + rng.normal(0, 25, 200)}, resamples=0)
    >>> result.needed["model"].value
    3.0
    """
    most_draws = max(draws, LEFT_OUT_DRAWS)
    table = _RatingsByItem.of(
        ratings, models, centaurs or {}, groups=groups, draws=most_draws, seed=seed,
        most_left_out=most_left_out if persons else 0,
    )  # fmt: skip
    names = list(models)
    kept = table.ratings
    kept_words = (
        None if groups is None else GroupOf({item: groups[item] for item in kept.item_ids}, resampled_units(groups))
    )
    every = np.ones(len(kept), dtype=np.bool_)
    whole, rough = table.closeness(every, method, draws), table.closeness(every, method, LEFT_OUT_DRAWS)
    memory: dict[bytes, FloatArray] = {}

    def without(codes: IntArray, n_groups: int) -> FloatArray:
        key = codes.tobytes()
        if key not in memory:
            memory[key] = np.array(
                [table.closeness(codes != group, method, LEFT_OUT_DRAWS).ravel() for group in range(n_groups)]
            )
        return memory[key]

    n_words = kept.n_items if kept_words is None else len(set(kept_words.values()))

    def interval(take: Callable[[FloatArray], FloatArray], *, bounded: bool = True) -> Interval:
        def values_without(codes: IntArray, n_groups: int) -> FloatArray:
            parts = without(codes, n_groups).reshape(n_groups, *whole.shape)
            return take(np.moveaxis(parts, 0, -1))

        own = crossed_interval(
            float(take(rough)), kept, values_without, resampled="raters_and_items" if persons else "items",
            groups=kept_words,
            scale="fisher_z" if bounded else "identity", level=level, seed=seed, most=most_left_out,
            resamples=most_left_out if resamples else 0,
        )  # fmt: skip
        return _moved(own, float(take(rough)), float(take(whole)), bounded=bounded)

    def estimate(name: str, row: int, k: int, *, unit: str = "correlation") -> Estimate:
        statistic = statistic_name(name, k=k, method=method)
        bounds = interval(lambda values: values[row, k - 1])
        value = float(whole[row, k - 1])
        return Estimate(statistic, value, bounds, kept.n_items, n_words, unit=unit, higher="closer to other people")

    sizes = range(1, table.most + 1)
    people = tuple(estimate("agreement_of_people", 0, k).about(subject="people") for k in sizes)
    own: dict[str, tuple[Estimate, ...]] = {}
    joined: dict[str, tuple[Estimate, ...]] = {}
    differences: dict[str, tuple[Contrast, ...]] = {}
    needed: dict[str, Estimate | Undefined] = {}
    for index, name in enumerate(names):
        row, with_people = 1 + index, 1 + len(names) + index
        own[name] = tuple(estimate("agreement_with_other_people", row, k).about(subject=name) for k in sizes)
        if name in (centaurs or {}):
            centaur = (estimate("agreement_of_people_with_model", with_people, k) for k in sizes)
            joined[name] = tuple(result.about(subject=name) for result in centaur)
        gaps = [partial(_gap, row=row, k=k) for k in sizes]
        difference = [interval(gap, bounded=False) for gap in gaps]
        differences[name] = tuple(
            Contrast(
                statistic_name("agreement_of_people_minus_model", k=k, method=method), people[k - 1], own[name][k - 1],
                difference[k - 1], kept.n_items, n_words, subject=name, unit="correlation",
                higher="people are closer to other people than the model is",
            )
            for k in sizes
        )  # fmt: skip
        needed[name] = _needed(whole[0] - whole[row], difference, name, method, table, n_words, persons)
    return NumberNeeded(people, own, joined, differences, needed)


def _moved(interval: Interval, rough: float, value: float, *, bounded: bool) -> Interval:
    """The interval of the value of few draws around that of many: as wide, on its scale."""
    if not interval.is_defined:
        return interval
    to, back = (np.arctanh, np.tanh) if bounded else (float, float)
    shift = float(to(value)) - float(to(rough))
    low, high = (float(back(float(to(end)) + shift)) for end in (interval.low, interval.high))
    return replace(interval, low=low, high=high)


def _gap(values: FloatArray, *, row: int, k: int) -> FloatArray:
    """How much closer the mean of k people is to the others than what is in a row."""
    return np.asarray(values[0, k - 1] - values[row, k - 1])


def _needed(
    difference: FloatArray,
    intervals: list[Interval],
    name: str,
    method: Method,
    table: _RatingsByItem,
    n_words: int,
    persons: bool,
) -> Estimate | Undefined:
    """The smallest k at which people reach the model, with the smallest at which they may and at which they surely do.

    *Shape:* difference (k,).
    """
    statistic, most = statistic_name("number_needed_to_beat", method=method), table.most
    n = table.ratings.n_items
    defined = all(interval.is_defined for interval in intervals)
    possible = [k for k, interval in enumerate(intervals, 1) if defined and interval.high >= 0]
    shown = [k for k, interval in enumerate(intervals, 1) if defined and interval.low >= 0]
    reached = np.flatnonzero(difference >= 0)
    if not len(reached):
        low = f"; it is {possible[0]} or more" if possible else f"; it is more than {most}" if defined else ""
        people = "one person" if most == 1 else f"{most} people"
        reason = f"the mean of {people}, the most that are tried, does not reach the model{low}"
        return Undefined(statistic, reason, n, subject=name, unit="people")
    resampled = "raters_and_words" if persons else "words"
    how = statistic_name(
        "inverted", of="agreement_of_people_minus_model", resampled=resampled, level=f"{_level(intervals):g}"
    )
    bounds = Interval(float("nan"), float("nan"), _level(intervals), how, note=intervals[0].note)
    if defined and possible and shown:
        bounds = Interval(float(possible[0]), float(shown[0]), _level(intervals), how)
    elif defined and possible:
        note = f"no upper end: {possible[0]} or more; these ratings cannot show that {most} people reach the model"
        bounds = Interval(float("nan"), float("nan"), _level(intervals), how, note=note)
    value = float(reached[0] + 1)
    note = "; ".join(filter(None, (table.note, "" if persons else _NO_PERSONS)))
    return Estimate(statistic, value, bounds, n, n_words, subject=name, unit="people", note=note)


_NO_PERSONS = "words are resampled, raters are not: it is unknown which ratings are of one person"


def _level(intervals: list[Interval]) -> float:
    return intervals[0].level


@dataclass(frozen=True, slots=True, eq=False)
class _RatingsByItem:
    """The ratings of items with enough raters as a table, and the random order of each item's raters in each draw.

    *Shape:* value (items, places), NaN where an item has no further rating; keys (draws, items, places); item, place
    (ratings,); answers (models, items); ``most`` is the largest k.
    """

    ratings: Ratings
    value: FloatArray
    keys: FloatArray
    place: IntArray
    answers: FloatArray
    joined: tuple[CentaurNorms | None, ...]
    rows: IntArray
    most: int
    note: str

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        models: Mapping[str, FloatArray],
        centaurs: Mapping[str, CentaurNorms],
        *,
        groups: Mapping[str, str] | None,
        draws: int,
        seed: int,
        most_left_out: int,
    ) -> _RatingsByItem:
        answers = np.array([np.asarray(values, dtype=np.float64) for values in models.values()])
        if not models or answers.shape[1] != ratings.n_items:
            raise StatisticError("the number needed to beat needs a model with an answer for each item")
        counts, answered = ratings.counts(), ~np.isnan(answers).any(axis=0)
        usable = np.sort(counts[answered & (counts > 0)])
        fewest = int(usable[int(SPARED * len(usable))]) if len(usable) else 0
        if fewest < 3:
            why = f"nine tenths of the items have {fewest} or more"
            raise StatisticError("the number needed to beat needs 3 raters of each item", why=why)
        rows = np.flatnonzero(answered & (counts >= fewest))
        kept = ratings.of_items([ratings.item_ids[row] for row in rows.tolist()])
        order = np.argsort(kept.item, kind="stable")
        starts = np.concatenate([[0], np.cumsum(kept.counts())[:-1]])
        place = np.empty(len(kept), dtype=np.int64)
        place[order] = np.arange(len(kept)) - np.repeat(starts, kept.counts())
        value = np.full((kept.n_items, int(kept.counts().max())), np.nan)
        value[kept.item, place] = kept.value
        keys = np.random.default_rng(seed).random((draws, *value.shape))
        dropped = ratings.n_items - len(rows)
        note = (
            f"excluded: {counted(dropped, 'item')} with fewer than {fewest} raters or without an answer"
            if dropped
            else ""
        )
        joined = tuple(centaurs.get(name) for name in models)
        # nearly every item keeps a rater in addition to the largest k and those who are excluded together
        largest = ratings_lost_together(kept, groups, seed=seed, most=most_left_out, spared=SPARED)
        most = min(fewest - 1 - largest, MOST_PEOPLE)
        if most < 1:
            raise StatisticError(f"{fewest} raters of an item are too few where {largest} are excluded at a time")
        return cls(kept, value, keys, place, answers[:, rows], joined, rows, most, note)

    def closeness(
        self, keep: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], method: Method, draws: int
    ) -> FloatArray:
        """Return the mean correlation with the others of k people, each model, and each model with k people.

        It is over the first *draws*, so that values with some ratings excluded have the draws of the value without.

        *Shape:* keep (ratings,) → (1 + 2 · models, k); a model without a centaur has NaN.
        """
        value = self.value.copy()
        value[self.ratings.item[~keep], self.place[~keep]] = np.nan
        counts = (~np.isnan(value)).sum(axis=1)
        here = counts > self.most
        if here.sum() < 3:
            return np.full((1 + 2 * len(self.answers), self.most), np.nan)
        value, counts, keys = value[here], counts[here], self.keys[:draws, here]
        order = np.argsort(np.where(np.isnan(value), np.inf, keys), axis=2)
        filled = np.take_along_axis(np.nan_to_num(value)[None], order, axis=2)
        first = np.cumsum(filled, axis=2)[:, :, : self.most]
        k = np.arange(1, self.most + 1)
        # (draws, k, items)
        mean = np.swapaxes(first / k, 1, 2)
        others = np.swapaxes((np.nansum(value, axis=1)[None, :, None] - first) / (counts[None, :, None] - k), 1, 2)
        target = _standardised(others, method)
        result = [(_standardised(mean, method) * target).sum(axis=2).mean(axis=0)]
        own = [_standardised(answers[None, None, here], method) for answers in self.answers]
        result += [(answers * target).sum(axis=2).mean(axis=0) for answers in own]
        for centaur in self.joined:
            if centaur is None:
                result.append(np.full(self.most, np.nan))
                continue
            part = centaur.of(self.rows[here])
            together = np.stack(
                [part.combined(mean[:, j], np.full(len(counts), j + 1)) for j in range(self.most)], axis=1
            )
            result.append((_standardised(together, method) * target).sum(axis=2).mean(axis=0))
        return np.array(result)


def _standardised(values: FloatArray, method: Method) -> FloatArray:
    """Values (or their ranks) centred and of length 1: a correlation is then a product. *Shape:* (…, items), kept."""
    centred = _ranks(values) if method == "spearman" else values
    centred = centred - centred.mean(axis=-1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    return np.asarray(np.divide(centred, length, out=np.full(centred.shape, np.nan), where=length > 1e-12))


def _ranks(values: FloatArray) -> FloatArray:
    """Average ranks along the last axis, of rounded values: means that are equal in fact differ in the last bit."""
    rows = values.reshape(-1, values.shape[-1]).round(9)
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    n = rows.shape[1]
    starts = np.concatenate([np.ones((len(rows), 1), dtype=np.bool_), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    first = np.flatnonzero(starts.ravel())
    length = np.diff(np.append(first, starts.size))
    ranks = np.empty(rows.shape)
    # a run of equal values shares the mean of its places
    shared = np.repeat(first % n + (length + 1) / 2, length).reshape(rows.shape)
    np.put_along_axis(ranks, order, shared, axis=1)
    return ranks.reshape(values.shape)
