"""The bootstrap: resampling whole groups of rows under a seed, and the intervals made from the draws.

Items that share a word are not independent, so the unit that is resampled is the *group* (a word, a rater), never the
row, wherever groups are known. Draws on which the statistic is undefined are counted in the interval, not hidden.

Percentiles of the draws of few groups lie too close together: a resample varies as a sample of g groups does whose
mean is known, by √((g − 1) / g) less, and the normal distribution takes the place of Student's t. Where the number of
groups is given, the percentiles are taken further out by as much (*expanded percentiles*: Hesterberg 2015, American
Statistician 69). With a hundred groups the difference is 2 % of the width. The draws of fewer than six groups do not
reach that far: their interval is Student's t with the standard deviation of the draws. Two groups have none. How often
intervals hold the truth in simulated studies is in docs/reference/coverage.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MOST_UNDEFINED = 0.1
"""There is no interval if more than this share of the draws has no value."""

FEWEST_OF_PERCENTILES = 6
"""Draws of fewer groups have no percentiles that reach far enough."""

_CELLS = 1 << 20
_KEPT = 1 << 21
"""Draws of up to this many numbers are kept between calls (16 MiB)."""


class GroupLabels(tuple[str, ...]):
    """The group of each row, and what the groups are called: ``plural`` is printed in the name of an interval.

    >>> GroupLabels(["bank", "bat", "bank"], "words").plural
    'words'
    """

    plural: str

    def __new__(cls, labels: Iterable[object], plural: str) -> Self:
        """Return the labels as text."""
        made = super().__new__(cls, (str(label) for label in labels))
        made.plural = plural
        return made

    def __getnewargs__(self) -> tuple[tuple[str, ...], str]:
        # a copy in another process keeps the name
        return tuple(self), self.plural


class GroupOf(dict[str, str]):
    """The group of each item, by its id, and what the groups are called (``plural``).

    >>> GroupOf({"i": "bank"}, "words").plural
    'words'
    """

    def __init__(self, group_of: Mapping[str, str], plural: str) -> None:
        """Copy the mapping and name its groups."""
        super().__init__(group_of)
        self.plural = plural


def resampled_units(groups: object, *, rows: str = "items") -> str:
    """Return what a bootstrap of these groups resamples, in the plural; without groups, *rows*.

    Groups whose name is not known (a plain list of labels) are ``groups``.

    >>> resampled_units(GroupLabels(["bank", "bat"], "words")), resampled_units(["bank", "bat"]), resampled_units(None)
    ('words', 'groups', 'items')
    """
    return rows if groups is None else getattr(groups, "plural", "groups")


def groups_of(groups: ArrayLike | None, rows: ArrayLike) -> GroupLabels | None:
    """Return the groups of some rows (indices, or booleans) under the name that they have; without groups, nothing.

    >>> groups_of(GroupLabels(["bank", "bat", "cup"], "words"), [True, False, True])
    ('bank', 'cup')
    """
    if groups is None:
        return None
    return GroupLabels(np.asarray(groups)[np.asarray(rows)].tolist(), resampled_units(groups))


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made, as one object: the group of each item, the number of resamples, the seed, the level.

    Items of one group (a word) are resampled together; :class:`GroupLabels` say what the groups are called. Without
    resamples there are no intervals.
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
        return replace(self, groups=groups_of(self.groups, rows) or ())

    @property
    def options(self) -> ItemResampling:
        """The same as options of a statistic of columns: ``statistic(x, y, **bootstrap.options)``."""
        return {"groups": self.groups if self.resamples else None, "resamples": self.resamples, "seed": self.seed}

    def interval(self, statistic: Callable[[IntArray], float]) -> Interval:
        """Return the interval of any statistic of row indices (:func:`bootstrap`)."""
        if not self.resamples:
            units = resampled_units(self.groups)
            return no_interval("nothing could be resampled", level=self.level, resamples=0, resampled=units)
        n, groups = len(self.groups), self.groups
        return bootstrap(statistic, n, groups=groups, resamples=self.resamples, seed=self.seed, level=self.level)

    def mean(self, name: str, values: ArrayLike) -> Estimate:
        """Return the mean of one value for each item, as the statistic *name*. *Shape:* values (items,).

        >>> Bootstrap(GroupLabels(["bank", "bank", "bat"], "words"), n=0).mean("length", [1.0, 2.0, 6.0]).value
        3.0
        """
        column = np.asarray(values, dtype=np.float64)
        interval = self.interval(lambda rows: float(column[rows].mean()))
        return Estimate(name, float(column.mean()), interval, len(column), len(set(self.groups)))


class Resampling(TypedDict):
    """How often a statistic resamples for its interval, and the seed: arguments that statistics of this room take."""

    resamples: int
    seed: int


class ItemResampling(Resampling):
    """The same of a statistic of columns, and the group of each row; ``None`` if no resampling is possible."""

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
    chosen = groups if items is None else GroupOf({item: groups[item] for item in items}, resampled_units(groups))
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
    kept = resamples * n_groups <= _KEPT
    yield from (_kept_counts if kept else _drawn_counts)(n_groups, resamples, seed)


@lru_cache(maxsize=2)
def _kept_counts(n_groups: int, resamples: int, seed: int) -> tuple[IntArray, ...]:
    """The draws of groups, kept: a study asks for hundreds of intervals over the same words or sentences."""
    blocks = tuple(_drawn_counts(n_groups, resamples, seed))
    for block in blocks:
        # what one statistic wrote into it, all others would count
        block.flags.writeable = False
    return blocks


def _drawn_counts(n_groups: int, resamples: int, seed: int) -> Iterator[IntArray]:
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


def group_folds(codes: IntArray, n_groups: int, *, folds: int, seed: int) -> IntArray:
    """Return the fold of each row, from 0: whole groups are dealt by the seed, at most one group more to a fold.

    Of fewer groups than *folds*, each is a fold. *Shape:* codes (rows,), kept.

    >>> group_folds(np.array([0, 1, 1, 2]), 3, folds=10, seed=1).tolist()
    [0, 1, 1, 2]
    """
    dealt = np.random.default_rng(seed).permutation(n_groups) % min(folds, n_groups)
    return np.asarray(dealt[codes], dtype=np.int64)


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
    """The same draws as floats, kept."""
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
    resampled: str = "",
) -> Interval:
    """Return the interval of any statistic of row indices, resampling groups of rows.

    *statistic* takes an array of row indices and returns a number; if it raises :class:`StatisticError` the draw
    counts as undefined. ``method`` is ``percentile`` (expanded) or ``bca`` (bias-corrected and accelerated; the
    acceleration comes from leaving out one group at a time). *resampled* is what is resampled, in the plural, for the
    printed name; by default what :func:`resampled_units` says of the groups.
    *Source:* Efron & Tibshirani 1993, ch. 13-14; Hesterberg 2015.

    Errors: :class:`StatisticError` where the statistic is undefined on the data themselves, or *method* is unknown.
    """
    value = statistic(np.arange(n, dtype=np.int64))
    codes, count = group_codes(groups, n)
    units = resampled or resampled_units(groups)
    rows = resample_rows(codes, count, resamples=resamples, seed=seed)
    draws = np.array([value_or_nan(statistic, chosen) for chosen in rows])
    if method == "percentile":
        return percentile_interval(draws, level=level, resampled=units, n_groups=count)
    if method != "bca":
        raise StatisticError(f"no bootstrap interval {method!r}; valid names: percentile, bca")
    jackknife = np.array([value_or_nan(statistic, np.flatnonzero(codes != left_out)) for left_out in range(count)])
    return bca_interval(draws, value, jackknife, level=level, resampled=units)


def percentile_interval(
    draws: ArrayLike,
    *,
    level: float = 0.95,
    method: str = "percentile",
    resampled: str = "",
    n_groups: int = 0,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Return the percentile interval of bootstrap draws. *method* is printed: how the draws were made.

    *resampled* is printed too: what was resampled, in the plural (``words``). Given *n_groups*, how many of them there
    are, the percentiles are expanded so that the interval of few groups holds the truth as often as it says, and
    ``percentile`` is printed as ``expanded_percentile``. Of 3 to 5 groups the draws do not reach far enough: the
    interval is the mean of the draws ± t times their standard deviation, printed as ``t``, cut off at *within*, the
    range of the statistic. It is wide: 4 words say little. Two groups have a note instead of bounds.

    *Shape:* draws (resamples,); NaN = undefined. Where more than 10 % are, the interval has a note instead of bounds.
    *Source:* Hesterberg 2015 (expanded percentiles).

    >>> round(percentile_interval(range(101), level=0.9).low, 9)
    5.0
    >>> round(percentile_interval(range(101), level=0.9, n_groups=20).low, 6)  # Φ(−√(20 / 19) · 1.729) of the draws
    3.802721
    >>> round(percentile_interval([1, 3], n_groups=4).low, 3)  # 2 − √(4 / 3) · t(.975, 3), the SD of the draws being 1
    -1.675
    """
    defined, undefined, note = _split_undefined(draws)
    if n_groups > 1 and method == "percentile":
        method = "expanded_percentile" if n_groups >= FEWEST_OF_PERCENTILES else "t"
    if n_groups == 2 and not note:
        note = f"no interval: 2 {resampled or 'groups'} are too few to be resampled"
    bounds: Sequence[float] | FloatArray = (np.nan, np.nan)
    if method == "t" and not note:
        # the square of a draw is a number in any unit: draws are divided by the largest first
        unit = float(np.abs(defined).max()) or 1.0
        middle, reach = float(defined.mean()), _reach(level, n_groups) * unit * float((defined / unit).std())
        bounds = max(middle - reach, within[0]), min(middle + reach, within[1])
    elif not note:
        bounds = np.quantile(defined, _expanded(level, n_groups))
    return _interval(bounds, level, method, len(defined) + undefined, undefined, note, resampled)


def bca_interval(
    draws: ArrayLike, value: float, jackknife: ArrayLike, *, level: float = 0.95, resampled: str = ""
) -> Interval:
    """Return the bias-corrected and accelerated interval of bootstrap draws.

    *value* is the statistic on the data, *jackknife* its values with one group excluded at a time.
    *Source:* Efron 1987.

    Where too many draws are undefined, or all lie on one side of *value*, the interval has a note instead of bounds.
    """
    defined, undefined, note = _split_undefined(draws)
    total = len(defined) + undefined
    if note:
        return _interval((np.nan, np.nan), level, "bca", total, undefined, note, resampled)
    # draws equal to the value count half: discrete statistics would otherwise be called biased
    below = (np.sum(defined < value) + 0.5 * np.sum(defined == value)) / len(defined)
    if not 0 < below < 1:
        note = "all bootstrap draws lie on one side of the estimate"
        return _interval((np.nan, np.nan), level, "bca", total, undefined, note, resampled)
    normal = NormalDist()
    bias, acceleration = normal.inv_cdf(float(below)), _acceleration(np.asarray(jackknife, dtype=np.float64))
    shifted = [bias + normal.inv_cdf(tail) for tail in _tails(level)]
    levels = [normal.cdf(bias + z / (1 - acceleration * z)) for z in shifted]
    return _interval(np.quantile(defined, levels), level, "bca", total, undefined, "", resampled)


def mean_interval(
    values: ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    resampled: str = "",
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Return the interval of a mean of independent values: Student's t, corrected for the skewness of the values.

    *resampled* says of what the values are, in the plural (raters, items). *within* is where a mean can lie (shares: 0
    to 1). It is computed without draws, so that *resamples* and *seed*, the options of all intervals, change nothing;
    without resamples there are no intervals. The percentile interval of 10 normal values holds the mean 90 % of the
    time, that of 20 exponential ones too; this one 95 and 94 % (docs/reference/coverage.md).

    *Shape:* values (units,). Of two values there is a note instead of bounds: two raters have one and the same
    correlation, and an interval without width would say that it is certain.
    *Source:* Hall 1992, Journal of the Royal Statistical Society B 54 (the cubic transformation of t).
    Errors: :class:`StatisticError` with fewer than 2 values.

    >>> interval = mean_interval([1.0, 1.0, 1.0])
    >>> interval.low, interval.high
    (1.0, 1.0)
    >>> interval = mean_interval([1.0, 2.0, 3.0], resampled="raters")  # no skewness: 2 ± 4.3027 · 1 / √3
    >>> round(interval.low, 3), round(interval.high, 3), interval.method
    (-0.484, 4.484, 't(correction=skewness,over=raters,level=0.95)')
    """
    data = np.asarray(values, dtype=np.float64)
    _, n = group_codes(None, len(data))
    if not resamples or n == 2:
        why = "it needs at least 3 values" if resamples else "no resamples were asked for"
        return no_interval(why, level=level, resamples=resamples, resampled=resampled)
    mean = float(data.mean())
    deviations = data - mean
    # deviations of equal values are rounding, and no number overflows when squared
    largest = float(np.abs(deviations).max())
    constant = largest <= 4 * np.finfo(np.float64).eps * abs(mean)
    scaled = deviations / (1.0 if constant else largest)
    spread = 0.0 if constant else math.sqrt(float(scaled @ scaled) / n)
    skewness = 0.0 if constant else float(np.mean(scaled**3)) / spread**3 / math.sqrt(n)
    error = largest * spread / math.sqrt(n - 1)
    quantile = student_quantile(level, n - 1)
    ends = (mean - error * _without_skewness(sign * quantile, skewness) for sign in (1.0, -1.0))
    low, high = (min(max(end, within[0]), within[1]) for end in ends)
    name = statistic_name("t", correction="skewness", **_of("over", resampled), level=f"{level:g}")
    return Interval(low, high, level, name)


def grouped_mean_interval(
    values: ArrayLike, groups: ArrayLike | None, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the percentile interval of a mean over items of which whole groups are resampled.

    Values of one mean that are 0 or 1 have a better one: :func:`lexiscope.analysis.accuracy.share_interval`.
    *Shape:* values, groups (items,); without *groups* each item is its own.

    >>> grouped_mean_interval([1.0, 2.0], ["a", "a"]).note
    'no interval: one group has no variation'
    """
    moved, units = np.asarray(values, dtype=np.float64), resampled_units(groups)
    if len(set(range(len(moved)) if groups is None else np.asarray(groups).tolist())) < 2:
        return no_interval("one group has no variation", level=level, resamples=0, resampled=units)
    codes, count = group_codes(groups, len(moved))
    draws = ratio_draws(moved, np.ones(len(moved)), codes, count, resamples=resamples, seed=seed)
    return percentile_interval(draws, level=level, resampled=units, n_groups=count)


def _without_skewness(t: float, skewness: float) -> float:
    """The quantile of a mean's t where *t* is that of Student's: *skewness* is that of the values over √n."""
    if abs(skewness) < 1e-9:
        return t
    return 3 / skewness * (math.copysign(abs(inner := 1 + skewness * (t - skewness / 6)) ** (1 / 3), inner) - 1)


def fieller_interval(
    top: float,
    bottom: float,
    top_draws: ArrayLike,
    bottom_draws: ArrayLike,
    *,
    level: float = 0.95,
    resampled: str = "",
    n_groups: int = 0,
) -> Interval:
    """Return the interval of *top* / *bottom* by Fieller's theorem: every ratio b for which top − b · bottom may be 0.

    Variances and the covariance are those of the draws, with the t quantile of *n_groups* groups. Where the bottom is
    not shown to differ from 0, such ratios have no bounds on both sides: all below one number and above another, or
    all numbers. The interval then has no bounds, and its note says which ratios they are. Percentiles of drawn ratios
    have bounds there too, and hold the truth the less often the nearer the bottom comes to 0.

    *Shape:* top_draws, bottom_draws (resamples,), of the same resamples; NaN = undefined.
    *Source:* Fieller 1954, Journal of the Royal Statistical Society B 16.

    >>> draws = np.random.default_rng(1).normal(size=(2, 1000)) / 10
    >>> clear = fieller_interval(1.0, 2.0, 1 + draws[0], 2 + draws[1])
    >>> clear.low < 0.5 < clear.high, fieller_interval(1.0, 0.1, 1 + draws[0], 0.1 + draws[1]).note
    (True, 'no bounded interval: values below −9.73 or above 3.26 agree with the data')
    """
    above, below = np.asarray(top_draws, dtype=np.float64), np.asarray(bottom_draws, dtype=np.float64)
    known = ~np.isnan(above) & ~np.isnan(below)
    _, undefined, note = _split_undefined(np.where(known, above, np.nan))
    if note:
        return _interval((np.nan, np.nan), level, "fieller", len(known), undefined, note, resampled)
    spread, mixed, room = np.cov(above[known], below[known])[[0, 0, 1], [0, 1, 1]].tolist()
    reach = _reach(level, n_groups)
    # (top − b · bottom)² ≤ reach² · its variance, as a · b² − 2 h · b + c ≤ 0
    a, h, c = bottom**2 - reach**2 * room, top * bottom - reach**2 * mixed, top**2 - reach**2 * spread
    inner = h * h - a * c
    if a > 0:
        root = math.sqrt(max(inner, 0.0))
        return _interval(((h - root) / a, (h + root) / a), level, "fieller", len(known), undefined, "", resampled)
    told = "every value agrees with the data"
    if a < 0 < inner:
        low, high = sorted(((h + math.sqrt(inner)) / a, (h - math.sqrt(inner)) / a))
        told = f"values below {low:.2f} or above {high:.2f} agree with the data".replace("-", "−")
    return _interval(
        (np.nan, np.nan), level, "fieller", len(known), undefined, f"no bounded interval: {told}", resampled
    )


def no_interval(reason: str, *, level: float, resamples: int, resampled: str = "") -> Interval:
    """Return an interval without bounds that has the reason.

    >>> no_interval("one item cannot be resampled", level=0.95, resamples=200).note
    'no interval: one item cannot be resampled'
    """
    return _interval((np.nan, np.nan), level, "percentile", resamples, 0, f"no interval: {reason}", resampled)


@lru_cache(maxsize=256)
def student_quantile(level: float, df: float) -> float:
    """Return the upper quantile of Student's t for an interval of this level.

    >>> round(student_quantile(0.95, 2), 4)
    4.3027
    """
    from scipy import special

    return float(special.stdtrit(df, _tails(level)[1]))


def student_share(t: float, df: float) -> float:
    """Return the share of Student's t below *t*.

    >>> round(student_share(-4.3027, 2), 4)
    0.025
    """
    from scipy import special

    return float(special.stdtr(df, t))


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


def value_or_nan(statistic: Callable[[IntArray], float], rows: IntArray) -> float:
    """Return a statistic of row indices, NaN where it raises :class:`StatisticError`."""
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
        raise StatisticError(f"a confidence level is between 0 and 1, not {level}")
    return ((1 - level) / 2, (1 + level) / 2)


def _expanded(level: float, n_groups: int) -> Sequence[float]:
    """The shares of draws below the bounds: those of the level, or further out for few groups."""
    if n_groups < 2:
        return _tails(level)
    reach = _reach(level, n_groups)
    return NormalDist().cdf(-reach), NormalDist().cdf(reach)


def _reach(level: float, n_groups: int) -> float:
    """How many standard deviations of the draws the bounds lie from the middle, of few groups further out."""
    if n_groups < 2:
        return NormalDist().inv_cdf(_tails(level)[1])
    return math.sqrt(n_groups / (n_groups - 1)) * student_quantile(level, n_groups - 1)


def _of(key: str, units: str) -> dict[str, str]:
    return {key: units} if units else {}


def _interval(
    bounds: Sequence[float] | FloatArray,
    level: float,
    method: str,
    resamples: int,
    undefined: int,
    note: str,
    resampled: str,
) -> Interval:
    name = statistic_name(
        "bootstrap", method=method, **_of("resampled", resampled), level=f"{level:g}", resamples=resamples
    )
    return Interval(float(bounds[0]), float(bounds[1]), level, name, resamples, undefined, note)


def _acceleration(jackknife: FloatArray) -> float:
    """Skewness of the jackknife values over 6: how fast the standard error changes with the estimate."""
    values = jackknife[~np.isnan(jackknife)]
    deviations = values.mean() - values
    spread = float(np.sum(deviations**2)) ** 1.5
    return float(np.sum(deviations**3)) / (6 * spread) if spread > 0 else 0.0


def cluster_labels(
    items: Sequence[str], clusters: Mapping[str, str] | None, *, what: str = "cluster"
) -> GroupLabels | None:
    """Return each item's cluster (its word, its sentence) for a bootstrap, or nothing where there are no clusters.

    Errors: :class:`InputError` E506 naming the first item without one; *what* is what a cluster is called there.
    """
    if clusters is None:
        return None
    missing = [item for item in items if item not in clusters]
    if missing:
        many = f"{len(missing)} items have" if len(missing) > 1 else "an item has"
        raise InputError(f"{many} no {what}", code="E506", place=Place(item_id=missing[0]))
    return GroupLabels((clusters[item] for item in items), resampled_units(clusters))
