"""How senses are learnt: the variant, its numbers, and what only changes speed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lexiscope.core.errors import InputError

Variant = Literal["skip_gram", "sasi", "gasi", "gasi_beta"]
VARIANTS: tuple[Variant, ...] = ("skip_gram", "sasi", "gasi", "gasi_beta")
BACKENDS = ("numba", "torch")
DEVICES = ("cpu", "cuda")
# speed and safety only: a training may go on with others
_NOT_DECIDING = ("threads", "checkpoint_tokens")
_GUMBEL_SD = math.pi / math.sqrt(6)


@dataclass(frozen=True, slots=True)
class GasiSettings:
    """How senses are learnt; the defaults are the paper's (§3, appendix B).

    ``senses``: K, the most senses of a word (skip-gram has 1). ``window``: words on each side in the line, of those
    that sub-sampling keeps; always so many, where word2vec's program draws how many. ``shared_negatives``: 0 draws
    ``negatives`` fresh ones for each pair of words, as the paper; a number draws so many for a window, each weighed so
    that they count as much: faster, another training. ``subsampling``: the threshold t, 0 keeps every token. ``beta``
    is of ``gasi_beta`` alone, ``temperature`` of it and of ``gasi``. ``chunk_tokens``: windows do not go over the end
    of a chunk. ``backend``: ``numba``, compiled for a CPU, window by window; or ``torch``, in batches of ``batch``
    windows, for a CPU or a GPU. ``threads`` above 1 write to the same vectors at the same time, and no two runs are
    equal then.

    Errors: :class:`InputError` E710 for a number out of its range.
    """

    variant: Variant = "gasi_beta"
    senses: int = 3
    dimensions: int = 300
    window: int = 5
    negatives: int = 5
    shared_negatives: int = 0
    subsampling: float = 1e-4
    epochs: int = 5
    learning_rate: float = 0.01
    temperature: float = 0.5
    beta: float = 0.4
    chunk_tokens: int = 10_000
    backend: Literal["numba", "torch"] = "numba"
    device: Literal["cpu", "cuda"] = "cpu"
    batch: int = 512
    threads: int = 1
    checkpoint_tokens: int = 20_000_000

    def __post_init__(self) -> None:
        choices = (("variant", VARIANTS), ("backend", BACKENDS), ("device", DEVICES))
        for name, known in choices:
            _check(name, getattr(self, name) in known, f"is one of {', '.join(known)}")
        for name in ("senses", "dimensions", "window", "negatives", "epochs", "chunk_tokens", "batch", "threads"):
            _check(name, getattr(self, name) >= 1, "is 1 or more")
        for name in ("learning_rate", "temperature"):
            _check(name, 0 < getattr(self, name) < math.inf, "is above 0")
        for name in ("subsampling", "beta", "shared_negatives"):
            _check(name, 0 <= getattr(self, name) < math.inf, "is 0 or more")
        least = self.chunk_tokens
        _check("checkpoint_tokens", self.checkpoint_tokens >= least, f"is {least:,}, the size of a chunk, or more")
        _check("device", self.device == "cpu" or self.backend == "torch", "other than cpu needs the backend torch")
        plain = self.backend == "numba" or self.shared_negatives == 0
        _check("shared_negatives", plain, "is of the backend numba")

    @property
    def n_senses(self) -> int:
        """K as the variant has it."""
        return 1 if self.variant == "skip_gram" else self.senses

    @property
    def noise_scale(self) -> float:
        """What the Gumbel noise is multiplied with: 0, 1, or β. *Source:* eq. 8, 10, 12."""
        return {"skip_gram": 0.0, "sasi": 0.0, "gasi": 1.0, "gasi_beta": self.beta}[self.variant]

    @property
    def sharpness(self) -> float:
        """1/τ; plain attention has no temperature."""
        return 1.0 if self.variant in ("skip_gram", "sasi") else 1.0 / self.temperature

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on c̄·s: β π/√6.

        >>> round(GasiSettings().noise_sd, 3)
        0.513
        """
        return self.noise_scale * _GUMBEL_SD

    def deciding(self) -> dict[str, Any]:
        """Return the settings that decide the result."""
        return {name: value for name, value in asdict(self).items() if name not in _NOT_DECIDING}


def _check(name: str, fine: bool, rule: str) -> None:
    if not fine:
        raise InputError(f"{name} of a training of senses {rule}", code="E710", hint="change it, or leave it out")
