"""Experimental lists: small copies of the design, seeded catch trials and orders, and lists that overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import wic
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.arrange.lists import (
    ListDesign,
    OverlappingLists,
    asked_split,
    assign_lists,
    catch_trials,
    overlapping_lists,
    trial_order,
)
from lexiscope.items.read.importer import import_items
from lexiscope.items.tables.tabular import read_items, write_items


def item(name: str, word: str, **conditions: str | bool) -> Item:
    return Item(name, "d", (Usage(word, 0, len(word)),), conditions=conditions)


def spread(design: ListDesign, key: Callable[[Item], Hashable]) -> int:
    """The largest difference between two lists in how often they have one value of the key."""
    counts = [Counter(key(one) for one in items) for items in design.lists]
    return max(max(c[k] for c in counts) - min(c[k] for c in counts) for k in set().union(*counts))


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), min_size=1, max_size=40), st.data())
def test_lists_are_balanced_in_every_way(rows: list[tuple[str, bool]], data: st.DataObject) -> None:
    """Over random designs: every item once; size, sense, word and word × sense differ by at most 1 between lists."""
    n_lists = data.draw(st.integers(1, len(rows)))
    listed = [item(f"i{n}", word, same_sense=same) for n, (word, same) in enumerate(rows)]
    design = assign_lists(listed, n_lists, seed=data.draw(st.integers(0, 9)))
    assert sorted(one.item_id for one in design.items) == sorted(one.item_id for one in listed)
    assert max(design.sizes) - min(design.sizes) <= 1
    assert spread(design, lambda i: i.conditions["same_sense"]) <= 1
    assert spread(design, lambda i: i.word) <= 1
    assert spread(design, lambda i: (i.word, i.conditions["same_sense"])) <= 1


def test_as_many_lists_as_variants_make_a_latin_square() -> None:
    """12 frames × 4 conditions in 4 lists: every list has each frame once and each condition 12 / 4 = 3 times."""
    listed = [item(f"{f}{c}", "word", frame=str(f), condition=c) for f in range(12) for c in "ABCD"]
    design = assign_lists(listed, 4, balance=("condition",), group="frame", seed=5)
    for items in design.lists:
        assert Counter(one.conditions["frame"] for one in items) == {str(f): 1 for f in range(12)}
        assert Counter(one.conditions["condition"] for one in items) == dict.fromkeys("ABCD", 3)


def test_the_same_seed_gives_the_same_lists() -> None:
    """The seed decides, not the order of the items; another seed gives other lists."""
    listed = list(load("en").items)
    first = {one.item_id: one.list_id for one in assign_lists(listed, 6, seed=1).items}
    again = {one.item_id: one.list_id for one in assign_lists(listed[::-1], 6, seed=1).items}
    other = {one.item_id: one.list_id for one in assign_lists(listed, 6, seed=2).items}
    assert first == again
    assert first != other


def test_the_design_table_counts_the_lists() -> None:
    """Each line of the table is a count that can be made from the lists; the text has a line per list."""
    design = assign_lists(load("es").items, 6, seed=3)
    for row in design.table:
        items = design.lists[int(row.list_id) - 1]
        wanted = len(items) if row.factor == "all" else sum(str(i.condition(row.factor)) == row.level for i in items)
        assert row.n == wanted
    # 180 pairs, 60 same and 120 different, in 6 lists
    assert design.text().splitlines()[1].split() == ["1", "30", "20", "10"]


def test_without_conditions_only_words_and_sizes_are_spread() -> None:
    """An empty balance is allowed: 4 words × 3 items in 3 lists put each word once into each list."""
    listed = [item(f"{word}{n}", word) for word in "abcd" for n in range(3)]
    design = assign_lists(listed, 3, balance=(), seed=1)
    assert [Counter(one.word for one in items) for items in design.lists] == [dict.fromkeys("abcd", 1)] * 3


def test_impossible_divisions() -> None:
    """More lists than items, no list, or an item twice: errors."""
    listed = [item("a", "w", same_sense=True)]
    for n_lists in (0, 2):
        with pytest.raises(InputError, match="E407"):
            assign_lists(listed, n_lists, seed=1)
    with pytest.raises(InputError, match="E403"):
        assign_lists(listed * 2, 1, seed=1)
    with pytest.raises(InputError, match="E402"):
        assign_lists([item("a", "w")], 1, seed=1)


@pytest.mark.published
def test_saw_c_in_ten_lists(published: Path) -> None:
    """SAW-C §3.1: 812 pairs in 10 lists give 81 or 82 each, no pair twice, senses balanced."""
    found = import_items(published / "sawc/sawc_sentence_pairs.csv", dataset="saw_c")
    design = assign_lists(found.items, 10, seed=1)
    assert Counter(design.sizes) == {81: 8, 82: 2}
    assert spread(design, lambda i: i.conditions["same_sense"]) <= 1
    assert spread(design, lambda i: i.word) <= 1


def test_catch_trials_are_identical_pairs_with_the_top_answer() -> None:
    """A catch trial repeats one sentence, and its right answer is the top of the scale (SAW-C §3.3)."""
    trials = catch_trials(load("en").items, 3, answer="5", seed=2)
    assert len({trial.item_id for trial in trials}) == 3
    for trial in trials:
        assert trial.usages[0] == trial.usages[1]
        assert (trial.gold, trial.conditions["catch"]) == ("5", True)
    assert trials == catch_trials(load("en").items[::-1], 3, answer="5", seed=2)
    with pytest.raises(InputError, match="E408"):
        catch_trials(load("en").items[:2], 3, answer="5", seed=2)


@given(st.integers(0, 500), st.integers(0, 3))
def test_trial_order(seed: int, n_catch: int) -> None:
    """Every item once, in seeded order; a catch trial is never first or last."""
    listed = load("en").items[:10]
    catch = catch_trials(listed, n_catch, answer="5", seed=1)
    order = trial_order(listed, catch, seed=seed)
    assert sorted(one.item_id for one in order) == sorted(one.item_id for one in (*listed, *catch))
    assert not {order[0].item_id, order[-1].item_id} & {one.item_id for one in catch}
    assert order == trial_order(listed[::-1], catch[::-1], seed=seed)


def test_catch_trials_need_items_around_them() -> None:
    """With one item a catch trial would be first or last."""
    listed = load("en").items[:1]
    with pytest.raises(InputError, match="E408"):
        trial_order(listed, catch_trials(listed, 1, answer="5", seed=1), seed=1)


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
