"""Densities and ridges: curves that integrate to one, and data that cannot be drawn but are not hidden."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.density import (
    Residuals,
    bandwidth,
    density_by_condition,
    gaussian_density,
    residual_ridge,
)

HEADING = Heading("density", "2", "Density")


def test_density_is_a_mean_of_normal_curves() -> None:
    """At 0, values −1 and 1 with width 1 give the standard normal density at 1: exp(−1/2) / sqrt(2π)."""
    found = gaussian_density(np.array([-1.0, 1.0]), np.array([0.0]), width=1.0)
    assert found[0] == pytest.approx(np.exp(-0.5) / np.sqrt(2 * np.pi))


@pytest.mark.parametrize("limits", [None, (1.0, 5.0)])
def test_density_integrates_to_one(limits: tuple[float, float] | None) -> None:
    """The area is 1, over the whole line and, with folded tails, over the answer scale."""
    values = np.clip(np.random.default_rng(1).normal(4.3, 0.6, 200), 1, 5)
    grid = np.linspace(*(limits or (-5.0, 12.0)), 4001)
    found = gaussian_density(values, grid, width=bandwidth(values), limits=limits)
    assert np.trapezoid(found, grid) == pytest.approx(1, abs=1e-3)


def test_bandwidth_follows_silverman() -> None:
    """0.9 · min(sd, IQR / 1.34) · n^(−1/5), worked out for 0, 1, 2, 3, 4: sd sqrt(2.5), IQR 2."""
    expected = 0.9 * min(np.sqrt(2.5), 2 / 1.34) * 5**-0.2
    assert bandwidth(np.arange(5.0)) == pytest.approx(expected)
    assert bandwidth(np.array([0.0] * 9 + [1.0])) > 0  # no interquartile range: the sd alone
    assert bandwidth(np.ones(5)) == bandwidth(np.ones(1)) == 0


def test_the_data_beside_are_the_input() -> None:
    """The CSV columns are the values and conditions that were given, in order."""
    values, conditions = np.array([1.0, 2.0, np.nan, 4.5]), np.array(["same", "different", "same", "same"])
    figure = density_by_condition(values, conditions, HEADING)
    np.testing.assert_array_equal(figure.data["value"], values)
    np.testing.assert_array_equal(figure.data["condition"], conditions)


def test_the_words_hold_the_numbers() -> None:
    """The text alternative gives n, mean and sd per condition; undefined values are counted in the caption."""
    values, conditions = np.array([1.0, 3.0, np.nan, 4.0]), np.array(["a", "a", "a", "b"])
    figure = density_by_condition(values, conditions, HEADING)
    assert "a: n 2, mean 2.00, sd 1.41." in figure.alt
    assert "b: n 1, mean 4.00, sd —." in figure.alt
    assert "1 values" in figure.caption


def test_a_condition_without_spread_is_still_counted() -> None:
    """Constant values have no density, but their ticks and their n are drawn."""
    figure = density_by_condition(np.array([2.0, 2.0, 3.0, 4.0]), np.array(["c", "c", "v", "v"]), HEADING)
    assert "c (n = 2)" in figure.svg


def test_nothing_defined_is_an_error() -> None:
    """Where no value is defined there is no figure."""
    with pytest.raises(InputError, match="no defined value"):
        density_by_condition(np.array([np.nan]), np.array(["a"]), HEADING)
    with pytest.raises(InputError, match="lengths"):
        density_by_condition(np.array([1.0, 2.0]), np.array(["a"]), HEADING)
    with pytest.raises(InputError, match="no subject"):
        residual_ridge([], HEADING)


def test_a_ridge_carries_its_curves() -> None:
    """The data of a ridge are its curves with mean and n per subject and condition; each curve has area 1."""
    rng = np.random.default_rng(2)
    conditions = np.array(["same"] * 50 + ["different"] * 50)
    residuals = np.concatenate([rng.normal(1, 0.5, 50), rng.normal(-0.5, 0.5, 50)])
    data = residual_ridge([Residuals("BETO", residuals, conditions)], Heading("ridge", "5", "Ridge")).data
    same = data["condition"] == "same"
    assert set(data["mean"][same]) == {residuals[:50].mean()}
    assert set(data["n"][same]) == {50}
    assert np.trapezoid(data["density"][same], data["residual"][same]) == pytest.approx(1, abs=0.02)


def test_forty_subjects_are_forty_rows() -> None:
    """Every subject is named on its row, however many there are."""
    residuals, conditions = np.array([1.0, 0.5, -1.0, -0.4]), np.array(["s", "s", "d", "d"])
    many = [Residuals(f"model-{index}", residuals, conditions) for index in range(40)]
    svg = residual_ridge(many, Heading("ridge", "5", "Ridge")).svg
    assert all(f">model-{index}<" in svg for index in range(40))
