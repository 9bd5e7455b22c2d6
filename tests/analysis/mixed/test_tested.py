"""A mixed model with its test as one result: REML, variances, degrees of freedom, predictions, severity."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.mixed import models
from lexiscope.analysis.mixed.tested import mixed_test, ordinal_test
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Fit

RATERS, ITEMS = 10, 16
RATER, ITEM = np.repeat(np.arange(RATERS), ITEMS), np.tile(np.arange(ITEMS), RATERS)


def crossed_data() -> dict[str, np.ndarray]:
    """Every rater rates every item once: variances of rater 1, of item .36, of the residuals .25."""
    draw = np.random.default_rng(4)
    x = (np.arange(ITEMS) % 2).astype(float)
    rating = draw.normal(3, 1, RATERS)[RATER] + draw.normal(0, 0.6, ITEMS)[ITEM] + draw.normal(0, 0.5, RATERS * ITEMS)
    return {"rating": rating + x[ITEM], "x": x[ITEM], "rater": RATER, "item": ITEM}


def test_reml_variances_of_a_balanced_design_are_those_of_its_mean_squares() -> None:
    """Analysis of variance by hand: (mean square of raters - of the rest) / items, and items within x likewise."""
    data = crossed_data()
    random = "(1 | rater) + (1 | item)"
    fit = mixed_test(f"rating ~ x + {random}", f"rating ~ 1 + {random}", data, reml=True)
    table, x = data["rating"].reshape(RATERS, ITEMS), data["x"][:ITEMS]
    by_rater, by_item = table.mean(axis=1), table.mean(axis=0)
    within_x = by_item - np.where(x == 1, by_item[x == 1].mean(), by_item[x == 0].mean())
    rest = table - by_rater[:, None] - by_item + table.mean()
    ms_rest = (rest**2).sum() / ((RATERS - 1) * (ITEMS - 1))
    ms_raters = ITEMS * by_rater.var(ddof=1)
    ms_items = RATERS * (within_x**2).sum() / (ITEMS - 2)
    expected = [(ms_raters - ms_rest) / ITEMS, (ms_items - ms_rest) / RATERS, ms_rest]
    assert [variance.value for variance in fit.variances] == pytest.approx(expected, rel=1e-4)
    # the effect is between items, of which there are 16 with two means
    assert fit.df_of_terms["x"] == pytest.approx(ITEMS - 2, rel=1e-3)
    assert isinstance(fit, Fit)


def test_reml_changes_estimates_and_not_the_test_of_a_fixed_effect() -> None:
    """The χ² of a fixed effect is by maximum likelihood; that of a random effect is by REML, if REML was asked for."""
    data = crossed_data()
    full, without, no_item = (f"rating ~ {part}" for part in ("x + (1|rater)", "1 + (1|rater)", "x + (1|item)"))
    plain, reml = (mixed_test(full, without, data, reml=choice) for choice in (False, True))
    assert plain.chi2 == reml.chi2 == models.likelihood_ratio(full, without, data).chi2
    assert (
        reml.terms[1].interval.high - reml.terms[1].interval.low
        > plain.terms[1].interval.high - plain.terms[1].interval.low
    )
    assert "REML" not in plain.note
    both = "rating ~ x + (1|rater) + (1|item)"
    random = mixed_test(both, no_item, data, reml=True)
    assert random.chi2 == pytest.approx(models.likelihood_ratio(both, no_item, data, reml=True).chi2)
    assert random.test.full.reml
    assert random.model is random.test.full


def test_predictions_are_coefficients_and_random_effects() -> None:
    """A fitted row is the fixed part with the effects of its rater and item; a new rater has none."""
    data = crossed_data()
    random = "(1 | rater) + (1 | item)"
    fit = mixed_test(f"rating ~ x + {random}", f"rating ~ 1 + {random}", data)
    intercept, slope = (term.value for term in fit.terms)
    rater, item = fit.random_effects("rater"), fit.random_effects("item")
    first = intercept + slope * data["x"][0] + rater["0"]["(Intercept)"] + item["0"]["(Intercept)"]
    assert fit.predict()[0] == pytest.approx(first)
    assert fit.residuals()[0] == pytest.approx(data["rating"][0] - first)
    new = {"x": [1.0], "rater": [99], "item": [1]}
    assert fit.predict(new, new_levels=True) == pytest.approx([intercept + slope + item["1"]["(Intercept)"]])
    with pytest.raises(StatisticError, match="no grouping factor 'word'"):
        fit.random_effects("word")


def test_severity_is_minus_the_effect_of_a_rater() -> None:
    """A rater whose latent ratings are lower by a step is more severe; thresholds come first and have no p."""
    draw = np.random.default_rng(2)
    severity = np.linspace(-2.5, 2.5, RATERS)
    latent = draw.logistic(size=RATERS * ITEMS) - severity[RATER]
    data = {"rating": np.digitize(latent, [-1, 1]) + 1.0, "x": (ITEM % 2).astype(float), "rater": RATER}
    fit = ordinal_test("rating ~ x + (1 | rater)", "rating ~ 1 + (1 | rater)", data, level=0.9)
    severities = fit.severity("rater")
    assert [rater.n for rater in severities] == [ITEMS] * RATERS
    values = [rater.value for rater in severities]
    assert np.corrcoef(values, severity)[0, 1] > 0.9
    effects = {level: value for level, value, _ in fit.model.modes["rater"].of("(Intercept)")}
    assert values == pytest.approx([-effects[str(rater.subject)] for rater in severities])
    assert [threshold.condition for threshold in fit.thresholds] == ["1|2", "2|3"]
    assert [term.p is None for term in fit.terms] == [True, True, False]
    assert fit.variances[0].value == fit.model.component("rater", "(Intercept)").variance
    assert fit.terms[0].interval.level == 0.9
    with pytest.raises(StatisticError, match="'item' is not a grouping factor"):
        fit.severity("item")
