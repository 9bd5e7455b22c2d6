"""Check: findings on stdout, exit status by severity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

GOOD = "sentence_1,sentence_2,target\nThe bank was steep.,The bank was closed.,bank\n"
BAD = "sentence_1,sentence_2,target\nThe bank was steep.,The shore was closed.,bank\n"


def test_an_error_makes_the_status_1(run: Run, tmp_path: Path) -> None:
    """A target that is not in its sentence: E101 with file, line and caret, exit status 1."""
    (tmp_path / "bad.csv").write_text(BAD)
    result = run("check", "bad.csv")
    assert result.exit_code == 1
    assert "bad.csv:2:" in result.stdout
    assert "E101" in result.stdout
    assert "^" in result.stdout


def test_warnings_alone_leave_it_0_unless_strict(run: Run, tmp_path: Path) -> None:
    """A file with warnings only passes; with --strict it does not."""
    (tmp_path / "good.csv").write_text(GOOD)
    found = json.loads(run("check", "good.csv", "--json").stdout)
    assert {finding["severity"] for finding in found["findings"]} == {"warning"}
    assert run("check", "good.csv").exit_code == 0
    assert run("check", "good.csv", "--strict").exit_code == 1


def test_other_files_are_checked_as_what_they_are_or_sent_on(run: Run) -> None:
    """BLiMP's own columns are choice sets; ratings without sentences are named with the commands that take them."""
    data = Path(__file__).parents[1] / "data"
    pairs = run("check", data / "platforms" / "blimp.jsonl")
    assert pairs.exit_code == 0, pairs.output
    assert "3 rows, 3 items, 3 words: 0 errors, 0 warnings" in pairs.stdout
    for name in ("long.csv", "wide_raters.csv", "wide_items.csv", "own_export.csv"):
        ratings = run("check", data / "ratings" / name)
        assert ratings.exit_code == 1
        assert "lexiscope analyse FILE or lexiscope agree FILE" in ratings.stdout


def test_columns_are_mapped_by_name(run: Run, tmp_path: Path) -> None:
    """--map says which column holds what; what was taken for what is said on stderr."""
    (tmp_path / "es.csv").write_text("Texto A,Otra,Expresión\nLa copa rota.,La copa llena.,copa\n", encoding="utf-8")
    arguments = ("--map", "sentence_1=Texto A", "--map", "sentence_2=Otra", "--map", "target=Expresión")
    result = run("check", "es.csv", *arguments)
    assert result.exit_code == 0
    assert "sentence_1 = Texto A" in result.stderr
    assert run("check", "es.csv").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("--map", "sentence_1"), 1, "is not of the form FIELD=COLUMN"),
        (("--map", "sentense=a"), 1, "unknown field 'sentense'"),
        (("--scale", "5", "1"), 2, "low < high"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], status: int, text: str, run: Run, tmp_path: Path) -> None:
    """A malformed --map or --scale is refused before the file is judged."""
    (tmp_path / "good.csv").write_text(GOOD)
    result = run("check", "good.csv", *arguments)
    assert result.exit_code == status
    assert text in result.stderr


def test_a_missing_file_is_a_finding(run: Run) -> None:
    """A file that is not there is an error with its name."""
    result = run("check", "none.csv")
    assert result.exit_code == 1
    assert "none.csv" in result.stdout


@pytest.mark.published
def test_saw_c_passes_with_its_known_unevenness(run: Run, published: Path) -> None:
    """SAW-C's 812 pairs and 102 words have no error (§3.1)."""
    found = json.loads(run("check", published / "sawc" / "sawc_sentence_pairs.csv", "--json").stdout)
    assert (found["n_items"], found["n_words"], found["exit_status"]) == (812, 102, 0)


def test_the_name_of_a_dataset_is_no_file(run: Run) -> None:
    """Whoever names a dataset is told what checks it."""
    refused = run("check", "wic")
    assert refused.exit_code == 1
    assert "this is the name of a dataset, not a file" in refused.stderr
    assert "lexiscope data check wic" in refused.stderr
    assert "lexiscope list datasets" in refused.stderr


def test_a_column_that_marks_simulated_participants_is_read(run: Run, tmp_path: Path) -> None:
    """Every reader of the ratings goes by participant_kind: it is named, and so is a mixture, which readers refuse."""
    head = "item_id,sentence_1,sentence_2,target,rater,rating,participant_kind\n"
    row = "i,The bank was steep.,The bank was closed.,bank,{},3,{}\n"
    (tmp_path / "made.csv").write_text(head + row.format("p1", "simulated") + row.format("p2", "simulated"))
    result = run("check", "made.csv")
    assert result.exit_code == 0
    assert "participant_kind = participant_kind" in result.stderr
    assert "nothing was taken from" not in result.stderr
    assert "no person gave them" in result.stderr
    (tmp_path / "both.csv").write_text(head + row.format("p1", "simulated") + row.format("p2", "participant"))
    result = run("check", "both.csv")
    assert result.exit_code == 1
    assert "both.csv:3:" in result.stdout
    assert "E508" in result.stdout
