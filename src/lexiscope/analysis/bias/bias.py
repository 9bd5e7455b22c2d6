"""Context bias and word bias: how much of what the whole input gives is available from a part of it.

Bias^C = (M_context − M_label) / (M_full − M_label), Bias^W likewise with the word alone; M is an accuracy or a
correlation. 0: the part gives no more than no input; 1: as much as the whole input. Both may be negative or exceed 1,
and both are undefined where the whole input gives no more than no input (M_full ≤ M_label): the ratio would then have
no meaning, with any sign. *Source:* the context–word bias study, §2.3, equations 1 and 2.

Intervals resample words, the same words in all views (:mod:`lexiscope.analysis.bias.view_scores`): those of scores and
differences are percentiles, that of a bias is Fieller's. Where FULL is not shown to be above LABEL, the biases that
agree with the data have no bounds on both sides, and the note of the interval says which they are: it holds the true
bias 94 to 96 % of the time however near FULL comes to LABEL.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.bias.view_scores import DrawnScores, Metric, Scores, ViewValue, draw_scores
from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

FULL, CONTEXT, WORD, LABEL = "full", "context", "word", "label"

CONTEXT_SPAN = "context_span"
"""The context with the target hidden in its span alone: where the word is in the text again, it is seen."""

RANDOM_RETRIEVAL = 0.0
"""What the study takes as the accuracy of a random entry of a whole inventory (§2.2)."""

# a difference that is nothing but floating-point error is no difference
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Bias:
    """The bias of one view (``context`` or ``word``). ``value`` is NaN if it is undefined, for ``reason``.

    *Higher means:* more of what the whole input gives is available from this part alone; 0 to 1 in the plain case.
    """

    view: str
    value: float
    interval: Interval
    reason: str = ""

    @property
    def is_defined(self) -> bool:
        """Whether the bias has a value."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class ViewDifference:
    """The score of one view minus that of another, on the same resampled words. *Unit:* that of the metric."""

    first: str
    second: str
    value: float
    interval: Interval

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies wholly above or wholly below 0; without an interval it does not."""
        return self.interval.is_defined and not self.interval.low <= 0 <= self.interval.high

    @property
    def is_above(self) -> bool:
        """Whether the first score is above the second: the whole interval is above 0."""
        return self.excludes_zero and self.value > 0


@dataclass(frozen=True, slots=True)
class MinimumGap:
    """min(FULL − CONTEXT, FULL − WORD): what word and context give together beyond the better of the two alone.

    ``nearest`` is the view that comes nearest to the whole input. *Unit:* that of the metric. *Higher means:* the
    items need both more. *Source:* the context–word bias study, Figure 3.
    """

    value: float
    nearest: str
    interval: Interval


@dataclass(frozen=True, slots=True)
class Biases:
    """What the views of one subject say of a dataset. A difference or gap is ``None`` if one of its views is missing.

    ``context_span`` is the context bias with the target hidden in its span alone, as published (``None`` if that view
    was not measured).
    """

    metric: Metric
    views: tuple[ViewValue, ...]
    context: Bias
    word: Bias
    context_span: Bias | None
    full_over_label: ViewDifference | None
    context_over_label: ViewDifference | None
    word_over_label: ViewDifference | None
    context_gap: ViewDifference | None
    word_gap: ViewDifference | None
    minimum_gap: MinimumGap | None
    n_words: int

    def view(self, name: str) -> ViewValue | None:
        """Return the score of one view, or ``None`` where it is not there."""
        return next((value for value in self.views if value.view == name), None)


def bias_value(part: float, full: float, label: float) -> float:
    """Return (part − label) / (full − label), NaN where full ≤ label. *Source:* equations 1 and 2.

    >>> round(bias_value(0.66, 0.71, 0.50), 4)  # .16 / .21
    0.7619
    >>> bias_value(0.75, 0.7, 0.5) > 1, bias_value(0.4, 0.7, 0.5) < 0, bias_value(0.6, 0.5, 0.5)
    (True, True, nan)
    """
    return (part - label) / (full - label) if full - label > _TINY else math.nan


def context_word_bias(
    scores: Scores, *, metric: Metric = "accuracy", resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> Biases:
    """Return both biases, the gaps and the score of every view, each with its interval.

    *scores* are those of one subject by view: ``full`` and, if they were measured, ``context``, ``word``, ``label``;
    further views (``random``, ``guessed_word``) are reported as they are. A score that was not measured is a
    :class:`~lexiscope.analysis.bias.view_scores.FixedScore`.

    People on AM²iCo (Table 5 and Figure 3 of the study, in percent): min(18.9, 19.4) = 18.9.

    >>> from lexiscope.analysis.bias.view_scores import FixedScore
    >>> human = {"full": 87.9, "context": 69.0, "word": 68.5, "label": 50.0}
    >>> found = context_word_bias({view: FixedScore(value, "printed") for view, value in human.items()})
    >>> found.minimum_gap.nearest, round(found.minimum_gap.value, 9), round(found.word_gap.value, 9)
    ('context', 18.9, 19.4)
    >>> round(found.context.value, 4)  # 19.0 / 37.9
    0.5013

    Errors: :class:`StatisticError` without the view ``full``, and those of :func:`draw_scores`.
    """
    if FULL not in scores:
        raise StatisticError("a bias compares parts of the input with the whole: the view full is missing")
    drawn = draw_scores(scores, metric=metric, resamples=resamples, seed=seed, level=level)
    context_gap, word_gap = _difference(drawn, FULL, CONTEXT), _difference(drawn, FULL, WORD)
    return Biases(
        metric=metric,
        views=tuple(drawn.values.values()),
        context=_bias(drawn, CONTEXT),
        word=_bias(drawn, WORD),
        context_span=_bias(drawn, CONTEXT_SPAN) if CONTEXT_SPAN in scores else None,
        full_over_label=_difference(drawn, FULL, LABEL),
        context_over_label=_difference(drawn, CONTEXT, LABEL),
        word_over_label=_difference(drawn, WORD, LABEL),
        context_gap=context_gap,
        word_gap=word_gap,
        minimum_gap=None if context_gap is None or word_gap is None else _minimum_gap(drawn, context_gap, word_gap),
        n_words=drawn.n_words,
    )


def seed_biases(dev: Mapping[str, Mapping[int, float]]) -> tuple[Estimate | Undefined, ...]:
    """Return mean and SD (n − 1) over seeds of both biases on dev; *dev* is view → seed → score (Table 7).

    A bias is that of the models of one seed on all views. With fewer than two seeds in common, or where FULL is not
    above LABEL for one of them, there is none. *Unit:* that of a bias. *Source:* the study, appendix B.

    >>> full, label = {0: 0.8, 1: 0.9}, {0: 0.5, 1: 0.5}
    >>> context = {0: 0.65, 1: 0.7}  # .15 / .3 and .2 / .4
    >>> found = seed_biases({"full": full, "label": label, "context": context})
    >>> [(result.name, round(result.value, 6), result.n) for result in found][0]
    ('context_bias(metric=accuracy,over=seeds,value=mean)', 0.5, 2)
    """
    results: list[Estimate | Undefined] = []
    for view in (CONTEXT, WORD):
        parts = [dev.get(name, {}) for name in (view, FULL, LABEL)]
        seeds = sorted(set.intersection(*map(set, parts)))
        values = [bias_value(*(part[seed] for part in parts)) for seed in seeds]
        if len(seeds) < 2:
            continue
        named = {"metric": "accuracy", "over": "seeds"}
        mean, sd = (statistic_name(f"{view}_bias", **named, value=value) for value in ("mean", "sd"))
        if any(map(math.isnan, values)):
            why = "FULL is not above LABEL on dev for one of the seeds"
            results += [Undefined(name, why, len(seeds)) for name in (mean, sd)]
        else:
            results.append(Estimate(mean, statistics.fmean(values), n=len(seeds)))
            results.append(Estimate(sd, statistics.stdev(values), n=len(seeds)))
    return tuple(results)


def effects_of_items(
    scores: Mapping[str, Scores],
    *,
    changed: str,
    metric: Metric = "accuracy",
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Estimate | Undefined, ...]:
    """Return what is above LABEL, and both biases, in several sets of items, and what one of these sets changes.

    *scores* are those of a subject by view, by the name of the items; a change is *changed* minus each of the others
    (``minus=``). A bias has a change only if FULL is shown to be above LABEL in both. Words are resampled, the same in
    all items and views. The view of a result is the part of the input.

    >>> from lexiscope.analysis.bias.view_scores import ViewScores
    >>> def right(*shares):
    ...     views = zip(("full", "context", "label"), shares, strict=True)
    ...     return {view: ViewScores([share] * 4, list("abcd")) for view, share in views}
    >>> effects = effects_of_items({"all": right(0.9, 0.8, 0.5), "kept": right(0.9, 0.6, 0.5)}, changed="kept")
    >>> [(effect.name, round(effect.value, 9)) for effect in effects if "minus" in effect.name][1:]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('view_difference(first=context,second=label,metric=accuracy,items=kept,minus=all)', -0.2),
     ('context_bias(metric=accuracy,items=kept,minus=all)', -0.5)]

    Errors: those of :func:`draw_scores`.
    """
    drawn = draw_scores(
        {f"{name} {view}": score for name, own in scores.items() for view, score in own.items()},
        metric=metric,
        resamples=resamples,
        seed=seed,
        level=level,
    )
    others = [name for name in scores if name != changed]
    views = [view for view in (FULL, CONTEXT, WORD) if view in scores[changed]]
    above = {(name, view): _minus(drawn, f"{name} {view}", f"{name} {LABEL}") for name in scores for view in views}
    learnt = [name for name in scores if drawn.interval(above[name, FULL][1]).low > 0]
    results: list[Estimate | Undefined] = []

    def add(statistic: str, view: str, value: float, interval: Interval | str, **items: str) -> None:
        what = {"first": view, "second": LABEL} if statistic == "view_difference" else {}
        name = statistic_name(statistic, **what, metric=metric, **items)
        n = drawn.values[f"{items['items']} {LABEL}"].n
        if isinstance(interval, str):
            results.append(Undefined(name, interval, n, view=view))
        else:
            results.append(Estimate(name, value, interval, n, drawn.n_words, view=view))

    for view in views:
        for name in scores:
            add("view_difference", view, above[name, view][0], drawn.interval(above[name, view][1]), items=name)
        value, draws = above[changed, view]
        for name in others:
            other, other_draws = above[name, view]
            add("view_difference", view, value - other, drawn.interval(draws - other_draws), items=changed, minus=name)
    for view in views[1:]:
        ratios: dict[str, tuple[float, FloatArray]] = {}
        for name in scores:
            part, room = above[name, view], above[name, FULL]
            ratio = bias_value(part[0], room[0], 0.0)
            why = f"FULL is not above LABEL ({100 * room[0]:.1f} points)" if math.isnan(ratio) else ""
            add(f"{view}_bias", view, ratio, why or drawn.interval_of_ratio(part, room), items=name)
            ratios[name] = ratio, np.divide(part[1], room[1], out=np.full_like(room[1], np.nan), where=room[1] > _TINY)
        value, draws = ratios[changed]
        for name in others:
            other, other_draws = ratios[name]
            why = "" if {changed, name} <= {*learnt} else "FULL is not shown to be above LABEL in both sets of items"
            change = why or drawn.interval(draws - other_draws)
            add(f"{view}_bias", view, value - other, change, items=changed, minus=name)
    return tuple(results)


def _minus(drawn: DrawnScores, first: str, second: str) -> tuple[float, FloatArray]:
    return drawn.values[first].value - drawn.values[second].value, drawn.draws[first] - drawn.draws[second]


def _bias(drawn: DrawnScores, view: str) -> Bias:
    missing = [name for name in (FULL, LABEL, view) if name not in drawn.values]
    if missing:
        nothing = np.full(drawn.resamples, np.nan)
        named = f"views {' and '.join(missing)} are" if len(missing) > 1 else f"view {missing[0]} is"
        return Bias(view, math.nan, drawn.interval(nothing), f"the {named} not there")
    full, label = drawn.values[FULL].value, drawn.values[LABEL].value
    value = bias_value(drawn.values[view].value, full, label)
    reason = f"FULL ({full:.3g}) is not above LABEL ({label:.3g})" if math.isnan(value) else ""
    return Bias(view, value, drawn.interval_of_ratio(_minus(drawn, view, LABEL), _minus(drawn, FULL, LABEL)), reason)


def _difference(drawn: DrawnScores, first: str, second: str) -> ViewDifference | None:
    if first not in drawn.values or second not in drawn.values:
        return None
    value, draws = _minus(drawn, first, second)
    return ViewDifference(first, second, value, drawn.interval(draws))


def _minimum_gap(drawn: DrawnScores, context: ViewDifference, word: ViewDifference) -> MinimumGap:
    draws = drawn.draws[FULL] - np.maximum(drawn.draws[CONTEXT], drawn.draws[WORD])
    smaller = min(context, word, key=lambda gap: gap.value)
    return MinimumGap(smaller.value, smaller.second, drawn.interval(np.asarray(draws)))
