"""t-SNE of a few points, exactly: places in the plane where near points stay near.

For some hundred points at most: every pair is computed. *Source:* van der Maaten & Hinton (2008), with the early
exaggeration, gains and momentum of their own program.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.core.errors import StatisticError

Doubles = NDArray[np.float64]

_EXAGGERATION, _EXAGGERATED = 12.0, 0.25
_SMALL = 1e-12
_HALVINGS = 60
# of the number of points; larger steps go round the minimum where there are few
_RATE = 0.1


def tsne(points: ArrayLike, *, perplexity: float = 10.0, iterations: int = 500, seed: int = 0) -> Doubles:
    """Return places in the plane for some points, centred on 0. *Shape:* (points, width) → (points, 2).

    The same points and seed give the same places on one machine. Distances between far groups mean nothing; only what
    stands together does. The perplexity is at most a third of the other points. Errors: :class:`StatisticError` for
    fewer than two points, or numbers that are not finite.

    >>> a, b, _, d, _, _ = tsne([[0.0, 0.1], [0.1, 0.0], [0.1, 0.1], [9.0, 9.1], [9.1, 9.0], [9.1, 9.1]])
    >>> bool(np.linalg.norm(a - b) < np.linalg.norm(a - d))
    True
    """
    rows = np.asarray(points, np.float64)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise StatisticError(f"t-SNE needs two points or more with finite numbers, not an array of shape {rows.shape}")
    shares = affinities(rows, perplexity)
    places = np.random.default_rng(seed).normal(scale=1e-4, size=(len(rows), 2))
    step, gains = np.zeros_like(places), np.ones_like(places)
    rate, exaggerated = _RATE * len(rows), int(iterations * _EXAGGERATED)
    for iteration in range(iterations):
        early = iteration < exaggerated
        if iteration == exaggerated:
            step, gains = np.zeros_like(places), np.ones_like(places)
        slope = _gradient(shares * (_EXAGGERATION if early else 1.0), places)
        gains = np.maximum(np.where(np.sign(slope) == np.sign(step), gains * 0.8, gains + 0.2), 0.01)
        step = (0.5 if early else 0.8) * step - rate * gains * slope
        places = places + step
        places -= places.mean(axis=0)
    return places


def affinities(points: Doubles, perplexity: float) -> Doubles:
    """Return how near pairs of points are, as shares that sum to 1 over all pairs. *Shape:* (points, points).

    Each point has a Gaussian of its own width, such that the entropy of its neighbours is log(*perplexity*), at most
    log of a third of them; the two directions of a pair are averaged.
    """
    squares = _squares(points)
    target = np.log(max(1.0, min(perplexity, (len(points) - 1) / 3)))
    low, high = np.zeros(len(points)), np.full(len(points), np.inf)
    # the mean squared distance is a good first width, whatever the unit of the points
    precision = np.full(len(points), 1.0) / np.maximum(squares.sum(axis=1) / max(1, len(points) - 1), _SMALL)
    for _ in range(_HALVINGS):
        shares, entropy = _conditional(squares, precision)
        wide = entropy > target
        low, high = np.where(wide, precision, low), np.where(wide, high, precision)
        precision = np.where(np.isfinite(high), (low + high) / 2, precision * 2)
    shares, _ = _conditional(squares, precision)
    return np.asarray(np.maximum((shares + shares.T) / (2 * len(points)), _SMALL))


def divergence(shares: Doubles, places: Doubles) -> float:
    """Return what t-SNE makes small: the divergence of the places from the affinities. *Unit:* nats."""
    heavy = 1 / (1 + _squares(places))
    np.fill_diagonal(heavy, 0.0)
    found = np.maximum(heavy / heavy.sum(), _SMALL)
    apart = ~np.eye(len(places), dtype=bool)
    return float((shares[apart] * np.log(shares[apart] / found[apart])).sum())


def _gradient(shares: Doubles, places: Doubles) -> Doubles:
    heavy = 1 / (1 + _squares(places))
    np.fill_diagonal(heavy, 0.0)
    pull = (shares - heavy / heavy.sum()) * heavy
    return np.asarray(4 * (pull.sum(axis=1)[:, None] * places - pull @ places))


def _squares(points: Doubles) -> Doubles:
    lengths = np.einsum("ij,ij->i", points, points)
    return np.asarray(np.maximum(lengths[:, None] + lengths - 2 * points @ points.T, 0.0))


def _conditional(squares: Doubles, precision: Doubles) -> tuple[Doubles, Doubles]:
    """Return p(j | i) and its entropy for each point. *Unit:* nats."""
    scores = -squares * precision[:, None]
    np.fill_diagonal(scores, -np.inf)
    scores = scores - scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    totals = weights.sum(axis=1)
    np.fill_diagonal(scores, 0.0)
    shares = weights / totals[:, None]
    return shares, np.log(totals) - (shares * scores).sum(axis=1)
