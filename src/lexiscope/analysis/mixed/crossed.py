"""The Hessian of crossed random effects: assembled from cells, factored by blocks, inverted where it is needed.

For random effects u of several grouping factors and row weights W, a mixed model that is fitted by Laplace's
approximation needs H = I + Λ'Z'WZΛ: its determinant, solutions of H x = g, and those entries of its inverse that
belong to levels which occur in one row. Entries of Z'WZ are sums over the *cells* of two factors. Factors whose levels
form small connected components (one factor, or factors nested in each other) are eliminated block by block; only the
Schur complement of the other factors is dense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import StatisticError

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MOST_DENSE = 8000
"""The largest Schur complement that is factored: it takes 0.5 GB."""

_DENSE_FROM = 0.05  # share of filled cells from which a dense product is faster than a sparse one


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """One grouping factor: the level of every row, and the terms that vary over the levels.

    *Shape:* ``level`` (rows,); ``terms`` (rows, terms).
    """

    name: str
    level: Indices
    n_levels: int
    terms: Floats

    @property
    def n_terms(self) -> int:
        """How many terms vary over the levels."""
        return int(self.terms.shape[1])

    @property
    def n_effects(self) -> int:
        """How many random effects the factor has: levels times terms."""
        return self.n_levels * self.n_terms


@dataclass(frozen=True, slots=True, eq=False)
class _FactorPair:
    """Two factors (or one twice): the cell of each row, the levels of each cell, and the products of the terms.

    *Shape:* ``cell`` (rows,); ``levels`` two of (cells,); ``products`` (terms of the first, of the second, rows).
    """

    first: int
    second: int
    cell: Indices
    levels: tuple[Indices, Indices]
    products: Floats

    def sums(self, weights: Floats) -> Floats:
        """Return the weighted sum of the products in each cell. *Shape:* (cells, terms, terms)."""
        size = self.levels[0].size
        rows, columns, _ = self.products.shape
        totals = np.empty((size, rows, columns))
        for i in range(rows):
            for j in range(columns):
                totals[:, i, j] = np.bincount(self.cell, weights * self.products[i, j], minlength=size)
        return totals

    def over_rows(self, cells: Floats) -> Floats:
        """Return z' M z of every row, where M is the matrix of its cell. *Shape:* (rows,)."""
        rows, columns, n = self.products.shape
        total = np.zeros(n)
        for i in range(rows):
            for j in range(columns):
                total += self.products[i, j] * cells[self.cell, i, j]
        return total


@dataclass(frozen=True, slots=True, eq=False)
class EliminationOrder:
    """Where the random effects of each factor are: in the blocks or in the rest.

    ``position`` holds for each factor the place of the first term of each level, within the blocks (block × ``width``
    + slot) for the ``inner`` factors, else within the rest.
    """

    inner: tuple[int, ...]
    n_blocks: int
    width: int
    n_rest: int
    position: tuple[Indices, ...]


class Crossed:
    """The structure of H for one design: made once, used for every Λ and W."""

    def __init__(self, factors: Sequence[Factor]) -> None:
        """Choose the factors that are eliminated first and prepare the places of all entries.

        Errors: :class:`StatisticError` for a design whose Schur complement would not fit in memory.
        """
        self.factors = tuple(factors)
        self.pairs = [_pair(self.factors, i, j) for i in range(len(factors)) for j in range(i, len(factors))]
        # eliminated first are the factors with the fewest operations for one factorisation
        subsets = [
            subset
            for size in range(1, len(self.factors) + 1)
            for subset in combinations(range(len(self.factors)), size)
        ]
        layouts = [_layout(self.factors, subset) for subset in subsets]
        self.layout = min(layouts, key=_operations)
        if self.layout.n_rest > MOST_DENSE:
            sizes = ", ".join(f"{factor.name} {factor.n_effects}" for factor in factors)
            raise StatisticError(
                f"the random effects are too many for this model: {sizes}",
                why=f"after elimination of the largest, {self.layout.n_rest} remain (at most {MOST_DENSE})",
                hint="drop a grouping factor or its slopes",
            )
        self._places = [self._place(pair) for pair in self.pairs]
        self._prepare_mixed()

    # -- vectors: one (levels, terms) array per factor, or one stacked vector ----------------------------------------

    def stack(self, parts: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return arrays (levels, terms) of each factor as the stacked vectors of the blocks and of the rest."""
        blocks, rest = np.zeros(self.layout.n_blocks * self.layout.width), np.zeros(self.layout.n_rest)
        for number, part in enumerate(parts):
            target = blocks if number in self.layout.inner else rest
            target[self._entries(number)] = part
        return blocks, rest

    def split(self, blocks: Floats, rest: Floats) -> list[Floats]:
        """Return the arrays (levels, terms) of each factor from the stacked vectors."""
        return [
            (blocks if number in self.layout.inner else rest)[self._entries(number)]
            for number in range(len(self.factors))
        ]

    def predictor(self, effects: Sequence[Floats]) -> Floats:
        """Return Z b of every row. *Shape:* each of ``effects`` (levels, terms); the result (rows,)."""
        return np.asarray(
            sum(
                np.einsum("ij,ij->i", factor.terms, part[factor.level])
                for factor, part in zip(self.factors, effects, strict=True)
            )
        )

    def sums(self, values: Floats) -> list[Floats]:
        """Return Z' v by factor. *Shape:* (levels, terms) each."""
        return [
            np.column_stack(
                [np.bincount(factor.level, values * term, minlength=factor.n_levels) for term in factor.terms.T]
            )
            for factor in self.factors
        ]

    def factorise(self, weights: Floats, scales: Sequence[Floats]) -> Factorised:
        """Factor H for these weights of the rows and these Λ of the factors (terms × terms, lower triangular)."""
        layout = self.layout
        blocks = np.tile(np.eye(layout.width), (layout.n_blocks, 1, 1)).reshape(-1)
        mixed = np.zeros(self._mixed_size)
        rest = np.eye(layout.n_rest)
        sums = [pair.sums(weights) for pair in self.pairs]
        for pair, places, cells in zip(self.pairs, self._places, sums, strict=True):
            values = scales[pair.first].T @ cells @ scales[pair.second]
            if places.kind == "blocks":
                blocks[places.at] += values
                if pair.first != pair.second:
                    blocks[places.transposed] += values
            elif places.kind == "mixed":
                mixed[places.at] = values.reshape(-1)
            else:
                rest.reshape(-1)[places.at] += values
                if pair.first != pair.second:
                    rest.reshape(-1)[places.transposed] += values
        return Factorised(
            self,
            scales,
            sums,
            blocks.reshape(layout.n_blocks, layout.width, layout.width),
            self._mixed_matrix(mixed),
            rest,
        )

    # -- places -------------------------------------------------------------------------------------------------------

    def _entries(self, number: int) -> Indices:
        return np.asarray(self.layout.position[number][:, None] + np.arange(self.factors[number].n_terms))

    def cell_entries(self, pair: _FactorPair) -> tuple[Indices, Indices]:
        """Return the rows and columns, in blocks or rest, of every cell. *Shape:* (cells, terms) each."""
        first, second = self._entries(pair.first), self._entries(pair.second)
        return first[pair.levels[0]], second[pair.levels[1]]

    def _place(self, pair: _FactorPair) -> _Places:
        rows, columns = self.cell_entries(pair)
        inner = self.layout.inner
        if pair.first in inner and pair.second in inner:
            width = self.layout.width
            at = rows[:, :, None] * width + columns[:, None, :] % width
            return _Places("blocks", at, columns[:, None, :] * width + rows[:, :, None] % width)
        if pair.first in inner or pair.second in inner:
            swapped = pair.second in inner
            return _Places("mixed", rows[:, :1], columns[:, :1], swapped=swapped)
        at = rows[:, :, None] * self.layout.n_rest + columns[:, None, :]
        return _Places("rest", at, columns[:, None, :] * self.layout.n_rest + rows[:, :, None])

    def _prepare_mixed(self) -> None:
        """Prepare the matrix between blocks and rest: dense where it is well filled, else sparse rows."""
        layout = self.layout
        rows_of, columns_of, sizes = [], [], []
        for number, (pair, places) in enumerate(zip(self.pairs, self._places, strict=True)):
            if places.kind != "mixed":
                continue
            first, second = self.cell_entries(pair)
            rows, columns = np.broadcast_arrays(first[:, :, None], second[:, None, :])
            if places.swapped:
                rows, columns = columns, rows
            rows_of.append(rows.reshape(-1))
            columns_of.append(columns.reshape(-1))
            sizes.append((number, rows.size))
        height = layout.n_blocks * layout.width
        rows = np.concatenate([np.empty(0, dtype=np.intp), *rows_of])
        columns = np.concatenate([np.empty(0, dtype=np.intp), *columns_of])
        self.is_sparse = bool(rows.size < _DENSE_FROM * height * layout.n_rest)
        if self.is_sparse:
            order = np.lexsort((columns, rows))
            places_of = np.empty_like(order)
            places_of[order] = np.arange(order.size)
            self._pattern = (columns[order], np.searchsorted(rows[order], np.arange(height + 1)))
            self._mixed_size = rows.size
        else:
            places_of = rows * layout.n_rest + columns
            self._mixed_size = height * layout.n_rest
        start = 0
        for number, size in sizes:
            self._places[number] = _Places("mixed", places_of[start : start + size], places_of[:0])
            start += size

    def _mixed_matrix(self, values: Floats) -> Any:
        shape = (self.layout.n_blocks * self.layout.width, self.layout.n_rest)
        if not self.is_sparse:
            return values.reshape(shape)
        from scipy.sparse import csr_matrix

        columns, starts = self._pattern
        return csr_matrix((values, columns, starts), shape=shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where the values of a pair's cells go: in the blocks, between blocks and rest (mixed), or in the rest."""

    kind: str
    at: Indices
    transposed: Indices
    swapped: bool = False


class Factorised:
    """H = [[D, C], [C', E]] with D block-diagonal: solved through S = E - C' D⁻¹ C."""

    def __init__(
        self,
        crossed: Crossed,
        scales: Sequence[Floats],
        sums: Sequence[Floats],
        blocks: Floats,
        mixed: Any,
        rest: Floats,
    ) -> None:
        """Factor the parts. ``sums`` are those of Z'WZ by pair, which the gradient needs again."""
        from scipy.linalg import cholesky

        self.crossed, self.scales, self.sums = crossed, scales, sums
        self._mixed = mixed
        roots = np.linalg.cholesky(blocks)
        self._inverse = np.linalg.inv(blocks)
        self.log_determinant = 2 * float(np.log(np.einsum("bii->bi", roots)).sum())
        self._reduced = self._block_product(mixed)  # D⁻¹ C
        self._root = None
        if rest.size:
            schur = mixed.T @ self._reduced
            self._root = cholesky(
                rest - (schur.toarray() if crossed.is_sparse else schur),
                lower=True,
                check_finite=False,
                overwrite_a=True,
            )
            self.log_determinant += 2 * float(np.log(np.diag(self._root)).sum())

    def _block_product(self, matrix: Any) -> Any:
        layout = self.crossed.layout
        if self.crossed.is_sparse:
            from scipy.sparse import bsr_matrix

            numbers = np.arange(layout.n_blocks)
            size = layout.n_blocks * layout.width
            blocks = bsr_matrix((self._inverse, numbers, np.arange(layout.n_blocks + 1)), shape=(size, size))
            return (blocks.tocsr() @ matrix).tocsr()
        return (self._inverse @ matrix.reshape(layout.n_blocks, layout.width, -1)).reshape(matrix.shape)

    def solve(self, parts: Sequence[Floats]) -> list[Floats]:
        """Return H⁻¹ g, by factor as ``parts`` is. *Shape:* (levels, terms) each."""
        from scipy.linalg import cho_solve

        layout = self.crossed.layout
        blocks, rest = self.crossed.stack(parts)
        blocks = (self._inverse @ blocks.reshape(layout.n_blocks, layout.width, 1)).reshape(-1)
        if self._root is not None:
            reduced = np.asarray(self._mixed.T @ blocks)
            rest = cho_solve((self._root, True), rest - reduced, check_finite=False)
            blocks = blocks - np.asarray(self._reduced @ rest)
        return self.crossed.split(blocks, rest)

    def inverse_cells(self) -> list[Floats]:
        """Return the entries of H⁻¹ at the cells of every pair of factors. *Shape:* (cells, terms, terms) each."""
        layout, crossed = self.crossed.layout, self.crossed
        inner_blocks = np.asarray(self._inverse, dtype=np.float64)
        across = rest = np.empty((0, 0))
        if self._root is not None:
            from scipy.linalg.lapack import dpotri

            lower, _ = dpotri(self._root, lower=1)
            rest = np.asarray(np.tril(lower) + np.tril(lower, -1).T, dtype=np.float64)
            across = np.asarray(self._reduced @ rest)
            inner_blocks = np.asarray(self._inverse + self._within_blocks(across), dtype=np.float64)
        entries: list[Floats] = []
        for pair, places in zip(crossed.pairs, crossed._places, strict=True):
            rows, columns = crossed.cell_entries(pair)
            if places.kind == "blocks":
                entries.append(inner_blocks.reshape(-1)[places.at])
            elif places.kind == "rest":
                entries.append(rest[rows[:, :, None], columns[:, None, :]])
            elif pair.first in layout.inner:
                entries.append(-across[rows[:, :, None], columns[:, None, :]])
            else:
                entries.append(-across[columns[:, None, :], rows[:, :, None]])
        return entries

    def _within_blocks(self, across: Floats) -> Floats:
        """Return the diagonal blocks of D⁻¹C S⁻¹ (D⁻¹C)'."""
        layout = self.crossed.layout
        shape = (layout.n_blocks, layout.width, layout.n_rest)
        if not self.crossed.is_sparse:
            return np.asarray(across.reshape(shape) @ self._reduced.reshape(shape).transpose(0, 2, 1))
        reduced = self._reduced
        row = np.repeat(np.arange(reduced.shape[0]), np.diff(reduced.indptr))
        first = row // layout.width * layout.width
        near = across[first[:, None] + np.arange(layout.width), reduced.indices[:, None]] * reduced.data[:, None]
        by_row = np.zeros((reduced.shape[0], layout.width))
        filled = np.flatnonzero(np.diff(reduced.indptr))
        if filled.size:
            by_row[filled] = np.add.reduceat(near, reduced.indptr[filled], axis=0)
        return by_row.reshape(layout.n_blocks, layout.width, layout.width)


def _pair(factors: Sequence[Factor], first: int, second: int) -> _FactorPair:
    left, right = factors[first], factors[second]
    if first == second:
        cell, levels = left.level, (np.arange(left.n_levels), np.arange(left.n_levels))
    else:
        both, cell = np.unique(left.level * right.n_levels + right.level, return_inverse=True)
        levels = (both // right.n_levels, both % right.n_levels)
    products = np.ascontiguousarray(left.terms.T[:, None, :] * right.terms.T[None, :, :])
    return _FactorPair(first, second, cell, levels, products)


def _operations(layout: EliminationOrder) -> float:
    blocks = layout.n_blocks * layout.width**3
    return blocks + layout.n_blocks * layout.width * layout.n_rest + float(layout.n_rest) ** 3


def _layout(factors: Sequence[Factor], inner: tuple[int, ...]) -> EliminationOrder:
    n_blocks, block_of = _components(factors, inner)
    filled = np.zeros(n_blocks, dtype=np.intp)
    slots: dict[int, Indices] = {}
    for number in inner:
        blocks, size = block_of[number], factors[number].n_terms
        # the levels of one block follow each other in their order
        order = np.argsort(blocks, kind="stable")
        starts = np.searchsorted(blocks[order], np.arange(n_blocks))
        within = np.empty(blocks.size, dtype=np.intp)
        within[order] = np.arange(blocks.size) - starts[blocks[order]]
        slots[number] = filled[blocks] + size * within
        filled += size * np.bincount(blocks, minlength=n_blocks)
    width = int(filled.max())
    position, n_rest = [], 0
    for number, factor in enumerate(factors):
        if number in inner:
            position.append(np.asarray(block_of[number] * width + slots[number]))
        else:
            position.append(n_rest + factor.n_terms * np.arange(factor.n_levels))
            n_rest += factor.n_effects
    return EliminationOrder(inner, n_blocks, width, n_rest, tuple(position))


def _components(factors: Sequence[Factor], inner: tuple[int, ...]) -> tuple[int, dict[int, Indices]]:
    """Return the connected components of the levels of some factors: levels that occur in one row are connected."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    starts = np.cumsum([0, *(factors[number].n_levels for number in inner)])
    first = factors[inner[0]].level
    edges = [(first, start + factors[number].level) for number, start in zip(inner[1:], starts[1:], strict=False)]
    rows = np.concatenate([np.empty(0, dtype=np.intp), *(edge[0] for edge in edges)])
    columns = np.concatenate([np.empty(0, dtype=np.intp), *(edge[1] for edge in edges)])
    size = int(starts[-1])
    graph = coo_matrix((np.ones(rows.size), (rows, columns)), shape=(size, size))
    count, labels = connected_components(graph, directed=False)
    parts = np.split(np.asarray(labels, dtype=np.intp), starts[1:-1])
    return int(count), dict(zip(inner, parts, strict=True))
