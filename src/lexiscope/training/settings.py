"""The settings of trainings on views: every number that decides their result, with the published ones as defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from lexiscope.core.errors import InputError
from lexiscope.core.settings import option, settings_of
from lexiscope.subjects.trained._encoder import POOLINGS, Pooling
from lexiscope.subjects.trained._probe import Query

Head = Literal["class", "number"]
"""What is learnt of a pair: one of its answers, or a number (ratings)."""
Miner = Literal["all", "hard", "semihard"]
"""Which triplets within the margin count: all, those whose negative is nearer than the positive, or the others."""
Description = Literal["none", "gloss", "first_sentence"]
"""What follows the name of an entry."""
Schedule = Literal["linear", "constant"]
ClassWeights = Literal["none", "balanced"]
"""``balanced``: every answer has the same total weight, however many items have it."""

RATES: tuple[float, ...] = (1e-5, 2e-5, 3e-5)
SEEDS: tuple[int, ...] = (0, 1, 2)

_COUNTS = ("batch", "patience", "longest", "threads", "checkpoint_steps")
# what changes how a training runs and nothing that it finds
_RUNNING = ("checkpoint_steps",)


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a model is trained on a view. *Source:* the context–word bias study, §2.4, if it gives a number.

    The published grid of learning rates is :data:`RATES`. The paper does not say ``schedule``, ``warmup``,
    ``weight_decay`` (not of biases and norms), ``max_gradient_norm`` and ``dropout``. The same items are sampled for
    every seed.

    Errors: :class:`InputError` for a number out of range or an unknown word.
    """

    learning_rate: float = option(2e-5, "of AdamW")
    epochs: int = option(10, "maximum number of epochs; 0: the encoder of a bi_encoder stays as it is")
    patience: int = option(3, "epochs without a better dev after which a training ends")
    batch: int = option(16, "readings of a step")
    schedule: Schedule = option("linear", "of the learning rate")
    warmup: float = option(0.1, "share of all steps in which the learning rate rises")
    weight_decay: float = option(0.01, "of AdamW")
    max_gradient_norm: float = option(1.0, "gradients are clipped to it; 0: never")
    dropout: float = option(0.1, "of the features")
    longest: int = option(256, "most tokens of a reading; a longer context is cut far from its targets")
    max_rows: int = option(0, "number of sampled items to learn from; 0: all")
    max_dev_rows: int = option(0, "number of sampled items to choose by; 0: all")
    head: Head = option("class", "learn answers or numbers")
    class_weights: ClassWeights = option("none", "of the answers")
    margin: float = option(0.2, "of the triplets")
    miner: Miner = option("all", "which triplets within the margin count")
    pooling: Pooling = option("cls", "how the vectors of tokens become one", choices=POOLINGS)
    description: Description = option("gloss", "what follows a name")
    dev_entries: int = option(2_000, "entries that dev is searched among; 0: all")
    query: Query = option("target", "what a probe compares")
    device: str = option("cpu", "where the model runs", choices=("cpu", "cuda", "mps"))
    threads: int = option(1, "threads of the numerical libraries (OMP, MKL, torch)", least=1)
    checkpoint_steps: int = option(500, "steps after which the state is kept")

    def __post_init__(self) -> None:
        for setting in settings_of(TrainingSettings):
            allowed, value = setting.choices(), getattr(self, setting.name)
            if allowed and value not in allowed:
                what = f"{value!r} is not a valid {setting.name} of a training"
                raise InputError(what, hint=f"use {', '.join(allowed)}")
        small = [name for name in _COUNTS if getattr(self, name) < 1]
        if small:
            raise InputError(f"a training needs at least 1 of each: {', '.join(small)}")
        least = min(self.epochs, self.max_rows, self.max_dev_rows, self.dev_entries)
        if min(least, self.weight_decay, self.max_gradient_norm, self.margin) < 0 or not self.learning_rate > 0:
            raise InputError("the learning rate of a training is above 0, every other number 0 or more")
        if not 0 <= self.dropout < 1 or not 0 <= self.warmup <= 1:
            raise InputError("dropout is 0 or more and less than 1, the warm-up a share from 0 to 1")

    def deciding_values(self) -> dict[str, Any]:
        """Return the settings that decide the result."""
        return {name: value for name, value in asdict(self).items() if name not in _RUNNING}

    def only(self, *names: str) -> TrainingSettings:
        """Return the defaults with these settings kept: what a method does not use must not tell two runs of it apart.

        >>> TrainingSettings(epochs=3, max_rows=9).only("max_rows") == TrainingSettings(max_rows=9)
        True
        """
        return TrainingSettings(**{name: getattr(self, name) for name in names})
