"""The tests of contamination: they reject a true null hypothesis as rarely as they say, and find what is there."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.norming.contamination import follows_order, order_advantage, verbatim_continuations
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost, Contrast


def test_of_1000_models_that_have_not_read_the_file_one_in_twenty_has_a_p_below_05() -> None:
    """Exchangeable orders, log-probabilities with long tails and shards of unequal spread: p ≤ .05 in 5 % of draws."""
    rng = np.random.default_rng(3)
    rejected = held = 0
    for study in range(1000):
        table = rng.standard_t(2, (8, 11)) * rng.uniform(0.1, 5, (8, 1)) - 100
        result = order_advantage(table, draws=199, seed=study)
        rejected += result.p is not None and result.p <= 0.05
        held += result.interval.low <= 0 <= result.interval.high
    # three standard errors of a share of 1,000
    assert 0.05 - 0.021 < rejected / 1000 < 0.05 + 0.021
    # Student's interval is cautious with long tails
    assert held / 1000 > 0.95 - 0.021


def test_a_preferred_order_is_found_and_measured() -> None:
    """A published order that is 5 nats more probable: its advantage is 5, and p is at the floor of its draws."""
    rng = np.random.default_rng(4)
    table = rng.normal(0, 1, (12, 11))
    table[:, 0] += 5
    result = order_advantage(table, seed=1)
    assert result.value == pytest.approx(table[:, 0].mean() - table[:, 1:].mean())
    assert result.interval.low > 4
    assert isinstance(result.p, AtMost)
    assert result.p == 1 / 10_000
    worse = order_advantage(-table, seed=1)
    assert worse.p is not None
    assert worse.p > 0.99  # one-sided: an order that is less probable is no sign of having been read


def test_orders_that_are_equally_probable_have_a_p_of_1() -> None:
    """A model that sees no order gives all orders one probability: there is no evidence."""
    assert order_advantage(np.full((4, 11), -0.1)).p == 1


def test_what_cannot_be_tested() -> None:
    """Two shards, log-probabilities that are not finite, few continuations: each is an error with the reason."""
    with pytest.raises(StatisticError, match="needs 3 shards"):
        order_advantage(np.zeros((2, 11)))
    with pytest.raises(StatisticError, match="not finite"):
        order_advantage(np.full((4, 3), -np.inf))
    with pytest.raises(StatisticError, match="needs 8 continuations, not 7"):
        verbatim_continuations([True] * 7, [False] * 7)


def test_continuations_are_compared_with_those_of_other_items() -> None:
    """Newcombe's interval of 9 and 2 of 20 has the ends that its formula gives; no difference at all has p = 1."""
    hits, others = np.arange(20) < 9, np.arange(20) >= 18
    first, second, gap = verbatim_continuations(hits.tolist(), others.tolist())
    assert isinstance(gap, Contrast)
    low = np.hypot(first.value - first.interval.low, second.interval.high - second.value)
    assert gap.interval.low == pytest.approx(7 / 20 - low)
    assert gap.p == pytest.approx(2 * (1 + 11 + 55) / 2**11)  # 9 against 2 of the 11 that differ
    assert verbatim_continuations([False] * 8, [False] * 8)[2].p == 1


def test_a_sorted_or_clustered_file_is_not_in_one_of_many_orders() -> None:
    """Sorted words and clustered labels are found within shards; random ones are found in 5 % of the draws."""
    rng = np.random.default_rng(7)
    shards = np.repeat(np.arange(8), 6)
    words = [f"word{number:02}" for number in range(48)]
    classes = [("noun", "verb")[number % 6 >= 3] for number in range(48)]
    assert max(follows_order([words, classes], shards.tolist(), draws=499)) < 0.01
    found = [
        follows_order([rng.permutation(words).tolist()], shards.tolist(), draws=99, seed=study)[0]
        for study in range(400)
    ]
    assert 0.05 - 0.033 < np.mean(np.array(found) <= 0.05) < 0.05 + 0.033
