"""A folder of results appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core.errors import RunError
from lexiscope.core.run import atomic_folder


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
