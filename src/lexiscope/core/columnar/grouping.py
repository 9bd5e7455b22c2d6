"""Counts and means by group, of tables that come one after the other and are not kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lexiscope.core.columnar.memory import encoded, numbers_of, order_of, values
from lexiscope.core.columnar.parquet_file import Table, chosen_rows, join_tables
from lexiscope.core.showing import call_presenter

_FEW_GROUPS = 2**18
_WIDEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class GroupMeans:
    """Rows, values and their mean by group, in the order of the groups' names; missing names come last.

    ``keys`` has a column for each name: text with ``None``, or numbers with NaN, for missing. ``rows`` counts all rows
    of a group, ``n`` those with a value; ``mean`` is NaN if there is none. *Shape:* (groups,). *Unit:* the measure's.
    """

    keys: Mapping[str, NDArray[Any]]
    rows: NDArray[np.int64]
    n: NDArray[np.int64]
    mean: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def frame(self) -> Any:
        """Return the groups as a pandas table, one group a row."""
        return call_presenter("frame_of", {**self.keys, "rows": self.rows, "n": self.n, "mean": self.mean})


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """The groups of some of the rows: a table of their keys, and their numbers of rows, of values, and sums."""

    keys: Table
    rows: NDArray[np.float64]
    n: NDArray[np.float64]
    total: NDArray[np.float64]


def group_means(tables: Iterable[Table], by: Sequence[str], of: str) -> GroupMeans:
    """Return counts and means of the column *of* by the columns *by*; memory grows with the groups, not the rows.

    Sums are those of each table, then over tables: where rows are divided in other ways, a mean of numbers that are
    not whole may differ in its last digits.
    """
    merged: list[_Partial] = []
    for table in tables:
        cells = values(table.column(of), of)
        given = ~np.isnan(cells)
        merged.append(
            _reduced(table.select(list(by)), np.ones(len(cells)), given.astype(float), np.where(given, cells, 0.0))
        )
        if len(merged) > 1 and sum(len(part.rows) for part in merged[1:]) > max(_FEW_GROUPS, len(merged[0].rows)):
            merged = [_merge(merged)]
    if not merged:
        nothing = np.empty(0)
        return GroupMeans(dict.fromkeys(by, nothing), nothing.astype(int), nothing.astype(int), nothing)
    whole = _merge(merged) if len(merged) > 1 else merged[0]
    order = order_of({name: whole.keys.column(name) for name in by}, len(whole.rows))
    keys = {name: values(whole.keys.column(name), name)[order] for name in by}
    n, total = whole.n[order], whole.total[order]
    mean = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return GroupMeans(keys, whole.rows[order].astype(np.int64), n.astype(np.int64), mean)


def _merge(parts: Sequence[_Partial]) -> _Partial:
    keys = join_tables([part.keys for part in parts])
    rows, n, total = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "n", "total"))
    return _reduced(keys, rows, n, total)


def _reduced(keys: Table, rows: NDArray[np.float64], n: NDArray[np.float64], total: NDArray[np.float64]) -> _Partial:
    """Add up what belongs to equal keys."""
    group, first = _numbered(keys)
    sums = [
        np.asarray(np.bincount(group, weights=weights, minlength=len(first)), dtype=np.float64)
        for weights in (rows, n, total)
    ]
    return _Partial(chosen_rows(keys, pa.array(first)), *sums)


def _numbered(keys: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each row's group, from 0, and a row of each group."""
    packed, span = np.zeros(keys.num_rows, dtype=np.int64), 1
    for column in keys.columns:
        codes, known = encoded(column)
        size = len(known) + 1
        if span * size >= _WIDEST:
            packed = np.unique(packed, return_inverse=True)[1].reshape(-1)
            span = int(packed.max(initial=0)) + 1
        # a missing name is a group like others: code -1, which becomes the last one here
        packed = packed * size + numbers_of(codes) % size
        span *= size
    if span <= 4 * len(packed):
        present = np.flatnonzero(np.bincount(packed, minlength=span))
        number = np.empty(span, dtype=np.int64)
        number[present] = np.arange(len(present))
        group = number[packed]
    else:
        group = np.unique(packed, return_inverse=True)[1].reshape(-1)
    first = np.empty(int(group.max(initial=-1)) + 1, dtype=np.int64)
    # the last assignment counts: from the end on, that is a group's first row
    first[group[::-1]] = np.arange(len(group))[::-1]
    return group, first
