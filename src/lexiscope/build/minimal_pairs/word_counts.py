"""How often words occur, in a table of counts or a lexicon's corpus; and random nouns that compete with a synonym."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.resources.lexicons.lexicon import Lexicon, Pos, lemma_count
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
            raise InputError(f"{row.fields[at]!r} occurs twice", code="E449", place=row.place(at), hint="add them up")
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


def tagged_count(lexicon: Lexicon, word: str, pos: Pos = "n") -> int:
    """Return the number of tagged occurrences of a word in the lexicon's corpus, in all senses of a part of speech.

    A form that is not a lemma (a plural) has the count of its base form, the largest if it has several: corpora are
    tagged with lemmas, so the forms of a word cannot be separated.
    """
    if senses := lexicon.senses(word, pos):
        return sum(sense.count for sense in senses)
    return max((lemma_count(lexicon, base, pos) for base in lexicon.base_forms(word, pos)), default=0)


def lexicon_frequencies(lexicon: Lexicon, words: Iterable[str], pos: Pos = "n") -> dict[str, float]:
    """Return :func:`tagged_count` of words, by words in folded case.

    Most nouns of WordNet were never tagged: counts of a large corpus match better.
    """
    return {word.casefold(): float(tagged_count(lexicon, word, pos)) for word in words}


def _frequency(text: str, place: Place) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InputError(f"a frequency is a number of 0 or more, not {text!r}", code="E446", place=place)
    return value


# -- random nouns ---------------------------------------------------------------------------------------------------
# Random nouns that compete with a synonym: drawn from a list, by a seed, never a synonym of any sense of the target.
#
# Drawn from a dictionary such nouns are mostly rare, and a synonym beats them by its frequency alone;
# :func:`matched_nouns` draws among nouns that are about as frequent.


N_NOUNS = 10
_NEAREST = 50


def draw_nouns(
    nouns: Iterable[str], *, excluded: Collection[str], key: str, seed: int = 0, n: int = N_NOUNS
) -> tuple[str, ...]:
    """Return *n* different nouns, none of them excluded (case ignored).

    The draw depends on the seed, the *key* (an item's id) and the nouns, not on what else is drawn.
    Errors: :class:`InputError` E444 where fewer than *n* are left.

    >>> draw_nouns(["apple", "moon", "gate", "Door"], excluded=["door", "gate"], key="1", n=2) in (
    ...     ("apple", "moon"), ("moon", "apple"))
    True
    """
    left = _eligible(nouns, excluded)
    # seeded with text: Python hashes it with SHA-512, the same on every machine and in every process
    _check_enough(left, n, key)
    return tuple(random.Random(f"{seed}\n{key}").sample(left, n))


def matched_nouns(
    nouns: Iterable[str],
    frequencies: Mapping[str, float],
    word: str,
    *,
    excluded: Collection[str],
    key: str,
    seed: int = 0,
    n: int = N_NOUNS,
    nearest: int = _NEAREST,
) -> tuple[str, ...]:
    """Return *n* different nouns about as frequent as *word*: drawn from the *nearest* ones by log frequency.

    *frequencies* are counts or rates, letter case ignored; the distance is that of log(1 + frequency). A noun that they
    do not list has frequency 0; nouns as far as the last of the nearest may be drawn too.
    Errors: :class:`InputError` E444 where too few nouns are left, E445 where *word* is not listed.

    >>> counts = {"role": 90, "part": 95, "actor": 80, "tibia": 1, "ulna": 2}
    >>> sorted(matched_nouns(counts, counts, "role", excluded=["role"], key="1", n=2, nearest=2))
    ['actor', 'part']
    """
    counts = fold_frequencies(frequencies)
    if word.casefold() not in counts:
        raise InputError(
            f"the frequency of {word!r} is not known",
            code="E445",
            place=Place(item_id=key),
            hint="add the word to the table of frequencies (a count of 0 where it never occurs)",
        )
    wanted = math.log1p(counts[word.casefold()])
    left = _eligible(nouns, excluded)
    distances = {noun: abs(math.log1p(counts.get(noun.casefold(), 0.0)) - wanted) for noun in left}
    farthest = sorted(distances.values())[: max(n, nearest)][-1:]
    # all that are as near as the farthest may be drawn: the head of a list is no fair sample of it (WordNet's are acts)
    near = [noun for noun in left if [distances[noun]] <= farthest]
    return draw_nouns(near, excluded=(), key=key, seed=seed, n=n)


def excluded_words(item: SynonymItem, lexicon: Lexicon | None = None) -> frozenset[str]:
    """Return what may not be drawn for an item, in lower case: its three words, its synset and, with a *lexicon*, all
    lemmas of all senses of the target in its part of speech.
    """
    words = {item.target, item.synonym, *filter(None, [item.distractor]), *item.forms_of}
    if lexicon is not None:
        # a plural target has the senses of its singular
        lemmas = {item.target, *lexicon.base_forms(item.target, item.pos)}
        synsets = [synset for lemma in sorted(lemmas) for synset in lexicon.synsets(lemma, item.pos)]
        words |= lemmas | {lemma for synset in synsets for lemma in synset.lemmas}
    return frozenset(word.lower() for word in words)


def with_random_nouns(
    items: Sequence[SynonymItem],
    nouns: Sequence[str],
    *,
    lexicon: Lexicon | None = None,
    frequencies: Mapping[str, float] | None = None,
    seed: int = 0,
    n: int = N_NOUNS,
) -> tuple[SynonymItem, ...]:
    """Return the items with nouns drawn for each; with *frequencies*, about as frequent as its synonym.

    Without a *lexicon* only the words that an item itself names are excluded: give one, or check the nouns by eye.
    Errors: those of :func:`draw_nouns` and :func:`matched_nouns`.
    """
    made = []
    for item in items:
        out = excluded_words(item, lexicon)
        if frequencies is None:
            drawn = draw_nouns(nouns, excluded=out, key=item.item_id, seed=seed, n=n)
        else:
            drawn = matched_nouns(nouns, frequencies, item.synonym, excluded=out, key=item.item_id, seed=seed, n=n)
        made.append(replace(item, random_nouns=drawn))
    return tuple(made)


def _eligible(nouns: Iterable[str], excluded: Collection[str]) -> list[str]:
    out = {word.lower() for word in excluded}
    return [noun for noun in dict.fromkeys(nouns) if noun.lower() not in out]


def _check_enough(left: Sequence[str], n: int, key: str) -> None:
    if len(left) < n:
        raise InputError(
            f"{n} nouns are wanted and {len(left)} are left",
            code="E444",
            place=Place(item_id=key),
            hint="give a longer list",
        )
