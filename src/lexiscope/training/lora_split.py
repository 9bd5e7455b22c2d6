"""Which rated items are learnt from and which decide when to stop: the dataset's own split, or one by target word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from lexiscope.core.errors import InputError
from lexiscope.core.settings import Option
from lexiscope.items.arrange.splits import condition, in_several_parts, split_by_word
from lexiscope.training.lora_targets import RatedItem

How = Literal["own", "word"]
CONDITION = "split"
"""The condition of an item that names its part: ``train``, ``dev`` or ``test``."""


@dataclass(frozen=True, slots=True)
class Split:
    """Rated items in two parts that share no target word (``word``) or are as the dataset has them (``own``).

    ``left_out``: items of neither part (the test part of a dataset), which the training never sees. ``shared_words``:
    target words that stand in both parts, which only an own split can have.
    """

    how: How
    training: tuple[RatedItem, ...]
    validation: tuple[RatedItem, ...]
    left_out: int = 0
    shared_words: tuple[str, ...] = ()


def split_items(
    items: Sequence[RatedItem],
    *,
    how: Annotated[How | None, Option("default: the dataset's own, else by word", flag="--split")] = None,
    share: Annotated[float, Option("share of a split by word", flag="--validation")] = 0.1,
    seed: int = 0,
) -> Split:
    """Split rated items for a training.

    Without *how*: the dataset's own split where every item has one, else by word, with *share* of the items for the
    validation (:func:`lexiscope.items.arrange.splits.split_by_word`, *seed*). Items of the part ``test`` are left out
    either way.
    Errors: :class:`InputError` where a part would be empty, or where there is no own split.
    """
    own = all(CONDITION in rated.item.conditions for rated in items)
    if how == "own" and not own:
        raise InputError(f"not every item has the condition {CONDITION!r}", hint="split by word: --split word")
    found = _own(items) if how == "own" or (how is None and own) else _by_word(items, share, seed)
    if not found.training or not found.validation:
        what = f"a training needs items in both parts, not {len(found.training)} and {len(found.validation)}"
        raise InputError(what, hint="name items of at least two target words, or items with a split of train and dev")
    return found


def _own(items: Sequence[RatedItem]) -> Split:
    parts: dict[str, list[RatedItem]] = {}
    for rated in items:
        parts.setdefault(str(rated.item.conditions[CONDITION]), []).append(rated)
    training, validation = tuple(parts.get("train", ())), tuple(parts.get("dev", ()))
    used = [rated.item for rated in (*training, *validation)]
    shared = tuple(in_several_parts(used, condition(CONDITION)))
    return Split("own", training, validation, len(items) - len(used), shared)


def _by_word(items: Sequence[RatedItem], share: float, seed: int) -> Split:
    if not 0 < share < 1:
        raise InputError(f"the share of the validation lies between 0 and 1, not at {share:g}")
    used = {rated.item.item_id: rated for rated in items if rated.item.conditions.get(CONDITION) != "test"}
    shares = {"training": 1 - share, "validation": share}
    found = split_by_word([rated.item for rated in used.values()], shares, seed=seed)
    training, validation = (tuple(used[item.item_id] for item in part.items) for part in found)
    return Split("word", training, validation, len(items) - len(used))
