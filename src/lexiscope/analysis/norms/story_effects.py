"""Effects of an ending on the meanings of a story, and of training on a model's errors.

A setup is one ambiguous sentence with its endings, each judged for its meanings: in AmbiStory two endings and none, two
meanings, six items; in a user's own stories any number. *Source:* AmbiStory §4.2 and Table 7. Items are known here by
their place in a setup alone; which subject saw what is no matter.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.accuracy import contrast
from lexiscope.analysis.bootstrap import (
    FloatArray,
    group_codes,
    percentile_interval,
    ratio_draws,
    resampled_units,
)
from lexiscope.analysis.correlation import (
    average_ranks,
    correlation_value,
    drawn_correlations,
    is_constant,
    sound_draws,
)
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.predictions import Form, Predictions, Predictor, judged
from lexiscope.analysis.norms.within_sd import UNREAD, accuracy_within_sd, is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import (
    permutation_of_correlation,
    rank_sum_p_without_ties,
    wilcoxon_rank_sum,
    wilcoxon_signed_rank,
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
    """Where an item stands: its setup, the ending of its story (``open``: none), and which meaning is judged.

    ``intention`` says whether the ending was written for this meaning (``intended``, ``unintended``, ``open``;
    ``unknown``); where it is empty, ending A was written for meaning 1 and ending B for meaning 2.
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

    Errors: :class:`InputError` naming an item that lacks one of the first three.
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
    """Return how far endings move mean ratings, and how often in the direction they were written for.

    These are two shifts (open to ended story, each ending to each other one), each a mean absolute difference with its
    SDs, in points of the scale; then two orders, each the shares above, equal and below, in percent: the meaning that
    an ending was written for above each other meaning of the story, and above itself in the open story.

    A comparison that lacks the ratings of one of its items is left out, and the note says how many items had none; of
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
    note = f"{unrated} items of these setups have no rating: comparisons with them are left out" if unrated else ""
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
        Estimate(statistic_name(name, **of), test.statistic, n=n, p=test.p, condition=condition),
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


# -- Two subjects on the same items: before and after training, without and with worked examples --------------------
# *Source:* AmbiStory §5.3.2 (Wilcoxon's signed-rank test). What is paired is the absolute error of each item's
# prediction; the decisions within SD and the correlations stand beside it.


def contrast_of_predictions(
    first: Predictions,
    second: Predictions,
    ratings: Ratings,
    *,
    sides: tuple[str, str] = ("base", "tuned"),
    form: Form = "integer",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Compare the errors of two subjects on the items that both predicted; *sides* are what the two are called.

    Returned are both mean absolute errors, V of the signed-rank test of the errors (first − second) with its p, the
    difference of the accuracies within SD and that of the correlations with the mean ratings, both second − first:
    positive where the second is closer to people. Items that lack a prediction of one of them are excluded. *groups*
    (item id → word) are resampled whole for the intervals of the differences, the same ones for both subjects; the rank
    test takes items as independent. Errors: as :func:`lexiscope.analysis.norms.predictions.judged`;
    :class:`StatisticError` where no error differs.

    >>> people = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 1, 2, 2, 4, 4, 5, 5])
    >>> right = dict(zip("ijkl", [1, 2, 4, 5]))
    >>> effects = contrast_of_predictions(dict.fromkeys("ijkl", 3), right, people, resamples=0)
    >>> [effect.value for effect in effects[:3]]  # errors 2 1 1 2 and 0: ranks 1.5 1.5 3.5 3.5
    [1.5, 0.0, 10.0]
    >>> effects[4].reason
    'every prediction of base is 3'
    """
    both = {item for item in first if first[item] is not None and second.get(item) is not None}
    pair = [judged({item: given[item] for item in both}, ratings, form=form) for given in (first, second)]
    errors = [np.abs(subject.predicted - subject.mean) for subject in pair]
    # equal differences are ties: 1.4 - 0.4 and 1.2 - 0.2 must not differ in their last bit
    smaller = settle(errors[0] - errors[1], np.concatenate([*(subject.predicted for subject in pair), pair[0].mean]))
    right = [is_within_sd(subject.predicted, subject.mean, subject.sd) for subject in pair]
    test, n = wilcoxon_signed_rank(smaller, np.zeros_like(smaller)), len(smaller)
    labels, of = pair[0].labels(groups), f"{sides[1]}_minus_{sides[0]}"
    more = contrast(right[1], right[0], clusters=labels, level=level, resamples=resamples, seed=seed)
    rho_name = statistic_name("spearman_difference", of=of)
    constant = [side for side, subject in zip(sides, pair, strict=True) if len(set(subject.predicted.tolist())) == 1]
    rho: Estimate | Undefined
    if constant:
        value = pair[sides.index(constant[0])].predicted[0]
        rho = Undefined(rho_name, f"every prediction of {constant[0]} is {value:g}", n)
    else:
        columns = np.column_stack([subject.predicted for subject in pair])
        draws = sound_draws(columns, pair[0].mean, kind="spearman", groups=labels, resamples=resamples, seed=seed)
        values = [correlation_value(subject.predicted, subject.mean, kind="spearman") for subject in pair]
        n_groups = n if labels is None else len(set(labels))
        interval = percentile_interval(
            draws[:, 1] - draws[:, 0], level=level, resampled=resampled_units(labels), n_groups=n_groups
        )
        rho = Estimate(rho_name, values[1] - values[0], interval, n, n_groups)
    return (
        *(
            Estimate(statistic_name("mean_absolute_error", of=side), float(error.mean()), n=n)
            for side, error in zip(sides, errors, strict=True)
        ),
        Estimate(statistic_name("signed_rank", of=of), test.statistic, n=n, p=test.p),
        Estimate(statistic_name("accuracy_difference", of=of), more.difference, more.interval, n),
        rho,
    )


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
    not other subjects. Whole predictions; items without a readable reply are left out. *Source:* AmbiStory Table 7,
    last rows. Errors: as :func:`accuracy_by_kind`; :class:`StatisticError` where a subject read no story of a kind.
    """
    codes, n_groups = group_codes([groups[item] for item in ratings.item_ids], ratings.n_items)
    ended = np.array([_place(item, places).kind == "ended" for item in ratings.item_ids])
    options, units = {"resamples": resamples, "seed": seed}, resampled_units(groups)
    values, draws = np.empty((len(subjects), len(KINDS))), np.empty((len(subjects), len(KINDS), resamples))
    counts = []
    for row, subject in enumerate(subjects):
        read = judged(
            {item: value for item, value in subject.whole.items() if item in set(ratings.item_ids)}, ratings,
            form="integer",
        )  # fmt: skip
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


# -- Subjects of different sizes: are larger ones closer to people? ----------------------------------------------------


def trend_with_size(
    subjects: Sequence[Predictor],
    sizes: Sequence[float],
    ratings: Ratings,
    *,
    groups: Mapping[str, str],
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return Spearman's correlation of the sizes of subjects with their accuracy within SD, and with their correlation.

    *sizes* are numbers of parameters; their order alone counts. p is that of the permutation test over subjects (exact
    up to 8); the interval resamples *groups* (item id → word), the same ones for all subjects: it says how much other
    words would change, not other subjects. *Source:* AmbiStory §5.2 (larger models are closer).
    Errors: :class:`StatisticError` for fewer than 3 subjects; those of
    :func:`lexiscope.analysis.norms.predictions.judged`.
    """
    if len(subjects) < _FEWEST_SIZES:
        raise StatisticError(f"a trend with size needs {_FEWEST_SIZES} subjects of known size, not {len(subjects)}")
    codes, n_groups = group_codes([groups[item] for item in ratings.item_ids], ratings.n_items)
    code_of = dict(zip(ratings.item_ids, codes.tolist(), strict=True))
    columns: dict[str, list[tuple[float, FloatArray]]] = {"accuracy_within_sd": [], "spearman": []}
    for subject in subjects:
        own = {item: value for item, value in subject.whole.items() if item in code_of}
        read = judged(own, ratings, form="integer")
        rows = np.array([code_of[item] for item in read.item_ids], dtype=np.int64)
        right = is_within_sd(read.predicted, read.mean, read.sd).astype(np.float64)
        drawn = ratio_draws(right, np.ones(len(right)), rows, n_groups, resamples=resamples, seed=seed)
        columns["accuracy_within_sd"].append((float(right.mean()), drawn))
        given = np.array([subject.predictions[item] for item in read.item_ids], dtype=np.float64)
        rho, rho_drawn = math.nan, np.full(resamples, np.nan)
        if not is_constant(given):
            rho = correlation_value(given, read.mean, kind="spearman")
            rho_drawn = drawn_correlations(
                given, read.mean, rows, n_groups, kind="spearman", resamples=resamples, seed=seed
            )
        columns["spearman"].append((rho, rho_drawn))
    return tuple(
        _size_trend(
            statistic_name("spearman", of="n_parameters", **{"with": what}), sizes, several, groups, level, seed
        )
        for what, several in columns.items()
    )


_FEWEST_SIZES = 3


def _size_trend(
    name: str,
    sizes: Sequence[float],
    columns: Sequence[tuple[float, FloatArray]],
    groups: Mapping[str, str],
    level: float,
    seed: int,
) -> Estimate | Undefined:
    known = [row for row, (value, _) in enumerate(columns) if not math.isnan(value)]
    values, x = [columns[row][0] for row in known], [float(sizes[row]) for row in known]
    try:
        test = permutation_of_correlation(x, values, kind="spearman", seed=seed)
    except StatisticError as error:
        return Undefined(name, error.what, len(known))
    drawn = np.array([columns[row][1] for row in known]).T
    ranks = average_ranks(x)
    draws = [
        np.nan if np.isnan(row).any() or is_constant(row) else float(np.corrcoef(ranks, average_ranks(row))[0, 1])
        for row in drawn
    ]
    interval = percentile_interval(
        draws, level=level, resampled=resampled_units(groups), n_groups=len(set(groups.values()))
    )
    return Estimate(name, test.effect, interval, len(known), p=test.p, note=f"p: {test.name}, over subjects")
