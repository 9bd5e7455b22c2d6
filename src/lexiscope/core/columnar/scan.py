"""Rows of stored responses, read batch by batch: only the files, row groups and columns that are asked for.

Counts and means by group are made of such batches, which come one after the other and are not kept.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from lexiscope.core.columnar.cells import array_of, cell_of, numbers_of
from lexiscope.core.columnar.memory import (
    ADDED,
    COLUMNS,
    NAMES,
    REQUIRED,
    constant,
    encoded,
    is_among,
    memory_form,
    memory_type,
    nothing,
    order_of,
    starts_with,
    values,
)
from lexiscope.core.columnar.parquet_file import (
    ROWS_OF_BATCH,
    Table,
    chosen_rows,
    filled_columns,
    join_tables,
    open_file,
    places_of,
)
from lexiscope.core.columnar.parts import StoredPart
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.showing import call_presenter
from lexiscope.core.simulated import SIMULATED, SIMULATED_ID

Condition = tuple[str, Any]
"""A column, and an array of the values that its rows may have; a null in it stands for a missing value."""


def mark_simulated(table: Table) -> Table:
    """Give the kind ``simulated`` to every row whose subject is a simulated participant by its id.

    Tables are marked where they are made or read, regardless of the file that they came from: no reader can forget it.
    """
    if not {"subject_id", "subject_kind"} <= set(table.column_names):
        return table
    by_id = starts_with(table.column("subject_id"), SIMULATED_ID)
    if by_id is None:
        return table
    kinds = table.column("subject_kind").cast(pa.large_string())
    place = table.schema.get_field_index("subject_kind")
    return table.set_column(place, "subject_kind", memory_form(pc.if_else(by_id, SIMULATED, kinds), "subject_kind"))


def filtered(table: Table, conditions: Sequence[Condition]) -> Table:
    """Return the rows that meet all conditions."""
    if not conditions:
        return table
    mask = None
    for name, wanted in conditions:
        test = is_among(table.column(name), wanted)
        mask = test if mask is None else pc.and_(mask, test)
    return chosen_rows(table, mask)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The rows of several files that meet some conditions. Nothing is read before it is asked for.

    ``checked`` remembers the files whose content was compared with its checksum, for all that is made from these rows.
    """

    parts: tuple[StoredPart, ...]
    conditions: tuple[Condition, ...] = ()
    checked: set[str] = field(default_factory=set)

    def where(self, conditions: Sequence[Condition]) -> StoredRows:
        """Return the rows that meet further conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def count(self) -> int:
        """Return the number of rows; without conditions, no row is read."""
        if self.conditions:
            return sum(table.num_rows for table in self.tables(()))
        n_rows = 0
        for part in self.parts:
            with self._opened(part) as file:
                n_rows += file.metadata.num_rows
        return n_rows

    def tables(self, names: Sequence[str]) -> Iterator[Table]:
        """Yield the rows as tables of these columns, in the order of files and rows.

        Errors: :class:`RunError` for a file that is damaged, or that was changed since it was listed;
        :class:`InputError` for a file that holds another table.
        """
        for part in self.parts:
            if all(
                bool(pc.any(pc.equal(wanted, part.holds[name])).as_py())
                for name, wanted in self._certain
                if name in part.holds
            ):
                try:
                    yield from self._tables_of(part, names)
                except (pa.ArrowException, OSError) as error:
                    raise damaged_table(part.path, error) from error

    @property
    def _certain(self) -> list[Condition]:
        """The conditions that say something before a row is read: kinds are known only when rows are marked."""
        return [(name, wanted) for name, wanted in self.conditions if name != "subject_kind"]

    def _tables_of(self, part: StoredPart, names: Sequence[str]) -> Iterator[Table]:
        asked = dict.fromkeys((*names, *(name for name, _ in self.conditions)))
        needed = list(asked | ({"subject_id": None} if "subject_kind" in asked else {}))
        with self._opened(part) as file:
            for columns, n_rows in _batches(file, _groups_to_read(file, self._certain), filled_columns(file, needed)):
                forms = {name: _form(columns, name, n_rows, part) for name in needed}
                lacking = [name for name in REQUIRED if name in forms and forms[name].null_count]
                if lacking:
                    what = (
                        f"{forms[lacking[0]].null_count} responses are without {lacking[0]!r}, which every answer has"
                    )
                    raise InputError(what, place=Place(str(part.path)))
                # a table of so many rows of which no column is needed
                table = filtered(
                    mark_simulated(pa.table(forms) if forms else pa.table({"raw": nothing(n_rows)})), self.conditions
                )
                if table.num_rows:
                    yield table.select(list(names))

    def _opened(self, part: StoredPart) -> parquet.ParquetFile:
        """Open a file that is as it was written, and a table of responses."""
        name = str(part.path)
        part.check(content=name not in self.checked)
        self.checked.add(name)
        try:
            file = open_file(part.path)
        except (pa.ArrowException, OSError) as error:
            raise damaged_table(part.path, error) from error
        check_columns({*file.schema_arrow.names, *part.folders}, part.path)
        return file


def check_columns(names: Container[str], path: Path) -> None:
    """Check that a Parquet file is one of responses, of this version or an earlier one, by the names of its columns.

    Errors: :class:`InputError` for a column that it does not have.
    """
    lacking = [name for name in COLUMNS if name not in names and name not in ADDED]
    if lacking:
        hint = "a Parquet file must be a response table: save another table as CSV in UTF-8"
        raise InputError(f"not a response table: no column {lacking[0]!r}", place=Place(str(path)), hint=hint)


def damaged_table(path: Path | str, error: Exception) -> RunError:
    """Return the error to raise where a file of responses cannot be read."""
    what, hint = "this response table cannot be read", "run the command again"
    return RunError(what, place=Place(str(path)), why=str(error), hint=hint)


def _batches(file: parquet.ParquetFile, groups: Sequence[int], names: Sequence[str]) -> Iterator[tuple[Any, int]]:
    if not names:
        for number in groups:
            yield pa.table({}), file.metadata.row_group(number).num_rows
        return
    for batch in file.iter_batches(ROWS_OF_BATCH, row_groups=list(groups), columns=list(names)):
        batch.validate(full=True)
        yield batch, batch.num_rows


def _form(columns: Any, name: str, n_rows: int, part: StoredPart) -> Any:
    if name in columns.schema.names:
        return memory_form(columns.column(name), name)
    if name in part.folders and name in NAMES:
        return constant(part.folders[name], n_rows)
    return nothing(n_rows)


def _groups_to_read(file: parquet.ParquetFile, conditions: Sequence[Condition]) -> list[int]:
    """The numbers of the row groups that can have rows that meet the conditions, as their statistics say."""
    places = places_of(file, [name for name, _ in conditions])
    here = [(name, wanted) for name, wanted in conditions if name in places]
    groups = ((number, file.metadata.row_group(number)) for number in range(file.metadata.num_row_groups))
    return [
        number
        for number, group in groups
        if all(_overlaps(group.column(places[name]), name, wanted) for name, wanted in here)
    ]


def _overlaps(chunk: Any, name: str, wanted: Any) -> bool:
    statistics = chunk.statistics
    if statistics is None:
        return True
    if statistics.has_null_count and statistics.null_count == chunk.num_values:
        return bool(wanted.null_count)
    if not statistics.has_min_max:
        return True
    if wanted.null_count and (not statistics.has_null_count or statistics.null_count):
        return True
    try:
        kind = pa.large_string() if name in NAMES else memory_type(name)
        low, high = (cell_of(bound, kind) for bound in (statistics.min, statistics.max))
    except (pa.ArrowException, TypeError, ValueError):
        # a file of another program, with another type or a text cut in a letter: its rows are compared instead
        return True
    return bool(pc.any(pc.and_(pc.greater_equal(wanted, low), pc.less_equal(wanted, high))).as_py())


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
    return _Partial(chosen_rows(keys, array_of(first, pa.int64())), *sums)


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
