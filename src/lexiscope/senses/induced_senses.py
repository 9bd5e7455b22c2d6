"""Induced senses of any program, row after row, and their neighbours: the nearest sense of each other word.

The search is exact: equal to comparing a sense with all senses of all words in double precision. It holds a block of
vectors at a time, so that 300,000 vectors of width 300 mapped from disk need no more than some hundred MiB.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.core.settings import Option
from lexiscope.resources.vectors.multi_sense import MultiSense
from lexiscope.resources.vectors.nearest import nearest
from lexiscope.resources.vectors.sense_vectors import Neighbour, SenseVectors

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

# rows that are gathered from disk at once
_GATHERED = 1 << 15
_NEAR = 5


@dataclass(frozen=True)
class InducedSenses:
    """The senses of words, those of a word one after the other.

    Sense *r* is number ``numbers[r]`` (from 0: its column in a distribution) of the word ``owners[r]``, and its vector
    is row ``rows[r]`` of ``matrix``, which may be mapped from disk. *Shape:* matrix (rows, width); rows, owners and
    numbers (senses,); ``counts`` (words,), the occurrences of each word in the corpus of the training, and ``priors``
    (senses,), the probability of a sense without a context, if it is known. ``most`` is the number of columns of a
    distribution; if words are ``uniform`` each had that number of senses, and the missing ones were pruned. ``name`` is
    where they come from.
    """

    words: tuple[str, ...]
    matrix: Floats
    rows: Ints
    owners: Ints
    numbers: Ints
    most: int
    counts: Ints | None = None
    priors: Floats | None = None
    name: str = ""
    uniform: bool = False

    @cached_property
    def index(self) -> dict[str, int]:
        """Each word's number."""
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def starts(self) -> Ints:
        """Where the senses of each word begin, and where the last ones end. *Shape:* (words + 1,)."""
        return np.searchsorted(self.owners, np.arange(len(self.words) + 1)).astype(np.int64)

    @cached_property
    def folds(self) -> Ints:
        """A number for each word, equal for words that differ in nothing but letter case. *Shape: (words,)*."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(word.casefold(), len(numbers)) for word in self.words], np.int64)

    @property
    def n_senses(self) -> Ints:
        """How many senses each word has. *Shape:* (words,)."""
        return np.diff(self.starts)

    def of(self, word: str) -> range:
        """Return the senses of a word, as row numbers of ``rows``.

        Errors: :class:`InputError` E712 for a word out of the vocabulary, naming words that are spelt nearly so.
        """
        number = self.index.get(word)
        if number is None:
            what = f"{word!r} is not among the {len(self.words):,} words of these vectors"
            near = self.near_spellings(word)
            meant = f"spelt nearly so: {', '.join(near)}" if near else "no word is spelt nearly so"
            hint = f"{meant}; a word must be one token, and frequent enough in the corpus to be learnt"
            raise InputError(what, code="E712", place=Place(self.name or None), hint=hint)
        return range(int(self.starts[number]), int(self.starts[number + 1]))

    def pruned_numbers(self, word: str) -> tuple[int, ...]:
        """Return the numbers of the senses that a word had and has no more. Errors: those of :meth:`of`."""
        there = set(self.numbers[list(self.of(word))].tolist())
        return tuple(number for number in range(self.most) if number not in there) if self.uniform else ()

    def row(self, near: Neighbour) -> int:
        """Return the sense that a neighbour is, as a row number of ``rows``."""
        place = self.of(near.word)
        return int(place[self.numbers[list(place)].tolist().index(near.sense)])

    def near_spellings(self, word: str) -> tuple[str, ...]:
        """Return up to five words that are spelt like *word*, the most similar first; the same in lower case foremost.

        Words that are longer or shorter by more than two letters are not compared.
        """
        lower = word.lower()
        alike = [other for other in self.words if abs(len(other) - len(word)) <= 2]
        close = difflib.get_close_matches(lower, alike, n=4 * _NEAR, cutoff=0.75)
        # letters in another order are the commonest slip, which the measure of similarity counts twice
        close.sort(key=lambda other: sorted(other) != sorted(lower))
        return tuple(dict.fromkeys([*([lower] if lower in self.index else []), *close]))[:_NEAR]

    def vectors(self, senses: Sequence[int]) -> Floats:
        """Return the vectors of some senses. *Shape:* (senses, width)."""
        return np.asarray(self.matrix[self.rows[np.asarray(senses, np.int64)]], np.float32)

    def neighbours(self, senses: Sequence[int], n: int = 10) -> tuple[tuple[Neighbour, ...], ...]:
        """Return for each of *senses* the *n* nearest other words, nearest first: of each word its nearest sense.

        Words that differ in letter case only are one word, in its nearest spelling. Near is a small cosine distance; of
        equals the sense that is first. A vector of length 0 has no neighbours and is none. All *senses* are
        searched in one pass: ask for many at once.
        """
        neighbours: list[tuple[Neighbour, ...]] = [() for _ in senses]
        queries = self.vectors(senses)
        asked = np.flatnonzero(queries.any(axis=1))
        if not len(asked) or n < 1:
            return tuple(neighbours)
        # among so many senses there are n words other than the sense's, each with its nearest sense
        k = (n + 1) * int(np.bincount(self.folds[self.owners]).max())
        places, scores = self._nearest(queries[asked], k)
        for number, row, near in zip(asked.tolist(), places.tolist(), scores.tolist(), strict=True):
            neighbours[number] = self._distinct(int(self.folds[self.owners[senses[number]]]), row, near, n)
        return tuple(neighbours)

    def _nearest(self, queries: Floats, k: int) -> tuple[Ints, NDArray[np.float64]]:
        """Return the k nearest senses of each query and their cosines, best first, −1 where there are fewer."""
        places, scores = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf)
        for start in range(0, len(self.rows), _GATHERED):
            block = np.asarray(self.matrix[self.rows[start : start + _GATHERED]], np.float32)
            there = np.flatnonzero(block.any(axis=1))
            if not len(there):
                continue
            part = nearest(queries, block if len(there) == len(block) else block[there], k)
            new = start + there[part.rows]
            every, near = np.concatenate([places, new], axis=1), np.concatenate([scores, part.scores], axis=1)
            # a stable order keeps equals as they stand: those of an earlier block come first
            order = np.argsort(-near, axis=1, kind="stable")[:, :k]
            places, scores = np.take_along_axis(every, order, 1), np.take_along_axis(near, order, 1)
        return places, scores

    def _distinct(self, own: int, places: Sequence[int], scores: Sequence[float], n: int) -> tuple[Neighbour, ...]:
        by_word: dict[int, Neighbour] = {}
        for place, score in zip(places, scores, strict=True):
            owner = int(self.owners[place])
            word = int(self.folds[owner])
            if place >= 0 and word != own and word not in by_word:
                by_word[word] = Neighbour(self.words[owner], int(self.numbers[place]), 1.0 - score)
        return tuple(by_word.values())[:n]


def senses_of_folder(vectors: SenseVectors) -> InducedSenses:
    """Return the senses of a folder that a training or a pruning wrote; pruned ones are excluded."""
    most = vectors.mask.shape[1]
    rows = np.flatnonzero(np.asarray(vectors.mask).reshape(-1)).astype(np.int64)
    matrix = vectors.senses.reshape(-1, vectors.senses.shape[-1])
    owners, numbers = rows // most, rows % most
    counts = np.asarray(vectors.counts)
    return InducedSenses(
        vectors.words, matrix, rows, owners, numbers, most, counts=counts, name=vectors.name, uniform=True
    )


def senses_of_import(vectors: MultiSense) -> InducedSenses:
    """Return the senses of vectors that another program trained."""
    rows = np.arange(len(vectors.senses), dtype=np.int64)
    owners = np.repeat(np.arange(len(vectors.words)), vectors.n_senses).astype(np.int64)
    numbers = rows - vectors.starts[owners]
    most, matrix = int(vectors.n_senses.max()), vectors.senses
    counts, priors = vectors.counts, vectors.priors
    return InducedSenses(vectors.words, matrix, rows, owners, numbers, most, counts, priors, vectors.name)


# -- how many senses words have, by how frequent they are (GASI, Figure 4) --------------------------------------------


@dataclass(frozen=True, slots=True)
class SensesByFrequency:
    """How many senses words have, by rank of frequency. ``first_rank`` counts from 1; ``n_words[k]`` have k + 1 senses.

    *Source:* Fig. 4.
    """

    first_rank: int
    last_rank: int
    n_words: tuple[int, ...]
    mean: float


def senses_by_rank(
    n_senses: NDArray[np.int64], most: int, *, bins: Annotated[int, Option("of equally many words", least=1)] = 10
) -> tuple[SensesByFrequency, ...]:
    """Return how many senses words have, in *bins* of equally many words.

    *n_senses* are those of each word, by falling frequency; *most* is the highest number that is counted.
    Errors: :class:`InputError` E714 for fewer words than bins.

    >>> [row.n_words for row in senses_by_rank(np.array([3, 2, 3, 1]), 3, bins=2)]
    [(0, 1, 1), (1, 0, 1)]
    """
    if not 0 < bins <= len(n_senses):
        raise InputError(f"{len(n_senses)} words do not make {bins} bins", code="E714")
    rows, first = [], 1
    for part in np.array_split(n_senses, bins):
        counts = np.bincount(part, minlength=most + 1)[1:]
        rows.append(SensesByFrequency(first, first + len(part) - 1, tuple(counts.tolist()), float(part.mean())))
        first += len(part)
    return tuple(rows)
