"""The bootstrap: resampling whole groups of rows under a seed, and the intervals made from the draws.

Items that share a word are not independent, so the unit that is resampled is the *group* (a word, a rater), never the
row, wherever groups are known. Draws on which the statistic is undefined are counted in the interval, not hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Interval, statistic_name

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MOST_UNDEFINED = 0.1
"""An interval is refused where more than this share of the draws has no value."""

_CELLS = 1 << 20
_KEPT = 1 << 21
"""Draws of up to this many numbers are kept between calls (16 MiB)."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made, as one object: the group of each item, the number of resamples, the seed, the level.

    Items of one group (a word) are resampled together. Without resamples there are no intervals.
    """

    groups: tuple[str, ...]
    n: int = 2000
    seed: int = 0
    level: float = 0.95

    @property
    def resamples(self) -> int:
        """The number of resamples: none where all items are of one group, which cannot be resampled."""
        return self.n if len(set(self.groups)) > 1 else 0

    def of(self, rows: ArrayLike) -> Bootstrap:
        """Return the same for some of the items. *Shape:* rows (items,) of booleans or of indices."""
        return replace(self, groups=tuple(np.asarray(self.groups)[np.asarray(rows)].tolist()))

    @property
    def options(self) -> ItemResampling:
        """The same as options of a statistic of columns: ``statistic(x, y, **bootstrap.options)``."""
        return {"groups": self.groups if self.resamples else None, "resamples": self.resamples, "seed": self.seed}

    def interval(self, statistic: Callable[[IntArray], float]) -> Interval:
        """Return the interval of any statistic of row indices (:func:`bootstrap`)."""
        if not self.resamples:
            return no_interval("nothing could be resampled", level=self.level, resamples=0)
        n, groups = len(self.groups), self.groups
        return bootstrap(statistic, n, groups=groups, resamples=self.resamples, seed=self.seed, level=self.level)


class Resampling(TypedDict):
    """How often a statistic resamples for its interval, and the seed: arguments that statistics of this room take."""

    resamples: int
    seed: int


class ItemResampling(Resampling):
    """The same of a statistic of columns, and the group of each row; ``None`` where nothing can be resampled."""

    groups: tuple[str, ...] | None


class GroupResampling(Resampling):
    """The same of a statistic of items, and the group of each item: its word, its setup."""

    groups: Mapping[str, str]


def group_resampling(
    groups: Mapping[str, str], items: Iterable[str] | None = None, *, resamples: int, seed: int
) -> GroupResampling:
    """Return how a statistic resamples the groups of some items; by default, of all that have one.

    Items of one group alone cannot be resampled: none are drawn, and the statistic has no interval.

    >>> words = {"i": "bank", "j": "bank", "k": "bat"}
    >>> group_resampling(words, ["j", "k"], resamples=100, seed=1)
    {'groups': {'j': 'bank', 'k': 'bat'}, 'resamples': 100, 'seed': 1}
    >>> group_resampling(words, ["i", "j"], resamples=100, seed=1)["resamples"]
    0
    """
    chosen = groups if items is None else {item: groups[item] for item in items}
    return {"groups": chosen, "resamples": Bootstrap(tuple(chosen.values()), resamples).resamples, "seed": seed}


def group_codes(groups: ArrayLike | None, n: int) -> tuple[IntArray, int]:
    """Return a code from 0 for each row's group, and the number of groups; without groups, each row is its own.

    *Shape:* groups (rows,) → codes (rows,). Codes follow the sorted labels, so the order of rows changes no draw.

    Errors: :class:`StatisticError` when the lengths differ or there are fewer than two groups.

    >>> group_codes(["bank", "bat", "bank"], 3)
    (array([0, 1, 0]), 2)
    """
    if groups is None:
        codes, count = np.arange(n, dtype=np.int64), n
    else:
        labels, inverse = np.unique(np.asarray(groups), return_inverse=True)
        codes, count = inverse.reshape(-1).astype(np.int64), len(labels)
    if len(codes) != n:
        raise StatisticError(f"{len(codes)} group labels for {n} rows", hint="give one label per row")
    if count < 2:
        raise StatisticError(f"a bootstrap needs at least 2 groups, not {count}", why="one group has no variation")
    return codes, count


def resample_counts(n_groups: int, *, resamples: int, seed: int) -> Iterator[IntArray]:
    """Yield blocks of resamples: how often each group was drawn, with replacement, in each of them.

    *Shape:* blocks of (draws, groups); the draws of all blocks sum to *resamples*, each row of a block to *n_groups*.
    The same seed gives the same draws for every statistic, so statistics can be compared draw by draw. With 0 resamples
    the one block is empty: the interval is then not computed, and says so.

    >>> [block.shape for block in resample_counts(3, resamples=4, seed=0)]
    [(4, 3)]
    """
    if resamples < 0:
        raise StatisticError(f"a bootstrap cannot draw {resamples} resamples")
    if resamples == 0:
        yield np.empty((0, n_groups), dtype=np.int64)
    generator = np.random.default_rng(seed)
    # the block size depends on the number of groups alone: memory is bounded and the draws are reproducible
    step = max(1, _CELLS // n_groups)
    for start in range(0, resamples, step):
        draws = min(step, resamples - start)
        picks = generator.integers(0, n_groups, size=(draws, n_groups))
        # each draw gets its own range of numbers, so that one count serves the whole block
        picks += np.arange(draws, dtype=np.int64)[:, None] * n_groups
        yield np.bincount(picks.ravel(), minlength=draws * n_groups).reshape(draws, n_groups).astype(np.int64)


def group_sums(values: ArrayLike, codes: IntArray, n_groups: int) -> FloatArray:
    """Return the sum of the values of each group. *Shape:* values (rows, …), codes (rows,) → (groups, …).

    >>> group_sums([1.0, 2.0, 4.0], np.array([0, 1, 0]), 2).tolist()
    [5.0, 2.0]
    """
    data = np.asarray(values, dtype=np.float64)
    sums = np.zeros((n_groups, *data.shape[1:]))
    np.add.at(sums, codes, data)
    return sums


def ratio_draws(
    tops: ArrayLike, bottoms: ArrayLike, codes: IntArray, n_groups: int, *, resamples: int, seed: int
) -> FloatArray:
    """Return the sum of *tops* over the sum of *bottoms* in each resample of groups of rows: a share, or a mean.

    NaN where the bottoms of the groups drawn sum to 0. *Shape:* tops (rows,) or (rows, columns), bottoms and codes
    (rows,) → (resamples,) or (resamples, columns).

    >>> ratio_draws([1, 1, 0], [1, 1, 1], np.array([0, 0, 1]), 2, resamples=3, seed=1).tolist()
    [0.6666666666666666, 0.0, 1.0]
    """
    top, bottom = group_sums(tops, codes, n_groups), group_sums(bottoms, codes, n_groups)
    kept = resamples * n_groups <= _KEPT
    draws = []
    for block in (_kept_draws if kept else _float_draws)(n_groups, resamples, seed):
        above, below = block @ top, block @ bottom
        below = below if above.ndim == 1 else np.broadcast_to(below[:, None], above.shape)
        draws.append(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))
    return np.concatenate(draws)


def _float_draws(n_groups: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    # as floats: a product of integer matrices is many times slower
    return (block.astype(np.float64) for block in resample_counts(n_groups, resamples=resamples, seed=seed))


@lru_cache(maxsize=2)
def _kept_draws(n_groups: int, resamples: int, seed: int) -> tuple[FloatArray, ...]:
    """The draws of groups, kept: a study asks for hundreds of intervals over the same words or sentences."""
    return tuple(_float_draws(n_groups, resamples, seed))


def resample_rows(codes: IntArray, n_groups: int, *, resamples: int, seed: int) -> Iterator[IntArray]:
    """Yield, for each resample, the indices of the rows of the groups drawn (a group drawn twice comes twice).

    >>> sorted({len(rows) for rows in resample_rows(np.array([0, 0, 1]), 2, resamples=99, seed=1)})  # 1+1, 2+1, 2+2
    [2, 3, 4]
    """
    # stable: rows of a group stay in the order of the data
    order = np.argsort(codes, kind="stable")
    for block in resample_counts(n_groups, resamples=resamples, seed=seed):
        for counts in block:
            yield np.repeat(order, counts[codes[order]])


def bootstrap(
    statistic: Callable[[IntArray], float],
    n: int,
    *,
    groups: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> Interval:
    """Return the interval of any statistic of row indices, resampling groups of rows.

    *statistic* takes an array of row indices and returns a number; where it raises :class:`StatisticError` the draw
    counts as undefined. ``method`` is ``percentile`` or ``bca`` (bias-corrected and accelerated; the acceleration comes
    from leaving out one group at a time). *Source:* Efron & Tibshirani 1993, ch. 13-14.

    Errors: :class:`StatisticError` where the statistic is undefined on the data themselves, or *method* is unknown.
    """
    value = statistic(np.arange(n, dtype=np.int64))
    codes, count = group_codes(groups, n)
    rows = resample_rows(codes, count, resamples=resamples, seed=seed)
    draws = np.array([_or_nan(statistic, chosen) for chosen in rows])
    if method == "percentile":
        return percentile_interval(draws, level=level)
    if method != "bca":
        raise StatisticError(f"no bootstrap interval {method!r}; there are: percentile, bca")
    jackknife = np.array([_or_nan(statistic, np.flatnonzero(codes != left_out)) for left_out in range(count)])
    return bca_interval(draws, value, jackknife, level=level)


def percentile_interval(draws: ArrayLike, *, level: float = 0.95, method: str = "percentile") -> Interval:
    """Return the percentile interval of bootstrap draws. *method* is printed: how the draws were made.

    *Shape:* draws (resamples,); NaN = undefined. Where more than 10 % are, the interval has a note instead of bounds.
    With few groups it is a little short: of the mean of 60 values, a 95 % interval holds the truth 93.5 % of the time.

    >>> round(percentile_interval(range(101), level=0.9).low, 9)
    5.0
    """
    defined, undefined, note = _split_undefined(draws)
    bounds = (np.nan, np.nan) if note else np.quantile(defined, _tails(level))
    return _interval(bounds, level, method, len(defined) + undefined, undefined, note)


def bca_interval(draws: ArrayLike, value: float, jackknife: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the bias-corrected and accelerated interval of bootstrap draws.

    *value* is the statistic on the data, *jackknife* its values with one group left out at a time.
    *Source:* Efron 1987.

    Where too many draws are undefined, or all lie on one side of *value*, the interval has a note instead of bounds.
    """
    defined, undefined, note = _split_undefined(draws)
    total = len(defined) + undefined
    if note:
        return _interval((np.nan, np.nan), level, "bca", total, undefined, note)
    # draws equal to the value count half: discrete statistics would otherwise be called biased
    below = (np.sum(defined < value) + 0.5 * np.sum(defined == value)) / len(defined)
    if not 0 < below < 1:
        note = "all bootstrap draws lie on one side of the estimate"
        return _interval((np.nan, np.nan), level, "bca", total, undefined, note)
    normal = NormalDist()
    bias, acceleration = normal.inv_cdf(float(below)), _acceleration(np.asarray(jackknife, dtype=np.float64))
    shifted = [bias + normal.inv_cdf(tail) for tail in _tails(level)]
    levels = [normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted]
    return _interval(np.quantile(defined, levels), level, "bca", total, undefined, "")


def mean_interval(values: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> Interval:
    """Return the percentile interval of a mean, its values resampled one by one (raters, items).

    *Shape:* values (units,). Of two values there is a note instead of bounds: two raters have one and the same
    correlation, and an interval without width would say that it is certain.
    Errors: :class:`StatisticError` with fewer than 2 values.

    >>> interval = mean_interval([1.0, 1.0, 1.0])
    >>> interval.low, interval.high
    (1.0, 1.0)
    """
    data = np.asarray(values, dtype=np.float64)
    codes, count = group_codes(None, len(data))
    if len(data) == 2:
        return no_interval("it needs at least 3 values", level=level, resamples=resamples)
    draws = ratio_draws(data, np.ones(count), codes, count, resamples=resamples, seed=seed)
    return percentile_interval(draws, level=level)


def no_interval(reason: str, *, level: float, resamples: int) -> Interval:
    """Return an interval without bounds that says why.

    >>> no_interval("one item cannot be resampled", level=0.95, resamples=200).note
    'no interval: one item cannot be resampled'
    """
    return _interval((np.nan, np.nan), level, "percentile", resamples, 0, f"no interval: {reason}")


def require_finite(name: str, *arrays: FloatArray) -> None:
    """Refuse NaN and infinities before a statistic swallows them.

    Errors: :class:`StatisticError` naming the statistic and the first row that is not a number.
    """
    for array in arrays:
        # of a two-dimensional array, the row in which any column is missing
        wrong = np.flatnonzero(~np.isfinite(array).all(axis=tuple(range(1, array.ndim))))
        if len(wrong):
            raise StatisticError(
                f"{name} is undefined: row {int(wrong[0])} (and {len(wrong) - 1} more) is missing or infinite",
                hint="drop rows without a value first and report how many",
            )


def _or_nan(statistic: Callable[[IntArray], float], rows: IntArray) -> float:
    try:
        return float(statistic(rows))
    except StatisticError:
        return float("nan")


def _split_undefined(draws: ArrayLike) -> tuple[FloatArray, int, str]:
    """The draws that have a value, how many have none, and why there is no interval where too many have none."""
    values = np.asarray(draws, dtype=np.float64).reshape(-1)
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    few = undefined > MOST_UNDEFINED * len(values) or not len(defined)
    if not len(values):
        return defined, undefined, "no interval: no resamples were asked for"
    note = f"no interval: the statistic is undefined in {undefined} of {len(values)} resamples" if few else ""
    return defined, undefined, note


def _tails(level: float) -> Sequence[float]:
    if not 0 < level < 1:
        raise StatisticError(f"a confidence level lies between 0 and 1, not {level}")
    return ((1 - level) / 2, (1 + level) / 2)


def _interval(
    bounds: Sequence[float] | FloatArray, level: float, method: str, resamples: int, undefined: int, note: str
) -> Interval:
    name = statistic_name("bootstrap", method=method, level=f"{level:g}", resamples=resamples)
    return Interval(float(bounds[0]), float(bounds[1]), level, name, resamples, undefined, note)


def _acceleration(jackknife: FloatArray) -> float:
    """Skewness of the jackknife values over 6: how fast the standard error changes with the estimate."""
    values = jackknife[~np.isnan(jackknife)]
    deviations = values.mean() - values
    spread = float(np.sum(deviations**2)) ** 1.5
    return float(np.sum(deviations**3)) / (6 * spread) if spread > 0 else 0.0


def cluster_labels(
    items: Sequence[str], clusters: Mapping[str, str] | None, *, what: str = "cluster"
) -> list[str] | None:
    """Return each item's cluster (its word, its sentence) for a bootstrap, or nothing where there are no clusters.

    Errors: :class:`InputError` E506 naming the first item without one; *what* is what a cluster is called there.
    """
    if clusters is None:
        return None
    missing = [item for item in items if item not in clusters]
    if missing:
        many = f"{len(missing)} items have" if len(missing) > 1 else "an item has"
        raise InputError(f"{many} no {what}", code="E506", place=Place(item_id=missing[0]))
    return [clusters[item] for item in items]
