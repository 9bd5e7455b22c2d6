"""Overlapping lists: 100 items each, 50 shared, 150 distinct, in one split, by a seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import wic
from lexiscope.items.arrange.overlapping_lists import OverlappingLists, asked_split, overlapping_lists
from lexiscope.items.tables.tabular import read_items, write_items


def pool(n: int = 300, *, dataset: str = "made", split: str = "test", gold: str | None = "t") -> list[Item]:
    """Pairs of made-up words, three of each word."""
    found = []
    for number in range(n):
        word = f"word{number // 3}"
        usage = Usage(f"The {word} is here.", 4, 4 + len(word), lemma=word, language="en")
        found.append(
            Item(f"{dataset}/{split}/{number:04}", dataset, (usage, usage), gold=gold, conditions={"split": split})
        )
    return found


def test_two_annotators_have_a_hundred_items_each_and_share_fifty() -> None:
    """B17: 150 distinct items, 50 double; nothing else of the items changes than the lists in which they stand."""
    items = pool()
    drawn = overlapping_lists(items, seed=4)
    ids = [{item.item_id for item in members} for members in drawn.lists]
    assert [len(each) for each in ids] == [100, 100]
    assert ids[0] & ids[1] == drawn.shared
    assert len(drawn.shared) == 50
    assert len(drawn.items) == 150
    assert Counter(item.list_id for item in drawn.items) == {"1|2": 50, "1": 50, "2": 50}
    known = {item.item_id: item for item in items}
    assert all(replace(item, list_id=None) == known[item.item_id] for item in drawn.items)


def test_the_seed_decides_and_the_order_of_the_items_does_not() -> None:
    """The same seed gives the same lists in the same order, another seed others; shared items are not asked first."""
    items = pool()
    drawn = overlapping_lists(items, seed=4)
    assert overlapping_lists(items[::-1], seed=4) == drawn
    assert overlapping_lists(items, seed=5).shared != drawn.shared
    first = [item.item_id in drawn.shared for item in drawn.lists[0]]
    assert not all(first[:50])


def test_a_word_is_spread_over_the_lists() -> None:
    """Of what is not shared, no word stands twice more often in one list than in the other."""
    drawn = overlapping_lists(pool(150), seed=4)
    counts = [Counter(item.word for item in members if item.item_id not in drawn.shared) for members in drawn.lists]
    assert all(abs(counts[0][word] - counts[1][word]) <= 1 for word in counts[0] | counts[1])


@given(annotators=st.integers(1, 4), own=st.integers(1, 8), shared=st.integers(0, 8), seed=st.integers(0, 99))
def test_any_plan_that_is_possible_holds(annotators: int, own: int, shared: int, seed: int) -> None:
    """Every list has its size, two lists share the shared items and nothing else, and a file gives the lists back."""
    drawn = overlapping_lists(pool(60), annotators=annotators, per_annotator=own + shared, shared=shared, seed=seed)
    assert [len(members) for members in drawn.lists] == [own + shared] * annotators
    assert len(drawn.items) == shared + annotators * own
    again = OverlappingLists.of(drawn.items)
    assert [{i.item_id for i in members} for members in again.lists] == [
        {i.item_id for i in members} for members in drawn.lists
    ]
    if annotators > 1:
        assert again.shared == drawn.shared


def test_lists_survive_a_file(tmp_path: Path) -> None:
    """The items that were drawn, written as a table, say in which lists they stand."""
    drawn = overlapping_lists(pool(), seed=1)
    write_items(drawn.items, tmp_path / "items.csv")
    assert OverlappingLists.of(read_items(tmp_path / "items.csv")).items == drawn.items


def test_the_split_that_people_are_asked() -> None:
    """Test, where its labels are known; dev of WiC, XL-WiC and WiC-TSV, and of a set whose test labels are hidden."""
    assert asked_split([*pool(3), *pool(3, split="dev")]) == "test"
    for name in ("wic", "xl_wic", "wic_tsv"):
        assert asked_split([*pool(3, dataset=name), *pool(3, dataset=name, split="dev")]) == "dev"
    assert asked_split([*pool(3, gold=None), *pool(3, split="dev")]) == "dev"
    assert asked_split([replace(item, conditions={}) for item in pool(3)]) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"per_annotator": 200}, "need 350 items; there are 300"),
        ({"shared": 101}, "101 of them shared"),
        ({"shared": 100}, "all items are shared"),
        ({"split": "dev"}, "no item of the split 'dev' has a known answer"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed: dict[str, int], said: str) -> None:
    """Too few items, nothing that is not shared, a split without answers: E421 with the numbers."""
    with pytest.raises(InputError, match=said) as caught:
        overlapping_lists(pool(), seed=1, **changed)  # type: ignore[arg-type]
    assert caught.value.code == "E421"


def test_items_without_lists_are_refused() -> None:
    """Items that nobody drew have no lists to read back."""
    with pytest.raises(InputError, match="is in no list") as caught:
        OverlappingLists.of(pool(2))
    assert caught.value.code == "E402"


@pytest.mark.published
def test_wic_is_asked_on_dev(published: Path) -> None:
    """WiC: 150 of the 638 pairs of dev, as in the study."""
    drawn = overlapping_lists(wic.load(published).items, seed=0)
    assert {item.conditions["split"] for item in drawn.items} == {"dev"}
    assert (len(drawn.items), len(drawn.shared)) == (150, 50)
