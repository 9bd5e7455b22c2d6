"""Base against tuned: errors are paired by item, and a planted improvement is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.norms.predictions import Predictor
from lexiscope.analysis.norms.story_effects import StoryPlace, ended_minus_open
from lexiscope.analysis.norms.variants import contrast_of_predictions, trend_with_size
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.significance import marginal_homogeneity
from lexiscope.core.errors import StatisticError


def people(n_items: int, *, seed: int) -> tuple[Ratings, np.ndarray]:  # type: ignore[type-arg]
    """Made-up ratings of five raters around a true value from 1 to 5."""
    generator = np.random.default_rng(seed)
    truth = generator.uniform(1, 5, size=n_items)
    values = np.clip(np.rint(truth + generator.normal(size=(5, n_items))), 1, 5)
    rater, item = np.indices(values.shape)
    return Ratings.from_arrays(rater.ravel(), [f"i{k:03}" for k in item.ravel()], values.ravel()), truth


def test_a_planted_improvement_is_found() -> None:
    """A tuned model that follows people and a base that guesses: smaller errors, p far below .001, effect positive."""
    ratings, truth = people(120, seed=1)
    generator = np.random.default_rng(2)
    base = dict(zip(ratings.item_ids, generator.integers(1, 6, size=120).astype(float).tolist(), strict=True))
    tuned = dict(zip(ratings.item_ids, np.rint(truth).tolist(), strict=True))
    base_error, tuned_error, test, difference, rho = contrast_of_predictions(base, tuned, ratings, resamples=200)
    assert tuned_error.value < base_error.value
    assert test.p is not None
    assert test.p < 1e-6
    # V of 120 differences: most of the rank sum is that of smaller errors of the tuned model
    assert test.value > 0.7 * 120 * 121 / 2
    assert difference.value > 0
    means = ratings.means()
    columns = [[side[item] for item in ratings.item_ids] for side in (base, tuned)]
    expected = [stats.spearmanr(column, means).statistic for column in columns]
    assert rho.value == pytest.approx(expected[1] - expected[0], abs=1e-9)
    assert rho.interval.low < rho.value < rho.interval.high
    assert [(effect.name, effect.n) for effect in (base_error, tuned_error, test, difference, rho)] == [
        ("mean_absolute_error(of=base)", 120),
        ("mean_absolute_error(of=tuned)", 120),
        ("signed_rank(of=tuned_minus_base)", 120),
        ("accuracy_difference(of=tuned_minus_base)", 120),
        ("spearman_difference(of=tuned_minus_base)", 120),
    ]
    back = contrast_of_predictions(tuned, base, ratings, resamples=200)
    assert (back[2].p, back[3].value) == (test.p, -difference.value)


def test_items_that_one_of_them_lacks_are_left_out() -> None:
    """Only items that both predicted are paired; the others are counted."""
    ratings, _ = people(30, seed=3)
    items = ratings.item_ids
    base: dict[str, float | None] = dict.fromkeys(items, 3.0)
    tuned: dict[str, float | None] = dict.fromkeys(items, 4.0)
    base[items[0]], tuned[items[1]] = None, None
    del tuned[items[2]]
    effects = contrast_of_predictions(base, tuned, ratings, resamples=0)
    assert {effect.n for effect in effects} == {27}


def test_equal_models_have_no_test() -> None:
    """Where no error differs, there is nothing to rank."""
    ratings, _ = people(10, seed=4)
    same = dict.fromkeys(ratings.item_ids, 3.0)
    with pytest.raises(StatisticError, match="all 10 differences are 0"):
        contrast_of_predictions(same, same, ratings)


def test_equal_differences_of_errors_are_ties() -> None:
    """Means of five ratings are no binary fractions: errors that differ by 1 differ by one size all the same."""
    sums = (15, 17, 13, 12, 10, 10, 21, 18)
    values = [value for total in sums for value in _five(total)]
    raters, items = list("abcde") * len(sums), [str(k) for k in range(len(sums)) for _ in range(5)]
    people = Ratings.from_arrays(raters, items, values)
    base = dict(zip(map(str, range(len(sums))), (1, 3, 5, 4, 5, 1, 3, 5), strict=True))
    tuned = dict(zip(base, (5, 1, 4, 2, 4, 4, 2, 2), strict=True))
    # the sizes in fifths, exactly: their average ranks are the ranks of the test
    fifths = [abs(5 * base[k] - n) - abs(5 * tuned[k] - n) for k, n in zip(base, sums, strict=True)]
    sizes = sorted(abs(each) for each in fifths if each)
    rank = {size: np.mean([k for k, one in enumerate(sizes, start=1) if one == size]) for size in sizes}
    _, _, test, *_ = contrast_of_predictions(base, tuned, people, resamples=0)
    assert test.value == sum(rank[each] for each in fifths if each > 0)


def _five(total: int) -> list[int]:
    """Five ratings of 1 to 5 with this sum."""
    return [total // 5 + (k < total % 5) for k in range(5)]


def test_equal_margins_as_stuart_published_them() -> None:
    """Unaided vision of 7,477 women, right eye by left eye (Stuart 1955): χ² 11.96 with 3 df, p = .0075."""
    table = [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]]
    test = marginal_homogeneity(table)
    assert (test.df, test.n) == ((3.0,), (7477,))
    assert test.statistic == pytest.approx(11.957, abs=0.001)
    assert test.p == pytest.approx(0.0075, abs=0.00005)
    # a label that nobody uses, and one that nobody changes, decide nothing
    wide = np.zeros((6, 6))
    wide[:4, :4], wide[5, 5] = table, 99
    assert marginal_homogeneity(wide).statistic == pytest.approx(test.statistic, abs=1e-9)
    with pytest.raises(StatisticError, match="no item changes"):
        marginal_homogeneity(np.diag([3, 4]))


def test_ended_against_open_and_the_mean_over_subjects() -> None:
    """Two subjects, by hand: right on all open and half of the ended stories, and the other way round with one unread.

    Four words of two stories each, rated 3 by everybody: 3 is right, 5 is not. Means over subjects: .75 and .75.
    """
    items = [f"{word}{kind}" for word in "abcd" for kind in ("o", "e")]
    people_ = Ratings.from_arrays(list("xy") * 8, [item for item in items for _ in "xy"], [3.0, 3.0] * 8)
    places = {item: StoryPlace(item[0], "open" if item[1] == "o" else "A", "1") for item in items}
    first = {item: 5.0 if item in ("ae", "be") else 3.0 for item in items}
    second = {item: None if item == "bo" else 5.0 if item in ("ao", "co") else 3.0 for item in items}
    subjects = [Predictor(name, name, given, "integer", 8, {}, 1) for name, given in (("m", first), ("n", second))]
    words = GroupOf({item: item[0] for item in items}, "words")
    single, together = ended_minus_open(subjects, people_, places, groups=words, resamples=50)
    assert [(each.subject, each.value, each.n) for each in single] == [
        ("m", 0.5 - 1.0, 8), ("n", pytest.approx(1 - 1 / 3), 7)
    ]  # fmt: skip
    assert [(each.name, each.condition, each.value) for each in together] == [
        ("subjects_mean(of=accuracy_within_sd)", "open", pytest.approx((1 + 1 / 3) / 2)),
        ("subjects_mean(of=accuracy_within_sd)", "ended", 0.75),
        ("subjects_mean(of=ended_minus_open)", "", pytest.approx(0.75 - (1 + 1 / 3) / 2)),
    ]


def test_larger_subjects_that_are_closer() -> None:
    """Four subjects, each with less noise the larger it is: ρ 1 with the size, p = 2 of 4! orders; reversed, −1."""
    ratings, truth = people(200, seed=5)
    generator = np.random.default_rng(6)
    noise = generator.normal(size=200)
    subjects = []
    for number, scale in enumerate((3.0, 2.0, 1.0, 0.0)):
        given = np.clip(np.rint(truth + scale * noise), 1, 5).tolist()
        predictions = dict(zip(ratings.item_ids, given, strict=True))
        subjects.append(Predictor(f"m{number}", f"m{number}", predictions, "integer", 200, {}, 1))
    words = GroupOf({item: item[:3] for item in ratings.item_ids}, "words")
    for sizes, sign in (((1, 7, 8, 70), 1.0), ((70, 8, 7, 1), -1.0)):
        accuracy, rho = trend_with_size(subjects, sizes, ratings, groups=words, resamples=40)
        assert (accuracy.name, rho.name) == (
            "spearman(of=n_parameters,with=accuracy_within_sd)", "spearman(of=n_parameters,with=spearman)"
        )  # fmt: skip
        assert (accuracy.value, rho.value) == (pytest.approx(sign), pytest.approx(sign))
        assert rho.p == pytest.approx(2 / 24)
    with pytest.raises(StatisticError, match="needs 3 subjects"):
        trend_with_size(subjects[:2], (1, 2), ratings, groups=words)
