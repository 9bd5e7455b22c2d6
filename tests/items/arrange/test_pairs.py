"""Pairs from a stimulus list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.pairs import Stimulus, enumerate_pairs
from lexiscope.items.read.importer import import_items


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
