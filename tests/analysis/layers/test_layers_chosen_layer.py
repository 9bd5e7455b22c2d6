"""The best layer is chosen on the items that it is scored on: the estimate that allows for it, on made layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from lexiscope.analysis.bootstrap import group_codes, group_folds, resample_counts
from lexiscope.analysis.correlation import Kind, sound_draws
from lexiscope.analysis.layers.layers import (
    at_chosen_layer,
    correlations_by_layer,
    difference_at_chosen_layers,
    held_out_predictor,
)
from lexiscope.core.result import Curve, Curves, Estimate, Interval, Undefined

Floats = NDArray[np.float64]
LAYERS, WORDS, PER_WORD = 25, 40, 4


def study(signal: float, seed: int, layers: int = LAYERS) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Ratings of words' items, and layers that each hold a share *signal* of them, the rest their own noise."""
    dice, word = np.random.default_rng(seed), np.repeat(np.arange(WORDS), PER_WORD)
    ratings = 0.5 * dice.normal(size=WORDS)[word] + dice.normal(size=len(word))
    noise = 0.5 * dice.normal(size=(WORDS, layers))[word] + dice.normal(size=(len(word), layers))
    return signal * ratings[:, None] + np.sqrt(1 - signal**2) * noise, ratings, word


def curve_of(signal: float, seed: int, **more: Any) -> Curve:
    """The curve of one simulated study, with 100 resamples."""
    columns, ratings, word = study(signal, seed)
    how: dict[str, Any] = {"kind": "spearman", "groups": word, "resamples": 100, "choice": True} | more
    return correlations_by_layer(columns, ratings, **how)


def best_and_chosen(curve: Curve) -> tuple[float, Estimate]:
    """The value at the best layer, and the estimate that allows for its choice."""
    assert isinstance(curve.chosen, Estimate)
    return float(curve.best_value().value or 0), curve.chosen


def test_noise_has_a_best_layer_and_no_relation() -> None:
    """25 layers of noise: the highest rho is far from 0 in every study; corrected, it is 0 on average, and covers 0."""
    both = [best_and_chosen(curve_of(0.0, seed)) for seed in range(20)]
    assert min(best for best, _ in both) > 0.08
    assert abs(np.mean([chosen.value for _, chosen in both])) < 0.03
    assert sum(chosen.interval.low <= 0 <= chosen.interval.high for _, chosen in both) >= 19


def test_a_strong_relation_stays() -> None:
    """Layers that follow the ratings: the estimate is at most .08 lower, its interval holds the population's rho."""
    many = [study(0.8, seed, 1) for seed in range(99, 160)]
    truth = spearmanr(
        np.concatenate([part[0][:, 0] for part in many]), np.concatenate([part[1] for part in many])
    ).statistic
    for seed in range(5):
        best, chosen = best_and_chosen(curve_of(0.8, seed))
        assert best - 0.08 < chosen.value < best
        assert chosen.interval.low <= truth <= chosen.interval.high


@pytest.mark.soak
def test_the_interval_covers() -> None:
    """300 studies of equally good layers, R²: the interval of the highest covers in under 75 %, this one in 93.5 %."""
    covered, naive, values = 0, 0, list[tuple[float, float]]()
    truth = 0.37**2
    for seed in range(300):
        curve = curve_of(0.37, seed, kind="r_squared", resamples=200)
        value, estimate = best_and_chosen(curve)
        bounds = curve.best_value().interval
        assert bounds is not None
        naive += bounds.low <= truth <= bounds.high
        covered += estimate.interval.low <= truth <= estimate.interval.high
        values.append((value, estimate.value))
    assert naive / 300 < 0.75
    assert covered / 300 > 0.935
    best, chosen = np.mean(values, axis=0)
    assert best > truth + 0.08
    assert chosen == pytest.approx(truth, abs=0.02)


def test_it_is_the_mean_over_words_left_out() -> None:
    """By hand: in each resample, choose on the words drawn, correlate the words left out (scipy), take the mean.

    What a layer has on few words compared with all words, chosen or not, is taken out.
    """
    columns, ratings, word = study(0.2, 7, layers=4)
    (counts,) = resample_counts(WORDS, resamples=40, seed=3)
    chosen, left_out, spread = [], [], []
    for drawn in counts:
        rows = np.concatenate([np.flatnonzero(word == w).repeat(n) for w, n in enumerate(drawn)])
        chosen.append(int(np.argmax([spearmanr(column[rows], ratings[rows]).statistic for column in columns.T])))
        left = drawn[word] == 0
        left_out.append([spearmanr(column[left], ratings[left]).statistic for column in columns.T])
        m = int((drawn == 0).sum())
        spread.append(np.sqrt(m / (WORDS - m)))
    every = np.array([spearmanr(column, ratings).statistic for column in columns.T])
    found = (np.array(left_out) - np.mean(left_out, axis=0) + every)[np.arange(40), chosen]
    made = at_chosen_layer(columns, ratings, kind="spearman", groups=word, resamples=40, seed=3)
    assert isinstance(made, Estimate)
    assert made.value == pytest.approx(np.mean(found), abs=1e-12)
    ends = np.mean(found) + (found - np.mean(found)) * spread
    assert (made.interval.low, made.interval.high) == pytest.approx(np.quantile(ends, (0.025, 0.975)), abs=1e-12)
    assert made.interval.method == "bootstrap(method=left_out_words,resampled=groups,level=0.95,resamples=40)"
    assert made.name == "spearman(layer=chosen)"


@pytest.mark.parametrize("kind", ["spearman", "pearson", "r_squared"])
def test_signs_and_kinds(kind: Kind) -> None:
    """Distances, of which the lowest is best, give the mirror image; of R² the sign is none; 0 at the least."""
    columns, ratings, word = study(0.5, 1, layers=5)
    how: dict[str, Any] = {"kind": kind, "groups": word, "resamples": 50, "choice": True}
    up = correlations_by_layer(columns, ratings, **how).chosen
    down = correlations_by_layer(-columns, ratings, **how, better="higher" if kind == "r_squared" else "lower").chosen
    assert isinstance(up, Estimate)
    assert isinstance(down, Estimate)
    sign = 1 if kind == "r_squared" else -1
    assert down.value == pytest.approx(sign * up.value, abs=1e-12)
    noise = correlations_by_layer(*study(0.0, 2)[:2], **how | {"groups": word, "kind": "r_squared"}).chosen
    assert isinstance(noise, Estimate)
    assert noise.value < 0.02
    assert noise.interval.low == 0


def test_what_has_no_value_says_why() -> None:
    """Constant layers are never chosen; two words, or no resamples, leave it undefined; one layer has no choice."""
    columns, ratings, word = study(0.5, 1, layers=3)
    columns[:, 0] = 0.5
    curve = correlations_by_layer(columns, ratings, kind="pearson", groups=word, resamples=50, choice=True)
    assert curve.values[0].value is None
    assert isinstance(curve.chosen, Estimate)
    assert "layer 0" not in curve.chosen.note
    two = correlations_by_layer(
        columns[:4], ratings[:4], kind="pearson", groups=[1, 1, 2, 2], resamples=50, choice=True
    )
    assert isinstance(two.chosen, Undefined)
    assert two.chosen.reason == "in 50 of 50 resamples the correlation of the excluded words is undefined"
    none = correlations_by_layer(columns, ratings, kind="pearson", groups=word, resamples=0, choice=True)
    assert none.chosen == Undefined("pearson(layer=chosen)", "nothing was resampled", len(ratings))
    assert correlations_by_layer(columns[:, :2], ratings, kind="pearson", resamples=9, choice=True).chosen is None


def test_draws_that_are_there_are_not_drawn_again() -> None:
    """With the draws of the layers' own intervals the estimate is the same."""
    columns, ratings, word = study(0.3, 4, layers=4)
    draws = sound_draws(columns, ratings, kind="spearman", groups=word, resamples=60, seed=2)
    how: dict[str, Any] = {"kind": "spearman", "groups": word, "resamples": 60, "seed": 2}
    assert at_chosen_layer(columns, ratings, draws=draws, **how) == at_chosen_layer(columns, ratings, **how)


def test_a_curve_says_it_everywhere() -> None:
    """In its records, its sentence, its row in a table; what is said of the curve is said of it."""
    curve = curve_of(0.5, 1, name="spearman(with=norms)").about(subject="m", unit="correlation", dataset="d")
    assert isinstance(curve.chosen, Estimate)
    assert (curve.chosen.subject, curve.chosen.dataset, curve.chosen.unit) == ("m", "d", "correlation")
    *_, best, chosen = curve.records()
    assert (best.statistic, chosen.statistic) == ("best_layer(by=spearman)", "spearman(with=norms,layer=chosen)")
    assert (chosen.value, chosen.layer, chosen.low) == (curve.chosen.value, None, curve.chosen.interval.low)
    assert chosen.note.startswith("chosen in the resamples: layer ")
    said = f"{curve.chosen.value:.2f}".lstrip("0")
    assert f" Allowing for the choice of the layer on the same items, it is {said}, 95% CI [" in curve.sentence()
    assert "Spearman correlation with the norms at the layer chosen on other words" in curve._repr_html_()
    assert f"{curve.chosen.value:.4g} allowing for the choice" in repr(curve)
    undefined = curve_of(0.5, 1, resamples=0)
    assert undefined.sentence().endswith("on the same items, it is undefined: nothing was resampled.")


def test_the_best_of_several_layers_is_called_so() -> None:
    """An estimate taken from a curve as its best says so in its sentence and record; at a given layer it does not."""
    curve = curve_of(0.5, 1).about(subject="m")
    (best,) = Curves((curve,)).best()
    text = "the best of 25 layers, chosen on the same items"
    assert best.chosen_from == LAYERS
    assert best.records()[0].note == text
    assert best.sentence().endswith(f". Caution: {text}.")
    given = curve.estimate(best.layer or 0)
    assert isinstance(given, Estimate)
    assert given.sentence() == best.sentence().removesuffix(f" Caution: {text}.")
    assert Estimate("rho", 0.5, Interval(0.1, 0.9, 0.95, "x"), chosen_from=1).records()[0].note == ""


def test_a_difference_at_chosen_layers_is_free_of_the_advantage_of_more_layers() -> None:
    """Noise with 40 layers against noise with one: the naive difference is far above 0, the corrected one is not."""
    rng = np.random.default_rng(3)
    y, many, one = rng.normal(size=80), rng.normal(size=(80, 40)), rng.normal(size=(80, 1))
    difference = difference_at_chosen_layers(many, one, y, kind="pearson", resamples=400)
    assert isinstance(difference, Estimate)
    highest = max(pearsonr(column, y).statistic for column in many.T)
    assert highest - pearsonr(one[:, 0], y).statistic > 0.2
    assert difference.value < 0.15
    assert difference.interval.low < 0 < difference.interval.high
    assert difference.p is not None
    assert difference.p > 0.05


def test_a_difference_without_a_choice_is_that_of_the_correlations() -> None:
    """One layer a side leaves nothing to choose: the value is the difference of both correlations."""
    rng = np.random.default_rng(4)
    y = rng.normal(size=60)
    first, second = y[:, None] + rng.normal(size=(60, 1)), y[:, None] + 2 * rng.normal(size=(60, 1))
    groups = [f"w{n % 20}" for n in range(60)]
    difference = difference_at_chosen_layers(first, second, y, kind="spearman", groups=groups, resamples=300)
    rho = [spearmanr(column[:, 0], y).statistic for column in (first, second)]
    assert isinstance(difference, Estimate)
    assert difference.value == pytest.approx(rho[0] - rho[1], abs=1e-9)
    assert (difference.n, difference.n_groups) == (60, 20)
    none = difference_at_chosen_layers(first, second, y, kind="spearman", resamples=0)
    assert isinstance(none, Undefined)


def test_a_held_out_predictor_is_that_of_the_layer_of_other_words() -> None:
    """Fold by fold, written out; with noise in 25 layers it explains nothing, while the best of them does."""
    layers, ratings, word = study(0.0, 2)
    groups = [f"w{n}" for n in word]
    predictor, note = held_out_predictor(ratings, layers, groups=groups, folds=4, seed=9)
    codes, n_groups = group_codes(groups, len(ratings))
    fold_of, expected = group_folds(codes, n_groups, folds=4, seed=9), np.empty(len(ratings))
    for fold in range(4):
        other = fold_of != fold
        best = max(range(LAYERS), key=lambda k: pearsonr(layers[other, k], ratings[other]).statistic ** 2)
        column = layers[:, best]
        expected[~other] = (column[~other] - column[other].mean()) / column[other].std()
    assert predictor == pytest.approx(expected)
    assert note.startswith("chosen in the folds: layer ")
    highest = max(pearsonr(column, ratings).statistic ** 2 for column in layers.T)
    assert pearsonr(predictor, ratings).statistic ** 2 < highest / 2
