"""Shares of variance and residuals by condition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.bootstrap import percentile_interval, resample_rows
from lexiscope.analysis.norms.decomposition import (
    explained_variance,
    pooled_residuals,
    residuals_by_condition,
    variance_decomposition,
)
from lexiscope.analysis.regression import ols
from lexiscope.core.errors import StatisticError

BETO = "bert-base-spanish-wwm-cased"


def labels(same) -> list[str]:
    return ["SAME" if one else "DIFFERENT" for one in same]


@pytest.mark.published
def test_variance_decomposition_of_saw_c(sawc) -> None:
    """R² of sense alone, of BETO's layer 12 alone, of both, and the parts that follow from them."""
    parts = variance_decomposition(sawc.norms, sawc.same_sense, sawc.distance[BETO][:, 12], groups=sawc.words)
    first, second, both, unique_first, unique_second, shared = parts
    assert round(first.value, 5) == 0.60585
    assert round(second.value, 5) == 0.35688
    assert round(both.value, 5) == 0.66316
    assert unique_first.value == pytest.approx(0.66316 - 0.35688, abs=1e-5)
    assert unique_second.value == pytest.approx(0.66316 - 0.60585, abs=1e-5)
    assert shared.value == pytest.approx(0.60585 + 0.35688 - 0.66316, abs=1.5e-5)
    for part in parts:
        assert part.interval.low < part.value < part.interval.high
        assert (part.n, part.n_groups) == (812, 102)
    assert both.name == "r_squared(of=sense+distance)"


@pytest.mark.published
def test_residuals_of_betos_last_layer(sawc) -> None:
    """Distance alone underestimates same-sense pairs and overestimates different-sense pairs."""
    _, (different, same) = residuals_by_condition(
        sawc.norms, sawc.distance[BETO][:, 12], ["distance"], labels(sawc.same_sense), model="m", groups=sawc.words
    )
    assert (same.condition, round(same.value, 3), same.n) == ("SAME", 0.963, 241)
    assert (round(different.value, 3), different.n) == (-0.407, 571)
    assert same.interval.low > 0 > different.interval.high


@pytest.mark.published
def test_pooled_residuals_of_every_model(sawc) -> None:
    """In all 13 models: same sense +1.19…+1.49, different sense −.63…−.50, all layers pooled."""
    found = {}
    for model, distance in sawc.distance.items():
        _, (apart, alike) = pooled_residuals(
            sawc.norms, distance, labels(sawc.same_sense), groups=sawc.words, resamples=200
        )
        found[model] = (alike.value, apart.value)
        assert alike.n == 241 * distance.shape[1]
        assert alike.interval.low > 0 > apart.interval.high
    same, different = zip(*found.values(), strict=True)
    assert (round(min(same), 2), round(max(same), 2)) == (1.19, 1.49)
    assert (round(min(different), 2), round(max(different), 2)) == (-0.63, -0.50)


@pytest.mark.published
def test_raw_c(rawc) -> None:
    """RAW-C: R² of each distance, both, sense with ambiguity type, and all; residuals by sense and type."""
    interaction = np.column_stack([rawc.same, rawc.homonymy, rawc.same * rawc.homonymy])
    distances = np.column_stack([rawc.bert, rawc.elmo])
    models = {
        "bert": rawc.bert,
        "elmo": rawc.elmo,
        "distances": distances,
        "sense": rawc.same,
        "sense x type": interaction,
        "all": np.column_stack([distances, interaction]),
    }
    found = explained_variance(rawc.norms, models, groups=rawc.words, resamples=300)
    expected = {
        "bert": 0.2890,
        "elmo": 0.2435,
        "distances": 0.3658,
        "sense": 0.5241,
        "sense x type": 0.6596,
        "all": 0.7105,
    }
    assert {name: round(estimate.value, 4) for name, estimate in found.items()} == expected
    conditions = [
        f"{'SAME' if same else 'DIFFERENT'} {'homonymy' if homonymy else 'polysemy'}"
        for same, homonymy in zip(rawc.same, rawc.homonymy, strict=True)
    ]
    _, means = residuals_by_condition(rawc.norms, distances, ["bert", "elmo"], conditions, model="m", groups=rawc.words)
    assert {mean.condition: round(mean.value, 3) for mean in means} == {
        "SAME homonymy": 0.438,
        "SAME polysemy": 0.904,
        "DIFFERENT polysemy": 0.052,
        "DIFFERENT homonymy": -1.201,
    }


@pytest.mark.published
def test_correlations_of_raw_c(rawc) -> None:
    """RAW-C's r and rho of BERT and ELMo, through the same functions as SAW-C's layers."""
    from lexiscope.analysis.layers.layers import r_by_layer, rho_by_layer

    for distance, r, rho in ((rawc.bert, -0.5376, -0.5784), (rawc.elmo, -0.4934, -0.5291)):
        assert round(r_by_layer(distance[:, None], rawc.norms, resamples=0).values[0].value, 4) == r
        assert round(rho_by_layer(distance[:, None], rawc.norms, resamples=0).values[0].value, 4) == rho


def test_intervals_equal_those_of_refitting_each_resample() -> None:
    """Sums of products give what refitting the regression gives: on resampled rows, and without each group."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    X = rng.standard_normal((60, 2)) * [1, 1e-6] + [5, 0]
    y = X @ [0.5, 4e5] + rng.standard_normal(60) + groups / 4
    condition = np.array(["a", "b"])[rng.integers(0, 2, 60)]
    residual, shared = [], []
    for rows in resample_rows(groups, 12, resamples=100, seed=3):
        fit = ols(y[rows], X[rows], ["u", "v"])
        residual.append(fit.residuals[condition[rows] == "a"].mean())
        shared.append(sum(ols(y[rows], X[rows, k], ["u"]).r_squared for k in (0, 1)) - fit.r_squared)
    whole = ols(y, X, ["u", "v"]).r_squared
    left = [ols(y[groups != g], X[groups != g], ["u", "v"]).r_squared for g in range(12)]
    added = [r - ols(y[groups != g], X[groups != g, 1], ["v"]).r_squared for g, r in enumerate(left)]
    parts = variance_decomposition(y, X[:, 0], X[:, 1], groups=groups, resamples=100, seed=3)
    for part, value, without in ((parts[2], whole, left), (parts[3], parts[3].value, added)):
        # the jackknife with Student's t on 11 degrees of freedom, on Fisher's z of the root
        z, moved = np.arctanh(np.sqrt(value)), np.arctanh(np.sqrt(without))
        margin = stats.t.ppf(0.975, 11) * np.sqrt(11 / 12 * np.sum((moved - moved.mean()) ** 2))
        bounds = [np.tanh(max(end, 0)) ** 2 for end in (z - margin, z + margin)]
        assert (part.interval.low, part.interval.high) == pytest.approx(bounds, rel=1e-7)
    assert explained_variance(y, {"m": X}, groups=groups)["m"].interval == parts[2].interval
    fast, slow = parts[5].interval, percentile_interval(shared, n_groups=12)
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), rel=1e-9)
    _, (a, _) = residuals_by_condition(
        y, X, ["u", "v"], condition.tolist(), model="m", groups=groups, resamples=100, seed=3
    )
    fast, slow = a.interval, percentile_interval(residual, n_groups=len(set(groups[condition == "a"])))
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), rel=1e-9)


def test_shared_variance_may_be_negative() -> None:
    """Suppression: two predictors that explain more together than apart give a negative shared part, unclipped."""
    rng = np.random.default_rng(1)
    noise, signal = rng.standard_normal(200), rng.standard_normal(200)
    parts = variance_decomposition(signal, signal + 3 * noise, noise, resamples=50)
    assert parts[5].value < 0
    assert parts[2].value == pytest.approx(1.0)


def test_what_adds_nothing_may_add_nothing() -> None:
    """The interval of what a block adds holds 0 where it adds nothing; percentiles of draws never would."""
    rng = np.random.default_rng(2)
    x, words = rng.standard_normal((80, 2)), np.repeat(np.arange(20), 4)
    y = x[:, 0] + rng.standard_normal(80)
    *_, of_noise, _ = variance_decomposition(y, x[:, 0], x[:, 1], groups=words, names=("signal", "noise"))
    assert of_noise.name == "unique_r_squared(of=noise)"
    assert of_noise.interval.low == 0 < of_noise.value < of_noise.interval.high
    assert of_noise.interval.method == "jackknife(resampled=groups,scale=root_fisher_z,level=0.95)"
    silent = explained_variance(y, {"m": x}, groups=words, resamples=0)["m"].interval
    assert silent.note == "no interval: no resamples were asked for"


def test_residuals_are_observed_minus_fitted() -> None:
    """The mean residual of a condition is that of the fit's residuals; the name says which regression it is of."""
    conditions = ["a", "a", "b", "b"]
    fit, (a, b) = residuals_by_condition([0, 1, 3, 4], [1, 2, 2, 1], ["x"], conditions, model="norm~x", resamples=50)
    assert (a.name, a.value, b.value) == (
        "mean_residual(model=norm~x)",
        fit.residuals[:2].mean(),
        fit.residuals[2:].mean(),
    )


def test_a_subset_of_layers_keeps_its_numbers() -> None:
    """The layer number is a predictor: layers 6 and 12 are not 0 and 1."""
    rng = np.random.default_rng(5)
    distance, y = rng.random((20, 2)), rng.random(20)
    conditions = ["a", "b"] * 10
    zero_one = pooled_residuals(y, distance, conditions, resamples=50)
    numbered = pooled_residuals(y, distance, conditions, layers=[6, 12], resamples=50)
    slopes = [fit.coefficient("distance:layer").estimate for fit, _ in (zero_one, numbered)]
    assert slopes[1] == pytest.approx(slopes[0] / 6)


def test_undefined_decompositions_are_refused() -> None:
    """Collinear blocks, constant norms, a lone row in a condition and shapes that do not match are errors."""
    x, y = np.arange(8.0), np.array([1.0, 3, 2, 5, 4, 7, 6, 8])
    with pytest.raises(StatisticError, match="linear combination"):
        variance_decomposition(y, x, 2 * x + 1)
    with pytest.raises(StatisticError, match="constant"):
        explained_variance(np.ones(8), {"x": x})
    with pytest.raises(StatisticError, match="at least 2 rows; too few in: b"):
        residuals_by_condition(y, x, ["x"], ["a"] * 7 + ["b"], model="m")
    with pytest.raises(StatisticError, match="7 conditions"):
        residuals_by_condition(y, x, ["x"], ["a"] * 7, model="m")
    with pytest.raises(StatisticError, match="do not go with"):
        pooled_residuals(y, x, ["a"] * 8)
    with pytest.raises(StatisticError, match="layer numbers"):
        pooled_residuals(y, np.column_stack([x, x[::-1]]), ["a"] * 8, layers=[1])
