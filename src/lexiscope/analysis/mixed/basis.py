"""Scale the columns of a mixed model before it is fitted, and scale its estimates back.

The likelihood of a mixed model does not depend on the unit of a column, but an optimiser does: its starting points,
steps and tolerances are numbers, and so is the bound below which a standard deviation is zero. Each model is therefore
fitted in a basis of its own in which every column has mean square 1:

- fixed effects: orthogonal columns that span the same space;
- random effects that correlate: orthogonal columns within the bracket, each free of the earlier ones, so that neither
  the unit nor the zero point of a predictor matters;
- random effects that do not correlate: each column divided by its root mean square, because a shift would be another
  model there;
- the outcome: what the fixed effects leave by least squares, divided by its root mean square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Share of a column (mean square 1) that the earlier columns must leave: less is hardly more than rounding.
# A year, a price or a time stamp beside the intercept leaves 1e-3 to 1e-10 of itself.
_INDEPENDENT = 1e-12


@dataclass(frozen=True, slots=True)
class Basis:
    """The linear map between the columns that were given and those that are fitted.

    ``fixed``: fitted columns = given columns @ ``fixed``; ``blocks`` is the same for each bracket of random effects.
    The outcome is *given fixed columns* @ ``offset`` + ``scale`` × *fitted outcome*.

    *Shape:* ``fixed`` (fixed effects, fixed effects); ``offset`` (fixed effects,); a block (terms, terms), upper
    triangular. *Unit:* ``scale`` in units of the outcome.
    """

    fixed: Floats
    sizes: Floats
    blocks: tuple[Floats, ...]
    offset: Floats
    scale: float
    n: int

    def log_likelihood(self, fitted: float, *, reml: bool) -> float:
        """Return the log-likelihood of the given outcome from that of the fitted outcome. *Unit:* nats.

        The density of n values in other units is divided by the unit n times; REML integrates the fixed effects out, in
        the units of their columns.
        """
        if not reml:
            return float(fitted - self.n * np.log(self.scale))
        log_volume = np.linalg.slogdet(self.fixed)[1] if self.fixed.size else 0.0
        return float(fitted - (self.n - self.offset.size) * np.log(self.scale) + log_volume)

    def coefficients(self, beta: Floats) -> Floats:
        """Return the fixed effects in given units. *Shape:* (fixed effects,)."""
        return np.asarray(self.offset + self.scale * (self.fixed @ beta))

    def standard_errors(self, covariance: Floats) -> Floats:
        """Return the standard errors of the fixed effects in given units. *Shape:* (fixed effects,)."""
        # Divided by the largest entry of a row first: the square of 1e-200 is zero.
        largest = np.max(np.abs(self.fixed), axis=1, initial=0.0)
        rows = self.fixed / largest[:, None]
        variances = np.einsum("ij,jk,ik->i", rows, covariance, rows)
        return np.asarray(self.scale * largest * np.sqrt(np.maximum(variances, 0.0)))

    def random_factor(self, block: int, factor: Floats) -> Floats:
        """Return F with F Fᵀ the covariance of a bracket in given units, from the fitted factor.

        *Shape:* (terms, terms).
        """
        return np.asarray(self.scale * (self.blocks[block] @ factor))


def fitted_basis(outcome: Floats, fixed: Floats, brackets: Sequence[Floats], correlated: Sequence[bool]) -> Basis:
    """Choose the basis of a model from its columns; the fixed effects must be linearly independent.

    *Shape:* ``outcome`` (rows,); ``fixed`` (rows, fixed effects); each of ``brackets`` (rows, terms).
    """
    sizes = column_sizes(fixed)
    n = outcome.size
    columns, change = _orthogonal(fixed / sizes)
    largest = float(np.max(np.abs(outcome))) or 1.0
    rest = outcome / largest
    explained = np.zeros(fixed.shape[1])
    for _ in range(2):  # the second pass takes away what rounding left of a large mean
        part = columns.T @ rest / n
        rest, explained = rest - columns @ part, explained + part
    scale = float(np.sqrt(np.mean(rest**2))) or 1.0
    change = change / sizes[:, None]
    return Basis(
        fixed=change,
        sizes=sizes,
        blocks=tuple(_block(bracket, free=free) for bracket, free in zip(brackets, correlated, strict=True)),
        offset=largest * (change @ explained),
        scale=largest * scale,
        n=n,
    )


def column_sizes(columns: Floats) -> Floats:
    """Return the root mean square of each column, 1 for a column of zeros. *Shape:* (columns,)."""
    if not columns.size:
        return np.ones(columns.shape[1])
    # Divided by the largest first: the square of 1e200 is no number.
    largest = np.max(np.abs(columns), axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.mean((columns / largest) ** 2, axis=0)))


def n_independent(columns: Floats) -> int:
    """Return how many columns do not depend on the earlier ones, whatever their units."""
    if not columns.size:
        return 0
    r = np.linalg.qr(columns / column_sizes(columns), mode="r") / np.sqrt(len(columns))
    return int(np.sum(np.abs(np.diag(r)) >= _INDEPENDENT))


def _block(columns: Floats, *, free: bool) -> Floats:
    sizes = column_sizes(columns)
    if free and columns.shape[1] > 1:
        _, change = _orthogonal(columns / sizes)
        # Terms that depend on each other have no orthogonal basis; their units still do not matter.
        if np.all(np.isfinite(change)):
            return np.asarray(change / sizes[:, None])
    return np.diag(1.0 / sizes)


def _orthogonal(columns: Floats) -> tuple[Floats, Floats]:
    """Return orthogonal columns of mean square 1, and the upper triangular change that makes them of *columns*.

    The change is infinite where a column depends on the earlier ones.
    """
    n, size = columns.shape
    if size == 0:
        return columns, np.zeros((0, 0))
    q, r = np.linalg.qr(columns)
    sign = np.where(np.diag(r) < 0, -1.0, 1.0)
    q, r = q * sign * np.sqrt(n), r * sign[:, None] / np.sqrt(n)
    if not np.all(np.diag(r) >= _INDEPENDENT):
        return q, np.full((size, size), np.inf)
    return q, np.linalg.solve(r, np.eye(size))


def rebased_random_columns(matrix: Any, structures: Sequence[Any], blocks: Sequence[Floats]) -> Any:
    """Return the sparse design of the random effects in the fitted basis.

    *Shape:* as ``matrix``: (rows, levels × terms of every bracket), the terms of one level next to each other.
    """
    from scipy import sparse

    parts, start = [], 0
    for structure, block in zip(structures, blocks, strict=True):
        width = structure.n_levels * structure.n_terms
        change = sparse.kron(sparse.eye(structure.n_levels, format="csc"), sparse.csc_matrix(block), format="csc")
        parts.append(matrix[:, start : start + width] @ change)
        start += width
    rebased = sparse.hstack(parts, format="csc")
    rebased.sort_indices()
    return rebased


def random_columns(matrix: Any, structures: Sequence[Any]) -> list[Floats]:
    """Return the terms of each bracket row by row, whatever their level. *Shape:* (rows, terms) each."""
    found, start = [], 0
    for structure in structures:
        stop = start + structure.n_levels * structure.n_terms
        terms = [matrix[:, start + term : stop : structure.n_terms].sum(axis=1) for term in range(structure.n_terms)]
        found.append(np.column_stack([np.asarray(term, dtype=np.float64).reshape(-1) for term in terms]))
        start = stop
    return found
