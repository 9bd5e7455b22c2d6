"""The Hessian of crossed random effects against the same matrix written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lexiscope.analysis.mixed import crossed as crossed_module
from lexiscope.analysis.mixed.crossed import Crossed, Factor
from lexiscope.core.errors import StatisticError

Floats = NDArray[np.float64]


def factors(kind: str) -> list[Factor]:
    """Three factors of 300 rows: two nested and one crossed, or all crossed; two of them with a slope."""
    random = np.random.default_rng(4)
    n = 300
    first, second = random.integers(0, 30, n), random.integers(0, 12, n)
    third = first // 5 if kind == "nested" else random.integers(0, 6, n)
    x = random.normal(size=n)
    slope = np.column_stack([np.ones(n), x])
    return [Factor("a", first, 30, slope), Factor("b", second, 12, np.ones((n, 1))), Factor("c", third, 6, slope)]


def written_out(parts: list[Factor], weights: Floats, scales: list[Floats]) -> tuple[Floats, list[Floats]]:
    """H and the design ZΛ of every factor, with the terms of one level next to each other."""
    designs = []
    for part, scale in zip(parts, scales, strict=True):
        design = np.zeros((weights.size, part.n_levels, part.n_terms))
        design[np.arange(weights.size), part.level] = part.terms @ scale
        designs.append(design.reshape(weights.size, -1))
    whole = np.hstack(designs)
    return np.eye(whole.shape[1]) + whole.T @ (weights[:, None] * whole), designs


@pytest.mark.parametrize("kind", ["nested", "crossed"])
@pytest.mark.parametrize("dense_from", [0.0, 1.1])  # always dense, always sparse
def test_determinant_solutions_and_inverse_are_those_of_the_matrix(
    kind: str, dense_from: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elimination by blocks gives log |H|, H⁻¹g and the entries of H⁻¹ at the cells of each pair of factors."""
    monkeypatch.setattr(crossed_module, "_DENSE_FROM", dense_from)
    parts, random = factors(kind), np.random.default_rng(1)
    weights = random.uniform(0.1, 1.0, 300)
    scales = [np.tril(random.normal(size=(part.n_terms, part.n_terms))) for part in parts]
    whole, _ = written_out(parts, weights, scales)
    crossed = Crossed(parts)
    assert crossed.is_sparse is (dense_from > 1)
    assert (crossed.layout.width > 2) is (kind == "nested")
    found = crossed.factorise(weights, scales)
    assert found.log_determinant == pytest.approx(np.linalg.slogdet(whole)[1], abs=1e-10)
    given = [random.normal(size=(part.n_levels, part.n_terms)) for part in parts]
    solved = np.linalg.solve(whole, np.concatenate([part.reshape(-1) for part in given]))
    assert np.concatenate([part.reshape(-1) for part in found.solve(given)]) == pytest.approx(solved, abs=1e-11)
    inverse, starts = np.linalg.inv(whole), np.cumsum([0, *(part.n_effects for part in parts)])
    for pair, cells in zip(crossed.pairs, found.inverse_cells(), strict=True):
        rows, columns = (
            starts[number] + levels[:, None] * parts[number].n_terms + np.arange(parts[number].n_terms)
            for number, levels in zip((pair.first, pair.second), pair.levels, strict=True)
        )
        assert cells == pytest.approx(inverse[rows[:, :, None], columns[:, None, :]], abs=1e-11)


def test_one_factor_leaves_no_rest() -> None:
    """With one grouping factor H is block-diagonal, and nothing dense is factored."""
    part = factors("crossed")[0]
    crossed = Crossed([part])
    assert crossed.layout.n_rest == 0
    weights = np.full(300, 0.2)
    whole, _ = written_out([part], weights, [np.eye(2)])
    assert crossed.factorise(weights, [np.eye(2)]).log_determinant == pytest.approx(np.linalg.slogdet(whole)[1])


def test_a_design_that_does_not_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the factors, their numbers of effects, and what to do."""
    monkeypatch.setattr(crossed_module, "MOST_DENSE", 10)
    with pytest.raises(StatisticError, match="a 60, b 12, c 12"):
        Crossed(factors("crossed"))
