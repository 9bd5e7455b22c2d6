"""Accuracy with random answers: what no seed changes, and what cannot be said of answers that are all random."""

from __future__ import annotations

import pytest

from lexiscope.analysis.choices.choice_sets import UNDECIDED, accuracy_with_random, choices_with_random
from lexiscope.analysis.senses.sense_tests import choice_shares
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined


def test_random_answers_alone_say_nothing_of_the_subject() -> None:
    """No pair is decided: that accuracy is undefined, the expected one 50 % without an interval, and both say so."""
    found = accuracy_with_random([True, False], ["oov", "oov"], words=["a", "b"], counted=["oov"], resamples=20)
    every, decided, expected, n_random = found
    assert isinstance(every, Estimate)
    assert every.interval.is_defined
    assert isinstance(decided, Undefined)
    assert isinstance(expected, Estimate)
    assert (expected.value, expected.interval.is_defined, expected.note) == (50.0, False, UNDECIDED)
    assert isinstance(n_random, Estimate)
    assert (n_random.value, n_random.n) == (2.0, 2)


def test_one_word_is_resampled_pair_by_pair() -> None:
    """Of one word there are no words to resample: the accuracy resamples pairs, the expected one has no interval."""
    every, decided, expected = accuracy_with_random(
        [1, 0, 1], ["", "", None], words=["a"] * 3, counted=[], resamples=20
    )
    assert isinstance(every, Estimate)
    assert every.interval.is_defined
    assert every == decided or (isinstance(decided, Estimate) and every.value == decided.value)
    assert isinstance(expected, Estimate)
    assert not expected.interval.is_defined


def test_shares_of_senses_need_a_table() -> None:
    """Probabilities of one usage are a row, not a column."""
    with pytest.raises(StatisticError, match="table of usages and senses"):
        choice_shares([0.5, 0.5])


def test_choices_are_read_from_the_answers() -> None:
    """Two of three are right, one of them at random: its reason is in the row of the flag."""
    rows = [
        Response("m", "gasi", item_id, "same_sense", measure, option=option, raw=raw)
        for item_id, chosen, why in (("i", "t", None), ("j", "f", None), ("k", "t", "one sense"))
        for measure, option, raw in (("choice", chosen, None), ("flag_random", None, why))
    ]
    right = {"i": "t", "j": "t", "k": "t"}
    every, decided, expected, n_random = choices_with_random(
        ResponseTable.from_rows(rows), right, flag="flag_random", words=["a", "b", "b"], counted=["one sense"]
    )
    assert [round(one.value, 6) for one in (every, decided, expected, n_random) if isinstance(one, Estimate)] == [
        round(100 * 2 / 3, 6), 50.0, 50.0, 1.0,
    ]  # fmt: skip
