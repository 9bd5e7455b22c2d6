"""Correlations agree with scipy, their bootstrap with ranking each resample anew, and undefined ones say why."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lexiscope.analysis.bootstrap import group_codes, percentile_interval, resample_rows
from lexiscope.analysis.correlation import (
    average_ranks,
    centred_within,
    correlate_columns,
    correlation_draws,
    correlation_value,
    fisher_z_interval,
    grouped_correlations,
    is_constant,
    pearson,
    r_squared,
    settle_ties,
    spearman,
    weighted_correlations,
)
from lexiscope.analysis.layers.layers import correlations_by_layer
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined

ratings = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 7)), min_size=3, max_size=40)


@given(ratings)
@settings(max_examples=300, deadline=None)
def test_values_equal_scipy_on_tied_data(pairs: list[tuple[int, int]]) -> None:
    """Spearman's rho and Pearson's r equal scipy's to 1e-12, or both are undefined."""
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        with pytest.raises(StatisticError, match="values are"):
            correlation_value(x, y, kind="spearman")
        return
    assert correlation_value(x, y, kind="spearman") == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert correlation_value(x, y, kind="pearson") == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)
    assert correlation_value(x, y, kind="r_squared") == pytest.approx(stats.pearsonr(x, y).statistic ** 2, abs=1e-12)


@given(st.lists(st.integers(-3, 3), max_size=30))
def test_average_ranks_equal_scipy(values: list[int]) -> None:
    """Ties share the mean of their ranks."""
    np.testing.assert_array_equal(average_ranks(values), stats.rankdata(values))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), max_size=60))
@settings(deadline=None)
def test_grouped_correlations_equal_one_group_at_a_time(rows: list[tuple[int, int, int]]) -> None:
    """Ranking and correlating within groups at once gives what each group gives alone; constant groups give NaN."""
    table = np.array(rows, dtype=float).reshape(-1, 3)
    codes, x, y = table[:, 0].astype(np.int64), table[:, 1], table[:, 2]
    for kind in ("spearman", "pearson"):
        found = grouped_correlations(x, y, codes, 4, kind=kind)
        for code in range(4):
            a, b = x[codes == code], y[codes == code]
            if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
                assert np.isnan(found[code])
                continue
            a, b = (stats.rankdata(a), stats.rankdata(b)) if kind == "spearman" else (a, b)
            assert found[code] == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-12)


@pytest.mark.parametrize(
    ("estimate", "reference"),
    [
        (spearman, lambda x, y: stats.spearmanr(x, y).statistic),
        (pearson, lambda x, y: stats.pearsonr(x, y).statistic),
        (r_squared, lambda x, y: stats.pearsonr(x, y).statistic ** 2),
    ],
)
def test_the_bootstrap_ranks_and_correlates_each_resample_anew(estimate, reference) -> None:  # type: ignore[no-untyped-def]
    """The weighted sums give the interval that correlating the resampled rows one by one gives."""
    generator = np.random.default_rng(0)
    words = np.repeat(np.arange(15), 4)
    x = np.round(generator.normal(size=60), 1)
    y = np.round(x + generator.normal(size=60), 1)
    found = estimate(x, y, groups=words, resamples=200, seed=9)
    codes, n_groups = group_codes(words, 60)
    rows = resample_rows(codes, n_groups, resamples=200, seed=9)
    drawn = [reference(x[chosen], y[chosen]) for chosen in rows]
    expected = percentile_interval(drawn, resampled="groups", n_groups=15)
    np.testing.assert_allclose([found.interval.low, found.interval.high], [expected.low, expected.high], atol=1e-12)
    assert (found.n, found.n_groups) == (60, 15)


def test_columns_are_correlated_as_each_one_alone() -> None:
    """Many columns at once give the estimates that each column gives, on the same resamples."""
    generator = np.random.default_rng(3)
    X, y = generator.normal(size=(50, 3)), generator.normal(size=50)
    together = correlate_columns(X, y, kind="spearman", resamples=100, seed=2)
    assert together == tuple(spearman(X[:, column], y, resamples=100, seed=2) for column in range(3))


def test_each_draw_is_the_correlation_of_the_ranks_of_its_rows_to_the_last_bit() -> None:
    """With ties and without, of few values and of one that half of the rows share: centred ranks have exact sums."""
    generator = np.random.default_rng(5)
    words, X = np.repeat(np.arange(20), 3), generator.normal(size=(60, 4))
    X[:, 1], X[:, 2], X[::2, 3] = X[:, 1].round(), X[:, 2] > 0, 1.0
    y = generator.normal(size=60).round(1)
    drawn = correlation_draws(X, y, kind="spearman", groups=words, resamples=50, seed=4)
    for row, chosen in enumerate(resample_rows(*group_codes(words, 60), resamples=50, seed=4)):
        ry = stats.rankdata(y[chosen]) - (len(chosen) + 1) / 2
        for column in range(4):
            rx = stats.rankdata(X[chosen, column]) - (len(chosen) + 1) / 2
            assert drawn[row, column] == (rx * ry).sum() / np.sqrt((rx * rx).sum() * (ry * ry).sum())


def test_a_column_without_a_value_says_why() -> None:
    """Layer 0 can be all zero; a column can hold NaN: undefined with a reason, and the others still have a value."""
    columns = np.column_stack([np.zeros(10), np.arange(10.0), np.r_[np.nan, np.arange(9.0)]])
    zero, good, missing = correlate_columns(columns, np.arange(10.0), resamples=100)
    assert zero == Undefined("spearman", "all 10 values are 0", 10)
    assert isinstance(good, Estimate)
    assert good.value == 1
    assert missing == Undefined("spearman", "1 of 10 values are missing or infinite", 10)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1.0, 1.0, 1.0, 1.0], "all 4 values are 1"),
        ([0.3, 0.1 + 0.2, 0.3, 0.3], "all 4 values are 0.3"),
        ([1.0, float("nan"), 2.0, 3.0], "row 1 "),
        ([1.0, float("inf"), 2.0, 3.0], "row 1 "),
        ([1.0, 2.0], "not shapes"),
    ],
)
def test_undefined_correlations_raise(x: list[float], message: str) -> None:
    """Constant columns (up to the last bit), missing values and unequal lengths are errors, never NaN."""
    for kind in (spearman, pearson, r_squared):
        with pytest.raises(StatisticError, match=message):
            kind(x, [1.0, 2.0, 3.0, 4.0])


def test_two_items_are_too_few() -> None:
    """Any two points correlate perfectly, so a correlation needs three."""
    with pytest.raises(StatisticError, match="only 2 values"):
        pearson([1, 2], [2, 1])


@given(ratings, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_permutation_scale_and_sign(pairs: list[tuple[int, int]], random) -> None:  # type: ignore[no-untyped-def]
    """Order of items and positive rescaling change nothing; a negative scale turns the sign."""
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    order = list(range(len(x)))
    random.shuffle(order)
    for kind in ("spearman", "pearson"):
        value = correlation_value(x, y, kind=kind)
        assert correlation_value(x[order], y[order], kind=kind) == pytest.approx(value, abs=1e-10)
        assert correlation_value(3 * x + 7, y, kind=kind) == pytest.approx(value, abs=1e-10)
        assert correlation_value(-x, y, kind=kind) == pytest.approx(-value, abs=1e-10)


def test_perfect_correlation_is_exactly_one() -> None:
    """Rounding never pushes r above 1, and R² of a perfect line is 1."""
    x = np.array([0.1, 0.7, 0.2, 0.9, 0.4]) * 1e-8
    assert correlation_value(x, 3 * x + 1, kind="pearson") == pytest.approx(1, abs=1e-7)
    assert correlation_value(x, 3 * x + 1, kind="pearson") <= 1
    assert spearman(x, x, resamples=50).value == 1


def test_ties_that_rounding_error_broke_can_be_settled() -> None:
    """.1 + .2 and .3 are one value: with ``decimals`` they share a rank, as they do in exact arithmetic."""
    x, exact = [0.1 + 0.2, 0.3, 0.5, 0.9], [3, 3, 5, 9]
    y = [1, 2, 3, 2.5]
    assert spearman(x, y, decimals=10).value == spearman(exact, y).value
    assert spearman(x, y).value != spearman(exact, y).value
    assert settle_ties([1 / 3], decimals=3).tolist() == [0.333]


def test_centring_leaves_exact_zeros() -> None:
    """A group of equal values has deviations of exactly 0, although its mean is rounded."""
    values = np.array([0.1, 0.1, 0.1])
    np.testing.assert_array_equal(centred_within(values, np.zeros(3, dtype=np.int64), 1), np.zeros(3))
    assert is_constant(values)


def test_fisher_interval_of_spearman_is_wider() -> None:
    """Bonett and Wright's standard error is sqrt(1 + rho²/2) times Fisher's."""
    ends = {kind: fisher_z_interval(0.6, 100, kind=kind) for kind in ("pearson", "spearman")}  # type: ignore[arg-type]
    half = {kind: np.arctanh(end.high) - np.arctanh(0.6) for kind, end in ends.items()}
    assert half["spearman"] / half["pearson"] == pytest.approx(np.sqrt(1 + 0.36 / 2))
    reference = stats.pearsonr(np.arange(9.0), [2, 1, 4, 3, 7, 5, 6, 9, 8])
    found = fisher_z_interval(reference.statistic, 9, kind="pearson")
    assert (found.low, found.high) == pytest.approx(tuple(reference.confidence_interval(0.95)), abs=1e-12)


def test_fisher_interval_at_the_ends() -> None:
    """r = 1 has the interval from 1 to 1; fewer than 4 items have none."""
    assert fisher_z_interval(1.0, 10, kind="pearson").low == 1
    with pytest.raises(StatisticError, match="n > 3"):
        fisher_z_interval(0.5, 3, kind="pearson")


@pytest.mark.published
def test_beto_and_saw_c(sawc) -> None:  # type: ignore[no-untyped-def]
    """BETO's last layer: R² .35688, r −.59739, rho −.61156 (paper .36, −.60, −.61), with intervals over 102 words."""
    distance = sawc.distance["bert-base-spanish-wwm-cased"][:, 12]
    found = [kind(distance, sawc.norms, groups=sawc.words) for kind in (r_squared, pearson, spearman)]
    assert [round(entry.value, 5) for entry in found] == [0.35688, -0.59739, -0.61156]
    assert all(entry.n_groups == 102 and entry.n == 812 for entry in found)
    assert all(entry.interval.low < entry.value < entry.interval.high for entry in found)


@pytest.mark.published
def test_best_layers_of_saw_c(sawc) -> None:  # type: ignore[no-untyped-def]
    """R² of every layer of BETO to 4 digits, and RoBERTa-large best at layer 23 with .39124 (paper §5.2)."""
    beto = correlate_columns(
        sawc.distance["bert-base-spanish-wwm-cased"], sawc.norms, kind="r_squared", groups=sawc.words, resamples=200
    )
    assert [round(entry.value, 4) for entry in beto if isinstance(entry, Estimate)] == [
        *[0.0005, 0.1061, 0.1445, 0.2119, 0.2943, 0.3317, 0.3412],
        *[0.3518, 0.3394, 0.3465, 0.3309, 0.3274, 0.3569],
    ]
    roberta = [
        correlation_value(column, sawc.norms, kind="r_squared") for column in sawc.distance["roberta-large-bne"].T
    ]
    assert (int(np.argmax(roberta)), round(max(roberta), 5)) == (23, 0.39124)


def test_units_do_not_matter_however_large_or_small() -> None:
    """Values of 1e-200 or 1e200 correlate as their multiples do: squares neither vanish nor overflow."""
    x, y = np.array([1.0, 2.0, 3.1, 2.2]), [1, 2, 4, 3]
    expected = pearson(x, y, resamples=100)
    for scale in (1e-200, 1e200):
        found = pearson(x * scale, y, resamples=100)
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.interval.low == pytest.approx(expected.interval.low, abs=1e-9, nan_ok=True)


def test_no_items_is_an_error() -> None:
    """Empty columns have no correlation, and say so."""
    with pytest.raises(StatisticError, match="only 0 values"):
        pearson([], [])


def test_the_interval_of_r_squared_holds_0_where_that_of_r_does() -> None:
    """Squares are never below 0: without the sign of r, no interval of R² would hold an R² of 0."""
    rng = np.random.default_rng(3)
    words = np.repeat(np.arange(20), 3)
    x, noise = rng.normal(size=(2, 60))
    both = {name: (pearson(x, y, groups=words), r_squared(x, y, groups=words))
            for name, y in (("noise", noise), ("signal", x + noise))}  # fmt: skip
    assert both["noise"][0].interval.low < 0 < both["noise"][0].interval.high
    assert both["noise"][1].interval.low == 0 < both["noise"][1].value < both["noise"][1].interval.high
    r, squared = both["signal"]
    assert (squared.interval.low, squared.interval.high) == pytest.approx(
        (r.interval.low**2, r.interval.high**2), rel=0.01
    )
    curve = correlations_by_layer(np.column_stack([x, x - 3 * noise]), noise, kind="r_squared", groups=words)
    (alone, mixed) = (point.interval for point in curve.values)
    assert (alone.low, alone.high) == pytest.approx((0, both["noise"][1].interval.high), rel=1e-12)
    assert mixed.low > 0


def test_few_groups_and_many_have_the_same_digits() -> None:
    """Ranks added up by group and by row are equal, with ties in both columns and groups of any size."""
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(40), rng.integers(3, 20, 40))
    columns, y = rng.normal(size=(len(codes), 4)), rng.normal(size=len(codes)).round(1)
    columns[:, 1] = columns[:, 1].round(2)
    columns[:, 2] = 0.5
    columns[3] = columns[4]
    counts = np.vstack([np.bincount(rng.integers(0, 40, 40), minlength=40) for _ in range(300)])
    by_group = weighted_correlations(columns, y, codes, counts, kind="spearman")
    # each row its own group, drawn as often as its group: more groups than are added up at once
    by_row = weighted_correlations(columns, y, np.arange(len(codes)), counts[:, codes], kind="spearman")
    assert len(codes) > 256 > 40
    assert np.array_equal(by_group, by_row, equal_nan=True)
    rows = np.repeat(np.arange(len(codes)), counts[0, codes])
    assert by_group[0, 1] == pytest.approx(stats.spearmanr(columns[rows, 1], y[rows]).statistic, abs=1e-12)
    assert np.isnan(by_group[:, 2]).all()
