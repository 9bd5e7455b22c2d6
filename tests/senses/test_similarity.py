"""Similarities by senses: formulas against loops, masked senses, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import StatisticError
from lexiscope.senses.similarity import (
    avg_sim,
    avg_sim_c,
    avg_sim_c_upper,
    max_sim,
    max_sim_c,
    nearest_sense,
    sense_cosines,
)

RNG = np.random.default_rng(7)
LEFT, RIGHT = RNG.normal(size=(5, 3, 4)), RNG.normal(size=(5, 3, 4))
P, Q = RNG.dirichlet(np.ones(3), 5), RNG.dirichlet(np.ones(3), 5)


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_every_similarity_is_its_formula() -> None:
    """Vectorised values equal loops over pairs and senses; the printed AvgSimC takes j >= i only."""
    for pair in range(5):
        table = [[_cosine(a, b) for b in RIGHT[pair]] for a in LEFT[pair]]
        weighted = [[P[pair, i] * Q[pair, j] * table[i][j] for j in range(3)] for i in range(3)]
        assert max_sim(LEFT, RIGHT)[pair] == pytest.approx(max(map(max, table)))
        assert avg_sim(LEFT, RIGHT)[pair] == pytest.approx(sum(map(sum, table)) / 9)
        assert max_sim_c(LEFT, RIGHT, P, Q)[pair] == pytest.approx(table[P[pair].argmax()][Q[pair].argmax()])
        assert avg_sim_c(LEFT, RIGHT, P, Q)[pair] == pytest.approx(sum(map(sum, weighted)))
        upper = sum(weighted[i][j] for i in range(3) for j in range(i, 3))
        assert avg_sim_c_upper(LEFT, RIGHT, P, Q)[pair] == pytest.approx(upper)


def test_only_the_full_sum_is_symmetric() -> None:
    """Exchanging the words changes nothing in AvgSimC; it does in the variant that is printed."""
    assert avg_sim_c(LEFT, RIGHT, P, Q) == pytest.approx(avg_sim_c(RIGHT, LEFT, Q, P))
    assert not np.allclose(avg_sim_c_upper(LEFT, RIGHT, P, Q), avg_sim_c_upper(RIGHT, LEFT, Q, P))


def test_padding_plays_no_part() -> None:
    """A sense that is masked, or has probability 0, may hold zeros or NaN: values are as if it were not there."""
    for filler in (0.0, np.nan, 9.0):
        padded = np.concatenate([LEFT, np.full((5, 1, 4), filler)], axis=1)
        mask = np.repeat([[True, True, True, False]], 5, axis=0)
        p = np.concatenate([P, np.zeros((5, 1))], axis=1)
        assert max_sim(padded, RIGHT, left_mask=mask) == pytest.approx(max_sim(LEFT, RIGHT))
        assert avg_sim(padded, RIGHT, left_mask=mask) == pytest.approx(avg_sim(LEFT, RIGHT))
        assert max_sim_c(padded, RIGHT, p, Q) == pytest.approx(max_sim_c(LEFT, RIGHT, P, Q))
        assert avg_sim_c(padded, RIGHT, p, Q) == pytest.approx(avg_sim_c(LEFT, RIGHT, P, Q))
        near = nearest_sense(padded, np.ones((5, 4)), mask=mask)
        assert near.tolist() == nearest_sense(LEFT, np.ones((5, 4))).tolist()


def test_a_pair_that_is_not_covered_has_no_similarity() -> None:
    """No sense on one side gives NaN, for that pair alone."""
    mask, p = np.ones((5, 3), bool), P.copy()
    mask[2], p[2] = False, 0.0
    for found in (
        max_sim(LEFT, RIGHT, left_mask=mask),
        avg_sim(LEFT, RIGHT, right_mask=mask),
        max_sim_c(LEFT, RIGHT, p, Q),
        avg_sim_c(LEFT, RIGHT, p, Q),
        avg_sim_c_upper(LEFT, RIGHT, p, Q),
    ):
        assert np.isnan(found).tolist() == [False, False, True, False, False]
    assert nearest_sense(LEFT, np.ones((5, 4)), mask=mask)[2] == -1


def test_one_sense_makes_all_of_them_the_cosine() -> None:
    """With K = 1 every similarity is the cosine of the two vectors."""
    a, b, one = LEFT[:, :1], RIGHT[:, :1], np.ones((5, 1))
    cosines = sense_cosines(a, b)[:, 0, 0]
    for found in (max_sim(a, b), avg_sim(a, b), max_sim_c(a, b, one, one), avg_sim_c_upper(a, b, one, one)):
        assert found == pytest.approx(cosines)


def test_what_makes_no_sense_is_refused() -> None:
    """Shapes, probabilities that do not sum to 1, and a sense of length zero that is there are named."""
    zero = LEFT.copy()
    zero[3, 1] = 0.0
    with pytest.raises(StatisticError, match="pair 3: a sense that is there"):
        max_sim(zero, RIGHT)
    with pytest.raises(StatisticError, match="pair 0: the probabilities"):
        avg_sim_c(LEFT, RIGHT, P * 2, Q)
    with pytest.raises(StatisticError, match="width"):
        max_sim(LEFT[0], RIGHT[0])
    with pytest.raises(StatisticError, match="as many senses"):
        avg_sim_c_upper(LEFT[:, :2], RIGHT, np.full((5, 2), 0.5), Q)
    with pytest.raises(StatisticError, match="mask of shape"):
        max_sim(LEFT, RIGHT, left_mask=[[True]])
