"""Items divided into what is learnt from, what is chosen by and what is tested: published splits, made ones, or folds.

Published splits are used as they are; a missing one is made from the others, by word, with a seed. A file without
splits is divided by item, so that a word that decides its label can be seen. ``how`` reports what was done.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.arrange.published_pairs import SPLITS
from lexiscope.items.arrange.splits import folded_word, split_by_word, stratified_folds

_SHARES: Mapping[str, float] = {"train": 60, "dev": 15, "test": 25}
_TWENTIETHS = 20
_TRAIN_SHARES: Mapping[str, float] = {"train": 85, "dev": 15}
_DEV_SHARES: Mapping[str, float] = {"train": 75, "dev": 25}

FOLDED = "folds"
"""The name of the number of items that are tested in folds."""

Turn = tuple[tuple[Item, ...], tuple[Item, ...]]
"""What is learnt from, and what is then tested."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemDivision:
    """Items by what is done with them. ``tested`` names the split that is tested, ``how`` says how they were divided.

    ``folds``: the fold of each item of ``test``, if every item is tested once and learnt from in the other turns; there
    is then no train or dev.
    """

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    test: tuple[Item, ...]
    folds: tuple[int, ...] = ()
    tested: str = "test"
    how: tuple[str, ...] = ()

    @property
    def all_items(self) -> tuple[Item, ...]:
        """All items, in the order train, dev, test."""
        return self.train + self.dev + self.test

    @property
    def n_folds(self) -> int:
        """The number of folds; 0 for splits."""
        return len(set(self.folds))

    @property
    def sizes(self) -> dict[str, int]:
        """The number of items by split; of folds, in which every item is tested once, that of all items."""
        parts = (self.train, self.dev, self.test)
        return {FOLDED: len(self.test)} if self.folds else dict(zip(SPLITS, map(len, parts), strict=True))

    def turns(self) -> list[Turn]:
        """Return what is learnt from and what is then tested: once, or fold by fold."""
        if not self.folds:
            return [(self.train, self.test)]
        marked = list(zip(self.test, self.folds, strict=True))
        return [
            (tuple(item for item, own in marked if own != fold), tuple(item for item, own in marked if own == fold))
            for fold in range(self.n_folds)
        ]

    def with_split_conditions(self) -> tuple[Item, ...]:
        """Return all items with the condition ``split`` that they have here."""
        parts = (("train", self.train), ("dev", self.dev), ("test", self.test))
        return tuple(
            replace(item, conditions={**item.conditions, "split": split}) for split, items in parts for item in items
        )

    def unseen_words(self) -> str:
        """Return why the word alone cannot be learnt: no tested word occurs in training; empty if one does."""
        known = {folded_word(item) for item in self.train}
        if self.folds or any(folded_word(item) in known for item in self.test):
            return ""
        return "no tested word occurs in training, so that a word that decides its label cannot be seen"


def divide_by_splits(items: Sequence[Item], seed: int) -> ItemDivision:
    """Divide published items by their condition ``split``; items without a right answer are in no part.

    If the labels of test are hidden (or there is no test), dev is tested, and dev is taken from train; without train,
    train is taken from dev; a single split is divided in three.
    Errors: :class:`InputError` if no item has a right answer, or there are too few words to divide.
    """
    given: dict[str, tuple[Item, ...]] = {}
    for split in SPLITS:
        several = tuple(item for item in items if item.conditions.get("split") == split and item.gold is not None)
        if several:
            given[split] = several
    if not given:
        raise InputError("no item has a right answer, so that nothing can be tested")
    tested = next(split for split in ("test", "dev", "train") if split in given)
    how = [f"The labels of test are hidden or missing: {tested} is tested."] if tested != "test" else []
    parts = {split: several for split, several in given.items() if split != tested} | {"test": given[tested]}
    if len(parts) == 1:
        parts, told = _divide_by_word(given[tested], _SHARES, seed)
        how.append(f"There is no other split: {tested} {told}.")
    elif len(parts) == 2:
        name, shares = ("train", _TRAIN_SHARES) if "train" in parts else ("dev", _DEV_SHARES)
        made, told = _divide_by_word(parts[name], shares, seed)
        parts |= made
        how.append(f"For want of another {'dev' if name == 'train' else 'train'}, {name} {told}.")
    return ItemDivision(parts["train"], parts["dev"], parts["test"], (), tested, tuple(how))


def divide_in_folds(items: Sequence[Item], n_folds: int, seed: int) -> ItemDivision:
    """Divide the items of a file into folds by item, with equal shares of each answer: each item is tested once."""
    folds = stratified_folds([str(item.gold) for item in items], n_folds, seed=seed)
    how = (
        f"The file has no column split: each item was tested once, by a learner trained on the other items ({n_folds} "
        f"folds by item with equal shares of each answer, seed {seed}). Words occur in several folds."
    )
    return ItemDivision((), (), tuple(items), folds, "all, in folds", (how, *_recurrence_caution(items, folds)))


def divide_by_item(items: Sequence[Item], seed: int) -> ItemDivision:
    """Divide the items of a file by item, a twentieth at a time: 60 % train, 15 % dev, 25 % test."""
    total, parts = sum(_SHARES.values()), []
    folds = stratified_folds([str(item.gold) for item in items], _TWENTIETHS, seed=seed)
    ends = [round(_TWENTIETHS * end / total) for end in itertools.accumulate(_SHARES.values())]
    for start, end in zip((0, *ends), ends, strict=False):
        parts.append(tuple(item for item, fold in zip(items, folds, strict=True) if start <= fold < end))
    how = (
        f"The file has no column split: it was divided by item with equal shares of each answer, seed {seed}: 60 % "
        "train, 15 % dev, 25 % test. Words occur in several parts."
    )
    train, dev, test = parts
    numbers = [number for number, part in enumerate(parts) for _ in part]
    return ItemDivision(train, dev, test, how=(how, *_recurrence_caution((*train, *dev, *test), numbers)))


def _divide_by_word(
    items: Sequence[Item], shares: Mapping[str, float], seed: int
) -> tuple[dict[str, tuple[Item, ...]], str]:
    total = sum(shares.values())
    told = ", ".join(f"{round(100 * share / total)} % {name}" for name, share in shares.items())
    parts = {part.name: part.items for part in split_by_word(items, shares, seed=seed)}
    return parts, f"was divided by word, so that no word occurs in two parts, with seed {seed}: {told}"


def _recurrence_caution(items: Sequence[Item], parts: Sequence[int]) -> tuple[str, ...]:
    """The sentence on items of which a text also occurs in an item of another part; none if there are none.

    A division by item does not keep equal sentences together: a learner can then recognise the sentence.
    """
    parts_of_text: dict[str, set[int]] = {}
    for item, part in zip(items, parts, strict=True):
        for usage in item.usages:
            parts_of_text.setdefault(usage.text, set()).add(part)
    shared = sum(any(len(parts_of_text[usage.text]) > 1 for usage in item.usages) for item in items)
    if not shared:
        return ()
    return (
        f"Caution: {shared:,} of {len(items):,} items contain a sentence that also occurs in an item of another part. "
        "A learner can recognise such a sentence itself. To exclude this, add a column split (train, dev, test) that "
        "keeps equal sentences together.",
    )
