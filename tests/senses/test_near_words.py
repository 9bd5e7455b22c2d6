"""The words nearest to any vector: equal to brute force, as deep as wanted, each spelling once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.multi_sense import MultiSense
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.senses import near_words as module
from lexiscope.senses.induced_senses import InducedSenses, senses_of_folder, senses_of_import
from lexiscope.senses.near_words import near_words, word_counts_of


def made(n_words: int, most: int, seed: int, *, coarse: bool = False) -> InducedSenses:
    """Random senses, some pruned; coarse ones tie often. Every third word is the one before it in capitals."""
    rng = np.random.default_rng(seed)
    senses = rng.normal(size=(n_words, most, 4)).astype(np.float32)
    senses = np.sign(senses) if coarse else senses
    mask = rng.random((n_words, most)) < 0.7
    mask[:, 0] = True
    words = tuple(f"W{n - 1}" if n % 3 == 2 else f"w{n}" for n in range(n_words))
    return senses_of_folder(SenseVectors(words, np.arange(n_words, 0, -1), senses, senses[:, 0], mask, "here"))


def brute(senses: InducedSenses, query: np.ndarray, n: int, without: str) -> list[str]:
    """Compare with every sense of every word, one by one; keep each word's best, then each spelling's."""
    best: dict[str, tuple[float, int]] = {}
    for row, owner in enumerate(senses.owners.tolist()):
        vector = senses.matrix[senses.rows[row]].astype(float)
        cosine = round(float(query @ vector / np.linalg.norm(query) / np.linalg.norm(vector)), 9)
        word = senses.words[owner]
        best[word] = max(best.get(word, (-2.0, 0)), (cosine, -owner))
    order = sorted(best, key=lambda word: (-best[word][0], -best[word][1]))
    found: list[str] = []
    for word in order:
        if word.casefold() not in {without.casefold(), *(each.casefold() for each in found)}:
            found.append(word)
    return found[:n]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 40), st.integers(0, 10_000), st.booleans())
def test_they_equal_brute_force(n_words: int, most: int, n: int, seed: int, coarse: bool) -> None:
    """G09: the n nearest distinct words over all senses of all words, or all where there are fewer; ties by place."""
    senses = made(n_words, most, seed, coarse=coarse)
    rows = list(range(0, len(senses.rows), 3))
    own = [senses.words[int(senses.owners[row])] for row in rows]
    found = near_words(senses, senses.vectors(rows), n, without=own)
    for row, word, near in zip(rows, own, found, strict=True):
        query = senses.matrix[senses.rows[row]].astype(float)
        assert [each.word for each in near] == brute(senses, query, n, word)
        assert [each.distance for each in near] == sorted(each.distance for each in near)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries and seven senses at a time give what all at once give: a word's senses may lie in two blocks."""
    senses = made(40, 3, 5, coarse=True)
    queries = senses.vectors(range(len(senses.rows)))
    whole = near_words(senses, queries, 8)
    monkeypatch.setattr(module, "QUERY_BLOCK", 2)
    monkeypatch.setattr(module, "SENSE_BLOCK", 7)
    assert near_words(senses, queries, 8) == whole


def test_few_neighbours_are_those_of_the_senses() -> None:
    """They are the neighbours that the senses themselves give, where no spellings coincide."""
    senses = made(40, 3, 7)
    lower = InducedSenses(
        tuple(f"v{n}" for n in range(40)), senses.matrix, senses.rows, senses.owners, senses.numbers, senses.most
    )
    rows = list(range(30))
    own = [lower.words[int(lower.owners[row])] for row in rows]
    found = near_words(lower, lower.vectors(rows), 10, without=own)
    assert [[each.word for each in near] for near in found] == [
        [each.word for each in near] for near in lower.neighbours(rows, 10)
    ]


def test_rare_words_may_be_left_out() -> None:
    """No neighbour occurs less often than *min_count*; vectors without counts refuse it."""
    senses = made(30, 2, 3)
    counts = word_counts_of(senses)
    found = near_words(senses, senses.vectors([0]), 30, min_count=20)[0]
    assert {each.word for each in found} <= {word for word, count in counts.items() if count >= 20}
    assert len(found) > 3
    bare = senses_of_import(MultiSense(("a", "b"), np.array([0, 1, 2]), np.eye(2, dtype=np.float32)))
    with pytest.raises(InputError, match="do not say how often"):
        near_words(bare, bare.vectors([0]), 1, min_count=2)


def test_a_vector_without_direction_is_nobodys_and_no_query() -> None:
    """A sense of length 0 is near nothing; as a query it is refused, as are a wrong n and too few words."""
    senses = senses_of_import(MultiSense(("a", "b", "c"), np.arange(4), np.array([[1, 0], [0, 0], [0, 1]], np.float32)))
    assert [each.word for each in near_words(senses, senses.vectors([0]), 5, without=["a"])[0]] == ["c"]
    with pytest.raises(InputError, match="query 0 has no direction"):
        near_words(senses, senses.vectors([1]), 5)
    for n, without in ((0, []), (1, ["a", "b"])):
        with pytest.raises(InputError, match="every query needs a word"):
            near_words(senses, senses.vectors([0]), n, without=without)
