"""The list shows what is in the catalog, by name and for programs."""

from __future__ import annotations

import json

import pytest

from lexiscope.cli.output import print_table
from lexiscope.core import catalog
from lexiscope.resources.cards import CARDS

from .conftest import Run


@pytest.mark.parametrize("room", catalog.KINDS)
def test_a_room_lists_every_name_with_a_sentence(room: catalog.Kind, run: Run) -> None:
    """Every name of a room is a row, in order, with a sentence on what it is."""
    rows = json.loads(run("list", room, "--json").output)
    assert [row["name"] for row in rows] == list(catalog.names(room))
    assert all(row["what"] for row in rows)


def test_datasets_show_what_one_chooses_by(run: Run) -> None:
    """A dataset's row has task, language, licence and whether it is embedded, as its card says."""
    row = next(row for row in json.loads(run("list", "datasets", "--json").output) if row["name"] == "mini_relatedness")
    card = catalog.card("mini_relatedness")
    assert (row["task"], row["licence"], row["data"]) == (card.task, card.licence, "embedded")


@pytest.mark.parametrize("name", catalog.names("datasets"))
def test_cards_are_read_as_text(name: str) -> None:
    """What a list shows of a card is read from the file, and is what its code says."""
    fields = ("name", "task", "language", "licence", "availability", "summary")
    assert catalog.card_texts(name, *fields) == {field: getattr(catalog.card(name), field) for field in fields}


def test_capabilities_are_read_as_text() -> None:
    """What lists show of tasks and kinds of subjects is read from the files, and is what their code says."""
    for name in catalog.names("tasks"):
        assert catalog.task_capabilities(name) == tuple(by for by, _ in catalog.task(name).answers)
    for name in catalog.names("subjects"):
        assert catalog.subject_capabilities(name) == catalog.module("subjects", name).CAPABILITIES


def test_a_table_folds_its_widest_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """80 columns: the widest column is folded between words, a longer word within; wide characters take two places."""
    print_table(["n", "word", "what"], [[1, "\u94f6\u884c", "a " * 40 + "end"], [12, "bank", "x" * 90]], right=["n"])
    rule = "─" * 80
    assert capsys.readouterr().out.splitlines() == [
        " n  word  what" + " " * 66,
        rule,
        " 1  \u94f6\u884c  " + "a " * 34 + "a" + " ",
        " " * 10 + ("a " * 5 + "end").ljust(70),
        "12  bank  " + "x" * 70,
        " " * 10 + ("x" * 20).ljust(70),
    ]  # fmt: skip


def test_a_description_is_below_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    """In a table that is wider than the screen, the column *below* has the whole width; a narrow table keeps it."""
    print_table(["name", "what"], [["bank", "a " * 40 + "end"]], below="what")
    assert capsys.readouterr().out.splitlines() == ["name", "─" * 80, "bank", "  " + "a " * 38 + "a", "  a end"]
    print_table(["name", "what"], [["bank", "a river"]], below="what")
    assert capsys.readouterr().out.splitlines()[2] == "bank  a river"


def test_pairings_are_those_of_the_catalog(run: Run) -> None:
    """A pairing is a task, a kind of subject that can answer it, and the capability by which it does."""
    rows = json.loads(run("list", "pairings", "--json").output)
    assert [tuple(row.values()) for row in rows] == list(catalog.pairings())
    assert ("relatedness", "encoder", "Embeds") in [tuple(row.values()) for row in rows]


def test_resources_show_what_one_chooses_by(run: Run) -> None:
    """A resource's row has language, licence and where its data come from, as its card says."""
    rows = json.loads(run("list", "resources", "--json").output)
    assert [(row["name"], row["licence"], row["data"]) for row in rows] == [
        (card.name, card.licence, card.availability) for card in CARDS.values()
    ]
    assert {"room": "resources", "names": ", ".join(CARDS)} in json.loads(run("list", "--json").output)


@pytest.mark.parametrize(
    "room", [(), ("datasets",), ("resources",), ("tasks",), ("subjects",), ("studies",), ("pairings",)]
)
def test_tables_fit_80_columns(room: tuple[str, ...], run: Run) -> None:
    """No line of a table is longer than 80 signs, and no name is cut."""
    output = run("list", *room).output
    assert max(map(len, output.splitlines())) <= 80
    kind = room[0] if room and room[0] != "pairings" else "tasks"
    assert all(name in output for name in (CARDS if kind == "resources" else catalog.names(kind)))  # type: ignore[arg-type]


def test_unknown_room_is_wrong_usage(run: Run) -> None:
    """A room that does not exist is refused with the rooms that do."""
    result = run("list", "models")
    assert result.exit_code == 2
    assert "'datasets'" in result.stderr
