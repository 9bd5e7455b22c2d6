"""The golden sums cover every study on three kinds of data, and every export; a comparison names what differs."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core import catalog

from . import golden

KINDS = ("published", "embedded", "own")


def test_every_study_is_run_on_three_kinds_of_data() -> None:
    """A study that is added without golden cases is a gap in the proof."""
    cases = {case.name for case in golden.CASES}
    assert cases >= {f"{study}/{data}" for study in catalog.names("studies") for data in KINDS}


def test_a_difference_is_named() -> None:
    """A file that differs, one that is gone, one that is new, and a case that was not run."""
    before = {"a": {"x": "1", "y": "2"}, "b": {"x": "1"}}
    after = {"a": {"x": "0", "z": "3"}, "c": {"x": "1"}}
    assert golden.differences(before, before) == []
    assert golden.differences(before, after) == [
        "a: x: differs",
        "a: y: gone",
        "a: z: new",
        "b: not run",
        "c: not in the file of sums",
    ]


def test_files_of_a_run_are_summed_without_what_differs_between_machines(tmp_path: Path) -> None:
    """The record of the run is not summed; the folder's own name in a file does not count."""
    for folder in ("one", "two"):
        run = tmp_path / folder
        (run / "tables").mkdir(parents=True)
        (run / "run.json").write_text(folder)
        (run / "tables" / "a.csv").write_text(f"file\n{run}/items.csv\n")
    first, second = (
        golden.sums_of_folder(tmp_path / folder, {str(tmp_path / folder): "RUN"}) for folder in ("one", "two")
    )
    assert first == second
    assert list(first) == ["tables/a.csv"]
