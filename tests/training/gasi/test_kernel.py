"""The compiled kernel against autograd, and the bound against what it bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lexiscope.training.gasi import _kernel as kernel
from lexiscope.training.gasi._engine import Windows, attention, sigma_table, window_bounds
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings, Variant

WORDS, WIDTH = 80, 20
SETTINGS = {name: GasiSettings(variant=name) for name in VARIANTS}
Case = dict[str, Any]


def exact_log_likelihood(senses: Any, context: Any, windows: Windows, outputs: Any, mask: Any) -> Any:
    """Return Σ_c log Σ_k P(c | s_k) P(s_k | c̄) of each window with the full softmax over *outputs* (V, d), eq. 14.

    What the bound bounds from below; for tiny vocabularies.
    """
    there = (windows.context >= 0).to(senses.dtype)
    mean = (context * there[..., None]).sum(1) / there.sum(1)[:, None]
    gamma = attention((senses * mean[:, None]).sum(-1), windows.noise, mask, 1.0)
    log_p = torch.log_softmax(senses @ outputs.T, dim=-1)
    chosen = torch.gather(log_p, 2, windows.context.clamp(min=0)[:, None].expand(-1, senses.shape[1], -1))
    return (torch.logsumexp(chosen + torch.log(gamma)[..., None], dim=1) * there).sum(-1)


def case(n_senses: int, dtype: Any, *, masked: bool = False, seed: int = 0) -> Case:
    """Vectors large enough that attention is neither flat nor certain, and a window of different words."""
    rng = np.random.default_rng(seed)
    senses = (0.6 * rng.normal(size=(WORDS, n_senses, WIDTH))).astype(dtype)
    contexts = (0.6 * rng.normal(size=(WORDS, WIDTH))).astype(dtype)
    mask = np.ones((WORDS, n_senses), np.bool_)
    mask[:, n_senses - 1] = not masked
    noise = rng.gumbel(size=n_senses)
    return {"senses": senses, "contexts": contexts, "mask": mask, "noise": noise, "words": rng.permutation(WORDS)[:42]}


def by_kernel(given: Case, how: GasiSettings, rate: float, weight: float) -> tuple[Any, Any, Any]:
    senses, contexts = given["senses"].copy(), given["contexts"].copy()
    dtype, (_, k, width) = senses.dtype, senses.shape
    stats, work = np.zeros(8), np.zeros((k + 3, width), dtype)
    table = sigma_table(kernel.CELLS, kernel.REACH, dtype)
    numbers = np.array([rate, how.sharpness, weight])
    noise = how.noise_scale * given["noise"]
    kernel.learn_window(
        senses[5],
        given["mask"][5],
        contexts,
        given["words"],
        7,
        len(given["words"]) - 7,
        noise,
        numbers,
        table,
        work,
        stats,
    )
    return (senses - given["senses"]) / rate, (contexts - given["contexts"]) / rate, stats


def by_autograd(given: Case, how: GasiSettings, weight: float) -> tuple[Any, Any, float]:
    senses, contexts = (torch.tensor(given[each], dtype=torch.float64) for each in ("senses", "contexts"))
    words = torch.tensor(given["words"])[None]
    noise = torch.tensor(how.noise_scale * given["noise"])[None]
    windows = Windows(torch.tensor([5]), words[:, :7], words[:, 7:], torch.tensor([weight]), noise)
    senses.requires_grad_(True)
    contexts.requires_grad_(True)
    mask = torch.tensor(given["mask"][[5]])
    found = window_bounds(
        senses[[5]], contexts[windows.context], contexts[windows.negatives], windows, mask, how.sharpness
    )
    found.sum().backward()
    return senses.grad.numpy(), contexts.grad.numpy(), float(found.detach())


def relative(found: Any, expected: Any) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("weight", [1.0, 3.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_gradients_equal_autograd(variant: Variant, weight: float, seed: int) -> None:
    """Senses and contexts move by the gradient of the bound, to 1e-4 relative in float32; so does the bound itself.

    A weight other than 1 is that of shared negatives.
    """
    how = SETTINGS[variant]
    for n_senses, masked in ((how.n_senses, False), (5 if how.n_senses > 1 else 1, how.n_senses > 1)):
        given = case(n_senses, np.float32, masked=masked, seed=seed)
        senses, contexts, stats = by_kernel(given, how, 1e-2, weight)
        expected = by_autograd(given, how, weight)
        assert relative(senses, expected[0]) < 1e-4
        assert relative(contexts, expected[1]) < 1e-4
        assert -stats[2] == pytest.approx(expected[2], rel=1e-4)


@pytest.mark.parametrize("variant", ["gasi_beta", "skip_gram"])
def test_words_that_come_twice_are_learnt_twice(variant: Variant) -> None:
    """An odd number of words, some of them side by side twice: at a small rate the steps are those of autograd."""
    how = SETTINGS[variant]
    given = case(how.n_senses, np.float64)
    given["words"] = np.concatenate([given["words"][:12], given["words"][11:13], given["words"][2:3]])
    senses, contexts, stats = by_kernel(given, how, 1e-6, 1.0)
    expected = by_autograd(given, how, 1.0)
    assert relative(senses, expected[0]) < 1e-4
    assert relative(contexts, expected[1]) < 1e-4
    assert -stats[2] == pytest.approx(expected[2], rel=1e-4)


def test_the_part_through_attention_is_in_the_gradient() -> None:
    """Words of the window that are no negatives of it move by more than Σ γ (1 - σ) s: the check above sees both."""
    given = case(3, np.float32)
    contexts, words = given["contexts"].astype(float), given["words"]
    how = SETTINGS["gasi_beta"]
    mean = contexts[words[:7]].mean(axis=0)
    logits = (given["senses"][5] @ mean + how.beta * given["noise"]) * how.sharpness
    gamma = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    direct = (gamma * (1 - 1 / (1 + np.exp(-given["senses"][5] @ contexts[words[0]])))) @ given["senses"][5]
    _, found, _ = by_kernel(given, how, 1e-2, 1.0)
    assert relative(found[words[0]], direct) > 0.1


def test_a_masked_sense_gets_nothing() -> None:
    """γ of a sense that is not there is 0: it does not move, and it is no part of the entropy."""
    given = case(3, np.float32, masked=True)
    moved, _, stats = by_kernel(given, SETTINGS["gasi_beta"], 1e-2, 1.0)
    assert not moved[5, 2].any()
    assert moved[5, :2].any()
    assert 0 < stats[3] <= np.log(2)
    given["mask"][5] = [True, False, False]
    _, _, stats = by_kernel(given, SETTINGS["gasi_beta"], 1e-2, 1.0)
    assert stats[3] == stats[4] == 0


def test_the_bound_is_below_what_it_bounds() -> None:
    """Jensen: Σ γ log P(c | s) <= log Σ γ P(c | s) with the full softmax, equal where the senses are."""
    rng = np.random.default_rng(3)
    outputs = torch.tensor(rng.normal(size=(11, 4)))
    context = torch.tensor(rng.integers(11, size=(6, 5)))
    none = torch.zeros(6, 1, dtype=torch.long) - 1
    windows = Windows(torch.zeros(6), context, none, torch.ones(6), torch.zeros(6, 3, dtype=torch.float64))
    mask = torch.ones(6, 3, dtype=torch.bool)
    senses = torch.tensor(rng.normal(size=(6, 3, 4)))
    for each, equal in ((senses, False), (senses[:, :1].expand(-1, 3, -1), True)):
        above = exact_log_likelihood(each, outputs[context], windows, outputs, mask)
        mean = outputs[context].mean(1)
        gamma = attention((each * mean[:, None]).sum(-1), windows.noise, mask, 1.0)
        log_p = torch.log_softmax(each @ outputs.T, -1)
        below = (gamma[..., None] * torch.gather(log_p, 2, context[:, None].expand(-1, 3, -1))).sum((1, 2))
        assert bool((below <= above + 1e-9).all())
        assert torch.allclose(below, above) is equal


def test_the_noise_is_gumbel_and_chooses_by_softmax() -> None:
    """argmax(x + g) falls on k with the probability softmax(x)_k; mean and SD of g are Euler's γ and π/√6."""
    state = np.array([7], np.uint64)
    noise = np.array([kernel._gumbel(state) for _ in range(30_000)])
    assert noise.mean() == pytest.approx(np.euler_gamma, abs=0.03)
    assert noise.std() == pytest.approx(np.pi / np.sqrt(6), abs=0.03)
    logits = np.array([0.0, 1.0, 2.0])
    chosen = np.bincount((noise.reshape(-1, 3) + logits).argmax(axis=1), minlength=3) / 10_000
    np.testing.assert_allclose(chosen, np.exp(logits) / np.exp(logits).sum(), atol=0.02)


def test_the_largest_draw_is_no_infinite_noise() -> None:
    """The state before the one of which splitmix64 makes 64 ones: uniform numbers stay below 1, noise is finite."""
    size = 1 << 64

    def unshifted(bits: int, by: int) -> int:
        found = bits
        for _ in range(64 // by):
            found = bits ^ (found >> by)
        return found

    bits = unshifted(size - 1, 31) * pow(0x94D049BB133111EB, -1, size) % size
    bits = unshifted(bits, 27) * pow(0xBF58476D1CE4E5B9, -1, size) % size
    before = np.array([(unshifted(bits, 30) - 0x9E3779B97F4A7C15) % size], np.uint64)
    assert kernel.next_bits(before.copy()) == size - 1
    assert kernel._uniform(before.copy()) < 1
    assert np.isfinite(kernel._gumbel(before.copy()))


def test_sigma_is_read_within_its_error() -> None:
    """log σ and σ of the table are those of the function to 8e-6; beyond it they are exact, and NaN stays NaN."""
    table = sigma_table(kernel.CELLS, kernel.REACH, np.float64)
    for x in (*np.linspace(-12, 12, 4801), 8 - 1e-9, -8.0, 8.0, 700.0, -700.0):
        log_sigma, sigma = kernel._log_sigma(x, table)
        near = 8e-6 if abs(x) < 8 else 1e-15
        assert log_sigma == pytest.approx(-np.logaddexp(0, -x), abs=near)
        assert sigma == pytest.approx(1 / (1 + np.exp(-x)), abs=near)
    assert np.isnan(kernel._log_sigma(np.nan, table)).all()


def test_beta_lowers_the_entropy_of_a_selection() -> None:
    """At the same c̄·s, the larger β, the lower the mean entropy of γ; without noise it is the highest."""
    noise = torch.tensor(np.random.default_rng(0).gumbel(size=(4000, 3)))
    logits, mask = torch.zeros(4000, 3, dtype=torch.float64), torch.ones(4000, 3, dtype=torch.bool)
    grid = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    entropies = [float(torch.special.entr(attention(logits, beta * noise, mask, 2.0)).sum(1).mean()) for beta in grid]
    assert entropies[0] == pytest.approx(np.log(3))
    assert entropies == sorted(entropies, reverse=True)


def test_negatives_are_drawn_by_their_shares() -> None:
    """Draws follow the table, and another state gives other draws."""
    table, out, state = np.array([0, 0, 0, 1], np.int32), np.zeros(20_000, np.int64), np.array([1], np.uint64)
    kernel.draw(table, state, out, 0, 20_000)
    assert (out == 0).mean() == pytest.approx(0.75, abs=0.01)


def test_windows_stop_at_line_ends() -> None:
    """At most so many words on each side, in the line of the centre."""
    tokens, words = np.array([1, 2, -1, 3, 4, 5, 6, -1], np.int32), np.zeros(10, np.int64)
    m = kernel.window_of(tokens, 8, 4, 2, words)
    assert sorted(words[:m]) == [3, 5, 6]
    assert kernel.window_of(tokens, 8, 0, 2, words) == 1
    assert words[0] == 2
