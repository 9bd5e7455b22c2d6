"""t-SNE: as good a picture as the reference implementation finds, groups kept apart, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.tsne import affinities, divergence, tsne
from lexiscope.core.errors import StatisticError


def clusters(seed: int = 3, width: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres, labels = rng.normal(size=(3, width)), np.repeat(np.arange(3), 11)
    rows = centres[labels] + 0.5 * rng.normal(size=(33, width))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


@pytest.mark.parametrize("seed", range(3))
def test_as_near_as_the_reference(seed: int) -> None:
    """The divergence is at most 15 % above that of scikit-learn's exact method at the same perplexity."""
    manifold = pytest.importorskip("sklearn.manifold")
    rows, _ = clusters(seed)
    reference = manifold.TSNE(perplexity=10, method="exact", init="random", random_state=seed).fit_transform(rows)
    shares = affinities(rows, 10)
    assert divergence(shares, tsne(rows, seed=seed)) <= 1.15 * divergence(shares, reference.astype(float))


def test_affinities_have_the_perplexity() -> None:
    """Row sums of conditional shares are 1, all pairs sum to 1, and a wider perplexity spreads them."""
    rows, _ = clusters()
    narrow, wide = affinities(rows, 3), affinities(rows, 10)
    for shares in (narrow, wide):
        assert shares.sum() == pytest.approx(1, abs=1e-6)
        np.testing.assert_allclose(shares, shares.T)
    assert (narrow**2).sum() > (wide**2).sum()


def test_groups_stand_apart() -> None:
    """Every point's nearest place is one of its own group."""
    rows, labels = clusters()
    places = tsne(rows)
    apart = np.linalg.norm(places[:, None] - places, axis=-1) + np.where(np.eye(33), np.inf, 0)
    assert (labels[apart.argmin(axis=1)] == labels).all()
    assert np.abs(places.mean(axis=0)).max() < 1e-9


def test_the_seed_decides() -> None:
    """The same seed gives the same places, another seed others; the unit of the points gives the same affinities."""
    rows, _ = clusters()
    assert (tsne(rows, seed=4) == tsne(rows, seed=4)).all()
    assert not np.allclose(tsne(rows, seed=4), tsne(rows, seed=5))
    np.testing.assert_allclose(affinities(1000 * rows, 5), affinities(rows, 5), atol=1e-9)


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [[np.nan, 1.0], [0.0, 0.0]], [1.0, 2.0]])
def test_too_little_is_refused(points: list[object]) -> None:
    """One point, a number that is not finite, and a row instead of a table are refused."""
    with pytest.raises(StatisticError, match="two points"):
        tsne(points)


def test_points_at_one_place() -> None:
    """Two equal points, and a set in which all are equal, still get finite places."""
    assert np.isfinite(tsne(np.ones((2, 3)))).all()
    assert np.isfinite(tsne(np.ones((5, 3)))).all()
