"""Maximise the likelihood of a mixed model from several starts.

The only module that talks to the package ``mixedlm``. The columns are fitted in the basis of :mod:`mixed_basis`, so no
number here has a unit. A reduced model that keeps the random slope of a dropped effect often has several optima (the
slope's variance takes the effect over), so one start is not enough, and what every start reached is kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.data import ModelData
from lexiscope.analysis.mixed.formula import MixedFormula
from lexiscope.core.errors import InputError, StatisticError

SAME_OPTIMUM = 0.01
"""Two starts reached the same optimum where their log-likelihoods differ by no more than this.

*Unit:* nats.
"""

SINGULAR = 1e-4
"""A relative standard deviation below this makes a fit singular, as in lme4's ``isSingular``."""

_STATIONARY = 1e-2  # gradient of the deviance; a stop below it is a stationary point whatever the line search says
_CONDITIONED = 100.0  # condition of the columns as given up to which degrees of freedom lose no digit that is printed
_UNCHANGED = 1e-3  # log-likelihood that a second optimiser may still gain at a converged optimum


_FROM_COMPARED = "the best optimum was reached only from the optimum of the model that it is compared with"

# what the library raises where a start leads nowhere: ValueError stands for a NaN among its own starting values
_NO_FIT = (RuntimeError, ValueError, np.linalg.LinAlgError)


@dataclass(frozen=True, slots=True)
class Stop:
    """Where one start ended: its log-likelihood, and whether the optimiser ended at a stationary point."""

    log_likelihood: float
    converged: bool


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best optimum that the starts reached, what each start reached, and the library's warnings on the way."""

    result: Any
    stops: tuple[Stop, ...]
    converged: bool
    remarks: tuple[str, ...]
    model: Any = None
    basis: Basis | None = None

    @property
    def singular(self) -> bool:
        """Whether a variance is zero or a correlation plus or minus one, by lme4's rule, in the fitted basis."""
        return bool(_at_edge(self.result).any())

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the best optimum, in the units of the data. *Unit:* nats."""
        return _log_likelihood(self.result, self._known_basis)

    @property
    def coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The fixed effects and their standard errors in the units of the data. *Shape:* (fixed effects,) each."""
        basis = self._known_basis
        beta = np.asarray(self.result.beta, dtype=np.float64)
        return basis.coefficients(beta), basis.standard_errors(np.asarray(self.result.vcov(), dtype=np.float64))

    @property
    def residual_sd(self) -> float:
        """The residual standard deviation, in units of the response."""
        return float(self._known_basis.scale * self.result.sigma)

    @property
    def residuals(self) -> NDArray[np.float64]:
        """The response less the fitted value of every row, random effects included. *Shape:* (rows,)."""
        return np.asarray(self._known_basis.scale * np.asarray(self.result.residuals(), dtype=np.float64))

    @property
    def random_factors(self) -> tuple[tuple[Any, NDArray[np.float64]], ...]:
        """Each bracket with F, where F Fᵀ is the covariance of its terms in the units of the data.

        *Shape:* F is (terms, terms). A bracket knows its ``grouping_factor``, ``term_names`` and ``correlated``.
        """
        structures = self.result.matrices.random_structures
        factors = _factors(np.asarray(self.result.theta, dtype=np.float64), structures)
        sigma = float(self.result.sigma)
        return tuple(
            (structure, self._known_basis.random_factor(i, sigma * factor))
            for i, (structure, factor) in enumerate(zip(structures, factors, strict=True))
        )

    @property
    def _known_basis(self) -> Basis:
        if self.basis is None:
            raise StatisticError("this optimum was made without a basis, so it has no units")
        return self.basis

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


def maximise(formula: MixedFormula, data: ModelData, *, reml: bool, starts: int, seed: int) -> Optimum:
    """Fit ``formula`` from ``starts`` starting points and keep the best.

    The first start is the library's own (from the spread of group means), the second lme4's (relative standard
    deviations of one, no correlations), the others random under ``seed``. Where the best stop is not a stationary
    point, a second optimiser without gradients continues from it.

    Errors: :class:`InputError` for fewer than one start; :class:`StatisticError` where the fixed effects are not
    linearly independent, or where no start gave a valid fit.
    """
    if starts < 1:
        raise InputError(f"{starts} starts: at least one is needed")
    model = _model(formula, data, reml=reml)
    _check_rank(model.matrices)
    _refuse_exact(model.matrices, None)
    basis = _rebase(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fits, failures = _fit_all(model, _starting_points(model.matrices.random_structures, starts, seed))
        fits = _leave_saddles(model, fits)
        best = max(fits, key=lambda fit: -fit.deviance)
        _refuse_exact(model.matrices, float(best.sigma))
        stops = tuple(Stop(_log_likelihood(fit, basis), _is_stationary(fit)) for fit in fits)
        converged = _is_stationary(best)
        if not converged:
            best, converged = _continue_without_gradients(model, best)
    said = [str(warning.message) for warning in caught]
    return Optimum(best, stops, converged, tuple(dict.fromkeys(failures + said)), model, basis)


def _model(formula: MixedFormula, data: ModelData, *, reml: bool) -> Any:
    from mixedlm import LmerMod

    return LmerMod(str(formula), _frame(formula, data), REML=reml, na_action="fail", control=_control("L-BFGS-B"))


def _frame(formula: MixedFormula, data: ModelData) -> Any:
    import pandas

    wide = {coding.column: coding.levels for coding in data.codings if len(coding.levels) > 2}
    columns: dict[str, Any] = dict(data.columns)
    for name, levels in wide.items():
        labels = np.array(levels, dtype=object)[np.asarray(columns[name]).astype(np.intp)]
        columns[name] = pandas.Categorical(labels, categories=list(levels))
    return pandas.DataFrame({name: columns[name] for name in formula.columns})


def _control(optimizer: str) -> Any:
    from mixedlm import lmerControl

    # Checks are ours (mixed_data, Optimum): the library's print or warn, where a result must carry the finding.
    return lmerControl(
        optimizer=optimizer,
        use_analytic_gradient=optimizer == "L-BFGS-B",
        ftol=1e-15,
        gtol=1e-4,
        check_conv=False,
        check_singular=False,
        check_nlev_gtreq_5="ignore",
        check_rankX="ignore",
        check_scaleX="ignore",
    )


def _rebase(model: Any) -> Basis:
    """Put the model's columns into the basis in which it is fitted, and return that basis."""
    given = model.matrices
    outcome, fixed = np.asarray(given.y, dtype=np.float64), np.asarray(given.X, dtype=np.float64)
    structures = given.random_structures
    basis = fitted_basis(
        outcome, fixed, random_columns(given.Z, structures), [structure.correlated for structure in structures]
    )
    model.matrices = replace(
        given,
        y=(outcome - fixed @ basis.offset) / basis.scale,
        X=np.ascontiguousarray(fixed @ basis.fixed),
        Z=rebased_random_columns(given.Z, structures, basis.blocks),
    )
    return basis


def _log_likelihood(fit: Any, basis: Basis) -> float:
    return basis.log_likelihood(-float(fit.deviance) / 2, reml=bool(fit.REML))


def _check_rank(matrices: Any) -> None:
    # The bound of the basis in which the model is fitted: what passes here has one.
    rank = n_independent(np.asarray(matrices.X, dtype=np.float64))
    if rank < matrices.X.shape[1]:
        raise StatisticError(
            f"the {matrices.X.shape[1]} fixed effects have rank {rank}: {', '.join(matrices.fixed_names)}",
            why="at least one is, to twelve digits, a sum of multiples of the others, so their coefficients are not "
            "determined",
            hint="remove the redundant predictor from the formula",
        )


def _diagonal(structures: Any) -> NDArray[np.bool_]:
    """Return which entries of theta are relative standard deviations (the others are off-diagonal)."""
    flags: list[bool] = []
    for part in structures:
        size = part.n_terms
        triangle = [i == j for i in range(size) for j in range(i + 1)]
        flags += triangle if part.correlated else [True] * size
    return np.array(flags, dtype=bool)


def _factors(theta: NDArray[np.float64], structures: Any) -> list[NDArray[np.float64]]:
    """Return the lower triangular factor of each bracket's relative covariance. *Shape:* (terms, terms) each."""
    factors, start = [], 0
    for part in structures:
        size = part.n_terms
        rows, columns = np.tril_indices(size) if part.correlated else (np.arange(size), np.arange(size))
        factor = np.zeros((size, size))
        factor[rows, columns] = theta[start : start + rows.size]
        factors.append(factor)
        start += rows.size
    return factors


def _starting_points(structures: Any, starts: int, seed: int) -> Iterator[NDArray[np.float64] | None]:
    diagonal = _diagonal(structures)
    random = np.random.default_rng(seed)
    for number in range(starts):
        if number == 0:
            yield None
        elif number == 1:
            yield diagonal.astype(np.float64)
        else:
            spread = np.exp(random.normal(-0.5, 1.0, diagonal.size))
            yield np.where(diagonal, spread, random.normal(0.0, 0.5, diagonal.size))


def _fit_all(model: Any, points: Iterator[NDArray[np.float64] | None]) -> tuple[list[Any], list[str]]:
    fits, failures = [], []
    for number, start in enumerate(points, 1):
        try:
            fits.append(model.fit(start=start))
        except _NO_FIT as error:
            failures.append(f"start {number} gave no valid fit: {error}")
    if not fits:
        raise StatisticError("the model could not be fitted from any start", why="; ".join(failures))
    return fits, failures


def _refuse_exact(matrices: Any, sigma: float | None) -> None:
    """Refuse data without residuals: the likelihood then grows without bound and no optimum means anything.

    *sigma* is the residual SD of a fit; before there is one, what the fixed effects alone leave over is looked at.
    """
    outcome, design = np.asarray(matrices.y, dtype=np.float64), np.asarray(matrices.X, dtype=np.float64)
    if sigma is None:
        rest = outcome - design @ np.linalg.lstsq(design, outcome, rcond=None)[0]
        sigma = float(np.sqrt(np.mean(rest**2)))
    if sigma <= 1e-6 * float(np.std(outcome)):
        raise StatisticError(
            "the model fits every row exactly: its likelihood has no maximum",
            why="no residual is left, as where all raters agree on every item",
        )


def _leave_saddles(model: Any, fits: list[Any]) -> list[Any]:
    """Refit from inside the edge where a stop has a zero variance: the best stop, and every stop that is worse.

    At a variance of zero the gradient vanishes by symmetry, so an optimiser can rest there although a positive variance
    fits better. A stop as good as the best needs no second look.
    """
    best = min(fits, key=lambda fit: fit.deviance)
    return [
        _from_inside(model, fit) if fit is best or fit.deviance > best.deviance + 2 * SAME_OPTIMUM else fit
        for fit in fits
    ]


def _from_inside(model: Any, fit: Any) -> Any:
    edge = _at_edge(fit)
    if not edge.any():
        return fit
    try:
        again = model.fit(start=np.where(edge, 0.2, fit.theta))
    except _NO_FIT:
        return fit  # the stop itself was a valid fit and stays
    return again if again.deviance < fit.deviance else fit


def _at_edge(fit: Any) -> NDArray[np.bool_]:
    theta = np.asarray(fit.theta)
    return np.asarray(_diagonal(fit.matrices.random_structures) & (np.abs(theta) < SINGULAR))


def _is_stationary(fit: Any) -> bool:
    small = fit.gradient_norm is not None and fit.gradient_norm < _STATIONARY
    return bool(fit.converged or small)


def _continue_without_gradients(model: Any, best: Any) -> tuple[Any, bool]:
    model.control = _control("COBYQA")
    try:
        again = model.fit(start=best.theta)
    except _NO_FIT:
        return best, False  # where even this fails, the first stop stays, marked as not converged
    finally:
        model.control = _control("L-BFGS-B")
    better = again if again.deviance <= best.deviance else best
    return better, bool(again.converged and abs(again.deviance - best.deviance) < 2 * _UNCHANGED)


def from_compared(optimum: Optimum, other: Optimum) -> Optimum:
    """Start *optimum*'s model once more where *other*, the optimum of a nested model, ended; keep the better.

    Without this, one of two compared models may rest at a poorer optimum that the other shows to be one: the full model
    then fits worse than the reduced, or χ² is too large. A better optimum counts as one more start; otherwise
    *optimum* is returned as it was.
    """
    if optimum.model is None or other.model is None:
        return optimum
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _from_inside(optimum.model, optimum.model.fit(start=_start_at(other, optimum)))
        except _NO_FIT:
            return optimum  # the start only adds to those that gave a valid fit
        if result.deviance > optimum.result.deviance - 2 * SAME_OPTIMUM:
            return optimum
        stop = Stop(_log_likelihood(result, optimum._known_basis), _is_stationary(result))
        converged = stop.converged
        if not converged:
            result, converged = _continue_without_gradients(optimum.model, result)
    remarks = dict.fromkeys([*optimum.remarks, *(str(warning.message) for warning in caught), _FROM_COMPARED])
    return replace(optimum, result=result, stops=(*optimum.stops, stop), converged=converged, remarks=tuple(remarks))


def _start_at(source: Optimum, target: Optimum) -> NDArray[np.float64]:
    """Return the point of *target*'s model that has the random effects of *source*; effects that it lacks are zero."""
    rows: dict[str, dict[str, NDArray[np.float64]]] = {}
    width = source.result.theta.size
    for number, (bracket, factor) in enumerate(source.random_factors):
        wide = np.zeros((bracket.n_terms, width * len(source._known_basis.blocks)))
        # Brackets do not correlate with each other: each has columns of its own.
        wide[:, number * width : number * width + bracket.n_terms] = factor / source.residual_sd
        rows.setdefault(bracket.grouping_factor, {}).update(zip(bracket.term_names, wide, strict=True))
    start: list[NDArray[np.float64]] = []
    empty = np.zeros(width * len(source._known_basis.blocks))
    for bracket, block in zip(target.result.matrices.random_structures, target._known_basis.blocks, strict=True):
        known = rows.get(bracket.grouping_factor, {})
        given = np.array([known.get(term, empty) for term in bracket.term_names])
        fitted = np.linalg.solve(block, given)
        if bracket.correlated:
            triangle = np.asarray(np.linalg.qr(fitted.T, mode="r")).T
            triangle = triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0)
            start.append(triangle[np.tril_indices(bracket.n_terms)])
        else:
            start.append(np.linalg.norm(fitted, axis=1))
    return np.concatenate(start)


def degrees_of_freedom(optimum: Optimum) -> tuple[NDArray[np.float64] | None, str]:
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


def _satterthwaite(optimum: Optimum) -> NDArray[np.float64]:
    from mixedlm import satterthwaite_df

    result, basis = optimum.result, optimum._known_basis
    if not basis.fixed.size:
        return np.asarray(satterthwaite_df(result).df, dtype=np.float64)
    # the fixed effects as given, up to their sizes: degrees of freedom belong to a coefficient
    change: NDArray[np.float64] = np.asarray(basis.sizes[:, None] * basis.fixed, dtype=np.float64)
    if np.linalg.cond(change) <= _CONDITIONED:
        back = np.asarray(np.linalg.inv(change), dtype=np.float64)
        return np.asarray(satterthwaite_df(_turn_result(result, back, change)).df, dtype=np.float64)
    # One at a time, each as the first of orthogonal columns: rounding in columns as given (a year beside the intercept)
    # would decide on the result.
    degrees = []
    for row in change:
        turn = np.asarray(np.linalg.qr((row / np.max(np.abs(row)))[:, None], mode="complete")[0], dtype=np.float64)
        degrees.append(float(satterthwaite_df(_turn_result(result, turn, turn.T)).df[0]))
    return np.array(degrees)


def _turn_result(result: Any, columns: NDArray[np.float64], coefficients: NDArray[np.float64]) -> Any:
    """Return the fit with its fixed effects in other columns of the same span."""
    turned = np.ascontiguousarray(np.asarray(result.matrices.X) @ columns)
    beta = coefficients @ np.asarray(result.beta)
    return replace(result, matrices=replace(result.matrices, X=turned), beta=beta)


def effect_name(name: str, data: ModelData) -> str:
    """Return the printed name of an effect: ``cue.2`` of a text predictor becomes ``cue[its third level]``."""
    wide = {
        f"{coding.column}.{i}": f"{coding.column}[{level}]"
        for coding in data.codings
        if len(coding.levels) > 2
        for i, level in enumerate(coding.levels)
    }
    return ":".join(wide.get(part, part) for part in name.split(":"))


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


Floats = NDArray[np.float64]
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

    def coefficients(self, beta: Floats) -> Floats:
        """Return the fixed effects in given units. *Shape:* (fixed effects,)."""
        return np.asarray(self.offset + self.scale * (self.fixed @ beta))

    def standard_errors(self, covariance: Floats) -> Floats:
        """Return the standard errors of the fixed effects in given units. *Shape:* (fixed effects,)."""
        # Divided by the largest entry of a row first: the square of 1e-200 is zero.
        largest = np.max(np.abs(self.fixed), axis=1, initial=0.0)
        rows = self.fixed / largest[:, None]
        variances = np.einsum("ij,jk,ik->i", rows, covariance, rows)
        return np.asarray(self.scale * largest * np.sqrt(np.maximum(variances, 0.0)))

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
    """Return how many columns do not depend on the earlier ones, whatever their units."""
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


def rebased_random_columns(matrix: Any, structures: Sequence[Any], blocks: Sequence[Floats]) -> Any:
    """Return the sparse design of the random effects in the fitted basis.

    *Shape:* as ``matrix``: (rows, levels × terms of every bracket), the terms of one level next to each other.
    """
    from scipy import sparse

    parts, start = [], 0
    for structure, block in zip(structures, blocks, strict=True):
        width = structure.n_levels * structure.n_terms
        change = sparse.kron(sparse.eye(structure.n_levels, format="csc"), sparse.csc_matrix(block), format="csc")
        parts.append(matrix[:, start : start + width] @ change)
        start += width
    rebased = sparse.hstack(parts, format="csc")
    rebased.sort_indices()
    return rebased


def random_columns(matrix: Any, structures: Sequence[Any]) -> list[Floats]:
    """Return the terms of each bracket row by row, whatever their level. *Shape:* (rows, terms) each."""
    parts, start = [], 0
    for structure in structures:
        stop = start + structure.n_levels * structure.n_terms
        terms = [matrix[:, start + term : stop : structure.n_terms].sum(axis=1) for term in range(structure.n_terms)]
        parts.append(np.column_stack([np.asarray(term, dtype=np.float64).reshape(-1) for term in terms]))
        start = stop
    return parts
