"""The small published model on the released items: an independent scorer's numbers, and its README's accuracies."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from lexiscope.core.item import Item
from lexiscope.core.scoring import PRESETS
from lexiscope.datasets.synonymy import collection
from lexiscope.items.choice_sets.minimal_pairs import choice_sets
from lexiscope.subjects._scoring_options import CausalOptions
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local.causal_lm import CausalLM

pytestmark = pytest.mark.published

# percent right in the clean variant (README of the model): no BOS mean and sum, BOS mean and sum
ACCURACIES = {
    ("T12", "controlled"): (67.5, 67.5, 65.0, 66.5),
    ("T12", "random"): (23.0, 63.5, 18.0, 58.0),
    ("T13", "controlled"): (56.0, 56.0, 54.5, 58.0),
    ("T11", "controlled"): (54.0, 57.0, 55.5, 60.0),
    ("T11", "random"): (11.5, 46.0, 12.0, 43.5),
    ("T7", "correct_vs_random"): (10.0, 40.5, 12.5, 38.5),
    ("T7", "incorrect_vs_random"): (8.0, 35.5, 9.5, 29.0),
}
BOTH_WITHOUT_CONTEXT = (2.0, 22.0, 2.0, 16.0)


@pytest.fixture(scope="module")
def model(published: Path) -> Path:
    return published.parent / "models" / "tiny-causal-en"


def released_texts(published: Path) -> list[str]:
    """The sentences of the human sheet, without the brackets round the word."""
    with (published / "synonymy" / "human_test.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [row[name].replace("[", "").replace("]", "") for row in rows[::2] for name in ("sentence_a", "sentence_b")]


def independent(model: Path, texts: Sequence[str], *, bos: bool) -> tuple[np.ndarray, np.ndarray]:
    """Sum and mean of every text by the definition: one text at a time, log-softmax in double precision."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    network = transformers.AutoModelForCausalLM.from_pretrained(model).eval()
    sums, counts = [], []
    for text in texts:
        ids = ([tokenizer.bos_token_id] if bos else []) + tokenizer(text, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            scores = torch.log_softmax(network(torch.tensor([ids])).logits[0, :-1].double(), dim=-1)
        sums.append(float(scores.gather(1, torch.tensor(ids[1:])[:, None]).sum()))
        counts.append(len(ids) - 1)
    return np.array(sums), np.array(sums) / np.array(counts)


@pytest.mark.parametrize("name", ["published", "bos"])
def test_sums_and_means_are_those_of_an_independent_scorer(published: Path, model: Path, name: str) -> None:
    """200 released sentences: sums and means to a part in 100,000 of the largest (2e-3 and 5e-5 are required)."""
    texts = released_texts(published)
    assert len(texts) == 200
    sums, means = independent(model, texts, bos=name == "bos")
    policy = PRESETS[name]
    scorer = CausalLM(str(model), options=CausalOptions(policy=policy))
    scores = scorer.score(texts)
    found = np.array([policy.divided_by("text").value(each, text) for each, text in zip(scores, texts, strict=True)])
    per_token = np.array([policy.value(each, text) for each, text in zip(scores, texts, strict=True)])
    np.testing.assert_allclose(found, sums, atol=rounding(np.abs(sums).max()), rtol=0)
    np.testing.assert_allclose(per_token, means, atol=rounding(np.abs(means).max()), rtol=0)
    assert scorer.settings["route"] == "tree"
    assert scorer.facts.n_parameters == 7_212_288


def right(items: Sequence[Item], values: dict[str, float]) -> np.ndarray:
    """1 where the right option is strictly better than every other, else 0."""
    rows = [[values[usage.text] for usage in item.usages] for item in items]
    return np.array([row[0] > max(row[1:]) for row in rows], dtype=float)


def test_the_accuracies_of_the_models_readme(published: Path, model: Path) -> None:
    """Eight rows of four columns: suites and conditions by mean and by sum, with and without BOS, exactly."""
    items = collection(published)
    sets = {
        (suite, condition): choice_sets(items, suites=[suite], conditions=[condition])
        for suite, condition in ACCURACIES
    }
    texts = sorted({usage.text for each in sets.values() for item in each for usage in item.usages})
    found: dict[tuple[str, str], list[float]] = {}
    for name in ("published", "bos"):
        scores = CausalLM(str(model), options=CausalOptions(policy=PRESETS[name])).score(texts)
        for per in ("token", "text"):
            policy = PRESETS[name].divided_by(per)
            values = {text: policy.value(each, text) for each, text in zip(scores, texts, strict=True)}
            judged = {key: right(each, values) for key, each in sets.items()}
            both = judged["T7", "correct_vs_random"] * judged["T7", "incorrect_vs_random"]
            for key, each in {**judged, ("T7", "both"): both}.items():
                assert len(each) == 200
                found.setdefault(key, []).append(each.sum() / 2)
    assert {key: tuple(each) for key, each in found.items()} == {**ACCURACIES, ("T7", "both"): BOTH_WITHOUT_CONTEXT}
