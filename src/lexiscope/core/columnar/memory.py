"""The forms of columns in memory: names as codes into a dictionary, replies as large text, absent columns as nothing.

A table holds each column in exactly one form, so that every function here knows what it gets:

- *names* (ids, tasks, measures, options, views, scales): a dictionary of distinct texts and a code of 4 bytes a row;
- *text* (``raw``): UTF-8 with offsets of 64 bits, which does not end at 2 GiB as Arrow's ``string`` does;
- numbers and times: as :data:`SCHEMA` says;
- a column without any value: Arrow's type ``null``, which has no bytes.

The types of files are those of :data:`SCHEMA` (design/0047-table-at-scale.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lexiscope.core.columnar.cells import array_of, cell_of, numbers_of

SCHEMA = pa.schema(
    [
        pa.field("subject_id", pa.string(), nullable=False),
        pa.field("subject_kind", pa.string(), nullable=False),
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("measure", pa.string(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("option", pa.string()),
        pa.field("layer", pa.int32()),
        pa.field("view", pa.string()),
        pa.field("list_id", pa.string()),
        pa.field("position", pa.int32()),
        pa.field("repeat", pa.int32()),
        pa.field("rt_ms", pa.float64()),
        pa.field("answered_at", pa.timestamp("us", tz="UTC")),
        pa.field("raw", pa.string()),
        pa.field("scale", pa.string()),
    ]
)
"""The columns of responses in the order of files, with the types of files."""

COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)
ADDED: tuple[str, ...] = ("scale",)
"""Columns that are missing in tables of earlier versions: their cells are missing then."""
REQUIRED: tuple[str, ...] = ("subject_id", "subject_kind", "item_id", "task", "measure")
TEXT = "raw"
"""The column whose cells are texts of any length, hardly ever equal."""
NAMES = frozenset(field.name for field in SCHEMA if pa.types.is_string(field.type) and field.name != TEXT)

NAME_TYPE = pa.dictionary(pa.int32(), pa.large_string())
TEXT_TYPE = pa.large_string()
SLACK = 4096
"""A table of few rows keeps at most this number of texts that none of its rows has: no function is slower than its
rows."""
_SMALL_CHUNK = 2**16
_FALSE = cell_of(False, pa.bool_())
_FEW = 256
_LARGE = 2**30
"""Bytes of texts of which some may not occur: they are excluded before a type of 2 GiB has to hold them."""

Column = Any
"""A ``pyarrow.ChunkedArray`` in the form of memory."""


def memory_type(name: str) -> Any:
    """Return the type of a column in memory that has a value.

    >>> memory_type("raw"), memory_type("layer")
    (DataType(large_string), DataType(int32))
    """
    return NAME_TYPE if name in NAMES else TEXT_TYPE if name == TEXT else SCHEMA.field(name).type


def absent(column: Column) -> bool:
    """Return whether a column in the form of memory has no value at all."""
    return bool(pa.types.is_null(column.type))


def nothing(n_rows: int) -> Column:
    """Return a column of this length without a value."""
    return pa.chunked_array([pa.nulls(n_rows)])


def memory_form(column: Any, name: str) -> Column:
    """Return a column that came from elsewhere in its form in memory.

    Errors: ``pyarrow.ArrowInvalid`` for cells that the type of the column cannot hold.
    """
    column = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if column.null_count == len(column):
        return nothing(len(column))
    return _names(column) if name in NAMES else column.cast(memory_type(name))


def _names(column: Any) -> Column:
    """Return texts as codes into one dictionary of distinct texts."""
    if pa.types.is_dictionary(column.type):
        dictionaries = [chunk.dictionary for chunk in column.chunks]
        unequal = all(not texts.null_count and len(texts.unique()) == len(texts) for texts in dictionaries)
        kind = column.type.value_type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if unequal and pa.types.is_integer(column.type.index_type) and is_text:
            chunks = [_coded(chunk.indices.cast(pa.int32()), chunk.dictionary) for chunk in column.chunks]
            return trimmed(pa.chunked_array(chunks, type=NAME_TYPE).unify_dictionaries())
        # a dictionary from outside may hold a text twice, or a missing one
        column = column.cast(column.type.value_type)
    return column.cast(TEXT_TYPE).dictionary_encode()


def _coded(codes: Any, texts: Any) -> Any:
    return pa.DictionaryArray.from_arrays(codes, texts.cast(TEXT_TYPE))


def constant(text: str, n_rows: int) -> Column:
    """Return a column of names that holds one text in all rows."""
    codes = array_of(np.zeros(n_rows, dtype=np.int32), pa.int32())
    return pa.chunked_array([_coded(codes, array_of([text], TEXT_TYPE))]) if n_rows else nothing(0)


def trimmed(column: Column) -> Column:
    """Return a column that was made from another by leaving rows out, without what no row needs any more."""
    if absent(column):
        return column
    if column.null_count == len(column):
        return nothing(len(column))
    if not pa.types.is_dictionary(column.type) or len(_dictionary(column)) <= len(column) + SLACK:
        return column
    codes, texts = encoded(column)
    return pa.chunked_array([_coded(codes, texts)])


def _dictionary(column: Column) -> Any:
    """The texts of a column of names: those of any chunk, as all have the same."""
    return column.chunk(0).dictionary


def _codes(column: Column) -> Any:
    """The codes of a column of names as one array."""
    if column.num_chunks == 1:
        return column.chunk(0).indices
    return pa.concat_arrays([chunk.indices for chunk in column.chunks])


def joined(columns: Sequence[Column], name: str) -> Column:
    """Return the rows of several columns of one name, in order."""
    n_rows, present = sum(len(column) for column in columns), [column for column in columns if not absent(column)]
    if not present:
        return nothing(n_rows)
    if len(present) < len(columns):
        columns = [pa.chunked_array([pa.nulls(len(c), memory_type(name))]) if absent(c) else c for c in columns]
    chunks = [chunk for column in columns for chunk in column.chunks]
    if name in NAMES and not all(chunk.dictionary.equals(chunks[0].dictionary) for chunk in chunks):
        chunks = pa.chunked_array(chunks).unify_dictionaries().chunks
    # thousands of short chunks would cost more than their rows at every later step
    return pa.chunked_array([pa.concat_arrays(chunks)] if n_rows < len(chunks) * _SMALL_CHUNK else chunks)


def encoded(column: Column) -> tuple[Any, Any]:
    """Return codes (int32, null for missing) in order of first appearance, and the values that occur, as arrays."""
    if pa.types.is_dictionary(column.type):
        codes = _codes(column).dictionary_encode()
        return codes.indices, _dictionary(column).take(codes.dictionary)
    if absent(column):
        return pa.nulls(len(column), pa.int32()), pa.nulls(0, TEXT_TYPE)
    codes = pc.dictionary_encode(column).combine_chunks()
    codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    return codes.indices, codes.dictionary


def distinct(column: Column) -> list[Any]:
    """Return the distinct values in order of first appearance, ``None`` for missing ones among them."""
    if pa.types.is_dictionary(column.type):
        return list(_dictionary(column).take(_codes(column).unique()).to_pylist())
    return list(pc.unique(column).to_pylist())


def values(column: Column, name: str) -> np.ndarray[Any, Any]:
    """Return a column as numpy sees it: text as objects with ``None``, numbers as float64 with NaN, times with NaT."""
    kind = memory_type(name)
    if absent(column):
        if pa.types.is_timestamp(kind):
            return np.full(len(column), np.datetime64("NaT", "us"))
        return np.full(len(column), None if name in NAMES or name == TEXT else np.nan)
    if pa.types.is_dictionary(column.type):
        codes, texts = _codes(column), _dictionary(column)
        if len(texts) > len(column):
            codes, texts = encoded(column)
        known = np.array([*texts.to_pylist(), None], dtype=object)
        return np.asarray(known[numbers_of(codes)])
    if name == TEXT:
        texts = np.empty(len(column), dtype=object)
        texts[:] = column.to_pylist()
        return texts
    if pa.types.is_timestamp(kind):
        return numbers_of(column.cast(pa.int64()), np.iinfo(np.int64).min).view("datetime64[us]")
    return numbers_of(column.cast(pa.float64()))


def is_among(column: Column, wanted: Any) -> Any:
    """Return which rows hold one of the *wanted* values, an array of the column's values; a null in it: missing ones.

    *wanted* of a column of names is an array of texts.
    """
    if absent(column):
        return pa.chunked_array([pa.repeat(cell_of(bool(wanted.null_count), pa.bool_()), len(column))])
    codes = column
    if pa.types.is_dictionary(column.type):
        known = _dictionary(column)
        wanted = _codes_of(wanted, known)
        codes = pa.chunked_array([chunk.indices for chunk in column.chunks])
    if len(wanted) != 1 or wanted.null_count:
        return pc.is_in(codes, value_set=wanted)
    # comparing with a single value is several times faster
    test = pc.equal(codes, wanted[0])
    return test.fill_null(_FALSE) if test.null_count else test


def _codes_of(texts: Any, known: Any) -> Any:
    """The codes of those texts that are known, and a null for a missing one."""
    if len(known) <= _FEW:
        # a call of Arrow costs more than these comparisons
        asked = set(texts.to_pylist())
        places: list[int | None] = [place for place, text in enumerate(known.to_pylist()) if text in asked]
        return array_of([*places, None] if texts.null_count else places, pa.int32())
    codes = pc.index_in(texts.drop_null(), value_set=known).drop_null().cast(pa.int32())
    return pa.concat_arrays([codes, pa.nulls(1, pa.int32())]) if texts.null_count else codes


def starts_with(column: Column, beginning: str) -> Any:
    """Return which rows of a column of names begin so, missing ones do not; ``None`` where no text of it does."""
    if absent(column):
        return None
    flags = pc.starts_with(_dictionary(column), beginning)
    return flags.take(_codes(column)).fill_null(_FALSE) if pc.any(flags).as_py() else None


def same(first: Column, second: Column) -> bool:
    """Return whether two columns hold the same rows, regardless of the order of their dictionaries."""
    if first.equals(second):
        return True
    if len(first) != len(second) or first.null_count != second.null_count or absent(first) != absent(second):
        return False
    if not pa.types.is_dictionary(first.type):
        return False
    # a text that the first column does not know becomes a null, which then stands where the first has a code
    places = pc.index_in(_dictionary(second), value_set=_dictionary(first)).cast(pa.int32())
    return bool(_codes(first).equals(places.take(_codes(second))))


def order_of(columns: Mapping[str, Column], n_rows: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the row numbers in a stable order of these columns, the first counting most, missing values last."""
    keys = [_ranks(column, name) for name, column in columns.items() if not absent(column)]
    sizes = [int(key.max(initial=0)) + 1 for key in keys]
    if np.prod(sizes, dtype=object) >= 2**63:
        return np.asarray(np.lexsort(keys[::-1]), dtype=np.int64)
    # one key instead of several: sorting whole numbers is several times faster than sorting rows
    packed = np.zeros(n_rows, dtype=np.int64)
    for key, size in zip(keys, sizes, strict=True):
        packed = packed * size + key
    return np.argsort(packed, kind="stable")


def _ranks(column: Column, name: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Whole numbers from 0 in the order of the values, a missing one above all."""
    if not pa.types.is_dictionary(column.type) and not pa.types.is_integer(column.type) and name != TEXT:
        # NaN and NaT, which numpy has for missing, are equal to each other and above all
        return np.unique(values(column, name), return_inverse=True)[1].reshape(-1)
    codes, known = encoded(column)
    rank = np.empty(len(known) + 1, dtype=np.int64)
    rank[numbers_of(pc.sort_indices(known))] = np.arange(len(known))
    rank[-1] = len(known)
    return np.asarray(rank[numbers_of(codes)])


def file_form(column: Column, name: str) -> Any:
    """Return a column, or some rows of one, as one array with the type that it has in files."""
    # the rows of one group may be without a value in a column that has values elsewhere
    kind, column = SCHEMA.field(name).type, trimmed(column)
    if absent(column):
        return pa.nulls(len(column), kind)
    if not pa.types.is_dictionary(column.type):
        return pa.concat_arrays(column.chunks).cast(kind)
    texts, codes = _dictionary(column), _codes(column)
    if texts.nbytes >= _LARGE:
        codes, texts = encoded(column)
    return texts.cast(kind).take(codes)


def text_bytes(column: Column) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many bytes the text of each row has in UTF-8, 0 for a missing one."""
    if absent(column):
        return np.zeros(len(column), dtype=np.int64)
    if pa.types.is_dictionary(column.type):
        lengths = pc.binary_length(_dictionary(column)).take(_codes(column))
    else:
        lengths = pa.concat_arrays(pc.binary_length(column).chunks)
    return numbers_of(lengths, 0).astype(np.int64)


def exceeds(column: Column, n_bytes: int) -> bool:
    """Return whether the texts of a column of names, each written out in its rows, have more bytes than this."""
    if absent(column):
        return False
    longest = pc.max(pc.binary_length(_dictionary(column))).as_py()
    return bool(longest * len(column) > n_bytes and text_bytes(column).sum() > n_bytes)
