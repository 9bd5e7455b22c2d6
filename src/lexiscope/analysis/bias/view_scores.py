"""Scores of one subject by view, from its responses, on the same bootstrap samples; gaps between people and models.

A view is a part of the input: ``full``, ``context``, ``word``, ``label`` (nothing). Items that share a word share its
meanings, so words are resampled, not items. Views need not hold the same items (people see other items in each view):
a word that is drawn twice counts twice in every view in which it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bias.view_errors import is_right
from lexiscope.analysis.bootstrap import (
    FloatArray,
    GroupLabels,
    IntArray,
    fieller_interval,
    no_interval,
    percentile_interval,
    ratio_draws,
)
from lexiscope.analysis.correlation import Kind, correlate_columns, correlation_value, drawn_correlations, is_constant
from lexiscope.analysis.ranks import rank_results
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

Metric = Literal["accuracy", "spearman", "pearson"]
"""What a score of a view is: the share of correct answers, or the correlation of predictions with a graded gold."""

METRICS: tuple[Metric, ...] = ("accuracy", "spearman", "pearson")


@dataclass(frozen=True, slots=True, eq=False)
class ViewScores:
    """What a subject did with the items of one view. *Shape:* values, words, gold (items,).

    For ``accuracy`` the values are 1 (right) and 0 (wrong), or what is between, such as the mean over seeds of
    training; for a correlation they are predictions, and ``gold`` holds what they should be. ``words`` is what is
    resampled; give the item ids where every item stands for itself. ``items`` are the ids of the items, by which the
    scores of several subjects are compared (:func:`view_ranks`).
    """

    values: ArrayLike
    words: ArrayLike
    gold: ArrayLike | None = None
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixedScore:
    """A score that was not measured here, and why it is there: printed, assumed, a closed form.

    It is the same in every resample, so an interval does not show its precision. *Unit:* that of the metric.
    """

    value: float
    why: str


Scores = Mapping[str, ViewScores | FixedScore]
"""The scores of a subject by the name of the view."""


@dataclass(frozen=True, slots=True)
class ViewValue:
    """The score of one view. ``fixed`` is the reason it was not measured, or empty; ``note`` what else to know.

    ``n`` counts items, ``n_words`` the words among them. *Unit:* that of the metric; accuracy 0 to 1.
    """

    view: str
    value: float
    interval: Interval
    n: int
    n_words: int
    fixed: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnScores:
    """Scores with their draws: what every statistic of several views is made of. *Shape:* each draw (resamples,).

    ``n_words`` counts the words of all views together; with fewer than two there are no draws.
    """

    values: Mapping[str, ViewValue]
    draws: Mapping[str, FloatArray]
    n_words: int
    resamples: int
    level: float

    def interval(self, draws: FloatArray) -> Interval:
        """Return the percentile interval of a statistic's draws, or the reason why there is none."""
        if self.n_words > 1:
            return percentile_interval(draws, level=self.level, resampled="words", n_groups=self.n_words)
        return self.no_interval("all items share one word" if self.n_words else "nothing was measured here")

    def interval_of_ratio(self, top: tuple[float, FloatArray], bottom: tuple[float, FloatArray]) -> Interval:
        """Return the interval of a ratio of two statistics, each a value with its draws (:func:`fieller_interval`)."""
        if self.n_words < 2:
            return self.interval(top[1])
        (above, above_draws), (below, below_draws) = top, bottom
        return fieller_interval(
            above, below, above_draws, below_draws, level=self.level, resampled="words", n_groups=self.n_words
        )

    def no_interval(self, why: str) -> Interval:
        """Return an interval without bounds that has the reason."""
        return no_interval(why, level=self.level, resamples=0, resampled="words")


def draw_scores(
    scores: Scores, *, metric: Metric = "accuracy", resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> DrawnScores:
    """Return the score of each view and its draws: words resampled with replacement, the same in all views.

    A prediction that is one and the same for all items has no correlation with anything; its score counts as 0, in
    every draw, and the value's note says so. A draw in which a view has no item, or a correlation none, is NaN.

    >>> views = {"full": ViewScores([1, 1, 0, 1], list("aabb")), "label": FixedScore(0.5, "assumed")}
    >>> found = draw_scores(views, resamples=100)
    >>> found.values["full"].value, found.n_words, found.draws["label"][:2].tolist()
    (0.75, 2, [0.5, 0.5])

    Errors: :class:`StatisticError` naming the view where values, words and gold do not go together, a value is
    missing, an accuracy lies outside 0 to 1, or a correlation has no graded gold.
    """
    if metric not in METRICS:
        raise StatisticError(f"no metric {metric!r}; valid names: {', '.join(METRICS)}")
    measured = {
        view: _view_columns(view, given, metric) for view, given in scores.items() if isinstance(given, ViewScores)
    }
    fixed = {view: given for view, given in scores.items() if isinstance(given, FixedScore)}
    codes, n_words = _word_codes(measured)
    drawn = resamples if n_words > 1 else 0
    draws = {
        view: _view_draws(columns, codes[view], n_words, metric, resamples=drawn, seed=seed)
        for view, columns in measured.items()
    }
    draws |= {view: np.full(drawn, score.value) for view, score in fixed.items()}
    empty = DrawnScores({}, draws, n_words, drawn, level)
    values = {
        view: ViewValue(
            view, fixed[view].value, empty.no_interval(f"the value is {fixed[view].why}"), 0, 0, fixed=fixed[view].why
        )
        if view in fixed
        else _measured_value(view, measured[view], codes[view], metric, empty)
        for view in scores
    }
    return DrawnScores(values, draws, n_words, drawn, level)


@dataclass(frozen=True, slots=True, eq=False)
class _ViewColumns:
    values: FloatArray
    words: np.ndarray[tuple[int], np.dtype[np.str_]]
    gold: FloatArray


def _view_columns(view: str, scores: ViewScores, metric: Metric) -> _ViewColumns:
    values = np.asarray(scores.values, dtype=np.float64)
    gold = values if scores.gold is None else np.asarray(scores.gold, dtype=np.float64)
    words = np.asarray(scores.words, dtype=np.str_)
    if values.ndim != 1 or not len(values) or not len(values) == len(words) == len(gold):
        what = f"the view {view} has {values.size} values, {words.size} words and {gold.size} gold values"
        raise StatisticError(what, hint="give one of each for every item; at least one item is needed")
    if not (np.isfinite(values).all() and np.isfinite(gold).all()):
        raise StatisticError(f"a value of the view {view} is missing", hint="exclude such items, report their number")
    if metric == "accuracy" and not ((values >= 0) & (values <= 1)).all():
        raise StatisticError(f"the view {view} has an accuracy outside 0 to 1")
    if metric != "accuracy" and (scores.gold is None or is_constant(gold) or len(gold) < 3):
        what = f"the {metric} of the view {view} needs a graded gold of at least 3 items that are not all alike"
        raise StatisticError(what)
    return _ViewColumns(values, words, gold)


def _word_codes(measured: Mapping[str, _ViewColumns]) -> tuple[dict[str, IntArray], int]:
    """The number of each item's word among the words of all views."""
    if not measured:
        return {}, 0
    labels, inverse = np.unique(np.concatenate([columns.words for columns in measured.values()]), return_inverse=True)
    ends = np.cumsum([len(columns.words) for columns in measured.values()])
    parts = np.split(inverse.reshape(-1).astype(np.int64), ends[:-1])
    return dict(zip(measured, parts, strict=True)), len(labels)


def _view_draws(
    scores: _ViewColumns, codes: IntArray, n_words: int, metric: Metric, *, resamples: int, seed: int
) -> FloatArray:
    """The score of a view in each resample of words. *Shape:* (resamples,)."""
    values = scores.values
    if metric == "accuracy":
        return ratio_draws(values, np.ones(len(values)), codes, n_words, resamples=resamples, seed=seed)
    if is_constant(values):
        return np.zeros(resamples)
    return drawn_correlations(values, scores.gold, codes, n_words, kind=_kind(metric), resamples=resamples, seed=seed)


def _kind(metric: Metric) -> Kind:
    return "spearman" if metric == "spearman" else "pearson"


def _measured_value(view: str, scores: _ViewColumns, codes: IntArray, metric: Metric, drawn: DrawnScores) -> ViewValue:
    note = ""
    if metric == "accuracy":
        value = float(scores.values.mean())
    elif is_constant(scores.values):
        value, note = 0.0, "one prediction for all items: no correlation, counted as 0"
    else:
        value = correlation_value(scores.values, scores.gold, kind=_kind(metric))
    interval = drawn.interval(drawn.draws[view])
    return ViewValue(view, value, interval, len(scores.values), len(np.unique(codes)), note=note)


# -- people and models view by view: how far a model stays behind people, and ambiguity beside word bias ------------


@dataclass(frozen=True, slots=True)
class ViewGap:
    """The score of people minus that of a model in one view. *Unit:* that of the metric.

    ``note`` says where one of the two was not measured: the interval then holds the other's sampling only.
    *Higher means:* the model stays further behind people.
    """

    view: str
    model: ViewValue
    human: ViewValue
    value: float
    interval: Interval
    note: str = ""

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies wholly above or wholly below 0; without an interval it does not."""
        return self.interval.is_defined and not self.interval.low <= 0 <= self.interval.high


def human_model_gaps(
    model: Scores,
    human: Scores,
    *,
    metric: Metric = "accuracy",
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[ViewGap, ...]:
    """Return people minus model in each view that both have, in the order of *human*; words are resampled for both.

    AM²iCo and BERT (Table 5 of the study: 3, 7.5 and 16.9 points). The human scores are printed, those of the model
    follow from the printed gaps.

    >>> from lexiscope.analysis.bias.view_scores import FixedScore
    >>> human = {"context": 69.0, "word": 68.5, "full": 87.9}
    >>> model = {"full": 71.0, "context": 71.0 - 5, "word": 71.0 - 10}
    >>> fixed = [{view: FixedScore(value, "printed") for view, value in scores.items()} for scores in (model, human)]
    >>> [(gap.view, round(gap.value, 9)) for gap in human_model_gaps(*fixed)]
    [('context', 3.0), ('word', 7.5), ('full', 16.9)]

    Errors: :class:`StatisticError` where they have no view in common, and those of :func:`draw_scores`.
    """
    shared = [view for view in human if view in model]
    if not shared:
        raise StatisticError(f"people saw {', '.join(human)}, the model {', '.join(model)}: no view in common")
    # one mapping for both, so that one draw of words serves people and model
    both = {f"model {view}": model[view] for view in shared} | {f"human {view}": human[view] for view in shared}
    drawn = draw_scores(both, metric=metric, resamples=resamples, seed=seed, level=level)
    gaps = []
    for view in shared:
        low, high = drawn.values[f"model {view}"], drawn.values[f"human {view}"]
        interval = drawn.interval(drawn.draws[f"human {view}"] - drawn.draws[f"model {view}"])
        gaps.append(ViewGap(view, low, high, high.value - low.value, interval, _note(low, high)))
    return tuple(gaps)


def ambiguity_and_word_bias(
    entropy: Mapping[str, float],
    word_bias: Mapping[str, float],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate | Undefined:
    """Return Spearman's rho of ambiguity (mean entropy of words) and word bias over the datasets that have both.

    *Higher means:* the more ambiguous the words of a dataset, the larger its word bias. Datasets are resampled; they
    are few, so ``n`` belongs with the value. NaN counts as not there. *Source:* the context–word bias study, §3.1.

    >>> entropy = {"a": 0.21, "b": 0.06, "c": 0.04, "d": 0.001}
    >>> found = ambiguity_and_word_bias(entropy, {"a": 0.5, "b": 0.8, "c": 0.9, "d": 1.0, "e": 0.1})
    >>> found.name, found.value, found.n
    ('spearman(of=ambiguity,with=word_bias)', -1.0, 4)
    """
    shared = [name for name in entropy if np.isfinite(entropy[name]) and np.isfinite(word_bias.get(name, np.nan))]
    x, y = [entropy[name] for name in shared], [word_bias[name] for name in shared]
    name = statistic_name("spearman", of="ambiguity", **{"with": "word_bias"})
    if len(shared) < 3:
        return Undefined(name, f"only {len(shared)} datasets have both; a correlation needs at least 3", len(shared))
    if len(set(y)) == 1:
        return Undefined(name, "the word bias of all datasets is the same", len(shared))
    columns, datasets = np.array(x)[:, None], GroupLabels(shared, "datasets")
    (rho,) = correlate_columns(
        columns, y, kind="spearman", groups=datasets, resamples=resamples, seed=seed, level=level
    )
    return replace(rho, name=name)


def _note(model: ViewValue, human: ViewValue) -> str:
    fixed = [
        f"the score of {who} is {value.fixed}"
        for who, value in (("people", human), ("the model", model))
        if value.fixed
    ]
    return "; ".join(fixed)


# -- from responses to scores by view: each answer compared with the gold answers of its item -----------------------


Unanswered = Literal["wrong", "left out"]  # words: ok, the value of an argument


def answers_by_view(
    responses: ResponseColumns, *, subject: str, measure: str = "choice"
) -> dict[str, dict[str, str | None]]:
    """Return the answers of one subject: view → item id → option, ``None`` where there is no readable answer.

    Of several answers to one item in one view the last row counts (a changed mind is a later row).

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> given = [Response("m", "classifier", "i1", "same_sense", "choice", None, raw, view="full") for raw in "tf"]
    >>> answers_by_view(ResponseTable.from_rows(given), subject="m")
    {'full': {'i1': 'f'}}
    """
    own = responses.where(subject_id=subject, measure=measure)
    by_view: dict[str, dict[str, str | None]] = {}
    columns = (own.column(name).tolist() for name in ("view", "item_id", "option"))
    for view, item, option in zip(*columns, strict=True):
        by_view.setdefault("full" if view is None else view, {})[item] = option
    return by_view


def scored_views(
    responses: ResponseColumns,
    gold: Mapping[str, str],
    words: Mapping[str, str],
    *,
    subjects: Collection[str],
    measure: str = "choice",
    unanswered: Unanswered = "wrong",
) -> dict[str, ViewScores]:
    """Return the scores of each view: for every item the share of correct answers of the *subjects* who were asked it.

    *subjects* are one model, the seeds of one training, or all annotators; *gold* (item id → correct answer, several
    with ``|`` between them) says which items count, *words* what is resampled. A row without a readable answer is
    ``wrong``, or ``excluded`` together with items that then have no answer. Items that a subject was never asked lower
    nothing.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> def row(who, option):
    ...     return Response(who, "participant", "i1", "same_sense", "choice", None, option, view="full")
    >>> table = ResponseTable.from_rows([row("ana", "t"), row("leo", "f")])
    >>> scores = scored_views(table, {"i1": "t"}, {"i1": "iron"}, subjects=["ana", "leo"])
    >>> scores["full"].values, scores["full"].words
    ([0.5], ['iron'])

    Errors: :class:`InputError` naming an item without a word; :class:`StatisticError` where there is no answer at all.
    """
    right: dict[str, dict[str, list[bool]]] = {}
    for subject in subjects:
        for view, answers in answers_by_view(responses, subject=subject, measure=measure).items():
            for item, answer in answers.items():
                if item in gold and (answer is not None or unanswered == "wrong"):
                    right.setdefault(view, {}).setdefault(item, []).append(is_right(answer, gold[item]))
    if not right:
        who = ", ".join(subjects) or "any subject"
        raise StatisticError(f"there is no answer ({measure}) of {who} to an item with a gold answer")
    return {view: _scores(items, gold, words) for view, items in right.items()}


def _scores(right: Mapping[str, list[bool]], gold: Mapping[str, str], words: Mapping[str, str]) -> ViewScores:
    # in the order of the items, so that the order of the answers changes nothing
    items = [item for item in gold if item in right]
    without = [item for item in items if not words.get(item)]
    if without:
        raise InputError("this item has no word, so that it cannot be resampled", place=Place(item_id=without[0]))
    shares = [sum(right[item]) / len(right[item]) for item in items]
    return ViewScores(shares, [words[item] for item in items], items=tuple(items))


def view_ranks(
    scores: Mapping[str, Scores], *, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> list[Estimate | Undefined]:
    """Return the rank of each subject by its accuracy in each view, with its set of ranks in the place of an interval.

    *scores* are by subject; only items that all subjects of a view answered are compared, and words are resampled
    (:func:`~lexiscope.analysis.ranks.rank_results`). A view in which one subject alone was scored has no ranks.

    >>> right = {who: {"full": ViewScores([share] * 4, list("aabb"), items=tuple("ijkl"))} for who, share in
    ...          (("m", 1.0), ("n", 0.0))}
    >>> [(rank.subject, rank.view, rank.value) for rank in view_ranks(right, resamples=100)]
    [('m', 'full', 1.0), ('n', 'full', 2.0)]
    """
    by_view: dict[str, dict[str, dict[str, float]]] = {}
    words: dict[str, str] = {}
    for subject, views in scores.items():
        for view, own in views.items():
            if isinstance(own, ViewScores) and own.items:
                values = dict(zip(own.items, np.asarray(own.values, np.float64).tolist(), strict=True))
                by_view.setdefault(view, {})[subject] = values
                words |= zip(own.items, np.asarray(own.words, np.str_).tolist(), strict=True)
    ranks: list[Estimate | Undefined] = []
    for view, given in by_view.items():
        items = list(dict.fromkeys(item for values in given.values() for item in values))
        columns = {subject: [values.get(item, math.nan) for item in items] for subject, values in given.items()}
        labels = GroupLabels([words[item] for item in items], "words")
        results = rank_results("accuracy", columns, groups=labels, resamples=resamples, seed=seed, level=level)
        ranks += [rank.about(view=view) for rank in results]
    return ranks
