"""Effects of an ending on the meanings of a story, and of training on a model's errors.

A setup has two endings and none, each judged for two meanings: six items. *Source:* AmbiStory §4.2 and Table 7. Items
are known here by their place in a setup alone; which subject saw what is no matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

Kind = Literal["open", "ended"]
KINDS: tuple[Kind, ...] = ("open", "ended")
ENDINGS = ("A", "B", "open")
MEANINGS = ("1", "2")
Results = tuple[Estimate, ...]
MeanInterval = Callable[[FloatArray], tuple[Interval, int]]
_PLACES = tuple((ending_of, meaning) for ending_of in ENDINGS for meaning in MEANINGS)


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """Where an item stands: its setup, whose ending its story has (A, B or open), which meaning is judged (1 or 2).

    Ending A was written for meaning 1, ending B for meaning 2.
    """

    setup: str
    ending_of: str
    meaning: str

    @property
    def kind(self) -> Kind:
        """Whether the story is left open."""
        return "open" if self.ending_of == "open" else "ended"


def story_places(conditions: Mapping[str, Mapping[str, object]]) -> dict[str, StoryPlace]:
    """Return the place of each item from its conditions ``setup``, ``ending_of`` and ``meaning``.

    Errors: :class:`InputError` naming an item that lacks one of them or has another value.
    """
    by_item = {}
    for item, has in conditions.items():
        place = StoryPlace(*(str(has.get(name, "")) for name in ("setup", "ending_of", "meaning")))
        if not place.setup or (place.ending_of, place.meaning) not in _PLACES:
            hint = "it needs setup, ending_of (A, B, open) and meaning (1, 2)"
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
) -> Results:
    """Return how far endings move mean ratings, and how often in the direction they were written for.

    These are two shifts (open to ended story, ending to ending), each a mean absolute difference with its SDs, in
    points of the scale; then two orders, each the shares above, equal and below, in percent.

    Setups without all six items are refused. *groups* (setup → word) are resampled whole instead of setups.
    Errors: :class:`InputError` for an item without a place; :class:`StatisticError` for a setup that is not whole.
    """
    setups, means = _by_place(ratings.item_ids, ratings.means(), places)
    if groups is not None and (lost := [setup for setup in setups if setup not in groups]):
        raise InputError(f"setup {lost[0]!r} has no word", code="E506")
    labels = setups if groups is None else [groups[setup] for setup in setups]
    a, b, free = means[:, 0, :], means[:, 1, :], means[:, 2, :]
    # meaning 1 of ending A and meaning 2 of ending B were intended
    intended, other = np.stack([a[:, 0], b[:, 1]], axis=1), np.stack([a[:, 1], b[:, 0]], axis=1)
    codes, count = group_codes(np.array(labels), len(labels))
    units = resampled_units(groups, rows="setups")

    def setup_interval(values: FloatArray) -> tuple[Interval, int]:
        sizes = np.full(len(values), float(values.shape[1]))
        draws = ratio_draws(values.sum(axis=1), sizes, codes, count, resamples=resamples, seed=seed)
        return percentile_interval(draws, level=level, resampled=units, n_groups=count), count

    return (
        *_shift_results("open_and_ended", np.concatenate([a - free, b - free], axis=1), setup_interval),
        *_shift_results("endings", a - b, setup_interval),
        *_order_results("intended_above_other", intended - other, setup_interval),
        *_order_results("ending_raises_intended", intended - free, setup_interval),
    )


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


def _shift_results(between: str, differences: FloatArray, interval_of: MeanInterval) -> Results:
    """The mean of absolute differences with its interval, and their SD by n (what the paper prints) and by n − 1."""
    sizes = np.abs(differences)
    interval, n_groups = interval_of(sizes)
    values = sizes.ravel()
    name, sd_name = "absolute_difference", "absolute_difference_sd"
    return (
        Estimate(statistic_name(name, between=between), float(values.mean()), interval, len(values), n_groups),
        *(
            Estimate(statistic_name(sd_name, between=between, ddof=k), float(values.std(ddof=k)), n=len(values))
            for k in (0, 1)
        ),
    )


def _order_results(name: str, differences: FloatArray, interval_of: MeanInterval) -> Results:
    """How often one mean is above, equal to, or below another, in percent; the interval is that of above."""
    # equal means of ratings are equal to the last bit, so every difference is one
    shares = {"above": differences > 0, "equal": differences == 0, "below": differences < 0}
    interval, _ = interval_of(shares["above"].astype(np.float64))
    above, *others = (
        Estimate(statistic_name(name, share=share), 100 * float(flags.mean()), n=differences.size, unit="percent")
        for share, flags in shares.items()
    )
    return above.about(interval=interval.times(100)), *others


def _by_place(
    items: Sequence[str], means: FloatArray, places: Mapping[str, StoryPlace]
) -> tuple[list[str], FloatArray]:
    """The means of whole setups, in code point order. *Shape:* (setups, endings, meanings)."""
    setups = sorted({_place(item, places).setup for item in items})
    row = {setup: number for number, setup in enumerate(setups)}
    table = np.full((len(setups), len(ENDINGS), len(MEANINGS)), np.nan)
    for item, mean in zip(items, means.tolist(), strict=True):
        place = places[item]
        table[row[place.setup], ENDINGS.index(place.ending_of), MEANINGS.index(place.meaning)] = mean
    broken = np.flatnonzero(np.isnan(table).any(axis=(1, 2)))
    if len(broken):
        raise StatisticError(
            f"setup {setups[broken[0]]!r} (and {len(broken) - 1} more) lacks ratings of one of its six items",
            hint="leave such setups out, and say how many",
        )
    return setups, table


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
