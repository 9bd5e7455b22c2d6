"""What a model reaches: the layer of other words, thresholds, choices, and the resamples of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.attainable.reached import (
    choices_reached,
    correlation_reached,
    decisions_reached,
    layer_range,
    separation_reached,
)
from lexiscope.analysis.attainable.word_draws import word_draws
from lexiscope.analysis.thresholds import held_out_accuracy
from lexiscope.core.errors import StatisticError

from .simulated_shares import rated, true_scores

WORDS = [f"w{k // 4}" for k in range(120)]


def test_one_layer_that_is_best_everywhere_is_used_as_it_is() -> None:
    """Its rho is that of all items: nothing is pooled, no tie is broken."""
    generator = np.random.default_rng(1)
    people = rated(generator, true_scores(generator, 30), 8, resamples=100)
    good = np.round(people.norm + generator.normal(0, 0.3, len(people.norm)), 1)
    layers = np.column_stack([generator.normal(size=len(good)), good])
    reached = correlation_reached(layers, people, layers=(0, 1))
    assert reached.value == pytest.approx(stats.spearmanr(good, people.norm)[0])
    assert reached.note == "chosen in the folds: layer 1 in 50 of 50"
    assert [value for _, value in reached.layers] == pytest.approx(
        [stats.spearmanr(column, people.norm)[0] for column in layers.T]
    )


def test_a_layer_chosen_on_other_words_is_no_better_than_chance_on_noise() -> None:
    """Of 12 layers of noise the best looks like .2; chosen on other words, the mean over studies is about 0."""
    values, highest = [], []
    for seed in range(30):
        generator = np.random.default_rng(seed)
        people = rated(generator, true_scores(generator, 30), 6, resamples=20)
        reached = correlation_reached(generator.normal(size=(len(people.norm), 12)), people, layers=range(12))
        values.append(reached.value)
        highest.append(max(value for _, value in reached.layers))
    assert abs(np.mean(values)) < 0.04
    assert np.mean(highest) > 0.12


def test_an_item_without_an_answer_is_left_out() -> None:
    """Also where it lacks one layer only; the number of items says so."""
    generator = np.random.default_rng(2)
    people = rated(generator, true_scores(generator, 20), 6, resamples=50)
    answers = people.norm + generator.normal(size=len(people.norm))
    answers[:7] = np.nan
    reached = correlation_reached(answers, people)
    assert reached.n == len(answers) - 7
    assert reached.value == pytest.approx(stats.spearmanr(answers[7:], people.norm[7:])[0])
    assert len(reached.without) == 6


def test_separation_is_the_share_of_pairs_in_order() -> None:
    """AUC by counting pairs; its resamples count a word as often as it is drawn."""
    generator = np.random.default_rng(3)
    right = generator.random(120) < 0.5
    answers = right + generator.normal(size=120)
    draws = word_draws(WORDS, resamples=30)
    reached = separation_reached(answers, right, draws)
    assert reached.value == pytest.approx((answers[right][:, None] > answers[~right]).mean())
    times = draws.counts[0, draws.codes]
    drawn, truth = np.repeat(answers, times), np.repeat(right, times)
    assert reached.draws[0] == pytest.approx((drawn[truth][:, None] > drawn[~truth]).mean())
    with pytest.raises(StatisticError, match="one correct answer"):
        separation_reached(answers, np.ones(120, dtype=bool), draws)


def test_decisions_are_those_of_the_threshold_of_other_words() -> None:
    """The share is that of ``held_out_accuracy``, the mean of the resamples is put on it."""
    generator = np.random.default_rng(4)
    right = generator.random(120) < 0.5
    answers = np.column_stack([generator.normal(size=120), 2 * right + generator.normal(size=120)])
    reached = decisions_reached(answers, right, word_draws(WORDS, resamples=40), layers=(0, 1))
    estimate, _ = held_out_accuracy(-answers, right, groups=WORDS, resamples=0)
    assert reached.value == pytest.approx(estimate.value)  # type: ignore[union-attr]
    assert reached.draws.mean() == pytest.approx(reached.value)
    assert [layer for layer, _ in reached.layers] == [0, 1]


def test_choices_are_counted_by_item() -> None:
    """The share of right choices; in a resample, of the items of the words drawn."""
    generator = np.random.default_rng(5)
    hits = (generator.random(120) < 0.7).astype(float)
    draws = word_draws(WORDS, resamples=30)
    reached = choices_reached(hits, draws)
    assert reached.value == pytest.approx(hits.mean())
    assert reached.draws[1] == pytest.approx(np.average(hits, weights=draws.counts[1, draws.codes]))
    layered = choices_reached(np.column_stack([1 - hits, hits]), draws, layers=(0, 1))
    assert layered.value == pytest.approx(hits.mean())
    assert layer_range(layered) is None


def test_the_weights_of_words() -> None:
    """Poisson with mean 1 and variance 1, the same for a word whatever stands beside it, others under another seed."""
    draws = word_draws([f"w{k}" for k in range(300)], resamples=1000)
    assert draws.counts.mean() == pytest.approx(1, abs=0.01)
    assert draws.counts.var() == pytest.approx(1, abs=0.02)
    alone = word_draws(["w7", "x", "w7"], resamples=1000)
    names = sorted(f"w{k}" for k in range(300))
    assert (alone.counts[:, 0] == draws.counts[:, names.index("w7")]).all()
    assert (word_draws(["w7", "x"], resamples=1000, seed=1).counts[:, 0] != alone.counts[:, 0]).any()
    assert (word_draws(["w7", "x"], resamples=10).counts == alone.counts[:10]).all()


def test_resamples_of_words_have_the_variance_of_the_bootstrap() -> None:
    """The standard error of a mean over words is that of resamples of exactly as many words."""
    generator = np.random.default_rng(6)
    values = generator.normal(size=200)
    reached = choices_reached((values > 0).astype(float), word_draws([f"w{k}" for k in range(200)]))
    exact = np.sqrt((values > 0).var() / 200)
    assert reached.draws.std() == pytest.approx(exact, rel=0.05)
