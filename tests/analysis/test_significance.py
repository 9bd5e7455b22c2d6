"""Tests agree with R's defaults to 9 digits, reject at their level under the null, and refuse what has no answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import combinations, permutations, product
from pathlib import Path
from statistics import NormalDist
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.correlation import settle_ties
from lexiscope.analysis.significance import (
    chi_squared,
    correlation_p,
    independent_t,
    likelihood_ratio,
    mcnemar,
    paired_t,
    permutation,
    permutation_of_correlation,
    sign_flip,
    wilcoxon_rank_sum,
    wilcoxon_signed_rank,
)
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost

# Two short columns; the expected numbers below were printed by R 4.2.2 (t.test, wilcox.test, chisq.test, binom.test).
A = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
B = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
TIED_X, TIED_Y = [1, 2, 2, 3, 3, 4, 5, 5, 5, 2], [2, 2, 3, 1, 1, 2, 4, 3, 1, 5]


def test_paired_t_as_in_r() -> None:
    """t.test(a, b, paired = TRUE): t = 3.035375416, df 8, p = .01617662743, interval .1037787123 to .7599990655."""
    found = paired_t(A, B)
    assert found.statistic == pytest.approx(3.035375416, rel=1e-9)
    assert (found.df, found.n) == ((8.0,), (9,))
    assert found.p == pytest.approx(0.01617662743, rel=1e-9)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.1037787123, 0.7599990655), rel=1e-9)
    # d_z = t / sqrt(n)
    assert found.effect == pytest.approx(3.035375416 / 3, rel=1e-9)
    assert found.estimate == pytest.approx(sum(A) / 9 - sum(B) / 9)


@pytest.mark.parametrize(
    ("variances", "df", "p", "low", "high"),
    [
        ("welch", 15.79503558, 0.2458828385, -0.3286079302, 1.1923857080),
        ("pooled", 16, 0.2456594394, -0.3278059407, 1.1915837185),
    ],
)
def test_independent_t_as_in_r(variances: str, df: float, p: float, low: float, high: float) -> None:
    """t.test(a, b) and t.test(a, b, var.equal = TRUE), both t = 1.205172799 (equal sizes)."""
    found = independent_t(A, B, variances=variances)  # type: ignore[arg-type]
    assert found.statistic == pytest.approx(1.205172799, rel=1e-9)
    assert found.df[0] == pytest.approx(df, rel=1e-9)
    assert found.p == pytest.approx(p, rel=1e-9)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), rel=1e-9)
    assert found.name == f"independent_t(variances={variances})"


def test_signed_rank_as_in_r() -> None:
    """wilcox.test(a, b, paired = TRUE): V = 40, exact p = .0390625; with ties and zeros V = 33, p = .2303257009."""
    exact = wilcoxon_signed_rank(A, B)
    assert (exact.statistic, exact.p, exact.name) == (40, 0.0390625, "wilcoxon_signed_rank(p=exact)")
    assert exact.effect == pytest.approx((40 - 5) / 45)
    normal = wilcoxon_signed_rank(TIED_X, TIED_Y)
    assert normal.statistic == 33
    assert normal.p == pytest.approx(0.2303257009, rel=1e-9)
    assert normal.note == "1 difference of 0 was dropped"


def test_rank_sum_as_in_r() -> None:
    """wilcox.test(a, b): W = 58, p = .1329194582 (1.06 is tied); on ratings W = 66, p = .2294058967."""
    found = wilcoxon_rank_sum(A, B)
    assert found.statistic == 58
    assert found.p == pytest.approx(0.1329194582, rel=1e-9)
    assert found.effect == pytest.approx(2 * 58 / 81 - 1)
    tied = wilcoxon_rank_sum(TIED_X, TIED_Y)
    assert tied.statistic == 66
    assert tied.p == pytest.approx(0.2294058967, rel=1e-9)
    assert tied.name == "wilcoxon_rank_sum(p=normal)"


def test_chi_squared_as_in_r() -> None:
    """chisq.test(m): X² = .6368650794, df 2, p = .7272881394; two small expected counts are noted."""
    found = chi_squared([[12, 5, 7], [9, 3, 8]])
    assert found.statistic == pytest.approx(0.6368650794, rel=1e-9)
    assert (found.df, found.n) == ((2.0,), (44,))
    assert found.p == pytest.approx(0.7272881394, rel=1e-9)
    assert found.effect == pytest.approx(math.sqrt(0.6368650794 / 44), rel=1e-9)
    # expected in the second column: 8 * 24 / 44 = 4.4 and 8 * 20 / 44 = 3.6
    assert found.note == "2 expected counts are below 5: p is approximate"


def test_mcnemar_is_the_exact_binomial() -> None:
    """binom.test(9, 11): p = .0654296875, interval .4822441476 to .9771688017."""
    found = mcnemar(9, 2)
    assert found.p == pytest.approx(0.0654296875, rel=1e-12)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0.4822441476, 0.9771688017), rel=1e-9)
    assert mcnemar(2, 9).p == pytest.approx(found.p, rel=1e-12)


def test_the_bounds_of_counts_that_were_asked_before_are_those_of_the_level_asked_now() -> None:
    """binom.test(9, 11, conf.level = .5) is qbeta(.25, 9, 3) to qbeta(.75, 10, 2), also when it is asked again."""
    mcnemar(9, 2)
    for _ in range(2):
        found = mcnemar(9, 2, level=0.5)
        assert found.interval is not None
        assert (found.interval.low, found.interval.high) == pytest.approx(
            (stats.beta.ppf(0.25, 9, 3), stats.beta.ppf(0.75, 10, 2)), rel=1e-9
        )
        assert found.interval.level == 0.5


def test_likelihood_ratio_of_the_saw_c_model() -> None:
    """SAW-C §4.5: twice the difference of lme4's log-likelihoods is chi²(1) = 325.2129 and 236.7330."""
    for reduced, chi2 in ((-17019.538909, 325.2129), (-16975.298953, 236.7330)):
        found = likelihood_ratio(-16856.932436, reduced, df=1, n=10639)
        assert round(found.statistic, 4) == chi2
        assert found.p == pytest.approx(math.erfc(math.sqrt(found.statistic / 2)), rel=1e-9)
        assert found.effect == found.statistic - 2
    assert found.name == "likelihood_ratio(df=1)"


def test_p_is_kept_exact_and_an_underflow_is_said() -> None:
    """p of 1e-72 is printed as it is; chi² = 5678 underflows, which a note says."""
    assert 1e-73 < likelihood_ratio(0, -325.21 / 2, df=1, n=10).p < 1e-71
    assert likelihood_ratio(0, -5678 / 2, df=1, n=10).note == "p is below 1e-300"


def test_a_better_reduced_model_is_an_error() -> None:
    """A negative chi² is a failed fit or a wrong pair of models, not p = 1; one of −1e-9 is rounding."""
    with pytest.raises(StatisticError, match="fits better"):
        likelihood_ratio(-100, -99, df=1, n=10)
    assert likelihood_ratio(-100, -100 + 1e-10, df=1, n=10).p == 1
    with pytest.raises(StatisticError, match="finite"):
        likelihood_ratio(float("nan"), -99, df=1, n=10)


def test_swapping_the_samples_turns_the_sign_only() -> None:
    """p stays, effect and statistic change sign (rank statistics are mirrored)."""
    for test in (paired_t, independent_t, wilcoxon_signed_rank, wilcoxon_rank_sum):
        for x, y in ((A, B), (TIED_X, TIED_Y)):
            there, back = test(x, y), test(y, x)
            assert back.p == pytest.approx(there.p, rel=1e-12)
            assert back.effect == pytest.approx(-there.effect, abs=1e-12)


@pytest.mark.parametrize(
    ("test", "first", "second", "message"),
    [
        (paired_t, [1, 2, 3], [0, 1, 2], "all 3 differences are 1"),
        (paired_t, [1, 2, 3], [1, 2], "one length"),
        (paired_t, [1], [2], "at least 2 values"),
        (independent_t, [1, 1], [2, 2], "neither sample varies"),
        (independent_t, [1, float("nan")], [2, 3], "row 1"),
        (wilcoxon_signed_rank, [1, 2], [1, 2], "all 2 differences are 0"),
        (wilcoxon_rank_sum, [1, 1], [1, 1], "all values are equal"),
    ],
)
def test_undefined_tests_are_errors(test, first, second, message: str) -> None:  # type: ignore[no-untyped-def]
    """No variation, too few or missing values: an error that says which."""
    with pytest.raises(StatisticError, match=message):
        test(first, second)


def test_undefined_tables_are_errors() -> None:
    """An empty row, a single row, no differing item, unknown variances."""
    with pytest.raises(StatisticError, match="no counts"):
        chi_squared([[0, 0], [1, 2]])
    with pytest.raises(StatisticError, match="at least 2 × 2"):
        chi_squared([[1, 2]])
    with pytest.raises(StatisticError, match="differ on no item"):
        mcnemar(0, 0)
    with pytest.raises(StatisticError, match="welch or pooled"):
        independent_t(A, B, variances="equal")  # type: ignore[arg-type]


def test_tests_reject_at_their_level_under_the_null() -> None:
    """Over 2000 simulated studies without an effect, t and rank tests at .05 reject 4 to 6 % (SE .5 %)."""
    generator = np.random.default_rng(12)
    rejected = dict.fromkeys(("paired", "welch", "signed", "sum"), 0)
    for _ in range(2000):
        x, y = generator.normal(size=(2, 60))
        rejected["paired"] += paired_t(x, y).p < 0.05
        rejected["welch"] += independent_t(x, y).p < 0.05
        rejected["signed"] += wilcoxon_signed_rank(x, y).p < 0.05
        rejected["sum"] += wilcoxon_rank_sum(x, y).p < 0.05
    assert all(80 <= count <= 120 for count in rejected.values()), rejected


def test_the_normal_approximation_is_near_the_exact_p() -> None:
    """At n = 49 the exact p and the normal one with continuity correction differ by less than .005."""
    x = np.random.default_rng(4).normal(0.2, 1, size=49)
    exact = wilcoxon_signed_rank(x, np.zeros(49))
    ranks = stats.rankdata(np.abs(x))
    z = (abs(exact.statistic - 49 * 50 / 4) - 0.5) / math.sqrt(float((ranks**2).sum()) / 4)
    assert exact.p == pytest.approx(2 * (1 - NormalDist().cdf(z)), abs=0.005)


@pytest.mark.published
def test_ambistory_open_and_ended_stories(published: Path) -> None:
    """The SDs of ratings do not differ between open and ended stories (AmbiStory §4: not significant), ties kept.

    With the SDs of the file p is .183; SDs recomputed in floating point hold broken ties, which moves p to .148.
    """
    sds: dict[bool, list[float]] = {True: [], False: []}
    recomputed: dict[bool, list[float]] = {True: [], False: []}
    for split in ("train", "dev", "test"):
        samples = json.loads((published / "ambistory" / f"{split}.json").read_text(encoding="utf-8")).values()
        for sample in samples:
            sds[sample["ending"] == ""].append(sample["stdev"])
            recomputed[sample["ending"] == ""].append(float(np.std(sample["choices"], ddof=1)))
    found = wilcoxon_rank_sum(sds[True], sds[False])
    assert found.n == (1266, 2532)
    assert round(found.p, 3) == 0.183
    broken, settled = (
        wilcoxon_rank_sum(*(settle(values[side]) for side in (True, False)))
        for values, settle in ((recomputed, np.asarray), (recomputed, settle_ties))
    )
    assert round(broken.p, 3) == 0.148
    assert settled.p == pytest.approx(found.p, rel=1e-12)


def test_the_p_of_a_correlation_is_what_scipy_gives() -> None:
    """On 40 pairs with ties, for Spearman and Pearson."""
    generator = np.random.default_rng(3)
    x, y = generator.integers(0, 6, 40), generator.integers(0, 6, 40)
    for found in (stats.spearmanr(x, y), stats.pearsonr(x, y)):
        assert correlation_p(float(found.statistic), 40) == pytest.approx(float(found.pvalue), rel=1e-9)


def test_a_perfect_correlation_and_a_correlation_without_p() -> None:
    """p is 0 at 1; three items, and an r beyond 1, have none."""
    assert correlation_p(-1.0, 10) == 0.0
    for r, n in ((0.5, 3), (1.5, 10)):
        with pytest.raises(StatisticError, match="has no p"):
            correlation_p(r, n)


# -- permutation tests: exact enumeration, scipy.stats.permutation_test, level --------------------------------------


def _far(statistic: Callable[..., float]) -> Callable[..., float]:
    """The distance from 0, of which scipy's test is one-sided: the share of arrangements at least as far."""
    return lambda *samples, axis=-1: np.abs(statistic(*samples, axis=axis))


def _scipy_p(samples: tuple[object, ...], statistic: Callable[..., float], kind: str, n: float = np.inf) -> float:
    found = stats.permutation_test(
        samples, _far(statistic), permutation_type=kind, n_resamples=n, alternative="greater", vectorized=True, rng=1
    )
    return float(found.pvalue)


def _difference_of_means(a: FloatArray, b: FloatArray, axis: int) -> FloatArray:
    return np.asarray(a.mean(axis=axis) - b.mean(axis=axis))


@pytest.mark.parametrize("seed", range(5))
def test_few_pairs_are_flipped_in_all_ways(seed: int) -> None:
    """The exact p of 9 pairs, with ties, is that of every choice of signs, and of scipy."""
    a, b = np.random.default_rng(seed).integers(0, 7, size=(2, 9)).astype(float)
    found, d = sign_flip(a, b), a - b
    every = [abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in product((1, -1), repeat=9)]
    assert found.p == pytest.approx(np.mean([value >= abs(d.sum()) - 1e-9 for value in every]), abs=1e-12)
    assert found.p == pytest.approx(_scipy_p((a, b), _difference_of_means, "samples"), abs=1e-12)
    assert found.name == "sign_flip(p=exact)"
    assert found.estimate == pytest.approx(d.mean())


def test_pairs_of_one_group_are_flipped_together() -> None:
    """Six pairs of three words have 8 arrangements, not 64: the p of word sums 3, 1, 2 is 2 / 8."""
    groups = ["w", "w", "x", "x", "y", "y"]
    assert sign_flip([1, 2, 0, 1, 1, 1], np.zeros(6), groups=groups).p == 0.25
    assert sign_flip([1, 2, 0, 1, 1, 1], np.zeros(6)).p == pytest.approx(2 / 32)
    with pytest.raises(StatisticError, match="at least 2 groups"):
        sign_flip([1, 2], [0, 0], groups=["w", "w"])


@pytest.mark.parametrize("seed", range(5))
def test_few_values_are_dealt_out_in_all_ways(seed: int) -> None:
    """The exact p of 5 and 4 values is that of every choice of 5 of 9, and of scipy."""
    values = np.random.default_rng(seed).integers(0, 9, size=9).astype(float)
    found = permutation(values[:5], values[5:])
    apart = []
    for chosen in combinations(range(9), 5):
        apart.append(abs(values[list(chosen)].mean() - np.delete(values, list(chosen)).mean()))
    observed = abs(values[:5].mean() - values[5:].mean())
    assert found.p == pytest.approx(np.mean(np.array(apart) >= observed - 1e-9), abs=1e-12)
    assert found.p == pytest.approx(_scipy_p((values[:5], values[5:]), _difference_of_means, "independent"), abs=1e-12)


@pytest.mark.parametrize("kind", ["spearman", "pearson"])
def test_few_items_are_put_in_all_orders(kind: Literal["spearman", "pearson"]) -> None:
    """The exact p of a correlation of 6 items with a tie is that of all 720 orders, each r by scipy."""
    x, y = np.array([1.0, 2, 2, 4, 7, 9]), np.array([3.0, 1, 4, 4, 9, 5])
    r = {"spearman": stats.spearmanr, "pearson": stats.pearsonr}[kind]
    observed = r(x, y).statistic
    every = np.array([r(x, y[list(order)]).statistic for order in permutations(range(6))])
    found = permutation_of_correlation(x, y, kind=kind)
    assert found.estimate == pytest.approx(observed)
    assert found.p == pytest.approx(np.mean(np.abs(every) >= abs(observed) - 1e-9), abs=1e-12)


def test_many_arrangements_are_drawn() -> None:
    """Above 65,536 arrangements they are drawn under a seed: p is (b + 1) / (m + 1), never 0, and near scipy's."""
    generator = np.random.default_rng(7)
    a, b = generator.normal(0.25, 1, 60), generator.normal(0, 1, 60)
    for found, kind in ((sign_flip(a, b), "samples"), (permutation(a, b), "independent")):
        assert found.name.endswith("(p=monte_carlo,resamples=9999)")
        assert found.p == pytest.approx(_scipy_p((a, b), _difference_of_means, kind, 9999), abs=0.02)
        assert round(found.p * 10_000, 6) == round(found.p * 10_000)
    assert sign_flip(a, b) == sign_flip(a, b)
    assert sign_flip(a + 9, b, resamples=99).p == permutation(a + 9, b, resamples=99).p == 0.01
    assert permutation_of_correlation(a, a, resamples=99).p == 0.01
    with pytest.raises(StatisticError, match="cannot draw 0 arrangements"):
        sign_flip(a, b, resamples=0)


def test_permutation_tests_do_not_depend_on_the_unit() -> None:
    """p is the same for values times 1e-9, 1e9 and 1e-200; the difference is in the unit of the values."""
    generator = np.random.default_rng(3)
    a, b = generator.integers(0, 6, size=(2, 8)) / 10
    tests = (sign_flip, permutation, lambda x, y: permutation_of_correlation(x, y, kind="pearson"))
    for unit in (1e-9, 1e9, 1e-200):
        for test in tests:
            assert test(a * unit, b * unit).p == test(a, b).p
        assert permutation(a * unit, b * unit).estimate == pytest.approx(unit * (a.mean() - b.mean()))


def test_what_has_no_permutation_test() -> None:
    """No difference, equal values, a constant column, two items: refused with the reason."""
    for call, reason in (
        (lambda: sign_flip([1, 2], [1, 2]), "all 2 differences are 0"),
        (lambda: permutation([1, 1], [1, 1]), "all values are equal"),
        (lambda: permutation_of_correlation([1, 1, 1], [1, 2, 3]), "columns that vary"),
        (lambda: permutation_of_correlation([1, 2], [1, 2]), "at least 3 items"),
        (lambda: sign_flip([1, 2, 3], [1, 2]), "columns of one length"),
    ):
        with pytest.raises(StatisticError, match=reason):
            call()


def test_permutation_tests_reject_at_their_level_under_the_null() -> None:
    """Over 1000 simulated skewed studies without an effect, each test at .05 rejects 3 to 7 % (SE .7 %)."""
    generator = np.random.default_rng(12)
    rejected = dict.fromkeys(("sign_flip", "permutation", "correlation"), 0)
    for _ in range(1000):
        x, y = generator.exponential(size=(2, 20))
        rejected["sign_flip"] += sign_flip(x, y, resamples=199).p <= 0.05
        rejected["permutation"] += permutation(x, y, resamples=199).p <= 0.05
        rejected["correlation"] += permutation_of_correlation(x, y, resamples=199).p <= 0.05
    assert all(30 <= count <= 70 for count in rejected.values()), rejected


def test_a_permutation_p_at_its_floor_is_an_upper_bound() -> None:
    """30 and 30 values that do not overlap: none of 199 deals is as far: p is at most 1 / 200; exact is exact."""
    far = permutation(np.arange(30.0), np.arange(30.0) + 100, resamples=199)
    assert far.p == 1 / 200
    assert isinstance(far.p, AtMost)
    turned = sign_flip(np.arange(30.0) + 1, np.zeros(30), resamples=199)
    assert isinstance(turned.p, AtMost)
    near = permutation(np.arange(30.0), np.arange(30.0)[::-1] + 0.1, resamples=199)
    exact = permutation([3, 5, 6], [1, 2, 4])
    assert not isinstance(near.p, AtMost)
    assert not isinstance(exact.p, AtMost)
