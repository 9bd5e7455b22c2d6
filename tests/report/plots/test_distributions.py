"""Distributions: densities that integrate to one, models among raters, data that cannot be drawn but are counted."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.distributions import (
    Residuals,
    agreement_histogram,
    bandwidth,
    density_by_condition,
    gaussian_density,
    norms_by_distance,
    residual_ridge,
)

HEADING = Heading("density", "2", "Density")
RATERS = np.array([0.5, 0.6, 0.7, 0.8, np.nan])


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


def test_the_place_among_the_raters_is_counted() -> None:
    """A subject at .65 is above two of four raters, 50.0 %; a tie is not above."""
    places = {"BETO": 0.65, "tied": 0.6}
    figure = agreement_histogram(RATERS, places, Heading("a", "4", "A"), definition="true leave-one-out")
    assert "BETO at .65, above 2 of 4 raters (50.0 %)." in figure.alt
    assert "tied at .60, above 1 of 4 raters (25.0 %)." in figure.alt


def test_the_definition_is_printed_on_the_axis() -> None:
    """True leave-one-out and own rating included differ, so the figure names which it shows; unnamed is refused."""
    figure = agreement_histogram(RATERS, {}, Heading("a", "4", "A"), definition="own rating included")
    assert "own rating included" in figure.svg
    with pytest.raises(InputError, match="definition"):
        agreement_histogram(RATERS, {}, Heading("a", "4", "A"), definition="")


def test_raters_without_agreement_are_counted() -> None:
    """A rater with constant answers has no agreement: left out of the bars, kept in the data, named in the caption."""
    figure = agreement_histogram(RATERS, {"BETO": 0.6}, Heading("a", "4", "A"), definition="d")
    assert "1 raters have no defined agreement" in figure.caption
    assert figure.data["kind"].tolist() == ["rater"] * 5 + ["subject"]
    np.testing.assert_array_equal(figure.data["agreement"], [*RATERS, 0.6])


def test_no_defined_rater_is_an_error() -> None:
    """A histogram of nothing is refused."""
    with pytest.raises(InputError, match="no rater"):
        agreement_histogram(np.array([np.nan]), {}, Heading("a", "4", "A"), definition="d")


def test_the_scatter_prints_the_given_statistics() -> None:
    """r and ρ come from the analysis and are printed with the n that was drawn; the data are the input."""
    norm, distance = np.array([1.0, 2.0, np.nan]), np.array([0.3, 0.2, 0.1])
    figure = norms_by_distance(
        norm, distance, np.array(["s", "d", "s"]), Heading("s", "S1", "S"),
        subject="BETO", layer="layer 12", r=-0.597, rho=float("nan"),
    )  # fmt: skip
    assert "n = 2, r = −.60, ρ = —" in figure.svg
    assert "1 item." in figure.caption
    np.testing.assert_array_equal(figure.data["norm"], norm)
    np.testing.assert_array_equal(figure.data["distance"], distance)
