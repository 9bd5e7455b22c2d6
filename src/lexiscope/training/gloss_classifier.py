"""Gloss classifiers: does a gloss say what the marked word means? The gloss with the highest score wins.

The sentence, with the target between quotation marks, and ``lemma: gloss`` are one input, whose ``[CLS]`` goes under a
linear layer (GlossBERT with weak supervision). The same model verifies definitions (WiC-TSV): the second text is
``lemma: definition ; hypernyms``, the answer is t or f.
*Source:* Huang et al. 2019; the context–word bias study, §2.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.items.answers.sense_options import correct_ids, glosses_of
from lexiscope.subjects.trained._probe import best_option
from lexiscope.subjects.trained._reader import LoadedClassifier, Shape
from lexiscope.subjects.trained._reading import Wording
from lexiscope.training._claim import base_of
from lexiscope.training._lessons import Lessons
from lexiscope.training._rows import Rows
from lexiscope.training._training import How, Job, Shard, learnt_by, parts_of, train_folder
from lexiscope.training.pair_classifier import VERIFICATION, train_answers

GLOSS = "gloss"


def train_gloss_classifier(train: Sequence[Item], dev: Sequence[Item], encoder: str, **how: Unpack[How]) -> Shard:
    """Train a classifier of sentence and gloss on items of sense disambiguation, or go on with it.

    Items with one sense alone are not learnt from, and count on dev. Errors: :class:`InputError` naming an item without
    a right answer or glosses, or whose right answer is none of its senses; :class:`RunError`, :class:`SubjectError` as
    for pairs.
    """
    asked, rows = parts_of(train, dev, how)
    for part in rows:
        _check_right(part)
    learnt = Rows("train", tuple(item for item in rows[0].items if len(glosses_of(item)) > 1), rows[0].n_given)
    if not learnt.items:
        place = Place(item_id=rows[0].items[0].item_id)
        raise InputError("every training item has one sense alone: there is nothing to learn", place=place)
    job = Job("classifier", GLOSS, how["view"], learnt_by(GLOSS), "senses", learnt, rows[1], asked, how.get("seed", 0))
    shape = Shape(2, dropout=asked.dropout, longest=asked.longest)

    def build(reader: LoadedClassifier) -> Lessons:
        return _gloss_lessons(reader, job)

    return train_folder(job, base_of(encoder), shape, build, how)


def train_verification(train: Sequence[Item], dev: Sequence[Item], encoder: str, **how: Unpack[How]) -> Shard:
    """Train a classifier of sentence and definition on items of sense verification, or go on with it.

    Errors: those of pairs; :class:`InputError` E402 naming an item without a definition.
    """
    asked, rows = parts_of(train, dev, how)
    return train_answers(VERIFICATION, learnt_by(VERIFICATION), rows, encoder, asked, how)


def _gloss_lessons(reader: LoadedClassifier, job: Job) -> Lessons:
    """Return lessons with one reading per item and sense: 1 for a right sense, 0 for every other."""
    torch, word = reader.torch, Wording(job.view, reader.mask).senses
    learnt = [word(item) for item in job.train.items]
    readings = reader.encode([each for per_item in learnt for each in per_item])
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
        outputs = reader.predict([each for per_item in asked for each in per_item])
        parts = np.split(outputs[:, 1] - outputs[:, 0], np.cumsum([len(each) for each in asked])[:-1])
        chosen = [_chosen(item, part) for item, part in zip(job.dev.items, parts, strict=True)]
        return float(np.mean([sense in correct_ids(item) for sense, item in zip(chosen, job.dev.items, strict=True)]))

    each_cut = iter([each.cut for each in readings])
    cut = {"train": sum(max(next(each_cut) for _ in per_item) for per_item in learnt), "dev": reader.n_cut(asked)}
    return Lessons([len(each.ids) for each in readings], loss, measure, cut)


def _chosen(item: Item, scores: Any) -> str:
    return best_option(item.item_id, tuple(glosses_of(item)), scores)[0]


def _check_right(rows: Rows) -> None:
    for item in rows.items:
        if not correct_ids(item) & set(glosses_of(item)):
            what = f"the right answer {item.gold!r} is none of its senses: {', '.join(glosses_of(item))}"
            raise InputError(what, place=Place(item_id=item.item_id), hint="correct it, or leave the item out")
