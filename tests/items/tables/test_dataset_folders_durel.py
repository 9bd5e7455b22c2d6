"""Pairs and ratings as a DURel folder: what is written is read back equal; what DURel does not have is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.tables.dataset_folders import write_durel


def item(name: str, *texts: str) -> Item:
    """An item with a usage of ``bank`` in each text."""
    usages = (Usage(text, text.index("bank"), text.index("bank") + 4, lemma="bank", language="en") for text in texts)
    return Item(name, "made", tuple(usages))


def rated(item_id: str, value: float | None) -> ResponseTable:
    return ResponseTable.from_rows([Response("p1", "participant", item_id, "relatedness", "rating", value)])


def test_a_usage_is_written_once(tmp_path: Path) -> None:
    """Two pairs with one text in common have three usages; tabs become spaces, so that offsets hold."""
    items = [item("a", "The bank closed.", "On the\tbank"), item("b", "The bank closed.", 'A "bank" holds')]
    files = write_durel(items, rated("a", 2.0), tmp_path / "out")
    assert [file.name for file in files] == ["uses.csv", "instances.csv", "judgments.csv"]
    uses = [line.split("\t") for line in files[0].read_text(encoding="utf-8").splitlines()]
    assert [cells[6:8] for cells in uses[1:]] == [
        ["The bank closed.", "4:8"],
        ["On the bank", "7:11"],
        ['A "bank" holds', "3:7"],
    ]
    assert files[1].read_text(encoding="utf-8").splitlines()[1:] == ["bank-1\tbank-2\tbank", "bank-1\tbank-3\tbank"]
    assert files[2].read_text(encoding="utf-8").splitlines()[1:] == ["bank-1\tbank-2\tp1\t2\t \tbank"]


def test_an_answer_without_a_value_is_written_as_cannot_decide(tmp_path: Path) -> None:
    """A missing rating is a judgment of 0, not a missing row."""
    files = write_durel([item("a", "The bank.", "A bank.")], rated("a", None), tmp_path / "out")
    assert files[2].read_text(encoding="utf-8").splitlines()[1].split("\t")[3] == "0"


@pytest.mark.parametrize(
    ("given", "table", "what"),
    [
        (item("a", "The bank."), rated("a", 2), "the item has 1 usages"),
        (item("a", "The bank.", "A bank."), rated("a", 5), "p1 gave 5; the scale of DURel is 1 to 4"),
        (item("a", "The bank.", "A bank."), rated("b", 2), "a rating of an item that is not written"),
    ],
)
def test_what_durel_does_not_have_is_an_error(tmp_path: Path, given: Item, table: ResponseTable, what: str) -> None:
    """The error names the item, and no folder is left behind."""
    with pytest.raises(InputError, match=what):
        write_durel([given], table, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
