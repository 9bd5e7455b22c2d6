"""One training of a study: a method on a view with a seed and a rate, in a separate folder.

A shard depends on nothing but its arguments: shards may be run in any order and by several processes, one per folder at
a time, and a shard that is finished is only read. Its folder holds a hash of everything that went into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.settings import Option
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.tasks import BY_VIEW, RETRIEVED
from lexiscope.training._steps import Progress
from lexiscope.training._training import TrainedModel, task_learnt_by
from lexiscope.training.bi_encoder import train_bi_encoder
from lexiscope.training.classifier import train_gloss_classifier, train_pair_classifier, train_verification
from lexiscope.training.probes import fit_label_baseline, fit_threshold
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
