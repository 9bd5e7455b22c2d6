"""The profiled deviance of a crossed linear mixed model, with its gradient, from products of its columns.

*Source:* Bates et al. (2015), §3: y = Xβ + ZΛu + ε with u ~ N(0, σ²I), where β and σ are profiled out. The rows are
looked at once. The random effects of the largest grouping factor meet only within a level, so they are eliminated level
by level; what is left (the Schur complement) is dense and as large as the other grouping factors. With V = ZΛΛᵀZᵀ + I,
the derivative of every part of the deviance by a block F of Λ is a sum over levels of products of ZᵀV⁻¹Z, ZᵀV⁻¹X and
ZᵀV⁻¹y, times F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.design import RandomBracket

Floats = NDArray[np.float64]

LARGEST = 50_000_000
"""Entries of the product of the largest grouping factor with the others up to which it is held dense (400 MB)."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What follows from the relative covariance factors ``theta`` of the random effects.

    ``modes`` are the conditional means of the random effects.

    *Shape:* ``coefficients`` (fixed effects,); ``covariance`` (fixed effects, fixed effects); each of ``modes``
    (levels, terms); ``residuals`` (rows,).
    """

    theta: Floats
    deviance: float
    coefficients: Floats
    covariance: Floats
    sigma: float
    modes: tuple[Floats, ...]
    residuals: Floats


def factors_of(theta: Floats, brackets: Sequence[RandomBracket]) -> list[Floats]:
    """Return the lower triangular factor of each bracket's relative covariance. *Shape:* (terms, terms) each."""
    factors, start = [], 0
    for bracket in brackets:
        rows, columns = _free(bracket)
        factor = np.zeros((bracket.n_terms, bracket.n_terms))
        factor[rows, columns] = theta[start : start + rows.size]
        factors.append(factor)
        start += rows.size
    return factors


def theta_of(factors: Sequence[Floats], brackets: Sequence[RandomBracket]) -> Floats:
    """Return the free entries of the factors, row by row: the inverse of :func:`factors_of`."""
    return np.concatenate([factor[_free(bracket)] for factor, bracket in zip(factors, brackets, strict=True)])


def is_diagonal(brackets: Sequence[RandomBracket]) -> NDArray[np.bool_]:
    """Return which entries of theta are relative standard deviations (the others are off-diagonal)."""
    return np.concatenate([np.equal(*_free(bracket)) for bracket in brackets])


def _free(bracket: RandomBracket) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return _triangle(bracket.n_terms) if bracket.correlated else _triangle(bracket.n_terms, only_diagonal=True)


@cache
def _triangle(size: int, *, only_diagonal: bool = False) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if only_diagonal:
        return np.arange(size), np.arange(size)
    rows, columns = np.tril_indices(size)
    return rows, columns


def n_dense(brackets: Sequence[RandomBracket]) -> int:
    """Return how many entries the product of the largest grouping factor with the others has."""
    sizes = _sizes(brackets)
    largest = max(sizes.values())
    return largest * (sum(sizes.values()) - largest)


def _sizes(brackets: Sequence[RandomBracket]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for bracket in brackets:
        sizes[bracket.group] = sizes.get(bracket.group, 0) + bracket.n_levels * bracket.n_terms
    return sizes


class BlockDeviance:
    """The profiled deviance of one model, ready to be evaluated at any theta."""

    def __init__(self, outcome: Floats, fixed: Floats, brackets: Sequence[RandomBracket], *, reml: bool) -> None:
        """Form the products of the columns. *Shape:* ``outcome`` (rows,); ``fixed`` (rows, fixed effects)."""
        self.outcome, self.fixed, self.brackets, self.reml = outcome, fixed, tuple(brackets), reml
        self.n, self.p = fixed.shape
        sizes = _sizes(brackets)
        group = max(sizes, key=lambda name: sizes[name])
        self._own = [i for i, bracket in enumerate(brackets) if bracket.group == group]
        self._rest = [i for i, bracket in enumerate(brackets) if bracket.group != group]
        starts = np.cumsum([0, *(brackets[i].n_levels * brackets[i].n_terms for i in self._rest)])
        self._slices = [slice(int(a), int(b)) for a, b in pairwise(starts)]
        self._q = int(starts[-1])
        ends = np.cumsum([0, *(brackets[i].n_terms for i in self._own)])
        self._own_slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._multiply()

    def _multiply(self) -> None:
        own, right = self.brackets[self._own[0]], np.column_stack([self.fixed, self.outcome])
        terms = np.column_stack([self.brackets[i].values for i in self._own])
        levels, size, width = own.n_levels, terms.shape[1], self._q + self.p + 1
        self._within = _by_level(own.grouping.index, levels, terms, terms)
        self._cross = np.empty((levels, size, width))
        self._cross[:, :, self._q :] = _by_level(own.grouping.index, levels, terms, right)
        self._among = np.empty((width, width))
        self._among[self._q :, self._q :] = right.T @ right
        for number, (i, part) in enumerate(zip(self._rest, self._slices, strict=True)):
            bracket = self.brackets[i]
            index, values = bracket.grouping.index, bracket.values
            self._cross[:, :, part] = _by_pair(own, terms, bracket, values).reshape(levels, size, -1)
            direct = _by_level(index, bracket.n_levels, values, right).reshape(-1, self.p + 1)
            self._among[part, self._q :], self._among[self._q :, part] = direct, direct.T
            for j, other in list(zip(self._rest, self._slices, strict=True))[number:]:
                second = self.brackets[j]
                block = _by_pair(bracket, values, second, second.values).reshape(part.stop - part.start, -1)
                self._among[part, other], self._among[other, part] = block, block.T

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """Return the deviance at theta and its gradient; infinity and zeros where it cannot be computed.

        *Unit:* twice the nats. *Shape:* the gradient (theta,).
        """
        try:
            with np.errstate(all="ignore"):
                solved = _Solved(self, theta)
                value, gradient = solved.deviance, solved.gradient()
        except np.linalg.LinAlgError:
            return np.inf, np.zeros_like(theta)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return np.inf, np.zeros_like(theta)
        return value, gradient

    def fixed_covariance(self, theta: Floats) -> Floats:
        """Return the covariance of the fixed effects at theta, with σ profiled. *Shape:* (effects, effects).

        Errors: ``LinAlgError`` where it cannot be computed.
        """
        return _Solved(self, theta).covariance

    def estimates(self, theta: Floats) -> Estimates:
        """Return everything that follows from theta.

        Errors: ``LinAlgError`` where it cannot be computed.
        """
        solved = _Solved(self, theta)
        rest = self.outcome - self.fixed @ solved.beta
        length, modes = 0.0, []
        for bracket, factor, score in zip(self.brackets, solved.factors, solved.scores(), strict=True):
            spherical = score @ factor
            modes.append(spherical @ factor.T)
            length += float(np.sum(spherical**2))
            rest -= np.einsum("ij,ij->i", bracket.values, modes[-1][bracket.grouping.index])
        # the same quantity as in the deviance, from the residuals themselves: no digit is lost in a difference
        penalised = float(rest @ rest) + length
        degrees = self.n - self.p if self.reml else self.n
        deviance = solved.deviance + degrees * float(np.log(penalised / solved.penalised))
        covariance = solved.covariance * (penalised / solved.penalised)
        sigma = float(np.sqrt(penalised / degrees))
        return Estimates(theta, deviance, solved.beta, covariance, sigma, tuple(modes), rest)


class _Solved:
    """The linear algebra at one theta."""

    def __init__(self, model: BlockDeviance, theta: Floats) -> None:
        self.model, self.factors, q, p = model, factors_of(theta, model.brackets), model._q, model.p
        size = model._own_slices[-1].stop
        own = np.zeros((size, size))
        for i, part in zip(model._own, model._own_slices, strict=True):
            own[part, part] = self.factors[i]
        inner = own.T @ model._within @ own + np.eye(size)
        lower = np.linalg.cholesky(inner)
        # reduced[l]ᵀ reduced[l] = Λ (ΛᵀAΛ + I)⁻¹ Λᵀ of level l
        self.reduced = np.linalg.solve(lower, np.broadcast_to(own.T, inner.shape))
        eliminated = (self.reduced @ model._cross).reshape(-1, model._cross.shape[2])
        self.schur = model._among - eliminated.T @ eliminated
        top = self._scaled(self.schur[:q].T).T
        outer = self._scaled(top[:, :q])
        outer.flat[:: q + 1] += 1.0
        root = np.asarray(np.linalg.cholesky(outer), dtype=np.float64)
        self.backward = _inverse_lower(root).T
        self.whole = self.backward.T @ top
        last = self.whole[:, q:]
        products = self.schur[q:, q:] - last.T @ last
        information = products[:p, :p]
        self.inverse, self.beta, log_information = np.zeros((0, 0)), np.zeros(0), 0.0
        if p:
            lower_information = np.asarray(np.linalg.cholesky(information), dtype=np.float64)
            half = _inverse_lower(lower_information)
            self.inverse = half.T @ half
            self.beta = self.inverse @ products[:p, p]
            log_information = 2 * float(np.sum(np.log(np.diag(lower_information))))
        self.penalised = float(products[p, p] - products[p, :p] @ self.beta)
        if not self.penalised > 0:
            raise np.linalg.LinAlgError("no residual is left")
        self.degrees = model.n - p if model.reml else model.n
        diagonals = np.diagonal(lower, axis1=1, axis2=2)
        log_random = 2 * float(np.sum(np.log(diagonals)) + np.sum(np.log(np.diag(root))))
        self.deviance = self.degrees * (1 + float(np.log(2 * np.pi * self.penalised / self.degrees))) + log_random
        self.deviance += log_information if model.reml else 0.0

    @property
    def covariance(self) -> Floats:
        return np.asarray(self.inverse * (self.penalised / self.degrees))

    def _scaled(self, columns: Floats) -> Floats:
        """Return columns @ Λ for the random effects that are not eliminated. *Shape:* (any, these effects)."""
        model, scaled = self.model, np.empty_like(columns, order="C")
        for i, part in zip(model._rest, model._slices, strict=True):
            block, factor = columns[:, part], self.factors[i]
            if factor.size == 1:
                np.multiply(block, factor[0, 0], out=scaled[:, part])
            else:
                shape = (len(columns), -1, factor.shape[0])
                scaled[:, part] = (np.ascontiguousarray(block).reshape(shape) @ factor).reshape(block.shape)
        return scaled

    def _outer(self) -> tuple[Floats, Floats]:
        """Return ZᵀV⁻¹[X y] of the effects that are not eliminated, and of those that are, before :meth:`_turn`."""
        model, last = self.model, self.whole[:, self.model._q :]
        rest = self.schur[: model._q, model._q :] - self.whole[:, : model._q].T @ last
        return rest, last

    def _turn(self) -> Floats:
        # I - AΛ(ΛᵀAΛ + I)⁻¹Λᵀ of every level
        size = self.reduced.shape[1]
        return np.asarray(np.eye(size) - self.model._within @ (self.reduced.transpose(0, 2, 1) @ self.reduced))

    def scores(self) -> list[Floats]:
        """Return ZᵀV⁻¹(y - Xβ) of each bracket. *Shape:* (levels, terms) each."""
        model, q = self.model, self.model._q
        contrast = np.append(-self.beta, 1.0)[:, None]
        rest, last = self._outer()
        back = self._from_scaled(self.backward @ (last @ contrast))
        own = self._turn() @ (model._cross[:, :, q:] @ contrast - model._cross[:, :, :q] @ back)
        return self._by_bracket(own[:, :, 0], rest @ contrast)

    def _from_scaled(self, effects: Floats) -> Floats:
        """Return Λ @ effects for the random effects that are not eliminated. *Shape:* (these effects, any)."""
        effects = np.ascontiguousarray(effects)
        parts = [
            (self.factors[i] @ effects[part].reshape(-1, self.factors[i].shape[0], effects.shape[1])).reshape(
                -1, effects.shape[1]
            )
            for i, part in zip(self.model._rest, self.model._slices, strict=True)
        ]
        return np.concatenate([np.zeros((0, effects.shape[1])), *parts])

    def _by_bracket(self, own: Floats, rest: Floats) -> list[Floats]:
        model = self.model
        parts = {i: own[:, part] for i, part in zip(model._own, model._own_slices, strict=True)}
        parts |= {
            i: rest[part].reshape(model.brackets[i].n_levels, -1)
            for i, part in zip(model._rest, model._slices, strict=True)
        }
        return [parts[i] for i in range(len(model.brackets))]

    def gradient(self) -> Floats:
        model, q, p = self.model, self.model._q, self.model.p
        # columns whose outer products are taken away from ZᵀV⁻¹Z: those of y - Xβ, and with REML those of X
        contrast = np.append(-self.beta, 1.0)[:, None] * np.sqrt(self.degrees / self.penalised)
        if model.reml and p:
            half = np.linalg.cholesky(self.inverse)
            contrast = np.column_stack([contrast, np.vstack([half, np.zeros((1, p))])])
        rest, last = self._outer()
        blocks: dict[int, Floats] = {}
        turn, size = self._turn(), self.reduced.shape[1]
        columns = model._cross.reshape(len(turn) * size, -1)
        moved = columns[:, :q] @ self._from_scaled(self.backward)
        own = turn @ (columns[:, q:] @ contrast - moved @ (last @ contrast)).reshape(len(turn), size, -1)
        moved = moved.reshape(len(turn), size, q)
        inner = model._within - (moved @ moved.transpose(0, 2, 1)) @ turn.transpose(0, 2, 1)
        total = np.einsum("lij,ljk->ik", turn, inner) - _gram(own)
        for i, part in zip(model._own, model._own_slices, strict=True):
            blocks[i] = total[part, part]
        scores = rest @ contrast
        for i, part in zip(model._rest, model._slices, strict=True):
            terms = model.brackets[i].n_terms
            levels = model.brackets[i].n_levels
            inside = self.schur[part, part].reshape(levels, terms, levels, terms)
            within = np.einsum("lilj->ij", inside)
            columns = self.whole[:, part].reshape(-1, terms)
            given = scores[part].reshape(levels, terms, -1)
            blocks[i] = within - columns.T @ columns - _gram(given)
        parts = [2 * blocks[i] @ self.factors[i] for i in range(len(model.brackets))]
        return theta_of(parts, model.brackets)


def _inverse_lower(lower: Floats) -> Floats:
    # products with the inverse are several times faster than solutions of these sizes
    from scipy.linalg.lapack import dtrtri

    if not lower.size:
        return lower
    inverse, failed = dtrtri(lower, lower=1)
    if failed:
        raise np.linalg.LinAlgError("a triangular factor is singular")
    return np.asarray(inverse)


def _gram(columns: Floats) -> Floats:
    """Return the sum over levels of the products of rows. *Shape:* (levels, terms, any) to (terms, terms)."""
    terms = columns.shape[1]
    flat = np.ascontiguousarray(columns.transpose(1, 0, 2)).reshape(terms, -1)
    return np.asarray(flat @ flat.T)


def _by_level(index: NDArray[np.intp], levels: int, first: Floats, second: Floats) -> Floats:
    """Return the products of columns summed over the rows of a level. *Shape:* (levels, first, second)."""
    sums = np.empty((levels, first.shape[1], second.shape[1]))
    for i in range(first.shape[1]):
        for j in range(second.shape[1]):
            sums[:, i, j] = np.bincount(index, first[:, i] * second[:, j], minlength=levels)
    return sums


def _by_pair(bracket: RandomBracket, first: Floats, other: RandomBracket, second: Floats) -> Floats:
    """Return the products of columns summed over the rows of two levels. *Shape:* (levels, first, levels, second)."""
    rows, columns = bracket.n_levels, other.n_levels
    index = bracket.grouping.index * columns + other.grouping.index
    sums = np.empty((rows, first.shape[1], columns, second.shape[1]))
    for i in range(first.shape[1]):
        for j in range(second.shape[1]):
            weights = first[:, i] * second[:, j]
            sums[:, i, :, j] = np.bincount(index, weights, minlength=rows * columns).reshape(rows, columns)
    return sums
