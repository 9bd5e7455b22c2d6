"""Draw the next item for a writer from a pool, one at a time, without the words that have enough answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from lexiscope.core.item import Item


def next_draw(
    items: Sequence[Item],
    written_counts: Mapping[str, int],
    seen: Collection[str],
    *,
    seed: int,
    number: int,
    draw: int,
    at_most: int,
) -> Item | None:
    """Return the item that participant *number* gets as their draw *draw*; ``None`` where nothing is left.

    Every item that this participant has not *seen* is equally probable, so that a form with several pairs of senses
    comes more often. *written_counts* says how many answers that are no skips each item has, by item id: the items of
    a form that has *at_most* of them together are not served any more (0: no limit). What was served before is not
    taken back, so a form can end a few above the limit when several people write at once.
    *Source:* AmbiStory §4.1 (popular words were taken out of the pool while it ran).

    >>> from lexiscope.core.usage import Usage
    >>> pool = [Item(name, "pool", (Usage(name, 0, len(name)),)) for name in ("bank", "pitch")]
    >>> next_draw(pool, {"bank": 2}, [], seed=1, number=1, draw=0, at_most=2).item_id
    'pitch'
    """
    retired = set(retired_forms(items, written_counts, at_most=at_most))
    left = [item for item in items if form_of(item) not in retired and item.item_id not in seen]
    # sorted: the order of the items in a file decides nothing
    left.sort(key=lambda item: item.item_id)
    return random.Random(f"{seed}/{number}/{draw}/pool").choice(left) if left else None


def retired_forms(items: Sequence[Item], written_counts: Mapping[str, int], *, at_most: int) -> tuple[str, ...]:
    """Return the forms that are not served any more, in the order of the items; none where *at_most* is 0."""
    written: Counter[str] = Counter()
    for item in items:
        written[form_of(item)] += written_counts.get(item.item_id, 0)
    return tuple(form for form, n in written.items() if at_most and n >= at_most)


def form_of(item: Item) -> str:
    """Return the form that an item counts for: its target without case, whatever its lemma."""
    return item.usages[0].target.casefold()
