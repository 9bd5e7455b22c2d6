"""Statistics over wordings: means, standard deviations and intervals, against textbook formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from lexiscope.analysis.wordings import over_wordings
from lexiscope.core.errors import StatisticError

RATINGS = np.array([[1, 2, 4, 5, 3, 1], [2, 2, 5, 5, 4, 3], [3, 5, 5, 4, 4, 2]], dtype=float)
ITEMS = list("abcdef")


def test_the_interval_over_wordings_is_that_of_a_mean_of_few_values() -> None:
    """The mean of k values ± t(k − 1) SD / √k, from scipy; the same of the items' means for other items."""
    rated = over_wordings("mean", list(RATINGS), ITEMS)
    values = RATINGS.mean(axis=1)
    assert rated.values == pytest.approx(values)
    assert (rated.mean, rated.sd) == pytest.approx((values.mean(), values.std(ddof=1)))
    for interval, sample in ((rated.over_wordings, values), (rated.over_items, RATINGS.mean(axis=0))):
        wanted = stats.t.interval(0.95, len(sample) - 1, sample.mean(), stats.sem(sample))
        assert (interval.low, interval.high) == pytest.approx(wanted)


def test_the_joint_interval_adds_the_variances_of_wordings_and_items() -> None:
    """A two-way layout: Var = MS_wordings / N + MS_items / N − MS_residual / N, the mean squares from the sums."""
    k, n = RATINGS.shape
    grand, by_wording, by_item = RATINGS.mean(), RATINGS.mean(axis=1), RATINGS.mean(axis=0)
    ms_wordings = n * ((by_wording - grand) ** 2).sum() / (k - 1)
    ms_items = k * ((by_item - grand) ** 2).sum() / (n - 1)
    residuals = RATINGS - by_wording[:, None] - by_item[None] + grand
    ms_residual = (residuals**2).sum() / ((k - 1) * (n - 1))
    variance = (ms_wordings + ms_items - ms_residual) / (k * n)
    both = over_wordings("mean", list(RATINGS), ITEMS).over_both
    # the jackknife of single answers divides by N where the mean square has N − 1: within 2 %
    low, high = both.low, both.high
    assert (low + high) / 2 == pytest.approx(grand)
    reach = (high - low) / 2 / math.sqrt(variance)
    # Satterthwaite's degrees of freedom lie between those of wordings (2) and of both (7)
    assert stats.t.ppf(0.975, k + n - 2) * 0.98 < reach < stats.t.ppf(0.975, k - 1) * 1.02


def test_correlations_and_shares_stay_in_their_range() -> None:
    """Fisher's z for correlations, Wilson's interval for shares; few wordings leave a reason instead of bounds."""
    norm = np.array([1, 2, 4, 5, 4, 1.5])
    correlated = over_wordings("spearman", list(RATINGS), ITEMS, norm=norm)
    assert correlated.values == pytest.approx([stats.spearmanr(row, norm).statistic for row in RATINGS])
    assert -1 < correlated.over_both.low < correlated.mean < correlated.over_both.high < 1
    right = over_wordings("accuracy", [[1, 1, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1]], ITEMS)
    assert right.values == pytest.approx((5 / 6, 1.0))
    assert 0 <= right.over_items.low <= right.over_items.high <= 1
    assert right.over_wordings.note == "no interval: 2 wordings are too few to be resampled"


def test_areas_over_wordings() -> None:
    """The area under the curve in each wording is scikit-learn's; intervals stay in the range of a share."""
    truth = np.array([1, 0, 1, 0, 1, 0])
    odds = np.array([[3, 1, 2, 2.5, 1, 0], [1, 0, 3, 2, 5, 4], [0, 1, 2, 1.5, 3, 1]])
    areas = over_wordings("auc", list(odds), ITEMS, norm=truth)
    assert areas.values == pytest.approx([roc_auc_score(truth, row) for row in odds], abs=1e-12)
    for interval in (*areas.intervals, areas.over_wordings, areas.over_items, areas.over_both):
        assert 0 <= interval.low <= interval.high <= 1


@pytest.mark.parametrize(
    ("statistic", "columns", "what"),
    [
        ("mean", [[1, 2, 3]], "two wordings or more"),
        ("median", [[1, 2, 3], [1, 2, 3]], "no statistic 'median' over wordings"),
        ("spearman", [[1, 2, 3], [1, 2, 3]], "needs a norm"),
        ("auc", [[1, 2, 3], [1, 2, 3]], "needs a norm"),
        ("mean", [[1, 2, math.nan], [1, 2, 3]], "mean"),
    ],
)
def test_what_has_no_statistic_is_refused(statistic: str, columns: list[list[float]], what: str) -> None:
    """One wording, an unknown statistic, no norm, a missing answer."""
    with pytest.raises(StatisticError, match=what):
        over_wordings(statistic, columns, ["a", "b", "c"])
