"""The mark of simulated participants leaves the words of items as they were shown."""

from __future__ import annotations

from lexiscope.report.simulated import marked_table
from lexiscope.report.tables import Column, Table


def test_an_item_about_people_keeps_its_word_and_its_text() -> None:
    """The mark says who judged; a sentence that says "people" was shown so, and is no judgment."""
    columns = (Column("word"), Column("sentence_1"), Column("Frase", language="es"), Column("Raters of"))
    row = ("people", "Many people went to the bank.", "Many people.", "people")
    marked = marked_table(Table("norms", "", "Norms", columns, (row,)))
    assert marked.rows == ((*row[:3], "simulated participants"),)
