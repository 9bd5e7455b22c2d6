"""The settings of trainings on views: every number that decides their result, with the published ones as defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from lexiscope.core.errors import InputError
from lexiscope.subjects.trained._probe import Query
from lexiscope.subjects.trained._reader import POOLINGS, Pooling

Head = Literal["class", "number"]
"""What is learnt of a pair: one of its answers, or a number (ratings)."""
Miner = Literal["all", "hard", "semihard"]
"""Which triplets within the margin count: all, those whose negative is nearer than the positive, or the others."""
Description = Literal["none", "gloss", "first_sentence"]
"""What stands behind the name of an entry."""
Schedule = Literal["linear", "constant"]
ClassWeights = Literal["none", "balanced"]
"""``balanced``: every answer weighs as much as every other, whatever their numbers."""

RATES: tuple[float, ...] = (1e-5, 2e-5, 3e-5)
SEEDS: tuple[int, ...] = (0, 1, 2)

_CHOICES: dict[str, tuple[str, ...]] = {
    "head": get_args(Head),
    "miner": get_args(Miner),
    "description": get_args(Description),
    "schedule": get_args(Schedule),
    "class_weights": get_args(ClassWeights),
    "pooling": POOLINGS,
    "query": get_args(Query),
    "device": ("cpu", "cuda", "mps"),
}
_COUNTS = ("batch", "patience", "longest", "threads", "checkpoint_steps")
# what changes how a training runs and nothing that it finds
_RUNNING = ("checkpoint_steps",)


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a model is trained on a view. *Source:* the context–word bias study, §2.4, where it says a number.

    ``learning_rate`` of AdamW (the published grid: :data:`RATES`); ``epochs``: at most so many, 0 = the encoder stays
    as it is (bi-encoder only); ``patience``: epochs without a better figure on dev after which a training ends;
    ``batch``: readings of one step. ``schedule``, ``warmup`` (a share of all steps), ``weight_decay`` (not of biases
    and norms), ``max_gradient_norm`` (0 = not clipped), ``dropout`` of the features: the paper does not say them.

    ``longest``: the most tokens of a reading; a longer context is cut far from its targets. ``max_rows``,
    ``max_dev_rows``: learn from and choose by a sample of so many items, 0 = all; the same items for every seed.

    ``head``, ``class_weights``: of classifiers. ``margin``, ``miner``, ``pooling``, ``description``, ``dev_entries``
    (entries that dev is searched among, 0 = all): of bi-encoders. ``query``: of the probe.

    ``device``, ``threads``, ``checkpoint_steps`` (after which the state is kept): how it is run.
    Errors: :class:`InputError` for a number out of range or an unknown word.
    """

    learning_rate: float = 2e-5
    epochs: int = 10
    patience: int = 3
    batch: int = 16
    schedule: Schedule = "linear"
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_gradient_norm: float = 1.0
    dropout: float = 0.1
    longest: int = 256
    max_rows: int = 0
    max_dev_rows: int = 0
    head: Head = "class"
    class_weights: ClassWeights = "none"
    margin: float = 0.2
    miner: Miner = "all"
    pooling: Pooling = "cls"
    description: Description = "gloss"
    dev_entries: int = 2_000
    query: Query = "target"
    device: str = "cpu"
    threads: int = 1
    checkpoint_steps: int = 500

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                what = f"{getattr(self, name)!r} is no {name} of a training"
                raise InputError(what, hint=f"use {', '.join(allowed)}")
        small = [name for name in _COUNTS if getattr(self, name) < 1]
        if small:
            raise InputError(f"a training needs at least 1 of each: {', '.join(small)}")
        least = min(self.epochs, self.max_rows, self.max_dev_rows, self.dev_entries)
        if min(least, self.weight_decay, self.max_gradient_norm, self.margin) < 0 or not self.learning_rate > 0:
            raise InputError("the learning rate of a training is above 0, every other number 0 or more")
        if not 0 <= self.dropout < 1 or not 0 <= self.warmup <= 1:
            raise InputError("dropout is 0 or more and less than 1, the warm-up a share from 0 to 1")

    def deciding(self) -> dict[str, Any]:
        """Return the settings that decide the result."""
        return {name: value for name, value in asdict(self).items() if name not in _RUNNING}

    def only(self, *names: str) -> TrainingSettings:
        """Return the defaults with these settings kept: what a method does not use must not tell two runs of it apart.

        >>> TrainingSettings(epochs=3, max_rows=9).only("max_rows") == TrainingSettings(max_rows=9)
        True
        """
        return TrainingSettings(**{name: getattr(self, name) for name in names})
