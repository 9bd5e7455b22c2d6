"""Centaur norms: weights written from the definition, and closer to the true norms, with errors that are true."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from lexiscope.analysis.norming.centaur import centaur_norms, centaur_norms_of
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def simulated(seed: int, items: int = 300, raters: int = 4) -> tuple[FloatArray, Ratings, FloatArray]:
    """True norms, ratings with an SD of .9, and a model that is off by .5 on another scale."""
    rng = np.random.default_rng(seed)
    true = rng.normal(3, 1, items)
    values = true + 0.9 * rng.normal(size=(raters, items))
    names = [f"i{i:03}" for i in range(items)]
    ratings = Ratings.from_arrays(np.repeat([f"r{r}" for r in range(raters)], items), names * raters, values.ravel())
    return true, ratings, 10 + 2 * (true + 0.5 * rng.normal(size=items))


def test_weights_follow_from_both_variances() -> None:
    """τ² / (τ² + σ² / n) for people, the rest for the prediction; the weight of no people is 0."""
    _, ratings, model = simulated(1)
    centaur = centaur_norms(ratings, model)
    weight = centaur.between / (centaur.between + centaur.within / 4)
    assert centaur.weight(4) == pytest.approx(weight)
    assert centaur.norms == pytest.approx(weight * ratings.means() + (1 - weight) * centaur.predicted)
    # what the learnt line and both variances add is little with 300 items, and never less than nothing
    known = np.sqrt(weight * centaur.within / 4)
    assert (centaur.errors > known).all()
    assert centaur.errors == pytest.approx(known, rel=0.06)
    assert (centaur.weight(0) == 0).all()
    # σ = .9; a line on a model with error leaves .5 · 1 / √1.25 of the true norms open
    assert np.sqrt(centaur.within).mean() == pytest.approx(0.9, abs=0.05)
    assert np.sqrt(centaur.between).mean() == pytest.approx(0.447, abs=0.06)


def test_centaurs_are_closer_than_people_or_model_and_know_their_error() -> None:
    """Root mean squared errors against the true norms; the intervals of ±1.96 errors hold 93 to 97 % of them."""
    held, worse = [], []
    for seed in range(8):
        true, ratings, model = simulated(seed)
        centaur = centaur_norms(ratings, model)
        errors = [np.sqrt(np.mean((own - true) ** 2)) for own in (centaur.norms, ratings.means(), centaur.predicted)]
        worse.append(min(errors[1:]) - errors[0])
        held.append(np.mean(np.abs(centaur.norms - true) <= 1.96 * centaur.errors))
    assert min(worse) > 0.05
    assert 0.93 <= np.mean(held) <= 0.97


def test_no_item_decides_its_own_weights() -> None:
    """The ratings of a word change neither the prediction nor the weights of its items: they are learnt on others."""
    true, ratings, model = simulated(3)
    words = np.arange(len(true)) // 3
    squares = np.full(len(true), 0.9**2 * 3)
    counts = np.full(len(true), 4)
    before = centaur_norms_of(ratings.means(), counts, squares, model, groups=words)
    changed = ratings.means().copy()
    changed[words == 7] += 50
    after = centaur_norms_of(changed, counts, squares, model, groups=words)
    assert after.predicted[words == 7] == pytest.approx(before.predicted[words == 7])
    assert after.between[words == 7] == pytest.approx(before.between[words == 7])


def test_items_without_people_and_without_answers() -> None:
    """Without people the prediction is the norm, with τ as error; without an answer people alone are."""
    true, ratings, model = simulated(4)
    counts, squares = np.full(len(true), 4), np.full(len(true), 0.9**2 * 3)
    counts[0], model[1] = 0, np.nan
    people = ratings.means().copy()
    people[0] = np.nan
    centaur = centaur_norms_of(people, counts, squares, model)
    assert centaur.norms[0] == centaur.predicted[0]
    assert centaur.errors[0] == pytest.approx(np.sqrt(centaur.between[0] + centaur.of_line[0]))
    assert centaur.norms[1] == people[1]
    with pytest.raises(StatisticError, match="need 8 items that people rated"):
        centaur_norms_of(people[:6], counts[:6], squares[:6], model[:6])


def test_the_error_of_few_items_is_that_of_prasad_and_rao() -> None:
    """Equal n: g1 + g2 + 2 g3 written out with statsmodels' weighted line, for an item outside the fitted words."""
    _, ratings, model = simulated(6, items=40, raters=3)
    words = np.arange(40) // 2
    own = centaur_norms(ratings, model, groups=words, folds=2)
    train = own.between != own.between[0]
    assert train.sum() == 20
    v, d, b = own.between[0], own.within[0] / 3, own.between[0] + own.within[0] / 3
    line = sm.WLS(ratings.means()[train], sm.add_constant(model[train]), weights=np.full(20, 1 / b)).fit(use_t=False)
    at = np.array([1.0, model[0]])
    g2 = (d / b) ** 2 * float(at @ np.linalg.inv(line.model.exog.T @ line.model.exog / b) @ at)
    g3 = d**2 / b**3 * 2 * b**2 / 20 + d**2 / b * 2 / (20 * 2)
    assert own.predicted[0] == pytest.approx(float(line.params @ at))
    assert own.errors[0] ** 2 == pytest.approx(v * d / b + g2 + 2 * g3)
