"""A mixed model does not know the unit of a column: χ², p, log-likelihoods and flags are those of any other unit."""

from __future__ import annotations

import math
import shutil
from functools import cache
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed import optimum as mixed_optimum
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.models import LikelihoodRatio, compare, fit, likelihood_ratio
from lexiscope.analysis.mixed.r_script import ModelPair, cross_check
from lexiscope.core.errors import StatisticError

Columns = dict[str, Any]

FULL = "y ~ x + z + (1 + x + z | P) + (1 | W)"
REDUCED = "y ~ x + (1 + x + z | P) + (1 | W)"

# SDs over people of the intercept, x and z: plain, one slope that does not vary (singular), an item's property, a code
DESIGNS = {"plain": (0.6, 0.3, 0.3), "singular": (0.5, 0.05, 0.0), "item": (0.5, 0.2, 0.4), "coded": (0.4, 0.02, 0.1)}


@cache
def trials(design: str, seed: int) -> Columns:
    """25 people × 40 items, 1,000 trials, with three correlated effects over people (r = .5, .3, .8)."""
    random = np.random.default_rng(seed)
    person, item = (grid.ravel() for grid in np.meshgrid(np.arange(25), np.arange(40), indexing="ij"))
    x = (item % 2).astype(float) if design == "coded" else random.normal(size=1000)
    z = random.normal(size=40)[item] if design in ("item", "coded") else random.normal(size=1000)
    z = np.exp(z) if design == "singular" else z
    factor = np.linalg.cholesky(np.array([[1, 0.5, 0.3], [0.5, 1, 0.8], [0.3, 0.8, 1]]))
    own = (random.normal(size=(25, 3)) @ factor.T * DESIGNS[design])[person]
    y = 3 + 0.5 * x + 0.15 * z + own[:, 0] + own[:, 1] * x + own[:, 2] * z
    y += random.normal(0, 0.5, 40)[item] + random.normal(size=1000)
    return {"y": y, "x": x, "z": z, "P": person, "W": item}


def compared(data: Columns) -> LikelihoodRatio:
    return likelihood_ratio(FULL, REDUCED, data, satterthwaite=False)


@cache
def as_given(design: str, seed: int) -> LikelihoodRatio:
    return compared(trials(design, seed))


def flags(test: LikelihoodRatio) -> tuple[bool, ...]:
    return tuple(flag for model in (test.full, test.reduced) for flag in (model.converged, model.singular))


def assert_same(test: LikelihoodRatio, other: LikelihoodRatio, *, shift: float = 0.0) -> None:
    """The same χ², p, log-likelihoods (up to *shift*) and flags, to a relative 1e-6."""
    assert test.chi2 == pytest.approx(other.chi2, rel=1e-6, abs=1e-7)
    assert test.p == pytest.approx(other.p, rel=1e-6)
    assert test.full.log_likelihood - shift == pytest.approx(other.full.log_likelihood, rel=1e-9)
    assert test.reduced.log_likelihood - shift == pytest.approx(other.reduced.log_likelihood, rel=1e-9)
    assert flags(test) == flags(other)


GRID = [
    pytest.param(design, seed, power, marks=() if (seed, power) == (1, 4) else pytest.mark.soak)
    for design in DESIGNS
    for seed in (1, 2, 3)
    for power in range(-6, 7)
    if power
]


@pytest.mark.parametrize(("design", "seed", "power"), GRID)
def test_the_unit_of_a_random_slope_does_not_matter(design: str, seed: int, power: int) -> None:
    """z × 10^k, k = -6 … 6: χ², p, log-likelihoods and flags stay.

    *Source:* the likelihood does not change when a column of a correlated bracket is multiplied by a constant.
    """
    data = trials(design, seed)
    assert_same(compared(data | {"z": data["z"] * 10.0**power}), as_given(design, seed))


@pytest.mark.parametrize(
    "power", [pytest.param(power, marks=() if power in (-6, 6) else pytest.mark.soak) for power in range(-6, 7)]
)
def test_the_unit_of_the_outcome_shifts_the_likelihood(power: int) -> None:
    """y × c: the density of n values in another unit changes by -n log c, and χ², p and flags not at all."""
    data = trials("plain", 1)
    unit = 10.0**power
    assert_same(compared(data | {"y": data["y"] * unit}), as_given("plain", 1), shift=-1000 * math.log(unit))


@pytest.mark.parametrize("design", ["plain", "coded"])
def test_the_zero_of_a_correlated_predictor_does_not_matter(design: str) -> None:
    """Years instead of years since 1990, and an outcome 10,000 higher: the same test."""
    data = trials(design, 1)
    assert_same(compared(data | {"z": data["z"] + 2000, "y": data["y"] + 10_000}), as_given(design, 1))


def test_a_predictor_far_from_zero_is_fitted() -> None:
    """Time stamps of 1e9 ± 1 keep seven digits of their own; the model without them differs by the same χ²."""
    data, full, reduced = trials("plain", 1), "y ~ x + z + (1 | P) + (1 | W)", "y ~ x + (1 | P) + (1 | W)"
    near, far = (likelihood_ratio(full, reduced, data | {"z": data["z"] + shift}) for shift in (0, 1e9))
    assert far.chi2 == pytest.approx(near.chi2, rel=1e-5)
    assert far.full.effect("z").se == pytest.approx(near.full.effect("z").se, rel=1e-5)


@pytest.mark.parametrize("shift", [2e3, 1e5, 1e9])
@pytest.mark.parametrize("random", ["(1 | P) + (1 | W)", "(1 + z | P) + (1 | W)"])
def test_degrees_of_freedom_do_not_know_the_zero_of_a_predictor(random: str, shift: float) -> None:
    """Satterthwaite's degrees of freedom of slopes, and so their p, stay for a predictor far from zero."""
    data, formula = trials("plain", 1), f"y ~ x + z + {random}"
    near, far = (fit(formula, data | {"z": data["z"] + given}, starts=1) for given in (0, shift))
    for name in ("x", "z"):
        assert far.effect(name).df == pytest.approx(near.effect(name).df, rel=1e-3)
        assert far.effect(name).p == pytest.approx(near.effect(name).p, rel=1e-3)


@pytest.mark.parametrize("left", [1e-13, 1e-15])
def test_what_is_dependent_but_for_rounding_is_refused_with_that_reason(left: float) -> None:
    """A predictor that differs from another by less than 1e-12 has no coefficient, and the refusal says so."""
    data = trials("plain", 1)
    with pytest.raises(StatisticError, match="rank 2") as caught:
        fit("y ~ x + z + (1 | P)", data | {"z": data["x"] + left * data["z"]})
    assert "to twelve digits" in str(caught.value)


@pytest.mark.parametrize(
    ("design", "seed"),
    [
        pytest.param(design, seed, marks=() if (design, seed) == ("singular", 1) else pytest.mark.soak)
        for design in DESIGNS
        for seed in range(1, 13)
    ],
)
def test_five_starts_find_what_twenty_five_find(design: str, seed: int) -> None:
    """The full model never fits worse than the reduced, and more starts find no better optimum of either."""
    test = as_given(design, seed)
    assert test.chi2 >= 0
    for formula, found in ((FULL, test.full), (REDUCED, test.reduced)):
        many = fit(formula, trials(design, seed), starts=25 if seed > 1 else 10, seed=9, satterthwaite=False)
        assert found.log_likelihood == pytest.approx(many.log_likelihood, abs=1e-5)


def test_estimates_are_in_the_units_of_the_data() -> None:
    """z × 1000 + 5: β and SD of z are a thousandth, SE too, df and t stay; the intercept is that of z = 0.

    The intercept at z = 0 is intercept - 5 β/1000, and its variance over people var(a) + c² var(b) + 2 c cov(a, b)
    with c = -5/1000.
    """
    data = trials("plain", 1)
    ours, theirs = fit(FULL, data), fit(FULL, data | {"z": data["z"] * 1000 + 5})
    for name in ("x", "z"):
        unit = 1000 if name == "z" else 1
        mine, other = ours.effect(name), theirs.effect(name)
        assert other.estimate * unit == pytest.approx(mine.estimate, rel=1e-6)
        assert other.se * unit == pytest.approx(mine.se, rel=1e-5)
        assert other.df == pytest.approx(mine.df, rel=1e-3)
        assert theirs.component("P", name).sd * unit == pytest.approx(ours.component("P", name).sd, rel=1e-4)
    shift = -5 / 1000
    assert theirs.effect("(Intercept)").estimate == pytest.approx(
        ours.effect("(Intercept)").estimate + shift * ours.effect("z").estimate, rel=1e-6
    )
    a, b = ours.component("P", "(Intercept)"), ours.component("P", "z")
    r = dict(b.correlations)["(Intercept)"]
    expected = a.variance + shift**2 * b.variance + 2 * shift * r * a.sd * b.sd
    assert theirs.component("P", "(Intercept)").variance == pytest.approx(expected, rel=1e-4)
    assert theirs.residuals == pytest.approx(ours.residuals, abs=1e-4)
    assert theirs.fitted + theirs.residuals == pytest.approx(data["y"])


def test_reml_is_in_the_units_of_the_fixed_effects() -> None:
    """REML integrates the coefficients out: z × c adds -log c to it (and y × c shifts by -(n - p) log c)."""
    data = trials("plain", 1)
    options: dict[str, Any] = {"reml": True, "satterthwaite": False}
    given = fit(FULL, data, **options).log_likelihood
    assert fit(FULL, data | {"z": data["z"] * 100}, **options).log_likelihood == pytest.approx(given - math.log(100))
    assert fit(FULL, data | {"y": data["y"] * 100}, **options).log_likelihood == pytest.approx(
        given - 997 * math.log(100)
    )


def test_slopes_without_correlations_do_not_depend_on_units_either() -> None:
    """(1 + x + z || P): z × 1e6 is the same model, with the same flags."""
    data = trials("singular", 1)
    formula = FULL.replace("|", "||", 1)
    ours, theirs = (fit(formula, each, satterthwaite=False) for each in (data, data | {"z": data["z"] * 1e6}))
    assert theirs.log_likelihood == pytest.approx(ours.log_likelihood, rel=1e-9)
    assert (theirs.converged, theirs.singular) == (ours.converged, ours.singular)


@pytest.mark.parametrize("size", [1e-20, 1e20, 1e-200, 1e200])
def test_no_unit_is_too_small_or_too_large(size: float) -> None:
    """A predictor of 1e-20 is not a dependent one, and one of 1e200 does not overflow."""
    data = trials("plain", 1)
    formula = "y ~ x + z + (1 | P) + (1 | W)"
    ours, theirs = (fit(formula, each, starts=2) for each in (data, data | {"z": data["z"] * size}))
    assert theirs.log_likelihood == pytest.approx(ours.log_likelihood, rel=1e-9)
    assert theirs.effect("z").estimate * size == pytest.approx(ours.effect("z").estimate, rel=1e-6)
    assert theirs.effect("z").p == pytest.approx(ours.effect("z").p, rel=1e-4)


def test_an_optimum_of_the_compared_model_is_a_start() -> None:
    """A reduced model that was left at a poor point is started again where the full model ended, and says so.

    The poor point is made: the fit of the reduced model is replaced by one without variation over people.
    """
    data = trials("plain", 1)
    full, reduced = fit(FULL, data, satterthwaite=False), fit(REDUCED, data, satterthwaite=False)
    assert compare(full, reduced).remarks == ()
    assert reduced.optimum is not None
    assert reduced.refit is not None
    model = reduced.optimum.model
    assert model is not None
    poor = mixed_optimum.Fitted(model.deviance.estimates(np.zeros(7)), converged=True, gradient_norm=0.0)
    stop = mixed_optimum.Stop(model.log_likelihood(poor), converged=True)
    left = mixed_optimum.Optimum(poor, (stop,), True, (), model)
    mended = compare(full, reduced.refit(left))
    assert mended.chi2 == pytest.approx(compare(full, reduced).chi2, abs=1e-5)
    assert any("only from the optimum of the model that it is compared with" in remark for remark in mended.remarks)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ x + (1 | P) + (0 + x + z | P) + (1 | W)",
        "y ~ x + (1 + x + z || P) + (1 | W)",
        "y ~ x + (1 + z | P) + (1 | W)",
    ],
)
def test_a_start_at_another_model_has_its_likelihood(formula: str) -> None:
    """The random effects of a nested model, written as a point of the larger one, give the likelihood that they had."""
    data = trials("item", 1)
    small, large = (fit(text, data, starts=2, satterthwaite=False).optimum for text in (formula, REDUCED))
    assert small is not None
    assert large is not None
    assert large.model is not None
    deviance = large.model.deviance(mixed_optimum.start_at(small, large.model))[0]
    given = large.model.basis.log_likelihood(-deviance / 2, reml=False)
    assert given == pytest.approx(small.log_likelihood, abs=1e-6)


def test_dependent_slopes_are_still_fitted() -> None:
    """Slopes of x and 2x by person have no orthogonal basis: the model is fitted, and is singular."""
    data = trials("plain", 1)
    formula = str(read_formula("y ~ x + (1 + x + twice | P) + (1 | W)"))
    fitted = fit(formula, data | {"twice": 2 * data["x"]}, starts=2, satterthwaite=False)
    single = fit("y ~ x + (1 + x | P) + (1 | W)", data, starts=2, satterthwaite=False)
    assert fitted.log_likelihood == pytest.approx(single.log_likelihood, abs=1e-3)


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("design", list(DESIGNS))
def test_lme4_finds_no_better_optimum(design: str) -> None:
    """lme4 on the same trials: no log-likelihood of its two models is higher than ours by more than 1e-4."""
    check = cross_check([ModelPair("z", FULL, REDUCED)], trials(design, 1))
    for pair in check.pairs:
        assert min(pair.full.log_likelihood, pair.reduced.log_likelihood) > -1e-4
