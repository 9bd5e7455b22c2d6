"""The forced-choice sheet: what is written, and what may come back. All answers here are made up."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets.synonymy import collection
from lexiscope.items.sheets.choice_sheet import SHEET, human_sheet, read_choice_sheet, write_choice_sheet
from lexiscope.tasks import substitution

ITEMS = (
    Item("i1", "d", (Usage("She wore an anorak, too.", 12, 18, language="en"),), ("jacket", "outlaw"), "jacket"),
    Item("i2", "d", (Usage("It is =1 flat.", 9, 13, language="en"),), ("level", "apartment"), "apartment"),
    Item("i3", "d", (Usage("He paid the bill.", 12, 16, language="en"),), ("beak", "account"), "account"),
)

Rows = list[dict[str, str]]


def rows_of(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def answered(path: Path, change: Callable[[Rows], Rows]) -> Path:
    """Write a sheet, change it as a person would in a spreadsheet, and save it with semicolons and without a mark."""
    write_choice_sheet(path, ITEMS)
    rows = change(rows_of(path))
    back = path.with_name("back.csv")
    with back.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(SHEET.header), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    return back


def fill(answers: str, marks: str = "---") -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        for row, answer, mark in zip(rows, answers, marks, strict=True):
            row["answer"], row["weird"] = answer.strip("-"), mark.strip("-")
        return rows

    return change


def test_what_people_read(tmp_path: Path) -> None:
    """Spec §8: the target in brackets, then both candidates with their sentences, the article put right; no key."""
    write_choice_sheet(tmp_path / "sheet.csv", ITEMS)
    first = rows_of(tmp_path / "sheet.csv")[0]
    assert first == {
        "item_id": "i1",
        "target": "anorak",
        "sentence": "She wore an [anorak], too.",
        "option_a": "jacket",
        "sentence_a": "She wore a [jacket], too.",
        "option_b": "outlaw",
        "sentence_b": "She wore an [outlaw], too.",
        "answer": "",
        "weird": "",
        "comment": "",
    }
    assert "gold" not in SHEET.header


def test_the_round_trip(tmp_path: Path) -> None:
    """Letters become the candidates of the item; an empty answer is a row without option; marks have rows."""
    path = answered(tmp_path / "sheet.csv", fill("bA-", "-xX"))
    table = read_choice_sheet(path, ITEMS, participant="made-up-1", task="substitution")
    choices = table.where(measure="choice")
    assert [(row.item_id, row.option, row.raw) for row in choices.rows()] == [
        ("i1", "outlaw", "B"),
        ("i2", "level", "A"),
        ("i3", None, None),
    ]
    assert table.where(measure="flag_weird").column("value").tolist() == [0, 1, 1]
    assert table.unique("subject_kind") == ("participant",)
    assert table.unique("task") == (substitution.NAME,)
    assert set(table.unique("measure")) <= {name for name, _ in substitution.TASK.measures}


def test_a_sorted_sheet_is_the_same_sheet(tmp_path: Path) -> None:
    """People may sort the rows: answers are found by their ids, and the position says where they stood."""
    path = answered(tmp_path / "sheet.csv", lambda rows: fill("AAB")(rows)[::-1])
    table = read_choice_sheet(path, ITEMS, participant="p", task="substitution").where(measure="choice")
    assert [(row.item_id, row.option, row.position) for row in table.rows()] == [
        ("i3", "account", 0),
        ("i2", "level", 1),
        ("i1", "jacket", 2),
    ]


def _set(row: int, column: str, text: str) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        rows[row][column] = text
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        (_set(1, "answer", "C"), "E475", "'C'"),
        (_set(1, "answer", "level"), "E475", "A, B, or nothing"),
        (_set(2, "weird", "maybe"), "E475", "'maybe'"),
        (_set(0, "item_id", "i9"), "E471", "'i9'"),
        (_set(0, "item_id", "i2"), "E474", "'i2'"),
        (_set(0, "option_a", "coat"), "E474", "'jacket'"),
        (_set(0, "sentence_b", "She wore it."), "E474", "as it was shown"),
        (lambda rows: rows[:2], "E473", "'i3'"),
        (lambda rows: [*rows, rows[0]], "E472", "'i1' occurs twice"),
    ],
)
def test_what_was_changed_is_refused(tmp_path: Path, change: Callable[[Rows], Rows], code: str, named: str) -> None:
    """Every fault has a stable code and its place; nothing of a faulty sheet is read."""
    path = answered(tmp_path / "sheet.csv", change)
    with pytest.raises(InputError, match=named) as caught:
        read_choice_sheet(path, ITEMS, participant="p", task="substitution")
    assert caught.value.code == code
    assert str(path) in str(caught.value)


def test_a_sheet_needs_its_columns_and_a_participant(tmp_path: Path) -> None:
    """Another table is not a sheet; a sheet of nobody is nobody's."""
    path = tmp_path / "other.csv"
    path.write_text("item_id,answer\ni1,A\n", encoding="utf-8")
    with pytest.raises(InputError, match="E006"):
        read_choice_sheet(path, ITEMS, participant="p", task="substitution")
    with pytest.raises(InputError, match="E505"):
        read_choice_sheet(answered(tmp_path / "sheet.csv", fill("AAA")), ITEMS, participant=" ", task="substitution")


@pytest.mark.published
def test_the_published_sheet(published: Path, tmp_path: Path) -> None:
    """Spec §8: 200 items in the released order; every sentence is that of the rebuilt sheet, letter by letter."""
    items = human_sheet(collection(published), mode="published")
    write_choice_sheet(tmp_path / "sheet.csv", items)
    shown = rows_of(tmp_path / "sheet.csv")
    with (published / "synonymy" / "human_test.csv").open(encoding="utf-8", newline="") as file:
        released = list(csv.DictReader(file))
    assert len(shown) == len(released) == 200
    for row, expected in zip(shown, released, strict=True):
        pairs = [("sentence", "sentence_target"), *((name, name) for name in ("option_a", "sentence_a", "option_b"))]
        for name, column in [*pairs, ("sentence_b", "sentence_b")]:
            assert row[name].removeprefix("'") == expected[column].removeprefix("'")
    assert [item.condition("key") for item in items] == [row["key"] for row in released]
    table = read_choice_sheet(tmp_path / "sheet.csv", items, participant="nobody", task="substitution")
    assert table.where(measure="choice").column("option").tolist() == [None] * 200
