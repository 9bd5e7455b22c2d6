"""How senses are learnt: the variant, its numbers, and what only changes speed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from lexiscope.core.errors import InputError
from lexiscope.core.settings import option, settings_of

Variant = Literal["skip_gram", "sasi", "gasi", "gasi_beta"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Gradient = Literal["own", "sum", "mean"]
# speed and safety only: a training may go on with others
_NOT_DECIDING = ("threads", "checkpoint_tokens")
_GUMBEL_SD = math.pi / math.sqrt(6)


@dataclass(frozen=True, slots=True)
class GasiSettings:
    """How senses are learnt; the defaults are the paper's (§3, appendix B).

    ``senses`` is K. ``window`` counts words that sub-sampling keeps; it is fixed, whereas word2vec's program draws its
    size. With ``shared_negatives`` each is weighed so that they count as much as fresh ones. Windows do not go over the
    end of a chunk of ``chunk_tokens``. ``threads`` above 1 write to the same vectors at the same time.

    Errors: :class:`InputError` E710 for a number out of its range.
    """

    variant: Variant = option("gasi_beta", "how a sense is chosen in training")
    senses: int = option(3, "the most senses of a word; skip_gram has one", least=1)
    dimensions: int = option(300, "width of the vectors", least=1)
    window: int = option(5, "words on each side", least=1)
    negatives: int = option(5, "words drawn for each pair of words", least=1)
    shared_negatives: int = option(
        0, "number per window instead of fresh ones for each pair: faster, another training; 0: fresh ones", least=0
    )
    subsampling: float = option(1e-4, "threshold above which frequent words are dropped at random; 0: none are")
    epochs: int = option(5, "passes over the corpus", least=1)
    learning_rate: float = option(
        0.01,
        "at the start; it falls to 0 in a line; the default is the paper's, of 1,000 million tokens: 0.025 for fewer "
        "than 100 million",
    )
    temperature: float = option(0.5, "of gasi and gasi_beta")
    beta: float = option(0.4, "scale of the noise (method gasi_beta)")
    chunk_tokens: int = 10_000
    backend: Literal["numba", "torch"] = option(
        "numba", "what computes: numba, compiled, on the processor; torch, in batches, for a GPU"
    )
    device: Literal["cpu", "cuda"] = option("cpu", "of the backend torch")
    batch: int = option(512, "windows at once: of the backend torch, and of --gradient sum and mean", least=1)
    gradient: Gradient = option(
        "own",
        "what a step adds up. own: of numba each window by itself, of torch the sum of a batch. sum, mean: over the "
        "windows of a batch, all at the vectors before it; a mean is a sum at a rate that is --batch times smaller",
    )
    threads: int = option(1, "with 1 the same command gives identical files; with more it does not", least=1)
    checkpoint_tokens: int = option(20_000_000, "tokens after which the state is kept", flag="--checkpoint", least=1)

    def __post_init__(self) -> None:
        for setting in settings_of(GasiSettings):
            known = setting.choices()
            _check(setting.name, not known or getattr(self, setting.name) in known, f"is one of {', '.join(known)}")
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

    def deciding_values(self) -> dict[str, Any]:
        """Return the settings that decide the result.

        The gradient is among them where it is not the backend's own: trainings that began before there was a choice can
        continue.
        """
        left_out = (*_NOT_DECIDING, *(("gradient",) if self.gradient == "own" else ()))
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def _check(name: str, fine: bool, rule: str) -> None:
    if not fine:
        raise InputError(f"{name} of a training of senses {rule}", code="E710", hint="change it, or leave it out")
