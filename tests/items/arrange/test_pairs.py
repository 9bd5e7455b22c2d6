"""Pairs from a stimulus list, the pairs that published sets share, and the sizes of a set of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from lexiscope.core.dataset import DataFile, SetAside
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import (
    Stimulus,
    checksums,
    enumerate_pairs,
    expect_counts,
    expect_set_aside,
    pair_item,
    sizes_of_pairs,
)
from lexiscope.items.read.importer import import_items
from lexiscope.resources.fetch import FetchedFile


def stimulus_ids(words_and_senses: Iterable[tuple[str, str]]) -> list[str]:
    """Return an id per sentence from its word and sense: a letter counts the sentences of a sense, in order."""
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for word, sense in words_and_senses:
        ids.append(f"{word}-{sense}{'abcdefghijklmnopqrstuvwxyz'[seen[word, sense]]}")
        seen[word, sense] += 1
    return ids


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
    assert Counter(item.condition("same_sense") for item in items) == {True: 2, False: 4}
    assert {item.word for item in items} == {"bank"}
    assert items[1].conditions == {"same_sense": False, "cue_1": "wet", "cue_2": "old"}


def test_a_sentence_without_sense_is_refused() -> None:
    """Same and different can only come from senses."""
    with pytest.raises(InputError, match="E406"):
        enumerate_pairs([stimulus("s", "wet", None)], dataset="d")


@pytest.mark.published
def test_saw_c_pairs_from_its_stimulus_list(published: Path) -> None:
    """SAW-C §3.1: 812 pairs of 102 words, 6 to 28 per word, mean 7.96; 241 of the same sense."""
    found = import_items(published / "sawc/sawc_stimlist.csv", dataset="saw_c", language="es")
    usages = [item.usages[0] for item in found.items]
    ids = stimulus_ids((usage.lemma or "", usage.sense or "") for usage in usages)
    pairs = enumerate_pairs([Stimulus(i, u) for i, u in zip(ids, usages, strict=True)], dataset="saw_c")
    per_word = Counter(item.word for item in pairs).values()
    assert (len(pairs), sum(item.condition("same_sense") is True for item in pairs), len(per_word)) == (812, 241, 102)
    assert (min(per_word), max(per_word), round(len(pairs) / len(per_word), 2)) == (6, 28, 7.96)


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


USAGE = Usage("A bank", 2, 6)


def test_an_item_of_a_set() -> None:
    """The set is what the id begins with; the split stands first among the conditions."""
    item = pair_item("wic/dev/00002", [USAGE, USAGE], gold=None, split="dev", conditions={"pos": "NOUN"})
    assert (item.dataset, item.gold, item.usages) == ("wic", None, (USAGE, USAGE))
    assert list(item.conditions.items()) == [("split", "dev"), ("pos", "NOUN")]


def test_counts_per_split() -> None:
    """A split with too few items, and one that should not be there, are named with both numbers."""
    items = [pair_item(f"wic/dev/{n}", [USAGE], gold="t", split="dev") for n in range(3)]
    expect_counts("wic", items, {"dev": 3})
    with pytest.raises(InputError, match="wic has 1,400 items in dev; these files hold 3"):
        expect_counts("wic", items, {"dev": 1_400})
    with pytest.raises(InputError, match="wic has 0 items in dev; these files hold 3"):
        expect_counts("wic", items, {})


def test_rows_that_are_no_items() -> None:
    """More or fewer rows than are known to be no items: both numbers, and where the first one stands."""
    rows = [SetAside("a.txt", 7, "no letters", ())]
    expect_set_aside("xl_wic", rows, 1)
    with pytest.raises(InputError, match=r"0 rows are known .* there are 1; the first is a\.txt, line 7: no letters"):
        expect_set_aside("xl_wic", rows, 0)
    with pytest.raises(InputError, match="46 rows are known to be no items; here there are 0"):
        expect_set_aside("xl_wic", [], 46)


def test_checksums() -> None:
    """Each file that was read, with what it hashes to."""
    assert checksums({DataFile("a.txt"): FetchedFile(Path("x"), "0f")}) == (("a.txt", "0f"),)
