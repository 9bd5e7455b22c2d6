"""GUESSEDWORD: the word that a participant guessed from the context, in the form of the word that it stands for.

People guess a hidden word in its basic form; put back into the sentence, it has to be inflected (the study's §3.2).
What is certain is done (:mod:`lexiscope.items.choice_sets.inflection`); all other forms are proposed on a sheet. A
person accepts or edits them there and marks whether the guess fits the context, so that every doubtful form is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.core.errors import DataError, InputError, Place
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import GUESSED_WORD, view_usage
from lexiscope.items.choice_sets.articles import with_article
from lexiscope.items.choice_sets.inflection import EnglishForms
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column
from lexiscope.items.sheets.given_answer import MEASURE_GUESS
from lexiscope.resources.lexicons import wordnet

GUESS_OF, GUESS, FITS = "guess_of", "guess", "guess_fits"
"""Conditions of an item with a guess: the item that was guessed at, the guess, and whether it fits, where judged."""

_OK = "ok"
_FITS = {"": None, "x": True, "1": True, "yes": True, "y": True, "0": False, "no": False, "n": False}


@dataclass(frozen=True, slots=True)
class WordGuess:
    """What was guessed at an item, and by which participants."""

    item_id: str
    guess: str
    participants: tuple[str, ...]

    @property
    def guess_id(self) -> str:
        """The id of the item with the guess."""
        return f"{self.item_id}/{self.guess}"


@dataclass(frozen=True, slots=True)
class GuessedSlot:
    """One place where a guess goes: the usage's number from 1, what stood there, and the proposed form.

    ``doubt`` is the reason why a person must decide; empty if the form is certain.
    """

    guess: WordGuess
    number: int
    context: str
    original: str
    proposed: str
    doubt: str

    @property
    def slot_id(self) -> str:
        """The id of the slot, as its row on the sheet has it."""
        return f"{self.guess.guess_id}#{self.number}"


@dataclass(frozen=True, slots=True)
class DecidedSlot:
    """The form that goes into a slot, and whether the guess was judged to fit there (``None``: not judged)."""

    form: str
    fits: bool | None = None


@dataclass(frozen=True, slots=True)
class GuessedSlots:
    """All slots of the guesses of a table; ``same`` are guesses of the very word that was hidden."""

    slots: tuple[GuessedSlot, ...]
    same: tuple[WordGuess, ...]


def guesses_of(table: ResponseTable) -> tuple[WordGuess, ...]:
    """Return the guesses in a table of answers, each once for an item, with all who made it; case is ignored.

    >>> from lexiscope.core.response import Response
    >>> rows = [Response(who, "participant", "i1", "same_sense", "guessed_word", raw=word, view="context")
    ...         for who, word in (("ana", "shore"), ("leo", "Shore"))]
    >>> guesses_of(ResponseTable.from_rows(rows))
    (WordGuess(item_id='i1', guess='shore', participants=('ana', 'leo')),)
    """
    rows = table.where(measure=MEASURE_GUESS)
    guesses: dict[tuple[str, str], WordGuess] = {}
    columns = (rows.column(name).tolist() for name in ("item_id", "subject_id", "raw"))
    for item_id, who, raw in zip(*columns, strict=True):
        guess = " ".join(str(raw or "").split())
        if guess:
            key = item_id, guess.casefold()
            known = guesses.get(key, WordGuess(item_id, guess, ()))
            guesses[key] = replace(known, participants=tuple(dict.fromkeys((*known.participants, who))))
    return tuple(guesses.values())


def propose_forms(items: Sequence[Item], guesses: Sequence[WordGuess], forms: EnglishForms) -> GuessedSlots:
    """Return the slots of the guesses with the form that each guess takes there.

    A guess of the hidden word itself has no slot: it would give the original item again.
    Errors: :class:`InputError` E471 for a guess at an item that is not among the items.
    """
    known = {item.item_id: item for item in items}
    slots: list[GuessedSlot] = []
    same = []
    for guess in guesses:
        if guess.item_id not in known:
            what = f"the guesses name {guess.item_id!r}, which is not one of the items"
            raise InputError(
                what, code="E471", place=Place(item_id=guess.item_id), hint="give the items that were asked"
            )
        usages = known[guess.item_id].usages
        words = {word.casefold() for usage in usages for word in (usage.target, usage.lemma) if word}
        if guess.guess.casefold() in words:
            same.append(guess)
            continue
        slots += [_slot(guess, number, usage, forms) for number, usage in enumerate(usages, start=1)]
    return GuessedSlots(tuple(slots), tuple(same))


def write_guess_sheet(path: Path | str, slots: Sequence[GuessedSlot]) -> None:
    """Write the sheet on which a person decides: a row for each slot; a doubtful form needs a cell under ``form``.

    Errors: :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    SHEET.write(path, slots)


def read_guess_sheet(path: Path | str, slots: Sequence[GuessedSlot]) -> dict[str, DecidedSlot]:
    """Read the sheet: slot id → the form decided on. ``ok`` accepts the proposal, any other text is the form itself.

    An empty cell accepts a form that was certain. ``fits``: x or no; empty where it was not judged.
    Errors: :class:`InputError` E476 (a doubtful form without a decision), E475 (no mark), and those of
    :meth:`~lexiscope.items.sheets.form.SheetForm.read`.
    """
    return {row.thing.slot_id: _decided_slot(row) for row in SHEET.read(path, slots)}


def certain_forms(slots: Sequence[GuessedSlot]) -> dict[str, DecidedSlot]:
    """Return the slots whose form is certain, without a sheet; whether the guesses fit is then not judged."""
    return {slot.slot_id: DecidedSlot(slot.proposed) for slot in slots if not slot.doubt}


def guessed_items(
    items: Sequence[Item], slots: Sequence[GuessedSlot], decided: Mapping[str, DecidedSlot]
) -> tuple[Item, ...]:
    """Return an item for each guess all of whose slots are decided; ``views.view_item`` shows it.

    Its id is that of the item with the guess behind it; it has no gold answer, because the correct answer may change
    with the word. Conditions: ``guessed_word_1`` … (the forms), ``guess``, ``guess_of``, and ``guess_fits`` where it
    was judged for every slot.
    """
    known = {item.item_id: item for item in items}
    by_guess: dict[WordGuess, list[GuessedSlot]] = {}
    for slot in slots:
        by_guess.setdefault(slot.guess, []).append(slot)
    return tuple(
        _with_guess(known[guess.item_id], guess, [decided[slot.slot_id] for slot in own])
        for guess, own in by_guess.items()
        if all(slot.slot_id in decided for slot in own)
    )


def items_with_guesses(
    items: Sequence[Item], answers: ResponseTable, given: Sequence[Item] = ()
) -> tuple[tuple[Item, ...], str]:
    """Return the items with people's guesses in the word's place, and how their forms were found, as text.

    Of *given* (what ``lexiscope choices guesses --out`` has written) the guesses at these *items*. Without any, the
    guesses among *answers* whose form is certain; one on which a person would have to decide is excluded, and counted.
    """
    own = {item.item_id for item in items}
    chosen = tuple(item for item in given if item.conditions.get(GUESS_OF) in own)
    guesses = guesses_of(answers)
    if chosen or not guesses:
        return chosen, "Their forms were decided on by a person." if chosen else ""
    try:
        forms = EnglishForms.of(wordnet.load())
    except DataError as error:
        return (), f"{len(guesses)} guessed words were not put back: {error.what}."
    proposed = propose_forms(items, guesses, forms)
    made = guessed_items(items, proposed.slots, certain_forms(proposed.slots))
    told = f"{len(guesses)} words were guessed; {len(proposed.same)} of them are the hidden word, and "
    doubtful = len(guesses) - len(proposed.same) - len(made)
    return made, f"{told}{doubtful} were excluded because a person has to decide on their form."


def _slot(guess: WordGuess, number: int, usage: Usage, forms: EnglishForms) -> GuessedSlot:
    form, doubt = guess.guess, "forms are known for English only"
    if usage.language.partition("-")[0] == "en":
        inflected = forms.inflect_like(guess.guess, usage.target, usage.lemma, usage.pos)
        form, doubt = _in_case(inflected.text, usage), inflected.doubt or _place_doubt(inflected.text, usage)
    return GuessedSlot(guess, number, view_usage(usage, "context").text, usage.target, form, doubt)


def _in_case(form: str, usage: Usage) -> str:
    if len(usage.target) > 1 and usage.target.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if usage.target[:1].isupper() else form


def _place_doubt(form: str, usage: Usage) -> str:
    """What is around the slot may not fit the form, and only the slot is filled."""
    before = usage.text[: usage.start]
    if with_article(before, form) != before:
        return "the article before it does not fit its sound"
    inside = before.strip(" \"'“‘([") and not before.rstrip(" \"'“‘([").endswith((".", "!", "?", ":"))
    return "a capital letter inside the sentence" if usage.target[:1].isupper() and inside else ""


def _parse_fit(text: str) -> bool | None:
    sign = text.strip().casefold()
    if sign not in _FITS:
        hint = "write x where the guess fits, no where it does not"
        raise InputError(f"{text!r} is not a mark", code="E475", hint=hint)
    return _FITS[sign]


SHEET: SheetForm[GuessedSlot] = SheetForm(
    "a sheet of guessed words",
    (
        TextColumn("slot_id", lambda slot: slot.slot_id),
        TextColumn("context", lambda slot: slot.context),
        TextColumn("original", lambda slot: slot.original),
        TextColumn("guess", lambda slot: slot.guess.guess),
        TextColumn("proposed", lambda slot: slot.proposed),
        TextColumn("doubt", lambda slot: slot.doubt),
        answer_column("form", lambda text: " ".join(text.split())),
        answer_column("fits", _parse_fit),
        answer_column("comment"),
    ),
    key="slot_id",
)
"""The columns of the sheet."""


def _decided_slot(row: FilledRow[GuessedSlot]) -> DecidedSlot:
    form, slot = row.values["form"], row.thing
    if not form and slot.doubt:
        what, hint = f"the form of {slot.guess.guess!r} is not decided", "write ok, or the correct form"
        row.refuse("form", what, code="E476", hint=f"{hint}: {slot.doubt}")
    return DecidedSlot(slot.proposed if not form or form.casefold() == _OK else form, row.values["fits"])


def _with_guess(item: Item, guess: WordGuess, slots: Sequence[DecidedSlot]) -> Item:
    forms: dict[str, Condition] = {f"{GUESSED_WORD}_{number}": slot.form for number, slot in enumerate(slots, start=1)}
    judged = [slot.fits for slot in slots]
    fits: dict[str, Condition] = {} if None in judged else {FITS: all(judged)}
    about: dict[str, Condition] = {GUESS_OF: item.item_id, GUESS: guess.guess}
    return replace(item, item_id=guess.guess_id, gold=None, conditions={**item.conditions, **about, **forms, **fits})
