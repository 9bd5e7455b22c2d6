"""The allocation: exact probabilities, unbiased estimates from unequal ones, waves, and the stopping rule."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.norming.allocation import (
    StoppingRule,
    allocate,
    sampling_probabilities,
    weighted_mean,
)
from lexiscope.core.errors import StatisticError


def test_probabilities_follow_the_uncertainty_and_sum_to_the_sample() -> None:
    """Half of the probability is even, half in proportion; no item exceeds 1, and what is over goes to the others."""
    rng = np.random.default_rng(1)
    uncertain = rng.exponential(size=50) ** 3
    own = sampling_probabilities(uncertain, 20)
    assert own.sum() == pytest.approx(20)
    assert own.max() == 1
    free = own < 1
    share = 0.5 / 50 + 0.5 * uncertain / uncertain.sum()
    assert own[free] == pytest.approx(share[free] * (20 - (~free).sum()) / share[free].sum())
    with pytest.raises(StatisticError, match="cannot rate 51 of 50"):
        sampling_probabilities(uncertain, 51)


def test_each_item_is_drawn_with_its_probability() -> None:
    """Over many seeds, the share of samples with an item is its probability, also after the first wave."""
    uncertain = np.arange(12.0)
    plans = [allocate(uncertain, 6, waves=2, seed=seed) for seed in range(1500)]
    drawn = np.mean([plan.wave > 0 for plan in plans], axis=0)
    first = np.mean([plan.wave == 1 for plan in plans], axis=0)
    assert {plan.n for plan in plans} == {6}
    assert drawn == pytest.approx(plans[0].probability, abs=0.045)
    assert first == pytest.approx(plans[0].probability_after(1), abs=0.045)


def coverage(draws: int, *, tuned: bool) -> tuple[float, float, float]:
    """The bias of the weighted mean in its standard errors, the share of intervals that hold the truth, and its spread
    over that of an even sample of the same size."""
    rng = np.random.default_rng(5)
    spread = rng.exponential(size=300) + 0.1
    y = rng.normal(2, 1, 300) + spread * rng.normal(size=300)
    f = y + spread * rng.normal(size=300)
    truth, values, held, even = float(y.mean()), [], [], []
    for seed in range(draws):
        plan = allocate(spread, 60, seed=seed)
        rows = plan.wave > 0
        estimate = weighted_mean(y[rows], f[rows], plan.probability[rows], f, tuning=None if tuned else 1.0)
        values.append(estimate.value)
        held.append(estimate.interval.low <= truth <= estimate.interval.high)
        same = rng.choice(300, 60, replace=False)
        even.append(f.mean() + (y[same] - f[same]).mean())
    bias = (np.mean(values) - truth) / (np.std(values) / np.sqrt(draws))
    return float(bias), float(np.mean(held)), float(np.std(values) / np.std(even))


def test_the_weighted_mean_is_unbiased_and_narrower_than_an_even_sample() -> None:
    """Of 400 samples: bias below 3 standard errors, intervals hold the truth in 91 % or more, spread below that of an
    even sample, because people are sent where the model errs."""
    bias, held, ratio = coverage(400, tuned=False)
    assert abs(bias) < 3
    assert held >= 0.91
    assert ratio < 0.95


@pytest.mark.soak
@pytest.mark.parametrize("tuned", [False, True])
def test_intervals_of_the_weighted_mean_hold_the_truth(tuned: bool) -> None:
    """Of 4,000 samples, 93 to 97 % hold the truth, and the bias is below 3 standard errors if λ is fixed."""
    bias, held, ratio = coverage(4000, tuned=tuned)
    assert 0.93 <= held <= 0.97, f"{100 * held:.1f} %, bias {bias:.1f} SE, spread {ratio:.2f} of an even sample"
    assert tuned or abs(bias) < 3


def test_a_sample_of_all_items_has_no_error_and_a_rule_stops() -> None:
    """If each item is certain, the mean is that of people; the rule looks at the width, or at the last wave."""
    y, f = np.arange(10.0), np.ones(10)
    whole = weighted_mean(y, f, np.ones(10), f, tuning=1.0)
    assert whole.value == pytest.approx(4.5)
    assert whole.interval.low == whole.interval.high
    rule = StoppingRule(0.5, 3)
    assert rule.is_met(whole, 1)
    wide = weighted_mean(y, f, np.full(10, 0.2), np.ones(50), tuning=1.0)
    assert not rule.is_met(wide, 2)
    assert rule.is_met(wide, 3)
    with pytest.raises(StatisticError, match="not between 0 and 1"):
        weighted_mean(y, f, np.zeros(10), f)
