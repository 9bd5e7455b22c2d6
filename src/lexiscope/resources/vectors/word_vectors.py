"""Vectors of words, one for each, in the text formats of word2vec, GloVe and fastText: only those that are asked for.

A line is a word and its numbers, divided by blanks; a first line of two whole numbers (how many, how wide) may stand
before them. Files may be gzipped. A file of a million words is gone through once and never held.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from lexiscope.resources.vectors.multi_sense.form import Floats, Lines


def read_word_vectors(path: Path, words: Collection[str]) -> dict[str, Floats]:
    """Return the vectors of those *words* that the file has, by word; of a word that comes twice the first.

    A word is looked up as it stands. *Shape:* (width,) each. Errors: :class:`InputError` E720 with file and line: a
    file that cannot be read or is empty, an asked word's line with another number of numbers than the first line, or
    with one that is none.
    """
    wanted, found = set(words), {}
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
            found[word] = lines.numbers(rest, width, f"the vector of {word!r}")
    if not width:
        lines.refuse("this file holds no vectors")
    return found
