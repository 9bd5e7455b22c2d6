"""Which rated items are learnt from and which decide when to stop: the dataset's own split, or one by target word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lexiscope.core.errors import InputError
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


def split_items(items: Sequence[RatedItem], *, how: How | None = None, share: float = 0.1, seed: int = 0) -> Split:
    """Split rated items for a training.

    Without *how*: the dataset's own split where every item has one, else by word. By word, whole target words go to
    the validation until it has *share* of the items; their order is drawn with *seed*. Items of the part ``test`` are
    left out either way.
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
    shared = {_word(rated) for rated in training} & {_word(rated) for rated in validation}
    left = len(items) - len(training) - len(validation)
    return Split("own", training, validation, left, tuple(sorted(shared)))


def _by_word(items: Sequence[RatedItem], share: float, seed: int) -> Split:
    if not 0 < share < 1:
        raise InputError(f"the share of the validation lies between 0 and 1, not at {share:g}")
    everything = items
    items = [rated for rated in everything if rated.item.conditions.get(CONDITION) != "test"]
    words = sorted({_word(rated) for rated in items})
    wanted, held = share * len(items), 0
    chosen: set[str] = set()
    for place in np.random.default_rng(seed).permutation(len(words)):
        if held >= wanted:
            break
        chosen.add(words[place])
        held += sum(_word(rated) == words[place] for rated in items)
    validation = tuple(rated for rated in items if _word(rated) in chosen)
    training = tuple(rated for rated in items if _word(rated) not in chosen)
    return Split("word", training, validation, len(everything) - len(items))


def _word(rated: RatedItem) -> str:
    return rated.item.word.casefold()
