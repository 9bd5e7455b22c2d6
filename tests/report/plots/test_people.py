"""Models among the raters, and beside the norms."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.people import SubjectLine, agreement_histogram, norms_by_distance

RATERS = np.array([0.5, 0.6, 0.7, 0.8, np.nan])


def test_the_place_among_the_raters_is_counted() -> None:
    """A subject at .65 stands above two of four raters, 50.0 %; a tie is not above."""
    places = [SubjectLine("BETO", 0.65), SubjectLine("tied", 0.6)]
    figure = agreement_histogram(RATERS, places, Heading("a", "4", "A"), definition="true leave-one-out")
    assert "BETO at .65, above 2 of 4 raters (50.0 %)." in figure.alt
    assert "tied at .60, above 1 of 4 raters (25.0 %)." in figure.alt


def test_the_definition_is_printed_on_the_axis() -> None:
    """True leave-one-out and own rating included differ, so the figure names which it shows; unnamed is refused."""
    figure = agreement_histogram(RATERS, [], Heading("a", "4", "A"), definition="own rating included")
    assert "own rating included" in figure.svg
    with pytest.raises(InputError, match="definition"):
        agreement_histogram(RATERS, [], Heading("a", "4", "A"), definition="")


def test_raters_without_agreement_are_counted() -> None:
    """A rater with constant answers has no agreement: left out of the bars, kept in the data, named in the caption."""
    figure = agreement_histogram(RATERS, [SubjectLine("BETO", 0.6)], Heading("a", "4", "A"), definition="d")
    assert "1 raters have no defined agreement" in figure.caption
    assert figure.data["kind"].tolist() == ["rater"] * 5 + ["subject"]
    np.testing.assert_array_equal(figure.data["agreement"], [*RATERS, 0.6])


def test_no_defined_rater_is_an_error() -> None:
    """A histogram of nothing is refused."""
    with pytest.raises(InputError, match="no rater"):
        agreement_histogram(np.array([np.nan]), [], Heading("a", "4", "A"), definition="d")


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
