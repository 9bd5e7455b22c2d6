"""Accuracies beside chance: what is drawn, what is said in words, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.accuracy import Dot, accuracy_dots, accuracy_over_training, stacked_shares
from lexiscope.report.plots.curves import DrawnCurve

HEADING = Heading("figure", "1", "Accuracy")


def test_words_and_data_say_what_the_drawing_shows() -> None:
    """Each row with its chance and each subject's value; the label's line break is a space there."""
    found = accuracy_dots(
        [
            Dot("relation:\nrandom", "a", 23.0, 17.0, 29.0, 100 / 11),
            Dot("relation:\nrandom", "b", 63.5, 1, 2, 100 / 11),
        ],
        HEADING,
    )
    assert "relation: random (chance 9.1): a 23.0, b 63.5." in found.alt
    assert found.data["row"].tolist() == ["relation: random"] * 2
    assert found.data["value"].tolist() == [23.0, 63.5]
    assert found.svg.count(">chance<") == 1


def test_a_dot_without_interval_or_chance_is_drawn_without() -> None:
    """Not-a-number is no bar and no line."""
    found = accuracy_dots([Dot("gap", "a", 2.0, math.nan, math.nan, math.nan)], HEADING)
    assert ">chance<" not in found.svg
    assert np.isnan(found.data["low"]).all()


def test_a_long_training_has_a_logarithmic_axis() -> None:
    """Steps from 1 to 1,000 are drawn on a log axis, from 0 on a linear one (0 has no logarithm)."""

    def drawn(*seen: float) -> str:
        value, low, high = (np.full(len(seen), percent) for percent in (50.0, 40.0, 60.0))
        return accuracy_over_training(
            [DrawnCurve("cell", np.array(seen), value, low, high, baseline=50.0)], HEADING
        ).svg

    assert "10" in drawn(1, 10, 1000)
    assert "500" in drawn(0, 500, 1000)
    assert "500" not in drawn(1, 10, 1000)


def test_shares_are_told_apart_without_colour() -> None:
    """Every category has a hatching of its own, and stands in the words with its share."""
    found = stacked_shares(
        [("m", "correct", 25.0), ("m", "same_field", 75.0)], HEADING, order=("correct", "same_field")
    )
    assert "m: correct 25.0 %, same field 75.0 %." in found.alt


def test_nothing_to_draw_is_refused() -> None:
    """A figure without dots, lines or shares, or with an unknown category."""
    for make in (lambda: accuracy_dots([], HEADING), lambda: accuracy_over_training([], HEADING)):
        with pytest.raises(InputError):
            make()
    with pytest.raises(InputError):
        stacked_shares([("m", "odd", 1.0)], HEADING, order=("correct",))
