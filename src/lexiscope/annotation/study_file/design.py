"""The design of a study: which item stands in which list, and what stands between the items.

Every item in one list is divided exactly (:func:`lexiscope.items.arrange.lists.assign_lists`). Where annotators
overlap, items are drawn by the seed: some stand in every list, the others in one (150 distinct, 50 of them double: two
lists of 100 that share 50). A second set of items that must not meet is kept apart by swaps, which leave sizes and
balance as they are. The same definition and items give the same design.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.annotation.study_file.definition import CatchSection, Confusion, DesignSection
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.arrange.lists import assign_lists, catch_trials
from lexiscope.items.arrange.overlapping_lists import draw_overlap


@dataclass(frozen=True, slots=True)
class DesignLine:
    """One list in the printed design: its size, its catch trials, the most items of one confusion set, the levels."""

    list_id: str
    n_items: int
    n_catch: int
    most: tuple[tuple[str, int], ...]
    levels: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DividedLists:
    """Items divided into lists, with the catch trials of each list.

    ``shared`` are the ids of items that stand in every list. ``seed`` and a participant's number give the participant's
    trials (:func:`lexiscope.annotation.study_file.assignment.plan_trials`).
    """

    lists: tuple[tuple[Item, ...], ...]
    catch: tuple[tuple[Item, ...], ...]
    shared: frozenset[str]
    confusion: tuple[str, ...]
    balance: tuple[str, ...]
    seed: int

    @property
    def items(self) -> tuple[Item, ...]:
        """Every distinct item, in the order of the lists."""
        return tuple({item.item_id: item for items in self.lists for item in items}.values())

    @property
    def catch_ids(self) -> tuple[str, ...]:
        """The ids of all catch trials."""
        return tuple(dict.fromkeys(item.item_id for items in self.catch for item in items))

    @property
    def lines(self) -> tuple[DesignLine, ...]:
        """The design table, a line per list."""
        pairs = zip(self.lists, self.catch, strict=True)
        return tuple(self._line(number, items, len(catch)) for number, (items, catch) in enumerate(pairs, 1))

    def text(self) -> str:
        """Return the design table as text."""
        lines = self.lines
        levels = dict.fromkeys(level for line in lines for level, _ in line.levels)
        names = ["list", "items", "catch", *(f"most per {name}" for name, _ in lines[0].most), *levels]
        rows = [names]
        for line in lines:
            found: Mapping[str, int] = dict(line.levels)
            numbers = [line.n_items, line.n_catch, *(n for _, n in line.most)]
            numbers += [found.get(name, 0) for name in names[3 + len(line.most) :]]
            rows.append([line.list_id, *map(str, numbers)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
        return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows)

    def _line(self, number: int, items: tuple[Item, ...], n_catch: int) -> DesignLine:
        most = [(name, max(Counter(set_of(item, name) for item in items).values())) for name in self.confusion]
        levels = [(f"{name}={level}", n) for name in self.balance for level, n in _levels(items, name)]
        return DesignLine(str(number), len(items), n_catch, tuple(most), tuple(levels))


def build_design(items: Sequence[Item], settings: DesignSection, catch: CatchSection) -> DividedLists:
    """Divide the items of a study into lists and give each list its catch trials.

    Items with the condition ``catch`` are not divided: they are the catch trials, where there are any; else a catch
    trial is one sentence of an item of the list, twice (SAW-C §3.3).
    Errors: :class:`InputError` E421 (the quotas are impossible: too few items, too many that must not meet), E422 (no
    design was found), E402 (an item lacks a condition), E407 and E408 of :mod:`lexiscope.items.arrange.lists`.
    """
    # in one order whatever the order of the file: the design follows from the items and the seed
    real = sorted((item for item in items if not is_catch(item)), key=lambda item: item.item_id)
    own, shared = _drawn(real, settings)
    group = settings.confusion[0].condition if settings.confusion else "word"
    first = assign_lists(
        own, settings.lists, balance=settings.balance, group=None if group == "word" else group, seed=settings.seed
    )
    limits = [_limits(own, shared, settings.lists, confusion) for confusion in settings.confusion]
    names = [confusion.condition for confusion in settings.confusion]
    lists = separate(
        [list(items) for items in first.lists],
        shared,
        sets=lambda item: [set_of(item, name) for name in names],
        level=lambda item: tuple(item.condition(name) for name in settings.balance),
        limits=limits,
        names=names,
        seed=settings.seed,
    )
    together = tuple(
        tuple(replace(item, list_id=str(number)) for item in [*shared, *members])
        for number, members in enumerate(lists, 1)
    )
    trials = _catch(together, [item for item in items if is_catch(item)], settings.seed, catch)
    return DividedLists(
        together, trials, frozenset(i.item_id for i in shared), tuple(names), settings.balance, settings.seed
    )


def set_of(item: Item, condition: str) -> str:
    """Return the confusion set of an item: its word, or the value of a condition.

    Errors: :class:`InputError` E402 where the item has no such condition.
    """
    return item.word if condition == "word" else str(item.condition(condition))


def is_catch(item: Item) -> bool:
    """Say whether the item file marks this item as a catch trial."""
    return bool(item.conditions.get("catch", False))


def _drawn(items: Sequence[Item], settings: DesignSection) -> tuple[list[Item], list[Item]]:
    """The items that stand in one list each, and those that stand in all."""
    if not settings.per_list:
        if settings.shared:
            raise InputError(f"{settings.shared} shared items need per_list", code="E421", hint="set design.per_list")
        return list(items), []
    return draw_overlap(
        items, n_lists=settings.lists, per_list=settings.per_list, shared=settings.shared, seed=settings.seed
    )


def _limits(own: Sequence[Item], shared: Sequence[Item], n_lists: int, confusion: Confusion) -> dict[str, int]:
    """How many items of each confusion set one list may hold."""
    sizes = Counter(set_of(item, confusion.condition) for item in own)
    everywhere = Counter(set_of(item, confusion.condition) for item in shared)
    limits = {}
    for name in sizes | everywhere:
        fewest = math.ceil(sizes[name] / n_lists) + everywhere[name]
        if confusion.at_most and confusion.at_most < fewest:
            raise InputError(
                f"{sizes[name] + everywhere[name]} items have the {confusion.condition} {name!r}: over {n_lists} "
                f"lists, one list must hold {fewest} of them, and at_most is {confusion.at_most}",
                code="E421",
                hint=f"use at least {math.ceil(sizes[name] / confusion.at_most)} lists, or at_most: {fewest}",
            )
        limits[name] = confusion.at_most or fewest
    return limits


def _catch(
    lists: Sequence[tuple[Item, ...]], pool: Sequence[Item], seed: int, settings: CatchSection
) -> tuple[tuple[Item, ...], ...]:
    answer = f"{settings.answer:g}"
    if not pool:
        return tuple(
            catch_trials(items, settings.per_list, answer=answer, seed=seed + number)
            for number, items in enumerate(lists, 1)
        )
    if settings.per_list > len(pool):
        what = f"a list needs {settings.per_list} catch trials; the item file marks {len(pool)}"
        raise InputError(what, code="E421", hint="mark more items as catch, or none: then they are made")
    ordered = sorted((replace(item, gold=answer) for item in pool), key=lambda item: item.item_id)
    return tuple(
        tuple(random.Random(f"{seed}/catch/{number}").sample(ordered, settings.per_list))
        for number in range(1, len(lists) + 1)
    )


def _levels(items: Sequence[Item], name: str) -> list[tuple[str, int]]:
    return sorted(Counter(str(item.condition(name)) for item in items).items())


# -- items that must not meet in one list are moved apart by swaps that keep sizes and balance ----------------------
# *Source:* the repair of AmbiStory's groups (no two variants of a story, no word form twice in one group).


Sets = Callable[[Item], list[str]]
# a swap of the earlier condition weighs more than any of a later one
_WEIGHT = 100
_SWAPS_PER_ITEM = 200


def separate(
    lists: list[list[Item]],
    shared: Sequence[Item],
    *,
    sets: Sets,
    level: Callable[[Item], Hashable],
    limits: Sequence[Mapping[str, int]],
    names: Sequence[str],
    seed: int,
) -> list[list[Item]]:
    """Swap items of one level between lists until no list holds more of a set than its limit.

    *sets* gives an item's set under each condition of *names*, *limits* the most of each set in one list; *shared*
    items stand in every list and are not moved.
    Errors: :class:`InputError` E422 where swaps do not lead to such a division.
    """
    search = _Search(lists, shared, sets, level, limits, seed)
    for _ in range(_SWAPS_PER_ITEM * sum(map(len, lists)) + 10_000):
        if not search.over:
            return search.lists
        search.swap()
    if not search.over:
        return search.lists
    number, condition, name = min(search.over)
    raise InputError(
        f"no division keeps the items apart: list {number + 1} still holds {search.counts[number][condition][name]} "
        f"with {names[condition]} {name!r}",
        code="E422",
        hint="use more lists, a larger at_most, fewer balance factors, or another seed",
    )


class _Search:
    """Lists with their counts, and the places where a list holds too many of a set."""

    def __init__(
        self,
        lists: list[list[Item]],
        shared: Sequence[Item],
        sets: Sets,
        level: Callable[[Item], Hashable],
        limits: Sequence[Mapping[str, int]],
        seed: int,
    ) -> None:
        self.lists, self.limits = lists, limits
        self.rng = random.Random(f"{seed}/separate")
        everything = [item for items in [*lists, list(shared)] for item in items]
        self.sets = {item.item_id: sets(item) for item in everything}
        self.level = {item.item_id: level(item) for item in everything}
        self.counts = [
            [Counter(self.sets[item.item_id][c] for item in [*items, *shared]) for c in range(len(limits))]
            for items in lists
        ]
        # dictionaries, not sets: their order is the same in every process
        self.over: dict[tuple[int, int, str], None] = {}
        self.by_level: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
        for number, items in enumerate(lists):
            for place, item in enumerate(items):
                self.by_level[self.level[item.item_id]].append((number, place))
            for condition in range(len(limits)):
                for name in self.counts[number][condition]:
                    self._note(number, condition, name)

    def swap(self) -> None:
        """Try one swap: an item that is too many against any item of its level elsewhere."""
        number, condition, name = self.rng.choice(list(self.over))
        items = self.lists[number]
        mine = [i for i, item in enumerate(items) if self.sets[item.item_id][condition] == name]
        if not mine:
            return
        place = self.rng.choice(mine)
        other, there = self.rng.choice(self.by_level[self.level[items[place].item_id]])
        if other == number or self._change(number, items[place], self.lists[other][there], other) > 0:
            return
        a, b = items[place], self.lists[other][there]
        self._move(number, a, b)
        self._move(other, b, a)
        items[place], self.lists[other][there] = b, a

    def _change(self, number: int, a: Item, b: Item, other: int) -> int:
        """By how much the weighted excess of the two lists would rise."""
        rise = 0
        for condition, limits in enumerate(self.limits):
            one, two = self.sets[a.item_id][condition], self.sets[b.item_id][condition]
            if one == two:
                continue
            here, there = self.counts[number][condition], self.counts[other][condition]
            rise += _WEIGHT ** (len(self.limits) - 1 - condition) * (
                (here[two] >= limits[two])
                - (here[one] > limits[one])
                + (there[one] >= limits[one])
                - (there[two] > limits[two])
            )
        return rise

    def _move(self, number: int, out: Item, into: Item) -> None:
        for condition in range(len(self.limits)):
            for item, step in ((out, -1), (into, 1)):
                name = self.sets[item.item_id][condition]
                self.counts[number][condition][name] += step
                self._note(number, condition, name)

    def _note(self, number: int, condition: int, name: str) -> None:
        key = (number, condition, name)
        if self.counts[number][condition][name] > self.limits[condition][name]:
            self.over[key] = None
        else:
            self.over.pop(key, None)
