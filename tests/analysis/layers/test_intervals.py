"""Intervals of what is read off a whole curve equal those from fitting every resample anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.bootstrap import bootstrap
from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.layers.expected_layer import cumulative_r_squared, expected_layer, expected_layer_interval
from lexiscope.analysis.layers.intervals import (
    best_contrasts,
    expected_layer_r_squared_interval,
    highest_combinations,
    highest_difference,
    last_layer_drop_intervals,
    layer_contrasts,
    size_contrasts,
)
from lexiscope.analysis.layers.layers import difference_at_chosen_layers, left_out_draws
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Undefined


@pytest.fixture
def toy() -> tuple[Any, Any, Any]:
    """60 items of 15 words: layer 0 constant, layers 1..4 with growing and falling signal."""
    generator = np.random.default_rng(3)
    norms = generator.normal(size=60)
    signal = [0.3, 1.0, 2.0, 0.6]
    columns = np.column_stack([np.zeros(60), *(s * norms + generator.normal(size=60) for s in signal)])
    return columns, norms, np.repeat(np.arange(15), 4)


def test_expected_layer_equals_refitting(toy: tuple[Any, Any, Any]) -> None:
    """Reweighted sums of products give the interval that fitting each resample gives."""
    columns, norms, words = toy
    fast = expected_layer_r_squared_interval(columns, norms, groups=words, resamples=60, seed=5)
    slow = expected_layer_interval(columns, norms, "r_squared", groups=words, resamples=60, seed=5)
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=1e-9)
    value = expected_layer(cumulative_r_squared(columns, norms)).value
    assert fast.low < value < fast.high


def test_drop_equals_its_definition(toy: tuple[Any, Any, Any]) -> None:
    """The interval of the drop is that of 1 − last / highest, computed resample by resample."""
    columns, norms, words = toy

    def drop(rows: Any) -> float:
        r_squared = [correlation_value(columns[rows, k], norms[rows], kind="pearson") ** 2 for k in range(1, 5)]
        return 1 - r_squared[-1] / max(r_squared)

    slow = bootstrap(drop, 60, groups=words, resamples=60, seed=5)
    fast = last_layer_drop_intervals(columns, norms, groups=words, resamples=60, seed=5)[0]
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=1e-9)
    assert fast.low >= 0


def test_the_difference_of_a_subject_with_itself_is_zero(toy: tuple[Any, Any, Any]) -> None:
    """Both subjects see the same resamples: a subject never differs from itself, and more signal is a gain."""
    columns, norms, words = toy
    same = highest_difference(columns, columns, norms, between="stop", groups=words, resamples=40)
    assert (same.interval.low, same.value, same.interval.high) == (0.0, 0.0, 0.0)
    gain = highest_difference(columns, columns[:, :2], norms, between="stop", groups=words, resamples=200)
    highest = [max(correlation_value(each, norms, kind="r_squared") for each in part.T)
               for part in (columns[:, 1:], columns[:, 1:2])]  # fmt: skip
    assert gain.name == "r_squared_difference(of=max_over_layers,between=stop)"
    assert gain.value == highest[0] - highest[1] > gain.interval.low > 0
    assert gain.note == f"{highest[0]:.4f} with, {highest[1]:.4f} without"
    flat = highest_difference(columns, columns[:, :1], norms, between="stop", resamples=0)
    assert flat.value == highest[0], "a layer without variation explains nothing"


def test_weighted_sums_of_the_highest_equal_their_definition(toy: tuple[Any, Any, Any]) -> None:
    """(1, −1) is the difference; the weights of a least-squares line give its slope, resample by resample."""
    columns, norms, words = toy
    subjects, sizes = [columns[:, :2], columns[:, :3], columns[:, 3:]], np.array([6.0, 7.0, 9.0])

    def highest(rows: Any) -> list[float]:
        return [
            max(
                (np.corrcoef(column, norms[rows])[0, 1] ** 2 for column in part[rows].T if column.std() > 0),
                default=0.0,
            )
            for part in subjects
        ]

    def slope(rows: Any) -> float:
        return float(np.polyfit(sizes, highest(rows), 1)[0])

    centred = sizes - sizes.mean()
    weights = [("difference", [1, -1, 0]), ("slope", centred / (centred @ centred))]
    options = {"groups": words, "resamples": 60, "seed": 5}
    difference, line, *chosen = highest_combinations(subjects, norms, weights, **options)
    same = highest_difference(subjects[0], subjects[1], norms, between="stop", **options)
    assert (difference.value, difference.interval) == (pytest.approx(same.value, abs=1e-12), same.interval)
    slow = bootstrap(slope, 60, groups=words, resamples=60, seed=5)
    assert line.value == pytest.approx(slope(np.arange(60)), abs=1e-12)
    assert (line.interval.low, line.interval.high) == pytest.approx((slow.low, slow.high), abs=1e-9)
    # no resample is at or below 0: 2 / 61, before the expansion for 15 groups
    assert 2 / 61 < (line.p or 0.0) < 0.06
    # the same with each layer chosen on other words, which is not tested a second time
    sides = [left_out_draws(part, norms, kind="r_squared", **options) for part in subjects]
    apart = difference_at_chosen_layers(sides[0], sides[1], norms, kind="r_squared", **options)
    assert [own.name for own in chosen] == ["difference", "slope"]
    assert (chosen[0].value, chosen[0].interval) == (pytest.approx(apart.value, abs=1e-12), apart.interval)
    assert chosen[1].value == pytest.approx(np.polyfit(sizes, [side.value for side in sides], 1)[0], abs=1e-12)
    assert [own.p for own in chosen] == [None, None]
    # distances that are all alike leave no layer to choose, and stop nothing
    whole = [*subjects[:2], np.full((60, 2), 0.5)]
    *naive, first, of_three = highest_combinations(whole, norms, weights, **options)
    assert [own.value is not None for own in naive] == [True, True]
    assert first == chosen[0]
    assert isinstance(of_three, Undefined)
    assert "undefined" in of_three.reason
    (bare,) = highest_combinations(subjects, norms, weights[:1], resamples=0)
    assert bare.p is None
    with pytest.raises(StatisticError, match="do not go with 3 subjects"):
        highest_combinations(subjects, norms, [("slope", [1, 2])])


def test_size_is_compared_among_models_that_were_trained_alike(toy: tuple[Any, Any, Any]) -> None:
    """Three sizes of one family and a multilingual model: each contrast is that of R² computed by numpy."""
    columns, norms, words = toy
    known = {"family": "F", "corpus": "news", "tokenizer": "bpe", "objective": "mlm"}
    facts = [
        SubjectFacts("large", n_parameters=10**9, **known),
        SubjectFacts("small", n_parameters=10**7, **known),
        SubjectFacts("middle", n_parameters=10**8, **known),
        SubjectFacts("many", n_parameters=3 * 10**8, multilingual=True, family="M"),
    ]
    distances = [columns[:, :3], columns[:, :2], columns[:, 3:], columns[:, 2:4]]
    best = {
        of.subject_id: max(np.corrcoef(column, norms)[0, 1] ** 2 for column in own.T if np.ptp(column))
        for of, own in zip(facts, distances, strict=True)
    }
    contrasts = size_contrasts(facts, distances, norms, groups=words, resamples=20)
    naive = [contrast for contrast in contrasts if "at_chosen_layer" not in contrast.name]
    assert [own.subject for own in contrasts[len(naive) :]] == [own.subject for own in naive]
    values = {contrast.subject or contrast.condition: contrast.value for contrast in naive}
    slope = np.polyfit([7, 8, 9], [best[name] for name in ("small", "middle", "large")], 1)[0]
    assert values == pytest.approx(
        {
            "middle − small": best["middle"] - best["small"],
            "large − middle": best["large"] - best["middle"],
            "family=F": slope,
            "many − small": best["many"] - best["small"],
            "many − middle": best["many"] - best["middle"],
            "many − mean of 2 smaller": best["many"] - (best["small"] + best["middle"]) / 2,
        }
    )
    assert size_contrasts(facts[3:], distances[3:], norms) == ()


def test_the_best_subject_and_a_named_layer_are_compared_with_the_others(toy: tuple[Any, Any, Any]) -> None:
    """Differences, intervals and p are those of :func:`highest_combinations`, whose oracle is above."""
    columns, norms, words = toy
    options = {"groups": words, "resamples": 60, "seed": 5}
    subjects = {"a": columns[:, :2], "b": columns[:, 2:], "c": columns[:, 3:]}
    b_a, b_c, *chosen = best_contrasts(subjects, norms, **options)
    assert [(of.name, of.subject) for of in chosen] == [
        ("r_squared_difference_at_chosen_layers(between=subjects)", subject) for subject in ("b − a", "b − c")
    ]
    assert [of.subject for of in (b_a, b_c)] == ["b − a", "b − c"]
    slow = highest_difference(subjects["b"], subjects["a"], norms, between="subjects", **options)
    assert (b_a.name, b_a.interval) == (slow.name, slow.interval)
    assert b_a.value == pytest.approx(slow.value, abs=1e-12)
    of_layers = layer_contrasts(columns[:, 1:], norms, 7, layers=[5, 6, 7, 8], **options)
    assert [of.condition for of in of_layers] == [f"layer 7 − layer {other}" for other in (5, 6, 8)]
    slow = highest_difference(columns[:, 3:4], columns[:, 4:], norms, between="layers", **options)
    assert of_layers[2].interval == slow.interval
    assert of_layers[2].p is not None
    with pytest.raises(StatisticError, match="there is no layer 4"):
        layer_contrasts(columns[:, 1:], norms, 4)


def test_what_has_no_interval_says_why(toy: tuple[Any, Any, Any]) -> None:
    """Constant norms, one layer, and lengths that do not match are refused."""
    columns, norms, _ = toy
    with pytest.raises(StatisticError, match="constant"):
        last_layer_drop_intervals(columns, np.ones(60))
    with pytest.raises(StatisticError, match="at least one layer"):
        expected_layer_r_squared_interval(columns[:, :1], norms)
    with pytest.raises(StatisticError, match="do not go with"):
        expected_layer_r_squared_interval(columns, norms[:9])


@pytest.mark.published
def test_intervals_on_saw_c(sawc: Any) -> None:
    """On BETO the fast interval equals the fitted one: 13 correlated layers, layer 0 mostly rounding noise."""
    columns, norms, words = sawc.distance["bert-base-spanish-wwm-cased"], sawc.norms, sawc.words
    fast = expected_layer_r_squared_interval(columns, norms, groups=words, resamples=40, seed=1)
    slow = expected_layer_interval(columns, norms, "r_squared", groups=words, resamples=40, seed=1)
    assert (fast.low, fast.high) == pytest.approx((slow.low, slow.high), abs=1e-5)
