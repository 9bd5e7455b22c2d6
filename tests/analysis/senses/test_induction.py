"""Senses from vectors of usages: planted clusters come out, and one cloud is one sense, whatever chooses the number."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.senses.induction import RULES, Rule, cluster_usages
from lexiscope.core.errors import StatisticError


def planted(n_senses: int, *, seed: int, n: int = 40, width: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Usages of senses whose centres are drawn at random, about 7.7 SD from each other, and which sense each has."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 1, (n_senses, width))
    gold = np.repeat(np.arange(n_senses), n)
    return centres[gold] + rng.normal(0, 1, (n * n_senses, width)), gold


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_senses", [1, 2, 3])
def test_as_many_senses_as_were_planted(rule: Rule, n_senses: int) -> None:
    """Each rule chooses the planted number, of one sense too; usages of one planted sense are in one cluster."""
    points, gold = planted(n_senses, seed=1)
    senses = cluster_usages(points, rule=rule)
    assert senses.n_senses == n_senses
    table = np.array([[np.sum((senses.labels == k) & (gold == g)) for g in range(n_senses)] for k in range(n_senses)])
    assert table.max(axis=1).sum() >= 0.95 * len(gold)


def test_shares_centres_and_spread_are_those_of_the_clusters() -> None:
    """Two far clouds of 60 and 20 usages: shares 3/4 and 1/4, the larger first, centres near their means, spread 1."""
    rng = np.random.default_rng(3)
    points = np.vstack([rng.normal(0, 1, (60, 5)), rng.normal(20, 1, (20, 5))])
    senses = cluster_usages(points, n_senses=2, dimensions=5)
    assert senses.shares == pytest.approx([0.75, 0.25])
    assert senses.labels.tolist() == [0] * 60 + [1] * 20
    np.testing.assert_allclose(senses.centres, [points[:60].mean(axis=0), points[60:].mean(axis=0)], atol=1e-6)
    residuals = np.vstack([points[:60] - points[:60].mean(axis=0), points[60:] - points[60:].mean(axis=0)])
    assert senses.spread == pytest.approx(residuals.std(), rel=1e-6)
    assert senses.scores == {}


def test_too_few_usages_are_refused() -> None:
    """Nine usages, more senses than half of the usages, a number that is none."""
    with pytest.raises(StatisticError, match="ten usages"):
        cluster_usages(np.zeros((9, 3)))
    with pytest.raises(StatisticError, match="11 senses cannot be distinguished in 20 usages"):
        cluster_usages(np.eye(20), n_senses=11)
    with pytest.raises(StatisticError, match="finite"):
        cluster_usages(np.full((20, 2), np.nan))
