"""Accuracy within SD: the sample SD, the strict edge, the floor of 1, and what guesses and constants score."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.analysis.norms.predictions import Predictor, rounded
from lexiscope.analysis.norms.within_sd import (
    accuracy_within_sd,
    constant_scores,
    is_within_sd,
    majority_within_sd,
    random_within_sd,
    scores,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Undefined

samples = st.lists(st.lists(st.integers(1, 5), min_size=2, max_size=6), min_size=2, max_size=8)


def of_samples(table: list[list[int]]) -> Ratings:
    rows = [(f"r{r}", f"i{i}", value) for i, row in enumerate(table) for r, value in enumerate(row)]
    return Ratings.from_arrays(*zip(*rows, strict=True))


def as_the_script_has_it(choices: list[int], predicted: float) -> bool:
    """The rule of the shared task: strictly between mean ± sample SD, or strictly closer than 1."""
    mean, sd = statistics.mean(choices), statistics.stdev(choices)
    return mean - sd < predicted < mean + sd or abs(mean - predicted) < 1


@given(samples, st.integers(1, 5))
@settings(max_examples=300, deadline=None)
def test_accuracy_is_that_of_the_script(table: list[list[int]], predicted: int) -> None:
    """On any samples, the share equals the rule of the official scorer, sample by sample."""
    ratings = of_samples(table)
    found = accuracy_within_sd(dict.fromkeys(ratings.item_ids, predicted), ratings, resamples=0)
    # floating error: where the distance is the threshold to 1e-9 the script may fall on either side
    clear = [abs(abs(statistics.mean(row) - predicted) - max(1, statistics.stdev(row))) > 1e-9 for row in table]
    right = [as_the_script_has_it(row, predicted) for row in table]
    if all(clear):
        assert found.value == sum(right) / len(right)
    else:
        assert round(found.value * found.n) <= sum(right)


def test_the_edge_and_the_spread_have_names() -> None:
    """Ratings 1 and 5: mean 3, sample SD 2.83, population SD 2; ratings 3 3: the floor of 1."""
    ratings = of_samples([[1, 5], [3, 3]])
    cases = {
        ("sample", "strict", 5.0): 0.5,
        ("population", "strict", 5.0): 0.0,
        ("population", "inclusive", 5.0): 0.5,
        ("sample", "strict", 4.0): 0.5,
        ("sample", "inclusive", 4.0): 1.0,
    }
    for (spread, edge, predicted), share in cases.items():
        found = accuracy_within_sd(
            dict.fromkeys(ratings.item_ids, predicted),
            ratings,
            spread=spread,  # type: ignore[arg-type]
            edge=edge,  # type: ignore[arg-type]
            resamples=0,
        )
        assert (found.name, found.value) == (
            f"accuracy_within_sd(sd={spread},edge={edge},predictions=integer)",
            share,
        )


def test_raw_predictions_have_another_name() -> None:
    """A prediction that is no whole number is refused, unless raw ones are asked for, under their name."""
    ratings = of_samples([[1, 2], [3, 3]])
    given_values = {"i0": 1.4, "i1": 3.9}
    with pytest.raises(InputError, match="not a whole number"):
        accuracy_within_sd(given_values, ratings)
    found = accuracy_within_sd(given_values, ratings, form="raw", resamples=0)
    assert (found.name.endswith("predictions=raw)"), found.value) == (True, 1.0)
    # 1 and 4: closer than 1 to 1.5, not to 3
    found = accuracy_within_sd(given_values, ratings, form="rounded", resamples=0)
    assert (found.name.endswith("predictions=rounded)"), found.value) == (True, 0.5)


def test_a_distance_on_the_threshold_is_no_matter_of_the_last_bit() -> None:
    """0.1 + 0.2 against 0.3: within 1e-9 of the threshold counts as on it, on either edge."""
    predicted, mean, sd = np.array([1.0]), np.array([0.0]), np.array([1.0 + 1e-12])
    assert not is_within_sd(predicted, mean, sd)[0]
    assert is_within_sd(predicted, mean, sd, edge="inclusive")[0]
    assert is_within_sd(predicted, mean, np.array([1.0 + 1e-6]))[0]


def test_missing_predictions_do_not_enter() -> None:
    """Two of three items have a prediction: the share is of two, and one is counted as missing."""
    found = accuracy_within_sd({"i0": 1, "i1": None, "i2": 5}, of_samples([[1, 1], [2, 2], [1, 1]]), resamples=0)
    assert (found.value, found.n, found.note) == (0.5, 2, "over readable replies: 1 samples without a prediction")


def test_the_expectation_is_that_of_many_guesses() -> None:
    """The mean and SD of 4,000 random sets of guesses agree with the closed form within four standard errors."""
    generator = np.random.default_rng(3)
    ratings = of_samples(generator.integers(1, 6, size=(40, 5)).tolist())
    expected = random_within_sd(ratings)
    guesses = generator.integers(1, 6, size=(4000, 40))
    scores = [
        accuracy_within_sd(dict(zip(ratings.item_ids, row.tolist(), strict=True)), ratings, resamples=0).value
        for row in guesses[:300]
    ]
    sd = float(expected.note.rpartition(" ")[2])
    assert np.mean(scores) == pytest.approx(expected.value, abs=4 * sd / 300**0.5)
    assert np.std(scores) == pytest.approx(sd, rel=4 / (2 * 300) ** 0.5)


def test_the_majority_says_where_its_label_comes_from() -> None:
    """The mode of the rounded means is not the mode of the ratings; a tie of labels is refused."""
    source = of_samples([[1, 5], [1, 5], [4, 4]])
    target = of_samples([[4, 4], [1, 1]])
    label, accuracy = majority_within_sd(target, source, source_name="train", resamples=0)
    assert (label, accuracy.value) == (3.0, 0.0)
    # 3 is 1 away from the mean 4, on the edge, and 2 away from 1; a constant has no correlation
    edge, population, rho = constant_scores(3.0, target)
    assert [one.records()[0].value for one in (edge, population, rho)] == [0.5, 0.0, None]
    with pytest.raises(StatisticError, match="1 and 4 and 5 are equally frequent in train"):
        majority_within_sd(target, source, source_name="train", rule="rating", resamples=0)


@pytest.mark.published
def test_constant_four_on_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Constant 4 on test: .5581 strict, .6387 inclusive with the sample SD; .5290 and .6097 with the population's."""
    test = ambistory.splits["test"]
    fours = dict.fromkeys(test.item_ids, 4)
    found = {
        (spread, edge): round(accuracy_within_sd(fours, test, spread=spread, edge=edge, resamples=0).value, 4)
        for spread in ("sample", "population")
        for edge in ("strict", "inclusive")
    }
    assert found == {
        ("sample", "strict"): 0.5581,
        ("sample", "inclusive"): 0.6387,
        ("population", "strict"): 0.5290,
        ("population", "inclusive"): 0.6097,
    }
    others = {
        split: round(accuracy_within_sd(dict.fromkeys(part.item_ids, 4), part, resamples=0).value, 4)
        for split, part in ambistory.splits.items()
    }
    assert others == {"train": 0.5579, "dev": 0.5697, "test": 0.5581}


@pytest.mark.published
def test_intervals_of_constant_four(ambistory) -> None:  # type: ignore[no-untyped-def]
    """By setup .527 to .590, by word .521 to .593: bounds of another bootstrap, equal within .004."""
    test = ambistory.splits["test"]
    fours = dict.fromkeys(test.item_ids, 4)
    setups = {item: ambistory.places[item].setup for item in test.item_ids}
    for groups, low, high, n in ((setups, 0.527, 0.590, 155), (ambistory.forms, 0.521, 0.593, 87)):
        found = accuracy_within_sd(fours, test, groups=groups, resamples=10_000)
        assert found.n_groups == n
        assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=0.004)


@pytest.mark.published
def test_baselines_on_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Random: .4387, SD .0155 on test. The label 4 is the mode over all splits; on test it is 3 (225 to 223)."""
    test = ambistory.splits["test"]
    guess = random_within_sd(test)
    assert (round(guess.value, 4), guess.note[-6:], guess.n) == (0.4387, "0.0155", 930)
    label, accuracy = majority_within_sd(test, ambistory.everything, source_name="all splits", resamples=0)
    assert (label, round(accuracy.value, 4)) == (4.0, 0.5581)
    assert majority_within_sd(test, test, source_name="test", resamples=0)[0] == 3.0
    labels = rounded(test.means()).tolist()
    assert (labels.count(3.0), labels.count(4.0)) == (225, 223)


def test_scores_of_a_subject_follow_its_form() -> None:
    """Whole predictions have two accuracies, others three; those of one word alone say why they have none."""
    ratings = of_samples([[1, 2], [3, 3], [5, 4], [2, 2]])
    words = {"i0": "bank", "i1": "bank", "i2": "bat", "i3": "bat"}
    given_values: dict[str, float | None] = {"i0": 1.0, "i1": 3.4, "i2": 4.0, "i3": None, "unrated": 2.0}
    raw = Predictor("m", "m", given_values, "raw", 5, {}, 1)
    found = {one.name: one for one in scores(raw, ratings, groups=words, resamples=10)}
    accuracies = [name.partition("predictions=")[2] for name in list(found)[1:]]
    assert accuracies == ["rounded)", "rounded,unread=wrong)", "raw)"]
    assert [one.records()[0].value for one in found.values()][1:] == [1, 3 / 4, 1]
    whole = Predictor("m", "m", {"i0": 1.0, "i1": 3.0, "i2": 4.0}, "integer", 3, {}, 1)
    assert [one.name.count("integer") for one in scores(whole, ratings, resamples=0)] == [0, 1, 1]
    alone = Predictor("m", "m", {"i0": 1.0, "i1": 4.0, "i2": None}, "integer", 3, {}, 1)
    assert {type(one) for one in scores(alone, ratings, groups=words, resamples=10)} == {Undefined}
