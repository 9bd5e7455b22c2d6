"""Guesses put back: proposed, decided by a person where there is a doubt, shown in the view guessed_word."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.items.choice_sets.inflection import EnglishForms
from lexiscope.items.sheets.guessed_word import (
    GuessedSlots,
    WordGuess,
    certain_forms,
    guessed_items,
    guesses_of,
    propose_forms,
    read_guess_sheet,
    write_guess_sheet,
)

LEMMAS = ("jar", "kettle", "urn", "wolf", "roof")
FORMS = EnglishForms({"n": {"wolves": ("wolf",)}}, lambda word, pos: pos == "n" and word in LEMMAS)


def pair(first: str, second: str, *targets: str, language: str = "en") -> Item:
    usages = [
        Usage(text, text.index(word), text.index(word) + len(word), lemma="jar", pos="NOUN", language=language)
        for text, word in ((first, targets[0]), (second, targets[-1]))
    ]
    return Item("i1", "made", tuple(usages), gold="t", conditions={"split": "dev"})


JARS = pair("Two jars fell.", "Jars are made of glass.", "jars", "Jars")
ONE = pair("She sold a jar.", "It was THE JAR.", "jar", "JAR")


def slots_of(item: Item, guess: str) -> GuessedSlots:
    return propose_forms([item], [WordGuess("i1", guess, ("ana",))], FORMS)


def decided(path: Path, change: Callable[[int, dict[str, str]], None]) -> Path:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        change(number, row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_guess_takes_number_and_capital_of_each_slot() -> None:
    """B38: the guess is inflected as the word it stands for, in each usage by itself; the rest of the text stays."""
    found = slots_of(JARS, "wolf")
    assert [(slot.proposed, slot.doubt) for slot in found.slots] == [("wolves", ""), ("Wolves", "")]
    assert found.slots[0].context == "Two [X] fell."
    (item,) = guessed_items([JARS], found.slots, certain_forms(found.slots))
    shown = view_item(item, "guessed_word")
    assert [usage.text for usage in shown.usages] == ["Two wolves fell.", "Wolves are made of glass."]
    assert [usage.target for usage in shown.usages] == ["wolves", "Wolves"]
    assert (item.item_id, item.gold, item.conditions["guess_of"]) == ("i1/wolf", None, "i1")
    assert [slot.proposed for slot in slots_of(ONE, "kettle").slots] == ["kettle", "KETTLE"]


def test_what_stands_around_a_slot_may_raise_a_doubt() -> None:
    """An article of another sound, a capital inside the sentence, another language: a person decides."""
    assert "article" in slots_of(ONE, "urn").slots[0].doubt
    inside = pair("We saw the Jar.", "A jar.", "Jar", "jar")
    assert "capital" in slots_of(inside, "kettle").slots[0].doubt
    german = pair("Zwei jars.", "Ein jars.", "jars", language="de")
    assert {slot.doubt for slot in slots_of(german, "kettle").slots} == {"forms are known for English only"}


def test_a_guess_of_the_hidden_word_is_no_guessed_word() -> None:
    """The hidden word or one of its forms, in any case, gives the original item again: kept apart and counted."""
    for guess in ("jar", "JARS"):
        found = slots_of(JARS, guess)
        assert (found.slots, len(found.same)) == ((), 1)


def test_guesses_are_gathered_by_item_and_word() -> None:
    """Two people with one guess are one; empty guesses are none; a guess at an unknown item is refused."""
    rows = [
        Response(who, "participant", item, "same_sense", "guessed_word", raw=raw, view="context")
        for who, item, raw in (
            ("ana", "i1", "pot"),
            ("leo", "i1", " Pot "),
            ("leo", "i2", "pot"),
            ("eva", "i2", " "),
            ("eva", "i1", "pan"),
        )
    ]
    found = guesses_of(ResponseTable.from_rows(rows))
    assert [(one.guess_id, one.participants) for one in found] == [
        ("i1/pot", ("ana", "leo")),
        ("i2/pot", ("leo",)),
        ("i1/pan", ("eva",)),
    ]
    with pytest.raises(InputError) as caught:
        propose_forms([JARS], found, FORMS)
    assert caught.value.code == "E471"


def test_the_sheet_accepts_edits_and_judges(tmp_path: Path) -> None:
    """Doubtful: ok or another form; certain: nothing needed. Fits: for every slot, else nobody judged."""
    found = slots_of(JARS, "roof")
    assert all(slot.doubt for slot in found.slots)
    path = tmp_path / "guesses.csv"
    write_guess_sheet(path, found.slots)
    answers = [("ok", "x"), ("Rooves", "no")]
    decided(path, lambda n, row: row.update(form=answers[n][0], fits=answers[n][1]))
    (item,) = guessed_items([JARS], found.slots, read_guess_sheet(path, found.slots))
    assert [item.conditions[f"guessed_word_{n}"] for n in (1, 2)] == ["roofs", "Rooves"]
    assert item.conditions["guess_fits"] is False
    decided(path, lambda n, row: row.update(fits="" if n else "x"))
    (item,) = guessed_items([JARS], found.slots, read_guess_sheet(path, found.slots))
    assert "guess_fits" not in item.conditions
    assert guessed_items([JARS], found.slots, certain_forms(found.slots)) == ()


@pytest.mark.parametrize(
    ("cells", "code"),
    [({"form": ""}, "E476"), ({"form": "ok", "fits": "perhaps"}, "E475"), ({"proposed": "roovez"}, "E474")],
)
def test_a_doubtful_form_is_never_taken_in_silence(tmp_path: Path, cells: dict[str, str], code: str) -> None:
    """A row with a doubt and without a decision, no mark, a changed cell: the place is named and nothing is read."""
    found = slots_of(JARS, "roof")
    path = tmp_path / "guesses.csv"
    write_guess_sheet(path, found.slots)
    decided(path, lambda n, row: row.update({"form": "ok"} | (cells if n == 1 else {})))
    with pytest.raises(InputError) as caught:
        read_guess_sheet(path, found.slots)
    assert caught.value.code == code
    assert caught.value.place is not None
    assert caught.value.place.line == 3
