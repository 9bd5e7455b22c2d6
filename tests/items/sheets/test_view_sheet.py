"""Sheets by view: out, answered by hand, back; every cell that is wrong is named; all answers here are made up."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.lists import OverlappingLists, overlapping_lists
from lexiscope.items.sheets.given_answer import read_view_judgments
from lexiscope.items.sheets.view_sheet import read_view_sheet, refuse_two_views, write_view_sheet

Row = dict[str, str]
PAPER = ["example_no", "context1", "context2", "label"]


def usage(text: str, word: str) -> Usage:
    start = text.index(word)
    return Usage(text, start, start + len(word), lemma="kettle", language="en")


def pairs(n: int = 8) -> list[Item]:
    """Pairs of made-up sentences; some begin like a formula, some hold quotation marks, commas and line ends."""
    return [
        Item(
            f"made/test/{number}",
            "made",
            (usage(f'=1, "{number}" kettles\nboil', "kettles"), usage("- a kettle of fish", "kettle")),
            gold="t" if number % 2 else "f",
        )
        for number in range(n)
    ]


def drawn(n: int = 8) -> OverlappingLists:
    return overlapping_lists(pairs(n), per_annotator=4, shared=2, seed=3)


def filled(path: Path, answer: Callable[[int, Row], Row]) -> Path:
    """Answer a sheet as a spreadsheet would write it: with semicolons."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    answered = [row | answer(number, row) for number, row in enumerate(rows)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(answered)
    return path


def written(folder: Path, view: str, lists: OverlappingLists, *, list_id: str = "1") -> Path:
    path = folder / f"{view}_{list_id}.csv"
    write_view_sheet(path, lists.lists[int(list_id) - 1], view=view, list_id=list_id)
    return path


@pytest.mark.parametrize(
    ("view", "header", "shown"),
    [
        ("full", PAPER, "- a [kettle] of fish"),
        ("context", [*PAPER, "word", "undecided"], "- a [X] of fish"),
        ("word", ["example_no", "word1", "word2", "label"], "kettle"),
        ("reveal", PAPER, "- a [kettle] of fish"),
    ],
)
def test_the_columns_are_those_of_the_paper(tmp_path: Path, view: str, header: list[str], shown: str) -> None:
    """B17 to B19: number, contexts as people see them, label; word only without the target; no right answers."""
    with written(tmp_path, view, drawn()).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [*header, "comment", "view", "list", "item_id"]
    assert [row["example_no"] for row in rows] == ["1", "2", "3", "4"]
    # an apostrophe keeps a spreadsheet from running a text as a formula
    assert {row[header[2]].lstrip("'") for row in rows} == {shown}
    assert all(row["label"] == "" for row in rows)


def test_nothing_that_stands_in_a_sheet_is_lost(tmp_path: Path) -> None:
    """Answers, an empty one, who cannot decide (t, as the study asks), guesses and comments, in the sheet's order."""
    lists = drawn()
    answers = [
        {"label": "T", "word": " pot ", "comment": "easy"},
        {"label": "f", "word": "-pan"},
        {"label": "", "undecided": "x"},
        {"label": "", "comment": "?"},
    ]
    path = filled(written(tmp_path, "context", lists), lambda n, _: answers[n])
    table = read_view_sheet(path, lists, participant="ana")
    choices = table.where(measure="choice")
    assert choices.column("option").tolist() == ["t", "f", "t", None]
    assert choices.column("raw").tolist() == ["T", "f", None, None]
    assert choices.column("item_id").tolist() == [item.item_id for item in lists.lists[0]]
    assert choices.column("position").tolist() == [0, 1, 2, 3]
    assert table.where(measure="flag_undecided").column("value").tolist() == [0, 0, 1, 0]
    assert table.where(measure="guessed_word").column("raw").tolist() == ["pot", "-pan"]
    assert table.where(measure="comment").column("raw").tolist() == ["easy", "?"]
    assert table.unique("view") == ("context",)
    assert table.unique("list_id") == ("1",)


def test_a_reveal_is_a_second_judgment(tmp_path: Path) -> None:
    """What is answered with the target shown has a measure of its own: it is no answer of the view full."""
    lists = drawn()
    path = filled(written(tmp_path, "reveal", lists), lambda *_: {"label": "t"})
    table = read_view_sheet(path, lists, participant="ana")
    assert table.unique("measure") == ("revealed_choice",)
    assert len(table.where(measure="choice")) == 0


def test_mentions_are_asked_for_a_page(tmp_path: Path) -> None:
    """Entity linking: the page as it was written, and the mark of who found none."""
    items = [replace(item, usages=item.usages[:1]) for item in pairs()]
    lists = overlapping_lists(items, per_annotator=4, shared=2, seed=3)
    path = filled(
        written(tmp_path, "word", lists), lambda n, _: {"page": "Kettle (cookware)"} if n else {"not_found": "1"}
    )
    table = read_view_sheet(path, lists, participant="ana")
    assert table.where(measure="page").column("raw").tolist() == [None, *["Kettle (cookware)"] * 3]
    assert table.where(measure="flag_not_found").column("value").tolist() == [1, 0, 0, 0]
    assert table.unique("task") == ("entity_link",)


def test_a_sense_is_verified_beside_its_definition(tmp_path: Path) -> None:
    """WiC-TSV: definition and broader terms stand in every view; guess and mark as for pairs; senses to choose among
    have no sheet."""
    sense = {"definition": "a vessel for boiling water", "hypernyms": "vessel, pot"}
    items = [replace(item, usages=item.usages[1:], conditions=sense) for item in pairs()]
    lists = overlapping_lists(items, per_annotator=4, shared=2, seed=3)
    path = written(tmp_path, "context", lists)
    with path.open(encoding="utf-8-sig", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["context1"].lstrip("'") == "- a [X] of fish"
    assert (row["definition"], row["hypernyms"]) == (sense["definition"], sense["hypernyms"])
    table = read_view_sheet(filled(path, lambda *_: {"undecided": "x", "word": "pan"}), lists, participant="ana")
    assert table.unique("task") == ("sense_verification",)
    assert table.where(measure="choice").column("option").tolist() == ["t"] * 4
    assert len(table.where(measure="guessed_word")) == 4
    with pytest.raises(InputError, match="with glosses"):
        write_view_sheet(path, [replace(items[0], conditions={"glosses": "a|b"})], view="full")


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        ({"label": "yes"}, "E475", "label"),
        ({"label": "f", "undecided": "x"}, "E475", "undecided"),
        ({"label": "t", "undecided": "perhaps"}, "E475", "undecided"),
        ({"context1": "a [X] of tea"}, "E474", "context1"),
        ({"view": "full"}, "E474", "view"),
        ({"list": "2"}, "E474", "list"),
        ({"item_id": "made/test/99"}, "E471", "item_id"),
    ],
)
def test_a_wrong_cell_is_named(tmp_path: Path, row: Row, code: str, column: str) -> None:
    """No answer that can be given, a changed text, view or list, an item of no list: file, line, column."""
    lists = drawn()
    path = filled(written(tmp_path, "context", lists), lambda n, _: row if n == 2 else {"label": "t"})
    with pytest.raises(InputError) as caught:
        read_view_sheet(path, lists, participant="ana")
    place = caught.value.place
    assert caught.value.code == code
    assert place is not None
    # a header and rows of two lines: the third row stands in lines 6 and 7
    assert place.path == str(path)
    assert place.line in (6, 7)
    assert place.column is not None


def test_a_row_is_missing_or_stands_twice(tmp_path: Path) -> None:
    """E473 names an item that is missing, E472 one that stands twice; E473 also where no row is left."""
    lists = drawn()
    path = written(tmp_path, "full", lists)
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = list(csv.reader(file))
    for kept, code in ((rows[:-1], "E473"), ([*rows, rows[0]], "E472"), ([], "E473")):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *kept])
        with pytest.raises(InputError) as caught:
            read_view_sheet(path, lists, participant="ana")
        assert caught.value.code == code
        assert caught.value.place is not None
        if len(kept) == len(rows) - 1:
            assert caught.value.place.item_id == lists.lists[0][-1].item_id


def test_what_is_no_sheet_is_refused(tmp_path: Path) -> None:
    """A view without a sheet, items of three texts, a participant without name, another table."""
    with pytest.raises(InputError, match="no sheet of the view 'label'"):
        write_view_sheet(tmp_path / "s.csv", pairs(), view="label")
    with pytest.raises(InputError, match="pairs, senses to verify, or mentions"):
        write_view_sheet(tmp_path / "s.csv", [replace(pairs()[0], usages=pairs()[0].usages * 2)], view="full")
    assert not (tmp_path / "s.csv").exists()
    with pytest.raises(InputError) as caught:
        read_view_sheet(written(tmp_path, "full", drawn()), drawn(), participant=" ")
    assert caught.value.code == "E505"
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError) as caught:
        read_view_sheet(tmp_path / "other.csv", drawn(), participant="ana")
    assert caught.value.code == "E006"


def test_nobody_sees_an_item_in_two_views(tmp_path: Path) -> None:
    """One name for two views of the same items is refused; a reveal of one's own items and other people are not."""
    lists = drawn()
    tables: dict[tuple[str, str], ResponseTable] = {}
    for view in ("full", "context", "reveal"):
        path = filled(written(tmp_path, view, lists), lambda *_: {"label": "t"})
        tables |= {(view, who): read_view_sheet(path, lists, participant=who) for who in ("ana", "leo")}
    refuse_two_views([tables["full", "ana"], tables["context", "leo"], tables["reveal", "leo"]])
    with pytest.raises(InputError, match="in the views full and context") as caught:
        refuse_two_views([tables["full", "ana"], tables["context", "ana"]])
    assert caught.value.code == "E487"


def test_judgments_of_the_app_are_the_same_rows(tmp_path: Path) -> None:
    """wic_judgments.csv: choice, undecided, guess, and the second judgment apart; a cell that is no truth is named."""
    header = "example_no,context1,context2,label,word,undecided,view,phase,item_id,participant_id\n"
    rows = "1,[X],[X],t,pot,True,context,trials,i1,p1\n1,[a],[a],f,,False,full,reveal,i1,p1\n"
    path = tmp_path / "wic_judgments.csv"
    path.write_text(header + rows)
    found = [(row.measure, row.option, row.value, row.view, row.raw) for row in read_view_judgments(path).rows()]
    assert found == [
        ("choice", "t", None, "context", "t"),
        ("flag_undecided", None, 1.0, "context", None),
        ("guessed_word", None, None, "context", "pot"),
        ("revealed_choice", "f", None, "full", "f"),
    ]
    path.write_text(header + rows.replace("True", "perhaps"))
    with pytest.raises(InputError) as caught:
        read_view_judgments(path)
    assert caught.value.code == "E475"
    path.write_text(header)
    assert len(read_view_judgments(path)) == 0
