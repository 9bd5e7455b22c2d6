"""The section of a report with what the paper claims."""

from __future__ import annotations

from lexiscope.core.claims import Claim, parse_rule
from lexiscope.core.result import Record
from lexiscope.report.page.comparison import claims_section


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
