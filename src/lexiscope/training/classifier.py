"""Trained classifiers of pairs of usages, of glosses and of definitions: an encoder with one linear layer on top.

Pairs: both texts are one input (SuperGLUE practice); the layer reads the vectors of ``[CLS]`` and of both targets. A
target's vector is the mean of its sub-words at the last layer. With ``head=number`` the layer learns a number (ratings)
by squared error: in the view ``label``, where all inputs are equal, it learns the mean, as the answers become the
majority.

Glosses: the sentence, with the target between quotation marks, and ``lemma: gloss`` are one input; the layer reads
``[CLS]`` (GlossBERT with weak supervision). The gloss with the highest score is chosen. The same model verifies
definitions (WiC-TSV): the second text is ``lemma: definition ; hypernyms``, the answer is t or f.

The gradient reaches the whole encoder. *Source:* the context–word bias study, §2.4; Huang et al. 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.scoring import Doubles
from lexiscope.items.answers.sense_options import correct_ids, glosses_of
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._probe import best_option
from lexiscope.subjects.trained._wording import TextsWithTargets, Wording
from lexiscope.tasks import BY_VIEW
from lexiscope.training._base import base_of
from lexiscope.training._labelled_items import Objective, Rows, answers_of, gold_numbers, shares_of
from lexiscope.training._training import (
    MINUS_SQUARED_ERROR,
    Job,
    TrainedModel,
    TrainingOptions,
    task_learnt_by,
    train_folder,
    training_parts,
)
from lexiscope.training.settings import TrainingSettings

METHOD, VERIFICATION = "pair", "verification"
# the targets whose vectors are read in addition to that of [CLS]
_TARGETS = {METHOD: 2, VERIFICATION: 0}


def train_pair_classifier(
    train: Sequence[Item], dev: Sequence[Item], encoder: str, *, task: str = BY_VIEW, **how: Unpack[TrainingOptions]
) -> TrainedModel:
    """Train a classifier of pairs in a view, or continue its training; *encoder* is ``minilm``, a folder or a hub id.

    Errors: :class:`InputError` naming an item without a correct answer, without two usages, or if only one answer
    occurs; :class:`RunError` for a folder of another training; :class:`SubjectError` for a model that cannot be read.
    """
    asked, rows = training_parts(train, dev, how)
    if asked.head == "number":
        return _train_numbers(rows, encoder, asked, task, how)
    return train_answers(METHOD, task, rows, encoder, asked, how)


def train_answers(
    method: str, task: str, rows: tuple[Rows, Rows], encoder: str, asked: TrainingSettings, how: TrainingOptions
) -> TrainedModel:
    """Train a classifier whose outputs are the answers, of a ``pair`` or of a ``verification``.

    Errors: those of :func:`~lexiscope.training._labelled_items.answers_of` and of a training.
    """
    answers, seed = answers_of(*rows), how.get("seed", 0)
    more = {"head": "class", "answers": list(answers), "shares": shares_of(rows[0])}
    job = Job("classifier", method, how["view"], task, method, *rows, asked, seed, more=more)
    shape = Shape(len(answers), _TARGETS[method], dropout=asked.dropout, longest=asked.longest)

    def build(reader: LoadedClassifier) -> Objective:
        wording = Wording(job.view, reader.mask)
        return answer_objective(reader, job, answers, wording.pair if method == METHOD else wording.verification)

    return train_folder(job, base_of(encoder), shape, build, how)


def answer_objective(
    reader: LoadedClassifier, job: Job, answers: Sequence[str], word: Callable[[Item], TextsWithTargets]
) -> Objective:
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

    return _objective(reader, job, word, golds, cost, figure)


def _train_numbers(
    rows: tuple[Rows, Rows], encoder: str, asked: TrainingSettings, task: str, how: TrainingOptions
) -> TrainedModel:
    train, dev = rows
    numbers, expected = np.array(gold_numbers(train)), np.array(gold_numbers(dev))
    mean, sd = float(numbers.mean()), float(numbers.std()) or 1.0
    more = {"head": "number", "mean": mean, "sd": sd}
    about = ("classifier", METHOD, how["view"], task, METHOD)
    job = Job(*about, train, dev, asked, how.get("seed", 0), MINUS_SQUARED_ERROR, more)
    shape = Shape(1, _TARGETS[METHOD], dropout=asked.dropout, longest=asked.longest)

    def figure(outputs: Doubles) -> float:
        return -float(((outputs[:, 0] * sd + mean - expected) ** 2).mean())

    def build(reader: LoadedClassifier) -> Objective:
        def cost(outputs: Any, targets: Any) -> Any:
            return reader.torch.nn.functional.mse_loss(outputs[:, 0], targets)

        word = Wording(job.view, reader.mask).pair
        return _objective(reader, job, word, ((numbers - mean) / sd).tolist(), cost, figure)

    return train_folder(job, base_of(encoder), shape, build, how)


def _objective(
    reader: LoadedClassifier,
    job: Job,
    word: Callable[[Item], TextsWithTargets],
    targets: Sequence[float],
    cost: Callable[[Any, Any], Any],
    figure: Callable[[Doubles], float],
) -> Objective:
    """Return lessons with one reading per item."""
    readings = reader.encode([word(item) for item in job.train.items])
    asked = [word(item) for item in job.dev.items]
    numbers = reader.torch.tensor(targets, dtype=reader.torch.float32, device=reader.device)

    def loss(batch: Sequence[int]) -> Any:
        return cost(reader.outputs([readings[place] for place in batch]), numbers[list(batch)])

    cut = {"train": sum(reading.cut for reading in readings), "dev": reader.n_cut([reading] for reading in asked)}
    return Objective([len(reading.ids) for reading in readings], loss, lambda: figure(reader.predict(asked)), cut)


# -- glosses and definitions ------------------------------------------------------------------------------------------


GLOSS = "gloss"


def train_gloss_classifier(
    train: Sequence[Item], dev: Sequence[Item], encoder: str, **how: Unpack[TrainingOptions]
) -> TrainedModel:
    """Train a classifier of sentence and gloss on items of sense disambiguation, or continue its training.

    Items with one sense alone are not learnt from, and count on dev. Errors: :class:`InputError` naming an item without
    a correct answer or glosses, or whose correct answer is not one of its senses; :class:`RunError`,
    :class:`SubjectError` as for pairs.
    """
    asked, rows = training_parts(train, dev, how)
    for item in (*rows[0].items, *rows[1].items):
        if not correct_ids(item) & set(glosses_of(item)):
            what = f"the correct answer {item.gold!r} is not one of its senses: {', '.join(glosses_of(item))}"
            raise InputError(what, place=Place(item_id=item.item_id), hint="correct it, or leave the item out")
    learnt = Rows("train", tuple(item for item in rows[0].items if len(glosses_of(item)) > 1), rows[0].n_given)
    if not learnt.items:
        place = Place(item_id=rows[0].items[0].item_id)
        raise InputError("every training item has only one sense, so no choice can be learnt", place=place)
    job = Job(
        "classifier", GLOSS, how["view"], task_learnt_by(GLOSS), "senses", learnt, rows[1], asked, how.get("seed", 0)
    )
    shape = Shape(2, dropout=asked.dropout, longest=asked.longest)

    def build(reader: LoadedClassifier) -> Objective:
        return _gloss_objective(reader, job)

    return train_folder(job, base_of(encoder), shape, build, how)


def train_verification(
    train: Sequence[Item], dev: Sequence[Item], encoder: str, **how: Unpack[TrainingOptions]
) -> TrainedModel:
    """Train a classifier of sentence and definition on items of sense verification, or continue its training.

    Errors: those of pairs; :class:`InputError` E402 naming an item without a definition.
    """
    asked, rows = training_parts(train, dev, how)
    return train_answers(VERIFICATION, task_learnt_by(VERIFICATION), rows, encoder, asked, how)


def _gloss_objective(reader: LoadedClassifier, job: Job) -> Objective:
    """Return lessons with one reading per item and sense: 1 for a right sense, 0 for every other."""
    torch, word = reader.torch, Wording(job.view, reader.mask).senses
    learnt = [word(item) for item in job.train.items]
    readings = reader.encode([reading for per_item in learnt for reading in per_item])
    flags = [int(sense in correct_ids(item)) for item in job.train.items for sense in glosses_of(item)]
    targets = torch.tensor(flags, device=reader.device)
    weights = None
    if job.settings.class_weights == "balanced":
        counts = np.bincount(flags, minlength=2)
        weights = torch.tensor(len(flags) / (2 * counts), dtype=torch.float32, device=reader.device)
    asked = [word(item) for item in job.dev.items]

    def loss(batch: Sequence[int]) -> Any:
        outputs = reader.outputs([readings[place] for place in batch])
        total = torch.nn.functional.cross_entropy(outputs, targets[list(batch)], weight=weights, reduction="sum")
        return total / len(batch)

    def measure() -> float:
        outputs = reader.predict([reading for per_item in asked for reading in per_item])
        parts = np.split(outputs[:, 1] - outputs[:, 0], np.cumsum([len(readings) for readings in asked])[:-1])
        scored = zip(job.dev.items, parts, strict=True)
        chosen = [best_option(item.item_id, tuple(glosses_of(item)), part)[0] for item, part in scored]
        return float(np.mean([sense in correct_ids(item) for sense, item in zip(chosen, job.dev.items, strict=True)]))

    each_cut = iter([reading.cut for reading in readings])
    cut = {"train": sum(max(next(each_cut) for _ in per_item) for per_item in learnt), "dev": reader.n_cut(asked)}
    return Objective([len(reading.ids) for reading in readings], loss, measure, cut)
