"""GUESSEDWORD: flips of people and model over valid guesses."""

from __future__ import annotations

import pytest

from lexiscope.analysis.bias.guess_flips import Guess, count_flips
from lexiscope.core.errors import StatisticError

FLIP, KEEP = ("t", "f"), ("t", "t")


def test_an_insensitive_model_has_no_flips() -> None:
    """People change their answer with the word, a model that looks at the context alone never does."""
    found = count_flips([Guess(f"i{n}", "iron", "starch", FLIP, KEEP, True) for n in range(4)])
    assert (found.person_flips, found.model_flips) == (4, 0)
    assert (found.insensitive, found.sensitive_items) == (4, 4)


def test_the_study_had_11_valid_guesses_of_20_and_7_without_effect() -> None:
    """Counts as in §3.2: 20 guesses, 11 valid other words, the model insensitive in 7."""
    guesses = [Guess(f"i{n}", "take", "get", FLIP, KEEP if n < 7 else FLIP, n < 11) for n in range(20)]
    found = count_flips(guesses)
    assert (found.n, found.n_valid, found.insensitive, found.model_flips) == (20, 11, 7, 4)


def test_missing_answers_are_counted() -> None:
    """A valid guess without all four answers is no evidence; one that nobody judged is not valid."""
    guesses = [
        Guess("a", "iron", "starch", FLIP, ("t", None), True),
        Guess("b", "iron", "starch", FLIP, KEEP),
        Guess("c", "iron", "iron ore", KEEP, FLIP, True),
    ]
    found = count_flips(guesses)
    assert (found.n, found.n_valid, found.incomplete) == (3, 2, 1)
    assert (found.person_flips, found.model_flips, found.sensitive_items, found.insensitive) == (1, 1, 0, 0)
    assert guesses[0].model_flips is None
    with pytest.raises(StatisticError):
        count_flips([])
