"""The columns that the documentation gives for each task are those that its page needs; its examples are studies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lexiscope.annotation.definition import StudyDefinition
from lexiscope.annotation.launch import ready_to_launch
from lexiscope.annotation.material import material_columns, study_material
from lexiscope.annotation.template import draft_definition
from lexiscope.core import catalog

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "set_up_a_norming_study.md"
ASKED = [name for name in catalog.names("tasks") if getattr(catalog.module("tasks", name), "SCREEN", None)]


def table() -> dict[str, set[str]]:
    """The columns that each task needs, as the page says."""
    part = PAGE.read_text(encoding="utf-8").split("| task | needs | may have |")[1].split("\n\n")[0]
    rows = [line.split("|")[1:3] for line in part.splitlines()[2:]]
    return {task.strip(" `"): set(re.findall("`([^`]+)`", columns)) for task, columns in rows}


def examples() -> dict[str, str]:
    """The example file of each task."""
    return dict(re.findall(r"\n`(\w+)`: [^\n]+\n\n```csv\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))


def test_every_task_is_described() -> None:
    """Each task that people can be asked has a row and an example, in the order of the alphabet."""
    assert list(table()) == list(examples()) == sorted(ASKED)


@pytest.mark.parametrize("task", ASKED)
def test_the_columns_are_those_of_the_page(task: str) -> None:
    """What is needed: the word, its sentences, and what the task's screen requires or shows."""
    screen = catalog.screen(task)
    sentences = {"sentence_1", "sentence_2"} if screen.n_usages == 2 else set() if screen.word_alone else {"sentence"}
    assert table()[task] == {"word", *sentences, *material_columns(screen)}


@pytest.mark.parametrize("task", ASKED)
def test_an_example_file_is_a_study(task: str, tmp_path: Path) -> None:
    """Each row of the example is an item, and its draft lacks only what a researcher must write."""
    path = tmp_path / "items.csv"
    path.write_text(examples()[task], encoding="utf-8")
    material = study_material(StudyDefinition(name="s", task=task, language="en", items=str(path)))
    assert len(material.items) == len(examples()[task].splitlines()) - 1
    assert material.merged == ""
    draft = draft_definition(material.items, task=task, items_file=str(path), language="en", name="s")
    lacking = {problem.keys for problem in ready_to_launch(draft, material.items)}
    codes = {("codes", "completion"), ("codes", "no_consent")}
    assert lacking - {("search",)} == {("texts", "consent"), ("ethics",), *codes}


@pytest.mark.parametrize("task", ASKED)
def test_an_item_without_a_needed_column_is_refused(task: str, tmp_path: Path) -> None:
    """Leaving any of the columns out that the task's page shows is found: no study can be launched without it."""
    header, first = (line.split(",") for line in examples()[task].splitlines()[:2])
    for column in catalog.screen(task).requires:
        kept = [number for number, name in enumerate(header) if name != column]
        path = tmp_path / "items.csv"
        rows = [",".join(row[number] for number in kept) for row in (header, first)]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        study = StudyDefinition(name="s", task=task, language="en", items=str(path))
        found = ready_to_launch(study, study_material(study).items)
        assert any(problem.code == "E617" and column in problem.what for problem in found), column
