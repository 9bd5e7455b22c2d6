"""Ceilings have different names because they are different numbers; each equals its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import (
    agreement_ceilings,
    best_of_groups,
    best_rater,
    counted_in,
    leave_one_out_rho,
    majority_accuracy,
    mean_squared_rho,
    reliability_of_means,
    spearman_brown,
    split_half,
    squared_mean_rho,
)
from lexiscope.analysis.agreement.raters import included, leave_one_out
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Undefined


def noisy(n_raters: int, n_items: int, noise: float, *, seed: int = 0) -> Ratings:
    """Ratings 1 to 5 that follow a true value per item, plus each rater's own noise."""
    generator = np.random.default_rng(seed)
    truth = generator.uniform(1, 5, size=n_items)
    values = np.clip(np.rint(truth + noise * generator.normal(size=(n_raters, n_items))), 1, 5)
    rater, item = np.meshgrid(np.arange(n_raters), np.arange(n_items), indexing="ij")
    return Ratings.from_arrays(rater.ravel(), item.ravel(), values.ravel())


def toy() -> Ratings:
    return noisy(6, 12, 1.2, seed=5)


def test_six_definitions_give_six_numbers_and_six_names() -> None:
    """On one toy set no two ceilings agree, and no two share a name: they cannot be mixed up in a column."""
    ratings = toy()
    agreement = leave_one_out(ratings)
    groups = {rater: str(int(rater) // 2) for rater in ratings.rater_ids}
    gold = dict(zip(ratings.item_ids, np.rint(ratings.means()).tolist(), strict=True))
    found = [
        leave_one_out_rho(agreement),
        squared_mean_rho(agreement),
        mean_squared_rho(agreement),
        best_rater(agreement, groups),
        majority_accuracy(ratings, gold),
        split_half(ratings, splits=50, resamples=200),
        leave_one_out_rho(included(ratings)),
    ]
    assert len({entry.name for entry in found}) == len(found)
    assert len({round(entry.value, 6) for entry in found}) == len(found)
    assert len({entry.note for entry in found}) == len(found)
    assert all(entry.interval.low <= entry.value <= entry.interval.high for entry in found)


def test_squares_of_the_mean_and_mean_of_squares() -> None:
    """mean(rho)² is the line of SAW-C's Figure 6; mean(rho²) exceeds it by the variance over raters."""
    agreement = leave_one_out(toy())
    first, second = squared_mean_rho(agreement), mean_squared_rho(agreement)
    assert first.value == agreement.mean**2
    assert second.value - first.value == pytest.approx(agreement.values.var())
    assert first.interval.high == agreement.interval.high**2
    assert (first.n, counted_in(first.name)) == (6, "raters")


def test_a_squared_interval_that_spans_zero_starts_at_zero() -> None:
    """From −.2 to .1 the squares run from 0 to .04."""
    generator = np.random.default_rng(0)
    raters, items = np.repeat(np.arange(5), 30), np.tile(np.arange(30), 5)
    agreement = leave_one_out(Ratings.from_arrays(raters, items, generator.integers(1, 6, 150)))
    assert agreement.interval.low < 0 < agreement.interval.high
    squared = squared_mean_rho(agreement).interval
    assert squared.low == 0
    assert squared.high == max(agreement.interval.low**2, agreement.interval.high**2)


def test_best_rater_is_the_mean_of_each_groups_maximum() -> None:
    """Two groups of three: the mean of the two maxima; it exceeds the mean rater."""
    ratings = toy()
    agreement = leave_one_out(ratings)
    found = best_rater(agreement, {rater: str(int(rater) // 3) for rater in ratings.rater_ids})
    assert found.value == pytest.approx((max(agreement.values[:3]) + max(agreement.values[3:])) / 2)
    assert (found.n, counted_in(found.name)) == (2, "groups of raters")
    assert found.value > agreement.mean
    with pytest.raises(InputError, match="have no group"):
        best_rater(agreement, {})


def test_majority_accuracy_counts_a_tie_as_wrong() -> None:
    """Right, wrong, tied, unanswered: 1 of 3 answered items."""
    rows = [("a", "i", 1), ("b", "i", 1), ("c", "i", 0), ("a", "j", 0), ("b", "k", 0), ("c", "k", 1)]
    rows += [("a", "l", float("nan"))]
    choices = Ratings.from_arrays(*zip(*rows, strict=True))
    found = majority_accuracy(choices, {"i": 1, "j": 1, "k": 0, "l": 1})
    assert (found.value, found.n) == (1 / 3, 3)
    with pytest.raises(InputError, match="no gold answer, first 'j'"):
        majority_accuracy(choices, {"i": 1})
    with pytest.raises(StatisticError, match="no item was answered"):
        majority_accuracy(Ratings.from_arrays(["a"], ["i"], [float("nan")]), {"i": 1})


def test_split_half_recovers_the_reliability_of_the_simulation() -> None:
    """Signal variance 4/3 (uniform 1 to 5), noise s² / n: reliability 1.33 / (1.33 + s² / 20), but for rounding."""
    ratings = noisy(20, 300, 1.5)
    found = split_half(ratings, splits=30, resamples=100)
    assert found.value == pytest.approx((4 / 3) / (4 / 3 + 1.5**2 / 20), abs=0.03)
    assert found.interval.low < found.value < found.interval.high


def test_split_half_of_noise_is_about_zero() -> None:
    """Without signal the halves do not agree."""
    generator = np.random.default_rng(1)
    raters, items = np.repeat(np.arange(20), 400), np.tile(np.arange(400), 20)
    found = split_half(Ratings.from_arrays(raters, items, generator.integers(1, 6, 8000)), splits=20, resamples=50)
    assert abs(found.value) < 0.2


def test_the_seed_decides_the_splits() -> None:
    """One seed gives one number; it is the Spearman-Brown corrected correlation."""
    first, again, other = (split_half(toy(), splits=5, resamples=20, seed=seed).value for seed in (1, 1, 2))
    assert first == again != other
    assert spearman_brown(0.6) == pytest.approx(2 * 0.6 / 1.6)
    assert spearman_brown(0.2, factor=5) == pytest.approx(5 * 0.2 / (1 + 4 * 0.2))


def test_split_half_corrects_the_mean_correlation_once() -> None:
    """Four raters, a = d = 1 2 3 4 and b = c = 1 2 4 3: a d against b c gives r = .8, the two other splits r = 1."""
    values = [1, 2, 3, 4, 1, 2, 4, 3, 1, 2, 4, 3, 1, 2, 3, 4]
    ratings = Ratings.from_arrays(np.repeat(list("abcd"), 4), np.tile(list("ijkl"), 4), values)
    generator = np.random.default_rng(3)
    alike = sum(half[0] == half[3] for half in (generator.permutation(4) % 2 for _ in range(20)))
    assert 0 < alike < 20
    mean_r = (alike * 0.8 + (20 - alike) * 1.0) / 20
    found = split_half(ratings, splits=20, resamples=0, seed=3)
    assert found.value == pytest.approx(2 * mean_r / (1 + mean_r), abs=1e-12)
    assert found.name == "split_half_reliability(spearman_brown=of_mean,splits=20)"
    # the mean of corrected values is another, lower number
    assert found.value > (alike * (1.6 / 1.8) + (20 - alike)) / 20


@pytest.mark.parametrize("seed", range(6))
def test_split_half_of_noise_stays_above_minus_one(seed: int) -> None:
    """Halves of pure noise correlate negatively at times: value and interval stay within −1 to 1, at full weight."""
    values = np.random.default_rng(seed).integers(1, 6, size=(20, 40))
    rater, item = np.indices(values.shape)
    found = split_half(Ratings.from_arrays(rater.ravel(), item.ravel(), values.ravel()), resamples=300)
    assert -1 <= found.interval.low <= found.value <= found.interval.high < 1
    assert found.interval.undefined == 0


def test_halves_that_contradict_each_other_have_no_reliability() -> None:
    """Two raters up, two down: r = −1 in the split that has a value, where the correction divides by 0."""
    values = [1, 2, 3, 4] * 2 + [4, 3, 2, 1] * 2
    ratings = Ratings.from_arrays(np.repeat(list("abcd"), 4), np.tile(list("ijkl"), 4), values)
    with pytest.raises(StatisticError, match=r"a correlation of -1\.0000, corrected for 2 times the length"):
        split_half(ratings, splits=20, resamples=10)


def test_spearman_brown_is_undefined_below_a_corrected_value_of_minus_one() -> None:
    """2 r / (1 + r) is −2/3 at −1/4, −1 at −1/3, and has no meaning below; a share of the length has no such end."""
    assert spearman_brown(-0.25) == pytest.approx(-0.5 / 0.75)
    assert spearman_brown(-0.3333) == pytest.approx(-0.6666 / 0.6667)
    for r in (-0.334, -0.5, -1.0):
        with pytest.raises(StatisticError, match="would be below −1"):
            spearman_brown(r)
    assert spearman_brown(-1, factor=0.5) == pytest.approx(-0.5 / 1.5)
    for r, factor in ((1.5, 2), (0.5, 0), (float("nan"), 2)):
        with pytest.raises(StatisticError, match="needs −1 <= r <= 1"):
            spearman_brown(r, factor=factor)


def test_the_square_of_disagreement_is_no_ceiling() -> None:
    """a 1 2 3 4 and b 4 3 2 1 correlate at −1 each: the squares, 1, would be a perfect ceiling."""
    agreement = leave_one_out(Ratings.from_arrays(list("aaaabbbb"), list("ijklijkl"), [1, 2, 3, 4, 4, 3, 2, 1]))
    assert leave_one_out_rho(agreement).value == -1
    for squared in (squared_mean_rho, mean_squared_rho):
        with pytest.raises(StatisticError, match=r"mean correlation of raters is negative \(-1\.0000\)"):
            squared(agreement)


def test_negative_raters_are_counted_where_squares_are_averaged() -> None:
    """Four raters 1 2 3 4 5 and one 5 4 3 2 1: its −1 squared counts as 1, and the definition says so."""
    values = [1, 2, 3, 4, 5] * 4 + [5, 4, 3, 2, 1]
    agreement = leave_one_out(Ratings.from_arrays(np.repeat(list("abcde"), 5), np.tile(list("ijklm"), 5), values))
    found = mean_squared_rho(agreement)
    assert (found.value, squared_mean_rho(agreement).value) == (1, pytest.approx(0.6**2))
    assert found.note.endswith("(1 of 5 correlations are negative and count by their squares)")


@pytest.mark.filterwarnings("error")
def test_split_half_of_raters_who_share_no_item_is_undefined() -> None:
    """Halves without a common item give an error, not a warning and not a number."""
    rows = [(f"r{r}", f"i{r}{i}", i) for r in range(6) for i in range(4)]
    with pytest.raises(StatisticError, match="no split has 3 items"):
        split_half(Ratings.from_arrays(*zip(*rows, strict=True)))


def test_split_half_needs_raters_and_variation() -> None:
    """Three raters, or one value throughout, have no reliability."""
    with pytest.raises(StatisticError, match="at least 4 raters"):
        split_half(noisy(3, 10, 1))
    with pytest.raises(StatisticError, match="vary in both halves"):
        split_half(Ratings.from_arrays(np.repeat(np.arange(4), 5), np.tile(np.arange(5), 4), np.full(20, 3)))


@pytest.mark.published
def test_saw_c_lines_of_figure_6(sawc_ratings: Ratings) -> None:
    """mean(rho)² is .5967 as drawn (own rating kept) and .5338 by true leave-one-out; mean of squares .6052."""
    kept, honest = included(sawc_ratings), leave_one_out(sawc_ratings)
    assert round(squared_mean_rho(kept).value, 4) == 0.5967
    assert round(squared_mean_rho(honest).value, 4) == 0.5338
    assert round(mean_squared_rho(kept).value, 4) == 0.6052


def test_reliability_of_means_corrects_value_and_interval() -> None:
    """k a / (1 + (k - 1) a), for the bounds too; a bound that would pass -1 is -1, a missing one stays missing."""
    ratings = noisy(5, 30, 1.0)
    alpha = krippendorff_alpha(ratings, resamples=200)
    found = reliability_of_means(alpha, 5)
    for value, of in (
        (found.value, alpha.value),
        (found.interval.low, alpha.interval.low),
        (found.interval.high, alpha.interval.high),
    ):
        assert value == pytest.approx(5 * of / (1 + 4 * of), abs=1e-12)
    without = reliability_of_means(krippendorff_alpha(ratings, resamples=0), 5)
    assert (without.value, without.interval.is_defined) == (found.value, False)
    wide = replace(alpha, interval=replace(alpha.interval, low=-0.4))
    assert reliability_of_means(wide, 5).interval.low == pytest.approx(-1, abs=1e-12)


def test_best_of_groups_needs_every_group() -> None:
    """The highest value of each group in code point order; a rater without a group is named."""
    values = np.array([0.5, -0.2, -0.7])
    assert best_of_groups(["a", "b", "c"], values, {"a": "y", "b": "x", "c": "x"}).tolist() == [-0.2, 0.5]
    with pytest.raises(InputError, match="1 raters have no group, first 'c'"):
        best_of_groups(["a", "b", "c"], values, {"a": "y", "b": "x"})


@pytest.mark.published
def test_ambistory_human_upper_bound(ambistory_ratings: dict[str, Ratings]) -> None:
    """Best annotator of each of 130 groups on the test split: .834 as printed (AmbiStory §5.1)."""
    ratings = ambistory_ratings["test"]
    # groups of two samples count in the paper, so the minimum number of items is 2 here
    agreement = leave_one_out(ratings, minimum=2)
    assert len(agreement.undefined) == 6
    found = best_rater(agreement, {rater: rater.partition(":")[0] for rater in ratings.rater_ids})
    assert (found.n, round(found.value, 4)) == (130, 0.8341)


def test_a_ceiling_without_a_value_keeps_its_name() -> None:
    """Two raters, 1 2 3 4 and 4 3 1 2: the mean leave-one-out correlation is negative, so its squares are undefined."""
    ratings = Ratings.from_arrays(list("aaaabbbb"), list("ijklijkl"), [1, 2, 3, 4, 4, 3, 1, 2])
    agreements = (leave_one_out(ratings, resamples=0), included(ratings, resamples=0))
    found = [ceiling for one in agreements for ceiling in agreement_ceilings(one)]
    assert len(found) == len({entry.name for entry in found}) == 6
    assert isinstance(found[0], Estimate)
    undefined = {entry.name: entry.reason for entry in found if isinstance(entry, Undefined)}
    bases = ("squared_mean_rater_correlation", "mean_squared_rater_correlation")
    squares = [f"{name}(variant=leave_one_out,method=spearman)" for name in bases]
    assert set(squares) <= set(undefined)
    assert all("negative (-0.8000)" in undefined[name] for name in squares)
