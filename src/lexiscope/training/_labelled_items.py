"""The items of a training, each with its answer; samples shared by all seeds; the loss and the figure on dev."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item, check_unique_ids, item_record
from lexiscope.items.arrange.splits import sample_items
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects._vector_store import digest
from lexiscope.subjects.trained._encoder import LoadedClassifier
from lexiscope.training._steps import Steps, TrainingOutcome, TrainingPlace, run_steps, step_settings_of
from lexiscope.training.settings import TrainingSettings


@dataclass(frozen=True, slots=True)
class Rows:
    """Items as a view shows them, all with a correct answer. ``part`` is ``train`` or ``dev``."""

    part: str
    items: tuple[Item, ...]
    n_given: int

    def record(self) -> dict[str, object]:
        """Return what a record says of them."""
        return {"n": len(self.items), "n_given": self.n_given, "sha256": items_digest(self.items)}

    def golds(self) -> list[str]:
        """The correct answers, in the order of the items."""
        return [str(item.gold) for item in self.items]


def rows_of(items: Sequence[Item], part: str, view: str, *, at_most: int = 0) -> Rows:
    """Return items of one part in a view, or a sample of them.

    Errors: :class:`InputError` if there are none, or naming the first without a correct answer; :class:`SpecError` for
    an unknown view.
    """
    if not items:
        raise InputError(f"there are no {part} items", hint="a training needs items to learn from and items of dev")
    check_unique_ids(tuple(items))
    silent = [item for item in items if item.gold is None or not item.gold.strip()]
    if silent:
        what = f"{len(silent)} of {len(items)} {part} items have no correct answer; this is the first"
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
    """Return the correct answers as numbers.

    Errors: :class:`InputError` naming the first that is none.
    """
    numbers = []
    for item in rows.items:
        try:
            numbers.append(float(str(item.gold)))
        except ValueError as error:
            what = f"the correct answer {item.gold!r} is not a number"
            hint = "ratings are learnt as numbers; answers that are text need head=class"
            raise InputError(what, place=Place(item_id=item.item_id), hint=hint) from error
    return numbers


def shares_of(rows: Rows) -> dict[str, float]:
    """Return the share of each correct answer: how unequal the classes are."""
    counts = Counter(rows.golds())
    return {answer: counts[answer] / len(rows.items) for answer in sorted(counts)}


def items_digest(items: Sequence[Item]) -> str:
    """Return the sha256 of items in their order."""
    return digest([item_record(item) for item in items])


# -- what a model of a view learns from: readings, the loss of some of them, the figure on dev ----------------------


_GROUPED = 50


@dataclass(frozen=True, slots=True)
class Epoch:
    """The result of an epoch: the mean ``training_loss`` of its steps and the figure on ``dev``, higher = better."""

    epoch: int
    training_loss: float
    dev: float


@dataclass(frozen=True, slots=True)
class Objective:
    """What is learnt: the ``lengths`` of what is read, the loss of a batch of their numbers, the figure on dev.

    ``loss`` gives ``None`` where a batch teaches nothing. ``cut``: the items of train and dev that have a reading which
    was too long and was cut.
    """

    lengths: Sequence[int]
    loss: Callable[[Sequence[int]], Any]
    measure: Callable[[], float]
    cut: Mapping[str, int] = field(default_factory=dict)


def length_batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Return batches of similar lengths in random order, each number once.

    The numbers are shuffled, cut into stretches of 50 batches, sorted by length within a stretch, and cut into batches,
    which are shuffled: chance decides what is in a batch, and little is padded.

    >>> [sorted(each) for each in length_batches([3, 90, 4, 91], 2, np.random.default_rng(0))]
    [[1, 3], [0, 2]]
    """
    order = rng.permutation(len(lengths))
    sizes = np.asarray(lengths)
    batches: list[list[int]] = []
    for start in range(0, len(order), size * _GROUPED):
        stretch = order[start : start + size * _GROUPED]
        stretch = stretch[np.argsort(sizes[stretch], kind="stable")]
        batches += [stretch[place : place + size].tolist() for place in range(0, len(stretch), size)]
    return [batches[number] for number in rng.permutation(len(batches))]


def train_reader(
    reader: LoadedClassifier, lessons: Objective, settings: TrainingSettings, **where: Unpack[TrainingPlace]
) -> TrainingOutcome:
    """Train a reader to the end, from the newest checkpoint in *folder*, and leave the best epoch's weights in it.

    Errors: those of :func:`~lexiscope.training._steps.run_steps`.
    """
    if not settings.epochs:
        return TrainingOutcome(history=[Epoch(0, 0.0, lessons.measure())], stopped="no training was needed")
    steps = steps_of(reader, lessons, settings, where["seed"])
    steps.module.requires_grad_(True)
    course = run_steps(steps, step_settings_of(settings), **where)
    steps.module.requires_grad_(False)
    steps.module.eval()
    return course


def steps_of(reader: LoadedClassifier, lessons: Objective, settings: TrainingSettings, seed: int) -> Steps:
    """Return the steps of lessons: batches of similar lengths, drawn again in every epoch."""
    parts = {"encoder": reader.model} | ({"head": reader.head} if reader.head is not None else {})
    # the last batch of a stretch may be smaller
    whole, rest = divmod(len(lessons.lengths), settings.batch * _GROUPED)

    def batches(epoch: int) -> list[list[int]]:
        return length_batches(lessons.lengths, settings.batch, np.random.default_rng([seed, epoch]))

    return Steps(
        module=reader.torch.nn.ModuleDict(parts),
        n_examples=len(lessons.lengths),
        n_batches=whole * _GROUPED + math.ceil(rest / settings.batch),
        batches=batches,
        loss=lambda batch: (lessons.loss(batch), 1),
        measure=lambda epoch, loss: Epoch(epoch, loss, lessons.measure()),
        figure=lambda epoch: float(epoch.dev),
        result=Epoch,
        monitor="on dev",
    )
