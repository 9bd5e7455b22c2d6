"""One Parquet file of responses: written row group by row group, read column by column."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from lexiscope.core.columnar.memory import (
    COLUMNS,
    NAMES,
    SCHEMA,
    TEXT,
    absent,
    exceeds,
    file_form,
    joined,
    memory_form,
    nothing,
    text_bytes,
    trimmed,
)

ROWS_OF_GROUP = 2**18
TEXT_OF_GROUP = 2**28
"""A row group ends after this number of rows, or before its free texts have more bytes: a writer holds no more."""
ROWS_OF_BATCH = 2**17
"""This number of rows of a file are held at once by what reads it in batches."""
_MOST_BYTES = 2**31 - 1
_BYTES_OF_ROW = 64
_FREE_TEXTS = (TEXT, "option")

Table = Any
"""A ``pyarrow.Table`` whose columns are in the form of memory; with all columns of responses, or some."""
Write = Callable[[Table], None]


class RowGroups:
    """Rows on their way into a file. What a file holds, to the byte, depends on its rows, not on how they came."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._file = parquet.ParquetWriter(stream, SCHEMA, compression="zstd", store_schema=True)
        self._waiting: list[Table] = []
        self.rows = self.waiting_rows = self.waiting_bytes = 0

    def add(self, table: Table) -> None:
        """Take rows; write each row group that is full."""
        start = 0
        while start < table.num_rows:
            piece = table.slice(start, ROWS_OF_GROUP - self.waiting_rows)
            texts = [text_bytes(piece.column(name)) for name in _FREE_TEXTS if not absent(piece.column(name))]
            room = piece.num_rows
            if texts:
                total = np.cumsum(np.sum(texts, axis=0))
                room = int(np.searchsorted(total, TEXT_OF_GROUP - self.waiting_bytes, side="right"))
                # a text that is longer than the room of a group has a group of its own
                room = max(room, 0 if self.waiting_rows else 1)
                self.waiting_bytes += int(total[room - 1]) if room else 0
            if room:
                self._waiting.append(piece.slice(0, room))
            self.waiting_rows += room
            start += room
            if room < piece.num_rows or self.waiting_rows == ROWS_OF_GROUP:
                self.flush()

    @property
    def waiting_memory(self) -> int:
        """About how many bytes of memory the rows take that wait."""
        return self.waiting_rows * _BYTES_OF_ROW + self.waiting_bytes

    def flush(self) -> None:
        """Write the rows that wait as a row group."""
        if self._waiting:
            self._write(join_tables(self._waiting))
            self.rows += self.waiting_rows
        self._waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0

    def _write(self, rows: Table) -> None:
        if rows.num_rows > 1 and any(exceeds(rows.column(name), _MOST_BYTES) for name in COLUMNS if name in NAMES):
            # names of kilobytes each: a column of a file holds less than 2 GiB of text in a group
            half = rows.num_rows // 2
            self._write(rows.slice(0, half))
            self._write(rows.slice(half))
            return
        columns = [file_form(rows.column(name), name) for name in COLUMNS]
        self._file.write_table(pa.Table.from_arrays(columns, schema=SCHEMA), row_group_size=ROWS_OF_GROUP)

    def close(self) -> None:
        """Write what waits, and the end of the file."""
        self.flush()
        if not self.rows:
            # a file without rows has one group without rows
            self._file.write_table(SCHEMA.empty_table())
        self._file.close()

    def abandon(self) -> None:
        """Give up the file, of which nothing will be kept."""
        # else the writer would write the end of its file when it is forgotten, to a stream that is closed
        with contextlib.suppress(OSError, ValueError):
            self._file.close()
        self._file.is_open = False


@contextmanager
def row_groups(stream: IO[bytes]) -> Iterator[RowGroups]:
    """Write a file of responses to a stream; it is whole where the block ends well."""
    groups = RowGroups(stream)
    try:
        yield groups
        groups.close()
    except BaseException:
        groups.abandon()
        raise


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables of the same columns, in order."""
    if len(tables) == 1:
        return tables[0]
    names, columns = tables[0].column_names, zip(*(table.columns for table in tables), strict=True)
    return pa.Table.from_arrays(list(map(joined, columns, names)), names=names)


def chosen_rows(table: Table, rows: Any) -> Table:
    """Return the rows that a mask of Arrow keeps, or those with these numbers, in the form of memory."""
    if pa.types.is_boolean(rows.type) and pc.all(rows, skip_nulls=False).as_py():
        # a copy of all rows would be there twice
        return table
    names = [name for name, column in zip(table.column_names, table.columns, strict=True) if not absent(column)]
    if not names:
        # nothing but the number of rows is left
        return table.filter(rows) if pa.types.is_boolean(rows.type) else table.take(rows)
    present = table.select(names)
    chosen = present.filter(rows) if pa.types.is_boolean(rows.type) else present.take(rows)
    empty, forms = nothing(chosen.num_rows), dict(zip(names, map(trimmed, chosen.columns), strict=True))
    return pa.Table.from_arrays([forms.get(name, empty) for name in table.column_names], names=table.column_names)


def trim_table(table: Table) -> Table:
    """Return a table that was made from another by leaving rows out, in the form of memory."""
    return pa.Table.from_arrays(list(map(trimmed, table.columns)), names=table.column_names)


# -- reading --------------------------------------------------------------------------------------------------------


def open_file(path: Path) -> parquet.ParquetFile:
    """Open a Parquet file whose names must be read as codes, if it has them as texts."""
    # Arrow takes a relative path with a colon for an address
    path = path.absolute()
    known = parquet.read_metadata(path)
    columns = [known.schema.column(place) for place in range(known.num_columns)]
    names = [column.path for column in columns if column.path in NAMES and column.physical_type == "BYTE_ARRAY"]
    return parquet.ParquetFile(path, metadata=known, read_dictionary=names)


def places_of(file: parquet.ParquetFile, names: Sequence[str]) -> dict[str, int]:
    """Return those of the columns that a file has, with their numbers in it."""
    places = {file.metadata.schema.column(place).path: place for place in range(file.metadata.num_columns)}
    return {name: places[name] for name in names if name in places}


def filled_columns(file: parquet.ParquetFile, names: Sequence[str]) -> list[str]:
    """Return those of the columns that a file has and that hold a value somewhere, as far as its statistics say."""
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    return [
        name
        for name, place in places_of(file, names).items()
        if not all(_is_empty(group.column(place).statistics, group.num_rows) for group in groups)
    ]


def _is_empty(statistics: Any, n_rows: int) -> bool:
    return bool(statistics is not None and statistics.has_null_count and statistics.null_count == n_rows)


def read_table(file: parquet.ParquetFile) -> Table:
    """Read a file as a table in the form of memory; a column that it does not have, or that is empty, has no value.

    Errors: those of Arrow, also for text that is no UTF-8.
    """
    columns, n_rows = file.read(columns=filled_columns(file, COLUMNS)), file.metadata.num_rows
    # text that is no UTF-8 would be found out much later, and nowhere near its file
    columns.validate(full=True)
    present = set(columns.column_names)
    return pa.table(
        {name: memory_form(columns.column(name), name) if name in present else nothing(n_rows) for name in COLUMNS}
    )
