"""What a paper prints beside what we find."""

from __future__ import annotations

from lexiscope.core.claims import Claim, parse_rule
from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue
from lexiscope.report.page.comparison import (
    claims_section,
    comparison_section,
    printed_count,
    published_table,
    where_measured,
)
from lexiscope.report.part import with_published
from lexiscope.report.tables import IntervalCell, Missing, Noted, layout


def test_only_published_numbers_are_compared(records: tuple[Record, ...]) -> None:
    """Records without a printed value stay out; the reason for a difference becomes a note at its status."""
    table = published_table(records)
    assert [row[0] for row in table.rows] == ["Spearman correlation", "R² of the norms on distance"]
    assert table.rows[0][-1] == Noted("not reproduced", "why")
    assert table.rows[1] == ("R² of the norms on distance", "BETO, layer 12", "§4.3", "0.36", 0.357, "reproduced")


def test_values_with_interval_and_without_value() -> None:
    """An interval goes with its estimate; an undefined value shows why."""
    records = [
        Record("r", 0.5, low=0.4, high=0.6, published=0.5, status="reproduced"),
        Record("r", None, published=0.5, status="undefined", note="constant input"),
    ]
    found = [row[4] for row in published_table(records).rows]
    assert found == [IntervalCell(0.4, 0.6, 0.5), Missing("constant input")]


def test_a_printed_bound_keeps_its_sign_and_is_compared_as_a_bound() -> None:
    """p < .001 is reproduced by any smaller p, r > .82 only by a larger r; the table shows the sign."""
    values = [PublishedValue("p", "< .001", "§3.5"), PublishedValue("r", "> .82", "§3.4")]
    small, large = with_published([Record("p", 3e-10), Record("r", 0.81)], values)
    assert (small.status, large.status) == ("reproduced", "not reproduced")
    assert [row[3] for row in published_table([small, large]).rows] == ["< 0.001", "> 0.82"]
    assert small.content()["bound"] == "<"
    assert "bound" not in Record("p", 3e-10).content()


def test_printed_numbers_are_counted_by_status() -> None:
    """*n of N*: how many printed numbers the run compares, by outcome; the others with the reason of their kind."""
    statuses = ["reproduced"] * 3 + ["within rounding", "not reproducible", "not reproducible", "not computed"]
    printed = [
        Record("r", None if "not" in status else 0.5, published=0.5, status=status, note="why")  # type: ignore[arg-type]
        for status in statuses
    ]
    assert printed_count([*printed, Record("other", 1.0)]) == (
        "The paper prints 7 numbers of these data. This run compares 4 of 7: 3 reproduced, 1 within rounding. "
        "Not compared: 2 not reproducible, 1 not computed."
    )


def test_a_status_without_a_number_is_shown() -> None:
    """What cannot be reproduced at all, for want of data, stands in the table as well."""
    record = Record("n", None, status="not reproducible", note="not in the published files", source="§3.2")
    assert published_table([record]).rows[0][-1] == "not reproducible"


def test_without_published_numbers_there_is_no_section() -> None:
    """A study of one's own items has nothing to compare with."""
    assert comparison_section([Record("r", 0.5)]) is None


def test_the_place_is_said_in_words() -> None:
    """Dataset, layer, condition and view, as far as there are any; layer 0 is a layer."""
    assert where_measured(Record("r", 0.5, dataset="d", layer=0, view="full")) == "d, layer 0, full"
    assert where_measured(Record("r", 0.5)) == ""


def test_whole_numbers_have_no_decimals() -> None:
    """A count of 812 is printed as 812, not as 812.0000; other numbers keep four decimals."""
    records = [Record("n_items", 812.0, published=812, status="reproduced"), Record("r", 0.25, published=0.25)]
    assert [row[4].text for row in layout(published_table(records)).rows] == ["812", "0.2500"]


def test_what_no_paper_prints_is_not_compared() -> None:
    """A statistic that is undefined on these data stands in no table of what a paper prints; one that a paper prints
    and nobody can reproduce does."""
    undefined = Record("word_bias", None, status="undefined", note="FULL is not above LABEL")
    assert comparison_section([undefined]) is None
    section = comparison_section([undefined, Record("n", None, status="not reproducible", note="not released")])
    assert section is not None
    assert "compares 0 of 1. Not compared: 1 not reproducible." in str(section.paragraphs[0])


def claim(text: str, rule: str, *datasets: str) -> Claim:
    return Claim(text, "§1", "Q1", datasets, parse_rule(rule) if rule else (), "" if rule else "never released")


def test_the_claims_about_the_data_of_a_run_are_told_with_their_numbers() -> None:
    """Claims about other data are left out, one about two datasets is listed once, outcomes are counted."""
    both = claim("More.", "r[dataset=a] > r[dataset=b]", "a", "b")
    claims = {
        "a": (claim("High.", "r > 0", "a"), both),
        "b": (both, claim("Low.", "r < 0", "b"), claim("Odd.", "", "b")),
        "c": (claim("Other.", "r > 0", "c"),),
    }
    records = [Record("r", 2.0, dataset="a"), Record("r", 1.0, dataset="b")]
    section = claims_section(claims, records)
    assert section is not None
    assert section.paragraphs[0] == "4 claims: 2 hold, 1 reversed, 1 cannot be tested."
    (table,) = section.tables
    assert table.name == "claims"
    assert [row[0] for row in table.rows] == ["High.", "More.", "Low.", "Odd."]
    assert [row[3:] for row in table.rows] == [
        ("a", "holds", "2 > 0"),
        ("a, b", "holds", "2 > 1"),
        ("b", "reversed", "1 > 0"),
        ("b", "cannot be tested", "never released"),
    ]


def test_a_run_on_other_data_has_no_section_of_claims() -> None:
    """What a paper claims is of its own data; with one dataset there is no column for it."""
    claims = {"a": (claim("High.", "r > 0", "a"),)}
    assert claims_section(claims, [Record("r", 1.0, dataset="z")]) is None
    section = claims_section(claims, [Record("r", 1.0, dataset="a")])
    assert section is not None
    assert [column.header for column in section.tables[0].columns] == [
        "Claim",
        "Place",
        "Question",
        "Outcome",
        "Numbers of this run",
    ]
