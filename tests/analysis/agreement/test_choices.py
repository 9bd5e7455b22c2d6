"""Kappa, percent agreement, majority and trust-weighted confidence on worked examples and by definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.analysis.agreement.choices import cohen_kappa, majority, percent_agreement, trust_weighted
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError

answers = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=30)


def kappa_by_definition(pairs: list[tuple[int, int]], power: int) -> float:
    """1 − observed over expected distance, all pairs of answers of the two raters being expected."""
    order = sorted({value for pair in pairs for value in pair})

    def distance(a: int, b: int) -> float:
        steps = abs(order.index(a) - order.index(b))
        return float(steps > 0) if power == 0 else float(steps**power)

    observed = np.mean([distance(a, b) for a, b in pairs])
    expected = np.mean([distance(a, b) for a, b in itertools.product(*zip(*pairs, strict=True))])
    return float(1 - observed / expected)


@given(answers)
@settings(max_examples=300, deadline=None)
def test_kappa_equals_its_definition(pairs: list[tuple[int, int]]) -> None:
    """Plain, linear and quadratic kappa equal the definition to 1e-12, or both raters always chose the same."""
    first, second = zip(*pairs, strict=True)
    for power, weights in ((0, "none"), (1, "linear"), (2, "quadratic")):
        if len({*first, *second}) == 1:
            with pytest.raises(StatisticError, match="both raters chose"):
                cohen_kappa(first, second, weights=weights, resamples=0)  # type: ignore[arg-type]
            continue
        found = cohen_kappa(first, second, weights=weights, resamples=0)  # type: ignore[arg-type]
        assert found.value == pytest.approx(kappa_by_definition(pairs, power), abs=1e-12)
        assert found.name == f"cohen_kappa(weights={weights})"


def test_kappa_of_a_worked_example() -> None:
    """Of 50 items both say yes to 20 and no to 15: p_o = .7, p_e = .5 * .6 + .5 * .4 = .5, kappa = .2 / .5."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = cohen_kappa(first, second)
    assert found.value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert found.n == 50
    assert found.interval.low < 0.4 < found.interval.high


def test_quadratic_kappa_is_symmetric_and_ignores_unused_ends() -> None:
    """Raters may be swapped; a category below all used ones shifts all positions and changes nothing."""
    first, second = [1, 2, 3, 3, 2], [2, 2, 3, 1, 2]
    value = cohen_kappa(first, second, weights="quadratic", resamples=0).value
    assert cohen_kappa(second, first, weights="quadratic", resamples=0).value == pytest.approx(value, abs=1e-12)
    wider = cohen_kappa(first, second, weights="quadratic", categories=[0, 1, 2, 3], resamples=0)
    assert wider.value == pytest.approx(value, abs=1e-12)


def test_items_that_one_rater_left_out_are_counted_apart() -> None:
    """NaN and None are missing: kappa is over doubly answered items."""
    found = cohen_kappa([1, 2, float("nan"), 1, 2], [1, 2, 1, None, 1], resamples=0)
    assert found.n == 3
    assert found.value == cohen_kappa([1, 2, 2], [1, 2, 1], resamples=0).value


def test_wrong_kappas_are_refused() -> None:
    """Lengths differ, one item, an unknown category, unknown weights."""
    with pytest.raises(StatisticError, match="one length"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(StatisticError, match="at least 2 items"):
        cohen_kappa([1], [2])
    with pytest.raises(InputError, match="9 is not among the categories"):
        cohen_kappa([1, 9], [1, 2], categories=[1, 2])
    with pytest.raises(StatisticError, match="no weights 'cubic'"):
        cohen_kappa([1, 2], [1, 2], weights="cubic")  # type: ignore[arg-type]


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=2, max_size=8))
@settings(max_examples=200, deadline=None)
def test_percent_agreement_equals_counting_pairs(table: list[list[int]]) -> None:
    """The mean over items of the share of equal pairs."""
    rows = [(f"r{r}", f"i{i}", value) for i, row in enumerate(table) for r, value in enumerate(row)]
    ratings = Ratings.from_arrays(*zip(*rows, strict=True))
    shares = [np.mean([a == b for a, b in itertools.combinations(row, 2)]) for row in table if len(row) > 1]
    if len(shares) < 2:
        with pytest.raises(StatisticError):
            percent_agreement(ratings)
        return
    found = percent_agreement(ratings, resamples=50)
    assert found.value == pytest.approx(np.mean(shares))
    assert found.n == len(shares)
    assert found.interval.low <= found.value + 1e-12


def test_majority_of_three() -> None:
    """Two of three decide; three different answers are a tie; a plurality of two in five is not absolute."""
    values = {"i": [1, 1, 0], "j": [0, 1, 2], "k": [2, 2, 0, 1, 3]}
    rows = [(f"r{r}", item, value) for item, row in values.items() for r, value in enumerate(row)]
    found = majority(Ratings.from_arrays(*zip(*rows, strict=True)))
    np.testing.assert_array_equal(found.value, [1, np.nan, 2])
    assert found.votes.tolist() == [2, 1, 2]
    assert found.n.tolist() == [3, 3, 5]
    assert found.tied.tolist() == [False, True, False]
    assert found.absolute.tolist() == [True, False, False]


def test_an_item_nobody_answered_has_no_majority() -> None:
    """It is tied at zero votes, not option 0."""
    found = majority(Ratings.from_arrays(["a", "a"], ["i", "j"], [0, float("nan")]))
    assert np.isnan(found.value).tolist() == [False, True]
    assert found.tied.tolist() == [False, True]


def test_trust_decides_against_the_majority() -> None:
    """Two raters of trust .3 lose to one of trust .9: .9 / 1.5 = .6; equal trust on both sides is a tie."""
    ratings = Ratings.from_arrays(["a", "b", "c", "a", "b"], ["i", "i", "i", "j", "j"], [0, 0, 1, 0, 1])
    found = trust_weighted(ratings, {"a": 0.3, "b": 0.3, "c": 0.9})
    np.testing.assert_allclose(found.confidence, [[0.6 / 1.5, 0.9 / 1.5], [0.5, 0.5]])
    np.testing.assert_array_equal(found.value, [1, np.nan])
    assert found.tied.tolist() == [False, True]


def test_equal_trust_gives_the_share_of_votes() -> None:
    """With one trust for all, confidence is the share of raters, and its top is the majority."""
    generator = np.random.default_rng(0)
    table = generator.integers(0, 3, size=(20, 5))
    rows = [(f"r{r}", f"i{i:02}", int(table[i, r])) for i in range(20) for r in range(5)]
    ratings = Ratings.from_arrays(*zip(*rows, strict=True))
    found = trust_weighted(ratings, dict.fromkeys(ratings.rater_ids, 0.7))
    shares = [[np.mean(row == option) for option in found.options] for row in table]
    np.testing.assert_allclose(found.confidence, shares, atol=1e-12)
    np.testing.assert_array_equal(found.value, majority(ratings).value)


def test_trust_must_be_known() -> None:
    """A rater without a trust, a negative trust, and an item rated by untrusted raters only."""
    ratings = Ratings.from_arrays(["a", "b"], ["i", "i"], [0, 1])
    for trust in ({"a": 1.0}, {"a": 1.0, "b": -0.1}, {"a": 1.0, "b": float("nan")}):
        with pytest.raises(InputError, match="rater 'b'"):
            trust_weighted(ratings, trust)
    with pytest.raises(StatisticError, match="trust 0 only"):
        trust_weighted(ratings, {"a": 0.0, "b": 0.0})


def test_an_item_nobody_rated_has_no_confidence() -> None:
    """Without a rating nothing is chosen: tied at 0, also where there is no rating at all."""
    for values in ([float("nan"), float("nan")], [1.0, float("nan")]):
        ratings = Ratings.from_arrays(["a", "b"], ["i", "j"], values)
        found = trust_weighted(ratings, {"a": 1.0, "b": 1.0})
        assert np.isnan(found.value[1])
        assert found.tied[1]
        assert found.confidence[1].sum() == 0
