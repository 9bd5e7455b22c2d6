"""Texts that grow token by token: the logits of whole texts, by the fastest use of the cache that gives them."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from lexiscope.subjects._scoring_options import CausalOptions
from lexiscope.subjects.local._growing_texts import CacheUse, next_logits, prove_cache_use
from lexiscope.subjects.local.causal_lm import CausalLM

Folders = Callable[[str], Path]
VOCABULARY = 50


class Summing:
    """A model whose logits depend on every token of the text, in its order; its cache is a sum for each text.

    *works*: how a cache is given and copied; ``ignored`` is a model that does not know the argument it is given.
    """

    def __init__(self, works: str) -> None:
        self.works, self.read = works, 0
        self.table = torch.randn(VOCABULARY, VOCABULARY, generator=torch.Generator().manual_seed(1))

    def __call__(self, **given: Any) -> Any:
        return self.forward(**given)

    def forward(self, input_ids: Any, use_cache: bool, past_key_values: Any = None, **ignored: Any) -> Any:
        self.read += input_ids.numel()
        cache = None if self.works == "ignored" else past_key_values
        sums = torch.zeros(len(input_ids), VOCABULARY) if cache is None else cache.sums
        logits = []
        for ids in input_ids.T:
            sums = sums * 0.9 + self.table[ids]
            logits.append(sums)
        kept = SimpleNamespace(sums=sums) if use_cache else None
        if kept is not None and self.works == "copied":
            kept.batch_repeat_interleave = lambda n: setattr(kept, "sums", sums.repeat_interleave(n, dim=0))
        if kept is not None and self.works == "copied wrongly":
            kept.batch_repeat_interleave = lambda n: setattr(kept, "sums", sums.repeat(n, 1))
        return SimpleNamespace(logits=torch.stack(logits, dim=1), past_key_values=kept)


@pytest.mark.parametrize(
    ("works", "use", "read"),
    [
        # two prompts of 6 tokens, two copies of each, three further tokens of each copy
        ("copied", CacheUse("past_key_values", copied=True), 2 * 6 + 3 * 4),
        ("copied wrongly", CacheUse("past_key_values"), 4 * 6 + 3 * 4),
        ("not copied", CacheUse("past_key_values"), 4 * 6 + 3 * 4),
        ("ignored", CacheUse(), 2 * 6 + 4 * (7 + 8 + 9)),
    ],
)
def test_the_fastest_use_that_gives_the_numbers_of_whole_texts(works: str, use: CacheUse, read: int) -> None:
    """A cache that is ignored, not copied or copied in a wrong order is noticed; the next best use is taken."""
    model = Summing(works)
    assert prove_cache_use(torch, model, n_vocabulary=VOCABULARY, device="cpu", dtype="fp32") == use
    model.read = 0
    prompts, added = torch.arange(12).reshape(2, 6), [[] for _ in range(4)]  # type: ignore[var-annotated]
    steps = next_logits(torch, model, prompts, added, use)
    for step in range(4):
        logits = next(steps)
        texts = torch.cat([prompts.repeat_interleave(2, dim=0), torch.tensor(added, dtype=torch.long)], dim=1)
        torch.testing.assert_close(logits, Summing("").forward(texts, use_cache=False).logits[:, -1])
        for number, ids in enumerate(added):
            ids.append((7 * step + 3 * number) % VOCABULARY)
    assert model.read == read


@pytest.mark.parametrize("architecture", ["gpt2", "mamba", "jamba", "falcon_h1"])
def test_every_kind_of_cache_is_used(causal: Folders, architecture: str) -> None:
    """Keys and values, recurrent states and both are kept between tokens, where transformers has one name for all."""
    forward = CausalLM(str(causal(architecture)), options=CausalOptions()).forward
    if architecture == "gpt2" or "cache" in signature(forward.model.forward).parameters:
        assert forward.cache_use.argument


def test_the_caller_stays_in_its_own_mode() -> None:
    """Between two tokens, what the caller computes can have gradients as before."""
    steps = next_logits(torch, Summing("copied"), torch.arange(6)[None], [[]], CacheUse("past_key_values"))
    next(steps)
    assert not torch.is_inference_mode_enabled()
