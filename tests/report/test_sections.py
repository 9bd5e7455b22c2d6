"""The parts that every results section has."""

from __future__ import annotations

import pytest

from lexiscope.analysis.choices.tokenisation import tokenisation
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.study import Question
from lexiscope.report.part import Omission, Part, part_of
from lexiscope.report.sections import (
    FilterStep,
    card_section,
    filters_table,
    omissions_section,
    questions_table,
    scoring_table,
    subjects_table,
    tokens_table,
)
from lexiscope.report.tables import Missing


def test_filters_show_in_out_and_difference() -> None:
    """139 recruited, 8 excluded, 131 kept: every step with its counts; a filter that adds rows is refused."""
    table = filters_table([FilterStep("catch trial", "participants", 139, 131)])
    assert table.rows == (("catch trial", "participants", 139, 131, 139 - 131),)
    with pytest.raises(InputError, match="cannot add"):
        filters_table([FilterStep("x", "trials", 1, 2)])


def test_empty_columns_are_left_out_of_the_subjects() -> None:
    """What is known of no subject has no column; the first column always stays."""
    table = subjects_table([SubjectFacts("beto", title="BETO", n_layers=12, n_parameters=109850880)])
    assert [column.header for column in table.columns] == ["Subject", "Kind", "Layers", "Parameters"]
    assert table.rows == (("BETO", "encoder", 12, 109850880),)


def test_questions_carry_their_flag_and_result() -> None:
    """Every question has its flag; one without a result says that it was not analysed."""
    questions = [Question("q1", "Do they?", "§3.5", "confirmatory"), Question("q2", "Why?", "§5", "exploratory")]
    table = questions_table(questions, {"q1": "Yes."}, {})
    assert table.rows[0] == ("Do they?", "§3.5", "confirmatory", "Yes.")
    assert table.rows[1][-1] == Missing("Not analysed in this run.")
    # its section has a table: "not analysed" would be false
    analysed = {"q2": Part(tables=(table,))}
    missing = questions_table(questions, {"q1": "Yes."}, analysed).rows[1][-1]
    assert missing == Missing("No single result: see the section of the question.")


def test_a_card_becomes_a_section() -> None:
    """Summary, citation and counts of a dataset are shown; empty fields are not."""
    card = DatasetCard(
        "toy", "Toy", "relatedness", "es", "CC0", "Nobody (2025).", "here", "1", "embedded", "Two items.",
        counts=(("items", 1200),),
    )  # fmt: skip
    section = card_section(card)
    assert section.paragraphs == ("Two items.", "Nobody (2025).")
    assert ("items", "1,200") in section.tables[0].rows
    assert "How to obtain it" not in [row[0] for row in section.tables[0].rows]


def test_what_is_not_in_a_run_is_listed_once_with_its_reason() -> None:
    """Omissions of several parts, each once; of all subjects where none is named; without any there is no section."""
    one, other = Omission("Map", "No word was named."), Omission("Map", "It has one sense.", "a")
    section = omissions_section([part_of(one, [other]), Part(), part_of(one)])
    assert section is not None
    assert section.tables[0].rows == (("Map", "all", "No word was named."), ("Map", "a", "It has one sense."))
    assert omissions_section([Part()]) is None


def test_how_subjects_scored_with_what_their_self_test_said() -> None:
    """The first answer to the self-test of each subject; one that scores no texts has none."""
    rows = [
        Response("lm", "lm", item, "minimal_pair", "self_test_margin", 1.0, raw=said)
        for item, said in (("i", "passed"), ("j", "passed again"))
    ]
    routes = [{"subject": "lm", "policy": "p", "tokens": 7}, {"subject": "rule"}]
    table = scoring_table(routes, {"lm": "LM"}, ResponseTable.from_rows(rows))
    assert [(row[0], row[4], row[-1]) for row in table.rows] == [
        ("LM", 7, "passed"),
        ("rule", None, Missing("This subject scores no texts.")),
    ]


def test_views_that_agree_on_tokens_are_one_row() -> None:
    """A final stop is in both sentences, so the difference is the same: one row names both views."""
    one, other = tokenisation([7], [8], [1], ["a"]), tokenisation([9], [9], [2], ["a"])
    table = tokens_table({("m", "full"): one, ("m", "stop"): one, ("n", "full"): other}, {"m": "Model"}, number="3")
    assert table.rows == (("Model", "full, stop", 1.0, 1.0, 1.0, 1.0, 1.0), ("n", "full", 0.0, 0.0, 0.0, 2.0, 2.0))
