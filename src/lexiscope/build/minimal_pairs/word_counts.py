"""How often words occur: in a table of counts, or in a lexicon's own corpus. Letter case is ignored everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.lexicons.lexicon import Lexicon, lemma_count
from lexiscope.resources.tables.rows import RowReader


def read_frequencies(path: Path | str, *, word: str = "word", count: str = "count") -> dict[str, float]:
    """Read a table of frequencies: one column of words, one of counts or rates. Keys are in folded case.

    Words that differ in case only are added up.
    Errors: :class:`InputError` with file and line: E006 (no such column), E446 (no number of 0 or more), E449 (the same
    word twice), E002 (no words), and those of :class:`~lexiscope.resources.tables.rows.RowReader`.
    """
    rows = RowReader(path).rows()
    header = next(rows)
    for name in (word, count):
        if name not in header.fields:
            raise InputError(f"no column {name!r}", code="E006", place=header.place(), hint="name the column")
    at, number = header.fields.index(word), header.fields.index(count)
    frequencies: dict[str, float] = {}
    for row in rows:
        if row.fields[at] in frequencies:
            raise InputError(f"{row.fields[at]!r} stands twice", code="E449", place=row.place(at), hint="add them up")
        frequencies[row.fields[at]] = _frequency(row.fields[number], row.place(number))
    if not frequencies:
        raise InputError("this table has no words", code="E002", place=Place(str(path)), hint="add rows")
    return fold_frequencies(frequencies)


def fold_frequencies(frequencies: Mapping[str, float]) -> dict[str, float]:
    """Return frequencies by words in folded case; those of words that differ in case only are added up.

    >>> fold_frequencies({"Tree": 3.0, "tree": 12.0})
    {'tree': 15.0}
    """
    sums: dict[str, float] = {}
    for word, frequency in frequencies.items():
        sums[word.casefold()] = sums.get(word.casefold(), 0.0) + frequency
    return sums


def noun_count(lexicon: Lexicon, word: str) -> int:
    """Return how often a noun was tagged in the lexicon's own corpus, all senses together; 0 for no noun of it.

    A form that is no lemma (a plural) has the count of its base form, of several the largest: corpora are tagged with
    lemmas, so the forms of a noun cannot be told apart.
    """
    if lexicon.senses(word, "n"):
        return lemma_count(lexicon, word, "n")
    return max((lemma_count(lexicon, base, "n") for base in lexicon.base_forms(word, "n")), default=0)


def lexicon_frequencies(lexicon: Lexicon, words: Iterable[str]) -> dict[str, float]:
    """Return :func:`noun_count` of words, by words in folded case.

    Most nouns of WordNet were never tagged: counts of a large corpus match better.
    """
    return {word.casefold(): float(noun_count(lexicon, word)) for word in words}


def _frequency(text: str, place: Place) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InputError(f"a frequency is a number of 0 or more, not {text!r}", code="E446", place=place)
    return value
