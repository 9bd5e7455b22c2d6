"""Adversarial filtering on planted items: what goes is what a part tells, and then the part tells nothing."""

from __future__ import annotations

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.training.cues.rebalance import rebalance


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
