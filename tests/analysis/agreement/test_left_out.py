"""Intervals of agreement: leave-one-out values by definition, what has no interval and why, a slice of coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.analysis.coverage_agreement import CASES

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import mean_squared_rho, spearman_brown, split_half
from lexiscope.analysis.agreement.choices import percent_agreement, share, vote_share
from lexiscope.analysis.agreement.raters import Method, RaterAgreement, included, leave_one_out, pairwise_agreement
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError


def table(n_raters: int, n_items: int, *, whole: bool = True, given: float = 1.0, seed: int = 0) -> Ratings:
    """Ratings of items with a value of their own, by raters of different severity, of which a part is given."""
    generator = np.random.default_rng(seed)
    severity = 0.4 * generator.normal(size=(n_raters, 1))
    values = generator.normal(size=n_items) + severity + generator.normal(size=(n_raters, n_items))
    values = np.clip(np.rint(values + 2), 0, 4) if whole else values
    rater, item = np.nonzero(generator.random(values.shape) < given)
    return Ratings.from_arrays(rater, item, values[rater, item])


def by_t(value: float, without: list[float]) -> tuple[float, float]:
    """The jackknife on Fisher's z, written out."""
    n, z = len(without), np.arctanh(without)
    margin = stats.t.ppf(0.975, n - 1) * math.sqrt((n - 1) / n * float(((z - z.mean()) ** 2).sum()))
    return math.tanh(math.atanh(value) - margin), math.tanh(math.atanh(value) + margin)


@pytest.mark.parametrize("agree", [leave_one_out, included])
@pytest.mark.parametrize("method", ["spearman", "pearson"])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("given", [1.0, 0.4])
def test_agreement_without_a_rater_compares_the_others_anew(agree, method: Method, whole: bool, given: float) -> None:  # type: ignore[no-untyped-def]
    """Leaving a rater out changes the means of the others: each mean is that of the smaller table, and its square."""
    ratings = table(7, 12, whole=whole, given=given)
    found = agree(ratings, method=method)
    # the smaller table has the unit and the settled digits of the whole
    unitless = ratings.without_unit()
    parts: list[RaterAgreement] = [
        agree(unitless.select(unitless.rater != rater), method=method, resamples=0) for rater in range(7)
    ]
    np.testing.assert_allclose(found.left_out.values, [part.mean for part in parts], rtol=0, atol=1e-9)
    squares = [float((part.values**2).mean()) for part in parts]
    np.testing.assert_allclose(found.left_out_squares.values, squares, rtol=0, atol=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx(by_t(found.mean, [part.mean for part in parts]))
    assert mean_squared_rho(found).interval.method == "jackknife(resampled=raters,scale=root_fisher_z,level=0.95)"


def test_pairwise_agreement_leaves_out_all_pairs_of_a_rater() -> None:
    """The interval is by t on the means over the pairs of the other raters."""
    ratings = table(8, 30)
    without = [pairwise_agreement(ratings.select(ratings.rater != rater), resamples=0).value for rater in range(8)]
    found = pairwise_agreement(ratings)
    assert (found.interval.low, found.interval.high) == pytest.approx(by_t(found.value, without), abs=1e-12)
    assert found.interval.method == "jackknife(resampled=raters,scale=fisher_z,level=0.95)"


def test_many_raters_are_left_out_in_groups() -> None:
    """Of 800 raters of 20 items groups are left out; the interval of a group of raters each is as wide as of one."""
    ratings = table(800, 20)
    found = leave_one_out(ratings)
    assert found.interval.method == "jackknife(resampled=raters,scale=fisher_z,level=0.95,groups=262)"
    assert found.left_out.sizes.sum() == 800
    pairs = [pairwise_agreement(ratings, resamples=n).interval for n in (800, 100)]
    assert pairs[0].method.endswith("groups=500)")
    widths = [interval.high - interval.low for interval in pairs]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)


def test_split_half_leaves_out_items() -> None:
    """The interval is by t on the mean correlation of the halves without each item, its ends corrected for length."""
    ratings = table(6, 15)
    found = split_half(ratings, splits=4)
    uncorrected = [
        split_half(ratings.of_items([i for i in ratings.item_ids if i != item]), splits=4, resamples=0).value
        for item in ratings.item_ids
    ]
    # 2 r / (1 + r) turned round
    ends = by_t(found.value / (2 - found.value), [value / (2 - value) for value in uncorrected])
    expected = [spearman_brown(end) for end in ends]
    assert [found.interval.low, found.interval.high] == pytest.approx(expected, abs=1e-9)


def test_what_cannot_be_resampled_says_why() -> None:
    """Two raters, one item, no interval asked for: a note with the reason, and the value all the same."""
    two = table(2, 12)
    assert leave_one_out(two).interval.note == "no interval: 2 raters are too few to be resampled"
    assert pairwise_agreement(two).interval.note == "no interval: 2 raters are too few to be resampled"
    held = 'no interval: 2 raters are too few to be resampled; resampled="items" holds them fixed'
    assert krippendorff_alpha(two).interval.note == percent_agreement(two).interval.note == held
    one = percent_agreement(table(5, 1))
    assert (one.n, one.interval.note) == (1, "no interval: one item cannot be resampled")
    for found in (leave_one_out(two, resamples=0), krippendorff_alpha(table(5, 9), resamples=0)):
        assert found.interval.note.startswith("no interval: ")
    unasked = krippendorff_alpha(table(5, 9), resamples=0).interval
    assert unasked.note == "no interval: no resamples were asked for"


def test_a_share_of_one_has_a_lower_bound() -> None:
    """Where all of ten rows are hits, nothing varies; the bound is that of ten independent rows, with t for z."""
    found = share("right", np.ones(10), np.ones(10))
    t = stats.t.ppf(0.975, 9)
    assert found.interval.low == pytest.approx(10 / (10 + t * t))
    assert found.interval.high == 1
    with pytest.raises(StatisticError):
        share("right", [1], [1])


def test_vote_shares_name_their_groups() -> None:
    """A share over words says that words were left out."""
    ratings = table(3, 12)
    found = vote_share(ratings)
    assert found.interval.method == "jackknife(resampled=items,scale=wilson,level=0.95)"  # type: ignore[union-attr]


QUICK = {
    ("leave_one_out_agreement", 10),
    ("pairwise_agreement", 8),
    ("krippendorff_alpha", 5),
    ("krippendorff_alpha", 20),
    ("cohen_kappa", 20),
    ("split_half_reliability", 20),
}
"""Designs in which the percentiles of a bootstrap held 74 to 92 of 100."""


@pytest.mark.parametrize(
    ("case", "n"),
    [
        pytest.param(case, n, id=f"{case['statistic']}, {case['design'][:30]}, {n}")
        for case in CASES
        for n in case["n"]
        if (case["statistic"], n) in QUICK
    ],
)
def test_intervals_hold_the_truth(case, n: int) -> None:  # type: ignore[no-untyped-def]
    """Of 200 studies, 95 % hold it, give or take 3 standard errors (4.6 points) and the 1.5 points of the goal."""
    rng = np.random.default_rng(1)
    rows = np.array([case["function"](rng, n) for _ in range(200)])
    held = float(((rows[:, 0] <= rows[:, 2]) & (rows[:, 2] <= rows[:, 1])).mean())
    assert 0.935 - 0.046 <= held <= 1


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 8), st.integers(4, 14), st.integers(2, 4), st.floats(0.3, 1.0), st.integers(0, 10**6))
def test_alpha_does_not_depend_on_names_or_on_the_order_of_rows(
    n_raters: int, n_items: int, n_values: int, density: float, seed: int
) -> None:
    """Units are dealt into 20 groups by what was rated: other names of raters and items move no bound."""
    dice = np.random.default_rng(seed)
    rater, item = np.nonzero(dice.random((n_raters, n_items)) < density)
    value = dice.integers(0, n_values, len(rater)).astype(float)
    bounds = []
    for _ in range(3):
        raters, items, order = (dice.permutation(n) for n in (n_raters, n_items, len(rater)))
        names = [f"p{n}" for n in raters[rater[order]]], [f"i{n}" for n in items[item[order]]]
        try:
            alpha = krippendorff_alpha(Ratings.from_arrays(*names, value[order]), resamples=20, seed=1)
        except StatisticError:
            return
        bounds.append((alpha.value, alpha.interval.low, alpha.interval.high))
    assert bounds[1:] == [pytest.approx(bounds[0], abs=1e-9, nan_ok=True)] * 2


def test_alpha_of_many_ratings_does_not_depend_on_names() -> None:
    """12,000 ratings, of which 500 groups are left out: the interval moved by 6e-4 with the names of the raters."""
    ratings = table(60, 400, given=0.5)
    bounds = []
    for turn in (0, 7):
        raters = [f"p{(7 * code + turn) % 60:02}" for code in ratings.rater.tolist()]
        renamed = Ratings.from_arrays(raters, [f"i{-code % 400:03}" for code in ratings.item.tolist()], ratings.value)
        interval = krippendorff_alpha(renamed, level="ordinal").interval
        bounds.append((interval.low, interval.high))
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-12)
