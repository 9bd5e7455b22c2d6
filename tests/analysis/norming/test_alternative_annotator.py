"""The alternative annotator test equals code written from the definitions of Calderon et al. (2025)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.norming.alternative_annotator import Closeness, alternative_annotator_test
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError


def by_the_definitions(
    answers: dict[str, dict[str, float]], model: dict[str, float], epsilon: float, closeness: Closeness
) -> tuple[float, dict[str, float]]:
    """The winning rate and each annotator's advantage probability of the model, as the paper's §3 defines them."""

    def score(value: float, others: list[float]) -> float:
        if closeness == "accuracy":
            return sum(value == other for other in others) / len(others)
        return -math.sqrt(sum((value - other) ** 2 for other in others) / len(others))

    p, advantage = [], {}
    for annotator, own in answers.items():
        wins, losses = [], []
        for item, value in own.items():
            others = [given[item] for name, given in answers.items() if name != annotator and item in given]
            if others and item in model:
                of_model, of_annotator = score(model[item], others), score(value, others)
                same = math.isclose(of_model, of_annotator, abs_tol=1e-9)
                wins.append(float(same or of_model > of_annotator))
                losses.append(float(same or of_annotator > of_model))
        differences = np.array(losses) - np.array(wins)
        t = (differences.mean() - epsilon) / (differences.std(ddof=1) / math.sqrt(len(differences)))
        p.append(float(stats.t.cdf(t, len(differences) - 1)))
        advantage[annotator] = float(np.mean(wins))
    rejected = stats.false_discovery_control(p, method="by") <= 0.05
    return float(np.mean(rejected)), advantage


@pytest.mark.parametrize("closeness", ["rmse", "accuracy"])
@pytest.mark.parametrize("quality", [0.3, 0.8, 2.0])
def test_the_test_equals_the_definitions(closeness: Closeness, quality: float) -> None:
    """Winning rate and advantage probability, for raters of different items and a model that skips some."""
    rng = np.random.default_rng(int(10 * quality))
    true = rng.normal(3, 1, 120)
    answers = {
        f"r{r}": {f"i{i}": float(np.clip(round(true[i] + rng.normal(0, 0.9)), 1, 5)) for i in range(120) if (i + r) % 5}
        for r in range(7)
    }
    model = {f"i{i}": float(np.clip(round(true[i] + rng.normal(0, quality)), 1, 5)) for i in range(120) if i % 11}
    rows = [(name, item, value) for name, own in answers.items() for item, value in own.items()]
    ratings = Ratings.from_arrays(*map(list, zip(*rows, strict=True)))
    column = np.array([model.get(item, np.nan) for item in ratings.item_ids])
    for epsilon in (0.0, 0.1, 0.2):
        own = alternative_annotator_test(ratings, column, epsilon=epsilon, closeness=closeness)
        rate, advantage = by_the_definitions(answers, model, epsilon, closeness)
        assert own.winning_rate == rate
        assert {test.rater_id: test.model for test in own.tests} == pytest.approx(advantage)


def test_annotators_with_few_items_are_left_out_and_few_annotators_refused() -> None:
    """30 items are needed of each annotator, and 3 annotators; what is left out is named."""
    rng = np.random.default_rng(1)
    raters = ["a"] * 40 + ["b"] * 40 + ["c"] * 40 + ["d"] * 5
    items = [f"i{i}" for i in range(40)] * 3 + [f"i{i}" for i in range(5)]
    ratings = Ratings.from_arrays(raters, items, rng.integers(1, 6, len(items)))
    test = alternative_annotator_test(ratings, rng.integers(1, 6, 40))
    assert test.left_out == ("d",)
    assert "1 annotator with fewer than 30 items" in test.results()[0].note
    with pytest.raises(StatisticError, match="needs 3 annotators of 60 items"):
        alternative_annotator_test(ratings, rng.integers(1, 6, 40), fewest_items=60)


@pytest.mark.parametrize("studies", [60, pytest.param(2000, marks=pytest.mark.soak)])
def test_errors_and_power_of_the_test(studies: int) -> None:
    """A model that is one more annotator wins by chance as rarely as q says, at ε = 0; a far better one wins.

    The 10 annotators of 100 items are off by .9, the model by .9 or .45. With ε = .1 the first wins more often: a cost
    is allowed for. Bounds: q, and 2.6 standard errors of a share of q.
    """
    won = {(error, epsilon): 0.0 for error in (0.9, 0.45) for epsilon in (0.0, 0.1)}
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        true = rng.normal(3, 1, 100)
        values = (true + 0.9 * rng.normal(size=(10, 100))).ravel()
        ratings = Ratings.from_arrays(np.repeat([f"r{r}" for r in range(10)], 100), np.tile(np.arange(100), 10), values)
        own = np.array([true[int(item)] for item in ratings.item_ids])
        noise = rng.normal(size=100)
        for error, epsilon in won:
            test = alternative_annotator_test(ratings, own + error * noise, epsilon=epsilon, resamples=0)
            won[error, epsilon] += test.winning_rate / studies
    assert won[0.9, 0.0] <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / studies)
    assert won[0.9, 0.0] < won[0.9, 0.1] < won[0.45, 0.1]
    assert won[0.45, 0.0] > 0.85
    assert won[0.45, 0.1] > 0.95
