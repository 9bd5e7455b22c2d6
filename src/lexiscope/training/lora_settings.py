"""The settings of a LoRA training: every number that decides its result, with the published ones as a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from lexiscope.core.errors import InputError
from lexiscope.training.lora_targets import Rounding

Monitor = Literal["loss", "spearman", "accuracy_within_sd"]
Schedule = Literal["constant", "linear"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "monitor": get_args(Monitor),
    "schedule": get_args(Schedule),
    "rounding": get_args(Rounding),
    "dtype": ("fp32", "bf16"),
    "device": ("cpu", "cuda", "mps"),
}


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """How an adapter is trained. *Source:* AmbiStory §5.3.1 for the first block.

    ``r``, ``alpha``, ``dropout``, ``target_modules``: the adapter. ``learning_rate`` of AdamW. ``effective_batch``:
    examples of one step. ``epochs``: at most so many. ``patience``: epochs without a better validation after which the
    training ends. ``rounding``: how a mean rating becomes the number that is learnt.

    What the paper does not say: ``monitor``, the validation figure that decides which epoch is best; ``schedule`` of
    the learning rate; ``weight_decay``; ``max_gradient_norm``, 0 = gradients are not clipped.

    How it is run: ``batch`` examples are read at once and their gradients added up to the effective batch; ``dtype`` of
    the base (the adapter is always fp32); ``gradient_checkpointing`` trades time for memory; ``threads`` of torch;
    ``checkpoint_steps``: steps after which the state is kept, which alone does not change the result.

    Errors: :class:`InputError` for a number out of range or an unknown word.
    """

    r: int = 16
    alpha: int = 32
    dropout: float = 0.1
    target_modules: tuple[str, ...] = ("q_proj", "v_proj")
    learning_rate: float = 2e-4
    effective_batch: int = 16
    epochs: int = 20
    patience: int = 5
    rounding: Rounding = "half_up"
    monitor: Monitor = "loss"
    schedule: Schedule = "constant"
    weight_decay: float = 0.01
    max_gradient_norm: float = 0.0
    batch: int = 4
    device: str = "cpu"
    dtype: str = "fp32"
    gradient_checkpointing: bool = False
    threads: int = 1
    checkpoint_steps: int = 50

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                hint = f"use {', '.join(allowed)}"
                raise InputError(f"{getattr(self, name)!r} is no {name} of a LoRA training", hint=hint)
        counts = ("r", "alpha", "effective_batch", "epochs", "patience", "batch", "threads", "checkpoint_steps")
        small = [name for name in counts if getattr(self, name) < 1]
        if small or not self.target_modules:
            raise InputError(f"a LoRA training needs at least 1 of each: {', '.join(small) or 'target_modules'}")
        if (
            not 0 <= self.dropout < 1
            or not self.learning_rate > 0
            or min(self.weight_decay, self.max_gradient_norm) < 0
        ):
            raise InputError("dropout is 0 or more and less than 1, the learning rate above 0, the others 0 or more")
        if self.effective_batch % self.batch:
            what = f"an effective batch of {self.effective_batch} is not made of whole batches of {self.batch}"
            raise InputError(what, hint="choose a batch that divides it")

    def deciding(self) -> dict[str, Any]:
        """Return the settings that decide the result, all but ``checkpoint_steps``."""
        return {name: _plain(value) for name, value in asdict(self).items() if name != "checkpoint_steps"}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


PRESETS: Mapping[str, LoraSettings] = MappingProxyType({"ambistory": LoraSettings()})
"""Settings by name. ``ambistory``: the fine-tuning of AmbiStory, §5.3.1, which is also the default."""
