"""MUSE (Lee & Chen 2017): the dump that its test program writes on instruction 6.

Two files with a line for each sense, in the same order: the vectors, numbers with spaces between, and the index,
``word_1``, ``word_2`` …, senses numbered from 1. There are no probabilities and no vectors of contexts in them.
*Source:* MiuLab/MUSE on GitHub, README and MUSE_test.py.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.resources.vectors.multi_sense.form import Floats, Lines, MultiSense, group_senses, split_name


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
