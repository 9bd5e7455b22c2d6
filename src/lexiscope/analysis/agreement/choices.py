"""Agreement of choices: Cohen's kappa, percent agreement, the majority's choice, and trust-weighted confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    IntArray,
    group_codes,
    percentile_interval,
    ratio_draws,
    resample_counts,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name

Weights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True, eq=False)
class Majority:
    """Each item's most frequent value: *Shape:* value, votes, n, tied, absolute (items,).

    ``value`` is NaN where ``tied`` (two values share the most votes, or there is no rating); ``absolute`` says that
    more than half of the raters chose it.
    """

    item_ids: tuple[str, ...]
    value: FloatArray
    votes: IntArray
    n: IntArray
    tied: BoolArray
    absolute: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class TrustWeighted:
    """Confidence in each value of each item. *Shape:* options (values,), confidence (items, values), value (items,).

    ``value`` is the one of highest confidence, NaN where ``tied``; an item that nobody rated is tied at 0.
    """

    item_ids: tuple[str, ...]
    options: tuple[float, ...]
    confidence: FloatArray
    value: FloatArray
    tied: BoolArray


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: Weights = "none",
    categories: Sequence[Any] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return Cohen's kappa of two raters' answers to the same items; the interval resamples items.

    Weights count a disagreement by the distance (``linear``) or squared distance (``quadratic``) of the categories'
    positions; ``categories`` gives their order and may hold some that do not occur (default: sorted). Answers are
    numbers or text; NaN and ``None`` are missing. ``n`` counts the items that both answered. *Higher means:* they agree
    more; 1 is perfect agreement, 0 agreement as by chance. *Source:* Cohen 1960, 1968.

    Errors: :class:`StatisticError` with fewer than 2 items, or where both always chose one same category.

    >>> a, b = ["yes"] * 25 + ["no"] * 25, ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    >>> round(cohen_kappa(a, b).value, 9)  # (.7 - .5) / (1 - .5)
    0.4
    """
    a, b = _complete(first, second)
    order = list(categories) if categories is not None else sorted(set(a) | set(b))
    place = {category: position for position, category in enumerate(order)}
    unknown = [answer for answer in [*a, *b] if answer not in place]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not among the categories {order}")
    if len(a) < 2:
        raise StatisticError(f"kappa needs at least 2 items that both answered, not {len(a)}")
    rows, columns = (np.array([place[answer] for answer in side], dtype=np.int64) for side in (a, b))
    distances = _distances(len(order), weights)
    value = float(_kappas(rows, columns, distances, np.ones((1, len(rows))))[0])
    if np.isnan(value):
        raise StatisticError(f"kappa is undefined: both raters chose {a[0]!r} throughout")
    blocks = resample_counts(len(rows), resamples=resamples, seed=seed)
    draws = np.concatenate([_kappas(rows, columns, distances, block.astype(np.float64)) for block in blocks])
    name = statistic_name("cohen_kappa", weights=weights)
    return Estimate(name, value, percentile_interval(draws, level=level), len(rows))


def kappa_or_reason(
    first: Sequence[str], second: Sequence[str], *, level: float, resamples: int, seed: int
) -> Estimate | Undefined:
    """Return Cohen's kappa, or why there is none.

    >>> kappa_or_reason(["a", "a"], ["a", "a"], level=0.95, resamples=0, seed=0).reason
    "kappa is undefined: both raters chose 'a' throughout"
    """
    try:
        return cohen_kappa(first, second, level=level, resamples=resamples, seed=seed)
    except StatisticError as error:
        return Undefined(statistic_name("cohen_kappa", weights="none"), error.what, len(first))


def percent_agreement(
    ratings: Ratings,
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the mean over items of the share of rater pairs with the same value; for two raters, plain agreement.

    *Unit:* share, 0 to 1. The interval resamples items, or groups of items (item id → word). ``n`` counts the items
    with two ratings or more.

    Errors: :class:`StatisticError` where no item has two ratings.

    >>> ratings = Ratings.from_arrays(list("abcabc"), list("iiijjj"), [1, 1, 1, 1, 1, 2])
    >>> round(percent_agreement(ratings, resamples=200).value, 9)  # (3/3 + 1/3) / 2
    0.666666667
    """
    _, table = option_table(ratings)
    n = ratings.counts()
    kept = np.flatnonzero(n > 1)
    if not len(kept):
        raise StatisticError("percent agreement is undefined: no item has two ratings")
    shares = ((table * (table - 1)).sum(axis=1)[kept]) / (n * (n - 1))[kept]
    codes, count = group_codes(None if groups is None else ratings.item_labels(groups)[kept], len(kept))
    draws = ratio_draws(shares, np.ones(len(kept)), codes, count, resamples=resamples, seed=seed)
    interval = percentile_interval(draws, level=level)
    name = statistic_name("percent_agreement", over="items")
    return Estimate(name, float(shares.mean()), interval, len(kept))


def majority(ratings: Ratings) -> Majority:
    """Return each item's most frequent value. *Source:* BIAS (majority of three).

    >>> found = majority(Ratings.from_arrays(list("abcab"), list("iiijj"), [1, 1, 0, 1, 0]))
    >>> found.value.tolist(), found.tied.tolist()
    ([1.0, nan], [False, True])
    """
    options, table = option_table(ratings)
    n, votes = ratings.counts(), table.max(axis=1, initial=0)
    value, tied = _top(options, table.astype(np.float64), tolerance=0.0)
    return Majority(ratings.item_ids, value, votes.astype(np.int64), n, tied, ~tied & (2 * votes > n))


def trust_weighted(ratings: Ratings, trust: Mapping[str, float]) -> TrustWeighted:
    """Return the confidence in each value: the trust of those who chose it over the trust of all who rated the item.

    *trust* maps rater ids to numbers that are not negative (for instance their share of right test questions).
    *Unit:* share, 0 to 1. *Source:* GASI §4 (the crowd platform's confidence score).

    Errors: :class:`InputError` for a rater without a trust or with a negative one; :class:`StatisticError` where nobody
    who rated an item is trusted at all.

    >>> ratings = Ratings.from_arrays(["ana", "eva", "leo"], ["i", "i", "i"], [1, 1, 0])
    >>> trust_weighted(ratings, {"ana": 0.6, "eva": 0.6, "leo": 0.8}).confidence.tolist()  # .8 / 2 and 1.2 / 2
    [[0.4, 0.6]]
    """
    weights = np.array([trust.get(rater, np.nan) for rater in ratings.rater_ids], dtype=np.float64)
    if not (weights >= 0).all():
        worst = ratings.rater_ids[int(np.flatnonzero(~(weights >= 0))[0])]
        raise InputError(f"rater {worst!r} has no trust, or a negative one")
    options, code = np.unique(ratings.value, return_inverse=True)
    # item and option in one number: a weighted two-way table in one pass
    flat = np.bincount(
        ratings.item * len(options) + code.reshape(-1),
        weights=weights[ratings.rater],
        minlength=ratings.n_items * len(options),
    ).reshape(ratings.n_items, len(options))
    total = flat.sum(axis=1, keepdims=True)
    if ((total[:, 0] == 0) & (ratings.counts() > 0)).any():
        raise StatisticError("an item was rated by raters of trust 0 only, so no value has a confidence")
    confidence = np.divide(flat, total, out=np.zeros(flat.shape), where=total > 0)
    # trusts are sums of floats: equal ones may differ in the last bit
    value, tied = _top(options, confidence, tolerance=1e-12)
    return TrustWeighted(ratings.item_ids, tuple(options.tolist()), confidence, value, tied)


def option_table(ratings: Ratings) -> tuple[FloatArray, IntArray]:
    """Return the distinct values and how many raters gave each to each item. *Shape:* (values,), (items, values)."""
    options, code = np.unique(ratings.value, return_inverse=True)
    flat = np.bincount(ratings.item * len(options) + code.reshape(-1), minlength=ratings.n_items * len(options))
    return options, flat.reshape(ratings.n_items, len(options)).astype(np.int64)


def _top(options: FloatArray, table: FloatArray, *, tolerance: float) -> tuple[FloatArray, BoolArray]:
    """The value of each row's largest entry, NaN where two entries share it or all are zero."""
    if not table.shape[1]:
        return np.full(len(table), np.nan), np.ones(len(table), dtype=bool)
    best = table.max(axis=1, keepdims=True)
    tied = ((table >= best - tolerance).sum(axis=1) > 1) | (best[:, 0] == 0)
    return np.where(tied, np.nan, options[table.argmax(axis=1)]), tied


def _complete(first: ArrayLike, second: ArrayLike) -> tuple[list[Any], list[Any]]:
    """The answers to the items that both answered."""
    a, b = np.asarray(first, dtype=object), np.asarray(second, dtype=object)
    if a.shape != b.shape or a.ndim != 1:
        raise StatisticError(f"kappa needs two columns of one length, not shapes {a.shape} and {b.shape}")
    # NaN is the one value that differs from itself
    missing: NDArray[Any] = np.array([x is None or y is None or x != x or y != y for x, y in zip(a, b, strict=True)])
    kept = ~missing.astype(bool)
    return a[kept].tolist(), b[kept].tolist()


def _distances(size: int, weights: str) -> FloatArray:
    """How much a disagreement of two categories counts. *Shape:* (categories, categories)."""
    steps = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]).astype(np.float64)
    if weights == "none":
        return np.asarray(steps > 0, dtype=np.float64)
    if weights not in ("linear", "quadratic"):
        raise StatisticError(f"no weights {weights!r} for kappa; there are: none, linear, quadratic")
    return steps if weights == "linear" else np.asarray(steps**2)


def _kappas(rows: IntArray, columns: IntArray, distances: FloatArray, weights: FloatArray) -> FloatArray:
    """1 − observed / expected disagreement of each reweighting, NaN where none is expected. *Shape:* (draws,)."""
    n = weights.sum(axis=1)
    observed = weights @ distances[rows, columns]
    # one-hot rows turn a reweighting of items into reweighted marginals
    marks = np.eye(len(distances))
    expected = ((weights @ marks[rows]) @ distances * (weights @ marks[columns])).sum(axis=1) / n
    return np.asarray(1 - np.divide(observed, expected, out=np.full(len(n), np.nan), where=expected > 0))
