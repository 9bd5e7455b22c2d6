"""A corpus as numbers on disk: int32 files that are mapped into memory, identical for the same input.

A token is the number of its word; words outside the vocabulary are dropped; -1 ends a line. ``shards.json`` is
written last and says what the files were made of: shards of other text, or half of them, are made again.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import folder_lock, read_json, sha256_of, write_atomically, write_json
from lexiscope.resources.corpora.running_text import TOKENISER, Progress, Tokenisation, read_corpus, words_of
from lexiscope.training.gasi.vocabulary import Vocabulary, VocabularyLimits, count_words, read_vocabulary

ABOUT, VOCABULARY = "shards.json", "vocabulary.tsv"
#: tokens and line ends of one file
SHARD_TOKENS = 1 << 24
LINE_END = -1
_VERSION = 1


@dataclass(frozen=True)
class Shards:
    """A corpus as numbers: its ``vocabulary``, its mapped files, and ``about``, the record of how it was made."""

    folder: Path
    vocabulary: Vocabulary
    parts: tuple[NDArray[np.int32], ...]
    about: dict[str, Any]

    @property
    def n_tokens(self) -> int:
        """Numbers in all parts, line ends included."""
        return sum(map(len, self.parts))

    def chunk(self, start: int, size: int) -> NDArray[np.int32]:
        """Return *size* numbers from *start* on (fewer at the end), over the borders of files."""
        pieces, before = [], 0
        for part in self.parts:
            low, high = max(start - before, 0), min(start + size - before, len(part))
            pieces += [np.asarray(part[low:high])] if low < high else []
            before += len(part)
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int32)


def make_shards(
    files: Sequence[Path],
    folder: Path,
    *,
    limits: VocabularyLimits | None = None,
    tokenisation: Tokenisation = "own",
    vocabulary: Vocabulary | None = None,
    shard_tokens: int = SHARD_TOKENS,
    progress: Progress | None = None,
) -> Shards:
    """Turn a corpus to numbers in *folder*, or open those that were made of the same text in the same way.

    With a *vocabulary* nothing is counted. Errors: those of
    :func:`~lexiscope.training.gasi.vocabulary.count_words`; :class:`InputError` E704 where nothing of the vocabulary
    is in the text; :class:`RunError` where the folder cannot be written to, or where another process writes to it: two
    corpora would be mixed.
    """
    asked = _corpus_record(files, limits or VocabularyLimits(), tokenisation, vocabulary, shard_tokens)
    if (folder / ABOUT).is_file() and read_json(folder / ABOUT).get("asked") == asked:
        return open_shards(folder)
    with folder_lock(folder):
        (folder / ABOUT).unlink(missing_ok=True)
        known = vocabulary or count_words(files, limits or VocabularyLimits(), tokenisation, progress=progress)
        names: list[str] = []
        numbers = itertools.chain.from_iterable(_numbers(files, known, tokenisation, progress))
        while len(part := np.fromiter(itertools.islice(numbers, shard_tokens), np.int32)):
            names.append(f"shard-{len(names):05d}.i32")
            write_atomically(folder / names[-1], part.astype("<i4").tobytes())
        if not names:
            what = "no line of this corpus has two words of the vocabulary"
            hint = "give more text, or words that are rarer: a smaller --min-count, a larger --top"
            raise InputError(what, code="E704", place=Place(str(files[0])), hint=hint)
        return _finish_shards(folder, names, known, asked)


def renamed_shards(shards: Shards, names: Mapping[str, str], folder: Path) -> Shards:
    """Write the same corpus with some words written as others, as if its text had been changed, and open it.

    Two words may become one: its count is the sum of theirs. Frequency limits are not applied again. Finished shards of
    the same are only opened. Errors: :class:`InputError` E706 for a word that is not in the vocabulary.
    """
    old = shards.vocabulary
    absent = sorted(set(names) - set(old.words))
    if absent:
        what = f"{absent[0]!r} is not in the vocabulary of this corpus, so it cannot be written as another word"
        raise InputError(what, code="E706", place=Place(str(shards.folder)))
    asked = {"version": _VERSION, "renamed": dict(sorted(names.items())), "of": shards.about["files"]}
    if (folder / ABOUT).is_file() and read_json(folder / ABOUT).get("asked") == asked:
        return open_shards(folder)
    counts: Counter[str] = Counter()
    for word, count in zip(old.words, old.counts.tolist(), strict=True):
        counts[names.get(word, word)] += count
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    known = Vocabulary(tuple(word for word, _ in ordered), np.array([n for _, n in ordered], np.int64), old.n_tokens)
    # the last place is that of line ends, which are -1
    numbers = np.array([*(known.index[names.get(word, word)] for word in old.words), LINE_END], "<i4")
    files = [f"shard-{number:05d}.i32" for number in range(len(shards.parts))]
    with folder_lock(folder):
        (folder / ABOUT).unlink(missing_ok=True)
        for name, part in zip(files, shards.parts, strict=True):
            write_atomically(folder / name, numbers[part].tobytes())
        return _finish_shards(folder, files, known, asked)


def open_shards(folder: Path) -> Shards:
    """Open shards that are finished. Errors: :class:`InputError` E707 for a damaged file; :class:`RunError`."""
    about = read_json(folder / ABOUT)
    for name, expected in about["files"].items():
        if not (folder / name).is_file() or sha256_of(folder / name) != expected:
            what, hint = "this file of a corpus is missing or damaged", f"delete {ABOUT} in its folder and begin again"
            raise InputError(what, code="E707", place=Place(str(folder / name)), hint=hint)
    parts = [np.memmap(folder / name, dtype="<i4", mode="r") for name in sorted(about["files"]) if name != VOCABULARY]
    vocabulary = read_vocabulary(folder / VOCABULARY, about["n_tokens"])
    return Shards(folder, vocabulary, tuple(parts), about)


def _finish_shards(folder: Path, names: Sequence[str], vocabulary: Vocabulary, asked: dict[str, Any]) -> Shards:
    """Write the vocabulary and, last, what the files were made of."""
    write_atomically(folder / VOCABULARY, vocabulary.text())
    sums = {name: sha256_of(folder / name) for name in (*names, VOCABULARY)}
    about = {"asked": asked, "files": sums, "n_tokens": vocabulary.n_tokens, "n_words": len(vocabulary.words)}
    write_json(folder / ABOUT, about)
    return open_shards(folder)


def _corpus_record(
    files: Sequence[Path],
    limits: VocabularyLimits,
    tokenisation: Tokenisation,
    vocabulary: Vocabulary | None,
    size: int,
) -> dict[str, Any]:
    words: dict[str, Any] = {"min_count": limits.min_count, "top": limits.top}
    if vocabulary is not None:
        words = {"given": hashlib.sha256(vocabulary.text().encode()).hexdigest()}
    cut: dict[str, Any] = {"tokeniser": TOKENISER} if tokenisation == "own" else {}
    return {
        "version": _VERSION,
        "corpus": [{"name": path.name, "sha256": sha256_of(path)} for path in files],
        "tokenisation": tokenisation,
        **cut,
        "words": words,
        "shard_tokens": size,
    }


def _numbers(
    files: Sequence[Path], vocabulary: Vocabulary, tokenisation: Tokenisation, progress: Progress | None
) -> Iterator[list[int]]:
    """Give the numbers of each line with its end; a line with fewer than two known words teaches nothing."""
    index = vocabulary.index
    for line in read_corpus(files, part="write numbers", progress=progress):
        numbers = [index[word] for word in words_of(line, tokenisation) if word in index]
        if len(numbers) > 1:
            numbers.append(LINE_END)
            yield numbers
