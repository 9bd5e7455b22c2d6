"""Every study keeps one contract: citation, questions, published values with places, a run on mini data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.result import parse_statistic, read_records
from lexiscope.core.run import manifest, read_json
from lexiscope.core.study import PublishedValue, Question, StudySettings

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
    assert all(q.section and q.text.endswith("?") and q.analysis in ("confirmatory", "exploratory") for q in questions)


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
    settings: StudySettings = replace(module.MINI, n_bootstrap=10)
    summary = module.run(replace(settings, ethics="none needed: no people"), tmp_path / "run", command="test")
    run = read_json(tmp_path / "run" / "run.json")
    assert manifest(tmp_path / "run", run["files"]) == run["files"]
    assert run["command"] == "test"
    records = read_records(tmp_path / "run" / "results.json")
    assert len(records) == summary.n_records > 0
    keys = [(r.statistic, r.subject, r.layer, r.condition, r.view) for r in records]
    assert len(set(keys)) == len(keys), "two records answer to one name"
    assert {parse_statistic(r.statistic)[0] for r in records} <= set(module.STATISTICS)
    assert "none needed: no people" in summary.report.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STUDIES)
def test_a_setting_of_another_study_is_refused(name: str, tmp_path: Path) -> None:
    """A setting that a study does not have would be dropped without a word."""
    module = _module(name)
    other = {"split": "dev", "mode": "published", "views": ("word",)}
    setting = next(each for each in other if each not in module.SETTINGS)
    with pytest.raises(InputError, match=f"has no setting '{setting}'"):
        module.run(replace(module.MINI, **{setting: other[setting]}), tmp_path / "run")
    assert not (tmp_path / "run").exists()
