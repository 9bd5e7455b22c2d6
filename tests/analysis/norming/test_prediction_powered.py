"""Prediction-powered estimates: compared with code written from the papers, and in draws whose truth is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.norming.prediction_powered import (
    Drawn,
    means_by_condition,
    powered_coefficients,
    powered_contrast,
    powered_mean,
    subsampled_means,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.datasets import raw_c

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def data(rng: np.random.Generator, n: int, noise: float = 0.7) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Norms, a biased model's answers, and a predictor."""
    x = rng.normal(size=n)
    y = 1 + 0.5 * x + rng.normal(size=n)
    return y, 0.6 * y + 0.8 + noise * rng.normal(size=n), x


def left_out(errors: FloatArray, leverage: FloatArray, freedom: int) -> tuple[float, float]:
    """The variance of a mean of errors, each divided by 1 − leverage, and Satterthwaite's degrees of freedom."""
    n = len(errors)
    own = (errors - errors.mean()) / (1 - leverage)
    kurtosis = (own**4).mean() / (own**2).mean() ** 2
    return float((own**2).sum() / (n * (n - 1))), min(freedom, 2 * n / (kurtosis - 1))


def test_the_mean_of_two_samples_is_that_of_ppi() -> None:
    """PPI++ for a mean: λ = cov(Y, f) / ((1 + n/N) var f); λ times the mean of f over the N, plus the mean of Y − λ f;
    variance λ² var(f) / N + var(Y − λ f) / n, the errors of the n corrected for their leverage."""
    rng = np.random.default_rng(1)
    (y, f, _), (_, more, _) = data(rng, 80), data(rng, 400)
    n, n_all = 80, 400
    tuning = np.cov(y, f)[0, 1] / f.var(ddof=1) / (1 + n / n_all)
    estimate = powered_mean(y, f, more, drawn="apart")
    assert estimate.tuning == pytest.approx(tuning)
    assert estimate.powered.value == pytest.approx(tuning * more.mean() + (y - tuning * f).mean())
    leverage = 1 / n + (f - f.mean()) ** 2 / ((f - f.mean()) ** 2).sum()
    of_rated, freedom = left_out(y - tuning * f, leverage, n - 2)
    spread = tuning**2 * more.var(ddof=1) / n_all + of_rated
    # what PPI++ has as published, for many items
    assert of_rated == pytest.approx((y - tuning * f).var() / n, rel=0.08)
    half = stats.t.ppf(0.975, freedom) * np.sqrt(spread)
    assert (estimate.powered.interval.high - estimate.powered.interval.low) / 2 == pytest.approx(half)
    alone = stats.t.interval(0.95, n - 1, y.mean(), stats.sem(y))
    assert (estimate.people.interval.low, estimate.people.interval.high) == pytest.approx(alone)


def test_the_mean_of_a_list_is_the_difference_estimator_of_surveys() -> None:
    """Without replacement: the regression estimator, corrected for a finite population; no error if all are rated."""
    rng = np.random.default_rng(2)
    y, f, _ = data(rng, 300)
    rows = rng.choice(300, 60, replace=False)
    slope = np.polyfit(f[rows], y[rows], 1)[0]
    estimate = powered_mean(y[rows], f[rows], f, drawn="without_replacement")
    assert estimate.powered.value == pytest.approx(y[rows].mean() + slope * (f.mean() - f[rows].mean()))
    # the error of each item from the line through the other 59
    errors = []
    for row in rows.tolist():
        others = rows[rows != row]
        line = np.polyfit(f[others], y[others], 1)
        errors.append(y[row] - np.polyval(line, f[row]))
    spread = float(np.square(errors).sum()) / (60 * 59)
    kurtosis = np.mean(np.power(errors, 4)) / np.mean(np.square(errors)) ** 2
    half = stats.t.ppf(0.975, min(58, 2 * 60 / (kurtosis - 1))) * np.sqrt((1 - 60 / 300) * spread)
    assert (estimate.powered.interval.high - estimate.powered.value) == pytest.approx(half)
    every = powered_mean(y, f, f, drawn="without_replacement")
    assert every.powered.value == pytest.approx(y.mean())
    assert every.powered.interval.low == pytest.approx(every.powered.interval.high)


def ppi_ols(
    y: FloatArray, X: FloatArray, f: FloatArray, X_all: FloatArray, f_all: FloatArray, row: int
) -> tuple[float, float, float, float]:
    """One coefficient of PPI++ for least squares, from gradients and Hessian as the paper's algorithm takes them."""
    n, n_all = len(y), len(f_all)
    plain = np.linalg.lstsq(X, y, rcond=None)[0]
    hessian = (X.T @ X + X_all.T @ X_all) / (n + n_all)
    direction = np.linalg.inv(hessian)[row]
    gradients, of_model = X * (X @ plain - y)[:, None], X * (X @ plain - f)[:, None]
    covariance = np.cov(gradients @ direction, of_model @ direction)
    tuning = covariance[0, 1] / ((1 + n / n_all) * covariance[1, 1])
    # least squares: the gradient of λ L_f(all) + L(rated) − λ L_f(rated) is zero
    matrix = tuning * X_all.T @ X_all / n_all + (1 - tuning) * X.T @ X / n
    vector = tuning * X_all.T @ f_all / n_all + X.T @ (y - tuning * f) / n
    solution = np.linalg.solve(matrix, vector)
    rated = (X * (X @ solution - y)[:, None] - tuning * X * (X @ solution - f)[:, None]) @ direction
    listed = tuning * (X_all * (X_all @ solution - f_all)[:, None]) @ direction
    basis = np.linalg.qr(X)[0]
    moved = of_model @ direction - (of_model @ direction).mean()
    of_rated, freedom = left_out(rated, (basis**2).sum(axis=1) + moved**2 / (moved @ moved), n - X.shape[1] - 1)
    variance = of_rated + listed.var() / (n_all - X.shape[1])
    return float(solution[row]), tuning, float(np.sqrt(variance)), freedom


def test_coefficients_of_two_samples_are_those_of_ppi() -> None:
    """Value, λ and standard error of each coefficient."""
    rng = np.random.default_rng(3)
    (y, f, x), (_, f_all, x_all) = data(rng, 90), data(rng, 500)
    design, design_of_all = (np.column_stack([np.ones(len(own)), own, own**2]) for own in (x, x_all))
    estimates = powered_coefficients(y, design, f, design_of_all, f_all, ["one", "x", "x2"], drawn="apart")
    for row, estimate in enumerate(estimates):
        value, tuning, error, freedom = ppi_ols(y, design, f, design_of_all, f_all, row)
        assert estimate.powered.value == pytest.approx(value)
        assert estimate.tuning == pytest.approx(tuning)
        half = estimate.powered.interval.high - estimate.powered.value
        assert half == pytest.approx(stats.t.ppf(0.975, freedom) * error)
        assert estimate.people.value == pytest.approx(np.linalg.lstsq(design, y, rcond=None)[0][row])


def test_a_useless_model_changes_nothing_and_words_widen_the_interval() -> None:
    """A constant model has λ = 0; items that come in words count as their words do."""
    rng = np.random.default_rng(4)
    y, f, _ = data(rng, 60)
    constant = powered_mean(y, np.ones(60), np.ones(200), drawn="with_replacement")
    assert constant.tuning == 0
    assert constant.powered.value == constant.people.value
    words = np.repeat(rng.normal(size=20), 3)
    plain = powered_mean(y + 2 * words, f, f, drawn="apart")
    grouped = powered_mean(
        y + 2 * words, f, f, drawn="apart", groups=np.repeat(range(20), 3), groups_of_all=np.repeat(range(20), 3)
    )
    assert grouped.powered.interval.high > plain.powered.interval.high
    assert grouped.powered.n_groups == 20


def test_means_by_condition_and_their_contrast() -> None:
    """Each level has its own estimate of its own items; the contrast adds both variances."""
    rng = np.random.default_rng(5)
    y, f, _ = data(rng, 200)
    condition = np.arange(200) % 2 == 0
    norm = np.where(np.arange(200) % 5 < 2, y, np.nan)
    means = means_by_condition(norm, f, condition.tolist())
    own = condition & ~np.isnan(norm)
    assert means["True"].powered.value == powered_mean(norm[own], f[own], f[condition]).powered.value
    joint, alone = powered_contrast(means["True"], means["False"])
    sides = means["True"], means["False"]
    assert joint.value == sides[0].powered.value - sides[1].powered.value
    for contrast, place in ((joint, 0), (alone, 1)):
        freedom = [side.freedom[place] for side in sides]
        intervals = [(side.powered if place == 0 else side.people).interval for side in sides]
        variances = [
            ((own.high - own.low) / 2 / stats.t.ppf(0.975, df)) ** 2 for own, df in zip(intervals, freedom, strict=True)
        ]
        # Welch and Satterthwaite
        df = sum(variances) ** 2 / sum(v**2 / own for v, own in zip(variances, freedom, strict=True))
        half = stats.t.ppf(0.975, df) * np.sqrt(sum(variances))
        assert contrast.interval.high - contrast.value == pytest.approx(half)
    rows = [own & ~np.isnan(norm) for own in (condition, ~condition)]
    *_, alone = powered_contrast(*means_by_condition(norm, f, condition.tolist(), drawn="with_replacement").values())
    welch = stats.ttest_ind(y[rows[0]], y[rows[1]], equal_var=False).confidence_interval()
    assert (-alone.interval.high, -alone.interval.low) == pytest.approx((welch.low, welch.high))


def test_the_population_counts_words_and_the_model_s_mean() -> None:
    """The target decides the variance: that of a population has each word's errors in both samples together, and is
    that of the list plus that of the model's mean where each item is a word."""
    rng = np.random.default_rng(8)
    y, f, _ = data(rng, 240)
    words = np.repeat(np.arange(60), 4)
    f += np.repeat(rng.normal(size=60), 4)
    rated = rng.permutation(240) < 80
    made = powered_mean(y[rated], f[rated], f[~rated], drawn="apart", groups=words[rated], groups_of_all=words[~rated])
    tuning = np.cov(y[rated], f[rated])[0, 1] / f[rated].var(ddof=1) / (1 + 80 / 160)
    errors = y[rated] - tuning * f[rated]
    moved = f[rated] - f[rated].mean()
    errors = (errors - errors.mean()) / (1 - 1 / 80 - moved**2 / (moved @ moved))
    sums = []
    for word in range(60):
        of_rated = (errors - errors.mean())[words[rated] == word].sum() / 80
        of_others = tuning * (f[~rated] - f[~rated].mean())[words[~rated] == word].sum() / 160
        sums.append(of_rated + of_others)
    n_rated_words = len(set(words[rated].tolist()))
    total, kurtosis = np.square(sums).sum(), np.mean(np.power(sums, 4)) / np.mean(np.square(sums)) ** 2
    freedom = min(n_rated_words - 2, 2 * 60 / (kurtosis - 1))
    half = stats.t.ppf(0.975, freedom) * np.sqrt(total * n_rated_words / (n_rated_words - 1))
    assert made.powered.interval.high - made.powered.value == pytest.approx(half)
    assert made.powered.n_groups == n_rated_words
    of_list = powered_mean(y[rated], f[rated], f, drawn="without_replacement").powered.interval
    assert made.powered.interval.high - made.powered.interval.low > of_list.high - of_list.low


def test_an_item_that_decides_the_weight_alone_is_not_trusted() -> None:
    """One answer that differs from all others has an error of 0 with its own λ: the model is not used."""
    answers = np.ones(20)
    answers[3] = 4.0
    made = powered_mean(np.arange(20.0), answers, np.ones(90), drawn="without_replacement")
    assert made.tuning == 0
    assert made.powered.value == pytest.approx(9.5)


def test_too_few_items_and_too_many_are_refused() -> None:
    """A mean needs 6 rated items; more than the list cannot be drawn from it without replacement."""
    with pytest.raises(StatisticError, match="needs 6 rated items, not 3"):
        powered_mean([1, 2, 3], [1, 2, 3], [1, 2, 3, 4])
    with pytest.raises(StatisticError, match="8 items cannot be drawn without replacement from a list of 7"):
        powered_mean(range(8), range(8), range(7))


def coverage(drawn: Drawn, draws: int, seed: int, n: int = 50) -> float:
    """The share of draws whose interval of a slope holds the slope of all 672 items (or of their population)."""
    rng = np.random.default_rng(seed)
    y, f, x = data(rng, 672)
    design = np.column_stack([np.ones(672), x])
    truth = 0.5 if drawn == "apart" else float(np.linalg.lstsq(design, y, rcond=None)[0][1])
    hits = 0
    for _ in range(draws):
        if drawn == "apart":
            (own_y, own_f, own_x), (_, more, more_x) = data(rng, n), data(rng, 300)
            parts = own_y, np.column_stack([np.ones(n), own_x]), own_f, np.column_stack([np.ones(300), more_x]), more
        else:
            rows = rng.choice(672, n, replace=drawn == "with_replacement")
            parts = y[rows], design[rows], f[rows], design, f
        interval = powered_coefficients(*parts, ["one", "x"], drawn=drawn)[1].powered.interval
        hits += interval.low <= truth <= interval.high
    return hits / draws


@pytest.mark.parametrize("drawn", ["apart", "with_replacement", "without_replacement"])
def test_intervals_of_a_slope_hold_the_truth_in_a_few_draws(drawn: Drawn) -> None:
    """Of 150 draws, 90 % or more hold the truth (the long study is in the soak tests)."""
    assert coverage(drawn, 150, 6) >= 0.90


@pytest.mark.soak
@pytest.mark.parametrize("n", [50, 100, 200])
@pytest.mark.parametrize("drawn", ["apart", "with_replacement", "without_replacement"])
def test_intervals_hold_the_truth(drawn: Drawn, n: int) -> None:
    """Of 4,000 draws, 93 to 97 % of the intervals of a slope, and of a mean, hold the truth."""
    share = coverage(drawn, 4000, 7, n)
    assert 0.93 <= share <= 0.97, f"slope: {100 * share:.1f} %"
    if drawn != "apart":
        y, f, _ = data(np.random.default_rng(1), 672)
        (own, *_) = subsampled_means(y, f, [n], drawn=drawn, draws=4000)
        assert 0.935 <= own.value <= 0.965, f"mean: {100 * own.value:.1f} %"


@pytest.mark.soak
@pytest.mark.parametrize("n", [50, 100, 200])
def test_intervals_with_gpt_4_hold_the_truth_of_raw_c(published: Path, n: int) -> None:
    """Of 6,000 draws of n of the 672 pairs, with replacement, 93.5 to 96.5 % of the intervals hold the mean norm."""
    data = raw_c.load()
    ratings = Ratings.from_table(data.responses.where(measure="rating", subject_kind="participant"))
    answers = data.responses.where(measure="rating", subject_id="gpt-4").by_item()
    model = np.array([answers[item] for item in ratings.item_ids])
    (own, *_) = subsampled_means(ratings.means(), model, [n], draws=6000)
    assert 0.935 <= own.value <= 0.965
