"""GUESSEDWORD from end to end, on sentences and subjects made here: a guess flips the label, or nothing does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lexiscope.analysis.bias import guess_flips as module
from lexiscope.analysis.bias.guess_flips import count_flips, guess_answers
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange import views
from lexiscope.items.choice_sets.inflection import EnglishForms
from lexiscope.items.sheets import given_answer, guessed_word
from lexiscope.items.sheets.guessed_word import DecidedSlot, guessed_items, guesses_of, propose_forms
from lexiscope.tasks.same_sense import by_judgment

FORMS = EnglishForms({}, lambda word, pos: pos == "n" and word in ("pitch", "field", "tar", "stone"))
PITCHES = (("The {} was wet.", "They ran across the {}."), ("Barrels of {} burned.", "He sold {} to the yard."))


def items() -> list[Item]:
    """Two pairs of *pitch*, each of one meaning."""
    made = []
    for number, texts in enumerate(PITCHES):
        usages = [
            Usage(text.format("pitch"), text.index("{"), text.index("{") + 5, lemma="pitch", pos="NOUN", language="en")
            for text in texts
        ]
        made.append(Item(f"i{number}", "made", tuple(usages), gold="t"))
    return made


class Made:
    """A subject made here: one that knows which words have several meanings, or one that sees the context only."""

    kind = "made"

    def __init__(self, name: str, *, ambiguous: frozenset[str]) -> None:
        self.subject_id, self._ambiguous = name, ambiguous

    def judge(self, shown: Sequence[Item], task: str) -> ResponseTable:
        """Say f where the target is an ambiguous word."""
        options = ["f" if item.usages[0].target in self._ambiguous else "t" for item in shown]
        return ResponseTable.from_rows(
            Response(self.subject_id, self.kind, item.item_id, task, "choice", option=option)
            for item, option in zip(shown, options, strict=True)
        )


def people() -> ResponseTable:
    """Ana guessed "stone" at the first pair and answered f, then t with the word shown; "field" flips nothing."""
    said = (
        ("ana", "i0", "stone", "f", "t"),
        ("ana", "i1", "tar", "t", "t"),
        ("leo", "i0", "field", "t", "t"),
        ("eva", "i0", "stone", "t", None),
    )
    rows = []
    for who, item, guess, hidden, shown in said:
        for measure, view, option, raw in (
            ("choice", "context", hidden, None),
            ("guessed_word", "context", None, guess),
            ("revealed_choice", "full", shown, None),
        ):
            if option or raw:
                rows.append(Response(who, "participant", item, "same_sense", measure, None, option, view=view, raw=raw))
    return ResponseTable.from_rows(rows)


def answered(subject: Made, guessed: Sequence[Item]) -> ResponseTable:
    full = by_judgment(items(), subject, view="full")
    return ResponseTable.concat([full, by_judgment(guessed, subject, view="guessed_word")])


def test_a_guess_flips_the_label_and_an_insensitive_model_does_not_follow() -> None:
    """B38: with "stone" the right answer changes, for Ana and for a model that looks at words; a model that does not
    look at words keeps its answers: 0 flips, and it is insensitive in the one item where Ana's answer changes."""
    found = propose_forms(items(), guesses_of(people()), FORMS)
    assert not any(slot.doubt for slot in found.slots)
    decided = {slot.slot_id: DecidedSlot(slot.proposed, fits=True) for slot in found.slots}
    guessed = guessed_items(items(), found.slots, decided)
    assert [item.item_id for item in guessed] == ["i0/stone", "i1/tar", "i0/field"]
    sensitive = Made("sensitive", ambiguous=frozenset({"stone"}))
    insensitive = Made("insensitive", ambiguous=frozenset())
    by_model = {}
    for model in (sensitive, insensitive):
        answers = guess_answers(guessed, people(), answered(model, guessed), model_id=model.subject_id)
        by_model[model.subject_id] = count_flips(answers)
        # two people guessed stone; Eva never saw the word
        assert [(one.item_id, one.guess, one.person) for one in answers] == [
            ("i0", "stone", ("t", "f")),
            ("i0", "stone", (None, "t")),
            ("i1", "tar", ("t", "t")),
            ("i0", "field", ("t", "t")),
        ]
    assert (by_model["sensitive"].model_flips, by_model["sensitive"].insensitive) == (2, 0)
    assert (by_model["insensitive"].model_flips, by_model["insensitive"].insensitive) == (0, 1)
    assert all((one.person_flips, one.sensitive_items, one.incomplete) == (1, 1, 1) for one in by_model.values())


def test_answers_of_other_people_are_refused() -> None:
    """An item with a guess that nobody in the table made belongs to other answers."""
    found = propose_forms(items(), guesses_of(people()), FORMS)
    decided = {slot.slot_id: DecidedSlot(slot.proposed) for slot in found.slots}
    guessed = guessed_items(items(), found.slots, decided)
    with pytest.raises(InputError, match="no one guessed 'tar'"):
        guess_answers(guessed[1:], people().where(item_id="i0"), ResponseTable.empty(), model_id="m")


def test_the_names_are_those_of_the_items() -> None:
    """Analysis sees responses only; the names by which it knows them are those under which they are written."""
    assert (module.GUESS_OF, module.GUESS, module.FITS) == (
        guessed_word.GUESS_OF,
        guessed_word.GUESS,
        guessed_word.FITS,
    )
    assert views.GUESSED_WORD == given_answer.MEASURE_GUESS == module.GUESSED_WORD
    assert f"{given_answer.REVEALED}{given_answer.MEASURE_CHOICE}" == module.SECOND
