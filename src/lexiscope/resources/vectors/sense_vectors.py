"""Vectors of induced senses, mapped from disk, with their neighbours and the log of their training.

A folder holds ``vectors.safetensors`` (senses, contexts, mask), ``vocabulary.tsv`` (word TAB count, in the order of the
vectors) and ``settings.json``, which records how they were made and the hashes of the files. Only the requested parts
are read into memory.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place, RunError, SubjectError
from lexiscope.core.foreign import parse_json
from lexiscope.core.run import csv_lines, read_json, sha256_of
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.resources.tables.plain_lines import read_lines

SETTINGS, VECTORS, VOCABULARY, KIND = "settings.json", "vectors.safetensors", "vocabulary.tsv", "gasi"
_TYPES = {"F32": "<f4", "BOOL": "|b1"}
# queries that are compared with all senses at once: bounds the memory of a block
_BLOCK = 32
# words whose numbers are looked at together when a file is opened
_CHECKED = 4096
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A sense near another one: ``sense`` is its number from 0; ``distance`` is the cosine distance, lower = nearer."""

    word: str
    sense: int
    distance: float


@dataclass(frozen=True)
class SenseVectors:
    """Sense vectors of words.

    *Shape:* counts (words,); senses (words, K, width); contexts (words, width), of words in the window, which choose
    the sense; mask (words, K), false where a word has no such sense. ``name`` is where they come from.
    """

    words: tuple[str, ...]
    counts: NDArray[np.int64]
    senses: Floats
    contexts: Floats
    mask: NDArray[np.bool_]
    name: str = ""

    @cached_property
    def index(self) -> dict[str, int]:
        """Each word's number."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def norms(self) -> Floats:
        """The length of each sense vector. *Shape:* (words, K)."""
        blocks = range(0, len(self.words), 4096)
        return np.concatenate([np.linalg.norm(self.senses[start : start + 4096], axis=-1) for start in blocks])

    @property
    def n_senses(self) -> NDArray[np.int64]:
        """How many senses each word has. *Shape:* (words,)."""
        return np.asarray(self.mask.sum(axis=1), np.int64)

    def number(self, word: str) -> int:
        """Return the number of a word. Errors: :class:`InputError` E712 where it is out of vocabulary."""
        if word not in self.index:
            what = f"{word!r} is not among the {len(self.words):,} words of these vectors"
            hint = "words are lower case, one token each; a word must be frequent enough in the corpus to be learnt"
            raise InputError(what, code="E712", place=Place(self.name or None), hint=hint)
        return self.index[word]

    def distances(self, rows: Floats) -> Iterator[Floats]:
        """Give, for blocks of vectors, their cosine distances to all senses; infinite to senses that are not there.

        *Shape:* rows (queries, width); each block (queries of the block, words, K).
        """
        flat, norms = self.senses.reshape(-1, self.senses.shape[-1]), self.norms.reshape(-1)
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            lengths = np.linalg.norm(block, axis=1)[:, None] * norms
            cosine = (block @ flat.T) / np.where(lengths > 0, lengths, 1.0)
            distances = np.where(self.mask.reshape(-1), 1.0 - cosine, np.inf)
            yield distances.reshape(len(block), *self.mask.shape).astype(np.float32)


def read_sense_vectors(folder: Path) -> SenseVectors:
    """Open the vectors of a folder, mapped from disk, after checking its files.

    Errors: :class:`SubjectError` E711 where the folder holds none, is not finished, or a file is missing or damaged.
    """
    about = read_settings(folder)
    for name, expected in about["files"].items():
        if not (folder / name).is_file() or sha256_of(folder / name) != expected:
            what, hint = "this file of sense vectors is missing or damaged", "train them again, in another folder"
            raise SubjectError(what, code="E711", place=Place(str(folder / name)), hint=hint)
    arrays = map_tensors(folder / VECTORS)
    words, counts = _vocabulary(folder / VOCABULARY)
    if fault := _fault(arrays, len(words)):
        raise SubjectError(f"these are not sense vectors: {fault}", code="E711", place=Place(str(folder / VECTORS)))
    return SenseVectors(words, counts, arrays["senses"], arrays["contexts"], arrays["mask"], str(folder))


def _vocabulary(path: Path) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    try:
        lines = read_lines(path)
        cells = [lines.cells(row, ("word", "count")) for row in range(len(lines))]
        words, counts = tuple(word for word, _ in cells), np.array([int(count) for _, count in cells], np.int64)
    except (InputError, ValueError, OverflowError) as error:
        what = "this is not a vocabulary: a line is a word, a tab, and how often the word occurs"
        raise SubjectError(what, code="E711", place=Place(str(path)), why=str(error)) from error
    if len(set(words)) < len(words) or (counts < 0).any():
        what = "in this vocabulary a word occurs twice, or occurs less than 0 times"
        raise SubjectError(what, code="E711", place=Place(str(path)))
    return words, counts


def _fault(arrays: Mapping[str, NDArray[Any]], n_words: int) -> str:
    """Return the reason why arrays are not the vectors of this number of words; empty if they are."""
    absent = {"senses", "contexts", "mask"} - set(arrays)
    if absent:
        return f"there is no array {', '.join(sorted(absent))}"
    senses, contexts, mask = (arrays[name] for name in ("senses", "contexts", "mask"))
    n_senses, width = senses.shape[1:] if senses.ndim == 3 else (0, 0)
    shapes = (n_words, n_senses, width), (n_words, width), (n_words, n_senses)
    types = [array.dtype.kind for array in (senses, contexts, mask)]
    if (senses.shape, contexts.shape, mask.shape) != shapes or not width or types != ["f", "f", "b"]:
        shown = ", ".join(f"{name} {arrays[name].shape}" for name in ("senses", "contexts", "mask"))
        return f"{shown} for {n_words:,} words"
    for start in range(0, n_words, _CHECKED):
        part = slice(start, start + _CHECKED)
        if not (np.isfinite(senses[part]).all() and np.isfinite(contexts[part]).all()):
            return "a number is not finite"
    return "" if mask.any(axis=1).all() else "a word has no sense"


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the record of sense vectors.

    Errors: :class:`SubjectError` E711 where there is none, or it is of something else.
    """
    path, hint = folder / SETTINGS, "name a folder that `lexiscope train gasi` wrote"
    if not path.is_file():
        raise SubjectError(
            "this folder holds no finished sense vectors", code="E711", place=Place(str(folder)), hint=hint
        )
    try:
        about = read_json(path)
    except RunError as error:
        raise SubjectError("this record is damaged", code="E711", place=Place(str(path)), why=error.why) from error
    files = about.get("files")
    if about.get("kind") != KIND or not isinstance(files, dict) or not {VECTORS, VOCABULARY} <= set(files):
        raise SubjectError("this folder holds no sense vectors", code="E711", place=Place(str(path)), hint=hint)
    settings, shape = about.get("settings", {}), about.get("shape")
    counts = [*shape, about.get("n_senses")] if isinstance(shape, list) and shape else [None]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise SubjectError("this record does not say how many senses there are", code="E711", place=Place(str(path)))
    if not isinstance(settings, dict) or not isinstance(settings.get("window", 1), int):
        raise SubjectError("the settings in this record are damaged", code="E711", place=Place(str(path)))
    return about


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the arrays of a safetensors file into memory. Errors: :class:`SubjectError` E711 for a damaged file."""
    try:
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            header = dict(parse_json(stream.read(length) if length < path.stat().st_size else b""))
        return {
            name: np.memmap(
                path, _TYPES[tensor["dtype"]], "r", 8 + length + tensor["data_offsets"][0], tuple(tensor["shape"])
            )
            for name, tensor in header.items()
            if name != "__metadata__"
        }
    except (OSError, ValueError, KeyError, TypeError, struct.error, OverflowError, MemoryError) as error:
        what = "this file of vectors cannot be read"
        raise SubjectError(what, code="E711", place=Place(str(path)), why=str(error)) from error


def sense_probabilities(vectors: SenseVectors, word: int, window: NDArray[np.int64]) -> Floats:
    """Return the probability of each sense of a word among the words of a window. *Shape:* (K,). *Source:* eq. 8.

    softmax(c̄·s_k) over the senses that are there; without a known word all of them are equally probable.
    """
    mask = np.asarray(vectors.mask[word])
    if not len(window):
        return np.asarray(mask / mask.sum(), np.float32)
    mean = np.asarray(vectors.contexts[window], np.float64).mean(axis=0)
    logits = np.where(mask, np.asarray(vectors.senses[word], np.float64) @ mean, -np.inf)
    exponents = np.exp(logits - logits.max())
    return np.asarray(exponents / exponents.sum(), np.float32)


def window_probabilities(vectors: SenseVectors, word: int, windows: Sequence[Sequence[int]]) -> Floats:
    """Return :func:`sense_probabilities` of a word among each of many windows. *Shape:* (windows, K)."""
    return padded_probabilities(vectors, word, _pad_windows(windows))


def padded_probabilities(vectors: SenseVectors, word: int, windows: NDArray[np.int64]) -> Floats:
    """Return :func:`window_probabilities` for windows in one array, −1 naming no word. *Shape:* (windows, K)."""
    mask = np.asarray(vectors.mask[word])
    means = _means(vectors.contexts, windows)
    logits = np.where(mask, means @ np.asarray(vectors.senses[word], np.float64).T, -np.inf)
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), np.float32)


def window_means(rows: Floats, windows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the mean of the rows that each window names; zeros where it names none. *Shape:* (windows, width)."""
    return _means(rows, _pad_windows(windows))


def _pad_windows(windows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Return windows of unequal length in one array, filled up with −1. *Shape:* (windows, the longest)."""
    filled = np.full((len(windows), max(map(len, windows), default=0)), -1, np.int64)
    for place, window in enumerate(windows):
        filled[place, : len(window)] = window
    return filled


def _means(rows: Floats, windows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of the rows that each window names, −1 naming none. *Shape:* (windows, width)."""
    means = np.zeros((len(windows), rows.shape[1]))
    # one place of all windows after the other: memory is that of a row for each window
    for column in windows.T:
        there = np.flatnonzero(column >= 0)
        means[there] += rows[column[there]]
    return np.asarray(means / np.maximum((windows >= 0).sum(axis=1), 1)[:, None])


# -- the log of a training of sense vectors: a file in their folder, one row for some chunks of the text ------------


LOG = "training_log.csv"


@dataclass(frozen=True, slots=True)
class LogRow:
    """The result of some chunks.

    ``tokens``: numbers read so far, over all epochs: known words and line ends, before sub-sampling.
    ``loss``: of a pair of words and its negatives, *unit:* nats.
    ``entropy``: of γ as it was drawn, and without noise as a usage is judged, means over windows, *unit:* nats.
    ``signal_mean`` and ``signal_sd``: of c̄·s_k; ``noise_sd``: of the noise on it. *Source:* GASI, Fig. 3.
    """

    epoch: int
    tokens: int
    rate: float
    loss: float
    entropy: float
    entropy_without_noise: float
    signal_mean: float
    signal_sd: float
    noise_sd: float


def log_text(log: Sequence[LogRow]) -> str:
    """Return the log as CSV with a header."""
    return csv_lines([column.name for column in fields(LogRow)], map(astuple, log))


def read_log(folder: Path) -> tuple[LogRow, ...]:
    """Return the log of the training in a folder; vectors that were not trained there (pruned ones) have none."""
    if not (folder / LOG).is_file():
        return ()
    names = [column.name for column in fields(LogRow)]
    rows = read_csv(folder / LOG, names, may_be_empty=True).rows()
    kinds: dict[str, Callable[[str], Any]] = {name: int if name in ("epoch", "tokens") else float for name in names}
    return tuple(LogRow(**{name: kind(cells[name]) for name, kind in kinds.items()}) for _, cells in rows)
