"""How the two sentences of a pair differ, and how long the sentences of a set are.

In SAW-C's design a pair differs in one modifier only. Footnote 4 of the paper counts the pairs that break this (187 of
812 differ in their number of words); determiners and prepositions that change with the cue are named here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from lexiscope.items.tables.findings import SentenceStatistics

WordClass = Literal["determiner", "preposition", "word"]

_SPANISH_DETERMINERS = "el la los las lo un una unos unas este esta estos estas ese esa esos esas su sus mi mis tu tus"
_SPANISH_PREPOSITIONS = "de del a al en con por para sin sobre entre hacia hasta desde contra bajo ante tras según"
_DETERMINERS = frozenset(
    ("the a an this that these those my your his her its our their some any no " + _SPANISH_DETERMINERS).split()
)
_PREPOSITIONS = frozenset(
    (
        "of in on at by for with from to into onto over under about against between through " + _SPANISH_PREPOSITIONS
    ).split()
)


@dataclass(frozen=True, slots=True)
class WordChange:
    """One place where two sentences differ: the words there in the first and in the second (either may be empty)."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def n_words(self) -> int:
        """The number of words that were replaced, inserted or removed. *Unit: words.*"""
        return max(len(self.before), len(self.after))

    def classes(self) -> tuple[WordClass, ...]:
        """Return the class of each changed word: determiner, preposition, or any other word."""
        return tuple(word_class(word) for word in (*self.before, *self.after))

    def __str__(self) -> str:
        return f"{' '.join(self.before) or '(nothing)'} → {' '.join(self.after) or '(nothing)'}"


def words(text: str) -> list[str]:
    """Split a sentence into words at white space, as SAW-C's sentence lengths count them.

    >>> len(words("Compró una vela nueva"))
    4
    """
    return text.split()


def word_class(word: str) -> WordClass:
    """Say whether a word is a determiner or a preposition (short closed lists of English and Spanish).

    >>> word_class("el"), word_class("de"), word_class("madera")
    ('determiner', 'preposition', 'word')
    """
    plain = word.casefold().strip(".,;:!?")
    if plain in _DETERMINERS:
        return "determiner"
    return "preposition" if plain in _PREPOSITIONS else "word"


def word_changes(first: str, second: str) -> tuple[WordChange, ...]:
    """Return where two sentences differ, word by word.

    >>> [str(change) for change in word_changes("Vio el orden público", "Vio la orden judicial")]
    ['el → la', 'público → judicial']
    """
    a, b = words(first), words(second)
    low = 0
    while low < min(len(a), len(b)) and a[low] == b[low]:
        low += 1
    tail = 0
    while tail < min(len(a), len(b)) - low and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    a, b = a[low : len(a) - tail], b[low : len(b) - tail]
    if min(len(a), len(b)) < 2:
        return (WordChange(tuple(a), tuple(b)),) if a or b else ()
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return tuple(
        WordChange(tuple(a[i:j]), tuple(b[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"
    )


def differences_beyond_cue(first: str, second: str) -> str | None:
    """Describe by what two sentences differ beyond one replaced word; ``None`` where they differ in the cue only.

    >>> differences_beyond_cue("Vio el orden público", "Vio el orden establecido") is None
    True
    >>> differences_beyond_cue("Vio el orden público", "Vio la orden judicial")
    'el → la (determiner), público → judicial'
    """
    differences = word_changes(first, second)
    if not differences or (len(differences) == 1 and len(differences[0].before) == len(differences[0].after) == 1):
        return None
    parts = []
    for change in differences:
        special = [name for name in ("determiner", "preposition") if name in change.classes()]
        parts.append(f"{change} ({', '.join(special)})" if special else str(change))
    return ", ".join(parts)


def sentence_statistics(sentences: Iterable[str], pairs: Iterable[Sequence[str]]) -> SentenceStatistics:
    """Return mean sentence length over distinct sentences, and the pairs by their difference in length.

    *Unit: words.* *Source: SAW-C §3.1 (mean 4.72 words), footnote 4 (187 pairs: 173 by one word, 14 by two).*

    >>> sentence_statistics(["a b", "a b c"], [("a b", "a b c")])  # (2 + 3) / 2
    SentenceStatistics(n_sentences=2, n_pairs=1, mean_words=2.5, length_differences=((1, 1),))
    """
    distinct = set(sentences)
    differences = Counter(abs(len(words(pair[0])) - len(words(pair[1]))) for pair in pairs)
    total = sum(len(words(sentence)) for sentence in distinct)
    mean = total / len(distinct) if distinct else None
    return SentenceStatistics(len(distinct), differences.total(), mean, tuple(sorted(differences.items())))
