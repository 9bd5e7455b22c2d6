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
class Grouping:
    """A grouping factor: its levels in the order of their labels, and the number of the level of every row.

    *Shape:* ``levels`` (levels,); ``index`` (rows,).
    """

    levels: NDArray[np.str_]
    index: NDArray[np.intp]

    def indices_of(self, labels: NDArray[np.str_]) -> NDArray[np.intp]:
        """Return the number of the level of each label, -1 for a label that is not a level. *Shape:* (labels,)."""
        nearest = np.minimum(np.searchsorted(self.levels, labels), len(self.levels) - 1)
        return np.where(self.levels[nearest] == labels, nearest, -1)


@dataclass(frozen=True, slots=True)
class ModelData:
    """The columns of one model after checking: numbers, codings of text predictors, levels of groups, and remarks."""

    columns: Mapping[str, Column]
    n: int
    codings: tuple[Coding, ...]
    groups: Mapping[str, Grouping]
    remarks: tuple[str, ...]

    @property
    def levels(self) -> tuple[tuple[str, int], ...]:
        """The number of levels of each grouping factor."""
        return tuple((name, len(grouping.levels)) for name, grouping in self.groups.items())


def prepare(
    formula: MixedFormula, data: Mapping[str, Column], *, references: Mapping[str, str] | None = None
) -> ModelData:
    """Check the columns that ``formula`` uses and code its text predictors.

    The reference level of a text predictor is the one named in ``references``, or the first by code point
    (``Different Sense`` before ``Same Sense``). Columns that the formula does not use are ignored.

    Errors: :class:`InputError` for an unknown column, columns of different length, a missing value or a response that
    is not a number; :class:`StatisticError` for a constant column, a grouping factor with one level or with as many
    levels as rows, and a random slope whose predictor varies within no level.
    """
    raw = {name: _column(name, data) for name in formula.columns}
    n = _common_length(raw)
    codings = tuple(_coding_of(name, raw[name], references or {}) for name in formula.predictors if _is_text(raw[name]))
    columns = _code_columns(formula, raw, codings)
    groups = {part.group: _grouping_of(part.group, raw) for part in formula.random}
    for part in formula.random:
        _check_levels(part, len(groups[part.group].levels), n)
    remarks = [note for part in formula.random for note in _slope_remarks(part, columns, groups[part.group])]
    _refuse_uncorrelated_factors(formula, codings)
    # lme4 is silent here; with fewer than five levels a variance is hardly more than a guess.
    few = [(name, len(grouping.levels)) for name, grouping in groups.items() if len(grouping.levels) < 5]
    remarks += [f"{group} has only {count} levels: its variance is poorly known" for group, count in few]
    return ModelData(columns, n, codings, groups, tuple(remarks))


def new_rows(
    formula: MixedFormula, fitted: ModelData, data: Mapping[str, Column], *, random: bool
) -> tuple[dict[str, Column], dict[str, NDArray[np.intp]]]:
    """Return the predictors of new rows, coded as those of the fitted rows, and the number of the level of each row.

    A level that the fitted rows do not have is -1. Grouping factors are looked at only for *random*; the response and
    the predictors of random effects are not needed otherwise.

    Errors: :class:`InputError` for a column that is missing or of another type or length, a missing value, and a level
    of a text predictor that the fitted rows do not have.
    """
    slopes = [slope for part in formula.random for slope in part.slopes] if random else []
    names = dict.fromkeys(column for term in (*formula.fixed, *slopes) for column in term.split(":"))
    known = {coding.column: coding for coding in fitted.codings}
    grouping = formula.groups if random else ()
    raw = {name: _column(name, data) for name in (*names, *grouping)}
    # a model of the intercept alone has as many predictions as the data have rows
    n = _common_length(raw or {name: np.asarray(column) for name, column in data.items()})
    columns: dict[str, Column] = {"": np.zeros(n)}
    for name in names:
        if name in known:
            columns[name] = _codes(raw[name], known[name])
        else:
            columns[name] = _numbers(name, raw[name], "predictor")
    indices = {}
    for group in fitted.groups if random else ():
        labels = _grouping_of(group, raw)
        indices[group] = fitted.groups[group].indices_of(labels.levels)[labels.index]
    return columns, indices


def effects_of_rows(
    effects: NDArray[np.float64], index: NDArray[np.intp], group: str, *, new_levels: bool
) -> NDArray[np.float64]:
    """Return the random effects of the level of each row; zero for a new level (index −1), if *new_levels* allows it.

    *Shape:* ``effects`` (levels, terms); ``index`` (rows,); the result (rows, terms).

    Errors: :class:`InputError` for a new level that is not allowed.
    """
    if not new_levels and np.any(index < 0):
        row = int(np.flatnonzero(index < 0)[0])
        raise InputError(
            f"row {row + 1} has a level of {group!r} that the model was not fitted to",
            hint="predict with new_levels=True (random effects of zero there) or with random=False",
        )
    return np.where((index >= 0)[:, None], effects[index], 0.0)


def _grouping_of(group: str, raw: Mapping[str, Column]) -> Grouping:
    """Return a grouping factor; one of several columns (``List:Word``) has the combinations that occur."""
    parts = [_labels_of(raw[name]) for name in group.split(":")]
    levels, index = parts[0]
    if len(parts) == 1:
        return Grouping(levels, index)
    levels = np.strings.replace(levels, ":", "\\:")
    for more, number in parts[1:]:
        codes, index = np.unique(index * len(more) + number, return_inverse=True)
        first, second = np.divmod(codes, len(more))
        joined = np.strings.add(np.strings.add(levels[first], ":"), np.strings.replace(more, ":", "\\:")[second])
        order = np.argsort(joined)
        levels, index = joined[order], np.argsort(order)[index]
    return Grouping(levels, index)


def _labels_of(column: Column) -> tuple[NDArray[np.str_], NDArray[np.intp]]:
    # A column that groups is a label, whatever its type: List 10 is not ten times List 1.
    if column.dtype.kind in "iufb":
        values, index = np.unique(column, return_inverse=True)
        labels = values.astype(str)
        order = np.argsort(labels)
        return labels[order], np.argsort(order)[index]
    texts = [str(value) for value in column.tolist()]
    number = {label: i for i, label in enumerate(sorted(set(texts)))}
    return np.array(list(number), dtype=str), np.fromiter((number[text] for text in texts), np.intp, len(texts))


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
    columns: dict[str, Column] = {formula.response: _numbers(formula.response, raw[formula.response], "response")}
    for name in formula.predictors:
        columns[name] = _codes(raw[name], by_name[name]) if name in by_name else _numbers(name, raw[name], "predictor")
    for name in (formula.response, *formula.predictors):
        if np.all(columns[name] == columns[name][0]):
            raise StatisticError(
                f"column {name!r} is constant: all {raw[name].size} rows are {raw[name].tolist()[0]!r}",
                hint="remove it from the formula, or check which rows were selected",
            )
    return columns


def _numbers(name: str, column: Column, role: str) -> NDArray[np.float64]:
    if _is_text(column):
        raise InputError(f"the {role} column {name!r} holds text, not numbers", hint="convert it to numbers first")
    return column.astype(np.float64)


def _codes(column: Column, coding: Coding) -> NDArray[np.float64]:
    number = {level: float(i) for i, level in enumerate(coding.levels)}
    texts = [str(value) for value in column.tolist()]
    unknown = next((text for text in texts if text not in number), None)
    if unknown is not None:
        raise InputError(
            f"{unknown!r} is not a level of {coding.column!r}",
            why="the model has no coefficient for a level that its own rows do not have",
            hint=f"its levels are {', '.join(coding.levels)}",
        )
    return np.array([number[text] for text in texts])


def _check_levels(part: RandomPart, count: int, n: int) -> None:
    if count == 1:
        raise StatisticError(
            f"the grouping factor {part.group!r} has one level in {n} rows, so no effect can vary over its levels",
            hint=f"remove {part} from the formula",
        )
    if count == n:
        raise StatisticError(
            f"the grouping factor {part.group!r} has {count} levels in {n} rows: one row per level",
            why="its variance cannot be told from the residual variance",
            hint=f"remove {part} from the formula, or use rows that are single trials",
        )


def _slope_remarks(part: RandomPart, columns: Mapping[str, Column], grouping: Grouping) -> list[str]:
    notes = []
    n_levels = len(grouping.levels)
    for name in dict.fromkeys(column for slope in part.slopes for column in slope.split(":")):
        low, high = np.full(n_levels, np.inf), np.full(n_levels, -np.inf)
        np.minimum.at(low, grouping.index, columns[name])
        np.maximum.at(high, grouping.index, columns[name])
        flat = n_levels - int(np.sum(high > low))
        if flat == n_levels:
            raise StatisticError(
                f"{name!r} is constant within every one of the {n_levels} levels of {part.group!r}",
                why="a slope can be estimated only where a level has at least two values of the predictor "
                "(a word with one pair has one)",
                hint=f"remove the slope of {name} from {part}",
            )
        if flat:
            notes.append(f"{flat} of {n_levels} levels of {part.group} have one value of {name}: no slope of theirs")
    return notes


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
