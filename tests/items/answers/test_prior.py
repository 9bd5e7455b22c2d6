"""The class seen most often with a word, and the senses of an item."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.prior import Prior
from lexiscope.items.answers.sense_options import correct_ids, glosses_of, join_ids

SEEN = [("bank", "b2"), ("bank", "b1"), ("bank", "b2"), ("bank", "b1"), ("bat", "t1")]


def test_ties_go_to_the_first() -> None:
    """The first of the classes that are asked about wins a tie; without them the one that was seen first."""
    prior = Prior(SEEN)
    assert prior.best("bank", among=("b2", "b1")) == "b2"
    assert prior.best("bank", among=("b1", "b2")) == "b1"
    assert (prior.best("bank"), Prior(reversed(SEEN)).best("bank")) == ("b2", "b1")


def test_what_was_never_seen_has_no_answer() -> None:
    """Neither an unknown word nor a class that was never seen with the word is an answer."""
    prior = Prior(SEEN)
    assert prior.best("bow") is None
    assert prior.best("bat", among=("t2", "t3")) is None
    assert (prior.count("bank", "b1"), prior.count("bow", "b1"), len(prior)) == (2, 0, 2)


ITEM = Item("i", "d", (Usage("A pitch.", 2, 7),), conditions={"glosses": "a field|a sound"})


def test_ids_are_options_or_a_column_or_numbers() -> None:
    """Where an item has no options its ids stand in ``senses``, else they are numbers."""
    assert glosses_of(replace(ITEM, options=("f", "s"))) == {"f": "a field", "s": "a sound"}
    assert list(glosses_of(replace(ITEM, conditions={**ITEM.conditions, "senses": "x | y"}))) == ["x", "y"]
    assert list(glosses_of(ITEM)) == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "glosses", "said"),
    [
        (("a",), "x|y", "2 glosses need as many senses"),
        (("a", "a"), "x|y", "all different"),
        (("a", "b"), "x|", "a gloss for every sense"),
        ((), "", "a gloss for every sense"),
    ],
)
def test_senses_that_do_not_fit_are_refused(options: tuple[str, ...], glosses: str, said: str) -> None:
    """Each fault names the item and the columns."""
    with pytest.raises(InputError, match=rf"item 'i': \[E617\] .*{said}"):
        glosses_of(replace(ITEM, options=options, conditions={"glosses": glosses}))


def test_several_ids_may_be_right() -> None:
    """They are divided by a bar, which no id may hold."""
    assert correct_ids(replace(ITEM, gold=join_ids(["b", "a", "b"]))) == {"a", "b"}
    assert correct_ids(ITEM) == frozenset()
    with pytest.raises(InputError, match=r"holds '\|'"):
        join_ids(["a|b"])
