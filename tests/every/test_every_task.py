"""What every task in the catalog owes: the contracts of the kit, and the words in its folder.

A task that people answer (it has a ``SCREEN``) owes more. Its module offers

- ``example_items(language) -> tuple[Item, ...]``: the worked examples of ``examples.jsonl`` as items, at least one in
  each of ``en`` and ``es``. Their ``gold`` is the right answer as text: a point of the scale (``"5"``), the stored
  value of an option, or, for text and search, an answer that is accepted;
- ``FAULTS: tuple[str, ...]``, where its texts can be refused: every key that ``SCREEN.faults`` may return.
"""

from __future__ import annotations

import json

import pytest

from lexiscope.core import catalog
from lexiscope.core.screen import Screen
from lexiscope.core.task import Task
from lexiscope.testing.contract import hold
from lexiscope.testing.task import SCREEN_CONTRACTS, TASK_CONTRACTS, AskedTask, LoadedTask

TASKS = catalog.names("tasks")
ASKED = tuple(name for name in TASKS if hasattr(catalog.module("tasks", name), "SCREEN"))
LANGUAGES = ("en", "es")


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return catalog.task(request.param)


@pytest.mark.parametrize("contract", TASK_CONTRACTS)
@pytest.mark.parametrize("name", TASKS)
def test_the_contracts_of_the_kit(name: str, contract: str) -> None:
    """What every task owes, of the package or not: :mod:`lexiscope.testing`."""
    hold(f"task {name}", LoadedTask(name), TASK_CONTRACTS, contract)


@pytest.mark.parametrize("contract", SCREEN_CONTRACTS)
@pytest.mark.parametrize("name", ASKED)
def test_the_contracts_of_screens(name: str, contract: str) -> None:
    """What the page of every task owes that people can answer, in every language that it is written in."""
    hold(f"task {name}", AskedTask(name), SCREEN_CONTRACTS, contract)


def test_there_are_tasks() -> None:
    """The catalog finds the tasks by their folders, and each is named as its folder."""
    assert "relatedness" in TASKS
    assert [catalog.task(name).name for name in TASKS] == list(TASKS)


def test_words_stand_in_its_folder(task: Task) -> None:
    """Guidelines and examples are there and not empty; screen and prompt where the question can be asked in words.

    Every example line is a JSON object. A task without screen is answered by scoring texts: it has no page to show.
    """
    folder = catalog._room("tasks") / task.name
    asked = ("screen.html", "prompt.txt")
    for name in ("guidelines.md", "examples.jsonl", *(asked if task.name in ASKED else ())):
        assert (folder / name).read_text(encoding="utf-8").strip(), name
    assert task.name in ASKED or not any((folder / name).exists() for name in asked)
    for line in (folder / "examples.jsonl").read_text(encoding="utf-8").splitlines():
        assert isinstance(json.loads(line), dict)


def test_some_subject_can_answer(task: Task) -> None:
    """At least one kind of subject in the catalog fits the task, by the list of pairings."""
    assert [kind for name, kind, _ in catalog.pairings() if name == task.name]


# -- what people see ------------------------------------------------------------------------------------------


@pytest.fixture(params=ASKED)
def asked(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def screen(asked: str) -> Screen:
    return catalog.screen(asked)


def test_english_and_spanish_are_there(asked: str, screen: Screen) -> None:
    """A task of the package has its words, guidelines and examples in English and Spanish."""
    assert set(LANGUAGES) <= set(screen.languages)
    for language in screen.languages if "guidelines" in screen.fold_outs else LANGUAGES:
        assert len(screen.guidelines(language).split()) > 30
    for language in LANGUAGES:
        items = AskedTask(asked).examples(language)
        assert items, language
        assert all(usage.language == language or screen.n_usages > 1 for item in items for usage in item.usages)


def test_baselines_answer_the_tasks_that_name_them(task: Task) -> None:
    """The kind ``baseline`` answers the tasks that name rules of it, and no others."""
    assert (task.name in catalog.subject_tasks("baseline")) == bool(task.baselines)


def test_an_example_is_asked_on_the_sheets_of_its_own_task_alone() -> None:
    """``on_sheet`` tells the tasks apart by what an item has, and ``truth`` says that its options are t and f."""
    screens = {name: screen for name, screen in catalog.screens().items() if screen.on_sheet is not None}
    assert screens
    for own in screens:
        make = getattr(catalog.module("tasks", own), "example_items")  # noqa: B009
        for item in make("en"):
            assert [name for name, screen in screens.items() if screen.on_sheet and screen.on_sheet(item)] == [own]
            options = catalog.task(own).options
            assert catalog.task(own).truth == (options is not None and set(options(item, "full")) == {"t", "f"})
