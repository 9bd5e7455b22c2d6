"""Figures and tables have a paper's numbers only beside what the paper prints; on other data they are counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.study import Question
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.study_folder import marked_questions, write_run
from lexiscope.report.tables import Column, Table


def _figure(name: str, number: str) -> Figure:
    svg = f'<svg role="img" aria-labelledby="{name}-title"><title id="{name}-title">t</title></svg>'
    return Figure(name, number, "Title", "", "words", svg, {"x": np.array([1.0])})


def _report(record: Record) -> Report:
    tables = (Table("table_7_views", "7", "Views", (Column("n"),), ((3.0,),)),
              Table("plain", "", "Plain", (Column("n"),), ((3.0,),)))  # fmt: skip
    inside = Section("inside", "Inside", figures=(_figure("figure_11_aic", "11"), _figure("by_word", "")))
    sections = (
        Section("one", "One", tables=tables, figures=(_figure("figure_4b_same", "4b"),), subsections=(inside,)),
    )
    return Report("Title", sections=sections, run={"settings": {}}, records=(record,))


def _written(folder: Path, record: Record) -> tuple[list[str], str]:
    folder.mkdir()
    write_run(folder, _report(record), ResponseTable.from_rows([]), extra=(), command="command")
    drawn = sorted(path.name for path in (folder / "figures").glob("*.svg"))
    drawn += sorted(path.name for path in (folder / "tables").glob("*.csv"))
    return drawn, (folder / "report.html").read_text(encoding="utf-8")


def test_on_the_users_data_figures_and_tables_are_counted_in_reading_order(tmp_path: Path) -> None:
    """No "Figure 11" without ten before it: report_style.md §4, "numbered in the order of the page"."""
    names, page = _written(tmp_path / "run", Record("n", 3.0))
    assert names == ["by_word.svg", "figure_1_same.svg", "figure_2_aic.svg", "plain.csv", "table_1_views.csv"]
    assert all(text in page for text in ("Figure 1.", "Figure 2.", "Figure 3.", "Table 1."))
    assert not any(text in page for text in ("Figure 11", "Figure 4b", "Table 7", "figure_11", "figure_4b"))
    assert 'id="figure_2_aic-title"' in (tmp_path / "run" / "figures" / "figure_2_aic.svg").read_text(encoding="utf-8")
    assert "figure_11" not in json.dumps(json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8")))


def test_beside_printed_numbers_the_papers_numbers_stay(tmp_path: Path) -> None:
    """Where numbers are compared with a paper's, its figures are found under its numbers."""
    names, page = _written(tmp_path / "run", Record("n", 3.0, published=3.0, source="Table 7", status="reproduced"))
    assert names == ["by_word.svg", "figure_11_aic.svg", "figure_4b_same.svg", "plain.csv", "table_7_views.csv"]
    assert "Figure 11." in page
    assert "Table 7." in page


def test_a_question_names_its_place_in_a_paper_only_on_the_papers_data() -> None:
    """ "Asked in §4.1, Table 5" is false of data that no paper has seen."""
    asked = (Question("Q1", "How much?", "§4.1, Table 5"),)
    printed = Record("n", 3.0, published=3.0, source="Table 5", status="reproduced")
    assert [each.section for each in marked_questions(asked, (Record("n", 3.0),))] == [""]
    assert [each.section for each in marked_questions(asked, (printed,))] == ["§4.1, Table 5"]
