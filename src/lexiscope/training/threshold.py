"""Probes of an encoder that is not trained: a layer and a threshold are chosen, and a first answer costs seconds.

Of pairs, the cosine of the two targets' vectors is compared with a threshold; of definitions, that of the usage and of
the text; of senses, the nearest gloss is chosen. The threshold of a layer is the one with the most right answers in
training, the layer the one with the most on dev (the lowest of several).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.scoring import Doubles
from lexiscope.items.answers.sense_options import correct_ids, glosses_of
from lexiscope.subjects.trained._probe import DIFFERENT, QUESTIONS, SAME, Cosines, best_option
from lexiscope.tasks import BY_VIEW
from lexiscope.training._claim import base_of
from lexiscope.training._rows import Rows, answers_of, rows_of
from lexiscope.training._training import Job, Shard, settle
from lexiscope.training.settings import TrainingSettings

METHOD = "threshold"
_COMPARED = {"pair": "pair", "verification": "verification", "gloss": "senses"}
"""What is compared, by the method that learns the answers to a task."""

# vectors of one text differ by less between two batches
_SAME_COSINE = 1e-6


def compared_in(task: str) -> str | None:
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
) -> Shard:
    """Choose layer and threshold of a probe and write the folder that answers with them.

    *store* is a folder in which the encoder's vectors are kept, for other views, seeds and trainings.
    Errors: :class:`InputError` for a task that has no such question, for answers other than t and f, and naming an item
    without a right answer; :class:`RunError` for a folder of another training; those of the encoder.
    """
    asked = (settings or TrainingSettings()).only("max_rows", "max_dev_rows", "query", "device", "threads")
    question = compared_in(task)
    if question is None:
        able = catalog.tasks_where(lambda task: compared_in(task.name) is not None)
        raise InputError(f"no probe answers the task {task!r}", hint=f"it answers {', '.join(able)}")
    rows = rows_of(train, "train", view, at_most=asked.max_rows), rows_of(dev, "dev", view, at_most=asked.max_dev_rows)
    base = base_of(encoder)
    if question != "senses":
        _check_answers(*rows)
    job = Job("classifier", METHOD, view, task, question, *rows, asked, 0, more={"query": asked.query})

    def figure() -> tuple[float, Mapping[str, Any]]:
        cosines = Cosines.of(job.claim(base), device=asked.device, threads=asked.threads, store=store)
        found = [cosines.of_items(part.items, question) for part in rows]
        dev, told = _by_gloss(rows, found) if question == QUESTIONS[-1] else _by_threshold(rows, found)
        return dev, {**told, "cut": {part.part: cosines.n_cut(part.items, question) for part in rows}}

    return settle(job, base, out=out, figure=figure)


def best_threshold(cosines: Doubles, same: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[float, int]:
    """Return the threshold from which on the answer is *same*, and how many answers are then right.

    It lies half way between two cosines, or at ±2 where one answer is best for all; of several, the lowest.

    >>> best_threshold(np.array([0.2, 0.9, 0.4, 0.8]), np.array([False, True, False, True]))
    (0.6, 4)
    """
    order = np.argsort(cosines, kind="stable")
    ranked, right = cosines[order], same[order]
    # right answers where the threshold lies below the k-th cosine: different before it, same from it on
    counts = np.concatenate([[0], np.cumsum(~right)]) + np.concatenate([np.cumsum(right[::-1])[::-1], [0]])
    apart = np.concatenate([[True], np.diff(ranked) > _SAME_COSINE, [True]])
    place = int(np.argmax(np.where(apart, counts, -1)))
    if place in (0, len(ranked)):
        return (-2.0 if place == 0 else 2.0), int(counts[place])
    return float(round((ranked[place - 1] + ranked[place]) / 2, 9)), int(counts[place])


def _by_threshold(rows: tuple[Rows, Rows], found: Sequence[list[Doubles]]) -> tuple[float, Mapping[str, Any]]:
    train, dev = (np.concatenate(each) for each in found)
    same, expected = (np.array([gold == SAME for gold in part.golds()]) for part in rows)
    chosen = [best_threshold(train[:, layer], same) for layer in range(train.shape[1])]
    figures = [float(((dev[:, n] >= limit) == expected).mean()) for n, (limit, _) in enumerate(chosen)]
    layer = int(np.argmax(figures))
    limit, right = chosen[layer]
    told = {"layer": layer, "threshold": limit, "train_accuracy": right / len(same), "dev_by_layer": figures}
    return figures[layer], told


def _by_gloss(rows: tuple[Rows, Rows], found: Sequence[list[Doubles]]) -> tuple[float, Mapping[str, Any]]:
    train, dev = (_right_by_layer(part.items, each) for part, each in zip(rows, found, strict=True))
    layer = int(np.argmax(dev))
    told = {"layer": layer, "threshold": 0.0, "train_accuracy": train[layer], "dev_by_layer": dev}
    return dev[layer], told


def _right_by_layer(items: Sequence[Item], found: Sequence[Doubles]) -> list[float]:
    shares = []
    for layer in range(found[0].shape[1]):
        parts = zip(items, found, strict=True)
        chosen = [best_option(item.item_id, tuple(glosses_of(item)), each[:, layer])[0] for item, each in parts]
        shares.append(float(np.mean([sense in correct_ids(item) for sense, item in zip(chosen, items, strict=True)])))
    return shares


def _check_answers(train: Rows, dev: Rows) -> None:
    answers = answers_of(train, dev)
    if answers != (DIFFERENT, SAME):
        what = f"a probe answers {SAME} or {DIFFERENT}, the items have {', '.join(answers)}"
        raise InputError(what, place=Place(item_id=train.items[0].item_id), hint="train a pair classifier")
