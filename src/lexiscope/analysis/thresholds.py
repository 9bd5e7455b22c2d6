"""Answers by degree to a question with two answers: a threshold that other words set, and decisions by it.

A distance or log-odds is not a decision. Where to cut, and at which layer, is learnt on other words: neither an item
nor another item of its word has a part in the decision on it. Free of any threshold is the area under the ROC curve
(:func:`lexiscope.analysis.layers.layers.separation_by_layer`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    MOST_UNDEFINED,
    BoolArray,
    FloatArray,
    IntArray,
    group_codes,
    group_folds,
    no_interval,
    resample_counts,
    resampled_units,
    student_quantile,
)
from lexiscope.analysis.correlation import weighted_separations
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

FOLDS, DEALINGS = 10, 20
"""The folds of words of which each is decided by the threshold and the layer of the others, and how often it is done.

One dealing alone makes the share depend on the seed: of WiC-TSV's 389 items it varies by 1 point (SD)."""

# numbers of one text differ by less between two batches
_SAME = 1e-6
_RESAMPLES, _DEALT = 100, 3
_MOST_NAMED = 3


def best_threshold(values: ArrayLike, high: ArrayLike) -> tuple[float, int]:
    """Return the threshold from which on the answer is *high*, and how many answers are then right.

    It lies half way between two values, or at ±infinity where one answer is best for all; of several, the lowest.
    Values that differ by less than 1e-6 are not distinguished. *Shape:* values, high (items,) of 0/1 or booleans.

    >>> best_threshold([0.2, 0.9, 0.4, 0.8], [0, 1, 0, 1])
    (0.6, 4)
    """
    column, truth = _settled(np.asarray(values, dtype=np.float64)), np.asarray(high, dtype=bool)
    limit = float(_best_cuts(column, truth, np.ones((1, len(column))))[0])
    return limit, int(((column >= limit) == truth).sum())


def held_out_accuracy(
    distance: ArrayLike,
    same: ArrayLike,
    *,
    layers: Sequence[int] | None = None,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    dealings: int = DEALINGS,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, Estimate]:
    """Return the share of right decisions by a threshold of other words, and that of one answer to all items.

    Words are dealt into folds by the seed. On the words of the other folds, the layer with the largest area under the
    ROC curve is found, and at this layer the threshold with the most right decisions; both decide on the words of the
    fold: *same* if the distance is below the threshold. This is done for several dealings, and the share is that
    of all decisions. The note says how many folds chose which layer. The second estimate is what always giving the more
    frequent answer would reach: *chance*. Without any relation the first lies about there, or below: a threshold that
    fits the noise of some words is not better on others.

    For the interval, words are resampled and all of it is done again, copies of a word in one fold: the threshold and
    the layer vary with the words. It is the share ± t · SD of the resamples (100 at most, of 3 dealings each), with the
    t of the words. It is rather too wide than too narrow: in simulated studies it held the share 95 to 100 % of the
    time, the interval of a share of fixed decisions 87 to 92 % (design/0046).

    *Shape:* distance (items,) or (items, layers); same and groups (items,) of 0/1 or booleans; without *groups*, items
    are held out. A score that is higher for *same* is given with its sign turned. *Unit:* share, 0 to 1.
    *Source:* Pilehvar & Camacho-Collados 2019, §4 (a threshold on cosines, learnt on other data).
    Errors: :class:`StatisticError` where lengths differ, a distance is not finite, or all items have one answer.

    >>> distance = np.column_stack([np.zeros(8), [0.1, 0.9, 0.2, 0.8, 0.1, 0.7, 0.3, 0.9]])
    >>> right, chance = held_out_accuracy(distance, [1, 0] * 4, groups=list("aabbccdd"))
    >>> right.name, right.value, right.note
    ('accuracy(threshold=other_groups,layer=other_groups)', 1.0, 'chosen in the folds: layer 1 in 80 of 80')
    >>> chance.name, chance.value
    ('chance(of=accuracy,rule=one_answer)', 0.5)
    """
    X, truth = _columns(distance, same)
    units, n = resampled_units(groups), len(truth)
    layered = np.asarray(distance).ndim == 2
    others = f"other_{units}"
    name = statistic_name("accuracy", threshold=others, **({"layer": others} if layered else {}))
    share = float(truth.mean())
    chance = Estimate(statistic_name("chance", of="accuracy", rule="one_answer"), max(share, 1 - share), n=n)
    if groups is not None and len(set(np.asarray(groups).tolist())) < 2:
        return Undefined(name, f"all items are of one of the {units}: none can be held out", n), chance
    codes, n_groups = group_codes(groups, n)
    blocks = resample_counts(n_groups, resamples=min(resamples, _RESAMPLES), seed=seed)
    value, draws, chosen = held_out_shares(
        distance, same, codes, n_groups, blocks if resamples else (), folds=folds, dealings=dealings, seed=seed
    )
    interval = no_interval("no resamples were asked for", level=level, resamples=0, resampled=units)
    if resamples:
        interval = _standard_interval(value, draws, n_groups, level=level, resampled=units)
    numbers = tuple(range(X.shape[1])) if layers is None else tuple(layers)
    note = fold_counts([numbers[column] for column in chosen]) if layered else ""
    return Estimate(name, value, interval, n, n_groups, note=note, unit="share"), chance


def held_out_shares(
    distance: ArrayLike,
    same: ArrayLike,
    codes: IntArray,
    n_groups: int,
    counts: Iterable[IntArray],
    *,
    folds: int = FOLDS,
    dealings: int = DEALINGS,
    seed: int = 0,
) -> tuple[float, FloatArray, tuple[int, ...]]:
    """Return the share of :func:`held_out_accuracy`, the same in each resample, and the column of each fold.

    *counts* are blocks of resamples: how often each group counts. In a resample, three dealings are averaged.
    *Shape:* distance (items,) or (items, layers); codes (items,); counts (draws, groups) → draws (resamples,), columns
    (dealings × folds,). Errors: those of :func:`held_out_accuracy`.
    """
    X, truth = _columns(distance, same)
    dealt = [group_folds(np.arange(n_groups), n_groups, folds=folds, seed=seed * dealings + k) for k in range(dealings)]
    once = np.ones((1, n_groups), dtype=np.int64)
    shares, chosen = zip(*(_held_out_shares(X, truth, codes, once, fold_of) for fold_of in dealt), strict=True)
    drawn = [
        np.mean([_held_out_shares(X, truth, codes, block, fold_of)[0] for fold_of in dealt[:_DEALT]], axis=0)
        for block in counts
    ]
    columns = tuple(column for of_dealing in chosen for column in of_dealing)
    return float(np.mean(shares)), np.concatenate(drawn) if drawn else np.empty(0), columns


def fold_counts(layers: Sequence[int]) -> str:
    """Return, as text, in how many folds a layer was chosen, for the layers that were chosen most often.

    >>> fold_counts([6, 5, 6])
    'chosen in the folds: layer 6 in 2, layer 5 in 1 of 3'
    """
    counts = sorted(Counter(layers).items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_NAMED]
    return f"chosen in the folds: {', '.join(f'layer {layer} in {n}' for layer, n in counts)} of {len(layers)}"


def _held_out_shares(
    X: FloatArray, truth: BoolArray, codes: IntArray, counts: IntArray, fold_of: IntArray
) -> tuple[FloatArray, list[int]]:
    """Return the share of right decisions in each draw, and the column by which each fold of the first was decided.

    X is higher for *same*. *Shape:* X (items, columns); counts (draws, groups), how often each group counts; fold_of
    (groups,) → (draws,).
    """
    right, asked, chosen = np.zeros(len(counts)), np.zeros(len(counts)), list[int]()
    for fold in range(int(fold_of.max()) + 1):
        train, test = counts * (fold_of != fold), (counts * (fold_of == fold))[:, codes]
        best = np.zeros(len(counts), dtype=np.int64)
        if X.shape[1] > 1:
            # without items of both kinds there is no area: the first column is taken
            areas = np.nan_to_num(weighted_separations(X, truth, codes, train), nan=-1.0)
            best = areas.argmax(axis=1)
        chosen.append(int(best[0]))
        for column in np.unique(best).tolist():
            draws = np.flatnonzero(best == column)
            limits = _best_cuts(X[:, column], truth, train[draws][:, codes].astype(np.float64))
            hits = (X[:, column] >= limits[:, None]) == truth
            right[draws] += (hits * test[draws]).sum(axis=1)
        asked += test.sum(axis=1)
    return right / asked, chosen


def _best_cuts(column: FloatArray, truth: BoolArray, weights: FloatArray) -> FloatArray:
    """Return the value from which on *same* has the most correct answers, in each draw: half way between two values.

    Values are settled; of several such values it is the lowest. *Shape:* weights (draws, items) → (draws,).
    """
    order = np.argsort(column, kind="stable")
    ranked, weighted = column[order], weights[:, order]
    # what is gained when the cut moves above an item: one answer more is right where it is not *same*
    gains = np.zeros((len(weights), len(column) + 1))
    np.cumsum(np.where(truth[order], -weighted, weighted), axis=1, out=gains[:, 1:])
    apart = np.concatenate([[True], np.diff(ranked) > 0, [True]])
    place = np.where(apart, gains, -np.inf).argmax(axis=1)
    # the next value above the cut that an item with weight has; the one below has weight, or the cut would lie lower
    there = np.where(weighted > 0, np.arange(len(column)), len(column))
    above = np.minimum.accumulate(there[:, ::-1], axis=1)[:, ::-1]
    above = np.concatenate([above, np.full((len(weights), 1), len(column))], axis=1)[np.arange(len(weights)), place]
    padded = np.append(ranked, np.inf)
    middle = np.round((ranked[np.maximum(place - 1, 0)] + padded[above]) / 2, 9)
    return np.asarray(np.where(place == 0, -np.inf, np.where(above == len(column), np.inf, middle)))


def _settled(column: FloatArray) -> FloatArray:
    """Return values of which those that lie less than 1e-6 apart are the same, the lowest of them."""
    order = np.argsort(column, kind="stable")
    ranked = column[order]
    starts = np.concatenate([[True], np.diff(ranked) > _SAME])
    settled = np.empty(len(column))
    settled[order] = ranked[starts][np.cumsum(starts) - 1]
    return settled


def _standard_interval(value: float, draws: FloatArray, n_groups: int, *, level: float, resampled: str) -> Interval:
    """Return a share ± t · SD of its draws, within 0 and 1."""
    known = draws[~np.isnan(draws)]
    undefined = len(draws) - len(known)
    if undefined > MOST_UNDEFINED * len(draws) or len(known) < 2:
        why = f"the share is undefined in {undefined} of {len(draws)} resamples"
        return no_interval(why, level=level, resamples=len(draws), resampled=resampled)
    reach = student_quantile(level, n_groups - 1) * math.sqrt(n_groups / (n_groups - 1)) * float(known.std())
    params = {"method": "standard_error", "resampled": resampled, "level": f"{level:g}", "resamples": len(draws)}
    name = statistic_name("bootstrap", **params)
    return Interval(max(0.0, value - reach), min(1.0, value + reach), level, name, len(draws), undefined)


def _columns(distance: ArrayLike, same: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """The distances as columns with their sign turned, settled, and the correct answers."""
    values, truth = np.asarray(distance, dtype=np.float64), np.asarray(same, dtype=bool)
    columns = values[:, None] if values.ndim == 1 else values
    if columns.ndim != 2 or truth.ndim != 1 or len(columns) != len(truth) or not np.isfinite(columns).all():
        what = f"{values.shape} distances, all finite, and {truth.shape} correct answers must go together"
        raise StatisticError(what, hint="exclude items without an answer, and report their number")
    if truth.all() or not truth.any():
        raise StatisticError(f"all {len(truth)} items have one correct answer: a threshold cannot be fitted")
    return np.column_stack([_settled(-column) for column in columns.T]), truth
