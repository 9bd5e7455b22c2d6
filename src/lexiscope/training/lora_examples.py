"""What an adapter learns from: rated items in two parts, and of each its question and its number as token ids.

Only the tokens of the number are learnt.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Option
from lexiscope.items.arrange.splits import condition, in_several_parts, split_by_word
from lexiscope.subjects.local._chat_text import answer_tokens, point_texts
from lexiscope.training.lora_settings import Rounding

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
    numbers, examples = point_texts(scale), []
    for rated, target in zip(items, target_places(items, scale, rounding), strict=True):
        item_id = rated.item.item_id
        try:
            tokens = answer_tokens(tokenizer, ask(rated.item), numbers)
        except SubjectError as error:
            raise SubjectError(error.what, place=Place(item_id=item_id), why=error.why, hint=error.hint) from error
        examples.append(TokenizedExample(item_id, tokens.prompt, tokens.answers, target))
    return tuple(examples)


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
    rows = [[example.item_id, example.prompt, example.answers, example.target] for example in examples]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()


# -- from the ratings of people to the number that is learnt ----------------------------------------------------------


# a mean that was added up in floating point may miss a half by its last bit
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class RatedItem:
    """An item with the ratings that people gave it, at least one.

    Errors: :class:`InputError` without a rating.
    """

    item: Item
    ratings: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.ratings:
            raise InputError("an item without a rating teaches nothing", place=Place(item_id=self.item.item_id))

    @property
    def mean(self) -> float:
        """The mean of its ratings."""
        return statistics.fmean(self.ratings)

    @property
    def sd(self) -> float:
        """The sample SD of its ratings (n - 1); 0 for a single one."""
        return statistics.stdev(self.ratings) if len(self.ratings) > 1 else 0.0


def round_to_point(mean: float, scale: Scale, rounding: Rounding = "half_up") -> float:
    """Return the point of a scale that is nearest to a mean. *Source:* AmbiStory §5.3.1, which names no rule.

    >>> scale = Scale(1, 5)
    >>> [round_to_point(mean, scale) for mean in (2.4, 2.5, 3.5)]
    [2.0, 3.0, 4.0]
    >>> [round_to_point(mean, scale, "half_even") for mean in (2.4, 2.5, 3.5)]
    [2.0, 2.0, 4.0]

    Errors: :class:`InputError` for a continuous scale and a mean that is not within it.
    """
    if not scale.points:
        what = f"the scale {scale.low:g} to {scale.high:g} is continuous: it has no points to round to"
        raise InputError(what, hint="name a scale with steps")
    if not scale.low <= mean <= scale.high:
        raise InputError(f"a mean of {mean:g} is not within the scale {scale.low:g} to {scale.high:g}")
    # counted in steps from zero where the points are multiples of the step, so that "even" means even numbers
    origin = math.fmod(scale.low, scale.step)
    steps = (mean - origin) / scale.step
    below = math.floor(steps + _TINY)
    half = abs(steps - below - 0.5) <= _TINY
    up = (rounding == "half_up" or below % 2 == 1) if half else steps - below > 0.5
    return min(scale.high, origin + (below + up) * scale.step)


def target_places(items: Sequence[RatedItem], scale: Scale, rounding: Rounding) -> tuple[int, ...]:
    """Return the place, from 0, of every item's number among the points of the scale.

    Errors: those of :func:`round_to_point`, naming the item.
    """
    places = {point: place for place, point in enumerate(scale.points)}
    targets = []
    for rated in items:
        try:
            targets.append(places[round_to_point(rated.mean, scale, rounding)])
        except InputError as error:
            raise InputError(error.what, place=Place(item_id=rated.item.item_id), hint=error.hint) from error
    return tuple(targets)


# -- the two parts: items to learn from, and items that decide when to stop -------------------------------------------


How = Literal["own", "word"]
CONDITION = "split"
"""The condition of an item that names its part: ``train``, ``dev`` or ``test``."""


@dataclass(frozen=True, slots=True)
class Split:
    """Rated items in two parts that share no target word (``word``) or are as the dataset has them (``own``).

    ``left_out``: items of neither part (the test part of a dataset), which the training never sees. ``shared_words``:
    target words that occur in both parts, which only an own split can have.
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
    split = _own(items) if how == "own" or (how is None and own) else _by_word(items, share, seed)
    if not split.training or not split.validation:
        what = f"a training needs items in both parts, not {len(split.training)} and {len(split.validation)}"
        raise InputError(what, hint="name items of at least two target words, or items with a split of train and dev")
    return split


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
    parts = split_by_word([rated.item for rated in used.values()], shares, seed=seed)
    training, validation = (tuple(used[item.item_id] for item in part.items) for part in parts)
    return Split("word", training, validation, len(items) - len(used))
