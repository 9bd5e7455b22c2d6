"""Pairs from a stimulus list, and the views of an item."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.importer import import_items
from lexiscope.items.pairs import Stimulus, enumerate_pairs, pair_counts, stimulus_ids
from lexiscope.items.views import view_item, view_usage, with_final_stop, without_final_stop


def stimulus(name: str, cue: str, sense: str | None) -> Stimulus:
    return Stimulus(name, Usage(f"A {cue} bank", len(cue) + 3, len(cue) + 7, sense=sense), {"cue": cue})


def test_four_sentences_give_six_pairs() -> None:
    """2 senses × 2 cues: 4 · 3 / 2 = 6 pairs, 2 of the same sense and 4 of different senses."""
    names = stimulus_ids([("bank", "1"), ("bank", "1"), ("bank", "2"), ("bank", "2")])
    listed = [stimulus(n, c, s) for n, c, s in zip(names, ["wet", "big", "old", "rich"], "1122", strict=True)]
    items = enumerate_pairs(listed, dataset="d")
    assert [item.item_id for item in items] == [
        "bank-1a-1b", "bank-1a-2a", "bank-1a-2b", "bank-1b-2a", "bank-1b-2b", "bank-2a-2b"
    ]  # fmt: skip
    counts = pair_counts(items)
    assert (counts.n_same, counts.n_different, counts.mean_per_word) == (2, 4, 6.0)
    assert items[1].conditions == {"same_sense": False, "cue_1": "wet", "cue_2": "old"}


def test_a_sentence_without_sense_is_refused() -> None:
    """Same and different can only come from senses."""
    with pytest.raises(InputError, match="E406"):
        enumerate_pairs([stimulus("s", "wet", None)], dataset="d")
    with pytest.raises(InputError, match="E404"):
        pair_counts([])


@pytest.mark.published
def test_saw_c_pairs_from_its_stimulus_list(published: Path) -> None:
    """SAW-C §3.1: 812 pairs of 102 words, 6 to 28 per word, mean 7.96; 241 of the same sense."""
    found = import_items(published / "sawc/sawc_stimlist.csv", dataset="saw_c", language="es")
    usages = [item.usages[0] for item in found.items]
    ids = stimulus_ids((usage.lemma or "", usage.sense or "") for usage in usages)
    counts = pair_counts(enumerate_pairs([Stimulus(i, u) for i, u in zip(ids, usages, strict=True)], dataset="saw_c"))
    per_word = [n for _, n in counts.per_word]
    assert (counts.n_pairs, counts.n_same, len(per_word)) == (812, 241, 102)
    assert (min(per_word), max(per_word), round(counts.mean_per_word, 2)) == (6, 28, 7.96)


def test_a_final_stop_is_added_once() -> None:
    """The stop is added only where no sentence-final sign stands, and the span stays."""
    for text, stopped in [
        ("A bank", "A bank."),
        ("A bank.", "A bank."),
        ("A bank!", "A bank!"),
        ('A "bank."', 'A "bank."'),
    ]:
        usage = Usage(text, text.index("bank"), text.index("bank") + 4)
        found = with_final_stop(usage)
        assert (found.text, found.start, found.end) == (stopped, usage.start, usage.end)


@given(st.text(max_size=20))
def test_adding_and_removing_a_stop(rest: str) -> None:
    """Removing undoes adding; both are without effect the second time; the target never changes."""
    usage = Usage(f"bank{rest}", 0, 4)
    stopped = with_final_stop(usage)
    assert with_final_stop(stopped) == stopped
    assert stopped == usage or without_final_stop(stopped) == usage
    assert without_final_stop(usage).target == stopped.target == "bank"


def test_a_stop_that_belongs_to_the_target_stays() -> None:
    """Removing the final stop may not cut the target, nor an ellipsis."""
    assert without_final_stop(Usage("In the U.S.", 7, 11)).text == "In the U.S."
    assert without_final_stop(Usage("A bank...", 2, 6)).text == "A bank..."


def test_views_by_name() -> None:
    """A view applies to all usages and keeps the item; an unknown view is an error that names the known ones."""
    item = Item("i", "d", (Usage("A bank", 2, 6), Usage("The bank.", 4, 8)), conditions={"same_sense": True})
    assert view_item(item, "full") == item
    assert [usage.text for usage in view_item(item, "full+final_stop").usages] == ["A bank.", "The bank."]
    with pytest.raises(SpecError, match=r"full\+final_stop"):
        view_usage(item.usages[0], "half")
