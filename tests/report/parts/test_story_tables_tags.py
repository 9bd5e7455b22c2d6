"""Coded sheets as shares and agreement: any sheet of tags, whatever its cases are. All tags are made up."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.items.sheets.form import TextColumn
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.report.part import part_of
from lexiscope.report.parts.story_tables import coded_cases

SHEET: TagSheet[str] = TagSheet(
    "a sheet of made-up cues",
    "cue_kind",
    "relatedness",
    {"verb": "the cue is a verb", "odd_one": "the cue is odd"},
    (TextColumn("cue", lambda case: case),),
    case_id=lambda case: case,
    item_id=lambda case: case,
)
CASES = ("run", "green", "of")


def coded(path: Path, marks: dict[str, str]) -> str:
    """The sheet as a coder sends it back: an x under the tag of each case."""
    SHEET.write(path, CASES)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(SHEET.form.header))
        writer.writeheader()
        writer.writerows(row | {marks[row["case_id"]]: "x"} for row in rows)
    return str(path)


def test_shares_and_agreement_of_two_coders(tmp_path: Path) -> None:
    """A share is of all cases and of those of a part; two coders agree on the cases that both tagged alike."""
    files = [
        coded(tmp_path / "ana.csv", {"run": "verb", "green": "odd_one", "of": "odd_one"}),
        coded(tmp_path / "ben.csv", {"run": "verb", "green": "none_of_these", "of": "odd_one"}),
    ]
    parts = {"run": "content", "green": "content", "of": "function"}
    words = GroupOf({case: case for case in CASES}, "words")
    made = coded_cases(SHEET, files, CASES, parts, where="cues, ", dataset="toy", groups=words, resamples=0, seed=1)
    shares = {(share.condition, share.subject, share.name): share.value for share in made.shares}
    assert shares["coder ana", "", "cue_kind_share(tag=odd_one)"] == pytest.approx(100 * 2 / 3)
    assert shares["coder ben", "content", "cue_kind_share(tag=odd_one)"] == 0
    same = {r.condition: r.value for r in made.agreement.records if r.statistic == "cue_kind_same(tag=odd_one)"}
    assert same == {"cues, ana and ben": pytest.approx(100 * 2 / 3)}
    assert {record.dataset for record in part_of(made.shares, made.agreement).records} == {"toy"}
    (table,) = made.agreement.tables
    assert [column.header for column in table.columns][-1] == "Cues"


def test_the_meanings_of_tags_are_one_text() -> None:
    """What coders are told of the tags is made of the tags."""
    assert SHEET.meanings == "verb: the cue is a verb; odd one: the cue is odd"
