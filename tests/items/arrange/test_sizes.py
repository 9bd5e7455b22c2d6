"""How large a set of usage pairs is: what a table calls each number, and the statistic that it is."""

from __future__ import annotations

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import sizes_of_pairs


def _pair(item_id: str, *texts: str, list_id: str | None = None) -> Item:
    usages = tuple(Usage(text, text.index("bank"), text.index("bank") + 4, lemma="bank") for text in texts)
    return Item(item_id, "own", usages, list_id=list_id)


def test_sentences_are_counted_once_and_pairs_by_their_difference() -> None:
    """Three pairs share sentences of 2, 3, 4 words: means are over distinct sentences, differences over pairs."""
    two, three, four = "the bank", "the old bank", "a very old bank"
    found = sizes_of_pairs([_pair("1", two, three), _pair("2", two, four), _pair("3", three, three), _pair("4", four)])
    values = {one.name: one.value for one in found.values()}
    assert (values["n_items"], values["n_words"], values["n_sentences"]) == (4, 1, 3)
    assert values["words_per_sentence(summary=mean)"] == (2 + 3 + 4) / 3
    assert values["items_per_word(summary=max)"] == 4
    unequal = {by: values[f"items_differing_in_word_count(by={by})"] for by in ("any", 1, 2)}
    assert unequal == {"any": 2, 1: 1, 2: 1}
    assert "n_lists" not in values
    assert sizes_of_pairs([_pair("1", two, three, list_id="a")])["Lists"].value == 1
