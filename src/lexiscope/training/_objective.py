"""What a model of a view learns from: readings, the loss of some of them, the figure on dev."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np

from lexiscope.subjects.trained._encoder import LoadedClassifier
from lexiscope.training._steps import Steps, TrainingOutcome, TrainingPlace, run_steps, step_settings_of
from lexiscope.training.settings import TrainingSettings

_GROUPED = 50


@dataclass(frozen=True, slots=True)
class Epoch:
    """What an epoch came to: the mean ``training_loss`` of its steps and the figure on ``dev``, higher = better."""

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
        return TrainingOutcome(history=[Epoch(0, 0.0, lessons.measure())], stopped="nothing was to be learnt")
    steps = steps_of(reader, lessons, settings, where["seed"])
    steps.module.requires_grad_(True)
    course = run_steps(steps, step_settings_of(settings), **where)
    steps.module.requires_grad_(False)
    steps.module.eval()
    return course


def steps_of(reader: LoadedClassifier, lessons: Objective, settings: TrainingSettings, seed: int) -> Steps:
    """Return the steps of lessons: batches of similar lengths, drawn anew in every epoch."""
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
