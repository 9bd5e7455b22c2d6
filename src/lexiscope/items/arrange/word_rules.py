"""What is the word of an item, and which items count: the rules under which a set's words are compared, by name.

Published label entropies differ in both (resources of the context–word bias study, Table 4), so that the names are
printed with every number: ``label_entropy(word=surface_lower,rows=all,…)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item


@dataclass(frozen=True, slots=True)
class WordRows:
    """Items as two columns, their words and their labels, with the names of the rules that made them.

    ``n_hidden`` items without gold and ``n_repeated`` items that the rule for rows leaves out are in neither column.
    ``item_ids`` are the items of the columns.
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    item_ids: tuple[str, ...]
    word: str
    rows: str
    n_hidden: int = 0
    n_repeated: int = 0


def lemma(item: Item) -> str:
    """Return the lemma of the first usage, its surface form where no lemma is known."""
    return item.word


def lemma_pos(item: Item) -> str:
    """Return lemma and part of speech of the first usage: ``bank/NOUN``.

    Errors: :class:`InputError` naming an item without a part of speech.
    """
    pos = item.usages[0].pos or item.conditions.get("pos")
    if not pos:
        what = "the item has no part of speech, and the rule lemma_pos needs one"
        raise InputError(what, place=Place(item_id=item.item_id), hint="use another rule, or add a column pos")
    return f"{item.word}/{pos}"


def surface(item: Item) -> str:
    """Return the surface form of the first usage, as it is in its text."""
    return item.usages[0].target


def surface_lower(item: Item) -> str:
    """Return the surface form of the first usage in lower case."""
    return item.usages[0].target.lower()


def last_surface(item: Item) -> str:
    """Return the surface form of the last usage: in a pair of two languages, that in the second."""
    return item.usages[-1].target


WORD_RULES: dict[str, Callable[[Item], str]] = {
    "lemma": lemma,
    "lemma_pos": lemma_pos,
    "surface": surface,
    "surface_lower": surface_lower,
    "last_surface": last_surface,
}
"""What the word of an item may be, by name."""

ROW_RULES = ("all", "first_of_context")
"""Which items may count: all of them, or of those with the same word and the same contexts the first."""


def word_rows(items: Sequence[Item], *, word: str = "lemma", rows: str = "all", split: str | None = None) -> WordRows:
    """Return the words and gold labels of items, with *split* those of one split; items without gold are counted apart.

    Errors: :class:`SpecError` for a rule that there is not; :class:`InputError` where no item is left, and those of the
    rule.
    """
    for name, known in ((word, tuple(WORD_RULES)), (rows, ROW_RULES)):
        if name not in known:
            raise SpecError(f"there is no rule {name!r}", hint=f"use one of {', '.join(known)}")
    chosen = [item for item in items if split is None or item.conditions.get("split") == split]
    labelled = [item for item in chosen if item.gold is not None]
    first: dict[tuple[str, ...], Item] = {}
    for item in labelled:
        first.setdefault((item.word, *(usage.text for usage in item.usages)), item)
    kept = labelled if rows == "all" else list(first.values())
    if not kept:
        of = f" in the split {split!r}" if split is not None else ""
        hint = "choose a split whose labels are known" if chosen else "choose another split"
        raise InputError(f"no item{of} has a label", hint=hint)
    return WordRows(
        words=tuple(WORD_RULES[word](item) for item in kept),
        labels=tuple(item.gold or "" for item in kept),
        item_ids=tuple(item.item_id for item in kept),
        word=word,
        rows=rows,
        n_hidden=len(chosen) - len(labelled),
        n_repeated=len(labelled) - len(kept),
    )
