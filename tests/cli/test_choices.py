"""``lexiscope choices``: the sheet goes out, made-up answers come back, and accuracy and agreement are printed."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from lexiscope.core.response import ResponseTable

Run = Callable[..., Result]
MINI = "mini_synonymy"


def fill(sheet: Path, out: Path, answer: Callable[[int], str], weird: frozenset[int] = frozenset()) -> Path:
    """Answer a sheet as a person would; these answers are made up."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["answer"], row["weird"] = answer(number), "x" if number in weird else ""
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return out


def test_a_sheet_goes_out_and_two_come_back(run: Run, tmp_path: Path) -> None:
    """Y17: two people answer A throughout, one leaves four empty; what they marked is counted."""
    wrote = run("choices", "write", MINI, "--out", "sheet.csv")
    assert wrote.exit_code == 0, wrote.output
    assert "40 items" in wrote.output
    sheet = tmp_path / "sheet.csv"
    fill(sheet, tmp_path / "one.csv", lambda n: "" if n < 4 else "A", frozenset({0, 1}))
    fill(sheet, tmp_path / "two.csv", lambda n: "A", frozenset({1, 2}))
    read = run("choices", "read", MINI, "ana=one.csv", "eva=two.csv", "--out", "answers.csv")
    assert read.exit_code == 0, read.output
    assert "36 items that both answered" in read.output
    assert "same choice: 100.0 %" in read.output
    assert "on the side chosen: kappa is undefined" in read.output
    assert "weird: 1 marked by both of 3 marked by either (33.3 %)" in read.output
    table = ResponseTable.read_csv(tmp_path / "answers.csv")
    assert len(table) == 2 * 40 * 2
    assert table.where(subject_id="ana", measure="choice", option=None).column("raw").tolist() == [None] * 4


def test_a_faulty_sheet_leaves_nothing_behind(run: Run, tmp_path: Path) -> None:
    """One wrong cell: its place and what to do, exit status 1, and no file."""
    run("choices", "write", MINI, "--out", "sheet.csv", "--quiet")
    fill(tmp_path / "sheet.csv", tmp_path / "bad.csv", lambda n: "C" if n == 3 else "A")
    done = run("choices", "read", MINI, "ana=bad.csv", "--out", "answers.csv")
    assert done.exit_code == 1
    assert "[E475]" in done.output
    assert not (tmp_path / "answers.csv").exists()


def test_wrong_arguments(run: Run) -> None:
    """A sheet needs the name of its person, once; a dataset without synonym pairs has no sheet."""
    assert run("choices", "read", MINI, "one.csv").exit_code == 2
    none = run("choices", "write", "mini_relatedness", "--out", "x.csv")
    assert none.exit_code == 1
    assert "no collection" in none.output


def test_another_seed_is_another_order(run: Run, tmp_path: Path) -> None:
    """A sheet that is read with another seed than it was written with is refused, not misread."""
    run("choices", "write", MINI, "--out", "sheet.csv", "--seed", "1")
    fill(tmp_path / "sheet.csv", tmp_path / "one.csv", lambda _: "A")
    done = run("choices", "read", MINI, "ana=one.csv", "--seed", "2")
    assert done.exit_code == 1
    assert "[E474]" in done.output


@pytest.mark.parametrize("how", [(), ("--mode", "published"), ("--seed", "7"), ("--mode", "published", "--seed", "7")])
def test_what_comes_next_reads_the_sheet(run: Run, tmp_path: Path, how: tuple[str, ...]) -> None:
    """The command that is named after a sheet was written takes that sheet: it has the mode and seed of the sheet."""
    done = run("choices", "write", MINI, "--out", "sheet.csv", *how)
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("next: lexiscope "))
    fill(tmp_path / "sheet.csv", tmp_path / "sheet.csv", lambda _: "A")
    read = run(*told.removeprefix("next: lexiscope ").replace("NAME=", "ana=").split())
    assert read.exit_code == 0, read.output
    assert told.endswith(" ".join(("NAME=sheet.csv", *how, "--out answers.csv")))
