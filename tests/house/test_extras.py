"""Every verb, its help and every command of the documentation, in an environment of each extra alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lexiscope.datasets import mini_relatedness

from .conftest import ROOT
from .environments import environment_with, packages_of, run_all, run_with
from .test_docs_run import PAGES, _commands

ALONE = ("", "models", "demo", "http", "annotate", "train", "senses")
INSTALL = re.compile(r"pip install 'lexiscope\[\w+\]'")


def check(ends: list[dict[str, Any]]) -> None:
    """No traceback; a command that misses a package says so in one line, which is the last."""
    assert [each["words"] for each in ends if each["fault"]] == [], "\n".join(e["fault"] for e in ends)[-4_000:]
    for each in ends:
        lines = each["stderr"].strip().splitlines()
        if any(" is missing. Run pip install" in line for line in lines):
            assert each["code"] == 1, each
            assert INSTALL.search(lines[-1]), each


def files_of_the_pages(folder: Path) -> None:
    """The files that the pages take for granted, made up: nobody's judgments."""
    items = mini_relatedness.load("en").items[:12]
    rows = [(item.item_id, *(usage.text for usage in item.usages), item.usages[0].target) for item in items]
    text = ["item_id,sentence_1,sentence_2,target", *(",".join(f'"{each}"' for each in row) for row in rows)]
    (folder / "items.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    pairs = [f"{line},{'tf'[n % 2]}" for n, line in enumerate(text[1:])]
    (folder / "my_pairs.csv").write_text("\n".join([f"{text[0]},gold", *pairs]) + "\n", encoding="utf-8")
    ratings = [f"r{rater},{row[0]},{1 + (n + rater) % 5}" for n, row in enumerate(rows) for rater in range(4)]
    (folder / "ratings.csv").write_text("\n".join(["rater,item_id,rating", *ratings]) + "\n", encoding="utf-8")
    (folder / "corpus.txt").write_text("the bank of the river\nmoney in the bank\n" * 200, encoding="utf-8")
    (folder / "words.txt").write_text("bank\n", encoding="utf-8")


@pytest.mark.parametrize("extra", ALONE)
def test_every_help_with_one_extra(extra: str, tmp_path: Path) -> None:
    """The help of every verb is shown, or one line names the package that is missing and how to install it."""
    ends = run_with(extra, [["*", "--help"]], tmp_path, seconds=60)
    check(ends)
    assert len(ends) > 40
    for each in ends:
        assert each["code"] == 0 or (each["code"] == 1 and len(each["stderr"].strip().splitlines()) == 1), each


@pytest.mark.parametrize("extra", ["", "demo", "annotate"])
def test_commands_of_the_readme_with_one_extra(extra: str, tmp_path: Path) -> None:
    """Each command of README ends with a result, or with an error in words; what takes long is ended."""
    files_of_the_pages(tmp_path)
    check(run_with(extra, list(_commands(ROOT / "README.md")), tmp_path, seconds=6))


@pytest.mark.soak
@pytest.mark.parametrize("extra", ALONE)
def test_commands_of_all_pages_with_one_extra(extra: str, tmp_path: Path) -> None:
    """Each command of README and docs ends with a result, or with an error in words."""
    files_of_the_pages(tmp_path)
    check(run_with(extra, [words for page in PAGES for words in _commands(page)], tmp_path, seconds=20))


@pytest.mark.soak
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_with_its_extras(page: Path, tmp_path: Path, run_page: ModuleType) -> None:
    """No command of a page misses a package with the extras that the page names; none ends in a traceback."""
    files_of_the_pages(tmp_path)
    extras = run_page.extras_of(page.read_text(encoding="utf-8"))
    ends = run_all(sys.executable, list(_commands(page)), tmp_path, environment_with(extras, tmp_path), seconds=20)
    check(ends)
    assert [each["words"] for each in ends if " is missing. Run pip install" in each["stderr"]] == []


@pytest.mark.soak
@pytest.mark.parametrize("extra", ALONE)
def test_the_wheel_with_one_extra(extra: str, tmp_path: Path) -> None:
    """The built wheel with one extra, in an environment of its own: helps and README's commands, nothing hidden."""
    wheel = max((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    python = tmp_path / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    if "torch" in packages_of(extra):
        # the build that the project is tested with: a newer one brings gigabytes
        subprocess.run([*pip, f"torch=={metadata.version('torch').split('+')[0]}"], check=True)
    subprocess.run([*pip, f"{wheel}[{extra}]" if extra else str(wheel)], check=True)
    files_of_the_pages(tmp_path)
    environment = {k: v for k, v in os.environ.items() if k not in ("LEXISCOPE_DATA", "PYTHONPATH")}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HTTPS_PROXY": "http://127.0.0.1:9"}
    check(run_all(str(python), [["*", "--help"]], tmp_path, environment, seconds=60))
    check(run_all(str(python), list(_commands(ROOT / "README.md")), tmp_path, environment, seconds=30))
