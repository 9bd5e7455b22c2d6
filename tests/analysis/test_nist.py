"""NIST's Statistical Reference Datasets through our own entry points: mean, SD, regression (T1).

The measure is the log relative error: how many leading digits of the certified value are right. Data and certified
values: NIST StRD, https://www.itl.nist.gov/div898/strd (works of the United States government, in the public domain).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from lexiscope.analysis.norms.norms import norms
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.regression import ols

# y, x
NORRIS = """0.1 0.2  338.8 337.4  118.1 118.2  888.0 884.6  9.2 10.1  228.1 226.5  668.5 666.3  998.5 996.3  449.1 448.6
778.9 777.0  559.2 558.2  0.3 0.4  0.1 0.6  778.1 775.5  668.8 666.9  339.3 338.0  448.9 447.5  10.8 11.6  557.7 556.0
228.3 228.1  998.0 995.8  888.8 887.6  119.6 120.2  0.3 0.3  0.6 0.3  557.6 556.8  339.3 339.1  888.0 887.2  998.5 999.0
778.9 779.0  10.2 11.1  117.6 118.3  228.9 229.2  668.4 669.1  449.2 448.9  0.2 0.5"""


def _right_digits(value: float, certified: float) -> float:
    """The log relative error, 15 where every digit is right."""
    return 15.0 if value == certified else min(15.0, -math.log10(abs(value - certified) / abs(certified)))


def _norris() -> np.ndarray:
    return np.array(NORRIS.split(), dtype=float).reshape(-1, 2)


def test_norris_keeps_nine_digits() -> None:
    """Linear regression of lower difficulty: at least 9 digits of every certified value."""
    data = _norris()
    assert data.shape == (36, 2)
    # the file's first column is y
    fit = ols(data[:, 0], data[:, 1], ["x"])
    intercept, slope = fit.coefficients
    certified = (
        (intercept.estimate, -0.262323073774029),
        (intercept.standard_error, 0.232818234301152),
        (slope.estimate, 1.00211681802045),
        (slope.standard_error, 0.429796848199937e-03),
        (fit.residual_sd, 0.884796396144373),
        (fit.r_squared, 0.999993745883712),
    )
    assert min(_right_digits(value, exact) for value, exact in certified) >= 9


def test_a_polynomial_is_recovered() -> None:
    """Wampler2's design (y = Σ .1^k x^k for x = 0 … 20) is exact: each coefficient to at least 9 digits."""
    x = np.arange(21.0)
    powers = np.column_stack([x**k for k in range(1, 6)])
    coefficients = [10.0**-k for k in range(6)]
    fit = ols(coefficients[0] + powers @ coefficients[1:], powers, [f"x{k}" for k in range(1, 6)])
    found = zip(fit.coefficients, coefficients, strict=True)
    assert min(_right_digits(row.estimate, exact) for row, exact in found) >= 9


@pytest.mark.parametrize(
    ("values", "mean", "sd", "digits"),
    [
        # the spread shrinks beside the mean: 1 and 2 are of lower, 3 of average, 4 of higher difficulty
        ([10000001, 10000003, 10000002], 10000002.0, 1.0, 15),
        ([1.2, *[1.1, 1.3] * 500], 1.2, 0.1, 9),
        ([1000000.2, *[1000000.1, 1000000.3] * 500], 1000000.2, 0.1, 7),
        ([10000000.2, *[10000000.1, 10000000.3] * 500], 10000000.2, 0.1, 7),
    ],
)
def test_numerical_accuracy_of_a_mean_and_an_sd(values: list[float], mean: float, sd: float, digits: int) -> None:
    """NumAcc1 to NumAcc4: certified means and SDs, to the digits that double precision leaves in the data."""
    ratings = Ratings.from_arrays([f"r{k}" for k in range(len(values))], ["i"] * len(values), values)
    found = norms(ratings)
    assert _right_digits(float(found.mean[0]), mean) >= 9
    assert _right_digits(float(found.sd[0]), sd) >= digits
