"""One training of a study: a method on a view with a seed and a rate, in a separate folder.

A shard depends on nothing but its arguments: shards may be run in any order and by several processes, one per folder at
a time, and a shard that is finished is only read. Its folder holds a hash of everything that went into it.

Probes take no training steps: a threshold on the cosines of an untrained encoder, and the label baseline. For pairs,
the cosine of the vectors of the two targets is compared with a threshold; for definitions, that of the usage and of the
text; for senses, the nearest gloss is chosen. The threshold of a layer is the one with the most correct answers in
training, the layer the one with the most on dev (the lowest of several).

The label baseline answers with the most frequent answer of the training items, or with their mean. It equals, without
noise, a trained model that sees nothing (the view ``label``). For senses it draws, as it has no information about them.
*Source:* the context–word bias study, §2.2 (LABEL).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from lexiscope.analysis.thresholds import best_threshold
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.scoring import Doubles
from lexiscope.core.settings import Option
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.answers.sense_options import correct_ids, glosses_of
from lexiscope.subjects.trained._probe import DIFFERENT, SAME, Cosines, best_option
from lexiscope.tasks import BY_VIEW, RETRIEVED
from lexiscope.training._base import base_of
from lexiscope.training._labelled_items import Rows, answers_of, gold_numbers, rows_of, shares_of
from lexiscope.training._steps import Progress
from lexiscope.training._training import (
    ACCURACY,
    MINUS_SQUARED_ERROR,
    Job,
    TrainedModel,
    task_learnt_by,
    write_untrained,
)
from lexiscope.training.bi_encoder import train_bi_encoder
from lexiscope.training.classifier import train_gloss_classifier, train_pair_classifier, train_verification
from lexiscope.training.settings import TrainingSettings

METHODS: tuple[str, ...] = ("pair", "verification", "gloss", "bi_encoder", "threshold", "label")
"""Trained: the first four. ``threshold`` and ``label`` cost seconds and know neither seeds nor rates."""


def train_method(
    method: str,
    view: str,
    train: Sequence[Item],
    dev: Sequence[Item],
    encoder: str,
    *,
    out: Path,
    seed: Annotated[int, Option(least=0)] = 0,
    learning_rate: float | None = None,
    settings: TrainingSettings | None = None,
    task: str | None = None,
    space: SearchSpace | None = None,
    store: Path | None = None,
    command: Sequence[str] = (),
    progress: Progress | None = None,
) -> TrainedModel:
    """Train one shard, continue its training, or find it finished.

    *items* are given whole; the view is applied here. *encoder*: ``minilm``, a folder, ``HUB_ID#REVISION``. *task*
    default: that of the method; a probe needs one where it does not compare pairs. *space*: of a bi-encoder. *store*: a
    folder for the vectors of encoders that are not trained. Retrieval without training: ``bi_encoder``, 0 epochs.
    Errors: :class:`InputError` for an unknown method, a bi-encoder without search space, the label baseline on another
    view; those of the methods.
    """
    asked = settings or TrainingSettings()
    asked = asked if learning_rate is None else replace(asked, learning_rate=learning_rate)
    how: dict[str, Any] = {"view": view, "out": out, "settings": asked}
    steps: dict[str, Any] = {"seed": seed, "command": command, "progress": progress}
    if method == "bi_encoder":
        if space is None:
            raise InputError("a bi-encoder needs a search space", hint="give the entries that it retrieves from")
        return train_bi_encoder(train, dev, space, encoder, **how, **steps, task=task or RETRIEVED, store=store)
    if method == "label":
        if view != "label":
            raise InputError(f"the label baseline sees nothing: its view is 'label', not {view!r}")
        return fit_label_baseline(train, dev, out=out, settings=asked, task=task or BY_VIEW)
    if method == "threshold":
        return fit_threshold(train, dev, encoder, **how, task=task or BY_VIEW, store=store)
    return _trainer(method, task)(train, dev, encoder, **how, **steps)


def _trainer(method: str, task: str | None) -> Callable[..., TrainedModel]:
    if method == "pair":
        # numbers may be learnt for any task with two usages
        return lambda *given, **named: train_pair_classifier(*given, **named, task=task or BY_VIEW)
    trainers = {"gloss": train_gloss_classifier, "verification": train_verification}
    if method not in trainers:
        raise InputError(f"there is no method {method!r}", hint=f"use one of {', '.join(METHODS)}")
    if task not in (None, task_learnt_by(method)):
        raise InputError(f"the method {method!r} answers {task_learnt_by(method)!r}, not {task!r}")
    return trainers[method]


METHOD = "threshold"
_COMPARED = {"pair": "pair", "verification": "verification", "gloss": "senses"}
"""What is compared, by the method that learns the answers to a task."""

_BEYOND = 2.0
"""A threshold that no cosine reaches, for data in which one answer is best for all."""


def probe_question(task: str) -> str | None:
    """Return what a probe compares in the items of a task; ``None`` where it has nothing to choose from."""
    asked = catalog.task(task)
    return _COMPARED.get(asked.learnt) if asked.scale is None else None


def fit_threshold(
    train: Sequence[Item],
    dev: Sequence[Item],
    encoder: str,
    *,
    view: str,
    out: Path,
    task: str = BY_VIEW,
    settings: TrainingSettings | None = None,
    store: Path | None = None,
) -> TrainedModel:
    """Choose layer and threshold of a probe and write the folder that answers with them.

    *store* is a folder in which the encoder's vectors are kept, for other views, seeds and trainings.
    Errors: :class:`InputError` for a task that has no such question, for answers other than t and f, and naming an item
    without a correct answer; :class:`RunError` for a folder of another training; those of the encoder.
    """
    asked = (settings or TrainingSettings()).only("max_rows", "max_dev_rows", "query", "device", "threads")
    question = probe_question(task)
    if question is None:
        able = catalog.tasks_where(lambda task: probe_question(task.name) is not None)
        raise InputError(f"no probe answers the task {task!r}", hint=f"it answers {', '.join(able)}")
    rows = rows_of(train, "train", view, at_most=asked.max_rows), rows_of(dev, "dev", view, at_most=asked.max_dev_rows)
    base = base_of(encoder)
    if question != "senses" and (answers := answers_of(*rows)) != (DIFFERENT, SAME):
        what = f"a probe answers {SAME} or {DIFFERENT}, the items have {', '.join(answers)}"
        raise InputError(what, place=Place(item_id=rows[0].items[0].item_id), hint="train a pair classifier")
    job = Job("classifier", METHOD, view, task, question, *rows, asked, 0, more={"query": asked.query})

    def figure() -> tuple[float, Mapping[str, Any]]:
        cosines = Cosines.of(job.claim(base), device=asked.device, threads=asked.threads, store=store)
        parts = [cosines.of_items(part.items, question) for part in rows]
        if question == "senses":
            train, dev = (_right_by_layer(part.items, own) for part, own in zip(rows, parts, strict=True))
            limits = [0.0] * len(dev)
        else:
            train, dev, limits = _figures_by_layer(rows, parts)
        layer = int(np.argmax(dev))
        chosen = {"layer": layer, "threshold": limits[layer], "train_accuracy": train[layer], "dev_by_layer": dev}
        return dev[layer], {**chosen, "cut": {part.part: cosines.n_cut(part.items, question) for part in rows}}

    return write_untrained(job, base, out=out, figure=figure)


def _figures_by_layer(
    rows: tuple[Rows, Rows], cosines: Sequence[list[Doubles]]
) -> tuple[list[float], list[float], list[float]]:
    """Return for every layer the accuracy in training and on dev, and the threshold that was best in training."""
    train, dev = (np.concatenate(part) for part in cosines)
    same, expected = (np.array([gold == SAME for gold in part.golds()]) for part in rows)
    best = [best_threshold(train[:, layer], same) for layer in range(train.shape[1])]
    limits = [min(max(limit, -_BEYOND), _BEYOND) for limit, _ in best]
    figures = [float(((dev[:, layer] >= limit) == expected).mean()) for layer, limit in enumerate(limits)]
    return [right / len(same) for _, right in best], figures, limits


def _right_by_layer(items: Sequence[Item], cosines: Sequence[Doubles]) -> list[float]:
    shares = []
    for layer in range(cosines[0].shape[1]):
        parts = zip(items, cosines, strict=True)
        chosen = [best_option(item.item_id, tuple(glosses_of(item)), own[:, layer])[0] for item, own in parts]
        shares.append(float(np.mean([sense in correct_ids(item) for sense, item in zip(chosen, items, strict=True)])))
    return shares


# -- the label baseline -----------------------------------------------------------------------------------------------


LABEL, VIEW = "label", "label"


def fit_label_baseline(
    train: Sequence[Item],
    dev: Sequence[Item],
    *,
    out: Path,
    task: str = BY_VIEW,
    settings: TrainingSettings | None = None,
) -> TrainedModel:
    """Write the folder that answers with the majority (``head=class``) or the mean (``head=number``).

    Of several most frequent answers it is the first in the alphabet. The figure on dev of sense disambiguation is what
    drawing is expected to get right.
    Errors: :class:`InputError` naming an item without a correct answer, or whose answer is not a number if numbers are
    learnt, or if only one answer occurs; :class:`RunError` for a folder of another training.
    """
    asked = (settings or TrainingSettings()).only("head")
    rows = rows_of(train, "train", VIEW), rows_of(dev, "dev", VIEW)
    question = probe_question(task) or "pair"
    numbers = asked.head == "number"
    monitor = MINUS_SQUARED_ERROR if numbers else ACCURACY
    job = Job("classifier", LABEL, VIEW, task, question, *rows, asked, 0, monitor)

    def figure() -> tuple[float, Mapping[str, Any]]:
        part, dev = rows
        if numbers:
            mean = float(np.mean(gold_numbers(part)))
            return -float(np.mean((np.array(gold_numbers(dev)) - mean) ** 2)), {"head": "number", "mean": mean}
        if question == "senses":
            chances = [len(correct_ids(item) & set(glosses_of(item))) / len(glosses_of(item)) for item in dev.items]
            return float(np.mean(chances)), {"head": "class"}
        answers, shares = answers_of(part, dev), shares_of(part)
        answer = min(shares, key=lambda label: (-shares[label], label))
        learnt = {"head": "class", "answers": list(answers), "shares": shares}
        return float(np.mean([gold == answer for gold in dev.golds()])), learnt

    return write_untrained(job, None, out=out, figure=figure)
