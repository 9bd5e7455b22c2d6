"""A toy language model saved at five steps of its training: the same suite over its states."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from lexiscope.core.item import Item
from lexiscope.core.result import find, read_records
from lexiscope.core.study import StudySettings
from lexiscope.datasets import mini_synonymy
from lexiscope.items.collection_file import write_collection
from lexiscope.items.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.turned import turned
from lexiscope.studies import synonymy

STEPS = (0, 10, 20, 40, 80)
CELL = "substitution/controlled"


def toy_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Whole words: each text has as many tokens as its rivals."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<unk>", "</s>"]))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", pad_token="</s>")


def train(items: tuple[Item, ...], asked: tuple[Item, ...], folder: Path) -> list[Path]:
    """Learn the right texts by heart and save the model at each of the five steps; all *asked* words are known."""
    everything = sorted({usage.text for item in asked for usage in item.usages})
    tokenizer = toy_tokenizer(everything)
    torch.manual_seed(1)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(tokenizer), n_positions=96, n_embd=32, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1
        )
    ).train(False)  # no dropout: the same steps give the same states
    batch = tokenizer([item.usages[0].text for item in items], return_tensors="pt", padding=True)
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    saved = []
    for step in range(STEPS[-1] + 1):
        if step in STEPS:
            model.save_pretrained(folder / f"step{step}")
            tokenizer.save_pretrained(folder / f"step{step}")
            saved.append(folder / f"step{step}")
        loss = model(batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return saved


@pytest.fixture(scope="module")
def collection() -> tuple[SynonymItem, ...]:
    return mini_synonymy.collection()[:8]


def test_a_toy_model_over_five_states_of_training(collection: tuple[SynonymItem, ...], tmp_path: Path) -> None:
    """It learns the right texts by heart: at its last state it has all of them right, at its first it does not.

    The states stand in the table and the figure in the order of what they had seen.
    """
    write_collection(collection, tmp_path / "own.csv")
    counts = tmp_path / "counts.csv"
    counts.write_text("word,count\nbill,3\n", encoding="utf-8")
    asked = choice_sets(collection)
    right = choice_sets(collection, suites=["substitution"], conditions=["controlled"])
    states = train(right, (*asked, *turned(asked)), tmp_path / "toy")
    given = tuple((f"causal_lm:{state}?self_test=no", float(step)) for state, step in zip(states, STEPS, strict=True))
    settings = StudySettings(
        "synonymy",
        items=str(tmp_path / "own.csv"),
        frequency=str(counts),
        checkpoints=given[::-1],
        n_bootstrap=10,
        gap_filling="no",
    )
    synonymy.run(settings, tmp_path / "run")
    with (tmp_path / "run" / "tables" / "checkpoints.csv").open(encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert [float(row[1]) for row in rows] == list(STEPS)
    records = read_records(tmp_path / "run" / "results.json")
    first, last = (
        find(records, "accuracy(per=token)", subject=f"causal_lm:{states[n]}", condition=CELL).value for n in (0, -1)
    )
    assert first is not None
    assert first < 100.0 == last
    assert float(rows[-1][header.index("substitution: controlled")]) == last
    assert (tmp_path / "run" / "figures" / "figure_checkpoints.svg").is_file()
