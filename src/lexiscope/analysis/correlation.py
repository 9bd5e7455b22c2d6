"""Correlations of two columns of numbers, or of many columns with one, each with an interval and its n.

The bootstrap resamples item groups (words) and ranks again within each resample. Values that were added up in floating
point may differ in the last bit where they are equal in fact, which breaks ties: round them first (``settle_ties``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.bootstrap import (
    BoolArray,
    FloatArray,
    IntArray,
    group_codes,
    percentile_interval,
    require_finite,
    resample_counts,
    resampled_units,
)
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

Kind = Literal["spearman", "pearson", "r_squared"]

# share of a sum of squares of numbers up to 1 that rounding may leave
_TINY = 1e-12
# range of a constant column, as a share of its largest value
_CONSTANT = 4 * float(np.finfo(np.float64).eps)
# between these sizes the fourth power of a number, and of its last digits, is an ordinary number
_SMALL, _LARGE = 1e-50, 1e50
# a product with it adds up the rows of a block
_ONES_UP_TO = np.tril(np.ones((16, 16)))
_FEW_GROUPS = 256
"""Up to this many groups, ranks of a resample are sums over groups; over rows otherwise."""
_EXACT_SINGLES = 1 << 24
"""Whole numbers below this are exact in single precision, whose products are twice as fast."""


def pearson(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return Pearson's r with a percentile bootstrap interval.

    *Shape:* x, y, groups (items,). *Higher means:* y rises with x; −1 to 1. *Source:* SAW-C §4.3.

    Errors: :class:`StatisticError` on a constant column, fewer than 3 items, or a missing value.

    >>> round(pearson([1, 2, 3, 4], [1, 3, 2, 4]).value, 12)  # 4 / sqrt(5 * 5)
    0.8
    """
    return _one(x, y, "pearson", groups, level, resamples, seed)


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    decimals: int | None = None,
) -> Estimate:
    """Return Spearman's rho (Pearson's r of average ranks) with a percentile bootstrap interval.

    *Shape:* x, y, groups (items,). *Higher means:* y rises with x; −1 to 1. *Source:* SAW-C §4.3. ``decimals`` rounds
    both columns before ranking, so that values that differ in the last bit only are ties.

    Errors: :class:`StatisticError` on a constant column, fewer than 3 items, or a missing value.

    >>> round(spearman([1, 2, 2, 9], [1, 4, 3, 5]).value, 12)  # ranks 1 2.5 2.5 4 and 1 3 2 4: 4.5 / sqrt(4.5 * 5)
    0.948683298051
    """
    if decimals is not None:
        x, y = settle_ties(x, decimals=decimals), settle_ties(y, decimals=decimals)
    return _one(x, y, "spearman", groups, level, resamples, seed)


def r_squared(
    x: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return R² of the regression of y on x and an intercept (unadjusted): the square of Pearson's r.

    *Shape:* x, y, groups (items,). *Unit:* share of variance. *Higher means:* x explains more. *Source:* SAW-C §4.3.

    Errors: :class:`StatisticError` on a constant column, fewer than 3 items, or a missing value.

    >>> round(r_squared([1, 2, 3, 4], [1, 3, 2, 4]).value, 12)  # 0.8 ** 2
    0.64
    """
    return _one(x, y, "r_squared", groups, level, resamples, seed)


def correlate_columns(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: Kind = "spearman",
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Correlate each column with y on the same resamples; a column without a value has the reason instead of failing.

    *Shape:* columns (items, columns), for instance the cosine distances of each layer; y, groups (items,).

    Errors: :class:`StatisticError` when *y* is constant, too short or has missing values.

    >>> layers = [[0, 1], [0, 3], [0, 2], [0, 5], [0, 4]]  # all distances of the first layer are 0
    >>> [type(entry).__name__ for entry in correlate_columns(layers, [1, 2, 3, 4, 5])]
    ['Undefined', 'Estimate']
    """
    X, target = np.asarray(columns, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or len(X) != len(target):
        raise StatisticError(f"columns of shape {X.shape} do not go with {len(target)} items")
    _check_column("y", target)
    _, count = group_codes(groups, len(target))
    draws = sound_draws(X, target, kind=signed_kind(kind), groups=groups, resamples=resamples, seed=seed)
    reasons = [_reason(X[:, column]) for column in range(X.shape[1])]
    name = statistic_name(kind)
    return tuple(
        Undefined(name, reason, len(target))
        if reason
        else _estimate(X[:, column], target, kind, draws[:, column], level, count, resampled_units(groups))
        for column, reason in enumerate(reasons)
    )


def sound_draws(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: Kind,
    groups: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> FloatArray:
    """Return the correlation of each column with y in each resample, as :func:`correlation_draws`.

    A column without a value (constant, or with missing values) is NaN throughout and does not stop the others.
    Errors: :class:`StatisticError` when *y* is constant, too short or has missing values.
    """
    X, target = np.asarray(columns, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check_column("y", target)
    codes, count = group_codes(groups, len(target))
    sound = [column for column in range(X.shape[1]) if not _reason(X[:, column])]
    draws = np.full((resamples, X.shape[1]), np.nan)
    if sound:
        draws[:, sound] = _draws(X[:, sound], target, kind, codes, count, resamples, seed)
    return draws


def correlation_draws(
    columns: ArrayLike,
    y: ArrayLike,
    *,
    kind: Kind = "spearman",
    groups: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> FloatArray:
    """Return the correlation of each column with y in each resample: what the intervals of the columns are made of.

    For statistics of several columns at once, such as the highest of them. NaN where a resample is constant.

    *Shape:* columns (items, columns), y and groups (items,) → (resamples, columns).
    Errors: :class:`StatisticError` where *y* or a column is constant, too short or has missing values.
    """
    X, target = np.asarray(columns, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check_column("y", target)
    for column in range(X.shape[1]):
        _check_column(f"column {column}", X[:, column])
    codes, count = group_codes(groups, len(target))
    return _draws(X, target, kind, codes, count, resamples, seed)


def signed_kind(kind: Kind) -> Kind:
    """Return the correlation of which a kind is made: of R², Pearson's r, whose sign R² has lost."""
    return "pearson" if kind == "r_squared" else kind


def correlation_interval(
    draws: ArrayLike, *, kind: Kind, level: float = 0.95, resampled: str = "", n_groups: int = 0
) -> Interval:
    """Return the interval of a correlation from its draws: those of :func:`signed_kind`.

    That of R² is of the squared draws, from 0 if the interval of r holds 0. Squares are above 0 in every draw:
    their percentiles alone would exclude an R² of 0 even if x and y have nothing in common.

    *Shape:* draws (resamples,); the other arguments as :func:`~lexiscope.analysis.bootstrap.percentile_interval`.

    >>> drawn = np.linspace(-0.1, 0.5, 101)
    >>> interval = correlation_interval(drawn, kind="r_squared", n_groups=50)
    >>> interval.low, 0.2 < interval.high < 0.25
    (0.0, True)
    """
    signed = np.asarray(draws, dtype=np.float64)
    interval = percentile_interval(signed, level=level, resampled=resampled, n_groups=n_groups, within=(-1, 1))
    if kind != "r_squared":
        return interval
    squared = percentile_interval(signed**2, level=level, resampled=resampled, n_groups=n_groups, within=(0, 1))
    return replace(squared, low=0.0) if interval.low <= 0 <= interval.high else squared


def drawn_correlations(
    x: FloatArray, y: FloatArray, codes: IntArray, n_groups: int, *, kind: Kind, resamples: int, seed: int
) -> FloatArray:
    """Return the correlation of x and y in each resample of *n_groups* groups, some of which may have no row here.

    For columns that lie in different rows of the same groups: one seed draws the same groups for all of them. NaN
    where a resample is constant or empty. *Shape:* x, y, codes (rows,) → (resamples,).
    """
    return _draws(x[:, None], y, kind, codes, n_groups, resamples, seed)[:, 0]


def weighted_correlations(X: FloatArray, y: FloatArray, codes: IntArray, counts: IntArray, *, kind: Kind) -> FloatArray:
    """Return the correlation of each column with y where group g is counted ``counts[draw, g]`` times, in each draw.

    Counts are those of a resample, or 0 and 1 for the groups that it excluded. NaN where what is left is constant or
    empty. *Shape:* X (items, columns), y and codes (items,), counts (draws, groups) → (draws, columns).
    """
    drawn = (_rank_draws if kind == "spearman" else _moment_draws)(X, y, codes, counts)
    return drawn**2 if kind == "r_squared" else drawn


def weighted_separations(X: FloatArray, high: BoolArray, codes: IntArray, counts: IntArray) -> FloatArray:
    """Return how often a *high* row's value exceeds another row's, ties half, in each draw (the area under the ROC).

    Counts are as in :func:`weighted_correlations`. NaN if a draw has only one of the two kinds.
    *Shape:* X (rows, columns), high and codes (rows,), counts (draws, groups) → (draws, columns).

    >>> one = np.ones((1, 4), dtype=np.int64)
    >>> weighted_separations(np.array([[1.0], [3.0], [2.0], [4.0]]), np.array([0, 0, 1, 1]) > 0, np.arange(4), one)
    array([[0.75]])
    """
    drawn, step = np.empty((len(counts), X.shape[1])), max(1, (1 << 18) // len(high))
    classes = [_tie_classes(X[:, column]) for column in range(X.shape[1])]
    for start in range(0, len(counts), step):
        weights = np.ascontiguousarray(counts[start : start + step, codes].T, dtype=np.float64)
        above, below = weights[high].sum(axis=0), weights[~high].sum(axis=0)
        pairs = np.where((above > 0) & (below > 0), above * below, np.nan)
        for column, tied in enumerate(classes):
            # ranks about their mean: of the sum over high rows only what exceeds chance is left
            ranks = np.einsum("ib,ib->b", weights[high], _resampled_ranks(tied, weights)[high])
            drawn[start : start + step, column] = 0.5 + ranks / pairs
    return drawn


def fisher_z_interval(r: float, n: int, *, kind: Literal["pearson", "spearman"], level: float = 0.95) -> Interval:
    """Return the closed-form interval of a correlation, for comparison with the bootstrap: it ignores shared words.

    Standard error of atanh(r): 1/sqrt(n − 3) for Pearson (Fisher 1921), times sqrt(1 + r²/2) for Spearman
    (Bonett & Wright 2000).

    Errors: :class:`StatisticError` with fewer than 4 items or r outside −1..1.

    >>> interval = fisher_z_interval(0.5, 28, kind="pearson")  # tanh(atanh(.5) ± 1.96 / 5)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.156, 0.7358)
    """
    if n < 4 or not -1 <= r <= 1:
        raise StatisticError(f"Fisher's z needs n > 3 and −1 <= r <= 1, not n = {n}, r = {r}")
    if abs(r) == 1:
        return Interval(r, r, level, statistic_name("fisher_z", kind=kind))
    error = math.sqrt((1 + r * r / 2 if kind == "spearman" else 1) / (n - 3))
    margin = NormalDist().inv_cdf((1 + level) / 2) * error
    low, high = math.tanh(math.atanh(r) - margin), math.tanh(math.atanh(r) + margin)
    return Interval(low, high, level, statistic_name("fisher_z", kind=kind))


def settle_ties(values: ArrayLike, *, decimals: int = 10) -> FloatArray:
    """Round values so that those that are equal but for accumulated floating-point error become ties.

    For numbers without a unit (shares, cosines); ratings have :func:`lexiscope.analysis.ratings.settle`.

    *Shape:* kept. *Source:* SAW-C's released means hold 273 distinct values where there are 258.

    >>> len(set(settle_ties([0.1 + 0.2, 0.3]).tolist()))
    1
    """
    data: FloatArray = np.asarray(values, dtype=np.float64)
    return data.round(decimals)


def average_ranks(values: ArrayLike, *, groups: IntArray | None = None) -> FloatArray:
    """Rank values from 1, ties sharing their mean rank; with groups, within each group.

    *Shape:* values, groups (rows,) → (rows,). *Higher means:* larger value.

    >>> average_ranks([3.0, 1.0, 3.0])
    array([2.5, 1. , 2.5])
    """
    data = np.asarray(values, dtype=np.float64)
    codes = np.zeros(len(data), dtype=np.int64) if groups is None else groups
    # one sort by group and value; a run of equal pairs shares the mean of its positions
    order = np.lexsort((data, codes))
    sorted_codes = codes[order]
    new_group = _starts_run(sorted_codes)
    first_tied = np.flatnonzero(new_group | _starts_run(data[order]))
    length = np.diff(np.append(first_tied, len(data)))
    start_of_group = np.flatnonzero(new_group)[np.cumsum(new_group)[first_tied] - 1]
    ranks = np.empty(len(data))
    ranks[order] = np.repeat(first_tied - start_of_group + (length + 1) / 2, length)
    return ranks


def grouped_correlations(x: FloatArray, y: FloatArray, codes: IntArray, n_groups: int, *, kind: str) -> FloatArray:
    """Return the correlation of x and y within each group of rows; NaN where one of them is constant there.

    *Shape:* x, y, codes (rows,) → (groups,). ``kind`` is ``spearman`` or ``pearson``.
    """
    if kind == "spearman":
        x, y = average_ranks(x, groups=codes), average_ranks(y, groups=codes)
    x, y = spread_within(x, codes, n_groups), spread_within(y, codes, n_groups)
    cross, xx, yy = (np.bincount(codes, weights=w, minlength=n_groups) for w in (x * y, x * x, y * y))
    scale = np.sqrt(xx * yy)
    quotients = np.divide(cross, scale, out=np.full(n_groups, np.nan), where=scale > 0)
    return np.asarray(np.clip(quotients, -1, 1))


def centred_within(values: FloatArray, codes: IntArray, n_groups: int) -> FloatArray:
    """Subtract each group's mean; exact zeros for a constant group, with any rounding of its mean.

    *Shape:* values, codes (rows,) → (rows,).

    >>> centred_within(np.array([0.1, 0.1, 0.1, 5.0, 7.0]), np.array([0, 0, 0, 1, 1]), 2).tolist()
    [0.0, 0.0, 0.0, -1.0, 1.0]
    """
    size = np.maximum(np.bincount(codes, minlength=n_groups), 1)
    low = np.full(n_groups, np.inf)
    np.minimum.at(low, codes, values)
    # shifting by the minimum first keeps a constant group at exactly zero
    shifted = values - low[codes]
    return np.asarray(shifted - (np.bincount(codes, weights=shifted, minlength=n_groups) / size)[codes])


def spread_within(values: FloatArray, codes: IntArray, n_groups: int) -> FloatArray:
    """Centre each group and divide it so that its largest deviation is .5 to 1; zeros for a group that is constant.

    The divisor is a power of two, so no digit changes: squares of 1e-200 do not vanish, and nothing else happens. A
    group is constant where its values are one up to the last bits. *Shape:* values, codes (rows,) → (rows,).

    >>> spread_within(np.array([0.1 + 0.2, 0.3, 6.0, 8.0]), np.array([0, 0, 1, 1]), 2).tolist()
    [0.0, 0.0, -0.5, 0.5]
    """
    centred = centred_within(values, codes, n_groups)
    size, largest = np.zeros(n_groups), np.zeros(n_groups)
    np.maximum.at(size, codes, np.abs(centred))
    np.maximum.at(largest, codes, np.abs(values))
    constant = size <= _CONSTANT / 2 * largest
    return np.asarray(np.where(constant[codes], 0.0, centred / np.where(constant, 1.0, power_of_two(size))[codes]))


def power_of_two(sizes: FloatArray) -> FloatArray:
    """Return the smallest power of two above each size. *Shape:* kept.

    >>> power_of_two(np.array([0.75, 1.0, 5.0])).tolist()
    [1.0, 2.0, 8.0]
    """
    return np.asarray(np.ldexp(1.0, np.frexp(sizes)[1]))


def safe_unit(values: ArrayLike) -> FloatArray:
    """Return the power of two by which each column is divided before it is squared; 1 for numbers of ordinary size.

    Squares of 1e-200 vanish and squares of 1e200 overflow; divided by a power of two, no digit changes.

    *Shape:* (rows,) → (); (rows, columns) → (columns,).

    >>> float(safe_unit([0.001, 5e9])), float(safe_unit([3e-200])) == 2.0**-663
    (1.0, True)
    """
    sizes = np.abs(np.asarray(values, dtype=np.float64)).max(axis=0, initial=0.0)
    ordinary = (sizes == 0) | ((sizes > _SMALL) & (sizes < _LARGE))
    # half of the power above the size: twice 2**1023 would be no number
    return np.asarray(np.where(ordinary, 1.0, np.ldexp(1.0, np.frexp(np.where(ordinary, 1.0, sizes))[1] - 1)))


def standardised(columns: FloatArray) -> FloatArray:
    """Return columns of mean 0 and SD 1: sums of their squares neither cancel nor vanish. *Shape:* kept.

    >>> standardised(np.array([1e-200, 3e-200])).tolist()
    [-1.0, 1.0]
    """
    scaled = columns / safe_unit(columns)
    return np.asarray((scaled - scaled.mean(axis=0)) / scaled.std(axis=0))


def distinct_values(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct values, ascending, and the place of each value among them.

    Values that differ in their last bits only are one value, the smallest of them: 0.1 + 0.2 is 0.3.

    >>> [column.tolist() for column in distinct_values(np.array([0.1 + 0.2, 5.0, 0.3]))]
    [[0.3, 5.0], [0, 1, 0]]
    """
    distinct, code = np.unique(values, return_inverse=True)
    sizes = np.maximum(np.abs(distinct[1:]), np.abs(distinct[:-1]))
    starts = np.concatenate([[True], distinct[1:] / 2 - distinct[:-1] / 2 > _CONSTANT / 2 * sizes])
    return distinct[starts], np.asarray((np.cumsum(starts) - 1)[code.reshape(-1)], dtype=np.int64)


def correlation_value(x: ArrayLike, y: ArrayLike, *, kind: Kind) -> float:
    """Return a correlation without an interval, for use inside other statistics.

    Errors: :class:`StatisticError` on a constant column, fewer than 3 items, or a missing value.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise StatisticError(f"{kind} needs two columns of one length, not shapes {a.shape} and {b.shape}")
    _check_column("x", a)
    _check_column("y", b)
    if kind == "spearman":
        a, b = average_ranks(a), average_ranks(b)
    a, b = _unit_scale(a), _unit_scale(b)
    r = float(a @ b / math.sqrt(float(a @ a) * float(b @ b)))
    # rounding can carry a perfect correlation to 1.0000000000000002
    r = min(1.0, max(-1.0, r))
    return r * r if kind == "r_squared" else r


def is_constant(values: FloatArray) -> bool:
    """Whether all values are one, up to the last bits of floating point."""
    scaled = values / safe_unit(values)
    return bool(np.ptp(scaled) <= _CONSTANT * np.max(np.abs(scaled)))


def _reason(values: FloatArray) -> str:
    if len(values) < 3:
        return f"only {len(values)} values; a correlation needs at least 3"
    if not np.isfinite(values).all():
        return f"{int((~np.isfinite(values)).sum())} of {len(values)} values are missing or infinite"
    return f"all {len(values)} values are {values[0]:g}" if is_constant(values) else ""


def _check_column(label: str, values: FloatArray) -> None:
    require_finite(f"the correlation with {label}", values)
    reason = _reason(values)
    if reason:
        raise StatisticError(f"the correlation is undefined: in {label}, {reason}")


def _one(
    x: ArrayLike, y: ArrayLike, kind: Kind, groups: ArrayLike | None, level: float, resamples: int, seed: int
) -> Estimate:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    correlation_value(a, b, kind=kind)
    codes, count = group_codes(groups, len(a))
    draws = _draws(a[:, None], b, signed_kind(kind), codes, count, resamples, seed)
    return _estimate(a, b, kind, draws[:, 0], level, count, resampled_units(groups))


def _estimate(
    x: FloatArray, y: FloatArray, kind: Kind, draws: FloatArray, level: float, n_groups: int, resampled: str
) -> Estimate:
    interval = correlation_interval(draws, kind=kind, level=level, resampled=resampled, n_groups=n_groups)
    return Estimate(statistic_name(kind), correlation_value(x, y, kind=kind), interval, len(x), n_groups)


def _draws(
    X: FloatArray, y: FloatArray, kind: Kind, codes: IntArray, n_groups: int, resamples: int, seed: int
) -> FloatArray:
    """Correlations of each column in each resample, *Shape:* (resamples, columns)."""
    blocks = resample_counts(n_groups, resamples=resamples, seed=seed)
    return np.concatenate([weighted_correlations(X, y, codes, block, kind=kind) for block in blocks])


def _moment_draws(X: FloatArray, y: FloatArray, codes: IntArray, counts: IntArray) -> FloatArray:
    """Pearson's r from sums per group: a resample only changes how often each group's sums are counted."""
    X, y = _unit_scale(X), _unit_scale(y)
    weights = counts.astype(np.float64)
    n, sy, syy = (weights @ np.bincount(codes, weights=w) for w in (np.ones_like(y), y, y * y))
    sx, sxx, sxy = (weights @ _sums(part, codes, counts.shape[1]) for part in (X, X * X, X * y[:, None]))
    n, sy, syy = n[:, None], sy[:, None], syy[:, None]
    return _ratio(sxy - sx * sy / n, sxx - sx * sx / n, syy - sy * sy / n, n)


def _rank_draws(X: FloatArray, y: FloatArray, codes: IntArray, counts: IntArray) -> FloatArray:
    """Spearman's rho, ranked again in each resample.

    Ranks about their mean are multiples of 1/2, so that sums of their products are exact in any order: both ways of
    adding them up give the same digits.
    """
    sizes = np.bincount(codes, minlength=counts.shape[1])
    # ranks of n rows about their mean have absolute values that sum to n²/4 at most, and are multiplied by at most half
    # the size of a group; the sums count in quarters
    largest = int((counts @ sizes).max(initial=0)) ** 2 * int(sizes.max(initial=0)) // 2
    few = counts.shape[1] <= _FEW_GROUPS and largest < _EXACT_SINGLES
    return (_rank_draws_by_group if few else _rank_draws_by_row)(X, y, codes, counts)


def _rank_draws_by_group(X: FloatArray, y: FloatArray, codes: IntArray, counts: IntArray) -> FloatArray:
    """Spearman's rho in each resample of few groups, from products of matrices.

    How many rows of each group are below a row does not depend on the draw: counted as often as the groups were drawn,
    they add up to its rank. Half of the group less, and they add up to its rank about the mean.
    """
    drawn = np.empty((len(counts), X.shape[1]))
    step = max(1, (1 << 17) // len(y))
    member = np.eye(counts.shape[1], dtype=np.float32)[:, codes]
    columns = [_tie_classes(column) for column in X.T]
    below = [_rows_below(tied, member) for tied in columns]
    of_y, sizes = _rows_below(_tie_classes(y), member).T, np.bincount(codes, minlength=counts.shape[1])
    for start in range(0, len(counts), step):
        times = np.ascontiguousarray(counts[start : start + step].T, dtype=np.float64)
        weights, n = times[codes], sizes @ times
        ry = (of_y @ times.astype(np.float32)).astype(np.float64)
        weighted = weights * ry
        yy, cubes = np.einsum("ib,ib->b", weighted, ry), sizes @ (times * times * times)
        singles = weighted.astype(np.float32)
        for column, (tied, of_x) in enumerate(zip(columns, below, strict=True)):
            xy = np.einsum("gb,gb->b", (of_x @ singles).astype(np.float64), times)
            xx = (n**3 - cubes - _cubes_of_ties(tied, weights)) / 12
            drawn[start : start + step, column] = _ratio(xy, xx, yy, n)
    return drawn


@dataclass(frozen=True, slots=True, eq=False)
class _Ties:
    """The order of the values of a column, where each run of ties starts in it, and the run of each row.

    ``several`` are the runs of two or more rows, those of one length together, with their rows. If they
    are few, adding up over them takes less time than ``reduceat`` over all. *Shape:* (runs,), (runs, length) each.
    """

    order: IntArray
    starts: IntArray
    run: IntArray
    several: tuple[tuple[IntArray, IntArray], ...]


def _rows_below(tied: _Ties, member: NDArray[np.float32]) -> NDArray[np.float32]:
    """How many rows of each group have a smaller value than a row, ties half, minus half of the group.

    *Shape:* member (groups, rows), kept.
    """
    upto = np.zeros((len(member), len(tied.order) + 1), dtype=np.float32)
    np.cumsum(member[:, tied.order], axis=1, out=upto[:, 1:])
    ends = np.append(tied.starts[1:], len(tied.order))
    return np.asarray(((upto[:, tied.starts] + upto[:, ends] - upto[:, -1:]) / 2)[:, tied.run])


def _cubes_of_ties(tied: _Ties, weights: FloatArray) -> FloatArray:
    """By how much the cubes of the sizes of ties exceed those of the weights of their rows. *Shape:* (draws,)."""
    excess = np.zeros(weights.shape[1])
    for _, rows in tied.several:
        part = weights[rows]
        size = part.sum(axis=1)
        excess += np.einsum("kb,kb,kb->b", size, size, size) - np.einsum("klb,klb,klb->b", part, part, part)
    return excess


def _tie_sums(tied: _Ties, values: FloatArray) -> FloatArray:
    """Values added up over each run of ties, in order. *Shape:* values (rows, draws) → (runs, draws)."""
    if 2 * len(tied.starts) < len(tied.order):
        return np.asarray(np.add.reduceat(values[tied.order], tied.starts, axis=0))
    sums = values[tied.order[tied.starts]]
    for runs, rows in tied.several:
        sums[runs] = values[rows].sum(axis=1)
    return sums


def _rank_draws_by_row(X: FloatArray, y: FloatArray, codes: IntArray, counts: IntArray) -> FloatArray:
    """Spearman's rho in each resample, in slices of draws that fit the processor's cache.

    The sums over a column are taken in the order of its values, without giving each row its rank.
    """
    drawn = np.empty((len(counts), X.shape[1]))
    step = max(1, (1 << 16) // len(y))
    classes = [_tie_classes(X[:, column]) for column in range(X.shape[1])]
    y_classes = _tie_classes(y)
    for start in range(0, len(counts), step):
        weights = np.ascontiguousarray(counts[start : start + step, codes].T, dtype=np.float64)
        ry = _resampled_ranks(y_classes, weights)
        weighted = weights * ry
        yy = np.einsum("ib,ib->b", weighted, ry)
        n = weights.sum(axis=0)
        # what columns without ties have in common
        untied = _rank_squares(weights, n), np.einsum("ib,ib->b", weighted, weights) / 2
        for column, tied in enumerate(classes):
            # weights of tied rows are added up: they share one rank
            size, of_y = _tie_sums(tied, weights), _tie_sums(tied, weighted)
            xx, half = untied
            if len(size) < len(weights):
                xx, half = _rank_squares(size, n), np.einsum("ib,ib->b", of_y, size) / 2
            # a rank is what is drawn up to the row − half of its ties − half of all; ranks of y sum to 0
            xy = _products_up_to(size, of_y) - half
            drawn[start : start + step, column] = _ratio(xy, xx, yy, n)
    return drawn


def _products_up_to(size: FloatArray, of_y: FloatArray) -> FloatArray:
    """The sum over rows of *of_y* times what *size* adds up to from the first row to this one. *Shape:* (draws,).

    Sums within blocks of rows are products with a triangle of ones: a running sum down the rows is several times
    slower.
    """
    whole = len(size) // len(_ONES_UP_TO) * len(_ONES_UP_TO)
    blocks, y_blocks = (part[:whole].reshape(-1, len(_ONES_UP_TO), part.shape[1]) for part in (size, of_y))
    within = _ONES_UP_TO @ blocks
    before = np.zeros((len(blocks) + 1, size.shape[1]))
    np.cumsum(within[:, -1], axis=0, out=before[1:])
    rest = before[-1] + np.cumsum(size[whole:], axis=0)
    total = np.einsum("kib,kib->b", y_blocks, within) + np.einsum("kb,kb->b", y_blocks.sum(axis=1), before[:-1])
    return np.asarray(total + np.einsum("ib,ib->b", of_y[whole:], rest))


def _rank_squares(size: FloatArray, n: FloatArray) -> FloatArray:
    """The sum of squares of n average ranks about their mean, where runs of ties have these sizes (Kendall 1945)."""
    return np.asarray((n**3 - np.einsum("ib,ib,ib->b", size, size, size)) / 12)


def _tie_classes(values: FloatArray) -> _Ties:
    order = np.argsort(values, kind="stable").astype(np.int64)
    starting = _starts_run(values[order])
    run = np.empty(len(values), dtype=np.int64)
    run[order] = np.cumsum(starting) - 1
    starts = np.flatnonzero(starting).astype(np.int64)
    lengths, several = np.diff(starts, append=len(order)), []
    for length in np.unique(lengths[lengths > 1]):
        runs = np.flatnonzero(lengths == length)
        several.append((runs, order[starts[runs][:, None] + np.arange(length)]))
    return _Ties(order, starts, run, tuple(several))


def _resampled_ranks(tied: _Ties, weights: FloatArray) -> FloatArray:
    """Average ranks minus their mean when row i occurs weights[i] times, *Shape:* (rows, draws)."""
    # weights of tied rows are added up: they share one rank
    size = _tie_sums(tied, weights)
    upto = np.cumsum(size, axis=0)
    return np.asarray((upto - size / 2 - upto[-1] / 2)[tied.run])


def _ratio(cross: FloatArray, xx: FloatArray, yy: FloatArray, n: FloatArray) -> FloatArray:
    """cross / sqrt(xx * yy), NaN where a resample is constant."""
    # relative to n: a constant resample leaves rounding error, never a real spread
    sound = (xx > _TINY * n) & (yy > _TINY * n)
    scale = np.sqrt(np.where(sound, xx * yy, 1.0))
    return np.asarray(np.clip(np.where(sound, cross / scale, np.nan), -1, 1))


def _unit_scale(values: FloatArray) -> FloatArray:
    """Subtract the mean and divide by the largest deviation, so that squares neither overflow nor vanish."""
    centred = values - values.mean(axis=0)
    return np.asarray(centred / np.abs(centred).max(axis=0))


def _sums(part: FloatArray, codes: IntArray, n_groups: int) -> FloatArray:
    """Sum the rows of each group, *Shape:* (rows, columns) → (groups, columns)."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_groups))
    return np.asarray(np.add.reduceat(part[order], starts, axis=0))


def _starts_run(values: FloatArray | IntArray) -> BoolArray:
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts
