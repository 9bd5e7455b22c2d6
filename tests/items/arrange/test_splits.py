"""Splits by word: no word in two parts, sizes near the shares, the order of the items without effect."""

from __future__ import annotations

import hashlib
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import ambistory, mini_ambistory
from lexiscope.items.arrange.splits import condition, folded_word, in_several_parts, sample_items, split_by_word


def made_up(sizes: list[int]) -> list[Item]:
    """Items of words w0, w1 …, as many of each as its size says."""
    usages = [Usage(f"w{n}", 0, len(f"w{n}"), lemma=f"w{n}") for n in range(len(sizes))]
    return [Item(f"{n}-{k}", "d", (usages[n],)) for n, size in enumerate(sizes) for k in range(size)]


@settings(deadline=None, max_examples=150)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=6, max_size=40),
    shares=st.lists(st.floats(0.5, 4), min_size=2, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_no_word_in_two_parts(sizes: list[int], shares: list[float], seed: int) -> None:
    """Every item in one part, every word in one part; no part larger than its share by the largest word or more."""
    items = made_up(sizes)
    wanted = {f"part{n}": share for n, share in enumerate(shares)}
    try:
        parts = split_by_word(items, wanted, seed=seed)
    except InputError as error:
        assert "leave nothing for the part" in str(error)  # noqa: PT017
        return
    assert [part.name for part in parts] == list(wanted)
    assert Counter(item.item_id for part in parts for item in part.items) == Counter(i.item_id for i in items)
    words = [word for part in parts for word in part.groups]
    assert len(words) == len(set(words)) == len(sizes)
    for part in parts:
        assert {item.word for item in part.items} == set(part.groups)
        assert len(part.items) < len(items) * wanted[part.name] / sum(shares) + max(sizes)


@settings(deadline=None, max_examples=50)
@given(sizes=st.lists(st.integers(1, 5), min_size=8, max_size=20), seed=st.integers(0, 1000))
def test_the_order_of_items_has_no_effect(sizes: list[int], seed: int) -> None:
    """Shuffled items: the same words in the same parts, the items of a part in the order given."""
    items = made_up(sizes)
    shuffled = random.Random(seed).sample(items, len(items))
    first, second = (split_by_word(each, {"a": 2, "b": 1}, seed=3) for each in (items, shuffled))
    assert [part.groups for part in first] == [part.groups for part in second]
    assert [item for item in shuffled if item in second[0].items] == list(second[0].items)


def test_the_seed_counts() -> None:
    """The same seed gives the same split, another one another."""
    items = made_up([3] * 20)
    assert split_by_word(items, {"a": 1, "b": 1}, seed=1) == split_by_word(items, {"a": 1, "b": 1}, seed=1)
    assert split_by_word(items, {"a": 1, "b": 1}, seed=1) != split_by_word(items, {"a": 1, "b": 1}, seed=2)


def test_case_makes_no_other_word() -> None:
    """*Pop* and *pop* are one word; grouping by a condition keeps together what the condition says."""
    items = [Item(word, "d", (Usage(word, 0, 3),), conditions={"sense": word[0].lower()}) for word in ("Pop", "pop")]
    assert {folded_word(item) for item in items} == {"pop"}
    assert {condition("sense")(item) for item in items} == {"p"}
    with pytest.raises(InputError, match="1 words leave nothing for the part b"):
        split_by_word(items, {"a": 1, "b": 1})


@pytest.mark.parametrize("shares", [{}, {"a": 0.0, "b": 1.0}, {"a": -1.0}, {"a": float("nan")}, {"a": float("inf")}])
def test_shares_are_above_zero(shares: dict[str, float]) -> None:
    """A share that is no number above 0 is refused."""
    with pytest.raises(InputError, match="a share must be a number above 0"):
        split_by_word(made_up([1, 1]), shares)


def test_the_mini_stories_are_split_by_word() -> None:
    """24 words of six items each: 16, 4 and 4 words are 96, 24 and 24 items, whole setups in every part."""
    parts = split_by_word(mini_ambistory.load().items, {"train": 16, "dev": 4, "test": 4}, seed=7)
    assert [(len(part.items), len(part.groups)) for part in parts] == [(96, 16), (24, 4), (24, 4)]
    labelled = [(item, part.name) for part in parts for item in part.items]
    names = {item.item_id: name for item, name in labelled}
    assert in_several_parts([item for item, _ in labelled], lambda item: names[item.item_id]) == {}


@pytest.mark.published
def test_what_the_published_splits_share(published: None) -> None:
    """By form only `base` (train and test), also case ignored; by definition 36 test and 9 dev items (spec §3)."""
    items = ambistory.load().items
    split = condition("split")
    assert in_several_parts(items, split) == {"base": ("train", "test")}
    assert in_several_parts(items, split, group_of=condition("homonym")) == {"base": ("train", "test")}
    shared = in_several_parts(items, split, group_of=condition("sense"))
    with_train = [split(item) for item in items if "train" in shared.get(str(item.conditions["sense"]), ())]
    assert {name: with_train.count(name) for name in ("dev", "test")} == {"dev": 9, "test": 36}


@pytest.mark.published
def test_sizes_of_a_split_of_ones_own(published: None) -> None:
    """The published sizes as shares: 2,280, 588 and 930 items within one word of each, nothing shared."""
    items = ambistory.load().items
    largest = max(Counter(map(folded_word, items)).values())
    parts = split_by_word(items, {"train": 2_280, "dev": 588, "test": 930}, seed=20)
    for part, size in zip(parts, (2_280, 588, 930), strict=True):
        assert abs(len(part.items) - size) < largest
    assert len({word for part in parts for word in part.groups}) == sum(len(part.groups) for part in parts)


def test_a_sample_is_decided_by_the_ids_alone() -> None:
    """The ids with the lowest sha256, in the order given, whatever else the items hold; 0 is all of them."""
    items = made_up([3, 3, 3])
    drawn = sample_items(items, 4)
    lowest = sorted(items, key=lambda item: hashlib.sha256(item.item_id.encode()).hexdigest())[:4]
    assert drawn == tuple(item for item in items if item in lowest)
    assert set(sample_items(items[::-1], 4)) == set(drawn)
    assert sample_items(items, 0) == sample_items(items, 9) == tuple(items)
