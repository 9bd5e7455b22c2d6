"""Splits by target word for training, selection and test, no word in two parts; published splits and folds.

Items that share a word share its meanings, and often sentences and endings: a split by item would let a model learn the
test words. AmbiStory (§3.5) splits by word into 2,280, 588 and 930 samples.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.arrange.pairs import SPLITS

GroupOf = Callable[[Item], str]


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One part of a split: its items in the order given, and the groups (words) that it holds, sorted."""

    name: str
    items: tuple[Item, ...]
    groups: tuple[str, ...]


def folded_word(item: Item) -> str:
    """Return the item's word, case ignored: *Pop* and *pop* stay together."""
    return item.word.casefold()


def condition(name: str) -> GroupOf:
    """Return a function that groups items by one of their conditions."""

    def group(item: Item) -> str:
        return str(item.condition(name))

    return group


def sample_items(items: Sequence[Item], at_most: int) -> tuple[Item, ...]:
    """Return *at_most* items by a hash of their ids, in their order, regardless of seed and view; 0 = all."""
    if not at_most or len(items) <= at_most:
        return tuple(items)
    drawn = sorted(items, key=lambda item: hashlib.sha256(item.item_id.encode()).hexdigest())[:at_most]
    kept = {item.item_id for item in drawn}
    return tuple(item for item in items if item.item_id in kept)


def split_by_word(
    items: Sequence[Item], shares: Mapping[str, float], *, seed: int = 0, group_of: GroupOf = folded_word
) -> tuple[SplitPart, ...]:
    """Divide items into parts that share no word.

    *shares* are the parts by name with their sizes, as numbers of any unit (``{"train": 8, "test": 2}``). The words
    are shuffled with *seed*, and each goes whole to the part that still needs most items: a part is never larger than
    its share by the items of one word or more. The order of the items changes no part. *group_of* says what must stay
    together; the default is the word.
    Errors: :class:`InputError` for a share that is not above 0, or fewer words than fill every part.

    >>> from lexiscope.core.usage import Usage
    >>> items = [Item(f"{w}{n}", "d", (Usage(w, 0, 1),)) for w in "abcdefgh" for n in range(3)]
    >>> [(part.name, len(part.items)) for part in split_by_word(items, {"train": 3, "test": 1}, seed=1)]
    [('train', 18), ('test', 6)]
    """
    wanted = _part_sizes(len(items), shares)
    groups: dict[str, int] = Counter(map(group_of, items))
    names = sorted(groups)
    random.Random(seed).shuffle(names)
    held = dict.fromkeys(wanted, 0)
    part_of: dict[str, str] = {}
    for name in names:
        # the first of equals, so that the split does not depend on how a mapping is ordered inside
        part = max(wanted, key=lambda name: wanted[name] - held[name])
        part_of[name] = part
        held[part] += groups[name]
    empty = [part for part, n in held.items() if not n]
    if empty:
        hint = "give more items, fewer parts, or larger shares"
        raise InputError(f"{len(groups)} words leave no word for the part {', '.join(empty)}", hint=hint)
    return tuple(
        SplitPart(
            name,
            tuple(item for item in items if part_of[group_of(item)] == name),
            tuple(sorted(group for group, part in part_of.items() if part == name)),
        )
        for name in wanted
    )


def stratified_folds(golds: Sequence[str], n_folds: int, *, seed: int) -> tuple[int, ...]:
    """Return the fold of each item, from 0: every fold has nearly the same number of each answer.

    A word is in several folds, so that a word that decides its label can be learnt.

    >>> folds = stratified_folds(list("tttfff"), 3, seed=1)
    >>> sorted(folds[:3]), sorted(folds[3:])
    ([0, 1, 2], [0, 1, 2])
    """
    folds = [0] * len(golds)
    rng = random.Random(seed)
    place = 0
    for gold in sorted(set(golds)):
        own = [number for number, answer in enumerate(golds) if answer == gold]
        rng.shuffle(own)
        for number in own:
            folds[number] = place % n_folds
            place += 1
    return tuple(folds)


def in_several_parts(
    items: Iterable[Item], part_of: GroupOf, *, group_of: GroupOf = folded_word
) -> dict[str, tuple[str, ...]]:
    """Return the groups (words) that are in more than one part, with these parts in their order.

    In AmbiStory that is the form ``base`` alone (train and test); by definition text it is more.

    >>> from lexiscope.core.usage import Usage
    >>> items = [Item(f"{w}-{p}", "d", (Usage(w, 0, 1),), conditions={"split": p}) for w, p in ("ax", "ay", "bx")]
    >>> in_several_parts(items, condition("split"))
    {'a': ('x', 'y')}
    """
    parts_of_group: dict[str, dict[str, None]] = {}
    for item in items:
        parts_of_group.setdefault(group_of(item), {})[part_of(item)] = None
    return {group: tuple(parts) for group, parts in parts_of_group.items() if len(parts) > 1}


def _part_sizes(n_items: int, shares: Mapping[str, float]) -> dict[str, float]:
    """Return how many items each part should hold."""
    bad = [name for name, share in shares.items() if not (math.isfinite(share) and share > 0)]
    if bad or not shares:
        raise InputError(f"a share must be a number above 0; that of {', '.join(bad) or 'no part'} is not")
    total = sum(shares.values())
    return {name: n_items * share / total for name, share in shares.items()}


# -- a split by sentence: a number of sentences for test and for dev, the others for training -------------------------
# All items of a sentence stay together. *Source:* the context–word bias study, §2.1 (Wikification: 50,000 sentences
# each for test and dev).


def split_by_sentence(
    items: Sequence[Item], *, n_test: int, n_dev: int, seed: int = 0, group: str = "sentence"
) -> tuple[Item, ...]:
    """Return the items with the condition ``split``: test, dev or train, in the order given.

    The sentences (values of the condition *group*) are sorted and then shuffled with *seed*, so that neither the order
    of the items nor the run of the process decides. An item's id is left as it is.
    Errors: :class:`InputError` for fewer sentences than test and dev need and one to train on, or a negative number.

    >>> from lexiscope.core.usage import Usage
    >>> made = [Item(f"i{n}", "d", (Usage("x", 0, 1),), conditions={"sentence": f"s{n // 2}"}) for n in range(8)]
    >>> [item.conditions["split"] for item in split_by_sentence(made, n_test=1, n_dev=1, seed=2)]
    ['train', 'train', 'test', 'test', 'dev', 'dev', 'train', 'train']
    """
    names = sorted({str(item.condition(group)) for item in items})
    if min(n_test, n_dev) < 0 or n_test + n_dev >= len(names):
        what = f"{len(names)} sentences are too few for {n_test} to test, {n_dev} for development and some to train on"
        raise InputError(what, hint="ask for fewer sentences")
    random.Random(seed).shuffle(names)
    part = dict.fromkeys(names[:n_test], "test") | dict.fromkeys(names[n_test : n_test + n_dev], "dev")
    return tuple(
        replace(item, conditions={**item.conditions, "split": part.get(str(item.condition(group)), "train")})
        for item in items
    )


# -- division -------------------------------------------------------------------------------------------------------
# Items divided into what is learnt from, what is chosen by and what is tested: published splits, made ones, or folds.
#
# Published splits are used as they are; a missing one is made from the others, by word, with a seed. A file without
# splits is divided by item, so that a word that decides its label can be seen. ``how`` reports what was done.


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

    @property
    def documents_by_split(self) -> dict[str, int]:
        """The number of documents by published split, if the items say which document they are from."""
        of_split: dict[str, set[str]] = {}
        for item in self.all_items:
            if {"document", "split"} <= set(item.conditions):
                of_split.setdefault(str(item.conditions["split"]), set()).add(str(item.conditions["document"]))
        return {split: len(documents) for split, documents in of_split.items()}

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
    """Divide published items by their condition ``split``; items without a correct answer are in no part.

    If the labels of test are hidden (or there is no test), dev is tested, and dev is taken from train; without train,
    train is taken from dev; a single split is divided in three.
    Errors: :class:`InputError` if no item has a correct answer, or there are too few words to divide.
    """
    given: dict[str, tuple[Item, ...]] = {}
    for split in SPLITS:
        several = tuple(item for item in items if item.conditions.get("split") == split and item.gold is not None)
        if several:
            given[split] = several
    if not given:
        raise InputError("no item has a correct answer, so no test is possible")
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
