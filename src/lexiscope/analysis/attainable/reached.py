"""What a model reaches on the items of a line, with the layer chosen on other words, in every resample of words.

Where answers have layers, each word is answered by the layer that is best on nine tenths of the other words. Distances
of two layers have two scales: they are standardised by the words that the layer was chosen on, and pooled, so that
there is one statistic of all items. Each fold has a separate threshold or layer; several dealings of the words into
folds are averaged, because one alone makes the value depend on the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from lexiscope.analysis.attainable.people import RatedItems
from lexiscope.analysis.attainable.word_draws import WordDraws
from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray, group_folds
from lexiscope.analysis.correlation import (
    correlation_value,
    settle_ties,
    weighted_correlations,
    weighted_separations,
)
from lexiscope.analysis.thresholds import FOLDS, fold_counts, held_out_shares
from lexiscope.core.errors import StatisticError

DEALINGS = 5
"""The number of dealings of the words into folds are averaged."""
CHOICE_DRAWS, THRESHOLD_DRAWS = 400, 200
"""The most resamples in which a layer, or a threshold, is chosen again: each takes as long as many of another kind."""
Degree = Literal["spearman", "auc"]


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """What a model reaches: the statistic, the same in each resample of words and without each rater.

    ``layers`` are the values at each layer on all words, if there are layers (the highest of them is too good).
    ``answers`` are those that the statistic is of, each by the layer of other words (the mean of the dealings), NaN
    without one. *Shape:* draws (resamples,); without (raters,) and answers (items,), empty where the statistic has no
    raters.
    """

    value: float
    draws: FloatArray
    n: int
    n_words: int
    note: str = ""
    layers: tuple[tuple[int, float], ...] = ()
    without: FloatArray = field(default_factory=lambda: np.empty(0))
    answers: FloatArray = field(default_factory=lambda: np.empty(0))


def correlation_reached(
    answers: FloatArray, rated: RatedItems, *, layers: Sequence[int] = (), seed: int = 0
) -> Reached:
    """Return Spearman's rho of answers with people's norms, and the same without each rater.

    *answers* rise with what people rate (a distance has its sign turned); NaN where there is none. *Shape:* answers
    (items,) or, with *layers*, (items, layers), in the order of ``rated.items``.
    Errors: :class:`StatisticError` where all answers are the same, or fewer than 3 are left.

    >>> from lexiscope.analysis.attainable.people import rated_items
    >>> from lexiscope.analysis.ratings import Ratings
    >>> ratings = Ratings.from_arrays(list("aaabbb"), list("ijkijk"), [1, 2, 4, 1, 3, 4])
    >>> rated = rated_items(ratings, {"i": "bank", "j": "bat", "k": "cup"}, resamples=20)
    >>> correlation_reached(np.array([0.1, 0.3, 0.2]), rated).value
    0.5
    """
    columns, known = _columns(answers)
    draws, norm = rated.draws.of(known), rated.norm[known]
    predictions, weights, chosen = _held_out(columns, norm, draws, "spearman", seed)
    values = [correlation_value(column, norm, kind="spearman") for column in predictions]
    reached = _with_draws(float(weights @ values), columns, norm, draws, "spearman", seed, layers, chosen)
    without = np.array([_mean_correlation(predictions, weights, row[known]) for row in rated.norms_without])
    used = np.full(len(known), np.nan)
    used[known] = weights @ np.array(predictions)
    return replace(reached, without=without, answers=used)


def separation_reached(
    answers: FloatArray, right: BoolArray, draws: WordDraws, *, layers: Sequence[int] = (), seed: int = 0
) -> Reached:
    """Return how often the answer to an item whose correct answer is *yes* exceeds that to another, ties half (AUC).

    *Shape:* answers (items,) or (items, layers), NaN where there is none; right (items,).
    Errors: :class:`StatisticError` where all items that have an answer have one correct answer.
    """
    columns, known = _columns(answers)
    own, truth = draws.of(known), right[known]
    if truth.all() or not truth.any():
        raise StatisticError(f"all {len(truth)} items have one correct answer: the classes cannot be separated")
    target, every = truth.astype(np.float64), _everything(own)
    predictions, weights, chosen = _held_out(columns, target, own, "auc", seed)
    values = [_scores("auc", p[:, None], target, own.codes, every)[0, 0] for p in predictions]
    return _with_draws(float(weights @ values), columns, target, own, "auc", seed, layers, chosen)


def decisions_reached(
    answers: FloatArray, right: BoolArray, draws: WordDraws, *, layers: Sequence[int] = (), seed: int = 0
) -> Reached:
    """Return the share of right decisions by a threshold, and at a layer, of other words.

    Layer and threshold are learnt again in each resample
    (:func:`~lexiscope.analysis.thresholds.held_out_shares`), of which there are fewer. *Shape:* as
    :func:`separation_reached`. Errors: as there.
    """
    columns, known = _columns(answers)
    own, truth = draws.of(known), right[known]
    codes = np.unique(own.codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    used = np.unique(own.codes)
    some = own.counts[:THRESHOLD_DRAWS, used]
    given = -columns if len(layers) else -columns[:, 0]
    value, drawn, chosen = held_out_shares(given, truth, codes, len(used), [some], seed=seed)
    cuts = [
        held_out_shares(-columns[:, [k]], truth, codes, len(used), (), dealings=DEALINGS, seed=seed)[0]
        for k in range(columns.shape[1] if len(layers) else 0)
    ]
    note = fold_counts([layers[column] for column in chosen]) if len(layers) else ""
    return Reached(
        value, _centred(drawn, value), int(known.sum()), own.n_words, note, _by_layer(layers, np.array(cuts))
    )


def choices_reached(hits: FloatArray, draws: WordDraws, *, layers: Sequence[int] = (), seed: int = 0) -> Reached:
    """Return the share of right choices, at the layer that is best on other words.

    *Shape:* hits (items,) or (items, layers) of 0 to 1; an item without a choice is wrong (0).

    >>> from lexiscope.analysis.attainable.word_draws import word_draws
    >>> choices_reached(np.array([1.0, 0.0, 1.0, 1.0]), word_draws(list("aabc"), resamples=9)).value
    0.75
    """
    columns = hits[:, None] if hits.ndim == 1 else hits
    shares, chosen = list[FloatArray](), list[int]()
    for fold_of in _dealings(draws, seed, len(layers)):
        training = np.stack([(fold_of != fold).astype(np.float64) for fold in range(int(fold_of.max()) + 1)])
        with np.errstate(invalid="ignore"):
            best = (training @ columns / training.sum(axis=1, keepdims=True)).argmax(axis=1)
        shares.append(columns[np.arange(len(columns)), best[fold_of]])
        chosen += best.tolist()
    item = np.mean(shares, axis=0)
    both = draws.sums(np.column_stack([item, np.ones(len(item))]))
    with np.errstate(invalid="ignore"):
        drawn = both[:, 0] / both[:, 1]
    in_sample = columns.mean(axis=0)
    return Reached(
        float(item.mean()), drawn, len(item), draws.n_words, _note(chosen, layers), _by_layer(layers, in_sample)
    )


# -- the layer of other words ---------------------------------------------------------------------------------------


def _held_out(
    columns: FloatArray, target: FloatArray, draws: WordDraws, kind: Degree, seed: int
) -> tuple[list[FloatArray], FloatArray, list[int]]:
    """The pooled answers of the dealings, each once with its weight, and the column that each fold is answered by."""
    if columns.shape[1] == 1:
        return [settle_ties(columns[:, 0])], np.ones(1), [0]
    predictions: dict[tuple[int, ...], FloatArray] = {}
    times: dict[tuple[int, ...], int] = {}
    chosen: list[int] = []
    for fold_of in _dealings(draws, seed, columns.shape[1]):
        n_folds = int(fold_of.max()) + 1
        others = np.zeros((n_folds, draws.counts.shape[1]), dtype=np.int64)
        for fold in range(n_folds):
            others[fold, np.unique(draws.codes[fold_of != fold])] = 1
        best = np.nan_to_num(_scores(kind, columns, target, draws.codes, others), nan=-np.inf).argmax(axis=1)
        # one layer for all needs no pooling: its ties stay ties
        key = tuple(best[fold_of].tolist()) if len(set(best.tolist())) > 1 else (int(best[0]),)
        if key not in predictions:
            predictions[key] = settle_ties(_pooled(columns, best, fold_of) if len(key) > 1 else columns[:, key[0]])
        times[key] = times.get(key, 0) + 1
        chosen += best.tolist()
    weights = np.array([times[key] for key in predictions]) / DEALINGS
    return list(predictions.values()), weights, chosen


def _pooled(columns: FloatArray, best: IntArray, fold_of: IntArray) -> FloatArray:
    pooled = np.empty(len(columns))
    for fold, column in enumerate(best.tolist()):
        others = columns[fold_of != fold, column]
        own = fold_of == fold
        pooled[own] = (columns[own, column] - others.mean()) / others.std()
    return pooled


def _drawn(columns: FloatArray, target: FloatArray, draws: WordDraws, kind: Degree, seed: int) -> FloatArray:
    """The statistic in each resample, with the layer chosen again: by one dealing, copies of a word in one fold.

    With the layers of the data held fixed the draws would vary too little: intervals of studies of 60 words held the
    share 83 % of the time.
    """
    if columns.shape[1] == 1:
        return _scores(kind, columns, target, draws.codes, draws.counts)[:, 0]
    fold_of = next(_dealings(draws, seed, columns.shape[1]))
    some, n_folds = draws.counts[:CHOICE_DRAWS], int(fold_of.max()) + 1
    fold_of_word = np.full(some.shape[1], -1, dtype=np.int64)
    fold_of_word[draws.codes] = fold_of
    best = np.empty((len(some), n_folds), dtype=np.int64)
    for fold in range(n_folds):
        training = _scores(kind, columns, target, draws.codes, some * (fold_of_word != fold))
        best[:, fold] = np.nan_to_num(training, nan=-np.inf).argmax(axis=1)
    drawn = np.empty(len(some))
    choices, choice_of = np.unique(best, axis=0, return_inverse=True)
    for number, choice in enumerate(choices):
        rows = np.flatnonzero(choice_of.reshape(-1) == number)
        pooled = columns[:, choice[0]] if len(set(choice.tolist())) == 1 else _pooled(columns, choice, fold_of)
        drawn[rows] = _scores(kind, settle_ties(pooled)[:, None], target, draws.codes, some[rows])[:, 0]
    return drawn


def _with_draws(
    value: float,
    columns: FloatArray,
    target: FloatArray,
    draws: WordDraws,
    kind: Degree,
    seed: int,
    layers: Sequence[int],
    chosen: Sequence[int],
) -> Reached:
    """The value with its draws and, of answers with layers, the value at each layer on all words."""
    drawn = _drawn(columns, target, draws, kind, seed)
    in_sample = _scores(kind, columns, target, draws.codes, _everything(draws))[0]
    return Reached(
        value,
        _centred(drawn, value) if columns.shape[1] > 1 else drawn,
        len(columns),
        draws.n_words,
        _note(chosen, layers),
        _by_layer(layers, in_sample),
    )


def _centred(drawn: FloatArray, value: float) -> FloatArray:
    """Draws about the value: a choice made on resampled words has seen fewer of them, and is a little worse."""
    return np.asarray(drawn + (value - np.nanmean(drawn)))


def _scores(kind: Degree, columns: FloatArray, target: FloatArray, codes: IntArray, counts: IntArray) -> FloatArray:
    if kind == "auc":
        return weighted_separations(columns, target > 0, codes, counts)
    return weighted_correlations(columns, target, codes, counts, kind="spearman")


def _dealings(draws: WordDraws, seed: int, n_layers: int) -> Iterator[IntArray]:
    """The fold of each row, in each dealing; one alone where there is no layer to choose."""
    codes = np.unique(draws.codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    for dealing in range(DEALINGS if n_layers > 1 else 1):
        yield group_folds(codes, int(codes.max()) + 1, folds=FOLDS, seed=seed * DEALINGS + dealing)


def _columns(answers: FloatArray) -> tuple[FloatArray, BoolArray]:
    """The answers of items that have one at every layer, as columns, and which items these are."""
    columns = answers[:, None] if answers.ndim == 1 else answers
    known = np.asarray(~np.isnan(columns).any(axis=1), dtype=bool)
    if known.sum() < 3:
        raise StatisticError(f"{int(known.sum())} items have an answer: a statistic needs at least 3")
    return columns[known], known


def _everything(draws: WordDraws) -> IntArray:
    return np.ones((1, draws.counts.shape[1]), dtype=np.int64)


def _mean_correlation(predictions: Sequence[FloatArray], weights: FloatArray, norm: FloatArray) -> float:
    rated = ~np.isnan(norm)
    try:
        return float(weights @ [correlation_value(p[rated], norm[rated], kind="spearman") for p in predictions])
    except StatisticError:
        return float("nan")


def _note(chosen: Sequence[int], layers: Sequence[int]) -> str:
    return fold_counts([layers[column] for column in chosen]) if len(layers) > 1 else ""


def _by_layer(layers: Sequence[int], values: FloatArray) -> tuple[tuple[int, float], ...]:
    return tuple((layer, float(value)) for layer, value in zip(layers, values, strict=bool(len(layers))))


def layer_range(reached: Reached) -> tuple[tuple[int, float], tuple[int, float]] | None:
    """Return the lowest and the highest value over layers, each with its layer; layer 0 (no context) does not count.

    >>> layer_range(Reached(0.4, np.empty(0), 9, 3, layers=((0, 0.0), (1, 0.2), (2, 0.5))))
    ((1, 0.2), (2, 0.5))
    """
    values: Mapping[int, float] = {layer: value for layer, value in reached.layers if layer > 0 and value == value}
    if len(values) < 2:
        return None
    low, high = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return (low, values[low]), (high, values[high])
