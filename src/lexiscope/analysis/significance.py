"""Significance tests, two-sided, each with its effect size, interval where one is defined, n, and the exact p.

The settings are those of R's defaults, and are in the printed name where tools differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    FloatArray,
    group_codes,
    group_sums,
    require_finite,
    student_quantile,
    student_share,
)
from lexiscope.analysis.correlation import average_ranks, is_constant, safe_unit
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost, Interval, statistic_name

_EXACT_BELOW = 50
_FEWEST_FOR_R = 4
_MOST_ARRANGEMENTS = 1 << 16
"""Arrangements of a permutation test are all computed up to this many, and drawn above it."""
_CELLS = 1 << 20
# rounding of sums of the same values in another order, as a share of their sizes
_SAME_SUM = 1e-12
# rounding of two values and of their difference, and some more for values that are means themselves
_SAME_DIFFERENCE = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test: its statistic and p, its effect and interval, its n.

    ``symbol`` is what ``statistic`` is written as (t, V, U, chi2); ``df`` its degrees of freedom (none for rank tests).
    ``estimate`` is what ``interval`` belongs to, named in ``estimand``; ``effect`` is the effect size named in
    ``effect_name``. ``n`` has one entry per sample. ``note`` says what a reader must know (an approximation, an
    underflow).
    """

    __test__ = False

    name: str
    symbol: str
    statistic: float
    df: tuple[float, ...]
    p: float
    effect_name: str
    effect: float
    estimand: str
    estimate: float
    interval: Interval | None
    n: tuple[int, ...]
    note: str = ""


def paired_t(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> TestResult:
    """Test whether paired differences have mean 0. Effect: Cohen's d_z = mean / SD of the differences.

    *Shape:* (pairs,) each. *Higher means:* the first is larger.

    Errors: :class:`StatisticError` for unequal lengths, fewer than 2 pairs, or constant differences.

    >>> found = paired_t([2, 4, 6], [1, 2, 3])  # differences 1 2 3: 2 / (1 / sqrt(3))
    >>> round(found.statistic, 6), found.df, found.effect
    (3.464102, (2.0,), 2.0)
    """
    (a, b), unit = _in_one_unit(*_pairs(first, second))
    differences, largest = a - b, float(np.abs([a, b]).max())
    n, mean, sd = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    # their spread is rounding where it lies below the last digits of the values themselves
    if is_constant(differences) or np.ptp(differences) <= _SAME_DIFFERENCE * largest:
        raise StatisticError(f"paired t is undefined: all {n} differences are {mean * unit:g}")
    error, df = sd / math.sqrt(n), float(n - 1)
    return _t_result("paired_t", mean, error, df, ("cohens_d_z", mean / sd), (n,), level, unit)


def independent_t(
    first: ArrayLike, second: ArrayLike, *, variances: Literal["welch", "pooled"] = "welch", level: float = 0.95
) -> TestResult:
    """Test whether two samples have the same mean, with unequal (Welch) or pooled variances.

    Effect: Cohen's d (pooled SD). *Shape:* (n1,), (n2,). *Higher means:* the first is larger.

    Errors: :class:`StatisticError` with fewer than 2 values in a sample, or no variation at all.

    >>> found = independent_t([1, 2, 3], [2, 3, 4], variances="pooled")  # -1 / sqrt(1 / 3 + 1 / 3)
    >>> round(found.statistic, 6), found.df, found.effect
    (-1.224745, (4.0,), -1.0)
    """
    (a, b), unit = _in_one_unit(_sample(first, "independent t"), _sample(second, "independent t"))
    n, m, va, vb = len(a), len(b), float(a.var(ddof=1)), float(b.var(ddof=1))
    if is_constant(a) and is_constant(b):
        raise StatisticError("independent t is undefined: neither sample varies")
    if not va + vb > 0:
        raise StatisticError(
            "independent t is undefined: the variation is too small for a number of this computer",
            hint="give the values in another unit",
        )
    pooled = ((n - 1) * va + (m - 1) * vb) / (n + m - 2)
    if variances == "pooled":
        error, df = math.sqrt(pooled * (1 / n + 1 / m)), float(n + m - 2)
    elif variances == "welch":
        error = math.sqrt(va / n + vb / m)
        df = (va / n + vb / m) ** 2 / ((va / n) ** 2 / (n - 1) + (vb / m) ** 2 / (m - 1))
    else:
        raise StatisticError(f"variances are welch or pooled, not {variances!r}")
    name = statistic_name("independent_t", variances=variances)
    difference = float(a.mean() - b.mean())
    return _t_result(name, difference, error, df, ("cohens_d", difference / math.sqrt(pooled)), (n, m), level, unit)


def wilcoxon_signed_rank(first: ArrayLike, second: ArrayLike) -> TestResult:
    """Test whether paired differences are symmetric about 0. Effect: matched-pairs rank-biserial correlation.

    Differences of 0 are dropped. Differences that are equal but for the last bits of their values are ties: .3 − .1 and
    .5 − .3 have one rank, so the result does not depend on the unit. p is exact below 50 pairs without ties, else
    normal with continuity correction (as in R). The statistic V is the rank sum of the positive differences.

    Errors: :class:`StatisticError` for unequal lengths, or no difference other than 0.

    >>> found = wilcoxon_signed_rank([5, 6, 9, 2], [4, 4, 4, 6])  # ranks of 1 2 5 -4: V = 1 + 2 + 4, (7 - 3) / 10
    >>> found.statistic, found.effect, found.p
    (7.0, 0.4, 0.625)
    """
    from scipy import stats

    differences = _settled_differences(first, second)
    moved = differences[differences != 0]
    n = len(moved)
    if not n:
        raise StatisticError(f"the signed-rank test is undefined: all {len(differences)} differences are 0")
    ranks = average_ranks(np.abs(moved))
    positive, total = float(ranks[moved > 0].sum()), n * (n + 1) / 2
    tied = len(np.unique(np.abs(moved))) < n
    exact = n < _EXACT_BELOW and not tied and n == len(differences)
    if exact:
        p = float(stats.wilcoxon(moved, method="exact").pvalue)
    else:
        p = _normal_p(positive - total / 2, math.sqrt(float((ranks**2).sum()) / 4))
    effect = (2 * positive - total) / total
    name = statistic_name("wilcoxon_signed_rank", p="exact" if exact else "normal")
    zeros = len(differences) - n
    note = (
        f"{zeros} difference{'s' if zeros > 1 else ''} of 0 {'were' if zeros > 1 else 'was'} dropped" if zeros else ""
    )
    return _rank_result(name, "V", positive, p, effect, (n,), note)


def wilcoxon_rank_sum(first: ArrayLike, second: ArrayLike) -> TestResult:
    """Test whether values of one sample tend to be larger (Mann-Whitney). Effect: rank-biserial correlation.

    p is exact where both samples are below 50 and nothing is tied, else normal with continuity correction (as in R).
    The statistic U counts the pairs in which the first is larger, ties half.

    Errors: :class:`StatisticError` with fewer than 2 values in a sample, or where all values are equal.

    >>> found = wilcoxon_rank_sum([3, 5, 6], [1, 2, 4])  # 3 beats 2 of 3, 5 and 6 beat 3 each: 8 of 9 pairs
    >>> found.statistic, round(found.effect, 6), round(found.p, 6)
    (8.0, 0.777778, 0.2)
    """
    from scipy import stats

    a, b = _sample(first, "the rank-sum test"), _sample(second, "the rank-sum test")
    both = np.concatenate([a, b])
    if is_constant(both):
        raise StatisticError("the rank-sum test is undefined: all values are equal")
    n, m = len(a), len(b)
    u = float(average_ranks(both)[:n].sum()) - n * (n + 1) / 2
    _, ties = np.unique(both, return_counts=True)
    exact = n < _EXACT_BELOW and m < _EXACT_BELOW and len(ties) == n + m
    if exact:
        p = float(stats.mannwhitneyu(a, b, method="exact").pvalue)
    else:
        correction = float((ties.astype(float) ** 3 - ties).sum()) / ((n + m) * (n + m - 1))
        p = _normal_p(u - n * m / 2, math.sqrt(n * m / 12 * (n + m + 1 - correction)))
    name = statistic_name("wilcoxon_rank_sum", p="exact" if exact else "normal")
    return _rank_result(name, "U", u, p, 2 * u / (n * m) - 1, (n, m), "")


def rank_sum_p_without_ties(u: float, n: int, m: int) -> float:
    """Return the two-sided normal p of a U of *n* and *m* values without corrections for ties and continuity.

    Ties make the true variance smaller: with ties, this p is too large. It is here because programs print it
    (``scipy.stats.ranksums``). *Unit:* probability.

    >>> round(rank_sum_p_without_ties(8.0, 3, 3), 6)  # z = (8 - 4.5) / sqrt(3 * 3 * 7 / 12)
    0.12663
    """
    return math.erfc(abs(u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12) / math.sqrt(2))


def chi_squared(table: ArrayLike) -> TestResult:
    """Test whether rows and columns of a table of counts are independent (Pearson, no correction). Effect: Cramér's V.

    *Shape:* (rows, columns), at least 2 × 2.

    Errors: :class:`StatisticError` for a row or column of zeros, or negative counts.

    >>> found = chi_squared([[10, 20], [20, 10]])  # 4 * 5² / 15, sqrt(6.67 / 60)
    >>> round(found.statistic, 6), found.df, round(found.effect, 6)
    (6.666667, (1.0,), 0.333333)
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or min(counts.shape) < 2 or not (counts >= 0).all():
        raise StatisticError(f"chi-squared needs a table of counts of at least 2 × 2, not {counts.shape}")
    n = float(counts.sum())
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n if n else counts
    if not (expected > 0).all():
        raise StatisticError("chi-squared is undefined: a row or a column has no counts")
    value = float(((counts - expected) ** 2 / expected).sum())
    df = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    effect = math.sqrt(value / (n * (min(counts.shape) - 1)))
    small = int((expected < 5).sum())
    note = f"{small} expected counts are below 5: p is approximate" if small else ""
    name = statistic_name("chi_squared", correction="none")
    p, remark = _chi2_p(value, df)
    notes = "; ".join(part for part in (note, remark) if part)
    return TestResult(
        name, "chi2", value, (float(df),), p, "cramers_v", effect, "cramers_v", effect, None, (int(n),), notes
    )


def marginal_homogeneity(table: ArrayLike) -> TestResult:
    """Test whether two labellings of the same items use their labels equally often (Stuart and Maxwell).

    With two labels it is McNemar's test without correction. Labels that neither uses are excluded. Effect: the share of
    items that change their label. *Shape:* (labels, labels), counts; rows: the first labelling.
    *Source:* Stuart 1955, Biometrika 42; Maxwell 1970, British Journal of Psychiatry 116.

    Errors: :class:`StatisticError` for a table that is not square, or no item off its diagonal.

    >>> found = marginal_homogeneity([[5, 8], [2, 5]])  # (8 - 2)² / (8 + 2)
    >>> round(found.statistic, 9), found.df
    (3.6, (1.0,))
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise StatisticError("the test of equal margins needs a square table of counts")
    off = counts - np.diag(np.diag(counts))
    used = (off.sum(axis=0) + off.sum(axis=1)) > 0
    if not used.any():
        raise StatisticError("the test of equal margins is undefined: no item changes its label")
    off = off[np.ix_(used, used)]
    difference = (off.sum(axis=1) - off.sum(axis=0))[:-1]
    covariance = (np.diag(off.sum(axis=1) + off.sum(axis=0)) - off - off.T)[:-1, :-1]
    df = int(np.linalg.matrix_rank(covariance))
    value = float(difference @ np.linalg.pinv(covariance) @ difference)
    p, note = _chi2_p(value, df)
    changed = float(off.sum() / counts.sum())
    name = statistic_name("stuart_maxwell", df=df)
    what = "share_changed"
    return TestResult(
        name, "chi2", value, (float(df),), p, what, changed, what, changed, None, (int(counts.sum()),), note
    )


def mcnemar(first_only: int, second_only: int, *, level: float = 0.95) -> TestResult:
    """Test whether two subjects answer the same items equally well: exact binomial on the items where they differ.

    *first_only*: items that only the first got right; *second_only*: only the second. Effect: the share of the
    differing items that the first got right, with the Clopper-Pearson interval. *Higher means:* the first is better.

    Errors: :class:`StatisticError` where they differ on no item.

    >>> found = mcnemar(8, 2)  # 2 * (1 + 10 + 45) / 2**10
    >>> found.p, found.effect
    (0.109375, 0.8)
    """
    n = first_only + second_only
    if n < 1 or min(first_only, second_only) < 0:
        raise StatisticError("McNemar's test is undefined: the two differ on no item")
    p, low, high = _exact_binomial(first_only, n, level)
    interval = Interval(low, high, level, statistic_name("clopper_pearson", level=f"{level:g}"))
    share, what = first_only / n, "share_first"
    test = statistic_name("mcnemar", p="exact")
    return TestResult(test, "b", float(first_only), (), p, what, share, what, share, interval, (n,))


def _exact_binomial(count: int, n: int, level: float) -> tuple[float, float, float]:
    """The p of *count* of *n* against one half, and the exact bounds of the share; both depend on the counts alone."""
    # the tails of the binomial are beta functions; scipy.stats, which searches for the bounds, takes a second to import
    from scipy import special

    fewer, tail = min(count, n - count), (1 - level) / 2
    p = min(1.0, 2 * float(special.betainc(n - fewer, fewer + 1, 0.5)))
    low = float(special.betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(special.betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return p, low, high


def likelihood_ratio(log_likelihood_full: float, log_likelihood_reduced: float, *, df: int, n: int) -> TestResult:
    """Test a model against a nested one: chi² = 2 (difference of log-likelihoods). Effect: difference of AIC.

    Both models must be fitted by maximum likelihood to the same *n* observations. *Higher means:* (effect) the full
    model is better. *Source:* SAW-C §3.5.

    Errors: :class:`StatisticError` where the reduced model fits better: not nested, or a fit stopped too early.

    >>> found = likelihood_ratio(-17089.285617, -17109.079886, df=1, n=10639)
    >>> round(found.statistic, 4), f"{found.p:.3e}"  # chi²(1) = 39.59, p = 3.135e-10
    (39.5885, '3.135e-10')
    """
    if df < 1 or not math.isfinite(log_likelihood_full) or not math.isfinite(log_likelihood_reduced):
        raise StatisticError("a likelihood-ratio test needs two finite log-likelihoods and df >= 1")
    value = 2 * (log_likelihood_full - log_likelihood_reduced)
    if value < -1e-6:
        raise StatisticError(
            f"the reduced model fits better than the full one (chi² = {value:g})",
            why="the models are not nested, or the full model's fit stopped before its optimum",
        )
    value = max(0.0, value)
    p, note = _chi2_p(value, df)
    effect = value - 2 * df
    name = statistic_name("likelihood_ratio", df=df)
    return TestResult(
        name, "chi2", value, (float(df),), p, "aic_difference", effect, "aic_difference", effect, None, (n,), note
    )


def correlation_p(r: float, n: int) -> float:
    """Return the two-sided p of a correlation (Pearson, Spearman) of *n* items, by t with n − 2 degrees of freedom.

    Papers report it; it takes items as independent.

    Errors: :class:`StatisticError` with fewer than 4 items, or r outside −1..1.

    >>> round(correlation_p(0.5, 20), 6)  # t = 0.5 * sqrt(18 / 0.75) = 2.449490
    0.02477
    """
    if n < _FEWEST_FOR_R or not -1 <= r <= 1:
        raise StatisticError(f"a correlation of {r:g} over {n} items has no p")
    if abs(r) == 1:
        return 0.0
    t = r * math.sqrt((n - 2) / (1 - r * r))
    return 2 * student_share(-abs(t), n - 2)


# -- permutation tests ----------------------------------------------------------------------------------------------
# p is the share of arrangements in which the statistic is at least as far from 0 as in the data. All arrangements are
# computed where they are few; otherwise m are drawn, and p is (b + 1) / (m + 1): the data are one arrangement, too.
# If none is as far (b = 0), p is at most this: more draws could only lower it.


def sign_flip(
    first: ArrayLike, second: ArrayLike, *, groups: ArrayLike | None = None, resamples: int = 9999, seed: int = 0
) -> TestResult:
    """Test whether paired differences are symmetric about 0, by turning the signs of whole groups of pairs.

    Where the two are exchangeable, each pair could have been the other way round; pairs of one group (a word) are
    turned together. No normal distribution is assumed. The statistic is the mean difference. p is exact up to 16
    groups; above, *resamples* arrangements are drawn. *Shape:* first, second, groups (pairs,). *Higher means:* the
    first is larger. *Source:* Fisher 1935, §21.

    Errors: :class:`StatisticError` for unequal lengths, fewer than 2 pairs or groups, or no difference other than 0.

    >>> found = sign_flip([5, 6, 9], [4, 4, 4])  # 1 + 2 + 5 and its negative, of 2**3 arrangements
    >>> found.p, found.name
    (0.25, 'sign_flip(p=exact)')
    """
    (a, b), unit = _in_one_unit(*_pairs(first, second))
    differences = a - b
    codes, count = group_codes(groups, len(differences))
    sums = group_sums(differences, codes, count)
    value = float(differences.mean())
    if not np.abs(differences).max() > _SAME_DIFFERENCE * float(np.abs([a, b]).max()):
        raise StatisticError(f"the sign-flip test is undefined: all {len(differences)} differences are 0")
    exact = 2**count <= _MOST_ARRANGEMENTS
    signs = _all_signs(count) if exact else _drawn_signs(count, resamples, seed)
    turned = (block @ sums for block in signs)
    p = _share_as_far(turned, float(sums.sum()), float(np.abs(differences).sum()), exact=exact)
    what = "mean_difference"
    name = _permutation_name("sign_flip", resamples, exact=exact)
    return TestResult(name, "D", value * unit, (), p, what, value * unit, what, value * unit, None, (len(differences),))


def permutation(first: ArrayLike, second: ArrayLike, *, resamples: int = 9999, seed: int = 0) -> TestResult:
    """Test whether two independent samples have the same distribution, by dealing their values out again.

    The statistic is the difference of the means. p is exact up to 65,536 ways to deal (16 values as 8 and 8 have
    12,870); above, *resamples* are drawn. *Shape:* (n1,), (n2,). *Higher means:* the first is larger.
    *Source:* Fisher 1935; Pitman 1937.

    Errors: :class:`StatisticError` with fewer than 2 values in a sample, or where all values are equal.

    >>> found = permutation([3, 5, 6], [1, 2, 4])  # means 14/3 and 7/3; of 20 ways, 4 are as far apart
    >>> found.p, found.name
    (0.2, 'permutation(p=exact)')
    """
    (a, b), unit = _in_one_unit(_sample(first, "the permutation test"), _sample(second, "the permutation test"))
    both = np.concatenate([a, b])
    if is_constant(both):
        raise StatisticError("the permutation test is undefined: all values are equal")
    n, m = len(a), len(b)
    # the mean of all values is the same in every arrangement
    centred = both - both.mean()
    value = float(a.mean() - b.mean())
    exact = math.comb(n + m, n) <= _MOST_ARRANGEMENTS
    if exact:
        chosen: Iterator[FloatArray] = iter((centred[np.array(list(combinations(range(n + m), n)))].sum(axis=1),))
    else:
        chosen = (block[:, :n].sum(axis=1) for block in _drawn_orders(centred, resamples, seed))
    p = _share_as_far(chosen, float(centred[:n].sum()), float(np.abs(centred).sum()), exact=exact)
    what = "mean_difference"
    name = _permutation_name("permutation", resamples, exact=exact)
    return TestResult(name, "D", value * unit, (), p, what, value * unit, what, value * unit, None, (n, m))


def permutation_of_correlation(
    x: ArrayLike,
    y: ArrayLike,
    *,
    kind: Literal["spearman", "pearson"] = "spearman",
    resamples: int = 9999,
    seed: int = 0,
) -> TestResult:
    """Test whether two columns are independent, by dealing out the values of one again; the statistic is r, or rho.

    p is exact up to 8 items; above, *resamples* arrangements are drawn. It takes items as independent.
    *Shape:* x, y (items,). *Higher means:* y rises with x. *Source:* Pitman 1937.

    Errors: :class:`StatisticError` for a constant column, unequal lengths, or fewer than 3 items.

    >>> found = permutation_of_correlation([1, 2, 3], [1, 2, 3])  # of 6 orders, the same and the reverse
    >>> round(found.p, 9), found.name
    (0.333333333, 'permutation(of=spearman,p=exact)')
    """
    a, b = _pairs(x, y)
    if len(a) < 3 or is_constant(a) or is_constant(b):
        raise StatisticError("the permutation test of a correlation needs at least 3 items, and two columns that vary")
    if kind == "spearman":
        a, b = average_ranks(a), average_ranks(b)
    elif kind != "pearson":
        raise StatisticError(f"a permutation test is of spearman or pearson, not {kind!r}")
    a, b = (column / safe_unit(column) for column in (a - a.mean(), b - b.mean()))
    scale = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    n, exact = len(a), math.factorial(len(a)) <= _MOST_ARRANGEMENTS
    orders = iter((b[np.array(list(permutations(range(n))))],)) if exact else _drawn_orders(b, resamples, seed)
    value = float((a * b).sum())
    p = _share_as_far((block @ a for block in orders), value, scale, exact=exact)
    r = max(-1.0, min(1.0, value / scale))
    name = _permutation_name("permutation", resamples, exact=exact, of=kind)
    return TestResult(name, "r", r, (), p, kind, r, kind, r, None, (n,))


def _permutation_name(test: str, resamples: int, *, exact: bool, **named: str) -> str:
    return statistic_name(test, **named, **({"p": "exact"} if exact else {"p": "monte_carlo", "resamples": resamples}))


def _share_as_far(blocks: Iterator[FloatArray], value: float, scale: float, *, exact: bool) -> float:
    """The share of arrangements that are at least as far from 0 as *value*, equal ones in spite of rounding."""
    bound = abs(value) - _SAME_SUM * scale
    as_far = n = 0
    for block in blocks:
        as_far += int((np.abs(block) >= bound).sum())
        n += len(block)
    if exact:
        return as_far / n
    return (as_far + 1) / (n + 1) if as_far else AtMost(1 / (n + 1))


def _all_signs(n: int) -> Iterator[FloatArray]:
    """Every choice of n signs. *Shape:* one block (2ⁿ, n)."""
    yield np.asarray(1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1))


def _drawn_signs(n: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    generator = np.random.default_rng(seed)
    for size in _block_sizes(resamples, n):
        yield np.asarray(1.0 - 2.0 * generator.integers(0, 2, size=(size, n)))


def _drawn_orders(values: FloatArray, resamples: int, seed: int) -> Iterator[FloatArray]:
    generator = np.random.default_rng(seed)
    for size in _block_sizes(resamples, len(values)):
        yield generator.permuted(np.broadcast_to(values, (size, len(values))), axis=1)


def _block_sizes(resamples: int, width: int) -> Iterator[int]:
    if resamples < 1:
        raise StatisticError(f"a permutation test cannot draw {resamples} arrangements", hint="give 1 or more")
    # the width of the data alone decides the blocks: memory is bounded and the draws are reproducible
    step = max(1, _CELLS // width)
    return (min(step, resamples - start) for start in range(0, resamples, step))


def _t_result(
    name: str,
    difference: float,
    error: float,
    df: float,
    effect: tuple[str, float],
    n: tuple[int, ...],
    level: float,
    unit: float,
) -> TestResult:
    """Student's t of a difference and its error, both divided by *unit*."""
    t = difference / error
    margin = student_quantile(level, df) * error
    low, high = (difference - margin) * unit, (difference + margin) * unit
    interval = Interval(low, high, level, statistic_name("t", level=f"{level:g}"))
    p = 2 * student_share(-abs(t), df)
    return TestResult(name, "t", t, (df,), p, effect[0], effect[1], "mean_difference", difference * unit, interval, n)


def _rank_result(
    name: str, symbol: str, value: float, p: float, effect: float, n: tuple[int, ...], note: str
) -> TestResult:
    what = "rank_biserial"
    return TestResult(name, symbol, value, (), p, what, effect, what, effect, None, n, note)


def _normal_p(deviation: float, sd: float) -> float:
    """Two-sided p of a rank statistic, half a rank of continuity correction."""
    corrected = max(0.0, abs(deviation) - 0.5)
    return math.erfc(corrected / sd / math.sqrt(2))


def _chi2_p(value: float, df: int) -> tuple[float, str]:
    from scipy import special

    p = float(special.chdtrc(df, value))
    return p, "p is below 1e-300" if p < 1e-300 else ""


def _sample(values: ArrayLike, test: str) -> FloatArray:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or len(data) < 2:
        raise StatisticError(f"{test} needs at least 2 values in one column, not shape {data.shape}")
    require_finite(test, data)
    return data


def _in_one_unit(first: FloatArray, second: FloatArray) -> tuple[tuple[FloatArray, FloatArray], float]:
    """Two samples divided by one unit, such that their squares neither vanish nor overflow, and that unit."""
    unit = float(safe_unit(np.concatenate([first, second])))
    return (first / unit, second / unit), unit


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = _sample(first, "a paired test"), _sample(second, "a paired test")
    if a.shape != b.shape:
        raise StatisticError(f"a paired test needs columns of one length, not {len(a)} and {len(b)}")
    return a, b


def _settled_differences(first: ArrayLike, second: ArrayLike) -> FloatArray:
    """Differences of pairs, each with the size of those that it equals in fact; 0 where the two are one value.

    The effect of rounding on a difference depends on its own two values: next to pairs of .5, one of 1e-15 and 2e-15
    keeps its difference.
    """
    # a test of ranks: the unit is never given back
    (a, b), _ = _in_one_unit(*_pairs(first, second))
    differences, values = a - b, np.abs([a, b])
    bound = _SAME_DIFFERENCE * values.sum(axis=0)
    sizes = np.abs(differences)
    moved = np.flatnonzero(sizes > bound)
    order = moved[np.argsort(sizes[moved], kind="stable")]
    if not order.size:
        return np.zeros_like(differences)
    # a run of sizes whose steps rounding explains is one size, the smallest of them
    steps, reach = np.diff(sizes[order]), np.maximum(bound[order[1:]], bound[order[:-1]])
    starts = np.concatenate([[True], steps > reach])
    settled = np.zeros_like(differences)
    settled[order] = sizes[order][starts][np.cumsum(starts) - 1]
    return np.asarray(np.sign(differences) * settled)
