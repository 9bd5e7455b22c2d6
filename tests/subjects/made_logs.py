"""Logs as lm-evaluation-harness and inspect_ai write them, with answers by rule: those of no model and no person."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompting
from lexiscope.core.scoring import ScoringPolicy, TokenScores
from lexiscope.items.harness.asked import AskedAs
from lexiscope.items.harness.inspect_ai import write_inspect_task
from lexiscope.items.harness.lm_eval import write_lm_eval_task

TIME = "2026-01-02T03-04-05.678901"
MODEL = "made-up-model"


def example_items(task: str) -> tuple[Item, ...]:
    """The worked examples of a task, in English."""
    return tuple(catalog.module("tasks", task).example_items("en"))  # type: ignore[attr-defined]


def letter_values(text: str) -> list[float]:
    """A log-probability for each letter of a text, by its place and its code."""
    return [-(1 + (7 * ord(letter) + 3 * place) % 11) / 10 for place, letter in enumerate(text)]


class Letters:
    """A subject that scores texts by rule, each letter a token."""

    kind = "causal_lm"
    self_test = False

    def __init__(self, policy: ScoringPolicy, wording: str = "") -> None:
        self.policy, self.prompting, self.subject_id = policy, Prompting(variant=wording), MODEL

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, kind=self.kind)

    def score(self, texts: Sequence[str], **_: object) -> list[TokenScores]:
        return [_scores(text) for text in texts]


def _scores(text: str) -> TokenScores:
    places = np.arange(len(text))
    return TokenScores(np.array(letter_values(text)), places, places + 1)


def documents_of(task: str, folder: Path, *, wording: str = "", items: Sequence[Item] = ()) -> list[dict[str, Any]]:
    """The documents of an exported task."""
    asked, own = AskedAs(task, wording=wording), items or example_items(task)
    name = write_lm_eval_task(own, catalog.task(task), asked, folder / "task" / task / (wording or "first"))
    path = folder / "task" / task / (wording or "first") / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sample_of(document: Mapping[str, Any], number: int) -> dict[str, Any]:
    """The sample that lm-evaluation-harness 0.4.13 would log of a document."""
    befores = [*document["contexts"], *document["neutrals"]]
    pairs = list(zip(befores, document["choices"] * 2, strict=False))
    values = [sum(letter_values(before + answer)[len(before) :]) for before, answer in pairs]
    return {
        "doc_id": number,
        "doc": dict(document),
        "target": str(document["gold"]),
        "arguments": {f"gen_args_{n}": {"arg_0": before, "arg_1": answer} for n, (before, answer) in enumerate(pairs)},
        "resps": [[[str(value), "False"]] for value in values],
        "filtered_resps": [[str(value), "False"] for value in values],
        "filter": "none",
        "metrics": ["acc"],
    }


def write_samples(folder: Path, task: str, samples: Sequence[Mapping[str, Any]], **arguments: object) -> Path:
    """The files of a run of lm-evaluation-harness."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{TIME}.jsonl"
    path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    record = {"model_name": MODEL, "config": {"model": "hf", "model_args": arguments}}
    (folder / f"results_{TIME}.json").write_text(json.dumps(record), encoding="utf-8")
    return path


def inspect_samples(task: str, folder: Path, replies: Sequence[str]) -> list[dict[str, Any]]:
    """The samples that inspect_ai would log, with these replies in turn."""
    items = example_items(task)
    name = write_inspect_task(items, catalog.task(task), AskedAs(task), folder / "task" / task)
    lines = (folder / "task" / task / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_inspect_sample(json.loads(line), reply) for line, reply in zip(lines, replies, strict=True)]


def _inspect_sample(sample: dict[str, Any], reply: str) -> dict[str, Any]:
    said = {"role": "assistant", "content": reply, "source": "generate"}
    choice = {"message": said, "stop_reason": "stop"}
    output = {"model": MODEL, "choices": [choice], "usage": {"input_tokens": 9, "output_tokens": 1}}
    return sample | {"epoch": 1, "messages": [*sample["input"], said], "output": output}


def write_inspect_log(path: Path, samples: Sequence[Mapping[str, Any]]) -> Path:
    """A log in inspect_ai's JSON format."""
    record = {"version": 2, "status": "success", "eval": {"model": MODEL}, "samples": list(samples)}
    path.write_text(json.dumps(record), encoding="utf-8")
    return path
