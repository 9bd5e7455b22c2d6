"""Rules of words and rows: what each gives, what is counted apart, what is refused."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.word_rules import ROW_RULES, WORD_RULES, word_rows


def _item(number: int, text: str, form: str, gold: str | None, *, split: str = "train") -> Item:
    start = text.index(form)
    usages = (
        Usage(text, start, start + len(form), lemma="bank", pos="NOUN"),
        Usage("Die Bank", 4, 8, lemma="Bank"),
    )
    return Item(f"i{number}", "d", usages, gold=gold, conditions={"split": split})


ITEMS = (
    _item(1, "A Bank lends", "Bank", "t"),
    _item(2, "Two banks lend", "banks", "f"),
    _item(3, "A Bank lends", "Bank", "f"),
    _item(4, "A bank sleeps", "bank", None),
    _item(5, "A bank", "bank", "t", split="dev"),
)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("lemma", ("bank", "bank", "bank")),
        ("lemma_pos", ("bank/NOUN",) * 3),
        ("surface", ("Bank", "banks", "Bank")),
        ("surface_lower", ("bank", "banks", "bank")),
        ("last_surface", ("Bank", "Bank", "Bank")),
    ],
)
def test_each_rule(rule: str, words: tuple[str, ...]) -> None:
    """A rule gives the word of each item of the split that has a label; hidden ones are counted."""
    found = word_rows(ITEMS, word=rule, split="train")
    assert (found.words, found.labels, found.item_ids) == (words, ("t", "f", "f"), ("i1", "i2", "i3"))
    assert (found.word, found.rows, found.n_hidden, found.n_repeated) == (rule, "all", 1, 0)


def test_the_first_row_of_a_context() -> None:
    """Of items with the same word and contexts the first counts, in the order of the items."""
    found = word_rows(ITEMS, rows="first_of_context")
    assert (found.item_ids, found.n_repeated) == (("i1", "i2", "i5"), 1)


def test_all_rules_are_named() -> None:
    """The names are what statistics print: short words without signs that the print would mistake."""
    assert all(name.isidentifier() for name in (*WORD_RULES, *ROW_RULES))


def test_what_is_refused() -> None:
    """An unknown rule, a split without labels, a split without items, and a missing part of speech."""
    with pytest.raises(SpecError, match=r"no rule 'form'(.|\n)*surface_lower"):
        word_rows(ITEMS, word="form")
    with pytest.raises(SpecError, match="no rule 'last'"):
        word_rows(ITEMS, rows="last")
    with pytest.raises(InputError, match=r"no item in the split 'test' has a label(.|\n)*choose another split"):
        word_rows(ITEMS, split="test")
    with pytest.raises(InputError, match=r"no item has a label(.|\n)*labels are known"):
        word_rows(ITEMS[3:4])
    bare = Item("x", "d", (Usage("A bank", 2, 6),), gold="t")
    with pytest.raises(InputError, match="item 'x': the item has no part of speech"):
        word_rows([bare], word="lemma_pos")
