"""What every task in the catalog owes: its words, answer functions for known capabilities, measures, a scale."""

from __future__ import annotations

import json

import pytest

from lexiscope.core import catalog
from lexiscope.core.subject import CAPABILITIES
from lexiscope.core.task import Task

TASKS = catalog.names("tasks")


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return catalog.task(request.param)


def test_there_are_tasks() -> None:
    """The catalog finds the tasks by their folders."""
    assert "relatedness" in TASKS


def test_name_and_summary(task: Task) -> None:
    """A task is named as its folder, asks its question in one sentence, and says it in its docstring."""
    assert task.name in TASKS
    assert task.summary.endswith("?")
    assert catalog.summary("tasks", task.name)


def test_answers_name_known_capabilities(task: Task) -> None:
    """Each capability is known and named once, with a function."""
    named = [capability for capability, _ in task.answers]
    assert named
    assert len(set(named)) == len(named)
    assert set(named) <= set(CAPABILITIES)
    assert all(callable(function) for _, function in task.answers)


def test_measures_are_described(task: Task) -> None:
    """Every measure has a name of its own and a description; a scaled measure says which way is up."""
    names = [name for name, _ in task.measures]
    assert names
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and text for name, text in task.measures)


def test_words_stand_in_its_folder(task: Task) -> None:
    """Guidelines, screen, prompt and examples are there and not empty; every example line is a JSON object."""
    folder = catalog._room("tasks") / task.name
    for name in ("guidelines.md", "screen.html", "prompt.txt", "examples.jsonl"):
        assert (folder / name).read_text(encoding="utf-8").strip(), name
    for line in (folder / "examples.jsonl").read_text(encoding="utf-8").splitlines():
        assert isinstance(json.loads(line), dict)


def test_some_subject_can_answer(task: Task) -> None:
    """At least one kind of subject in the catalog fits the task."""
    assert [kind for name, kind, _ in catalog.pairings() if name == task.name]
