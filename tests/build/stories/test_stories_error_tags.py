"""The sheet of error tags: what coders read, what may come back, and what is refused. All tags are made up."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from lexiscope.build.stories.stories import ERROR_SHEET as SHEET
from lexiscope.build.stories.stories import TAGS, RatedCase, StorySetup, story_samples
from lexiscope.core.errors import InputError
from lexiscope.core.usage import Usage

SETUP = StorySetup(
    setup_id="s1",
    usage=Usage("The pitch was awful.", 4, 9),
    precontext="Ana came late. It rained. She sat down.",
    senses=("a field for a game", "how high a tone is"),
    examples=("The players ran onto the pitch.", "His pitch was too low."),
    endings=("The ball did not roll.", "=SUM(A1): the choir began again."),
)
ITEMS = story_samples(SETUP, dataset="toy")
CASES = (
    RatedCase(ITEMS[0], "chat:m", 1.0, 4.6, 0.55),
    RatedCase(ITEMS[0], "chat:n", 2.0, 4.6, 0.55),
    RatedCase(ITEMS[2], "chat:m", 5.0, 2.0, 1.0),
    RatedCase(ITEMS[4], "chat:m", 5.0, 2.5, 1.4),
)
Rows = list[dict[str, str]]


def rows_of(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def returned(path: Path, change: Callable[[Rows], Rows]) -> Path:
    """The sheet as a coder sends it back: semicolons, another order."""
    SHEET.write(path, CASES)
    back = path.with_name("back.csv")
    with back.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(SHEET.form.header), delimiter=";")
        writer.writeheader()
        writer.writerows(change(rows_of(path)))
    return back


def tagged(rows: Rows) -> Rows:
    rows[0]["red_herring"] = "x"
    rows[1] |= {"red_herring": "X", "sense_distinction": "yes", "comment": "ball"}
    rows[2]["none_of_these"] = "1"
    rows[3]["open_ended"] = "x"
    return list(reversed(rows))


def test_what_coders_read(tmp_path: Path) -> None:
    """The story with its word in brackets, the meaning, people and the answer; no subject's name, no live cell."""
    SHEET.write(tmp_path / "sheet.csv", CASES)
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8-sig")
    rows = rows_of(tmp_path / "sheet.csv")
    assert list(rows[0]) == list(SHEET.form.header)
    assert rows[0]["story"] == "Ana came late. It rained. She sat down. The [pitch] was awful. The ball did not roll."
    assert rows[3]["story"].endswith("The [pitch] was awful.")
    assert (rows[0]["meaning"], rows[0]["people"], rows[0]["answer"]) == ("a field for a game", "4.60 ± 0.55", "1")
    assert "chat:" not in text
    assert len({row["case_id"] for row in rows}) == 4


def test_tags_come_back(tmp_path: Path) -> None:
    """A row per error and tag, 1 or 0, whatever the order of the sheet; the comment stays with it."""
    found = SHEET.read(returned(tmp_path / "sheet.csv", tagged), CASES, coder="ana")
    assert len(found) == len(CASES) * len(TAGS)
    for tag, expected in (
        ("red_herring", [1, 1, 0, 0]),
        ("open_ended", [0, 0, 0, 1]),
        ("sense_distinction", [0, 1, 0, 0]),
    ):
        rows = found.where(measure=SHEET.measure_of(tag))
        by_case = dict(zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True))
        assert [by_case[case.case_id] for case in CASES] == expected
    assert found.where(item_id=CASES[1].case_id).column("raw").tolist() == ["ball"] * 3


def changed(**cells: str) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        rows = tagged(rows)
        rows[0].update(cells)
        return rows

    return change


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (changed(none_of_these="x"), "E475"),
        (changed(open_ended="maybe"), "E475"),
        (changed(open_ended=""), "E476"),
        (changed(meaning="something else"), "E474"),
        (changed(case_id="unknown"), "E471"),
        (lambda rows: [*tagged(rows), rows[0]], "E472"),
        (lambda rows: tagged(rows)[:-1], "E473"),
    ],
)
def test_what_is_refused(tmp_path: Path, change: Callable[[Rows], Rows], code: str) -> None:
    """A tag beside none, a mark that is none, nothing marked, changed cells, unknown, doubled and missing rows."""
    with pytest.raises(InputError) as caught:
        SHEET.read(returned(tmp_path / "sheet.csv", change), CASES, coder="ana")
    assert caught.value.code == code


def test_names_and_doubles(tmp_path: Path) -> None:
    """A coder needs a name, a tag must be one, and an error stands in a sheet once."""
    path = returned(tmp_path / "sheet.csv", tagged)
    with pytest.raises(InputError, match="name of its coder"):
        SHEET.read(path, CASES, coder=" ")
    with pytest.raises(InputError, match="no tag 'typo'"):
        SHEET.measure_of("typo")
    with pytest.raises(InputError, match="occurs twice"):
        SHEET.write(path, [CASES[0], CASES[0]])
