"""Maximise the likelihood of a mixed model from several starts.

The only module that chooses who computes the deviance: :class:`BlockDeviance`, or the package ``mixedlm`` where two
grouping factors are too large for it. The columns are fitted in a separate basis, so no number here has a unit. A
reduced model that keeps the random slope of a dropped effect often has several optima (the slope's variance takes the
effect over), so one start is not enough, and what every start reached is kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.data import ModelData
from lexiscope.analysis.mixed.design import MixedDesign, RandomBracket, model_design
from lexiscope.analysis.mixed.deviance import (
    LARGEST,
    BlockDeviance,
    Estimates,
    factors_of,
    is_diagonal,
    n_dense,
    theta_of,
)
from lexiscope.analysis.mixed.formula import MixedFormula
from lexiscope.core.errors import InputError, StatisticError

Floats = NDArray[np.float64]

SAME_OPTIMUM = 0.01
"""Two starts reached the same optimum where their log-likelihoods differ by no more than this.

*Unit:* nats.
"""

SINGULAR = 1e-4
"""A relative standard deviation below this makes a fit singular, as in lme4's ``isSingular``."""

_STATIONARY = 1e-2  # gradient of the deviance; a stop below it is a stationary point whatever the line search says
_UNCHANGED = 1e-3  # log-likelihood that a second optimiser may still gain at a converged optimum
_UNBOUNDED = 1e3  # relative standard deviation above which a fit may be on its way to one without residuals


_FROM_COMPARED = "the best optimum was reached only from the optimum of the model that it is compared with"

# what a start raises that leads nowhere: ValueError stands for a NaN among its numbers
_NO_FIT = (RuntimeError, ValueError, np.linalg.LinAlgError)


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of one start: its log-likelihood, and whether the optimiser ended at a stationary point."""

    log_likelihood: float
    converged: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """The end of one run of an optimiser, in the fitted basis; ``gradient_norm`` leaves out what a bound holds."""

    estimates: Estimates
    converged: bool
    gradient_norm: float | None

    @property
    def theta(self) -> Floats:
        """The relative covariance factors of the random effects. *Shape:* (theta,)."""
        return self.estimates.theta

    @property
    def deviance(self) -> float:
        """Minus twice the log-likelihood (or restricted log-likelihood)."""
        return self.estimates.deviance


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best optimum that the starts reached, what each start reached, and the warnings on the way.

    ``ended_early`` says that two starts had met at one optimum, so that the others were not needed.
    """

    result: Fitted | None
    stops: tuple[Stop, ...]
    converged: bool
    remarks: tuple[str, ...]
    model: Model | None = None
    ended_early: bool = False

    @property
    def singular(self) -> bool:
        """Whether a variance is zero or a correlation plus or minus one, by lme4's rule, in the fitted basis."""
        return bool(_at_edge(self._known.theta, self._model.brackets).any())

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the best optimum, in the units of the data. *Unit:* nats."""
        return self._model.log_likelihood(self._known)

    @property
    def n_parameters(self) -> int:
        """The fixed effects, the free entries of the covariances, and the residual variance."""
        return len(self._model.design.fixed_names) + self._known.theta.size + 1

    @property
    def coefficients(self) -> Floats:
        """The fixed effects in the units of the data. *Shape:* (fixed effects,)."""
        return self._model.basis.coefficients(self._known.estimates.coefficients)

    @property
    def standard_errors(self) -> Floats:
        """The standard errors of the fixed effects in the units of the data. *Shape:* (fixed effects,)."""
        return self._model.basis.standard_errors(self._known.estimates.covariance)

    @property
    def correlations(self) -> Floats:
        """The correlations of the estimates of the fixed effects. *Shape:* (fixed effects, fixed effects)."""
        rows = self._model.basis.rows
        covariance = rows @ self._known.estimates.covariance @ rows.T
        deviations = np.sqrt(np.diag(covariance))
        return np.asarray(np.clip(covariance / np.outer(deviations, deviations), -1.0, 1.0))

    @property
    def residual_sd(self) -> float:
        """The residual standard deviation, in units of the response."""
        return float(self._model.basis.scale * self._known.estimates.sigma)

    @property
    def residuals(self) -> Floats:
        """The response less the fitted value of every row, random effects included. *Shape:* (rows,)."""
        return np.asarray(self._model.basis.scale * self._known.estimates.residuals)

    @property
    def random_factors(self) -> tuple[tuple[RandomBracket, Floats], ...]:
        """Each bracket with F, where F Fᵀ is the covariance of its terms in the units of the data.

        *Shape:* F is (terms, terms).
        """
        model, sigma = self._model, self._known.estimates.sigma
        factors = factors_of(self._known.theta, model.brackets)
        return tuple(
            (bracket, model.basis.random_factor(i, sigma * factor))
            for i, (bracket, factor) in enumerate(zip(model.design.brackets, factors, strict=True))
        )

    @property
    def modes(self) -> tuple[tuple[RandomBracket, Floats], ...]:
        """Each bracket with the conditional means of its random effects, in the units of the data.

        *Shape:* (levels, terms) each.
        """
        basis = self._model.basis
        return tuple(
            (bracket, basis.scale * (mode @ block.T))
            for bracket, mode, block in zip(
                self._model.design.brackets, self._known.estimates.modes, basis.blocks, strict=True
            )
        )

    @property
    def fixed_names(self) -> tuple[str, ...]:
        """The names of the fixed effects."""
        return self._model.design.fixed_names

    @property
    def _model(self) -> Model:
        if self.model is None:
            raise StatisticError("this optimum was made without a model, so it has no units")
        return self.model

    @property
    def _known(self) -> Fitted:
        if self.result is None:
            raise StatisticError("this optimum was made without a fit, so it has no estimates")
        return self.result

    @property
    def n_at_best(self) -> int:
        """How many starts reached the best optimum."""
        best = max(stop.log_likelihood for stop in self.stops)
        return sum(stop.log_likelihood > best - SAME_OPTIMUM for stop in self.stops)

    @property
    def others(self) -> tuple[float, ...]:
        """The log-likelihoods of other optima where at least one start converged, best first."""
        likelihoods = [max(stop.log_likelihood for stop in self.stops)]
        for stop in sorted(self.stops, key=lambda stop: -stop.log_likelihood):
            if stop.converged and stop.log_likelihood < likelihoods[-1] - SAME_OPTIMUM:
                likelihoods.append(stop.log_likelihood)
        return tuple(likelihoods[1:])


def maximise(
    formula: MixedFormula, data: ModelData, *, reml: bool, starts: int, seed: int, every_start: bool = False
) -> Optimum:
    """Fit ``formula`` from at most ``starts`` starting points and keep the best.

    The first start takes standard deviations from the spread of group means, the second is lme4's (relative standard
    deviations of one, no correlations), the others are random under ``seed``. No further start is made after two that
    ended at the same optimum, if it is a stationary point, no variance is zero, and every random slope has its fixed
    effect (such models have several optima); ``every_start`` makes all of them. Where the best stop is not a stationary
    point, a second optimiser without gradients continues from it.

    Errors: :class:`InputError` for fewer than one start; :class:`StatisticError` where the fixed effects are not
    linearly independent, or where no start gave a valid fit.
    """
    if starts < 1:
        raise InputError(f"{starts} starts: at least one is needed")
    model = model_of(formula, data, reml=reml)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        points = _starting_points(model, starts, seed)
        fits, failures = _fit_all(model, points, every_start=every_start or formula.absorbs)
        ended_early = len(fits) + len(failures) < starts
        fits = _leave_saddles(model, fits)
        best = min(fits, key=lambda fit: fit.deviance)
        _refuse_exact(model.outcome, min(best.estimates.sigma, _least_sigma(model, fits)))
        stops = tuple(Stop(model.log_likelihood(fit), _is_stationary(fit)) for fit in fits)
        converged = _is_stationary(best)
        if not converged:
            best, converged = _continue_without_gradients(model, best)
    said = [str(warning.message) for warning in caught]
    return Optimum(best, stops, converged, tuple(dict.fromkeys(failures + said)), model, ended_early)


class Deviance(Protocol):
    """What an optimiser needs of the deviance of one model; *theta* is (theta,)."""

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return the deviance and its gradient."""

    def fixed_covariance(self, theta: Floats) -> Floats:
        """Return the covariance of the fixed effects, with the residual variance profiled."""

    def estimates(self, theta: Floats) -> Estimates:
        """Return everything that follows from theta."""


class Model:
    """The columns of a model in the basis in which it is fitted, and its deviance."""

    def __init__(self, design: MixedDesign, *, reml: bool) -> None:
        """Choose the basis; the fixed effects must be linearly independent."""
        self.design, self.reml = design, reml
        self.basis = fitted_basis(
            design.outcome,
            design.fixed,
            [bracket.values for bracket in design.brackets],
            [bracket.correlated for bracket in design.brackets],
        )
        self.outcome = (design.outcome - design.fixed @ self.basis.offset) / self.basis.scale
        self.fixed = np.ascontiguousarray(design.fixed @ self.basis.fixed)
        self.brackets = tuple(
            replace(bracket, values=bracket.values @ block)
            for bracket, block in zip(design.brackets, self.basis.blocks, strict=True)
        )
        columns = self.outcome, self.fixed, self.brackets
        self.deviance: Deviance
        if n_dense(self.brackets) <= LARGEST:
            self.deviance = BlockDeviance(*columns, reml=reml)
        else:
            self.deviance = SparseDeviance(*columns, reml=reml)

    def log_likelihood(self, fit: Fitted) -> float:
        """Return the log-likelihood of a fit in the units of the data. *Unit:* nats."""
        return self.basis.log_likelihood(-fit.deviance / 2, reml=self.reml)

    def fit(self, start: Floats | None = None, *, gradients: bool = True, max_iterations: int = 1000) -> Fitted:
        """Descend from *start* (none: the spread of group means) to a minimum of the deviance.

        Errors: ``LinAlgError`` if the end is not a valid fit.
        """
        theta = _spread(self) if start is None else np.asarray(start, dtype=np.float64)
        value, theta, gradient, converged = self._descend(theta, gradients=gradients, max_iterations=max_iterations)
        for _ in range(theta.size if gradients and max_iterations else 0):
            inside = self._inside(theta, value)
            if inside is None:
                break
            value, theta, gradient, converged = self._descend(inside, gradients=True, max_iterations=max_iterations)
        estimates = self.deviance.estimates(theta)
        if not np.isfinite(estimates.deviance):
            raise np.linalg.LinAlgError("the deviance at the end of the descent is not finite")
        return Fitted(estimates, converged, gradient)

    def _descend(
        self, start: Floats, *, gradients: bool, max_iterations: int
    ) -> tuple[float, Floats, float | None, bool]:
        from scipy.optimize import minimize

        diagonal = is_diagonal(self.brackets)
        bounds = [(0.0, None) if free else (None, None) for free in diagonal]
        if not gradients:
            stopped = minimize(lambda theta: self.deviance(theta)[0], start, method="COBYQA", bounds=bounds)
            return float(stopped.fun), np.asarray(stopped.x), None, bool(stopped.success)
        # What is estimated from many levels bends the deviance more: in units of its precision all bend alike.
        unit = np.concatenate([np.full(b.n_free, 1 / np.sqrt(b.n_levels)) for b in self.brackets])

        def scaled(point: Floats) -> tuple[float, Floats]:
            value, slope = self.deviance(point * unit)
            return value, slope * unit

        options = {"maxiter": max_iterations, "ftol": 1e-15, "gtol": 1e-5}
        stopped = minimize(scaled, start / unit, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        theta, slope = np.asarray(stopped.x) * unit, np.asarray(stopped.jac) / unit
        held = diagonal & (theta <= 0) & (slope > 0)
        return float(stopped.fun), theta, float(np.linalg.norm(np.where(held, 0.0, slope))), bool(stopped.success)

    def _inside(self, theta: Floats, value: float) -> Floats | None:
        """Return a point that fits better than *theta* and has a positive variance where theta has none.

        At a variance of zero the slope vanishes by symmetry, or points outwards: the same covariances then have a
        second theta (the column of the factor with the other sign), from which the slope points inwards.
        """
        # less is rounding
        best, start = value - 64 * float(np.finfo(float).eps) * max(1.0, abs(value)), theta
        edges = np.flatnonzero(_at_edge(theta, self.brackets))
        where = [(i, j) for i, bracket in enumerate(self.brackets) for j in range(bracket.n_terms)]
        number = np.cumsum(is_diagonal(self.brackets)) - 1
        for edge in edges:
            bracket, column = where[number[edge]]
            for step in (1e-3, 1e-2, 1e-1):
                for sign in (1.0, -1.0):
                    factors = factors_of(start, self.brackets)
                    if sign < 0 and not np.any(factors[bracket][column + 1 :, column]):
                        continue
                    factors[bracket][:, column] *= sign
                    factors[bracket][column, column] = step
                    point = theta_of(factors, self.brackets)
                    tried = self.deviance(point)[0]
                    if tried < best:
                        best, start = tried, point
        return None if start is theta else start


def model_of(formula: MixedFormula, data: ModelData, *, reml: bool) -> Model:
    """Return the model of ``formula`` on ``data``, ready to be fitted.

    Errors: :class:`StatisticError` where the fixed effects are not linearly independent or fit every row exactly.
    """
    design = model_design(formula, data)
    _check_rank(design)
    rest = design.outcome - design.fixed @ np.linalg.lstsq(design.fixed, design.outcome, rcond=None)[0]
    _refuse_exact(design.outcome, float(np.sqrt(np.mean(rest**2))))
    return Model(design, reml=reml)


class SparseDeviance:
    """The deviance as ``mixedlm`` computes it, by a sparse factor: where two grouping factors are very large."""

    def __init__(self, outcome: Floats, fixed: Floats, brackets: Sequence[RandomBracket], *, reml: bool) -> None:
        """Hand the columns to the package. *Shape:* ``outcome`` (rows,); ``fixed`` (rows, fixed effects)."""
        from mixedlm.estimation.reml import LMMOptimizer
        from mixedlm.matrices.design import ModelMatrices, RandomEffectStructure

        n, p = fixed.shape
        random = _random_columns(brackets)
        structures = [
            RandomEffectStructure(
                bracket.group, list(bracket.terms), bracket.n_levels, bracket.n_terms, bracket.correlated, level_map={}
            )
            for bracket in brackets
        ]
        names = [f"x{i}" for i in range(p)]
        columns_given = (outcome, fixed, random, names, structures, n, p, random.shape[1])
        matrices = ModelMatrices(*columns_given, weights=np.ones(n), offset=np.zeros(n))
        self.fixed, self.outcome, self.brackets, self.reml = fixed, outcome, tuple(brackets), reml
        self._package = LMMOptimizer(matrices, REML=reml)
        value, gradient = self._package._optimization_functions("L-BFGS-B", use_analytic_gradient=True)
        if gradient is None:
            raise StatisticError(
                "this model is too large for the dense route, and mixedlm is installed without its compiled part",
                hint="install mixedlm from a wheel",
            )
        self._value, self._gradient = value, gradient

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return the deviance at theta and its gradient."""
        if not np.all(np.isfinite(theta)):
            return np.inf, np.zeros_like(theta)
        return float(self._value(theta)), np.asarray(self._gradient(theta), dtype=np.float64)

    def fixed_covariance(self, theta: Floats) -> Floats:
        """Return the covariance of the fixed effects at theta. *Shape:* (fixed effects, fixed effects)."""
        return self.estimates(theta).covariance

    def estimates(self, theta: Floats) -> Estimates:
        """Return everything that follows from theta."""
        core = self._package._evaluate_core(theta)
        if core is None:
            raise np.linalg.LinAlgError("the random effects have no factor at this point")
        beta, effects, rest = np.asarray(core.beta), np.asarray(core.u), self.outcome.copy()
        modes, start = [], 0
        for bracket in self.brackets:
            stop = start + bracket.n_levels * bracket.n_terms
            modes.append(effects[start:stop].reshape(bracket.n_levels, bracket.n_terms))
            rest -= np.einsum("ij,ij->i", bracket.values, modes[-1][bracket.grouping.index])
            start = stop
        rest -= self.fixed @ beta
        covariance = np.linalg.inv(core.fixed_information) * core.sigma**2
        return Estimates(theta, float(core.deviance), beta, covariance, float(core.sigma), tuple(modes), rest)


def _check_rank(design: MixedDesign) -> None:
    # The bound of the basis in which the model is fitted: what passes here has one.
    rank = n_independent(design.fixed)
    if rank < design.fixed.shape[1]:
        raise StatisticError(
            f"the {design.fixed.shape[1]} fixed effects have rank {rank}: {', '.join(design.fixed_names)}",
            why="at least one is, to twelve digits, a sum of multiples of the others, so their coefficients are not "
            "determined",
            hint="remove the redundant predictor from the formula",
        )


def _spread(model: Model) -> Floats:
    """Return uncorrelated random effects with the spread of the group means of what the fixed effects leave."""
    outcome, (n, p) = model.outcome, model.fixed.shape
    sigma = float(np.sqrt(np.sum(outcome**2) / max(n - p, 1)))
    factors = []
    for bracket in model.brackets:
        index = bracket.grouping.index
        means = np.bincount(index, outcome, bracket.n_levels) / np.bincount(index, minlength=bracket.n_levels)
        relative = float(np.std(means, ddof=1)) / sigma if sigma > 0 else 0.5
        factors.append(min(max(relative, 0.2), 3.0) * np.eye(bracket.n_terms))
    return theta_of(factors, model.brackets)


def _starting_points(model: Model, starts: int, seed: int) -> Iterator[Floats]:
    diagonal = is_diagonal(model.brackets)
    random = np.random.default_rng(seed)
    for number in range(starts):
        if number == 0:
            yield _spread(model)
        elif number == 1:
            yield diagonal.astype(np.float64)
        else:
            spread = np.exp(random.normal(-0.5, 1.0, diagonal.size))
            yield np.where(diagonal, spread, random.normal(0.0, 0.5, diagonal.size))


def _fit_all(model: Model, points: Iterator[Floats], *, every_start: bool) -> tuple[list[Fitted], list[str]]:
    fits: list[Fitted] = []
    failures = []
    for number, start in enumerate(points, 1):
        try:
            fits.append(model.fit(start))
        except _NO_FIT as error:
            failures.append(f"start {number} gave no valid fit: {error}")
        if not every_start and _have_met(model, fits):
            break
    if not fits:
        raise StatisticError("the model could not be fitted from any start", why="; ".join(failures))
    return fits, failures


def _have_met(model: Model, fits: Sequence[Fitted]) -> bool:
    """Whether the two best stops are one optimum: stationary, and inside the edge, where slopes say all there is."""
    best = sorted(fits, key=lambda fit: fit.deviance)[:2]
    return (
        len(best) == 2
        and best[1].deviance - best[0].deviance <= 2 * SAME_OPTIMUM
        and all(_is_stationary(fit) and not _at_edge(fit.theta, model.brackets).any() for fit in best)
    )


def _least_sigma(model: Model, fits: Sequence[Fitted]) -> float:
    """Return the residual SD that is left where random effects are as free as fixed ones; infinity if not needed.

    A fit's own residual SD does not tell: if no residual is left, the deviance is the logarithm of a rounding error,
    and the descent towards ever larger variances stops anywhere.
    """
    from scipy import sparse
    from scipy.sparse.linalg import lsmr

    if all(np.max(np.abs(fit.theta), initial=0.0) < _UNBOUNDED for fit in fits):
        return float("inf")
    columns = sparse.hstack([sparse.csr_matrix(model.fixed), _random_columns(model.brackets)], format="csr")
    # as many columns as rows fit any outcome, and the likelihood may still have a maximum
    if columns.shape[1] >= columns.shape[0]:
        return float("inf")
    rest = model.outcome - columns @ lsmr(columns, model.outcome, atol=1e-10, btol=1e-10)[0]
    return float(np.sqrt(np.mean(rest**2)))


def _random_columns(brackets: Sequence[RandomBracket]) -> Any:
    """Return a column for every random effect of every level, as a sparse matrix. *Shape:* (rows, effects)."""
    from scipy import sparse

    parts = []
    for bracket in brackets:
        n, width = bracket.values.shape
        rows = np.repeat(np.arange(n), width)
        columns = (bracket.grouping.index[:, None] * width + np.arange(width)).ravel()
        shape = (n, bracket.n_levels * width)
        parts.append(sparse.csc_matrix((bracket.values.ravel(), (rows, columns)), shape=shape))
    return sparse.hstack(parts, format="csc")


def _refuse_exact(outcome: Floats, sigma: float) -> None:
    """Refuse data without residuals: the likelihood then grows without bound and no optimum means anything."""
    if sigma <= 1e-6 * float(np.std(outcome)):
        raise StatisticError(
            "the model fits every row exactly: its likelihood has no maximum",
            why="no residual is left, as where all raters agree on every item",
        )


def _leave_saddles(model: Model, fits: list[Fitted]) -> list[Fitted]:
    """Refit from inside the edge where a stop has a zero variance: the best stop, and every stop that is worse.

    At a variance of zero the gradient vanishes by symmetry, so an optimiser can rest there although a positive variance
    fits better. A stop as good as the best needs no second look.
    """
    best = min(fits, key=lambda fit: fit.deviance)
    return [
        _from_inside(model, fit) if fit is best or fit.deviance > best.deviance + 2 * SAME_OPTIMUM else fit
        for fit in fits
    ]


def _from_inside(model: Model, fit: Fitted) -> Fitted:
    edge = _at_edge(fit.theta, model.brackets)
    if not edge.any():
        return fit
    try:
        again = model.fit(np.where(edge, 0.2, fit.theta))
    except _NO_FIT:
        return fit  # the stop itself was a valid fit and stays
    return again if again.deviance < fit.deviance else fit


def _at_edge(theta: Floats, brackets: Sequence[RandomBracket]) -> NDArray[np.bool_]:
    return np.asarray(is_diagonal(brackets) & (np.abs(theta) < SINGULAR))


def _is_stationary(fit: Fitted) -> bool:
    small = fit.gradient_norm is not None and fit.gradient_norm < _STATIONARY
    return bool(fit.converged or small)


def _continue_without_gradients(model: Model, best: Fitted) -> tuple[Fitted, bool]:
    try:
        again = model.fit(best.theta, gradients=False)
    except _NO_FIT:
        return best, False  # where even this fails, the first stop stays, marked as not converged
    better = again if again.deviance <= best.deviance else best
    return better, bool(again.converged and abs(again.deviance - best.deviance) < 2 * _UNCHANGED)


def from_compared(optimum: Optimum, other: Optimum) -> Optimum:
    """Start *optimum*'s model once more where *other*, the optimum of a nested model, ended; keep the better.

    Without this, one of two compared models may rest at a poorer optimum that the other shows to be one: the full model
    then fits worse than the reduced, or χ² is too large. A better optimum counts as one more start; otherwise
    *optimum* is returned as it was.
    """
    model = optimum.model
    if model is None or other.model is None:
        return optimum
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _from_inside(model, model.fit(start_at(other, model)))
        except _NO_FIT:
            return optimum  # the start only adds to those that gave a valid fit
        if result.deviance > optimum._known.deviance - 2 * SAME_OPTIMUM:
            return optimum
        stop = Stop(model.log_likelihood(result), _is_stationary(result))
        converged = stop.converged
        if not converged:
            result, converged = _continue_without_gradients(model, result)
    remarks = dict.fromkeys([*optimum.remarks, *(str(warning.message) for warning in caught), _FROM_COMPARED])
    return replace(optimum, result=result, stops=(*optimum.stops, stop), converged=converged, remarks=tuple(remarks))


def start_at(source: Optimum, target: Model) -> Floats:
    """Return the point of *target* that has the random effects of *source*; effects that it does not have are zero."""
    brackets = source.random_factors
    rows: dict[str, dict[str, Floats]] = {}
    width = sum(bracket.n_terms for bracket, _ in brackets)
    start = 0
    for bracket, factor in brackets:
        # Brackets do not correlate with each other: each has columns of its own.
        wide = np.zeros((bracket.n_terms, width))
        wide[:, start : start + bracket.n_terms] = factor / source.residual_sd
        rows.setdefault(bracket.group, {}).update(zip(bracket.terms, wide, strict=True))
        start += bracket.n_terms
    factors = []
    for bracket, block in zip(target.brackets, target.basis.blocks, strict=True):
        known = rows.get(bracket.group, {})
        given = np.array([known.get(term, np.zeros(width)) for term in bracket.terms])
        fitted = np.linalg.solve(block, given)
        if bracket.correlated:
            # at least as many columns as rows, so that the triangle is square
            padded = np.hstack([fitted, np.zeros((bracket.n_terms, bracket.n_terms))])
            triangle = np.asarray(np.linalg.qr(padded.T, mode="r")).T
            factors.append(triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0))
        else:
            factors.append(np.diag(np.linalg.norm(fitted, axis=1)))
    return theta_of(factors, target.brackets)


def degrees_of_freedom(optimum: Optimum) -> tuple[Floats | None, str]:
    """Return Satterthwaite's degrees of freedom of every fixed effect, or None and the reason.

    *Shape:* (fixed effects,). *Source:* Satterthwaite (1946), as in the R package lmerTest.
    """
    if not optimum.converged:
        return None, "the fit did not converge"
    try:
        values = _satterthwaite(optimum)
    except (ValueError, RuntimeError, np.linalg.LinAlgError) as error:
        return None, f"not computable: {error}"
    if not np.all(np.isfinite(values)):
        return None, "not finite at this optimum"
    return values, ""


def _satterthwaite(optimum: Optimum) -> Floats:
    """Return 2 v² / var(v) of the variance v of each coefficient, which depends on theta and on the residual variance.

    Degrees of freedom belong to a coefficient as given, so its variance is taken from the fitted basis for every theta.
    """
    model, theta = optimum._model, optimum._known.theta
    rows, deviance = model.basis.rows, model.deviance

    def log_variances(point: Floats) -> Floats:
        return np.asarray(np.log(np.einsum("ij,jk,ik->i", rows, deviance.fixed_covariance(point), rows)))

    def slopes(point: Floats) -> Floats:
        return deviance(point)[1]

    hessian = _differences(slopes, theta, 1e-4)
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    # a direction in which the likelihood is flat has no variance that could be told
    curved = values > max(float(np.max(np.abs(values))), 1.0) * 1e-8
    spread = vectors[:, curved] * np.sqrt(2 / values[curved])
    changes = _differences(log_variances, theta, 1e-5).T @ spread
    # The variance of a residual variance by maximum likelihood is 2 σ⁴ / n, by REML 2 σ⁴ / (n - p), as in lmerTest.
    residual = model.basis.n - (len(rows) if model.reml else 0)
    return np.asarray(2 / (np.sum(changes**2, axis=1) + 2 / residual))


def _differences(function: Callable[[Floats], Floats], point: Floats, step: float) -> Floats:
    """Return the derivatives of a function by central differences. *Shape:* (point, values)."""
    steps = step * np.maximum(1.0, np.abs(point))
    return np.array(
        [
            (function(point + move) - function(point - move)) / (2 * size)
            for move, size in zip(np.diag(steps), steps, strict=True)
        ]
    )


# -- scale the columns of a mixed model before it is fitted, and scale its estimates back ---------------------------
# The likelihood of a mixed model does not depend on the unit of a column, but an optimiser does: its starting points,
# steps and tolerances are numbers, and so is the bound below which a standard deviation is zero. Each model is
# therefore fitted in a basis of its own in which every column has mean square 1:
#
# - fixed effects: orthogonal columns that span the same space;
# - random effects that correlate: orthogonal columns within the bracket, each free of the earlier ones, so that neither
#   the unit nor the zero point of a predictor matters;
# - random effects that do not correlate: each column divided by its root mean square, because a shift would be another
#   model there;
# - the outcome: what the fixed effects leave by least squares, divided by its root mean square.


# Share of a column (mean square 1) that the earlier columns must leave: less is hardly more than rounding.
# A year, a price or a time stamp beside the intercept leaves 1e-3 to 1e-10 of itself.
_INDEPENDENT = 1e-12


@dataclass(frozen=True, slots=True)
class Basis:
    """The linear map between the columns that were given and those that are fitted.

    ``fixed``: fitted columns = given columns @ ``fixed``; ``blocks`` is the same for each bracket of random effects.
    The outcome is *given fixed columns* @ ``offset`` + ``scale`` × *fitted outcome*.

    *Shape:* ``fixed`` (fixed effects, fixed effects); ``offset`` (fixed effects,); a block (terms, terms), upper
    triangular. *Unit:* ``scale`` in units of the outcome.
    """

    fixed: Floats
    sizes: Floats
    blocks: tuple[Floats, ...]
    offset: Floats
    scale: float
    n: int

    def log_likelihood(self, fitted: float, *, reml: bool) -> float:
        """Return the log-likelihood of the given outcome from that of the fitted outcome. *Unit:* nats.

        The density of n values in other units is divided by the unit n times; REML integrates the fixed effects out, in
        the units of their columns.
        """
        if not reml:
            return float(fitted - self.n * np.log(self.scale))
        log_volume = np.linalg.slogdet(self.fixed)[1] if self.fixed.size else 0.0
        return float(fitted - (self.n - self.offset.size) * np.log(self.scale) + log_volume)

    @property
    def rows(self) -> Floats:
        """The fixed effects as given, each up to its size, in the fitted ones. *Shape:* (effects, effects)."""
        # Divided by the largest entry of a row: the square of 1e-200 is zero.
        return np.asarray(self.fixed / self._largest[:, None])

    @property
    def _largest(self) -> Floats:
        return np.asarray(np.max(np.abs(self.fixed), axis=1, initial=0.0))

    def coefficients(self, beta: Floats) -> Floats:
        """Return the fixed effects in given units. *Shape:* (fixed effects,)."""
        return np.asarray(self.offset + self.scale * (self.fixed @ beta))

    def standard_errors(self, covariance: Floats) -> Floats:
        """Return the standard errors of the fixed effects in given units. *Shape:* (fixed effects,)."""
        variances = np.einsum("ij,jk,ik->i", self.rows, covariance, self.rows)
        return np.asarray(self.scale * self._largest * np.sqrt(np.maximum(variances, 0.0)))

    def random_factor(self, block: int, factor: Floats) -> Floats:
        """Return F with F Fᵀ the covariance of a bracket in given units, from the fitted factor.

        *Shape:* (terms, terms).
        """
        return np.asarray(self.scale * (self.blocks[block] @ factor))


def fitted_basis(outcome: Floats, fixed: Floats, brackets: Sequence[Floats], correlated: Sequence[bool]) -> Basis:
    """Choose the basis of a model from its columns; the fixed effects must be linearly independent.

    *Shape:* ``outcome`` (rows,); ``fixed`` (rows, fixed effects); each of ``brackets`` (rows, terms).
    """
    sizes = column_sizes(fixed)
    n = outcome.size
    columns, change = _orthogonal(fixed / sizes)
    largest = float(np.max(np.abs(outcome))) or 1.0
    rest = outcome / largest
    explained = np.zeros(fixed.shape[1])
    for _ in range(2):  # the second pass takes away what rounding left of a large mean
        part = columns.T @ rest / n
        rest, explained = rest - columns @ part, explained + part
    scale = float(np.sqrt(np.mean(rest**2))) or 1.0
    change = change / sizes[:, None]
    return Basis(
        fixed=change,
        sizes=sizes,
        blocks=tuple(_block(bracket, free=free) for bracket, free in zip(brackets, correlated, strict=True)),
        offset=largest * (change @ explained),
        scale=largest * scale,
        n=n,
    )


def column_sizes(columns: Floats) -> Floats:
    """Return the root mean square of each column, 1 for a column of zeros. *Shape:* (columns,)."""
    if not columns.size:
        return np.ones(columns.shape[1])
    # Divided by the largest first: the square of 1e200 is no number.
    largest = np.max(np.abs(columns), axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.mean((columns / largest) ** 2, axis=0)))


def n_independent(columns: Floats) -> int:
    """Return how many columns do not depend on the earlier ones, with any units."""
    if not columns.size:
        return 0
    r = np.linalg.qr(columns / column_sizes(columns), mode="r") / np.sqrt(len(columns))
    return int(np.sum(np.abs(np.diag(r)) >= _INDEPENDENT))


def _block(columns: Floats, *, free: bool) -> Floats:
    sizes = column_sizes(columns)
    if free and columns.shape[1] > 1:
        _, change = _orthogonal(columns / sizes)
        # Terms that depend on each other have no orthogonal basis; their units still do not matter.
        if np.all(np.isfinite(change)):
            return np.asarray(change / sizes[:, None])
    return np.diag(1.0 / sizes)


def _orthogonal(columns: Floats) -> tuple[Floats, Floats]:
    """Return orthogonal columns of mean square 1, and the upper triangular change that makes them of *columns*.

    The change is infinite where a column depends on the earlier ones.
    """
    n, size = columns.shape
    if size == 0:
        return columns, np.zeros((0, 0))
    q, r = np.linalg.qr(columns)
    sign = np.where(np.diag(r) < 0, -1.0, 1.0)
    q, r = q * sign * np.sqrt(n), r * sign[:, None] / np.sqrt(n)
    if not np.all(np.diag(r) >= _INDEPENDENT):
        return q, np.full((size, size), np.inf)
    return q, np.linalg.solve(r, np.eye(size))
