"""What a process does that works with large tables and keeps no more memory than they need."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

import pyarrow as pa

_MMAP_THRESHOLD, _LARGE = -3, 2**20
"""The setting of glibc's ``mallopt``, and from how many bytes on memory is given back as soon as it is freed."""


def save_memory() -> None:
    """Keep this process small: columns that are freed go back to the system, and pyarrow does without pandas.

    glibc would keep freed arrays of up to 32 MB for later ones. ``pyarrow.array`` imports pandas, which is 35 MB, to
    ask whether a value comes from there. Afterwards, if pandas was not there before, it must not be given columns of
    pandas in this process: it does not know their missing values. Arrow's tables still become those of pandas.
    """
    # other libraries of C than glibc do not have the function, Windows does not have the library by this name
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    sys.meta_path.insert(0, _WithoutPandas)
    try:
        # pyarrow tries the import, in two places, and remembers how it ended
        pa.array([""])
    finally:
        sys.meta_path.remove(_WithoutPandas)


def release_columns() -> None:
    """Have Arrow give back the memory of columns that were freed: it keeps it for later ones."""
    pa.default_memory_pool().release_unused()


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)
