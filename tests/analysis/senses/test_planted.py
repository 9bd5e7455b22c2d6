"""Recovery of planted senses: by hand, bounds, and what does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.analysis.senses.planted import labels_by_neighbours, planted_selection, sense_recovery, word_recovery
from lexiscope.core.errors import InputError, StatisticError


def test_a_table_by_hand() -> None:
    """Induced 0 holds aaa, 1 holds bbba, 2 holds aa: one to one 3 + 3 of 9, many to one 3 + 3 + 2 of 9."""
    found = word_recovery("ab", [0, 0, 0, 1, 1, 1, 1, 2, 2], list("aaabbbaaa"))
    assert (found.accuracy, found.purity, found.majority) == pytest.approx((6 / 9, 8 / 9, 6 / 9))
    assert (found.n_planted, found.n_recovered, found.n_used) == (2, 2, 3)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=30), st.permutations(range(4))
)
def test_bounds_and_names(rows: list[tuple[int, str]], other: list[int]) -> None:
    """majority <= purity, accuracy <= purity, and the numbers of senses do not matter."""
    induced, planted = [k for k, _ in rows], [sense for _, sense in rows]
    found = word_recovery("w", induced, planted)
    assert found.majority <= found.purity + 1e-12
    assert found.accuracy <= found.purity + 1e-12
    assert word_recovery("w", [other[k] for k in induced], planted) == found


def test_chance_is_near_the_majority() -> None:
    """Senses drawn at random reach hardly more than one sense for all."""
    rng = np.random.default_rng(0)
    words = np.repeat([f"w{n}" for n in range(30)], 200)
    found = sense_recovery(words.tolist(), rng.integers(3, size=6000), rng.choice(["a", "b"], size=6000).tolist())
    assert found.purity == pytest.approx(found.majority, abs=0.03)
    assert found.accuracy < 0.42
    assert found.accuracy_interval.low < found.accuracy < found.accuracy_interval.high
    assert (found.n, len(found.words)) == (6000, 30)


def test_duplicates_are_recovered_and_not_selected() -> None:
    """Senses that look alike and differ by a hair: usages map them to both planted senses, their look to one."""
    words, gold = ["ab", "ab", "cd", "cd"], ["a", "b", "c", "d"]
    p = np.array([[0.51, 0.49], [0.49, 0.51]] * 2)
    assert sense_recovery(words, p.argmax(axis=1), gold).accuracy == 1.0
    # both senses of a word stand for its first sense
    right = [[sense in "ac"] * 2 for sense in gold]
    found = planted_selection(words, p, right, recovered={"ab": 1, "cd": 1})
    assert (found.accuracy, found.probability, found.recovered) == (0.5, 0.5, 1.0)


def test_selection_is_a_mean_over_words() -> None:
    """A word counts once, however many usages it has; its interval resamples words."""
    words = ["ab"] * 8 + ["cd"] * 2 + ["ef"] * 2
    p = np.array([[0.8, 0.2]] * 12)
    right = np.array([[True, False]] * 8 + [[False, True], [True, False]] + [[False, True]] * 2)
    found = planted_selection(words, p, right, recovered=dict.fromkeys(words, 2))
    assert found.accuracy == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.probability == pytest.approx((0.8 + 0.5 + 0.2) / 3)
    assert [each.n for each in found.words] == [8, 2, 2]
    assert found.accuracy_interval.low < found.accuracy < found.accuracy_interval.high


def test_neighbours_say_what_a_sense_stands_for() -> None:
    """The cosine of their mean decides, so long vectors of words count no more than short ones of planted words."""
    near = [[[2.0, 0.1], [1.0, 0.0]], [[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.2], [1.0, 1.2]]]
    assert labels_by_neighbours(near, [[0.1, 0.0], [0.0, 9.0]]).tolist() == [0, 1, 1]
    with pytest.raises(StatisticError, match="width"):
        labels_by_neighbours(near, [[1.0, 0.0, 0.0]])
    with pytest.raises(StatisticError, match="direction"):
        labels_by_neighbours([[[1.0, 0.0], [-1.0, 0.0]]], [[1.0, 0.0]])


def test_what_has_no_value() -> None:
    """Columns of unequal length, one word, no usage."""
    with pytest.raises(InputError):
        sense_recovery(["a", "b"], [1], ["x", "y"])
    with pytest.raises(StatisticError):
        sense_recovery(["a", "a"], [1, 2], ["x", "y"])
    with pytest.raises(StatisticError):
        word_recovery("a", [], [])
    with pytest.raises(InputError):
        word_recovery("a", [1], [])
    with pytest.raises(InputError):
        planted_selection(["a", "b"], [[1.0]], [[True]], recovered={"a": 1, "b": 1})
    with pytest.raises(StatisticError):
        planted_selection(["a", "a"], [[1.0]] * 2, [[True]] * 2, recovered={"a": 1})
