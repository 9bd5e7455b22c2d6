"""Items that must not meet in one list are moved apart by swaps that keep sizes and balance.

*Source:* the repair of AmbiStory's groups (no two variants of a story, no word form twice in one group).
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item

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
