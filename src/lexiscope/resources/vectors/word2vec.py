"""Sense vectors in the two formats of word2vec, text and binary, for other programs.

The first line gives the number of vectors and their width. A sense is named ``word#1``, ``word#2`` …, in the order in
which it stands among the senses of its word, numbered from 1 without gaps for those that are not there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from lexiscope.core.errors import Place, RunError
from lexiscope.core.settings import Option
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
