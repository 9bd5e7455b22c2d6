"""Export for inspect_ai: each sample is the question that a chat model is asked, with the ID of its item."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.items.harness.asked import AskedAs
from lexiscope.items.harness.inspect_ai import write_inspect_task


def example_items(task: str) -> tuple[Item, ...]:
    return tuple(catalog.module("tasks", task).example_items("en"))  # type: ignore[attr-defined]


def exported(items: tuple[Item, ...], task: str, folder: Path) -> tuple[list[dict[str, Any]], str]:
    """The samples of an exported task, and its code."""
    name = write_inspect_task(items, catalog.task(task), AskedAs(task), folder)
    assert {path.name for path in folder.iterdir()} == {f"{name}.py", f"{name}.jsonl"}
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines], (folder / f"{name}.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", catalog.names("tasks"))
def test_a_task_can_be_exported_or_says_why_not(name: str, tmp_path: Path) -> None:
    """Tasks that are asked as text can, with code that is Python; minimal pairs name the other program."""
    task, items = catalog.task(name), example_items(name)
    if task.asks is None:
        with pytest.raises(CapabilityError, match="--to lm-eval"):
            exported(items, name, tmp_path / "task")
        return
    samples, code = exported(items, name, tmp_path / "task")
    ast.parse(code)
    assert [sample["id"] for sample in samples] == [item.item_id for item in items]
    for sample, item in zip(samples, items, strict=True):
        assert sample["input"] == task.asks(item).as_json()


def test_the_scorer_of_each_kind_of_question(tmp_path: Path) -> None:
    """A number on the scale; the correct option; an option, if no correct one is known; nothing for a text."""
    same = example_items("same_sense")
    for number, (task, items, scorer) in enumerate(
        (
            ("relatedness", example_items("relatedness"), "rating()"),
            ("same_sense", same, "correct_option()"),
            ("same_sense", tuple(replace(item, gold=None) for item in same), "chosen_option()"),
            ("gap_filling", example_items("gap_filling"), "None"),
        )
    ):
        samples, code = exported(items, task, tmp_path / f"task{number}")
        assert f"scorer={scorer}," in code
        if task == "relatedness":
            assert samples[0]["metadata"]["scale"] == [1, 5]
        if scorer == "correct_option()":
            assert [sample["target"] for sample in samples] == [item.gold for item in items]
