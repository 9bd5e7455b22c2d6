"""The verdict and the error browser as sections of a report."""

from __future__ import annotations

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.verdict import verdict
from lexiscope.analysis.bias.view_errors import view_errors
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.report.document import Report
from lexiscope.report.page.html import render
from lexiscope.report.parts.bias_sections import errors_section, verdict_section
from lexiscope.report.tables import Missing

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
    assert first.rows[1][2] == Missing("The text is not at hand.")
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
