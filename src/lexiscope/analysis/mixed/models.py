"""Crossed linear mixed models: fits, likelihood-ratio tests, and the reduction of a maximal random-effects structure.

A result always carries its random-effects formula: with SAW-C's data the same test gives χ²(1) = 325.21 or 37.07,
depending only on the random slopes that are kept. Singular fits, several optima and missing convergence are reported
as remarks, never hidden and never an error.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np

from lexiscope.analysis.mixed.data import Column, ModelData, prepare
from lexiscope.analysis.mixed.fit import MixedFit, as_fit, better_of_compared
from lexiscope.analysis.mixed.formula import MixedFormula, RandomPart, read_formula
from lexiscope.analysis.mixed.optimum import SAME_OPTIMUM, maximise
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name

K = TypeVar("K", bound=Hashable)

_EXCHANGES = 3  # times that two compared models may pass their optima to each other; the second seldom finds more


@dataclass(frozen=True, slots=True, eq=False)
class NestedModels:
    """Two nested models of the same rows, by their formulas, and the columns that these name."""

    full: str
    reduced: str
    data: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """A likelihood-ratio test of two nested models, with the random-effects formula that it depends on.

    ``p`` is the upper tail of χ² with ``df`` degrees of freedom, unrounded; for one degree of freedom that is the
    two-tailed p of the coefficient. *Higher means:* a larger ``chi2`` is stronger evidence for the full model.
    """

    chi2: float
    df: int
    p: float
    random_effects: str
    full: MixedFit
    reduced: MixedFit
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        # The tail of χ² is below the smallest float beyond about 1480; "p = 0" would be false.
        p = f"p = {self.p:.4g}" if self.p > 0 else "p < 1e-300"
        return f"χ²({self.df}) = {self.chi2:.3f}, {p}; random effects: {self.random_effects}"

    def results(self, test: str) -> tuple[Estimate, ...]:
        """Return the numbers of the test, under its name *test*: χ² with p, then those of both models."""
        note = "; ".join([f"random effects: {self.random_effects}", *self.remarks])
        name = statistic_name("chi2", test=test, df=self.df)
        chi2 = Estimate(name, self.chi2, n=self.full.n_observations, p=self.p, note=note)
        return (
            chi2,
            *self.full.results(test=test, model="full"),
            *self.reduced.results(test=test, model="reduced"),
        )


def fit(
    formula: str,
    data: Mapping[str, Column],
    *,
    reml: bool = False,
    starts: int = 5,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
    satterthwaite: bool = True,
    every_start: bool = False,
) -> MixedFit:
    """Fit a crossed linear mixed model by maximum likelihood (or REML).

    ``formula`` is in the notation of lme4; ``data`` maps column names to arrays of one length. Text predictors are
    treatment-coded with the level in ``references`` (otherwise the first by code point) as 0; grouping columns are
    labels, with any type. Predictors are scaled for the optimiser only: estimates are in the units of the data; χ², p
    and the flags of a fit do not depend on these units. Starts end early where two of them meet at an optimum that is
    the only one to be expected, unless ``every_start``. ``satterthwaite=False`` leaves the degrees of freedom out.

    *Shape:* every column (rows,). *Source:* SAW-C §3.5, §4.5; agrees with lme4 1.1-31 to 1e-3 in log-likelihood.

    Errors: :class:`InputError` for a formula that does not parse, an unknown column, a missing value;
    :class:`StatisticError` for a constant column, a grouping factor with one level, dependent fixed effects.
    """
    read = read_formula(formula)
    prepared = prepare(read, data, references=references)
    optimum = maximise(read, prepared, reml=reml, starts=starts, seed=seed, every_start=every_start)
    return as_fit(read, prepared, optimum, reml=reml, satterthwaite=satterthwaite)


def likelihood_ratio(
    full_formula: str,
    reduced_formula: str,
    data: Mapping[str, Column],
    *,
    reml: bool = False,
    starts: int = 5,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
    satterthwaite: bool = True,
    every_start: bool = False,
) -> LikelihoodRatio:
    """Fit two nested models to the same rows and test them against each other.

    Both are fitted from at most ``starts`` starting points (see :func:`fit`): the reduced model is the one that tends
    to have several optima, and a poor one of it makes χ² too large. Degrees of freedom are computed for the full model
    only.

    Errors: those of :func:`fit` and :func:`compare`.
    """
    _check_nested(read_formula(full_formula), read_formula(reduced_formula), reml=reml)

    def fitted(formula: str, *, degrees: bool) -> MixedFit:
        return fit(
            formula,
            data,
            reml=reml,
            starts=starts,
            seed=seed,
            references=references,
            satterthwaite=degrees,
            every_start=every_start,
        )

    full, reduced = fitted(full_formula, degrees=satterthwaite), fitted(reduced_formula, degrees=False)
    return compare(full, reduced)


def likelihood_ratios(
    models: Mapping[K, NestedModels],
    *,
    starts: int = 5,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
    every_start: bool = False,
) -> dict[K, LikelihoodRatio | Undefined]:
    """Test several pairs of nested models, by their keys: a model of several pairs on one table is fitted once.

    A full model is fitted from two starting points at most: dropping a fixed effect makes the reduced model have
    several optima, a full model has no effect to absorb. What cannot be fitted is undefined, with the reason.
    """
    fits: dict[tuple[str, int, bool], MixedFit] = {}

    def fitted(formula: str, data: Mapping[str, Column], *, full: bool) -> MixedFit:
        # one formula may be the full model of one test and the reduced of another: they are not fitted alike
        key = (formula, id(data), full)
        if key not in fits:
            tried = min(2, starts) if full else starts
            options = {"satterthwaite": full, "every_start": every_start}
            fits[key] = fit(formula, data, starts=tried, seed=seed, references=references, **options)
        return fits[key]

    def outcome(pair: NestedModels) -> LikelihoodRatio | Undefined:
        try:
            return compare(fitted(pair.full, pair.data, full=True), fitted(pair.reduced, pair.data, full=False))
        except (StatisticError, InputError) as error:
            return Undefined("chi2", error.what)

    return {key: outcome(pair) for key, pair in models.items()}


def compare(full: MixedFit, reduced: MixedFit) -> LikelihoodRatio:
    """Test two fits of the same rows against each other: χ² = 2 (log L_full - log L_reduced).

    Each model is first started once more at the optimum of the other: a better optimum that this finds is kept, with a
    remark.

    Errors: :class:`StatisticError` where the models are not nested, were fitted to different numbers of rows, are REML
    fits with different fixed effects or REML against ML, or where the full model fits worse (a local optimum).
    """
    from scipy import special

    if full.n_observations != reduced.n_observations:
        raise StatisticError(f"the models saw {full.n_observations} and {reduced.n_observations} rows")
    if full.reml != reduced.reml:
        raise StatisticError("one model is fitted by REML and the other by ML: their likelihoods are of different data")
    _check_nested(read_formula(full.formula), read_formula(reduced.formula), reml=full.reml)
    for _ in range(_EXCHANGES):
        before = full, reduced
        reduced = better_of_compared(reduced, full)
        full = better_of_compared(full, reduced)
        if full is before[0] and reduced is before[1]:
            break
    chi2 = _chi2(full, reduced)
    df = full.n_parameters - reduced.n_parameters
    if df < 1:
        raise StatisticError(
            f"both models have {full.n_parameters} parameters: they are the same model, written differently"
        )
    random_effects = (
        full.random_effects
        if full.random_effects == reduced.random_effects
        else f"{full.random_effects} against {reduced.random_effects}"
    )
    # as ``scipy.stats.chi2.sf``, whose import takes a second
    p = float(special.chdtrc(df, chi2))
    return LikelihoodRatio(chi2, df, p, random_effects, full, reduced, _warnings(full, reduced))


def _chi2(full: MixedFit, reduced: MixedFit) -> float:
    chi2 = 2 * (full.log_likelihood - reduced.log_likelihood)
    if chi2 < -2 * SAME_OPTIMUM:
        raise StatisticError(
            f"the full model fits worse ({full.log_likelihood:.4f}) than the reduced ({reduced.log_likelihood:.4f})",
            why="it cannot, so its best start stopped at a local optimum",
            hint="fit again with more starts",
        )
    return max(chi2, 0.0)


def _check_nested(full: MixedFormula, reduced: MixedFormula, *, reml: bool) -> None:
    if not full.contains(reduced) or (reduced.contains(full)):
        raise StatisticError(
            f"the models are not nested: {reduced} is not {full} with effects taken away",
            hint="compare models that are not nested by AIC",
        )
    if reml and full.fixed_text != reduced.fixed_text:
        raise StatisticError(
            "REML likelihoods of models with different fixed effects cannot be compared",
            hint="fit both with reml=False",
        )


def _warnings(full: MixedFit, reduced: MixedFit) -> tuple[str, ...]:
    notes = [
        f"{name} model: {remark}" for name, model in (("full", full), ("reduced", reduced)) for remark in model.remarks
    ]
    if len(reduced.optima) < 5 and not reduced.ended_early:
        starts = len(reduced.optima)
        times = "once" if starts == 1 else f"{starts} times"
        notes.append(f"the reduced model was started {times}; at least 5 starts are advised")
    if full.random_effects != reduced.random_effects:
        notes.append("variances are tested on the boundary of what they can be: p is too large, up to twice")
    return tuple(notes)


# -- reduce a maximal random-effects structure by a stated rule, and log every step ---------------------------------
# Barr et al. (2013) ask for the maximal structure that the design justifies and for a reduction only where it does not
# converge. Which term goes next is usually decided by hand; here it follows :data:`RULE`, so that two people reach the
# same model.


Criterion = Literal["converged", "converged_and_not_singular"]
RULE = (
    "Fit the maximal model. While it fails the criterion: (1) remove all correlations between random effects at once; "
    "(2) then remove the random slope that explains least: variance of the slope times variance of its predictor, the "
    "highest-order interactions first, ties to the later in the formula; (3) when no slope is left, remove the "
    "grouping factor with the smallest intercept variance, and keep the last one."
)
"""The reduction rule, as a report prints it."""


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """One fitted model on the way down: what was removed to get here, why, and how the fit went."""

    formula: str
    random_effects: str
    removed: str
    reason: str
    log_likelihood: float
    n_parameters: int
    converged: bool
    singular: bool


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction from the maximal model: every step in order, and the model where it ended.

    ``satisfied`` is False where even the smallest model fails the criterion; ``fit`` is then that model.
    """

    criterion: Criterion
    rule: str
    steps: tuple[ReductionStep, ...]
    fit: MixedFit
    satisfied: bool

    def results(self, test: str) -> tuple[Estimate, ...]:
        """Return the number of fitted models under the name of the *test*; the note says where it ended."""
        name = statistic_name("reduction_steps", test=test, criterion=self.criterion)
        note = f"{'reached' if self.satisfied else 'never reached'}; ends at {self.fit.random_effects}"
        return (Estimate(name, len(self.steps), note=note),)


def reduce(
    maximal_formula: str,
    data: Mapping[str, Column],
    *,
    criterion: Criterion = "converged",
    reml: bool = False,
    starts: int = 5,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
    every_start: bool = False,
) -> Reduction:
    """Fit the maximal model and reduce its random effects by :data:`RULE` until the criterion holds.

    The slopes' variances are compared in units of the response (each times the variance of its predictor in the data),
    so that measuring a predictor in other units does not change the path.

    *Source:* Barr et al. (2013), as cited in SAW-C §3.5.

    Errors: those of :func:`lexiscope.analysis.mixed.models.fit`; :class:`InputError` for an unknown criterion.
    """
    if criterion not in ("converged", "converged_and_not_singular"):
        raise InputError(f"unknown criterion {criterion!r}", hint="converged or converged_and_not_singular")
    steps: list[ReductionStep] = []
    current, removed, reason = read_formula(maximal_formula), "", "the maximal model"
    while True:
        prepared = prepare(current, data, references=references)
        optimum = maximise(current, prepared, reml=reml, starts=starts, seed=seed, every_start=every_start)
        fitted = as_fit(current, prepared, optimum, reml=reml, satterthwaite=False)
        steps.append(_step(fitted, removed, reason))
        failure = "" if fitted.converged else "did not converge"
        if not failure and fitted.singular and criterion == "converged_and_not_singular":
            failure = "is singular"
        smaller = _smaller(current, fitted, prepared) if failure else None
        if smaller is None:
            # Degrees of freedom are for the model that is kept, not for those on the way.
            final = as_fit(current, prepared, optimum, reml=reml, satterthwaite=True)
            return Reduction(criterion, RULE, tuple(steps), final, not failure)
        (current, removed), reason = smaller, f"the previous model {failure}"


def _step(fitted: MixedFit, removed: str, reason: str) -> ReductionStep:
    return ReductionStep(
        formula=fitted.formula,
        random_effects=fitted.random_effects,
        removed=removed,
        reason=reason,
        log_likelihood=fitted.log_likelihood,
        n_parameters=fitted.n_parameters,
        converged=fitted.converged,
        singular=fitted.singular,
    )


def _smaller(formula: MixedFormula, fitted: MixedFit, data: ModelData) -> tuple[MixedFormula, str] | None:
    """Return the next model by the rule and what it is without, or None if no term may be removed."""
    if any(part.has_correlations for part in formula.random):
        parts = (replace(part, correlated=False) if part.has_correlations else part for part in formula.random)
        return replace(formula, random=tuple(parts)), "all correlations between random effects"
    if any(part.slopes for part in formula.random):
        smaller = _without_least_slope(formula, fitted, data)
        return smaller if smaller[0].random else None
    if len(formula.random) > 1:
        variances = [
            (fitted.component(part.group, "(Intercept)").variance, -i) for i, part in enumerate(formula.random)
        ]
        _, i = min(variances)
        return _replace_part(formula, -i, None), f"the grouping factor {formula.random[-i].group}"
    return None


def _without_least_slope(formula: MixedFormula, fitted: MixedFit, data: ModelData) -> tuple[MixedFormula, str]:
    order = max(slope.count(":") for part in formula.random for slope in part.slopes)
    candidates = [
        (fitted.component(part.group, slope).variance * _variance(slope, data), -i, slope)
        for i, part in enumerate(formula.random)
        for slope in part.slopes
        if slope.count(":") == order
    ]
    _, i, slope = min(candidates)
    part = formula.random[-i]
    return _replace_part(formula, -i, _without_slope(part, slope)), f"the slope of {slope} by {part.group}"


def _variance(slope: str, data: ModelData) -> float:
    product = np.prod([np.asarray(data.columns[name], dtype=np.float64) for name in slope.split(":")], axis=0)
    return float(np.var(product))


def _without_slope(part: RandomPart, slope: str) -> RandomPart | None:
    slopes = tuple(name for name in part.slopes if name != slope)
    if not slopes and not part.intercept:
        return None
    return RandomPart(part.group, slopes, part.intercept, part.correlated or not slopes)


def _replace_part(formula: MixedFormula, index: int, part: RandomPart | None) -> MixedFormula:
    new = [part] if part is not None else []
    return replace(formula, random=(*formula.random[:index], *new, *formula.random[index + 1 :]))
