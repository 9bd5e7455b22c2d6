"""Shares of the attainable: the two variances, families, and how often intervals hold a known truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.attainable.reached import Reached, correlation_reached
from lexiscope.analysis.attainable.shares import Ceiling, mean_share, share_of
from lexiscope.analysis.attainable.word_draws import word_draws
from lexiscope.core.errors import StatisticError

from .simulated_shares import NOISE, attainable, in_order, layers_of, rated, share_in_study, true_scores


def test_a_share_is_the_model_over_the_ceiling_in_each_resample() -> None:
    """Words: the standard deviation of the shares of the resamples. Raters: the jackknife of the share."""
    generator = np.random.default_rng(5)
    score = true_scores(generator, 30)
    people = rated(generator, score, 8, resamples=300)
    answers = in_order(people, layers_of(generator, score)[:, 3])
    reached, ceiling = correlation_reached(answers, people), attainable(people)
    share = share_of(reached, ceiling)
    assert share.value == pytest.approx(stats.spearmanr(answers, people.norm)[0] / ceiling.value)
    assert share.draws == pytest.approx(reached.draws / people.ceiling_draws("attainable"), nan_ok=True)
    without = [stats.spearmanr(answers, norm, nan_policy="omit")[0] for norm in people.norms_without] / np.sqrt(
        people.without
    )
    jackknife = 7 / 8 * ((without - without.mean()) ** 2).sum()
    assert sum(part**2 for part in share.deviations.values()) == pytest.approx(jackknife)
    words = np.var(share.draws, ddof=1) * 30 / 29
    freedom = (words + jackknife) ** 2 / (words**2 / 29 + jackknife**2 / 7)
    assert share.high - share.value == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(words + jackknife))


def test_a_share_may_exceed_one_and_a_printed_ceiling_has_no_error() -> None:
    """(.9 − .5) / (.8 − .5) = 4 / 3, its resamples those of the model alone."""
    draws = np.random.default_rng(1).normal(0.9, 0.02, 500)
    share = share_of(Reached(0.9, draws, 100, 50), Ceiling(0.8), chance=0.5)
    assert share.value == pytest.approx(4 / 3)
    assert share.draws == pytest.approx((draws - 0.5) / 0.3)
    with pytest.raises(StatisticError, match="not higher than chance"):
        share_of(Reached(0.9, draws, 100, 50), Ceiling(0.5), chance=0.5)


def test_the_mean_of_lines_knows_what_they_share() -> None:
    """Two lines of the same words and raters are as uncertain as one; of others, by √2 less."""
    generator = np.random.default_rng(2)
    draws = generator.normal(0.5, 0.1, (2, 4000))
    one, other = (share_of(Reached(0.5, column, 100, 4000), Ceiling(1.0)) for column in draws)
    same, apart = mean_share([one, one]), mean_share([one, other])
    assert same.high - same.low == pytest.approx(one.high - one.low)
    assert (apart.high - apart.low) * np.sqrt(2) == pytest.approx(one.high - one.low, rel=0.03)


def test_two_lines_share_a_word() -> None:
    """The resamples of a word are the same in both lines: their shares vary together where their words are the same."""
    generator = np.random.default_rng(4)
    score = true_scores(generator, 40)
    first, second = (rated(generator, score, 12, resamples=2000) for _ in range(2))
    answers = layers_of(generator, score)[:, 3]
    draws = [correlation_reached(in_order(people, answers), people).draws for people in (first, second)]
    assert np.corrcoef(*draws)[0, 1] > 0.7
    renamed = [f"other {int(item) // 4}" for item in second.items]
    others = replace(second, draws=word_draws(renamed, resamples=2000))
    assert abs(np.corrcoef(draws[0], correlation_reached(in_order(second, answers), others).draws)[0, 1]) < 0.1


def test_intervals_hold_the_truth_in_a_few_studies() -> None:
    """24 studies of 30 words and 8 persons: at least 20 intervals hold the share of the best layer."""
    generator = np.random.default_rng(99)
    score = true_scores(generator, 20_000)
    truth = stats.spearmanr(layers_of(generator, score)[:, int(np.argmin(NOISE))], score)[0]
    shares = [share_in_study(seed, words=30, raters=8, resamples=100) for seed in range(24)]
    assert sum(share.low <= truth <= share.high for share in shares) >= 20


@pytest.mark.soak
def test_intervals_cover() -> None:
    """1,000 studies of 60 words and 12 persons: the interval of a share holds the truth in at least 93 % of them."""
    generator = np.random.default_rng(99)
    score = true_scores(generator, 60_000)
    truth = stats.spearmanr(layers_of(generator, score)[:, int(np.argmin(NOISE))], score)[0]
    shares = [share_in_study(seed) for seed in range(1000)]
    assert np.mean([share.low <= truth <= share.high for share in shares]) >= 0.93
