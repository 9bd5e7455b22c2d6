"""Sense choice by vectors: own senses by their probability, others' groups by their distance."""

from __future__ import annotations

from typing import Any

import pytest

from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.tasks.sense_choice import TASK

from .toy_vectors import Encoder, OnlyChooses, Senses

GROUPS: dict[str, Condition] = {"group_1": "river|shore", "group_2": "loan|cash", "group_3": "stream|credit"}


def item(name: str, text: str, word: str = "bank", **conditions: Condition) -> Item:
    start = text.index(word)
    return Item(name, "d", (Usage(text, start, start + len(word), language="en"),), conditions={**GROUPS, **conditions})


def answers(items: list[Item], subject: Any, view: str = "full") -> ResponseTable:
    return TASK.answer_function(subject)(items, subject, view=view)


def choices(table: ResponseTable) -> list[tuple[str, int | None, str | None]]:
    return [(row.item_id, row.layer, row.option) for row in table.rows() if row.measure == "choice"]


def test_own_senses_are_chosen_by_their_probability() -> None:
    """An item of the subject's own revision: its most probable sense, with the probability of each; a dummy has 0."""
    own: dict[str, Condition] = {"revision": "mine", "dummy_3": True}
    items = [item("a", "the bank by the river", **own), item("b", "the bank gave a loan", **own)]
    table = answers(items, Senses())
    assert choices(table) == [("a", None, "1"), ("b", None, "2")]
    shares = {(row.item_id, row.option): row.value for row in table.where(measure="probability").rows()}
    assert shares == {("a", "1"): 1, ("a", "2"): 0, ("a", "3"): 0, ("b", "1"): 0, ("b", "2"): 1, ("b", "3"): 0}


def test_of_equal_senses_the_first_is_taken_and_no_dummy() -> None:
    """Beside no known word both senses are equally probable; a dummy that stands first is no sense of the word's."""
    groups: dict[str, Condition] = {"revision": "mine", "dummy_3": "true"}
    assert choices(answers([item("a", "a bank", **groups)], Senses())) == [("a", None, "1")]


def test_other_vectors_senses_are_compared_as_groups() -> None:
    """Without the subject's revision its own vector of the target decides: the group whose words are nearest to it."""
    items = [item("a", "the bank by the river"), item("b", "the bank gave a loan", revision="another")]
    table = answers(items, Senses())
    assert choices(table) == [("a", None, "1"), ("b", None, "2")]
    distances = {row.option: row.value for row in table.where(item_id="a", measure="cosine_distance").rows()}
    # the third group's centroid lies halfway between both: 1 - 1/√2
    assert distances == {"1": pytest.approx(0), "2": pytest.approx(1), "3": pytest.approx(1 - 2**-0.5)}


def test_own_and_other_items_stay_in_their_order() -> None:
    """Rows are in the order of the items, whichever rule answered them."""
    own: dict[str, Condition] = {"revision": "mine", "dummy_3": True}
    items = [item(name, "the bank by the river", **(own if name in "ac" else {})) for name in "abcd"]
    assert [name for name, _, _ in choices(answers(items, Senses()))] == list("abcd")


def test_an_encoder_takes_the_nearest_group_at_each_layer() -> None:
    """The target is read in its sentence, each word of a group alone; layer 0 of the toy has the axes exchanged."""
    encoder = Encoder()
    table = answers([item("a", "the bank by the river tide")], encoder)
    assert choices(table) == [("a", 0, "1"), ("a", 1, "1")]
    assert set(encoder.asked) == {"the bank by the river tide", "river", "shore", "loan", "cash", "stream", "credit"}
    assert len(table.where(measure="cosine_distance")) == 6


def test_senses_numbered_otherwise_get_the_same_groups() -> None:
    """Ties go by the words of the groups, never by their numbers, for those who do not know the senses."""
    turned: dict[str, Condition] = {"group_1": "loan|cash", "group_2": "river|shore"}
    one = answers([item("a", "a bank", group_1="river|shore", group_2="loan|cash", group_3="")], Encoder())
    two = answers([item("a", "a bank", **turned, group_3="")], Encoder())
    words = {"1": "river", "2": "loan"}, {"1": "loan", "2": "river"}
    assert (
        [words[0][str(o)] for *_, o in choices(one)] == [words[1][str(o)] for *_, o in choices(two)] == ["loan", "loan"]
    )


def test_an_unknown_word_is_no_answer() -> None:
    """An unknown target, or word of a group, is named in the row of the item."""
    table = answers(
        [item("a", "the toad by the river", "toad", revision="mine"), item("b", "the bank", group_2="newt|cash")],
        Senses(),
    )
    assert choices(table) == [("a", None, None), ("b", None, None)]
    assert table.column("raw").tolist() == ["out of vocabulary: toad", "out of vocabulary: newt"]


def test_what_does_not_fit_is_refused() -> None:
    """A hidden target; groups that are none of the vectors' senses; a subject without vectors asked for others'."""
    with pytest.raises(CapabilityError, match="without seeing the word"):
        answers([item("a", "the bank by the river")], Senses(), view="context")
    with pytest.raises(InputError, match="'3' is not a sense of these vectors"):
        answers([item("a", "the bank by the river", revision="mine")], Senses())
    with pytest.raises(CapabilityError, match="gives no vectors"):
        answers([item("a", "the bank by the river")], OnlyChooses())
