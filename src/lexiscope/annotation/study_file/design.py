"""Divide the items of a study into lists with catch trials; the effect that the study is planned to find.

Items of one list each are divided exactly (:func:`lexiscope.items.arrange.lists.assign_lists`). If annotators overlap,
items are drawn by the seed: some are in every list, the others in one (150 distinct, 50 of them double: two lists of
100 that share 50). Items of a second set that must not meet are moved apart by swaps, which keep sizes and balance. The
same definition and items give the same design.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.annotation.study_file.definition import CatchSection, Confusion, DesignSection
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.arrange.lists import assign_lists, catch_trials, draw_overlap


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

    ``shared`` are the ids of the items in every list. ``seed`` and a participant's number give the participant's
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
            of_level: Mapping[str, int] = dict(line.levels)
            numbers = [
                line.n_items,
                line.n_catch,
                *(n for _, n in line.most),
                *(of_level.get(name, 0) for name in levels),
            ]
            rows.append([line.list_id, *map(str, numbers)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
        return "\n".join("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in rows)

    def _line(self, number: int, items: tuple[Item, ...], n_catch: int) -> DesignLine:
        most = [(name, max(Counter(confusion_set(item, name) for item in items).values())) for name in self.confusion]
        levels = [
            (f"{name}={level}", n)
            for name in self.balance
            for level, n in sorted(Counter(str(item.condition(name)) for item in items).items())
        ]
        return DesignLine(str(number), len(items), n_catch, tuple(most), tuple(levels))


def build_design(items: Sequence[Item], settings: DesignSection, catch: CatchSection) -> DividedLists:
    """Divide the items of a study into lists and give each list its catch trials.

    Items with the condition ``catch`` are not divided: they are the catch trials. Without such items, a catch trial is
    one sentence of an item of the list, twice (SAW-C §3.3).
    Errors: :class:`InputError` E421 (the quotas are impossible: too few items, too many that must not meet), E422 (no
    design was found), E402 (an item without a condition), E407 and E408 of :mod:`lexiscope.items.arrange.lists`.
    """
    # sorted, so that the design depends on the items and the seed only, not on the order of the file
    real = sorted((item for item in items if not is_catch(item)), key=lambda item: item.item_id)
    own, shared = _own_and_shared_items(real, settings)
    group = settings.confusion[0].condition if settings.confusion else "word"
    first = assign_lists(
        own, settings.lists, balance=settings.balance, group=None if group == "word" else group, seed=settings.seed
    )
    limits = [_set_limits(own, shared, settings.lists, confusion) for confusion in settings.confusion]
    lists = _SwapSearch([list(items) for items in first.lists], shared, settings, limits).run()
    together = tuple(
        tuple(replace(item, list_id=str(number)) for item in [*shared, *members])
        for number, members in enumerate(lists, 1)
    )
    trials = _lists_of_catch_trials(together, [item for item in items if is_catch(item)], settings.seed, catch)
    names = tuple(confusion.condition for confusion in settings.confusion)
    shared_ids = frozenset(item.item_id for item in shared)
    return DividedLists(together, trials, shared_ids, names, settings.balance, settings.seed)


def confusion_set(item: Item, condition: str) -> str:
    """Return the confusion set of an item: its word, or the value of a condition.

    Errors: :class:`InputError` E402 where the item has no such condition.
    """
    return item.word if condition == "word" else str(item.condition(condition))


def is_catch(item: Item) -> bool:
    """Return whether the item file marks this item as a catch trial."""
    return bool(item.conditions.get("catch", False))


def _own_and_shared_items(items: Sequence[Item], settings: DesignSection) -> tuple[list[Item], list[Item]]:
    """Return the items of one list each, and those of every list."""
    if not settings.per_list:
        if settings.shared:
            raise InputError(f"{settings.shared} shared items need per_list.", code="E421", hint="Set design.per_list.")
        return list(items), []
    return draw_overlap(
        items, n_lists=settings.lists, per_list=settings.per_list, shared=settings.shared, seed=settings.seed
    )


def _set_limits(own: Sequence[Item], shared: Sequence[Item], n_lists: int, confusion: Confusion) -> dict[str, int]:
    """Return how many items of each confusion set one list may hold."""
    sizes = Counter(confusion_set(item, confusion.condition) for item in own)
    everywhere = Counter(confusion_set(item, confusion.condition) for item in shared)
    limits = {}
    for name in sizes | everywhere:
        fewest = math.ceil(sizes[name] / n_lists) + everywhere[name]
        if confusion.at_most and confusion.at_most < fewest:
            raise InputError(
                f"{sizes[name] + everywhere[name]} items have the {confusion.condition} {name!r}: with {n_lists} "
                f"lists, one list must have {fewest} of them; at_most is {confusion.at_most}.",
                code="E421",
                hint=f"Use at least {math.ceil(sizes[name] / confusion.at_most)} lists, or at_most: {fewest}.",
            )
        limits[name] = confusion.at_most or fewest
    return limits


def _lists_of_catch_trials(
    lists: Sequence[tuple[Item, ...]], pool: Sequence[Item], seed: int, settings: CatchSection
) -> tuple[tuple[Item, ...], ...]:
    answer = f"{settings.answer:g}"
    if not pool:
        return tuple(
            catch_trials(items, settings.per_list, answer=answer, seed=seed + number)
            for number, items in enumerate(lists, 1)
        )
    if settings.per_list > len(pool):
        what = f"A list needs {settings.per_list} catch trials; the item file marks {len(pool)}."
        hint = "Mark more items as catch. Without such items, catch trials are made from the items."
        raise InputError(what, code="E421", hint=hint)
    ordered = sorted((replace(item, gold=answer) for item in pool), key=lambda item: item.item_id)
    return tuple(
        tuple(random.Random(f"{seed}/catch/{number}").sample(ordered, settings.per_list))
        for number in range(1, len(lists) + 1)
    )


# -- items that must not meet in one list are moved apart by swaps that keep sizes and balance ----------------------
# *Source:* the repair of AmbiStory's groups (no two variants of a story, no word form twice in one group).


# a swap of the earlier condition weighs more than any of a later one
_WEIGHT = 100
_SWAPS_PER_ITEM = 200


class _SwapSearch:
    """Swaps items of one level between lists until no list holds more of a confusion set than its limit.

    *limits* gives, for each condition of ``settings.confusion``, the most items of each set in one list; *shared* items
    are in every list and are not moved.
    """

    def __init__(
        self,
        lists: list[list[Item]],
        shared: Sequence[Item],
        settings: DesignSection,
        limits: Sequence[Mapping[str, int]],
    ) -> None:
        self.lists, self.limits = lists, limits
        self.conditions = [confusion.condition for confusion in settings.confusion]
        self.rng = random.Random(f"{settings.seed}/separate")
        everything = [item for items in [*lists, list(shared)] for item in items]
        self.sets = {item.item_id: [confusion_set(item, name) for name in self.conditions] for item in everything}
        self.level = {item.item_id: tuple(item.condition(name) for name in settings.balance) for item in everything}
        self.counts = [
            [Counter(self.sets[item.item_id][c] for item in [*items, *shared]) for c in range(len(limits))]
            for items in lists
        ]
        # dictionaries, not sets: their order is the same in every process
        self.over: dict[tuple[int, int, str], None] = {}
        self.by_level: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
        for number, items in enumerate(lists):
            for position, item in enumerate(items):
                self.by_level[self.level[item.item_id]].append((number, position))
            for condition in range(len(limits)):
                for name in self.counts[number][condition]:
                    self._update_excess(number, condition, name)

    def run(self) -> list[list[Item]]:
        """Return the lists after the swaps.

        Errors: :class:`InputError` E422 where swaps do not lead to such a division.
        """
        for _ in range(_SWAPS_PER_ITEM * sum(map(len, self.lists)) + 10_000):
            if not self.over:
                return self.lists
            self._try_swap()
        if not self.over:
            return self.lists
        number, condition, name = min(self.over)
        raise InputError(
            f"No division separates the items: list {number + 1} still has {self.counts[number][condition][name]} "
            f"with {self.conditions[condition]} {name!r}.",
            code="E422",
            hint="Use more lists, a larger at_most, fewer balance factors, or another seed.",
        )

    def _try_swap(self) -> None:
        """Try to swap an item of a set with too many items for any item of its level in another list."""
        number, condition, name = self.rng.choice(list(self.over))
        items = self.lists[number]
        mine = [i for i, item in enumerate(items) if self.sets[item.item_id][condition] == name]
        if not mine:
            return
        here = self.rng.choice(mine)
        other, there = self.rng.choice(self.by_level[self.level[items[here].item_id]])
        if other == number or self._excess_change(number, items[here], self.lists[other][there], other) > 0:
            return
        a, b = items[here], self.lists[other][there]
        self._move(number, a, b)
        self._move(other, b, a)
        items[here], self.lists[other][there] = b, a

    def _excess_change(self, number: int, a: Item, b: Item, other: int) -> int:
        """Return by how much the weighted excess of the two lists would rise if *a* and *b* were swapped."""
        rise = 0
        for condition, limits in enumerate(self.limits):
            set_a, set_b = self.sets[a.item_id][condition], self.sets[b.item_id][condition]
            if set_a == set_b:
                continue
            here, there = self.counts[number][condition], self.counts[other][condition]
            rise += _WEIGHT ** (len(self.limits) - 1 - condition) * (
                (here[set_b] >= limits[set_b])
                - (here[set_a] > limits[set_a])
                + (there[set_a] >= limits[set_a])
                - (there[set_b] > limits[set_b])
            )
        return rise

    def _move(self, number: int, out: Item, into: Item) -> None:
        for condition in range(len(self.limits)):
            for item, step in ((out, -1), (into, 1)):
                name = self.sets[item.item_id][condition]
                self.counts[number][condition][name] += step
                self._update_excess(number, condition, name)

    def _update_excess(self, number: int, condition: int, name: str) -> None:
        key = (number, condition, name)
        if self.counts[number][condition][name] > self.limits[condition][name]:
            self.over[key] = None
        else:
            self.over.pop(key, None)


# -- the planned effect: a condition of the items with two levels ----------------------------------------------------


def effect_codes(items: Sequence[Item], effect: str) -> dict[str, float]:
    """Return 0 or 1 per item, by the two levels of a condition in order of their text; empty where none is planned.

    Errors: :class:`InputError` E627 where the condition has not exactly two levels, E402 if an item does not have it.
    """
    if not effect:
        return {}
    levels = sorted({str(item.condition(effect)) for item in items})
    if len(levels) != 2:
        raise InputError(
            f"The planned effect {effect!r} has {len(levels)} levels: {', '.join(levels[:5])}.",
            code="E627",
            hint="Plan an effect of a condition with two levels, or leave planned.effect empty.",
        )
    return {item.item_id: float(str(item.condition(effect)) == levels[1]) for item in items}
