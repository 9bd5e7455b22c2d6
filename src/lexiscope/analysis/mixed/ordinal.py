"""Crossed cumulative link mixed models: ratings as ordered categories instead of numbers.

``P(rating ≤ j) = F(threshold j - fixed effects - random effects)``, F being the logistic (logit) or the normal (probit)
distribution. The likelihood is Laplace's approximation, as in the function clmm of the R package ordinal; its maximum
is found from several starts with an exact gradient. Columns are fitted in a basis of mean square 1, so that no result
depends on the unit of a predictor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.crossed import Crossed, Factor, Floats
from lexiscope.analysis.mixed.data import Coding, Column, ModelData, effects_of_rows, new_rows, prepare
from lexiscope.analysis.mixed.fit import VarianceComponent, correlation, plain
from lexiscope.analysis.mixed.formula import MixedFormula, RandomPart, read_formula
from lexiscope.analysis.mixed.laplace import Laplace, Link
from lexiscope.analysis.mixed.models import NestedModels
from lexiscope.analysis.mixed.optimum import SAME_OPTIMUM, SINGULAR, Basis, fitted_basis, n_independent
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name

MOST_CATEGORIES = 20
"""The most categories that are taken as an ordered scale: more have too few ratings each for a threshold."""

_STATIONARY = 1e-5  # log-likelihood that one more Newton step would gain at a converged optimum. Unit: nats
_SEPARATED = 50.0  # standard error, in a basis of mean square 1, beyond which an effect is not determined
_FROM_COMPARED = "the best optimum was reached only from the optimum of the model that it is compared with"
_STEP = 1e-3  # of the differences of the gradient, in that basis: their error is the square of it
_LATENT_VARIANCE = {"logit": np.pi**2 / 3, "probit": 1.0}


# -- what a fit says ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrdinalTerm:
    """A threshold or a fixed effect, with its standard error and Wald's test.

    *Unit:* standard logistic (logit) or standard normal (probit) units of the latent scale.
    """

    name: str
    estimate: float
    se: float

    @property
    def z(self) -> float:
        """The estimate divided by its standard error."""
        return self.estimate / self.se

    @property
    def p(self) -> float:
        """The two-tailed p of z; prefer the likelihood-ratio test."""
        from scipy.special import ndtr

        return float(2 * ndtr(-abs(self.z)))

    def interval(self, level: float = 0.95) -> Interval:
        """Return Wald's interval.

        >>> [round(end, 2) for end in (OrdinalTerm("x", 1.0, 0.5).interval().low, 1 + 1.96 * 0.5)]
        [0.02, 1.98]
        """
        from scipy.special import ndtri

        half = float(ndtri((1 + level) / 2)) * self.se
        return Interval(self.estimate - half, self.estimate + half, level, statistic_name("wald", level=f"{level:g}"))


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalModes:
    """The random effects of every level of one grouping factor, given the ratings and the estimates.

    ``values`` are the modes and ``covariances`` those at the estimates; ``at`` is the mean of each term over the rows,
    ``rows`` is how many ratings each level has.

    *Shape:* ``values`` (levels, terms); ``covariances`` (levels, terms, terms); ``at`` (terms,); ``rows`` (levels,).
    """

    group: str
    terms: tuple[str, ...]
    levels: tuple[str, ...]
    values: Floats
    covariances: Floats
    at: Floats
    rows: tuple[int, ...]

    def of(self, term: str) -> tuple[tuple[str, float, float], ...]:
        """Return level, mode and standard error of one term. Errors: :class:`StatisticError` for an unknown term."""
        if term not in self.terms:
            raise StatisticError(f"{self.group} has no random {term!r}", hint=f"it has {', '.join(self.terms)}")
        number = self.terms.index(term)
        errors = np.sqrt(self.covariances[:, number, number])
        return tuple(zip(self.levels, self.values[:, number].tolist(), errors.tolist(), strict=True))

    def severity(self) -> tuple[tuple[str, float, float], ...]:
        """Return level, severity and standard error: minus the effect of the level at the mean of the predictors.

        *Higher means:* lower ratings of the same items.
        """
        errors = np.sqrt(np.einsum("i,lij,j->l", self.at, self.covariances, self.at))
        return tuple(zip(self.levels, (-(self.values @ self.at)).tolist(), errors.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class OrdinalFit:
    """A fitted cumulative link mixed model.

    ``categories`` are the values of the response in order; a threshold is between any two. ``optima`` holds the
    log-likelihood that each start reached, in order of the starts. ``remarks`` name what did not go well.

    *Unit:* log-likelihoods in nats. *Higher means:* a better fit for ``log_likelihood``, a worse one for AIC and BIC;
    a higher fixed effect means higher ratings.
    """

    formula: str
    fixed_formula: str
    random_effects: str
    link: Link
    log_likelihood: float
    n_parameters: int
    aic: float
    bic: float
    n_observations: int
    levels: tuple[tuple[str, int], ...]
    categories: tuple[float, ...]
    thresholds: tuple[OrdinalTerm, ...]
    fixed: tuple[OrdinalTerm, ...]
    variances: tuple[VarianceComponent, ...]
    converged: bool
    singular: bool
    codings: tuple[Coding, ...]
    optima: tuple[float, ...]
    starts_at_best: int
    remarks: tuple[str, ...]
    modes: Mapping[str, ConditionalModes] = field(repr=False, compare=False)
    search: _Search | None = field(default=None, repr=False, compare=False)

    def effect(self, name: str) -> OrdinalTerm:
        """Return the fixed effect ``name``. Errors: :class:`StatisticError` if the model has no such effect."""
        for effect in self.fixed:
            if effect.name == name:
                return effect
        raise StatisticError(f"no fixed effect {name!r}: the model has {', '.join(e.name for e in self.fixed)}")

    def component(self, group: str, term: str) -> VarianceComponent:
        """Return the variance of ``term`` over ``group``. Errors: :class:`StatisticError` if there is none."""
        for component in self.variances:
            if (component.group, component.term) == (group, term):
                return component
        raise StatisticError(f"no variance component of {term!r} over {group!r} in {self.random_effects}")

    def probabilities(
        self, data: Mapping[str, Column] | None = None, *, random: bool = True, new_levels: bool = False
    ) -> Floats:
        """Return the probability of each category, of the fitted rows or of new rows with the columns of predictors.

        With *random* each row has the random effects of its levels, without it those of a mean level (zero). A level
        that the fitted rows do not have is an error, or with *new_levels* has random effects of zero.

        *Shape:* (rows, categories). *Range:* 0 to 1, each row sums to 1.

        Errors: :class:`InputError` for an unknown level, a missing column or value; :class:`StatisticError` for a fit
        without its data or without random effects.
        """
        if self.search is None:
            raise StatisticError("this fit was made without its data, so it makes no predictions")
        design = self.search.design
        formula, rows = design.formula, design.data
        indices = {name: grouping.index for name, grouping in rows.groups.items()}
        if data is not None:
            columns, indices = new_rows(formula, rows, data, random=random)
            rows = replace(rows, columns=columns, n=len(columns[""]))
        latent = _columns(formula.fixed, rows, intercept=True)[1] @ [effect.estimate for effect in self.fixed]
        if random and not self.modes:
            raise StatisticError(
                "this fit has no random effects: it did not converge", hint="predict with random=False"
            )
        for terms, group in zip(_random(formula, rows)[0] if random else (), self.modes, strict=False):
            known = effects_of_rows(self.modes[group].values, indices[group], group, new_levels=new_levels)
            latent = latent + np.einsum("ij,ij->i", terms, known)
        edges = [threshold.estimate for threshold in self.thresholds]
        from scipy.special import expit, ndtr

        share_below = expit if self.link == "logit" else ndtr
        return np.diff(share_below(np.array(edges) - latent[:, None]), axis=1, prepend=0.0, append=1.0)

    def results(self, **of: str) -> tuple[Estimate, ...]:
        """Return the numbers of the fit: log-likelihood, AIC, thresholds, fixed effects, variances.

        *of* are the parameters of each name that say which model it is: ``ordinal_test="sense", model="full"``.
        """

        def number(statistic: str, value: float, interval: Interval | None = None, **more: Any) -> Estimate:
            about = {key: more.pop(key) for key in ("p", "note", "unit") if key in more}
            name = statistic_name(statistic, **more, **of, link=self.link)
            if interval is not None:
                return Estimate(name, value, interval, n=self.n_observations, **about)
            return Estimate(name, value, n=self.n_observations, **about)

        starts = f"{self.starts_at_best} of {len(self.optima)} starts reached it"
        note = "; ".join([self.formula, starts, *self.remarks])
        estimates = [number("log_likelihood", self.log_likelihood, unit="nats", note=note), number("aic", self.aic)]
        for low, high, threshold in zip(self.categories, self.categories[1:], self.thresholds, strict=False):
            between = f"{low:g}_and_{high:g}"
            estimates.append(number("threshold", threshold.estimate, threshold.interval(), between=between))
        for effect in self.fixed:
            said = f"z = {effect.z:.3f}"
            estimates.append(
                number(
                    "ordinal_effect", effect.estimate, effect.interval(), p=effect.p, note=said, term=plain(effect.name)
                )
            )
        for part in self.variances:
            correlations = ", ".join(f"r with {term} = {r:.3f}" for term, r in part.correlations)
            estimates.append(
                number("variance", part.variance, note=correlations, group=part.group, term=plain(part.term))
            )
        return tuple(estimates)

    def severities(self, group: str, **of: str) -> tuple[Estimate, ...]:
        """Return the severity of each level of *group* as the number of that subject, with Wald's interval.

        Errors: :class:`StatisticError` if *group* is not a grouping factor of the model.
        """
        if group not in self.modes:
            raise StatisticError(f"{group!r} is not a grouping factor of {self.random_effects}")
        name = statistic_name("rater_severity", **of, link=self.link)
        higher = "rates the same items lower"
        return tuple(
            Estimate(name, value, OrdinalTerm(level, value, se).interval(), n=n).about(subject=level, higher=higher)
            for (level, value, se), n in zip(self.modes[group].severity(), self.modes[group].rows, strict=True)
        )


@dataclass(frozen=True, slots=True)
class OrdinalRatio:
    """A likelihood-ratio test of two nested ordinal models, with the random effects that it depends on.

    *Higher means:* a larger ``chi2`` is stronger evidence for the full model.
    """

    chi2: float
    df: int
    p: float
    random_effects: str
    full: OrdinalFit
    reduced: OrdinalFit
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        p = f"p = {self.p:.4g}" if self.p > 0 else "p < 1e-300"
        return f"χ²({self.df}) = {self.chi2:.3f}, {p} ({self.full.link}); random effects: {self.random_effects}"

    def results(self, test: str) -> tuple[Estimate, ...]:
        """Return the numbers of the test, under its name *test*: χ² with p, then those of both models.

        Effects of the reduced model have no p, as those of linear models: they are not what is tested.
        """
        note = "; ".join([f"random effects: {self.random_effects}", *self.remarks])
        name = statistic_name("ordinal_chi2", ordinal_test=test, link=self.full.link, df=self.df)
        chi2 = Estimate(name, self.chi2, n=self.full.n_observations, p=self.p, note=note)
        return (
            chi2,
            *self.full.results(ordinal_test=test, model="full"),
            *(replace(number, p=None) for number in self.reduced.results(ordinal_test=test, model="reduced")),
        )


def fit_ordinal(
    formula: str,
    data: Mapping[str, Column],
    *,
    link: str = "logit",
    starts: int = 3,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
) -> OrdinalFit:
    """Fit a crossed cumulative link mixed model by Laplace's approximation of its maximum likelihood.

    ``formula`` is in the notation of lme4; the different values of the response are its categories, in their order.
    Text predictors are treatment-coded with the level in ``references`` (otherwise the first by code point) as 0. A
    start that meets the optimum of an earlier one ends there. Predictors are scaled inside: χ², p, flags do not depend
    on their units.

    *Shape:* every column (rows,). *Source:* Christensen (2022), R package ordinal 2022.11-16, function clmm; agrees
    with it to 1e-3 in log-likelihood and to 1e-3 standard errors in the estimates.

    Errors: :class:`InputError` for a formula that does not parse, an unknown column, a missing value, no start;
    :class:`StatisticError` for a response with more than 20 values, dependent fixed effects, too many random effects.
    """
    if starts < 1:
        raise InputError(f"{starts} starts: at least one is needed")
    read = read_formula(formula)
    design = _design(read, prepare(read, data, references=references), _known_link(link))
    return _as_fit(design, _maximise(design, design.starting_points(starts, seed)))


def ordinal_likelihood_ratio(
    full_formula: str,
    reduced_formula: str,
    data: Mapping[str, Column],
    *,
    link: str = "logit",
    starts: int = 3,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
) -> OrdinalRatio:
    """Fit two nested ordinal models to the same rows and test them against each other.

    Errors: those of :func:`fit_ordinal` and :func:`compare_ordinal`.
    """
    _check_nested(read_formula(full_formula), read_formula(reduced_formula))
    full = fit_ordinal(full_formula, data, link=link, starts=min(2, starts), seed=seed, references=references)
    return compare_ordinal(full, _fit_from(full, reduced_formula, data, starts, seed, references))


def ordinal_likelihood_ratios(
    models: Mapping[str, NestedModels],
    links: Sequence[str],
    *,
    starts: int = 2,
    seed: int = 0,
    references: Mapping[str, str] | None = None,
) -> dict[tuple[str, str], OrdinalRatio | Undefined]:
    """Test several pairs of nested models as ordinal models, by name and link.

    The counterpart of :func:`lexiscope.analysis.mixed.models.likelihood_ratios`: what cannot be fitted is undefined,
    with the reason. Errors: :class:`InputError` for models that name no column of their data.
    """
    outcomes: dict[tuple[str, str], OrdinalRatio | Undefined] = {}
    for (name, pair), link in product(models.items(), links):
        try:
            outcomes[name, link] = ordinal_likelihood_ratio(
                pair.full, pair.reduced, pair.data, link=link, starts=starts, seed=seed, references=references
            )
        except StatisticError as error:
            undefined = statistic_name("ordinal_chi2", ordinal_test=name, link=link)
            outcomes[name, link] = Undefined(undefined, error.what)
    return outcomes


def _fit_from(
    full: OrdinalFit,
    formula: str,
    data: Mapping[str, Column],
    starts: int,
    seed: int,
    references: Mapping[str, str] | None,
) -> OrdinalFit:
    """Fit a smaller model: the first of its starts is the optimum of the full one, which is near."""
    read = read_formula(formula)
    design = _design(read, prepare(read, data, references=references), full.link)
    points = design.starting_points(starts - 1, seed)
    if full.search is not None:
        source, optimum = full.search.design, full.search.optimum
        near = _start_at(source, optimum.point, design)
        return _as_fit(design, _maximise(design, [near, *points], _shared(source, optimum.information, design)))
    return _as_fit(design, _maximise(design, points))


def _shared(source: _Design, information: Floats, target: _Design) -> Floats | None:
    """Return the information of *source* on the parameters of *target*, if these are among its own."""
    own, wanted = source.labels, target.labels
    if not set(wanted) <= set(own):
        return None
    places = [own.index(label) for label in wanted]
    return information[np.ix_(places, places)]


def compare_ordinal(full: OrdinalFit, reduced: OrdinalFit) -> OrdinalRatio:
    """Test two ordinal fits of the same rows against each other: χ² = 2 (log L_full - log L_reduced).

    Each model is first started once more at the optimum of the other; a better optimum that this finds is kept.

    Errors: :class:`StatisticError` if the models are not nested, differ in link or number of rows, or if the full
    model fits worse (a local optimum).
    """
    if full.n_observations != reduced.n_observations or full.categories != reduced.categories:
        raise StatisticError(f"the models saw {full.n_observations} and {reduced.n_observations} rows or other ratings")
    if full.link != reduced.link:
        raise StatisticError(f"the links differ: {full.link} and {reduced.link}", hint="fit both with one link")
    _check_nested(read_formula(full.formula), read_formula(reduced.formula))
    reduced = _restarted(reduced, full)
    full = _restarted(full, reduced)
    chi2 = 2 * (full.log_likelihood - reduced.log_likelihood)
    if chi2 < -2 * SAME_OPTIMUM:
        raise StatisticError(
            f"the full model fits worse ({full.log_likelihood:.4f}) than the reduced ({reduced.log_likelihood:.4f})",
            why="it cannot, so its best start stopped at a local optimum",
            hint="fit again with more starts",
        )
    df = full.n_parameters - reduced.n_parameters
    if df < 1:
        raise StatisticError(f"both models have {full.n_parameters} parameters: they are one model")
    notes = [f"{name} model: {remark}" for name, model in (("full", full), ("reduced", reduced))
             for remark in model.remarks]  # fmt: skip
    effects = full.random_effects
    if effects != reduced.random_effects:
        effects = f"{effects} against {reduced.random_effects}"
        notes.append("variances are tested on the boundary of what they can be: p is too large, up to twice")
    from scipy.special import chdtrc

    return OrdinalRatio(max(chi2, 0.0), df, float(chdtrc(df, max(chi2, 0.0))), effects, full, reduced, tuple(notes))


def _known_link(link: str) -> Link:
    known: dict[str, Link] = {"logit": "logit", "probit": "probit"}
    if link not in known:
        raise InputError(f"unknown link {link!r}", hint="logit or probit")
    return known[link]


def _check_nested(full: MixedFormula, reduced: MixedFormula) -> None:
    if not full.contains(reduced) or reduced.contains(full):
        raise StatisticError(
            f"the models are not nested: {reduced} is not {full} with effects taken away",
            hint="compare models that are not nested by AIC",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """What a fit came from, so that its model can be started once more."""

    design: _Design
    optimum: _OrdinalOptimum


def _restarted(fitted: OrdinalFit, other: OrdinalFit) -> OrdinalFit:
    """Return *fitted*, or a better fit of its model that starts at the optimum of *other*."""
    if fitted.search is None or other.search is None:
        return fitted
    design, known = fitted.search.design, fitted.search.optimum
    start = _start_at(other.search.design, other.search.optimum.point, design)
    design.laplace.forget()
    reached_point, value = _climb(design, start, known, known.information)
    reached = (*known.reached, value)
    if value <= known.log_likelihood + SAME_OPTIMUM:
        return replace(
            fitted, optima=reached, starts_at_best=sum(v > fitted.log_likelihood - SAME_OPTIMUM for v in reached)
        )
    better = replace(_polish(design, reached_point, value), reached=reached)
    return _as_fit(design, better, _FROM_COMPARED)


def _start_at(source: _Design, point: Floats, target: _Design) -> Floats:
    """Return the point of *target* that says what *point* says of *source*; effects that it does not have are zero."""
    thresholds, gamma, scales = source.unpack(point)
    known = dict(zip(source.names, source.coefficients(gamma), strict=True))
    given = np.array([known.get(name, 0.0) for name in target.names])
    fixed = np.linalg.solve(target.basis.fixed[1:, 1:], given) if given.size else given
    width = len(point)
    rows: dict[tuple[str, str], Floats] = {}
    for number, (bracket, block) in enumerate(zip(source.brackets, source.basis.blocks, strict=True)):
        place = slice(bracket.first, bracket.first + len(bracket.terms))
        wide = np.zeros((len(bracket.terms), width * len(source.brackets)))
        wide[:, number * width : number * width + len(bracket.terms)] = block @ scales[bracket.factor][place, place]
        rows |= {(bracket.part.group, term): row for term, row in zip(bracket.terms, wide, strict=True)}
    triangle: list[float] = []
    empty = np.zeros(width * len(source.brackets))
    for bracket, block in zip(target.brackets, target.basis.blocks, strict=True):
        own = np.array([rows.get((bracket.part.group, term), empty) for term in bracket.terms])
        lower = np.asarray(np.linalg.qr(np.linalg.solve(block, own).T, mode="r")).T
        lower = lower * np.where(np.diag(lower) < 0, -1.0, 1.0)
        triangle += [float(lower[i, j]) for i in range(len(bracket.terms)) for j in range(i + 1)]
    return np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), fixed, triangle])


def _as_fit(design: _Design, optimum: _OrdinalOptimum, *more: str) -> OrdinalFit:
    """Collect what a report needs from an optimum, in the units of the data."""
    from scipy.linalg import block_diag

    thresholds, gamma, scales = design.unpack(optimum.point)
    first, fixed = design.n_thresholds, design.n_thresholds + len(design.names)
    # directions without curvature (a correlation at a zero variance) have no covariance
    values, vectors = np.linalg.eigh(optimum.information)
    kept = values > 1e-10 * values.max()
    covariance = np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)
    # thresholds given = thresholds fitted - (the fixed effects' values where all predictors are zero)
    change, shift = design.basis.fixed[1:, 1:], design.basis.fixed[0, 1:]
    jacobian = np.zeros((fixed, fixed))
    jacobian[:first, 0] = 1.0
    jacobian[1:first, 1:first] = np.tril(np.tile(np.exp(optimum.point[1:first]), (first - 1, 1)))
    jacobian[:first, first:] = -shift
    jacobian[first:, first:] = change
    errors = np.sqrt(np.maximum(np.diag(jacobian @ covariance[:fixed, :fixed] @ jacobian.T), 0.0))
    given = [*(thresholds - shift @ gamma), *(change @ gamma)]
    edges = [f"{low:g}|{high:g}" for low, high in zip(design.values, design.values[1:], strict=False)]
    terms = [
        OrdinalTerm(name, float(value), float(se))
        for name, value, se in zip((*edges, *design.names), given, errors, strict=True)
    ]
    converged, singular, notes = _findings(design, optimum, covariance)
    parameters, n = design.n_parameters, design.data.n
    changes = []
    for number in range(len(scales)):
        blocks = [
            b for bracket, b in zip(design.brackets, design.basis.blocks, strict=True) if bracket.factor == number
        ]
        changes.append(block_diag(*blocks))
    return OrdinalFit(
        formula=str(design.formula),
        fixed_formula=design.formula.fixed_text,
        random_effects=design.formula.random_text,
        link=design.link,
        log_likelihood=optimum.log_likelihood,
        n_parameters=parameters,
        aic=2 * parameters - 2 * optimum.log_likelihood,
        bic=parameters * float(np.log(n)) - 2 * optimum.log_likelihood,
        n_observations=n,
        levels=design.data.levels,
        categories=design.values,
        thresholds=tuple(terms[:first]),
        fixed=tuple(terms[first:]),
        variances=_variances(design, scales),
        converged=converged,
        singular=singular,
        codings=design.data.codings,
        optima=optimum.reached,
        starts_at_best=optimum.n_at_best,
        remarks=(*design.data.remarks, *notes, *more),
        modes=_modes(design, thresholds, gamma, scales, changes),
        search=_Search(design, optimum),
    )


def _findings(design: _Design, optimum: _OrdinalOptimum, covariance: Floats) -> tuple[bool, bool, tuple[str, ...]]:
    """Return whether the fit converged, whether it is singular, and remarks on both."""
    first = design.n_thresholds + len(design.names)
    singular = bool(np.any(design.is_diagonal & (np.abs(optimum.point[first:]) < 10 * SINGULAR)))
    smallest = float(np.linalg.eigvalsh(optimum.information).min())
    is_maximum = smallest > -1e-6 * float(np.abs(optimum.information).max())
    lost = np.diag(covariance)[:first] > _SEPARATED**2
    unknown = lost | (np.diag(optimum.information)[:first] < 1e-6)
    converged = optimum.gain < _STATIONARY and is_maximum and not unknown.any()
    notes = []
    if unknown.any():
        notes.append("not converged: a threshold or effect is not determined (categories are separated by a predictor)")
    elif not converged:
        notes.append("not converged: the best start did not end at a maximum of the likelihood")
    if singular:
        notes.append("singular: a variance is zero or a correlation is plus or minus one")
    others = [value for value in optimum.reached if value < optimum.log_likelihood - SAME_OPTIMUM]
    if others:
        notes.append(
            f"several optima: {optimum.n_at_best} of {len(optimum.reached)} starts reached the best, log-likelihood "
            f"{optimum.log_likelihood:.4f}; others ended at {', '.join(f'{value:.4f}' for value in sorted(others))}"
        )
    return converged, singular, tuple(notes)


def _variances(design: _Design, scales: Sequence[Floats]) -> tuple[VarianceComponent, ...]:
    components = []
    for bracket, block in zip(design.brackets, design.basis.blocks, strict=True):
        place = slice(bracket.first, bracket.first + len(bracket.terms))
        factor = block @ scales[bracket.factor][place, place]
        for i, name in enumerate(bracket.terms):
            earlier = range(i if bracket.correlated else 0)
            correlations = tuple((bracket.terms[j], correlation(factor[i], factor[j])) for j in earlier)
            sd = float(np.linalg.norm(factor[i]))
            components.append(VarianceComponent(bracket.part.group, name, sd**2, sd, correlations))
    return tuple(components)


def _modes(
    design: _Design, thresholds: Floats, gamma: Floats, scales: Sequence[Floats], changes: Sequence[Floats]
) -> dict[str, ConditionalModes]:
    mode = design.laplace.mode(thresholds, gamma, scales)
    if mode is None:
        return {}
    crossed = design.laplace.crossed
    cells = dict(
        zip(((pair.first, pair.second) for pair in crossed.pairs), mode.factorised.inverse_cells(), strict=True)
    )
    modes = {}
    for number, (factor, scale, change) in enumerate(zip(crossed.factors, scales, changes, strict=True)):
        terms = [term for bracket in design.brackets if bracket.factor == number for term in bracket.terms]
        turned = change @ scale
        modes[factor.name] = ConditionalModes(
            factor.name,
            tuple(terms),
            design.levels[number],
            mode.effects[number] @ turned.T,
            turned @ cells[number, number] @ turned.T,
            np.linalg.solve(change.T, factor.terms.mean(axis=0)),
            tuple(np.bincount(factor.level, minlength=factor.n_levels).tolist()),
        )
    return modes


# -- the design -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Bracket:
    """One bracket of the formula that has a separate covariance: where its terms are within its factor."""

    part: RandomPart
    factor: int
    terms: tuple[str, ...]
    first: int
    correlated: bool


@dataclass(frozen=True, eq=False)
class _Design:
    """The categories, the fixed effects and the random effects of a model, as given and in the fitted basis."""

    formula: MixedFormula
    data: ModelData
    link: Link
    values: tuple[float, ...]
    names: tuple[str, ...]
    brackets: tuple[_Bracket, ...]
    levels: tuple[tuple[str, ...], ...]
    laplace: Laplace
    basis: Basis

    @property
    def n_thresholds(self) -> int:
        return len(self.values) - 1

    def coefficients(self, gamma: Floats) -> Floats:
        """Return the fixed effects in given units."""
        return np.asarray(self.basis.fixed[1:, 1:] @ gamma)

    @cached_property
    def labels(self) -> list[object]:
        """What each parameter is, the same in two models of the same rows."""
        thresholds: list[object] = [("threshold", i) for i in range(self.n_thresholds)]
        terms = [
            (bracket.part.group, bracket.terms[i], bracket.terms[j])
            for bracket in self.brackets
            for i in range(len(bracket.terms))
            for j in range(i + 1)
        ]
        return [*thresholds, *self.names, *terms]

    @cached_property
    def triangle(self) -> list[tuple[int, int, int]]:
        """Factor, row and column of every entry of Λ that is estimated, bracket by bracket."""
        return [
            (bracket.factor, bracket.first + i, bracket.first + j)
            for bracket in self.brackets
            for i in range(len(bracket.terms))
            for j in range(i + 1)
            if bracket.correlated or i == j
        ]

    @cached_property
    def is_diagonal(self) -> NDArray[np.bool_]:
        """Which of these entries are standard deviations."""
        return np.array([i == j for _, i, j in self.triangle], dtype=bool)

    @property
    def n_parameters(self) -> int:
        return self.n_thresholds + len(self.names) + len(self.triangle)

    def unpack(self, point: Floats) -> tuple[Floats, Floats, list[Floats]]:
        """Return thresholds, β and every Λ, in the fitted basis."""
        first, fixed = self.n_thresholds, self.n_thresholds + len(self.names)
        with np.errstate(over="ignore"):
            thresholds = point[0] + np.concatenate([[0.0], np.cumsum(np.exp(point[1:first]))])
        scales = [np.zeros((factor.n_terms, factor.n_terms)) for factor in self.laplace.crossed.factors]
        for (factor, i, j), value in zip(self.triangle, point[fixed:], strict=True):
            scales[factor][i, j] = value
        return thresholds, point[first:fixed], scales

    def evaluate(self, point: Floats) -> tuple[float, Floats]:
        """Return log-likelihood and gradient; minus infinity where the model has no probability."""
        thresholds, beta, scales = self.unpack(point)
        mode = self.laplace.mode(thresholds, beta, scales) if np.all(np.diff(thresholds) > 0) else None
        if mode is None:
            return -np.inf, np.zeros_like(point)
        by_threshold, by_beta, by_scale = self.laplace.gradient(mode, scales)
        # θ₁ moves all thresholds; the log of a gap moves those above it
        above = np.cumsum(by_threshold[::-1])[::-1]
        gaps = np.exp(point[1 : self.n_thresholds])
        by_triangle = np.array([by_scale[factor][i, j] for factor, i, j in self.triangle])
        return mode.log_likelihood, np.concatenate([above[:1], above[1:] * gaps, by_beta, by_triangle])

    def starting_points(self, starts: int, seed: int) -> list[Floats]:
        """Return points with standard deviations of one, of one third, then random ones; no effects."""
        from scipy.special import logit, ndtri

        counts = np.bincount(self.laplace.response, minlength=len(self.values))
        shares = np.cumsum(counts)[:-1] / counts.sum()
        random, points = np.random.default_rng(seed), []
        for number in range(starts):
            spread = (
                np.array([1.0, 0.3])[number] if number < 2 else np.exp(random.normal(-0.5, 0.8, len(self.triangle)))
            )
            off = 0.0 if number < 2 else random.normal(0.0, 0.3, len(self.triangle))
            triangle = np.where(self.is_diagonal, spread, off) * np.sqrt(_LATENT_VARIANCE[self.link] / 3)
            # the same shares of the categories, whatever the random effects add to the variance
            wider = np.sqrt(1 + float(triangle @ triangle) / _LATENT_VARIANCE[self.link])
            thresholds = np.asarray(logit(shares) if self.link == "logit" else ndtri(shares)) * wider
            points.append(
                np.concatenate([thresholds[:1], np.log(np.diff(thresholds)), np.zeros(len(self.names)), triangle])
            )
        return points

    def curvature(self) -> Floats:
        """Return a guess of the information on each parameter, by which the first steps are scaled."""
        n = self.laplace.response.size
        levels = [self.laplace.crossed.factors[factor].n_levels for factor, _, _ in self.triangle]
        return np.concatenate([np.full(self.n_thresholds + len(self.names), 0.2 * n), np.array(levels, dtype=float)])


def _design(formula: MixedFormula, data: ModelData, link: Link) -> _Design:
    values, response = np.unique(data.columns[formula.response], return_inverse=True)
    if not formula.intercept:
        raise InputError("an ordinal model has thresholds instead of an intercept", hint="remove the 0 of the formula")
    if values.size > MOST_CATEGORIES:
        raise StatisticError(
            f"{formula.response} has {values.size} different values: an ordinal model takes at most {MOST_CATEGORIES} "
            "categories, a linear one any number",
            why="means and slider positions are not categories, and each threshold needs ratings on both sides",
            hint="use the linear model, or round the ratings to the points of their scale",
        )
    names, fixed = _columns(formula.fixed, data, intercept=True)
    every = np.column_stack([np.ones(data.n), fixed])
    if n_independent(every) < every.shape[1]:
        raise StatisticError(
            f"the fixed effects are not independent of each other and of the thresholds: {', '.join(names)}",
            why="at least one effect is a sum of multiples of the others, so their coefficients are not determined",
            hint="remove the redundant predictor from the formula",
        )
    given, brackets, levels, groups = _random(formula, data)
    basis = fitted_basis(
        np.zeros(data.n), every, [given[b.factor][:, b.first : b.first + len(b.terms)] for b in brackets],
        [bracket.correlated for bracket in brackets],
    )  # fmt: skip
    fitted = [np.zeros_like(columns) for columns in given]
    for bracket, block in zip(brackets, basis.blocks, strict=True):
        place = slice(bracket.first, bracket.first + len(bracket.terms))
        fitted[bracket.factor][:, place] = given[bracket.factor][:, place] @ block
    factors = [
        Factor(name, level, len(known), columns)
        for (name, level), known, columns in zip(groups, levels, fitted, strict=True)
    ]
    columns = np.ascontiguousarray((every @ basis.fixed)[:, 1:])
    laplace = Laplace(response, columns, Crossed(factors), link)
    return _Design(formula, data, link, tuple(values.tolist()), names, brackets, levels, laplace, basis)


def _random(
    formula: MixedFormula, data: ModelData
) -> tuple[list[Floats], tuple[_Bracket, ...], tuple[tuple[str, ...], ...], list[tuple[str, NDArray[np.intp]]]]:
    """Return the columns of each grouping factor, the brackets, its levels, and its name with the level by row."""
    columns: dict[str, list[Floats]] = {}
    brackets: list[_Bracket] = []
    for part in formula.random:
        names, terms = _columns(part.slopes, data, intercept=part.intercept)
        if part.intercept:
            names, terms = ("(Intercept)", *names), np.column_stack([np.ones(data.n), terms])
        own = columns.setdefault(part.group, [])
        number, first = list(columns).index(part.group), sum(block.shape[1] for block in own)
        own.append(terms)
        if part.correlated:
            brackets.append(_Bracket(part, number, names, first, correlated=len(names) > 1))
        else:
            brackets += [_Bracket(part, number, (name,), first + i, correlated=False) for i, name in enumerate(names)]
    groups, levels = [], []
    for group in columns:
        grouping = data.groups[group]
        groups.append((group, grouping.index))
        levels.append(tuple(grouping.levels.tolist()))
    return [np.column_stack(blocks) for blocks in columns.values()], tuple(brackets), tuple(levels), groups


def _columns(terms: Sequence[str], data: ModelData, *, intercept: bool) -> tuple[tuple[str, ...], Floats]:
    """Return the columns of some terms and their names, coded as R codes them.

    A text predictor with more than two levels has a column for each level but the first, or for every level where its
    margin is not among the terms (R's rule for factors in interactions).
    """
    wide = {coding.column: coding.levels for coding in data.codings if len(coding.levels) > 2}
    present = {frozenset(term.split(":")) for term in terms}
    if intercept:
        present.add(frozenset())
    names: list[str] = []
    columns: list[Floats] = []
    for term in terms:
        parts = term.split(":")
        choices: list[list[tuple[str, Floats]]] = []
        for part in parts:
            values = np.asarray(data.columns[part], dtype=np.float64)
            if part not in wide:
                choices.append([(part, values)])
                continue
            skipped = 1 if frozenset(parts) - {part} in present else 0
            choices.append(
                [(f"{part}[{level}]", (values == i).astype(float)) for i, level in enumerate(wide[part])][skipped:]
            )
        # the first part varies fastest, as in R
        for chosen in product(*reversed(choices)):
            ordered = chosen[::-1]
            names.append(":".join(name for name, _ in ordered))
            columns.append(np.prod([column for _, column in ordered], axis=0))
    return tuple(names), np.column_stack(columns) if columns else np.zeros((data.n, 0))


# -- the maximum ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _OrdinalOptimum:
    """The best point of the starts, the information there, and what each start reached."""

    point: Floats
    log_likelihood: float
    information: Floats
    gain: float
    reached: tuple[float, ...]

    @property
    def n_at_best(self) -> int:
        return sum(value > self.log_likelihood - SAME_OPTIMUM for value in self.reached)


class _MetOptimum(Exception):
    """A start came so near a known optimum that it ends there."""


def _maximise(design: _Design, points: Sequence[Floats], near: Floats | None = None) -> _OrdinalOptimum:
    """Search from every point; a start ends early where it meets the optimum of an earlier one.

    The information at an optimum (at first: of a model *near* to this one, or a guess) scales the steps of a search.
    """
    best: _OrdinalOptimum | None = None
    reached: list[float] = []
    scaling = near if near is not None else np.diag(design.curvature())
    for point in points:
        design.laplace.forget()
        reached_point, value = _climb(design, point, best, scaling)
        if not np.isfinite(value):
            continue
        if best is None or value > best.log_likelihood + 1e-7:
            # what is left to gain matters more than where the search stopped
            polished = _polish(design, reached_point, value)
            if best is None or polished.log_likelihood > best.log_likelihood:
                best, scaling = polished, polished.information
            value = polished.log_likelihood
        reached.append(value)
    if best is None:
        raise StatisticError("the ordinal model could not be fitted from any start")
    return replace(best, reached=tuple(reached))


def _climb(design: _Design, point: Floats, known: _OrdinalOptimum | None, scaling: Floats) -> tuple[Floats, float]:
    """Search upwards by BFGS from a point; return where it ended and the value there."""
    from scipy.optimize import minimize

    best: list[Any] = [point, -np.inf]

    def loss(at: Floats) -> tuple[float, Floats]:
        value, gradient = design.evaluate(at)
        if value > best[1]:
            best[:] = [at.copy(), value]
        if not np.isfinite(value):
            return 1e300, np.zeros_like(at)
        if known is not None and _meets(design, at, value, known):
            raise _MetOptimum
        return -value, -gradient

    values, vectors = np.linalg.eigh(scaling)
    size = np.maximum(np.abs(values), 1e-3 * np.abs(values).max())
    inverse = (vectors / size) @ vectors.T
    options = {"gtol": 1e-3, "hess_inv0": (inverse + inverse.T) / 2, "maxiter": 300}
    try:
        minimize(loss, point, jac=True, method="BFGS", options=options)
    except _MetOptimum:
        if known is not None:
            return known.point, known.log_likelihood
    return best[0], best[1]


def _meets(design: _Design, point: Floats, value: float, known: _OrdinalOptimum) -> bool:
    """Whether a point is on the slope of a known optimum, where the log-likelihood is quadratic."""
    if not 0 <= known.log_likelihood - value < 0.5:
        return False
    away = _upright(design, point) - _upright(design, known.point)
    distance = float(away @ known.information @ away) / 2
    return abs(distance - (known.log_likelihood - value)) < SAME_OPTIMUM


def _upright(design: _Design, point: Floats) -> Floats:
    """Turn the columns of Λ so that no standard deviation is negative: a column and its opposite are one model."""
    turned = point.copy()
    first = design.n_thresholds + len(design.names)
    negative = {
        (factor, j)
        for (factor, i, j), value in zip(design.triangle, point[first:], strict=True)
        if i == j and value < 0
    }
    for number, (factor, _, j) in enumerate(design.triangle):
        if (factor, j) in negative:
            turned[first + number] *= -1
    return turned


def _polish(design: _Design, point: Floats, value: float) -> _OrdinalOptimum:
    """Continue by Newton's method with differences of the gradient, and leave edges where the likelihood rises."""
    point = _upright(design, point)
    for _ in range(8):
        information, gradient = _information(design, point)
        step, gain = _newton_step(information, gradient)
        rising = _rising_edge(design, point, information)
        if rising is not None:
            # at a standard deviation of zero the gradient vanishes by symmetry, whatever lies next to it
            point, value = _climb(design, rising, None, np.diag(design.curvature()))
            point = _upright(design, point)
            continue
        if gain < _STATIONARY / 100:
            break
        moved, share = False, 1.0
        while share > 1e-3 and not moved:
            there, _ = design.evaluate(point + share * step)
            moved = there > value
            if moved:
                point, value = point + share * step, there
            share /= 4
        if not moved:
            break
    return _OrdinalOptimum(_upright(design, point), value, information, gain, ())


def _information(design: _Design, point: Floats) -> tuple[Floats, Floats]:
    """Return minus the second derivatives of the log-likelihood, by central differences of its gradient, and that."""
    second = np.empty((point.size, point.size))
    _, gradient = design.evaluate(point)
    laplace = design.laplace
    middle = laplace.last
    for number in range(point.size):
        away = np.zeros(point.size)
        away[number] = _STEP
        laplace.last = middle
        _, up = design.evaluate(point + away)
        # the mode on the other side, to second order
        laplace.last = [2 * part - there for part, there in zip(middle, laplace.last, strict=True)]
        _, down = design.evaluate(point - away)
        second[number] = (up - down) / (2 * _STEP)
    laplace.last = middle
    return -(second + second.T) / 2, gradient


def _newton_step(information: Floats, gradient: Floats) -> tuple[Floats, float]:
    """Return the step to the maximum and the gain that it promises; directions without curvature are left alone."""
    values, vectors = np.linalg.eigh(information)
    size = np.abs(values)
    kept = size > 1e-8 * size.max()
    along = np.where(kept, (vectors.T @ gradient) / np.where(kept, size, 1.0), 0.0)
    return vectors @ along, float(along**2 @ size) / 2


def _rising_edge(design: _Design, point: Floats, information: Floats) -> Floats | None:
    """Return a point inside where a standard deviation is zero and the likelihood rises away from it."""
    first = design.n_thresholds + len(design.names)
    at_edge = np.flatnonzero(design.is_diagonal & (np.abs(point[first:]) < 10 * SINGULAR)) + first
    rising = [number for number in at_edge if information[number, number] < 0]
    if not rising:
        return None
    inside = point.copy()
    inside[rising] = 0.2
    return inside
