"""The page on items of one's own: its two files and its command, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import Run

PAGE = Path(__file__).parents[2] / "docs" / "datasets" / "minimal-pairs.md"


def block(language: str) -> str:
    """The first fenced block of a language."""
    found, *_ = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_pages_own_relation_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four items, four cells of accuracy and two joint ones, a baseline of the counts; a second call does nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    Path("kinds.csv").write_text(block("csv"), encoding="utf-8")
    Path("kinds.yaml").write_text(block("yaml"), encoding="utf-8")
    Path("counts.csv").write_text("word,count\nVogel,9\nFisch,4\nBaum,7\n", encoding="utf-8")
    words = ["--items", "kinds.csv", "--templates", "kinds.yaml", "--frequency", "counts.csv", "--bootstrap", "20"]
    asked = ["study", "synonymy", *words, "--subject", "baseline:random", "--out", "kinds_run"]
    result = run(*asked)
    assert result.exit_code == 0, result.stderr
    for cell in (
        "(“ist eine Art”): controlled",
        "(“gehört zur Gruppe”): random",
        "hyponymy alone (“ist eine Art”): both",
    ):
        assert cell in result.stdout
    assert "finished before" in run(*asked).stderr


def test_templates_that_are_not_there_are_refused_first(run: Run, tmp_path: Path) -> None:
    """A missing file is named, and no folder is made."""
    result = run("study", "synonymy", "--templates", str(tmp_path / "no.yaml"), "--out", str(tmp_path / "run"))
    assert result.exit_code != 0
    assert "no.yaml" in result.stderr
    assert not (tmp_path / "run").exists()
