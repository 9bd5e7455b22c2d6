"""Items: whether all usages are of one word."""

from __future__ import annotations

import pytest

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage


@pytest.mark.parametrize(
    ("words", "lemmas", "one"),
    [
        (("bank", "Banks"), ("bank", "bank"), True),
        (("bank", "Bank"), (None, None), True),
        (("bank", "banks"), ("bank", None), False),
        (("oak", "roble"), ("oak", "roble"), False),
    ],
)
def test_one_word_is_one_lemma_or_one_wordform(
    words: tuple[str, str], lemmas: tuple[str | None, str | None], *, one: bool
) -> None:
    """Lemmas decide where all are known, wordforms else; case does not count."""
    usages = tuple(Usage(word, 0, len(word), lemma=lemma) for word, lemma in zip(words, lemmas, strict=True))
    assert Item("i", "d", usages).has_one_word is one
