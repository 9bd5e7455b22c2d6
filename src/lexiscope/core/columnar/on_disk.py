"""Tables in a temporary file instead of memory, for what is read several times and is too large to hold.

The file has no name: it is gone with the last array that is in it, also where the process is killed. Its tables are
mapped, so that every function of Arrow works with them as with others.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from lexiscope.core.columnar.lean import release_columns
from lexiscope.core.errors import RunError

_LARGE = 2**24
"""Bytes of tables whose pages are given back."""
_OFTEN = 0.01
"""The pause before pages are given back again. *Unit:* seconds."""


class TablesOnDisk:
    """Tables that are written one after the other, and then read.

    >>> kept = TablesOnDisk()
    >>> for cells in (["a", None], ["b", "a"]):
    ...     kept.append(pa.table({"word": pa.array(cells).dictionary_encode()}))
    >>> [table.column("word").to_pylist() for table in kept]
    [['a', None], ['b', 'a']]
    """

    def __init__(self) -> None:
        self._ends = [0]
        try:
            # open as long as this object
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError as error:
            raise _cannot_write(error) from error

    def append(self, table: pa.Table) -> None:
        """Write a table. Errors: :class:`RunError` where it cannot be written."""
        try:
            # Arrow closes what it writes to
            with open(os.dup(self._file.fileno()), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
            self._ends.append(os.lseek(self._file.fileno(), 0, os.SEEK_CUR))
        except OSError as error:
            raise _cannot_write(error) from error

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield the tables, which are mapped as long as anything of them is used.

        Errors: :class:`RunError` where they cannot be mapped.
        """
        if len(self._ends) == 1:
            return
        try:
            pages = mmap.mmap(self._file.fileno(), self._ends[-1], access=mmap.ACCESS_READ)
        except OSError as error:
            what, hint = "a temporary file cannot be mapped into memory", "free memory, or raise its limit (ulimit -v)"
            raise RunError(what, why=str(error), hint=hint) from error
        if self._ends[-1] >= _LARGE and hasattr(pages, "madvise"):
            # where no thread can start, this process is larger and does the same
            with suppress(RuntimeError):
                threading.Thread(target=_give_back, args=(weakref.ref(pages),), daemon=True).start()
        content = pa.py_buffer(pages)
        for start, end in zip(self._ends, self._ends[1:], strict=False):
            table = pa.ipc.open_stream(content.slice(start, end - start)).read_all()
            # the columns of a table without rows would have no chunk
            yield table if len(table) else table.schema.empty_table()


def joined_on_disk(tables: Iterable[pa.Table], join: Callable[[Sequence[Any], str], Any]) -> pa.Table:
    """Return the rows of tables of the same columns as one table on disk; one column at a time is in memory.

    *join* makes a column, a chunked array, of its parts and its name.
    Errors: :class:`RunError` where they cannot be written.
    """
    parts = list(tables)
    return columns_on_disk(parts[0].column_names, lambda name: join([part.column(name) for part in parts], name))


def columns_on_disk(names: Sequence[str], make: Callable[[str], Any]) -> pa.Table:
    """Return a table of columns on disk, each a chunked array that is made when the one before is written.

    Errors: :class:`RunError` where they cannot be written.
    """
    kept = TablesOnDisk()
    for name in names:
        kept.append(pa.table([make(name)], [name]))
        release_columns()
    return pa.table([table.column(0) for table in kept], list(names))


def _cannot_write(error: OSError) -> RunError:
    # which folder it is was perhaps not found out
    folder = f" in {tempfile.tempdir}" if tempfile.tempdir is not None else ""
    hint = "free space there, or name another folder in TMPDIR"
    return RunError(f"a temporary file{folder} cannot be written", why=str(error), hint=hint)


def _give_back(mapped: weakref.ref[mmap.mmap]) -> None:
    """Take the pages of a file out of this process as long as it is mapped: they stay in the system's cache.

    All pages that were read would else count as memory of this process.
    """
    while (pages := mapped()) is not None:
        pages.madvise(mmap.MADV_DONTNEED)
        del pages
        time.sleep(_OFTEN)
