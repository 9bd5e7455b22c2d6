"""One sentence with its target, for the tasks that show no more of an item: page, prompt and worked examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.core.item import Item
from lexiscope.core.screen import Screen, Shown, emphasised_line
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.tasks.kit.asking import starred_text


def sentence_examples(
    screen: Screen, language: str, *, task: str, gold: str, conditions: Sequence[str] = ()
) -> tuple[Item, ...]:
    """Return the worked examples of a task in a language as items of one sentence.

    *gold* names the column of an example that holds the right answer, *conditions* those that the item needs.
    """
    items = []
    for number, row in enumerate(screen.examples(language), start=1):
        usage = Usage(row["sentence"], row["start"], row["end"], lemma=row.get("word"), language=language)
        needed = {name: row[name] for name in conditions}
        items.append(Item(f"example_{number}", task, (usage,), gold=str(row[gold]), conditions=needed))
    return tuple(items)


def pair_examples(screen: Screen, language: str, *, task: str, gold: str) -> tuple[Item, ...]:
    """Return the worked examples of a task in a language as pairs of sentences; *gold* as of the examples above."""
    items = []
    for number, row in enumerate(screen.examples(language), start=1):
        usages = tuple(
            Usage(row[f"sentence_{n}"], row[f"start_{n}"], row[f"end_{n}"], lemma=row["word"], language=language)
            for n in (1, 2)
        )
        items.append(Item(f"example_{number}", task, usages, gold=str(row[gold])))
    return tuple(items)


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
