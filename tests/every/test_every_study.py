"""Every study keeps one contract: citation, questions, published values with places, a run on mini data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.result import COMPARED, Record, parse_statistic, read_records
from lexiscope.core.run import manifest, read_json
from lexiscope.core.settings import Settings, own_settings, settings_of
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Section
from lexiscope.report.stored import load
from lexiscope.report.tables import Interval

STUDIES = catalog.names("studies")


def _module(name: str) -> Any:
    return catalog.module("studies", name)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_says_whom_it_follows(name: str) -> None:
    """A citation, a first sentence, and questions with unique ids, sections and a mark."""
    module = _module(name)
    assert catalog.summary("studies", name)
    assert all(citation.strip() for citation in module.CITATION)
    questions: tuple[Question, ...] = module.QUESTIONS
    assert len({question.question_id for question in questions}) == len(questions) > 0
    assert all(q.section and q.text.endswith("?") for q in questions)
    assert {q.analysis for q in questions} == {"exploratory"}, "a question is confirmatory by a plan only"


@pytest.mark.parametrize("name", STUDIES)
def test_printed_numbers_have_a_place_and_no_doubles(name: str) -> None:
    """Each printed number names its statistic, its text parses as a number, and no two claim the same record."""
    for dataset, values in _module(name).PUBLISHED.items():
        seen: set[tuple[object, ...]] = set()
        for value in values:
            assert isinstance(value, PublishedValue)
            assert value.dataset == dataset
            assert value.place
            float(value.printed)
            assert parse_statistic(value.statistic)[0] in _module(name).STATISTICS
            key = (value.statistic, value.subject, value.layer, value.condition)
            assert key not in seen, key
            seen.add(key)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_runs_on_mini_data(name: str, tmp_path: Path) -> None:
    """On embedded items, as the study's ``MINI`` names them: records, report, and a run.json that seals every file."""
    module = _module(name)
    settings: Settings = replace(module.MINI, n_bootstrap=10)
    summary = module.run(replace(settings, ethics="none needed: no people"), tmp_path / "run", command="test")
    run = read_json(tmp_path / "run" / "run.json")
    assert manifest(tmp_path / "run", run["files"]) == run["files"]
    assert run["command"] == "test"
    records = read_records(tmp_path / "run" / "results.json")
    assert len(records) == summary.n_records > 0
    keys = [(r.statistic, r.subject, r.layer, r.condition, r.view) for r in records]
    assert len(set(keys)) == len(keys), "two records answer to one name"
    assert {parse_statistic(r.statistic)[0] for r in records} <= set(module.STATISTICS)
    assert not any(r.status in COMPARED and (r.published is None or r.value is None) for r in records)
    assert "none needed: no people" in summary.report.read_text(encoding="utf-8")
    assert {r.analysis for r in records if r.question} == {"exploratory"}
    assert not [path for path in (tmp_path / "run").rglob("*") if "registration" in path.name]


@pytest.mark.parametrize("name", STUDIES)
def test_what_a_study_computes_is_in_its_report(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value of results.json is a number of a table or a figure; a statistic that no table knows is named."""
    module = _module(name)
    mark: Callable[..., tuple[Record, ...]] = module.marked_records
    added = (
        Record("new_share", 1.0, question="Q1", analysis="exploratory"),
        Record("new_slope", 0.123456, question=module.QUESTIONS[-1].question_id, analysis="exploratory"),
    )
    monkeypatch.setattr(module, "marked_records", lambda *args, **more: (*mark(*args, **more), *added))
    module.run(replace(module.MINI, n_bootstrap=10), tmp_path / "run", command="test")
    report = load(tmp_path / "run")
    assert report.records[-2:] == added
    shown = {f"{number:.10g}" for section in report.sections for number in _numbers(section)}
    hidden = [r for r in report.records if r.value is not None and not {_short(r.value), _short(100 * r.value)} & shown]
    assert not hidden, hidden
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    assert "new_share" in page
    assert "new_slope" in page
    assert "0.1235" in page


def _short(value: float) -> str:
    return f"{value:.10g}"


def _numbers(section: Section) -> Iterator[float]:
    """Every number of a section's tables and figures, those in text too."""
    for part in section.walk():
        cells = [cell for table in part.tables for row in table.rows for cell in row]
        cells += [cell for figure in part.figures for values in figure.data.values() for cell in values.tolist()]
        for cell in cells:
            value = cell.value if isinstance(cell, Interval) else getattr(cell, "text", cell)
            try:
                yield float(str(value).replace(",", "").replace("−", "-"))
            except ValueError:
                continue


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_its_own_settings_only(name: str) -> None:
    """``SETTINGS`` are the class of its ``settings.py``; every study has the common ones, each setting says what it is,
    and another study's setting is not there."""
    kind = catalog.settings(name)
    assert kind is _module(name).SETTINGS
    assert type(_module(name).MINI) is kind
    assert kind().study == name
    assert all(setting.option.about for setting in settings_of(kind))
    others = {s.name for each in STUDIES for s in own_settings(catalog.settings(each))}
    absent = others - {setting.name for setting in settings_of(kind)}
    assert absent
    with pytest.raises(InputError, match="its own settings: "):
        kind.of({min(absent): ""})
