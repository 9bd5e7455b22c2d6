"""Word-intrusion items from vectors: the rules hold for every item, and what fails is listed with its reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.build.sense_tests.intrusion import (
    ONE_SENSE,
    UNKNOWN,
    IntrusionRules,
    build_intrusion,
    neighbours_of_words,
)
from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.multi_sense import MultiSense
from lexiscope.senses.induced_senses import InducedSenses, senses_of_import
from lexiscope.senses.near_words import word_counts_of
from lexiscope.tasks.word_intrusion import SCREEN

from ...items.made_senses import TARGETS, made_senses


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1.5, 2.0, 4.0]), st.sampled_from([20, 60, 500]))
def test_every_item_keeps_to_the_rules(seed: int, band: float, depth: int) -> None:
    """G14: the ten words are the sense's ten nearest but one; the intruder is about as frequent as the word, near
    another sense of it, and none of the sense's own neighbours; three differ for each sense."""
    senses = made_senses(seed=seed)
    counts, rules = word_counts_of(senses), IntrusionRules(band=band, depth=depth, apart=20, match="word")
    near = neighbours_of_words(senses, TARGETS, depth)
    built = build_intrusion(senses, TARGETS, dataset="d", seed=seed, rules=rules)
    by_sense: dict[tuple[str, str], list[str]] = {}
    for item in built.items:
        SCREEN.check(item)
        word, sense, gold = str(item.condition("word")), str(item.condition("sense")), str(item.gold)
        own = next(each.neighbours for each in near[word] if each.sense == sense)
        others = [each.neighbours for each in near[word] if each.sense == item.condition("intruder_from")]
        assert set(item.options) == {*own[:10], gold} - {item.condition("replaced")}
        assert gold not in own[:20]
        assert own.index(gold) + 1 > int(item.condition("intruder_rank")) if gold in own else True
        assert gold != word
        assert others[0][int(item.condition("intruder_rank")) - 1] == gold
        assert 1 / band <= counts[gold] / counts[word] <= band
        by_sense.setdefault((word, sense), []).append(gold)
    assert all(len(set(found)) == len(found) == 3 for found in by_sense.values())
    missing = {(each.word, each.sense) for each in built.excluded}
    assert missing | set(by_sense) == {(word, str(k)) for word in TARGETS for k in (1, 2, 3)}
    assert not missing & set(by_sense)


def test_what_cannot_be_built_is_listed() -> None:
    """A word out of the vocabulary, one with one sense, and senses that too few words could disturb."""
    senses = made_senses(pruned={"bolt": 1})
    built = build_intrusion(senses, ["bank", "toad", "bolt"], dataset="d", seed=1)
    assert {(each.word, each.why) for each in built.excluded} >= {("toad", UNKNOWN), ("bolt", ONE_SENSE)}
    narrow = build_intrusion(senses, ["bank"], dataset="d", seed=1, rules=IntrusionRules(band=1.0, match="word"))
    assert narrow.items == ()
    assert [each.sense for each in narrow.excluded] == ["1", "2", "3"]
    assert "words can be its intruder, 3 are wanted" in narrow.excluded[0].why


def test_a_seed_fixes_the_items_whatever_words_stand_beside() -> None:
    """The same seed gives the same items, another one others; leaving words out changes no other word's items."""
    senses = made_senses()
    whole = build_intrusion(senses, TARGETS, dataset="d", seed=1)
    assert build_intrusion(senses, TARGETS, dataset="d", seed=1) == whole
    assert build_intrusion(senses, TARGETS, dataset="d", seed=2) != whole
    some = build_intrusion(senses, TARGETS[2:4], dataset="d", seed=1)
    assert some.items == tuple(item for item in whole.items if item.condition("word") in TARGETS[2:4])


def test_the_size_of_a_page_is_a_parameter() -> None:
    """The cited study has five words with one intruder, this one ten: both are made."""
    items = build_intrusion(
        made_senses(), ["bank"], dataset="d", seed=1, rules=IntrusionRules(n_words=5, n_intruders=1)
    ).items
    assert {len(item.options) for item in items} == {5}
    assert len(items) == 3


def test_vectors_without_counts_take_given_frequencies() -> None:
    """Imported vectors do not say how often words occurred: a table does; without one they are refused."""
    senses = made_senses()
    starts = np.append(senses.starts, [])
    bare = senses_of_import(MultiSense(senses.words, starts.astype(np.int64), senses.vectors(range(len(senses.rows)))))
    with pytest.raises(InputError, match="do not say how often"):
        build_intrusion(bare, ["bank"], dataset="d", seed=1)
    found = build_intrusion(bare, ["bank"], dataset="d", seed=1, frequencies=word_counts_of(senses))
    assert found == build_intrusion(senses, ["bank"], dataset="d", seed=1)


def test_rules_that_cannot_hold_are_refused() -> None:
    """Each names the rules as they were given."""
    senses: InducedSenses = made_senses()
    for broken in (
        IntrusionRules(band=0.5),
        IntrusionRules(band=float("inf")),
        IntrusionRules(band=float("nan")),
        IntrusionRules(n_words=2),
        IntrusionRules(pool=2),
        IntrusionRules(depth=9),
    ):
        with pytest.raises(InputError, match="needs"):
            build_intrusion(senses, ["bank"], dataset="d", seed=1, rules=broken)
    with pytest.raises(InputError, match="'bank' is given twice"):
        build_intrusion(senses, ["bank", "bar", "bank"], dataset="d", seed=1)
