"""The one form of multi-sense vectors, read from lines of numbers or from ``numpy.savez`` files."""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place

CODE = "E720"
"""The code of every error about a damaged or incomplete file of such vectors."""

_GZIP = b"\x1f\x8b"
_SHOWN = 60
_DIGITS = 20
_HINT = "fetch the file again, or export it again; is it of the format that was named?"

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class MultiSense:
    """Words with any number of senses each.

    The senses of word *i* are rows ``starts[i]`` to ``starts[i + 1]`` of ``senses``. *Shape:* starts (words + 1,);
    senses (senses, width); ``priors`` (senses,), how probable each sense of a word is without a context, if the format
    has this; ``contexts`` (words, width), vectors of words in a context, and ``centres`` (senses, width), the mean
    contexts of senses, if it has them; ``counts`` (words,), how often words occur in the corpus of the training, if it
    has this.
    """

    words: tuple[str, ...]
    starts: Ints
    senses: Floats
    priors: Floats | None = None
    contexts: Floats | None = None
    centres: Floats | None = None
    name: str = ""
    counts: Ints | None = None

    @cached_property
    def index(self) -> dict[str, int]:
        """Each word's number."""
        return {word: number for number, word in enumerate(self.words)}

    @property
    def n_senses(self) -> Ints:
        """How many senses each word has. *Shape:* (words,)."""
        return np.diff(self.starts)

    @property
    def selectors(self) -> Floats:
        """What a context is compared with to choose a sense: the centres, or the senses. *Shape:* (senses, width)."""
        return self.senses if self.centres is None else self.centres

    @cached_property
    def context_vectors(self) -> Floats:
        """A vector of each word as a neighbour: its own, or the mean of its senses by their priors.

        *Shape:* (words, width).
        """
        if self.contexts is not None:
            return self.contexts
        shares = 1 / np.repeat(self.n_senses, self.n_senses) if self.priors is None else self.priors
        weighted = self.senses * np.asarray(shares, np.float32)[:, None]
        return np.asarray(np.add.reduceat(weighted, self.starts[:-1], axis=0), np.float32)

    def rows(self, word: str) -> slice:
        """Return the rows of a word's senses; an empty slice for a word out of the vocabulary."""
        number = self.index.get(word)
        return slice(0, 0) if number is None else slice(int(self.starts[number]), int(self.starts[number + 1]))


class Lines:
    """The lines of a file, plain or gzip, one after the other; errors name file and line."""

    def __init__(self, path: Path) -> None:
        self.path, self.number, self.text = path, 0, ""
        self._lines = self._read()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.text = next(self._lines)
        self.number += 1
        return self.text

    def expect(self, what: str) -> str:
        """Return the next line. Errors: :class:`InputError` E720 where the file ends, saying *what* is missing."""
        try:
            return next(self)
        except StopIteration:
            self.number, self.text = self.number + 1, ""
            self.refuse(f"the file ends where {what} should stand")

    def numbers(self, text: str, width: int, what: str) -> Floats:
        """Return the numbers of a line or a part of one. *Shape:* (width,).

        Errors: :class:`InputError` E720 for another number of them, or one that is not a finite number.
        """
        cells = text.split()
        if len(cells) != width:
            self.refuse(f"{what} needs {width} numbers; there are {len(cells)}")
        try:
            # a number beyond single precision becomes infinite, and is refused below
            with np.errstate(over="ignore"):
                numbers = np.array(cells, np.float32)
        except ValueError as error:
            self.refuse(f"{what} needs {width} numbers: {error}")
        if not np.isfinite(numbers).all():
            self.refuse(f"{what} holds a number that is not finite")
        return numbers

    def whole(self, text: str, what: str, *, at_least: int = 0, at_most: int = 2**31) -> int:
        """Return a whole number. Errors: :class:`InputError` E720 where it is none, smaller or larger."""
        # digits are counted first: Python refuses to read thousands of them
        if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS or not at_least <= int(text) <= at_most:
            self.refuse(f"{what} must be a whole number from {at_least} on; there is {text[:_SHOWN]!r}")
        return int(text)

    def refuse(self, what: str) -> NoReturn:
        """Raise :class:`InputError` E720 about the line that was read last."""
        raise damage_error(self.path, what, line=self.number, text=self.text)

    def _read(self) -> Iterator[str]:
        try:
            with self.path.open("rb") as probe:
                packed = probe.read(2) == _GZIP
            with gzip.open(self.path, "rb") if packed else self.path.open("rb") as stream:
                for line in stream:
                    yield line.decode("utf-8").rstrip("\r\n")
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise damage_error(self.path, "this file cannot be read", line=self.number + 1, why=str(error)) from error


def damage_error(
    path: Path, what: str, *, line: int | None = None, byte: int | None = None, text: str = "", why: str = ""
) -> InputError:
    """Return the error about a file: E720, with file, line and the beginning of the line, or the byte from 0."""
    what = what if byte is None else f"byte {byte:,}: {what}"
    shown = (text[:_SHOWN] + "…" if len(text) > _SHOWN else text) or None
    return InputError(what, code=CODE, place=Place(str(path), line, text=shown), why=why, hint=_HINT)


def split_name(lines: Lines, name: str, sign: str) -> tuple[str, str]:
    """Return word and sense of a name such as ``bank#2``; a word may hold the sign itself.

    Errors: :class:`InputError` E720 for a name without them.
    """
    word, _, sense = name.rpartition(sign)
    if not word or not sense:
        lines.refuse(f"a sense is named WORD{sign}SENSE; there is {name[:_SHOWN]!r}")
    return word, sense


def group_senses(
    owners: Sequence[str], rows: Sequence[Floats], *, priors: Sequence[float] | None = None, name: str = ""
) -> MultiSense:
    """Return senses by word, words in the order of their first sense, senses of a word in their order.

    *owners* are the words of the rows; *priors* are made to sum to 1 for each word.
    """
    words = tuple(dict.fromkeys(owners))
    index = {word: number for number, word in enumerate(words)}
    codes = np.array([index[word] for word in owners], np.int64)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.bincount(codes, minlength=len(words)).cumsum()]).astype(np.int64)
    given = None if priors is None else shares(np.asarray(priors, np.float64)[order], starts)
    return MultiSense(words, starts, np.asarray(rows, np.float32)[order], given, name=name)


def shares(weights: NDArray[np.float64], starts: Ints) -> Floats:
    """Return weights divided by the sum of their word's; equal ones where all are 0. *Shape:* (senses,)."""
    sizes = np.diff(starts)
    totals = np.repeat(np.add.reduceat(weights, starts[:-1]), sizes)
    equal = 1 / np.repeat(sizes, sizes)
    return np.asarray(np.divide(weights, totals, out=equal, where=totals > 0), np.float32)


# -- arrays that a user saved with ``numpy.savez``, and the words that belong to their rows -------------------------


# what numpy and its zip archives raise for bytes that are none of theirs; a RuntimeError is one that is encrypted
_FAULTS = (
    *(OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, MemoryError, OverflowError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
_LARGEST = 2**62


def read_arrays(path: Path, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Read arrays of an ``npz`` file by name; nothing in it is ever unpickled.

    Errors: :class:`InputError` E720 for another file, a missing array, or numbers that are not finite.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays: dict[str, NDArray[Any]] = {name: np.asarray(archive[name], np.float64) for name in names}
    except _FAULTS as error:
        what = f"this is not an npz file with the arrays {', '.join(names[:-1])} and {names[-1]}"
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
