"""An item: one question about word meaning, with its usages, options, conditions and gold answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from lexiscope.core.errors import InputError, Place
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage

Condition = str | int | float | bool

SAME_SENSE = "same_sense"
"""The condition of a pair: whether its target has one sense in both usages. A task of this name asks for it."""
AS_GIVEN = "options_as_given"
"""The condition of an item of which a chat model is shown the options in their own order, which was drawn."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of one dataset.

    The same type serves every task: a usage pair has two ``usages``, a minimal pair one usage and its ``options``,
    a sense choice one usage and the senses as options. ``conditions`` are the factors of the design (their names
    are columns of every export); ``gold`` is the correct answer, if there is one. ``scale`` is the rating scale on
    which people were asked, and models are; ``None`` means the scale of the task.
    """

    item_id: str
    dataset: str
    usages: tuple[Usage, ...]
    options: tuple[str, ...] = ()
    gold: str | None = None
    list_id: str | None = None
    conditions: Mapping[str, Condition] = field(default_factory=dict, hash=False)
    scale: Scale | None = None

    def __post_init__(self) -> None:
        if not self.item_id or self.item_id != self.item_id.strip():
            raise InputError(f"an item needs an id without outer white space, not {self.item_id!r}", code="E401")
        if not isinstance(self.usages, tuple):
            object.__setattr__(self, "usages", tuple(self.usages))

    def condition(self, name: str) -> Condition:
        """Return a condition of the design.

        Errors: :class:`InputError` E402, naming the item and the conditions that it has.
        """
        if name not in self.conditions:
            known = ", ".join(self.conditions) or "none"
            raise InputError(
                f"no condition {name!r}; its conditions: {known}", code="E402", place=Place(item_id=self.item_id)
            )
        return self.conditions[name]

    @property
    def word(self) -> str:
        """The lemma of the first usage (its wordform if no lemma is known): what items are grouped by.

        An item without texts, of which only the ratings are known, may name it as the condition ``word``; otherwise it
        is a separate group.
        """
        if not self.usages:
            return str(self.conditions.get("word", self.item_id))
        return self.usages[0].lemma or self.usages[0].target

    @property
    def has_one_word(self) -> bool:
        """Whether all usages are of one word: one lemma if all are known, otherwise one wordform; case is ignored.

        People are not asked about the words of such an item alone: everybody would say that they mean the same.
        """
        lemmas = [usage.lemma for usage in self.usages]
        words = lemmas if all(lemmas) else [usage.target for usage in self.usages]
        return len({str(word).casefold() for word in words}) == 1


def item_record(item: Item) -> dict[str, Any]:
    """Return an item as a JSON object, for checksums; an item without a scale has no entry for it."""
    # asdict copies each value, which takes longer than a checksum of thousands of items
    record: dict[str, Any] = {name: getattr(item, name) for name in _ITEM_FIELDS}
    record["usages"] = tuple({name: getattr(usage, name) for name in _USAGE_FIELDS} for usage in item.usages)
    record["conditions"] = dict(item.conditions)
    if item.scale is None:
        del record["scale"]
    else:
        record["scale"] = asdict(item.scale)
    return record


_ITEM_FIELDS = tuple(own.name for own in fields(Item))
_USAGE_FIELDS = tuple(own.name for own in fields(Usage))


def items_sha256(items: Sequence[Item]) -> str:
    """Return the sha256 of items in their order: another letter, span, condition or order is another hash."""
    rows = [item_record(item) for item in items]
    return hashlib.sha256(json.dumps(rows, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def check_unique_ids(items: tuple[Item, ...]) -> None:
    """Check that no two items share an id.

    Errors: :class:`InputError` E403.
    """
    seen: set[str] = set()
    for item in items:
        if item.item_id in seen:
            raise InputError("two items have the same id", code="E403", place=Place(item_id=item.item_id))
        seen.add(item.item_id)
