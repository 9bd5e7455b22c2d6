"""Examples: an item's question as token ids, and the tokens of the number that answers it, which alone are learnt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion
from lexiscope.core.scale import Scale
from lexiscope.subjects.local._chat_text import answer_tokens, numbers_of
from lexiscope.training.lora_targets import RatedItem, Rounding, targets_of

MASKED = -100
"""The label of a token on which there is no loss."""

Ask = Callable[[Item], ChatQuestion]
"""Makes the question of an item, as a task's ``asks`` does."""


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """A question and its answer as token ids.

    ``prompt``: up to the number. ``answers``: the number at each point of the scale. ``target``: the place of the
    right one.
    """

    item_id: str
    prompt: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    target: int

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens that are read: the question, then the right number."""
        return (*self.prompt, *self.answers[self.target])

    @property
    def labels(self) -> tuple[int, ...]:
        """What is to be learnt at each place of :attr:`ids`: the number's tokens; all others are masked.

        >>> TokenizedExample("i", (7, 8, 9), ((4,), (5,)), target=1).labels
        (-100, -100, -100, 5)
        """
        return (*(MASKED for _ in self.prompt), *self.answers[self.target])


def examples_of(
    items: Sequence[RatedItem], tokenizer: Any, ask: Ask, scale: Scale, *, rounding: Rounding = "half_up"
) -> tuple[TokenizedExample, ...]:
    """Make an example of every item; *tokenizer* is that of transformers.

    Errors: :class:`SubjectError` naming the item whose question the model cannot read, :class:`InputError` where its
    mean rating is not within the scale.
    """
    numbers, found = numbers_of(scale), []
    for rated, target in zip(items, targets_of(items, scale, rounding), strict=True):
        item_id = rated.item.item_id
        try:
            tokens = answer_tokens(tokenizer, ask(rated.item), numbers)
        except SubjectError as error:
            raise SubjectError(error.what, place=Place(item_id=item_id), why=error.why, hint=error.hint) from error
        found.append(TokenizedExample(item_id, tokens.prompt, tokens.answers, target))
    return tuple(found)


def check_lengths(examples: Sequence[TokenizedExample], longest: int | None) -> None:
    """Check that a model reads every example whole; *longest* is the most tokens that it reads.

    Errors: :class:`SubjectError` naming the first item that is too long: nothing is ever cut off.
    """
    for example in examples:
        if longest is not None and len(example.ids) > longest:
            what = f"the question has {len(example.ids)} tokens with its answer, the model reads at most {longest}"
            raise SubjectError(what, place=Place(item_id=example.item_id), hint="leave the item out")


def examples_sha256(examples: Sequence[TokenizedExample]) -> str:
    """Return the sha256 of examples in their order: another token, answer or order is another hash."""
    rows = [[each.item_id, each.prompt, each.answers, each.target] for each in examples]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()
