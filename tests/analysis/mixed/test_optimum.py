"""Maximising the likelihood from several starts: what is kept, and how saddles are left."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed import optimum as mixed_optimum
from lexiscope.analysis.mixed.data import prepare
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.optimum import Optimum, Stop, degrees_of_freedom, maximise, model_of
from lexiscope.core.errors import StatisticError

FORMULA = read_formula("y ~ x + (1 + x | g) + (1 | h)")


def data(seed: int = 7) -> Any:
    random = np.random.default_rng(seed)
    g, h = (grid.ravel() for grid in np.meshgrid(range(15), range(10), indexing="ij"))
    x = random.normal(size=g.size)
    y = 1 + x + random.normal(0, 0.8, 15)[g] + random.normal(0, 0.7, 15)[g] * x + random.normal(0, 0.5, 10)[h]
    return prepare(FORMULA, {"y": y + random.normal(size=g.size), "x": x, "g": g, "h": h})


def optimum(stops: list[tuple[float, bool]]) -> Optimum:
    return Optimum(result=None, stops=tuple(Stop(*stop) for stop in stops), converged=True, remarks=())


def test_other_optima_are_counted_once_and_only_where_converged() -> None:
    """Two stops within 0.01 are one optimum; a start that never converged found none."""
    found = optimum([(-10.0, True), (-10.004, True), (-12.5, True), (-12.499, True), (-11.0, False)])
    assert found.n_at_best == 2
    assert found.others == (-12.499,)


def test_one_optimum_has_no_others() -> None:
    """Starts that agree leave nothing to remark."""
    assert optimum([(-10.0, True), (-10.0, True)]).others == ()


def test_every_start_is_a_different_point_and_reaches_the_optimum() -> None:
    """Random starts differ under one seed, repeat under the same, and all end at the same optimum here."""
    model = model_of(FORMULA, data(), reml=False)
    first, again = ([*mixed_optimum._starting_points(model, 5, seed)] for seed in (1, 1))
    assert first[1].tolist() == [1.0, 0.0, 1.0, 1.0]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert len({tuple(point) for point in first}) == 5
    found = maximise(FORMULA, data(), reml=False, starts=5, seed=1, every_start=True)
    assert (found.n_at_best, len(found.stops), found.ended_early) == (5, 5, False)


def test_starts_that_meet_end_early() -> None:
    """Two starts at one stationary point inside the edge are enough; a slope without its fixed effect takes them all.

    A model that lacks the fixed effect of a random slope has an optimum in which the slope's variance takes it over.
    """
    found = maximise(FORMULA, data(), reml=False, starts=5, seed=1)
    assert (len(found.stops), found.ended_early) == (2, True)
    all_of_them = maximise(FORMULA, data(), reml=False, starts=5, seed=1, every_start=True)
    assert found.log_likelihood == pytest.approx(all_of_them.log_likelihood, abs=1e-6)
    without = read_formula("y ~ 1 + (1 + x | g) + (1 | h)")
    lacking = maximise(without, data(), reml=False, starts=5, seed=1)
    assert (len(lacking.stops), lacking.ended_early) == (5, False)


def test_starts_at_an_edge_do_not_end_early() -> None:
    """Where a variance is zero two equal stops prove nothing: every start is made."""
    flat = data()
    # the residuals of a chessboard: their mean is 0 in every g, and 1/15 or -1/15 in every h
    flat.columns["y"] = flat.columns["x"] + np.tile([*[-1.0, 1.0] * 5, *[1.0, -1.0] * 5], 8)[:150]  # type: ignore[index]
    found = maximise(FORMULA, flat, reml=False, starts=4, seed=1)
    assert (found.singular, len(found.stops), found.ended_early) == (True, 4, False)


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize(
    "formula", ["y ~ x + (1 | h)", "y ~ x + (1 + x | g) + (1 | h)", "y ~ x + (0 + x || g) + (1 | h)"]
)
def test_random_effects_without_residuals_are_refused(formula: str, reml: bool) -> None:
    """Where every rater gives an item the same, its intercept leaves no residual: there is no maximum to report."""
    exact = data()
    exact.columns["y"] = exact.columns["x"] + np.tile([-1.0, 1.0], 75)  # type: ignore[index]
    with pytest.raises(StatisticError, match="fits every row exactly"):
        maximise(read_formula(formula), exact, reml=reml, starts=2, seed=1)
    # a ten-thousandth of noise is enough for a maximum
    exact.columns["y"] += 1e-4 * np.random.default_rng(3).normal(size=150)  # type: ignore[index]
    fitted = maximise(read_formula("y ~ x + (1 | h)"), exact, reml=reml, starts=2, seed=1)
    assert fitted.residual_sd == pytest.approx(1e-4, rel=0.2)


def test_a_saddle_at_zero_variance_is_left() -> None:
    """A start on a variance of exactly zero, where the gradient vanishes, still reaches the optimum."""
    model = model_of(FORMULA, data(), reml=False)
    assert model.fit(np.zeros(4)).deviance == pytest.approx(model.fit().deviance, abs=1e-6)


def test_an_edge_is_left_on_the_side_where_the_slope_falls() -> None:
    """A factor (0, b) has the covariance of (0, -b): where one of them is held at the edge the other is not.

    At (0, b) the deviance rises with a positive first entry, which holds an optimiser that keeps to its bound, although
    the same covariances have a way down.
    """
    model = model_of(FORMULA, data(), reml=False)
    best = model.fit()
    held = next(
        theta
        for theta in (np.array([0.0, sign * 0.7, 0.1, best.theta[3]]) for sign in (1.0, -1.0))
        if model.deviance(theta)[1][0] > 0
    )
    inside = model._inside(held, model.deviance(held)[0])
    assert inside is not None
    assert model.deviance(inside)[0] < model.deviance(held)[0]
    assert inside[1] == -held[1]


def test_degrees_of_freedom_of_an_unconverged_fit_are_not_given() -> None:
    """Where the fit did not converge there is no curvature to derive degrees of freedom from."""
    assert degrees_of_freedom(Optimum(None, (), False, ())) == (None, "the fit did not converge")


class Scripted:
    """A model whose fits are given in advance, to reach what real data seldom reach."""

    def __init__(self, *fits: SimpleNamespace) -> None:
        self.fits = list(fits)

    def fit(self, start: object, *, gradients: bool) -> SimpleNamespace:
        assert not gradients
        return self.fits.pop(0)


def stop(deviance: float, *, converged: bool, gradient: float | None) -> SimpleNamespace:
    return SimpleNamespace(deviance=deviance, converged=converged, gradient_norm=gradient, theta=np.ones(2))


@pytest.mark.parametrize(
    ("again", "deviance", "converged"),
    [
        (stop(100.0, converged=True, gradient=None), 100.0, True),
        (stop(90.0, converged=True, gradient=None), 90.0, False),
        (stop(110.0, converged=True, gradient=None), 100.0, False),
        (stop(100.0, converged=False, gradient=None), 100.0, False),
    ],
)
def test_a_second_optimiser_decides_on_convergence(again: SimpleNamespace, deviance: float, converged: bool) -> None:
    """A stop that is no stationary point converged only where a second optimiser ends there too; the better stays."""
    model, best = Scripted(again), stop(100.0, converged=False, gradient=5.0)
    kept, agreed = mixed_optimum._continue_without_gradients(model, best)  # type: ignore[arg-type]
    assert (kept.deviance, agreed) == (deviance, converged)


def test_a_vanishing_gradient_is_convergence_whatever_the_line_search_says() -> None:
    """A line search that gives up on rounding at the optimum has still found it; a steep stop has not."""
    stationary: Any = mixed_optimum._is_stationary
    assert stationary(stop(1.0, converged=False, gradient=1e-4))
    assert not stationary(stop(1.0, converged=False, gradient=1.0))
    assert not stationary(stop(1.0, converged=False, gradient=None))


class Failing:
    """A model whose every fit fails in the linear algebra."""

    def fit(self, start: object) -> None:
        raise np.linalg.LinAlgError("not positive definite")


def test_a_model_without_any_valid_fit_is_an_error() -> None:
    """When every start fails the reason of each is told; nothing is returned in its place."""
    with pytest.raises(StatisticError, match="start 2 gave no valid fit: not positive definite"):
        mixed_optimum._fit_all(Failing(), iter([np.zeros(1), np.ones(1)]), every_start=True)  # type: ignore[arg-type]
