"""The label baseline in closed form: the most frequent answer of the training items, or their mean.

It is what a trained model comes to that sees nothing (the view ``label``), without its noise; a trained one is had with
every method and ``view="label"``. Who sees nothing cannot tell senses apart either: among them it draws.
*Source:* the context–word bias study, §2.2 (LABEL).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.item import Item
from lexiscope.items.answers.sense_options import correct_ids, glosses_of
from lexiscope.tasks import BY_VIEW
from lexiscope.training._rows import Rows, answers_of, numbers_of, rows_of, shares_of
from lexiscope.training._training import ACCURACY, MINUS_SQUARED_ERROR, Job, Shard, settle
from lexiscope.training.settings import TrainingSettings
from lexiscope.training.threshold import compared_in

METHOD, VIEW = "label", "label"


def fit_label_baseline(
    train: Sequence[Item],
    dev: Sequence[Item],
    *,
    out: Path,
    task: str = BY_VIEW,
    settings: TrainingSettings | None = None,
) -> Shard:
    """Write the folder that answers with the majority (``head=class``) or the mean (``head=number``).

    Of several most frequent answers it is the first in the alphabet. The figure on dev of sense disambiguation is what
    drawing is expected to get right.
    Errors: :class:`InputError` naming an item without a right answer, or whose answer is no number where one is learnt,
    or where only one answer occurs; :class:`RunError` for a folder of another training.
    """
    asked = (settings or TrainingSettings()).only("head")
    rows = rows_of(train, "train", VIEW), rows_of(dev, "dev", VIEW)
    question = compared_in(task) or "pair"
    numbers = asked.head == "number"
    monitor = MINUS_SQUARED_ERROR if numbers else ACCURACY
    job = Job("classifier", METHOD, VIEW, task, question, *rows, asked, 0, monitor)

    def figure() -> tuple[float, Mapping[str, Any]]:
        if numbers:
            return _mean(*rows)
        return _draw(rows[1]) if question == "senses" else _majority(*rows)

    return settle(job, None, out=out, figure=figure)


def _majority(train: Rows, dev: Rows) -> tuple[float, Mapping[str, Any]]:
    answers, shares = answers_of(train, dev), shares_of(train)
    answer = min(shares, key=lambda each: (-shares[each], each))
    told = {"head": "class", "answers": list(answers), "shares": shares}
    return float(np.mean([gold == answer for gold in dev.golds()])), told


def _mean(train: Rows, dev: Rows) -> tuple[float, Mapping[str, Any]]:
    mean = float(np.mean(numbers_of(train)))
    return -float(np.mean((np.array(numbers_of(dev)) - mean) ** 2)), {"head": "number", "mean": mean}


def _draw(dev: Rows) -> tuple[float, Mapping[str, Any]]:
    chances = [len(correct_ids(item) & set(glosses_of(item))) / len(glosses_of(item)) for item in dev.items]
    return float(np.mean(chances)), {"head": "class"}
