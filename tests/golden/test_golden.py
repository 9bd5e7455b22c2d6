"""The golden sums cover every study on three kinds of data, and every export; a comparison names what differs."""

from __future__ import annotations

import json
from pathlib import Path

from lexiscope.core import catalog

from . import golden


def test_every_study_is_run_on_three_kinds_of_data_and_every_export_is_summed() -> None:
    """A study or a page that is added without golden sums is a gap in the proof."""
    sums = json.loads((Path(golden.__file__).parent / "sums.json").read_text(encoding="utf-8"))["sums"]
    for study in catalog.names("studies"):
        assert {f"{study}/{data}" for data in ("published", "embedded", "own")} <= set(sums)
    assert set(sums) >= {case.name for case in golden.CASES}
    pages = {name for name in catalog.names("tasks") if getattr(catalog.module("tasks", name), "SCREEN", None)}
    assert {f"export/{name}" for name in pages} <= set(sums)
    for name, files in sums.items():
        assert name.startswith("export/") or {"results.json", "responses.parquet as CSV"} <= set(files), name


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
