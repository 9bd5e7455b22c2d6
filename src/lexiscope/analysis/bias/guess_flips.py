"""GUESSEDWORD: which answers belong to a guessed word, and whether a guess changes the answer (§3.2, Table 8).

People who saw the context alone guessed the word. If their guess makes sense but means something else, the correct
answer may change with it; a model that keeps its answer has looked at the context alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.analysis.bias.view_scores import answers_by_view
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseColumns


@dataclass(frozen=True, slots=True)
class Guess:
    """One item with its guessed word, and what was answered with the original word and with the guess in its place.

    ``valid``: the guess is another word that fits the context, as a person judged (``None``: no one judged).
    ``person`` and ``model`` are (answer with the original word, answer with the guess); ``None`` where one is missing.
    """

    item_id: str
    word: str
    guess: str
    person: tuple[str | None, str | None]
    model: tuple[str | None, str | None]
    valid: bool | None = None

    @property
    def person_flips(self) -> bool | None:
        """Whether the person's answer changes with the word; ``None`` where an answer is missing."""
        return _flips(self.person)

    @property
    def model_flips(self) -> bool | None:
        """Whether the model's answer changes with the word; ``None`` where an answer is missing."""
        return _flips(self.model)


@dataclass(frozen=True, slots=True)
class Flips:
    """How many guesses there are, how many are valid other words, and whose answer changes with them.

    ``insensitive`` counts the valid guesses where the person's answer changes and the model's does not, out of
    ``sensitive_items``, those where the person's changes and the model answered. ``incomplete`` valid guesses have no
    answer.
    """

    n: int
    n_valid: int
    person_flips: int
    model_flips: int
    sensitive_items: int
    insensitive: int
    incomplete: int


def count_flips(guesses: Sequence[Guess]) -> Flips:
    """Return how often people's and the model's answers change with the guessed word, over valid guesses.

    The study examined 20 guesses; 11 were valid other words, and its model kept its answer in 7 of them.

    >>> flips, keeps = ("t", "f"), ("t", "t")
    >>> judged = Guess("i1", "iron", "starch", flips, keeps, valid=True)
    >>> found = count_flips([judged, Guess("i2", "take", "get", flips, flips)])
    >>> found.n, found.n_valid, found.person_flips, found.insensitive
    (2, 1, 1, 1)

    Errors: :class:`StatisticError` without a guess.
    """
    if not guesses:
        raise StatisticError("there are no guessed words to count")
    valid = [guess for guess in guesses if guess.valid]
    whole = [guess for guess in valid if guess.person_flips is not None and guess.model_flips is not None]
    sensitive = [guess for guess in whole if guess.person_flips]
    return Flips(
        n=len(guesses),
        n_valid=len(valid),
        person_flips=sum(bool(guess.person_flips) for guess in valid),
        model_flips=sum(bool(guess.model_flips) for guess in valid),
        sensitive_items=len(sensitive),
        insensitive=sum(not guess.model_flips for guess in sensitive),
        incomplete=len(valid) - len(whole),
    )


def _flips(answers: tuple[str | None, str | None]) -> bool | None:
    before, after = answers
    return None if before is None or after is None else before != after


# -- guess answers --------------------------------------------------------------------------------------------------
# Which answers belong to a guessed word: of whoever guessed it, and of a model, with the original word and with it.


GUESSED_WORD = "guessed_word"
"""The view with a guess in the word's place, and the measure of a row with a person's guess in ``raw``."""
SECOND = "revealed_choice"
"""The measure of what a person answered again, the word now shown."""
GUESS_OF, GUESS, FITS = "guess_of", "guess", "guess_fits"
"""Conditions of an item with a guess: the item that was guessed at, the guess, whether a person judged that it fits."""


def guess_answers(
    guessed: Sequence[Item], people: ResponseColumns, model: ResponseColumns, *, model_id: str
) -> tuple[Guess, ...]:
    """Return the answers for each guess of each person, for :func:`~lexiscope.analysis.bias.guess_flips.count_flips`.

    A person's answer with the guess is that in the view ``context``, which they gave with their guess in mind; the
    answer with the original word is the second judgment (phase ``reveal``). A model's are those in the views
    ``guessed_word`` and ``full``. An answer that is not there is ``None``.
    Errors: :class:`InputError` for an item that :func:`~lexiscope.items.sheets.guessed_word.guessed_items` did not
    make, or a guess that no one made.
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
            what = f"no one guessed {word!r} at {origin!r}"
            raise InputError(what, place=Place(item_id=item.item_id), hint="give the answers of which it was made")
        both = _of(of_model, "full", origin), _of(of_model, GUESSED_WORD, item.item_id)
        fits = item.conditions.get(FITS)
        for who in makers[origin, word.casefold()]:
            person = _of(again[who], "full", origin), _of(own[who], "context", origin)
            guesses.append(Guess(origin, item.word, word, person, both, None if fits is None else bool(fits)))
    return tuple(guesses)


def _makers(people: ResponseColumns) -> dict[tuple[str, str], list[str]]:
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
