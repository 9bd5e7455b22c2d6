"""The result of a mixed model: what is derived from an optimum, and what is remarked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lexiscope.analysis.mixed.data import ModelData, prepare
from lexiscope.analysis.mixed.fit import MixedFit, as_fit
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.optimum import Optimum, Stop, maximise

FORMULA = read_formula("y ~ 1 + (1 | batch)")


def data() -> ModelData:
    """Six batches of five, each batch shifted by its own amount."""
    shift = np.repeat([-2.0, -1.0, 0.0, 0.5, 1.0, 1.5], 5)
    noise = np.random.default_rng(0).normal(size=30)
    return prepare(FORMULA, {"y": 10 + shift + noise, "batch": np.repeat(list("abcdef"), 5)})


def result(optimum: Optimum) -> MixedFit:
    return as_fit(FORMULA, data(), optimum, reml=False, satterthwaite=True)


@pytest.fixture(scope="module")
def optimum() -> Optimum:
    return maximise(FORMULA, data(), reml=False, starts=2, seed=0)


def test_a_balanced_design_has_its_closed_form(optimum: Optimum) -> None:
    """Six batches of five, ML: residual variance MSE = SSE / 24, batch variance (SSB / 6 - MSE) / 5, mean = mean of y.

    The SE of the mean is sqrt((residual + 5 batch) / 30), and its degrees of freedom are those of six batches.
    """
    y = data().columns["y"].reshape(6, 5)
    residual = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / 24
    batch = (5 * ((y.mean(axis=1) - y.mean()) ** 2).sum() / 6 - residual) / 5
    fitted = result(optimum)
    assert fitted.residual_variance == pytest.approx(residual, rel=1e-5)
    assert fitted.component("batch", "(Intercept)").variance == pytest.approx(batch, rel=1e-4)
    assert fitted.effect("(Intercept)").estimate == pytest.approx(y.mean())
    assert fitted.effect("(Intercept)").se == pytest.approx(((residual + 5 * batch) / 30) ** 0.5, rel=1e-4)
    assert fitted.effect("(Intercept)").df == pytest.approx(6, rel=1e-2)


def test_information_criteria_follow_from_the_likelihood(optimum: Optimum) -> None:
    """AIC = 2 k - 2 log L and BIC = k log n - 2 log L, with k = 3 (mean, batch, residual) and n = 30."""
    fitted = result(optimum)
    assert fitted.n_parameters == 3
    assert fitted.aic == 2 * 3 - 2 * fitted.log_likelihood
    assert fitted.bic == 3 * np.log(30) - 2 * fitted.log_likelihood


def test_missing_convergence_is_remarked_and_takes_the_p_away(optimum: Optimum) -> None:
    """A fit that did not converge is given with a remark, without degrees of freedom and without p."""
    fitted = result(replace(optimum, converged=False))
    assert not fitted.converged
    assert any(remark.startswith("not converged") for remark in fitted.remarks)
    assert fitted.effect("(Intercept)").p is None
    assert fitted.effect("(Intercept)").df_reason == "the fit did not converge"


def test_several_optima_are_remarked_with_their_counts(optimum: Optimum) -> None:
    """How many starts reached the best optimum, and where the others converged."""
    best = optimum.stops[0].log_likelihood
    fitted = result(replace(optimum, stops=(Stop(best, True), Stop(best - 3, True), Stop(best, True))))
    assert fitted.starts_at_best == 2
    assert any("2 of 3 starts reached the best" in remark for remark in fitted.remarks)


def test_warnings_of_the_library_are_passed_on(optimum: Optimum) -> None:
    """What the fitting library warns of is a remark, never swallowed."""
    assert result(replace(optimum, remarks=("something odd",))).remarks[-1] == "something odd"
