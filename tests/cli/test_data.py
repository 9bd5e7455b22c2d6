"""Data: where it is looked for, and whether it is what was published."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from lexiscope.resources.cards import CARDS
from lexiscope.resources.fetch import HubAddress

from .conftest import Run


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)


def test_where_names_the_folders_in_order(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of LEXISCOPE_DATA comes first, the cache second."""
    monkeypatch.setenv("LEXISCOPE_DATA", "mine")
    first, second = run("data", "where").output.splitlines()
    assert first == "mine"
    assert second.endswith("data")


def test_missing_data_fail_only_where_they_were_named(run: Run) -> None:
    """Without names the table says what is missing; a dataset that was named and is not there is status 1."""
    assert run("data", "check").exit_code == 0
    result = run("data", "check", "raw_c", "--json")
    assert result.exit_code == 1
    assert {row["state"] for row in json.loads(result.output)} == {"missing"}


def test_a_changed_file_is_found(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file with another checksum than the published one makes the status 1, even where nothing was named."""
    (tmp_path / "mine" / "rawc").mkdir(parents=True)
    (tmp_path / "mine" / "rawc" / "raw-c.csv").write_text("changed\n")
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "mine"))
    result = run("data", "check")
    assert result.exit_code == 1
    assert "wrong checksum" in result.output


@pytest.mark.published
def test_get_verifies_what_is_there(run: Run, published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Data at hand are not downloaded again: get prints their paths; licence and citation go to stderr."""
    shutil.copytree(published / "rawc", tmp_path / "mine" / "rawc")
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "mine"))
    result = run("data", "get", "raw_c")
    assert all(Path(line).is_file() for line in result.stdout.splitlines())
    assert len(result.stdout.splitlines()) == 5
    assert "please cite" in result.stderr
    assert run("data", "get", "raw_c", "--quiet").stderr == ""


def test_unknown_dataset_names_the_nearest(run: Run) -> None:
    """A misspelt dataset is an error that names the one that was meant."""
    result = run("data", "get", "raw_d")
    assert result.exit_code == 1
    assert "raw_c" in result.stderr


@pytest.mark.published
def test_a_packed_resource_stands_for_its_files(
    run: Run, published: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """WordNet's archive is found, verified and enough; a changed one is refused; without it the files are missing."""
    (tmp_path / "mine" / "wordnet30").mkdir(parents=True)
    monkeypatch.setenv("LEXISCOPE_DATA", str(tmp_path / "mine"))
    rows = json.loads(run("data", "check", "wordnet", "--json").output)
    assert [(row["file"], row["state"]) for row in rows] == [(file.path, "missing") for file in CARDS["wordnet"].files]
    copy = shutil.copy(published / "wordnet30" / "WordNet-3.0.tar.xz", tmp_path / "mine" / "wordnet30")
    result = run("data", "get", "wordnet")
    assert (result.stdout.splitlines(), "Princeton" in result.stderr) == ([str(copy)], True)
    assert [row["state"] for row in json.loads(run("data", "check", "wordnet", "--json").output)] == ["ok"]
    Path(copy).chmod(0o644)
    Path(copy).write_bytes(b"changed")
    assert run("data", "check").exit_code == 1
    assert "sha256 expected" in run("data", "get", "wordnet").stderr


def test_what_cannot_be_downloaded_says_how_to_get_it(run: Run) -> None:
    """SemCor has no pinned address: the message says where it comes from and where to put it."""
    result = run("data", "get", "semcor")
    assert result.exit_code == 1
    assert CARDS["semcor"].how_to_obtain in result.stderr


def test_unknown_names_are_looked_for_among_resources_too(run: Run) -> None:
    """A misspelt resource is an error that names the one that was meant."""
    result = run("data", "get", "wordnat")
    assert result.exit_code == 1
    assert "did you mean 'wordnet'" in result.stderr


def test_tag_files_of_semcor_are_converted(run: Run, tmp_path: Path) -> None:
    """The files of the unified layout are written and named; what is in them is counted beside the whole of SemCor."""
    folder = tmp_path / "semcor3.0" / "brown1" / "tagfiles"
    folder.mkdir(parents=True)
    word = "<wf cmd=done pos=NN lemma=pot wnsn=1 lexsn=1:06:00::>pots</wf>"
    (folder / "br-a01").write_text(f"<s snum=1>\n{word}\n<punc>!</punc>\n</s>\n")
    result = run("data", "convert", tmp_path / "semcor3.0", "--out", tmp_path / "out")
    written = [tmp_path / "out" / name for name in ("semcor.data.xml.gz", "semcor.gold.key.txt.gz")]
    assert result.stdout.splitlines() == [str(path) for path in written]
    assert gzip.decompress(written[1].read_bytes()) == b"d000.s000.t000 pot%1:06:00::\n"
    assert "tokens: 2 (SemCor 3.0: 802443)" in result.stderr
    again = run("data", "convert", tmp_path / "out", "--out", tmp_path / "out")
    assert (again.exit_code, "no tag files" in again.stderr) == (1, True)


def test_a_dataset_is_written_for_other_programs(run: Run, tmp_path: Path) -> None:
    """``data write`` names the files of the folder; what is there already is not touched."""
    result = run("data", "write", "mini_relatedness", "--format", "hub", "--out", str(tmp_path / "hub"))
    assert result.exit_code == 0, result.stderr
    names = [
        Path(line).relative_to(tmp_path / "hub").as_posix() for line in result.output.splitlines() if "hub" in line
    ]
    assert names == ["README.md", "items/train-00000-of-00001.parquet"]
    assert run("data", "write", str(tmp_path / "hub"), "--format", "durel", "--out", str(tmp_path / "d")).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "d").iterdir()) == ["instances.csv", "judgments.csv", "uses.csv"]
    again = run("data", "write", "mini_relatedness", "--format", "hub", "--out", str(tmp_path / "hub"))
    assert again.exit_code == 1
    assert "this folder is not empty" in again.stderr


def test_an_address_of_the_hub_is_downloaded(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``data get hf://…`` prints the folder, whose name other commands take."""
    asked: list[HubAddress] = []
    monkeypatch.setattr("lexiscope.cli.data.download_from_hub", lambda address: asked.append(address) or tmp_path)
    result = run("data", "get", "hf://datasets/lab/norms@v1")
    assert result.output.splitlines()[-1] == str(tmp_path)
    assert asked == [HubAddress("lab/norms", "v1")]
