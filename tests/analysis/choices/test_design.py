"""Choice sets in a design: decisions by cell, joint conditions, cells that cannot be compared."""

from __future__ import annotations

import pytest

from lexiscope.analysis.choices.design import (
    BOTH,
    CONTROLLED,
    RANDOM,
    Cell,
    ChoiceDesign,
    cell_of,
    families,
    several_expressions,
    without_pairs,
)
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.datasets import mini_synonymy

ITEMS = [item for item in mini_synonymy.load().items if cell_of(item).suite == "substitution"]
DESIGN = ChoiceDesign(ITEMS, resamples=0)


def answers(right: dict[str, set[int]]) -> ResponseTable:
    """Recorded outcomes of one subject: by condition, the numbers of the items that are right."""
    return ResponseTable.from_rows(
        Response("lm", "lm", item.item_id, "minimal_pair", "correct", float(int(item.conditions["item"]) in numbers))
        for item in ITEMS
        for condition, numbers in right.items()
        if item.conditions["condition"] == condition
    )


def test_a_joint_condition_is_right_where_both_of_its_parts_are() -> None:
    """Items 1 to 10 are right in one condition, 6 to 20 in the other: 5 of 40 in both; chance is that of 12 options."""
    table = answers({"controlled": set(range(1, 11)), "random": set(range(6, 21))})
    [(measure, found)] = DESIGN.decisions(table, subject="lm").items()
    both = Cell("substitution", "", BOTH)
    assert measure == "correct"
    assert [(cell.condition, int(each.correct.sum())) for cell, each in found.items()] == [
        ("controlled", 10),
        ("random", 15),
        (BOTH, 5),
    ]
    right = DESIGN.accuracy(both, found[both])
    assert (right.n_correct, right.n, right.chance) == (5, 40, 1 / 12)


def test_only_cells_that_were_answered_are_there() -> None:
    """One condition was asked: the other and the joint one are left out."""
    [found] = DESIGN.decisions(answers({"controlled": {1}}), subject="lm").values()
    assert [cell.condition for cell in found] == ["controlled"]


def test_a_cell_that_lacks_an_item_is_refused() -> None:
    """Cells are compared item by item: each needs all of them."""
    rest = ChoiceDesign([item for item in ITEMS if item.conditions["item"] != 2 or cell_of(item).condition == "random"])
    with pytest.raises(InputError, match="has no choice set for 1 items, the first is 2"):
        rest.decisions(answers({"controlled": {1}, "random": {1}}), subject="lm")


def test_contrasts_by_rule_and_what_has_none() -> None:
    """Two suites in two conditions, one expression: suites and conditions are compared; for the rest a reason each."""
    cells = [Cell(suite, "", condition) for suite in "ab" for condition in (CONTROLLED, RANDOM)]
    found = families(cells)
    assert [len(family.pairs) for family in found] == [2, 2, 0, 0]
    assert [analysis for analysis, _ in without_pairs(found, cells)] == [
        "With context against without",
        "Which expression works best",
    ]
    # pairs of which a cell was not answered are none
    assert len(without_pairs(found, cells[:1])) == 4
    assert several_expressions(cells) == ()
