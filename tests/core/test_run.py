"""Run folders: one writer per folder, files and folders that appear whole or not at all, JSON checked when read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.run import (
    LOCK_NAME,
    atomic_folder,
    folder_lock,
    manifest,
    read_json,
    sha256_of,
    versions,
    write_atomically,
    write_json,
)
from lexiscope.core.settings import Settings
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.synonymy.settings import SynonymySettings


def refuse(folder: Path, *, writing: str = "") -> None:
    """Fail inside the lock, after writing a file where one is named."""
    with folder_lock(folder):
        if writing:
            (folder / writing).write_text("x", encoding="ascii")
        raise InputError("no")


def test_nothing_is_left_of_what_was_refused(tmp_path: Path) -> None:
    """The folder goes, with those above it that were made for it, and no other."""
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError):
        refuse(tmp_path / "there" / "a" / "b")
    assert list((tmp_path / "there").iterdir()) == []


def test_a_folder_that_was_there_stays(tmp_path: Path) -> None:
    """An empty folder of the user's is empty again."""
    with pytest.raises(InputError):
        refuse(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_kept(tmp_path: Path) -> None:
    """A run that broke off is continued: its files stay."""
    with pytest.raises(InputError):
        refuse(tmp_path / "run", writing="question.json")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [LOCK_NAME, "question.json"]
    with pytest.raises(InputError):
        refuse(tmp_path / "run")
    assert (tmp_path / "run" / "question.json").is_file()


def test_another_writer_is_refused_and_disturbs_nothing(tmp_path: Path) -> None:
    """The second names the first by its number; the first finishes, and the folder is free again."""
    with folder_lock(tmp_path / "run"):
        with pytest.raises(RunError, match=f"pid {os.getpid()}"):
            refuse(tmp_path / "run")
        assert (tmp_path / "run" / LOCK_NAME).is_file()
    with folder_lock(tmp_path / "run"):
        pass


@pytest.mark.parametrize(
    ("study", "settings"),
    [
        ("synonymy", SynonymySettings(items="no/such.csv")),
        ("synonymy", SynonymySettings(dataset="mini_synonymy")),
        ("synonymy", SynonymySettings(dataset="mini_relatedness")),
        ("saw_c", SawCSettings(items="no/such.csv")),
        ("saw_c", SawCSettings(dataset="mini_relatedness", subjects=("nobody:x",))),
        ("ambistory", AmbistorySettings(dataset="mini_ambistory", compare=(("a:b", "c:d"),))),
    ],
)
def test_a_study_that_is_refused_makes_no_folder(study: str, settings: Settings, tmp_path: Path) -> None:
    """Wrong items, nobody to ask, an unknown subject, a comparison of nobody."""
    with pytest.raises((InputError, RunError)):
        catalog.study(study).run(settings, tmp_path / "run")  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_replaces_the_earlier_one_only_if_it_is_finished(tmp_path: Path) -> None:
    """An error in the block leaves the earlier folder, and nothing next to it."""
    folder = tmp_path / "out"
    for text in ("one", "two"):
        with atomic_folder(folder) as new:
            (new / "a.txt").write_text(text)
    assert (folder / "a.txt").read_text() == "two"
    with pytest.raises(RunError), atomic_folder(folder) as new:
        Path(new / "no" / "b.txt").write_text("three")
    assert (folder / "a.txt").read_text() == "two"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_another_process_made_meanwhile_may_stay(tmp_path: Path) -> None:
    """With `keep_earlier`, the first finished folder stays."""
    folder = tmp_path / "out"
    with atomic_folder(folder, keep_earlier=True) as slow:
        (slow / "a.txt").write_text("slow")
        with atomic_folder(folder, keep_earlier=True) as fast:
            (fast / "a.txt").write_text("fast")
    assert (folder / "a.txt").read_text() == "fast"


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    """A file where a folder should be is an error with its path."""
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"out: this folder cannot be written"), atomic_folder(tmp_path / "file" / "out"):
        pass


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """A write that fails leaves the old file and no temporary one."""
    path = tmp_path / "run" / "x.json"
    write_atomically(path, "old")
    with pytest.raises(TypeError):
        write_json(path, {"x": object()})
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["x.json"]


def test_a_run_file_is_checked_when_read(tmp_path: Path) -> None:
    """Damaged or foreign JSON is an error that names the file; checksums are of the bytes."""
    for text in ("{", "[]"):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(RunError, match=r"run\.json"):
            read_json(tmp_path / "run.json")
    assert manifest(tmp_path, ["run.json"]) == {"run.json": sha256_of(tmp_path / "run.json")}
    assert versions()["python"].startswith(f"{sys.version_info.major}.")
