"""Effects of an ending on the meanings of a story: on people's ratings, and on how well subjects predict them.

A setup is one ambiguous sentence with its endings, each judged for its meanings: in AmbiStory two endings and none, two
meanings, six items; in a user's own stories any number. *Source:* AmbiStory §4.2 and Table 7. Items are known here by
their place in a setup alone; which subject saw which item does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.bootstrap import (
    FloatArray,
    group_codes,
    percentile_interval,
    ratio_draws,
    resampled_units,
)
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.predictions import Predictor, judged
from lexiscope.analysis.norms.within_sd import UNREAD, accuracy_within_sd, is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import (
    rank_sum_p_without_ties,
    wilcoxon_rank_sum,
)
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, Undefined, statistic_name

Kind = Literal["open", "ended"]
KINDS: tuple[Kind, ...] = ("open", "ended")
OPEN: Kind = "open"
ENDINGS = ("A", "B", OPEN)
MEANINGS = ("1", "2")
Results = tuple[Estimate, ...]
_WRITTEN_FOR = {"A": "1", "B": "2"}
"""In AmbiStory ending A was written for meaning 1, ending B for meaning 2."""


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """The place of an item: its setup, the ending of its story (``open``: none), and which meaning is judged.

    ``intention`` says whether the ending was written for this meaning (``intended``, ``unintended``, ``open``;
    ``unknown``); if it is empty, ending A was written for meaning 1 and ending B for meaning 2.
    """

    setup: str
    ending_of: str
    meaning: str
    intention: str = ""

    @property
    def kind(self) -> Kind:
        """Whether the story is left open."""
        return "open" if self.ending_of == OPEN else "ended"

    @property
    def intended(self) -> bool:
        """Whether the ending is known to be written for the meaning that is judged."""
        by_name = _WRITTEN_FOR.get(self.ending_of) == self.meaning
        return self.intention == "intended" if self.intention else by_name


def story_places(conditions: Mapping[str, Mapping[str, object]]) -> dict[str, StoryPlace]:
    """Return the place of each item from its conditions ``setup``, ``ending_of``, ``meaning`` and ``intention``.

    Errors: :class:`InputError` naming an item without one of the first three.
    """
    by_item = {}
    for item, has in conditions.items():
        place = StoryPlace(*(str(has.get(name, "")) for name in ("setup", "ending_of", "meaning", "intention")))
        if not (place.setup and place.ending_of and place.meaning):
            hint = "it needs setup, ending_of (open: without an ending) and meaning"
            raise InputError("this item has no place in a story", place=Place(item_id=item), hint=hint)
        by_item[item] = place
    return by_item


def ending_effects(
    ratings: Ratings,
    places: Mapping[str, StoryPlace],
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the effect of endings on mean ratings, and how often it has the direction they were written for.

    These are two shifts (open to ended story, each ending to each other one), each a mean absolute difference with its
    SDs, in points of the scale; then two orders, each the shares above, equal and below, in percent: the meaning that
    an ending was written for above each other meaning of the story, and above itself in the open story.

    A comparison without the ratings of one of its items is excluded, and the note says how many items had none; of
    stories without such comparisons a result is undefined. *groups* (setup → word) are resampled whole instead of
    setups. Errors: :class:`InputError` for an item without a place, and for a setup without a word.
    """
    every = zip(ratings.item_ids, ratings.means().tolist(), strict=True)
    means = {item: mean for item, mean in every if not math.isnan(mean)}
    cells: dict[str, dict[tuple[str, str], float]] = {}
    intended: set[tuple[str, str, str]] = set()
    for item, mean in means.items():
        place = _place(item, places)
        cells.setdefault(place.setup, {})[place.ending_of, place.meaning] = mean
        intended |= {(place.setup, place.ending_of, place.meaning)} if place.intended else set()
    if groups is not None and (lost := [setup for setup in cells if setup not in groups]):
        raise InputError(f"setup {lost[0]!r} has no word", code="E506")
    unrated = sum(place.setup in cells and item not in means for item, place in places.items())
    note = f"{unrated} items of these setups have no rating: comparisons with them are excluded" if unrated else ""
    differences = {name: _Differences([], []) for name in (*_SHIFTS, *_ORDERS)}
    for setup in sorted(cells):
        for name, difference in _differences(setup, cells[setup], intended):
            differences[name].setups.append(setup)
            differences[name].values.append(difference)
    how = {"groups": groups, "level": level, "resamples": resamples, "seed": seed}
    shifts = (result for name in _SHIFTS for result in _shift_results(name, differences[name], **how))
    orders = (result for name in _ORDERS for result in _order_results(name, differences[name], **how))
    return tuple(result.about(note=note) if note else result for result in (*shifts, *orders))


_SHIFTS = ("open_and_ended", "endings")
_ORDERS = ("intended_above_other", "ending_raises_intended")


@dataclass(frozen=True, slots=True)
class _Differences:
    """Differences of mean ratings, each with its setup."""

    setups: list[str]
    values: list[float]

    def interval(
        self, values: FloatArray, *, groups: Mapping[str, str] | None, level: float, resamples: int, seed: int
    ) -> tuple[Interval, int]:
        """Return the interval of the mean of values made of the differences, and how many groups were resampled."""
        own = sorted(set(self.setups))
        row = np.searchsorted(own, self.setups)
        labels = np.array(own if groups is None else [groups[setup] for setup in own])
        if len(set(labels.tolist())) < 2:
            # one setup, or one word, cannot be resampled
            return NO_INTERVAL, 1
        codes, count = group_codes(labels, len(own))
        sums, sizes = np.bincount(row, weights=values), np.bincount(row).astype(np.float64)
        draws = ratio_draws(sums, sizes, codes, count, resamples=resamples, seed=seed)
        units = resampled_units(groups, rows="setups")
        return percentile_interval(draws, level=level, resampled=units, n_groups=count), count


def _differences(
    setup: str, cells: Mapping[tuple[str, str], float], intended: Collection[tuple[str, str, str]]
) -> Iterator[tuple[str, float]]:
    """Yield the comparisons of one setup: what is compared, and the difference."""
    endings = sorted({ending for ending, _ in cells} - {OPEN})
    meanings = sorted({meaning for _, meaning in cells})
    for ending in endings:
        for meaning in meanings:
            if (ending, meaning) not in cells:
                continue
            mean = cells[ending, meaning]
            free = [mean - cells[OPEN, meaning]] if (OPEN, meaning) in cells else []
            yield from (("open_and_ended", difference) for difference in free)
            if (setup, ending, meaning) in intended:
                yield from (("ending_raises_intended", difference) for difference in free)
                others = (cells[ending, other] for other in meanings if other != meaning and (ending, other) in cells)
                yield from (("intended_above_other", mean - other) for other in others)
    for first, second in combinations(endings, 2):
        both = (meaning for meaning in meanings if (first, meaning) in cells and (second, meaning) in cells)
        yield from (("endings", cells[first, meaning] - cells[second, meaning]) for meaning in both)


OPEN_AGAINST_ENDED = statistic_name("rank_sum", of="sd", between="open_and_ended")
"""The test whether people disagree more about open stories."""


def open_against_ended(ratings: Ratings, places: Mapping[str, StoryPlace], *, condition: str) -> Results:
    """Test whether the SDs of ratings (n − 1) differ between open and ended stories (Wilcoxon's rank-sum test).

    Returned are both mean SDs, then the test (open first): U with its p, its p, and the p of the same test without
    corrections for ties and continuity, which some programs print. *condition* names the stories that were compared;
    those of the SDs name the kind of story too. SDs are rounded to 12 digits of the range of the ratings first: equal
    ones that differ in the last bit are ties. *Source:* AmbiStory §5.3.2.
    Errors: :class:`InputError` for an item without a place; those of the test.
    """
    sds = settle(item_sd(ratings), ratings.value)
    kinds = np.array([_place(item, places).kind for item in ratings.item_ids])
    free, ended = (sds[(kinds == kind) & ~np.isnan(sds)] for kind in KINDS)
    if not len(free) or not len(ended):
        raise StatisticError("there are no open stories, or no ended ones, with two ratings")
    test = wilcoxon_rank_sum(free, ended)
    plain, n = rank_sum_p_without_ties(test.statistic, len(free), len(ended)), sum(test.n)
    name, of = "rank_sum", {"of": "sd", "between": "open_and_ended"}
    return (
        Estimate("kind_mean_sd(ddof=1)", float(free.mean()), condition=f"{condition}, open"),
        Estimate("kind_mean_sd(ddof=1)", float(ended.mean()), condition=f"{condition}, ended"),
        Estimate(OPEN_AGAINST_ENDED, test.statistic, n=n, p=test.p, condition=condition),
        Estimate(statistic_name(name, **of, value="p"), test.p, n=n, condition=condition),
        Estimate(statistic_name(name, **of, ties="ignored", value="p"), plain, n=n, condition=condition),
    )


def accuracy_by_kind(
    subject: Predictor,
    ratings: Ratings,
    places: Mapping[str, StoryPlace],
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return a subject's accuracy within SD on all, open and ended stories (its condition): a row of Table 7.

    Its predictions are taken as whole numbers. First come the accuracies over readable replies, then those that count
    samples without one as wrong. Predictions of items without ratings are passed over.
    Errors: those of :func:`lexiscope.analysis.norms.within_sd.accuracy_within_sd`; :class:`InputError` for an item
    without a place.
    """
    kinds = np.array([_place(item, places).kind for item in ratings.item_ids])
    items = np.array(ratings.item_ids)
    parts = {"all": ratings} | {str(kind): ratings.of_items(items[kinds == kind].tolist()) for kind in KINDS}
    results = []
    for unread in UNREAD:
        for kind, part in parts.items():
            rated = set(part.item_ids)
            own = {item: value for item, value in subject.predictions.items() if item in rated}
            form = subject.whole_form
            accuracy = accuracy_within_sd(
                own, part, form=form, unread=unread, groups=groups, level=level, resamples=resamples, seed=seed
            )
            results.append(accuracy.about(subject=subject.subject, condition=kind))
    return tuple(results)


def answers_both_kinds(
    subject: Predictor, places: Mapping[str, StoryPlace], groups: Mapping[str, str], *, fewest: int = 2
) -> bool:
    """Return whether a subject answered open and ended stories of *fewest* groups or more: of one none is resampled.

    *groups*: item id → word, of the items that count (those that people rated).
    """
    read = [item for item in groups if subject.predictions.get(item) is not None]
    return all(len({groups[item] for item in read if places[item].kind == kind}) >= fewest for kind in KINDS)


def _shift_results(between: str, differences: _Differences, **how: Any) -> Iterator[Estimate | Undefined]:
    """The mean of absolute differences with its interval, and their SD by n (what the paper prints) and by n − 1."""
    name, sd_name = "absolute_difference", "absolute_difference_sd"
    if not differences.values:
        yield Undefined(statistic_name(name, between=between), "no setup has two such stories with ratings")
        return
    values = np.abs(differences.values)
    interval, n_groups = differences.interval(values, **how)
    yield Estimate(statistic_name(name, between=between), float(values.mean()), interval, len(values), n_groups)
    # one difference has no standard deviation over n − 1
    for k in (0, 1) if len(values) > 1 else ():
        yield Estimate(statistic_name(sd_name, between=between, ddof=k), float(values.std(ddof=k)), n=len(values))


def _order_results(name: str, differences: _Differences, **how: Any) -> Iterator[Estimate | Undefined]:
    """How often one mean is above, equal to, or below another, in percent; the interval is that of above."""
    if not differences.values:
        reason = "no setup has such stories with ratings, or it is not known which meaning an ending was written for"
        yield Undefined(statistic_name(name, share="above"), reason)
        return
    values = np.array(differences.values)
    # equal means of ratings are equal to the last bit, so every difference is one
    shares = {"above": values > 0, "equal": values == 0, "below": values < 0}
    interval, _ = differences.interval(shares["above"].astype(np.float64), **how)
    for share, flags in shares.items():
        estimate = Estimate(statistic_name(name, share=share), 100 * float(flags.mean()), n=len(values), unit="percent")
        yield estimate.about(interval=interval.times(100)) if share == "above" else estimate


def _place(item: str, places: Mapping[str, StoryPlace]) -> StoryPlace:
    if item not in places:
        raise InputError("this item has no place in a story", place=Place(item_id=item))
    return places[item]


# -- Open and ended stories of several subjects: does what an ending adds help them? ---------------------------------


def ended_minus_open(
    subjects: Sequence[Predictor],
    ratings: Ratings,
    places: Mapping[str, StoryPlace],
    *,
    groups: Mapping[str, str],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[tuple[Estimate, ...], tuple[Estimate, ...]]:
    """Return by how much subjects are more accurate on ended stories than on open ones, and the means over subjects.

    First the difference of the accuracies within SD of each subject (ended − open), then the mean over subjects of its
    accuracy on open and on ended stories (its condition), and of the difference. *groups* (item id → word) are
    resampled whole, the same ones for all subjects and both kinds: the intervals say how much other words would change,
    not other subjects. Whole predictions; items without a readable reply are excluded. *Source:* AmbiStory Table 7,
    last rows. Errors: as :func:`accuracy_by_kind`; :class:`StatisticError` where a subject read no story of a kind.
    """
    codes, n_groups = group_codes([groups[item] for item in ratings.item_ids], ratings.n_items)
    ended = np.array([_place(item, places).kind == "ended" for item in ratings.item_ids])
    options, units = {"resamples": resamples, "seed": seed}, resampled_units(groups)
    values, draws = np.empty((len(subjects), len(KINDS))), np.empty((len(subjects), len(KINDS), resamples))
    counts, rated = [], set(ratings.item_ids)
    for row, subject in enumerate(subjects):
        of_rated = {item: value for item, value in subject.whole.items() if item in rated}
        read = judged(of_rated, ratings, form="integer")
        known = dict(zip(read.item_ids, is_within_sd(read.predicted, read.mean, read.sd).tolist(), strict=True))
        right = np.array([known.get(item, False) for item in ratings.item_ids], dtype=np.float64)
        answered = np.array([item in known for item in ratings.item_ids])
        counts.append(len(known))
        for column, kind in enumerate((~ended, ended)):
            rows = (answered & kind).astype(np.float64)
            if not rows.any():
                raise StatisticError(f"{subject.title} read no {KINDS[column]} story")
            values[row, column] = (right * rows).sum() / rows.sum()
            draws[row, column] = ratio_draws(right * rows, rows, codes, n_groups, **options)

    def estimate(name: str, value: float, drawn: FloatArray, n: int) -> Estimate:
        interval = percentile_interval(drawn, level=level, resampled=units, n_groups=n_groups)
        return Estimate(name, value, interval, n, n_groups)

    difference = statistic_name("accuracy_difference", of="ended_minus_open")
    single = tuple(
        estimate(difference, values[row, 1] - values[row, 0], draws[row, 1] - draws[row, 0], counts[row]).about(
            subject=subject.subject
        )
        for row, subject in enumerate(subjects)
    )
    means, mean_draws = values.mean(axis=0), draws.mean(axis=0)
    of_accuracy = statistic_name("subjects_mean", of="accuracy_within_sd")
    together = (
        *(
            estimate(of_accuracy, float(means[column]), mean_draws[column], len(subjects)).about(condition=kind)
            for column, kind in enumerate(KINDS)
        ),
        estimate(
            statistic_name("subjects_mean", of="ended_minus_open"),
            float(means[1] - means[0]),
            mean_draws[1] - mean_draws[0],
            len(subjects),
        ),
    )
    return single, together
