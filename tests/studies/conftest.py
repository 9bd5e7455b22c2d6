"""What tests of studies share: a toy causal language model that learns texts by heart, what no own data may say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from lexiscope.core.claims import check_claims
from lexiscope.core.item import Item
from lexiscope.core.result import Record
from lexiscope.studies.kit.study import read_claims


def toy_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Whole words: each text has as many tokens as its rivals."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<unk>", "</s>"]))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", pad_token="</s>")


def train(items: Sequence[Item], asked: Sequence[Item], folder: Path, *, steps: Sequence[int]) -> list[Path]:
    """Learn the right texts by heart and save the model at each of the steps; all *asked* words are known."""
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
    for step in range(steps[-1] + 1):
        if step in steps:
            model.save_pretrained(folder / f"step{step}")
            tokenizer.save_pretrained(folder / f"step{step}")
            saved.append(folder / f"step{step}")
        loss = model(batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return saved


@pytest.fixture(scope="session")
def learn_by_heart() -> Callable[..., list[Path]]:
    """Return the function that trains a toy: ``(items, asked, folder, steps=…)`` gives a folder for every step."""
    return train


#: pay, exclusions, sample, registration and places of the papers: true of their data, of nobody else's
OF_PAPERS = re.compile(
    r"\bUSD\b|first language|Prolific|pre-?registration|osf\.io|[\">,]confirmatory|131 participants"
    r"|Asked in|Spanish|AmbiStory|ALBETO|BETO|§|as in the paper|those of the paper"
)


@pytest.fixture(scope="session")
def assert_own() -> Callable[[Path], None]:
    """Return the check that no file of a run on a user's data says what is true of a paper's data only."""

    def check(run: Path) -> None:
        texts = [path for path in run.rglob("*") if path.suffix in (".html", ".md", ".json", ".csv", ".tex", ".R")]
        assert texts
        for path in texts:
            # the page holds its tables once more, encoded
            text = re.sub(r"base64,[^\"]*", "", path.read_text(encoding="utf-8"))
            text = text.replace("(Spanish) Ambiguous Words: A New Lexical Resource", "")  # a reference for the methods
            said = [text[max(0, hit.start() - 40) : hit.end() + 20] for hit in OF_PAPERS.finditer(text)]
            assert not said, f"{path.relative_to(run)}: {said[:3]}"

    return check


def outcomes_of_claims(study: str, records: Sequence[Record]) -> dict[str, list[str]]:
    """What the numbers of a run say to the claims of a study's paper: their first words, by outcome."""
    folder = Path(str(import_module(f"lexiscope.studies.{study}").__file__)).parent
    claims = read_claims(folder / "claims.csv", dataset=study)
    datasets = {record.dataset for record in records}
    found: dict[str, list[str]] = {}
    for each in check_claims(dict.fromkeys(c for name in claims if name in datasets for c in claims[name]), records):
        found.setdefault(each.outcome, []).append(" ".join(each.claim.text.split()[:4]))
    return found
