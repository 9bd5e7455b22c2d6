"""The columns of a mixed model: what each fixed effect and each random effect is, row by row.

Text predictors with two levels are one column of 0 and 1. Those with more have one column per level, or per level but
the reference, by the rule of R: a factor in a term has contrasts if the model also has the term without that factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.data import Column, Grouping, ModelData
from lexiscope.analysis.mixed.formula import MixedFormula, RandomPart

Floats = NDArray[np.float64]
INTERCEPT = "(Intercept)"


@dataclass(frozen=True, slots=True)
class RandomBracket:
    """The random effects of one bracket: its terms row by row, and the level of its grouping factor in every row.

    *Shape:* ``values`` (rows, terms).
    """

    group: str
    terms: tuple[str, ...]
    correlated: bool
    grouping: Grouping
    values: Floats

    @property
    def n_terms(self) -> int:
        """The number of effects that vary."""
        return len(self.terms)

    @property
    def n_free(self) -> int:
        """The number of free entries of the covariance of the terms."""
        return self.n_terms * (self.n_terms + 1) // 2 if self.correlated else self.n_terms

    @property
    def n_levels(self) -> int:
        """The number of levels of the grouping factor."""
        return len(self.grouping.levels)


@dataclass(frozen=True, slots=True)
class MixedDesign:
    """The columns of a mixed model, in the units of the data.

    *Shape:* ``outcome`` (rows,); ``fixed`` (rows, fixed effects).
    """

    outcome: Floats
    fixed: Floats
    fixed_names: tuple[str, ...]
    brackets: tuple[RandomBracket, ...]


def model_design(formula: MixedFormula, data: ModelData) -> MixedDesign:
    """Return the columns of ``formula`` on ``data``."""
    names, fixed = fixed_columns(formula, data.columns, data)
    brackets = tuple(
        RandomBracket(part.group, terms, part.correlated, data.groups[part.group], values)
        for part in formula.random
        for terms, values in (random_columns(part, data.columns, data),)
    )
    return MixedDesign(np.asarray(data.columns[formula.response], dtype=np.float64), fixed, names, brackets)


def fixed_columns(
    formula: MixedFormula, columns: Mapping[str, Column], data: ModelData
) -> tuple[tuple[str, ...], Floats]:
    """Return the names and the columns of the fixed effects, for the rows of *columns*. *Shape:* (rows, effects).

    *columns* are coded as those of *data*: its own, or those of new rows.
    """
    return _terms(formula.fixed, columns, data, intercept=formula.intercept)


def random_columns(part: RandomPart, columns: Mapping[str, Column], data: ModelData) -> tuple[tuple[str, ...], Floats]:
    """Return the names and the columns of the terms of a bracket, for the rows of *columns*. *Shape:* (rows, terms)."""
    return _terms(part.slopes, columns, data, intercept=part.intercept)


def _terms(
    terms: Sequence[str], columns: Mapping[str, Column], data: ModelData, *, intercept: bool
) -> tuple[tuple[str, ...], Floats]:
    wide = {coding.column: coding.levels for coding in data.codings if len(coding.levels) > 2}
    n = len(next(iter(columns.values())))
    present = {frozenset(term.split(":")) for term in terms}
    # R codes the first factor of a model without intercept by all its levels, and every other as if there were one.
    first = None if intercept else next(((term, v) for term in terms for v in term.split(":") if v in wide), None)
    names, parts = ([INTERCEPT], [np.ones(n)]) if intercept else ([], [])
    for term in terms:
        variables = term.split(":")
        coded = []
        for name in variables:
            values = np.asarray(columns[name], dtype=np.float64)
            if name not in wide:
                coded.append([(name, values)])
                continue
            margin = frozenset(variables) - {name}
            every = (term, name) == first or bool(margin and margin not in present)
            levels = list(enumerate(wide[name]))[0 if every else 1 :]
            coded.append([(f"{name}[{level}]", (values == code).astype(np.float64)) for code, level in levels])
        # the first factor varies fastest, as in R
        for chosen in product(*reversed(coded)):
            names.append(":".join(name for name, _ in reversed(chosen)))
            parts.append(np.prod([values for _, values in chosen], axis=0))
    return tuple(names), np.column_stack(parts) if parts else np.zeros((n, 0))
