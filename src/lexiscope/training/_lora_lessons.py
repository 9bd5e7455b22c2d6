"""What an adapter learns from: examples, the loss on their numbers, the validation after an epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from lexiscope.core.scoring import Doubles
from lexiscope.training._course import Course, Steps, Where, pace_of, run_steps
from lexiscope.training._lora_model import Learner
from lexiscope.training.lora_examples import Example

Validate = Callable[[Doubles], tuple[float | None, float]]
"""Takes the log-probabilities of the validation's numbers, gives Spearman's rho and the accuracy within SD."""


@dataclass(frozen=True, slots=True)
class EpochResult:
    """What an epoch came to.

    ``training_loss``: the mean over the number tokens seen in it, dropout on; ``validation_loss``: after it, dropout
    off (*unit:* nats). ``spearman`` with the mean ratings, ``None`` where every prediction was the same;
    ``accuracy_within_sd``: the share of predictions within the SD (at least 1) of the mean.
    """

    epoch: int
    training_loss: float
    validation_loss: float
    spearman: float | None
    accuracy_within_sd: float


@dataclass(frozen=True, slots=True)
class AdapterLessons:
    """What is learnt from and what it is measured on."""

    training: tuple[Example, ...]
    validation: tuple[Example, ...]
    validate: Validate


def learn_adapter(learner: Learner, lessons: AdapterLessons, **where: Unpack[Where]) -> Course:
    """Train an adapter to the end, from the newest checkpoint in *folder*, and leave the best epoch's weights in it.

    Errors: those of :func:`~lexiscope.training._course.run_steps`.
    """
    return run_steps(_steps_of(learner, lessons, where["seed"]), pace_of(learner.settings), **where)


def _steps_of(learner: Learner, lessons: AdapterLessons, seed: int) -> Steps:
    settings, examples = learner.settings, lessons.training

    def batches(epoch: int) -> list[list[int]]:
        order = np.random.default_rng([seed, epoch]).permutation(len(examples)).tolist()
        return [order[begin : begin + settings.batch] for begin in range(0, len(order), settings.batch)]

    def loss(batch: Sequence[int]) -> tuple[Any, int]:
        # what the Trainer puts into training mode is the adapter alone
        learner.model.train()
        return learner.loss([examples[place] for place in batch])

    def labels(batch: Sequence[int]) -> Any:
        chosen = [examples[place] for place in batch]
        return learner.torch.tensor([token for example in chosen for token in example.answers[example.target]])

    return Steps(
        module=learner.adapter_module(),
        n_examples=len(examples),
        n_batches=math.ceil(len(examples) / settings.batch),
        batches=batches,
        loss=loss,
        measure=lambda epoch, mean: _measured(learner, lessons, epoch, mean),
        figure=lambda result: _figure(result, settings.monitor),
        result=EpochResult,
        monitor=settings.monitor,
        parts=settings.effective_batch // settings.batch,
        labels=labels,
    )


def _measured(learner: Learner, lessons: AdapterLessons, epoch: int, training_loss: float) -> EpochResult:
    examples = lessons.validation
    scores = learner.log_probabilities(examples)
    targets = [example.target for example in examples]
    tokens = sum(len(example.answers[example.target]) for example in examples)
    rho, accuracy = lessons.validate(scores)
    loss = -float(scores[np.arange(len(examples)), targets].sum()) / tokens
    return EpochResult(epoch, training_loss, loss, rho, accuracy)


def _figure(result: EpochResult, monitor: str) -> float:
    """Return the figure that decides, turned so that higher is better; an undefined one is never better."""
    if monitor == "loss":
        return -result.validation_loss
    found = result.spearman if monitor == "spearman" else result.accuracy_within_sd
    return -math.inf if found is None else found
