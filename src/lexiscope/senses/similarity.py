"""Similarity of words and of usages from the vectors of their senses: MaxSim, AvgSim, MaxSimC, AvgSimC.

Pairs are the first axis of every array. A word with fewer senses than others has rows of padding: a sense that is not
there has probability 0 and is false in the mask; what its vector holds plays no part. A pair of which a word or a usage
has no sense at all is not covered: its similarity is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.core.errors import StatisticError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
_SUM_TO_ONE = 1e-3


def sense_cosines(left: ArrayLike, right: ArrayLike) -> FloatArray:
    """Return the cosine of every sense of the left word with every sense of the right one; NaN for a vector of zeros.

    *Shape:* left (pairs, K, width), right (pairs, L, width) → (pairs, K, L). Errors: :class:`StatisticError` for other
    shapes.

    >>> sense_cosines([[[1, 0], [0, 2]]], [[[3, 0], [3, 3]]]).round(3).tolist()  # 1/1, 3/√18; 0, 3/√18
    [[[1.0, 0.707], [0.0, 0.707]]]
    """
    a, b = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if a.ndim != 3 or b.ndim != 3 or len(a) != len(b) or a.shape[2] != b.shape[2]:
        raise StatisticError(f"senses are (pairs, senses, width) on both sides, not {a.shape} and {b.shape}")
    return np.asarray(np.einsum("pkd,pld->pkl", _unit(a), _unit(b)))


def max_sim(
    left: ArrayLike, right: ArrayLike, *, left_mask: ArrayLike | None = None, right_mask: ArrayLike | None = None
) -> FloatArray:
    """Return MaxSim: the cosine of the two senses, one of each word, that are nearest to each other.

    *Shape:* left (pairs, K, width), right (pairs, L, width), masks (pairs, K) and (pairs, L) → (pairs,).
    *Higher means:* more similar; −1 to 1. *Source:* eq. 13. Errors: :class:`StatisticError` for other shapes, or a
    sense of length zero.

    >>> max_sim([[[1, 0], [0, 1]]], [[[3, 4], [-1, 0]]])  # cosines .6, -1; .8, 0
    array([0.8])
    >>> max_sim([[[1, 0], [0, 1]]], [[[3, 4], [-1, 0]]], left_mask=[[True, False]])
    array([0.6])
    """
    cosines = sense_cosines(left, right)
    there = _pair_mask(_mask(left_mask, cosines.shape[:2]), _mask(right_mask, (len(cosines), cosines.shape[2])))
    best = np.where(there, _defined_cosines(cosines, there), -np.inf).max(axis=(1, 2))
    return np.asarray(np.where(np.isfinite(best), best, np.nan))


def avg_sim(
    left: ArrayLike, right: ArrayLike, *, left_mask: ArrayLike | None = None, right_mask: ArrayLike | None = None
) -> FloatArray:
    """Return AvgSim: the mean cosine of all pairs of senses, one of each word, in any context.

    *Shape:* as :func:`max_sim`. *Higher means:* more similar; −1 to 1. *Source:* Reisinger & Mooney 2010. Errors: those
    of :func:`max_sim`.

    >>> avg_sim([[[1, 0], [0, 1]]], [[[3, 4], [-1, 0]]]).round(3)  # (.6 - 1 + .8 + 0) / 4
    array([0.1])
    """
    cosines = sense_cosines(left, right)
    there = _pair_mask(_mask(left_mask, cosines.shape[:2]), _mask(right_mask, (len(cosines), cosines.shape[2])))
    total, count = np.where(there, _defined_cosines(cosines, there), 0.0).sum(axis=(1, 2)), there.sum(axis=(1, 2))
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


def max_sim_c(left: ArrayLike, right: ArrayLike, left_p: ArrayLike, right_p: ArrayLike) -> FloatArray:
    """Return MaxSimC: the cosine of the sense that is most probable on the left with that on the right.

    Of equally probable senses the first counts. *Shape:* left (pairs, K, width), right (pairs, L, width), probabilities
    (pairs, K) and (pairs, L) → (pairs,). *Higher means:* more similar; −1 to 1. *Source:* Reisinger & Mooney 2010.
    Errors: :class:`StatisticError` for other shapes, probabilities that do not sum to 1 (0 where the word is not
    covered), or a sense of length zero.

    >>> max_sim_c([[[1, 0], [0, 1]]], [[[3, 4], [-1, 0]]], [[0.9, 0.1]], [[0.7, 0.3]])  # the first of each
    array([0.6])
    """
    cosines, a, b = _cosines_and_probabilities(left, right, left_p, right_p)
    rows = np.arange(len(cosines))
    similarities = cosines[rows, a.argmax(axis=1), b.argmax(axis=1)]
    return np.asarray(np.where(_has_senses(a, b), similarities, np.nan))


def avg_sim_c(left: ArrayLike, right: ArrayLike, left_p: ArrayLike, right_p: ArrayLike) -> FloatArray:
    """Return AvgSimC: the cosines of all K × K pairs of senses, weighted with the probabilities of both in context.

    *Shape:* as :func:`max_sim_c`. *Higher means:* more similar; −1 to 1. *Source:* §5; Reisinger & Mooney 2010, without
    their constant 1/K², as the probabilities sum to 1. Errors: those of :func:`max_sim_c`.

    >>> avg_sim_c([[[1, 0], [0, 1]]], [[[3, 4], [-1, 0]]], [[0.5, 0.5]], [[0.5, 0.5]]).round(3)  # (.6 - 1 + .8 + 0) / 4
    array([0.1])
    """
    cosines, a, b = _cosines_and_probabilities(left, right, left_p, right_p)
    similarities = np.einsum("pk,pkl,pl->p", a, cosines, b)
    return np.asarray(np.where(_has_senses(a, b), similarities, np.nan))


def avg_sim_c_upper(left: ArrayLike, right: ArrayLike, left_p: ArrayLike, right_p: ArrayLike) -> FloatArray:
    """Return AvgSimC as it is printed, with a sum over j ≥ i only: pairs of senses below the diagonal are excluded.

    It depends on which word is first and on how senses are numbered; :func:`avg_sim_c` does not, and is the one to
    report. *Shape:* as :func:`max_sim_c`, with K = L. *Higher means:* more similar. *Source:* §5, as printed. Errors:
    those of :func:`max_sim_c`, and for unequal numbers of senses.

    >>> avg_sim_c_upper([[[1, 0], [0, 1]]], [[[3, 4], [-1, 0]]], [[0.5, 0.5]], [[0.5, 0.5]]).round(3)  # (.6 - 1 + 0)/4
    array([-0.1])
    """
    cosines, a, b = _cosines_and_probabilities(left, right, left_p, right_p)
    if cosines.shape[1] != cosines.shape[2]:
        what = f"a sum over j >= i needs as many senses on both sides, not {cosines.shape[1]} and {cosines.shape[2]}"
        raise StatisticError(what, hint="fill up with senses of probability 0")
    similarities = np.einsum("pk,pkl,pl->p", a, np.triu(cosines), b)
    return np.asarray(np.where(_has_senses(a, b), similarities, np.nan))


def nearest_sense(senses: ArrayLike, context: ArrayLike, *, mask: ArrayLike | None = None) -> IntArray:
    """Return the sense that is nearest to the mean of its context, for vectors without a selector.

    The cosine decides; the first of equals counts; −1 if a word has no sense or its context has no direction.
    *Shape:* senses (usages, K, width), context (usages, width), the means of the vectors of the words around; mask
    (usages, K) → (usages,). *Source:* §5 (DeConf, SW2V). Errors: :class:`StatisticError` for other shapes, or a sense
    of length zero.

    >>> nearest_sense([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [[1, 2], [0, 0]])
    array([ 1, -1])
    """
    means = np.asarray(context, np.float64)
    if means.ndim != 2:
        raise StatisticError(f"context means are (usages, width), not {means.shape}")
    cosines = sense_cosines(senses, means[:, None, :])
    directed = (means != 0).any(axis=1)
    there = _mask(mask, cosines.shape[:2]) & directed[:, None]
    near = np.where(there, _defined_cosines(cosines, there[:, :, None])[:, :, 0], -np.inf)
    return np.where(there.any(axis=1), near.argmax(axis=1), -1).astype(np.int64)


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.full(vectors.shape, np.nan), where=lengths > 0))


def _mask(mask: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    checked = np.ones(shape, bool) if mask is None else np.asarray(mask, bool)
    if checked.shape != shape:
        raise StatisticError(f"a mask of shape {checked.shape} does not go with senses of shape {shape}")
    return checked


def _pair_mask(left: BoolArray, right: BoolArray) -> BoolArray:
    return np.asarray(left[:, :, None] & right[:, None, :])


def _defined_cosines(cosines: FloatArray, there: BoolArray) -> FloatArray:
    """Return cosines with 0 for senses that are not there; refuse those that are there and have no direction."""
    undefined = np.isnan(cosines)
    bad = undefined & there
    if bad.any():
        pair = int(np.nonzero(bad)[0][0])
        what = f"pair {pair}: a sense that is there has a vector of zeros or without numbers, and no cosine"
        raise StatisticError(what, hint="mask the sense, or give it probability 0")
    return np.asarray(np.where(undefined, 0.0, cosines))


def _cosines_and_probabilities(
    left: ArrayLike, right: ArrayLike, left_p: ArrayLike, right_p: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    cosines = sense_cosines(left, right)
    a = _probabilities(left_p, cosines.shape[:2])
    b = _probabilities(right_p, (len(cosines), cosines.shape[2]))
    return _defined_cosines(cosines, _pair_mask(a > 0, b > 0)), a, b


def _probabilities(p: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    probabilities = np.asarray(p, np.float64)
    if probabilities.shape != shape:
        raise StatisticError(f"probabilities of shape {probabilities.shape} do not go with senses of shape {shape}")
    totals = probabilities.sum(axis=1)
    bad = ~((np.abs(totals - 1) <= _SUM_TO_ONE) | (totals == 0)) | (probabilities < 0).any(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        what = (
            f"pair {row}: the probabilities of its senses are {probabilities[row].tolist()}, and sum to {totals[row]:g}"
        )
        raise StatisticError(what, hint="they sum to 1, or are all 0 where the word is not covered")
    return probabilities


def _has_senses(left_p: FloatArray, right_p: FloatArray) -> BoolArray:
    return np.asarray((left_p.sum(axis=1) > 0) & (right_p.sum(axis=1) > 0))
