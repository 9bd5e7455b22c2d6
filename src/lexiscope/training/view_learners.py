"""Learners that cost seconds, learnt from one view at a time: a regression on features, and a learner that counts.

Both answer the tested items of divided items (:class:`~lexiscope.items.arrange.division.ItemDivision`); of folds each
is answered by a learner that learnt from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.build.planted.bias import count_answers, texts_of
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, Place
from lexiscope.core.item import Item
from lexiscope.items.arrange.division import ItemDivision
from lexiscope.items.arrange.views import GUESSED_WORD, view_item
from lexiscope.items.sheets.guessed_word import GUESS_OF
from lexiscope.training.logistic import answered


@dataclass(frozen=True, slots=True)
class Further:
    """An item that is asked in addition to the tested ones, as it is shown, in which view, and the item behind it."""

    shown: Item
    view: str
    origin: str


def with_guesses(parts: ItemDivision, guessed: Sequence[Item], known: Sequence[Item]) -> tuple[Further, ...]:
    """Return guessed words in the place of the word, and those *known* items behind them that are not tested."""
    tested, wanted = {item.item_id for item in parts.test}, {str(item.condition(GUESS_OF)) for item in guessed}
    others = [item for item in known if item.item_id in wanted - tested]
    return (
        *(Further(view_item(item, GUESSED_WORD), GUESSED_WORD, str(item.condition(GUESS_OF))) for item in guessed),
        *(Further(item, "full", item.item_id) for item in others),
    )


def regression_answers(parts: ItemDivision, matrix: Any, further: Sequence[Further] = ()) -> list[str]:
    """Return the answers of a logistic regression to the tested items, then to *further* ones.

    The rows of *matrix*, the features in one view, are those of the labelled items, then those of *further*. A penalty
    is chosen on dev, of folds on the next fold; a further item is asked with the item behind it.
    """
    items, n = parts.all_items, parts.n_folds
    rows, added = np.arange(len(items)), np.arange(len(items), len(items) + len(further))
    if n:
        folds = np.array(parts.folds)
        fold_of = {item.item_id: fold for item, fold in zip(items, parts.folds, strict=True)}
        of_added = np.array([fold_of[one.origin] for one in further], dtype=np.int64)
        turns = [
            (
                rows[(folds != fold) & (folds != (fold + 1) % n)],
                rows[folds == (fold + 1) % n],
                np.concatenate([rows[folds == fold], added[of_added == fold]]),
            )
            for fold in range(n)
        ]
    else:
        learnt, chosen = len(parts.train), len(parts.train) + len(parts.dev)
        turns = [(rows[:learnt], rows[learnt:chosen], np.concatenate([rows[chosen:], added]))]
    golds = [str(item.gold) for item in (*items, *(one.shown for one in further))]
    return answered(matrix, golds, turns, refit=bool(n))


def counted_answers(parts: ItemDivision, items: Sequence[Item], view: str) -> list[str]:
    """Return the answers to tested *items*: the most frequent ones of the same shown texts in training."""
    found: dict[str, str] = {}
    wanted = {item.item_id for item in items}
    for learnt, tested in parts.turns():
        asked = [item for item in tested if item.item_id in wanted]
        found |= dict(zip([item.item_id for item in asked], count_answers(learnt, asked, view), strict=True))
    return [found[item.item_id] for item in items]


def unseen_texts(parts: ItemDivision, view: str) -> str:
    """Return why the learner that counts cannot see a view: most texts of it are new to it; empty if it can."""
    seen = 0
    for learnt, tested in parts.turns():
        known = {texts_of(item, view) for item in learnt}
        seen += sum(texts_of(item, view) in known for item in tested)
    n = len(parts.test)
    if 2 * seen >= n:
        return ""
    return f"it recognises whole texts, and those of {seen} of {n} tested items occur in training"


def check_mask(encoder: str, item: Item) -> None:
    """Check, before anything is trained, that an encoder can hide a target.

    Errors: :class:`CapabilityError` naming *item* as one that it could not be shown; those of the encoder's files.
    """
    subject: Any = catalog.subject(f"encoder:{encoder}")
    try:
        # read for its refusal alone
        _ = subject.mask_token
    except CapabilityError as error:
        hint = "take an encoder that was trained with masks, such as minilm"
        raise CapabilityError(error.what, place=Place(item_id=item.item_id), hint=hint) from error
