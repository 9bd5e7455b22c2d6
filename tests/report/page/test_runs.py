"""Several runs in one report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.result import Record, to_json
from lexiscope.core.sealed import seal_run
from lexiscope.report.document import Report
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.html import render
from lexiscope.report.page.runs import last_layers, report_of_runs, side_by_side
from lexiscope.report.page.stored import store
from lexiscope.report.tables import IntervalCell


def _run(report: Report, folder: Path) -> Path:
    store(report, folder)
    (folder / "results.json").write_text(to_json(report.records), encoding="utf-8")
    seal_run(folder, report.run, ["results.json"])
    return folder


def test_one_run_is_its_own_report(report: Report, tmp_path: Path) -> None:
    """The report of one run is the report that the run wrote."""
    assert render(report_of_runs([_run(report, tmp_path / "a")])) == render(report)


def test_two_runs_stand_side_by_side(report: Report, tmp_path: Path) -> None:
    """Both runs are whole in the page, ids stay unique, and the machine of neither is printed."""
    other = with_every_result(replace(report, title="Another", records=(Record("spearman", 0.5, subject="mine"),)))
    text = render(report_of_runs([_run(report, tmp_path / "a"), _run(other, tmp_path / "b")]))
    assert text.index("Subjects side by side") < text.index("Run 1: Relatedness") < text.index("Run 2: Another")
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(ids)
    assert "secret-host" not in text


def test_statistics_that_subjects_share_are_tabled(records: tuple[Record, ...]) -> None:
    """One table per statistic that two subjects have, at the last layer of each, with interval and n."""
    section = side_by_side([records])
    assert [table.title for table in section.tables] == ["r_squared"]
    rows = section.tables[0].rows
    assert [row[0] for row in rows] == ["BETO", "roberta"]
    assert rows[1][-2:] == (IntervalCell(0.33, 0.45, 0.39), 812)


def test_the_same_subject_in_two_runs_counts_as_two() -> None:
    """A repeated run shows beside the first, each with its number."""
    record = Record("spearman", 0.5, subject="BETO")
    section = side_by_side([[record], [replace(record, value=0.6)]])
    assert [row[:2] for row in section.tables[0].rows] == [("BETO", 1), ("BETO", 2)]


def test_nothing_in_common_is_said() -> None:
    """Without a shared statistic the section says so."""
    assert "no statistic in common" in str(side_by_side([[Record("a", 1.0, subject="x")]]).paragraphs[0])


def test_only_the_last_layer_is_kept() -> None:
    """Of a series over layers the last remains; records without a layer remain all."""
    records = [Record("r", 0.1, layer=0), Record("r", 0.2, layer=12), Record("r", 0.3, layer=6), Record("n", 5.0)]
    assert last_layers(records) == [records[1], records[3]]


def test_a_folder_must_be_named() -> None:
    """No run, no report."""
    with pytest.raises(InputError, match="at least one run"):
        report_of_runs([])
