"""Entropy of a word's labels or senses: how much the word alone says about the answer.

For each word, the entropy of the classes of its rows (labels of a pair set, senses of a tagged text); then the mean
over words. A mean near 0 says that the word alone gives the answer. What a *word* is (lemma, surface form ...),
which rows count, the base of the logarithm and the least number of rows of a word are given by the caller, and are part
of the statistic's name: published figures differ in all four. *Source:* the context–word bias study, §3.1 (senses,
Table 2) and §3.2 (labels, Table 4, footnote 10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import FloatArray, IntArray, mean_interval
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

Base = Literal["e", "2"]

#: divides an entropy in nats
_UNITS: dict[str, float] = {"e": 1.0, "2": math.log(2)}


@dataclass(frozen=True, slots=True, eq=False)
class WordEntropies:
    """The entropy of each word's classes. *Shape:* entropy, n_rows, n_classes, n_majority (words,).

    Words are in code point order. ``n_majority`` counts the rows that have the word's most frequent class.
    ``n_dropped_words`` words with ``n_dropped_rows`` rows had too few rows. *Unit:* nats or bits, as ``base`` says.
    """

    base: Base
    words: tuple[str, ...]
    entropy: FloatArray
    n_rows: IntArray
    n_classes: IntArray
    n_majority: IntArray
    n_dropped_words: int
    n_dropped_rows: int


@dataclass(frozen=True, slots=True, eq=False)
class MeanEntropy:
    """The mean over words of the entropy of their classes, with an interval that resamples words.

    ``by_rows`` weighs each word by its rows. ``same_share`` is the share of the words all of whose rows have the same
    class, ``majority_share`` the mean over words of the share of rows that have the word's most frequent class: what
    who knows each word's majority gets right, word by word. ``n_words`` words with ``n_rows`` rows counted; ``by_word``
    holds them, and how many were dropped. *Unit:* nats or bits, as the name says. *Higher means:* the word says less
    about the class.
    """

    name: str
    value: float
    interval: Interval
    by_rows: float
    same_share: float
    majority_share: float
    n_words: int
    n_rows: int
    by_word: WordEntropies

    def results(self) -> tuple[Estimate, ...]:
        """Return the mean entropy and both shares as results, under names with the same parameters."""
        parameters = self.name[self.name.index("(") :]
        return (
            Estimate(self.name, self.value, self.interval, self.n_words),
            Estimate(f"same_share{parameters}", self.same_share, n=self.n_words),
            Estimate(f"majority_share{parameters}", self.majority_share, n=self.n_words),
        )


def label_entropy(
    words: Sequence[str],
    labels: Sequence[str],
    *,
    word: str,
    rows: str = "all",
    base: Base = "e",
    min_count: int = 2,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> MeanEntropy:
    """Return the mean label entropy of words; words with fewer than *min_count* rows are dropped.

    *words* and *labels* go row by row. *word* names what a word is and *rows* which rows these are; both are printed.
    *Source:* the context–word bias study, §3.2 and footnote 10.

    Errors: :class:`InputError` for columns of unequal length, an unknown *base* or a *min_count* below 1;
    :class:`StatisticError` where fewer than 2 words are left.

    >>> found = label_entropy(["bank", "bank", "bat", "bat", "bow"], ["t", "f", "t", "t", "f"], word="lemma")
    >>> found.name
    'label_entropy(word=lemma,rows=all,base=e,min_count=2)'
    >>> round(found.value, 6), found.same_share  # (ln 2 + 0) / 2; bow, seen once, is dropped
    (0.346574, 0.5)
    """
    entropies = word_entropies(words, labels, base=base, min_count=min_count)
    name = statistic_name("label_entropy", word=word, rows=rows, base=base, min_count=min_count)
    return _mean(name, entropies, level=level, resamples=resamples, seed=seed)


def sense_entropy(
    words: Sequence[str],
    senses: Sequence[str],
    *,
    word: str,
    rows: str = "all",
    base: Base = "e",
    min_count: int = 1,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> MeanEntropy:
    """Return the mean sense entropy of words; words seen once are included unless *min_count* says otherwise.

    *senses* holds one sense (sense key, page, concept) for each use of a word. *Source:* the context–word bias study,
    §3.1 and Table 2.

    Errors: as :func:`label_entropy`.

    >>> found = sense_entropy(["bank", "bank", "bat"], ["bank%1", "bank%2", "bat%1"], word="lemma")
    >>> round(found.value, 6), found.n_words, round(found.by_rows, 6)  # ln 2 / 2; 2 ln 2 / 3
    (0.346574, 2, 0.462098)
    """
    entropies = word_entropies(words, senses, base=base, min_count=min_count)
    name = statistic_name("sense_entropy", word=word, rows=rows, base=base, min_count=min_count)
    return _mean(name, entropies, level=level, resamples=resamples, seed=seed)


def word_entropies(
    words: Sequence[str], classes: Sequence[str], *, base: Base = "e", min_count: int = 1
) -> WordEntropies:
    """Return the entropy of each word's classes, row by row, of words with *min_count* rows or more.

    Errors: :class:`InputError` for columns of unequal length, an unknown *base* or a *min_count* below 1.

    >>> word_entropies(["a", "a", "a", "a"], ["t", "t", "f", "f"], base="2").entropy.tolist()
    [1.0]
    """
    _check(words, classes, base, min_count)
    names, word = _codes(words)
    kinds, kind = _codes(classes)
    # one row for each word and class that occur together: a table of all would be large for senses
    pairs, together = np.unique(word * max(1, len(kinds)) + kind, return_counts=True)
    owner = pairs // max(1, len(kinds))
    total = np.bincount(word, minlength=len(names))
    share = together / total[owner]
    # + 0.0: a word of one class has entropy 0, not -0
    entropy = np.bincount(owner, weights=-share * np.log(share), minlength=len(names)) / _UNITS[base] + 0.0
    most = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(most, owner, together)
    kept = np.flatnonzero(total >= min_count)
    return WordEntropies(
        base=base,
        words=tuple(str(name) for name in names[kept]),
        entropy=entropy[kept],
        n_rows=total[kept].astype(np.int64),
        n_classes=np.bincount(owner, minlength=len(names))[kept].astype(np.int64),
        n_majority=most[kept],
        n_dropped_words=len(names) - len(kept),
        n_dropped_rows=int(total.sum() - total[kept].sum()),
    )


def _mean(name: str, entropies: WordEntropies, *, level: float, resamples: int, seed: int) -> MeanEntropy:
    if len(entropies.words) < 2:
        raise StatisticError(
            f"{name} needs at least 2 words, and there are {len(entropies.words)} with enough rows",
            hint="give more rows, another idea of a word, or a lower min_count",
        )
    interval = mean_interval(
        entropies.entropy, level=level, resamples=resamples, seed=seed, resampled="words", within=(0.0, math.inf)
    )
    n_rows = int(entropies.n_rows.sum())
    return MeanEntropy(
        name=name,
        value=float(entropies.entropy.mean()),
        interval=interval,
        by_rows=float(entropies.entropy @ entropies.n_rows) / n_rows,
        same_share=float(np.mean(entropies.n_classes == 1)),
        majority_share=float(np.mean(entropies.n_majority / entropies.n_rows)),
        n_words=len(entropies.words),
        n_rows=n_rows,
        by_word=entropies,
    )


def _check(words: Sequence[str], classes: Sequence[str], base: str, min_count: int) -> None:
    if len(words) != len(classes):
        raise InputError(f"{len(words)} words and {len(classes)} classes are not columns of one table")
    if base not in _UNITS:
        raise InputError(f"there is no base {base!r}", hint="use 'e' (nats) or '2' (bits)")
    if min_count < 1:
        raise InputError(f"min_count is 1 or more, not {min_count}")
    missing = next((row for row, label in enumerate(classes) if not isinstance(label, str)), None)
    if missing is not None:
        what = f"row {missing}, word {words[missing]!r}, has no class"
        raise InputError(what, hint="exclude rows with a hidden label, and report their number")


def _codes(column: Sequence[str]) -> tuple[NDArray[Any], IntArray]:
    """The distinct values, sorted, and the number of each row's."""
    # a dictionary: sorting every row's text takes four times as long
    names = sorted(set(column))
    number = {name: place for place, name in enumerate(names)}
    codes = np.fromiter((number[value] for value in column), dtype=np.int64, count=len(column))
    return np.array(names, dtype=object), codes
