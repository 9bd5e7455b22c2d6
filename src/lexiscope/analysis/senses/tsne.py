"""t-SNE of a few points: places in the plane where near points stay near."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.core.errors import StatisticError, require

Doubles = NDArray[np.float64]


def tsne(points: ArrayLike, *, perplexity: float = 10.0, seed: int = 0) -> Doubles:
    """Return places in the plane for some points, centred on 0. *Shape:* (points, width) → (points, 2).

    scikit-learn's exact method: every pair is computed, for some hundred points at most. The same points and seed give
    the same places on one machine. Distances between far groups mean nothing; only what stands together does. The
    perplexity is at most a third of the other points. *Source:* van der Maaten & Hinton (2008).
    Errors: :class:`StatisticError` for fewer than two points, or numbers that are not finite;
    :class:`MissingExtraError` without scikit-learn.

    >>> a, b, _, d, _, _ = tsne([[0.0, 0.1], [0.1, 0.0], [0.1, 0.1], [9.0, 9.1], [9.1, 9.0], [9.1, 9.1]])
    >>> bool(np.linalg.norm(a - b) < np.linalg.norm(a - d))
    True
    """
    rows = np.asarray(points, np.float64)
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise StatisticError(f"t-SNE needs two points or more with finite numbers, not an array of shape {rows.shape}")
    manifold = require("sklearn.manifold", "senses")
    fewest = max(1.0, min(perplexity, (len(rows) - 1) / 3))
    # the start is drawn: with principal components two equal points would have none
    method = manifold.TSNE(perplexity=fewest, method="exact", init="random", random_state=seed)
    places = np.asarray(method.fit_transform(rows), np.float64)
    return np.asarray(places - places.mean(axis=0))
