"""Rows of long tables, kept by columns: a million rows as objects of Python would need gigabytes.

A row is made when it is read. The lines of a file are made column by column: texts that need no change are joined by
Arrow, and what is left is written by Python, once for each distinct text of a column that is a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexiscope.core.columnar.on_disk import TablesOnDisk, columns_on_disk
from lexiscope.core.foreign import storable_text
from lexiscope.items.tables.neutral import Cell, csv_cell, json_cell

TOGETHER = 20_000
"""The number of rows that are objects of Python at a time."""

_KINDS: tuple[type, ...] = (str, bool, int, float)


@dataclass(frozen=True, slots=True)
class _Form:
    """How the cells of a file are written: *cell* makes the text of one.

    A text that matches *plain* is written between *quotes* as it is. *ending* is what a whole number that is a float
    ends with.
    """

    cell: Callable[[Cell], str]
    plain: str
    quotes: str
    ending: str


# letters, digits and signs that need no quotes, begin no formula, and are no space at an end
_PLAIN = r"^([0-9A-Za-z\[]([0-9A-Za-z .:_/()\[\]+-]*[0-9A-Za-z.:_/()\[\]+-])?)$"
_CSV, _CSV_ANSWERS = (_Form(partial(csv_cell, is_answer=own), _PLAIN, "", "") for own in (False, True))
_JSON = _Form(json_cell, r"^[ !#-\[\]-~]*$", '"', ".0")


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
    def of_cells(cls, blocks: Iterable[Sequence[Sequence[Cell]]]) -> ColumnRows:
        """Return the rows of columns of cells; what Arrow can hold of them is on disk."""
        kept, made = TablesOnDisk(), list[dict[str, Any]]()
        for block in blocks:
            columns = {str(at): _stored(column) for at, column in enumerate(block)}
            arrays = {name: column for name, column in columns.items() if isinstance(column, pa.Array)}
            kept.append(pa.table(arrays))
            made.append(columns | dict.fromkeys(arrays))
        for columns, table in zip(made, kept, strict=True):
            columns |= {name: _whole(table.column(name)) for name in table.column_names}
        return cls(tuple(columns.values()) for columns in made)

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

    def distinct(self, at: int) -> Iterator[Sequence[Any]]:
        """Yield the distinct cells of a column, some thousands of rows at a time."""
        for block in self._blocks:
            column = block[at]
            # 1, 1.0 and True are equal
            yield pc.unique(column).to_pylist() if isinstance(column, pa.Array) else column

    def n_given(self, at: int) -> int:
        """Return how many cells of a column are not missing; a number that is NaN is missing."""
        return sum(n_given(block[at]) for block in self._blocks)

    def csv_blocks(self, as_answer: Sequence[bool]) -> Iterator[pa.Buffer]:
        """Yield the lines of the rows in a CSV file; *as_answer* says which columns may hold numbers as text."""
        columns = [(at, _CSV_ANSWERS if own else _CSV) for at, own in enumerate(as_answer)]
        return self._lines(columns, ["", *[","] * (len(columns) - 1), "\n"])

    def jsonl_blocks(self, header: Sequence[str]) -> Iterator[pa.Buffer]:
        """Yield the rows as lines of JSON, with the names of their columns."""
        # of two columns of one name, an object has the second one at the place of the first
        places = {name: at for at, name in enumerate(header)}
        names = [f"{json_cell(name)}: " for name in places]
        between = [f"{{{names[0]}", *(f", {name}" for name in names[1:]), "}\n"]
        return self._lines([(at, _JSON) for at in places.values()], between)

    def _lines(self, columns: Sequence[tuple[int, _Form]], between: Sequence[str]) -> Iterator[pa.Buffer]:
        """Yield the lines of each block in UTF-8: cells, with a text before each and one after the last."""
        literals = [pa.scalar(storable_text(text)) for text in between]
        texts_of = [_Texts(form) for _, form in columns]
        for block in self._blocks:
            pieces = [literals[0]]
            for (at, _), texts, literal in zip(columns, texts_of, literals[1:], strict=True):
                pieces += [texts.of(block[at]), literal]
            lines = pc.binary_join_element_wise(*pieces, "")
            _, offsets, content = lines.buffers()
            first, last = np.frombuffer(offsets, np.int32)[[lines.offset, lines.offset + len(lines)]].tolist()
            yield content.slice(first, last - first)


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
        return np.arange(len(self._table), dtype=np.int32) if self._order is None else self._order

    def table(self, *names: str) -> pa.Table:
        """Return the rows as a table of these columns, of all without names."""
        chosen = self._table.select(names) if names else self._table
        if self._order is None:
            return chosen
        order = pa.array(self._order)
        return columns_on_disk(chosen.column_names, lambda name: chosen.column(name).take(order))

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
            rank_of = np.zeros(len(cells), dtype=np.int32)
            rank_of[used] = [places[value] for value in values]
            ranks.append(rank_of[codes[kept]])
        return TableRows(self._table, kept[np.lexsort(ranks[::-1])] if len(kept) else kept)

    def _column(self, name: str) -> tuple[list[Any], np.ndarray[Any, Any]]:
        cells, codes = _cells_and_codes(_whole(self._table.column(name)))
        return cells, codes.to_numpy()


def whole(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the parts of a column in one piece."""
    return pa.chunked_array([_whole(pa.chunked_array([chunk for part in parts for chunk in part.chunks]))])


def whole_texts(parts: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the parts of a column of free texts in one piece, in whose dictionary a text may be twice.

    To find equal ones among a million long texts would take as much memory again as they do.
    """
    chunks = [chunk for part in parts for chunk in part.chunks]
    starts = np.cumsum([0, *(len(chunk.dictionary) for chunk in chunks)]).tolist()
    codes = [pc.add(chunk.indices, pa.scalar(start, pa.int32())) for chunk, start in zip(chunks, starts, strict=False)]
    texts = pa.concat_arrays([chunk.dictionary for chunk in chunks])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(pa.concat_arrays(codes), texts)])


def mapped(column: pa.ChunkedArray | pa.Array, change: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """Return what a function makes of the cells of a column, called once for each distinct one; texts are coded."""
    cells, codes = _cells_and_codes(_whole(column))
    made = pa.array([change(cell) for cell in cells], kind).take(codes)
    return made.dictionary_encode() if pa.types.is_string(kind) else made


def distinct(column: pa.ChunkedArray) -> Iterator[Any]:
    """Yield the distinct cells of a column in one piece, without the missing one; some thousands are objects at a time.

    A dictionary may have a cell twice.
    """
    cells = _whole(column)
    known = cells.dictionary if isinstance(cells, pa.DictionaryArray) else pc.unique(cells)
    for start in range(0, len(known), TOGETHER):
        yield from (cell for cell in known.slice(start, TOGETHER).to_pylist() if cell is not None)


def with_replaced(column: pa.ChunkedArray, texts: Mapping[str, str]) -> pa.DictionaryArray:
    """Return a column of texts with some of them replaced; it is a dictionary, in one piece."""
    cells = _whole(column)
    coded = cells if isinstance(cells, pa.DictionaryArray) else cells.dictionary_encode()
    before, after = pa.array(texts, pa.string()), pa.array(texts.values(), pa.string())
    places = pc.index_in(coded.dictionary, before)
    known = pc.replace_with_mask(coded.dictionary, pc.is_valid(places), after.take(places.drop_null()))
    made = pa.DictionaryArray.from_arrays(coded.indices, known)
    # a text that is there twice now, in the dictionary of a column, has two codes
    is_twice = len(set(texts.values())) < len(texts) or pc.any(pc.is_in(coded.dictionary, after)).as_py()
    return _decoded(made).dictionary_encode() if is_twice else made


def cells_of(column: Sequence[Cell] | pa.Array) -> Sequence[Any]:
    """Return the cells of a column as objects of Python; equal texts of a dictionary are one object."""
    if isinstance(column, pa.DictionaryArray):
        known = [*column.dictionary.to_pylist(), None]
        return [known[code] for code in pc.fill_null(column.indices, len(known) - 1).to_pylist()]
    return column.to_pylist() if isinstance(column, pa.Array) else column


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column in one piece."""
    if isinstance(column, pa.Array):
        return column
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


def n_given(column: Sequence[Cell] | pa.Array) -> int:
    """Return how many cells of a column are not missing; a number that is NaN is missing."""
    if not isinstance(column, pa.Array):
        return sum(cell is not None and cell == cell for cell in column)
    is_float = pa.types.is_floating(column.type)
    return len(column) - int(pc.sum(pc.is_null(column, nan_is_null=is_float)).as_py() or 0)


def _decoded(column: pa.DictionaryArray) -> pa.Array:
    return column.dictionary.take(column.indices)


def _cells_and_codes(column: pa.Array) -> tuple[list[Any], pa.Array]:
    """Return the distinct cells of a column, the missing one last, and the place of each row's cell among them."""
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    cells: list[Any] = coded.dictionary.to_pylist()
    if not coded.indices.null_count:
        return cells, coded.indices
    return [*cells, None], pc.fill_null(coded.indices, len(cells))


class _Texts:
    """The texts of one column in a form: those of a dictionary are made once for all blocks that share it."""

    def __init__(self, form: _Form) -> None:
        self._form = form
        self._known: tuple[pa.Array, pa.Array] | None = None

    def of(self, column: Sequence[Cell] | pa.Array) -> pa.Array:
        """Return the text of each cell."""
        if not isinstance(column, pa.Array):
            return pa.array([storable_text(self._form.cell(cell)) for cell in column], pa.string())
        if isinstance(column, pa.DictionaryArray):
            # texts of which nearly each row has its own are made block by block
            shared = len(column.dictionary) <= TOGETHER
            texts = self._of_dictionary(column.dictionary).take(column.indices) if shared else self.of(_decoded(column))
        elif pa.types.is_string(column.type):
            texts = self._of_texts(column)
        elif pa.types.is_boolean(column.type):
            texts = pc.if_else(column, self._form.cell(True), self._form.cell(False))
        elif pa.types.is_integer(column.type):
            texts = pc.cast(column, pa.string())
        elif pa.types.is_floating(column.type):
            texts = self._of_numbers(column)
        else:
            texts = pa.nulls(len(column), pa.string())
        return pc.fill_null(texts, self._form.cell(None)) if texts.null_count else texts

    def _of_dictionary(self, dictionary: pa.Array) -> pa.Array:
        if self._known is None or not self._known[0].equals(dictionary):
            self._known = dictionary, self.of(dictionary)
        return self._known[1]

    def _of_texts(self, column: pa.Array) -> pa.Array:
        quotes = self._form.quotes
        plain = pc.match_substring_regex(column, self._form.plain)
        texts = pc.binary_join_element_wise(quotes, column, quotes, "") if quotes else column
        return self._by_python(column, texts, pc.invert(plain))

    def _of_numbers(self, column: pa.Array) -> pa.Array:
        values = column.to_numpy(zero_copy_only=False)
        size = np.abs(values)
        is_whole = (values == np.trunc(values)) & (size < 1e15) & ~((values == 0) & np.signbit(values))
        # of this size, Arrow writes the same shortest digits as Python
        is_plain = is_whole | ((size >= 1e-3) & (size < 1e9))
        whole = pc.cast(pa.array(np.where(is_whole, values, 0).astype(np.int64)), pa.string())
        if self._form.ending:
            whole = pc.binary_join_element_wise(whole, self._form.ending, "")
        texts = pc.if_else(pa.array(is_whole), whole, pc.cast(column, pa.string()))
        return self._by_python(column, texts, pc.and_(pc.is_valid(column), pa.array(~is_plain)))

    def _by_python(self, column: pa.Array, texts: pa.Array, which: pa.Array) -> pa.Array:
        """Return the texts with those of some cells made by Python; a missing cell has none yet."""
        which = pc.fill_null(which, False)
        chosen = column.filter(which)
        if not len(chosen):
            return texts
        made = [self._form.cell(cell) for cell in chosen.to_pylist()]
        return pc.replace_with_mask(texts, which, pa.array(made, pa.string()))
