"""GUESSEDWORD: does an answer change when a guessed word stands in the original's place (the study's §3.2, Table 8)?

People who saw the context alone guessed the word. Where their guess makes sense but means something else, the right
answer may change with it; a model that keeps its answer has looked at the context alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lexiscope.core.errors import StatisticError


@dataclass(frozen=True, slots=True)
class Guess:
    """One item with its guessed word, and what was answered with the original word and with the guess in its place.

    ``valid``: the guess is another word that fits the context, as somebody judged (``None``: nobody judged).
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
    ``sensitive_items``, those where the person's changes and the model answered. ``incomplete`` valid guesses lack an
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
