"""The output that the documentation shows is what the commands print."""

from __future__ import annotations

import csv
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
    table = text.partition("Table 1.")[2].partition("Mean cosine")[0]
    return [_numbers(line) for line in table.splitlines() if re.match(r"\s+\d+ ", line)]


def test_the_readme_shows_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The README's table is the one that ``lexiscope demo`` prints on a fresh machine."""
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    done = CliRunner().invoke(cli, ["demo", "--quiet", "--out", str(tmp_path / "run")], catch_exceptions=False)
    shown = _table_rows((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(shown) == 7
    assert shown == [pytest.approx(row, abs=LAST_DIGIT) for row in _table_rows(done.stdout)]


def test_the_readme_counts_what_the_papers_print() -> None:
    """Rows of printed.csv, those without a reason why they cannot be computed, and rows of claims.csv, by study."""
    counted = {}
    for file in sorted((ROOT / "src" / "lexiscope" / "studies").glob("*/printed.csv")):
        with (
            file.open(encoding="utf-8", newline="") as printed,
            (file.parent / "claims.csv").open(newline="") as claims,
        ):
            rows = list(csv.DictReader(printed))
            counted[file.parent.name] = (
                len(rows),
                sum(not row["unavailable"] for row in rows),
                len([*csv.DictReader(claims)]),
            )
    lines = re.findall(
        r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert {name: tuple(map(int, numbers)) for name, *numbers in lines} == counted
    assert len(counted) == 5


@pytest.mark.published
def test_the_tutorial_shows_the_agreement_of_saw_c(published: Path) -> None:
    """Every line of numbers in the tutorial's table is in the output of ``lexiscope agree``, digit for digit."""
    page = (ROOT / "docs" / "tutorials" / "ratings_file.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    file = published / "sawc" / "sawc_relatedness_full_critical_data.csv"
    words = ["agree", str(file), "--item", "Tag", "--group", "Word", "--scale", "1", "5", "--quiet"]
    printed = {line.rstrip() for line in CliRunner().invoke(cli, words, catch_exceptions=False).stdout.splitlines()}
    shown = {line.rstrip() for line in block.splitlines()}
    assert len(block.splitlines()) > 20
    assert shown - printed == set()


@pytest.mark.published
def test_the_tutorial_shows_the_accuracies_of_synonymy(published: Path, tmp_path: Path) -> None:
    """Every line of the tutorial's table is what ``lexiscope study synonymy`` prints."""
    page = (ROOT / "docs" / "tutorials" / "reproduce_synonymy.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    words = ["study", "synonymy", "--bootstrap", "0", "--quiet", "--out", str(tmp_path / "run")]
    printed = {line.rstrip() for line in CliRunner().invoke(cli, words, catch_exceptions=False).stdout.splitlines()}
    shown = {line.rstrip() for line in block.splitlines()}
    assert len(block.splitlines()) == 13
    assert shown - printed == set()


def test_the_page_on_audits_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own file, audited with its command, and the planted biases: every line shown is printed."""
    page = (ROOT / "docs" / "how-to" / "audit_a_dataset.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "audit_a_dataset.md", "exec"), {})
    commands = (
        ["bias", "my_pairs.csv", "--encoder", "words", "--out", "words_audit"],
        ["bias", "my_pairs.csv", "--encoder", "look_up", "--out", "counted_audit"],
        ["study", "context_bias", "--dataset", "planted_bias", "--encoder", "look_up", "--out", "planted_run"],
    )
    assert len(shown) == len(commands)
    for block, words in zip(shown, commands, strict=True):
        assert f"$ lexiscope {' '.join(words)}" in page
        done = CliRunner().invoke(cli, [*words, "--quiet"], catch_exceptions=False)
        printed = done.stdout.splitlines()
        if "words" in words:
            # a regression rounds otherwise on another processor
            assert all(any(_same_but_for_numbers(line, other) for other in printed) for line in block.splitlines())
        else:
            assert {line.rstrip() for line in block.splitlines()} - {line.rstrip() for line in printed} == set()


def test_the_page_on_intervals_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own file gives the lines shown; every decimal of its text occurs in an output of the page."""
    page = (ROOT / "docs" / "tutorials" / "which_interval_which_test_which_ceiling.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    steps = re.findall(
        r"^```console\n\$ lexiscope ([^\n]*)\n```\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "which_interval.md", "exec"), {})
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


def _same_but_for_numbers(shown: str, printed: str) -> bool:
    """Say whether two lines have the same words and nearly the same numbers: other processors round otherwise."""
    plain = [re.sub(r"\d[\d.,]*", "0", line.strip()) for line in (shown, printed)]
    found = [_numbers(line.replace(",", "")) for line in (shown, printed)]
    return plain[0] == plain[1] and found[0] == pytest.approx(found[1], rel=0.05, abs=0.021)


def test_the_page_on_senses_shows_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the page's own text to vectors and their figures: each command in order, every line shown is printed."""
    page = (ROOT / "docs" / "how-to" / "train_sense_embeddings.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    steps = re.findall(
        r"^```console\n\$ lexiscope ([^\n]*)\n```\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    monkeypatch.setattr(fetch, "cache_folder", lambda: tmp_path / "cache")
    exec(compile(code, "train_sense_embeddings.md", "exec"), {})
    assert [words.split()[1] for words, _ in steps] == ["gasi", "gasi_prune", "gasi", "sense_induction", "gasi_export"]
    for words, block in steps:
        done = CliRunner().invoke(cli, words.split(), catch_exceptions=False)
        printed = done.stdout.splitlines()
        for line in block.splitlines():
            assert any(_same_but_for_numbers(line, other) for other in printed), (line, done.stdout)
