"""The words nearest to any vectors among induced senses, as deep as is wanted: of every word its nearest sense.

:meth:`lexiscope.senses.induced_senses.InducedSenses.neighbours` finds the few neighbours of a sense. Tests for people
need hundreds of them, to find intruders that are about as frequent as a word, and the neighbours of random vectors;
spellings that differ in case are one word to a reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.senses.induced_senses import InducedSenses

Doubles = np.ndarray[Any, np.dtype[np.float64]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

QUERY_BLOCK, SENSE_BLOCK = 128, 16384
"""How many queries and senses are compared at once: they bound the memory and change no result."""

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class NearWord:
    """A word near a vector: ``distance`` is the cosine distance of its nearest sense, lower = nearer."""

    word: str
    distance: float


def near_words(
    senses: InducedSenses, queries: Floats, n: int = 10, *, without: Sequence[str] = (), min_count: int = 0
) -> tuple[tuple[NearWord, ...], ...]:
    """Return the *n* nearest words of each query vector, the nearest first; the nearest sense of each word counts.

    *without* names for each query a word that is excluded, in any case; the nearest of several spellings of one word
    is taken. Ties, to 12 digits, go to the word that is first. Words below *min_count* occurrences are not
    neighbours, nor are senses whose vector has length 0: they have no direction. *Shape:* queries (queries, width).
    *Source:* GASI §4. Errors: :class:`InputError` for a query without direction, one without a word if some have
    one, *n* below 1, and a *min_count* if no counts are known.

    >>> vectors = np.array([[1, 0], [0, 1], [0.9, 0.1], [0.1, 0.9]], dtype=np.float32)
    >>> found = InducedSenses(("bank", "River", "loan"), vectors, np.arange(4), np.array([0, 0, 1, 2]),
    ...                       np.array([0, 1, 0, 0]), 2)
    >>> [[each.word for each in near] for near in near_words(found, vectors[:2], 2, without=["Bank", "river"])]
    [['River', 'loan'], ['bank', 'loan']]
    """
    _check(queries, n, without)
    counts = word_counts_of(senses).values() if min_count else ()
    rare = [number for number, count in enumerate(counts) if count < min_count]
    plain = [word.casefold() for word in senses.words]
    near: list[tuple[NearWord, ...]] = []
    for start in range(0, len(queries), QUERY_BLOCK):
        block = np.asarray(queries[start : start + QUERY_BLOCK], np.float64)
        cosines = _cosines(block / np.linalg.norm(block, axis=1, keepdims=True), senses)
        cosines[:, rare] = -np.inf
        excluded = without[start : start + QUERY_BLOCK] or [""] * len(block)
        for row, word in zip(cosines, excluded, strict=True):
            numbers = _nearest(row, plain, word.casefold(), n)
            near.append(tuple(NearWord(senses.words[number], float(1 - row[number])) for number in numbers))
    return tuple(near)


def _cosines(queries: Doubles, senses: InducedSenses) -> Doubles:
    """The cosine of each query with the nearest sense of each word. *Shape:* (queries, words)."""
    best = np.full((len(queries), len(senses.words)), -np.inf)
    for start in range(0, len(senses.rows), SENSE_BLOCK):
        part = slice(start, start + SENSE_BLOCK)
        vectors, owners = np.asarray(senses.matrix[senses.rows[part]], np.float64), senses.owners[part]
        lengths = np.linalg.norm(vectors, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.where(lengths > 0, (queries @ vectors.T) / lengths, -np.inf)
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        # the senses of a word may begin in the block before this one
        here = np.maximum(best[:, owners[firsts]], np.maximum.reduceat(scores, firsts, axis=1))
        best[:, owners[firsts]] = here
    return np.asarray(np.round(best, _DIGITS))


def _nearest(cosines: Doubles, plain: Sequence[str], without: str, n: int) -> list[int]:
    """The numbers of the n nearest words of one query. *Shape:* cosines (words,)."""
    known, tried = int(np.isfinite(cosines).sum()), 2 * n
    while True:
        nearest = _distinct(_nearest_numbers(cosines, min(tried, known)), plain, without)[:n]
        # spellings of one word seldom coincide: more words are looked at only where they did
        if len(nearest) == n or tried >= known:
            return nearest
        tried *= 8


def _distinct(numbers: Sequence[int], plain: Sequence[str], without: str) -> list[int]:
    """The words that differ in more than case from those before them and from one more."""
    seen, distinct = {without}, []
    for number in numbers:
        if plain[number] not in seen:
            seen.add(plain[number])
            distinct.append(number)
    return distinct


def _nearest_numbers(cosines: Doubles, n: int) -> list[int]:
    """The n words of highest cosine and those that tie with the last, by falling cosine."""
    if not n:
        return []
    at_least = np.partition(cosines, len(cosines) - n)[len(cosines) - n]
    few = np.flatnonzero(cosines >= at_least)
    return [int(number) for number in few[np.lexsort((few, -cosines[few]))]]


def word_counts_of(senses: InducedSenses) -> dict[str, float]:
    """Return how often each word occurs in the corpus of the training.

    Errors: :class:`InputError` where the vectors do not say.
    """
    if senses.counts is None:
        what = "these vectors do not say how often words occurred"
        hint = "give a table of frequencies with the columns word and count (--frequencies FILE)"
        raise InputError(what, hint=hint)
    return dict(zip(senses.words, np.asarray(senses.counts, np.float64).tolist(), strict=True))


def _check(queries: Floats, n: int, without: Sequence[str]) -> None:
    if n < 1 or queries.ndim != 2 or (without and len(without) != len(queries)):
        what = f"{len(without)} words for queries of shape {queries.shape}, n = {n}"
        raise InputError(f"n must be 1 or more, and every query needs a word to exclude, not {what}")
    lengths = np.linalg.norm(np.asarray(queries, np.float64), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if bad.size:
        what = f"the vector of query {int(bad[0])} has no direction: it is zero or not finite"
        raise InputError(what, hint="prune this sense, or leave its word out")
