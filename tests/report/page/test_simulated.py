"""The mark of simulated participants leaves the words of items as they were shown."""

from __future__ import annotations

from lexiscope.report.page.simulated import marked_table
from lexiscope.report.tables import Column, Missing, Noted, Table


def test_an_item_about_people_keeps_its_word_and_its_text() -> None:
    """The mark says who judged; a sentence that says "people" was shown so, and is no judgment."""
    columns = (Column("word"), Column("sentence_1"), Column("Frase", language="es"), Column("Raters of"))
    row = ("people", "Many people went to the bank.", "Many people.", "people")
    marked = marked_table(Table("norms", "", "Norms", columns, (row,)))
    assert marked.rows == ((*row[:3], "simulated participants"),)


def test_a_remark_on_a_cell_of_material_is_marked() -> None:
    """The column of the view WORD holds scores: their remarks and reasons speak of who judged, its texts do not."""
    row = (Noted("people", "The score of people is assumed."), Missing("No people were asked."))
    marked = marked_table(Table("gaps", "", "Gaps", (Column("WORD"), Column("word")), (row,)))
    assert marked.rows == (
        (
            Noted("people", "The score of simulated participants is assumed."),
            Missing("No simulated participants were asked."),
        ),
    )
