"""Which words carry an answer: items with words removed, and how much evidence a model loses with each word.

The model's internals are not used: it is asked the same item again with words removed from its texts, in the view that
it was trained on. ``leave_one_out`` removes each word by itself. ``shapley`` removes the words one after the other in
random orders and takes the mean of what each takes away: of two words that say the same, neither is missed alone, and
this shows both. A word of the context is deleted; the target, which is one place in all texts of an item, is replaced
by ``[X]``. Definitions stay whole.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lexiscope.analysis.bias.attribution import LostEvidence
from lexiscope.analysis.bias.view_errors import is_right
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import sample_items
from lexiscope.items.arrange.views import CONTEXT, MASK, other_spans, shown_forms, without_target
from lexiscope.training.view_learners import Further

Removal = Literal["leave_one_out", "shapley"]
REMOVAL_VIEWS = (CONTEXT, "full")
"""The views whose words are removed; the view of the word alone has only one word."""
TARGET = "(the target)"
"""What the target is called among the words, whichever word it is."""
MOST_ITEMS = 100
"""The number of tested items whose words are removed: a sample by a hash of their ids."""
_ORDERS = 8
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
Answered = Mapping[str, tuple[str | None, float | None]]
"""By the id of a shown item: the answer, and the log odds of the correct answer if the model has any (nats)."""
_Place = tuple[int, int, int]
"""The number of a usage, start and end of a word in it; the target of all usages has the number −1."""
_Places = frozenset[_Place]
_TARGET_PLACE: _Place = (-1, 0, 0)


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """What is asked of one view, and which two of these items differ by which word.

    ``asked`` are items without some words; ``steps`` are (item, word, id of the item with the word, id without it).
    """

    view: str
    asked: tuple[Further, ...]
    steps: tuple[tuple[Item, str, str, str], ...]

    def lost_evidence(self, answered: Answered) -> Iterator[LostEvidence]:
        """Yield what the model loses with each word of each item; means over the steps that remove it.

        Log odds are compared if the model has them, else whether the answer is right.
        """
        lost: dict[tuple[str, str], list[float]] = {}
        flips: dict[tuple[str, str], bool] = {}
        items = {item.item_id: item for item, *_ in self.steps}
        for item, word, before, after in self.steps:
            (answer, odds), (answer_after, odds_after) = answered[before], answered[after]
            key = (item.item_id, word)
            if odds is None or odds_after is None:
                change = float(_right(answer, item)) - float(_right(answer_after, item))
            else:
                change = odds - odds_after
            lost.setdefault(key, []).append(change)
            flips[key] = flips.get(key, False) or answer != answer_after
        unit = "accuracy" if any(odds is None for _, odds in answered.values()) else "log_odds"
        for (item_id, word), changes in lost.items():
            mean = sum(changes) / len(changes)
            yield LostEvidence(item_id, items[item_id].word, self.view, word, mean, flips[item_id, word], unit)


def removal_plans(items: Sequence[Item], how: Removal | Literal["none"], *, seed: int) -> tuple[RemovalPlan, ...]:
    """Return what is asked in each view whose words are removed; empty for ``none``."""
    return () if how == "none" else tuple(plan_removals(items, view, how, seed=seed) for view in REMOVAL_VIEWS)


def plan_removals(items: Sequence[Item], view: str, how: Removal, *, seed: int) -> RemovalPlan:
    """Return what is asked of a sample of tested items in a view, so that each of their words is removed.

    >>> item = Item("i", "d", (Usage("The old bank.", 8, 12),), gold="t")
    >>> plan = plan_removals([item], "context", "leave_one_out", seed=1)
    >>> [further.shown.usages[0].text for further in plan.asked], [word for _, word, *_ in plan.steps]
    (['The old bank.', 'old bank.', 'The bank.'], ['the', 'old'])
    """
    asked: dict[tuple[str, _Places], Further] = {}
    steps: list[tuple[Item, str, str, str]] = []

    def ask(item: Item, gone: _Places) -> str:
        if (item.item_id, gone) not in asked:
            shown = replace(without_places(item, gone), item_id=f"{item.item_id}#{view}-{len(asked)}")
            asked[item.item_id, gone] = Further(shown, view, item.item_id)
        return asked[item.item_id, gone].shown.item_id

    rng = random.Random(seed)
    for item in sample_items(items, MOST_ITEMS):
        words = _words_by_place(item, view)
        whole: _Places = frozenset()
        for place, removed, left in _removals(list(words), how, rng):
            steps.append((item, words[place], ask(item, whole | removed), ask(item, whole | left)))
    return RemovalPlan(view, tuple(asked.values()), tuple(steps))


def without_places(item: Item, places: Iterable[_Place]) -> Item:
    """Return the item without the words at these places; the spans of targets are moved along."""
    gone = set(places)
    usages = [_without(usage, [place for place in gone if place[0] == n]) for n, usage in enumerate(item.usages)]
    if _TARGET_PLACE in gone:
        usages = [without_target(usage) for usage in usages]
    return replace(item, usages=tuple(usages))


def _without(usage: Usage, places: Sequence[_Place]) -> Usage:
    text, start, end = usage.text, usage.start, usage.end
    for _, first, last in sorted(places, reverse=True):
        # one of the two blanks around a word goes with it
        if text[last : last + 1] == " ":
            last += 1
        elif text[first - 1 : first] == " ":
            first -= 1
        text = text[:first] + text[last:]
        if last <= start:
            start, end = start - (last - first), end - (last - first)
    return replace(usage, text=text, start=start, end=end)


def _words_by_place(item: Item, view: str) -> dict[_Place, str]:
    words: dict[_Place, str] = {} if view == CONTEXT else {_TARGET_PLACE: TARGET}
    forms = shown_forms(item.usages)
    for number, usage in enumerate(item.usages):
        hidden = [(usage.start, usage.end), *(other_spans(usage, forms) if view == CONTEXT else ())]
        for match in _WORD.finditer(usage.text):
            begin, end = match.span()
            if match.group() not in MASK and all(end <= first or last <= begin for first, last in hidden):
                words[number, begin, end] = match.group().casefold()
    return words


def _removals(places: list[_Place], how: Removal, rng: random.Random) -> Iterator[tuple[_Place, _Places, _Places]]:
    """Each place with the words that are gone before its removal, and after."""
    if how == "leave_one_out":
        for place in places:
            yield place, frozenset(), frozenset([place])
        return
    for _ in range(_ORDERS):
        order = rng.sample(places, len(places))
        for n, place in enumerate(order):
            yield place, frozenset(order[:n]), frozenset(order[: n + 1])


def _right(answer: str | None, item: Item) -> bool:
    return is_right(answer, str(item.gold))
