"""The context–word bias study with a tiny model that is trained, and on every kind of item that it takes."""

from __future__ import annotations

import csv
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.training.tiny_views import SPACE, pairs, retrievals, save_bert, senses, verifications

from lexiscope.core.item import Item
from lexiscope.core.result import Record, find, read_records
from lexiscope.core.run import read_json
from lexiscope.core.study import StudySettings
from lexiscope.studies import context_bias
from lexiscope.studies.context_bias import protocol
from lexiscope.studies.context_bias.material import AuditSet, NotUsed

Make = Callable[..., tuple[Item, ...]]
TASKS: dict[str, Make] = {
    "same_sense": pairs,
    "sense_verification": verifications,
    "sense_disambiguation": senses,
    "sense_retrieval": retrievals,
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT of random weights."""
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


def audit_of(task: str) -> AuditSet:
    """Made-up items of a task, divided."""
    make = TASKS[task]
    parts = make(64), make(32, start=64), make(32, start=96)
    return AuditSet(task, task, task, *parts, space=SPACE if task == "sense_retrieval" else None)


def run(
    audits: list[AuditSet], folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: object
) -> tuple[Record, ...]:
    """Run the study on these items in the place of datasets."""
    none: tuple[NotUsed, ...] = ()
    gather = sys.modules["lexiscope.studies.context_bias.gather"]
    monkeypatch.setattr(gather, "open_sets", lambda _: (tuple(audits), none))
    context_bias.run(StudySettings("context_bias", n_bootstrap=50, outputs=(), **settings), folder)  # type: ignore[arg-type]
    return read_records(folder / "results.json")


def test_every_kind_of_item_is_probed(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs, definitions, senses and search spaces: every view has a score, and nothing is trained."""
    audits = [audit_of(task) for task in TASKS]
    found = run(audits, tmp_path / "run", monkeypatch, encoders=(str(bert),))
    for task in TASKS:
        for view in ("full", "context", "word", "label"):
            score = find(found, "accuracy", dataset=task, subject="tiny, zero-shot", view=view)
            assert score.value is not None
            assert 0 <= score.value <= 1
            assert score.n == 32
    chances = {task: find(found, "accuracy", dataset=task, view="random").value for task in TASKS}
    # two answers, two answers, two glosses of each item, and 0 for a search, as in the paper
    assert list(chances.values()) == [0.5, 0.5, 0.5, 0.0]
    methods = {folder.parts[-3] for folder in (tmp_path / "run" / "shards").glob("*/*/*/run.json")}
    assert len(methods) == 4
    entropies = {record.dataset for record in found if record.statistic.startswith("sense_entropy")}
    assert entropies == {"sense_retrieval", "sense_disambiguation"}


def test_seeds_have_a_spread_on_dev(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole protocol trains every view, LABEL too, with every rate and seed; the SD is that over the seeds."""
    monkeypatch.setattr(protocol, "RATES", (2e-5, 1e-3))
    monkeypatch.setattr(protocol, "SEEDS", (0, 1))
    audits = [audit_of("same_sense")]
    found = run(audits, tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol="full")
    for view in ("full", "context", "word", "label"):
        table = next((tmp_path / "run" / "shards").glob(f"*/{view}/selection.csv"))
        with table.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == 4
        assert {row["method"] for row in rows} == {"pair"}
        (best,) = (row for row in rows if row["selected"] == "1")
        dev = [float(row["dev"]) for row in rows if row["learning_rate"] == best["learning_rate"]]
        spread = find(found, "dev_sd", subject="tiny, full", view=view)
        assert spread.value == pytest.approx(statistics.stdev(dev))
        assert find(found, "dev_mean", view=view).note == f"rate {float(best['learning_rate']):g}, seed {best['seed']}"
    assert read_json(tmp_path / "run" / "run.json")["plans"][0]["left_out"] == []


def test_a_reduced_protocol_says_what_it_leaves_out(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rate, one seed, few epochs, LABEL in closed form: all of it stands in the run and in the report."""
    found = run([audit_of("same_sense")], tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol="reduced")
    (plan,) = read_json(tmp_path / "run" / "run.json")["plans"]
    assert plan["left_out"][:3] == ["2 of 3 learning rates", "2 of 3 seeds", "epochs beyond 3 (of 10)"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "2 of 3 learning rates; 2 of 3 seeds; epochs beyond 3 (of 10)" in page
    assert find(found, "dev_sd", view="full").note == "one seed has no spread"
