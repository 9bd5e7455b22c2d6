"""Search spaces, the rows of a search, and the synsets of a lexicon as entries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import wsd
from lexiscope.items.answers.search_space import (
    Entry,
    SearchSpace,
    check_reachable,
    entry_of_sense,
    retrieval_items,
    retrieval_rows,
    synset_space,
)
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.vectors.nearest import nearest

TOWNS = SearchSpace("towns", (Entry("Q1", "Cordoba", "in Spain"), Entry("Q2", "Cordoba", "in Argentina")))


def item(item_id: str, gold: str | None, **conditions: str) -> Item:
    usage = Usage("The pitch froze.", 4, 9, lemma="pitch", pos="NOUN", sense="pitch%1:15:00::")
    return Item(item_id, "d", (usage,), ("a", "b"), gold, conditions=conditions)


def test_entries_have_ids_and_places() -> None:
    """Two entries may share a name, not an id."""
    assert (TOWNS.row("Q2"), "Q3" in TOWNS, len(TOWNS)) == (1, False, 2)
    with pytest.raises(InputError, match="two entries of towns have the id 'Q1'"):
        SearchSpace("towns", (*TOWNS.entries, Entry("Q1", "Lugo")))
    with pytest.raises(InputError, match="no entry 'Q9'"):
        TOWNS.row("Q9")


def test_people_look_entries_up_by_id_and_name() -> None:
    """The list of a search box has every entry under its id, and shows its name, where the id does not say it."""
    found = TOWNS.entity_list().search("cordoba")
    shown = [("Q1", "Cordoba: in Spain"), ("Q2", "Cordoba: in Argentina")]
    assert [(each.entity_id, each.description) for each in found] == shown
    (page,) = SearchSpace.of_pages("pages", ["Salt_(film)"]).entity_list().search("salt film")
    assert (page.title, page.description) == ("Salt_(film)", "")


def test_a_search_becomes_rows() -> None:
    """Rank 1 is ``retrieved``, further ranks are ``retrieved_next``, in the order of items and ranks."""
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]])
    items = [item("a", "Q2"), item("b", "Q1")]
    how = {"subject_id": "s", "subject_kind": "bi_encoder", "task": "entity_link"}
    table = retrieval_rows(items, TOWNS, nearest(vectors[::-1], vectors, 2), **how)
    assert table.column("item_id").tolist() == ["a", "a", "b", "b"]
    assert table.column("measure").tolist() == ["retrieved", "retrieved_next"] * 2
    assert table.column("option").tolist() == ["Q2", "Q1", "Q1", "Q2"]
    assert table.column("value").tolist() == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(InputError, match="1 searches do not belong to 2 items"):
        retrieval_rows(items, TOWNS, nearest(vectors[:1], vectors), **how)


def test_right_answers_are_entries() -> None:
    """One of several right answers is enough; an item without gold is no fault; else the item is named."""
    check_reachable([item("a", "Q2|Q7"), item("b", None)], TOWNS)
    with pytest.raises(InputError, match=r"item 'c': the correct answers of 1 items .* 'Q7'"):
        check_reachable([item("a", "Q1"), item("c", "Q7")], TOWNS)


def test_nothing_of_the_senses_is_left_in_a_retrieval_item() -> None:
    """Options, glosses and the sense id of the usage would tell which meanings the word can have."""
    asked = item("a", None, glosses="x|y", senses="a|b", split="test")
    (made,) = retrieval_items([asked], None)  # type: ignore[arg-type]
    assert (made.options, made.usages[0].sense, dict(made.conditions)) == ((), None, {"split": "test"})


@pytest.mark.published
def test_all_synsets_of_wordnet(published: Path) -> None:
    """B07: 117,659 entries; ids do not depend on offsets; lemmas and glosses; senses lead to them."""
    lexicon = wordnet.load()
    space = synset_space(lexicon)
    assert len(space) == len(set(space.ids)) == 117_659
    entry = space.entries[space.row("bank.n.01")]
    assert entry.name == "bank"
    assert entry.description.startswith("sloping land")
    assert (
        entry_of_sense(lexicon, "depository_financial_institution%1:14:00::") == "depository_financial_institution.n.01"
    )
    assert space.entries[space.row("depository_financial_institution.n.01")].name.split(", ")[1] == "bank"
    (made,) = retrieval_items([item("a", "tabulator%1:06:00::|counter%1:06:00::")], lexicon)
    assert made.gold == "counter.n.01|counter.n.03"
    asked = retrieval_items(wsd.load("dev").items, lexicon)
    assert len(asked) == 455
    check_reachable([made, *asked], space)
