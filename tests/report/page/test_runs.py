"""Several runs in one report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.analysis.attainable.model_pairs import ModelPairs, PairedModels
from lexiscope.analysis.ranks import RankSet
from lexiscope.core.errors import InputError
from lexiscope.core.result import Contrast, Estimate, Interval, Record, to_json
from lexiscope.core.sealed import seal_run
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.results_page import ResultsPage
from lexiscope.report.document import Report
from lexiscope.report.marks.drawing import Axis, ReferenceLine
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.page.comparison_page import compared_runs, comparison_page
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.html import render, write_report
from lexiscope.report.page.runs import last_layers, report_of_runs, side_by_side
from lexiscope.report.page.stored import store
from lexiscope.report.tables import IntervalCell, Missing


def _run(report: Report, folder: Path) -> Path:
    store(report, folder)
    (folder / "results.json").write_text(to_json(report.records), encoding="utf-8")
    seal_run(folder, report.run, ["results.json"])
    return folder


def test_one_run_is_its_own_report(report: Report, tmp_path: Path) -> None:
    """The report of one run is the report that the run wrote."""
    assert render(report_of_runs([_run(report, tmp_path / "a")])) == render(report)


def test_two_runs_are_compared(report: Report, tmp_path: Path) -> None:
    """Both runs are named with their folders, ids are unique, and the machine of neither is printed."""
    other = with_every_result(replace(report, title="Another", records=(Record("spearman", 0.5, subject="mine"),)))
    folders = [_run(report, tmp_path / "a"), _run(other, tmp_path / "b")]
    (tmp_path / "b" / "report.html").touch()
    text = render(report_of_runs(folders, page=tmp_path / "pages" / "both.html"))
    assert text.index("Subjects side by side") < text.index("Run 1: Relatedness") < text.index("Run 2: Another")
    assert '<a href="../b/report.html" rel="noopener noreferrer">b</a>' in text, "a link where the report exists"
    assert '">a</a>' not in text
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


def _answered(report: Report, brand: str, values: dict[str, float], person: float) -> Report:
    rows = tuple(ForestRow(name, v, v - 0.05, v + 0.05, f"{v:.2f}") for name, v in values.items())
    people = (ReferenceLine(f"average person {person}", person, person - 0.01, person + 0.01),)
    axis = Axis("Spearman’s ρ", 0, 1)
    forest = Forest(name="agreement", title="Agreement", rows=rows, axis=axis, references=people, value_head="ρ")
    names = tuple((f"encoder:{name}", name) for name in values)
    page = ResultsPage("Title?", "kicker", brand, Answer("Yes.", ("It is.",), drawing=forest), names=names)
    return replace(report, results=page)


def test_runs_of_one_statistic_are_on_one_axis(report: Report) -> None:
    """Subjects in one order, people in each dataset, missing cells with their reason; another statistic is named."""
    one = _answered(report, "A", {"m": 0.6, "n": 0.4}, 0.7)
    two = _answered(report, "B", {"n": 0.8, "o": 0.5}, 0.7)
    other = replace(report, results=None)
    runs, others = compared_runs([one, two, other], ["a", "b", "c"])
    assert ([run.dataset for run in runs], others) == (
        ["A", "B"],
        ["c is not on this axis: it has no estimates of subjects."],
    )
    sides = [Estimate("spearman", v, subject=f"encoder:{s}") for s, v in (("m", 0.6), ("n", 0.4))]
    contrast = Contrast("spearman_difference", *sides, Interval(0.1, 0.3, 0.95, "b"), 50, p=0.01)
    page = comparison_page([replace(runs[0], differences=(contrast,)), runs[1]], others)
    assert page is not None
    assert page.top.sentences == (
        "The highest values are those of m on A (0.60) and n on B (0.80).",
        "1 model answered several datasets; the values of n differ least (by .40).",
        "No model's interval reaches the average person on A; at least one does on B.",
    )
    assert page.top.table is not None
    # mean ranks: m 0, n (1 + 0) / 2, o 1
    assert [row[0] for row in page.top.table.rows] == ["m", "n", "o", "Average person"]
    assert page.top.table.rows[0][2] == Missing("not asked in this run")
    assert isinstance(page.top.drawing, Forest)
    assert [(row.group, row.label) for row in page.top.drawing.rows] == [
        ("A", "m"), ("A", "n"), ("A", "Average person"), ("B", "n"), ("B", "o"), ("B", "Average person"),
    ]  # fmt: skip
    assert page.questions[0].answer.sentences == (
        "On A, m differs from 1 of 1 models after Holm's adjustment over 1 comparisons.",
    )
    assert page.questions[0].answer.caution == ""
    apart = (PairedModels("m", "n", 0.2, 0.1, 0.3),)
    pairs = ModelPairs(("m", "n"), apart, 2.0, (RankSet(1, 1), RankSet(2, 2)))
    page = comparison_page([replace(runs[0], differences=(contrast,), pairs=pairs), runs[1]], others)
    assert page is not None
    answer = page.questions[0].answer
    assert answer.table is not None
    assert answer.table.rows == (
        ("m", "A", "m", "—", "1"),
        ("n", "A", "m", IntervalCell(-0.3, -0.1, -0.2), "2"),
        ("m", "A", "n", IntervalCell(0.1, 0.3, 0.2), "1"),
        ("n", "A", "n", "—", "2"),
    )
    html = render(replace(one, results=page))
    rows = re.findall(r'<tr data-p="(.)"( hidden)?><th scope="row">(.)<', html)
    assert rows == [("m", "", "m"), ("m", "", "n"), ("n", " hidden", "m"), ("n", " hidden", "n")]
    assert "<option>m</option><option>n</option></select>" in html
    assert comparison_page(runs[:1], []) is None


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(report: Report, chromium: Any, tmp_path: Path, mode: str, width: int) -> None:
    """The comparison in both themes: with differences, the table with its choice of reference, and open details."""
    from axe_playwright_python.sync_playwright import Axe

    one = _answered(report, "A", {"m": 0.6, "n": 0.4}, 0.7)
    runs, others = compared_runs([one, _answered(report, "B", {"n": 0.8, "o": 0.5}, 0.7)], ["a", "b"])
    sides = [Estimate("spearman", v, subject=f"encoder:{s}") for s, v in (("m", 0.6), ("n", 0.4))]
    contrast = Contrast("spearman_difference", *sides, Interval(0.1, 0.3, 0.95, "b"), 50, p=0.01)
    apart = (PairedModels("m", "n", 0.2, 0.1, 0.3),)
    pairs = ModelPairs(("m", "n"), apart, 2.0, (RankSet(1, 1), RankSet(2, 2)))
    compared = comparison_page([replace(runs[0], differences=(contrast,), pairs=pairs), runs[1]], others)
    path = write_report(replace(one, results=compared), tmp_path / "cmp.html")
    page = chromium.new_page(viewport={"width": width, "height": 844}, offline=True, color_scheme=mode)
    page.goto(path.as_uri())
    assert page.locator(".pick select").is_visible()
    page.evaluate("document.querySelectorAll('details').forEach(line => line.open = true)")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_differences_at_best_layers_say_how_the_layers_were_chosen(report: Report) -> None:
    """A best layer, layer 0 too, was chosen on the items that the difference is computed on."""
    runs, others = compared_runs([_answered(report, name, {"m": 0.6, "n": 0.4}, 0.7) for name in "AB"], ["a", "b"])
    sides = [
        Estimate("spearman", v, subject=f"encoder:{s}", layer=at) for s, v, at in (("m", 0.6, None), ("n", 0.4, 0))
    ]
    contrast = Contrast("spearman_difference", *sides, Interval(0.1, 0.3, 0.95, "b"), 50, p=0.01)
    page = comparison_page([replace(runs[0], differences=(contrast,)), runs[1]], others)
    assert page is not None
    assert page.questions[0].answer.caution == (
        "A: each model with layers is at its best layer, chosen on the same items."
    )
