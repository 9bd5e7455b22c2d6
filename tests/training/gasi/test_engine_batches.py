"""The batches of the torch path against sums of gradients in plain numpy, taken at the vectors before the batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from lexiscope.training.gasi._engine import TorchEngine, drawing_table
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.vocabulary import Vocabulary

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
WORDS, WIDTH = 12, 7


def bound(s: Any, c: Any, words: Any, drawn: Any, logits_noise: Any, mask: Any, tau: float) -> float:
    """Σ_k γ_k Q_k of one window, from the rows of context words and of the negatives."""
    scores = (s @ c[words].mean(axis=0) + logits_noise) / tau
    powers = np.exp(np.where(mask, scores, -np.inf) - scores[mask].max())
    q = -np.logaddexp(0, -s @ c[words].T).sum(axis=1) - np.logaddexp(0, s @ c[drawn].T).sum(axis=1)
    return float(powers / powers.sum() @ q)


def slopes(value: Callable[[], float], arrays: tuple[Any, Any], step: float = 1e-5) -> list[Any]:
    """The gradient of a function of two arrays by central differences: no formula of the gradient is trusted."""
    found = []
    for array in arrays:
        slope = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            plain, ends = array[place], []
            for moved in (plain + step, plain - step):
                array[place] = moved
                ends.append(value())
            array[place], slope[place] = plain, (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


def windows_of(kept: list[int]) -> list[tuple[int, list[int]]]:
    """The centres and the two words on each side of them in their line, -1 where there is none."""
    found = []
    for at, centre in enumerate(kept):
        places = [at + by for by in (-2, -1, 1, 2)]
        row = [kept[p] if 0 <= p < len(kept) and -1 not in kept[min(p, at) : max(p, at)] else -1 for p in places]
        found += [(centre, row)] if centre >= 0 and max(row) >= 0 else []
    return found


def learnt(
    start: list[Any],
    mask: Any,
    windows: list[tuple[int, list[int]]],
    draws: Any,
    table: Any,
    noise: float,
    tau: float,
    *,
    mean: bool = False,
) -> tuple[Any, Any, float]:
    """Vectors after all batches of three, at a rate that falls from .02 to .01, and the sum of the bounds.

    *mean*: a step is the mean of the gradients of its windows, not their sum.
    """
    s, c = (each.astype(float) for each in start)
    total = 0.0
    for first in range(0, len(windows), 3):
        batch = windows[first : first + 3]
        drawn = table[draws.integers(len(table), size=(len(batch), 4, 2))]
        gumbel = noise * draws.gumbel(size=(len(batch), s.shape[1]))
        moved = [np.zeros_like(s), np.zeros_like(c)]
        for (centre, row), negatives, g in zip(batch, drawn, gumbel, strict=True):
            there = np.array(row) >= 0
            own, others = s[centre], negatives[there].reshape(-1)
            value = partial(bound, own, c, np.array(row)[there], others, g, mask[centre], tau)
            total += value()
            slope = slopes(value, (own, c))
            moved[0][centre] += slope[0]
            moved[1] += slope[1]
        rate = (0.02 - 0.01 * first / len(windows)) / (len(batch) if mean else 1)
        s, c = s + rate * moved[0], c + rate * moved[1]
    return s, c, total


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("variant", "senses", "gradient"),
    [
        ("skip_gram", 1, "own"),
        ("sasi", 3, "own"),
        ("gasi", 2, "own"),
        ("gasi_beta", 3, "sum"),
        ("gasi_beta", 3, "mean"),
        ("gasi_beta", 4, "own"),
    ],
)
def test_a_chunk_in_batches_is_learnt_by_slopes(variant: Any, senses: int, gradient: Any, device: Any) -> None:
    """Sub-sampling, two lines, a mask, repeated words, a falling rate: vectors to 1e-4 relative, and what is summed."""
    rng = np.random.default_rng(senses)
    how = GasiSettings(
        variant=variant, senses=senses, dimensions=WIDTH, window=2, negatives=2, batch=3, backend="torch",
        device=device, subsampling=0.06, gradient=gradient,
    )  # fmt: skip
    vocabulary = Vocabulary(tuple("abcdefghijkl"), np.arange(WORDS, 0, -1) ** 2, 700)
    start = [(0.7 * rng.normal(size=shape)).astype("f4") for shape in ((WORDS, senses, WIDTH), (WORDS, WIDTH))]
    mask = rng.random((WORDS, senses)) < 0.7
    mask[:, 0] = True
    tokens = np.array([0, 1, 1, 5, 2, -1, 3, 0, 4, 11, -1], np.int32)
    engine = TorchEngine(how, vocabulary, (start[0], start[1]), mask)
    stats = engine.learn(tokens, (0.02, 0.01), 9)

    draws, share = np.random.default_rng(9), vocabulary.counts / vocabulary.counts.sum()
    keep = np.minimum(1, np.sqrt(0.06 / share) + 0.06 / share)
    kept = [int(t) for t, u in zip(tokens, draws.random(len(tokens)), strict=True) if t < 0 or u < keep[t]]
    assert len(kept) < len(tokens)
    windows, table = windows_of(kept), drawing_table(vocabulary)
    tau = 1.0 if variant in ("skip_gram", "sasi") else 0.5
    noise = {"gasi": 1.0, "gasi_beta": 0.4}.get(variant, 0.0)
    s, c, total = learnt(start, mask, windows, draws, table, noise, tau, mean=gradient == "mean")
    for found, mine, before in zip(engine.vectors(), (s, c), start, strict=True):
        assert np.linalg.norm(found - mine) < 1e-4 * np.linalg.norm(mine - before)
    pairs = sum(word >= 0 for _, row in windows for word in row)
    assert stats[:3] == pytest.approx([len(windows), pairs, -total], rel=1e-5)
