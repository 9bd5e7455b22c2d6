"""Experimental lists, each a small copy of the design; and lists of several annotators that share some items.

The division is exact, not a search that may fail: any two lists differ by at most one in size, in every condition
level, in every word, and in every word × condition cell. Two lists are balanced against each other by pairing their
items inside each cell, then inside the next larger set; the chains of pairs have even length where they close, so
giving alternate lists to neighbours balances every set at once (de Werra's equitable edge colouring of a bipartite
graph: words on one side, conditions on the other). Source of the need: SAW-C §3.1, 10 lists of 81 or 82 pairs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

from lexiscope.core.errors import InputError
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.settings import Option


@dataclass(frozen=True, slots=True)
class ListRow:
    """One line of the design table: how many items of a list have a level of a factor (``all`` for its size)."""

    list_id: str
    factor: str
    level: str
    n: int


@dataclass(frozen=True, slots=True)
class ListDesign:
    """Items divided into lists, with the design table.

    ``lists`` holds the items of each list in the order given, each with its ``list_id`` set.
    """

    lists: tuple[tuple[Item, ...], ...]
    table: tuple[ListRow, ...]
    seed: int

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, list by list."""
        return tuple(item for items in self.lists for item in items)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of items in each list."""
        return tuple(len(items) for items in self.lists)

    def text(self) -> str:
        """Return the design table as text: a line per list, a column per level."""
        columns = list(dict.fromkeys((row.factor, row.level) for row in self.table))
        n = {(row.list_id, row.factor, row.level): row.n for row in self.table}
        names = ["list", *(level if factor == "all" else f"{factor}={level}" for factor, level in columns)]
        lines = [
            [row.list_id, *(str(n[row.list_id, *c]) for c in columns)] for row in self.table if row.factor == "all"
        ]
        widths = [max(len(line[i]) for line in [names, *lines]) for i in range(len(names))]
        return "\n".join("  ".join(t.rjust(w) for t, w in zip(line, widths, strict=True)) for line in [names, *lines])


def assign_lists(
    items: Sequence[Item],
    n_lists: int,
    *,
    balance: Sequence[str] = (SAME_SENSE,),
    group: str | None = None,
    seed: int,
) -> ListDesign:
    """Divide items into lists, every item in exactly one.

    *balance* names conditions: each level of the first, and each crossing with the following ones, is spread evenly.
    *group* names the condition whose items should be spread (default: the word); a group with at most *n_lists* items
    has at most one in each list, so that with as many lists as variants this is a Latin square. All counts differ by at
    most 1 between lists. The same seed gives the same lists, regardless of the order of the items.
    Errors: :class:`InputError` E407 (more lists than items, or less than one), E402 (an item without one of the
    conditions).

    >>> from lexiscope.core.usage import Usage
    >>> pairs = [Item(f"i{n}", "d", (Usage("a b", 0, 1),), conditions={"same_sense": n % 2 == 0}) for n in range(6)]
    >>> print(assign_lists(pairs, 2, seed=1).text())
    list  all  same_sense=False  same_sense=True
       1    3                 1                2
       2    3                 2                1
    """
    if not 1 <= n_lists <= len(items):
        raise InputError(f"{len(items)} items cannot be divided into {n_lists} lists", code="E407")
    if len({item.item_id for item in items}) < len(items):
        raise InputError("an item occurs twice among the items to divide", code="E403")
    ordered = sorted(items, key=lambda item: item.item_id)
    random.Random(seed).shuffle(ordered)
    groups: list[Hashable] = [item.word if group is None else item.condition(group) for item in ordered]
    levels: list[tuple[Hashable, ...]] = [tuple(item.condition(name) for name in balance) for item in ordered]
    everything: list[Hashable] = [None] * len(groups)
    by_group: Family = [list(zip(groups, levels, strict=True)), groups, everything]
    families: tuple[Family, Family] = (
        by_group,
        [[level[:depth] for level in levels] for depth in range(len(levels[0]), -1, -1)],
    )
    list_numbers = _list_numbers(families, len(ordered), n_lists)
    of_item = {item.item_id: number for item, number in zip(ordered, list_numbers, strict=True)}
    lists = tuple(
        tuple(replace(item, list_id=str(n + 1)) for item in items if of_item[item.item_id] == n) for n in range(n_lists)
    )
    return ListDesign(lists, _design_rows(lists, balance), seed)


def catch_trials(items: Sequence[Item], n: int, *, answer: str, seed: int) -> tuple[Item, ...]:
    """Make catch trials: pairs of two identical sentences, with the correct answer *answer* (SAW-C §3.3: ``5``).

    The sentences are the first usages of seeded items; ``gold`` holds the answer and the condition ``catch`` is true.
    Errors: :class:`InputError` E408 where there are fewer items than catch trials.
    """
    if not 0 <= n <= len(items):
        raise InputError(f"{n} catch trials cannot be made from {len(items)} items", code="E408")
    chosen = random.Random(seed).sample(sorted(items, key=lambda item: item.item_id), n)
    return tuple(
        Item(
            f"catch-{item.item_id}",
            item.dataset,
            (item.usages[0], item.usages[0]),
            gold=answer,
            list_id=item.list_id,
            conditions={"catch": True},
        )
        for item in chosen
    )


def trial_order(items: Sequence[Item], catch: Sequence[Item] = (), *, seed: int | str) -> tuple[Item, ...]:
    """Return the items in a random order with the catch trials at random places, never first or last.

    The order depends on the seed only, not on the order given: use one seed per participant.
    Errors: :class:`InputError` E408 where there are fewer than two items to place around the catch trials.
    """
    if catch and len(items) < 2:
        raise InputError("a catch trial needs an item before and after it", code="E408")
    rng = random.Random(seed)
    order = sorted(items, key=lambda item: item.item_id)
    rng.shuffle(order)
    for trial in sorted(catch, key=lambda item: item.item_id):
        order.insert(rng.randint(1, len(order) - 1), trial)
    return tuple(order)


# -- equitable division -----------------------------------------------------------------------------------------

_Sizes = tuple[dict[Hashable, int], dict[Hashable, int]]
"""How many items of a list lie in each set; the same of the sets with more than one of them."""
Family = list[list[Hashable]]
"""Nested sets of items, smallest first: for each depth, the name of the set in which each item lies."""


def _list_numbers(families: tuple[Family, Family], n_items: int, n_lists: int) -> list[int]:
    members = _deal_items(families[0][0], families[0][1], n_items, n_lists)
    sizes = [_set_sizes(families, items) for items in members]
    uneven = True
    while uneven:
        uneven = False
        for a, b in combinations(range(n_lists), 2):
            if _exceeds(sizes[a], sizes[b]) or _exceeds(sizes[b], sizes[a]):
                members[a], members[b] = _balance_lists(families, members[a], members[b])
                sizes[a], sizes[b] = (_set_sizes(families, members[number]) for number in (a, b))
                uneven = True
    of_item = {item: number for number, items in enumerate(members) for item in items}
    return [of_item[item] for item in range(n_items)]


def _deal_items(cells: list[Hashable], groups: list[Hashable], n_items: int, n_lists: int) -> list[list[int]]:
    # dealt round, group by group and cell by cell: sizes and groups are even from the start, conditions nearly so
    first_of: dict[Hashable, int] = {}
    for item in range(n_items):
        first_of.setdefault(("group", groups[item]), item)
        first_of.setdefault(("cell", cells[item]), item)
    dealt = sorted(range(n_items), key=lambda i: (first_of["group", groups[i]], first_of["cell", cells[i]], i))
    return [dealt[number::n_lists] for number in range(n_lists)]


def _set_sizes(families: tuple[Family, Family], items: list[int]) -> _Sizes:
    size: Counter[Hashable] = Counter(
        (side, depth, names[item])
        for side, family in enumerate(families)
        for depth, names in enumerate(family)
        for item in items
    )
    return dict(size), {name: n for name, n in size.items() if n > 1}


def _exceeds(more: _Sizes, less: _Sizes) -> bool:
    # a set that has two more items in one list has at least two there
    return any(n - less[0].get(name, 0) > 1 for name, n in more[1].items())


def _balance_lists(families: tuple[Family, Family], a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    """Divide the items of two lists again, so that no set differs by more than one between them.

    Every set's squared list sizes can only fall, so that repeating this for all pairs of lists ends.
    """
    items = sorted([*a, *b])
    partners = [_partners(family, items) for family in families]
    turn = dict.fromkeys(a, 0) | dict.fromkeys(b, 1)
    done: set[int] = set()
    # open chains first, from an end; what is left then are closed ones, and they are even
    ends = [i for i in items if i not in partners[0] or i not in partners[1]]
    for start in (*ends, *items):
        if start not in done:
            _alternate_chain(start, partners, turn, done)
    return [i for i in items if turn[i] == 0], [i for i in items if turn[i] == 1]


def _alternate_chain(start: int, partners: list[dict[int, int]], turn: dict[int, int], done: set[int]) -> None:
    side = 0 if start in partners[0] else 1
    item: int | None = start
    mine = turn[start]
    while item is not None and item not in done:
        turn[item] = mine
        done.add(item)
        item = partners[side].get(item)
        side, mine = 1 - side, 1 - mine


def _partners(family: Family, items: list[int]) -> dict[int, int]:
    partner: dict[int, int] = {}
    for names in family:
        waiting: dict[Hashable, int] = {}
        for item in (item for item in items if item not in partner):
            other = waiting.pop(names[item], None)
            if other is None:
                waiting[names[item]] = item
            else:
                partner[item], partner[other] = other, item
    return partner


def _design_rows(lists: Sequence[Sequence[Item]], balance: Sequence[str]) -> tuple[ListRow, ...]:
    rows = []
    levels = [(name, sorted({str(i.condition(name)) for items in lists for i in items})) for name in balance]
    for number, items in enumerate(lists, 1):
        rows.append(ListRow(str(number), "all", "all", len(items)))
        for name, names in levels:
            n = Counter(str(item.condition(name)) for item in items)
            rows += [ListRow(str(number), name, level, n[level]) for level in names]
    return tuple(rows)


# -- items drawn for several annotators who share some of them: 100 each, 50 of them the same, 150 in all -----------
# What is shared says how far people agree; what is not shared gives more items for the same work. The same items are
# asked in every view (full, context, word), each view of other people: no participant sees an item in two views.
# *Source:* the context–word bias study, §2.2.


DIVIDER = "|"
"""Between the lists of an item that is in several (``list_id``: ``1|2``)."""
DEV_SETS = frozenset({"wic", "xl_wic", "wic_tsv"})
"""Sets of which the study asked people dev, or whose test labels their publisher hides."""


@dataclass(frozen=True, slots=True)
class OverlappingLists:
    """Lists of items, one for each annotator of a view, and what they share.

    ``lists`` holds each list in the order in which it is asked; the ``list_id`` of an item names all lists that contain
    it. ``shared`` are the ids of items that are in every list.
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
    occurs about equally often in each list; each list has a separate order. The same seed gives the same lists.
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
