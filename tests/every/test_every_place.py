"""The three places of the catalog: the package, entry points of installed distributions, files by path."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.forked import run_command

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.run import sha256_of
from lexiscope.core.subject import SubjectSpec
from lexiscope.resources import fetch

from .made_places import CSV, install, write_files

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {"datasets": "made_norms", "tasks": "made_question", "subjects": "made_counts", "studies": "made_survey"}


def command(*words: str, cwd: Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with a folder of installed distributions or without."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return run_command(*words, cwd=cwd, site=site, environment=environment)


def done(*words: str, cwd: Path, site: Path | None = None) -> str:
    """Run the command line, which must not fail, and return what it prints."""
    result = command(*words, cwd=cwd, site=site)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return write_files(tmp_path / "mine")


# -- entry points ---------------------------------------------------------------------------------------------


def test_what_a_distribution_adds_is_listed_and_used(tmp_path: Path) -> None:
    """A dataset, a task, a kind of subject and a study of an installed distribution are used by name."""
    site = install(tmp_path / "site")
    for room, name in ROOMS.items():
        rows = {row["name"]: row for row in json.loads(done("list", room, "--json", cwd=tmp_path, site=site))}
        assert (rows[name]["from"], rows[name]["what"][:7]) == ("made-places 1.2", "Made-up")
        assert {row["from"] for other, row in rows.items() if other != name} == {"lexiscope"}
        assert "made-places 1.2" in " ".join(done("list", room, cwd=tmp_path, site=site).split())
    asked = ("--task", "made_question", "--subject", "made_counts:plain")
    done("collect", "--items", "made_norms", *asked, "--out", "run", cwd=tmp_path, site=site)
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (run["task"], run["items"]["datasets"], "code" in run) == ("made_question", ["made_norms"], False)
    recorded = ("--subject", "recorded:made_norms")
    done("collect", "--items", "made_norms", *recorded, "--out", "people", cwd=tmp_path, site=site)
    assert "ok" in done("data", "check", "made_norms", cwd=tmp_path, site=site)
    done("study", "made_survey", "--dataset", "made_norms", "--out", "study", cwd=tmp_path, site=site)
    assert (tmp_path / "study" / "report.html").read_text() == "2"


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    """A name of the package that an entry point has, too, is refused: the error names both."""
    site = install(tmp_path / "site")
    points = site / "made_places-1.2.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("made_survey =", "saw_c ="))
    result = command("study", "saw_c", "--out", "run", cwd=tmp_path, site=site)
    assert result.returncode == 1
    assert result.stderr == (
        "two studies are named 'saw_c': lexiscope.studies.saw_c (lexiscope) and made_places.survey (made-places 1.2)\n"
        "  what to do: uninstall one of them, or load its file by path\n"
    )
    assert "two studies are named 'saw_c'" in command("list", "studies", cwd=tmp_path, site=site).stderr
    other = install(tmp_path / "other", distribution="other-places")
    both = os.pathsep.join((str(other), str(install(tmp_path / "more"))))
    result = command("collect", "--items", "made_norms", "--subject", "baseline:random", "--out", "run", cwd=tmp_path,
                     site=Path(both))  # fmt: skip
    assert "other_places.norms (other-places 1.2) and made_places.norms (made-places 1.2)" in result.stderr


def test_a_distribution_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    """What another distribution raises is told with its name, not as a fault of the package."""
    site = install(tmp_path / "site")
    (site / "made_places" / "survey.py").write_text("import no_such_module\n")
    result = command("study", "made_survey", "--out", "run", cwd=tmp_path, site=site)
    assert result.returncode == 1
    assert result.stderr.splitlines()[:2] == [
        "made_places.survey: the study 'made_survey' of made-places 1.2 could not be loaded",
        "  why: ModuleNotFoundError: No module named 'no_such_module'",
    ]
    rows = {row["name"]: row for row in json.loads(done("list", "studies", "--json", cwd=tmp_path, site=site))}
    assert rows["made_survey"]["what"].startswith("cannot be used: the study 'made_survey' of made-places 1.2")
    assert rows["saw_c"]["from"] == "lexiscope"
    shown = " ".join(done("study", "--help", cwd=tmp_path, site=site).split())
    assert "cannot be used: the study 'made_survey' of made-places 1.2" in shown
    (site / "made_places" / "norms.py").write_text("import no_such_module\n")
    rows = {row["name"]: row for row in json.loads(done("list", "datasets", "--json", cwd=tmp_path, site=site))}
    assert (rows["made_norms"]["task"], rows["made_norms"]["what"][:14]) == ("", "cannot be used")


def test_an_entry_point_has_the_name_of_its_card(tmp_path: Path) -> None:
    """Items and rows name a dataset and a task: the name of the entry point is that of the card or the task."""
    site = install(tmp_path / "site")
    points = site / "made_places-1.2.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("made_norms =", "norms ="))
    result = command(
        "collect", "--items", "norms", "--subject", "baseline:random", "--out", "run", cwd=tmp_path, site=site
    )
    assert "this entry point is named 'norms', but the CARD is named 'made_norms'" in result.stderr
    assert result.returncode == 1


# -- files by path --------------------------------------------------------------------------------------------


def test_files_are_used_by_path(files: Path) -> None:
    """The same four things as files: nothing is installed, and nothing is written next to them."""
    before = sorted(files.rglob("*"))
    spec = "counts.py:plain?power=2"
    out = files.parent / "run"
    asked = ("--items", "norms.py", "--task", "question.py", "--subject", spec, "--subject", "counts.py")
    done("collect", *asked, "--out", str(out), cwd=files)
    run = json.loads((out / "run.json").read_text())
    assert (run["task"], run["items"]["datasets"]) == ("made_question", ["made_norms"])
    assert [subject["facts"]["subject_id"] for subject in run["subjects"]] == [spec, "counts.py"]
    code = catalog.code_checksums([str(files / "question.py"), str(files / "counts.py")])
    assert run["code"] == {Path(path).name: sha256 for path, sha256 in code.items()}
    assert run["data"]["norms.py"] == catalog.code_checksums([str(files / "norms.py")])[str(files / "norms.py")]
    assert "ok" in done("data", "check", "norms.py", cwd=files)
    done("study", "survey.py", "--dataset", "norms.py", "--out", str(files.parent / "study"), cwd=files)
    assert (files.parent / "study" / "report.html").read_text() == "2"
    done("collect", "--items", "norms.py", "--subject", "recorded:norms.py", "--out", str(out) + "_people", cwd=files)
    assert sorted(files.rglob("*")) == before


def test_folders_are_used_by_path(files: Path) -> None:
    """A folder with an ``__init__.py`` is a path too; its files import one another as ``from . import``."""
    package = files / "counting"
    package.mkdir()
    (files / "counts.py").rename(package / "inner.py")
    (package / "__init__.py").write_text('"""Made up."""\n\nfrom .inner import CAPABILITIES, load\n')
    done(
        "collect",
        "--items",
        "norms.py",
        "--subject",
        "./counting:a",
        "--subject",
        "counting/",
        "--out",
        "run",
        cwd=files,
    )
    run = json.loads((files / "run" / "run.json").read_text())
    assert set(run["code"]) == {"./counting", "counting/"}
    assert not list(package.rglob("__pycache__"))


@pytest.mark.parametrize("changed", ["question.py", "counts.py"])
def test_a_changed_file_is_another_question(files: Path, changed: str) -> None:
    """Answers that were collected with a file are never served after it was changed."""
    asked = ("collect", "--items", "norms.py", "--task", "question.py", "--subject", "counts.py:a", "--out", "run")
    done(*asked, cwd=files)
    (files / changed).write_text((files / changed).read_text() + "\n# changed\n")
    result = command(*asked, cwd=files)
    assert result.returncode == 1
    assert "this run folder belongs to another question" in result.stderr
    assert "code was {'counts.py'" in result.stderr


def test_a_study_of_the_package_knows_the_files_that_it_used(files: Path) -> None:
    """The run of a study holds the sha256 of a subject by path, and is computed again when that file was changed."""
    asked = ("study", "saw_c", "--dataset", "mini_relatedness", "--subject", "counts.py:a", "--bootstrap", "0")
    done(*asked, "--out", "run", cwd=files)
    run = json.loads((files / "run" / "run.json").read_text())
    assert list(run["code"].items()) == [("counts.py", sha256_of(files / "counts.py"))]
    assert "nothing was computed again" in command(*asked, "--out", "run", cwd=files).stderr
    assert "was run again on its answers" in done("verify", "run", cwd=files)
    (files / "counts.py").write_text((files / "counts.py").read_text() + "\n# changed\n")
    assert "counts.py is not the file that the run used" in done("verify", "run", cwd=files)
    result = command(*asked, "--out", "run", cwd=files)
    assert "nothing was computed again" not in result.stderr


def test_a_study_file_names_files(files: Path) -> None:
    """The YAML file of a study takes paths where it takes names."""
    (files / "study.yaml").write_text("study: survey.py\ndataset: norms.py\nsubjects: ['counts.py:a']\n")
    done("study", "study.yaml", "--out", "run", cwd=files)
    assert (files / "run" / "report.html").read_text() == "2"


def test_the_same_content_is_run_once(files: Path) -> None:
    """A file is run once per process, whatever path names it; changed, it is run again as another module."""
    path = files / "counts.py"
    first = catalog.module("subjects", str(path))
    assert catalog.module("subjects", str(path.parent / ".." / "mine" / "counts.py")) is first
    assert first.__name__ not in ("counts", "__main__")
    path.write_text(path.read_text() + "\nLATER = 1\n")
    again = catalog.module("subjects", str(path))
    assert (hasattr(first, "LATER"), hasattr(again, "LATER")) == (False, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CARD = (\n", "norms.py:1:8: this file is not valid Python: '(' was never closed"),
        (
            "\nimport no_such\n",
            "norms.py:2: this file could not be loaded: ModuleNotFoundError: No module named 'no_such'",
        ),
        ("import counts\n", "from . import counts"),
        ("x = 1\nx / 0\n", "norms.py:2: this file could not be loaded: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "norms.py:1: this file could not be loaded: SystemExit: 3"),
        ("", "norms.py: this is not a dataset: it has no CARD\n  what to do: define CARD: a DatasetCard"),
        ("CARD = 3\n", "norms.py: CARD of this dataset is an int, not what it must be"),
    ],
)
def test_a_fault_of_the_file_is_told_with_its_line(files: Path, text: str, said: str) -> None:
    """A file that cannot be used is an error with file, line and remedy, never a traceback."""
    (files / "norms.py").write_text(text)
    asked = ("--items", f"{files.name}/norms.py", "--subject", "baseline:random")
    result = command("collect", *asked, "--out", "run", cwd=files.parent)
    assert (result.returncode, result.stdout) == (1, "")
    assert said in result.stderr.replace(f"{files.resolve()}{os.sep}", "").replace(f"{files.name}/", "")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "said"),
    [
        ("norms.py", "    found = fetch", "    {}['no such key']\n    found = fetch", 25, "KeyError: 'no such key'"),
        ("counts.py", "        signs =", "        signs = items[99]\n        signs =", 20, "IndexError"),
        ("question.py", "    return subject", "    subject.no_such()\n    return subject", 9, "AttributeError"),
    ],
)
def test_a_fault_while_it_is_used_is_told_too(files: Path, file: str, old: str, new: str, line: int, said: str) -> None:
    """An error that passes through a file of the user's is told with the last line of it."""
    (files / file).write_text((files / file).read_text().replace(old, new))
    asked = ("--items", "norms.py", "--task", "question.py", "--subject", "counts.py:a")
    result = command("collect", *asked, "--out", "run", cwd=files)
    assert result.returncode == 1
    assert f"{file}:{line}: {said}" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("kind", "file", "missing"),
    [("tasks", "norms", "TASK"), ("subjects", "norms", "CAPABILITIES"), ("studies", "norms", "study")],
)
def test_what_is_missing_is_named(files: Path, kind: catalog.Kind, file: str, missing: str) -> None:
    """A file of another kind lacks a name: the error says which, and what it must be."""
    with pytest.raises(SpecError, match=f"it has no {missing}") as caught:
        catalog.module(kind, str(files / f"{file}.py"))
    assert caught.value.hint.startswith(f"define {missing}: a")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A path to nothing is refused as such, and a folder without an ``__init__.py``."""
    with pytest.raises(SpecError, match="there is no such file"):
        catalog.module("studies", str(tmp_path / "none.py"))
    assert not catalog.has("studies", str(tmp_path))


# -- rules ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "my.py",
        "my.py:plain",
        "my.py?power=2",
        "models/my.py:plain?power=2&table=a.csv",
        "my.py:small@http://127.0.0.1:8000/v1",
        "my.py@http://127.0.0.1:8000/v1?power=2",
        "./mine/:plain",
        "mine/",
        "C:\\models\\my.py:plain",
        "at@home/my.py:plain",
    ],
)
def test_the_spec_of_a_file_parses_back(spec: str) -> None:
    """A path is the kind of its subjects; the spec prints as it was written, also with options."""
    parsed = SubjectSpec.parse(spec)
    assert str(parsed) == spec
    assert SubjectSpec.parse(str(parsed)) == parsed
    assert catalog.is_path(parsed.kind) or parsed.kind.endswith("/") or "mine" in parsed.kind


def test_the_id_of_a_subject_must_make_it_again(files: Path) -> None:
    """A subject by path answers under a spec with that path: a run says which file answered."""
    (files / "counts.py").write_text((files / "counts.py").read_text().replace("str(spec)", '"counts:plain"'))
    with pytest.raises(SpecError, match="'counts:plain'") as caught:
        catalog.subject(f"{files / 'counts.py'}:plain")
    assert caught.value.hint == "set subject_id to str(spec)"


def test_a_task_by_path_may_not_take_a_name(files: Path) -> None:
    """Subjects are told a task's name: a file may not take that of another task."""
    (files / "question.py").write_text((files / "question.py").read_text().replace("made_question", "relatedness"))
    with pytest.raises(
        SpecError, match=r"two tasks are named 'relatedness': .*question.py and relatedness \(lexiscope\)"
    ):
        catalog.task(str(files / "question.py"))


def test_a_file_of_a_dataset_is_pinned(files: Path) -> None:
    """A data file without a sha256 is refused, wherever it is."""
    text = (files / "norms.py").read_text()
    (files / "norms.py").write_text(
        text[: text.index('sha256="')] + "sha256=None),)," + text[text.index("\n    counts") :]
    )
    with pytest.raises(SpecError, match=r"the file norms/items\.csv of the dataset 'made_norms' has no sha256"):
        catalog.card(str(files / "norms.py"))


@pytest.mark.parametrize("url", ["data.csv", "file://{folder}/data.csv", ""])
def test_a_data_file_next_to_the_dataset_is_found(
    files: Path, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In order: LEXISCOPE_DATA, a ``file://`` address, the folder of the ``.py``; each is checked by its sha256."""
    if not url:
        (files / "norms").mkdir()
        (files / "data.csv").rename(files / "norms" / "items.csv")
    (files / "norms.py").write_text(
        (files / "norms.py").read_text().replace('"data.csv"', f'"{url.format(folder=files)}"')
    )
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "data"))
    data = catalog.dataset(str(files / "norms.py"))
    assert (len(data.items), len(data.responses)) == (2, 4)
    first = tmp_path / "data" / "norms" / "items.csv"
    first.parent.mkdir(parents=True)
    first.write_text(CSV)
    assert fetch.locate(data.card.files[0], dataset=data.card.name).path == first
    first.write_text(CSV + "changed")
    assert [status.status for status in fetch.file_states(data.card)] == ["wrong checksum"]


def test_nothing_of_the_checkout_changes(files: Path) -> None:
    """What was used by path or from a distribution touches no file of the checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    status = ["git", "status", "--porcelain"]
    before = subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    done("collect", "--items", "norms.py", "--subject", "counts.py:a", "--out", "run", cwd=files)
    done("list", cwd=files, site=install(files / "site"))
    assert subprocess.run(status, cwd=ROOT, capture_output=True, text=True, check=True).stdout == before
