"""A relation turned round: *dirt means soil* beside *soil means dirt*. Synonymy is symmetric: scores should be alike.

The words of a choice set stay its options, in their order; each now stands in front, the target behind. Only where the
word stands differs, so a subject that knows the relation decides the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.surface import capitalised

SUFFIX = "_turned"
"""What a turned suite's name ends in."""


def turned(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the choice sets of a relation with target and word exchanged; other choice sets are left out.

    A choice set is turned where its text says *Target expression word* up to its end. Its id and its suite say
    ``_turned``. ``mode`` decides how the word is capitalised.

    >>> from lexiscope.items.minimal_pairs import SynonymItem, choice_sets
    >>> oak = SynonymItem.from_tokens("1", "An oak fell .".split(), 1, synonym="tree", distractor="wood")
    >>> [item] = turned(choice_sets([oak], suites=["T14"], conditions=["controlled"]))
    >>> item.item_id, [usage.text for usage in item.usages]
    ('synonymy/1/relation_turned/means/controlled', ['An oak fell. Tree means oak.', 'An oak fell. Wood means oak.'])
    """
    return tuple(made for made in map(_turned, items) if made is not None)


def _turned(item: Item) -> Item | None:
    suite, expression = str(item.conditions.get("suite", "")), str(item.conditions.get("expression", ""))
    target = str(item.conditions.get("target", ""))
    if not suite or not expression or not target:
        return None
    usages = [_exchange(usage, target, expression) for usage in item.usages]
    if not all(usages):
        return None
    return replace(
        item,
        item_id=item.item_id.replace(f"/{suite}/", f"/{suite}{SUFFIX}/"),
        usages=tuple(usage for usage in usages if usage is not None),
        conditions={**item.conditions, "suite": suite + SUFFIX},
    )


def _exchange(usage: Usage, target: str, expression: str) -> Usage | None:
    before, word, after = usage.text[: usage.start], usage.text[usage.start : usage.end], usage.text[usage.end :]
    said = f" {expression} "
    start = len(before) - len(target) - len(said)
    if start < 0 or before[start:].casefold() != (target + said).casefold():
        return None
    first = capitalised(word)
    text = f"{before[:start]}{first}{said}{target}{after}"
    return replace(usage, text=text, start=start, end=start + len(first))
