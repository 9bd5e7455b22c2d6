"""What a study computes is in its report: a number that no table or figure shows is listed, or nothing is stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, to_json
from lexiscope.core.sealed import seal_run
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.every_result import check_every_result, with_every_result
from lexiscope.report.page.html import render
from lexiscope.report.page.runs import report_of_runs
from lexiscope.report.page.simulated import MARK
from lexiscope.report.page.stored import load, store
from lexiscope.report.page.study_folder import write_run
from lexiscope.report.tables import Cell, Column, IntervalCell, Missing, Table

KNOWN = {"r": "correlation", "n_items": "pairs"}


def page(records: tuple[Record, ...], *rows: tuple[Cell, ...], figures: tuple[Figure, ...] = ()) -> Report:
    """A report whose one question has one table."""
    columns = tuple(Column(f"c{index}") for index in range(len(rows[0]) if rows else 1))
    section = Section("q1", "A question", ("Said.",), (Table("t", "", "A table", columns, rows),), figures)
    return Report("A study", sections=(section,), records=records)


def listed(report: Report) -> list[tuple[str, str, Cell]]:
    """Section, statistic and value of what was added to a report, row by row."""
    return [
        (section.id, str(row[0]), row[[column.header for column in table.columns].index("Value")])
        for section in report.sections
        for table in section.tables
        if table.name.endswith("_further_results")
        for row in table.rows
    ]


def test_a_number_that_no_table_shows_is_listed_at_its_question() -> None:
    """The row has the statistic's name, its value with interval, and the note says what the statistic is."""
    records = (
        Record("r", 0.123, question="Q1"),
        Record("r(of=size)", 0.456, question="Q1", low=0.1, high=0.8, note="a remark"),
    )
    complete = with_every_result(page(records, ("minilm", 0.123)), KNOWN)
    assert listed(complete) == [("q1", "r(of=size)", IntervalCell(0.1, 0.8, 0.456))]
    text = render(complete)
    assert "r(of=size)" in text.replace("<wbr>", "")
    assert "0.4560 [0.1000, 0.8000]" in text
    assert "r: correlation." in text
    assert "a remark" in text


def test_what_is_shown_is_not_listed_twice() -> None:
    """A number, an estimate with interval, a percentage, a whole number as text, a reason, a point of a figure."""
    records = (
        Record("r", 0.1234, question="Q1"),
        Record("r(of=a)", 0.2345, question="Q1", low=0.1, high=0.3),
        Record("r(of=b)", 0.3456, question="Q1"),
        Record("n_items", 1234.0, question="Q1"),
        Record("r(of=c)", None, question="Q1", note="all ratings are equal"),
        Record("r(of=d)", 0.5678, layer=3, question="Q1"),
    )
    drawn = Figure("f", "", "f", "", "f", "<svg/>", {"layer": np.array([3]), "value": np.array([0.5678])})
    rows: tuple[tuple[Cell, ...], ...] = (
        (0.1234,),
        (IntervalCell(0.1, 0.3, 0.2345),),
        (34.56,),
        ("1,234",),
        (Missing("all ratings are equal"),),
    )
    report = page(records, *rows, figures=(drawn,))
    assert with_every_result(report, KNOWN) is report


@pytest.mark.parametrize(
    ("records", "rows", "expected"),
    [
        # one zero in a table cannot show two statistics
        ((Record("n_items", 0.0, question="Q1"), Record("r", 0.0, question="Q1")), ((0,),), ["r"]),
        # the value is that of another layer
        ((Record("r", 0.5, layer=2, question="Q1"),), (("layer 7", 0.5),), ["r"]),
        # the value is there with the interval of another estimate
        ((Record("r", 0.5, low=0.1, high=0.9, question="Q1"),), ((IntervalCell(0.4, 0.6, 0.5),),), ["r"]),
        # a statistic that the study does not know is listed although its value is somewhere
        ((Record("unknown", 1.0, question="Q1"),), ((1,),), ["unknown"]),
    ],
)
def test_a_likeness_by_chance_hides_nothing(
    records: tuple[Record, ...], rows: tuple[tuple[Cell, ...], ...], expected: list[str]
) -> None:
    """A number with few decimals needs its section, its layer and its interval."""
    assert [name for _, name, _ in listed(with_every_result(page(records, *rows), KNOWN))] == expected


def test_records_without_a_section_have_one_of_their_own() -> None:
    """A record of no question, or of a question without a section, is not lost."""
    records = (Record("r", 0.123), Record("r(of=a)", 0.456, question="Q7"))
    complete = with_every_result(page(records, (1,)), KNOWN)
    assert [(section, name) for section, name, _ in listed(complete)] == [("further", "r"), ("further", "r(of=a)")]


def test_a_curve_is_one_row() -> None:
    """Values of several layers are one row with a column for each layer, undefined ones with their reason."""
    values = (0.11111, None, 0.33333)
    records = tuple(
        Record("r", value, "minilm", layer=layer, question="Q1", note="" if value else "constant")
        for layer, value in enumerate(values)
    )
    (table,) = (t for t in with_every_result(page(records, (1,)), KNOWN).sections[0].tables if t.name != "t")
    assert [column.header for column in table.columns] == ["Statistic", "Subject", "0", "1", "2"]
    assert table.rows == (("r", "minilm", 0.11111, Missing("constant"), 0.33333),)


def test_what_is_complete_stays_as_it_is() -> None:
    """Adding what is missing a second time adds nothing."""
    records = tuple(Record(f"r(of={name})", 0.1234 * number, question="Q1") for number, name in enumerate("abc", 1))
    complete = with_every_result(page(records, (0.1234,)), KNOWN)
    check_every_result(complete)
    assert with_every_result(complete, KNOWN) == complete


def test_a_report_that_hides_a_number_is_not_stored(tmp_path: Path) -> None:
    """The error names the statistics; nothing is written."""
    records = (Record("r", 0.123, question="Q1"), Record("n_items", 7.0, question="Q1"))
    with pytest.raises(RunError, match="shows no value of r, n_items"):
        store(page(records, (1,)), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_lists_what_its_study_forgot(tmp_path: Path) -> None:
    """Every study, `bias` and `senses people` write their runs here: the page has the number."""
    report = page((Record("r", 0.98765, question="Q1"),), (1,))
    write_run(tmp_path, report, ResponseTable.from_rows([]), extra=(), command="test", meanings=KNOWN)
    assert "0.9877" in (tmp_path / "report.html").read_text(encoding="utf-8")
    check_every_result(load(tmp_path))


def test_a_report_of_an_earlier_run_has_every_number(tmp_path: Path) -> None:
    """`lexiscope report` lists what a run's stored report does not show."""
    report = page((Record("r", 0.98765, question="Q1"),), (1,))
    store(replace(report, records=()), tmp_path)
    (tmp_path / "results.json").write_text(to_json(report.records), encoding="utf-8")
    seal_run(tmp_path, {}, ["results.json"])
    assert listed(report_of_runs([tmp_path])) == [("q1", "r", 0.98765)]


def test_lists_of_simulated_participants_carry_their_mark() -> None:
    """The title, the rows of people and the section say so; what is listed is found again under its new name."""
    records = (
        Record("r", 0.123, "people", question="Q1", people="simulated"),
        Record("r(of=a)", None, "people", note="no people", people="simulated"),
    )
    complete = with_every_result(page(records, (1,)), KNOWN)
    check_every_result(complete)
    lists = [t for section in complete.sections for t in section.tables if t.name != "t"]
    assert len(lists) == 2
    assert all(MARK in table.title and table.people for table in lists)
    assert {row[1] for table in lists for row in table.rows} == {"simulated participants"}
    assert complete.sections[-1].title == f"Further results {MARK}"


def test_a_rounded_number_is_not_taken_for_another_one() -> None:
    """“1” (a version, say) is no place of .672: two decimals or three digits show a number, exact ones always."""
    records = (
        Record("alpha", 0.672, question="Q1"),
        Record("r", 0.671, question="Q1"),
        Record("n_items", 1.0, question="Q1"),
        Record("percent", 12.34, question="Q1"),
    )
    complete = with_every_result(page(records, ("1", "12.3", "0.67")), KNOWN | {"alpha": "alpha", "percent": "percent"})
    assert [(statistic, value) for _, statistic, value in listed(complete)] == [("r", 0.671)]
