"""The bootstrap resamples whole groups, reproducibly, and its intervals cover what they say."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import optimize, stats

from lexiscope.analysis.bootstrap import (
    Bootstrap,
    GroupLabels,
    GroupOf,
    bca_interval,
    bootstrap,
    cluster_labels,
    fieller_interval,
    group_codes,
    group_resampling,
    mean_interval,
    percentile_interval,
    require_finite,
    resample_counts,
    resample_rows,
    resampled_units,
)
from lexiscope.analysis.correlation import spearman
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import parse_statistic


def test_each_resample_draws_as_many_groups_as_there_are() -> None:
    """Drawing with replacement: every resample holds n groups, and over many each is drawn once on average."""
    counts = np.concatenate(list(resample_counts(7, resamples=5000, seed=3)))
    assert counts.shape == (5000, 7)
    assert (counts.sum(axis=1) == 7).all()
    # a count is binomial(7, 1/7): its variance is 6/7, so the mean of 5000 lies within 5 SE = 5 * sqrt(6/7/5000)
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=5 * np.sqrt(6 / 7 / 5000))


def test_the_seed_decides_the_draws() -> None:
    """The same seed gives the same draws, another seed others."""
    first, again, other = (np.concatenate(list(resample_counts(5, resamples=50, seed=seed))) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_many_groups_are_drawn_in_blocks() -> None:
    """Where groups are many, draws come in blocks whose sizes sum to the number asked for."""
    sizes = [len(block) for block in resample_counts(600_000, resamples=3, seed=0)]
    assert sizes == [1, 1, 1]


def test_groups_stay_whole() -> None:
    """Rows of a group are drawn together, equally often."""
    codes, n_groups = group_codes(["b", "a", "b", "c", "a"], 5)
    for rows in resample_rows(codes, n_groups, resamples=50, seed=0):
        times = np.bincount(rows, minlength=5)
        assert times[0] == times[2]
        assert times[1] == times[4]


def test_the_order_of_rows_changes_no_draw() -> None:
    """Group codes follow the labels, not the rows: a permuted table has the same resamples."""
    values, words = np.arange(12.0), np.array(list("aabbccddeeff"))
    order = np.random.default_rng(0).permutation(12)

    def draws(data: np.ndarray, groups: np.ndarray) -> list[float]:
        codes, n_groups = group_codes(groups, 12)
        return [float(data[rows].sum()) for rows in resample_rows(codes, n_groups, resamples=30, seed=5)]

    assert draws(values, words) == draws(values[order], words[order])


def test_percentile_interval_is_the_quantiles_of_the_draws() -> None:
    """Level .9 lies between the 5 % and the 95 % quantile."""
    draws = np.random.default_rng(0).normal(size=400)
    interval = percentile_interval(draws, level=0.9)
    assert (interval.low, interval.high) == (np.quantile(draws, (1 - 0.9) / 2), np.quantile(draws, (1 + 0.9) / 2))


def test_what_is_resampled_is_printed_and_travels_with_the_groups() -> None:
    """The name of an interval says what was resampled: the plural that came with the groups, else ``groups``."""
    words = GroupLabels(["bank", "bat", "bat", "cup"], "words")
    found = [
        percentile_interval([0.0, 1.0], resampled="raters"),
        mean_interval([1.0, 2.0, 4.0], resamples=9, resampled="raters"),
        mean_interval([1.0, 2.0], resamples=9, resampled="raters"),
        bootstrap(lambda rows: float(len(rows)), 4, groups=words, resamples=9),
        bootstrap(lambda rows: float(rows.sum()), 4, groups=words, resamples=9, method="bca"),
        bootstrap(lambda rows: float(len(rows)), 4, groups=list(words), resamples=9),
        bootstrap(lambda rows: float(len(rows)), 4, resamples=9),
        Bootstrap(pickle.loads(pickle.dumps(words)), n=9).of([1, 3]).interval(lambda rows: float(len(rows))),
        Bootstrap(words, n=9).of([1, 2]).interval(lambda rows: float(len(rows))),
    ]
    named = [parse_statistic(interval.method)[1] for interval in found]
    units = [parameters.get("resampled", parameters.get("over")) for parameters in named]
    assert units == ["raters", "raters", "raters", "words", "words", "groups", "items", "words", "words"]
    chosen = group_resampling(GroupOf({"i": "bank", "j": "bat"}, "words"), ["i"], resamples=9, seed=1)
    assert (chosen["groups"], resampled_units(chosen["groups"])) == ({"i": "bank"}, "words")
    labels = cluster_labels(["j", "i"], GroupOf({"i": "bank", "j": "bat"}, "words"))
    assert (labels, resampled_units(labels)) == (("bat", "bank"), "words")


def test_undefined_draws_are_counted_and_too_many_leave_a_note() -> None:
    """A few draws without a value are counted; above a tenth, there are no bounds but a reason."""
    few = percentile_interval([*range(99), float("nan")])
    assert (few.resamples, few.undefined, few.note, few.is_defined) == (100, 1, "", True)
    many = percentile_interval([*range(80), *[float("nan")] * 20])
    assert np.isnan(many.low)
    assert many.note == "no interval: the statistic is undefined in 20 of 100 resamples"


def test_no_resamples_means_no_interval_and_a_note() -> None:
    """Zero resamples are allowed; the interval then says that none were drawn."""
    interval = mean_interval([1.0, 2.0, 3.0], resamples=0)
    assert np.isnan(interval.low)
    assert interval.note == "no interval: no resamples were asked for"


def test_two_values_have_no_interval() -> None:
    """Two raters have one and the same correlation: resampling them would give an interval without width."""
    interval = mean_interval([0.8, 0.8])
    assert np.isnan([interval.low, interval.high]).all()
    assert interval.note == "no interval: it needs at least 3 values"
    assert mean_interval([0.7, 0.8, 0.9]).is_defined


def test_bca_equals_percentile_without_bias_and_skewness() -> None:
    """With half of the draws below the value and symmetric jackknife values, nothing is corrected."""
    draws = np.arange(1001.0)
    plain, corrected = percentile_interval(draws), bca_interval(draws, 500.0, [-1.0, 0.0, 1.0])
    np.testing.assert_allclose([corrected.low, corrected.high], [plain.low, plain.high], atol=1e-9)


def test_bca_corrects_the_bias() -> None:
    """Fewer than half of the draws below the value: the draws run too high, so both bounds are moved down."""
    draws = np.arange(1001.0)
    low_bias = bca_interval(draws, 400.0, [-1.0, 0.0, 1.0])
    plain = percentile_interval(draws)
    assert low_bias.low < plain.low
    assert low_bias.high < plain.high


def test_bca_on_one_side_has_a_note() -> None:
    """Where all draws exceed the value the correction is infinite: no bounds, but a reason."""
    assert "one side" in bca_interval([1.0, 2.0], 0.0, [0.0, 1.0]).note


def test_expanded_percentiles_are_those_of_students_t() -> None:
    """Of g groups the tail is Φ(−√(g / (g − 1)) · t): Hesterberg 2015, equation 12; of very many, that of the level."""
    draws = np.linspace(0, 1, 10_001)
    for n_groups in (6, 12, 60):
        tail = stats.norm.cdf(-np.sqrt(n_groups / (n_groups - 1)) * stats.t.ppf(0.975, n_groups - 1))
        found = percentile_interval(draws, n_groups=n_groups)
        assert (found.low, found.high) == pytest.approx((tail, 1 - tail), abs=1e-9)
        assert parse_statistic(found.method)[1]["method"] == "expanded_percentile"
    many = percentile_interval(draws, n_groups=100_000)
    assert (many.low, many.high) == pytest.approx((0.025, 0.975), abs=1e-5)


def test_few_groups_have_students_t_and_two_have_none() -> None:
    """Of 3 to 5 groups of one value, mean ± t · s / √n; of two, a note; a range cuts the bounds off."""
    for n_groups in (3, 4, 5):
        values = np.random.default_rng(n_groups).normal(size=n_groups)
        # every resample once: the draws of the mean have the variance of the values over their number
        draws = values[np.indices([n_groups] * n_groups).reshape(n_groups, -1).T].mean(axis=1)
        found = percentile_interval(draws, resampled="words", n_groups=n_groups)
        expected = stats.ttest_1samp(values, 0).confidence_interval()
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
        assert found.method.startswith("bootstrap(method=t,resampled=words,level=0.95")
        cut = percentile_interval(draws, n_groups=n_groups, within=(-0.1, 0.1))
        assert (cut.low, cut.high) == (max(found.low, -0.1), min(found.high, 0.1))
    two = percentile_interval([0.2, 0.3], resampled="words", n_groups=2)
    assert (two.is_defined, two.note) == (False, "no interval: 2 words are too few to be resampled")


def test_the_bootstrap_of_a_mean_is_students_t_of_normal_values() -> None:
    """The expanded percentiles of 12 values' mean are close to t: its width within 5 %."""
    values = np.random.default_rng(1).normal(size=12)
    found = bootstrap(lambda rows: float(values[rows].mean()), 12, resamples=20_000, seed=4)
    width = 2 * stats.t.ppf(0.975, 11) * values.std(ddof=1) / np.sqrt(12)
    assert found.high - found.low == pytest.approx(width, rel=0.05)


def test_the_interval_of_a_mean_is_halls_transformed_t() -> None:
    """Solved here, not inverted in closed form: the t whose transform x + γx²/3 + γ²x³/27 + γ/6 is Student's quantile.

    γ is the skewness over √n. *Source:* Hall 1992, g₁ of section 2.
    """
    values = np.random.default_rng(3).exponential(size=15)
    gamma, error = stats.skew(values) / np.sqrt(15), values.std(ddof=1) / np.sqrt(15)
    ends = []
    for t in stats.t.ppf((0.975, 0.025), 14):
        x = optimize.brentq(lambda x, t=t: x + gamma * x**2 / 3 + gamma**2 * x**3 / 27 + gamma / 6 - t, -50, 50)
        ends.append(values.mean() - x * error)
    found = mean_interval(values)
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)
    symmetric = mean_interval([1.0, 2.0, 4.0, 5.0])
    expected = stats.t.interval(0.95, 3, loc=3, scale=stats.sem([1, 2, 4, 5]))
    assert (symmetric.low, symmetric.high) == pytest.approx(expected)
    bounded = mean_interval([0.0, 0.1, 1.0], within=(0.0, 1.0))
    assert 0.0 <= bounded.low < bounded.high <= 1.0
    for unit in (1e-200, 1e200):
        scaled = mean_interval(values * unit)
        assert (scaled.low / unit, scaled.high / unit) == pytest.approx((found.low, found.high))


def test_bca_bootstrap_of_a_skewed_mean_reaches_further_up() -> None:
    """For right-skewed data both ends of the accelerated interval lie higher than the percentile ones (Efron 1987)."""
    values = np.random.default_rng(2).exponential(size=40)
    ends = {
        method: bootstrap(lambda rows: float(values[rows].mean()), 40, resamples=2000, method=method)
        for method in ("percentile", "bca")
    }
    assert ends["bca"].low > ends["percentile"].low
    assert ends["bca"].high > ends["percentile"].high


def test_wrong_input_is_refused_with_a_reason() -> None:
    """One group, unequal lengths, a level outside 0..1, an unknown method, negative counts, missing values: errors."""
    with pytest.raises(StatisticError, match="at least 2 groups"):
        group_codes(["a", "a"], 2)
    with pytest.raises(StatisticError, match="3 group labels for 2 rows"):
        group_codes(["a", "b", "c"], 2)
    with pytest.raises(StatisticError, match="between 0 and 1"):
        percentile_interval([1.0, 2.0], level=95)
    with pytest.raises(StatisticError, match="no bootstrap interval 'magic'"):
        bootstrap(lambda rows: 0.0, 5, method="magic", resamples=10)
    with pytest.raises(StatisticError, match="cannot draw -1"):
        list(resample_counts(3, resamples=-1, seed=0))
    with pytest.raises(StatisticError, match="row 1 "):
        require_finite("a statistic", np.array([1.0, np.nan]))


def test_the_interval_of_a_mean_covers_it_as_often_as_it_says() -> None:
    """Over 2000 simulated samples of 120, the 95 % interval holds the true mean 93.5 to 96.5 % of the time.

    The standard error of that share is sqrt(.95 * .05 / 2000) = .5 %.
    """
    generator = np.random.default_rng(20)
    covered = 0
    for seed in range(2000):
        interval = mean_interval(generator.normal(size=120), resamples=300, seed=seed)
        covered += interval.low <= 0 <= interval.high
    assert 0.935 <= covered / 2000 <= 0.965


def test_the_interval_of_a_correlation_covers_it() -> None:
    """Over 400 simulated studies of 100 words with 4 items each, rho's interval holds the population rho 92 to 98 %.

    For normal variables with correlation r the population rho is 6 / pi * asin(r / 2).
    """
    generator = np.random.default_rng(22)
    words, covered, truth = np.repeat(np.arange(100), 4), 0, 6 / np.pi * np.arcsin(0.6 / 2)
    for seed in range(400):
        # the word's own share of both variables makes items of one word alike
        shared, own = generator.normal(size=(2, 100))[:, words], generator.normal(size=(2, 400))
        x, noise = (np.sqrt(0.5) * part + np.sqrt(0.5) * rest for part, rest in zip(shared, own, strict=True))
        interval = spearman(x, 0.6 * x + 0.8 * noise, groups=words, resamples=200, seed=seed).interval
        covered += interval.low <= truth <= interval.high
    assert 0.92 <= covered / 400 <= 0.98


def test_only_the_group_bootstrap_covers_when_items_share_a_word() -> None:
    """Items of one word move together: resampling rows claims far too much precision, resampling words does not."""
    generator = np.random.default_rng(21)
    covered = {"words": 0, "rows": 0}
    words = np.repeat(np.arange(40), 8)
    for seed in range(250):
        values = np.repeat(generator.normal(size=40), 8) + 0.3 * generator.normal(size=320)
        sums = np.bincount(words, weights=values) / 8
        by_word = mean_interval(sums, resamples=300, seed=seed)
        by_row = mean_interval(values, resamples=300, seed=seed)
        covered["words"] += by_word.low <= 0 <= by_word.high
        covered["rows"] += by_row.low <= 0 <= by_row.high
    assert covered["words"] / 250 > 0.9
    assert covered["rows"] / 250 < 0.7


def test_a_ratio_over_two_groups_has_a_set_that_is_as_wide_as_two_groups_are() -> None:
    """Two words: t with one degree of freedom, 18 standard deviations of the draws, and no error."""
    draws = np.random.default_rng(3).normal(size=(2, 400)) / 1000
    of_two = fieller_interval(1.0, 2.0, 1 + draws[0], 2 + draws[1], n_groups=2)
    of_many = fieller_interval(1.0, 2.0, 1 + draws[0], 2 + draws[1], n_groups=400)
    assert of_two.low < of_many.low < 0.5 < of_many.high < of_two.high
    assert (of_two.high - of_two.low) / (of_many.high - of_many.low) == pytest.approx(2**0.5 * 12.706 / 1.97, rel=0.02)


def test_draws_that_are_kept_cannot_be_written_into() -> None:
    """The same draws serve several statistics: none of them can change them for the others."""
    first, again = (next(resample_counts(5, resamples=50, seed=1)) for _ in range(2))
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] += 1
    assert np.array_equal(first, again)
