"""How often a word has each of its senses in the corpus of the training, which is kept with the vectors as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.resources.vectors.sense_vectors import SenseVectors, padded_probabilities
from lexiscope.training.gasi.shards import LINE_END, Shards

# numbers that are looked through at once, and occurrences that are judged at once
_NUMBERS, _JUDGED = 1 << 22, 1 << 14


@dataclass(frozen=True, slots=True)
class SenseCounts:
    """What the corpus shows of a word: ``n`` occurrences; of each sense that is there, in order, its mean probability
    ``shares`` and in how many occurrences it is the most probable one, ``chosen``. Without occurrences shares are no
    numbers.
    """

    n: int
    shares: tuple[float, ...]
    chosen: tuple[int, ...]


def count_senses(shards: Shards, vectors: SenseVectors, word: str, *, window: int) -> SenseCounts:
    """Return how often a word has each of its senses, judged in its lines with *window* words on each side.

    Errors: :class:`InputError` E712 for a word out of the vocabulary; E713 where the corpus has other words.
    """
    number = vectors.number(word)
    if shards.vocabulary.words != vectors.words:
        what = "these vectors and this corpus have other words, or the same ones in another order"
        raise InputError(what, code="E713", place=Place(str(shards.folder)), hint="delete the folder of the corpus")
    there = np.flatnonzero(vectors.mask[number])
    n, sums, chosen = 0, np.zeros(len(there)), np.zeros(len(there), np.int64)
    for windows in _windows(shards, number, window):
        probabilities = padded_probabilities(vectors, number, windows)[:, there]
        n += len(probabilities)
        sums += probabilities.sum(axis=0, dtype=np.float64)
        chosen += np.bincount(probabilities.argmax(axis=1), minlength=len(there))
    shares = sums / n if n else np.full(len(there), np.nan)
    return SenseCounts(n, tuple(shares.tolist()), tuple(chosen.tolist()))


def _windows(shards: Shards, number: int, window: int) -> Iterator[NDArray[np.int64]]:
    """Give the numbers around each occurrence, −1 beyond the ends of its line. *Shape:* (occurrences, 2 window)."""
    for start in range(0, shards.n_tokens, _NUMBERS):
        low = max(0, start - window)
        numbers = shards.chunk(low, start + _NUMBERS + window - low)
        places = np.flatnonzero(numbers == number)
        # what is in the margins belongs to the piece before or behind
        places = places[(places >= start - low) & (places < start - low + _NUMBERS)]
        for part in np.array_split(places, max(1, -(-len(places) // _JUDGED))):
            if len(part):
                yield np.concatenate([_neighbour_numbers(numbers, part, side, window) for side in (-1, 1)], axis=1)


def _neighbour_numbers(
    numbers: NDArray[np.int32], places: NDArray[np.int64], side: int, window: int
) -> NDArray[np.int64]:
    numbers_around = np.full((len(places), window), LINE_END, np.int64)
    inside = np.ones(len(places), np.bool_)
    for step in range(1, window + 1):
        at = places + side * step
        inside &= (at >= 0) & (at < len(numbers))
        inside[inside] = numbers[at[inside]] != LINE_END
        numbers_around[inside, step - 1] = numbers[at[inside]]
    return numbers_around
