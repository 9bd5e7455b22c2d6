"""How often the answers of models in a table are right: answers by degree to a question with two answers, and choices.

A table holds what a model answered; the correct answers and the words are given by item id. Each subject, view and
measure has its own results: measures that were scored in two ways never meet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.accuracy import share_interval
from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    cluster_labels,
    group_codes,
    group_folds,
    resampled_units,
)
from lexiscope.analysis.layers.layers import layer_depth_ratio, separation_by_layer
from lexiscope.analysis.thresholds import FOLDS, fold_counts, held_out_accuracy
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Curve, CurvePoint, Estimate, Undefined, statistic_name

DEGREES: Mapping[str, float] = {"cosine_distance": -1.0, "log_odds": 1.0, "gloss_substitution": 1.0}
"""The measures that answer a question with two answers by degree, and the sign with which higher means yes."""
CHOICE, MEASURE_ODDS = "choice", "log_odds"
ACCURACY = "accuracy"

Results = tuple[Curve | Estimate | Undefined, ...]


def degrees_right(
    answers: ResponseTable,
    truth: Mapping[str, bool],
    words: Mapping[str, str] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Results:
    """Return, for each subject, view and measure of degree, the area under the ROC curve and the decided accuracy.

    *answers* are those of models, *truth* (item → yes) the correct answers, *words* (item → word) what is resampled and
    held out. Three results each: the area under the ROC curve
    (:func:`~lexiscope.analysis.layers.layers.separation_by_layer`; for a subject with layers, a curve, whose ``chosen``
    allows for the choice of the layer), the accuracy by a threshold and at a layer of other words, and chance
    (:func:`~lexiscope.analysis.thresholds.held_out_accuracy`). The condition is the measure. Items that *truth* does
    not name are excluded; items without a value are too, and a note counts them.

    >>> from lexiscope.core.response import Response
    >>> rows = [Response("e", "encoder", f"i{n}", "t", "cosine_distance", n / 10, layer=1) for n in range(4)]
    >>> curve, right, chance = degrees_right(ResponseTable.from_rows(rows), {f"i{n}": n < 2 for n in range(4)})
    >>> curve.values[0].value, chance.value  # the two that are right are the two nearest
    (1.0, 0.5)
    """
    results: list[Curve | Estimate | Undefined] = []
    for own, about in _parts(answers, DEGREES):
        numbers, items, matrix, lost = _matrix(own, tuple(truth))
        X = -DEGREES[str(about["condition"]).partition("(")[0]] * matrix
        right = np.array([truth[item] for item in items], dtype=bool)
        how = {"groups": cluster_labels(items, words), "level": level, "resamples": resamples, "seed": seed}
        note = f"excluded: {lost} of {lost + len(items)} items without a value" if lost else ""
        name = statistic_name("sense_separation", measure="auc")
        try:
            curve = separation_by_layer(X, right, layers=numbers or None, choice=bool(numbers), **how)  # type: ignore[arg-type]
            layered = X if numbers else X[:, 0]
            decided: Results = held_out_accuracy(layered, right, layers=numbers or None, **how)  # type: ignore[arg-type]
        except StatisticError as error:
            results.append(Undefined(name, error.what, len(items)).about(**about, note=note))
            continue
        made: Results = (curve if numbers else replace(_only_point(curve), name=name, layer=None), *decided)
        results += [result.about(**about, note="; ".join(filter(None, (result.note, note)))) for result in made]
    return tuple(results)


def choices_right(
    answers: ResponseTable,
    right: Mapping[str, Collection[str]],
    options: Mapping[str, int],
    words: Mapping[str, str] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Results:
    """Return, for each subject, view and kind of choice, the share of right choices, and chance.

    *right* (item → its right options) names the items that count; an item without a choice is wrong, and a note counts
    such items. For a subject with layers, the share is a curve, whose ``chosen`` is the share with the layer of other
    words (:func:`choice_accuracy_by_layer`). *options* (item → number of options) give chance: the mean over items of
    right options / options. The condition is the measure, if it says how the choice was made.

    >>> from lexiscope.core.response import Response
    >>> rows = [Response("m", "causal_lm", item, "t", "choice", option=option) for item, option in ("ix", "jy")]
    >>> found = choices_right(ResponseTable.from_rows(rows), {"i": "x", "j": "x"}, {"i": 2, "j": 4})
    >>> [(result.name, result.value) for result in found]
    [('accuracy', 0.5), ('chance(of=accuracy,rule=random)', 0.375)]
    """
    results: list[Curve | Estimate | Undefined] = []
    for own, about in _parts(answers, {CHOICE: 1.0}):
        items = tuple(item for item in own.unique("item_id") if item in right)
        if not items:
            continue
        numbers, hits, silent = _hits(own, items, right)
        how = {"groups": cluster_labels(items, words), "level": level, "resamples": resamples, "seed": seed}
        note = f"{silent} of {hits.size} choices are missing and count as wrong" if silent else ""
        curve = choice_accuracy_by_layer(hits, layers=numbers or None, **how)  # type: ignore[arg-type]
        chance = mean_chance([options[item] for item in items], [len(right[item]) for item in items])
        made: Results = (curve if numbers else replace(_only_point(curve), layer=None), chance)
        results += [result.about(**about, note="; ".join(filter(None, (result.note, note)))) for result in made]
    return tuple(results)


def choice_accuracy_by_layer(
    right: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Curve:
    """Return the share of right choices at each layer, and what is left if the layer is chosen on other words.

    ``chosen`` is the share of right choices of words whose layer is the best one of the words of the other folds; its
    note says how many folds chose which layer. Intervals are those of a share of items grouped by words
    (:func:`~lexiscope.analysis.accuracy.share_interval`).

    *Shape:* right (items, layers) of 0 and 1; groups (items,). *Unit:* share, 0 to 1. *Higher means:* more is right.
    Errors: :class:`StatisticError` without items or layers, or for other numbers than 0 and 1.

    >>> curve = choice_accuracy_by_layer([[0, 1], [0, 1], [0, 1], [0, 0]], groups=list("aabb"))
    >>> curve.array().tolist(), curve.best, curve.chosen.value
    ([0.0, 0.75], 1, 0.75)
    """
    hits = np.asarray(right, dtype=np.float64)
    if hits.ndim != 2 or not hits.size or not np.isin(hits, (0.0, 1.0)).all():
        raise StatisticError(f"choices of shape {hits.shape} are not 0 or 1 of (items, layers)")
    n, units = len(hits), resampled_units(groups)
    numbers = tuple(range(hits.shape[1])) if layers is None else tuple(layers)
    how = {"groups": groups, "level": level, "resamples": resamples, "seed": seed}
    entries = []
    for number, column in zip(numbers, hits.T, strict=True):
        interval, n_groups = share_interval(column, **how)  # type: ignore[arg-type]
        ratio = layer_depth_ratio(number, max(numbers))
        entries.append(CurvePoint(number, ratio, float(column.mean()), interval))
    values = [entry.value for entry in entries]
    tied = tuple(entry.layer for entry in entries if entry.value == max(v for v in values if v is not None))
    curve = Curve(ACCURACY, "higher", tuple(entries), min(tied), tied, n, n_groups, unit="share")
    if len(entries) < 2:
        return curve
    name = statistic_name(ACCURACY, layer=f"other_{units}")
    if n_groups < 2:
        return replace(curve, chosen=Undefined(name, f"all items are of one of the {units}: none can be held out", n))
    codes, count = group_codes(groups, n)
    fold_of = group_folds(codes, count, folds=folds, seed=seed)
    best = [int(np.argmax(hits[fold_of != fold].mean(axis=0))) for fold in range(int(fold_of.max()) + 1)]
    held_out = hits[np.arange(n), np.array(best)[fold_of]]
    interval, _ = share_interval(held_out, **how)  # type: ignore[arg-type]
    note = fold_counts([numbers[column] for column in best])
    chosen = Estimate(name, float(held_out.mean()), interval, n, count, note=note, unit="share")
    return replace(curve, chosen=chosen)


def mean_chance(n_options: Sequence[int], n_right: Sequence[int]) -> Estimate:
    """Return the share of right choices that guessing is expected to reach: the mean of right options / options.

    >>> mean_chance([2, 4], [1, 1]).value  # (1/2 + 1/4) / 2
    0.375

    Errors: :class:`StatisticError` where an item has more right options than options, or none.
    """
    wrong = [(k, of) for k, of in zip(n_right, n_options, strict=True) if not 0 < k <= of]
    if wrong or not n_options:
        raise StatisticError(f"{wrong[0][0]} right of {wrong[0][1]} options is not a choice" if wrong else "no choices")
    value = float(np.mean([k / of for k, of in zip(n_right, n_options, strict=True)]))
    return Estimate(statistic_name("chance", of=ACCURACY, rule="random"), value, n=len(n_options), unit="share")


def _parts(answers: ResponseTable, measures: Collection[str]) -> Iterator[tuple[ResponseTable, dict[str, str]]]:
    """Yield the answers of each subject in each view under each of these measures, and what they are about."""
    for subject in answers.unique("subject_id"):
        of_subject = answers.where(subject_id=subject)
        for view in of_subject.unique("view"):
            of_view = of_subject.where(view=view)
            for measure in of_view.unique("measure"):
                if measure.partition("(")[0] in measures:
                    condition = "" if measure == CHOICE else measure
                    yield (
                        of_view.where(measure=measure),
                        {"subject": subject, "view": view or "", "condition": condition},
                    )


def _matrix(own: ResponseTable, known: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...], FloatArray, int]:
    """Return the layers, the items with a value at each, the values *(items, layers)*, and how many items have none."""
    asked = set(own.unique("item_id"))
    items = tuple(item for item in known if item in asked)
    numbers, column = _layer_columns(own)
    _check_once(own)
    row_of = {item: row for row, item in enumerate(items)}
    codes, names = own.codes("item_id")
    rows = np.array([row_of.get(name, -1) for name in names], dtype=np.int64)[codes]
    matrix = np.full((len(items), max(1, len(numbers))), np.nan)
    matrix[rows[rows >= 0], column[rows >= 0]] = own.column("value")[rows >= 0]
    whole = ~np.isnan(matrix).any(axis=1)
    kept = tuple(item for item, is_whole in zip(items, whole.tolist(), strict=True) if is_whole)
    return numbers, kept, matrix[whole], int((~whole).sum())


def _hits(
    own: ResponseTable, items: Sequence[str], right: Mapping[str, Collection[str]]
) -> tuple[tuple[int, ...], BoolArray, int]:
    """Return the layers, whether each choice is right *(items, layers)*, and how many choices are missing."""
    numbers, column = _layer_columns(own)
    _check_once(own)
    row_of = {item: row for row, item in enumerate(items)}
    hits = np.zeros((len(items), max(1, len(numbers))), dtype=bool)
    made = np.zeros(hits.shape, dtype=bool)
    pairs = zip(own.column("item_id").tolist(), own.column("option").tolist(), column.tolist(), strict=True)
    for item, option, place in pairs:
        if item in row_of and option is not None:
            made[row_of[item], place] = True
            hits[row_of[item], place] = option in right[item]
    return numbers, hits, int((~made).sum())


def _check_once(own: ResponseTable) -> None:
    """Refuse several answers to one item at one layer: which of them counts is not known here."""
    if own.arrow.select(["item_id", "layer"]).group_by(["item_id", "layer"]).aggregate([]).num_rows < len(own):
        what = (
            f"{own.unique('subject_id')[0]} has several answers of the measure {own.unique('measure')[0]} to one item"
        )
        raise InputError(what, hint="give one repetition (repeat) at a time")


def _layer_columns(own: ResponseTable) -> tuple[tuple[int, ...], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the layers of answers, and which of them each row is of; an item without an answer may have no layer."""
    layer = own.column("layer")
    numbers = np.unique(layer[~np.isnan(layer)]).astype(np.int64)
    if not len(numbers):
        return (), np.zeros(len(layer), dtype=np.int64)
    return tuple(numbers.tolist()), np.searchsorted(numbers, np.nan_to_num(layer, nan=numbers[0])).astype(np.int64)


def _only_point(curve: Curve) -> Estimate:
    point = curve.estimate(curve.values[0].layer)
    assert isinstance(point, Estimate)
    return point
