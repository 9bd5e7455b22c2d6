"""Paired differences over all pairs of models of a line, and sets that cannot be told apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from lexiscope.analysis.attainable.model_pairs import ModelPairs, PairedModels, model_pairs
from lexiscope.analysis.attainable.reached import Reached

from .simulated_shares import equal_models


def test_the_width_is_the_quantile_of_the_largest_deviation() -> None:
    """c is the 95 % quantile of max |d* − d| / se over pairs; every interval is d ± c · se."""
    generator = np.random.default_rng(1)
    common = generator.normal(0, 0.05, 1000)
    values = {"a": 0.6, "b": 0.5, "c": 0.45}
    draws = {name: value + common + generator.normal(0, 0.03, 1000) for name, value in values.items()}
    pairs = model_pairs({name: Reached(values[name], draws[name], 5000, 100_000) for name in values})
    differences = {(i, j): draws[i] - draws[j] - (values[i] - values[j]) for i, j in combinations(values, 2)}
    errors = {pair: d.std(ddof=1) for pair, d in differences.items()}
    largest = np.max([np.abs(d) / errors[pair] for pair, d in differences.items()], axis=0)
    critical = np.quantile(largest, 0.95)
    assert pairs.critical == pytest.approx(critical, rel=1e-3)
    for pair in pairs.pairs:
        assert pair.difference == pytest.approx(values[pair.first] - values[pair.second])
        assert pair.high - pair.difference == pytest.approx(critical * errors[pair.first, pair.second], rel=1e-3)


def test_sets_are_maximal_and_may_skip_a_model() -> None:
    """Every largest set without a differing pair, found here by trying all of them."""
    generator = np.random.default_rng(3)
    names = tuple("abcdefg")
    for _ in range(20):
        differing = {pair: generator.random() < 0.4 for pair in combinations(names, 2)}
        pairs = tuple(PairedModels(i, j, 1.0, 0.5 if d else -0.5, 1.5) for (i, j), d in differing.items())
        alike = [
            chosen
            for size in range(1, 8)
            for chosen in combinations(names, size)
            if not any(differing[pair] for pair in combinations(chosen, 2))
        ]
        wanted = {chosen for chosen in alike if not any(set(chosen) < set(other) for other in alike)}
        found = ModelPairs(names, pairs, 2.0).sets()
        assert set(found) == wanted
        assert len(found) == len(wanted)


def test_a_pair_has_two_directions() -> None:
    """b − a is the negative of a − b, with its interval."""
    pairs = ModelPairs(("a", "b"), (PairedModels("a", "b", 0.25, 0.125, 0.5),), 2.0)
    assert pairs.between("b", "a") == PairedModels("b", "a", -0.25, -0.5, -0.125)


@pytest.mark.soak
def test_equal_models_are_rarely_told_apart() -> None:
    """Of 1,000 studies with 14 models of one truth, at most 6 % declare a pair different."""
    declared = [
        any(pair.differs for pair in model_pairs(equal_models(seed, models=14, words=60)).pairs) for seed in range(1000)
    ]
    assert np.mean(declared) <= 0.06
