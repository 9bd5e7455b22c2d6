"""Base against tuned: errors are paired by item, and a planted improvement is found."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.norms.story_effects import base_against_tuned
from lexiscope.analysis.ratings import Ratings
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
    base_error, tuned_error, test, difference = base_against_tuned(base, tuned, ratings, resamples=200)
    assert tuned_error.value < base_error.value
    assert test.p is not None
    assert test.p < 1e-6
    # V of 120 differences: most of the rank sum is that of smaller errors of the tuned model
    assert test.value > 0.7 * 120 * 121 / 2
    assert difference.value > 0
    assert [(effect.name, effect.n) for effect in (base_error, tuned_error, test, difference)] == [
        ("mean_absolute_error(of=base)", 120),
        ("mean_absolute_error(of=tuned)", 120),
        ("signed_rank", 120),
        ("accuracy_difference(of=tuned_minus_base)", 120),
    ]
    back = base_against_tuned(tuned, base, ratings, resamples=200)
    assert (back[2].p, back[3].value) == (test.p, -difference.value)


def test_items_that_one_of_them_lacks_are_left_out() -> None:
    """Only items that both predicted are paired; the others are counted."""
    ratings, _ = people(30, seed=3)
    items = ratings.item_ids
    base: dict[str, float | None] = dict.fromkeys(items, 3.0)
    tuned: dict[str, float | None] = dict.fromkeys(items, 4.0)
    base[items[0]], tuned[items[1]] = None, None
    del tuned[items[2]]
    effects = base_against_tuned(base, tuned, ratings, resamples=0)
    assert {effect.n for effect in effects} == {27}


def test_equal_models_have_no_test() -> None:
    """Where no error differs, there is nothing to rank."""
    ratings, _ = people(10, seed=4)
    same = dict.fromkeys(ratings.item_ids, 3.0)
    with pytest.raises(StatisticError, match="all 10 differences are 0"):
        base_against_tuned(same, same, ratings)


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
    _, _, test, _ = base_against_tuned(base, tuned, people, resamples=0)
    assert test.value == sum(rank[each] for each in fifths if each > 0)


def _five(total: int) -> list[int]:
    """Five ratings of 1 to 5 with this sum."""
    return [total // 5 + (k < total % 5) for k in range(5)]
