"""A table as a pivot of results: columns name statistics, rows name what they are about."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import SpecError
from lexiscope.core.result import Estimate, Interval, Record, Undefined
from lexiscope.report.part import Part, part_of
from lexiscope.report.pivot import Col, PivotRow, pivot, rows_of
from lexiscope.report.tables import BOUNDED, INTEGER, Column, Format, Missing, Table
from lexiscope.report.tables import IntervalCell as Bounds

RHO = Estimate("rho", 0.5, Interval(0.4, 0.6, 0.95, "bootstrap"), 20, subject="a", layer=3)
RESULTS = (
    RHO,
    Undefined("rho", "all values are equal", 20, subject="b"),
    Record("n_items", 20.0, "a", p=0.01),
    Record("n_items", 19.0, "c"),
)


def test_a_cell_is_the_first_result_with_the_statistic_and_the_fields_of_the_row() -> None:
    """Value with interval, layer, p; the reason where there is no value, and where there is no result."""
    columns = (
        Col("ρ", "rho"),
        Col("at layer", "rho", show="layer"),
        Col("items", "n_items", Format("integer"), show="value", absent=None),
        Col("p", "n_items", show="p", absent=""),
    )
    table = pivot("agreement", "Agreement", RESULTS, columns, rows_of(RESULTS, "subject", names={"a": "Model A"}))
    assert table.rows == (
        ("Model A", Bounds(0.4, 0.6, 0.5), 3, 20, 0.01),
        ("b", Missing("undefined: all values are equal"), None, None, ""),
        ("c", Missing("not computed"), Missing("not computed"), 19, None),
    )
    assert [type(row[3]) for row in table.rows] == [int, type(None), int]
    assert [column.header for column in table.columns] == ["Subject", "ρ", "at layer", "items", "p"]
    assert [column.format for column in table.columns[1:3]] == [BOUNDED, INTEGER]


def test_percent_intervals_alone_and_own_cells() -> None:
    """Values and bounds are multiplied alike; an interval can stand alone; a column may make its own cell."""
    columns = (
        Col("%", "rho", times=100),
        Col("bounds", "rho", show="interval", times=100),
        Col("either", ("share", "rho"), show="value"),
        Col("own", "rho", cell=lambda record: f"{record.subject}: {record.n}"),
        Col("other", "rho", where={"layer": 4}, absent="none"),
    )
    (row,) = pivot(
        "p", "P", [RHO], columns, [PivotRow(("first", 1), {"subject": "a"})], labels=("What", Column("No."))
    ).rows
    assert row == ("first", 1, Bounds(40, 60, 50), Bounds(40, 60), 0.5, "a: 20", "none")


def test_a_row_fills_in_the_names_of_its_columns() -> None:
    """A row of a part, and one of a condition: the names in braces are the row's, those of its fields too."""
    found = [
        Record("mean_words(of=ending)", 13.5, n=4),
        Record("mean_words(of=story)", 49.5, n=6),
        Record("sd", 0.9, condition="all, open"),
        Record("u", 7.0, condition="all"),
    ]
    parts = [PivotRow((part,), of={"part": part}) for part in ("ending", "story")]
    columns = (Col("Words", "mean_words(of={part})"), Col("n", "mean_words(of={part})", show="n"))
    assert pivot("p", "P", found, columns, parts).rows == (("ending", 13.5, 4), ("story", 49.5, 6))
    open_sd = Col("open", "sd", where={"condition": "{condition}, open"})
    (row,) = pivot("p", "P", found, [open_sd, Col("U", "u")], [PivotRow(("all",), {"condition": "all"})]).rows
    assert row == ("all", 0.9, 7.0)


def test_a_value_without_an_interval_is_no_interval() -> None:
    """A column of intervals says why there is none: it never shows the value in its place."""
    bare = Record("rho", 0.5, subject="a", note="no interval: one group")
    (row,) = pivot("p", "P", [bare], [Col("bounds", "rho", show="interval")], rows_of([bare], "subject")).rows
    assert row == ("a", Missing("no interval: one group"))


def test_a_part_of_results_tables_and_sentences_keeps_the_order_of_records() -> None:
    """Results become records; parts, tables and sentences are sorted out; anything else is refused by its type."""
    table = Table("t", "", "T", (Column("A"),), ())
    part = part_of([RHO, None, ("a sentence", [table])], Part(records=(Record("x", 1.0),)), origin="the question q")
    assert [record.statistic for record in part.records] == ["rho", "x"]
    assert part.paragraphs == ("a sentence",)
    assert part.tables == (table,)
    with pytest.raises(SpecError, match="the question q returns dict"):
        part_of({"rho": 0.5}, origin="the question q")
