"""The result of fitting a mixed model: fixed effects, variance components, optima, and remarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import student_quantile
from lexiscope.analysis.mixed import optimum as mixed_optimum
from lexiscope.analysis.mixed.data import Coding, Column, ModelData, effects_of_rows, new_rows
from lexiscope.analysis.mixed.design import fixed_columns, random_columns
from lexiscope.analysis.mixed.formula import MixedFormula, read_formula
from lexiscope.analysis.mixed.optimum import Optimum
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, statistic_name

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """One row of the fixed-effects table.

    ``df`` are Satterthwaite's degrees of freedom and ``p`` the two-tailed p of t on them; both are None if they cannot
    be computed, and ``df_reason`` has the reason (no normal approximation takes their place).
    """

    name: str
    estimate: float
    se: float
    t: float
    df: float | None
    p: float | None
    df_reason: str = ""

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval of the estimate: t on Satterthwaite's degrees of freedom; or a note with the reason.

        >>> effect = FixedEffect("(Intercept)", 3.0, 0.5, 6.0, 10.0, 0.0001)
        >>> [round(end, 3) for end in (effect.interval().low, effect.interval().high)]  # 3 ± 2.228 · 0.5
        [1.886, 4.114]
        """
        name = statistic_name("t", df="satterthwaite", level=f"{level:g}")
        if self.df is None:
            return Interval(np.nan, np.nan, level, name, note=f"no interval: {self.df_reason}")
        half = student_quantile(level, self.df) * self.se
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
    reached the one reported, and ``ended_early`` says that further starts were not needed. ``codings`` say which number
    stands for which level of a text predictor. ``fitted`` and ``residuals`` have one value per row of the data, random
    effects included. ``optimum``, ``data`` and ``refit`` let :func:`better_of_compared` continue the fit, and new rows
    be predicted.

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
    ended_early: bool = False
    data: ModelData | None = field(default=None, repr=False, compare=False)

    def results(self, **of: str) -> tuple[Estimate, ...]:
        """Return the numbers of the fit: log-likelihood, AIC, fixed effects with standard errors, variances.

        *of* are the parameters of each name that say which model it is: ``test="sense", model="full"``.
        """

        def number(
            statistic: str,
            value: float,
            interval: Interval = NO_INTERVAL,
            *,
            p: float | None = None,
            unit: str = "",
            note: str = "",
            **what: str,
        ) -> Estimate:
            name = statistic_name(statistic, **what, **of)
            return Estimate(name, value, interval, self.n_observations, p=p, unit=unit, note=note)

        note = "; ".join([self.formula, self.starts_in_words, *self.remarks])
        estimates = [number("log_likelihood", self.log_likelihood, unit="nats", note=note), number("aic", self.aic)]
        for effect in self.fixed:
            term = plain(effect.name)
            tested = effect.df_reason if effect.df is None else f"t = {effect.t:.3f}, df = {effect.df:.2f}"
            interval = NO_INTERVAL if effect.df is None else effect.interval()
            estimates.append(number("fixed_effect", effect.estimate, interval, p=effect.p, note=tested, term=term))
            estimates.append(number("standard_error", effect.se, term=term))
        for part in self.variances:
            correlations = ", ".join(f"r with {term} = {r:.3f}" for term, r in part.correlations)
            group, term = part.group, plain(part.term)
            estimates.append(number("variance", part.variance, note=correlations, group=group, term=term))
        return (*estimates, number("variance", self.residual_variance, group="Residual"))

    @property
    def starts_in_words(self) -> str:
        """How many starts were made and reached the optimum, and whether they ended early."""
        early = ", which ended the starts early" if self.ended_early else ""
        return f"{self.starts_at_best} of {len(self.optima)} starts reached it{early}"

    def random_effects_by_level(self, group: str) -> dict[str, dict[str, float]]:
        """Return the conditional mean of each random effect of each level of a grouping factor (``ranef`` of lme4).

        The keys are the levels, then the terms. *Unit:* units of the response per unit of the term. *Higher means:*
        that the level has higher responses (a slope: rises more) than the mean level.

        Errors: :class:`StatisticError` where the model has no such grouping factor.
        """
        effects: dict[str, dict[str, float]] = {}
        for bracket, modes in self._known_optimum.modes:
            if bracket.group == group:
                for level, row in zip(bracket.grouping.levels.tolist(), modes.tolist(), strict=True):
                    effects.setdefault(level, {}).update(zip(bracket.terms, row, strict=True))
        if not effects:
            groups = ", ".join(name for name, _ in self.levels)
            raise StatisticError(f"no grouping factor {group!r}: the model has {groups}")
        return effects

    def predict(
        self, data: Mapping[str, Column] | None = None, *, random: bool = True, new_levels: bool = False
    ) -> Floats:
        """Return the predicted response of the fitted rows, or of new rows with the columns of the predictors.

        With *random* each row has the random effects of its levels, without it those of a mean level (zero). A level
        that the fitted rows do not have is an error, or with *new_levels* has random effects of zero.

        *Shape:* (rows,). *Unit:* units of the response.

        Errors: :class:`InputError` for an unknown level, a missing column or value; see
        :func:`lexiscope.analysis.mixed.data.new_rows`.
        """
        formula, optimum = read_formula(self.formula), self._known_optimum
        if self.data is None:
            raise StatisticError("this fit was made without its data, so it makes no predictions")
        fitted = self.data
        if data is None:
            columns: Mapping[str, Column] = fitted.columns
            indices = {name: grouping.index for name, grouping in fitted.groups.items()}
        else:
            columns, indices = new_rows(formula, fitted, data, random=random)
        predicted = fixed_columns(formula, columns, fitted)[1] @ optimum.coefficients
        if not random:
            return np.asarray(predicted)
        for part, (bracket, modes) in zip(formula.random, optimum.modes, strict=True):
            known = effects_of_rows(modes, indices[bracket.group], bracket.group, new_levels=new_levels)
            predicted = predicted + np.einsum("ij,ij->i", random_columns(part, columns, fitted)[1], known)
        return np.asarray(predicted)

    def summary(self) -> str:
        """Return the fit as plain text in the order of lme4's ``summary``, with the starts and every remark.

        Degrees of freedom are Satterthwaite's, as lmerTest prints them.
        """
        return "\n".join(summary_lines(self))

    @property
    def _known_optimum(self) -> Optimum:
        if self.optimum is None:
            raise StatisticError("this fit was made without its optimum, so it has no random effects")
        return self.optimum

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
    log_likelihood, n_parameters = optimum.log_likelihood, optimum.n_parameters
    residuals = optimum.residuals
    names, estimates, errors = optimum.fixed_names, optimum.coefficients, optimum.standard_errors
    dfs, reason = mixed_optimum.degrees_of_freedom(optimum) if satterthwaite else (None, "not asked for")
    rows = zip(names, estimates, errors, dfs if dfs is not None else [None] * len(names), strict=True)
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
        fixed=tuple(_effect(name, float(b), float(se), df, reason) for name, b, se, df in rows),
        variances=_variances(optimum),
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
        ended_early=optimum.ended_early,
        data=data,
    )


def better_of_compared(fitted: MixedFit, other: MixedFit) -> MixedFit:
    """Return *fitted*, or a better fit of its model that starts at the optimum of *other*, a model compared with it."""
    if fitted.optimum is None or fitted.refit is None or other.optimum is None:
        return fitted
    optimum = mixed_optimum.from_compared(fitted.optimum, other.optimum)
    return fitted if optimum is fitted.optimum else fitted.refit(optimum)


def plain(term: str) -> str:
    """Make an effect's name fit for a statistic's name, which has no commas, equals signs or brackets."""
    return term.replace("(Intercept)", "Intercept").translate(str.maketrans("=,()", ":;[]"))


def _effect(name: str, estimate: float, se: float, df: float | None, reason: str) -> FixedEffect:
    from scipy import special

    t = estimate / se
    if df is None:
        return FixedEffect(name, estimate, se, t, None, None, reason)
    return FixedEffect(name, estimate, se, t, float(df), float(2 * special.stdtr(df, -abs(t))))


def _variances(optimum: Optimum) -> tuple[VarianceComponent, ...]:
    components: list[VarianceComponent] = []
    for bracket, factor in optimum.random_factors:
        names = bracket.terms
        # Rows of F are the terms: their lengths are the standard deviations, their cosines the correlations.
        deviations = np.linalg.norm(factor, axis=1)
        for i, name in enumerate(names):
            earlier = range(i if bracket.correlated and len(names) > 1 else 0)
            correlations = tuple((names[j], correlation(factor[i], factor[j])) for j in earlier)
            sd = float(deviations[i])
            components.append(VarianceComponent(bracket.group, name, sd**2, sd, correlations))
    return tuple(components)


def correlation(first: Floats, second: Floats) -> float:
    """Return the correlation of two terms from their rows of F, F Fᵀ being the covariance; 0 without variance."""
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


# -- the fit as text, in the order of lme4's summary ---------------------------------------------------------------


def summary_lines(fit: MixedFit) -> list[str]:
    """Return the lines of a summary."""
    method = "REML" if fit.reml else "maximum likelihood"
    tests = "; t-tests with Satterthwaite's degrees of freedom" if any(e.df is not None for e in fit.fixed) else ""
    free = fit.n_observations - fit.n_parameters
    criteria = [
        ["AIC", "BIC", "logLik", "-2*logLik", "df.resid"],
        [f"{fit.aic:.1f}", f"{fit.bic:.1f}", f"{fit.log_likelihood:.4f}", f"{-2 * fit.log_likelihood:.1f}", str(free)],
    ]
    scaled = fit.residuals / fit.residual_variance**0.5
    quantiles = [f"{value:.4f}" for value in np.quantile(scaled, [0, 0.25, 0.5, 0.75, 1])]
    levels = "; ".join(f"{name}, {count}" for name, count in fit.levels)
    codings = [f"Coding of {coding}" for coding in fit.codings]
    return [
        f"Linear mixed model fit by {method}{tests}",
        f"Formula: {fit.formula}",
        *codings,
        "",
        *_aligned(criteria),
        "",
        "Scaled residuals:",
        *_aligned([["Min", "1Q", "Median", "3Q", "Max"], quantiles]),
        "",
        "Random effects:",
        *_aligned(_random_rows(fit), text=2),
        f"Number of obs: {fit.n_observations}, groups: {levels}",
        "",
        "Fixed effects:",
        *_aligned(_fixed_rows(fit), text=1),
        *_correlation_lines(fit),
        "",
        f"Starts: {fit.starts_in_words}",
        f"Converged: {'yes' if fit.converged else 'no'}; singular: {'yes' if fit.singular else 'no'}",
        *(f"Remark: {remark}" for remark in fit.remarks),
    ]


def _random_rows(fit: MixedFit) -> list[list[str]]:
    rows, before = [["Groups", "Name", "Variance", "Std.Dev.", "Corr"]], ""
    for part in fit.variances:
        correlations = " ".join(f"{r:.2f}" for _, r in part.correlations)
        # the group once, at the first term of its bracket
        group = "" if part.group == before and part.correlations else part.group
        rows.append([group, part.term, f"{part.variance:.5g}", f"{part.sd:.5g}", correlations])
        before = part.group
    rows.append(["Residual", "", f"{fit.residual_variance:.5g}", f"{fit.residual_variance**0.5:.5g}", ""])
    return rows


def _fixed_rows(fit: MixedFit) -> list[list[str]]:
    rows = [["", "Estimate", "Std. Error", "df", "t value", "Pr(>|t|)"]]
    for effect in fit.fixed:
        df, p = (f"{effect.df:.2f}", _p_text(effect.p)) if effect.df is not None else ("-", "-")
        rows.append([effect.name, f"{effect.estimate:.5g}", f"{effect.se:.5g}", df, f"{effect.t:.3f}", p])
    return rows


def _p_text(p: float | None) -> str:
    return "-" if p is None else f"{p:.3g}" if p > 0 else "<1e-300"


def _correlation_lines(fit: MixedFit) -> list[str]:
    if fit.optimum is None or fit.optimum.model is None or len(fit.fixed) < 2:
        return []
    correlations = fit.optimum.correlations
    rows = [["", *(effect.name for effect in fit.fixed[:-1])]]
    for i, effect in enumerate(fit.fixed[1:], 1):
        rows.append([effect.name, *(f"{correlations[i, j]:.3f}" if j < i else "" for j in range(len(fit.fixed) - 1))])
    return ["", "Correlation of fixed effects:", *_aligned(rows, text=1)]


def _aligned(rows: Sequence[Sequence[str]], *, text: int = 0) -> list[str]:
    """Align columns of text: the first *text* columns to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = (
        "  ".join(
            cell.ljust(width) if i < text else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return [line.rstrip() for line in lines]
