"""How objects are displayed: progress in the cell of a notebook, on one display that is updated."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import lexiscope
from lexiscope.core.showing import cell_progress


class Cell:
    """The display of a notebook's cell: what it shows, and how often it was updated."""

    def __init__(self) -> None:
        self.shown: list[dict[str, str]] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Cell:
        assert raw
        assert display_id
        self.shown.append(data)
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    """A cell of a notebook that runs."""
    cell = Cell()
    shell: Any = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None), display=cell)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    return cell


def test_progress_is_shown_on_one_display(cell: Cell) -> None:
    """Each part has a line; the same state is shown once; names are escaped."""
    progress = cell_progress()
    assert progress is not None
    for part, done in (("a<b", 1), ("a<b", 1), ("a<b", 2), ("c", 1)):
        progress(part, done, 2)
    assert [data["text/plain"] for data in cell.shown] == ["a<b: 1 of 2", "a<b: 2 of 2", "a<b: 2 of 2\nc: 1 of 2"]
    assert "a&lt;b: 2 of 2" in cell.shown[-1]["text/html"]


def test_models_that_are_asked_show_progress_in_a_notebook(cell: Cell) -> None:
    """``lexiscope.ask`` shows how far it is, up to the last item; a progress that is given takes its place."""
    lexiscope.ask("mini_relatedness", "baseline:word_overlap")
    assert cell.shown[-1]["text/plain"] == "baseline:word_overlap, full: 360 of 360"
    before, told = len(cell.shown), list[int]()
    lexiscope.ask("mini_relatedness", "baseline:word_overlap", progress=lambda part, done, total: told.append(done))
    assert (len(cell.shown), told[-1]) == (before, 360)


def test_a_terminal_has_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython in a terminal has no kernel: nothing is shown."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))  # type: ignore[arg-type]
    assert cell_progress() is None
