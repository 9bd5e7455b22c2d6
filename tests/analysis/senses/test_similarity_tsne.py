"""t-SNE: groups are kept apart, the seed decides, and what has no places is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lexiscope.analysis.senses.similarity import tsne
from lexiscope.core.errors import MissingExtraError, StatisticError


def clusters(seed: int = 3, width: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    centres, labels = rng.normal(size=(3, width)), np.repeat(np.arange(3), 11)
    rows = centres[labels] + 0.5 * rng.normal(size=(33, width))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


def test_groups_stand_apart() -> None:
    """Every point's nearest place is one of its own group."""
    rows, labels = clusters()
    places = tsne(rows)
    apart = np.linalg.norm(places[:, None] - places, axis=-1) + np.where(np.eye(33), np.inf, 0)
    assert (labels[apart.argmin(axis=1)] == labels).all()
    assert np.abs(places.mean(axis=0)).max() < 1e-9


def test_the_seed_decides() -> None:
    """The same seed gives the same places, another seed others."""
    rows, _ = clusters()
    assert (tsne(rows, seed=4) == tsne(rows, seed=4)).all()
    assert not np.allclose(tsne(rows, seed=4), tsne(rows, seed=5))


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [[np.nan, 1.0], [0.0, 0.0]], [1.0, 2.0]])
def test_too_little_is_refused(points: list[object]) -> None:
    """One point, a number that is not finite, and a row instead of a table are refused."""
    with pytest.raises(StatisticError, match="two points"):
        tsne(points)


def test_points_at_one_place() -> None:
    """Two equal points, and a set in which all are equal, still get finite places."""
    assert np.isfinite(tsne(np.ones((2, 3)))).all()
    assert np.isfinite(tsne(np.ones((5, 3)))).all()


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    with pytest.raises(MissingExtraError, match="sklearn"):
        tsne(np.eye(3))
