"""Least squares, logistic and scaling regression agree with certified values and R, and reject what is undefined."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from lexiscope.analysis.layers.layers import r_squared_by_layer
from lexiscope.analysis.regression import INTERCEPT, MULTILINGUAL, logistic, ols, scaling
from lexiscope.core.errors import StatisticError

# NIST StRD, Longley: y, then six predictors, 1947 to 1962 (public domain)
LONGLEY = """60323 83.0 234289 2356 1590 107608 1947
61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949
61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952
64989 99.0 365385 1870 3547 115094 1953
63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962"""


def test_ols_reaches_the_certified_values_of_longley() -> None:
    """A badly conditioned design keeps at least nine digits of the values that NIST certifies."""
    table = np.array([line.split() for line in LONGLEY.splitlines()], dtype=float)
    fit = ols(table[:, 0], table[:, 1:], [f"x{i}" for i in range(1, 7)])
    certified = [
        (-3482258.63459582, 890420.383607373),
        (15.0618722713733, 84.9149257747669),
        (-0.358191792925910e-01, 0.334910077722432e-01),
        (-2.02022980381683, 0.488399681651699),
        (-1.03322686717359, 0.214274163161675),
        (-0.511041056535807e-01, 0.226073200069370),
        (1829.15146461355, 455.478499142212),
    ]
    for row, (estimate, error) in zip(fit.coefficients, certified, strict=True):
        assert row.estimate == pytest.approx(estimate, rel=1e-9)
        assert row.standard_error == pytest.approx(error, rel=1e-9)
    assert fit.r_squared == pytest.approx(0.995479004577296, rel=1e-12)
    assert fit.residual_sd == pytest.approx(304.854073561965, rel=1e-9)


def test_ols_of_a_polynomial_without_error_says_that_it_is_exact() -> None:
    """NIST Wampler1: every coefficient is 1, and the result carries the remark that the fit is exact."""
    x = np.arange(21.0)
    powers = np.column_stack([x**k for k in range(1, 6)])
    fit = ols(1 + powers.sum(axis=1), powers, ["x1", "x2", "x3", "x4", "x5"])
    assert [row.estimate for row in fit.coefficients] == pytest.approx([1.0] * 6, rel=1e-9)
    assert "exact" in fit.remarks[0]


def test_ols_by_hand() -> None:
    """Slope, intercept, t, R² and adjusted R² of three points, each written as its calculation."""
    fit = ols([0, 2, 3], [0, 1, 2], ["x"])
    rss = 1 / 36 + 1 / 9 + 1 / 36
    error = (rss / 1 / 2) ** 0.5
    slope = fit.coefficient("x")
    assert slope.estimate == pytest.approx(3 / 2)
    assert fit.coefficient(INTERCEPT).estimate == pytest.approx(5 / 3 - 3 / 2)
    assert slope.standard_error == pytest.approx(error)
    assert slope.statistic == pytest.approx(1.5 / error)
    # Student's t with 1 df is the Cauchy distribution
    assert slope.p == pytest.approx(1 - 2 / np.pi * np.arctan(1.5 / error))
    assert fit.r_squared == pytest.approx(1 - rss / (14 / 3))
    assert fit.adjusted_r_squared == pytest.approx(1 - (1 - fit.r_squared) * 2 / 1)
    assert fit.aic == pytest.approx(3 * (np.log(2 * np.pi * rss / 3) + 1) + 2 * 3)
    assert fit.residuals == pytest.approx([-1 / 6, 1 / 3, -1 / 6])


def test_ols_without_intercept_measures_r_squared_from_zero() -> None:
    """Without an intercept R² is 1 − RSS / Σy², as R defines it."""
    fit = ols([1, 2, 4], [1, 2, 3], ["x"], intercept=False)
    slope = (1 + 4 + 12) / (1 + 4 + 9)
    rss = sum((y - slope * x) ** 2 for y, x in [(1, 1), (2, 2), (4, 3)])
    assert fit.coefficient("x").estimate == pytest.approx(slope)
    assert fit.r_squared == pytest.approx(1 - rss / (1 + 4 + 16))
    assert fit.adjusted_r_squared == pytest.approx(1 - (1 - fit.r_squared) * 3 / 2)


def test_a_tiny_predictor_is_fitted_like_any_other() -> None:
    """Scaling a predictor by 1e-16 scales its coefficient by 1e16 and changes neither R² nor AIC."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal(50)
    y = (x + rng.standard_normal(50) > 0).astype(float)
    for fit in (ols, logistic):
        one, tiny = fit(y, x, ["x"]), fit(y, x * 1e-16, ["x"])
        assert tiny.aic == pytest.approx(one.aic, rel=1e-12)
        assert tiny.coefficient("x").estimate * 1e-16 == pytest.approx(one.coefficient("x").estimate, rel=1e-9)


@pytest.mark.parametrize("fit", [ols, logistic])
def test_undefined_regressions_are_refused_with_their_reason(fit: type) -> None:
    """Constant outcomes, collinear or zero predictors and missing values never give a number."""
    y = [0, 1, 0, 1, 1, 0]
    x = np.array([1.0, 2, 3, 4, 5, 7])
    with pytest.raises(StatisticError, match=r"constant|equal"):
        fit([1] * 6, x, ["x"])
    with pytest.raises(StatisticError, match="'twice' is a linear combination"):
        fit(y, np.column_stack([x, 2 * x - 1]), ["x", "twice"])
    with pytest.raises(StatisticError, match="'c' is a linear combination"):
        fit(y, np.full(6, 0.3), ["c"])
    with pytest.raises(StatisticError, match="'z' is zero"):
        fit(y, np.zeros(6), ["z"])
    with pytest.raises(StatisticError, match="missing"):
        fit(y, [1, 2, np.nan, 4, 5, 6], ["x"])
    with pytest.raises(StatisticError, match="2 names"):
        fit(y, x, ["a", "b"])
    with pytest.raises(StatisticError, match="do not belong together"):
        fit(y, x[:5], ["x"])
    with pytest.raises(StatisticError, match="no coefficient"):
        fit(y, x, ["x"]).coefficient("absent")


def test_ols_needs_more_items_than_coefficients() -> None:
    """Two points determine a line but no residual variance."""
    with pytest.raises(StatisticError, match="2 items cannot determine 2"):
        ols([1, 2], [1, 3], ["x"])


def test_logistic_refuses_other_outcomes_than_zero_and_one() -> None:
    """A rating is no binary outcome."""
    with pytest.raises(StatisticError, match="0 or 1"):
        logistic([1, 2, 1, 2], [1, 2, 3, 5], ["x"])


def test_separation_is_an_error_and_never_a_large_coefficient() -> None:
    """Complete and quasi-complete separation have no finite estimate."""
    with pytest.raises(StatisticError, match="separate"):
        logistic([0, 0, 1, 1], [1, 2, 3, 4], ["x"])
    with pytest.raises(StatisticError, match="separate"):
        logistic([0, 0, 1, 1], [1, 2, 2, 3], ["x"])


def test_separation_is_found_exactly_where_a_linear_programme_finds_it() -> None:
    """A logistic estimate exists if and only if no direction separates the outcomes (checked on 200 draws)."""
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(200):
        n, k = int(rng.integers(8, 40)), int(rng.integers(1, 5))
        X = rng.standard_normal((n, k)).round(1)
        y = (X @ rng.standard_normal(k) + rng.standard_normal(n) * rng.choice([0.05, 0.2, 0.5, 2.0]) > 0).astype(int)
        if y.min() == y.max():
            continue
        signed = np.column_stack([np.ones(n), X]) * np.where(y == 1, 1, -1)[:, None]
        best = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(n), bounds=[(-1, 1)] * (k + 1))
        separated = -best.fun > 1e-7
        seen.add(separated)
        if separated:
            with pytest.raises(StatisticError, match="separate"):
                logistic(y, X, list("abcd")[:k])
        else:
            assert np.isfinite(logistic(y, X, list("abcd")[:k]).aic)
    assert seen == {True, False}


def test_logistic_agrees_with_statsmodels() -> None:
    """Coefficients, standard errors, p and deviance equal those of an independent implementation."""
    import statsmodels.api as sm

    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    y = (X @ [1, -0.5, 0, 0.2] + rng.logistic(size=200) > 0).astype(float)
    ours = logistic(y, X, list("abcd"))
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-14, maxiter=100)
    assert [r.estimate for r in ours.coefficients] == pytest.approx(theirs.params.tolist(), rel=1e-10)
    assert [r.standard_error for r in ours.coefficients] == pytest.approx(theirs.bse.tolist(), rel=1e-10)
    assert [r.p for r in ours.coefficients] == pytest.approx(theirs.pvalues.tolist(), rel=1e-8)
    assert ours.aic == pytest.approx(theirs.aic, rel=1e-12)
    assert ours.null_deviance == pytest.approx(-2 * theirs.llnull, rel=1e-12)


@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
def test_both_agree_with_r(tmp_path: Path) -> None:
    """R's lm and glm give the same coefficients, standard errors, AIC and R²."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((120, 3)) * [1, 1e-3, 100]
    eta = X @ [1, 200, 0.004]
    y = (eta + rng.logistic(size=120) > 0).astype(int)
    z = eta + rng.standard_normal(120)
    np.savetxt(tmp_path / "d.csv", np.column_stack([y, z, X]), delimiter=",", header="y,z,a,b,c", comments="")
    script = (
        "d <- read.csv('d.csv'); g <- glm(y ~ a + b + c, binomial, d, epsilon = 1e-14); m <- lm(z ~ a + b + c, d);"
        "for (f in list(g, m)) cat(format(c(summary(f)$coefficients, AIC(f)), digits = 17), sep = '\\n');"
        "cat(format(c(summary(m)$r.squared, summary(m)$adj.r.squared), digits = 17), sep = '\\n')"
    )
    run = subprocess.run(["Rscript", "-e", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    expected = [float(word) for word in run.stdout.split()]
    ours: list[float] = []
    fits = (logistic(y, X, list("abc")), ols(z, X, list("abc")))
    for fit in fits:
        for field in ("estimate", "standard_error", "statistic", "p"):
            ours += [getattr(row, field) for row in fit.coefficients]
        ours.append(fit.aic)
    ours += [fits[1].r_squared, fits[1].adjusted_r_squared]
    assert ours == pytest.approx(expected, rel=1e-10)


MULTILINGUAL_MODELS = ("bert-base-multilingual-cased", "xlm-roberta-base")


@pytest.mark.published
def test_size_effect_of_the_twelve_models(sawc, families) -> None:
    """b .104983, SE .04281, p .0366, R² .41672, and r with log10 parameters .51; R's lm gives SE .042809102."""
    best = [r_squared_by_layer(sawc.distance[m], sawc.norms, resamples=0).best_value().value for m in families]
    size = [sawc.parameters[m] for m in families]
    fit, (slope, error, p, flag, r_squared, r) = scaling(best, size, [m in MULTILINGUAL_MODELS for m in families])
    assert round(slope.value, 6) == 0.104983
    assert round(error.value, 9) == 0.042809102
    assert (round(p.value, 4), p.value) == (0.0366, slope.p)
    assert round(r_squared.value, 5) == 0.41672
    assert round(r.value, 2) == 0.51
    assert slope.interval.low > 0
    assert (slope.n, fit.residual_df, flag.name) == (12, 9, "slope(of=multilingual,outcome=max_r_squared)")


def test_slope_by_hand_without_a_flag() -> None:
    """log10 sizes 6, 7, 8, 9 and R² .1, .3, .2, .4: slope Σ(x − 7.5)(y) / 5."""
    fit, (slope, error, _, _, r) = scaling([0.1, 0.3, 0.2, 0.4], [1e6, 1e7, 1e8, 1e9])
    assert slope.value == pytest.approx((-1.5 * 0.1 - 0.5 * 0.3 + 0.5 * 0.2 + 1.5 * 0.4) / 5)
    assert r.value**2 == pytest.approx(fit.r_squared)
    # t(.975) with 2 degrees of freedom is 4.302653
    half = (slope.interval.high - slope.interval.low) / 2
    assert half == pytest.approx(4.302653 * error.value, rel=1e-6)


def test_the_flag_takes_its_share() -> None:
    """Multilingual subjects that all lie .1 lower leave the slope of the others as it is."""
    logs, flag = np.array([6.0, 7, 8, 9, 7, 8]), np.array([0, 0, 0, 0, 1, 1])
    fit, (slope, *_) = scaling(0.05 * logs - 0.1 * flag, 10**logs, flag)
    assert slope.value == pytest.approx(0.05)
    assert fit.coefficient(MULTILINGUAL).estimate == pytest.approx(-0.1)


def test_too_few_or_impossible_subjects_are_refused() -> None:
    """Three subjects, equal sizes, a size of zero and a flag that all share are errors."""
    four = [0.1, 0.2, 0.3, 0.5]
    with pytest.raises(StatisticError, match="at least 4 subjects"):
        scaling(four[:3], [1e6, 1e7, 1e8])
    with pytest.raises(StatisticError, match="positive"):
        scaling(four, [1e6, 1e7, 1e8, 0])
    with pytest.raises(StatisticError, match="linear combination"):
        scaling(four, [1e8] * 4)
    with pytest.raises(StatisticError, match="same multilingual flag"):
        scaling(four, [1e6, 1e7, 1e8, 1e9], [0, 0, 0, 0])
