"""Pair classifiers: ``[CLS]`` and the vectors of both targets, side by side, under one linear layer.

Both texts are one input (SuperGLUE practice); a target's vector is the mean of its sub-words at the last layer. The
gradient reaches the whole encoder. With ``head=number`` the layer learns a number (ratings) by squared error: on the
view ``label``, where all inputs are equal, that comes to the mean, as the answers come to the majority.
*Source:* the context–word bias study, §2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.scoring import Doubles
from lexiscope.subjects.trained._reader import LoadedClassifier, Shape
from lexiscope.subjects.trained._reading import TextsWithTargets, Wording
from lexiscope.tasks import BY_VIEW
from lexiscope.training._claim import base_of
from lexiscope.training._lessons import Lessons
from lexiscope.training._rows import Rows, answers_of, numbers_of, shares_of
from lexiscope.training._training import MINUS_SQUARED_ERROR, How, Job, Shard, parts_of, train_folder
from lexiscope.training.settings import TrainingSettings

METHOD, VERIFICATION = "pair", "verification"
# the targets whose vectors stand beside that of [CLS]
_TARGETS = {METHOD: 2, VERIFICATION: 0}


def train_pair_classifier(
    train: Sequence[Item], dev: Sequence[Item], encoder: str, *, task: str = BY_VIEW, **how: Unpack[How]
) -> Shard:
    """Train a classifier of pairs in a view, or go on with it; *encoder* is ``minilm``, a folder or a hub id.

    Errors: :class:`InputError` naming an item without a right answer, without two usages, or where only one answer
    occurs; :class:`RunError` for a folder of another training; :class:`SubjectError` for a model that cannot be read.
    """
    asked, rows = parts_of(train, dev, how)
    if asked.head == "number":
        return _train_numbers(rows, encoder, asked, task, how)
    return train_answers(METHOD, task, rows, encoder, asked, how)


def train_answers(
    method: str, task: str, rows: tuple[Rows, Rows], encoder: str, asked: TrainingSettings, how: How
) -> Shard:
    """Train a classifier whose outputs are the answers, of a ``pair`` or of a ``verification``.

    Errors: those of :func:`~lexiscope.training._rows.answers_of` and of a training.
    """
    answers, seed = answers_of(*rows), how.get("seed", 0)
    more = {"head": "class", "answers": list(answers), "shares": shares_of(rows[0])}
    job = Job("classifier", method, how["view"], task, method, *rows, asked, seed, more=more)
    shape = Shape(len(answers), _TARGETS[method], dropout=asked.dropout, longest=asked.longest)

    def build(reader: LoadedClassifier) -> Lessons:
        wording = Wording(job.view, reader.mask)
        return answer_lessons(reader, job, answers, wording.pair if method == METHOD else wording.verification)

    return train_folder(job, base_of(encoder), shape, build, how)


def answer_lessons(
    reader: LoadedClassifier, job: Job, answers: Sequence[str], word: Callable[[Item], TextsWithTargets]
) -> Lessons:
    """Return lessons whose targets are answers: cross-entropy in training, accuracy on dev."""
    torch, weights = reader.torch, None
    number = {answer: place for place, answer in enumerate(answers)}
    golds = [number[gold] for gold in job.train.golds()]
    if job.settings.class_weights == "balanced":
        counts = np.bincount(golds, minlength=len(answers))
        weights = torch.tensor(len(golds) / (len(answers) * counts), dtype=torch.float32, device=reader.device)
    expected = np.array([number[gold] for gold in job.dev.golds()])

    def cost(outputs: Any, targets: Any) -> Any:
        # the sum, not the mean: torch divides a mean by the weights of the batch, which would undo them
        total = torch.nn.functional.cross_entropy(outputs, targets.long(), weight=weights, reduction="sum")
        return total / len(targets)

    def figure(outputs: Doubles) -> float:
        return float((outputs.argmax(axis=1) == expected).mean())

    return _lessons(reader, job, word, golds, cost, figure)


def _train_numbers(rows: tuple[Rows, Rows], encoder: str, asked: TrainingSettings, task: str, how: How) -> Shard:
    train, dev = rows
    numbers, expected = np.array(numbers_of(train)), np.array(numbers_of(dev))
    mean, sd = float(numbers.mean()), float(numbers.std()) or 1.0
    more = {"head": "number", "mean": mean, "sd": sd}
    about = ("classifier", METHOD, how["view"], task, METHOD)
    job = Job(*about, train, dev, asked, how.get("seed", 0), MINUS_SQUARED_ERROR, more)
    shape = Shape(1, _TARGETS[METHOD], dropout=asked.dropout, longest=asked.longest)

    def figure(outputs: Doubles) -> float:
        return -float(((outputs[:, 0] * sd + mean - expected) ** 2).mean())

    def build(reader: LoadedClassifier) -> Lessons:
        def cost(outputs: Any, targets: Any) -> Any:
            return reader.torch.nn.functional.mse_loss(outputs[:, 0], targets)

        word = Wording(job.view, reader.mask).pair
        return _lessons(reader, job, word, ((numbers - mean) / sd).tolist(), cost, figure)

    return train_folder(job, base_of(encoder), shape, build, how)


def _lessons(
    reader: LoadedClassifier,
    job: Job,
    word: Callable[[Item], TextsWithTargets],
    targets: Sequence[float],
    cost: Callable[[Any, Any], Any],
    figure: Callable[[Doubles], float],
) -> Lessons:
    """Return lessons with one reading per item."""
    readings = reader.encode([word(item) for item in job.train.items])
    asked = [word(item) for item in job.dev.items]
    numbers = reader.torch.tensor(targets, dtype=reader.torch.float32, device=reader.device)

    def loss(batch: Sequence[int]) -> Any:
        return cost(reader.outputs([readings[place] for place in batch]), numbers[list(batch)])

    cut = {"train": sum(each.cut for each in readings), "dev": reader.n_cut([each] for each in asked)}
    return Lessons([len(each.ids) for each in readings], loss, lambda: figure(reader.predict(asked)), cut)
