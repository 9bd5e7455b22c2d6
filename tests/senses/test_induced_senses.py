"""Neighbours of induced senses: equal to brute force, whatever the form of the vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.resources.vectors.multi_sense import MultiSense
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.senses import induced_senses
from lexiscope.senses.induced_senses import InducedSenses, senses_of_folder, senses_of_import


def folder(n_words: int, most: int, *, seed: int, width: int = 4, coarse: bool = False) -> SenseVectors:
    """Random vectors with pruned senses; coarse ones have many ties."""
    rng = np.random.default_rng(seed)
    senses = rng.normal(size=(n_words, most, width)).astype(np.float32)
    senses = np.sign(senses).astype(np.float32) if coarse else senses
    mask = rng.random((n_words, most)) < 0.7
    mask[:, 0] = True
    words = tuple(f"w{n}" for n in range(n_words))
    return SenseVectors(words, np.arange(n_words, 0, -1), senses, senses[:, 0], mask, "here")


def brute(senses: InducedSenses, sense: int, n: int) -> list[tuple[str, int, float]]:
    """Compare with every sense of every other word, one by one; of a word keep its nearest; ties by place."""
    query = senses.matrix[senses.rows[sense]].astype(float)
    found: dict[int, tuple[float, int]] = {}
    for other in range(len(senses.rows)):
        row, owner = senses.matrix[senses.rows[other]].astype(float), int(senses.owners[other])
        if owner == senses.owners[sense]:
            continue
        distance = 1 - query @ row / np.linalg.norm(query) / np.linalg.norm(row)
        if owner not in found or round(distance, 9) < round(found[owner][0], 9):
            found[owner] = (distance, other)
    nearest = sorted(found.items(), key=lambda each: (round(each[1][0], 9), each[1][1]))[:n]
    return [(senses.words[owner], int(senses.numbers[place]), distance) for owner, (distance, place) in nearest]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 30), st.integers(1, 4), st.integers(1, 12), st.integers(0, 10_000), st.booleans())
def test_neighbours_equal_brute_force(n_words: int, most: int, n: int, seed: int, coarse: bool) -> None:
    """G09: n distinct other words over all senses of all words; the same as comparing one by one, ties included."""
    senses = senses_of_folder(folder(n_words, most, seed=seed, coarse=coarse))
    every = list(range(len(senses.rows)))
    for sense, found in zip(every, senses.neighbours(every, n), strict=True):
        expected = brute(senses, sense, n)
        assert [(each.word, each.sense) for each in found] == [(word, number) for word, number, _ in expected]
        assert [each.distance for each in found] == pytest.approx([distance for *_, distance in expected], abs=1e-6)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gathered 7 rows at a time, with ties between blocks, the neighbours are those of one block."""
    senses = senses_of_folder(folder(40, 3, seed=5, coarse=True))
    every = list(range(len(senses.rows)))
    whole = senses.neighbours(every)
    monkeypatch.setattr(induced_senses, "_GATHERED", 7)
    assert senses.neighbours(every) == whole


def test_folder_and_import_agree() -> None:
    """The same vectors give the same neighbours in both forms; numbers of an import have no gaps."""
    one = senses_of_folder(folder(20, 3, seed=2))
    starts = one.starts
    other = senses_of_import(MultiSense(one.words, starts, np.asarray(one.matrix[one.rows]), name="there"))
    assert (other.n_senses == one.n_senses).all()
    for sense in (0, 5, 11):
        mine, theirs = one.neighbours([sense])[0], other.neighbours([sense])[0]
        assert [each.word for each in mine] == [each.word for each in theirs]
    assert all(other.numbers[list(other.of(word))].tolist() == list(range(len(other.of(word)))) for word in other.words)


def test_letter_case_makes_no_new_word() -> None:
    """Of *River* and *river* the nearer one is a neighbour; *Bank* is none of *bank*."""
    rows = np.array([(1, 0), (1, 0.01), (1, 0.2), (1, 0.1), (1, 0.5), (0, 1)], np.float32)
    words = ("bank", "Bank", "river", "River", "shore", "loan")
    senses = senses_of_import(MultiSense(words, np.arange(7), rows))
    assert [each.word for each in senses.neighbours([0], 3)[0]] == ["River", "shore", "loan"]


def test_a_vector_of_length_zero_is_nowhere() -> None:
    """A sense without direction has no neighbours and is nobody's."""
    vectors = folder(6, 1, seed=1)
    vectors.senses[2] = 0
    senses = senses_of_folder(vectors)
    found = senses.neighbours([2, 0])
    assert found[0] == ()
    assert {each.word for each in found[1]} == {"w1", "w3", "w4", "w5"}


def test_a_word_out_of_the_vocabulary_names_those_spelt_so() -> None:
    """E712 with words that are spelt nearly so, another case foremost; a pruned sense is not among a word's."""
    vectors = folder(5, 3, seed=1)
    senses = senses_of_folder(SenseVectors(("bank", "banks", "river", "loan", "shore"), *vars_of(vectors)))
    with pytest.raises(InputError, match="spelt nearly so: bank, banks") as caught:
        senses.of("Bank")
    assert caught.value.code == "E712"
    with pytest.raises(InputError, match="no word is spelt nearly so"):
        senses.of("xylophonist")
    kept = np.flatnonzero(vectors.mask[1]).tolist()
    assert senses.numbers[list(senses.of("banks"))].tolist() == kept
    assert sorted([*senses.pruned_numbers("banks"), *kept]) == [0, 1, 2]


def test_a_neighbour_is_a_row() -> None:
    """The vector of a neighbour is at its distance from the sense; words of an import have no pruned senses."""
    senses = senses_of_folder(folder(12, 3, seed=4))
    (near, *_), query = senses.neighbours([5])[0], senses.vectors([5])[0]
    row = senses.vectors([senses.row(near)])[0]
    assert 1 - query @ row / np.linalg.norm(query) / np.linalg.norm(row) == pytest.approx(near.distance, abs=1e-6)
    other = senses_of_import(MultiSense(("a", "b"), np.array([0, 1, 3]), np.eye(3, dtype=np.float32)))
    assert (other.pruned_numbers("a"), other.most) == ((), 2)


def vars_of(vectors: SenseVectors) -> tuple[object, ...]:
    return vectors.counts, vectors.senses, vectors.contexts, vectors.mask, vectors.name
