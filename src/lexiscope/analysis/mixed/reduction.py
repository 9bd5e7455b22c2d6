"""Reduce a maximal random-effects structure by a stated rule, and log every step.

Barr et al. (2013) ask for the maximal structure that the design justifies and for a reduction only where it does not
converge. Which term goes next is usually decided by hand; here it follows :data:`RULE`, so that two people reach the
same model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lexiscope.analysis.mixed.data import Column, ModelData, prepare
from lexiscope.analysis.mixed.fit import MixedFit, as_fit
from lexiscope.analysis.mixed.formula import MixedFormula, RandomPart, read_formula
from lexiscope.analysis.mixed.optimum import maximise
from lexiscope.core.errors import InputError
from lexiscope.core.result import Estimate, statistic_name

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
        optimum = maximise(current, prepared, reml=reml, starts=starts, seed=seed)
        fitted = as_fit(current, prepared, optimum, reml=reml, satterthwaite=False)
        steps.append(_step(fitted, removed, reason))
        failure = _failure(fitted, criterion)
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


def _failure(fitted: MixedFit, criterion: Criterion) -> str:
    if not fitted.converged:
        return "did not converge"
    return "is singular" if fitted.singular and criterion == "converged_and_not_singular" else ""


def _smaller(formula: MixedFormula, fitted: MixedFit, data: ModelData) -> tuple[MixedFormula, str] | None:
    """Return the next model by the rule and what it lacks, or None where nothing may be removed."""
    if any(part.has_correlations for part in formula.random):
        return _without_correlations(formula), "all correlations between random effects"
    if any(part.slopes for part in formula.random):
        smaller = _without_least_slope(formula, fitted, data)
        return smaller if smaller[0].random else None
    if len(formula.random) > 1:
        return _without_least_group(formula, fitted)
    return None


def _without_correlations(formula: MixedFormula) -> MixedFormula:
    parts = (replace(part, correlated=False) if part.has_correlations else part for part in formula.random)
    return replace(formula, random=tuple(parts))


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


def _without_least_group(formula: MixedFormula, fitted: MixedFit) -> tuple[MixedFormula, str]:
    variances = [(fitted.component(part.group, "(Intercept)").variance, -i) for i, part in enumerate(formula.random)]
    _, i = min(variances)
    return _replace_part(formula, -i, None), f"the grouping factor {formula.random[-i].group}"


def _replace_part(formula: MixedFormula, index: int, part: RandomPart | None) -> MixedFormula:
    new = [part] if part is not None else []
    return replace(formula, random=(*formula.random[:index], *new, *formula.random[index + 1 :]))
