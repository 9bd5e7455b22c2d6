"""The result of fitting a mixed model: fixed effects, variance components, optima, and remarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed import optimum as mixed_optimum
from lexiscope.analysis.mixed.data import Coding, ModelData
from lexiscope.analysis.mixed.formula import MixedFormula
from lexiscope.analysis.mixed.optimum import Optimum
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """One row of the fixed-effects table.

    ``df`` are Satterthwaite's degrees of freedom and ``p`` the two-tailed p of t on them; both are None where they
    cannot be had, and ``df_reason`` says why (no normal approximation takes their place).
    """

    name: str
    estimate: float
    se: float
    t: float
    df: float | None
    p: float | None
    df_reason: str = ""

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of the estimate: t on Satterthwaite's degrees of freedom; without these a note says why.

        >>> effect = FixedEffect("(Intercept)", 3.0, 0.5, 6.0, 10.0, 0.0001)
        >>> [round(end, 3) for end in (effect.interval().low, effect.interval().high)]  # 3 ± 2.228 · 0.5
        [1.886, 4.114]
        """
        from scipy.stats import t as distribution

        name = statistic_name("t", df="satterthwaite", level=f"{level:g}")
        if self.df is None:
            return Interval(np.nan, np.nan, level, name, note=f"no interval: {self.df_reason}")
        half = float(distribution.ppf((1 + level) / 2, self.df)) * self.se
        return Interval(self.estimate - half, self.estimate + half, level, name)


@dataclass(frozen=True, slots=True)
class VarianceComponent:
    """One random effect: how much a term varies over the levels of a grouping factor.

    ``correlations`` are those with the earlier terms of the same bracket, as (term, r). *Unit:* ``variance`` in squared
    units of the response per squared unit of the term.
    """

    group: str
    term: str
    variance: float
    sd: float
    correlations: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class MixedFit:
    """A fitted mixed model, with everything a table or a residual plot of it needs.

    ``optima`` holds the log-likelihood that each start reached, in order of the starts; ``starts_at_best`` of them
    reached the one reported. ``codings`` say which number stands for which level of a text predictor. ``fitted`` and
    ``residuals`` have one value per row of the data, random effects included. ``optimum`` and ``refit`` let
    :func:`better_of_compared` continue the fit.

    *Unit:* log-likelihoods in nats. *Higher means:* a better fit for ``log_likelihood``, a worse one for AIC and BIC.
    """

    formula: str
    fixed_formula: str
    random_effects: str
    reml: bool
    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    n_observations: int
    levels: tuple[tuple[str, int], ...]
    fixed: tuple[FixedEffect, ...]
    variances: tuple[VarianceComponent, ...]
    residual_variance: float
    converged: bool
    singular: bool
    codings: tuple[Coding, ...]
    optima: tuple[float, ...]
    starts_at_best: int
    remarks: tuple[str, ...]
    fitted: Floats = field(repr=False, compare=False)
    residuals: Floats = field(repr=False, compare=False)
    refit: Callable[[Optimum], MixedFit] | None = field(default=None, repr=False, compare=False)
    optimum: Optimum | None = field(default=None, repr=False, compare=False)

    def results(self, **of: str) -> tuple[Estimate, ...]:
        """Return the numbers of the fit: log-likelihood, AIC, fixed effects with standard errors, variances.

        *of* are the parameters of each name that say which model it is: ``test="sense", model="full"``.
        """

        def number(
            statistic: str, value: float, *, p: float | None = None, unit: str = "", note: str = "", **what: str
        ) -> Estimate:
            name = statistic_name(statistic, **what, **of)
            return Estimate(name, value, n=self.n_observations, p=p, unit=unit, note=note)

        starts = f"{self.starts_at_best} of {len(self.optima)} starts reached it"
        note = "; ".join([self.formula, starts, *self.remarks])
        estimates = [number("log_likelihood", self.log_likelihood, unit="nats", note=note), number("aic", self.aic)]
        for effect in self.fixed:
            term = _plain(effect.name)
            tested = effect.df_reason if effect.df is None else f"t = {effect.t:.3f}, df = {effect.df:.2f}"
            estimates.append(number("fixed_effect", effect.estimate, p=effect.p, note=tested, term=term))
            estimates.append(number("standard_error", effect.se, term=term))
        for part in self.variances:
            correlations = ", ".join(f"r with {term} = {r:.3f}" for term, r in part.correlations)
            group, term = part.group, _plain(part.term)
            estimates.append(number("variance", part.variance, note=correlations, group=group, term=term))
        return (*estimates, number("variance", self.residual_variance, group="Residual"))

    def effect(self, name: str) -> FixedEffect:
        """Return the fixed effect ``name``.

        Errors: :class:`StatisticError` where the model has no such effect.
        """
        for effect in self.fixed:
            if effect.name == name:
                return effect
        raise StatisticError(f"no fixed effect {name!r}: the model has {', '.join(e.name for e in self.fixed)}")

    def component(self, group: str, term: str) -> VarianceComponent:
        """Return the variance component of ``term`` over ``group``.

        Errors: :class:`StatisticError` where the model has no such component.
        """
        for component in self.variances:
            if (component.group, component.term) == (group, term):
                return component
        raise StatisticError(f"no variance component of {term!r} over {group!r} in {self.random_effects}")


def as_fit(formula: MixedFormula, data: ModelData, optimum: Optimum, *, reml: bool, satterthwaite: bool) -> MixedFit:
    """Collect everything a report needs from an optimum of ``formula`` on ``data``."""
    log_likelihood, n_parameters = optimum.log_likelihood, int(optimum.result.logLik().df)
    residuals = optimum.residuals
    return MixedFit(
        formula=str(formula),
        fixed_formula=formula.fixed_text,
        random_effects=formula.random_text,
        reml=reml,
        log_likelihood=log_likelihood,
        n_parameters=n_parameters,
        aic=2 * n_parameters - 2 * log_likelihood,
        bic=n_parameters * float(np.log(data.n)) - 2 * log_likelihood,
        n_observations=data.n,
        levels=data.levels,
        fixed=_fixed_effects(data, optimum, satterthwaite=satterthwaite),
        variances=_variances(data, optimum),
        residual_variance=optimum.residual_sd**2,
        converged=optimum.converged,
        singular=optimum.singular,
        codings=data.codings,
        optima=tuple(stop.log_likelihood for stop in optimum.stops),
        starts_at_best=optimum.n_at_best,
        remarks=_remarks(data, optimum),
        fitted=np.asarray(data.columns[formula.response], dtype=np.float64) - residuals,
        residuals=residuals,
        refit=lambda better: as_fit(formula, data, better, reml=reml, satterthwaite=satterthwaite),
        optimum=optimum,
    )


def better_of_compared(fitted: MixedFit, other: MixedFit) -> MixedFit:
    """Return *fitted*, or a better fit of its model that starts at the optimum of *other*, a model compared with it."""
    if fitted.optimum is None or fitted.refit is None or other.optimum is None:
        return fitted
    optimum = mixed_optimum.from_compared(fitted.optimum, other.optimum)
    return fitted if optimum is fitted.optimum else fitted.refit(optimum)


def _plain(term: str) -> str:
    """Make an effect's name fit for a statistic's name, which has no commas, equals signs or brackets."""
    return term.replace("(Intercept)", "Intercept").translate(str.maketrans("=,()", ":;[]"))


def _fixed_effects(data: ModelData, optimum: Optimum, *, satterthwaite: bool) -> tuple[FixedEffect, ...]:
    names = [mixed_optimum.effect_name(name, data) for name in optimum.result.matrices.fixed_names]
    estimates, errors = optimum.coefficients
    dfs, reason = mixed_optimum.degrees_of_freedom(optimum) if satterthwaite else (None, "not asked for")
    rows = zip(names, estimates, errors, dfs if dfs is not None else [None] * len(names), strict=True)
    return tuple(_effect(name, float(b), float(se), df, reason) for name, b, se, df in rows)


def _effect(name: str, estimate: float, se: float, df: float | None, reason: str) -> FixedEffect:
    from scipy.stats import t as distribution

    t = estimate / se
    if df is None:
        return FixedEffect(name, estimate, se, t, None, None, reason)
    return FixedEffect(name, estimate, se, t, float(df), float(2 * distribution.sf(abs(t), df)))


def _variances(data: ModelData, optimum: Optimum) -> tuple[VarianceComponent, ...]:
    components: list[VarianceComponent] = []
    for bracket, factor in optimum.random_factors:
        names = [mixed_optimum.effect_name(name, data) for name in bracket.term_names]
        # Rows of F are the terms: their lengths are the standard deviations, their cosines the correlations.
        deviations = np.linalg.norm(factor, axis=1)
        for i, name in enumerate(names):
            earlier = range(i if bracket.correlated and len(names) > 1 else 0)
            correlations = tuple((names[j], _correlation(factor[i], factor[j])) for j in earlier)
            sd = float(deviations[i])
            components.append(VarianceComponent(bracket.grouping_factor, name, sd**2, sd, correlations))
    return tuple(components)


def _correlation(first: Floats, second: Floats) -> float:
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.clip(first @ second / lengths, -1.0, 1.0)) if lengths > 0 else 0.0


def _remarks(data: ModelData, optimum: Optimum) -> tuple[str, ...]:
    notes = list(data.remarks)
    if not optimum.converged:
        notes.append("not converged: the best start did not end at a stationary point of the likelihood")
    if optimum.singular:
        notes.append("singular: a variance is zero or a correlation is plus or minus one")
    if optimum.others:
        other = ", ".join(f"{value:.4f}" for value in optimum.others)
        notes.append(
            f"several optima: {optimum.n_at_best} of {len(optimum.stops)} starts reached the best, "
            f"log-likelihood {optimum.log_likelihood:.4f}; other starts converged at {other}"
        )
    return (*notes, *optimum.remarks)
