"""Kappa, percent agreement, majority and trust-weighted confidence on worked examples and by definition."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lexiscope.analysis.agreement import choices
from lexiscope.analysis.agreement.choices import cohen_kappa, fleiss_kappa, majority, percent_agreement, trust_weighted
from lexiscope.analysis.jackknife import LeftOut, crossed_jackknife_interval, jackknife_interval
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
    if not shares:
        with pytest.raises(StatisticError):
            percent_agreement(ratings)
        return
    found = percent_agreement(ratings, resamples=50)
    assert found.value == pytest.approx(np.mean(shares))
    assert found.n == len(shares)
    if len(shares) < 2:
        assert found.interval.note == "no interval: one item cannot be resampled"
    elif found.interval.is_defined:
        assert found.interval.low <= found.value <= found.interval.high + 1e-12


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=5), min_size=2, max_size=8))
@settings(max_examples=60, deadline=None)
def test_percent_agreement_without_some_ratings(table: list[list[int]]) -> None:
    """Without a rater, an item or a rating, agreement is that of the smaller table."""
    rows = [(f"r{r}", f"i{i}", value) for i, row in enumerate(table) for r, value in enumerate(row)]
    ratings = Ratings.from_arrays(*zip(*rows, strict=True))
    for codes in (ratings.rater, ratings.item, np.arange(len(ratings))):
        found = choices._shares_without(ratings, codes, int(codes.max()) + 1)
        for code, without in enumerate(found):
            rest = ratings.select(codes != code)
            if rest.n_pairable:
                assert without == pytest.approx(percent_agreement(rest, resamples=0).value, abs=1e-12)
            else:
                assert np.isnan(without)


def test_kappa_leaves_out_items_one_by_one() -> None:
    """The interval is that of the kappas without each item, on Fisher's z with t on n - 1 degrees of freedom."""
    first, second = [0, 0, 1, 1, 2, 2, 0, 1, 2, 0], [0, 1, 1, 1, 2, 0, 0, 1, 2, 0]
    found = cohen_kappa(first, second)
    without = [
        cohen_kappa(first[:k] + first[k + 1 :], second[:k] + second[k + 1 :], resamples=0).value for k in range(10)
    ]
    z = np.arctanh(without)
    margin = stats.t.ppf(0.975, 9) * np.sqrt(9 / 10 * np.sum((z - z.mean()) ** 2))
    ends = np.tanh(np.arctanh(found.value) + np.array([-margin, margin]))
    assert [found.interval.low, found.interval.high] == pytest.approx(ends, abs=1e-12)


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


# Fleiss 1971, Table 1: 30 patients, each given one of 5 diagnoses by 6 psychiatrists; a row counts the diagnoses
FLEISS = (
    *("00060", "03003", "01401", "00006", "03030", "20400", "00402", "20310", "20040", "00006", "10050", "11040"),
    *("03300", "10050", "02031", "00501", "30012", "51000", "02040", "10203", "00006", "01050", "02013", "20040"),
    *("10041", "05010", "40002", "02040", "10500", "00006"),
)


def _of_counts(rows: Sequence[str]) -> Ratings:
    """Ratings of counts: a row is an item, a hexadecimal digit how many raters gave it the value of its place."""
    raters, items, values = [], [], []
    for item, row in enumerate(rows):
        given = [value for value, count in enumerate(row) for _ in range(int(count, 16))]
        raters += [f"r{number}" for number in range(len(given))]
        items += [f"i{item}"] * len(given)
        values += given
    return Ratings.from_arrays(raters, items, values)


def test_fleiss_kappa_of_its_paper() -> None:
    """Fleiss 1971: 30 patients, 6 psychiatrists, 5 diagnoses: agreement .556, .220 by chance, kappa .430."""
    estimate = fleiss_kappa(_of_counts(FLEISS), resamples=400)
    assert round(estimate.value, 3) == 0.430
    assert estimate.n == 30
    assert estimate.interval.method.startswith("jackknife(resampled=raters_and_items,scale=fisher_z")
    assert estimate.interval.low < 0.430 < estimate.interval.high


def test_fleiss_kappa_of_the_textbook() -> None:
    """The worked example of 10 items, 14 raters and 5 categories that is in many textbooks: kappa .210."""
    rows = ["0000e", "02642", "00356", "03920", "22811", "77000", "32630", "25322", "65210", "02237"]
    assert round(fleiss_kappa(_of_counts(rows), resamples=0).value, 3) == 0.210


@pytest.mark.parametrize("seed", range(4))
def test_fleiss_kappa_from_its_definition(seed: int) -> None:
    """Pairs counted one by one, with different numbers of raters per item; items with one rating do not enter. Items
    that are resampled whole by word change the interval and not the value."""
    generator = np.random.default_rng(seed)
    items = [generator.integers(0, 3, size=generator.integers(1, 6)).tolist() for _ in range(12)]
    raters = [f"r{place}" for row in items for place in range(len(row))]
    names = [f"i{item}" for item, row in enumerate(items) for _ in row]
    ratings = Ratings.from_arrays(raters, names, [float(v) for row in items for v in row])
    kept = [row for row in items if len(row) > 1]
    pairs = [np.mean([a == b for i, a in enumerate(row) for j, b in enumerate(row) if i != j]) for row in kept]
    chance = sum(np.mean([row.count(v) / len(row) for row in kept]) ** 2 for v in range(3))
    expected = (np.mean(pairs) - chance) / (1 - chance)
    estimate = fleiss_kappa(ratings, resamples=100)
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    by_word = fleiss_kappa(ratings, groups={f"i{item}": f"w{item % 4}" for item in range(12)}, resamples=100)
    assert by_word.value == estimate.value
    assert by_word.interval != estimate.interval


def test_fleiss_kappa_without_each_rater_and_item() -> None:
    """The jackknife takes the kappas of what is left: computed again without each unit, with gaps, over all three."""
    generator = np.random.default_rng(3)
    table = [(f"r{r}", f"i{i}", float(generator.integers(0, 3))) for r in range(5) for i in range(9)]
    table = [row for row in table if generator.random() < 0.8]

    def kappa(rows: Sequence[tuple[str, str, float]]) -> float:
        return fleiss_kappa(Ratings.from_arrays(*map(list, zip(*rows, strict=True))), resamples=0).value

    raters, items = sorted({row[0] for row in table}), sorted({row[1] for row in table})
    whole = kappa(table)
    for resampled, units, place in (("raters", raters, 0), ("items", items, 1)):
        left = [kappa([row for row in table if row[place] != unit]) for unit in units]
        expected = jackknife_interval(whole, left, resampled=resampled, scale="fisher_z")
        ratings = Ratings.from_arrays(*map(list, zip(*table, strict=True)))
        found = fleiss_kappa(ratings, resampled=resampled).interval
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    crossed = crossed_jackknife_interval(
        whole,
        LeftOut.singly([kappa([row for row in table if row[0] != unit]) for unit in raters]),
        LeftOut.singly([kappa([row for row in table if row[1] != unit]) for unit in items]),
        LeftOut.singly([kappa([row for row in table if row is not cell]) for cell in table]),
        scale="fisher_z",
    )
    found = fleiss_kappa(ratings).interval
    assert (found.low, found.high) == pytest.approx((crossed.low, crossed.high), abs=1e-12)


def test_fleiss_kappa_that_does_not_exist() -> None:
    """One value throughout, and one item, have none; items of one word have no interval."""
    with pytest.raises(StatisticError, match="all ratings have one value"):
        fleiss_kappa(Ratings.from_arrays(list("abab"), list("iijj"), [1, 1, 1, 1]))
    with pytest.raises(StatisticError, match="at least 2 items"):
        fleiss_kappa(Ratings.from_arrays(list("ab"), list("ii"), [1, 2]))
    one_word = fleiss_kappa(Ratings.from_arrays(list("abab"), list("iijj"), [1, 2, 1, 1]), groups={"i": "w", "j": "w"})
    assert "one group cannot be resampled" in one_word.interval.note
