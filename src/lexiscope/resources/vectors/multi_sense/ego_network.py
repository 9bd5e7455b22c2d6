"""Senses induced from ego networks (SenseGram, Pelevina et al. 2016): word2vec files whose words are ``word#sense``.

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
