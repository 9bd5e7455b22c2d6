"""Curves over layers: published values, undefined layers, ties."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from lexiscope.analysis.bootstrap import GroupLabels, mean_interval
from lexiscope.analysis.layers.layers import (
    NO_BOUNDARY,
    SEPARATED,
    aic_by_layer,
    best_results,
    held_out_deviance,
    held_out_residuals,
    layer_depth_ratio,
    r_by_layer,
    r_squared_by_layer,
    results_by_layer,
    rho_by_layer,
    separated_layers,
    values_by_layer,
)
from lexiscope.analysis.norms.decomposition import residuals_by_condition
from lexiscope.analysis.regression import logistic, logistic_predictors
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Undefined

BETO = "bert-base-spanish-wwm-cased"

# sawc.md §1: maximum R² and its layer, minimum AIC and its layer, minimum rho
PUBLISHED = {
    "albert-tiny-spanish": (0.1136, 4, 908.18, 4, -0.3797),
    "albert-base-spanish": (0.1823, 7, 859.73, 7, -0.4660),
    "albert-large-spanish": (0.1414, 12, 872.51, 9, -0.4174),
    "albert-xlarge-spanish": (0.1923, 9, 851.49, 9, -0.4615),
    "albert-xxlarge-spanish": (0.1527, 2, 904.75, 3, -0.3925),
    "distilbert-base-spanish-uncased": (0.2023, 6, 859.49, 6, -0.4494),
    "bert-base-spanish-wwm-cased": (0.3569, 12, 712.91, 6, -0.6116),
    "bert-base-spanish-wwm-uncased": (0.1845, 12, 878.41, 7, -0.4377),
    "bert-base-multilingual-cased": (0.2209, 12, 864.53, 11, -0.4723),
    "roberta-base-bne": (0.3087, 12, 782.32, 12, -0.5755),
    "roberta-large-bne": (0.3912, 23, 735.14, 14, -0.6570),
    "xlm-roberta-base": (0.1495, 6, 920.79, 6, -0.3981),
    "patana-chilean-spanish-bert": (0.3540, 12, 756.50, 12, -0.6040),
}


@pytest.mark.published
@pytest.mark.parametrize("model", PUBLISHED)
def test_best_layers_of_every_released_model(sawc, model: str) -> None:
    """Best R², AIC and rho and their layers equal an independent recomputation of the SAW-C study."""
    r_squared, r_squared_layer, aic, aic_layer, rho = PUBLISHED[model]
    curve = r_squared_by_layer(sawc.distance[model], sawc.norms, resamples=0)
    assert (curve.best, round(curve.best_value().value, 4)) == (r_squared_layer, r_squared)
    boundary = aic_by_layer(sawc.distance[model], sawc.same_sense)
    assert (boundary.best, round(boundary.best_value().value, 2)) == (aic_layer, aic)
    ranks = rho_by_layer(sawc.distance[model], sawc.norms, resamples=0)
    assert round(ranks.best_value().value, 4) == rho


@pytest.mark.published
def test_beto_layer_by_layer(sawc) -> None:
    """BETO's 13 values of R² and AIC, the AIC of the intercept alone, and the figures of layers 7 and 12."""
    distance = sawc.distance[BETO]
    curve = r_squared_by_layer(distance, sawc.norms, resamples=0)
    printed = [0.0005, 0.1061, 0.1445, 0.2119, 0.2943, 0.3317, 0.3412, 0.3518, 0.3394, 0.3465, 0.3309, 0.3274, 0.3569]
    assert curve.array().round(4).tolist() == printed
    boundary = aic_by_layer(distance, sawc.same_sense)
    printed = [991.23, 914.33, 880.64, 814.50, 743.67, 715.02, 712.91, 725.50, 737.21, 736.48, 749.52, 765.14, 722.57]
    assert boundary.array().round(2).tolist() == printed
    assert round(boundary.best_value().value, 3) == 712.906
    assert round(boundary.baseline, 2) == 989.60
    assert round(curve.at(12).value, 5) == 0.35688
    assert round(curve.at(7).value, 5) == 0.35176
    assert round(r_by_layer(distance, sawc.norms, resamples=0).at(12).value, 5) == -0.59739
    # SAW-C's own script ranks means that carry rounding noise and gets -.6116149
    assert round(rho_by_layer(distance, sawc.norms, resamples=0).at(12).value, 7) == -0.6115575


@pytest.mark.published
def test_intervals_resample_words_and_repeat_under_a_seed(sawc) -> None:
    """Each layer carries an interval around its value; the same seed gives the same interval."""
    run = [
        r_squared_by_layer(sawc.distance[BETO], sawc.norms, groups=sawc.words, resamples=300, seed=seed)
        for seed in (1, 1, 2)
    ]
    assert run[0].at(12).interval == run[1].at(12).interval != run[2].at(12).interval
    assert run[0].n_groups == 102
    assert all(entry.interval.low < entry.value < entry.interval.high for entry in run[0].values[1:])


def test_a_constant_layer_keeps_its_place_and_says_why() -> None:
    """Layer 0 of a model without positions is constant: undefined with a reason, and no crash."""
    rng = np.random.default_rng(0)
    y, same = rng.standard_normal(40), rng.integers(0, 2, 40)
    distance = np.column_stack([np.zeros(40), np.full(40, 0.2), rng.random(40)])
    for curve in (
        aic_by_layer(distance, same),
        r_squared_by_layer(distance, y, resamples=50),
        r_by_layer(distance, y, resamples=50),
        rho_by_layer(distance, y, resamples=50),
    ):
        assert [entry.value is None for entry in curve.values] == [True, True, False]
        assert all(entry.remark for entry in curve.values[:2])
        assert curve.best == 2
        assert np.isnan(curve.array()[0])


def test_a_layer_of_rounding_noise_has_a_value_and_a_remark() -> None:
    """Distances of 1e-16 are fitted like others, but the reader is told what they are."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(40)
    noise = rng.choice([0, 1.1e-16, 2.2e-16], 40)
    entry = r_squared_by_layer(noise[:, None], y, resamples=0).values[0]
    assert entry.value == pytest.approx(np.corrcoef(noise, y)[0, 1] ** 2)
    assert "noise" in entry.remark


def test_a_value_stays_where_only_its_interval_is_undefined() -> None:
    """One item differs: the correlation exists, but most resamples of words are constant."""
    x = np.zeros(20)
    x[3] = 1
    entry = r_by_layer(x[:, None], np.arange(20.0), resamples=200).values[0]
    assert entry.value == pytest.approx(np.corrcoef(x, np.arange(20.0))[0, 1])
    assert not entry.interval.is_defined
    assert entry.remark == entry.interval.note


def test_separated_senses_have_no_aic() -> None:
    """A layer that separates the senses perfectly has no maximum of the likelihood: undefined, with the reason."""
    curve = aic_by_layer([[1, 1], [2, 3], [3, 2], [4, 4]], [0, 0, 1, 1])
    assert curve.values[0].value is None
    assert "separate" in curve.values[0].remark
    assert curve.best == 1


def test_ties_go_to_the_lowest_layer_and_are_listed() -> None:
    """Two equal layers: the lower one is the best, both are in the list."""
    column = np.array([1.0, 3, 2, 5])
    curve = r_squared_by_layer(np.column_stack([[1, 1, 2, 1], column, column]), [1, 2, 3, 4], resamples=0)
    assert (curve.best, curve.tied) == (1, (1, 2))


def test_layer_numbers_and_depth_ratios() -> None:
    """A subset of layers keeps its numbers, and the depth ratio is layer / L with L as given."""
    curve = r_by_layer(np.eye(4, 2), [1, 2, 3, 5], layers=[6, 9], last_layer=12, resamples=0)
    assert [(entry.layer, entry.depth_ratio) for entry in curve.values] == [(6, 6 / 12), (9, 9 / 12)]
    assert layer_depth_ratio(0, 12) == 0.0
    with pytest.raises(StatisticError, match="13 of 12"):
        layer_depth_ratio(13, 12)
    with pytest.raises(StatisticError, match="no layer 7"):
        curve.at(7)
    with pytest.raises(StatisticError, match="layer numbers"):
        r_by_layer(np.eye(4, 2), [1, 2, 3, 5], layers=[6, 6], resamples=0)


def test_undefined_input_is_refused() -> None:
    """Constant norms, missing norms, one sense only and shapes that do not match are errors."""
    distance = np.eye(5, 2)
    with pytest.raises(StatisticError):
        r_squared_by_layer(distance, [3, 3, 3, 3, 3])
    with pytest.raises(StatisticError):
        rho_by_layer(distance, [1, 2, np.nan, 4, 5])
    with pytest.raises(StatisticError, match="equal"):
        aic_by_layer(distance, [1, 1, 1, 1, 1])
    with pytest.raises(StatisticError, match="do not go with"):
        r_by_layer(distance, [1, 2, 3])
    with pytest.raises(StatisticError, match="undefined at every layer"):
        r_by_layer(np.zeros((5, 2)), [1, 2, 3, 4, 5], resamples=0).best_value()


def test_the_best_layer_as_results() -> None:
    """The best value and its layer with their remarks; without layers that have a value there is nothing."""
    norms, rising = [1, 2, 3, 5], [1.0, 2, 3, 5]
    curve = r_squared_by_layer(np.column_stack([rising, rising]), norms, layers=[3, 7], resamples=0).about(subject="m")
    best, layer = best_results(curve)
    assert (best.name, best.value, best.layer, best.subject) == ("max_r_squared_over_layers", 1.0, 3, "m")
    assert (layer.name, layer.value, layer.unit) == ("best_layer(by=r_squared)", 3, "layer")
    assert layer.note.startswith("tied with layers (3, 7); the wrong direction: pairs at a larger distance")
    assert best.note == curve.caution == curve.records()[-1].note
    assert curve.sentence().endswith(f"Caution: {curve.caution}.")
    assert best_results(r_by_layer(np.zeros((4, 2)), norms, resamples=0)) == ()
    falling = rho_by_layer(-np.column_stack([rising]), norms, resamples=0)
    assert (best_results(falling)[0].name, falling.caution) == ("min_spearman_over_layers", "")


def test_a_lowest_aic_is_refused_beside_a_perfect_layer_and_cautioned_elsewhere() -> None:
    """Separation without error makes the lowest AIC undefined; an AIC above the baseline, or a reverse, is told."""
    same = [0, 0, 1, 1, 0, 1]
    perfect = aic_by_layer(np.column_stack([[5, 6, 1, 2, 7, 3], [1, 2, 3, 4, 6, 5]]), same)
    assert separated_layers(perfect) == (0,)
    assert {one.reason for one in best_results(perfect)} == {f"{SEPARATED} at layer 0: no finite AIC"}
    names = [one.name for one in results_by_layer(perfect)]
    assert names == ["aic", "aic", "aic(model=intercept_only)"]
    noise = aic_by_layer(np.column_stack([[1, 2, 1, 2, 3, 3.1]]), same)
    assert noise.caution == f"{NO_BOUNDARY}: no AIC is below that of a model without distance ({noise.baseline:.2f})"
    many = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    reverse = aic_by_layer(np.column_stack([[1, 2, 3, 4.5, 4, 5, 6, 7]]), many)
    assert reverse.caution.startswith("the wrong direction: pairs with the same sense are farther apart (mean distance")


@pytest.mark.published
def test_the_lowest_aic_with_its_layer_chosen_on_other_words(sawc) -> None:
    """Ten folds of words: statsmodels fits every layer on nine, its lowest AIC chooses, the tenth has its deviance."""
    distance, same = sawc.distance[BETO], np.asarray(sawc.same_sense, dtype=float)
    words = sorted(set(sawc.words))
    dealt = dict(zip(words, np.random.default_rng(3).permutation(len(words)) % 10, strict=True))
    fold_of, choices = np.array([dealt[word] for word in sawc.words]), []
    chosen, alone = np.empty(len(same)), np.empty(len(same))
    for fold in range(10):
        out = fold_of == fold
        fits = [sm.Logit(same[~out], sm.add_constant(column[~out])).fit(disp=0) for column in distance.T[1:]]
        best = int(np.argmin([fit.aic for fit in fits]))
        choices.append(best + 1)
        p = fits[best].predict(sm.add_constant(distance[out, best + 1]))
        for target, share in ((chosen, p), (alone, np.full(int(out.sum()), same[~out].mean()))):
            target[out] = -2 * np.log(np.where(same[out] == 1, share, 1 - share))
    labels = GroupLabels(sawc.words, "words")
    curve = aic_by_layer(distance, same, groups=labels, seed=3, choice=True)
    held_out, (intercept, saved) = curve.chosen, curve.held_out
    assert [one.name for one in (held_out, intercept, saved)] == [
        "deviance(held_out=words,layer=chosen)",
        "deviance(held_out=words,model=intercept_only)",
        "deviance_saved(held_out=words,layer=chosen)",
    ]
    assert (held_out.value, intercept.value) == pytest.approx((chosen.sum(), alone.sum()), rel=1e-8)
    assert f"layer {max(set(choices), key=choices.count)} in {max(map(choices.count, choices))}" in held_out.note
    # words are independent: their sums are a sample, and the interval is that of its mean times their number
    sums = np.array([(alone - chosen)[sawc.words == word].sum() for word in words])
    assert saved.value == pytest.approx(sums.sum(), rel=1e-7)
    bounds = mean_interval(sums)
    assert (saved.interval.low, saved.interval.high) == pytest.approx(
        (len(words) * bounds.low, len(words) * bounds.high), rel=1e-6
    )
    lowest = curve.best_value().value
    assert lowest < held_out.value < intercept.value


def test_a_layer_chosen_from_noise_saves_nothing() -> None:
    """40 studies of 20 layers of noise: the lowest AIC is below the intercept's on average, words held out are not."""
    naive, honest, words = [], [], np.repeat(np.arange(25), 4)
    for seed in range(40):
        dice = np.random.default_rng(seed)
        same = dice.permutation(np.tile([0, 1], 50))
        curve = aic_by_layer(dice.normal(size=(100, 20)), same, groups=words, choice=True)
        naive.append(curve.baseline - curve.best_value().value)
        honest.append(curve.held_out[1].value)
    assert np.mean(naive) > 1
    assert np.mean(honest) < 0


def test_held_out_deviance_is_undefined_where_a_fold_is() -> None:
    """A layer that separates the senses of the words of nine folds, or words that cannot be held out: the reason."""
    dice, same = np.random.default_rng(1), np.tile([0, 1], 10)
    words = np.repeat(np.arange(10), 2)
    # only the last word keeps the first layer from separating the senses without error
    near = np.where(same == 1, 0.1, 0.9) + 0.01 * dice.random(20)
    near[-2:] = near[-2:][::-1]
    both = np.column_stack([near, dice.random(20)])
    chosen = aic_by_layer(both, same, groups=words, choice=True).chosen
    assert isinstance(chosen, Undefined)
    assert (
        chosen.reason == "if groups are held out, the predictors separate the two outcomes: no finite estimate exists"
    )
    (lonely, *_) = held_out_deviance(both, same, groups=GroupLabels(["bank"] * 20, "words"))
    assert lonely.reason == "all items are of one of the words: none can be held out"
    # the rows of the regressions that Newton's method does not reach at once are those of logistic()
    steep = np.where(same == 1, -1e3, 1e3) * dice.random(20)
    steep[:2] = 3.0, 900.0
    learnt = np.array([same >= 0, np.arange(20) != 5])
    for row, fit in zip(learnt, logistic_predictors(same, steep, learnt), strict=True):
        rows = [term.estimate for term in logistic(same[row], steep[row], ["x"]).coefficients]
        assert fit == pytest.approx(rows[0] + rows[1] * steep, abs=1e-6)


@pytest.mark.published
def test_residuals_of_words_that_chose_no_layer(sawc) -> None:
    """Ten folds of words: statsmodels fits every layer on nine, the highest R² chooses, the tenth has its residuals."""
    distance, words = sawc.distance[BETO], sorted(set(sawc.words))
    dealt = dict(zip(words, np.random.default_rng(5).permutation(len(words)) % 10, strict=True))
    fold_of, rest, choices = np.array([dealt[word] for word in sawc.words]), np.empty(len(sawc.norms)), []
    for fold in range(10):
        out = fold_of == fold
        fits = [sm.OLS(sawc.norms[~out], sm.add_constant(column[~out])).fit() for column in distance.T[1:]]
        choices.append(1 + int(np.argmax([fit.rsquared for fit in fits])))
        a, b = fits[choices[-1] - 1].params
        rest[out] = sawc.norms[out] - a - b * distance[out, choices[-1]]
    groups = GroupLabels(sawc.words, "words")
    means = held_out_residuals(
        sawc.norms,
        distance,
        np.where(sawc.same_sense, "same", "different").tolist(),
        groups=groups,
        seed=5,
        resamples=200,
    )
    for mean, same in zip(means, (False, True), strict=True):
        rows = np.asarray(sawc.same_sense) == same
        assert mean.name == "mean_residual(model=norm~distance,layer=chosen)"
        assert mean.value == pytest.approx(rest[rows].mean(), abs=1e-9)
        assert mean.interval.low < mean.value < mean.interval.high
        assert "resampled=words" in mean.interval.method
        assert f"layer {max(choices, key=choices.count)} in {max(map(choices.count, choices))}" in mean.note


def test_a_layer_of_noise_takes_nothing_from_words_held_out() -> None:
    """30 studies of 40 layers of noise: the best takes a quarter of residuals 1 and −1, of words held out nothing."""
    naive, honest, words, y = [], [], np.repeat(np.arange(12), 2), np.tile([1.0, -1.0], 12)
    for seed in range(30):
        noise = np.random.default_rng(seed).normal(size=(24, 40))
        best = r_squared_by_layer(noise, y, resamples=0).best
        _, means = residuals_by_condition(y, noise[:, best], ["x"], ["a", "b"] * 12, model="m", resamples=0)
        naive.append(means[0].value)
        honest.append(held_out_residuals(y, noise, ["a", "b"] * 12, groups=words, resamples=0)[0].value)
    assert np.mean(naive) < 0.8
    assert np.mean(honest) == pytest.approx(1, abs=0.1)
    with pytest.raises(StatisticError, match="at least 2 groups"):
        held_out_residuals(y, noise, ["a", "b"] * 12, groups=["bank"] * 24)


def _distances(item_ids: list[str], layers: list[int] | None, values: list[float]) -> ResponseTable:
    common = {"subject_id": "m", "subject_kind": "encoder", "task": "t", "measure": "cosine_distance", "view": "full"}
    rows = {"item_id": item_ids, "value": values}
    return ResponseTable.from_columns(common | rows | ({} if layers is None else {"layer": layers}))


def test_answers_as_columns_by_layer() -> None:
    """Columns follow the layers, rows the items, whatever the order of the answers; other items are left out."""
    answers = _distances(["b", "x", "a", "b", "a"], [6, 6, 2, 2, 6], [0.4, 0.9, 0.1, 0.2, 0.3])
    layers, matrix = values_by_layer(answers, ["a", "b"])
    assert (layers, matrix.tolist()) == ((2, 6), [[0.1, 0.3], [0.2, 0.4]])
    assert values_by_layer(_distances(["b", "a"], None, [0.4, 0.1]), ["a", "b"])[0] == ()
    with pytest.raises(
        InputError, match=r"m has no cosine_distance for 2 of 6 items and layers in the view 'full'"
    ) as no:
        values_by_layer(answers, ["a", "b", "c"])
    assert "'c'" in str(no.value)
    with pytest.raises(InputError, match="none has no none"):
        values_by_layer(answers.where(view="context"), ["a"])
