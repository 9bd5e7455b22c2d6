"""The notebooks of the docs run from top to bottom, and show what they showed when their outputs were stored."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import ROOT

NOTEBOOKS = sorted((ROOT / "docs").glob("*/notebook.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.parent.name)
def test_a_notebook_shows_its_outputs(path: Path, make_notebooks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell runs, and its texts are the stored ones, but for small differences of numbers."""
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", str(Path(__import__("lexiscope").__file__).parents[1]))
    stored = make_notebooks.texts(nbformat.read(path, as_version=4))
    shown = make_notebooks.texts(make_notebooks.executed(path))
    assert len(stored) >= 8
    assert [_without_numbers(text) for text in shown] == [_without_numbers(text) for text in stored]
    for text, before in zip(shown, stored, strict=True):
        assert _numbers(text) == pytest.approx(_numbers(before), rel=0.05, abs=0.021)


def test_there_are_two_notebooks() -> None:
    """One for a linguist with ratings, one for the layers of a model; each names no path of a machine."""
    assert [path.parent.name for path in NOTEBOOKS] == ["models", "ratings"]
    assert [path.name for path in NOTEBOOKS if "site-packages" in path.read_text(encoding="utf-8")] == []


def _numbers(text: str) -> list[float]:
    return [float(number.replace("−", "-")) for number in re.findall(r"[−-]?\d*\.?\d+(?:e-\d+)?", text)]


def _without_numbers(text: str) -> str:
    return re.sub(r"[−-]?\d*\.?\d+(?:e-\d+)?", "#", text)
