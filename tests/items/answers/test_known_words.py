"""Words that a subject must see and know: a hidden word is refused, an unknown one named."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import CapabilityError, Place
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import unknown_words, with_seen_words
from lexiscope.items.arrange.views import view_item

PAIR = Item("i", "d", (Usage("The bank shuts.", 4, 8), Usage("A toad sat there.", 2, 6)))


class Knows:
    """Knows one word."""

    def knows(self, usage: Usage) -> bool:
        return usage.target == "bank"


def test_who_says_what_it_knows_is_asked() -> None:
    """The targets that a subject does not know are named; who cannot say is taken to know all."""
    assert unknown_words(Knows(), PAIR.usages) == ("toad",)
    assert unknown_words(object(), PAIR.usages) == ()


def test_a_hidden_word_is_refused_and_the_item_named() -> None:
    """An item whose words are seen comes back; one of which a target is hidden is refused, in the name of who asks."""
    assert with_seen_words(PAIR) is PAIR
    with pytest.raises(CapabilityError, match="a reader cannot answer without seeing the word") as error:
        with_seen_words(view_item(PAIR, "context"), who="a reader")
    assert error.value.place == Place(item_id="i")
