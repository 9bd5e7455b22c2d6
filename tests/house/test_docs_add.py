"""The guides for adding to the catalog: what they say is done, to the letter, in an empty folder.

A block ```` ```python NAME.py ```` of such a page is that file; console blocks are what is typed, in order.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forked import run_command

from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard

from .conftest import ROOT
from .test_docs_run import _commands, _write_made_up_items

GUIDES = ROOT / "docs" / "extend"


def write_files(page: Path, folder: Path) -> list[Path]:
    """Write the files of a page into a folder; ``SHA256`` is the checksum that the page tells to print."""
    written = []
    for name, text in re.findall(r"^```python (\w+\.py)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
        items = folder / "items.csv"
        checksum = hashlib.sha256(items.read_bytes()).hexdigest() if items.is_file() else ""
        (folder / name).write_text(text.replace("SHA256", checksum), encoding="utf-8")
        written.append(folder / name)
    return written


def type_commands(page: Path, folder: Path) -> dict[str, str]:
    """Type the commands of a page; none may fail. Returns what each printed."""
    printed = {}
    for words in _commands(page):
        done = run_command(*words, cwd=folder, environment=os.environ | {"COLUMNS": "200"})
        assert done.returncode == 0, (words, done.stderr)
        printed[shlex.join(words)] = done.stdout
    return printed


def test_add_a_dataset(tmp_path: Path) -> None:
    """The file of the guide is a dataset: its data are checked, it is asked about, its people are read, studied."""
    _write_made_up_items(tmp_path / "items.csv")
    (file,) = write_files(GUIDES / "dataset.md", tmp_path)
    printed = type_commands(GUIDES / "dataset.md", tmp_path)
    assert "ok" in printed["data check my_norms.py"]
    assert (tmp_path / "my_study" / "report.html").is_file()
    data = catalog.dataset(str(file))
    assert (len(data.items), len(data.responses)) == (36, 144)


def test_add_a_subject(tmp_path: Path) -> None:
    """The files of the guide are kinds of subject: one that judges, one that gives vectors."""
    judge, vectors = write_files(GUIDES / "subject.md", tmp_path)
    printed = type_commands(GUIDES / "subject.md", tmp_path)
    assert sum("responses.parquet" in text for text in printed.values()) == 3
    assert catalog.subject_capabilities(str(judge)) == ("Judges",)
    assert catalog.subject_capabilities(str(vectors)) == ("Embeds",)


def test_the_table_of_capabilities(tmp_path: Path) -> None:
    """The guide names, of every capability, each task that can be answered with it."""
    page = (GUIDES / "subject.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.+) \|$", page, re.MULTILINE))
    for capability, tasks in rows.items():
        able = [
            name
            for name in catalog.names("tasks")
            if catalog.origin("tasks", name) == catalog.PACKAGE
            and capability in {each for each, _ in catalog.task(name).answers}
        ]
        assert tasks == ("every task" if capability == "Judges" else ", ".join(f"`{name}`" for name in able))


def test_what_the_guides_add_to_the_package_keeps_its_contract(tmp_path: Path) -> None:
    """The files of the guides, put into the package as they say, pass the tests of every dataset and every subject.

    No other file is changed: neither of the package nor of the tests.
    """
    package = tmp_path / "src" / "lexiscope"
    shutil.copytree(Path(sys.modules["lexiscope"].__file__ or "").parent, package, ignore=lambda *_: ["__pycache__"])
    _write_made_up_items(tmp_path / "items.csv")
    for page, room in (("dataset.md", "datasets"), ("subject.md", "subjects")):
        for file in write_files(GUIDES / page, tmp_path):
            shutil.move(file, package / room / file.name)
    shutil.copytree(ROOT / "tests" / "every", tmp_path / "tests" / "every")
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    norms = package / "datasets" / "my_norms.py"
    ids = [line.partition(",")[0] for line in (tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()]
    more = f'counts=(("items", 36), ("words", 6)), first_item="{ids[1]}", last_item="{ids[-1]}", scale=Scale(1, 5)'
    text = norms.read_text(encoding="utf-8").replace("scale=Scale(1, 5)", more)
    norms.write_text(
        text.replace('url="items.csv"', 'url="https://zenodo.org/records/1/files/items.csv"'), encoding="utf-8"
    )
    (tmp_path / "data" / "my_norms").mkdir(parents=True)
    shutil.move(tmp_path / "items.csv", tmp_path / "data" / "my_norms" / "items.csv")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src"), "LEXISCOPE_DATA": str(tmp_path / "data")}
    tests = ["tests/every/test_every_dataset.py", "tests/every/test_every_subject.py"]
    chosen = "my_norms or sentence_length or letters or every_kind_has or every_task_has"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", *tests, "-k", chosen]
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\nmarkers = ["published", "soak"]\npythonpath = ["tests"]\n', encoding="utf-8"
    )
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 30


@pytest.mark.parametrize("name", ["title", "summary", "first_item"])
def test_a_card_is_read_without_its_data(name: str, tmp_path: Path) -> None:
    """Importing the file of a dataset reads no data: its card is there where the data are not."""
    _write_made_up_items(tmp_path / "items.csv")
    (file,) = write_files(GUIDES / "dataset.md", tmp_path)
    (tmp_path / "items.csv").unlink()
    card: DatasetCard = catalog.card(str(file))
    assert isinstance(getattr(card, name), str)


def test_add_a_task(tmp_path: Path) -> None:
    """The file of the guide is a task, which the guide's subject answers: characters of the first sentence."""
    task, _ = write_files(GUIDES / "task.md", tmp_path)
    printed = type_commands(GUIDES / "task.md", tmp_path)
    assert sum("responses.parquet" in text for text in printed.values()) == 1
    assert catalog.task(str(task)).measure == "length"
