"""The senses of an item among which to choose, and its correct ids."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.sense_options import correct_ids, glosses_of, join_ids

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
