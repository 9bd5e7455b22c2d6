"""People's distribution of ratings per item compared with a model's: distances, entropy, disagreement.

A mean hides whether people agree. Here the shares of the points of the scale are compared, item by item: earth mover's
distance (by how many points ratings must be moved), Kullback–Leibler divergence (with stated smoothing), and, over
items, the correlation of the entropies and of the mean differences between two ratings per item (*disagreement*, as
in the DisWiC task: Schlechtweg et al. 2025). People are split into halves at random: the model is compared with one
half, and so is the other half. That second number is the *ceiling* of the distribution itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray, resampled_units
from lexiscope.analysis.correlation import average_ranks
from lexiscope.analysis.jackknife import LeftOut, Scale, jackknife_interval, left_out_groups
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Undefined, statistic_name

SMOOTHING = 0.5
"""Added to the count of each point before a divergence is computed (Krichevsky & Trofimov 1981)."""
SPLITS = 20
HALF = "half of the people"
"""The subject of the ceilings: the half of the people that is compared as a model is."""
_OfItems = Callable[[BoolArray], float]
"""A statistic of some of the items."""
_FEWEST_RATINGS, _MOST_LEFT_OUT = 4, 80


def earth_movers_distance(first: ArrayLike, second: ArrayLike, points: Sequence[float]) -> FloatArray:
    """Return by how many points ratings must be moved to make one distribution of the other. *Unit:* points of the
    scale.

    *Shape:* first, second (…, points), counts or shares → (…). *Higher means:* less alike. *Source:* Wasserstein's
    distance of order 1: the area between the two cumulative distributions.

    >>> float(earth_movers_distance([1, 1, 0], [0, 1, 1], [1, 2, 3]))  # each rating up by 1
    1.0
    """
    a, b = _shares(first), _shares(second)
    steps = np.diff(np.asarray(points, dtype=np.float64))
    apart = np.abs(np.cumsum(a - b, axis=-1))[..., :-1]
    return np.asarray((apart * steps).sum(axis=-1))


def divergence(first: ArrayLike, second: ArrayLike, *, smoothing: float = SMOOTHING) -> FloatArray:
    """Return the Kullback–Leibler divergence of *second* from *first*, both smoothed. *Unit:* bits.

    *Shape:* first, second (…, points), counts → (…). *Higher means:* less alike; 0 if they are equal.

    >>> round(float(divergence([3, 1], [1, 3])), 4)  # (3.5 − 1.5) / 5 · log2(3.5 / 1.5)
    0.489
    """
    a = _shares(np.asarray(first, dtype=np.float64) + smoothing)
    b = _shares(np.asarray(second, dtype=np.float64) + smoothing)
    return np.asarray((a * np.log2(a / b)).sum(axis=-1))


def entropy(counts: ArrayLike) -> FloatArray:
    """Return the entropy of a distribution over points. *Shape:* (…, points) → (…). *Unit:* bits.

    >>> float(entropy([2, 2, 0]))
    1.0
    """
    shares = _shares(counts)
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=-1))


def disagreement(counts: ArrayLike, points: Sequence[float]) -> FloatArray:
    """Return the mean difference between two ratings per item, without their order. *Unit:* points of the scale.

    *Shape:* counts (…, points) → (…). NaN for fewer than two ratings.

    >>> float(disagreement([1, 0, 1], [1, 2, 3])), float(disagreement([2, 0, 1], [1, 2, 3])) * 3  # 0 + 2 + 2 of 3 pairs
    (2.0, 4.0)
    """
    numbers = np.asarray(counts, dtype=np.float64)
    gaps = np.abs(np.subtract.outer(np.asarray(points), np.asarray(points)))
    n = numbers.sum(axis=-1)
    total = (numbers * (numbers @ gaps)).sum(axis=-1)
    return np.asarray(np.divide(total, n * (n - 1), out=np.full(np.shape(n), np.nan), where=n > 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Halves:
    """The counts of both halves of each item's ratings in each split. *Shape:* (splits, items, points)."""

    first: FloatArray
    second: FloatArray


def compare_distributions(
    ratings: Ratings,
    model: ArrayLike,
    points: Sequence[float],
    *,
    groups: Mapping[str, str] | None = None,
    smoothing: float = SMOOTHING,
    splits: int = SPLITS,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[Estimate | Undefined, ...]:
    """Return four statistics of a model and of half of the people, each compared with the same other half.

    *Shape:* model (items, points): how often the model chose each point, or its shares; a row of zeros is an item
    without an answer. Items with fewer than 4 ratings do not count. *groups* is the word of each item, which intervals
    leave out one by one. A model with one rating of each item has neither entropy nor disagreement: undefined.

    Errors: :class:`StatisticError` for a rating that is not a point, and with fewer than 3 items.

    >>> people = Ratings.from_arrays(list("abcd") * 3, list("iiiijjjjkkkk"), [1, 1, 1, 2, 1, 2, 2, 3, 1, 3, 1, 3])
    >>> same = compare_distributions(people, [[3, 1, 0], [1, 2, 1], [2, 0, 2]], [1, 2, 3], splits=2)
    >>> [(own.name.partition("(")[0], own.subject) for own in same][:2]
    [('earth_movers_distance', ''), ('earth_movers_distance', 'half of the people')]
    """
    given = np.asarray(model, dtype=np.float64)
    kept = np.flatnonzero((ratings.counts() >= _FEWEST_RATINGS) & (given.sum(axis=1) > 0))
    if len(kept) < 3:
        raise StatisticError(f"distributions need 3 items with {_FEWEST_RATINGS} ratings, not {len(kept)}")
    own = ratings.of_items([ratings.item_ids[row] for row in kept.tolist()])
    halves, given = _halves(own, points, splits, seed), given[kept]
    labels = np.array(own.item_ids) if groups is None else own.item_labels(groups)
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1)
    n_words = int(codes.max()) + 1
    fold, n_folds = left_out_groups(n_words, resamples=_MOST_LEFT_OUT, seed=seed)
    sizes = np.bincount(fold, minlength=n_folds).astype(np.float64)
    units = resampled_units(groups)
    single = np.ptp(given.sum(axis=1)) < 1e-9 and bool((np.sort(given, axis=1)[:, :-1] == 0).all())

    def summary(name: str, per_item: FloatArray, unit: str, subject: str, **options: object) -> Estimate:
        # (splits, items): the mean over both
        items = per_item.mean(axis=0)

        def value(rows: BoolArray) -> float:
            return float(items[rows].mean())

        return estimate(name, value, unit, subject, "less alike", **options)

    def related(name: str, first: FloatArray, second: FloatArray, subject: str) -> Estimate | Undefined:
        if np.ptp(first) < 1e-12:
            why = "one rating of each item has no spread; ask the model several times (repeats)"
            reason = why if single else "it is the same for each item"
            return Undefined(statistic_name(name, method="spearman"), reason, len(kept), subject=subject)

        def value(rows: BoolArray) -> float:
            pairs = zip(np.broadcast_to(first, second.shape), second, strict=True)
            return float(np.mean([_rho(a[rows], b[rows]) for a, b in pairs]))

        return estimate(name, value, "correlation", subject, "more alike", method="spearman")

    def estimate(name: str, value: _OfItems, unit: str, subject: str, higher: str, **options: object) -> Estimate:
        whole = value(np.ones(len(kept), dtype=np.bool_))
        name = statistic_name(name, **options)
        about = {"subject": subject, "unit": unit, "higher": higher}
        if not resamples or n_words < 3:
            return Estimate(name, whole, NO_INTERVAL, len(kept), n_words).about(**about)
        parts = LeftOut(np.array([value(fold[codes] != number) for number in range(n_folds)]), sizes)
        scale: Scale = "fisher_z" if unit == "correlation" else "identity"
        bounds = jackknife_interval(whole, parts, resampled=units, scale=scale, level=level)
        return Estimate(name, whole, bounds, len(kept), n_words).about(**about)

    ceiling = HALF
    far = [earth_movers_distance(other, halves.first, points) for other in (given[None], halves.second)]
    bits = [divergence(halves.first, other, smoothing=smoothing) for other in (given[None], halves.second)]
    spread = [entropy(counts) for counts in (given, halves.second, halves.first)]
    apart = [_disagreement_or_zero(counts, points) for counts in (given, halves.second, halves.first)]
    return (
        summary("earth_movers_distance", far[0], "points", ""),
        summary("earth_movers_distance", far[1], "points", ceiling),
        summary("divergence", bits[0], "bits", "", smoothing=f"{smoothing:g}"),
        summary("divergence", bits[1], "bits", ceiling, smoothing=f"{smoothing:g}"),
        related("entropy_correlation", spread[0], spread[2], ""),
        related("entropy_correlation", spread[1], spread[2], ceiling),
        related("disagreement_correlation", apart[0], apart[2], ""),
        related("disagreement_correlation", apart[1], apart[2], ceiling),
    )


def counts_at_points(values: ArrayLike, rows: ArrayLike, n_rows: int, points: Sequence[float]) -> FloatArray:
    """Return how often each row has each point. *Shape:* values, rows (ratings,) → (rows, points).

    Errors: :class:`StatisticError` for a value that is not a point.

    >>> counts_at_points([1, 3, 3], [0, 0, 1], 2, [1, 2, 3]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    given, scale = np.asarray(values, dtype=np.float64), np.asarray(points, dtype=np.float64)
    code = np.abs(given[:, None] - scale[None]).argmin(axis=1)
    off = np.abs(given - scale[code]) > 1e-9
    if off.any():
        raise StatisticError(
            f"{given[off][0]:g} is not a point of the scale {', '.join(f'{point:g}' for point in points)}"
        )
    places = np.asarray(rows, dtype=np.int64) * len(scale) + code
    return np.bincount(places, minlength=n_rows * len(scale)).reshape(n_rows, len(scale)).astype(np.float64)


def _halves(ratings: Ratings, points: Sequence[float], splits: int, seed: int) -> _Halves:
    rng = np.random.default_rng(seed)
    counts = ratings.counts()
    starts = np.cumsum(counts) - counts
    first: list[FloatArray] = []
    second: list[FloatArray] = []
    for _ in range(splits):
        # the ratings of each item in a random order: the first half, and the second; an odd one is excluded
        order = np.lexsort((rng.random(len(ratings)), ratings.item))
        position = np.arange(len(ratings)) - starts[ratings.item[order]]
        half = counts[ratings.item[order]] // 2
        for side, is_in in ((first, position < half), (second, (position >= half) & (position < 2 * half))):
            rows: IntArray = order[is_in]
            side.append(counts_at_points(ratings.value[rows], ratings.item[rows], ratings.n_items, points))
    return _Halves(np.array(first), np.array(second))


def _disagreement_or_zero(counts: FloatArray, points: Sequence[float]) -> FloatArray:
    """Disagreement; of shares (probabilities of the points) that of two independent ratings."""
    total = counts.sum(axis=-1)
    if (total > 1 + 1e-9).all():
        return disagreement(counts, points)
    gaps = np.abs(np.subtract.outer(np.asarray(points), np.asarray(points)))
    shares = _shares(counts)
    return np.asarray((shares * (shares @ gaps)).sum(axis=-1))


def _rho(x: FloatArray, y: FloatArray) -> float:
    if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return float("nan")
    # equal in fact, different in the last bit
    return float(np.corrcoef(average_ranks(x.round(9)), average_ranks(y.round(9)))[0, 1])


def _shares(counts: ArrayLike) -> FloatArray:
    numbers = np.asarray(counts, dtype=np.float64)
    total = numbers.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(numbers, total, out=np.full(numbers.shape, np.nan), where=total > 0))
