"""Check and code the columns of a mixed model before anything is fitted.

Text predictors are treatment-coded here, not in the fitting library, so that this library and the exported R script
fit the same numbers and a random slope without correlations means the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.formula import MixedFormula, RandomPart
from lexiscope.core.errors import InputError, StatisticError

Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Coding:
    """How a text predictor was turned into numbers: its levels, the reference level (coded 0) first."""

    column: str
    levels: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.column}: {', '.join(f'{i} = {level}' for i, level in enumerate(self.levels))}"


@dataclass(frozen=True, slots=True)
class ModelData:
    """The columns of one model after checking: numbers, codings of text predictors, level counts, and remarks."""

    columns: Mapping[str, Column]
    n: int
    codings: tuple[Coding, ...]
    levels: tuple[tuple[str, int], ...]
    remarks: tuple[str, ...]


def prepare(
    formula: MixedFormula, data: Mapping[str, Column], *, references: Mapping[str, str] | None = None
) -> ModelData:
    """Check the columns that ``formula`` uses and code its text predictors.

    The reference level of a text predictor is the one named in ``references``, else the first by code point
    (``Different Sense`` before ``Same Sense``). Columns that the formula does not use are not looked at.

    Errors: :class:`InputError` for an unknown column, columns of different length, a missing value or a response that
    is not a number; :class:`StatisticError` for a constant column, a grouping factor with one level or with as many
    levels as rows, and a random slope whose predictor varies within no level.
    """
    raw = {name: _column(name, data) for name in formula.columns}
    n = _common_length(raw)
    codings = tuple(_coding_of(name, raw[name], references or {}) for name in formula.predictors if _is_text(raw[name]))
    columns = _code_columns(formula, raw, codings)
    levels = tuple((part.group, _n_levels(part, columns, n)) for part in formula.random)
    remarks = [note for part in formula.random for note in _slope_remarks(part, columns)]
    _refuse_uncorrelated_factors(formula, codings)
    return ModelData(columns, n, codings, tuple(dict.fromkeys(levels)), tuple(remarks + _few_levels(levels)))


def group_labels(group: str, columns: Mapping[str, Column]) -> NDArray[np.str_]:
    """Return the level of a grouping factor in every row; for ``List:Word`` the two levels joined.

    *Shape:* (rows,).
    """
    labels = [np.asarray(columns[name]).astype(str) for name in group.split(":")]
    joined = labels[0]
    for more in labels[1:]:
        joined = np.strings.add(np.strings.add(joined, ":"), more)
    return np.asarray(joined)


def _column(name: str, data: Mapping[str, Column]) -> Column:
    if name not in data:
        raise InputError(
            f"the formula names the column {name!r}, which the data do not have",
            hint=f"the data have: {', '.join(sorted(map(str, data)))}",
        )
    column = np.asarray(data[name])
    if column.ndim != 1:
        raise InputError(f"column {name!r} has {column.ndim} dimensions; a model column has one")
    missing = np.flatnonzero(_is_missing(column))
    if missing.size:
        rows = ", ".join(str(row + 1) for row in missing[:5])
        raise InputError(
            f"column {name!r} has {missing.size} missing values among {column.size} rows (first in rows {rows})",
            why="dropping rows unsaid would let two compared models see different data",
            hint="exclude these rows before fitting and report how many were excluded",
        )
    return column


def _is_missing(column: Column) -> NDArray[np.bool_]:
    if column.dtype.kind in "iub":
        return np.zeros(column.size, dtype=bool)
    if column.dtype.kind in "fc":
        return ~np.isfinite(column)
    return np.array([value is None or value in ("", "nan") or value != value for value in column.tolist()], dtype=bool)


def _common_length(columns: Mapping[str, Column]) -> int:
    sizes = {name: column.size for name, column in columns.items()}
    if len(set(sizes.values())) != 1:
        raise InputError(f"the columns differ in length: {', '.join(f'{k} {v}' for k, v in sizes.items())}")
    return next(iter(sizes.values()))


def _is_text(column: Column) -> bool:
    if column.dtype.kind == "O":
        return not all(isinstance(value, int | float | np.number) for value in column.tolist())
    return column.dtype.kind not in "iufb"


def _coding_of(name: str, column: Column, references: Mapping[str, str]) -> Coding:
    levels = sorted({str(value) for value in column.tolist()})
    first = references.get(name, levels[0])
    if first not in levels:
        raise InputError(f"{first!r} is not a level of {name!r}", hint=f"its levels are {', '.join(levels)}")
    return Coding(name, (first, *(level for level in levels if level != first)))


def _code_columns(formula: MixedFormula, raw: Mapping[str, Column], codings: tuple[Coding, ...]) -> dict[str, Column]:
    by_name = {coding.column: coding for coding in codings}
    columns: dict[str, Column] = {formula.response: _numbers(formula.response, raw[formula.response])}
    for name in formula.predictors:
        columns[name] = _codes(raw[name], by_name[name]) if name in by_name else _numbers(name, raw[name])
    # A column that only groups is a label, whatever its type: List 10 is not ten times List 1.
    for name in formula.groups:
        columns.setdefault(name, raw[name].astype(str))
    for name in (formula.response, *formula.predictors):
        if np.all(columns[name] == columns[name][0]):
            raise StatisticError(
                f"column {name!r} is constant: all {raw[name].size} rows are {raw[name].tolist()[0]!r}",
                hint="remove it from the formula, or check which rows were selected",
            )
    return columns


def _numbers(name: str, column: Column) -> NDArray[np.float64]:
    if _is_text(column):
        raise InputError(f"the response column {name!r} holds text, not numbers", hint="convert it to numbers first")
    return column.astype(np.float64)


def _codes(column: Column, coding: Coding) -> NDArray[np.float64]:
    number = {level: float(i) for i, level in enumerate(coding.levels)}
    return np.array([number[str(value)] for value in column.tolist()])


def _n_levels(part: RandomPart, columns: Mapping[str, Column], n: int) -> int:
    count = int(np.unique(group_labels(part.group, columns)).size)
    if count == 1:
        raise StatisticError(
            f"the grouping factor {part.group!r} has one level in {n} rows, so nothing can vary over its levels",
            hint=f"remove {part} from the formula",
        )
    if count == n:
        raise StatisticError(
            f"the grouping factor {part.group!r} has {count} levels in {n} rows: one row per level",
            why="its variance cannot be told from the residual variance",
            hint=f"remove {part} from the formula, or use rows that are single trials",
        )
    return count


def _slope_remarks(part: RandomPart, columns: Mapping[str, Column]) -> list[str]:
    notes = []
    levels, index = np.unique(group_labels(part.group, columns), return_inverse=True)
    for name in dict.fromkeys(column for slope in part.slopes for column in slope.split(":")):
        flat = levels.size - _n_varying(columns[name], index, levels.size)
        if flat == levels.size:
            raise StatisticError(
                f"{name!r} is constant within every one of the {levels.size} levels of {part.group!r}",
                why="a slope can be estimated only where a level has at least two values of the predictor "
                "(a word with one pair has one)",
                hint=f"remove the slope of {name} from {part}",
            )
        if flat:
            notes.append(f"{flat} of {levels.size} levels of {part.group} have one value of {name}: no slope of theirs")
    return notes


def _n_varying(values: Column, index: NDArray[np.intp], n_levels: int) -> int:
    low, high = np.full(n_levels, np.inf), np.full(n_levels, -np.inf)
    np.minimum.at(low, index, values)
    np.maximum.at(high, index, values)
    return int(np.sum(high > low))


def _few_levels(levels: tuple[tuple[str, int], ...]) -> list[str]:
    # lme4 is silent here; with fewer than five levels a variance is hardly more than a guess.
    few = [(group, count) for group, count in dict.fromkeys(levels) if count < 5]
    return [f"{group} has only {count} levels: its variance is poorly known" for group, count in few]


def _refuse_uncorrelated_factors(formula: MixedFormula, codings: tuple[Coding, ...]) -> None:
    wide = {coding.column for coding in codings if len(coding.levels) > 2}
    for part in formula.random:
        named = wide & {column for slope in part.slopes for column in slope.split(":")}
        if named and not part.correlated:
            raise InputError(
                f"{part} has a text predictor with more than two levels: {', '.join(sorted(named))}",
                why="lme4 keeps the correlations among the levels of a factor there, other software does not",
                hint="code the predictor as numeric contrasts first",
            )
