"""Votes: the rule of the majority, levels of chance by enumeration, vote shares and trust by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from lexiscope.analysis.agreement.choices import (
    chance_of_majority,
    chance_of_vote_share,
    choices_from_arrays,
    hits_per_item,
    majority_of,
    mean_chance,
    rater_trust,
    share,
    trust_of_checks,
    vote_share,
)
from lexiscope.analysis.ratings import choices_from_table
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_options", [1, 2, 3, 4])
def test_chance_is_what_all_blind_answers_give(n: int, n_options: int) -> None:
    """Both levels of chance equal the mean over every possible sequence of answers."""
    every = list(itertools.product(range(n_options), repeat=n))
    majorities = sum(answers.count(0) > n / 2 for answers in every) / len(every)
    shares = np.mean([max(Counter(answers).values()) / n for answers in every])
    assert chance_of_majority(n, n_options) == pytest.approx(majorities, abs=1e-12)
    assert chance_of_vote_share(n, n_options) == pytest.approx(shares, abs=1e-12)
    assert majority_of(n) == min(k for k in range(n + 1) if k > n / 2)


def test_chance_of_the_paper_s_designs() -> None:
    """Three judgments: 7 of 27 for three senses (GASI §4.2), 28 of 1000 for ten words."""
    assert chance_of_majority(3, 3) == 7 / 27
    assert chance_of_majority(3, 10) == 28 / 1000
    assert np.isnan(mean_chance(chance_of_majority, np.array([], dtype=np.int64), 3))
    with pytest.raises(StatisticError, match="at least 1 judgment"):
        chance_of_majority(0, 3)


def test_trust_is_the_share_of_right_test_answers() -> None:
    """Ana is right in 3 of 4 test questions, Eva in 1 of 2."""
    trust = rater_trust(["ana"] * 4 + ["eva"] * 2, [True, True, False, True, False, True])
    assert trust == {"ana": 3 / 4, "eva": 1 / 2}
    with pytest.raises(InputError, match="2 raters for 1 answers"):
        rater_trust(["ana", "eva"], [True])


def test_trust_weighted_share_by_hand() -> None:
    """G18: Ana (1.0) says coin, Eva (0.5) and Leo (0.25) say shore. Plain, shore has 2 of 3; by trust, coin has
    1.0 of 1.75. On the second item all three agree."""
    ratings, _ = choices_from_arrays(
        ["ana", "eva", "leo"] * 2, ["i"] * 3 + ["j"] * 3, ["coin", "shore", "shore", *"xxx"]
    )
    plain = vote_share(ratings)
    weighted = vote_share(ratings, trust={"ana": 1.0, "eva": 0.5, "leo": 0.25})
    assert isinstance(plain, Estimate)
    assert isinstance(weighted, Estimate)
    assert plain.value == pytest.approx((2 / 3 + 1) / 2)
    assert weighted.value == pytest.approx((1.0 / 1.75 + 1) / 2)
    assert (plain.name, weighted.name) == ("vote_share(weights=none)", "vote_share(weights=trust)")
    assert (plain.n, plain.n_groups) == (2, 2)
    with pytest.raises(InputError, match="'leo' has no trust"):
        vote_share(ratings, trust={"ana": 1.0, "eva": 0.5})


def test_single_judgments_do_not_agree_with_themselves() -> None:
    """An item with one judgment does not count; without any other the share is undefined, with the reason."""
    ratings, _ = choices_from_arrays(["a", "b", "a", "b", "a"], ["i", "i", "j", "j", "k"], ["x", "y", "x", "x", "z"])
    found = vote_share(ratings)
    assert isinstance(found, Estimate)
    assert (found.value, found.n) == ((1 / 2 + 1) / 2, 2)
    alone, _ = choices_from_arrays(["a", "a"], ["i", "j"], ["x", "y"])
    assert vote_share(alone) == Undefined("vote_share(weights=none)", "no item has two judgments", 0)


def test_blind_raters_agree_as_chance_says() -> None:
    """The vote share of 4,000 triples of blind choices lies within 3 standard errors of the chance level."""
    generator = np.random.default_rng(4)
    n_items = 4000
    chosen = [str(option) for option in generator.integers(10, size=3 * n_items)]
    items = np.repeat([f"i{n}" for n in range(n_items)], 3).tolist()
    ratings, _ = choices_from_arrays(["a", "b", "c"] * n_items, items, chosen)
    found = vote_share(ratings, resamples=0)
    assert isinstance(found, Estimate)
    # the share is 1/3, 2/3 or 1 with probabilities .72, .27, .01: variance .0279
    assert found.value == pytest.approx(chance_of_vote_share(3, 10), abs=3 * np.sqrt(0.0279 / n_items))


def test_groups_are_resampled_whole() -> None:
    """With groups the interval is that of the groups: three equal items in each word leave only words to vary."""
    hits = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 1.0], 3)
    words = np.repeat(list("abcdef"), 3)
    grouped = share("x", hits, np.ones(18), groups=words)
    single = share("x", hits[::3], np.ones(6))
    assert (grouped.n, grouped.n_groups, grouped.value) == (18, 6, 12 / 18)
    assert (grouped.interval.low, grouped.interval.high) == (single.interval.low, single.interval.high)
    assert share("x", hits, np.ones(18)).interval.low > grouped.interval.low
    with pytest.raises(StatisticError, match="there are no counts"):
        share("x", [0.0, 0.0], [0.0, 0.0])


def test_arrays_and_tables_give_the_same() -> None:
    """Choices in arrays and in a response table are the same ratings; a missing choice is counted, not guessed."""
    rows = [("a", "i", "x"), ("b", "i", None), ("a", "j", "y"), ("b", "j", "x")]
    table = ResponseTable.from_rows(
        [Response(who, "participant", item, "word_intrusion", "choice", option=option) for who, item, option in rows]
    )
    ours, options = choices_from_arrays(*zip(*rows, strict=True))  # type: ignore[arg-type]
    theirs, same = choices_from_table(table)
    assert options == same == ("x", "y")
    np.testing.assert_array_equal(ours.matrix(), theirs.matrix())
    assert ours.n_missing == theirs.n_missing == 1
    assert hits_per_item(ours, options, {"i": "z", "j": "x"}).tolist() == [0, 1]
    with pytest.raises(InputError, match=r"item 'j'"):
        hits_per_item(ours, options, {"i": "x"})


def test_trust_from_the_checks_of_a_study() -> None:
    """Ana answers 2 of 2 attention checks rightly, Eva 1 of 2, and Leo left one out; other rows say nothing."""
    given = [("ana", 1.0), ("ana", 1.0), ("eva", 1.0), ("eva", 0.0), ("leo", 1.0), ("leo", None)]
    blank = Response("", "participant", "q", "t", "attention_check")
    rows = [replace(blank, subject_id=who, value=value) for who, value in given]
    rows.append(Response("ida", "participant", "i", "t", "choice", option="x"))
    assert trust_of_checks(ResponseTable.from_rows(rows)) == {"ana": 1.0, "eva": 0.5, "leo": 0.5}
    with pytest.raises(InputError, match="no answer to a test question") as caught:
        trust_of_checks(ResponseTable.from_rows(rows[-1:]))
    assert caught.value.code == "E504"
    with pytest.raises(InputError, match=r"is right \(1\) or wrong"):
        trust_of_checks(ResponseTable.from_rows([replace(blank, subject_id="ana", value=0.5)]))
