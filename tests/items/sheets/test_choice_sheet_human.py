"""The human sheet: its order, its text letter by letter, and its items for the task ``substitution``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from lexiscope.datasets.synonymy import collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.choice_sets.surface import place_word
from lexiscope.items.sheets.choice_sheet import human_sheet, shown_orders
from lexiscope.tasks import substitution

OAK = SynonymItem.from_tokens("1", ["An", "oak", "fell", "."], 1, synonym="tree", distractor="hail")


def sheet_lines(items: Sequence[SynonymItem]) -> list[str]:
    """Return the published sheet as text: of each item three lines (number, word, sentence with the word in brackets).

    The target comes first, then the candidates in the order shown.
    """
    lines = []
    for item, sheet_item in zip(items, human_sheet(items, mode="published"), strict=True):
        for word in (item.sentence[item.start : item.end], *sheet_item.options):
            span = (item.start, item.end)
            placed = place_word(item.sentence, span, word, tokenised=item.tokenised, mode="published")
            lines.append(f"{item.number}\t{word}\t{placed.bracketed}\n")
    return lines


def test_the_texts_of_the_sheet() -> None:
    """Target and candidates each stand in the sentence, with the article that goes with them."""
    oak = SynonymItem.from_tokens("1", ["It", "was", "an", "oak", "."], 3, synonym="tree", distractor="hail")
    texts = [line.split("\t")[2] for line in sheet_lines([oak])]
    assert texts == ["It was an [oak].\n", "It was a [tree].\n", "It was a [hail].\n"]


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
    lines = sheet_lines(items)
    assert sum(map(len, lines)) == 116_807
    with (published / "synonymy/human_test.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    for place, (row, item) in enumerate(zip(rows, human_sheet(items, mode="published"), strict=True)):
        cells = [line.rstrip("\n").split("\t") for line in lines[3 * place : 3 * place + 3]]
        assert [cell[2] for cell in cells] == [row["sentence_target"], row["sentence_a"], row["sentence_b"]]
        assert [cell[1] for cell in cells] == [row["target"], *item.options]
        assert [item.conditions["key"], str(item.conditions["item"])] == [row["key"], row["item"]]
