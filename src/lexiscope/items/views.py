"""Views: which part of an item is shown to a subject. A view never moves a target: the span is carried along.

The names are ``full`` (the text as it stands), ``full+final_stop`` (with a full stop at its end), ``context`` (``[X]``
in the target's place) and ``word`` (the target alone). Participants of SAW-C saw no final stop, models were given one
(footnotes 9 and 11); ``context`` and ``word`` are the partial inputs of the context–word bias study (its §2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

_CLOSING = "\"'”’»)]"
_STOPS = (".", "!", "?", "…")

MASK = "[X]"
"""What stands in the place of a hidden target."""


def with_final_stop(usage: Usage) -> Usage:
    """Return the usage with a full stop at the end of its text, unless a sentence-final sign stands there.

    >>> with_final_stop(Usage("Guardó la lima madura", 10, 14)).text
    'Guardó la lima madura.'
    """
    if usage.text.rstrip(_CLOSING).endswith(_STOPS):
        return usage
    return replace(usage, text=f"{usage.text}.")


def without_final_stop(usage: Usage) -> Usage:
    """Return the usage without the one full stop at the end of its text; an ellipsis stays, and so does a stop that
    belongs to the target.

    >>> without_final_stop(Usage("Guardó la lima madura.", 10, 14)).text
    'Guardó la lima madura'
    """
    text = usage.text
    if not text.endswith(".") or text.endswith("..") or usage.end == len(text):
        return usage
    return replace(usage, text=text[:-1])


def without_target(usage: Usage) -> Usage:
    """Return the usage with ``[X]`` in the target's place; the span covers it.

    Only the span is replaced: where the same word stands in the text again, it stays. The lemma and the sense id are
    kept, for grouping: they are no part of what is shown.

    >>> hidden = without_target(Usage("The bank of the river.", 4, 8, lemma="bank"))
    >>> hidden.text, hidden.target
    ('The [X] of the river.', '[X]')
    """
    text = usage.text[: usage.start] + MASK + usage.text[usage.end :]
    return replace(usage, text=text, end=usage.start + len(MASK))


def target_alone(usage: Usage) -> Usage:
    """Return the usage with the target as its whole text.

    >>> target_alone(Usage("The bank of the river.", 4, 8)).text
    'bank'
    """
    return replace(usage, text=usage.target, start=0, end=usage.end - usage.start)


def _as_it_stands(usage: Usage) -> Usage:
    return usage


VIEWS: dict[str, Callable[[Usage], Usage]] = {
    "full": _as_it_stands,
    "full+final_stop": with_final_stop,
    "context": without_target,
    "word": target_alone,
}
"""Each view by name, as a function of a usage."""


def view_usage(usage: Usage, view: str) -> Usage:
    """Return what a subject is shown of a usage.

    Errors: :class:`SpecError` where there is no view of that name.
    """
    if view not in VIEWS:
        raise SpecError(f"there is no view {view!r}", hint=f"use one of {', '.join(VIEWS)}")
    return VIEWS[view](usage)


def view_item(item: Item, view: str) -> Item:
    """Return the item with all its usages in a view; id, options, gold and conditions stay.

    Errors: :class:`SpecError` where there is no view of that name.
    """
    return replace(item, usages=tuple(view_usage(usage, view) for usage in item.usages))
