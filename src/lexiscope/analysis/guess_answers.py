"""Which answers belong to a guessed word: of whoever guessed it, and of a model, with the original word and with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.guess_flips import Guess
from lexiscope.analysis.view_answers import answers_by_view
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.given_answer import MEASURE_CHOICE, REVEALED
from lexiscope.items.guessed_word import FITS, GUESS, GUESS_OF, guesses_of
from lexiscope.items.views import GUESSED_WORD


def guess_answers(
    guessed: Sequence[Item], people: ResponseTable, model: ResponseTable, *, model_id: str
) -> tuple[Guess, ...]:
    """Return the answers for each guess of each person, for :func:`~lexiscope.analysis.guess_flips.count_flips`.

    A person's answer with the guess is that in the view ``context``, which they gave with their guess in mind; the
    answer with the original word is the second judgment (phase ``reveal``). A model's are those in the views
    ``guessed_word`` and ``full``. An answer that is not there is ``None``.
    Errors: :class:`InputError` for an item that :func:`~lexiscope.items.guessed_word.guessed_items` did not make, or a
    guess that nobody made.
    """
    of_model = answers_by_view(model, subject=model_id)
    makers = {(one.item_id, one.guess): one.participants for one in guesses_of(people)}
    found = []
    for item in guessed:
        origin, word = str(item.condition(GUESS_OF)), str(item.condition(GUESS))
        if (origin, word) not in makers:
            what = f"nobody guessed {word!r} at {origin!r}"
            raise InputError(what, place=Place(item_id=item.item_id), hint="give the answers of which it was made")
        both = _of(of_model, "full", origin), _of(of_model, GUESSED_WORD, item.item_id)
        fits = item.conditions.get(FITS)
        for who in makers[origin, word]:
            own = answers_by_view(people, subject=who)
            again = answers_by_view(people, subject=who, measure=f"{REVEALED}{MEASURE_CHOICE}")
            person = _of(again, "full", origin), _of(own, "context", origin)
            found.append(Guess(origin, item.word, word, person, both, None if fits is None else bool(fits)))
    return tuple(found)


def _of(answers: Mapping[str, Mapping[str, str | None]], view: str, item_id: str) -> str | None:
    return answers.get(view, {}).get(item_id)
