"""A training replayed in plain numpy, in double precision and from the equations alone: every draw, window and step.

Nothing here is shared with the trainer but what is written down of it: words are numbered by falling count, a chunk
draws from splitmix64, first which tokens stay, then for each centre its negatives and its noise.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.sense_vectors import LogRow, read_sense_vectors
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.shards import make_shards
from lexiscope.training.gasi.train import train_gasi
from lexiscope.training.gasi.vocabulary import VocabularyLimits

_64 = (1 << 64) - 1
NOISE = {"skip_gram": 0.0, "sasi": 0.0, "gasi": 1.0}
LINES = [
    [f"{topic}{number}" for number in numbers]
    for topic, numbers in zip(
        np.random.default_rng(2).choice(list("abc"), size=36),
        np.random.default_rng(3).integers(0, 7, size=(36, 9)),
        strict=True,
    )
] + [["alone"], ["a1", "a1"], ["b2", "b2", "b2", "c3"]]


@dataclass
class Draws:
    """splitmix64, with the numbers that a chunk draws."""

    state: int

    def bits(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _64
        bits = self.state
        bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _64
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _64
        return bits ^ (bits >> 31)

    def uniform(self) -> float:
        return ((self.bits() >> 11) + 0.5) / 2**53

    def gumbel(self) -> float:
        return float(-np.log(-np.log(self.uniform())))

    def place(self, size: int) -> int:
        return ((self.bits() >> 32) * size) >> 32


@dataclass
class Replay:
    """The vectors of a training, and what is logged of one chunk after the other."""

    how: GasiSettings
    seed: int
    mask: Any
    counts: Any
    through_attention: bool = True
    rows: list[tuple[float, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng, (words, senses), d = np.random.default_rng([self.seed, 0]), self.mask.shape, self.how.dimensions
        start = [(rng.random(shape, dtype=np.float32) - 0.5) / d for shape in ((words, senses, d), (words, d))]
        self.first = [each.astype(float) for each in start]
        self.senses, self.contexts = (each.copy() for each in self.first)
        share = self.counts / self.counts.sum()
        t = self.how.subsampling
        self.keep = np.minimum(1, np.sqrt(t / share) + t / share).astype(np.float32) if t else np.ones(words)
        table = min(5_000_000, max(1_000, 100 * words))
        self.ends = np.rint(np.cumsum(self.counts**0.75 / (self.counts**0.75).sum()) * table)

    def vectors(self) -> tuple[Any, Any]:
        return self.senses, self.contexts

    def run(self, stream: list[int]) -> None:
        size, start = self.how.chunk_tokens, self.how.learning_rate
        chunks = [stream[place : place + size] for place in range(0, len(stream), size)]
        total = len(chunks) * self.how.epochs
        for number in range(total):
            epoch, place = divmod(number, len(chunks))
            draws = Draws(int(np.random.SeedSequence([self.seed, epoch, place]).generate_state(1, np.uint64)[0]))
            kept = [w for w in chunks[place] if w < 0 or self.keep[w] >= 1 or draws.uniform() < self.keep[w]]
            rates = [start * (1 - (number + at / len(kept)) / total) for at in range(len(kept))]
            places = [at for at, word in enumerate(kept) if word >= 0]
            if self.how.gradient == "own":
                found = [self.window(kept, at, rates[at], draws) for at in places]
            else:
                found = self.batches(kept, places, rates, draws)
            windows = [each for each in found if each]
            signals = np.concatenate([each[4] for each in windows])
            loss, pairs, *entropies = (sum(each[n] for each in windows) for n in range(4))
            means = (entropy / len(windows) for entropy in entropies)
            self.rows.append((loss / pairs, *means, float(signals.mean()), float(signals.std())))

    def batches(self, kept: list[int], places: list[int], rates: list[float], draws: Draws) -> list[Any]:
        """Learn windows batch by batch: every step is taken from the vectors before the batch, then all are added."""
        found, steps, before = [], list[Any](), [each.copy() for each in self.vectors()]

        def move() -> None:
            share = 1 / max(len(steps), 1) if self.how.gradient == "mean" else 1
            self.senses, self.contexts = (old + share * sum(step[n] for step in steps) for n, old in enumerate(before))
            before[:] = [each.copy() for each in self.vectors()]
            steps.clear()

        for at in places:
            self.senses, self.contexts = (each.copy() for each in before)
            found.append(self.window(kept, at, rates[at], draws, fixed=before[1]))
            if found[-1]:
                steps.append([new - old for new, old in zip(self.vectors(), before, strict=True)])
            if len(steps) == self.how.batch:
                move()
        move()
        return found

    def window(self, kept: list[int], at: int, rate: float, draws: Draws, fixed: Any = None) -> Any:
        """Learn a window; return its loss, pairs, entropy of γ with and without noise, and signals.

        With *fixed*, context vectors are read there and only their changes are kept: the gradient before a batch.
        """
        centre, reach, per_pair = kept[at], self.how.window, self.how.negatives
        before, behind = kept[max(0, at - reach) : at][::-1], kept[at + 1 : at + 1 + reach]
        line = [side[: side.index(-1)] if -1 in side else side for side in (before, behind)]
        words = line[0] + line[1]
        if not words:
            return None
        n, mask = self.how.shared_negatives or per_pair * len(words), self.mask[centre]
        weight = per_pair * len(words) / n
        drawn = [int(np.searchsorted(self.ends, draws.place(int(self.ends[-1])), side="right")) for _ in range(n)]
        noise = NOISE.get(self.how.variant, self.how.beta)
        g = np.array([draws.gumbel() for _ in mask]) if noise and len(mask) > 1 else np.zeros(len(mask))
        tau = 1.0 if self.how.variant in ("skip_gram", "sasi") else self.how.temperature
        s, mean = self.senses[centre].copy(), self.contexts[words].mean(axis=0)
        logits = s @ mean
        gamma, plain = (softmax(each, mask) for each in ((logits + noise * g) / tau, logits))
        q, step = np.zeros(len(mask)), np.zeros_like(s)
        for label, times, others in ((1, 1.0, words), (0, weight, drawn)):
            for other in others:
                read = self.contexts if fixed is None else fixed
                x = s @ read[other]
                q -= times * np.logaddexp(0, -x if label else x)
                moved = times * gamma * (label - 1 / (1 + np.exp(-x)))
                step += np.outer(moved, read[other])
                self.contexts[other] += rate * moved @ s
        bound = gamma @ q
        share = gamma * (q - bound) / tau * self.through_attention
        self.senses[centre] += rate * (step + np.outer(share, mean))
        for word in words:
            self.contexts[word] += rate * share @ s / len(words)
        return -bound, len(words), entropy(gamma), entropy(plain), logits[mask]


def softmax(x: Any, mask: Any) -> Any:
    powers = np.exp(np.where(mask, x - x[mask].max(), -np.inf))
    return powers / powers.sum()


def entropy(p: Any) -> float:
    return float(-sum(each * np.log(each) for each in p if each > 0))


def relative(found: Any, expected: Any) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def numbered(lines: list[list[str]]) -> tuple[list[int], Any]:
    counts = Counter(word for line in lines for word in line)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    stream = [number for line in lines if len(line) > 1 for number in (*map(words.index, line), -1)]
    return stream, np.array([counts[word] for word in words], float)


def by_trainer(folder: Path, how: GasiSettings, mask: Any) -> tuple[Any, tuple[LogRow, ...]]:
    (folder / "text.txt").write_text("".join(" ".join(line) + "\n" for line in LINES))
    shards = make_shards([folder / "text.txt"], folder / "s", limits=VocabularyLimits(1, 0), tokenisation="given")
    log = train_gasi(shards, out=folder / "out", settings=how, seed=3, mask=mask).log
    return read_sense_vectors(folder / "out"), log


@pytest.mark.parametrize(
    ("variant", "senses", "masked", "more"),
    [
        ("skip_gram", 1, False, {}),
        ("sasi", 3, False, {"window": 2}),
        ("gasi", 2, False, {"temperature": 0.7}),
        ("gasi_beta", 3, False, {"subsampling": 0.02}),
        ("gasi_beta", 3, True, {"shared_negatives": 7, "beta": 0.6}),
        ("gasi_beta", 5, True, {"window": 3}),
        ("sasi", 3, False, {"gradient": "sum", "batch": 7}),
        ("gasi_beta", 3, True, {"gradient": "sum", "batch": 16, "subsampling": 0.02, "learning_rate": 0.05}),
        ("gasi_beta", 3, False, {"gradient": "mean", "batch": 16, "learning_rate": 0.8}),
        ("gasi", 2, False, {"gradient": "mean", "batch": 5, "shared_negatives": 7, "learning_rate": 0.25}),
    ],
)
def test_a_training_is_what_the_equations_say(
    variant: Any, senses: int, masked: bool, more: dict[str, Any], tmp_path: Path
) -> None:
    """Vectors and log of two epochs, to 1e-4 relative; without the step through γ they would be far from it. Window by
    window, and by the sum and the mean of the gradients of a batch."""
    settings: dict[str, Any] = {"dimensions": 10, "subsampling": 0.0, "epochs": 2, "learning_rate": 0.15} | more
    how = GasiSettings(variant=variant, senses=senses, chunk_tokens=130, **settings)
    stream, counts = numbered(LINES)
    mask = np.ones((len(counts), senses), np.bool_)
    mask[1::2, 1:] = not masked
    found, log = by_trainer(tmp_path, how, mask)
    expected = Replay(how, 3, mask, counts)
    expected.run(stream)
    for mine, its, start in zip(expected.vectors(), (found.senses, found.contexts), expected.first, strict=True):
        assert relative(its - start, mine - start) < 1e-4
    np.testing.assert_allclose([logged(row) for row in log], expected.rows, rtol=1e-3, atol=1e-4)
    if variant == "gasi" and how.gradient == "own":
        without = Replay(how, 3, mask, counts, through_attention=False)
        without.run(stream)
        for other, mine, start in zip(without.vectors(), expected.vectors(), expected.first, strict=True):
            assert relative(other - start, mine - start) > 0.05


def logged(row: LogRow) -> tuple[float, ...]:
    return row.loss, row.entropy, row.entropy_without_noise, row.signal_mean, row.signal_sd


def test_a_mean_is_a_sum_at_a_smaller_rate(tmp_path: Path) -> None:
    """Statistics §7: at one rate the mean over full batches steps a batch's size less far than the sum; both differ
    from window by window; and what a record says of a training without a choice is what it said before."""
    chosen = GasiSettings(variant="gasi_beta", dimensions=6, subsampling=0.0, epochs=1, batch=1000, chunk_tokens=10_000)
    stream, counts = numbered(LINES)
    mask, n_windows = np.ones((len(counts), 3), np.bool_), sum(token >= 0 for token in stream)
    # one batch: the lines that have a window, which all words of these lines have
    total = replace(chosen, gradient="sum", learning_rate=0.02)
    averaged = replace(chosen, gradient="mean", learning_rate=0.02 * n_windows)
    found = {}
    for name, how in {"sum": total, "mean": averaged, "own": replace(chosen, learning_rate=0.02)}.items():
        (tmp_path / name).mkdir()
        found[name] = by_trainer(tmp_path / name, how, mask)[0]
    np.testing.assert_allclose(found["mean"].senses, found["sum"].senses, rtol=1e-4, atol=1e-6)
    assert relative(found["own"].senses, found["sum"].senses) > 1e-3
    assert "gradient" not in chosen.deciding_values()
    assert total.deciding_values()["gradient"] == "sum"
    with pytest.raises(InputError, match="is one of own, sum, mean"):
        replace(chosen, gradient="median")  # type: ignore[arg-type]
