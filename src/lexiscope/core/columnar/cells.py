"""Cells between Python, numpy and Arrow without pandas.

``array``, ``scalar`` and ``to_numpy`` of pyarrow import pandas to ask whether a value comes from there, which takes
half a second in every process. Here, texts and numbers of one type are exchanged as buffers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

_EXACT = 2**53
_NAN = pa.Array.from_buffers(pa.float64(), 1, [None, pa.py_buffer(np.array([np.nan]))])[0]
_REAL = (int, float, np.number, Decimal)
_STORED: Mapping[Any, Any] = {pa.float64(): np.float64, pa.int64(): np.int64, pa.int32(): np.int32}
_BOUNDS = {pa.float64(): (-_EXACT, _EXACT), pa.int64(): (-(2**63), 2**63 - 1), pa.int32(): (-(2**31), 2**31 - 1)}
"""The whole numbers of each type, in float64 those that it holds exactly."""


def array_of(cells: Any, kind: Any) -> Any:
    """Return cells as an array of Arrow of one type; ``None``, NaN and NaT are missing.

    *cells* is an array of numpy, a list or a tuple. Errors: ``pyarrow.ArrowException`` or ``TypeError`` for cells of
    another type, and for 1.5 as a whole number; ``UnicodeEncodeError`` for a text that UTF-8 cannot hold.
    """
    if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "fiub" and cells.dtype.isnative:
        if _holds(cells, kind):
            return _numbers(cells, np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(0, dtype=bool), kind)
    elif isinstance(cells, list | tuple) or (isinstance(cells, np.ndarray) and cells.dtype.kind in "OU"):
        made = _of_python(cells.tolist() if isinstance(cells, np.ndarray) else cells, kind)
        if made is not None:
            return made
    return pa.array(cells, type=kind, from_pandas=True)


def cell_of(cell: Any, kind: Any) -> Any:
    """Return one cell as a scalar of Arrow. Errors: those of :func:`array_of`."""
    return array_of([cell], kind)[0]


def numbers_of(array: Any, missing: int = -1) -> np.ndarray[Any, Any]:
    """Return numbers of Arrow as an array of numpy that may be changed.

    A missing one is NaN in float64, and *missing* in whole numbers.
    """
    if array.null_count:
        array = array.fill_null(_NAN if pa.types.is_float64(array.type) else cell_of(missing, array.type))
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return np.concatenate([np.from_dlpack(chunk) for chunk in chunks or [pa.nulls(0, array.type)]])


def _of_python(cells: Sequence[Any], kind: Any) -> Any:
    """Cells of one type and missing ones; ``None`` where pyarrow must look at each of them."""
    types = set(map(type, cells)) - {type(None)}
    if not types:
        return pa.nulls(len(cells), kind)
    missing = np.fromiter((cell is None for cell in cells), dtype=bool, count=len(cells))
    if types == {str} and pa.types.is_large_string(kind):
        return _texts(["" if cell is None else cell for cell in cells], missing)
    if types <= {float, np.float64} and pa.types.is_float64(kind):
        values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
        return _numbers(values, np.isnan(values), kind)
    if types == {bool} and not missing.any() and pa.types.is_boolean(kind):
        return _numbers(np.array(cells, dtype=bool), missing, kind)
    if types == {int}:
        try:
            whole = np.array([0 if cell is None else cell for cell in cells], dtype=np.int64)
        except OverflowError:
            return None
        return _numbers(whole, missing, kind) if _holds(whole, kind) else None
    if np.bool_ in types and not pa.types.is_boolean(kind):
        raise TypeError("expected a number, got a truth value of numpy")
    if pa.types.is_integer(kind) and bool not in types and all(issubclass(cell, _REAL) for cell in types):
        # pyarrow would make 1 of 1.5
        numbers = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
        cut = numbers[np.isfinite(numbers) & (np.floor(numbers) != numbers)]
        if len(cut):
            raise pa.ArrowInvalid(f"{cut[0]:g} is not a whole number")
    return None


def _holds(values: np.ndarray[Any, Any], kind: Any) -> bool:
    """Whether a type of Arrow holds these numbers, each exactly as it is."""
    if pa.types.is_boolean(kind) or values.dtype.kind == "b":
        return bool(pa.types.is_boolean(kind)) and values.dtype.kind == "b"
    if kind not in _STORED or values.dtype.kind == "f":
        return bool(pa.types.is_float64(kind)) and values.dtype.itemsize <= 8
    low, high = _BOUNDS[kind]
    return not len(values) or (low <= int(values.min()) and int(values.max()) <= high)


def _numbers(values: np.ndarray[Any, Any], missing: np.ndarray[Any, Any], kind: Any) -> Any:
    if pa.types.is_boolean(kind):
        data = np.packbits(values, bitorder="little")
    else:
        data = np.ascontiguousarray(values, dtype=_STORED[kind])
    return pa.Array.from_buffers(kind, len(values), [_validity(missing), pa.py_buffer(data)])


def _texts(texts: Sequence[str], missing: np.ndarray[Any, Any]) -> Any:
    whole = "".join(texts)
    data = whole.encode()
    # a character of ASCII is one byte
    sizes = map(len, texts if whole.isascii() else [text.encode() for text in texts])
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(sizes, dtype=np.int64, count=len(texts)), out=ends[1:])
    buffers = [_validity(missing), pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def _validity(missing: np.ndarray[Any, Any]) -> Any:
    """The bits of which cells are given; ``None`` where all are."""
    return pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
