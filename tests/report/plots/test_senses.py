"""Figures of induced senses: what they draw is in their data and words; a label for each word at one place."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.senses import (
    GridPoint,
    MapPoint,
    agreement_and_consistency,
    beta_grid,
    neighbour_map,
    noise_against_signal,
)
from lexiscope.resources.vectors.sense_vectors import LogRow

HEADING = Heading("senses", "2", "Senses")


def test_a_map_names_each_neighbour() -> None:
    """Every point is in the data; a word at one place has one label, a word at two places has two."""
    points = [
        MapPoint("river", "sense 1", 0.0, 0.0),
        MapPoint("river", "sense 2", 0.001, 0.0),
        MapPoint("shore", "sense 1", 1.0, 1.0),
        MapPoint("shore", "sense 2", 5.0, 5.0),
    ]
    figure = neighbour_map(points, HEADING)
    assert figure.data["word"].tolist() == ["river", "river", "shore", "shore"]
    assert (figure.svg.count(">river<"), figure.svg.count(">shore<")) == (1, 2)
    assert "sense 2: river, shore." in figure.alt


def test_noise_and_signal_keep_their_numbers() -> None:
    """The log's columns are the figure's data; the words say where the spread of the signal begins and ends."""
    ends = ((1_000_000, 0.0, 0.2), (2_000_000, 0.1, 0.9))
    log = [LogRow(1, tokens, 0.01, 1.0, 0.6, 0.5, mean, sd, 0.5) for tokens, mean, sd in ends]
    figure = noise_against_signal({"one": log, "two": log}, HEADING)
    assert figure.data["signal_sd"].tolist() == [0.2, 0.9, 0.2, 0.9]
    assert figure.data["subject"].tolist() == ["one", "one", "two", "two"]
    assert "one: SD of the signal from 0.20 to 0.90, of the noise 0.50." in figure.alt


def test_a_grid_has_levels_for_variants_without_beta() -> None:
    """Trainings with β stand in its order, others are level lines; without any β there is no grid."""
    points = [
        GridPoint("b9", 0.9, 40.0, 35.0, 45.0),
        GridPoint("sasi", np.nan, 50.0, np.nan, np.nan),
        GridPoint("b1", 0.1, 45.0, 40.0, 50.0),
    ]
    figure = beta_grid(points, HEADING, statistic="AvgSimC")
    assert figure.alt.index("b1: 45.0") < figure.alt.index("b9: 40.0") < figure.alt.index("sasi: 50.0")
    with pytest.raises(InputError, match="at least one training with beta"):
        beta_grid(points[1:2], HEADING, statistic="AvgSimC")
    for empty in (neighbour_map, agreement_and_consistency):
        with pytest.raises(InputError, match="at least one"):
            empty([], HEADING)
    with pytest.raises(InputError, match="at least one"):
        noise_against_signal({}, HEADING)


def test_words_are_named_while_they_are_few() -> None:
    """Both shares of every word are in the data; more than 20 words are not named on the drawing."""
    words = [(f"word{number}", 0.5, number / 30) for number in range(30)]
    few, many = (agreement_and_consistency(some, HEADING) for some in (words[:20], words))
    assert ">word3<" in few.svg
    assert ">word3<" not in many.svg
    assert many.data["consistency"].tolist() == [number / 30 for number in range(30)]
