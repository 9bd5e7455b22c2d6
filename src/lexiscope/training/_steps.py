"""The steps of a training, the figure after each epoch, and the progress."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Required, TypedDict, Unpack

from lexiscope.core.errors import require

Progress = Callable[[str, int, int], None]
"""Called with the epoch under way, the steps done in it and their number."""


@dataclass(frozen=True, slots=True)
class StepSettings:
    """The settings of a training that decide how it steps; ``warmup`` is a share of all steps."""

    learning_rate: float
    epochs: int
    patience: int
    schedule: str
    weight_decay: float
    max_gradient_norm: float
    device: str
    checkpoint_steps: int
    warmup: float = 0.0


def step_settings_of(settings: Any) -> StepSettings:
    """Return the pace that the settings of a training ask for."""
    return StepSettings(
        **{
            setting.name: getattr(settings, setting.name)
            for setting in fields(StepSettings)
            if hasattr(settings, setting.name)
        }
    )


@dataclass(frozen=True, slots=True)
class Steps:
    """What the Trainer steps through.

    ``module`` holds the weights that are learnt. ``batches`` gives the batches of an epoch (from 1): numbers below
    ``n_examples``, always ``n_batches`` batches, of which ``parts`` make a step. ``loss`` gives the loss of a batch
    (``None`` if it teaches nothing) and a number; the epoch's mean is the sum of the losses over that of the numbers.
    ``labels``: the labels of a batch if a loss is a sum that must be divided by the number of labels of the whole step,
    and ``None`` if it is a mean.

    ``measure`` is called after an epoch with its number and its mean loss, and gives what is kept of it, a ``result``;
    ``figure`` is what decides of that, higher = better, and ``monitor`` its name in a sentence.
    """

    module: Any
    n_examples: int
    n_batches: int
    batches: Callable[[int], list[list[int]]]
    loss: Callable[[Sequence[int]], tuple[Any | None, int]]
    measure: Callable[[int, float], Any]
    figure: Callable[[Any], float]
    result: Callable[..., Any]
    monitor: str
    parts: int = 1
    labels: Callable[[Sequence[int]], Any] | None = None

    @property
    def number(self) -> int:
        """The steps of an epoch; the last one may be made of fewer batches."""
        return math.ceil(self.n_batches / self.parts)


@dataclass(slots=True)
class TrainingOutcome:
    """The result of a training: ``best_epoch`` 0 = none; ``stopped`` is the reason why it ended.

    ``loss`` and ``count`` add up over the epoch under way.
    """

    best_epoch: int = 0
    stopped: str = ""
    history: list[Any] = field(default_factory=list)
    loss: float = 0.0
    count: int = 0


def seed_of(*parts: int) -> int:
    """Return one seed made of several numbers: 48 bits of a hash of them.

    >>> seed_of(0, 1) == seed_of(0, 1), seed_of(0, 1) == seed_of(1, 0)
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(",".join(map(str, parts)).encode()).digest()[:6])


class TrainingPlace(TypedDict, total=False):
    """The setting of a training: its ``seed``, its ``folder``, the ``versions`` that decide its bits, and so on."""

    seed: Required[int]
    folder: Required[Path | None]
    versions: Required[dict[str, str]]
    progress: Progress | None


def run_steps(steps: Steps, pace: StepSettings, **where: Unpack[TrainingPlace]) -> TrainingOutcome:
    """Train with the Trainer of transformers, from the newest checkpoint in *folder* on, and load the best epoch.

    Without a folder nothing is measured or kept: the weights are those of the last step. The state of the random
    numbers of torch is not the one that was found.
    Errors: :class:`SubjectError` where the loss is not finite; :class:`RunError` for a damaged checkpoint;
    :class:`MissingExtraError`.
    """
    for module in ("torch", "transformers", "accelerate"):
        require(module, "train")
    # the only module that needs transformers in order to be imported
    trainer = require("lexiscope.training._trainer", "train")
    course: TrainingOutcome = trainer.run(steps, pace, **where)
    return course
