"""One sentence with its target, for the tasks that show no more of an item: on their page, and in their prompt."""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.core.item import Item
from lexiscope.core.screen import Shown, emphasised_line
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.tasks.kit.asking import starred_text


def shown_sentence(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the sentence with the target marked, ``[X]`` in its place, or the target alone."""
    usage = view_item(item, shown.appears_as).usages[0]
    return {"sentence": emphasised_line(usage.text, usage.start, usage.end)}


def told_sentence(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the text of the view, the target between ``**``.

    >>> told_sentence(Item("i", "d", (Usage("The bank shuts.", 4, 8),)), "en")
    {'sentence': 'The **bank** shuts.'}
    """
    return {"sentence": starred_target(item.usages[0])}


def starred_target(usage: Usage) -> str:
    """Return the text of a usage with ``**`` around the target."""
    return starred_text(emphasised_line(usage.text, usage.start, usage.end))
