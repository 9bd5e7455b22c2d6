"""Bias as records, as figures, and as the sections of a report: verdict and error browser."""

from __future__ import annotations

import math

import pytest

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.verdict import verdict
from lexiscope.analysis.bias.view_errors import view_errors
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewScores, human_model_gaps
from lexiscope.core.result import find_record, from_json, to_json
from lexiscope.report.document import Report
from lexiscope.report.page.html import render
from lexiscope.report.parts.bias_parts import (
    bias_records,
    errors_section,
    gap_dots,
    gap_records,
    plane_points,
    score_bars,
    verdict_section,
)
from lexiscope.report.parts.bias_tables import BiasRow, GapRow
from lexiscope.report.tables import Missing

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
    assert "bootstrap(method=fieller,resampled=words" in context.interval
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


def test_a_bias_without_bounds_says_which_values_agree() -> None:
    """FULL .62 of 50 items is not shown to be above LABEL: the record has no bounds, and its note the half-lines."""
    near = {**SCORES, "full": ViewScores([1] * 31 + [0] * 19, WORDS), "label": LABEL}
    record = find_record(bias_records(BiasRow("wic", "m", context_word_bias(near))), "context_bias(metric=accuracy)")
    assert (record.low, record.high) == (None, None)
    assert "values below −3.69 or above 1.02 agree with the data" in record.note


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


GOLD = {"i1": "q1", "i2": "q2", "i3": "q3|q4"}


ANSWERS: dict[str, dict[str, str | None]] = {
    "full": {"i1": "q9", "i2": "q2", "i3": "q9"},
    "word": {"i1": "q1", "i2": "q9", "i3": "q4"},
}


ENTRIES = {"q1": "Jaguar: a large cat", "q9": "Jaguar Cars: a maker of cars", "q3": "Ford", "q4": "Ford <river>"}


def test_the_verdict_comes_first() -> None:
    """Summary, then what it rests on, then how to read it."""
    views = {"full": 0.9, "context": 0.6, "word": 0.5, "label": 0.5}
    found = verdict(context_word_bias({view: FixedScore(value, "printed") for view, value in views.items()}))
    section = verdict_section("Verdict", found)
    assert section.paragraphs[0] == found.summary
    assert " ".join(map(str, section.paragraphs)).startswith(found.text)
    assert section.paragraphs[2] == "No people were asked: whether they need word and context together is not known."


def test_errors_name_the_entries() -> None:
    """Right and retrieved entry by name, all right ones, the distracting word; what is not at hand says so."""
    misled = view_errors(GOLD, ANSWERS, words={"i1": "jaguar", "i3": "ford"}, distractors={"i1": "factory"})
    helped = view_errors(GOLD, ANSWERS, wrong="word", right="full")
    section = errors_section([misled, helped], texts={"i1": "The [jaguar] near the factory"}, entries=ENTRIES)
    first, second = section.tables
    assert first.rows[0] == (
        "i1", "jaguar", "The [jaguar] near the factory", ENTRIES["q1"], ENTRIES["q9"], "factory"
    )  # fmt: skip
    assert first.rows[1][2] == Missing("The text is not available.")
    assert first.rows[1][3] == "Ford; Ford <river>"
    assert [column.header for column in second.columns] == ["Item", "Text", "Right", "Answered in WORD"]
    assert section.paragraphs == (
        "FULL wrong and WORD right: 2 of 3 items.",
        "WORD wrong and FULL right: 1 of 3 items.",
    )


def test_long_lists_are_cut_and_say_so() -> None:
    """The table shows as many as asked for; a direction without an error has a sentence and no table."""
    misled = view_errors(GOLD, ANSWERS)
    none = view_errors({"i2": "q2"}, ANSWERS)
    section = errors_section([misled, none], most=1)
    assert len(section.tables) == 1
    assert section.tables[0].notes == ("The first 1 of 2 items are shown.",)
    assert section.paragraphs[1] == "FULL wrong and WORD right: 0 of 1 item."


def test_the_page_escapes_what_data_hold() -> None:
    """An entry with markup in its name stays text."""
    page = render(Report("R", sections=(errors_section([view_errors(GOLD, ANSWERS)], entries=ENTRIES),)))
    assert "Ford &lt;river&gt;" in page
