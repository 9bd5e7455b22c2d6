"""The ratio distances summed by nodes are those of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lexiscope.analysis.agreement.alpha import EXACT_VALUES, nodes_of, on_nodes, pair_sums, ratio_distances
from lexiscope.analysis.bootstrap import FloatArray

GENERATOR = np.random.default_rng(11)
MANY = EXACT_VALUES + 100
CASES = {
    "uniform": GENERATOR.uniform(0, 1, MANY),
    "over many powers of ten": np.exp(GENERATOR.normal(0, 30, MANY)),
    "within a millionth": 1e6 + GENERATOR.uniform(0, 1, MANY),
    "two far clusters": np.concatenate([1 + 1e-6 * GENERATOR.uniform(size=400), 1e9 + GENERATOR.uniform(size=400)]),
    "with a zero": np.append(GENERATOR.uniform(0, 5, MANY), 0.0),
}


@pytest.mark.parametrize("name", CASES)
def test_nodes_sum_as_all_pairs_do(name: str) -> None:
    """The sum over pairs of many values by nodes equals the sum over all pairs to 1e-12 of itself."""
    values = np.unique(CASES[name])
    counts = GENERATOR.integers(0, 4, size=(3, len(values))).astype(float)
    nodes = nodes_of(values)
    assert not nodes.exact
    found = pair_sums(on_nodes(sparse.csr_matrix(counts), nodes), nodes.distances)
    distances = ratio_distances(values, values)
    np.testing.assert_allclose(found, np.einsum("uv,vw,uw->u", counts, distances, counts), rtol=1e-12)


def test_few_values_stand_for_themselves() -> None:
    """Up to 512 distinct values are their own nodes: nothing is interpolated."""
    values = np.arange(EXACT_VALUES, dtype=np.float64)
    nodes = nodes_of(values)
    assert nodes.exact
    np.testing.assert_array_equal(nodes.distances, ratio_distances(values, values))
    assert not nodes_of(np.arange(EXACT_VALUES + 1, dtype=np.float64)).exact


def test_the_distance_is_that_of_the_definition() -> None:
    """((c - k) / (c + k))²: 1 and 3 are (2 / 4)² apart, 0 and anything 1, two zeros 0."""
    first: FloatArray = np.array([1.0, 0.0, 2.0])
    expected = [[0.0, 1.0, 1 / 9], [1.0, 0.0, 1.0], [1 / 9, 1.0, 0.0]]
    np.testing.assert_allclose(ratio_distances(first, first), expected, rtol=1e-15)
