"""Exact search equals brute force, whatever the blocks, and ties go to the lower number."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.nearest import Nearness, nearest


def brute_force(queries: np.ndarray, candidates: np.ndarray, k: int, nearness: Nearness) -> np.ndarray:
    """Compare every query with every candidate, one by one, in double precision."""
    left, right = queries.astype(np.float64), candidates.astype(np.float64)
    if nearness == "cosine":
        left = left / np.sqrt(np.einsum("ij,ij->i", left, left))[:, None]
        right = right / np.sqrt(np.einsum("ij,ij->i", right, right))[:, None]
    if nearness == "euclidean":
        scores = np.array([[-((q - c) ** 2).sum() for c in right] for q in left])
    else:
        scores = np.array([[np.einsum("i,i->", q, c) for c in right] for q in left])
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("nearness", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize(("k", "blocks"), [(1, (512, 8192)), (5, (7, 10)), (3, (1, 2)), (400, (16, 33))])
def test_it_equals_brute_force(nearness: Nearness, k: int, blocks: tuple[int, int]) -> None:
    """The same candidates in the same order as when all pairs are compared, whatever the blocks."""
    made = np.random.default_rng(1)
    queries, candidates = made.normal(size=(40, 24)), made.normal(size=(300, 24))
    found = nearest(queries, candidates, k, nearness=nearness, query_block=blocks[0], candidate_block=blocks[1])
    np.testing.assert_array_equal(found.rows, brute_force(queries, candidates, k, nearness))
    assert found.rows.shape == found.scores.shape == (40, min(k, 300))
    assert np.all(np.diff(found.scores, axis=1) <= 0)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["cosine", "dot", "euclidean"]),
    st.integers(1, 6),
    st.integers(1, 9),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_small_whole_numbers_with_many_ties(seed: int, nearness: Nearness, k: int, block: int, scale: float) -> None:
    """Vectors of few small numbers tie often: the result is still that of brute force."""
    made = np.random.default_rng(seed)
    queries = made.integers(1, 3, size=(5, 3)).astype(np.float32)
    candidates = made.integers(1, 3, size=(20, 3)).astype(np.float32)
    if nearness == "dot":
        candidates = candidates * np.float32(scale)
    found = nearest(queries, candidates, k, nearness=nearness, query_block=block, candidate_block=block)
    np.testing.assert_array_equal(found.rows, brute_force(queries, candidates, k, nearness))


def test_equal_candidates_go_by_their_number() -> None:
    """Copies of one vector in several blocks: the lower number comes first, all have one score."""
    made = np.random.default_rng(2)
    one = made.normal(size=(1, 384)).astype(np.float32)
    candidates = np.repeat(one, 1000, axis=0)
    queries = made.normal(size=(20, 384)).astype(np.float32)
    found = nearest(queries, candidates, 4, candidate_block=37)
    assert found.rows.tolist() == [[0, 1, 2, 3]] * 20
    assert all(len(set(row)) == 1 for row in found.scores.tolist())


def test_what_single_precision_cannot_tell_apart() -> None:
    """Candidates that differ by less than single precision shows are still put in the right order."""
    candidates = np.ones((100, 8))
    candidates[:, 0] += np.arange(100) * 1e-12
    assert nearest(np.ones((1, 8)), candidates, 3, nearness="dot").rows.tolist() == [[99, 98, 97]]


@pytest.mark.parametrize("scale", [1e-30, 1e25])
@pytest.mark.parametrize("nearness", ["dot", "euclidean"])
def test_very_small_and_very_large_numbers(scale: float, nearness: Nearness) -> None:
    """Numbers whose products leave the range of single precision are searched as well as others."""
    made = np.random.default_rng(6)
    queries, candidates = made.normal(size=(9, 5)) * scale, made.normal(size=(60, 5)) * scale
    found = nearest(queries, candidates, 3, nearness=nearness, candidate_block=7)
    np.testing.assert_array_equal(found.rows, brute_force(queries, candidates, 3, nearness))


def test_blocks_change_no_byte() -> None:
    """Scores are the same to the last bit whatever the blocks, and whatever other queries are asked."""
    made = np.random.default_rng(3)
    queries, candidates = made.normal(size=(30, 50)), made.normal(size=(500, 50)).astype(np.float32)
    whole = nearest(queries, candidates, 7)
    for blocks in ((1, 500), (11, 13), (30, 1)):
        again = nearest(queries, candidates, 7, query_block=blocks[0], candidate_block=blocks[1])
        assert again.scores.tobytes() == whole.scores.tobytes()
    assert nearest(queries[4:5], candidates, 7).scores.tobytes() == whole.scores[4:5].tobytes()


def test_memory_is_bounded() -> None:
    """All pairs would take 128 MB in double precision; the search takes far less."""
    made = np.random.default_rng(4)
    queries, candidates = made.normal(size=(800, 8)), made.normal(size=(20_000, 8))
    tracemalloc.start()
    nearest(queries, candidates, query_block=64, candidate_block=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000


def test_a_memory_map_can_be_searched(tmp_path: object) -> None:
    """Candidates on disk give what candidates in memory give."""
    made = np.random.default_rng(5)
    candidates = made.normal(size=(64, 6)).astype(np.float32)
    np.save(f"{tmp_path}/vectors.npy", candidates)
    on_disk = np.load(f"{tmp_path}/vectors.npy", mmap_mode="r")
    assert nearest(candidates, on_disk).rows.ravel().tolist() == list(range(64))


def test_no_query_no_answer() -> None:
    """Without queries there are no rows."""
    assert nearest(np.empty((0, 3)), np.ones((2, 3)), 2).rows.shape == (0, 2)


@pytest.mark.parametrize(
    ("queries", "candidates", "k", "said"),
    [
        (np.ones((1, 3)), np.ones((2, 4)), 1, "one width"),
        (np.ones(3), np.ones((2, 3)), 1, "one width"),
        (np.ones((1, 3)), np.ones((2, 3)), 0, "at least 1"),
        (np.ones((1, 3)), np.ones((0, 3)), 1, "nothing to search"),
        (np.array([[1.0, np.nan]]), np.ones((2, 2)), 1, "query 0 holds a number that is not finite"),
        (np.ones((1, 2)), np.array([[1.0, 1.0], [0.0, 0.0]]), 1, "candidate 1 has length 0"),
    ],
)
def test_what_cannot_be_searched_is_refused(queries: np.ndarray, candidates: np.ndarray, k: int, said: str) -> None:
    """Shapes that do not fit, numbers that are not finite and vectors without direction are named."""
    with pytest.raises(InputError, match=said):
        nearest(queries, candidates, k)
