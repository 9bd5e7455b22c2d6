"""Cells of Python and numpy as arrays of Arrow: what pyarrow.array makes of them, without pandas."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.columnar.cells import array_of

KINDS = (pa.large_string(), pa.float64(), pa.int64(), pa.int32(), pa.bool_())
CELLS = st.one_of(
    st.none(), st.text(max_size=3), st.floats(), st.integers(-(2**70), 2**70), st.integers(-3, 3), st.booleans()
)
COLUMNS = st.one_of(
    st.lists(st.none() | st.text(max_size=3), max_size=20),
    st.lists(st.none() | st.floats(), max_size=20),
    st.lists(st.none() | st.integers(-(2**65), 2**65), max_size=20),
    st.lists(st.none() | st.integers(-(2**33), 2**33), max_size=20),
    st.lists(st.none() | st.integers(-9, 9), max_size=20),
    st.lists(st.booleans(), max_size=20),
    st.lists(CELLS, max_size=6),
)


def made_by(make: Any, cells: Any, kind: Any) -> Any:
    """What a function makes of cells, or the type of its error."""
    try:
        return make(cells, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return type(error)


def by_pyarrow(cells: Any, kind: Any) -> Any:
    is_list = isinstance(cells, list | tuple) or cells.dtype == object
    is_cut = pa.types.is_integer(kind) and is_list and {*map(type, cells)} <= {int, float, type(None)}
    if is_cut and any(np.isfinite(cell) and cell % 1 for cell in cells if isinstance(cell, float)):
        # pyarrow makes 1 of 1.5 in a list
        raise pa.ArrowInvalid("not a whole number")
    return pa.array(cells, type=kind, from_pandas=True)


def check_equal(cells: Any, kind: Any) -> None:
    made, wanted = (made_by(make, cells, kind) for make in (array_of, by_pyarrow))
    assert type(made) is type(wanted)
    if not isinstance(wanted, pa.Array):
        assert made is wanted
        return
    made.validate(full=True)
    assert made.equals(wanted)
    assert made.null_count == wanted.null_count


@given(COLUMNS, st.sampled_from(KINDS))
def test_lists_are_what_pyarrow_makes_of_them(cells: list[Any], kind: Any) -> None:
    """Of each type, and of several: the same cells, the same missing ones, or the same error."""
    check_equal(cells, kind)
    check_equal(tuple(cells), kind)
    objects = np.empty(len(cells), dtype=object)
    objects[:] = cells
    check_equal(objects, kind)


@given(
    st.sampled_from(["f4", "f8", ">f8", "i1", "u1", "i4", "u4", ">i4", "i8", "u8", "?"]),
    st.lists(st.sampled_from([0, 1, -1, 3, 200, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, -(2**63)]), max_size=20),
    st.sampled_from(KINDS[1:]),
    st.booleans(),
)
def test_arrays_are_what_pyarrow_makes_of_them(code: str, numbers: list[int], kind: Any, every_second: bool) -> None:
    """Of every width and order of bytes, also parts that are not in one piece."""
    cells = np.array(numbers, dtype=np.int64).astype(code)
    if cells.dtype.kind == "f" and len(cells):
        cells[0] = np.nan
    check_equal(cells[::2] if every_second else cells, kind)


def test_a_text_that_utf8_cannot_hold_is_an_error() -> None:
    with pytest.raises(UnicodeEncodeError):
        array_of(["a", "\ud83d", "\ude00"], pa.large_string())


def test_a_table_of_answers_needs_no_pandas() -> None:
    """pyarrow imports it for every list and array that it is given, which takes half a second."""
    program = """
import sys
import numpy as np
from lexiscope.core.response import ResponseTable
columns = {"subject_id": ["a", "é"], "subject_kind": "chat", "item_id": np.array(["i", "j"], dtype=object), "task": "t"}
columns |= {"measure": "m", "value": [1.0, None], "layer": [0, None], "position": np.arange(2), "raw": ("x", None)}
table = ResponseTable.from_columns(columns)
table = ResponseTable.concat([table, table.where(subject_id=["a", None])]).sorted_by("item_id", "value")
table.group_means("subject_id"), table.filter(np.array([True, False, True])).take(np.array([1, 0])), table.answered()
[table.column(name) for name in columns]
assert "pandas" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
