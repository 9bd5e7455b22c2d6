"""One writer per folder; whoever is refused before writing anything leaves nothing behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.lock import LOCK_NAME, folder_lock
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
