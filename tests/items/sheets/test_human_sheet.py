"""The human sheet: its order, its text letter by letter, and its items for the task ``substitution``."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lexiscope.datasets.synonymy import collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.sheets.human_sheet import human_sheet, sheet_lines, shown_orders
from lexiscope.tasks import substitution

OAK = SynonymItem.from_tokens("1", ["An", "oak", "fell", "."], 1, synonym="tree", distractor="hail")


def test_the_order_depends_on_the_seed_only() -> None:
    """One draw per item in order: a longer sheet begins as a shorter one."""
    assert shown_orders(50)[:20] == shown_orders(20)
    assert shown_orders(50, seed=1) != shown_orders(50)


def test_items_are_asked_by_the_existing_task() -> None:
    """The task's page shows the sentence with its target, and both candidates with their articles."""
    (item,) = human_sheet([OAK], dataset="made")
    substitution.SCREEN.check(item)
    assert item.item_id == "made/1/people"
    assert substitution.candidates(item) == (("tree", "hail") if shown_orders(1)[0] else ("hail", "tree"))
    assert substitution.right_candidate(item) == "tree"
    lines = {choice.value: "".join(t for t, _ in choice.lines[0]) for choice in substitution.options(item, "full")}
    assert lines == {"tree": "A [tree] fell.", "hail": "A [hail] fell."}


@pytest.mark.published
def test_the_released_sheet(published: Path) -> None:
    """Published mode: 116,807 characters, and every sentence, order and key of the rebuilt sheet."""
    items = collection(published)
    lines = sheet_lines(items, mode="published")
    assert sum(map(len, lines)) == 116_807
    with (published / "synonymy/human_test.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for place, (row, item) in enumerate(zip(rows, human_sheet(items, mode="published"), strict=True)):
        cells = [line.rstrip("\n").split("\t") for line in lines[3 * place : 3 * place + 3]]
        assert [cell[2] for cell in cells] == [row["sentence_target"], row["sentence_a"], row["sentence_b"]]
        assert [cell[1] for cell in cells] == [row["target"], *item.options]
        assert [item.conditions["key"], str(item.conditions["item"])] == [row["key"], row["item"]]
