"""Export: a task of another program, and what to type next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError
from lexiscope.items.harness.asked import AskedAs
from lexiscope.items.harness.inspect_ai import chat_questions

from .conftest import Run


@pytest.mark.parametrize(
    ("program", "files"),
    [
        ("lm-eval", {".yaml", ".jsonl", ".py"}),
        ("inspect", {".py", ".jsonl"}),
    ],
)
def test_items_of_a_dataset(program: str, files: set[str], run: Run, tmp_path: Path) -> None:
    """A new folder with the task; the name in the other program, and the commands that follow."""
    arguments = ("--items", "mini_senses", "--task", "same_sense", "--to", program, "--out", "exported")
    result = run("export", *arguments)
    assert result.exit_code == 0
    assert {path.suffix for path in (tmp_path / "exported").iterdir()} == files
    assert "Saved exported (task lexiscope_mini_senses_same_sense_" in result.stdout
    assert "64 items" in result.stdout
    assert "--subject recorded:" in result.stderr
    again = run("export", *arguments)
    assert (again.exit_code, "E615" in again.stderr) == (1, True)


def test_what_cannot_be_exported() -> None:
    """A task without a question in words, as a user may add one: the message names the program that takes it."""
    unasked = replace(catalog.task("minimal_pair"), asks=None)
    with pytest.raises(CapabilityError, match="not asked as text") as caught:
        chat_questions((), unasked, AskedAs("minimal_pair"))
    assert "--to lm-eval" in caught.value.hint


@pytest.mark.parametrize("name", catalog.names("tasks"))
def test_the_page_says_what_each_task_can_export(name: str) -> None:
    """The table of docs/models/other-programs.md: *no* where an export ends in an error, and there only."""
    text = (Path(__file__).parents[2] / "docs" / "models" / "other-programs.md").read_text(encoding="utf-8")
    (row,) = (line.split("|")[1:4] for line in text.splitlines() if line.startswith("|") and f"`{name}`" in line)
    task = catalog.task(name)
    assert [cell.strip().startswith("no: ") for cell in row[1:]] == [task.scored is None, task.asks is None]
