"""The items of a training: each with its answer, checked before anything is read; samples that every seed shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item, check_unique_ids, item_record
from lexiscope.items.arrange.splits import sample_items
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects._vector_store import digest


@dataclass(frozen=True, slots=True)
class Rows:
    """Items as a view shows them, all with a right answer. ``part`` is ``train`` or ``dev``."""

    part: str
    items: tuple[Item, ...]
    n_given: int

    def record(self) -> dict[str, object]:
        """Return what a record says of them."""
        return {"n": len(self.items), "n_given": self.n_given, "sha256": items_digest(self.items)}

    def golds(self) -> list[str]:
        """The right answers, in the order of the items."""
        return [str(item.gold) for item in self.items]


def rows_of(items: Sequence[Item], part: str, view: str, *, at_most: int = 0) -> Rows:
    """Return items of one part in a view, or a sample of them.

    Errors: :class:`InputError` where there are none, or naming the first without a right answer; :class:`SpecError` for
    an unknown view.
    """
    if not items:
        raise InputError(f"there are no {part} items", hint="a training needs items to learn from and items of dev")
    check_unique_ids(tuple(items))
    silent = [item for item in items if item.gold is None or not item.gold.strip()]
    if silent:
        what = f"{len(silent)} of {len(items)} {part} items have no right answer; this is the first"
        hint = "leave them out, or use a split whose answers are known (those of a test set may be hidden)"
        raise InputError(what, place=Place(item_id=silent[0].item_id), hint=hint)
    return Rows(part, tuple(view_item(item, view) for item in sample_items(items, at_most)), len(items))


def answers_of(train: Rows, dev: Rows) -> tuple[str, ...]:
    """Return the answers that occur in training, sorted.

    Errors: :class:`InputError` naming a row: all training items have one answer; a dev item has one that none has.
    """
    answers = tuple(sorted(set(train.golds())))
    if len(answers) < 2:
        what = f"all {len(train.items)} training items have the answer {answers[0]!r}: there is nothing to learn"
        hint = "give items of both answers; a larger sample may hold some"
        raise InputError(what, place=Place(item_id=train.items[0].item_id), hint=hint)
    strange = [item for item in dev.items if item.gold not in answers]
    if strange:
        what = f"the answer {strange[0].gold!r} of a dev item is that of no training item ({', '.join(answers)})"
        raise InputError(what, place=Place(item_id=strange[0].item_id), hint="correct it, or leave the item out")
    return answers


def gold_numbers(rows: Rows) -> list[float]:
    """Return the right answers as numbers.

    Errors: :class:`InputError` naming the first that is none.
    """
    numbers = []
    for item in rows.items:
        try:
            numbers.append(float(str(item.gold)))
        except ValueError as error:
            what = f"the right answer {item.gold!r} is no number"
            hint = "ratings are learnt as numbers; answers in words need head=class"
            raise InputError(what, place=Place(item_id=item.item_id), hint=hint) from error
    return numbers


def shares_of(rows: Rows) -> dict[str, float]:
    """Return the share of each right answer: how unequal the classes are."""
    counts = Counter(rows.golds())
    return {answer: counts[answer] / len(rows.items) for answer in sorted(counts)}


def items_digest(items: Sequence[Item]) -> str:
    """Return the sha256 of items in their order."""
    return digest([item_record(item) for item in items])
