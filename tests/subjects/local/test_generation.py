"""Continuations: those of transformers, whatever stands beside the prompt, with seeds of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from lexiscope.core.errors import SubjectError
from lexiscope.core.scoring import PRESETS
from lexiscope.core.subject import Continuation, Decoding
from lexiscope.subjects._scoring_options import CausalOptions
from lexiscope.subjects.local import causal_lm
from lexiscope.subjects.local._generation import seed_of
from lexiscope.subjects.local.causal_lm import CausalLM

Folders = Callable[[str], Path]
PROMPTS = [
    "Bark is a synonym of",
    "The bank of the river is far from the bank in town. Bank is a synonym of",
    "He scraped the bark of the old oak tree.",
    "The loud bark of the dog",
    "a",
    "dog",
]
# without the letters that the tokenizer without bytes has not seen
KNOWN = ["The bark is the bark of", "He scraped the bark of the old oak tree.", "a", "dog", "bank is far from"]
GREEDY = Decoding()
TEN = Decoding(method="sample", n=10, top_k=10, seed=3)


def prompts_of(architecture: str) -> list[str]:
    return KNOWN if architecture in ("llama", "mistral") else PROMPTS


def subject(folder: Path, **options: Any) -> CausalLM:
    return CausalLM(str(folder), options=CausalOptions(**options))


@pytest.mark.parametrize(
    "architecture",
    ["llama", "gpt2", "gpt_neox", "gemma2", "mistral", "gpt_neo", "bloom", "mamba", "jamba", "falcon_h1"],
)
def test_greedy_is_that_of_transformers(causal: Folders, architecture: str) -> None:
    """Greedy continuations have the token ids of generate(), prompt by prompt, for every architecture.

    Without a cache: that of Mamba forgot the start of prompts of two tokens in transformers 5.2.
    """
    folder = causal(architecture)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    prompts = prompts_of(architecture)
    for prompt, (made,) in zip(prompts, subject(folder).generate(prompts, GREEDY), strict=True):
        inputs = torch.tensor([tokenizer(prompt, add_special_tokens=False)["input_ids"]])
        given = {"attention_mask": torch.ones_like(inputs), "use_cache": False}
        whole = model.generate(inputs, max_new_tokens=10, do_sample=False, **given)
        expected = [token for token in whole[0, inputs.shape[1] :].tolist() if token not in (0, 2)]
        assert [token for token in made.token_ids if token != 0] == expected
        assert made.finish == ("end" if len(made.token_ids) < 10 else "length")
        assert made.seed is None


def test_the_text_is_what_is_added_to_the_prompt(causal: Folders) -> None:
    """Prompt and continuation together decode to the tokens of both, spaces included, BOS left out."""
    for architecture in ("gpt2", "llama"):
        for policy in ("published", "bos"):
            folder = causal(architecture)
            model = subject(folder, policy=PRESETS[policy])
            tokenizer = model.forward.tokenizer
            prompts = prompts_of(architecture)
            for prompt, (made,) in zip(prompts, model.generate(prompts, GREEDY), strict=True):
                ids = tokenizer.encode(prompt, add_special_tokens=False).ids
                assert prompt + made.text == tokenizer.decode([*ids, *made.token_ids])


@pytest.mark.parametrize("architecture", ["gpt2", "mamba", "jamba", "falcon_h1"])
def test_company_and_order_do_not_matter(causal: Folders, architecture: str) -> None:
    """Alone, backwards and in small groups a prompt has the same ten continuations, each with its seed."""
    model = subject(causal(architecture))
    together = model.generate(PROMPTS, TEN)
    assert model.generate(PROMPTS[::-1] * 2, TEN) == [*together[::-1], *together[::-1]]
    assert subject(causal(architecture), batch_tokens=1).generate(PROMPTS, TEN) == together
    for prompt, made in zip(PROMPTS, together, strict=True):
        assert model.generate([prompt], TEN) == [made]
        assert [each.seed for each in made] == [seed_of(3, prompt, number) for number in range(10)]
        assert model.generate([prompt], replace(TEN, n=4)) == [made[:4]]
    assert len({each.text for each in together[0]}) > 1
    assert model.generate(PROMPTS, replace(TEN, seed=4)) != together


def test_sampling_draws_from_the_most_probable(causal: Folders) -> None:
    """The first tokens of 2,000 continuations are the three most probable ones, in their proportions."""
    model = subject(causal("gpt2"))
    decoding = Decoding(method="sample", n=2_000, max_tokens=1, top_k=3, temperature=8.0)
    drawn = Counter(each.token_ids[0] if each.token_ids else 2 for each in model.generate(["The bark of"], decoding)[0])
    ids = model.forward.tokenizer.encode("The bark of", add_special_tokens=False).ids
    with torch.no_grad():
        logits = model.forward.model(torch.tensor([ids])).logits[0, -1].double()
    top = logits.topk(3)
    expected = torch.softmax(top.values / 8.0, dim=-1)
    assert set(drawn) == set(top.indices.tolist())
    for token, share in zip(top.indices.tolist(), expected.tolist(), strict=True):
        # five standard errors of a share of 2,000 draws
        assert drawn[token] / 2_000 == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 2_000))


def test_top_1_and_low_temperature_are_greedy(causal: Folders) -> None:
    """One most probable token, or a temperature near zero over all tokens, leaves nothing to chance."""
    model = subject(causal("gpt2"))
    greedy = [each[0].token_ids for each in model.generate(PROMPTS, GREEDY)]
    for decoding in (replace(TEN, n=2, top_k=1), replace(TEN, n=2, top_k=0, temperature=1e-6)):
        for ids, made in zip(greedy, model.generate(PROMPTS, decoding), strict=True):
            assert {each.token_ids for each in made} == {ids}


def test_stop_texts_end_a_continuation_before_them(causal: Folders) -> None:
    """The text ends before the first stop text; the ids are those that the text needs."""
    model = subject(causal("gpt2"))
    (free,) = model.generate(PROMPTS[:1], GREEDY)[0]
    stop = free.text[5:7]
    (made,) = model.generate(PROMPTS[:1], replace(GREEDY, stop=("never in it", stop)))[0]
    assert made.text == free.text[: free.text.index(stop)]
    assert made.finish == "stop"
    assert made.token_ids == free.token_ids[: len(made.token_ids)]
    assert len(made.token_ids) < len(free.token_ids)


def test_a_token_that_ends_the_text_ends_the_continuation(causal: Folders) -> None:
    """What the configuration names as end of text is not part of text or ids."""
    model = subject(causal("gpt2"))
    (free,) = model.generate(PROMPTS[:1], GREEDY)[0]
    model.forward.ends = frozenset({free.token_ids[3]})
    (made,) = model.generate(PROMPTS[:1], GREEDY)[0]
    until = free.token_ids.index(free.token_ids[3])
    assert (made.token_ids, made.finish) == (free.token_ids[:until], "end")


def test_what_cannot_be_continued(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt that leaves no room for the new tokens and NaN are errors that name the prompt."""
    model = subject(causal("gpt2"))
    assert model.generate([], GREEDY) == []
    with pytest.raises(SubjectError, match=r"250 tokens, the model reads at most 246"):
        model.generate(["," * 250], GREEDY)
    monkeypatch.setattr(
        "lexiscope.subjects.local._generation.next_logits", lambda *given: iter([torch.full((1, 9), np.nan)])
    )
    with pytest.raises(SubjectError, match=r"not finite[\s\S]*a bank"):
        model.generate(["a bank"], GREEDY)


def test_a_broken_call_continues(causal: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished groups of prompts are kept; the rest is made anew; all stored means no model."""
    whole = subject(causal("gpt2")).generate(PROMPTS, TEN)
    model = subject(causal("gpt2"))
    asked: list[Any] = []
    make = causal_lm.continue_group

    def second_fails(forward: Any, group: Any, decoding: Decoding) -> list[tuple[Continuation, ...]]:
        asked.append(group)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return make(forward, group, decoding)

    monkeypatch.setattr(causal_lm, "continue_group", second_fails)
    with pytest.raises(KeyboardInterrupt):
        model.generate(PROMPTS, TEN, work=tmp_path)
    assert model.generate(PROMPTS, TEN, work=tmp_path) == whole
    assert sum(map(len, asked)) == len(PROMPTS) + len(asked[1])
    stored = subject(causal("gpt2"))
    assert stored.generate(PROMPTS[::-1], TEN, work=tmp_path) == whole[::-1]
    assert "forward" not in vars(stored)
