"""Each task that people are asked has an example of an item file in its folder (``item_file.md``), which is a study."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.items import read_study_items, shown_columns
from lexiscope.annotation.study_file.launch import launch_problems
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.core import catalog

ASKED = [name for name in catalog.names("tasks") if getattr(catalog.module("tasks", name), "SCREEN", None)]


def example(task: str) -> str:
    """The example file of a task, a CSV."""
    text = (catalog.screen(task).folder / "item_file.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"^```csv\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("task", ASKED)
def test_the_columns_are_those_of_the_page(task: str) -> None:
    """The example has what is needed: the word, its sentences, and what the task's screen requires or shows."""
    screen = catalog.screen(task)
    sentences = {"sentence_1", "sentence_2"} if screen.n_usages == 2 else set() if screen.word_alone else {"sentence"}
    columns = example(task).splitlines()[0].split(",")
    # a text for each option: the file is one of choice sets
    of_texts = {"item_id", "correct", "incorrect_1"}
    needed = {"word", *sentences, *shown_columns(screen)} if screen.n_usages else of_texts
    assert [pattern for pattern in needed if not any(fnmatchcase(column, pattern) for column in columns)] == []


@pytest.mark.parametrize("task", ASKED)
def test_an_example_file_is_a_study(task: str, tmp_path: Path) -> None:
    """Each row of the example is an item, and its draft lacks only what a researcher must write."""
    path = tmp_path / "items.csv"
    path.write_text(example(task), encoding="utf-8")
    material = read_study_items(StudyDefinition(name="s", task=task, language="en", items=str(path)))
    assert len(material.items) == len(example(task).splitlines()) - 1
    assert material.merged == ""
    draft = draft_definition(material.items, task=task, items_file=str(path), language="en", name="s")
    lacking = {problem.keys for problem in launch_problems(draft, material.items)}
    codes = {("codes", "completion"), ("codes", "no_consent")}
    assert lacking - {("search",)} == {("texts", "consent"), ("ethics",), *codes}


@pytest.mark.parametrize("task", ASKED)
def test_an_item_without_a_needed_column_is_refused(task: str, tmp_path: Path) -> None:
    """Leaving any of the columns out that the task's page shows is found: no study can be launched without it."""
    header, first = (line.split(",") for line in example(task).splitlines()[:2])
    for column in catalog.screen(task).requires:
        kept = [number for number, name in enumerate(header) if name != column]
        path = tmp_path / "items.csv"
        rows = [",".join(row[number] for number in kept) for row in (header, first)]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        study = StudyDefinition(name="s", task=task, language="en", items=str(path))
        found = launch_problems(study, read_study_items(study).items)
        assert any(problem.code == "E617" and column in problem.what for problem in found), column
