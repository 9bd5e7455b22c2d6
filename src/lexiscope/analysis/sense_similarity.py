"""Rank correlation of similarities with people's ratings: how many pairs are covered, and what the others count.

A pair of which a word is out of the vocabulary has no similarity (NaN): it is not covered. The similarities are those
of :mod:`lexiscope.items.sense_similarity`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.correlation import spearman
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name


def similarity_correlation(
    similarity: ArrayLike,
    ratings: ArrayLike,
    *,
    measure: str,
    uncovered: float | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return Spearman's rho × 100 of similarities with mean ratings, over the ``n`` pairs that are covered (not NaN).

    With *uncovered*, the other pairs count too, as if they had that similarity: a subject is then not rewarded for
    knowing few words, and ``n`` is the number of all pairs. The interval resamples pairs, or *groups* of pairs that
    share a word. ``measure`` names the similarity.
    *Shape:* similarity, ratings, groups (pairs,). *Unit:* 100 × rho. *Higher means:* more like people; −100 to 100.
    Errors: :class:`StatisticError` for fewer than 3 covered pairs, constant numbers, a missing rating.

    >>> found = similarity_correlation([0.1, 0.5, np.nan, 0.9, 0.7], [1, 2, 3, 4, 5], measure="max_sim", resamples=99)
    >>> round(found.value, 6), found.n  # ranks 1 2 4 3 and 1 2 3 4: 1 - 6 * 2 / (4 * 15)
    (80.0, 4)
    >>> similarity_correlation([0.1, np.nan, 0.9], [1, 2, 3], measure="max_sim", uncovered=0, resamples=9).name
    'spearman_x100(similarity=max_sim,uncovered=0)'
    """
    x, y = np.asarray(similarity, np.float64), np.asarray(ratings, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise StatisticError(f"similarities and ratings are two columns of one length, not {x.shape} and {y.shape}")
    covered = ~np.isnan(x)
    there = covered if uncovered is None else np.ones(len(x), np.bool_)
    x = x if uncovered is None else np.where(covered, x, uncovered)
    chosen = None if groups is None else np.asarray(groups)[there]
    # cosines of equal vectors may differ in their last bits, which must not break ties
    found = spearman(x[there], y[there], groups=chosen, level=level, resamples=resamples, seed=seed, decimals=10).times(
        100, "100 × rho"
    )
    rule = {} if uncovered is None else {"uncovered": f"{uncovered:g}"}
    return replace(found, name=statistic_name("spearman_x100", similarity=measure, **rule))
