"""Bars by view and minimum gaps: what is drawn and said, what is missing, what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.report.figures import Heading
from lexiscope.report.plots.views import Gap, ViewBar, minimum_gaps, view_bars

HEADING = Heading("views", "2", "Scores by view")


def test_words_and_data_say_what_the_bars_show() -> None:
    """Each dataset with its random score, each subject with its views."""
    bars = [
        ViewBar("WiC", "full", "classifier", 70.0, 66.0, 74.0),
        ViewBar("WiC", "word", "classifier", 50.0),
        ViewBar("WiC", "word", "people", 50.0, fixed="assumed"),
    ]
    found = view_bars(bars, HEADING, random=[("WiC", 50.0)])
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
    found = view_bars(bars, HEADING)
    assert found.caption == "Undefined and left as a gap: b, AIDA, word."
    assert ">b<" in found.svg
    assert ">random answer<" not in found.svg


def test_unknown_views_and_no_scores_are_refused() -> None:
    """A view that the figure does not order, and nothing at all."""
    with pytest.raises(InputError, match="leaves out"):
        view_bars([ViewBar("WiC", "odd", "a", 70.0)], HEADING)
    with pytest.raises(InputError):
        view_bars([], HEADING)


def test_minimum_gaps_of_am2ico() -> None:
    """Figure 3 of the study: 5 points for BERT, 18.9 for people."""
    found = minimum_gaps([Gap("AM²iCo", "BERT", 5.0), Gap("AM²iCo", "people", 18.9, people=True)], HEADING)
    assert found.alt == "Minimum gap in points. AM²iCo: BERT 5.0, people 18.9."
    assert found.data["people"].tolist() == [False, True]
    assert np.isnan(found.data["low"]).all()


def test_gaps_without_a_value_are_listed() -> None:
    """Drawn are the others; with none there is no figure."""
    undefined = Gap("WSD", "BERT", math.nan)
    assert minimum_gaps([Gap("WiC", "BERT", 1.0), undefined], HEADING).caption == (
        "Undefined and left as a gap: BERT on WSD."
    )
    with pytest.raises(InputError):
        minimum_gaps([undefined], HEADING)
