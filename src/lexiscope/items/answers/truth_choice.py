"""Two answers, ``t`` and ``f``, about a target in brackets: what such a task offers, shows and tells.

Who does not see the word and cannot decide says so: that stores ``t`` and the flag ``undecided`` (context–word bias,
§2.2 and appendix G).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lexiscope.core.item import Item
from lexiscope.core.screen import Choice, Line, emphasised_line
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import CONTEXT, CONTEXT_SPAN, is_masked, view_item

SAME, DIFFERENT = "t", "f"
"""The answers: the same meaning, or the sense fits; different meanings, or another sense."""


def truth_choices(_item: Item, view: str) -> tuple[Choice, ...]:
    """Return the options; only who does not see the word may be undecided."""
    undecided = (Choice("undecided", SAME, flags=("undecided",)),) if view == CONTEXT else ()
    return (Choice(SAME, SAME), Choice(DIFFERENT, DIFFERENT), *undecided)


def with_correct_answers(items: Iterable[Item], condition: str) -> tuple[Item, ...]:
    """Return items whose right answer is *same* where their condition is true, else *different*.

    >>> usages = (Usage("A bank.", 2, 6), Usage("The bank.", 4, 8))
    >>> item = Item("i", "d", usages, conditions={"same_sense": True})
    >>> [one.gold for one in with_correct_answers([item], "same_sense")]
    ['t']
    """
    return tuple(replace(item, gold=SAME if item.conditions[condition] else DIFFERENT, options=()) for item in items)


def bracketed_lines(item: Item, view: str) -> tuple[Line, ...]:
    """Return the texts of an item in a view as the page shows them: the target marked, in brackets if it is in a text.

    >>> item = Item("i", "d", (Usage("The bank.", 4, 8),))
    >>> bracketed_lines(item, "full"), bracketed_lines(item, "word")
    (((('The ', False), ('[bank]', True), ('.', False)),), ((('bank', True),),))
    """
    return tuple(_line(usage, view) for usage in view_item(item, view).usages)


def _line(seen: Usage, view: str) -> Line:
    if view in (CONTEXT, CONTEXT_SPAN, "word"):
        return emphasised_line(seen.text, seen.start, seen.end)
    # brackets say to a screen reader what bold type says to the eye, and are the paper's
    return emphasised_line(seen.bracketed, seen.start, seen.end + 2)


def bracketed_text(seen: Usage) -> str:
    """Return the text of a usage, as the view has it, for a prompt: the target in brackets where it is in a text.

    >>> bracketed_text(Usage("The bank.", 4, 8)), bracketed_text(Usage("bank", 0, 4))
    ('The [bank].', 'bank')
    """
    alone = seen.target == seen.text or is_masked(seen)
    return seen.text if alone else seen.bracketed
