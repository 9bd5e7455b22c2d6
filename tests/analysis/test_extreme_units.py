"""No statistic depends on the unit of its data, down to 1e-200 and up to 1e200, where squares vanish or overflow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lexiscope.analysis.agreement.alpha import LEVELS, Level, krippendorff_alpha
from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.layers.expected_layer import cumulative_r_squared, expected_layer
from lexiscope.analysis.layers.intervals import expected_layer_r_squared_interval
from lexiscope.analysis.norms.decomposition import residuals_by_condition, variance_decomposition
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.regression import logistic, ols
from lexiscope.analysis.significance import independent_t, paired_t, wilcoxon_signed_rank
from lexiscope.core.errors import StatisticError

RNG = np.random.default_rng(1)
X, Y, Z = RNG.normal(size=(3, 20))
LAYERS = RNG.normal(size=(20, 4))
HALF = (RNG.random(20) < 0.5).astype(float)
WORDS = np.repeat(list("abcde"), 4)


def _t(test: Callable[..., object], unit: float) -> list[float]:
    found = test(X * unit, Y * unit)
    interval = found.interval  # type: ignore[attr-defined]
    values = [found.statistic, found.p, found.effect]  # type: ignore[attr-defined]
    return [*values, found.estimate / unit, interval.low / unit, interval.high / unit]  # type: ignore[attr-defined]


def _ols(unit: float) -> list[float]:
    fit = ols(Y * unit, np.column_stack([X * unit, Z / unit]), ["x", "z"])
    x, z = fit.coefficients[1:]
    log = 20 * float(np.log(unit))
    values = [fit.r_squared, fit.residual_sd / unit, fit.log_likelihood + log, fit.aic - 2 * log, x.estimate, x.p, z.p]
    return [*values, *(fit.residuals / unit)]


def _logistic(unit: float) -> list[float]:
    fit = logistic(HALF, X * unit, ["x"])
    return [fit.aic, fit.coefficients[1].estimate * unit, fit.coefficients[1].p]


def _shares(unit: float) -> list[float]:
    first, _, both, _, _, shared = variance_decomposition(Y * unit, X * unit, Z / unit, groups=WORDS, resamples=50)
    return [first.value, shared.value, both.interval.low, both.interval.high]


def _residuals(unit: float) -> list[float]:
    condition = np.where(HALF, "same", "different").tolist()
    _, means = residuals_by_condition(Y * unit, X * unit, ["x"], condition, model="y~x", groups=WORDS, resamples=50)
    return [part / unit for mean in means for part in (mean.value, mean.interval.low)]


def _expected(unit: float) -> list[float]:
    scores = cumulative_r_squared(LAYERS * unit, Y * unit)
    interval = expected_layer_r_squared_interval(LAYERS * unit, Y * unit, groups=WORDS, resamples=50)
    return [expected_layer(scores).value, interval.low, interval.high]


STATISTICS: dict[str, Callable[[float], list[float]]] = {
    "paired_t": lambda unit: _t(paired_t, unit),
    "welch": lambda unit: _t(independent_t, unit),
    "pooled": lambda unit: _t(lambda a, b: independent_t(a, b, variances="pooled"), unit),
    "signed_rank": lambda unit: [wilcoxon_signed_rank(X * unit, Y * unit).p],
    "logistic": _logistic,
    "shares": _shares,
    "residuals": _residuals,
    "expected_layer": _expected,
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-200, 1e-160, 1e-100, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("name", list(STATISTICS))
def test_the_unit_changes_no_statistic(name: str, unit: float) -> None:
    """What has a unit is multiplied by it, and nothing else changes."""
    np.testing.assert_allclose(STATISTICS[name](unit), STATISTICS[name](1.0), rtol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-120, 1e140])
def test_units_of_outcome_and_predictors_may_differ(unit: float) -> None:
    """Linear regression: the outcome and one predictor in one unit, the other in its inverse."""
    np.testing.assert_allclose(_ols(unit), _ols(1.0), rtol=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_coefficient_that_no_number_holds_is_refused() -> None:
    """A slope of 1e400 is neither infinite nor zero: the reason is given instead."""
    with pytest.raises(StatisticError, match="the coefficient of 'x' is too large or too small"):
        ols(Y * 1e200, X * 1e-200, ["x"])
    with pytest.raises(StatisticError, match="the coefficient of 'x' is too large or too small"):
        logistic(HALF, X * 1e-310, ["x"])
    with pytest.raises(StatisticError, match="too small for a number"):
        independent_t(X * 1e-250, np.ones(5))


@pytest.mark.parametrize("level", LEVELS)
def test_ratings_that_differ_in_their_last_bits_are_equal(level: Level) -> None:
    """Alpha of 3, 3 + 4e-16 … is undefined; beside other ratings they count as one value, at every level."""
    raters, items = list("ababab"), list("iijjkk")
    near = 3 + 4.5e-16 * np.arange(6)
    assert len(np.unique(near)) > 1
    with pytest.raises(StatisticError, match="alpha is undefined: all 6 ratings are 3"):
        krippendorff_alpha(Ratings.from_arrays(raters, items, near), level=level, resamples=50)

    def alpha(values: FloatArray) -> float:
        return krippendorff_alpha(Ratings.from_arrays(raters, items, values), level=level, resamples=50).value

    assert alpha(np.array([0.1 + 0.2, 0.3, 5, 4, 0.3, 5])) == pytest.approx(alpha(np.array([0.3, 0.3, 5, 4, 0.3, 5])))
