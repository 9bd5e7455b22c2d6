"""Arrays that a user saved with ``numpy.savez``, and the words that belong to their rows."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.resources.vectors.multi_sense.form import Ints, Lines, damage_error

# what numpy and its zip archives raise for bytes that are none of theirs; a RuntimeError is one that is encrypted
_FAULTS = (
    *(OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, MemoryError, OverflowError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


_LARGEST = 2**62


def read_arrays(path: Path, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Read arrays of an ``npz`` file by name; nothing in it is ever unpickled.

    Errors: :class:`InputError` E720 for a file that is none, lacks an array, or holds numbers that are not finite.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays: dict[str, NDArray[Any]] = {name: np.asarray(archive[name], np.float64) for name in names}
    except _FAULTS as error:
        what = f"this is no npz file with the arrays {', '.join(names[:-1])} and {names[-1]}"
        raise damage_error(path, what, why=str(error)) from error
    for name, array in arrays.items():
        # vectors are kept in single precision
        if not (np.abs(array) <= np.finfo(np.float32).max).all():
            raise damage_error(path, f"{name} holds numbers that are not finite")
    return arrays


def read_counted_words(path: Path) -> tuple[tuple[str, ...], Ints]:
    """Read lines of a word, a space and its count. *Shape:* counts (words,).

    Errors: :class:`InputError` E720 with file and line: a line without a count, a word that occurs twice, no word.
    """
    lines = Lines(path)
    words: dict[str, int] = {}
    for line in lines:
        word, _, count = line.rstrip(" ").rpartition(" ")
        number = lines.whole(count, "the count behind a word", at_most=_LARGEST)
        if not word or word in words:
            lines.refuse(f"a new word and its count are needed; there is {line[:40]!r}")
        words[word] = number
    if not words:
        lines.expect("the first word")
    return tuple(words), np.array(list(words.values()), np.int64)
