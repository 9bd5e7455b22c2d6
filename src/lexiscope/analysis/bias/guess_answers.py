"""Which answers belong to a guessed word: of whoever guessed it, and of a model, with the original word and with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.bias.guess_flips import Guess
from lexiscope.analysis.bias.view_answers import answers_by_view
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable

GUESSED_WORD = "guessed_word"
"""The view with a guess in the word's place, and the measure of a row with a person's guess in ``raw``."""
SECOND = "revealed_choice"
"""The measure of what somebody answered again, the word now shown."""
GUESS_OF, GUESS, FITS = "guess_of", "guess", "guess_fits"
"""Conditions of an item with a guess: the item that was guessed at, the guess, whether somebody judged that it fits."""


def guess_answers(
    guessed: Sequence[Item], people: ResponseTable, model: ResponseTable, *, model_id: str
) -> tuple[Guess, ...]:
    """Return the answers for each guess of each person, for :func:`~lexiscope.analysis.bias.guess_flips.count_flips`.

    A person's answer with the guess is that in the view ``context``, which they gave with their guess in mind; the
    answer with the original word is the second judgment (phase ``reveal``). A model's are those in the views
    ``guessed_word`` and ``full``. An answer that is not there is ``None``.
    Errors: :class:`InputError` for an item that :func:`~lexiscope.items.sheets.guessed_word.guessed_items` did not
    make, or a guess that nobody made.
    """
    of_model = answers_by_view(model, subject=model_id)
    makers = _makers(people)
    persons = {who for several in makers.values() for who in several}
    own = {who: answers_by_view(people, subject=who) for who in persons}
    again = {who: answers_by_view(people, subject=who, measure=SECOND) for who in persons}
    guesses = []
    for item in guessed:
        origin, word = str(item.condition(GUESS_OF)), str(item.condition(GUESS))
        if (origin, word.casefold()) not in makers:
            what = f"nobody guessed {word!r} at {origin!r}"
            raise InputError(what, place=Place(item_id=item.item_id), hint="give the answers of which it was made")
        both = _of(of_model, "full", origin), _of(of_model, GUESSED_WORD, item.item_id)
        fits = item.conditions.get(FITS)
        for who in makers[origin, word.casefold()]:
            person = _of(again[who], "full", origin), _of(own[who], "context", origin)
            guesses.append(Guess(origin, item.word, word, person, both, None if fits is None else bool(fits)))
    return tuple(guesses)


def _makers(people: ResponseTable) -> dict[tuple[str, str], list[str]]:
    """Who made each guess, by item and guess without case and outer white space."""
    rows = people.where(measure=GUESSED_WORD)
    makers: dict[tuple[str, str], list[str]] = {}
    columns = (rows.column(name).tolist() for name in ("item_id", "raw", "subject_id"))
    for item_id, raw, who in zip(*columns, strict=True):
        known = makers.setdefault((item_id, " ".join(str(raw or "").split()).casefold()), [])
        if who not in known:
            known.append(who)
    return makers


def _of(answers: Mapping[str, Mapping[str, str | None]], view: str, item_id: str) -> str | None:
    return answers.get(view, {}).get(item_id)
