"""The scaling regression of SAW-C §5.2."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.layers.layers import r_squared_by_layer
from lexiscope.analysis.scaling import MULTILINGUAL, scaling
from lexiscope.core.errors import StatisticError

MULTILINGUAL_MODELS = ("bert-base-multilingual-cased", "xlm-roberta-base")


@pytest.mark.published
def test_size_effect_of_the_twelve_models(sawc, families) -> None:
    """b .104983, SE .04281, p .0366, R² .41672, and r with log10 parameters .51; R's lm gives SE .042809102."""
    best = [r_squared_by_layer(sawc.distance[m], sawc.norms, resamples=0).best_value().value for m in families]
    size = [sawc.parameters[m] for m in families]
    fit, (slope, error, p, flag, r_squared, r) = scaling(best, size, [m in MULTILINGUAL_MODELS for m in families])
    assert round(slope.value, 6) == 0.104983
    assert round(error.value, 9) == 0.042809102
    assert (round(p.value, 4), p.value) == (0.0366, slope.p)
    assert round(r_squared.value, 5) == 0.41672
    assert round(r.value, 2) == 0.51
    assert slope.interval.low > 0
    assert (slope.n, fit.residual_df, flag.name) == (12, 9, "slope(of=multilingual,outcome=max_r_squared)")


def test_slope_by_hand_without_a_flag() -> None:
    """log10 sizes 6, 7, 8, 9 and R² .1, .3, .2, .4: slope Σ(x − 7.5)(y) / 5."""
    fit, (slope, error, _, _, r) = scaling([0.1, 0.3, 0.2, 0.4], [1e6, 1e7, 1e8, 1e9])
    assert slope.value == pytest.approx((-1.5 * 0.1 - 0.5 * 0.3 + 0.5 * 0.2 + 1.5 * 0.4) / 5)
    assert r.value**2 == pytest.approx(fit.r_squared)
    # t(.975) with 2 degrees of freedom is 4.302653
    half = (slope.interval.high - slope.interval.low) / 2
    assert half == pytest.approx(4.302653 * error.value, rel=1e-6)


def test_the_flag_takes_its_share() -> None:
    """Multilingual subjects that all lie .1 lower leave the slope of the others as it is."""
    logs, flag = np.array([6.0, 7, 8, 9, 7, 8]), np.array([0, 0, 0, 0, 1, 1])
    fit, (slope, *_) = scaling(0.05 * logs - 0.1 * flag, 10**logs, flag)
    assert slope.value == pytest.approx(0.05)
    assert fit.coefficient(MULTILINGUAL).estimate == pytest.approx(-0.1)


def test_too_few_or_impossible_subjects_are_refused() -> None:
    """Three subjects, equal sizes, a size of zero and a flag that all share are errors."""
    four = [0.1, 0.2, 0.3, 0.5]
    with pytest.raises(StatisticError, match="at least 4 subjects"):
        scaling(four[:3], [1e6, 1e7, 1e8])
    with pytest.raises(StatisticError, match="positive"):
        scaling(four, [1e6, 1e7, 1e8, 0])
    with pytest.raises(StatisticError, match="linear combination"):
        scaling(four, [1e8] * 4)
    with pytest.raises(StatisticError, match="same multilingual flag"):
        scaling(four, [1e6, 1e7, 1e8, 1e9], [0, 0, 0, 0])
