"""The senses among which an item of sense disambiguation asks to choose, and the senses that are right.

They are in an item as ids (``options``) and glosses (the condition ``glosses``, divided by ``|``). Several senses may
be right: ``gold`` then holds them all, divided by ``|``.
"""

from __future__ import annotations

from collections.abc import Iterable

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item

GLOSSES, SENSES = "glosses", "senses"
DIVIDER = "|"


def glosses_of(item: Item) -> dict[str, str]:
    """Return the glosses of an item's senses by their ids, in their order.

    The ids are ``options``, else those of the condition ``senses``, else numbers from 1.
    Errors: :class:`InputError` E617 naming an item without glosses, with another number of ids, or with an id that is
    empty or comes twice.
    """
    glosses = [text.strip() for text in str(item.conditions.get(GLOSSES, "")).split(DIVIDER)]
    written = tuple(text.strip() for text in str(item.conditions.get(SENSES, "")).split(DIVIDER))
    senses = item.options or (written if any(written) else tuple(map(str, range(1, len(glosses) + 1))))
    if not all(glosses):
        raise _glosses_error(item, "an item of this task needs a gloss for every sense")
    if len(senses) != len(glosses) or len(set(senses)) < len(senses) or not all(senses):
        raise _glosses_error(
            item, f"{len(glosses)} glosses need as many senses, all different, not {', '.join(senses)}"
        )
    return dict(zip(senses, glosses, strict=True))


def correct_ids(item: Item) -> frozenset[str]:
    """Return the ids that are right for an item: senses, synsets, or pages; empty where none is known.

    >>> from lexiscope.core.usage import Usage
    >>> item = Item("i", "d", (Usage("art", 0, 3),), gold="art%1:09:00::|art%1:06:00::")
    >>> sorted(correct_ids(item))
    ['art%1:06:00::', 'art%1:09:00::']
    """
    return frozenset(item.gold.split(DIVIDER)) if item.gold else frozenset()


def join_ids(ids: Iterable[str]) -> str:
    """Return ids as a gold answer has them, in their order, each once.

    Errors: :class:`InputError` for an id that holds the divider ``|``.
    """
    listed = tuple(dict.fromkeys(ids))
    wrong = [entry_id for entry_id in listed if DIVIDER in entry_id]
    if wrong:
        raise InputError(f"the id {wrong[0]!r} holds {DIVIDER!r}, which divides ids", hint="write it otherwise")
    return DIVIDER.join(listed)


def _glosses_error(item: Item, what: str) -> InputError:
    hint = f"give the glosses in a column {GLOSSES} and the ids in a column {SENSES}, divided by {DIVIDER}"
    return InputError(what, code="E617", place=Place(item_id=item.item_id), hint=hint)
