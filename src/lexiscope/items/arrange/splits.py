"""Splits by target word: what is learnt from, what decides when to stop, what is tested; no word is in two parts.

Items that share a word share its meanings, and often sentences and endings: a split by item would let a model learn the
test words. AmbiStory (§3.5) splits by word into 2,280, 588 and 930 samples.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item

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
    """Return *at_most* items by a hash of their ids, in their order, whatever the seed and the view; 0 = all."""
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
    are shuffled with *seed*, and each goes whole to the part that lacks most items: a part is never larger than its
    share by the items of one word or more. The order of the items changes no part. *group_of* says what must stay
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
        raise InputError(f"{len(groups)} words leave nothing for the part {', '.join(empty)}", hint=hint)
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
