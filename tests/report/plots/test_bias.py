"""The bias plane, bars by view and minimum gaps: what is drawn, what is reported as text, what is missing."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.accuracy import Dot
from lexiscope.report.plots.bias import NAMED, PlanePoint, ViewBar, bias_plane, minimum_gaps, view_bars

HEADING = Heading("plane", "1", "Context and word bias")
VIEWS = Heading("views", "2", "Scores by view")
MODEL = PlanePoint("WiC", "classifier", 0.4, 0.1, False, 0.3, 0.5, 0.0, 0.2)
PEOPLE = PlanePoint("WiC", "people", 0.2, 0.0, people=True)


def test_words_and_data_say_what_the_drawing_shows() -> None:
    """Each point with its dataset, subject and both biases; people are named as such."""
    found = bias_plane([MODEL, PEOPLE], HEADING)
    assert "WiC, classifier: context .40, word .10." in found.alt
    assert "WiC, people (people): context .20, word .00." in found.alt
    assert found.data["context_high"].tolist()[0] == 0.5
    assert np.isnan(found.data["context_high"][1])
    assert found.svg.count(">WiC<") == 2


def test_points_of_one_dataset_are_linked() -> None:
    """The link is in the legend where a model and people share a dataset, and not where they do not."""
    assert ">same dataset<" in bias_plane([MODEL, PEOPLE], HEADING).svg
    apart = PlanePoint("AIDA", "people", 0.2, 0.0, people=True)
    assert ">same dataset<" not in bias_plane([MODEL, apart], HEADING).svg


def test_intervals_that_leave_the_frame_are_named() -> None:
    """A bias is a ratio: its interval may reach far; the frame follows the points, and the caption says what is cut."""
    wide = PlanePoint("XL-WiC", "classifier", 0.9, 0.5, False, -3.0, 8.0, 0.4, 0.6)
    caption = bias_plane([MODEL, wide], HEADING).caption
    assert caption == "Intervals that leave the frame and are cut there: classifier on XL-WiC."


def test_undefined_biases_are_listed() -> None:
    """They have no place in the plane; with none defined there is no figure."""
    undefined = PlanePoint("MCL-WiC", "probe", math.nan, 0.3)
    assert bias_plane([MODEL, undefined], HEADING).caption == "Undefined and left as a gap: probe on MCL-WiC."
    with pytest.raises(InputError):
        bias_plane([undefined], HEADING)


def test_the_shading_follows_its_threshold() -> None:
    """The legend names it."""
    assert ">bias above 0.80<" in bias_plane([MODEL], HEADING).svg
    assert ">bias above 0.60<" in bias_plane([MODEL], HEADING, high=0.6).svg


def test_many_points_are_numbered() -> None:
    """Beyond the limit, numbers stand beside the points and the datasets below."""
    many = [PlanePoint(f"set {n % 10}", f"model {n // 10}", n / 25, 0.5) for n in range(NAMED + 2)]
    svg = bias_plane(many, HEADING).svg
    assert ">set 3<" not in svg
    assert "4 set 3" in svg
    assert len(re.findall(r">4<", svg)) == 2


def test_words_and_data_say_what_the_bars_show() -> None:
    """Each dataset with its random score, each subject with its views."""
    bars = [
        ViewBar("WiC", "full", "classifier", 70.0, 66.0, 74.0),
        ViewBar("WiC", "word", "classifier", 50.0),
        ViewBar("WiC", "word", "people", 50.0, fixed="assumed"),
    ]
    found = view_bars(bars, VIEWS, random=[("WiC", 50.0)])
    assert "WiC (random 50.0): classifier full 70.0, word 50.0; people word 50.0." in found.alt
    assert found.data["fixed"].tolist() == ["", "", "assumed"]
    assert found.svg.count(">random answer<") == 1
    assert found.svg.count(">not measured here<") == 1


def test_a_missing_score_is_a_gap() -> None:
    """No bar, and the caption names it; a subject that is missing in the first panel is in the legend all the same."""
    bars = [
        ViewBar("WiC", "full", "a", 70.0),
        ViewBar("AIDA", "full", "b", 60.0),
        ViewBar("AIDA", "word", "b", math.nan),
    ]
    found = view_bars(bars, VIEWS)
    assert found.caption == "Undefined and left as a gap: b, AIDA, word."
    assert ">b<" in found.svg
    assert ">random answer<" not in found.svg


def test_unknown_views_and_no_scores_are_refused() -> None:
    """A view that the figure does not order, and nothing at all."""
    with pytest.raises(InputError, match="leaves out"):
        view_bars([ViewBar("WiC", "odd", "a", 70.0)], VIEWS)
    with pytest.raises(InputError):
        view_bars([], VIEWS)


def test_minimum_gaps_of_am2ico() -> None:
    """Figure 3 of the study: 5 points for BERT, 18.9 for people."""
    found = minimum_gaps([Dot("AM²iCo", "BERT", 5.0), Dot("AM²iCo", "people", 18.9, people=True)], VIEWS)
    assert found.alt == "Minimum gap in points. AM²iCo: BERT 5.0, people 18.9."
    assert found.data["people"].tolist() == [False, True]
    assert np.isnan(found.data["low"]).all()


def test_gaps_without_a_value_are_listed() -> None:
    """Drawn are the others; with none there is no figure."""
    undefined = Dot("WSD", "BERT", math.nan)
    assert minimum_gaps([Dot("WiC", "BERT", 1.0), undefined], VIEWS).caption == (
        "Undefined and left as a gap: BERT on WSD."
    )
    with pytest.raises(InputError):
        minimum_gaps([undefined], VIEWS)
