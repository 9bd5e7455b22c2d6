"""What the published pair sets have in common: ids, labels, splits, and counts that are checked when they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lexiscope.core.dataset import DataFile, DatasetCard, SetAside
from lexiscope.core.errors import InputError
from lexiscope.core.item import Condition, Item
from lexiscope.core.usage import Usage
from lexiscope.resources.fetch import FetchedFile

SPLITS = ("train", "dev", "test")
"""The splits, as the condition ``split`` names them."""

TRUTHS: Mapping[str, str] = {"T": "t", "F": "f"}
"""A label as it is published and as the gold answer has it: ``t`` the same meaning, ``f`` different ones."""


def pair_item(
    item_id: str,
    usages: Sequence[Usage],
    *,
    gold: str | None,
    split: str,
    conditions: Mapping[str, Condition] | None = None,
) -> Item:
    """Return an item of a set with splits; its id begins with the name of the set.

    >>> pair_item("wic/dev/00001", [Usage("A bank", 2, 6)], gold="t", split="dev").dataset
    'wic'
    """
    own: dict[str, Condition] = {"split": split}
    return Item(item_id, item_id.split("/")[0], tuple(usages), gold=gold, conditions=own | dict(conditions or {}))


def expect_counts(name: str, items: Sequence[Item], expected: Mapping[str, int]) -> None:
    """Check how many items each split has.

    Errors: :class:`InputError` naming the set, the split and both numbers.
    """
    counts = Counter(str(item.condition("split")) for item in items)
    for split in SPLITS:
        if counts[split] != expected.get(split, 0):
            wanted = f"{name} has {expected.get(split, 0):,} items in {split}; these files hold {counts[split]:,}"
            raise InputError(wanted, hint="the files are cut off or not the published ones: fetch them again")


def expect_set_aside(name: str, rows: Sequence[SetAside], expected: int) -> None:
    """Check how many published rows are no items.

    Errors: :class:`InputError` naming the set, both numbers, and the first such row.
    """
    if len(rows) != expected:
        first = f"; the first is {rows[0].path}, line {rows[0].line}: {rows[0].reason}" if rows else ""
        raise InputError(f"{name}: {expected} rows are known to be no items; here there are {len(rows)}{first}")


def card_of(
    card: DatasetCard, items: Sequence[Item], *, language: str, more: Sequence[tuple[str, int]] = ()
) -> DatasetCard:
    """Return the card of what was read of a set of several languages: *card* itself where that is what it is about.

    Counts are those of items and words, and *more*; first and last item are those of *items*.
    """
    counts = (("items", len(items)), ("words", len({item.word for item in items})), *more)
    ends = (items[0].item_id, items[-1].item_id)
    own = replace(card, language=language, counts=counts, first_item=ends[0], last_item=ends[1])
    return card if own == card else own


def checksums(files: Mapping[DataFile, FetchedFile]) -> tuple[tuple[str, str], ...]:
    """Return each file that was read with its sha256, as a dataset records them."""
    return tuple((file.path, place.sha256) for file, place in files.items())
