"""Exact search: the candidates whose vectors are nearest to the vector of a query.

Candidates are gone through in blocks, so that memory stays bounded however many there are. A product in single
precision finds those that can be among the nearest; what is returned is computed again in double precision, pair by
pair. A result therefore does not depend on the blocks, and equal candidates are ordered by their number alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lexiscope.core.errors import InputError

Nearness = Literal["cosine", "dot", "euclidean"]
"""``cosine``: cosine similarity. ``dot``: the inner product. ``euclidean``: minus the squared distance."""

Matrix = np.ndarray[Any, np.dtype[np.floating[Any]]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

QUERY_BLOCK, CANDIDATE_BLOCK = 512, 8192
"""How many queries and candidates are compared at once: 16 MiB in single precision."""

_PAIRS = 1 << 14
_UNIT_ROUNDOFF = 2.0**-24
_SMALL = 1e-20


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest candidates of every query, best first.

    ``rows`` are the numbers of the candidates, from 0, and ``scores`` their nearness. *Shape:* both (queries, k).
    *Higher means:* nearer.
    """

    rows: Integers
    scores: Doubles


def nearest(
    queries: Matrix,
    candidates: Matrix,
    k: int = 1,
    *,
    nearness: Nearness = "cosine",
    query_block: int = QUERY_BLOCK,
    candidate_block: int = CANDIDATE_BLOCK,
) -> Nearest:
    """Return the *k* nearest candidates of every query (all of them where there are fewer); ties go to lower numbers.

    *candidates* may be a memory map. The blocks change memory and time, never the result.
    *Shape:* queries (queries, width), candidates (candidates, width).
    Errors: :class:`InputError` for shapes that do not fit, *k* or a block below 1, no candidate, a number that is not
    finite, and a vector of length 0 under ``cosine``.

    >>> found = nearest(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [3.0, 4.0], [2.0, 0.0]]), k=2)
    >>> found.rows.tolist(), found.scores.tolist()
    ([[2, 1]], [[1.0, 0.6]])
    """
    _check(queries, candidates, min(k, query_block, candidate_block))
    kept = min(k, len(candidates))
    firsts = range(0, len(queries), query_block)
    best = [_BestPair.none(len(queries[first : first + query_block])) for first in firsts]
    # candidates are many: each block of them is read and prepared once, that of the queries again and again
    for start in range(0, len(candidates), candidate_block):
        block = _prepare_vectors(candidates[start : start + candidate_block], "candidate", start, nearness)
        for number, first in enumerate(firsts):
            part = _prepare_vectors(queries[first : first + query_block], "query", first, nearness)
            best[number] = _search_block(part, block, start, best[number], kept, nearness)
    empty = [np.empty(0)]
    rows = np.concatenate([*(pair.best[1] for pair in best), *empty]).astype(np.int64)
    scores = np.concatenate([*(pair.best[2] for pair in best), *empty])
    return Nearest(rows.reshape(-1, kept), scores.reshape(-1, kept))


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Vectors in double precision with their squared lengths; scaled to length 1 under ``cosine``."""

    values: Doubles
    squares: Doubles


@dataclass(frozen=True, slots=True)
class _BestPair:
    """The best (query, candidate, nearness) so far of a block of queries, and what further candidates must reach."""

    best: tuple[Integers, Integers, Doubles]
    at_least: Doubles

    @classmethod
    def none(cls, n: int) -> _BestPair:
        """Nothing yet, for n queries."""
        return cls((np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)), np.full(n, -np.inf))


def _search_block(
    queries: _Vectors, block: _Vectors, start: int, earlier: _BestPair, k: int, nearness: Nearness
) -> _BestPair:
    """Return the k best of each query when a block of candidates is added; its first one has the number *start*."""
    best, at_least = earlier.best, earlier.at_least
    for owners, rows in _possible(queries, block, at_least, k, nearness):
        new = _exact(queries.values[owners], block.values[rows], nearness)
        best = _best(best, (owners, rows + start, new), k)
        at_least = _kth(best, at_least, k)
    return _BestPair(best, at_least)


def _possible(
    queries: _Vectors, block: _Vectors, at_least: Doubles, k: int, nearness: Nearness
) -> Iterator[tuple[Integers, Integers]]:
    """Yield pairs (query, candidate of the block), few at a time, that can be among the k nearest of the query."""
    # single precision where no product can leave its range, else double precision
    squares = (queries.squares, block.squares)
    inside = all(lengths.min(initial=1.0) > _SMALL and lengths.max(initial=1.0) < 1 / _SMALL for lengths in squares)
    kind: type[np.floating[Any]] = np.float32 if inside else np.float64
    rough = queries.values.astype(kind) @ block.values.astype(kind).T
    longest = np.sqrt(block.squares.max(initial=0.0))
    # twice the largest error of a sum of products in single precision, whatever the order of its terms
    width = queries.values.shape[1]
    slack = 4.0 * (width + 4) * _UNIT_ROUNDOFF * np.sqrt(queries.squares) * longest
    if nearness == "euclidean":
        rough = 2.0 * rough - block.squares.astype(kind) - queries.squares.astype(kind)[:, None]
        slack = 2.0 * slack + 16.0 * _UNIT_ROUNDOFF * (queries.squares + longest**2)
    if rough.shape[1] >= k:
        kth_largest = rough.max(axis=1) if k == 1 else np.partition(rough, rough.shape[1] - k, axis=1)[:, -k]
        at_least = np.maximum(at_least, kth_largest - slack / 2)
    # of the kind of the products and never above the limit: all of them would else be converted to be compared
    limits = np.nextafter((at_least - slack).astype(kind), kind(-np.inf))
    owners, rows = np.nonzero(rough >= limits[:, None])
    for start in range(0, len(owners), _PAIRS):
        yield owners[start : start + _PAIRS], rows[start : start + _PAIRS]


def _exact(queries: Doubles, candidates: Doubles, nearness: Nearness) -> Doubles:
    """Return the nearness of pairs of rows, each computed for itself."""
    if nearness == "euclidean":
        difference = queries - candidates
        return np.asarray(-np.einsum("ij,ij->i", difference, difference))
    return np.asarray(np.einsum("ij,ij->i", queries, candidates))


def _best(
    old: tuple[Integers, Integers, Doubles], new: tuple[Integers, Integers, Doubles], k: int
) -> tuple[Integers, Integers, Doubles]:
    """Return the k best of every query among two lists of (query, candidate, nearness), in order."""
    owners, rows, scores = (np.concatenate(pair) for pair in zip(old, new, strict=True))
    order = np.lexsort((rows, -scores, owners))
    owners, rows, scores = owners[order], rows[order], scores[order]
    first = np.searchsorted(owners, owners)
    kept = np.arange(len(owners)) - first < k
    return owners[kept], rows[kept], scores[kept]


def _kth(best: tuple[Integers, Integers, Doubles], at_least: Doubles, k: int) -> Doubles:
    """Return what a further candidate must reach: the nearness of the k-th best of every query that has k."""
    owners, _, scores = best
    full = np.flatnonzero(np.bincount(owners, minlength=len(at_least)) == k)
    last = np.searchsorted(owners, full, side="right") - 1
    raised = at_least.copy()
    raised[full] = scores[last]
    return raised


def _prepare_vectors(vectors: Matrix, what: str, start: int, nearness: Nearness) -> _Vectors:
    values = np.ascontiguousarray(vectors, dtype=np.float64)
    squares = np.einsum("ij,ij->i", values, values)
    bad = np.flatnonzero(~np.isfinite(squares))
    if bad.size:
        raise InputError(f"the vector of {what} {start + int(bad[0])} holds a number that is not finite")
    if nearness == "cosine":
        empty = np.flatnonzero(squares == 0)
        if empty.size:
            what = f"the vector of {what} {start + int(empty[0])} has length 0, so that it has no cosine"
            raise InputError(what, hint="leave it out, or search by nearness='dot'")
        values = values / np.sqrt(squares)[:, None]
        squares = np.ones(len(values))
    return _Vectors(values, squares)


def _check(queries: Matrix, candidates: Matrix, smallest: int) -> None:
    shapes = f"queries {queries.shape}, candidates {candidates.shape}"
    if queries.ndim != 2 or candidates.ndim != 2 or queries.shape[1] != candidates.shape[1]:
        raise InputError(f"queries and candidates must be tables of one width, not {shapes}")
    if smallest < 1:
        raise InputError("k and the sizes of blocks must be at least 1")
    if not len(candidates) or not queries.shape[1]:
        raise InputError(f"there is nothing to search among: {shapes}")
