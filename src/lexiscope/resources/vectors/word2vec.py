"""Sense vectors in the two formats of word2vec, text and binary, for other programs; and vectors of words, read.

The first line gives the number of vectors and their width. A sense is named ``word#1``, ``word#2`` …, in the order in
which it is among the senses of its word, numbered from 1 without gaps for those that are not there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from lexiscope.core.errors import Place, RunError
from lexiscope.core.settings import Option
from lexiscope.resources.vectors.multi_sense.form import Floats, Lines
from lexiscope.resources.vectors.sense_vectors import SenseVectors

Form = Literal["text", "binary"]
FORMS: tuple[Form, ...] = ("text", "binary")


def write_word2vec(
    path: Path, vectors: SenseVectors, form: Annotated[Form, Option("of word2vec", flag="--format")] = "text"
) -> int:
    """Write every sense that is there, word after word; return how many.

    Text has the shortest decimals that read back as the same numbers; binary is little-endian float32.
    Errors: :class:`RunError` where the file cannot be written; the file that was there stays.
    """
    count, width = int(vectors.mask.sum()), vectors.senses.shape[-1]
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(f"{count} {width}\n".encode())
            stream.writelines(_records(vectors, form))
        temporary.replace(path)
    except OSError as error:
        # on a disk that is only read, what is not there cannot be removed either
        with contextlib.suppress(OSError):
            temporary.unlink()
        hint = "make room or choose another place"
        raise RunError("this file cannot be written", place=Place(str(path)), why=str(error), hint=hint) from error
    return count


def _records(vectors: SenseVectors, form: Form) -> Iterator[bytes]:
    for number, word in enumerate(vectors.words):
        for place, sense in enumerate(np.flatnonzero(vectors.mask[number]), start=1):
            row = np.asarray(vectors.senses[number, sense], "<f4")
            name = f"{word}#{place} ".encode()
            # str of a float32 is the shortest text that is read back as the same number
            yield name + (row.tobytes() if form == "binary" else " ".join(map(str, row)).encode()) + b"\n"


# -- vectors of words -------------------------------------------------------------------------------------------------
# Vectors of words, one for each, in the text formats of word2vec, GloVe and fastText: only those that are asked for.
#
# A line is a word and its numbers, divided by blanks; a first line of two whole numbers (how many, how wide) may stand
# before them. Files may be gzipped. A file of a million words is gone through once and never held.


def read_word_vectors(path: Path, words: Collection[str]) -> dict[str, Floats]:
    """Return the vectors of those *words* that the file has, by word; the first one of a word that occurs twice.

    A word is looked up unchanged. *Shape:* (width,) each. Errors: :class:`InputError` E720 with file and line: a
    file that cannot be read or is empty, an asked word's line with another number of numbers than the first line, or
    with one that is none.
    """
    wanted, vectors = set(words), {}
    lines = Lines(path)
    width = 0
    for line in lines:
        word, _, rest = line.rstrip(" ").partition(" ")
        if not width:
            cells = rest.split()
            if len(cells) == 1 and word.isdigit() and cells[0].isdigit():
                width = lines.whole(cells[0], "the width of the vectors", at_least=1)
                continue
            width = len(cells)
            if not width:
                lines.refuse("a line is a word and its numbers, divided by blanks")
        if word in wanted:
            wanted.discard(word)
            vectors[word] = lines.numbers(rest, width, f"the vector of {word!r}")
    if not width:
        lines.refuse("this file holds no vectors")
    return vectors
