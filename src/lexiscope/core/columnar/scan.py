"""Rows of stored responses, read batch by batch: only the files, row groups and columns that are asked for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from lexiscope.core.columnar.memory import (
    ADDED,
    COLUMNS,
    NAMES,
    REQUIRED,
    constant,
    is_among,
    memory_form,
    memory_type,
    nothing,
    starts_with,
)
from lexiscope.core.columnar.parquet_file import (
    ROWS_OF_BATCH,
    Table,
    chosen_rows,
    filled_columns,
    open_file,
    places_of,
)
from lexiscope.core.columnar.parts import StoredPart
from lexiscope.core.errors import InputError, Place, RunError
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
        low, high = (pa.scalar(bound, kind) for bound in (statistics.min, statistics.max))
    except (pa.ArrowException, TypeError, ValueError):
        # a file of another program, with another type or a text cut in a letter: its rows are compared instead
        return True
    return bool(pc.any(pc.and_(pc.greater_equal(wanted, low), pc.less_equal(wanted, high))).as_py())
