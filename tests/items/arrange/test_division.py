"""Dividing items: published splits as they are, missing ones made and reported, folds and turns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.division import ItemDivision, divide_by_item, divide_by_splits, divide_in_folds
from lexiscope.items.read.labelled_file import divide_file, read_labelled


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
    with pytest.raises(InputError, match="no item has a right answer"):
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
