"""Collect and report: a run folder that is finished once, and a page of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from lexiscope.cli.collect import answer_rows
from lexiscope.core.response import Response, ResponseTable
from lexiscope.report.page.runs import describe, describe_run

from .conftest import Run

ITEMS = (
    "sentence_1,sentence_2,target,same_sense\n"
    "The bank was steep.,The bank was muddy.,bank,true\n"
    "The bank was steep.,The bank was bankrupt.,bank,false\n"
    "The bat was wooden.,The bat was hungry.,bat,false\n"
    "The bat was furry.,The bat was hungry.,bat,true\n"
)
BASELINE = ("--subject", "baseline:word_overlap")


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Four pairs of two words."""
    (tmp_path / "items.csv").write_text(ITEMS)
    return tmp_path / "items.csv"


def test_answers_are_kept_and_listed(items: Path, run: Run, tmp_path: Path) -> None:
    """Every answer is in the run folder; the table counts them; run.json says what was asked."""
    result = run("collect", "--items", items.name, *BASELINE, "--out", "RUN", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    table = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet")
    assert sum(row["items"] for row in rows if row["subject"] == "baseline:word_overlap") == 4
    assert len(table.unique("item_id")) == 4
    record = json.loads((tmp_path / "RUN" / "run.json").read_text())
    assert record["settings"]["items"] == items.name
    assert list(record["data"]) == [items.name]


def test_a_dataset_is_asked_its_own_question(run: Run, tmp_path: Path) -> None:
    """Without --task a dataset is asked what it was made for, not for ratings of relatedness."""
    result = run("collect", "--items", "planted_bias", "--subject", "baseline:random", "--out", "RUN")
    assert result.exit_code == 0, result.stderr
    table = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet")
    assert table.unique("task") == ("same_sense",)
    assert set(table.unique("option")) == {"t", "f"}


def test_a_finished_run_is_left_as_it_is(items: Path, run: Run, tmp_path: Path) -> None:
    """The same command on the same folder changes no answer."""
    command = ("collect", "--items", items.name, *BASELINE, "--out", "RUN")
    run(*command)
    before = (tmp_path / "RUN" / "responses.parquet").read_bytes()
    assert run(*command).exit_code == 0
    assert (tmp_path / "RUN" / "responses.parquet").read_bytes() == before


def test_another_question_in_the_same_folder_is_refused(items: Path, run: Run) -> None:
    """A folder belongs to one question: other items are an error, and nothing is overwritten."""
    run("collect", "--items", items.name, *BASELINE, "--out", "RUN")
    items.write_text(ITEMS.replace("furry", "brown"))
    result = run("collect", "--items", items.name, *BASELINE, "--out", "RUN")
    assert result.exit_code == 1
    assert "another question" in result.stderr
    assert "the items (read from items.csv) have changed" in result.stderr
    assert "delete" not in result.stderr


def test_answers_that_are_not_asked_for_are_kept(items: Path, run: Run) -> None:
    """A remark says which answers of the folder are not part of the run."""
    command = ("collect", "--items", items.name, *BASELINE, "--out", "RUN")
    assert "also keeps" not in run(*command, "--subject", "baseline:random").stderr
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    assert "baseline:random, full" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("--items", "items.csv"), 2, "--subject"),
        (("--items", "items.csv", "--subject", "minilm"), 2, "does not name a subject"),
        (("--items", "items.csv", "--subject", "encodr:minilm"), 1, "did you mean 'encoder'?"),
        (("--items", "items.csv", *BASELINE, "--view", "half"), 2, "full+final_stop"),
        (("--items", "items.csv", *BASELINE, "--task", "relatednes"), 1, "did you mean 'relatedness'?"),
        (("--items", "none.csv", *BASELINE), 1, "none.csv: [E001]"),
        (("--items", "mini_relatednes", *BASELINE), 1, "did you mean 'mini_relatedness'?"),
        (("--items", "mini_relatedness", "--language", "fr", *BASELINE), 1, "languages of its items: en, es"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    arguments: tuple[str, ...], status: int, text: str, items: Path, run: Run, tmp_path: Path
) -> None:
    """Unknown names and missing files are errors that name the nearest thing, and leave no folder behind."""
    result = run("collect", *arguments, "--out", "RUN")
    assert result.exit_code == status
    assert text in result.stderr
    assert not (tmp_path / "RUN").exists()


def test_items_that_do_not_pass_the_check_are_refused(run: Run, tmp_path: Path) -> None:
    """A target that is not in its sentence stops the run with file, line and caret."""
    (tmp_path / "items.csv").write_text(ITEMS.replace("The bat was furry", "The dog was furry"))
    result = run("collect", "--items", "items.csv", *BASELINE, "--out", "RUN")
    assert result.exit_code == 1
    assert "items.csv:5" in result.stderr
    assert "^" in result.stderr


def test_report_of_answers_alone_describes_them(items: Path, run: Run, tmp_path: Path) -> None:
    """Answers without an analysis are counted and averaged; every mean is a record; the same again, byte for byte."""
    run("collect", "--items", items.name, *BASELINE, "--out", "RUN")
    assert run("report", "RUN", "--out", "page.html").exit_code == 0
    table = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet")
    assert not (tmp_path / "RUN" / "results.json").exists(), "a report only reads"
    for record in describe_run(tmp_path / "RUN").records:
        rows = table.where(subject_id=record.subject, measure=record.statistic.removeprefix("mean_"))
        assert record.value == pytest.approx(float(np.nanmean(rows.column("value"))), abs=1e-12)
    first = (tmp_path / "page.html").read_bytes()
    assert run("report", "RUN", "--out", "page.html").exit_code == 0
    assert (tmp_path / "page.html").read_bytes() == first


def test_report_of_two_runs(items: Path, run: Run) -> None:
    """Two runs stand in one page."""
    run("collect", "--items", items.name, *BASELINE, "--out", "ONE")
    run("collect", "--items", items.name, "--subject", "baseline:random", "--out", "TWO")
    result = run("report", "ONE", "TWO", "--out", "page.html")
    assert result.exit_code == 0, result.stderr
    page = Path("page.html").read_text(encoding="utf-8")
    assert "baseline:word_overlap" in page
    assert "baseline:random" in page


def test_people_are_described_together() -> None:
    """Participants are one row with their number, models one row each; missing values are counted, not averaged."""
    ratings = {"p1": 2.0, "p2": 4.0, "p3": None}
    rows = [Response(name, "participant", "i1", "relatedness", "rating", value) for name, value in ratings.items()]
    rows += [Response("m", "encoder", "i1", "relatedness", "cosine_distance", 0.25, layer=3, view="full")]
    people, model = describe(ResponseTable.from_rows(rows))
    assert (people.subject, people.n_subjects, people.n, people.n_missing) == ("people", 3, 2, 1)
    assert (people.mean, people.sd) == ((2 + 4) / 2, pytest.approx(2**0.5, abs=1e-12))
    assert (model.subject, model.layer, model.mean, model.sd) == ("m", 3, 0.25, None)
    listed = answer_rows(ResponseTable.from_rows(rows))
    assert [(row["subject"], row["layers"], row["unanswered"]) for row in listed] == [
        ("people (3)", "", 1),
        ("m", "3–3", 0),
    ]


def test_report_says_what_is_missing(run: Run, tmp_path: Path) -> None:
    """A folder that is not a run is an error; no page is written."""
    for folder, text in (("none", "no such run folder"), (".", "not the folder of a run")):
        result = run("report", folder, "--out", "page.html")
        assert (result.exit_code, text in result.stderr) == (1, True)
    assert not (tmp_path / "page.html").exists()


def test_a_choice_is_an_answer_without_a_value() -> None:
    """Choices stand in the column option: one that was made is answered, one that was not is counted."""
    rows = [
        Response("m", "baseline", f"i{n}", "sense_disambiguation", "choice", None, option=option)
        for n, option in enumerate(("a%1:01:00::", None, "b%1:01:00::"))
    ]
    table = ResponseTable.from_rows(rows)
    assert [(row["items"], row["unanswered"]) for row in answer_rows(table)] == [(3, 1)]
    assert [(row.n, row.n_missing, row.mean) for row in describe(table)] == [(2, 1, None)]


def test_continuations_without_a_value_are_answers() -> None:
    """What was generated stands in raw: only the row where nothing stands there is unanswered; nor is a seed one."""
    of_model = Response("lm", "model", "1", "gap_filling", "completion(max_tokens=2,method=greedy)", raw="river")
    rows = [of_model, replace(of_model, item_id="2", raw=None), replace(of_model, measure="completion_seed", raw="7")]
    table = ResponseTable.from_rows(rows)
    assert [(row["items"], row["unanswered"]) for row in answer_rows(table)] == [(2, 1), (1, 0)]
    assert [(each.n, each.n_missing) for each in describe(table)] == [(1, 1), (1, 0)]


RATED = (
    "sentence_1,sentence_2,target,rater,rating\n"
    "The bank was steep.,The bank was muddy.,bank,ana,87\n"
    "The bat was wooden.,The bat was hungry.,bat,ana,3\n"
)


def test_models_are_asked_on_the_scale_that_the_ratings_of_a_file_have(run: Run, tmp_path: Path) -> None:
    """Ratings up to 87 are not on 1 to 5: without --scale an error says so; with it the middle is 50.5, not 3."""
    (tmp_path / "rated.csv").write_text(RATED)
    command = ("collect", "--items", "rated.csv", "--subject", "baseline:constant", "--out", "RUN")
    refused = run(*command)
    assert refused.exit_code == 1
    assert "run from 3 to 87; relatedness asks from 1 to 5" in refused.stderr
    assert "--scale LOW HIGH" in refused.stderr
    assert not (tmp_path / "RUN").exists()
    assert run(*command, "--scale", "1", "100").exit_code == 0
    table = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet")
    assert table.column("value").tolist() == [50.5, 50.5]
    assert set(table.column("scale")) == {"1 to 100, continuous"}


def test_a_dataset_has_its_own_scale(run: Run) -> None:
    """--scale is for files: a dataset says itself on which scale people were asked."""
    command = ("collect", "--items", "mini_relatedness", "--subject", "baseline:constant", "--out", "RUN")
    result = run(*command, "--scale", "0", "4")
    assert result.exit_code == 1
    assert "leave --scale out" in result.stderr


def test_a_sweep_lists_its_plan_and_its_answers(run: Run, tmp_path: Path) -> None:
    """--dry-run lists every part and writes nothing; the run names each folder with its answers."""
    text = "data:\n  - items: mini_relatedness\n    language: en\nsubjects: [baseline:random]\nviews: [full, word]\n"
    (tmp_path / "sweep.yaml").write_text(text)
    command = ("collect", "--sweep", "sweep.yaml", "--out", "RUN")
    planned = run(*command, "--dry-run", "--json")
    assert planned.exit_code == 0, planned.stderr
    parts = json.loads(planned.stdout)["costs"]
    assert [(row["view"], row["finished"]) for row in parts] == [("full", False), ("word", False)]
    folder = "mini_relatedness-relatedness-seed0"
    shown = run(*command, "--dry-run").stdout.splitlines()
    assert shown[:2] == [f"{folder}: mini_relatedness, relatedness, seed 0", "baseline:random"]
    assert [line.split()[:3] for line in shown if line.startswith("relatedness")] == [
        ["relatedness", "full", "0"],
        ["relatedness", "word", "0"],
    ]
    assert "total" in shown
    assert not (tmp_path / "RUN").exists()
    rows = json.loads(run(*command, "--json").stdout)
    assert {row["folder"] for row in rows} == {folder}
    assert {(row["view"], row["items"]) for row in rows} == {("full", parts[0]["n_items"]), ("word", 180)}
    again = json.loads(run(*command, "--dry-run", "--json").stdout)
    assert [row["finished"] for row in again["costs"]] == [True, True]
    assert again["total"]["device_hours"] == 0
    finished = run(*command)
    assert "Saved RUN (1 run folder)" in finished.stdout
    assert "next: lexiscope report RUN --out report.html" in finished.stderr


@pytest.mark.parametrize("option", [("--items", "mini_relatedness"), BASELINE, ("--seed", "0"), ("--view", "word")])
def test_a_sweep_and_a_single_run_exclude_each_other(option: tuple[str, str], run: Run, tmp_path: Path) -> None:
    """What the file names cannot be given as an option; one of both is needed."""
    (tmp_path / "sweep.yaml").write_text("data: [{items: mini_relatedness}]\nsubjects: [baseline:random]\n")
    result = run("collect", "--sweep", "sweep.yaml", *option, "--out", "RUN")
    assert (result.exit_code, "--sweep" in result.stderr) == (2, True)
    alone = run("collect", *BASELINE, "--out", "RUN")
    assert (alone.exit_code, "--items" in alone.stderr) == (2, True)


def test_a_run_at_an_address(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed in a working copy, which the next command reads, and sent; a dry run makes and reads nothing."""
    monkeypatch.setattr(platformdirs, "user_data_path", lambda _: tmp_path / "data")
    address = f"file://{tmp_path}/store/one"
    command = ("collect", "--items", "mini_relatedness", *BASELINE, "--out", address)
    assert run(*command, "--dry-run").exit_code == 0
    assert list(tmp_path.iterdir()) == []
    done = run(*command)
    assert done.exit_code == 0, done.stderr
    assert f"Sent {address}" in done.stdout
    (copy,) = (tmp_path / "data" / "runs").iterdir()
    assert f"next: lexiscope report {copy} --out report.html" in done.stderr
    assert (tmp_path / "store" / "one" / "run.json").read_bytes() == (copy / "run.json").read_bytes()
    refused = run("collect", "--items", "mini_relatedness", *BASELINE, "--out", "nowhere://one")
    assert (refused.exit_code, "no driver for this address" in refused.stderr) == (1, True)
