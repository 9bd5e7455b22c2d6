"""Items drawn for several annotators who share some of them: 100 each, 50 of them the same, 150 in all.

What is shared says how far people agree; what is not shared gives more items for the same work. The same items are
asked in every view (full, context, word), each view of other people: no participant sees an item in two views.
*Source:* the context–word bias study, §2.2.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.settings import Option
from lexiscope.items.arrange.lists import assign_lists

DIVIDER = "|"
"""Between the lists of an item that is in several (``list_id``: ``1|2``)."""

DEV_SETS = frozenset({"wic", "xl_wic", "wic_tsv"})
"""Sets of which the study asked people dev, or whose test labels their publisher hides."""


@dataclass(frozen=True, slots=True)
class OverlappingLists:
    """Lists of items, one for each annotator of a view, and what they share.

    ``lists`` holds each list in the order in which it is asked; the ``list_id`` of an item names all lists in which it
    stands. ``shared`` are the ids of items that are in every list.
    """

    lists: tuple[tuple[Item, ...], ...]
    shared: frozenset[str]

    @property
    def items(self) -> tuple[Item, ...]:
        """Every distinct item once, in the order of ids."""
        distinct = {item.item_id: item for items in self.lists for item in items}
        return tuple(distinct[item_id] for item_id in sorted(distinct))

    @classmethod
    def of(cls, items: Sequence[Item]) -> OverlappingLists:
        """Return the lists that the items' ``list_id`` names, each in the order given.

        Errors: :class:`InputError` E402 for an item without a list.
        """
        by_list: dict[str, list[Item]] = {}
        for item in items:
            if not item.list_id:
                what = f"the item {item.item_id} is in no list"
                raise InputError(what, code="E402", hint="draw the items: lexiscope choices draw")
            for name in item.list_id.split(DIVIDER):
                by_list.setdefault(name, []).append(item)
        names = sorted(by_list, key=lambda name: (len(name), name))
        ids = [{item.item_id for item in by_list[name]} for name in names]
        return cls(tuple(tuple(by_list[name]) for name in names), frozenset(set.intersection(*ids) if ids else ()))


def asked_split(items: Sequence[Item]) -> str:
    """Return the split whose items people are asked: test; dev for :data:`DEV_SETS` and where test has no labels.

    It is empty where the items have no splits.
    """
    splits = {str(item.conditions["split"]) for item in items if "split" in item.conditions and item.gold is not None}
    test = "test" in splits and not {item.dataset for item in items} & DEV_SETS
    return next((split for split in (("test",) if test else ("dev", "test", "train")) if split in splits), "")


def draw_overlap(
    items: Sequence[Item], *, n_lists: int, per_list: int, shared: int, seed: int
) -> tuple[list[Item], list[Item]]:
    """Draw the items that are in one list each, and those that are in all, without regard to the items' order.

    Errors: :class:`InputError` E421 where there are too few items, or where nothing is left that is not shared.
    """
    own = per_list - shared
    needed = shared + n_lists * own
    if own < 0 or needed > len(items):
        raise InputError(
            f"{n_lists} lists of {per_list} items, {shared} of them shared, need {needed} items; there are "
            f"{len(items)}",
            code="E421",
            hint="set fewer lists, fewer items per list, or, in a study, per_list: 0 for every item in one list",
        )
    if own == 0:
        raise InputError("all items are shared: this is one list", code="E421", hint="set lists: 1 and shared: 0")
    ordered = sorted(items, key=lambda item: item.item_id)
    drawn = random.Random(f"{seed}/draw").sample(ordered, needed)
    return drawn[shared:], drawn[:shared]


def overlapping_lists(
    items: Sequence[Item],
    *,
    annotators: Annotated[int, Option("people in each view", least=1)] = 2,
    per_annotator: Annotated[int, Option("items for each", least=1)] = 100,
    shared: Annotated[int, Option("items for all of a view", least=0)] = 50,
    split: Annotated[
        str | None, Option("draw from this split (default: test; dev where people are asked that)", metavar="NAME")
    ] = None,
    seed: Annotated[int, Option("draws items and their order", least=0)] = 0,
) -> OverlappingLists:
    """Draw items at random from those with a known answer and divide them into overlapping lists.

    *split* is the split to draw from (default: :func:`asked_split`). What is not shared is divided so that a word
    stands about equally often in each list; each list has an order of its own. The same seed gives the same lists.
    Errors: :class:`InputError` E421 as :func:`draw_overlap`, and where no item of the split has a known answer.

    >>> from lexiscope.core.usage import Usage
    >>> pool = [Item(f"i{n:03}", "d", (Usage("a b", 0, 1),), gold="t") for n in range(400)]
    >>> drawn = overlapping_lists(pool, seed=1)
    >>> [len(items) for items in drawn.lists], len(drawn.items), len(drawn.shared)
    ([100, 100], 150, 50)
    """
    chosen = asked_split(items) if split is None else split
    pool = [item for item in items if item.gold is not None and chosen in ("", item.conditions.get("split"))]
    if not pool:
        where = f"the split {chosen!r}" if chosen else "these items"
        raise InputError(f"no item of {where} has a known answer", code="E421", hint="draw from another split")
    own, both = draw_overlap(pool, n_lists=annotators, per_list=per_annotator, shared=shared, seed=seed)
    everywhere = DIVIDER.join(str(number) for number in range(1, annotators + 1))
    together = [replace(item, list_id=everywhere) for item in both]
    divided = assign_lists(own, annotators, balance=(), seed=seed).lists
    lists = [[*together, *members] for members in divided]
    for number, members in enumerate(lists, start=1):
        random.Random(f"{seed}/{number}/order").shuffle(members)
    return OverlappingLists(tuple(tuple(members) for members in lists), frozenset(item.item_id for item in both))
