"""Adjusted p values in parts of a report: in records, next to the raw ones in tables, and in sentences."""

from __future__ import annotations

import pytest

from lexiscope.analysis.families import TestFamily
from lexiscope.core.result import Estimate, Record
from lexiscope.report.part import Part, with_adjusted_p
from lexiscope.report.presenting import results_table, sentence
from lexiscope.report.tables import P_VALUE, Missing, Table, columns
from lexiscope.studies.kit.data import pair, rating
from lexiscope.studies.kit.study import Study

TESTS = tuple(Record("t", 2.0, p=p, condition=c) for p, c in ((0.01, "a"), (0.04, "b"), (0.03, "c")))


def test_a_column_of_p_values_has_the_adjusted_ones_next_to_it() -> None:
    """Holm of .01, .04, .03 is .03, .06, .06; the head says the method and the size; a missing p keeps its reason."""
    none = Missing("too few")
    heads = columns("Contrast", ("p", P_VALUE), "Remark")
    table = Table("t", "", "T", heads, (("a", 0.01, ""), ("b", 0.04, ""), ("c", 0.03, ""), ("d", none, "")))
    part = with_adjusted_p(Part(TESTS, (table,)))
    (shown,) = part.tables
    assert [column.header for column in shown.columns] == ["Contrast", "p", "p, Holm, 3 tests", "Remark"]
    assert [row[2] for row in shown.rows] == [0.03, 0.06, 0.06, none]
    assert [record.p_adjusted for record in part.records] == [0.03, 0.06, 0.06]


def test_a_single_test_stays_as_it_is() -> None:
    """One test, and a table without p values, are unchanged."""
    table = Table("t", "", "T", columns("Contrast", ("p", P_VALUE)), (("a", 0.01),))
    part = Part(TESTS[:1], (table,))
    assert with_adjusted_p(part) == part


def test_a_family_shows_in_its_own_columns_only() -> None:
    """Two families with the same p values: each has the column that it names."""
    records = [*TESTS, *(Record("exact_p", r.p, condition=r.condition) for r in TESTS)]
    families = (TestFamily("t", ("t",), columns=("p",)), TestFamily("exact", ("exact_p",), columns=("p, exact",)))
    heads = columns("Contrast", ("p", P_VALUE), ("p, exact", P_VALUE))
    table = Table("t", "", "T", heads, tuple((r.condition, r.p, r.p) for r in TESTS))
    (shown,) = with_adjusted_p(Part(tuple(records), (table,)), families).tables
    assert [column.header for column in shown.columns[1:]] == [
        *("p", "p, Holm, 3 tests", "p, exact", "p, exact, Holm, 3 tests")
    ]


def test_tests_of_several_families_in_one_column_are_adjusted_each_in_its_own() -> None:
    """Holm within each statistic; a test that is alone stays; the note of the column names the families."""
    others = [Record("u", 2.0, p=p, condition=c) for p, c in ((0.02, "d"), (0.5, "e"))]
    records = (*TESTS, *others, Record("v", 2.0, p=0.2, condition="f"))
    table = Table("t", "", "T", columns("Contrast", ("p", P_VALUE)), tuple((r.condition, r.p) for r in records))
    (shown,) = with_adjusted_p(Part(records, (table,))).tables
    assert [row[2] for row in shown.rows] == [0.03, 0.06, 0.06, 0.04, 0.5, 0.2]
    assert shown.columns[2].header == "p, adjusted"
    assert shown.columns[2].note == "Each within its family: t (3 tests), u (2 tests)."


def test_sentences_say_the_adjusted_p_with_the_size() -> None:
    """The sentence of a result has both; its record has the family."""
    family = "contrasts(method=holm,tests=84)"
    estimate = Estimate("difference", 2.0, n=9, p=0.001, p_adjusted=0.084, family=family)
    assert "p = .001, p = .084 adjusted for 84 tests (Holm)" in sentence(estimate)
    assert estimate.records()[0].family == family
    assert results_table("t", "T", [estimate]).columns[-1].header != "p, Holm, 84 tests"


def test_a_study_of_ones_own_adjusts_without_asking(tmp_path: object) -> None:
    """A question that returns three tests and declares no family: records, table and sentences have Holm's p."""
    study = Study("three_tests", title="T", citation="C", scale=(1, 5))

    @study.data
    def load() -> object:
        yield pair("bank/1", "They sat on the bank.", "The bank was closed.", "bank", same_sense=False)
        yield rating("p01", "bank/1", 2)

    @study.question("Do they differ?")
    def differ(_run: object) -> object:
        return [Estimate("t", 2.0, n=9, p=r.p, condition=r.condition) for r in TESTS]

    summary = study.run(out=str(tmp_path))
    text = summary.report.read_text(encoding="utf-8")
    assert "p, Holm, 3 tests" in text
    assert "p = .060 adjusted for 3 tests (Holm)" in text


def test_a_family_of_another_question_cannot_take_a_test() -> None:
    """A declared family takes the statistics that it names, with their parameters, and no others."""
    family = TestFamily("sense", ("chi2(test=sense)",))
    assert family.holds(Record("chi2(test=sense,df=1)", 1.0, p=0.3))
    assert not family.holds(Record("chi2(test=sense_maximal,df=1)", 1.0, p=0.3))
    assert TestFamily("all", ("chi2",)).holds(Record("chi2(test=sense,df=1)", 1.0, p=0.3))
    with pytest.raises(TypeError):
        TestFamily("no_members")  # type: ignore[call-arg]
