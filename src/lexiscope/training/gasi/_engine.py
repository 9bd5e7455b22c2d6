"""What learns a chunk of tokens: compiled code on a CPU, or torch on a CPU or a GPU. Both fill the same statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import RunError, require
from lexiscope.subjects.local._loading import device_of, torch_threads
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.vocabulary import Vocabulary, negative_table

_TABLE = 5_000_000
_LEAST_TABLE = 1_000
Floats = NDArray[np.float32]
Stats = NDArray[np.float64]
N_STATS = 8


class Engine(Protocol):
    """Learns chunks; the vectors are its own until they are asked for."""

    def learn(self, tokens: NDArray[np.int32], rates: tuple[float, float], seed: int) -> Stats:
        """Learn a chunk; the learning rate falls from the first of *rates* to the second. Return what is summed."""

    def vectors(self) -> tuple[Floats, Floats]:
        """Return senses (V, K, d) and contexts (V, d) as they are now."""


def engine_of(
    settings: GasiSettings, vocabulary: Vocabulary, vectors: tuple[Floats, Floats], mask: NDArray[np.bool_]
) -> Engine:
    """Return the engine that the settings name.

    Errors: :class:`MissingExtraError`; :class:`SubjectError` for a device that is not there; :class:`RunError` where
    compiled code cannot be kept.
    """
    kind = CompiledEngine if settings.backend == "numba" else TorchEngine
    return kind(settings, vocabulary, vectors, mask)


def drawing_table(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Return the table from which negatives are drawn: 5 million places, fewer for a small vocabulary."""
    size = min(_TABLE, max(_LEAST_TABLE, 100 * len(vocabulary.words)))
    return negative_table(vocabulary.negative_probabilities(), size)


def sigma_table(cells: int, reach: float, dtype: Any) -> Any:
    """Return log σ and σ at the edges of cells over -reach .. reach. *Shape:* (2, cells + 1)."""
    x = np.linspace(-reach, reach, cells + 1)
    return np.stack([-np.logaddexp(0.0, -x), 1.0 / (1.0 + np.exp(-x))]).astype(dtype)


def _load_kernel() -> Any:
    """Return the kernel's module, by its name: importing it imports numba, which only a training needs."""
    require("numba", "train")
    try:
        return require("lexiscope.training.gasi._kernel", "train")
    except RuntimeError as error:
        what, hint = "the compiled training has no place to keep its code", "set NUMBA_CACHE_DIR to a folder of yours"
        raise RunError(what, why=str(error), hint=hint) from error


class _GasiLearner:
    """What both ways to learn have: settings, how often a token is kept, and where negatives are drawn from."""

    def __init__(
        self,
        settings: GasiSettings,
        vocabulary: Vocabulary,
        vectors: tuple[Floats, Floats],
        mask: NDArray[np.bool_],
    ) -> None:
        self.settings = settings
        self.keep, self.negatives = vocabulary.keep_probabilities(settings.subsampling), drawing_table(vocabulary)
        self._begin(vectors, mask)

    def _begin(self, vectors: tuple[Floats, Floats], mask: NDArray[np.bool_]) -> None:
        """Take over the vectors to learn."""
        raise NotImplementedError


class CompiledEngine(_GasiLearner):
    """The kernel of :mod:`lexiscope.training.gasi._kernel`; several threads may call it at the same time."""

    def _begin(self, vectors: tuple[Floats, Floats], mask: NDArray[np.bool_]) -> None:
        self.kernel = _load_kernel()
        self._vectors, self.mask = vectors, mask
        self.table = sigma_table(self.kernel.CELLS, self.kernel.REACH, np.float32)
        how = self.settings
        batch = 0 if how.gradient == "own" else how.batch
        self.numbers = (how.window, how.negatives, how.shared_negatives, batch, int(how.gradient == "mean"))
        self.noise, self.sharpness = how.noise_scale, how.sharpness

    def learn(self, tokens: NDArray[np.int32], rates: tuple[float, float], seed: int) -> Stats:
        """Learn a chunk window by window."""
        stats = np.zeros(N_STATS)
        state = np.array([seed], np.uint64)
        how = (*rates, self.noise, self.sharpness)
        own = np.ascontiguousarray(tokens, np.int32)
        # a mapped array is a type of its own for the compiler
        self.kernel.learn_chunk(
            own.view(np.ndarray), self._vectors, self.mask, self.keep, self.negatives, self.numbers, how, state,
            self.table, stats,
        )  # fmt: skip
        return stats

    def vectors(self) -> tuple[Floats, Floats]:
        """Return the arrays that are learnt."""
        return self._vectors


class TorchEngine(_GasiLearner):
    """The bound of :mod:`lexiscope.training.gasi._engine` by autograd, in batches."""

    def _begin(self, vectors: tuple[Floats, Floats], mask: NDArray[np.bool_]) -> None:
        self.torch = require("torch", "train")
        self.device = device_of(self.torch, self.settings.device)
        self._vectors = tuple(self.torch.tensor(array, device=self.device) for array in vectors)
        self.mask = self.torch.tensor(mask, device=self.device)

    def learn(self, tokens: NDArray[np.int32], rates: tuple[float, float], seed: int) -> Stats:
        """Learn a chunk batch by batch."""
        rng, stats, size = np.random.default_rng(seed), np.zeros(N_STATS), self.settings.batch
        kept = tokens[(tokens < 0) | (rng.random(len(tokens)) < self.keep[tokens])]
        centres, context = windows_of(kept, self.settings.window)
        with torch_threads(self.torch, self.settings.threads):
            for start in range(0, len(centres), size):
                batch = self._batch(centres[start : start + size], context[start : start + size], rng)
                self._add(stats, batch)
                rate = rates[0] + (rates[1] - rates[0]) * start / len(centres)
                # the gradients of a batch are summed: their mean is the same step at a smaller rate
                rate /= len(batch.centres) if self.settings.gradient == "mean" else 1
                bounds = learn_batch(self._vectors, self.mask, batch, rate=rate, sharpness=self.settings.sharpness)
                stats[2] -= float(bounds.sum())
        return stats

    def vectors(self) -> tuple[Floats, Floats]:
        """Return copies of the vectors."""
        senses, contexts = (tensor.cpu().numpy().copy() for tensor in self._vectors)
        return senses, contexts

    def _batch(self, centres: NDArray[np.int64], context: NDArray[np.int64], rng: np.random.Generator) -> Windows:
        per_pair, n_senses = self.settings.negatives, self.settings.n_senses
        drawn = self.negatives[rng.integers(len(self.negatives), size=(*context.shape, per_pair))]
        drawn = np.where(context[..., None] < 0, -1, drawn).reshape(len(context), -1).astype(np.int64)
        noise = self.settings.noise_scale * rng.gumbel(size=(len(context), n_senses))
        made = (centres, context, drawn, np.ones(len(centres), np.float32), noise.astype(np.float32))
        return Windows(*(self.torch.tensor(array, device=self.device) for array in made))

    def _add(self, stats: Stats, batch: Windows) -> None:
        senses, contexts = self._vectors
        there = (batch.context >= 0).to(senses.dtype)
        mean = (contexts[batch.context.clamp(min=0)] * there[..., None]).sum(1) / there.sum(1)[:, None]
        mask, logits = self.mask[batch.centres], (senses[batch.centres] * mean[:, None]).sum(-1)
        known = logits[mask].double()
        entropies = [
            float(self.torch.special.entr(attention(logits, noise, mask, sharpness)).sum())
            for noise, sharpness in ((batch.noise, self.settings.sharpness), (0 * batch.noise, 1.0))
        ]
        sums = [float(known.sum()), float((known**2).sum()), known.numel()]
        stats += np.array([len(mask), float(there.sum()), 0.0, *entropies, *sums])


def windows_of(tokens: NDArray[np.int32], reach: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the centres of a stretch of tokens, and the words in the window of each, -1 where there are fewer.

    >>> windows_of(np.array([4, 5, 6, -1, 7], np.int32), 1)[1].tolist()
    [[-1, 5], [4, 6], [5, -1]]
    """
    padded = np.concatenate([np.full(reach, -1), tokens, np.full(reach, -1)]).astype(np.int64)
    lines = np.concatenate([np.full(reach, -1), np.cumsum(tokens < 0), np.full(reach, -1)])
    here = np.arange(len(tokens)) + reach
    places = here[:, None] + np.r_[-reach:0, 1 : reach + 1]
    context = np.where(lines[places] == lines[here][:, None], padded[places], -1)
    keep = (tokens >= 0) & (context >= 0).any(axis=1)
    return tokens[keep].astype(np.int64), context[keep]


# -- the bound in torch, with its gradients by autograd: what the compiled kernel must equal, and what a GPU uses -----
# Nothing of it is shared with the kernel. A batch of windows is learnt at once: all gradients of a batch are taken at
# the same vectors and summed, where the kernel goes window by window.


@dataclass(frozen=True, slots=True)
class Windows:
    """A batch of windows as torch tensors.

    *Shape:* centres (windows,); context and negatives (windows, most), -1 where a window has fewer; weight (windows,),
    of each negative; noise (windows, senses), β g.
    """

    centres: Any
    context: Any
    negatives: Any
    weight: Any
    noise: Any


def attention(logits: Any, noise: Any, mask: Any, sharpness: float) -> Any:
    """Return γ = softmax((c̄·s + β g) / τ) over the senses that are there. *Source:* eq. 8, 10, 12."""
    torch = require("torch", "train")
    return torch.softmax(((logits + noise) * sharpness).masked_fill(~mask, -torch.inf), dim=-1)


def window_bounds(senses: Any, context: Any, negatives: Any, windows: Windows, mask: Any, sharpness: float) -> Any:
    """Return the bound Σ_k γ_k Q_k of each window, from the vectors that it uses. *Source:* eq. 14-16.

    *Shape:* senses (windows, K, d); context and negatives (windows, most, d); mask (windows, K).
    """
    torch = require("torch", "train")
    log_sigma = torch.nn.functional.logsigmoid
    there = (windows.context >= 0).to(senses.dtype)
    drawn = (windows.negatives >= 0).to(senses.dtype) * windows.weight[:, None]
    mean = (context * there[..., None]).sum(1) / there.sum(1)[:, None]
    gamma = attention((senses * mean[:, None]).sum(-1), windows.noise, mask, sharpness)
    positive = (log_sigma(torch.einsum("bkd,bjd->bkj", senses, context)) * there[:, None]).sum(-1)
    negative = (log_sigma(-torch.einsum("bkd,bjd->bkj", senses, negatives)) * drawn[:, None]).sum(-1)
    return (gamma * (positive + negative)).sum(-1)


def learn_batch(vectors: tuple[Any, Any], mask: Any, windows: Windows, *, rate: float, sharpness: float) -> Any:
    """Learn a batch: *vectors* (senses, contexts) change in place by the summed gradients; returns the bounds."""
    senses, contexts = vectors
    torch = require("torch", "train")
    context, negatives = windows.context.clamp(min=0), windows.negatives.clamp(min=0)
    rows = [senses[windows.centres], contexts[context], contexts[negatives]]
    for tensor in rows:
        tensor.requires_grad_(True)
    with torch.enable_grad():
        bounds = window_bounds(rows[0], rows[1], rows[2], windows, mask[windows.centres], sharpness)
        gradients = torch.autograd.grad(bounds.sum(), rows)
    width = contexts.shape[1]
    senses.index_add_(0, windows.centres, gradients[0], alpha=rate)
    contexts.index_add_(0, context.reshape(-1), gradients[1].reshape(-1, width), alpha=rate)
    contexts.index_add_(0, negatives.reshape(-1), gradients[2].reshape(-1, width), alpha=rate)
    return bounds.detach()
