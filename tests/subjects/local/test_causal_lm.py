"""The causal language model: the scores of the plain forward pass, whatever the route, the company and the order."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from lexiscope.collect import collect_run
from lexiscope.core import catalog
from lexiscope.core.errors import RunError, SpecError, SubjectError
from lexiscope.core.scoring import PRESETS, PUBLISHED, ScoringPolicy, TokenScores
from lexiscope.core.subject import SubjectSpec, capabilities
from lexiscope.datasets import mini_synonymy
from lexiscope.subjects._scoring_options import CausalOptions
from lexiscope.subjects.local import causal_lm
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local.causal_lm import CAPABILITIES, CausalLM, RouteCheck, load, tree_refusal, window_of

Folders = Callable[[str], Path]

# read through the prefix tree
TREE = [
    "llama",
    "gpt2",
    "gpt_neox",
    "olmo",
    "olmo2",
    "qwen2",
    "opt",
    "gptj",
    "gemma2",
    "cohere",
    "mistral_wide",
]
# a tree would be silently wrong (windows) or cannot be given (biases by distance, a recurrent state)
REFUSED = {
    "mistral": "window of 8",
    "gemma2_narrow": "window of 8",
    "gpt_neo": "window of 8",
    "bloom": "no positions",
    "mamba": "no positions",
}

CONTEXT = "He scraped the bark of the old oak tree, far from the river and the bank in town."
TEXTS = [
    *(f"{CONTEXT} Bark means {word}." for word in ("lime", "bank", "dog", "the bark of the dog")),
    *(f"He scraped the {word} of the old oak tree." for word in ("bark", "rind", "barks", "bank")),
    *(f"{word} is the same as {word}." for word in ("Bark", "River", "Tree")),
    "bank",
    "a",
    "El banco del parque está lejos.",
    "¡Ñandú, pingüino y corazón!",
    "the the the the the",
    "the the the",
]
# what the vocabulary of the tokenizer without bytes knows
KNOWN = [
    text for text in TEXTS if set(text) <= set("He scraped the bark of the old oak tree. Banco del parque está lejos")
]


def texts_of(architecture: str) -> list[str]:
    return KNOWN if architecture in ("llama", "mistral") else TEXTS


@lru_cache(maxsize=4)
def loaded(folder: Path) -> tuple[Any, Any]:
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


def plain(folder: Path, texts: Sequence[str], *, bos: bool = False) -> list[np.ndarray]:
    """The definition: one text at a time through the whole model, log-softmax in double precision."""
    tokenizer, model = loaded(folder)
    found = []
    for text in texts:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        whole = [tokenizer.bos_token_id, *ids] if bos else ids
        with torch.no_grad():
            scores = torch.log_softmax(model(torch.tensor([whole])).logits[0].double(), dim=-1)
        values = [float(scores[place, token]) for place, token in enumerate(whole[1:])]
        found.append(np.array(values if bos else [np.nan, *values]))
    return found


def same(scores: Sequence[TokenScores], expected: Sequence[np.ndarray]) -> None:
    """Compare to rounding: processors add in different orders, and the size of the numbers decides what that does."""
    for one, other in zip(scores, expected, strict=True):
        bound = rounding(np.nanmax(np.abs(other), initial=0.0))
        np.testing.assert_allclose(one.log_probabilities, other, atol=bound, rtol=0)


def subject(folder: Path, **options: Any) -> CausalLM:
    return CausalLM(str(folder), options=CausalOptions(**options))


# -- the same numbers as the plain forward pass -------------------------------------------------------------------


@pytest.mark.parametrize("architecture", TREE)
def test_the_tree_gives_the_plain_scores(causal: Folders, architecture: str) -> None:
    """Through the prefix tree every token has its plain log-probability to 1e-5, with and without BOS."""
    folder, texts = causal(architecture), texts_of(architecture)
    for policy in ("published", "bos"):
        model = subject(folder, policy=PRESETS[policy], row_tokens=32)
        same(model.score(texts), plain(folder, texts, bos=policy == "bos"))
        assert model.settings["route"] == "tree"
        assert model.settings["tokens_read"] < sum(len(scores) for scores in model.score(texts))
        assert 0 <= model.settings["difference"] <= rounding(10.0)
        assert model.settings["projection"] == "last hidden state"


@pytest.mark.parametrize("architecture", list(REFUSED))
def test_other_models_fall_back(causal: Folders, architecture: str) -> None:
    """Where a tree is not exact, batches give the plain scores to 1e-5, and the settings say why."""
    folder, texts = causal(architecture), texts_of(architecture)
    for policy in ("published", "bos"):
        model = subject(folder, policy=PRESETS[policy], batch_tokens=64)
        same(model.score(texts), plain(folder, texts, bos=policy == "bos"))
        assert model.settings["route"] == "batched"
        assert REFUSED[architecture] in model.settings["refused"]


@pytest.mark.parametrize("architecture", list(REFUSED))
def test_scoring_both_ways_sees_what_the_configuration_hides(
    causal: Folders, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the configuration is not understood, the numbers themselves refuse the tree."""
    monkeypatch.setattr("lexiscope.subjects.local.causal_lm.tree_refusal", lambda config, attention, row: "")
    folder, texts = causal(architecture), texts_of(architecture)
    model = subject(folder)
    same(model.score(texts), plain(folder, texts))
    assert model.settings["route"] == "batched"
    raised = architecture in ("bloom", "mamba")
    assert ("cannot be read as rows" if raised else "differ by") in model.settings["refused"]


def test_a_route_that_was_asked_for_is_used_or_refused(causal: Folders) -> None:
    """route= is never replaced silently: single and batched run, a tree that is not exact is an error."""
    for route in ("single", "batched", "tree"):
        model = subject(causal("gpt2"), route=route)
        same(model.score(TEXTS), plain(causal("gpt2"), TEXTS))
        assert model.settings["route"] == route
    with pytest.raises(SubjectError, match=r"'tree' is not exact[\s\S]*window of 8"):
        subject(causal("mistral"), route="tree").score(KNOWN)


def test_batches_that_are_not_exact_are_left(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that looks right (here: made to) is read one text at a time, and both refusals are said."""
    monkeypatch.setattr(
        "lexiscope.subjects.local.causal_lm._largest_difference", lambda forward, plan, plain, lean: 0.5
    )
    model = subject(causal("gpt2"))
    same(model.score(TEXTS), plain(causal("gpt2"), TEXTS))
    assert model.settings["route"] == "single"
    assert "the prefix tree differ by 5.0e-01" in model.settings["refused"]
    assert "batches differ by 5.0e-01" in model.settings["refused"]
    with pytest.raises(SubjectError, match="'batched' is not exact"):
        subject(causal("gpt2"), route="batched").score(TEXTS)


def test_differences_are_judged_by_the_size_of_the_numbers(causal: Folders, tmp_path: Path) -> None:
    """Log-probabilities in the thousands differ by more than 1e-4 between exact routes: the tree remains exact."""
    tokenizer, model = loaded(causal("gpt_neox"))
    model.get_output_embeddings().weight.data *= 10_000
    try:
        model.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
    finally:
        loaded.cache_clear()
    scorer = subject(tmp_path)
    expected = plain(tmp_path, TEXTS)
    assert np.nanmax(np.abs(np.concatenate(expected))) > 1_000
    same(scorer.score(TEXTS), expected)
    assert scorer.settings["route"] == "tree"


def test_a_text_longer_than_the_window_is_read_in_batches(causal: Folders) -> None:
    """A row may be as long as the attention window; a longer text is not forced through the tree."""
    folder = causal("mistral")
    model = subject(folder, row_tokens=8)
    texts = [text for text in KNOWN if len(model._tokenise([text])[0].ids) < 8]
    assert texts
    same(model.score(texts), plain(folder, texts))
    assert model.settings["route"] == "tree"
    same(model.score(KNOWN), plain(folder, KNOWN))
    assert model.settings["route"] == "batched"
    assert "longer than the model's attention window of 8" in model.settings["refused"]


def test_windows_and_refusals_by_configuration() -> None:
    """What the configuration says of windows, biases and recurrent layers, as transformers names it."""
    none = window_of(transformers.LlamaConfig())
    assert window_of(transformers.MistralConfig(sliding_window=64)) == 64
    assert window_of(transformers.Qwen2Config(sliding_window=64, use_sliding_window=False)) == none
    assert window_of(transformers.GPTNeoConfig()) == 256
    assert window_of(transformers.GPTNeoConfig(attention_types=[[["global"], 24]])) == none
    assert tree_refusal(transformers.MistralConfig(sliding_window=512), "sdpa", 512) == ""
    assert "window" in tree_refusal(transformers.MistralConfig(sliding_window=511), "sdpa", 512)
    assert "no positions" in tree_refusal(transformers.FalconConfig(alibi=True), "sdpa", 512)
    assert "'flash_attention_2'" in tree_refusal(transformers.LlamaConfig(), "flash_attention_2", 512)


def test_a_model_whose_logits_are_more_than_a_projection(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no known scaling explains the logits, those of the whole model are used, and it is said."""
    monkeypatch.setattr(
        "lexiscope.subjects.local._causal_forward.CausalForward._find_scaling", lambda self, place: None
    )
    model = subject(causal("gemma2"))
    same(model.score(TEXTS), plain(causal("gemma2"), TEXTS))
    assert model.settings["projection"] == "whole model"


# -- company, order, size -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["tree", "batched", "single"])
def test_company_order_and_padding_do_not_matter(causal: Folders, route: str) -> None:
    """Alone, shuffled and repeated, in rows and batches of any size, a text has the same scores to 1e-5."""
    folder = causal("gpt_neox")
    together = subject(folder, route=route).score(TEXTS)
    shuffled = random.Random(3).sample(range(len(TEXTS)), len(TEXTS))
    for size in (1, 24, 4_096):
        model = subject(folder, route=route, row_tokens=max(size, 16), batch_tokens=size)
        for number, scores in zip([*shuffled, *shuffled], model.score([TEXTS[n] for n in shuffled] * 2), strict=True):
            same([scores], [together[number].log_probabilities])
    for text, scores in zip(TEXTS, together, strict=True):
        same(subject(folder, route=route).score([text]), [scores.log_probabilities])


def test_the_same_texts_in_another_order_have_the_same_bytes(causal: Folders) -> None:
    """Rows follow from the set of texts, so that their order changes no bit."""
    model = subject(causal("gpt2"))
    forwards, backwards = model.score(TEXTS), model.score(TEXTS[::-1])[::-1]
    for one, other in zip(forwards, backwards, strict=True):
        assert one.log_probabilities.tobytes() == other.log_probabilities.tobytes()


def test_nothing_asked_nothing_loaded(tmp_path: Path) -> None:
    """No texts and no prompts give no scores, without a model."""
    assert CausalLM("/nowhere").score([]) == []


def test_there_is_never_a_matrix_of_all_tokens_by_the_vocabulary(
    causal: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without lean kernels the projection runs in chunks, on the tokens alone that another token follows."""
    monkeypatch.setattr("lexiscope.subjects.local._causal_forward.CausalForward.kernels", lambda self, route: "")
    model = subject(causal("gpt2"))
    head, rows = model.forward._head, []
    model._route_check  # noqa: B018
    monkeypatch.setattr("lexiscope.subjects.local._causal_forward._CHUNK_ROWS", 16)
    head.register_forward_hook(lambda module, inputs, output: rows.append(len(output)))
    model.score(TEXTS)
    assert 8 < max(rows) <= 16
    followed = {ids[:length] for text in model._tokenise(TEXTS) for ids in [text.ids] for length in range(1, len(ids))}
    assert sum(rows) == len(followed)
    assert model.settings["kernels"] == "plain"


# -- what a score is ----------------------------------------------------------------------------------------------


def test_offsets_cover_the_text(causal: Folders) -> None:
    """Special tokens are left out; offsets are the tokenizer's, and a token of its own mark has a character."""
    for architecture in ("gpt2", "llama"):
        for text, scores in zip(
            texts_of(architecture), subject(causal(architecture)).score(texts_of(architecture)), strict=True
        ):
            assert (scores.starts < scores.ends).all()
            assert (scores.starts[0], scores.ends[-1]) == (0, len(text))
            covered = {n for a, b in zip(scores.starts, scores.ends, strict=True) for n in range(a, b)}
            assert {n for n, character in enumerate(text) if character != " "} <= covered


def test_pieces_of_one_character_overlap(causal: Folders) -> None:
    """A letter cut into several byte tokens gives each of them its offsets, so that all count for a word."""
    text = "He saw 漢."
    (scores,) = subject(causal("gpt2")).score([text])
    pieces = [n for n, start in enumerate(scores.starts) if start in (6, 7) and scores.ends[n] == 8]
    assert len(pieces) >= 3
    assert ScoringPolicy(bos="no", tokens="word").counted_tokens(scores, text, (7, 8))[-3:] == pieces[-3:]


def test_a_tokenizer_that_adds_special_tokens_adds_none_here(causal: Folders) -> None:
    """The tokenizer's own template puts BOS and EOS around a text; a score knows BOS by its policy alone."""
    folder = causal("gpt2")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer("bank")["input_ids"]) == len(tokenizer("bank", add_special_tokens=False)["input_ids"]) + 2
    without, with_bos = (subject(folder, policy=PRESETS[name]).score(["bank"])[0] for name in ("published", "bos"))
    assert len(without) == len(with_bos) == len(tokenizer("bank", add_special_tokens=False)["input_ids"])
    assert np.isnan(without.log_probabilities).tolist() == [True] + [False] * (len(without) - 1)
    assert not np.isnan(with_bos.log_probabilities).any()


def test_uniform_logits_are_exactly_chance(causal: Folders, tmp_path: Path) -> None:
    """A model whose projection is zero gives every text -n log V: equal lengths tie exactly."""
    folder = tmp_path / "uniform"
    tokenizer, model = loaded(causal("gpt_neox"))
    torch.nn.init.zeros_(model.get_output_embeddings().weight)
    try:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    finally:
        loaded.cache_clear()
    policy = ScoringPolicy(bos="yes", first="scored", per="text")
    scores = subject(folder, policy=policy).score(TEXTS)
    totals: dict[int, set[float]] = {}
    for text, each in zip(TEXTS, scores, strict=True):
        total = policy.value(each, text)
        assert total == pytest.approx(-len(each) * np.log(model.config.vocab_size), rel=rounding(1.0))
        totals.setdefault(len(each), set()).add(total)
    assert {len(values) for values in totals.values()} == {1}


# -- what cannot be scored ----------------------------------------------------------------------------------------


def test_texts_that_cannot_be_scored_are_named(causal: Folders) -> None:
    """Empty, too long and unknown texts are refused by name; nothing is cut off."""
    model = subject(causal("gpt2"))
    with pytest.raises(SubjectError, match="a text is empty"):
        model.score(["bank", ""])
    with pytest.raises(SubjectError, match=r"reads at most 256[\s\S]*bank, bank"):
        model.score(["bank", "bank, " * 200])
    with pytest.raises(SubjectError, match=r"does not know a part[^\n]*\n    the 漢 bank\n        \^"):
        subject(causal("llama")).score(["bank", "the 漢 bank"])
    with pytest.raises(SubjectError, match="2 texts cannot be scored"):
        subject(causal("llama")).score(["漢", "the 漢 bank"])


def test_the_bos_token_takes_a_place(causal: Folders) -> None:
    """A text of as many tokens as the model reads is scored without BOS and refused with it."""
    text = "," * 256
    assert len(subject(causal("gpt2")).score([text])[0]) == 256
    with pytest.raises(SubjectError, match="256 tokens, the model reads at most 255"):
        subject(causal("gpt2"), policy=PRESETS["bos"]).score([text])


def copy_of(folder: Path, to: Path) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    return to


def test_bos_without_a_bos_token(causal: Folders, tmp_path: Path) -> None:
    """A tokenizer that names no BOS token is refused with what to do; naming the token gives the same scores."""
    folder = copy_of(causal("gpt2"), tmp_path / "no_bos")
    config = folder / "tokenizer_config.json"
    config.write_text(config.read_text().replace('"bos_token": "<s>",', ""))
    with pytest.raises(SubjectError, match=r"no beginning-of-sequence token[\s\S]*bos=no"):
        subject(folder, policy=PRESETS["bos"]).score(TEXTS)
    named = subject(folder, policy=PRESETS["bos"], bos_token="<s>")
    same(named.score(TEXTS), plain(causal("gpt2"), TEXTS, bos=True))
    with pytest.raises(SubjectError, match="no token '<begin>'"):
        subject(folder, policy=PRESETS["bos"], bos_token="<begin>").score(TEXTS)


@pytest.mark.parametrize("token", ["<a&b=c>", "50%", "%26", "<|begin|>"])
def test_any_text_can_be_named_as_bos_token(token: str) -> None:
    """The id parses back to the same token, whatever signs it has."""
    named = CausalLM("org/model", options=CausalOptions(policy=PRESETS["bos"], bos_token=token))
    again = catalog.subject(named.subject_id)
    assert isinstance(again, CausalLM)
    assert (again.options.bos_token, again.subject_id) == (token, named.subject_id)


def test_scores_that_are_not_finite_are_refused(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN is an error that names the text; a model that gives nothing else is refused when it is loaded."""
    model = subject(causal("gpt2"))
    run = model.forward.run
    model._route_check  # noqa: B018

    def broken(unit: Any, *, lean: bool) -> np.ndarray:
        scores = run(unit, lean=lean).copy()
        scores[-1] = np.nan
        return scores

    monkeypatch.setattr(model.forward, "run", broken)
    with pytest.raises(SubjectError, match=r"not finite[\s\S]*the the the"):
        model.score(["bank", "the the the"])
    ruined = subject(causal("gpt2"))
    ruined.forward._head.weight.data[:] = np.nan
    try:
        with pytest.raises(SubjectError, match="not finite"):
            ruined.score(TEXTS)
    finally:
        loaded.cache_clear()


# -- a broken call continues --------------------------------------------------------------------------------------


def test_a_broken_call_continues_with_the_same_bytes(
    causal: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finished rows are kept; the second call computes the others alone and ends with the bytes of one call."""
    whole = subject(causal("gpt2"), row_tokens=16).score(TEXTS)
    model = subject(causal("gpt2"), row_tokens=16)
    run, asked = model.forward.run, []
    model._route_check  # noqa: B018

    def third_fails(unit: Any, *, lean: bool) -> np.ndarray:
        asked.append(unit)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return run(unit, lean=lean)

    monkeypatch.setattr(model.forward, "run", third_fails)
    with pytest.raises(KeyboardInterrupt):
        model.score(TEXTS, work=tmp_path)
    continued = model.score(TEXTS, work=tmp_path)
    assert len(asked) == 1 + len(
        model._plan_units([text.ids for text in model._tokenise(sorted(set(TEXTS)))], model._route_check, 1).units
    )
    for again in (continued, subject(causal("gpt2"), row_tokens=16).score(TEXTS[::-1], work=tmp_path)[::-1]):
        for one, other in zip(again, whole, strict=True):
            assert one.log_probabilities.tobytes() == other.log_probabilities.tobytes()
            assert one.starts.tolist() == other.starts.tolist()


def test_stored_scores_need_no_model(causal: Folders, tmp_path: Path) -> None:
    """A second call whose scores are all stored imports no torch, and its settings are those of the first."""
    model = subject(causal("gpt2"), policy=PRESETS["bos"])
    first = model.score(TEXTS, work=tmp_path)
    code = (
        "import sys; from pathlib import Path; from lexiscope.core.catalog import subject\n"
        f"s = subject({model.subject_id!r}); found = s.score({TEXTS!r}, work=Path({str(tmp_path)!r}))\n"
        "assert not {'torch', 'transformers', 'tokenizers'} & set(sys.modules)\n"
        "print(repr((s.settings, [float(each.log_probabilities.sum()) for each in found])))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == repr((model.settings, [float(each.log_probabilities.sum()) for each in first]))


def test_what_is_stored_is_checked_and_belongs_to_one_model(causal: Folders, tmp_path: Path) -> None:
    """A damaged file is named; another model, policy or type never reads these scores."""
    first = subject(causal("gpt2")).score(TEXTS, work=tmp_path)
    other = subject(causal("gpt2"), policy=PRESETS["bos"]).score(TEXTS, work=tmp_path)
    assert not np.isnan(other[0].log_probabilities[0])
    assert np.isnan(first[0].log_probabilities[0])
    same(subject(causal("opt")).score(TEXTS, work=tmp_path), plain(causal("opt"), TEXTS))
    for path in tmp_path.rglob("*.plan"):
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(RunError, match="damaged"):
        subject(causal("gpt2")).score(TEXTS, work=tmp_path)


def test_progress_rises_to_the_scored_tokens(causal: Folders) -> None:
    """Progress counts distinct scored tokens and ends at their number."""
    seen: list[tuple[int, int]] = []
    model = subject(causal("gpt2"), row_tokens=16)
    model.score(TEXTS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (model.settings["tokens"],) * 2
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


# -- what it says of itself ---------------------------------------------------------------------------------------


def test_specs() -> None:
    """Name, revision and options parse; unknown ones are refused; only what changes numbers is in the id."""
    spec = "causal_lm:org/model#v1?bos=yes&first=scored&tokens=word&dtype=bf16&threads=2&route=tree&self_test=no"
    model = load(SubjectSpec.parse(spec))
    assert model.subject_id == "causal_lm:org/model#v1?bos=yes&first=scored&tokens=word&dtype=bf16"
    assert (model.options.threads, model.options.route, model.self_test) == (2, "tree", False)
    assert capabilities(model) == CAPABILITIES
    assert load(SubjectSpec.parse("causal_lm:org/model")).policy == PUBLISHED
    assert load(SubjectSpec.parse("causal_lm:org/model?policy=word")).policy == PRESETS["word"]
    assert load(SubjectSpec.parse("causal_lm:org/model?policy=published")).subject_id == "causal_lm:org/model"
    for wrong in ("dtype=fp8", "speed=high", "threads=two", "policy=best", "bos=maybe", "first=scored", "self_test=1"):
        with pytest.raises(SpecError):
            load(SubjectSpec("causal_lm", f"org/m?{wrong}"))


def test_facts_are_counted(causal: Folders) -> None:
    """Parameters are those of the whole model, its projection on the vocabulary included, shared weights once."""
    for architecture in ("gpt2", "gpt_neox", "llama"):
        facts = subject(causal(architecture)).facts
        model = transformers.AutoModelForCausalLM.from_pretrained(causal(architecture))
        assert facts.n_parameters == sum(parameter.numel() for parameter in model.parameters())
        assert (facts.n_layers, facts.width) == (3, 16)
        assert len(facts.revision) == 64


def test_coarse_types_are_other_subjects(causal: Folders) -> None:
    """bf16 gives scores near those of fp32, under another id, and its guard allows for its grain."""
    fine, coarse = subject(causal("gpt2")), subject(causal("gpt2"), dtype="bf16")
    apart = max(
        np.nanmax(np.abs(one.log_probabilities - other.log_probabilities))
        for one, other in zip(fine.score(TEXTS[:8]), coarse.score(TEXTS[:8]), strict=True)
    )
    assert 1e-4 < apart < 0.5
    assert coarse.subject_id == f"{fine.subject_id}?dtype=bf16"


def test_code_of_a_model_is_not_run(causal: Folders, tmp_path: Path) -> None:
    """A model that needs its own code is refused, also where another revision is named."""
    folder = copy_of(causal("llama"), tmp_path / "own_code")
    config = folder / "config.json"
    own = '"model_type": "mine", "auto_map": {"AutoConfig": "code.C", "AutoModelForCausalLM": "code.M"}'
    config.write_text(config.read_text().replace('"model_type": "llama"', own))
    canary = tmp_path / "canary"
    (folder / "code.py").write_text(f"open({str(canary)!r}, 'w')\n")
    with pytest.raises(SubjectError, match="needs code that comes with it"):
        subject(folder).score(["bank"])
    with pytest.raises(SubjectError, match="not the revision of this model"):
        subject(folder, trust_remote_code="0123456789abcdef").score(["bank"])
    assert not canary.exists()


@pytest.mark.parametrize("other", ["difference", "route"])
def test_a_continued_run_keeps_the_first_provenance(
    causal: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """A run is broken off in its first part; where it is continued, the check of the routes finds another difference,
    or trusts another route: run.json, the seals and the answers are those of a run that was never broken off."""
    items, spec = mini_synonymy.load().items[:4], f"causal_lm:{causal('gpt2')}?row_tokens=16&self_test=no"
    asked: dict[str, Any] = {"items": items, "task": "minimal_pair"}
    collect_run(subjects=[catalog.subject(spec)], out=tmp_path / "whole", **asked)

    def stop(_name: str, _done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect_run(subjects=[catalog.subject(spec)], out=tmp_path / "broken", progress=stop, **asked)
    checked = causal_lm.check_routes

    def otherwise(*given: Any, **budgets: Any) -> RouteCheck:
        found = checked(*given, **budgets)
        changes = {"difference": found.difference + 1e-6}
        return replace(found, **(changes | ({"route": "batched", "refused": "x"} if other == "route" else {})))

    monkeypatch.setattr(causal_lm, "check_routes", otherwise)
    collect_run(subjects=[catalog.subject(spec)], out=tmp_path / "broken", **asked)
    for name in ("run.json", "responses.parquet"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    seals = [sorted((tmp_path / run / "parts").glob("*.json")) for run in ("broken", "whole")]
    assert [one.read_bytes() for one in seals[0]] == [one.read_bytes() for one in seals[1]]
    assert len(seals[0]) == 1
