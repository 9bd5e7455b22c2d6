"""MSSG and NP-MSSG (Neelakantan et al. 2014), released for the 6,000 and the 30,000 most frequent words: plain or gzip.

The first line has the number of words, the width, the most senses, and 1 for the variant ``MaxOut``, else 0. Each word
then has a line with its letters and its number of senses, a line with its global vector, and for each sense a line with
its vector and, but for ``MaxOut``, one with the centre of its cluster, the mean of its contexts. Words beyond the most
frequent have one sense. A sense is chosen by the centre that is nearest to the mean of the global vectors around.
*Source:* the program that writes them, MultiSenseWordEmbeddingModel.scala, in ExplorerFreda/Multi-Sense-Skip-Gram on
GitHub.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lexiscope.resources.vectors.multi_sense.form import Floats, Lines, MultiSense


def read_mssg(path: Path) -> MultiSense:
    """Read a file of vectors; its global vectors are the contexts.

    Errors: :class:`InputError` E720 with file and line: another header, a word that occurs twice, a vector of another
    width, a file that ends early or continues after its last word.
    """
    lines = Lines(path)
    n_words, width, most, maxout = _header(lines)
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


def _header(lines: Lines) -> tuple[int, int, int, bool]:
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
