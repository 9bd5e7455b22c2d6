"""Variants of one model: trained and not, asked without and with worked examples, of different sizes.

What is known of subjects says which of them are such variants (:class:`Variants`); their predictions of mean ratings
are then compared in pairs, and over sizes. *Source:* AmbiStory §5.2, §5.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexiscope.analysis.accuracy import contrast
from lexiscope.analysis.bootstrap import FloatArray, group_codes, percentile_interval, ratio_draws, resampled_units
from lexiscope.analysis.correlation import (
    average_ranks,
    correlation_value,
    drawn_correlations,
    is_constant,
    sound_draws,
)
from lexiscope.analysis.norms.predictions import Form, Predictions, Predictor, judged
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.significance import permutation_of_correlation, wilcoxon_signed_rank
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import SpecError, StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name
from lexiscope.core.spec import plain_name, split_options, with_options

Pair = tuple[Predictor, Predictor]
"""Two subjects that are compared: the one without (training, worked examples), and the one with it."""

# -- Which subjects are variants of one model ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DescribedSubject:
    """What a subject is: its model, the worked examples it saw, the model it was trained from, its parameters.

    ``base`` is empty where it was not trained on the ratings, ``parameters`` ``None`` where they are not known.
    """

    model: str
    shots: int
    base: str = ""
    parameters: float | None = None

    @classmethod
    def of(cls, facts: SubjectFacts) -> DescribedSubject:
        """Return what the spec of a live subject says of it: its options without ``shots`` name the model.

        >>> DescribedSubject.of(SubjectFacts("chat:m@http://127.0.0.1/v1?shots=4&variant=published"))
        DescribedSubject(model='chat:m@http://127.0.0.1/v1?variant=published', shots=4, base='', parameters=None)
        """
        name, options = split_options(facts.subject_id)
        shots = int(options.pop("shots", "0"))
        return cls(with_options(name, options), shots, parameters=facts.n_parameters or None)


@dataclass(frozen=True, slots=True)
class Variants:
    """Subjects that predict ratings, and what is known of some of them, by their ids.

    >>> subjects = [Predictor(name, name, {"i": 1.0}, "integer", 1, {}, 1) for name in "abc"]
    >>> what = {"a": DescribedSubject("m", 0), "b": DescribedSubject("m", 4), "c": DescribedSubject("n", 0, base="m")}
    >>> variants = Variants(subjects, what)
    >>> [(zero.subject, few.subject) for zero, few in variants.shot_pairs]
    [('a', 'b')]
    >>> [(base.subject, trained.subject) for base, trained in variants.trained_pairs]
    [('a', 'c')]
    """

    predictors: Sequence[Predictor]
    described: Mapping[str, DescribedSubject]

    @property
    def known(self) -> tuple[tuple[Predictor, DescribedSubject], ...]:
        """The subjects of which something is known, each with it."""
        return tuple((own, self.described[own.subject]) for own in self.predictors if own.subject in self.described)

    @property
    def shot_pairs(self) -> tuple[Pair, ...]:
        """Subjects that are one model, asked without and with worked examples."""
        return tuple(
            (zero, few)
            for zero, first in self.known
            for few, second in self.known
            if first.shots == 0 < second.shots and replace(second, shots=0) == first
        )

    @property
    def trained_pairs(self) -> tuple[Pair, ...]:
        """Subjects of which the second was trained and the first is its base, asked with the same worked examples."""
        return tuple(
            (base, trained)
            for trained, about in self.known
            for base, of_base in self.known
            if (about.base, about.shots) == (of_base.model, of_base.shots)
        )

    @property
    def by_shots(self) -> dict[int, tuple[Predictor, ...]]:
        """The subjects by the number of worked examples that they saw, fewest first."""
        numbers = sorted({about.shots for about in self.described.values()})
        return {shots: tuple(own for own, about in self.known if about.shots == shots) for shots in numbers}

    @property
    def sized(self) -> dict[int, tuple[Predictor, ...]]:
        """Subjects of known sizes that were not trained, by their worked examples, where three sizes or more differ."""
        sizes = {own.subject: about.parameters for own, about in self.known if about.parameters and not about.base}
        by_shots = {
            shots: tuple(own for own in several if own.subject in sizes and own.n_read)
            for shots, several in self.by_shots.items()
        }
        return {
            shots: several
            for shots, several in by_shots.items()
            if len({sizes[own.subject] for own in several}) >= _FEWEST_SIZES
        }

    def named(self, spec: str) -> Predictor:
        """Return the subject with this id or title. Errors: :class:`SpecError` where none, or several, have it."""
        matches = [own for own in self.predictors if spec in (own.subject, own.title)]
        # device and threads are added to a spec before it is asked
        matches = matches or [own for own in self.predictors if own.subject.startswith(plain_name(spec))]
        if len(matches) != 1:
            known = ", ".join(own.subject for own in self.predictors) or "none"
            raise SpecError(f"{spec!r} names no subject of this run to compare", hint=f"valid names: {known}")
        return matches[0]


_FEWEST_SIZES = 3


def contrasts_of_pairs(
    pairs: Iterable[Pair], compare: Callable[[Predictions, Predictions], Sequence[Estimate | Undefined]], test: str
) -> list[Estimate | Undefined]:
    """Return what a comparison says of the whole predictions of each pair, its subject ``second vs first``.

    The statistic *test* has the reason.

    >>> one, two = (Predictor(name, name, {"i": value}, "raw", 1, {}, 1) for name, value in (("a", 1.0), ("b", 3.0)))
    >>> compare = lambda first, second: [Estimate("gain", second["i"] - first["i"])]
    >>> [(result.subject, result.value) for result in contrasts_of_pairs([(one, two)], compare, "gain")]
    [('b vs a', 2.0)]
    """
    results: list[Estimate | Undefined] = []
    for first, second in pairs:
        try:
            compared = compare(first.whole, second.whole)
        except StatisticError as error:
            compared = (Undefined(test, error.what),)
        results += [result.about(subject=name_of_pair(first, second)) for result in compared]
    return results


def name_of_pair(first: Predictor, second: Predictor) -> str:
    """Return what the contrast of two subjects is called."""
    return f"{second.subject} vs {first.subject}"


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
    positive where the second is closer to people. Items without a prediction of one of them are excluded. *groups*
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
