"""Contamination in a run of norm: a model that learnt the item file is found out, an untrained one is not."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompting
from lexiscope.core.result import Contrast, Estimate, Result, Undefined
from lexiscope.core.subject import Continuation, Decoding, Subject
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.answers.numbers import Numbers
from lexiscope.studies.norm import answers, limits
from lexiscope.studies.norm.contamination import RECORDED, contamination
from lexiscope.studies.norm.data import NormRun, load_run
from lexiscope.studies.norm.settings import NormSettings
from lexiscope.subjects.local.causal_lm import CausalLM

N_ITEMS, WINDOW = 64, 12


def made_items(*, ordered: bool) -> list[Item]:
    """One item per word, in a random order or in that of the alphabet."""
    rng = np.random.default_rng(2)
    names = [f"{a}{b}{a}" for a in "bdfgklmp" for b in "aeiouyøü"]
    words = names if ordered else rng.permutation(names).tolist()
    items = []
    for number, word in enumerate(words):
        texts = [f"The {word} is {kind}." for kind in rng.permutation(["old", "new", "far", "red", "big"])[:2]]
        usages = tuple(Usage(text, 4, 4 + len(word), lemma=word, language="en") for text in texts)
        items.append(Item(f"i{number:02}", "made", usages))
    return items


def make_run(folder: Path, *, ordered: bool = False) -> NormRun:
    """A run on the items, whose ratings are simulated, with a baseline as its only subject."""
    folder.mkdir(exist_ok=True)
    items = made_items(ordered=ordered)
    write_items(items, folder / "items.csv")
    with (folder / "ratings.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["participant", "item", "rating"])
        for number, item in enumerate(items):
            rows.writerows((f"simulated-{rater}", item.item_id, 1 + (number + rater) % 5) for rater in range(3))
    settings = NormSettings(
        file=str(folder / "ratings.csv"), items=str(folder / "items.csv"), scale=(1, 5), language="en",
        subjects=("baseline:random",), n_bootstrap=10,
    )  # fmt: skip
    return load_run(settings, folder / "run")


def train(rows: list[str], folder: Path, *, steps: int, shuffled: bool = False) -> Path:
    """Save a small model that read windows of consecutive rows; *shuffled*, of rows in a new order in each step."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(rows, trainers.WordLevelTrainer(special_tokens=["<unk>", "</s>"]))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>")
    torch.manual_seed(1)
    sizes = {"n_positions": 160, "n_embd": 64, "n_layer": 2, "n_head": 4}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(fast), bos_token_id=1, eos_token_id=1, **sizes)).train(False)
    ids = torch.tensor(fast(rows)["input_ids"])
    optimiser, rng = torch.optim.AdamW(model.parameters(), lr=3e-3), np.random.default_rng(0)
    for _ in range(steps):
        own = ids[rng.permutation(len(rows))] if shuffled else ids
        batch = torch.stack([own[k : k + WINDOW].reshape(-1) for k in rng.integers(0, len(rows) - WINDOW + 1, 16)])
        loss = model(batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> NormRun:
    """The run on items in a random order."""
    return make_run(tmp_path_factory.mktemp("contamination") / "random")


def both_tests(run: NormRun, subject: Subject) -> list[Result]:
    """Both tests of one model in the run."""
    results = contamination(replace(run, live=(subject,)))
    return [result for result in results if result.subject == subject.subject_id]


def rows_of(run: NormRun) -> list[str]:
    """The rows of the item file."""
    return [",".join(usage.text for usage in item.usages) for item in run.items]


def test_a_model_that_read_the_file_is_found_out(run: NormRun, tmp_path: Path) -> None:
    """Trained on the rows in their order, the model prefers this order and continues it word for word."""
    results = both_tests(run, CausalLM(str(train(rows_of(run), tmp_path / "read", steps=250))))
    order, gap = results[0], results[3]
    assert isinstance(order, Estimate)
    assert isinstance(gap, Contrast)
    assert order.value > 1
    for p in (order.p, gap.p):
        assert p is not None
        assert p < 0.001
    assert gap.interval.low > 0
    answer = answers.CONTAMINATION.answer(Numbers(tuple(record for result in results for record in result.records())))
    assert answer is not None
    assert answer.verdict == "Yes."
    assert "the published order of the items is more probable than other orders" in answer.sentences[0]
    assert "times with the next item word for word" in answer.sentences[1]


@pytest.mark.parametrize("steps", [0, 150])
def test_a_model_that_has_not_read_the_order_is_not_found_out(steps: int, run: NormRun, tmp_path: Path) -> None:
    """An untrained model, and one that read the rows in ever other orders: both tests have p above .05."""
    results = both_tests(run, CausalLM(str(train(rows_of(run), tmp_path / "model", steps=steps, shuffled=True))))
    order, gap = results[0], results[3]
    assert isinstance(order, Estimate)
    assert isinstance(gap, Contrast)
    for p in (order.p, gap.p):
        assert p is not None
        assert p > 0.05
    answer = answers.CONTAMINATION.answer(Numbers(tuple(record for result in results for record in result.records())))
    assert answer is not None
    assert answer.verdict == "Not decided."
    assert "does not show that they were not read" in answer.caution


@dataclass
class Served:
    """A chat model behind a server that knows the file: it replies with the rows after the last one that it reads."""

    rows: list[str]
    asked: list[str] = field(default_factory=list)
    subject_id: str = "chat:model@http://127.0.0.1:9/v1"
    kind: str = "chat"
    facts: SubjectFacts = field(default_factory=lambda: SubjectFacts("chat:model", "chat"))
    prompting: Prompting = field(default_factory=Prompting)

    def converse(self, *_: object, **__: object) -> NoReturn:
        """Not asked here."""
        raise AssertionError

    def generate(
        self, prompts: Sequence[str], decoding: Decoding, *, work: Path | None = None, progress: object = None
    ) -> list[list[Continuation]]:
        """Return the next rows of the file."""
        assert decoding.method == "greedy"
        assert work is not None
        self.asked += prompts
        places = [self.rows.index(prompt.rstrip("\n").rsplit("\n", 1)[-1]) for prompt in prompts]
        return [[Continuation("\n".join(self.rows[place + 1 : place + 3]))] for place in places]


def test_a_model_behind_a_server_is_asked_only_on_demand(run: NormRun) -> None:
    """By default no request is sent; with --contamination 40, one for each of the 39 words that follow another."""
    served = Served(rows_of(run))
    order, continued = both_tests(run, served)
    assert isinstance(continued, Undefined)
    assert "it is behind a server, and the test was not asked for" in continued.reason
    assert not served.asked
    asking = replace(run, settings=replace(run.settings, contamination=40))
    order, first, second, gap = both_tests(asking, served)
    assert isinstance(order, Undefined)
    assert order.reason == "it gives no probabilities of texts"
    assert len(served.asked) == 39
    assert served.asked[0].startswith("These are consecutive rows of a published file.")
    assert [result.value for result in (first, second, gap)] == [1, 0, 1]  # type: ignore[attr-defined]


def test_an_order_that_is_sorted_is_not_tested_and_recorded_answers_are_named(run: NormRun, tmp_path: Path) -> None:
    """Words from a to z: a model may prefer them. A baseline and recorded answers cannot be asked. Limits say so."""
    alphabetical = make_run(tmp_path / "sorted", ordered=True)
    subject = CausalLM(str(train(rows_of(alphabetical), tmp_path / "model", steps=0)))
    order = both_tests(alphabetical, subject)[0]
    assert isinstance(order, Undefined)
    assert order.reason.startswith("the file is ordered by ")
    baseline, recorded = contamination(run), contamination(replace(run, live=()))
    assert {r.reason for r in recorded if isinstance(r, Undefined)} == {RECORDED}
    assert {r.reason for r in baseline if isinstance(r, Undefined)} == {
        "it gives no probabilities of texts and continues none"
    }
    assert len(recorded) == len(baseline) == 2
    assert "Contamination was not checked for baseline:random" in limits(run)[0]
