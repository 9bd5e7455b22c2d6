"""Agree on choices: nominal statistics of the exports of two studies, each value as the calculation."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.annotation.export.made_export import Answered, collected

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, StudyDefinition
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage

from .conftest import Run


def export(task: str, options: tuple[str, ...], chosen: Mapping[int, str], folder: Path) -> None:
    """Export a study in which person k chooses, item by item, the options that begin with the letters of chosen[k]."""
    n_items = len(chosen[1])
    usages = (Usage("point one", 0, 5, lemma="point"), Usage("point two", 0, 5, lemma="point"))
    items = [Item(f"i{k}", "d", usages[: 1 if task == "substitution" else 2], options) for k in range(n_items)]

    def answer(number: int, item: Item, _position: int) -> Answered:
        letter = chosen[number][int(item.item_id[1:])]
        return Answered(option=next((one for one in options if one.startswith(letter)), None))

    design = DesignSection(lists=1, confusion=())
    made = StudyDefinition(name="made_up", task=task, language="en", design=design, catch=CatchSection(per_list=0))
    write_export(collected(made, items, per_list=len(chosen), answers=answer, measure="choice"), folder)


def agreed(run: Run, *arguments: object) -> dict[str, Any]:
    """What agree says, as JSON."""
    result = run("agree", *arguments, "--bootstrap", 100, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def values(found: dict[str, Any]) -> dict[str, float]:
    """The records by statistic."""
    return {record["statistic"]: record["value"] for record in found["records"]}


def test_a_substitution_export_of_two_people(run: Run, tmp_path: Path) -> None:
    """Two people, yard or stream: y y s s against y s s s.

    The same in 3 of 4. Kappa: by chance 1/2 · 1/4 + 1/2 · 3/4 = 1/2. Alpha: 8 answers, 3 y and 5 s; 2 of 8 ordered
    pairs within items differ, by chance 2 · 3 · 5 of 8 · 7.
    """
    export("substitution", ("yard", "stream"), {1: "yyss", 2: "ysss"}, tmp_path / "e")
    found = agreed(run, "e/choices.csv")
    assert values(found) == pytest.approx(
        {
            "percent_agreement(over=items)": 3 / 4,
            "fleiss_kappa": (3 / 4 - (3 / 8) ** 2 - (5 / 8) ** 2) / (1 - (3 / 8) ** 2 - (5 / 8) ** 2),
            "krippendorff_alpha(level=nominal)": 1 - (2 / 8) / (2 * 3 * 5 / (8 * 7)),
            "cohen_kappa(weights=none)": (3 / 4 - 1 / 2) / (1 - 1 / 2),
        },
        abs=1e-12,
    )
    assert "options: stream, yard" in found["remarks"]
    assert agreed(run, "e/choices.parquet")["records"] == found["records"]


def test_a_same_sense_export_of_three_people(run: Run, tmp_path: Path) -> None:
    """Three people, t or f, one of them without an answer to the last item: ttf, ttt, ff.

    Percent: (1/3 + 1 + 1) / 3. Alpha: 8 answers, 5 t and 3 f; in the first item 4 ordered pairs differ, over 3 − 1.
    Person 1 agrees with 1 of 2, 2 of 2 and 1 of 1 others, person 3 with 0 of 2 and 2 of 2. Cohen's kappa is for two.
    """
    export("same_sense", ("t", "f"), {1: "ttf", 2: "ttf", 3: "ft-"}, tmp_path / "e")
    found = agreed(run, "e/choices.csv", "--out", "results")
    assert values(found) == pytest.approx(
        {
            "percent_agreement(over=items)": (1 / 3 + 1 + 1) / 3,
            # shares of t: 2/3, 1, 0; by chance (5/9)² + (4/9)²
            "fleiss_kappa": (7 / 9 - 41 / 81) / (1 - 41 / 81),
            "krippendorff_alpha(level=nominal)": 1 - (4 / 2 / 8) / (2 * 5 * 3 / (8 * 7)),
        },
        abs=1e-12,
    )
    with (tmp_path / "results" / "raters.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["rater"][-1], row["n"], row["n_missing"]) for row in rows] == [
        ("3", "2", "1"),
        ("1", "3", "0"),
        ("2", "3", "0"),
    ]
    assert [float(row["agreement"]) for row in rows] == pytest.approx([(0 + 1) / 2, (1 / 2 + 1 + 1) / 3, 2.5 / 3])
    printed = run("agree", "e/choices.csv", "--bootstrap", 100)
    assert max(map(len, printed.stdout.splitlines())) <= 80
    assert "same as others" in printed.stdout


def table(path: Path) -> None:
    """Two people who give ratings and choices; the choices in two views."""
    rows = [Response(who, "participant", "i", "t", "rating", 3.0) for who in "ab"]
    for view, options in {"full": "xx", "word": "xy"}.items():
        for who, option in zip("ab", options, strict=True):
            rows += [
                Response(who + view, "participant", item, "t", "choice", option=option, view=view) for item in "ij"
            ]
    ResponseTable.from_rows(rows).write_csv(path)


def test_several_measures_and_views_are_not_mixed(run: Run, tmp_path: Path) -> None:
    """Ratings and choices, and what was seen in different views, are other questions: agree asks which is meant."""
    table(tmp_path / "r.csv")
    for arguments, hint in (((), "--measure NAME"), (("--measure", "choice"), "--view NAME")):
        result = run("agree", "r.csv", *arguments)
        assert (result.exit_code, hint in result.stderr) == (1, True)
    found = agreed(run, "r.csv", "--measure", "choice", "--view", "word")
    assert values(found)["percent_agreement(over=items)"] == 0.0
    assert found["counts"]["choices"] == 4
    for arguments in (("--measure", "speed"), ("--measure", "choice", "--view", "context")):
        assert run("agree", "r.csv", *arguments).exit_code == 1
    (tmp_path / "plain.csv").write_text("rater,item,rating\na,i,1\nb,i,1\n")
    assert "--measure and --view need a response table" in run("agree", "plain.csv", "--measure", "rating").stderr


def test_a_complete_table_is_named_for_what_it_is(run: Run, tmp_path: Path) -> None:
    """The complete table of a study holds catch trials and excluded people: agree says where the other one is."""
    export("substitution", ("yard", "stream"), {1: "yyss", 2: "ysss"}, tmp_path / "e")
    assert "ratings.csv or choices.csv" in agreed(run, "e/responses.csv")["remarks"][0]
