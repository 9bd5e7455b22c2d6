"""Items: unique ids, named conditions, and whether all usages are of one word."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item, check_unique_ids
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


def test_items_have_unique_ids_and_named_conditions() -> None:
    """Two items with one id, an empty id, and an unknown condition are errors."""
    item = Item("i1", "d", (Usage("It is a bank", 8, 12),), conditions={"same_sense": True})
    assert item.condition("same_sense") is True
    assert item.word == "bank"
    with pytest.raises(InputError, match="same_sense"):
        item.condition("list")
    with pytest.raises(InputError, match="E403"):
        check_unique_ids((item, item))
    with pytest.raises(InputError, match="E401"):
        Item(" ", "d", (Usage("It is a bank", 8, 12),))
