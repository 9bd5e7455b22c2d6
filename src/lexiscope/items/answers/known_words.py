"""What a subject that has something for single words alone must see and know: the word itself, in its vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from lexiscope.core.errors import CapabilityError, Place
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import is_masked

UNKNOWN = "out of vocabulary"
"""Why a subject cannot answer an item, in ``raw``; see :func:`unknown_reason`."""

_CHOOSER = "a subject that chooses among the senses of a word"


@runtime_checkable
class KnowsWords(Protocol):
    """A subject that can say whether it has a vector, or senses, for a word."""

    def knows(self, usage: Usage) -> bool:
        """Return whether the target of a usage is in the vocabulary."""


def unknown_words(subject: object, usages: Sequence[Usage]) -> tuple[str, ...]:
    """Return the targets for which a subject says that it knows nothing; none where it cannot say."""
    if not isinstance(subject, KnowsWords):
        return ()
    return tuple(usage.target for usage in usages if not subject.knows(usage))


def unknown_reason(words: Iterable[str]) -> str:
    """Return the message about an item with words that a subject does not know.

    >>> unknown_reason(["toad", "newt"])
    'out of vocabulary: toad, newt'
    """
    return f"{UNKNOWN}: {', '.join(words)}"


def with_seen_words(item: Item, *, who: str = _CHOOSER) -> Item:
    """Return an item as a view has it; *who* cannot answer it without seeing the word.

    Errors: :class:`CapabilityError` where the view hides a target.
    """
    if any(is_masked(usage) for usage in item.usages):
        what = f"{who} cannot answer without seeing the word"
        raise CapabilityError(what, place=Place(item_id=item.item_id), hint="ask it in the view full")
    return item
