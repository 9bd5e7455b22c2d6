"""The same numbers as records and as drawn."""

from __future__ import annotations

import math

import pytest

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.view_gaps import human_model_gaps
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewScores
from lexiscope.core.result import find_record, from_json, to_json
from lexiscope.report.parts.bias_parts import bias_records, gap_dots, gap_records, plane_points, score_bars
from lexiscope.report.parts.bias_tables import BiasRow, GapRow

WORDS = [f"w{number}" for number in range(50)]
SCORES: Scores = {
    view: ViewScores([1] * n + [0] * (50 - n), WORDS) for view, n in (("full", 45), ("context", 35), ("word", 30))
}
LABEL = FixedScore(0.5, "assumed")
ROW = BiasRow("wic", "model", context_word_bias({**SCORES, "label": LABEL}, resamples=200))


def test_records_hold_every_number_of_the_tables() -> None:
    """Scores, both biases, five differences and the minimum gap, with intervals; they survive results.json."""
    records = from_json(to_json(bias_records(ROW)))
    assert len(records) == 4 + 2 + 5 + 1
    context = find_record(records, "context_bias(metric=accuracy)", subject="model", dataset="wic")
    assert context.value == pytest.approx(0.5)
    assert context.low == ROW.biases.context.interval.low
    assert "bootstrap(method=percentile" in context.interval
    assert find_record(records, "accuracy", view="full").n == 50
    assert find_record(records, "accuracy", view="label").note == "not measured here: assumed"
    gap = find_record(records, "minimum_gap(metric=accuracy)")
    assert (gap.value, gap.note) == (pytest.approx(0.2), "nearest to full: context")
    over = find_record(records, "view_difference(first=full,second=label,metric=accuracy)")
    assert over.value == pytest.approx(0.4)


def test_what_is_not_there_has_a_reason() -> None:
    """Without LABEL no bias, without WORD no minimum gap: records without value, with a note."""
    records = bias_records(BiasRow("wic", "model", context_word_bias({"full": SCORES["full"]}, resamples=50)))
    without = [record for record in records if record.value is None]
    assert len(without) == 2 + 5 + 1
    assert find_record(records, "word_bias(metric=accuracy)").note == "the views label and word are not there"
    assert find_record(records, "word_bias(metric=accuracy)").status == "undefined"


def test_left_out_draws_are_noted() -> None:
    """FULL .62 of 50 items: some draws have FULL ≤ LABEL; the record counts them."""
    near = {**SCORES, "full": ViewScores([1] * 31 + [0] * 19, WORDS), "label": LABEL}
    record = find_record(bias_records(BiasRow("wic", "m", context_word_bias(near))), "context_bias(metric=accuracy)")
    assert "of 2000 draws are undefined and left out" in record.note


def test_people_minus_model_as_records() -> None:
    """A printed human score is named in the note."""
    gaps = human_model_gaps(SCORES, {"full": FixedScore(0.95, "printed")})
    (record,) = gap_records(GapRow("wic", "model", gaps))
    assert record.statistic == "people_minus_model(metric=accuracy)"
    assert record.value == pytest.approx(0.05)
    assert record.note == "the score of people is printed"


def test_what_is_drawn_is_what_is_recorded() -> None:
    """Points in the unit of a bias, bars and gaps times 100; a missing gap is not-a-number."""
    (point,) = plane_points([ROW], people=["model"])
    assert (point.context, point.people) == (ROW.biases.context.value, True)
    assert point.word_high == ROW.biases.word.interval.high
    bars = score_bars([ROW])
    assert [bar.value for bar in bars] == [90.0, 70.0, 60.0, 50.0]
    assert bars[3].fixed == "assumed"
    (dot,) = gap_dots([ROW])
    assert dot.value == pytest.approx(20.0)
    (none,) = gap_dots([BiasRow("wic", "m", context_word_bias({"full": SCORES["full"]}, resamples=50))])
    assert math.isnan(none.value)
