"""The settings of a LoRA training: every number that decides its result, with the published ones as a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal

from lexiscope.core.errors import InputError
from lexiscope.core.settings import option, settings_of

Rounding = Literal["half_up", "half_even"]
"""What becomes of a mean halfway between two points: the higher point, or the even one (Python's ``round``)."""
Monitor = Literal["loss", "spearman", "accuracy_within_sd"]
Schedule = Literal["constant", "linear"]


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """How an adapter is trained. *Source:* AmbiStory §5.3.1 for the first block.

    The paper does not say ``monitor``, ``schedule``, ``weight_decay`` and ``max_gradient_norm``. ``batch`` examples are
    read at once and their gradients added up to the effective batch; ``dtype`` is that of the base (the adapter is
    always fp32). ``checkpoint_steps`` alone does not change the result.

    Errors: :class:`InputError` for a number out of range or an unknown word.
    """

    r: int = option(16, "rank of the adapter", flag="--rank")
    alpha: int = option(32, "scaling of the adapter")
    dropout: float = option(0.1, "dropout of the adapter")
    target_modules: tuple[str, ...] = option(
        ("q_proj", "v_proj"), "the modules that the adapter changes", command_line=False
    )
    learning_rate: float = option(2e-4, "of AdamW")
    effective_batch: int = option(16, "items of one step")
    epochs: int = option(20, "maximum number of epochs")
    patience: int = option(5, "epochs without a better validation after which the training ends")
    rounding: Rounding = option("half_up", "how a mean rating becomes the number that is learnt")
    monitor: Monitor = option("loss", "the validation figure that decides which epoch is best")
    schedule: Schedule = option("constant", "of the learning rate")
    weight_decay: float = option(0.01, "of AdamW")
    max_gradient_norm: float = option(0.0, "gradients are clipped to it; 0: never")
    batch: int = option(4, "items read at once; divides the effective batch")
    device: str = option("cpu", "where the model runs", choices=("cpu", "cuda", "mps"))
    dtype: str = option("fp32", "of the base", choices=("fp32", "bf16"))
    gradient_checkpointing: bool = option(False, "less memory for more time")
    threads: int = option(1, "threads of the numerical libraries (OMP, MKL, torch)", least=1)
    checkpoint_steps: int = option(50, "steps after which the state is kept")

    def __post_init__(self) -> None:
        for setting in settings_of(LoraSettings):
            allowed, value = setting.choices(), getattr(self, setting.name)
            if allowed and value not in allowed:
                hint = f"use {', '.join(allowed)}"
                raise InputError(f"{value!r} is not a valid {setting.name} of a LoRA training", hint=hint)
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

    def deciding_values(self) -> dict[str, Any]:
        """Return the settings that decide the result, all but ``checkpoint_steps``."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if name != "checkpoint_steps"
        }


PRESETS: Mapping[str, LoraSettings] = MappingProxyType({"ambistory": LoraSettings()})
"""Settings by name. ``ambistory``: the fine-tuning of AmbiStory, §5.3.1, which is also the default."""
