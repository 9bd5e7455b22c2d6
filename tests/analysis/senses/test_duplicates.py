"""Duplicate senses: likeness by hand, who is compared with whom, and recovery of a planted difference (simulated)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.analysis.senses.duplicates import (
    SenseQuestion,
    duplicate_analysis,
    mean_cosine,
    shared_neighbours,
)
from lexiscope.core.errors import InputError
from lexiscope.core.result import Estimate, Undefined

GROUPS = {"1": ["a", "b", "c", "d"], "2": ["a", "b", "x", "y"], "3": ["a", "p", "q", "r"]}
"""Senses 1 and 2 share two of four words, 1 and 3 as 2 and 3 one."""
PLANE = {"a": [1.0, 0.0], "b": [0.0, 1.0], "x": [0.0, 3.0], "p": [-2.0, 0.0]}


def ask(name: str, human: str | None, model: str = "1", *, word: str = "") -> SenseQuestion:
    return SenseQuestion(name, word or name, GROUPS, human, model)


def test_likeness_by_hand() -> None:
    """Overlap is the share of the shorter list; the cosine is that of all pairs of known words, themselves included."""
    assert shared_neighbours(GROUPS["1"], GROUPS["2"]) == 2 / 4
    assert shared_neighbours(["a", "B"], ["b", "c", "d"]) == 1 / 2
    # a, b with a, b, x: 1, 0, 0 and 0, 1, 1
    assert mean_cosine(GROUPS["1"], GROUPS["2"], PLANE) == pytest.approx(3 / 6)
    # a, b with a, p: 1, -1 and 0, 0
    assert mean_cosine(GROUPS["1"], GROUPS["3"], PLANE) == pytest.approx(0)
    assert mean_cosine(["a"], ["zero"], {"a": [1.0], "zero": [0.0]}) is None


def test_rivals_are_what_was_chosen_and_what_was_not() -> None:
    """Disagreement compares people's sense with the model's; agreement the sense of both with each of the others."""
    found = duplicate_analysis([ask("i", "2"), ask("j", "3"), ask("k", "1")], PLANE, resamples=100)
    assert [each.overlap for each in found.likeness] == [2 / 4, 1 / 4, (2 / 4 + 1 / 4) / 2]
    assert [each.cosine for each in found.likeness] == pytest.approx([0.5, 0, (0.5 + 0) / 2])
    assert isinstance(found.overlap.difference, Estimate)
    assert found.overlap.difference.value == pytest.approx((2 / 4 + 1 / 4) / 2 - 3 / 8)
    assert found.overlap.difference.name == "sense_overlap(pairs=rivals,of=difference)"
    assert found.cosine is not None
    assert (found.n_words, found.n_words_unknown) == (9, 5)


def test_all_pairs_are_the_word_s_whoever_chose() -> None:
    """With all pairs, a word has one likeness in every question."""
    found = duplicate_analysis([ask("i", "2"), ask("j", "2"), ask("k", "1"), ask("l", "1")], pairs="all", resamples=100)
    assert [each.overlap for each in found.likeness] == pytest.approx([(2 / 4 + 1 / 4 + 1 / 4) / 3] * 4)
    assert found.cosine is None
    assert found.overlap.test is None
    assert found.overlap.why == "the rank-sum test is undefined: all values are equal"


def test_what_is_not_compared_is_counted() -> None:
    """Questions without a majority, with a dummy as people's choice, and of words with one sense."""
    alone = SenseQuestion("m", "m", {"1": GROUPS["1"]}, "1", "1")
    found = duplicate_analysis([ask("i", None), ask("j", "9"), alone, ask("k", "1"), ask("l", "2")], resamples=100)
    assert (found.n_undecided, found.n_dummy, found.n_alone, len(found.likeness)) == (1, 1, 1, 2)


def test_one_side_alone_is_undefined() -> None:
    """Where people and model never disagree, or all questions are of one word, nothing is compared, and it says why."""
    found = duplicate_analysis([ask("i", "1"), ask("k", "1")], resamples=100)
    assert isinstance(found.overlap.difference, Undefined)
    assert found.overlap.why == "no question in which people and model disagree"
    same = duplicate_analysis([ask("i", "1", word="w"), ask("k", "2", word="w")], resamples=100)
    assert same.overlap.why == "the questions are of one word"
    none = duplicate_analysis([ask("i", None)], resamples=100)
    assert isinstance(none.overlap.agree, Undefined)


def simulated(slope: float, *, n_words: int = 120, seed: int = 2) -> list[SenseQuestion]:
    """Simulated choices: the more words two senses share, the likelier people take the other one."""
    rng = np.random.default_rng(seed)
    questions = []
    for number in range(n_words):
        shared = int(rng.integers(0, 10))
        first = [f"w{number}n{k}" for k in range(10)]
        groups = {"1": first, "2": first[:shared] + [f"w{number}m{k}" for k in range(10 - shared)]}
        for k in range(5):
            other = rng.random() < 0.3 + slope * (shared / 10 - 0.45)
            questions.append(SenseQuestion(f"{number}/{k}", f"w{number}", groups, "2" if other else "1", "1"))
    return questions


def test_a_planted_difference_is_found_and_none_where_there_is_none() -> None:
    """Simulated: where people confuse alike senses, the interval of the difference lies above 0; else it holds 0."""
    planted = duplicate_analysis(simulated(0.5), resamples=500).overlap
    assert isinstance(planted.difference, Estimate)
    assert planted.difference.interval.low > 0
    assert planted.test is not None
    assert planted.test.p < 0.001
    nothing = duplicate_analysis(simulated(0.0), resamples=500).overlap
    assert isinstance(nothing.difference, Estimate)
    assert nothing.difference.interval.low < 0 < nothing.difference.interval.high


@given(st.integers(0, 1000))
def test_the_order_of_questions_changes_nothing(seed: int) -> None:
    """Means, intervals and the test do not depend on it."""
    questions = simulated(0.4, n_words=12, seed=5)
    turned = [questions[n] for n in np.random.default_rng(seed).permutation(len(questions))]
    one, two = (duplicate_analysis(each, resamples=50).overlap for each in (questions, turned))
    assert isinstance(one.difference, Estimate)
    assert isinstance(two.difference, Estimate)
    assert one.difference.value == pytest.approx(two.difference.value)
    assert one.difference.interval.low == pytest.approx(two.difference.interval.low)


def test_wrong_questions_are_refused() -> None:
    """A model's choice that is none of the senses names the item; so do unknown pairs name those that there are."""
    with pytest.raises(InputError, match="item 'i': the model's choice '7'"):
        duplicate_analysis([ask("i", "1", "7")])
    with pytest.raises(InputError, match="rivals, all"):
        duplicate_analysis([ask("i", "1")], pairs="some")  # type: ignore[arg-type]
