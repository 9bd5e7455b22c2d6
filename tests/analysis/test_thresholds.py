"""Thresholds of other words: the best cut, decisions across folds, and what they are worth without any relation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from lexiscope.analysis.bootstrap import GroupLabels, group_codes, group_folds
from lexiscope.analysis.thresholds import best_threshold, held_out_accuracy
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined

rng = np.random.default_rng(20_260_101)
WORDS = GroupLabels([f"w{n // 5}" for n in range(120)], "words")
SAME = np.arange(120) % 2 == 0


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=1, max_size=30))
def test_no_threshold_is_better(rows: list[tuple[int, bool]]) -> None:
    """As many right answers as the best of all thresholds, tried one by one."""
    values, high = np.array([n / 10 for n, _ in rows]), np.array([flag for _, flag in rows])
    limit, right = best_threshold(values, high)
    tried = [*(n / 10 - 0.05 for n in range(-10, 11)), 2.0]
    assert right == max(int(((values >= each) == high).sum()) for each in tried)
    assert right == int(((values >= limit) == high).sum())


def test_values_that_differ_by_rounding_are_one() -> None:
    """Equal vectors of two batches differ by rounding: no threshold is put between them."""
    limit, right = best_threshold(np.array([1.0, 1.0 - 1e-8, 1.0 + 1e-8]), np.array([True, False, True]))
    assert (limit, right) == (-np.inf, 2)


def by_hand(distance: np.ndarray, same: np.ndarray, fold_of: np.ndarray) -> float:
    """Cut by cut and layer by layer, as the definition has it: lower distances are *same*."""
    right = []
    for fold in sorted(set(fold_of.tolist())):
        out = fold_of == fold
        areas = [roc_auc_score(same[~out], -distance[~out, layer]) for layer in range(distance.shape[1])]
        layer, best = int(np.argmax(areas)), (-1, 0.0)
        known = np.unique(distance[~out, layer])
        for cut in [np.inf, *((known[1:] + known[:-1]) / 2)[::-1], -np.inf]:
            hits = int(((distance[~out, layer] <= cut) == same[~out]).sum())
            best = max(best, (hits, float(cut)), key=lambda found: found[0])
        right += ((distance[out, layer] <= best[1]) == same[out]).tolist()
    return float(np.mean(right))


@pytest.mark.parametrize("signal", [0.0, 0.5, 2.0])
def test_the_decisions_are_those_of_the_definition(signal: float) -> None:
    """The layer of the largest area (scikit-learn's), its cuts tried one by one, each on the words of other folds."""
    distance = np.random.default_rng(3).normal(size=(120, 4)) - signal * SAME[:, None] * [0, 0, 1, 0]
    codes, n_groups = group_codes(WORDS, 120)
    dealt = [by_hand(distance, SAME, group_folds(codes, n_groups, folds=10, seed=seed)) for seed in (0, 1, 2)]
    found, chance = held_out_accuracy(distance, SAME, groups=WORDS, dealings=3)
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(np.mean(dealt), abs=1e-12)
    assert found.name == "accuracy(threshold=other_words,layer=other_words)"
    assert (found.n, found.n_groups, chance.value) == (120, 24, 0.5)
    assert found.interval.low < found.value < found.interval.high


def test_no_word_decides_on_itself() -> None:
    """A word whose items are far from all others, and right among themselves, gains nothing by its own items.

    With whole words held out no item's word is in the folds that decide on it, as in scikit-learn's ``GroupKFold``.
    """
    codes, n_groups = group_codes(WORDS, 120)
    fold_of = group_folds(codes, n_groups, folds=10, seed=0)
    for train, test in GroupKFold(10).split(np.zeros(120), groups=np.asarray(WORDS)):
        assert not set(codes[train]) & set(codes[test])
    for fold in range(10):
        assert not set(codes[fold_of == fold]) & set(codes[fold_of != fold])
    # two words of one item each, right only by a cut between them
    found, _ = held_out_accuracy([0.0, 1.0, 0.0, 1.0], [1, 0, 0, 1], groups=["a", "a", "b", "b"])
    assert isinstance(found, Estimate)
    # the cut of one word is wrong for both items of the other, or one answer is given to both
    assert found.value <= 0.5


def test_order_changes_nothing() -> None:
    """Items in another order, and words with other names in the same order, have the same result."""
    distance = rng.normal(size=(120, 3)) - SAME[:, None]
    order = rng.permutation(120)
    shuffled = GroupLabels([WORDS[place] for place in order], "words")
    first, _ = held_out_accuracy(distance, SAME, groups=WORDS)
    second, _ = held_out_accuracy(distance[order], SAME[order], groups=shuffled)
    assert isinstance(first, Estimate)
    assert isinstance(second, Estimate)
    assert (first.value, first.interval, first.note) == (second.value, second.interval, second.note)


def test_one_column_has_no_layer() -> None:
    """Scores without layers are named without one; a score of the other direction is given with its sign turned."""
    found, _ = held_out_accuracy(-np.where(SAME, 1.0, 0.0), SAME, groups=WORDS)
    assert isinstance(found, Estimate)
    assert (found.name, found.value, found.note) == ("accuracy(threshold=other_words)", 1.0, "")


def test_without_a_relation_it_is_chance_or_below() -> None:
    """Mean over 200 noise studies of 60 items: not above .5, since what fits noise fits no other noise."""
    same = np.arange(60) % 2 == 0
    words = GroupLabels([str(n // 4) for n in range(60)], "words")
    values = []
    for seed in range(200):
        distance = np.random.default_rng(seed).normal(size=(60, 5))
        found, _ = held_out_accuracy(distance, same, groups=words, dealings=2, resamples=0)
        assert isinstance(found, Estimate)
        values.append(found.value)
    assert 0.42 < np.mean(values) < 0.5 + 2 * np.std(values) / np.sqrt(200)


def test_what_cannot_be_decided() -> None:
    """One word: nothing can be held out, with the reason; chance is what one answer reaches. Bad input is refused."""
    found, chance = held_out_accuracy([0.1, 0.2, 0.3], [1, 0, 0], groups=["a", "a", "a"])
    assert isinstance(found, Undefined)
    assert found.reason == "all items are of one of the groups: none can be held out"
    assert chance.value == pytest.approx(2 / 3)
    with pytest.raises(StatisticError, match="one correct answer"):
        held_out_accuracy([0.1, 0.2], [1, 1])
    with pytest.raises(StatisticError, match="must go together"):
        held_out_accuracy([0.1, np.nan], [1, 0])
    with pytest.raises(StatisticError, match="must go together"):
        held_out_accuracy([0.1, 0.2, 0.3], [1, 0])
