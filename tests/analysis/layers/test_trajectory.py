"""Trajectories over depth and family averages."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.layers.layers import r_squared_by_layer
from lexiscope.analysis.layers.trajectory import (
    drop_from_peak,
    family_by_depth_ratio,
    family_by_ntile,
    last_layer_drop,
    ntile,
)
from lexiscope.core.errors import StatisticError

# sawc.md §1: R² of the last layer / maximal R²
LAST_OVER_MAX = {
    "albert-tiny-spanish": 1.00,
    "albert-base-spanish": 0.35,
    "albert-large-spanish": 0.17,
    "albert-xlarge-spanish": 0.68,
    "albert-xxlarge-spanish": 0.28,
    "distilbert-base-spanish-uncased": 1.00,
    "bert-base-spanish-wwm-cased": 1.00,
    "bert-base-spanish-wwm-uncased": 1.00,
    "bert-base-multilingual-cased": 1.00,
    "roberta-base-bne": 1.00,
    "roberta-large-bne": 0.72,
    "xlm-roberta-base": 0.65,
    "patana-chilean-spanish-bert": 1.00,
}

# sawc.md §5; the membership that reproduces it: distilbert and the multilingual models belong to their
# architecture's family, patana-chilean-spanish-bert to none
BINNED = {
    "ALBERT": [0.052, 0.117, 0.137, 0.150, 0.146, 0.129, 0.106, 0.082, 0.067, 0.069],
    "BERT": [0.028, 0.101, 0.176, 0.205, 0.218, 0.212, 0.230, 0.231, 0.230, 0.254],
    "RoBERTa": [0.022, 0.126, 0.220, 0.287, 0.297, 0.282, 0.274, 0.295, 0.296, 0.270],
}
BY_DEPTH = {
    "ALBERT": [0.000, 0.091, 0.113, 0.130, 0.137, 0.138, 0.131, 0.108, 0.083, 0.070, 0.075],
    "BERT": [0.000, 0.059, 0.092, 0.135, 0.177, 0.205, 0.216, 0.216, 0.209, 0.213, 0.241],
    "RoBERTa": [0.000, 0.057, 0.133, 0.190, 0.228, 0.260, 0.266, 0.253, 0.263, 0.268, 0.229],
}


@pytest.fixture(scope="module")
def curves(sawc) -> dict[str, np.ndarray]:
    return {
        model: r_squared_by_layer(distance, sawc.norms, resamples=0).array()
        for model, distance in sawc.distance.items()
    }


@pytest.mark.published
@pytest.mark.parametrize("model", LAST_OVER_MAX)
def test_last_layer_drop_of_every_released_model(curves, model: str) -> None:
    """The drop is a number, 1 − last / max; the class follows from the stated threshold."""
    drop, shape = drop_from_peak(curves[model])
    assert round(1 - drop, 2) == LAST_OVER_MAX[model]
    assert shape == ("rise_and_fall" if LAST_OVER_MAX[model] < 0.85 else "rise_and_plateau")


@pytest.mark.published
def test_family_curves_of_the_paper_and_by_true_depth(curves, families) -> None:
    """Figure 8's bins within models, and the honest average at equal depth ratios."""
    twelve = {model: curves[model] for model in families}
    binned, by_depth = family_by_ntile(twelve, families), family_by_depth_ratio(twelve, families)
    assert [curve.family for curve in by_depth] == ["ALBERT", "BERT", "RoBERTa"]
    for paper, honest in zip(binned, by_depth, strict=True):
        # a few values of the reference list are off by one in the last digit
        assert paper.values == pytest.approx(BINNED[paper.family], abs=0.00061)
        assert honest.values == pytest.approx(BY_DEPTH[honest.family], abs=0.00061)
        assert paper.name == "family_mean(position=ntile,bins=10)"
        assert honest.name == "family_mean(position=depth_ratio)"
    assert "patana-chilean-spanish-bert" not in binned[1].subjects


def test_peak_and_drop_by_hand() -> None:
    """The label changes at the threshold, the number does not."""
    values = [0.0, 0.4, 0.4, 0.3]
    assert drop_from_peak(values) == (pytest.approx(1 - 0.3 / 0.4), "rise_and_fall")
    assert drop_from_peak(values, threshold=0.3) == (pytest.approx(1 - 0.3 / 0.4), "rise_and_plateau")


def test_an_undefined_layer_0_is_left_out() -> None:
    """A constant layer 0 has no R²: the peak ignores it and family means count one subject less there."""
    assert drop_from_peak([np.nan, 0.4, 0.2])[0] == pytest.approx(0.5)
    curves = {"a": [np.nan, 0.2, 0.4], "b": [0.0, 0.1, 0.2]}
    curve = family_by_depth_ratio(curves, {"a": "F", "b": "F"}, ratios=[0, 0.5, 1])[0]
    assert curve.counts == (1, 2, 2)
    assert curve.values == pytest.approx([0.0, (0.2 + 0.1) / 2, (0.4 + 0.2) / 2])


def test_a_trajectory_without_a_last_value_or_a_peak_is_undefined() -> None:
    """No value at the last layer, no value above 0, or no layer: errors."""
    for values in ([0.1, 0.2, np.nan], [0.0, 0.0], [np.nan, np.nan], [0.3]):
        with pytest.raises(StatisticError):
            drop_from_peak(values)


def test_ntile_fills_the_first_bins_first() -> None:
    """13 layers into 10 bins: three bins of two, then seven of one; 25: five of three; 5: five bins stay empty."""
    assert np.bincount(ntile(13, 10).astype(int))[1:].tolist() == [2] * 3 + [1] * 7
    assert np.bincount(ntile(25, 10).astype(int))[1:].tolist() == [3] * 5 + [2] * 5
    assert ntile(5, 10).tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(StatisticError):
        ntile(5, 0)


def test_an_empty_bin_is_undefined_and_counts_nothing() -> None:
    """A family of one short subject has bins without any value."""
    curve = family_by_ntile({"a": [1, 2]}, {"a": "F"}, bins=3)[0]
    assert curve.counts == (1, 1, 0)
    assert np.isnan(curve.values[2])


def test_every_subject_needs_a_family() -> None:
    """Families are given, never guessed."""
    with pytest.raises(StatisticError, match="no family is given for b"):
        family_by_ntile({"a": [1, 2], "b": [1, 2]}, {"a": "F"})
    with pytest.raises(StatisticError, match="without any value"):
        family_by_depth_ratio({"a": [np.nan, np.nan]}, {"a": "F"})


def test_the_last_layer_drop_of_a_curve() -> None:
    """1 − last / highest; a last layer without an R² counts as 0 and says so; without any fit it is undefined."""
    norms, rising = np.arange(8.0), np.arange(8.0) + np.tile([0, 0.5], 4)
    constant, words = np.zeros(8), list("aabbccdd")
    distance = np.column_stack([constant, rising, constant])
    drop, left, against = last_layer_drop(
        r_squared_by_layer(distance, norms, resamples=0), distance, norms, groups=words, resamples=40
    )
    assert (drop.value, left.value, against.value) == (1.0, 0.0, 1.0)
    assert drop.interval.is_defined
    assert "the last layer counts as 0: in x, all 8 values are 0" in drop.note.replace(
        "the correlation is undefined: ", ""
    )
    alone = np.column_stack([constant, rising])
    *_, none = last_layer_drop(r_squared_by_layer(alone, norms, resamples=0), alone, norms, resamples=0)
    assert none.reason == "no other layer has an R² above 0"
    flat = np.zeros((8, 3))
    (undefined,) = last_layer_drop(r_squared_by_layer(flat, norms, resamples=0), flat, norms)
    assert undefined.reason == "there is no value at the last layer, or none above 0 at all"


def test_no_drop_is_not_certain_where_the_last_layer_is_the_best() -> None:
    """The last layer is best in nearly every resample: no interval from 0 to 0; against the others it has a width."""
    dice, words = np.random.default_rng(4), np.repeat(np.arange(20), 3)
    norms = dice.normal(size=60)
    distance = np.column_stack([norms + dice.normal(0, sd, 60) for sd in (9.0, 3.0, 0.2)])
    how = {"groups": words, "resamples": 200}
    curve = r_squared_by_layer(distance, norms, resamples=0)
    drop, _, against = last_layer_drop(curve, distance, norms, **how)
    assert (drop.value, drop.interval.is_defined) == (0.0, False)
    assert "the last layer is the best in 200 of 200 resamples, and a drop cannot be below 0" in drop.interval.note
    r_squared = [np.corrcoef(column, norms)[0, 1] ** 2 for column in distance.T]
    assert against.value == pytest.approx(1 - r_squared[2] / max(r_squared[:2]))
    assert against.interval.low < against.value < against.interval.high < 0
    # two layers alike: the last is the best by chance, and both intervals allow for a drop
    alike = np.column_stack([norms + dice.normal(0, 1, 60) for _ in range(2)])
    alike = alike[:, np.argsort([abs(np.corrcoef(column, norms)[0, 1]) for column in alike.T])]
    drop, _, against = last_layer_drop(r_squared_by_layer(alike, norms, resamples=0), alike, norms, **how)
    assert drop.value == 0
    assert drop.interval.high > 0
    assert against.interval.low < against.value <= 0 < against.interval.high
