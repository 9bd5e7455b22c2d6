"""A mixed model with its test as one result of a run: coefficients, variances, residuals, predictions, thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.data import Column
from lexiscope.analysis.mixed.fit import MixedFit, VarianceComponent, plain
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.models import LikelihoodRatio, likelihood_ratio
from lexiscope.analysis.mixed.models import fit as fit_mixed
from lexiscope.analysis.mixed.ordinal import OrdinalFit, OrdinalRatio, ordinal_likelihood_ratio
from lexiscope.core.result import Estimate, Fit, statistic_name

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, repr=False)
class MixedTest(Fit):
    """A linear mixed model with its likelihood-ratio test, as :meth:`lexiscope.Run.mixed` returns it.

    ``model`` is the larger model, whose coefficients are the ``terms``; ``test`` has both models as they were compared.
    The two larger models are one fit, or two if coefficients are by REML and the test by maximum likelihood.
    ``model.summary()`` prints it as lme4 does.
    """

    model: MixedFit = field(kw_only=True, compare=False)
    test: LikelihoodRatio = field(kw_only=True, compare=False)

    def _further_lines(self) -> list[str]:
        residual = f"residual SD {self.model.residual_variance**0.5:.4g}"
        return [*_sd_lines(self.model.variances), f"  {residual}{', by REML' if self.reml else ''}"]

    @property
    def reml(self) -> bool:
        """Whether coefficients and variances are by REML."""
        return self.model.reml

    @property
    def df_of_terms(self) -> Mapping[str, float | None]:
        """Satterthwaite's degrees of freedom of each coefficient, by its name; ``None`` if they are not defined."""
        return {effect.name: effect.df for effect in self.model.fixed}

    @property
    def variances(self) -> tuple[Estimate, ...]:
        """The variance of each random effect over its group, then that of the residuals; no intervals.

        *Unit:* squared units of the response per squared unit of the term. Correlations of random effects of one
        bracket are in the note.
        """
        residual = Estimate(statistic_name("variance", group="Residual"), self.model.residual_variance, n=self.n)
        return (*_variances(self, self.model.variances), _about_fit(self, residual))

    def residuals(self) -> Floats:
        """Return rating minus prediction (random effects included) of each fitted rating.

        The order is that of the rows of ``run.frame()`` that have a value in every column of the formulas.

        *Shape:* (ratings,). *Unit:* points of the scale. *Higher means:* a higher rating than predicted.
        """
        return self.model.residuals

    def predict(
        self, data: Mapping[str, Column] | None = None, *, random: bool = True, new_levels: bool = False
    ) -> Floats:
        """Return the predicted rating of the fitted ratings, or of new rows with the columns of the formula.

        With *random* each row has the random effects of its levels (its participant, its item), without it those of a
        mean level. A level that the fitted ratings do not have is an error, or with *new_levels* a mean level.

        *Shape:* (rows,). *Unit:* points of the scale, not cut at its ends.

        Errors: :class:`~lexiscope.core.errors.InputError` for an unknown level, a missing column or value.
        """
        return self.model.predict(data, random=random, new_levels=new_levels)

    def random_effects(self, group: str) -> dict[str, dict[str, float]]:
        """Return the random effects of each level of a group, by level and term (a participant above or below others).

        Errors: :class:`~lexiscope.core.errors.StatisticError` if the model has no such group.
        """
        return self.model.random_effects_by_level(group)


@dataclass(frozen=True, slots=True, repr=False)
class OrdinalTest(Fit):
    """An ordinal mixed model with its likelihood-ratio test, as :meth:`lexiscope.Run.ordinal` returns it.

    ``model`` is the larger model: its thresholds, then its coefficients are the ``terms``; ``test`` has both models.
    """

    model: OrdinalFit = field(kw_only=True, compare=False)
    test: OrdinalRatio = field(kw_only=True, compare=False)

    def _further_lines(self) -> list[str]:
        return _sd_lines(self.model.variances)

    @property
    def thresholds(self) -> tuple[Estimate, ...]:
        """The thresholds between neighbouring ratings on the latent scale, with Wald's intervals."""
        return tuple(_about_fit(self, term) for term in self.terms[: len(self.model.thresholds)])

    @property
    def variances(self) -> tuple[Estimate, ...]:
        """The variance of each random effect over its group; no intervals. *Unit:* squared, of the latent scale."""
        return _variances(self, self.model.variances)

    def predict(
        self, data: Mapping[str, Column] | None = None, *, random: bool = True, new_levels: bool = False
    ) -> Floats:
        """Return the probability of each point of the scale, of the fitted ratings or of new rows.

        The points are ``model.categories``; ``predict() @ model.categories`` are the expected ratings. With *random*
        each row has the random effects of its levels (its participant, its item), without it those of a mean level. A
        level that the fitted ratings do not have is an error, or with *new_levels* a mean level.

        *Shape:* (rows, points). *Range:* 0 to 1, each row sums to 1.

        Errors: :class:`~lexiscope.core.errors.InputError` for an unknown level, a missing column or value.
        """
        return self.model.probabilities(data, random=random, new_levels=new_levels)

    def severity(self, group: str = "participant") -> tuple[Estimate, ...]:
        """Return the severity of each rater, with Wald's interval; n is the number of its ratings.

        *Unit:* units of the latent scale (logit, probit). *Higher means:* the rater rates the same items lower.

        Errors: :class:`~lexiscope.core.errors.StatisticError` if *group* is not a grouping factor of the model.
        """
        return tuple(_about_fit(self, result) for result in self.model.severities(group))


def mixed_test(
    formula: str,
    without: str,
    data: Mapping[str, Column],
    *,
    name: str = "larger model",
    reml: bool = False,
    starts: int = 5,
    seed: int = 0,
    level: float = 0.95,
) -> MixedTest:
    """Return a linear mixed model with the test against the model *without* a part, as one result.

    With *reml* coefficients, intervals and variances are those of REML. The test then is of REML fits if both models
    have the same fixed effects; otherwise it is by maximum likelihood, because REML likelihoods of different fixed
    effects cannot be compared, and the note says so (``anova`` of lme4 refits in the same way).

    *Shape:* every column (rows,).

    Errors: those of :func:`lexiscope.analysis.mixed.models.likelihood_ratio`.

    >>> draw = np.random.default_rng(1)
    >>> raters, items = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    >>> x = (items % 2).astype(float)
    >>> noise = draw.normal(size=12)[raters] + draw.normal(0, 0.5, 20)[items] + draw.normal(size=240)
    >>> data = {"rating": 3 + x + noise, "x": x, "rater": raters, "item": items}
    >>> random = "(1 | rater) + (1 | item)"
    >>> fit = mixed_test(f"rating ~ x + {random}", f"rating ~ 1 + {random}", data, reml=True)
    >>> [str(variance.name) for variance in fit.variances]
    ['variance(group=rater,term=Intercept)', 'variance(group=item,term=Intercept)', 'variance(group=Residual)']
    >>> round(fit.df_of_terms["x"], 1)  # 20 items, 2 coefficients
    18.0
    >>> bool(np.allclose(fit.predict() + fit.residuals(), data["rating"]))
    True
    >>> new = fit.predict({"x": [0.0, 1.0]}, random=False)
    >>> bool(np.isclose(new[1] - new[0], fit.terms[1].value))
    True
    >>> fit.note
    'coefficients and variances by REML, the test by maximum likelihood'
    """
    same_fixed = read_formula(formula).fixed_text == read_formula(without).fixed_text
    test = likelihood_ratio(formula, without, data, reml=reml and same_fixed, starts=starts, seed=seed)
    model, notes = test.full, list(test.remarks)
    if reml and not same_fixed:
        model = fit_mixed(formula, data, reml=True, starts=starts, seed=seed)
        notes = [
            "coefficients and variances by REML, the test by maximum likelihood",
            *(f"REML fit: {remark}" for remark in model.remarks),
            *notes,
        ]
    coefficient, n = statistic_name("coefficient", of="mixed"), model.n_observations
    terms = tuple(
        Estimate(coefficient, effect.estimate, effect.interval(level), n, condition=effect.name, p=effect.p)
        for effect in model.fixed
    )
    note = "; ".join(notes)
    return MixedTest(name, formula, without, test.chi2, test.df, test.p, n, terms, note=note, model=model, test=test)


def ordinal_test(
    formula: str,
    without: str,
    data: Mapping[str, Column],
    *,
    name: str = "larger model",
    link: str = "logit",
    seed: int = 0,
    level: float = 0.95,
) -> OrdinalTest:
    """Return an ordinal mixed model with the test against the model *without* a part, as one result.

    *Shape:* every column (rows,).

    Errors: those of :func:`lexiscope.analysis.mixed.ordinal.ordinal_likelihood_ratio`.

    >>> draw = np.random.default_rng(1)
    >>> raters, items = np.repeat(np.arange(12), 20), np.tile(np.arange(20), 12)
    >>> x = (items % 2).astype(float)
    >>> latent = x - np.linspace(-1, 1, 12)[raters] + draw.normal(size=240)  # the last rater is the most severe
    >>> data = {"rating": np.digitize(latent, [-1, 0, 1, 2]) + 1.0, "x": x, "rater": raters}
    >>> fit = ordinal_test("rating ~ x + (1 | rater)", "rating ~ 1 + (1 | rater)", data)
    >>> [threshold.condition for threshold in fit.thresholds]
    ['1|2', '2|3', '3|4', '4|5']
    >>> severities = {rater.subject: rater.value for rater in fit.severity("rater")}
    >>> max(severities, key=severities.get), min(severities, key=severities.get)
    ('11', '0')
    >>> new = fit.predict({"x": [0.0, 1.0]}, random=False)  # of two items, for a mean rater
    >>> new.shape, bool((new @ fit.model.categories)[1] > (new @ fit.model.categories)[0])
    ((2, 5), True)
    """
    test = ordinal_likelihood_ratio(formula, without, data, link=link, seed=seed)
    model, n = test.full, test.full.n_observations
    threshold, coefficient = (statistic_name(kind, of="ordinal", link=link) for kind in ("threshold", "coefficient"))
    terms = (
        *(Estimate(threshold, at.estimate, at.interval(level), n, condition=at.name) for at in model.thresholds),
        *(
            Estimate(coefficient, effect.estimate, effect.interval(level), n, condition=effect.name, p=effect.p)
            for effect in model.fixed
        ),
    )
    return OrdinalTest(
        name, formula, without, test.chi2, test.df, test.p, n, terms,
        link=link, note="; ".join(test.remarks), model=model, test=test,
    )  # fmt: skip


def _variances(fit: MixedTest | OrdinalTest, components: tuple[VarianceComponent, ...]) -> tuple[Estimate, ...]:
    estimates = []
    for part in components:
        name = statistic_name("variance", group=part.group, term=plain(part.term))
        correlations = ", ".join(f"r with {term} = {r:.3f}" for term, r in part.correlations)
        estimates.append(_about_fit(fit, Estimate(name, part.variance, n=fit.n, note=correlations)))
    return tuple(estimates)


def _sd_lines(components: tuple[VarianceComponent, ...]) -> list[str]:
    return [f"  SD of {part.term} over {part.group}: {part.sd:.4g}" for part in components]


def _about_fit(fit: MixedTest | OrdinalTest, result: Estimate) -> Estimate:
    """Return a number of a fit with what the fit is about; its condition follows that of the fit."""
    condition = ", ".join(filter(None, (fit.condition, result.condition)))
    return result.about(dataset=fit.dataset, run=fit.run, condition=condition)
