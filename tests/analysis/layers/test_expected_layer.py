"""Expected Layer: the published definition, its named variants, and when it has no value."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.layers.expected_layer import (
    CumulativeScores,
    cumulative_aic,
    cumulative_r_squared,
    expected_layer,
    expected_layer_interval,
    expected_layers,
)
from lexiscope.core.errors import StatisticError

BETO = "bert-base-spanish-wwm-cased"

# sawc.md §1: Expected Layer by AIC and by R²
PUBLISHED = {
    "albert-tiny-spanish": (1.638, 1.605),
    "albert-base-spanish": (2.439, 3.254),
    "albert-large-spanish": (2.954, 5.369),
    "albert-xlarge-spanish": (3.862, 5.213),
    "albert-xxlarge-spanish": (2.004, 2.909),
    "distilbert-base-spanish-uncased": (2.313, 2.835),
    "bert-base-spanish-wwm-cased": (3.602, 3.416),
    "bert-base-spanish-wwm-uncased": (3.749, 4.305),
    "bert-base-multilingual-cased": (4.139, 4.696),
    "roberta-base-bne": (3.919, 4.076),
    "roberta-large-bne": (7.048, 7.490),
    "xlm-roberta-base": (3.379, 4.212),
    "patana-chilean-spanish-bert": (4.064, 4.689),
}


def scores(values: list[float], score: str = "aic", first_layer: int = 0, intercept_only: float = 0.0):
    return CumulativeScores(score, first_layer, np.array(values), intercept_only, 100)


@pytest.mark.published
@pytest.mark.parametrize("model", PUBLISHED)
def test_expected_layer_of_every_released_model(sawc, model: str) -> None:
    """Both Expected Layers equal an independent recomputation."""
    by_aic = expected_layer(cumulative_aic(sawc.distance[model], sawc.same_sense))
    by_r_squared = expected_layer(cumulative_r_squared(sawc.distance[model], sawc.norms))
    assert (round(by_aic.value, 3), round(by_r_squared.value, 3)) == PUBLISHED[model]
    assert (np.diff(cumulative_r_squared(sawc.distance[model], sawc.norms).scores) >= 0).all()


@pytest.mark.published
def test_variants_on_beto(sawc) -> None:
    """The paper's 3.6 and 3.4 to five decimals, and each variant under its own name."""
    aic = {first: cumulative_aic(sawc.distance[BETO], sawc.same_sense, first_layer=first) for first in (0, 1)}
    r2 = {first: cumulative_r_squared(sawc.distance[BETO], sawc.norms, first_layer=first) for first in (0, 1)}
    assert round(expected_layer(aic[0]).value, 5) == 3.60185
    assert round(expected_layer(r2[0]).value, 5) == 3.41607
    assert (np.diff(aic[0].scores) > 0).sum() == 4
    assert round(expected_layer(aic[1], variant="without_layer_0").value, 3) == 3.605
    assert round(expected_layer(r2[1], variant="without_layer_0").value, 3) == 3.447
    assert round(expected_layer(aic[0], variant="from_intercept").value, 3) == 3.620
    assert round(expected_layer(r2[0], variant="from_intercept").value, 3) == 3.412
    assert round(expected_layer(aic[0], variant="clipped").value, 3) == 3.708
    names = {expected_layer(aic[0], variant=v).name for v in ("signed", "clipped", "from_intercept")}
    assert len(names) == 3


@pytest.mark.published
def test_interval_of_betos_expected_layer(sawc) -> None:
    """Resampling words puts an interval around both Expected Layers."""
    distance = sawc.distance[BETO]
    by_aic = expected_layer_interval(distance, sawc.same_sense, "aic", groups=sawc.words, resamples=25, seed=1)
    by_r_squared = expected_layer_interval(distance, sawc.norms, "r_squared", groups=sawc.words, resamples=50, seed=1)
    assert by_aic.low < 3.602 < by_aic.high
    assert by_r_squared.low < 3.416 < by_r_squared.high


def test_order_and_unit_of_distances_do_not_matter() -> None:
    """Permuting items or halving all distances changes no Expected Layer (to 1e-10)."""
    rng = np.random.default_rng(6)
    distance = rng.random((120, 4))
    y = distance @ [0.2, -1, -2, 0.5] + rng.standard_normal(120) / 3
    same = (y + rng.standard_normal(120) / 2 > -1).astype(float)
    order = rng.permutation(120)
    for cumulative, outcome in ((cumulative_aic, same), (cumulative_r_squared, y)):
        value = expected_layer(cumulative(distance, outcome)).value
        assert expected_layer(cumulative(distance[order], outcome[order])).value == pytest.approx(value, abs=1e-10)
        assert expected_layer(cumulative(distance / 2, outcome)).value == pytest.approx(value, abs=1e-10)


def test_deltas_and_weights_by_hand() -> None:
    """AIC 100, 90, 60, 62: deltas 10, 30, −2 at layers 1, 2, 3, the negative one kept or clipped by name."""
    values = scores([100, 90, 60, 62], intercept_only=99)
    signed = expected_layer(values)
    assert signed.value == pytest.approx((1 * 10 + 2 * 30 - 3 * 2) / (10 + 30 - 2))
    clipped = expected_layer(values, variant="clipped")
    assert clipped.value == pytest.approx((1 * 10 + 2 * 30) / (10 + 30))
    whole = expected_layer(values, variant="from_intercept")
    assert whole.value == pytest.approx((0 * -1 + 1 * 10 + 2 * 30 - 3 * 2) / (-1 + 10 + 30 - 2))


def test_r_squared_rises_where_aic_falls() -> None:
    """An increase of R² is an improvement, a decrease of AIC is one."""
    result = expected_layer(scores([0.0, 0.1, 0.4], "r_squared"))
    assert result.value == pytest.approx((1 * 0.1 + 2 * 0.3) / 0.4)


def test_cancelling_deltas_have_no_expected_layer() -> None:
    """Where a model ends near or below where it began, the quotient explodes: an error instead of a number."""
    with pytest.raises(StatisticError, match=r"AIC improves by 0\.5 in all"):
        expected_layer(scores([100, 60, 99.5]))
    with pytest.raises(StatisticError, match="cancel"):
        expected_layer(scores([100, 101, 102]))
    with pytest.raises(StatisticError, match="cancel"):
        expected_layer(scores([0.2, 0.2], "r_squared"))


def test_a_value_outside_the_layers_is_remarked() -> None:
    """Negative deltas can push the average below layer 1; the result says so."""
    result = expected_layer(scores([100, 60, 60, 60, 60, 60, 60, 75]))
    assert result.value == pytest.approx((1 * 40 - 7 * 15) / 25)
    assert "outside" in result.note


def test_a_constant_layer_adds_no_parameter() -> None:
    """A constant layer 0 leaves the score of the intercept alone, with a remark."""
    rng = np.random.default_rng(2)
    distance = np.column_stack([np.zeros(60), rng.random((60, 2))])
    same = rng.integers(0, 2, 60)
    cumulative = cumulative_aic(distance, same)
    assert cumulative.scores[0] == cumulative.intercept_only
    assert cumulative.remarks == ("layer 0 is constant and adds nothing",)
    assert cumulative.scores[1:].tolist() == cumulative_aic(distance, same, first_layer=1).scores.tolist()


def test_what_cannot_be_fitted_is_refused() -> None:
    """Repeated layers, more layers than items, a variant with the wrong scores, and a lone layer 0 are errors."""
    rng = np.random.default_rng(4)
    column = rng.random(30)
    with pytest.raises(StatisticError, match="'layer 1'"):
        cumulative_r_squared(np.column_stack([column, 2 * column]), rng.random(30))
    with pytest.raises(StatisticError, match="cannot determine"):
        cumulative_r_squared(rng.random((5, 8)), rng.random(5))
    with pytest.raises(StatisticError, match="from layer 1"):
        expected_layer(scores([3, 2, 1]), variant="without_layer_0")
    with pytest.raises(StatisticError, match="at least one layer"):
        expected_layer(scores([3]))
    with pytest.raises(StatisticError, match=r"\(items, layers\)"):
        cumulative_r_squared(column, rng.random(30))


def test_the_three_treatments_of_losses() -> None:
    """Each treatment is a result of its name, R² signed with an interval; a reason is given once, without the fact."""
    rng = np.random.default_rng(7)
    norms = rng.random(40)
    distance = np.column_stack([rng.random((40, 3)), -norms + rng.random(40)])
    found = expected_layers(distance, norms, "r_squared", resamples=50, seed=1)
    cumulative = cumulative_r_squared(distance, norms)
    for one, variant in zip(found, ("signed", "clipped", "from_intercept"), strict=True):
        assert (one.name, one.value) == (expected_layer(cumulative, variant=variant).name, pytest.approx(one.value))
    assert [one.interval.is_defined for one in found] == [True, False, False]
    same = (norms > 0.5).astype(int)
    (undefined,) = expected_layers(np.zeros((40, 3)), same, "aic")[1:2]
    assert undefined.records()[0].note == (
        "undefined: the gains and losses of the layers cancel: AIC improves by 0 in all, of steps that add up to 0"
    )
    (refused,) = expected_layers(distance[:, 1:], norms, "r_squared", layers=[4, 8, 12])
    assert refused.name == "expected_layer(score=r_squared)"
    (constant,) = expected_layers(distance, np.ones(40), "r_squared")
    assert "constant" in constant.reason
