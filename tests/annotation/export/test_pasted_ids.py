"""Ids of the platform in free text: found as one pattern of all ids finds them, however many there are."""

from __future__ import annotations

import random
import re

import pytest

from lexiscope.annotation.export.pasted_ids import REMOVED, SHORTEST_ID, without_ids


def by_one_pattern(text: str, ids: frozenset[str]) -> str:
    """Try every id at every character, the longest first."""
    searched = sorted((own for own in ids if len(own) >= SHORTEST_ID), key=lambda own: (-len(own), own))
    return re.sub("|".join(map(re.escape, searched)) or r"(?!)", REMOVED, text, flags=re.IGNORECASE)


@pytest.mark.parametrize("letters", ["ab01", "abAB-_ .[]^\\|", "kKsSiIİıſ\u212a", "aéÉßẞµμΣςσ \U0001f600"])
def test_ids_are_found_as_by_one_pattern(letters: str) -> None:
    """Ids of any length that begin alike or contain each other, in texts made of them, in any capitals."""
    dice, n_removed = random.Random(letters), 0
    for _ in range(400):
        ids = frozenset("".join(dice.choices(letters, k=dice.randint(1, 12))) for _ in range(dice.randint(1, 12)))
        changes = (str, str.upper, str.lower, str.casefold, str.swapcase)
        for _ in range(5):
            own = [dice.choice(changes)(dice.choice(sorted(ids))) for _ in range(dice.randint(1, 4))]
            text = "".join(own + dice.choices(letters, k=dice.randint(SHORTEST_ID, 12)))
            expected = by_one_pattern(text, ids)
            n_removed += expected != text
            assert without_ids(text, ids) == expected, (text, ids)
    assert n_removed > 400


def test_texts_that_hold_no_id_stay_themselves() -> None:
    """A short answer, no answer, no ids, ids too short to be searched."""
    ids = frozenset(["5f0c9a27d4e1b80012ab34cd", "12345"])
    for text in (None, "", "12345", "I am number 12345.", "5f0c9a27d4e1b80012ab34c"):
        assert without_ids(text, ids) == text
    assert without_ids("5f0c9a27d4e1b80012ab34cd", frozenset()) == "5f0c9a27d4e1b80012ab34cd"
    assert without_ids("12345", frozenset(["12345"])) == "12345"
