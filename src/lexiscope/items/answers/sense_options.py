"""The senses offered by an item of sense disambiguation, and the answers ``t`` and ``f`` about a target.

They are in an item as ids (``options``) and glosses (the condition ``glosses``, divided by ``|``). Several senses may
be right: ``gold`` then holds them all, divided by ``|``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.screen import Choice, Line, emphasised_line
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import CONTEXT, CONTEXT_SPAN, is_masked, view_item

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


def definition_of(item: Item) -> str:
    """Return ``definition ; hypernyms``, or the definition where there are no hypernyms.

    Errors: :class:`InputError` E402 where the item has no condition ``definition``.
    """
    definition, hypernyms = str(item.condition("definition")), str(item.conditions.get("hypernyms", ""))
    return f"{definition} ; {hypernyms}" if hypernyms else definition


def _glosses_error(item: Item, what: str) -> InputError:
    hint = f"give the glosses in a column {GLOSSES} and the ids in a column {SENSES}, divided by {DIVIDER}"
    return InputError(what, code="E617", place=Place(item_id=item.item_id), hint=hint)


# -- two answers, ``t`` and ``f``, about a target in brackets: what such a task offers, shows and tells -------------
# Who does not see the word and cannot decide says so: that stores ``t`` and the flag ``undecided`` (context–word bias,
# §2.2 and appendix G).


SAME, DIFFERENT = "t", "f"
"""The answers: the same meaning, or the sense fits; different meanings, or another sense."""


def truth_choices(_item: Item, view: str) -> tuple[Choice, ...]:
    """Return the options; only who does not see the word may be undecided."""
    undecided = (Choice("undecided", SAME, flags=("undecided",)),) if view == CONTEXT else ()
    return (Choice(SAME, SAME), Choice(DIFFERENT, DIFFERENT), *undecided)


def with_correct_answers(items: Iterable[Item], condition: str) -> tuple[Item, ...]:
    """Return items whose correct answer is *same* where their condition is true, else *different*.

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
