"""The profiled deviance and its gradient, against the density of the marginal normal and against mixedlm."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from lexiscope.analysis.mixed import optimum as mixed_optimum
from lexiscope.analysis.mixed.data import prepare
from lexiscope.analysis.mixed.design import MixedDesign, model_design
from lexiscope.analysis.mixed.deviance import BlockDeviance, factors_of, is_diagonal, theta_of
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.models import fit
from lexiscope.analysis.mixed.optimum import SparseDeviance

FORMULAS = [
    "y ~ x + z + (1 + x + z | g) + (1 + x | h) + (1 | k)",
    "y ~ x + (1 | g)",
    "y ~ x + (1 + x || g) + (0 + z | g) + (1 | h) + (0 + x | h)",
    "y ~ 0 + (1 | g) + (1 | h)",
    "y ~ x + (1 | g/h)",
]


@cache
def columns() -> dict[str, Any]:
    """240 rows with crossed levels, not every combination of which occurs."""
    random = np.random.default_rng(1)
    g, h, k = (random.integers(0, levels, 240) for levels in (12, 7, 4))
    x, z = random.normal(size=(2, 240))
    y = 1 + x + random.normal(size=12)[g] + random.normal(size=7)[h] * x + random.normal(size=240)
    return {"y": y, "x": x, "z": z, "g": g, "h": h, "k": k}


def design_of(formula: str) -> MixedDesign:
    read = read_formula(formula)
    return model_design(read, prepare(read, columns()))


def relative_covariance(design: MixedDesign, theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """V = I + Σ Z F Fᵀ Zᵀ, row by row. *Shape:* (rows, rows)."""
    v = np.eye(len(design.outcome))
    for bracket, factor in zip(design.brackets, factors_of(theta, design.brackets), strict=True):
        same = bracket.grouping.index[:, None] == bracket.grouping.index[None, :]
        v += same * (bracket.values @ factor @ factor.T @ bracket.values.T)
    return v


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_deviance_is_that_of_the_marginal_normal(formula: str, reml: bool) -> None:
    """Minus twice the log-density of y ~ N(Xβ, σ²V) at the β and σ that maximise it; REML adds log |XᵀV⁻¹X|/σ² terms.

    *Source:* Bates et al. (2015), equations 31-42; β by generalised least squares with the whole of V.
    """
    design = design_of(formula)
    theta = np.random.default_rng(3).normal(size=is_diagonal(design.brackets).size)
    y, x, v = design.outcome, design.fixed, relative_covariance(design, theta)
    (n, p), inverse = x.shape, np.linalg.inv(v)
    information = x.T @ inverse @ x
    beta = np.linalg.solve(information, x.T @ inverse @ y) if p else np.zeros(0)
    rest = y - x @ beta
    degrees = n - p if reml else n
    variance = rest @ inverse @ rest / degrees
    expected = -2 * multivariate_normal(x @ beta, variance * v).logpdf(y)
    if reml:
        expected += np.linalg.slogdet(information)[1] - p * np.log(2 * np.pi * variance)
    deviance = BlockDeviance(y, x, design.brackets, reml=reml)
    estimates = deviance.estimates(theta)
    assert deviance(theta)[0] == pytest.approx(expected, rel=1e-10)
    assert estimates.deviance == pytest.approx(expected, rel=1e-10)
    assert estimates.coefficients == pytest.approx(beta, rel=1e-9)
    assert estimates.sigma**2 == pytest.approx(variance, rel=1e-9)
    if p:
        assert estimates.covariance == pytest.approx(variance * np.linalg.inv(information), rel=1e-8)
    # the conditional means are D Zᵀ V⁻¹ (y - Xβ), so the residuals are V⁻¹ (y - Xβ)
    assert estimates.residuals == pytest.approx(inverse @ rest, abs=1e-9)


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_gradient_is_that_of_differences(formula: str, reml: bool) -> None:
    """Every entry of the gradient is the central difference of the deviance, also where a variance is zero."""
    design = design_of(formula)
    deviance = BlockDeviance(design.outcome, design.fixed, design.brackets, reml=reml)
    theta = np.random.default_rng(4).normal(size=is_diagonal(design.brackets).size)
    theta[-1] = 0.0
    for i, entry in enumerate(deviance(theta)[1]):
        step = 1e-5 * (np.arange(theta.size) == i)
        expected = (deviance(theta + step)[0] - deviance(theta - step)[0]) / 2e-5
        assert entry == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_sparse_route_computes_the_same(formula: str) -> None:
    """mixedlm on the same columns: deviance, gradient, estimates and covariance agree; it is an oracle of ours."""
    design = design_of(formula)
    given = (design.outcome, design.fixed, design.brackets)
    ours, theirs = BlockDeviance(*given, reml=True), SparseDeviance(*given, reml=True)
    theta = np.random.default_rng(5).normal(size=is_diagonal(design.brackets).size)
    assert ours(theta)[0] == pytest.approx(theirs(theta)[0], rel=1e-11)
    assert ours(theta)[1] == pytest.approx(theirs(theta)[1], rel=1e-8)
    mine, other = ours.estimates(theta), theirs.estimates(theta)
    assert (mine.deviance, mine.sigma) == (pytest.approx(other.deviance), pytest.approx(other.sigma))
    for name in ("coefficients", "covariance", "residuals"):
        assert getattr(mine, name) == pytest.approx(getattr(other, name), abs=1e-8)
    for modes, others in zip(mine.modes, other.modes, strict=True):
        assert modes == pytest.approx(others, abs=1e-8)


def test_models_too_large_for_the_dense_route_are_fitted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same optimum, degrees of freedom and flags on both routes."""
    formula = "y ~ x + (1 + x | g) + (1 | h)"
    ours = fit(formula, columns(), starts=2)
    monkeypatch.setattr(mixed_optimum, "LARGEST", 0)
    theirs = fit(formula, columns(), starts=2)
    assert isinstance(theirs.optimum.model.deviance, SparseDeviance)  # type: ignore[union-attr]
    assert theirs.log_likelihood == pytest.approx(ours.log_likelihood, abs=1e-6)
    assert [e.df for e in theirs.fixed] == pytest.approx([e.df for e in ours.fixed], rel=1e-4)
    assert (theirs.converged, theirs.singular) == (ours.converged, ours.singular)


def test_a_point_without_a_likelihood_is_infinitely_bad() -> None:
    """A line search that leaves the numbers gets infinity and no slope, not an exception."""
    design = design_of(FORMULAS[0])
    deviance = BlockDeviance(design.outcome, design.fixed, design.brackets, reml=False)
    value, gradient = deviance(np.full(10, 1e200))
    assert (value, np.count_nonzero(gradient)) == (np.inf, 0)


def test_theta_is_the_lower_triangles_row_by_row() -> None:
    """Correlated terms have a triangle, uncorrelated ones a diagonal; the two functions are inverse."""
    brackets = design_of("y ~ x + (1 + x | g) + (1 + x || h)").brackets
    theta = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    first, second = factors_of(theta, brackets)
    assert block_diag(first, second).tolist() == [[1, 0, 0, 0], [2, 3, 0, 0], [0, 0, 4, 0], [0, 0, 0, 5]]
    assert theta_of([first, second], brackets).tolist() == theta.tolist()
    assert is_diagonal(brackets).tolist() == [True, False, True, True, True]
