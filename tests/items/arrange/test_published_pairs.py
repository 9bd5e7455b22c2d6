"""What the published pair sets share: items, and counts that are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.dataset import DataFile, SetAside
from lexiscope.core.errors import InputError
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.published_pairs import checksums, expect_counts, expect_set_aside, pair_item
from lexiscope.resources.fetch import FetchedFile

USAGE = Usage("A bank", 2, 6)


def test_an_item_of_a_set() -> None:
    """The set is what the id begins with; the split stands first among the conditions."""
    item = pair_item("wic/dev/00002", [USAGE, USAGE], gold=None, split="dev", conditions={"pos": "NOUN"})
    assert (item.dataset, item.gold, item.usages) == ("wic", None, (USAGE, USAGE))
    assert list(item.conditions.items()) == [("split", "dev"), ("pos", "NOUN")]


def test_counts_per_split() -> None:
    """A split with too few items, and one that should not be there, are named with both numbers."""
    items = [pair_item(f"wic/dev/{n}", [USAGE], gold="t", split="dev") for n in range(3)]
    expect_counts("wic", items, {"dev": 3})
    with pytest.raises(InputError, match="wic has 1,400 items in dev; these files hold 3"):
        expect_counts("wic", items, {"dev": 1_400})
    with pytest.raises(InputError, match="wic has 0 items in dev; these files hold 3"):
        expect_counts("wic", items, {})


def test_rows_that_are_no_items() -> None:
    """More or fewer rows than are known to be no items: both numbers, and where the first one stands."""
    rows = [SetAside("a.txt", 7, "no letters", ())]
    expect_set_aside("xl_wic", rows, 1)
    with pytest.raises(InputError, match=r"0 rows are known .* there are 1; the first is a\.txt, line 7: no letters"):
        expect_set_aside("xl_wic", rows, 0)
    with pytest.raises(InputError, match="46 rows are known to be no items; here there are 0"):
        expect_set_aside("xl_wic", [], 46)


def test_checksums() -> None:
    """Each file that was read, with what it hashes to."""
    assert checksums({DataFile("a.txt"): FetchedFile(Path("x"), "0f")}) == (("a.txt", "0f"),)
