"""Scores of one subject in several views, and their draws: the same resampled words in all views.

A view is a part of the input: ``full``, ``context``, ``word``, ``label`` (nothing). Items that share a word share its
meanings, so words are resampled, not items. Views need not hold the same items (people see other items in each view):
a word that is drawn twice counts twice in every view in which it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray, percentile_interval, ratio_draws
from lexiscope.analysis.correlation import Kind, correlation_value, drawn_correlations, is_constant
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Interval, statistic_name

Metric = Literal["accuracy", "spearman", "pearson"]
"""What a score of a view is: the share of right answers, or the correlation of predictions with a graded gold."""

METRICS: tuple[Metric, ...] = ("accuracy", "spearman", "pearson")


@dataclass(frozen=True, slots=True, eq=False)
class ViewScores:
    """What a subject did with the items of one view. *Shape:* values, words, gold (items,).

    For ``accuracy`` the values are 1 (right) and 0 (wrong), or what lies between, such as the mean over seeds of
    training; for a correlation they are predictions, and ``gold`` holds what they should be. ``words`` is what is
    resampled; give the item ids where every item stands for itself.
    """

    values: ArrayLike
    words: ArrayLike
    gold: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class FixedScore:
    """A score that was not measured here, and why it stands there: printed, assumed, a closed form.

    It is the same in every resample, so an interval says nothing of its precision. *Unit:* that of the metric.
    """

    value: float
    why: str


Scores = Mapping[str, ViewScores | FixedScore]
"""The scores of a subject by the name of the view."""


@dataclass(frozen=True, slots=True)
class ViewValue:
    """The score of one view. ``fixed`` says why it was not measured (empty where it was), ``note`` what else to know.

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
            return percentile_interval(draws, level=self.level)
        why = "all items share one word" if self.n_words else "nothing was measured here"
        name = statistic_name("bootstrap", method="percentile", level=f"{self.level:g}", resamples=0)
        return Interval(np.nan, np.nan, self.level, name, 0, 0, f"no interval: {why}")


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
        raise StatisticError(f"no metric {metric!r}; there are: {', '.join(METRICS)}")
    measured = {
        view: _view_columns(view, given, metric) for view, given in scores.items() if isinstance(given, ViewScores)
    }
    fixed = {view: given for view, given in scores.items() if isinstance(given, FixedScore)}
    codes, n_words = _word_codes(measured)
    drawn = resamples if n_words > 1 else 0
    draws = {
        view: ratio_draws(
            columns.values, np.ones(len(columns.values)), codes[view], n_words, resamples=drawn, seed=seed
        )
        if metric == "accuracy"
        else np.zeros(drawn)
        if is_constant(columns.values)
        else drawn_correlations(
            columns.values, columns.gold, codes[view], n_words, kind=_kind(metric), resamples=drawn, seed=seed
        )
        for view, columns in measured.items()
    }
    draws |= {view: np.full(drawn, score.value) for view, score in fixed.items()}
    empty = DrawnScores({}, draws, n_words, drawn, level)
    values = {
        view: _fixed_value(view, fixed[view], empty)
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
        raise StatisticError(what, hint="give one of each for every item, and at least one item")
    if not (np.isfinite(values).all() and np.isfinite(gold).all()):
        raise StatisticError(f"a value of the view {view} is missing", hint="drop such items and say how many")
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


def _fixed_value(view: str, score: FixedScore, drawn: DrawnScores) -> ViewValue:
    name = statistic_name("bootstrap", method="percentile", level=f"{drawn.level:g}", resamples=0)
    interval = Interval(np.nan, np.nan, drawn.level, name, 0, 0, f"no interval: the value is {score.why}")
    return ViewValue(view, score.value, interval, 0, 0, fixed=score.why)
