"""Export for lm-evaluation-harness: every task tells the truth about what it can export, and documents keep the IDs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.items.harness.asked import AskedAs, read_asked
from lexiscope.items.harness.lm_eval import FUNCTIONS, write_lm_eval_task


def example_items(task: str) -> tuple[Item, ...]:
    return tuple(catalog.module("tasks", task).example_items("en"))  # type: ignore[attr-defined]


def exported(items: tuple[Item, ...], task: str, folder: Path, asked: AskedAs | None = None) -> list[dict[str, Any]]:
    """The documents of an exported task."""
    name = write_lm_eval_task(items, catalog.task(task), asked or AskedAs(task), folder)
    assert {path.name for path in folder.iterdir()} == {f"{name}.yaml", f"{name}.jsonl", FUNCTIONS}
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", catalog.names("tasks"))
def test_a_task_can_be_exported_or_says_why_not(name: str, tmp_path: Path) -> None:
    """Tasks that models answer with scores of texts can; the others name the other program."""
    task, items = catalog.task(name), example_items(name)
    assert (task.scored is not None) == task.asks_of("Scores")
    if task.scored is None:
        with pytest.raises(CapabilityError, match="--to inspect"):
            exported(items, name, tmp_path / "task")
        assert task.asks is not None
        return
    for document, item in zip(exported(items, name, tmp_path / "task"), items, strict=True):
        assert document["item_id"] == item.item_id
        assert len(document["choices"]) == len(document["contexts"]) == len(document["options"]) >= 2
        asked = read_asked(document, place=None)  # type: ignore[arg-type]
        assert (asked.task, asked.view) == (name, "full")
        if item.gold in document["options"]:
            assert document["options"][document["gold"]] == item.gold


def test_the_yaml_of_each_kind_of_question(tmp_path: Path) -> None:
    """Plain options: accuracy; the context's share: a class; ratings: their mean; no correct answer: no accuracy."""

    def lines(name: str, items: tuple[Item, ...]) -> dict[str, Any]:
        folder = tmp_path / f"{name}{len(list(tmp_path.iterdir()))}"
        written = write_lm_eval_task(items, catalog.task(name), AskedAs(name), folder)
        text = (folder / f"{written}.yaml").read_text(encoding="utf-8")
        return dict(YAML(typ="safe").load(text.replace("!function ", "")))

    plain = lines("same_sense", example_items("same_sense"))
    assert (plain["output_type"], plain["metric_list"][0]["metric"]) == ("multiple_choice", "acc")
    assert "class" not in plain
    assert "process_results" not in plain
    assert lines("word_intrusion", example_items("word_intrusion"))["class"] == "lexiscope_task.GainByContext"
    rated = lines("relatedness", example_items("relatedness"))
    assert rated["process_results"] == "lexiscope_task.expected_rating"
    without = tuple(replace(item, gold=None) for item in example_items("same_sense"))
    assert lines("same_sense", without)["process_results"] == "lexiscope_task.no_metric"


def test_the_correct_text_is_not_always_the_first(tmp_path: Path) -> None:
    """Whole texts are in alphabetical order: a tie does not count as correct because of the order of a choice set."""
    documents = exported(example_items("minimal_pair"), "minimal_pair", tmp_path / "task")
    for document in documents:
        assert document["choices"] == sorted(document["choices"])
        assert document["options"][document["gold"]] == "correct"


def test_wordings_views_and_shots_that_a_task_does_not_have(tmp_path: Path) -> None:
    """Each is refused before anything is written."""
    same, pair = example_items("same_sense"), example_items("minimal_pair")
    for items, asked, error in (
        (same, AskedAs("same_sense", wording="riddle"), InputError),
        (same, AskedAs("same_sense", shots=2), SpecError),
        (pair, AskedAs("minimal_pair", wording="question"), SpecError),
        (pair, AskedAs("minimal_pair", view="context"), SpecError),
    ):
        with pytest.raises(error):
            exported(items, asked.task, tmp_path / "task", asked)
        assert not (tmp_path / "task").exists()
    hidden = exported(same, "same_sense", tmp_path / "task", AskedAs("same_sense", "context", "statement"))
    assert all("[X]" in document["context"] and "The statement is" in document["context"] for document in hidden)
