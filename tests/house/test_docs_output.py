"""The output that the documentation shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from lexiscope.cli.main import cli
from lexiscope.resources import fetch

from .conftest import ROOT

# another build of torch may change the last printed digit
LAST_DIGIT = 0.011


def _numbers(line: str) -> list[float]:
    return [float(text.replace("−", "-")) for text in re.findall(r"−?\d*\.?\d+", line)]


def _table_rows(text: str) -> list[list[float]]:
    """The rows of Table 1 of the demo: the lines that start with a layer."""
    table = text.partition("Table 1.")[2].partition("Mean cosine")[0].partition("```")[0]
    return [_numbers(line) for line in table.splitlines() if re.match(r"\s+\d+ ", line)]


def test_the_readme_shows_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of README and of the first page of the docs is what ``lexiscope demo`` prints on a fresh machine."""
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    words = ["demo", "--offline", "--quiet", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    shown = _table_rows((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(shown) == 7
    assert shown == [pytest.approx(row, abs=LAST_DIGIT) for row in _table_rows(done.stdout)]
    assert shown == _table_rows((ROOT / "docs" / "start" / "first-result.md").read_text(encoding="utf-8"))


@pytest.mark.published
def test_the_tutorial_shows_the_accuracies_of_synonymy(published: Path, tmp_path: Path) -> None:
    """Every line of the tutorial's table is what ``lexiscope study synonymy`` prints."""
    page = (ROOT / "docs" / "papers" / "synonymy.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    words = ["study", "synonymy", "--bootstrap", "0", "--quiet", "--out", str(tmp_path / "run")]
    printed = {line.rstrip() for line in CliRunner().invoke(cli, words, catch_exceptions=False).stdout.splitlines()}
    shown = {line.rstrip() for line in block.splitlines()}
    assert len(block.splitlines()) == 13
    assert shown - printed == set()


def test_the_page_on_audits_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of the tutorial, counted, and the planted biases: every line shown by the page is printed."""
    tutorial, page = (
        (ROOT / "docs" / "datasets" / name).read_text(encoding="utf-8") for name in ("index.md", "audit.md")
    )
    (code,) = re.findall(r"^```python\n(.*?)^```$", tutorial, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "index.md", "exec"), {})
    commands = (
        ["bias", "my_pairs.csv", "--encoder", "look_up", "--out", "counted_audit"],
        ["study", "context_bias", "--dataset", "planted_bias", "--encoder", "look_up", "--out", "planted_run"],
    )
    for block, words in zip(shown, commands, strict=True):
        assert f"$ lexiscope {' '.join(words)}" in page
        done = CliRunner().invoke(cli, [*words, "--quiet"], catch_exceptions=False)
        assert {line.rstrip() for line in block.splitlines()} - {
            line.rstrip() for line in done.stdout.splitlines()
        } == set()


def test_the_page_on_intervals_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own file gives the lines shown; every decimal of its text occurs in an output of the page."""
    page = (ROOT / "docs" / "ratings" / "intervals-tests-ceilings.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    steps = re.findall(
        r"^```console\n\$ lexiscope ([^\n]*)\n```\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "intervals-tests-ceilings.md", "exec"), {})
    assert steps
    for words, block in steps:
        done = CliRunner().invoke(cli, shlex.split(words), catch_exceptions=False)
        printed = {line.rstrip() for line in done.stdout.splitlines()}
        assert {line.rstrip() for line in block.splitlines()} - printed == set(), words
    prose = re.sub(r"^```.*?^```$|`[^`]*`", "", page, flags=re.MULTILINE | re.DOTALL)
    outputs = " ".join(re.findall(r"^```(?:text|pycon)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    shown = {number.removeprefix("0") for number in re.findall(r"\d*\.\d+", outputs)}
    # .05 is the level of a test, not a result
    assert {number.removeprefix("0") for number in re.findall(r"\d*\.\d+", prose)} - shown - {".05"} == set()
