"""Splits by word, and items divided by published splits, in folds and in turns."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import ambistory, mini_ambistory
from lexiscope.items.arrange.splits import (
    ItemDivision,
    condition,
    divide_by_item,
    divide_by_splits,
    divide_in_folds,
    folded_word,
    in_several_parts,
    sample_items,
    split_by_word,
)
from lexiscope.items.read.labelled_file import divide_file, read_labelled


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
        assert "leave no word for the part" in str(error)  # noqa: PT017
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
    with pytest.raises(InputError, match="1 words leave no word for the part b"):
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


def item(number: int, *, split: str | None = None, gold: str | None = "t", word: str = "") -> Item:
    """An item of a split, or of none."""
    usage = Usage("a bank", 2, 6, lemma=word or f"w{number}")
    return Item(f"i{number}", "d", (usage, usage), gold=gold, conditions={"split": split} if split else {})


def test_published_splits_are_used_as_they_are() -> None:
    """If train, dev and test have labels, no item is moved and no remark is made."""
    items = [item(n, split=split) for n, split in enumerate(("train", "dev", "test"))]
    parts = divide_by_splits(items, 1)
    assert [[each.item_id for each in own] for own in (parts.train, parts.dev, parts.test)] == [["i0"], ["i1"], ["i2"]]
    assert (parts.tested, parts.how) == ("test", ())
    assert [each.conditions["split"] for each in parts.with_split_conditions()] == ["train", "dev", "test"]


@pytest.mark.parametrize(
    ("splits", "hidden", "tested", "words"),
    [
        (("train", "dev", "test"), "test", "dev", "dev is tested.*For want of another dev, train was divided by word"),
        (("dev", "test"), "", "test", "For want of another train, dev was divided by word"),
        (("dev",), "", "dev", "dev is tested.*There is no other split: dev was divided by word"),
    ],
)
def test_missing_splits_are_made_by_word_and_reported(
    splits: tuple[str, ...], hidden: str, tested: str, words: str
) -> None:
    """What a set lacks is made of what it has: no word is in two parts, the seed is named, the same each time."""
    items = [
        item(100 * place + n, split=split, gold=None if split == hidden else "tf"[n % 2])
        for place, split in enumerate(splits)
        for n in range(40)
    ]
    parts = divide_by_splits(items, 7)
    assert parts.tested == tested
    assert re.search(f"{words}.*seed 7", " ".join(parts.how))
    of_word = [{each.word for each in own} for own in (parts.train, parts.dev, parts.test)]
    assert all(of_word)
    assert not of_word[0] & of_word[1]
    assert not of_word[0] & of_word[2]
    assert len(divide_by_splits(list(reversed(items)), 7).test) == len(parts.test)


def test_items_without_a_right_answer_cannot_be_divided() -> None:
    """Nothing can be tested: an error, and no empty split."""
    with pytest.raises(InputError, match="no item has a correct answer"):
        divide_by_splits([item(1, split="test", gold=None)], 1)


def test_in_folds_every_item_is_tested_once() -> None:
    """Of 10 items in 5 folds each turn tests 2 and learns from the other 8; each fold has one of both answers."""
    items = [item(n, gold="tf"[n % 2]) for n in range(10)]
    parts = divide_in_folds(items, 5, seed=3)
    turns = parts.turns()
    assert [(len(learnt), len(tested)) for learnt, tested in turns] == [(8, 2)] * 5
    assert sorted(each.item_id for _, tested in turns for each in tested) == sorted(each.item_id for each in items)
    assert all({each.gold for each in tested} == {"t", "f"} for _, tested in turns)
    assert "5 folds by item" in parts.how[0]
    # every item has the same two texts
    assert "Caution: 10 of 10 items" in parts.how[1]


def test_by_item_the_shares_of_answers_are_equal() -> None:
    """40 items: 60 % are 24, 15 % are 6, 25 % are 10; one turn learns from train and tests test."""
    parts = divide_by_item([item(n, gold="tf"[n % 2]) for n in range(40)], seed=3)
    assert [len(own) for own in (parts.train, parts.dev, parts.test)] == [24, 6, 10]
    assert sum(each.gold == "t" for each in parts.test) == 5
    assert parts.turns() == [(parts.train, parts.test)]


def test_words_that_training_does_not_have_are_reported() -> None:
    """A word that decides its label can be seen only if it is learnt from; case does not matter."""
    known, new = (item(1, word="bank"),), (item(2, word="Bank"),)
    assert ItemDivision(known, (), new).unseen_words() == ""
    assert "no tested word occurs in training" in ItemDivision(known, (), (item(3, word="bat"),)).unseen_words()


def test_a_file_is_divided_by_its_column_or_by_item(tmp_path: Path) -> None:
    """A column split is used as it is; else each item is tested once in folds, or a quarter of them is tested."""

    def divided(n_folds: int, *, split: bool = False) -> ItemDivision:
        path = tmp_path / "mine.csv"
        head = f"sentence_1,target_1,sentence_2,target_2,label{',split' if split else ''}\n"
        splits = ("train", "train", "dev", "test")
        rows = [
            f"A w{n} here.,w{n},The w{n}.,w{n},{'tf'[n // 4 % 2]}{',' + splits[n % 4] if split else ''}\n"
            for n in range(40)
        ]
        path.write_text(head + "".join(rows), encoding="utf-8")
        return divide_file(read_labelled(path, language="en"), n_folds, 1)

    given, folded, made = divided(5, split=True), divided(5), divided(0)
    assert [len(part) for part in (given.train, given.dev, given.test)] == [20, 10, 10]
    assert (folded.n_folds, len(folded.test), folded.train) == (5, 40, ())
    assert [len(part) for part in (made.train, made.dev, made.test)] == [24, 6, 10]
    with pytest.raises(InputError, match="at least 30 of each are needed"):
        divided(30)
