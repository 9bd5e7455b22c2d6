"""No statistic of ratings knows the unit of the scale: judged relative to the data, never by an absolute bound.

``x`` may be ``a · x + b`` for a from 1e-12 to 1e12: what does not depend on unit and zero point stays, and no refusal
gives a reason that is false.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.analysis.agreement.alpha import Level, krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import single_rater, split_half
from lexiscope.analysis.agreement.raters import included, leave_one_out, pairwise_agreement
from lexiscope.analysis.agreement.summary import variance_components
from lexiscope.analysis.correlation import grouped_correlations, pearson, r_squared, spearman
from lexiscope.analysis.norms.example_rows import choose_examples
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.analysis.regression import logistic, ols
from lexiscope.analysis.significance import independent_t, paired_t, wilcoxon_rank_sum, wilcoxon_signed_rank
from lexiscope.core.errors import StatisticError

N_RATERS, N_ITEMS = 6, 9

# one point leaves every statistic undefined, two make many ties and constant raters
scores = st.builds(
    lambda seed, points: np.random.default_rng(seed).integers(1, 1 + points, N_RATERS * N_ITEMS).tolist(),
    st.integers(0, 10**6),
    st.integers(1, 5),
)
units = st.builds(lambda power, factor: factor * 10.0**power, st.integers(-12, 11), st.sampled_from([1.0, 2.5, 7.3]))
# in units of the scale: a shift of more than some thousand ranges leaves fewer than 12 digits
shifts = st.integers(-1000, 1000)


def ratings(values: Any) -> Ratings:
    """Six raters of nine items, row by row."""
    raters, items = np.repeat(np.arange(N_RATERS), N_ITEMS), np.tile(np.arange(N_ITEMS), N_RATERS)
    return Ratings.from_arrays(raters, items, values)


def found(statistic: Any, values: Any) -> Any:
    """The statistic with its interval, or nothing."""
    try:
        return statistic(ratings(values))
    except StatisticError:
        return []


def alpha(level: Level) -> Any:
    def statistic(table: Ratings) -> list[float]:
        result = krippendorff_alpha(table, level=level, resamples=40)
        return [result.value, result.interval.low, result.interval.high]

    return statistic


def agreement(function: Any, method: str) -> Any:
    def statistic(table: Ratings) -> list[float]:
        result = function(table, method=method, resamples=40)
        return [*result.values, result.interval.low, result.interval.high]

    return statistic


def pairs(method: Any) -> Any:
    def statistic(table: Ratings) -> list[float]:
        result = pairwise_agreement(table, method=method, resamples=40)
        return [result.value, result.n, result.interval.low, result.interval.high]

    return statistic


def halves(table: Ratings) -> list[float]:
    result = split_half(table, splits=10, resamples=40)
    return [result.value, result.interval.low, result.interval.high]


def components(table: Ratings) -> list[float]:
    result = variance_components(table, dict.fromkeys(table.rater_ids, "all"))
    return [result.f, result.p, result.icc_single]


INVARIANT = {
    "alpha(interval)": alpha("interval"),
    "alpha(ordinal)": alpha("ordinal"),
    "alpha(nominal)": alpha("nominal"),
    "leave_one_out(spearman)": agreement(leave_one_out, "spearman"),
    "leave_one_out(pearson)": agreement(leave_one_out, "pearson"),
    "included(spearman)": agreement(included, "spearman"),
    "included(pearson)": agreement(included, "pearson"),
    "pairwise(spearman)": pairs("spearman"),
    "pairwise(pearson)": pairs("pearson"),
    "split_half": halves,
    "variance_components": components,
}


@pytest.mark.parametrize("name", list(INVARIANT))
@settings(max_examples=12)
@given(values=scores, unit=units, shift=shifts)
def test_agreement_does_not_know_the_scale(name: str, values: list[int], unit: float, shift: int) -> None:
    """x → a·x + b leaves every agreement, ceiling and its interval as they were, and undefined what was undefined."""
    moved = unit * (np.array(values) + shift)
    before, after = found(INVARIANT[name], values), found(INVARIANT[name], moved)
    assert after == pytest.approx(before, rel=1e-6, abs=1e-7, nan_ok=True)


@settings(max_examples=12)
@given(values=scores, unit=units)
def test_ratio_alpha_does_not_know_the_unit(values: list[int], unit: float) -> None:
    """The ratio level has a zero point and no unit: x → a·x leaves it."""
    assert found(alpha("ratio"), unit * np.array(values)) == pytest.approx(
        found(alpha("ratio"), values), rel=1e-6, abs=1e-7, nan_ok=True
    )


@pytest.mark.parametrize("correlation", [pearson, spearman, r_squared])
@settings(max_examples=12)
@given(values=scores, unit=units, shift=shifts)
def test_correlations_do_not_know_the_scale(correlation: Any, values: list[int], unit: float, shift: int) -> None:
    """Pearson, Spearman and R² of two columns, with their intervals, under x → a·x + b."""
    x, y = np.array(values[:27], dtype=float), np.array(values[27:], dtype=float)

    def result(column: Any) -> Any:
        try:
            estimate = correlation(column, y, resamples=40)
        except StatisticError:
            return []
        return [estimate.value, estimate.interval.low, estimate.interval.high]

    assert result(unit * (x + shift)) == pytest.approx(result(x), rel=1e-6, abs=1e-7, nan_ok=True)


@settings(max_examples=12)
@given(values=scores, unit=units)
def test_tests_and_regressions_do_not_know_the_unit(values: list[int], unit: float) -> None:
    """t, p and effect sizes of mean and rank tests, and R² of a regression, under x → a·x."""
    x, y = np.array(values[:27], dtype=float), np.array(values[27:], dtype=float)

    def result(a: Any, b: Any) -> list[Any]:
        numbers: list[Any] = []
        for test in (paired_t, independent_t, wilcoxon_rank_sum, wilcoxon_signed_rank):
            try:
                numbers += [test(a, b).statistic, test(a, b).p, test(a, b).effect]
            except StatisticError:
                numbers += [math.nan]
        try:
            numbers += [ols(b, a, ["x"]).r_squared]
        except StatisticError:
            numbers += [math.nan]
        return numbers

    assert result(unit * x, unit * y) == pytest.approx(result(x, y), rel=1e-6, abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("digits", [1e-9, 0.1, 1, 1e9])
@pytest.mark.parametrize("shift", [0, 1e6])
def test_equal_differences_are_ties_in_every_unit(digits: float, shift: float) -> None:
    """The differences 2 2 -2 0 1 in tenths: 0.3 - 0.1 and 0.5 - 0.3 differ in the last bit only.

    Ranks of the sizes 1 2 2 2: 1 3 3 3; V = 3 + 3 + 1 = 7 of 10.
    """
    first, second = np.array([3, 5, 7, 6, 8.0]), np.array([1, 3, 9, 6, 7.0])
    found = wilcoxon_signed_rank(first * digits + shift * digits, second * digits + shift * digits)
    assert (found.statistic, found.n, found.effect) == (7.0, (4,), pytest.approx(0.4))
    assert found.note == "1 difference of 0 was dropped"


def test_small_differences_of_small_values_are_no_zeros() -> None:
    """Paired probabilities of 1e-15 next to ones of .5 keep their differences: a bound goes by the pair itself."""
    found = wilcoxon_signed_rank([1e-15, 3e-15, 0.5, 0.6, 0.7], [2e-15, 1e-15, 0.4, 0.3, 0.7])
    assert (found.n, found.statistic) == ((4,), 9.0)  # sizes 1e-15 (-), 2e-15, .1, .3


@pytest.mark.parametrize(("unit", "shift"), [(0.1, 0.0), (1e-9, 0.0), (1e-9, 1e-3), (1e9, 0.0)])
def test_agreement_of_ratings_does_not_know_the_unit_of_their_last_digit(unit: float, shift: float) -> None:
    """Ratings of .1, .2, .3 have the ties of 1, 2, 3: also as 1e-3 + 1e-9, whose last digits are rounding."""
    generator = np.random.default_rng(3)
    values = np.clip(np.round(np.linspace(1, 5, 24) + generator.normal(0, 1, (7, 24))), 1, 5)

    def result(values: Any) -> list[float]:
        raters, items = ([str(v) for v in np.indices(values.shape)[k].ravel()] for k in (0, 1))
        table = Ratings.from_arrays(raters, items, values.ravel())
        return [
            leave_one_out(table, resamples=0).mean,
            included(table, resamples=0).mean,
            single_rater(table, resamples=0)[0].value,
        ]

    assert result(values * unit + shift) == pytest.approx(result(values), rel=1e-9)


@pytest.mark.parametrize("shift", [0, 1e6, 1e9])
def test_a_logistic_regression_does_not_know_the_zero_of_a_predictor(shift: float) -> None:
    """AIC, slope and its standard error stay for a predictor + 1e9; doubles leave it seven digits."""
    generator = np.random.default_rng(4)
    x = generator.normal(size=80)
    y = (x + generator.normal(size=80) > 0).astype(int)
    near, far = logistic(y, x, ["x"]), logistic(y, x + shift, ["x"])
    assert far.aic == pytest.approx(near.aic, rel=1e-6)
    for name in ("estimate", "standard_error"):
        assert getattr(far.coefficients[1], name) == pytest.approx(getattr(near.coefficients[1], name), rel=1e-5)


@pytest.mark.parametrize("level", [3.0, 0.1, 1e9])
def test_a_spread_that_is_rounding_is_a_constant(level: float) -> None:
    """Norms, or differences, that differ in their last bits only have no R² and no t: both are refused as constant."""
    x, last_bits = np.arange(8.0), level * np.finfo(float).eps * np.array([0, 1, 0, -1, 1, 0, 1, 0])
    with pytest.raises(StatisticError, match="the outcome is constant"):
        ols(level + last_bits, x, ["x"])
    with pytest.raises(StatisticError, match="all 8 differences are"):
        paired_t(level + last_bits, np.full(8, level * 2))


def test_small_ratings_have_an_alpha() -> None:
    """Ratings of 1e-9, 2e-9, 3e-9 have the alpha of 1, 2, 3.

    By hand for 1 1 / 2 3 / 3 3 (n = 6): observed 2 · 1 = 2; expected 2 · 6 · Σ(x − x̄)² = 12 · (33 − 169 / 6) = 58;
    alpha = 1 − 5 · 2 / 58 = .8275862.
    """
    table = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1e-9, 1e-9, 2e-9, 3e-9, 3e-9, 3e-9])
    assert krippendorff_alpha(table, level="interval", resamples=0).value == pytest.approx(1 - 5 * 2 / 58)


def test_close_ratios_have_an_alpha() -> None:
    """1e9 and 1e9 + 1 differ at the ratio level by (1 / 2e9)² and are not "all 1e+09".

    With one pair apart and one alike of each value: alpha = 1 − (n − 1) Do / De does not depend on the one distance.
    """
    items, raters = list("iijjkk"), list("ababab")
    near = Ratings.from_arrays(raters, items, [1e9, 1e9, 1e9, 1e9 + 1, 1e9 + 1, 1e9 + 1])
    far = Ratings.from_arrays(raters, items, [1, 1, 1, 2, 2, 2])
    values = [krippendorff_alpha(table, level="ratio", resamples=0).value for table in (near, far)]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("unit", [1e-6, 1e-7, 1e-12])
def test_small_ratings_have_a_split_half_reliability(unit: float) -> None:
    """Ratings × 1e-6 … 1e-12: the value and both ends of the interval are those of the ratings (no NaN, no refusal)."""
    values = np.random.default_rng(3).integers(1, 6, N_RATERS * N_ITEMS) + np.tile(np.arange(N_ITEMS), N_RATERS)
    assert halves(ratings(values * unit)) == pytest.approx(halves(ratings(values)), rel=1e-9)


def test_ratings_around_a_large_number_agree_as_others_do() -> None:
    """Leave-one-out of 1e12 + 1 … 1e12 + 5 is that of 1 … 5: differences of such numbers are exact."""
    values = np.random.default_rng(4).integers(1, 6, N_RATERS * N_ITEMS)
    for method in ("spearman", "pearson"):
        small, large = (leave_one_out(ratings(each), method=method, resamples=0) for each in (values, values + 1e12))
        assert large.values == pytest.approx(small.values, rel=1e-12)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("values", [[1, 2], [1, 5, 5], [1, 2, 3, 4]])
def test_one_item_has_an_alpha_of_zero(level: Level, values: list[int]) -> None:
    """With one pairable item, expected and observed disagreement are the same pairs: alpha = 1 − 1 = 0, no interval.

    *Source:* Krippendorff 2011: De sums the pairs of all n ratings over n − 1, Do those of the unit over m − 1 = n − 1.
    """
    table = Ratings.from_arrays([str(k) for k in range(len(values))], ["i"] * len(values), values)
    result = krippendorff_alpha(table, level=level)
    assert result.value == pytest.approx(0, abs=1e-12)
    assert math.isnan(result.interval.low)
    assert result.interval.note == "no interval: one item cannot be resampled"


def test_one_item_without_variation_is_still_undefined() -> None:
    """Where all ratings of the one item are equal there is no disagreement to expect."""
    with pytest.raises(StatisticError, match="all 2 ratings are 4"):
        krippendorff_alpha(Ratings.from_arrays(["a", "b"], ["i", "i"], [4, 4]))


def test_items_of_one_word_have_an_alpha_without_interval() -> None:
    """Several items of one word: the value of the items, and no interval over words."""
    table = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 3, 3, 3])
    result = krippendorff_alpha(table, groups=dict.fromkeys("ijk", "bank"))
    assert result.value == pytest.approx(1 - 5 * 2 / 58)
    assert result.interval.note == "no interval: one group cannot be resampled"


def test_rounding_is_no_variation() -> None:
    """0.1 + 0.2 and 0.3 are one value: alpha and correlations of them are undefined, whatever the size."""
    for unit in (1e-9, 1.0, 1e9):
        values = unit * np.array([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2])
        with pytest.raises(StatisticError, match="alpha is undefined"):
            krippendorff_alpha(Ratings.from_arrays(list("abab"), list("iijj"), values), level="interval")
        found = grouped_correlations(values, np.arange(4.0), np.zeros(4, dtype=np.int64), 1, kind="pearson")
        assert np.isnan(found[0])


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_sums_of_ratings_are_settled_relative_to_their_range(unit: float) -> None:
    """What differs in the last bit is a tie at every size; what differs by a thousandth of the range is not."""
    given_values = unit * np.array([0.1, 0.5])
    settled = settle(unit * np.array([0.1 + 0.2, 0.3, 0.3004]), given_values)
    assert settled[0] == settled[1] < settled[2]


def test_additive_ratings_have_no_variance_components_at_any_size() -> None:
    """Ratings that are exactly item + rater leave no residual, also where rounding leaves 1e-33 of it."""
    values = (np.arange(N_RATERS)[:, None] + np.arange(N_ITEMS)[None, :]).ravel()
    for unit in (1e-12, 1 / 3, 1.0, 1e12 / 7):
        with pytest.raises(StatisticError, match="nothing is left"):
            components(ratings(unit * values))


@pytest.mark.parametrize("unit", [1e-11, 1.0, 1e11])
def test_examples_are_chosen_by_size_at_any_unit(unit: float) -> None:
    """The item that people disagree on most comes first, also where ratings are small: SDs 0, 1, 2 units."""
    table = Ratings.from_arrays(list("ababab"), list("iijjkk"), unit * np.array([3.0, 3, 2, 3, 1, 4]))
    assert choose_examples(table, {}, rule="people_disagree", count=3) == ("k", "j", "i")
