"""Worked examples as a designed factor: every item without and with them, in a study, its report and its settings."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope import Study, pair, rating
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, find_record, read_records

NORMS = {"bank": 5, "bark": 4, "bat": 2, "seal": 1, "ring": 3}
ANSWERS = {0: {"bank": 3, "bark": 5, "bat": 4, "seal": 2, "ring": 1}, 2: NORMS}
"""The planted answers by the number of worked examples: with two the model rates as people do."""
study = Study("shots", title="Shots, made up", citation="A. Test (2026). Made for a test.", licence="CC0")


@study.data
def load() -> Any:
    """One pair of each word, rated by two simulated participants."""
    for word, norm in NORMS.items():
        yield pair(word, f"This {word} is here", f"That {word} was there", word)
        yield from (rating(f"simulated-{number}", word, norm) for number in (1, 2))


@study.question("How much do models rate?", needs="models")
def levels(run: Any) -> list[Estimate]:
    """A statistic of the study itself."""
    return [
        Estimate("n_rated", len(run.answers.where(subject_id=name)), n=5).about(subject=name) for name in run.models
    ]


def says(body: dict[str, Any]) -> str:
    """The planted rating of the word, by how many examples were answered before it."""
    shots = sum(message["role"] == "assistant" for message in body["messages"])
    told = body["messages"][-1]["content"].replace("*", "")
    return str(next(value for word, value in ANSWERS[shots].items() if f"This {word} is" in told))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeChat, str, tuple[Record, ...]]:
    """The study with a chat model that is asked without examples and with two."""
    folder, endpoint = tmp_path_factory.mktemp("shots"), FakeChat(says=says)
    with serving(endpoint) as url:
        subjects = (f"chat:m@{url}", f"chat:m@{url}?shots=2")
        study.run(study.settings_for(subjects=subjects, n_bootstrap=200), folder / "run")
    return folder / "run", endpoint, f"chat:m@{url}", read_records(folder / "run" / "results.json")


def test_every_item_is_asked_with_each_number(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """10 questions; the answers stand under the model with its number as the option ``shots``."""
    folder, endpoint, model, _ = run
    assert len(endpoint.received) == 10
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(measure="rating", subject_kind="chat")
    for shots, given in ANSWERS.items():
        subject = f"{model}?shots={shots}" if shots else model
        assert table.where(subject_id=subject).by_item() == {f"shots/{word}": value for word, value in given.items()}


def test_the_difference_is_few_minus_zero_on_the_same_items(
    run: tuple[Path, FakeChat, str, tuple[Record, ...]],
) -> None:
    """ρ is 1 with examples and .3 without: the difference .7 has an interval over words, and there is no mean."""
    folder, _, model, records = run
    values = {}
    for subject in (model, f"{model}?shots=2"):
        values[subject] = find_record(records, "shots_value(of=spearman,with=norms)", subject=subject).value
    assert [*values.values()] == pytest.approx([0.3, 1.0])
    difference = find_record(records, "shots_difference(of=spearman,with=norms)", subject=model)
    assert (difference.value, difference.condition) == (pytest.approx(0.7), "2-shot − zero-shot")
    assert difference.low is not None
    assert difference.high is not None
    assert difference.low <= 0.7 <= difference.high
    assert "words" in (difference.interval or "")
    assert not [record for record in records if record.statistic.startswith(("wording_", "shots_mean"))]
    mean = find_record(records, "shots_difference(of=mean)", subject=model)
    assert mean.value == pytest.approx(0)
    rows = list(csv.DictReader((folder / "tables" / "shots.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["Worked examples"] for row in rows} == {"zero-shot", "2-shot"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Worked examples before the item" in page
