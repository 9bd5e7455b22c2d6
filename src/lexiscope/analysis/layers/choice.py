"""The correlation at a layer that was chosen on the same items, with an estimate that allows for the choice.

The highest of many correlations is too high: a layer is also chosen because chance favours it. In each bootstrap
resample, the layer is chosen on the words that were drawn, and its correlation is taken on the words that were left
out (about 37 %), which had no part in the choice. *Source:* Tsamardinos, Greasidou & Borboudakis 2018, Machine Learning
107 (bootstrap bias-corrected cross-validation); distances need no training, so a resample has nothing to fit. Harrell's
optimism correction (Efron & Gong 1983) was not used: with no relation at all it removes 1/√2 of the excess.

Two properties of the words left out are not due to the choice. Items of few words can correlate more than those of
many, because the means of words differ: of each layer, the mean of its left-out correlations is replaced by its
correlation on all words. And they vary more: each deviation from the estimate is multiplied by √(m / (G − m)), where m
of G words were left out (the delete-d jackknife: Shao & Wu 1989, Annals of Statistics 17). The percentiles of these
deviations are the interval.

Coverage of the 95 % interval in 200 simulated studies each (13 layers; 12 words × 6, 25 × 6 and 60 × 4 items): 96.5 to
100 where no layer is related, 93.5 to 97.0 where layers differ, 98.0 to 99.0 where all are equally good. That of the
percentile interval of the highest correlation: 62.5 to 92.5, 85.0 to 97.0 and 78.5 to 80.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    MOST_UNDEFINED,
    FloatArray,
    IntArray,
    group_codes,
    percentile_interval,
    resample_counts,
)
from lexiscope.analysis.correlation import Kind, correlation_value, sound_draws, weighted_correlations
from lexiscope.core.result import Estimate, Undefined, parse_statistic, statistic_name

_FEWEST = 3
"""The fewest items of which a correlation is taken."""
_MOST_NAMED = 3


def at_chosen_layer(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: Kind,
    better: Literal["higher", "lower"] = "higher",
    name: str = "",
    layers: Sequence[int] | None = None,
    draws: FloatArray | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate | Undefined:
    """Return the correlation with y at the best layer, allowing for the layer having been chosen on the same items.

    *draws* are the correlations of each layer in each resample (:func:`correlation_draws` under the same seed), NaN
    where undefined; they are computed if they are not given. For ``r_squared`` a left-out correlation of the other sign
    than that of all words counts as negative before the mean is squared; a negative mean is an R² of 0. The note names
    the layers that were chosen most often.

    *Shape:* columns (items, layers); y and groups (items,); draws (resamples, layers). *Higher means:* what the
    correlation means. Errors: :class:`StatisticError` for fewer than 2 words.

    >>> noise = np.random.default_rng(1).normal(size=(60, 13))
    >>> found = at_chosen_layer(noise[:, 1:], noise[:, 0], kind="spearman", resamples=200)
    >>> found.name, found.interval.low < 0 < found.interval.high
    ('spearman(layer=chosen)', True)
    """
    X, target = np.asarray(columns, dtype=np.float64), np.asarray(y, dtype=np.float64)
    codes, n_groups = group_codes(groups, len(target))
    plain, params = parse_statistic(name or kind)
    name = statistic_name(plain, **params, layer="chosen")
    numbers = tuple(range(X.shape[1])) if layers is None else tuple(layers)
    if not resamples:
        return Undefined(name, "nothing was resampled", len(target))
    if draws is None:
        draws = sound_draws(X, target, kind=kind, groups=groups, resamples=resamples, seed=seed)
    better_draws = np.where(np.isnan(draws), -np.inf, draws if better == "higher" else -draws)
    # a resample in which no layer has a value chooses none
    chosen = np.where(np.isnan(draws).all(axis=1), -1, better_draws.argmax(axis=1))
    used, sizes = np.unique(chosen[chosen >= 0]), np.bincount(codes, minlength=n_groups)
    signed: Kind = "pearson" if kind == "r_squared" else kind
    left_out, spread, start = np.full((resamples, len(used)), np.nan), np.empty(resamples), 0
    for counts in resample_counts(n_groups, resamples=resamples, seed=seed):
        left = (counts == 0).astype(np.int64)
        m, enough = left.sum(axis=1), np.flatnonzero(left @ sizes >= _FEWEST)
        rows = start + enough
        left_out[rows] = weighted_correlations(X[:, used], target, codes, left[enough], kind=signed)
        spread[start : start + len(counts)] = np.sqrt(m / (n_groups - m))
        start += len(counts)
    # the same layer in words left out and in all words: few words differ from many, whether it was chosen or not
    full = np.array([correlation_value(X[:, layer], target, kind=signed) for layer in used])
    known = ~np.isnan(left_out)
    scores = left_out - np.where(known, left_out, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1) + full
    if kind == "r_squared":
        # R² is counted in the direction that all words have: it could not fall below 0 otherwise
        scores *= np.sign(full)
    values = np.full(resamples, np.nan)
    values[chosen >= 0] = scores[chosen >= 0, np.searchsorted(used, chosen[chosen >= 0])]
    undefined = int(np.isnan(values).sum())
    if undefined > MOST_UNDEFINED * resamples:
        what = f"in {undefined} of {resamples} resamples the correlation of the words left out is undefined"
        return Undefined(name, what, len(target))
    value = float(np.nanmean(values))
    ends = value + (values - value) * spread
    if kind == "r_squared":
        value, ends = max(value, 0.0) ** 2, np.maximum(ends, 0.0) ** 2
    value = float(np.clip(value, -1, 1))
    interval = percentile_interval(np.clip(ends, -1, 1), level=level, method="left_out_words")
    return Estimate(name, value, interval, len(target), n_groups, note=_often(chosen[chosen >= 0], numbers))


def _often(chosen: IntArray, numbers: Sequence[int]) -> str:
    """The layers that most resamples chose, with their shares."""
    counts = np.bincount(chosen, minlength=len(numbers))
    first = [layer for layer in np.argsort(-counts, kind="stable")[:_MOST_NAMED] if counts[layer]]
    shares = ", ".join(f"layer {numbers[layer]} in {100 * counts[layer] / len(chosen):.0f} %" for layer in first)
    return f"chosen in the resamples: {shares}"
