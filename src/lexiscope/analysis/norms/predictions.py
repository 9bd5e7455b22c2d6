"""Predicted ratings compared with people's: which items have both, and the official score of the shared task.

A prediction is a row ``rating`` of a subject. It may be a whole number (a chat model's answer) or not (a regression, an
expected value): unrounded predictions gain three to five points of accuracy within SD, so the form is part of a name.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import Bootstrap, FloatArray, GroupLabels, cluster_labels
from lexiscope.analysis.correlation import correlation_value, is_constant, spearman
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.ranks import rank_results
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name

Form = Literal["integer", "rounded", "raw"]
Rounding = Literal["half_up", "half_even"]
Predictions = Mapping[str, float | None]
"""Item id → prediction, ``None`` where there was no readable answer."""

RHO = statistic_name("spearman", of="predictions", **{"with": "norms"})
"""The name of the correlation of predictions with people's means."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Items with a prediction, and what people said of them.

    *Shape:* predicted, mean, sd (n − 1), n_ratings (items,). ``n_missing`` rated items have no prediction.
    """

    item_ids: tuple[str, ...]
    predicted: FloatArray
    mean: FloatArray
    sd: FloatArray
    n_ratings: FloatArray
    n_missing: int

    def labels(self, groups: Mapping[str, str] | None) -> GroupLabels | None:
        """Return each item's group (its word), or nothing where there are no groups.

        Errors: :class:`InputError` E506 naming an item without a group.
        """
        return cluster_labels(self.item_ids, groups, what="group")


def predictions_of(table: ResponseColumns, subject: str, *, measure: str = "rating") -> dict[str, float | None]:
    """Return what a subject predicts for each item, ``None`` for an answer without a value.

    Errors: :class:`InputError` E504 where the subject has no such row, E502 for an item that it answered twice.
    """
    rows = table.where(subject_id=subject, measure=measure)
    if not len(rows):
        raise InputError(f"{subject} has no row of {measure!r}", code="E504", hint="collect its answers first")
    by_item: dict[str, float | None] = {}
    for item, value in zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True):
        if item in by_item:
            hint = "choose one layer, view or repeat, or average them first"
            raise InputError(f"{subject} answered an item twice", code="E502", place=Place(item_id=item), hint=hint)
        by_item[item] = None if np.isnan(value) else float(value)
    return by_item


@dataclass(frozen=True, eq=False)
class Predictor:
    """What one subject predicts. ``predictions``: item id → rating, ``None`` where no reply could be read.

    ``form`` is ``integer`` where all are whole numbers. ``n_asked`` counts questions, repetitions included, ``kinds``
    what became of those that have no value (refusal, prose …), ``repeats`` how often each question was asked; the
    prediction is then the mean of the readable answers. ``subject`` and ``title`` are what tables call it.
    """

    subject: str
    title: str
    predictions: Predictions
    form: Form
    n_asked: int
    kinds: Mapping[str, int]
    repeats: int

    @property
    def n_unreadable(self) -> int:
        """How many questions have no value."""
        return sum(self.kinds.values())

    @property
    def n_read(self) -> int:
        """How many items have a prediction: at least one readable answer."""
        return sum(value is not None for value in self.predictions.values())

    @property
    def read_of_asked(self) -> str:
        """How many items have a prediction, of how many, as tables print it."""
        return f"{self.n_read} / {len(self.predictions)}"

    @property
    def unread_in_words(self) -> str:
        """What became of the questions that have no value, with counts; empty where all were read."""
        return "; ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in self.kinds.items())

    @property
    def whole_form(self) -> Form:
        """The form of the predictions as whole numbers: those that are none are rounded."""
        return "integer" if self.form == "integer" else "rounded"

    def results(self) -> tuple[Estimate, ...]:
        """Return how many answers it was asked for, and what became of those that could not be read."""
        counts = {
            "n_asked": self.n_asked,
            "n_items_asked": len(self.predictions),
            "n_items_read": self.n_read,
            "n_unreadable": self.n_unreadable,
        }
        for kind, count in self.kinds.items():
            counts[statistic_name("n_unreadable", kind=kind.replace(" ", "_"))] = count
        return tuple(Estimate(name, count, subject=self.subject) for name, count in counts.items())

    def column(self, item_ids: Sequence[str]) -> FloatArray:
        """Return the prediction of each item, not-a-number where there is none. *Shape:* (items,)."""
        given = (self.predictions.get(item) for item in item_ids)
        return np.array([np.nan if value is None else value for value in given], dtype=np.float64)

    @cached_property
    def whole(self) -> dict[str, float | None]:
        """The predictions as whole numbers of the scale, halves up; those that are whole stay as they are."""
        if self.form == "integer":
            return dict(self.predictions)
        return {item: None if value is None else float(rounded([value])[0]) for item, value in self.predictions.items()}


def predictor(
    table: ResponseColumns, subject: str, *, measure: str = "rating", replies: str = "", form: Form | None = None
) -> Predictor:
    """Return what a subject predicts, questions that were asked repeatedly averaged over the readable answers.

    *replies* is the measure whose option says what became of each reply (``ok``, ``refusal`` …), where the subject has
    such rows. *form* is that of the values: by default ``integer`` where all are whole numbers.
    Errors: :class:`InputError` E504 where the subject has no row of the measure.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> values = (("a", 4.0, 0), ("a", None, 1), ("b", None, 0))
    >>> rows = [Response("m", "chat", item, "t", "rating", value, repeat=k) for item, value, k in values]
    >>> found = predictor(ResponseTable.from_rows(rows), "m")
    >>> dict(found.predictions), found.form, found.n_asked, found.kinds, found.read_of_asked
    ({'a': 4.0, 'b': None}, 'integer', 3, {'without a value': 2}, '1 / 2')
    >>> [(result.name, result.value) for result in found.results()][3:]
    [('n_unreadable', 2), ('n_unreadable(kind=without_a_value)', 2)]
    """
    rows, kinds = table.where(subject_id=subject, measure=measure), table.where(subject_id=subject, measure=replies)
    if not len(rows):
        raise InputError(f"{subject} has no row of {measure!r}", code="E504", hint="collect its answers first")
    values: dict[str, list[float]] = {}
    for item, value in zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True):
        values.setdefault(item, []).append(value)
    given = {item: [value for value in several if not np.isnan(value)] for item, several in values.items()}
    predictions = {item: sum(several) / len(several) if several else None for item, several in given.items()}
    whole = all(value is None or value.is_integer() for value in predictions.values())
    missing = int(np.isnan(rows.column("value").astype(np.float64)).sum())
    unread = Counter({"without a value": missing} if missing else {})
    if len(kinds):
        unread = Counter(str(kind) for kind in kinds.column("option").tolist() if kind != "ok")
        # an answer without a value whose reply says nothing of it is counted, too
        unread += Counter({"without a value": missing - unread.total()})
    repeats = max(map(len, values.values()))
    form = form or ("integer" if whole else "raw")
    return Predictor(subject, subject, predictions, form, len(rows), dict(sorted(unread.items())), repeats)


def predictors(
    table: ResponseColumns,
    measures: Mapping[str, str],
    *,
    titles: Mapping[str, str] | None = None,
    replies: str = "",
    raw: Collection[str] = (),
) -> tuple[Predictor, ...]:
    """Return what every subject predicts, in the order of the table; what it says in several measures one by one.

    *measures* are those of predictions, and what is added to the names of subjects in each; *titles* are names by id.
    *replies* are those of the first measure (:func:`predictor`); values in a measure of *raw* are not rounded.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("m", "chat", "i", "t", measure, 4.0) for measure in ("rating", "expected_rating")]
    >>> measures = {"rating": "", "expected_rating": ", expected value"}
    >>> found = predictors(ResponseTable.from_rows(rows), measures, titles={"m": "M"}, raw=("expected_rating",))
    >>> [(result.subject, result.title, result.form) for result in found]
    [('m', 'M', 'integer'), ('m, expected value', 'M, expected value', 'raw')]
    """
    given = table.where(measure=tuple(measures))
    main, rows = next(iter(measures)), []
    for subject in dict.fromkeys(map(str, given.column("subject_id").tolist())):
        name = (titles or {}).get(subject) or subject
        for measure, added in measures.items():
            if len(given.where(subject_id=subject, measure=measure)):
                form: Form | None = "raw" if measure in raw else None
                row = predictor(table, subject, measure=measure, replies=replies if measure == main else "", form=form)
                rows.append(replace(row, subject=subject + added, title=name + added))
    return tuple(rows)


def judged(predictions: Predictions, ratings: Ratings, *, form: Form) -> Judged:
    """Return the items that have a prediction, with the mean and SD of people's ratings.

    *form* ``integer`` takes whole numbers only, ``raw`` predictions as they are; ``rounded`` rounds them, halves up.
    Errors: :class:`InputError` for a prediction of another item, or one that is no number of that form;
    :class:`StatisticError` where an item has fewer than two ratings, or none has a prediction.
    """
    unknown = sorted(set(predictions) - set(ratings.item_ids))
    if unknown:
        raise InputError(f"{len(unknown)} predictions are of items without ratings", place=Place(item_id=unknown[0]))
    given = {item: value for item, value in predictions.items() if value is not None and not np.isnan(value)}
    chosen = [code for code, item in enumerate(ratings.item_ids) if item in given]
    if not chosen:
        raise StatisticError("no item has a prediction")
    items = tuple(ratings.item_ids[code] for code in chosen)
    predicted = np.array([given[item] for item in items], dtype=np.float64)
    predicted = rounded(predicted) if form == "rounded" else predicted
    _check_form(predicted, items, form)
    sd, n = item_sd(ratings)[chosen], ratings.counts()[chosen].astype(np.float64)
    if np.isnan(sd).any():
        item = items[int(np.flatnonzero(np.isnan(sd))[0])]
        raise StatisticError(f"item {item} has fewer than two ratings, so no SD", hint="leave it out, and say so")
    return Judged(items, predicted, ratings.means()[chosen], sd, n, ratings.n_items - len(items))


def rho_with_means(
    predictions: Predictions,
    ratings: Ratings,
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | Undefined:
    """Return Spearman's correlation of predictions with the mean ratings; a constant prediction has none, and says so.

    *Higher means:* ranks items as people do. *Source:* AmbiStory §5.1. *groups* (item id → word) are resampled whole.
    Missing predictions are excluded: :func:`judged` counts them.
    Errors: as :func:`judged`.

    >>> people = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 2, 2, 3, 5, 4, 5, 5])
    >>> found = rho_with_means({"i": 1, "j": 3, "k": 2, "l": 5}, people, resamples=0)
    >>> round(found.value, 9)  # ranks 1 3 2 4 against 1 2 3 4: 1 - 6 * 2 / (4 * 15)
    0.8
    >>> rho_with_means(dict.fromkeys("ijkl", 4), people).reason
    'every prediction is 4'
    """
    both = judged(predictions, ratings, form="raw")
    if len(np.unique(both.predicted)) == 1:
        return Undefined(RHO, f"every prediction is {both.predicted[0]:g}", len(both.item_ids))
    labels = both.labels(groups)
    rho = spearman(both.predicted, both.mean, groups=labels, level=level, resamples=resamples, seed=seed)
    return replace(rho, name=RHO)


def rank_predictors(
    predictors: Sequence[Predictor],
    ratings: Ratings,
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> list[Estimate | Undefined]:
    """Return the rank of each subject by the correlation of its predictions with the mean ratings.

    Only items that all of them predict are compared (:func:`~lexiscope.analysis.ranks.rank_results`).

    >>> people = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 2, 2, 3, 5, 4, 5, 5])
    >>> given = [Predictor(name, name, dict(zip("ijkl", name)), "raw", 4, {}, 1) for name in ("1325", "1235")]
    >>> [(found.subject, found.value) for found in rank_predictors(given, people, resamples=99)]
    [('1325', 2.0), ('1235', 1.0)]
    """
    columns = {predictor.subject: predictor.column(ratings.item_ids) for predictor in predictors}
    labels = cluster_labels(ratings.item_ids, groups, what="group")
    return rank_results(
        "spearman", columns, ratings.means(), groups=labels, level=level, resamples=resamples, seed=seed
    )


def nearness_by_layer(
    table: ResponseColumns,
    ratings: Ratings,
    *,
    measure: str = "cosine_distance",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return Spearman's correlation of nearness (minus a distance) with the mean ratings: of each subject, each layer.

    *Higher means:* what is nearer is rated higher. Items without ratings are passed over. To name the best layer is to
    choose it on the items that are judged. Errors: as :func:`judged`.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("m", "encoder", item, "t", "cosine_distance", value, layer=1)
    ...         for item, value in (("i", 0.9), ("j", 0.5), ("k", 0.1))]
    >>> people = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 2, 3, 3, 5, 5])
    >>> (found,) = nearness_by_layer(ResponseTable.from_rows(rows), people, resamples=0)
    >>> found.name, found.subject, found.layer, round(found.value, 9)
    ('spearman(of=nearness,with=norms)', 'm', 1, 1.0)
    """
    answered, known = table.where(measure=measure), set(ratings.item_ids)
    name = statistic_name("spearman", of="nearness", **{"with": "norms"})
    by_layer = []
    for subject in dict.fromkeys(map(str, answered.column("subject_id").tolist())):
        own = answered.where(subject_id=subject)
        for layer in sorted({int(layer) for layer in own.column("layer").tolist()}):
            distances = predictions_of(own.where(layer=layer), subject, measure=measure)
            near = {item: None if far is None else -far for item, far in distances.items() if item in known}
            rho = rho_with_means(near, ratings, groups=groups, level=level, resamples=resamples, seed=seed)
            by_layer.append(rho.about(name=name, subject=subject, layer=layer))
    return tuple(by_layer)


def summaries_of_measure(
    table: ResponseColumns,
    measure: str,
    parts: Mapping[str, Collection[str]],
    groups: Mapping[str, str],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the mean and the highest value of a measure of subjects (tokens, times) on each part of the items.

    *parts* are the ids of items by the condition of the results; *groups* (item id → word) are resampled whole for the
    interval of the mean. Answers without a value are passed over, and parts without any.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("m", "chat", item, "t", "tokens", value) for item, value in zip("ijk", (20.0, 40.0, None))]
    >>> words = {"i": "bank", "j": "bat", "k": "bat"}
    >>> found = summaries_of_measure(ResponseTable.from_rows(rows), "tokens", {"all": "ijk"}, words, resamples=0)
    >>> [(result.name, result.value, result.n) for result in found]
    [('tokens(summary=mean)', 30.0, 2), ('tokens(summary=max)', 40.0, 2)]
    """
    given, summaries = table.where(measure=measure), list[Estimate]()
    for subject in dict.fromkeys(map(str, given.column("subject_id").tolist())):
        for condition, items in parts.items():
            rows = given.where(subject_id=subject, item_id=tuple(items))
            values = rows.column("value").astype(np.float64)
            known = ~np.isnan(values)
            if not known.any():
                continue
            labels = cluster_labels(rows.column("item_id")[known].tolist(), groups, what="group")
            mean = Bootstrap(labels or (), resamples, seed, level).mean(f"{measure}(summary=mean)", values[known])
            highest = Estimate(f"{measure}(summary=max)", float(values[known].max()), n=int(known.sum()))
            summaries += [result.about(subject=subject, condition=condition) for result in (mean, highest)]
    return tuple(summaries)


def rounded(values: ArrayLike, *, rule: Rounding = "half_up", low: float = 1.0, high: float = 5.0) -> FloatArray:
    """Round values to whole numbers and clip them to the scale; *rule* says where a half goes.

    >>> rounded([0.2, 2.5, 3.5]).tolist(), rounded([2.5, 3.5], rule="half_even").tolist()
    ([1.0, 3.0, 4.0], [2.0, 4.0])
    """
    data = np.asarray(values, dtype=np.float64)
    whole = np.floor(data + 0.5) if rule == "half_up" else np.rint(data)
    return np.asarray(np.clip(whole, low, high))


def _check_form(predicted: FloatArray, items: tuple[str, ...], form: Form) -> None:
    wrong = predicted != np.rint(predicted) if form == "integer" else ~np.isfinite(predicted)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        what = f"the prediction {predicted[first]:g} is not a {'number' if form == 'raw' else 'whole number'}"
        hint = 'round predictions first (rounded), or ask for form="raw": the two are kept apart'
        raise InputError(what, place=Place(item_id=items[first]), hint=hint)


# -- the official score of the shared task on AmbiStory (SemEval-2026 Task 5), number for number --------------------
# A prediction p is right where mean − s < p < mean + s, or |mean − p| < 1, with the sample standard deviation s (n − 1)
# of the ratings. *Source:* the organisers' ``scoring.py``. Floating-point numbers are compared as they are, so that the
# score is the organisers' own; :mod:`lexiscope.analysis.norms.within_sd` puts a distance within 1e-9 of the threshold
# on it. On whole numbers the two agree on every published sample; a prediction with a decimal can differ in its last
# bit.


@dataclass(frozen=True, slots=True)
class OfficialScore:
    """The two numbers of the leaderboard, and what they rest on.

    ``spearman`` has the reason if it is undefined: the organisers' script writes ``NaN`` there, which is not JSON.
    ``n_non_integer``: predictions between the points of the scale, which gain three to five points of accuracy.
    """

    accuracy: float
    spearman: float | Undefined
    n: int
    n_correct: int
    n_non_integer: int

    def as_json(self) -> dict[str, float | None]:
        """Return the two numbers as the leaderboard names them, ``None`` where there is none."""
        rho = self.spearman
        return {"accuracy": self.accuracy, "spearman": None if isinstance(rho, Undefined) else rho}


def official_score(predictions: ArrayLike, ratings: Sequence[Sequence[int]]) -> OfficialScore:
    """Return the official score of predictions, given the ratings of each published row, in their order.

    *Shape:* predictions (rows,). *Higher means:* closer to people. *Source:* SemEval-2026 Task 5, ``scoring.py``.
    Errors: :class:`StatisticError` where the numbers of predictions and rows differ or one is not a number, and without
    a row, or one with fewer than two ratings.

    >>> ratings = [[1, 2, 3], [5, 5, 5], [1, 5, 5]]  # means 2, 5, 3.67; thresholds 1, 1, 2.31
    >>> score = official_score([3, 4.5, 2], ratings)  # 1 is not below 1; 0.5 is; 1.67 is below 2.31
    >>> score.n_correct, score.n_non_integer
    (2, 1)
    >>> official_score([4, 4, 4], ratings).as_json()["spearman"] is None
    True
    """
    few = [row for row, several in enumerate(ratings) if len(several) < 2]
    if few or not len(ratings):
        where = f"row {few[0]} has fewer" if few else "there is no row"
        raise StatisticError(f"the score needs two ratings of every row; {where}")
    # exact fractions inside, as in the organisers' script: the last bit can decide
    mean = np.array([sum(several) / len(several) for several in ratings])
    # they are slow, and few rows differ in more than the order of their ratings
    rows = [tuple(sorted(several)) for several in ratings]
    exact = {several: statistics.stdev(several) for several in set(rows)}
    sd = np.array([exact[several] for several in rows])
    values = np.asarray(predictions, dtype=np.float64)
    if values.shape != mean.shape or not np.isfinite(values).all():
        what = f"the score needs one number for each of {len(mean)} rows; there are {np.isfinite(values).sum()}"
        raise StatisticError(what)
    right = (mean - sd < values) & (values < mean + sd) | (np.abs(mean - values) < 1)
    return OfficialScore(
        accuracy=int(right.sum()) / len(values),
        spearman=_rho(values, mean),
        n=len(values),
        n_correct=int(right.sum()),
        n_non_integer=int((values != np.rint(values)).sum()),
    )


def _rho(values: FloatArray, mean: FloatArray) -> float | Undefined:
    if len(values) < 3:
        return Undefined("spearman", f"{len(values)} rows: a correlation needs 3", len(values))
    for name, column in (("predictions", values), ("mean ratings", mean)):
        if is_constant(column):
            return Undefined("spearman", f"all {name} are {column[0]:g}", len(values))
    return correlation_value(values, mean, kind="spearman")
