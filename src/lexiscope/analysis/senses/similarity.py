"""Rank correlation of similarities with people's ratings, with the coverage of pairs; and t-SNE of a few points.

A pair of which a word is out of the vocabulary has no similarity (NaN): it is not covered. The similarities are those
of :mod:`lexiscope.senses.similarity`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.bootstrap import GroupLabels, groups_of
from lexiscope.analysis.correlation import spearman
from lexiscope.core.errors import StatisticError, require
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Record, statistic_name


def similarity_name(measure: str, *, uncovered: float | None = None) -> str:
    """Return the name of the correlation of a similarity with ratings, over covered pairs or over all of them.

    >>> similarity_name("max_sim", uncovered=0)
    'spearman_x100(similarity=max_sim,uncovered=0)'
    """
    rule = {} if uncovered is None else {"uncovered": f"{uncovered:g}"}
    return statistic_name("spearman_x100", similarity=measure, **rule)


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
    chosen = groups_of(groups, there) or GroupLabels(range(int(there.sum())), "pairs")
    # cosines of equal vectors may differ in their last bits, which must not break ties
    rho = spearman(x[there], y[there], groups=chosen, level=level, resamples=resamples, seed=seed, decimals=10).times(
        100, "100 × rho"
    )
    return replace(rho, name=similarity_name(measure, uncovered=uncovered))


def similarity_results(
    answers: ResponseColumns,
    ratings: Sequence[tuple[str, float]],
    *,
    subjects: Sequence[str],
    measures: Sequence[str],
    words: Sequence[str],
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Record, ...]:
    """Return how well the similarities of each subject agree with ratings: coverage, then each measure's correlations.

    *answers* hold a row of each measure for each subject and pair; *ratings* are the mean rating of each pair, by item
    id; *words* the word of each pair, which is resampled. A measure is correlated over covered pairs, and over all of
    them, an uncovered one with similarity 0. What is undefined is a number without a value that has the reason.
    """
    item_ids, means = [item_id for item_id, _ in ratings], [mean for _, mean in ratings]
    labels, results = GroupLabels(words, "words"), list[Estimate | Record]()
    for subject in subjects:
        given = answers.where(subject_id=subject)
        for measure in measures:
            value = given.where(measure=measure).by_item()
            similarity = np.array([value[item_id] for item_id in item_ids], dtype=np.float64)
            known = np.isfinite(similarity)
            if measure == measures[0]:
                share, note = 100 * int(known.sum()) / len(known), f"{int(known.sum())} pairs"
                coverage = Estimate("coverage", share, n=len(known), unit="percent", note=note)
                results.append(coverage.about(subject=subject))
            for uncovered, there in ((None, known), (0.0, np.ones_like(known))):
                # pairs of one word cannot be resampled
                several = len(set(groups_of(labels, there) or ())) > 1
                how = {"groups": labels, "resamples": resamples} if several else {"resamples": 0}
                try:
                    rho = similarity_correlation(
                        similarity, means, measure=measure, uncovered=uncovered, seed=seed, **how
                    )
                    results.append(rho.about(subject=subject))
                except StatisticError as error:
                    name = similarity_name(measure, uncovered=uncovered)
                    results.append(Record(name, None, subject, note=f"undefined: {error.what}"))
    return tuple(results)


# -- t-SNE of a few points: places in the plane where near points stay near -----------------------------------------


Doubles = NDArray[np.float64]


def tsne(points: ArrayLike, *, perplexity: float = 10.0, seed: int = 0) -> Doubles:
    """Return places in the plane for some points, centred on 0. *Shape:* (points, width) → (points, 2).

    scikit-learn's exact method: every pair is computed, for some hundred points at most. The same points and seed give
    the same places on one machine. Distances between far groups mean nothing; only what is together does. The
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
