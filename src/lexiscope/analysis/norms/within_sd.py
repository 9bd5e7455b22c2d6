"""Accuracy within SD: the share of predictions that are closer to the mean rating than people are to each other.

A prediction p of an item with mean m and standard deviation s is right where |p − m| < max(1, s), with the *sample* SD
(n − 1), and strictly. *Source:* AmbiStory §5.1 and the scoring script of SemEval-2026 Task 5. The population SD and
the inclusive edge are other statistics with other names: constant 4 scores .5581 on the test split, .5290 with the
population SD, and .6387 where the edge counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from lexiscope.analysis.accuracy import accuracy
from lexiscope.analysis.bootstrap import BoolArray, FloatArray, cluster_labels
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.predictions import RHO, Form, Predictions, Predictor, judged, rho_with_means, rounded
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Undefined, statistic_name

Spread = Literal["sample", "population"]
Edge = Literal["strict", "inclusive"]
Unread = Literal["left_out", "wrong"]
MajorityRule = Literal["rounded_mean", "rating"]

UNREAD: tuple[Unread, ...] = ("left_out", "wrong")
_FEWEST_GROUPS = 2
_FLOOR = 1.0
_TOLERANCE = 1e-9


def is_within_sd(predicted: FloatArray, mean: FloatArray, sd: FloatArray, *, edge: Edge = "strict") -> BoolArray:
    """Say of each prediction whether it is within max(1, sd) of the mean. *Shape:* (items,) each, or broadcast.

    Distances within 1e-9 of the threshold lie on it.

    >>> is_within_sd(np.array([4.0, 4.0]), np.array([3.0, 3.1]), np.array([0.5, 0.5])).tolist()
    [False, True]
    """
    distance, limit = np.abs(predicted - mean), np.maximum(_FLOOR, sd)
    return np.asarray(distance < limit - _TOLERANCE if edge == "strict" else distance < limit + _TOLERANCE)


def accuracy_within_sd(
    predictions: Predictions,
    ratings: Ratings,
    *,
    form: Form = "integer",
    spread: Spread = "sample",
    edge: Edge = "strict",
    unread: Unread = "left_out",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the share of items whose prediction is within max(1, SD) of the mean rating.

    *Unit:* share, 0 to 1. *Higher means:* closer to people. *groups* (item id → word, or setup) are resampled whole.
    Items without a prediction do not enter; the note counts them.
    *unread* says what becomes of items whose prediction is ``None``: they are excluded, or, in a statistic of another
    name, count as wrong; at least one prediction is needed either way.
    Errors: as :func:`lexiscope.analysis.norms.predictions.judged`.

    >>> people = Ratings.from_arrays(list("abcabc"), list("iiijjj"), [1, 2, 3, 1, 5, 5])
    >>> found = accuracy_within_sd({"i": 3, "j": 2}, people, resamples=0)  # |3 - 2| = 1; |2 - 11 / 3| < 2.31
    >>> found.name, found.value
    ('accuracy_within_sd(sd=sample,edge=strict,predictions=integer)', 0.5)
    >>> more = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 2, 1, 5, 2, 2])
    >>> read = {"i": 2, "j": None, "k": 5}
    >>> [accuracy_within_sd(read, more, unread=rule, resamples=0).value for rule in ("left_out", "wrong")]
    [0.5, 0.3333333333333333]
    """
    both = judged(predictions, ratings, form=form)
    sd = both.sd if spread == "sample" else both.sd * np.sqrt((both.n_ratings - 1) / both.n_ratings)
    right = is_within_sd(both.predicted, both.mean, sd, edge=edge)
    labels = both.labels(groups)
    missing = sorted(set(predictions) - set(both.item_ids)) if unread == "wrong" else []
    clusters = None if labels is None else cluster_labels([*both.item_ids, *missing], groups, what="group")
    right = np.concatenate([right, np.zeros(len(missing), dtype=bool)])
    share = accuracy(right, clusters=clusters, level=level, resamples=resamples, seed=seed)
    n_missing = both.n_missing - len(missing)
    note = f"over readable replies: {n_missing} samples without a prediction" if n_missing else ""
    name = accuracy_name(form, unread=unread, edge=edge, spread=spread)
    return Estimate(name, share.value, share.clustered, share.n, share.n_clusters, note=note)


def scores(
    predictor: Predictor,
    ratings: Ratings,
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the correlation of a subject's predictions with the mean ratings, and its accuracy within SD.

    The accuracy is that of whole predictions (others are rounded, halves up); the same with unread items as wrong; and,
    for predictions that are not whole, as they are. Predictions of items without ratings are passed over. Without
    readable predictions, or with items of one group alone, they are undefined.

    >>> people = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 2, 1, 5, 2, 2])
    >>> nothing = Predictor("m", "m", {"i": None, "j": None}, "integer", 2, {}, 1)
    >>> [result.records()[0].value for result in scores(nothing, people)]
    [None, None, 0.0]
    """
    rated = set(ratings.item_ids)
    own = {item: value for item, value in predictor.predictions.items() if item in rated}
    read = [item for item, value in own.items() if value is not None]
    form = predictor.whole_form
    right, strict = (accuracy_name(form, unread=unread) for unread in UNREAD)
    if not read:
        reason = "no reply could be read"
        nothing = Estimate(strict, 0.0, n=len(own), note=reason)
        return Undefined(RHO, reason), Undefined(right, reason), nothing
    if groups is not None and len({groups[item] for item in read}) < _FEWEST_GROUPS:
        reason = "readable replies to items of one word only: nothing to resample"
        return Undefined(RHO, reason), Undefined(right, reason)

    def accuracy_of(form: Form, unread: Unread) -> Estimate:
        return accuracy_within_sd(
            own, ratings, form=form, unread=unread, groups=groups, level=level, resamples=resamples, seed=seed
        )

    rho = rho_with_means(own, ratings, groups=groups, level=level, resamples=resamples, seed=seed)
    raw = [accuracy_of("raw", "left_out")] if predictor.form == "raw" else []
    return rho, *(accuracy_of(form, unread) for unread in UNREAD), *raw


def random_within_sd(ratings: Ratings, points: Sequence[float] = (1, 2, 3, 4, 5)) -> Estimate:
    """Return what guesses score that take every point of the scale with the same chance.

    The expectation is a closed form, unlike a single draw (the paper's .454 is one); its note gives the SD of one draw.
    Errors: :class:`StatisticError` where an item has fewer than two ratings.

    >>> people = Ratings.from_arrays(list("abab"), list("iijj"), [1, 1, 5, 5])
    >>> expected = random_within_sd(people)  # each item: one point of five
    >>> expected.value, expected.note  # sqrt(2 * .2 * .8) / 2
    (0.2, 'expectation over guesses; SD of one set of guesses 0.2828')
    """
    chance = _right_points(ratings, points).mean(axis=1)
    sd = math.sqrt(float((chance * (1 - chance)).sum())) / len(chance)
    name = statistic_name("expected_accuracy_within_sd", sd="sample", edge="strict", guesses="uniform")
    note = f"expectation over guesses; SD of one set of guesses {sd:.4f}"
    return Estimate(name, float(chance.mean()), n=len(chance), note=note)


def majority_within_sd(
    ratings: Ratings,
    source: Ratings,
    *,
    source_name: str,
    rule: MajorityRule = "rounded_mean",
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, Estimate]:
    """Return the most frequent label of *source*, and its accuracy as the prediction of every item of *ratings*.

    *rule*: the mode of the rounded means (halves up), or of the ratings. *source_name* says what *source* is (``all
    splits``, ``train``): AmbiStory's label 4 is the mode of rounded means over all splits, not over test (3).
    Errors: :class:`StatisticError` where two labels are equally frequent, or an item has fewer than two ratings.
    """
    values = rounded(source.means()) if rule == "rounded_mean" else source.value
    labels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    best = np.flatnonzero(counts == counts.max())
    if len(best) > 1:
        tied = " and ".join(f"{labels[k]:g}" for k in best)
        raise StatisticError(f"{tied} are equally frequent in {source_name}: there is no majority label")
    label = float(labels[best[0]])
    predictions = dict.fromkeys(ratings.item_ids, label)
    return label, accuracy_within_sd(predictions, ratings, groups=groups, level=level, resamples=resamples, seed=seed)


def constant_scores(label: float, ratings: Ratings) -> tuple[Estimate | Undefined, ...]:
    """Return what one label for every item scores by other definitions: where the edge counts, by the population SD.

    The third is the correlation, which a constant does not have. None has an interval. The definition decides:
    AmbiStory's label 4 scores .5581 on test by the strict one, .6387 where the edge counts, .5290 by the population SD.
    """
    constant = dict.fromkeys(ratings.item_ids, label)
    return (
        accuracy_within_sd(constant, ratings, edge="inclusive", resamples=0).about(interval=NO_INTERVAL),
        accuracy_within_sd(constant, ratings, spread="population", resamples=0).about(interval=NO_INTERVAL),
        rho_with_means(constant, ratings, resamples=0),
    )


def _right_points(ratings: Ratings, points: Sequence[float]) -> BoolArray:
    """Which points of the scale are right for each item. *Shape:* (items, points)."""
    sd = item_sd(ratings)
    if np.isnan(sd).any() or not len(points):
        raise StatisticError("accuracy within SD needs two ratings of every item, and the points of the scale")
    scale = np.asarray(points, dtype=np.float64)[None, :]
    return is_within_sd(scale, ratings.means()[:, None], sd[:, None])


def accuracy_name(
    form: Form = "integer", *, unread: Unread = "left_out", edge: Edge = "strict", spread: Spread = "sample"
) -> str:
    """Return the name of an accuracy within SD: the definition and the form of the predictions are parts of it.

    >>> accuracy_name("raw")
    'accuracy_within_sd(sd=sample,edge=strict,predictions=raw)'
    """
    more = {"unread": unread} if unread == "wrong" else {}
    return statistic_name("accuracy_within_sd", sd=spread, edge=edge, predictions=form, **more)


WHOLE = (accuracy_name("integer"), accuracy_name("rounded"))
"""The accuracy within SD of whole predictions: as given, or rounded."""
UNREAD_WRONG = (accuracy_name("integer", unread="wrong"), accuracy_name("rounded", unread="wrong"))
"""The same where a sample without a readable reply counts as wrong."""
