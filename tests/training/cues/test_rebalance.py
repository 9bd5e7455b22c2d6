"""Adversarial filtering on planted items: what goes is what a part tells, and then the part tells nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core.item import Item
from lexiscope.training.cues.rebalance import ALL, KEPT, N_RANDOM, RANDOM, judge_rebalancing, rebalance
from lexiscope.training.view_learners import Floats


def test_what_goes_is_what_the_context_tells() -> None:
    """Four of ten contexts tell the answer: nearly all that goes is of these, as many of each answer, and at the end
    the context is not above LABEL. A set without a leak loses nothing."""
    leaking = planted_items(Dials(0.4, 0.0, n_words=12, splits=(("test", 160),)))
    result = rebalance(leaking, resamples=200, seed=1)
    assert result.reached
    assert result.above[0]["context"][1] > 0 >= result.above[-1]["context"][1]
    told = [bool(item.conditions["context_tells"]) for item in result.removed]
    assert sum(told) > 0.8 * len(told) > 0
    golds = [item.gold for item in result.removed]
    assert golds.count("t") == golds.count("f")
    assert sorted(item.item_id for item in (*result.kept, *result.removed)) == sorted(item.item_id for item in leaking)
    mute = planted_items(Dials(0.0, 0.0, n_words=12, splits=(("test", 80),)))
    assert not rebalance(mute, resamples=200, seed=1).removed


def told_answer(items: Sequence[Item], _further: Sequence[Item], view: str) -> Floats:
    """A learner that is told the answer in CONTEXT if the context tells it, and else and elsewhere nothing."""
    told = [view == "context" and bool(item.conditions["context_tells"]) for item in items]
    return np.array([[(1.0 if item.gold == "t" else -1.0) * tells] for item, tells in zip(items, told, strict=True)])


def test_what_is_left_is_judged_by_who_did_not_choose() -> None:
    """Of the kept items of both halves the oracle above has those right whose context tells: counted by hand from the
    plan of the set. Random removal takes as many of each answer, and no item is lost or answered twice."""
    items = planted_items(Dials(0.7, 0.0, n_words=8, splits=(("test", 60),)))
    judged = judge_rebalancing(items, {"oracle": told_answer}, resamples=50, seed=1)
    gone = {item.item_id for half in judged.halves for item in half.removed}
    assert gone
    assert sorted(item.item_id for half in judged.halves for item in (*half.kept, *half.removed)) == sorted(
        item.item_id for item in items
    )
    left = {ALL: list(items), KEPT: [item for item in items if item.item_id not in gone]}
    for name, own in left.items():
        right = np.asarray(judged.scores["oracle"][name]["context"].values)
        tells = np.array([bool(item.conditions["context_tells"]) for item in own])
        assert len(right) == len(own)
        assert right[tells].all()
        assert list(np.asarray(judged.scores["oracle"][name]["context"].words)) == [item.word for item in own]
    random = judged.scores["oracle"][RANDOM]["label"]
    assert len(np.asarray(random.values)) == N_RANDOM * len(left[KEPT])
    by_answer = Counter(str(item.gold) for item in items if item.item_id in gone)
    assert by_answer["t"] == by_answer["f"]
    lowest, highest = judged.ranges["oracle", "context"]
    above = np.asarray(judged.scores["oracle"][RANDOM]["context"].values).mean() - np.asarray(random.values).mean()
    assert lowest <= above <= highest
    assert lowest < highest
