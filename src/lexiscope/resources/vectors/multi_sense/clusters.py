"""Senses as lists of vectors, without a model of their shares: MUSE, MSSG, ego networks.

MUSE (Lee & Chen 2017): the dump that its test program writes on instruction 6.

Two files with a line for each sense, in the same order: the vectors, numbers with spaces between, and the index,
``word_1``, ``word_2`` …, senses numbered from 1. There are no probabilities and no vectors of contexts in them.
*Source:* MiuLab/MUSE on GitHub, README and MUSE_test.py.

MSSG and NP-MSSG (Neelakantan et al. 2014), released for the 6,000 and the 30,000 most frequent words: plain or gzip.

The first line has the number of words, the width, the most senses, and 1 for the variant ``MaxOut``, else 0. Each word
then has a line with its letters and its number of senses, a line with its global vector, and for each sense a line with
its vector and, but for ``MaxOut``, one with the centre of its cluster, the mean of its contexts. Words beyond the most
frequent have one sense. A sense is chosen by the centre that is nearest to the mean of the global vectors around.
*Source:* the program that writes them, MultiSenseWordEmbeddingModel.scala, in ExplorerFreda/Multi-Sense-Skip-Gram on
GitHub.

Senses induced from ego networks (SenseGram, Pelevina et al. 2016): word2vec files whose words are ``word#sense``.

The first line has the number of vectors and their width; then come the vectors, as text, a line each, or binary: the
name, a space, the numbers as little-endian float32, and mostly a line end. The inventory has a line for each
sense, ``word#sense`` TAB probability. Senses of a word need not be consecutive. Files of this form are also what
:func:`lexiscope.resources.vectors.word2vec.write_word2vec` writes. *Source:* uhh-lt/sensegram on GitHub, sensegram.py
and README; the binary form is word2vec's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from lexiscope.resources.vectors.multi_sense.form import (
    Floats,
    Lines,
    MultiSense,
    damage_error,
    group_senses,
    split_name,
)


def read_muse(vectors: Path, index: Path) -> MultiSense:
    """Read the vectors and the index of their senses.

    Errors: :class:`InputError` E720 with file and line: files of unequal length, a name without a number, a sense that
    is named twice, a vector of another width than the first, no sense at all.
    """
    names, rows = Lines(index), Lines(vectors)
    owners: list[str] = []
    vector_rows: list[Floats] = []
    seen: set[str] = set()
    for name in names:
        word, sense = split_name(names, name, "_")
        names.whole(sense, "the number of a sense", at_least=1)
        if name in seen:
            names.refuse(f"the sense {name!r} occurs twice in the index")
        seen.add(name)
        row = rows.expect(f"the vector of {name!r}")
        vector_rows.append(
            rows.numbers(row, len(vector_rows[0]) if vector_rows else max(1, len(row.split())), "a vector")
        )
        owners.append(word)
    if not owners:
        names.expect("the first sense")
    if next(rows, None) is not None:
        rows.refuse(f"there are more vectors than the {len(owners):,} senses of {index.name}")
    return group_senses(owners, vector_rows, name=str(vectors))


def read_mssg(path: Path) -> MultiSense:
    """Read a file of vectors; its global vectors are the contexts.

    Errors: :class:`InputError` E720 with file and line: another header, a word that occurs twice, a vector of another
    width, a file that ends early or continues after its last word.
    """
    lines = Lines(path)
    n_words, width, most, maxout = _mssg_header(lines)
    words: list[str] = []
    counts, contexts, senses, centres = [], [], [], []
    seen: set[str] = set()
    for _ in range(n_words):
        word, n_senses = _word(lines, seen, most)
        words.append(word)
        counts.append(n_senses)
        contexts.append(_vector(lines, width, "the global vector", word))
        for _ in range(n_senses):
            senses.append(_vector(lines, width, "the vector of a sense", word))
            centres += [] if maxout else [_vector(lines, width, "the centre of a sense", word)]
    if any(line.strip() for line in lines):
        lines.refuse(f"the file continues after the {n_words:,} words of its first line")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    middle = np.array(centres, np.float32) if centres else None
    return MultiSense(tuple(words), starts, np.array(senses), None, np.array(contexts), middle, str(path))


def _mssg_header(lines: Lines) -> tuple[int, int, int, bool]:
    cells = lines.expect("the number of words, the width, the most senses, and 0 or 1").split()
    if len(cells) != 4 or cells[3] not in ("0", "1"):
        lines.refuse("the first line has the number of words, the width, the most senses, and 0 or 1")
    n_words, width, most = (lines.whole(cell, "a number of the first line", at_least=1) for cell in cells[:3])
    return n_words, width, most, cells[3] == "1"


def _word(lines: Lines, seen: set[str], most: int) -> tuple[str, int]:
    word, _, count = lines.expect("a word and its number of senses").rstrip(" ").rpartition(" ")
    if not word or word in seen:
        lines.refuse(f"a new word and its number of senses are needed; there is {lines.text[:40]!r}")
    seen.add(word)
    n_senses = lines.whole(count, "the number of senses", at_least=1)
    if n_senses > most:
        lines.refuse(f"{word!r} has {n_senses} senses; the first line says {most} at most")
    return word, n_senses


def _vector(lines: Lines, width: int, what: str, word: str) -> Floats:
    said = f"{what} of {word!r}"
    return lines.numbers(lines.expect(said), width, said)


_SIGN = "#"
_LONGEST_NAME = 4096


def read_ego_network(vectors: Path, inventory: Path | None = None) -> MultiSense:
    """Read vectors written as text and, if it is given, the inventory.

    Errors: :class:`InputError` E720 with file and line: another header, a name without ``#``, a sense that occurs
    twice, a vector of another width, another number of vectors, a sense that only one of the files has.
    """
    lines = Lines(vectors)
    count, width = _header(lines, lines.expect("the number of vectors and their width"))
    names: dict[str, str] = {}
    rows = []
    for line in lines:
        name, _, text = line.partition(" ")
        word, _ = split_name(lines, name, _SIGN)
        if name in names:
            lines.refuse(f"the sense {name!r} occurs twice")
        names[name] = word
        rows.append(lines.numbers(text, width, f"the vector of {name!r}"))
    if len(names) != count:
        lines.refuse(f"the first line says {count:,} vectors; there are {len(names):,}")
    return _with_priors(vectors, names, rows, inventory)


def read_ego_network_binary(vectors: Path, inventory: Path | None = None) -> MultiSense:
    """Read vectors written in word2vec's binary form and, if it is given, the inventory.

    Errors: :class:`InputError` E720 with file, and the number of the damaged vector; as :func:`read_ego_network`.
    """
    names: dict[str, str] = {}
    rows = []
    try:
        with vectors.open("rb") as stream:
            header = Lines(vectors)
            header.number, header.text = 1, stream.readline(_LONGEST_NAME).decode("utf-8", "replace").rstrip("\r\n")
            count, width = _header(header, header.text)
            for number in range(1, count + 1):
                begin = stream.tell()
                name, row = _record(stream, vectors, number, width)
                word, _, sense = name.rpartition(_SIGN)
                if not word or not sense or name in names:
                    raise damage_error(
                        vectors, f"vector {number}: a new WORD#SENSE is needed; there is {name[:40]!r}", byte=begin
                    )
                names[name] = word
                rows.append(row)
            if stream.read().strip():
                raise damage_error(vectors, f"the file continues after the {count:,} vectors of its first line")
    except OSError as error:
        raise damage_error(vectors, "this file cannot be read", why=str(error)) from error
    return _with_priors(vectors, names, rows, inventory)


def _header(lines: Lines, text: str) -> tuple[int, int]:
    cells = text.split()
    if len(cells) != 2:
        lines.refuse("the first line has the number of vectors and their width")
    count, width = (lines.whole(cell, "a number of the first line", at_least=1) for cell in cells)
    return count, width


def _record(stream: BinaryIO, path: Path, number: int, width: int) -> tuple[str, Floats]:
    letters, begin = bytearray(), stream.tell()
    while (char := stream.read(1)) not in (b" ", b""):
        # some programs end a record with a line end, some do not
        letters += b"" if char == b"\n" and not letters else char
        if len(letters) > _LONGEST_NAME:
            raise damage_error(path, f"vector {number}: there is no name of a sense here", byte=begin)
    data = stream.read(4 * width)
    row = np.frombuffer(data, "<f4") if len(data) == 4 * width else np.array([np.nan], np.float32)
    if not np.isfinite(row).all():
        raise damage_error(path, f"vector {number} is cut off, or holds a number that is not finite", byte=begin)
    try:
        return letters.decode("utf-8"), row
    except UnicodeDecodeError as error:
        what = f"vector {number}: the name of the sense is not UTF-8"
        raise damage_error(path, what, byte=begin, why=str(error)) from error


def _with_priors(vectors: Path, names: dict[str, str], rows: Sequence[Floats], inventory: Path | None) -> MultiSense:
    owners = list(names.values())
    if inventory is None:
        return group_senses(owners, rows, name=str(vectors))
    lines, priors = Lines(inventory), dict[str, float]()
    for line in lines:
        name, _, text = line.partition("\t")
        if name not in names or name in priors:
            lines.refuse(f"a sense of {vectors.name} is needed, once; there is {name[:40]!r}")
        priors[name] = float(lines.numbers(text, 1, "a probability")[0])
        if priors[name] < 0:
            lines.refuse("a probability cannot be negative")
    missing = [name for name in names if name not in priors]
    if missing:
        lines.refuse(f"{len(missing):,} senses of {vectors.name} have no probability, {missing[0]!r} for one")
    return group_senses(owners, rows, priors=[priors[name] for name in names], name=str(vectors))
