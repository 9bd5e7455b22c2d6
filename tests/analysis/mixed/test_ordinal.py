"""Ordinal crossed models: likelihood, gradient, invariance, and what is said where a fit did not go well."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from lexiscope.analysis.mixed.data import prepare
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.laplace import Link, row_terms
from lexiscope.analysis.mixed.models import fit
from lexiscope.analysis.mixed.ordinal import (
    OrdinalFit,
    _design,
    compare_ordinal,
    fit_ordinal,
    ordinal_likelihood_ratio,
)
from lexiscope.core.errors import InputError, StatisticError

Columns = dict[str, Any]
FULL, REDUCED = "y ~ x + z + (1 + x | P) + (1 | W)", "y ~ x + (1 + x | P) + (1 | W)"


@cache
def trials(seed: int = 2, people: int = 20, items: int = 15, word_sd: float = 0.8) -> Columns:
    """People × items with four categories, an effect of x that varies over people, and a small effect of z."""
    random = np.random.default_rng(seed)
    person, item = (grid.ravel() for grid in np.meshgrid(np.arange(people), np.arange(items), indexing="ij"))
    x, z = random.normal(size=person.size), random.normal(size=items)[item]
    latent = 0.8 * x + 0.3 * z + random.normal(0, 0.7, people)[person] + random.normal(0, 0.5, people)[person] * x
    latent = latent + random.normal(0, word_sd, items)[item] + random.logistic(size=person.size)
    return {"y": np.digitize(latent, [-1.2, 0.1, 1.4]) + 1, "x": x, "z": z, "P": person, "W": item}


# -- the likelihood -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_terms_of_a_row_are_those_of_the_distribution(link: Link) -> None:
    """log P is that of scipy's distribution, and each derivative is the slope of the one before it."""
    upper = np.array([np.inf, 0.7, -1.0, 3.2, 9.0, -7.5])
    lower = np.array([0.3, -0.4, -np.inf, 3.1, 8.0, -8.0])
    distribution = expit if link == "logit" else norm.cdf
    given = row_terms(link, upper, lower)
    # tails from the other side, where 1 - F keeps its digits
    direct = np.where(
        upper + lower > 0, distribution(-lower) - distribution(-upper), distribution(upper) - distribution(lower)
    )
    assert given.log_p == pytest.approx(np.log(direct), abs=1e-10)
    h = 1e-5
    for row in range(upper.size):

        def at(eta: float, a: float, b: float, name: str, row: int = row) -> float:
            terms = row_terms(link, upper[row : row + 1] - eta + a, lower[row : row + 1] - eta + b)
            return float(getattr(terms, name)[0])

        def slope(name: str, step: tuple[float, float, float]) -> float:
            e, a, b = step
            return (at(e, a, b, name) - at(-e, -a, -b, name)) / (2 * h)

        eta, high, low = (h, 0.0, 0.0), (0.0, h, 0.0), (0.0, 0.0, h)
        assert given.slope[row] == pytest.approx(slope("log_p", eta), abs=1e-6, rel=1e-6)
        assert given.weight[row] == pytest.approx(-slope("slope", eta), abs=1e-6)
        assert given.bend[row] == pytest.approx(slope("weight", eta), abs=1e-6)
        for end, step in enumerate((high, low)):
            assert given.by_threshold[end][row] == pytest.approx(slope("log_p", step), abs=1e-5, rel=1e-6)
            assert given.slope_by_threshold[end][row] == pytest.approx(slope("slope", step), abs=1e-6)
            assert given.weight_by_threshold[end][row] == pytest.approx(slope("weight", step), abs=1e-6)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("random", ["(1 + x | P) + (1 | W)", "(1 + x || P) + (1 + x | W) + (1 | P:W)"])
def test_gradient_is_that_of_the_likelihood(link: Link, random: str) -> None:
    """The exact gradient equals differences of the log-likelihood, for thresholds, effects and random effects."""
    given = dict(trials())
    rows = slice(0, 300)
    given = {name: np.concatenate([column[rows], column[:60]]) for name, column in given.items()}
    read = read_formula(f"y ~ x + z + {random}")
    design = _design(read, prepare(read, given), link)
    point = design.starting_points(1, 0)[0] + np.random.default_rng(3).normal(0, 0.1, design.n_parameters)
    _, exact = design.evaluate(point)
    steps = 1e-5 * np.eye(point.size)
    differences = [(design.evaluate(point + h)[0] - design.evaluate(point - h)[0]) / 2e-5 for h in steps]
    assert exact == pytest.approx(differences, abs=1e-4, rel=1e-6)


def integrated(fitted: OrdinalFit, data: Columns) -> float:
    """The log-likelihood of one grouping factor with an intercept by quadrature with 60 nodes around each mode."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    cuts = np.array([-np.inf, *(threshold.estimate for threshold in fitted.thresholds), np.inf])
    category = np.searchsorted(np.array(fitted.categories), data["y"])
    sd = fitted.component("P", "(Intercept)").sd
    total = 0.0
    for person, centre, spread in fitted.modes["P"].of("(Intercept)"):
        rows = np.flatnonzero(data["P"].astype(str) == person)
        b = centre + spread * nodes
        eta = fitted.effect("x").estimate * data["x"][rows, None] + b
        p = expit(cuts[category[rows] + 1][:, None] - eta) - expit(cuts[category[rows]][:, None] - eta)
        density = np.exp(np.log(p).sum(axis=0) + norm.logpdf(b, scale=sd) + nodes**2 / 2)
        total += float(np.log(spread * weights @ density))
    return total


@pytest.mark.parametrize(("items", "apart"), [(4, 0.6), (30, 0.05)])
def test_laplace_is_near_the_integral_and_nearer_with_more_ratings(items: int, apart: float) -> None:
    """With one factor the integral can be had: Laplace's approximation differs by little, less per larger cluster.

    Of 15 people with 4 ratings each the two log-likelihoods differ by less than .6, with 30 ratings by less than .05.
    """
    given = trials(seed=5, people=15, items=items, word_sd=0.0)
    fitted = fit_ordinal("y ~ x + (1 | P)", given, starts=1)
    assert abs(fitted.log_likelihood - integrated(fitted, given)) < apart


# -- invariance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-6, 3, 6])
def test_results_do_not_depend_on_the_unit_of_a_predictor(power: int) -> None:
    """χ², p and flags of x × 10^k and z × 10^k are the same; estimates and standard errors are divided by 10^k."""
    given, unit = trials(), 10.0**power
    plain = ordinal_likelihood_ratio(FULL, REDUCED, given, starts=1)
    other = ordinal_likelihood_ratio(FULL, REDUCED, given | {"x": unit * given["x"], "z": unit * given["z"]}, starts=1)
    assert other.chi2 == pytest.approx(plain.chi2, rel=1e-6)
    assert (other.full.converged, other.full.singular) == (plain.full.converged, plain.full.singular) == (True, False)
    for name in ("x", "z"):
        assert unit * other.full.effect(name).estimate == pytest.approx(plain.full.effect(name).estimate, rel=1e-5)
        assert unit * other.full.effect(name).se == pytest.approx(plain.full.effect(name).se, rel=1e-5)
    assert unit * other.full.component("P", "x").sd == pytest.approx(plain.full.component("P", "x").sd, rel=1e-4)


def test_the_zero_point_of_a_predictor_moves_the_thresholds_only() -> None:
    """x + 2000 is the same model: thresholds move by 2000 times the effect, severity at the mean does not move."""
    given = trials()
    plain, moved = (fit_ordinal(FULL, given | {"x": given["x"] + far}, starts=1) for far in (0.0, 2000.0))
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-6)
    shift = 2000 * plain.effect("x").estimate
    for one, other in zip(plain.thresholds, moved.thresholds, strict=True):
        assert other.estimate - shift == pytest.approx(one.estimate, abs=0.02)
    severities = [[value for _, value, _ in fitted.modes["P"].severity()] for fitted in (plain, moved)]
    assert severities[1] == pytest.approx(severities[0], abs=1e-4)


def test_the_names_of_the_categories_do_not_matter() -> None:
    """1, 2, 3, 4 and 10, 20, 40, 80 are the same four ordered categories."""
    given = trials()
    one = fit_ordinal(REDUCED, given, starts=1)
    other = fit_ordinal(REDUCED, given | {"y": 5 * 2 ** given["y"]}, starts=1)
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-9)
    assert [term.name for term in other.thresholds] == ["10|20", "20|40", "40|80"]


# -- what is said ---------------------------------------------------------------------------------------------------


def test_effects_are_found_again() -> None:
    """What the ratings were made with lies near the estimates: effects, thresholds, and the SD of words."""
    fitted = fit_ordinal(FULL, trials(seed=8, people=60, items=30))
    for term, truth in zip((*fitted.thresholds, *fitted.fixed), (-1.2, 0.1, 1.4, 0.8, 0.3), strict=True):
        assert abs(term.estimate - truth) < 3 * term.se
    assert fitted.component("W", "(Intercept)").sd == pytest.approx(0.8, abs=0.3)
    assert fitted.converged
    assert not fitted.singular
    assert fitted.starts_at_best == len(fitted.optima) == 3


def test_a_test_is_that_of_both_likelihoods() -> None:
    """χ² = 2 (log L full - log L reduced) with its upper tail; AIC = 2 k - 2 log L; the names say link and test."""
    test = ordinal_likelihood_ratio(FULL, REDUCED, trials())
    assert test.chi2 == pytest.approx(2 * (test.full.log_likelihood - test.reduced.log_likelihood))
    assert test.df == 1
    assert test.p == pytest.approx(2 * norm.sf(np.sqrt(test.chi2)))
    assert test.full.n_parameters == 3 + 2 + 3 + 1
    assert test.full.aic == pytest.approx(18 - 2 * test.full.log_likelihood)
    first, *others = test.results("z")
    assert first.name == "ordinal_chi2(ordinal_test=z,link=logit,df=1)"
    threshold = next(result for result in others if result.name.startswith("threshold(between=1_and_2"))
    assert threshold.interval.low < threshold.value < threshold.interval.high
    assert len({result.name for result in others}) == len(others)


def test_severe_raters_rate_lower() -> None:
    """Severity goes against the mean rating of a person; its interval is narrower than people differ."""
    given = trials()
    fitted = fit_ordinal(FULL, given, starts=1)
    severities = fitted.severities("P", ordinal_test="z")
    means = [given["y"][given["P"].astype(str) == one.subject].mean() for one in severities]
    assert np.corrcoef(means, [one.value for one in severities])[0, 1] < -0.9
    assert severities[0].name == "rater_severity(ordinal_test=z,link=logit)"
    with pytest.raises(StatisticError, match="not a grouping factor"):
        fitted.severities("List")


def test_predicted_probabilities_without_random_effects_are_those_of_statsmodels() -> None:
    """Words dealt out in the order of ratings have no variance: what is left is an ordered model without them."""
    given = dict(trials(word_sd=0.0))
    given["W"] = np.argsort(np.argsort(given["y"], kind="stable")) % 15
    fitted = fit_ordinal("y ~ x + (1 | W)", given)
    predictors = given["x"][:, None]
    other = OrderedModel(given["y"], predictors, distr="logit").fit(method="bfgs", disp=False, gtol=1e-8)
    new = np.array([-2.0, 0.0, 1.5])
    assert fitted.probabilities() == pytest.approx(other.predict(predictors), abs=1e-4)
    assert fitted.probabilities({"x": new}, random=False) == pytest.approx(other.predict(new[:, None]), abs=1e-4)


def test_predicted_probabilities_follow_the_definition() -> None:
    """P(y ≤ k) = F(threshold − fixed − random effects of the levels), also of new rows; rows sum to 1."""
    given = trials()
    fitted = fit_ordinal(FULL, given, starts=1)
    people, words = fitted.modes["P"], fitted.modes["W"]
    row = {name: column[[31, 200]] for name, column in given.items()}
    of_person = [people.levels.index(str(person)) for person in row["P"]]
    of_word = [words.levels.index(str(word)) for word in row["W"]]
    latent = fitted.effect("x").estimate * row["x"] + fitted.effect("z").estimate * row["z"]
    latent = latent + people.values[of_person, 0] + people.values[of_person, 1] * row["x"] + words.values[of_word, 0]
    below = expit(np.array([term.estimate for term in fitted.thresholds]) - latent[:, None])
    wanted = np.diff(np.column_stack([np.zeros(2), below, np.ones(2)]), axis=1)
    assert fitted.probabilities(row) == pytest.approx(wanted, abs=1e-12)
    assert fitted.probabilities()[[31, 200]] == pytest.approx(wanted, abs=1e-12)
    # a penalised mean: the expected ratings of the fitted rows follow the ratings
    assert np.corrcoef(fitted.probabilities() @ fitted.categories, given["y"])[0, 1] > 0.6
    stranger = row | {"P": np.array([31, 900])}
    with pytest.raises(InputError, match="row 1 has a level of 'P' that the model was not fitted to"):
        fitted.probabilities(stranger)
    assert fitted.probabilities(stranger, new_levels=True).sum(axis=1) == pytest.approx(1)
    with pytest.raises(InputError, match="'z'"):
        fitted.probabilities({"x": row["x"]}, random=False)


def test_a_factor_without_variance_is_singular_and_converged() -> None:
    """Words that do not differ beyond chance have a variance of zero: said, and the rest is that without words."""
    given = dict(trials(word_sd=0.0))
    # dealt out in the order of the ratings: words differ less than chance would have it
    given["W"] = np.argsort(np.argsort(given["y"], kind="stable")) % 15
    fitted, without = fit_ordinal("y ~ x + (1 | P) + (1 | W)", given), fit_ordinal("y ~ x + (1 | P)", given)
    assert fitted.singular
    assert fitted.converged
    assert "singular" in " ".join(fitted.remarks)
    assert fitted.log_likelihood == pytest.approx(without.log_likelihood, abs=1e-5)
    assert fitted.effect("x").se == pytest.approx(without.effect("x").se, rel=1e-4)


def test_separated_categories_are_no_convergence() -> None:
    """A predictor that decides the category has no finite effect: the fit says so."""
    given = trials()
    fitted = fit_ordinal("y ~ high + (1 | P)", given | {"high": (given["y"] > 2).astype(float)}, starts=1)
    assert not fitted.converged
    assert "not determined" in " ".join(fitted.remarks)


def test_text_predictors_are_coded_as_in_the_linear_model() -> None:
    """A predictor with three levels has two effects; an interaction with it is coded as the linear model codes it."""
    random = np.random.default_rng(1)
    given = dict(trials()) | {"cue": np.array(["adjective", "noun", "verb"])[random.integers(0, 3, 300)]}
    formula = "y ~ x * cue + (1 | P)"
    ordinal, linear = fit_ordinal(formula, given, starts=1), fit(formula, given, starts=1, satterthwaite=False)
    assert [effect.name for effect in ordinal.fixed] == [effect.name for effect in linear.fixed][1:]
    alone = fit_ordinal("y ~ x:cue + (1 | P)", given, starts=1)
    assert [effect.name for effect in alone.fixed] == ["x:cue[adjective]", "x:cue[noun]", "x:cue[verb]"]


def test_what_is_no_ordinal_model_is_refused() -> None:
    """Means as ratings, no intercept, dependent effects, no nesting, another link, no start: each with its reason."""
    given = trials()
    with pytest.raises(StatisticError, match=r"300 different values: .* at most 20 categories"):
        fit_ordinal(REDUCED, given | {"y": given["x"]})
    with pytest.raises(InputError, match="thresholds instead of an intercept"):
        fit_ordinal("y ~ 0 + x + (1 | P)", given)
    with pytest.raises(StatisticError, match="not independent"):
        fit_ordinal("y ~ x + twice + (1 | P)", given | {"twice": 2 * given["x"] + 1})
    with pytest.raises(StatisticError, match="not nested"):
        ordinal_likelihood_ratio(FULL, "y ~ w + (1 | P)", given)
    with pytest.raises(InputError, match="unknown link"):
        fit_ordinal(REDUCED, given, link="cloglog")
    with pytest.raises(InputError, match="0 starts"):
        fit_ordinal(REDUCED, given, starts=0)


def test_models_of_other_links_are_not_compared() -> None:
    """A logit and a probit model are no nested pair."""
    one = fit_ordinal("y ~ x + (1 | P)", trials(), starts=1)
    other = fit_ordinal("y ~ 1 + (1 | P)", trials(), starts=1, link="probit")
    with pytest.raises(StatisticError, match="links differ"):
        compare_ordinal(one, other)
