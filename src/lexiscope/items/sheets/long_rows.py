"""Rows of long tables, kept by columns: a million rows as objects of Python would need gigabytes.

A row is made when it is read. What is the same for equal cells (their text in a file, their range) is found once for
each distinct cell of some thousands of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexiscope.items.tables.neutral import Cell, csv_cell, json_cell

TOGETHER = 20_000
"""The number of rows that are objects of Python at a time."""
Part = tuple[list[Cell], "np.ndarray[Any, np.dtype[np.int64]]"]
"""The distinct cells of some rows of a column, and the place of each row's cell among them."""

_KINDS: tuple[type, ...] = (str, bool, int, float)


class ColumnRows(Sequence[tuple[Cell, ...]]):
    """Rows of cells in blocks, a block being a column of cells for each column: an Arrow array, or a list.

    >>> rows = ColumnRows([[["a", "b"], [1, None]]])
    >>> len(rows), list(rows), rows[1]
    (2, [('a', 1), ('b', None)], ('b', None))
    """

    def __init__(self, blocks: Iterable[Sequence[Sequence[Cell] | pa.Array]]) -> None:
        self._blocks = [tuple(map(_stored, block)) for block in blocks]
        self._ends = np.cumsum([len(block[0]) for block in self._blocks], dtype=np.int64)

    @classmethod
    def of_table(cls, table: pa.Table) -> ColumnRows:
        """Return the rows of an Arrow table of texts, truth values and numbers; no copy is made."""
        starts = range(0, len(table), TOGETHER)
        return cls([_whole(column) for column in table.slice(start, TOGETHER).columns] for start in starts)

    def __len__(self) -> int:
        return int(self._ends[-1]) if self._blocks else 0

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        for block in self._blocks:
            yield from zip(*map(cells_of, block), strict=True)

    @overload
    def __getitem__(self, index: int) -> tuple[Cell, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[Cell, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[Cell, ...] | Sequence[tuple[Cell, ...]]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        at = int(np.searchsorted(self._ends, number, side="right"))
        within = number - (int(self._ends[at - 1]) if at else 0)
        return tuple(cells_of(column[within : within + 1])[0] for column in self._blocks[at])

    def with_constant(self, cell: str) -> ColumnRows:
        """Return the rows with a last column that is the same in all of them."""
        return ColumnRows((*block, [cell] * len(block[0])) for block in self._blocks)

    def parts(self, at: int) -> Iterator[Part]:
        """Yield the distinct cells of a column and where they are, some thousands of rows at a time."""
        for block in self._blocks:
            yield _part(block[at])

    def csv_blocks(self, as_answer: Sequence[bool]) -> Iterator[str]:
        """Yield the lines of the rows in a CSV file; *as_answer* says which columns may hold numbers as text."""
        for block in self._blocks:
            makers = [partial(csv_cell, is_answer=own) for own in as_answer]
            yield _lines(block, makers, ",", "", "")

    def jsonl_blocks(self, header: Sequence[str]) -> Iterator[str]:
        """Yield the rows as lines of JSON, with the names of their columns."""
        # of two columns of one name, an object has the second one at the place of the first
        places = {name: at for at, name in enumerate(header)}
        for block in self._blocks:
            makers = [_json_maker(name) for name in places]
            yield _lines([block[at] for at in places.values()], makers, ", ", "{", "}")


class TableRows(Sequence[dict[str, Any]]):
    """The rows of an Arrow table as dictionaries, in an order, all of them or some."""

    def __init__(self, table: pa.Table, order: np.ndarray[Any, Any] | None = None) -> None:
        self._table = table
        self._order = order

    def __len__(self) -> int:
        return len(self._table) if self._order is None else len(self._order)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names = self._table.column_names
        for cells in self.columns(*names):
            yield dict(zip(names, cells, strict=True))

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | Sequence[dict[str, Any]]:
        if isinstance(index, slice):
            return list(TableRows(self._table, self.numbers()[index]))
        number = range(len(self))[index]
        (row,) = TableRows(self._table, self.numbers()[number : number + 1])
        return row

    def columns(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield the cells of some columns, row by row: quicker than whole rows."""
        table = self._table.select(names)
        for start in range(0, len(self), TOGETHER):
            part = slice(start, start + TOGETHER)
            rows = table.slice(start, TOGETHER) if self._order is None else table.take(pa.array(self._order[part]))
            yield from zip(*(cells_of(_whole(column)) for column in rows.columns), strict=True)

    def numbers(self) -> np.ndarray[Any, Any]:
        """Return the number of each row in the table. *Shape:* (rows,)."""
        return np.arange(len(self._table)) if self._order is None else self._order

    def table(self) -> pa.Table:
        """Return the rows as a table."""
        return self._table if self._order is None else self._table.take(pa.array(self._order))

    def where(self, **equal: Collection[str]) -> TableRows:
        """Return the rows whose texts are among these."""
        kept = self.numbers()
        for name, wanted in equal.items():
            cells, codes = self._column(name)
            is_wanted = np.array([cell in wanted for cell in cells], dtype=bool)
            kept = kept[is_wanted[codes[kept]]]
        return TableRows(self._table, kept)

    def ordered_by(self, **keys: Callable[[Any], Any]) -> TableRows:
        """Return the rows in the order of what each function makes of the cells of its column; equal rows stay."""
        kept = self.numbers()
        ranks = []
        for name, key in keys.items():
            cells, codes = self._column(name)
            used = np.unique(codes[kept])
            values = [key(cells[code]) for code in used]
            places = {value: rank for rank, value in enumerate(sorted(set(values)))}
            rank_of = np.zeros(len(cells), dtype=np.int64)
            rank_of[used] = [places[value] for value in values]
            ranks.append(rank_of[codes[kept]])
        return TableRows(self._table, kept[np.lexsort(ranks[::-1])] if len(kept) else kept)

    def _column(self, name: str) -> Part:
        return _part(_whole(self._table.column(name)))


def coded(table: pa.Table) -> pa.Table:
    """Return a table whose texts are dictionaries, each column in one piece."""
    columns = [
        _whole(column.dictionary_encode() if pa.types.is_string(column.type) else column) for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def mapped(column: pa.ChunkedArray, change: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """Return what a function makes of the cells of a column, called once for each distinct one; texts are coded."""
    cells, codes = _part(_whole(column))
    made = pa.array([change(cell) for cell in cells], kind).take(pa.array(codes))
    return made.dictionary_encode() if pa.types.is_string(kind) else made


def cells_of(column: Sequence[Cell] | pa.Array) -> Sequence[Any]:
    """Return the cells of a column as objects of Python; equal texts of a dictionary are one object."""
    if isinstance(column, pa.DictionaryArray):
        known = [*column.dictionary.to_pylist(), None]
        return [known[code] for code in pc.fill_null(column.indices, len(known) - 1).to_pylist()]
    return column.to_pylist() if isinstance(column, pa.Array) else column


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.unify_dictionaries().combine_chunks()


def _stored(cells: Sequence[Cell] | pa.Array) -> Sequence[Cell] | pa.Array:
    """Return cells as an Arrow array if they are of one type, which it gives back; else as they are."""
    if isinstance(cells, pa.Array):
        return cells
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) > 1 or not kinds <= set(_KINDS):
        return cells
    try:
        array = pa.array(cells)
    except (UnicodeError, OverflowError, pa.ArrowInvalid):
        # a lone surrogate, a number of more than 64 bits
        return cells
    return array.dictionary_encode() if kinds == {str} else array


def _part(column: Sequence[Cell] | pa.Array) -> Part:
    if not isinstance(column, pa.Array):
        places: dict[tuple[type, str], int] = {}
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0
        codes = [places.setdefault((type(cell), str(cell)), len(places)) for cell in column]
        firsts = np.unique(codes, return_index=True)[1]
        return [column[at] for at in firsts], np.array(codes, dtype=np.int64)
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    indices = pc.fill_null(coded.indices, len(coded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
    # those of them that occur, in the order in which they do
    used, first, codes_of = np.unique(indices, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    known = [*coded.dictionary.take(pa.array(used[used < len(coded.dictionary)])).to_pylist(), None]
    return [known[at] for at in order], rank[codes_of]


def _lines(
    block: Sequence[Sequence[Cell] | pa.Array],
    makers: Sequence[Callable[[Cell], str]],
    between: str,
    before: str,
    after: str,
) -> str:
    """Return a line for each row of a block: what each maker writes of its column, joined."""
    texts = []
    for column, make in zip(block, makers, strict=True):
        cells, codes = _part(column)
        texts.append(np.array([make(cell) for cell in cells], dtype=object)[codes].tolist())
    return "".join(f"{before}{between.join(row)}{after}\n" for row in zip(*texts, strict=True))


def _json_maker(name: str) -> Callable[[Cell], str]:
    start = json_cell(name)
    return lambda cell: f"{start}: {json_cell(cell)}"
