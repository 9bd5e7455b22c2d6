"""The p of a correlation by t, against scipy; what has no p is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.correlation_test import correlation_p
from lexiscope.core.errors import StatisticError


def test_it_is_the_p_that_scipy_gives() -> None:
    """On 40 pairs with ties, for Spearman and Pearson."""
    generator = np.random.default_rng(3)
    x, y = generator.integers(0, 6, 40), generator.integers(0, 6, 40)
    for found in (stats.spearmanr(x, y), stats.pearsonr(x, y)):
        assert correlation_p(float(found.statistic), 40) == pytest.approx(float(found.pvalue), rel=1e-9)


def test_a_perfect_correlation_and_what_has_no_p() -> None:
    """p is 0 at 1; three items, and an r beyond 1, have none."""
    assert correlation_p(-1.0, 10) == 0.0
    for r, n in ((0.5, 3), (1.5, 10)):
        with pytest.raises(StatisticError, match="has no p"):
            correlation_p(r, n)
