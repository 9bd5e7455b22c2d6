"""Pruning senses that duplicate another sense of their word, and how often each sense occurs.

A pair of senses of a word is a duplicate where their cosine distance is below λ. λ lies halfway between what is near
because it is the same and what is near because it is related: the mean distance of duplicates, and that of neighbours,
over words drawn as negatives are. Then the sense in most such pairs goes first, until no pair is left.
*Source:* eq. 5 and 17, appendix C.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import folder_lock
from lexiscope.core.settings import Option
from lexiscope.resources.vectors.sense_vectors import (
    SETTINGS,
    SenseVectors,
    padded_probabilities,
    read_sense_vectors,
    read_settings,
)
from lexiscope.senses.induced_senses import SensesByFrequency, senses_by_rank
from lexiscope.training.gasi.shards import LINE_END, Shards
from lexiscope.training.gasi.train import check_out_folder, write_senses
from lexiscope.training.gasi.vocabulary import NEGATIVE_POWER

Bools = NDArray[np.bool_]
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class PruningThreshold:
    """λ and what it comes from.

    ``value`` is halfway between ``duplicates``, the mean cosine distance of ``n_duplicates`` pairs of senses of one
    word of which one is among the nearest of the other, and ``neighbours``, that of ``n_neighbours`` other nearest
    senses. ``words`` were looked at. *Higher means:* more senses go.
    """

    value: float
    duplicates: float
    neighbours: float
    n_duplicates: int
    n_neighbours: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrunedVectors:
    """Vectors without duplicates: their folder, λ, and how many senses there were and are."""

    folder: Path
    threshold: float
    n_before: int
    n_after: int


def pruning_threshold(
    vectors: SenseVectors, *, n_words: int = 100, nearest: int = 5, seed: int = 0
) -> PruningThreshold:
    """Return λ = (mean distance of duplicates + mean distance of neighbours) / 2.

    Words with several senses are drawn without replacement, with the probability of a negative (count to the power of
    3/4). The *nearest* senses of each of their senses are looked up among all senses of all words; one of the same word
    is a duplicate, one of another word a neighbour. A pair of duplicates counts once.
    Errors: :class:`InputError` E714 where no word has two senses, or no duplicate or no neighbour is found.
    """
    chosen = _draw_words(vectors, n_words, seed)
    queries = [(int(word), int(k)) for word in chosen for k in np.flatnonzero(vectors.mask[word])]
    rows = np.stack([np.asarray(vectors.senses[word, k]) for word, k in queries])
    same: dict[tuple[int, int, int], float] = {}
    other: list[float] = []
    distances_of_queries = (distances for block in vectors.distances(rows) for distances in block)
    for (word, k), distances in zip(queries, distances_of_queries, strict=True):
        distances[word, k] = np.inf
        for place in np.argsort(distances, axis=None, kind="stable")[:nearest]:
            neighbour, sense = divmod(int(place), distances.shape[1])
            distance = float(distances[neighbour, sense])
            if not np.isfinite(distance):
                continue
            if neighbour == word:
                same[word, min(k, sense), max(k, sense)] = distance
            else:
                other.append(distance)
    if not same or not other:
        what = "no threshold can be drawn: " + ("no neighbour" if same else "no duplicate") + " was found"
        why = f"among the {nearest} nearest senses of each sense of {len(chosen)} words"
        raise InputError(
            what, code="E714", place=Place(vectors.name or None), why=why, hint="give --threshold yourself"
        )
    means = float(np.mean(list(same.values()))), float(np.mean(other))
    names = tuple(vectors.words[word] for word in chosen)
    return PruningThreshold((means[0] + means[1]) / 2, *means, len(same), len(other), names)


def _draw_words(vectors: SenseVectors, n_words: int, seed: int) -> NDArray[np.int64]:
    several = np.flatnonzero(vectors.n_senses > 1)
    if not len(several):
        what = "no word of these vectors has two senses"
        raise InputError(what, code="E714", place=Place(vectors.name or None), hint="there is nothing to prune")
    weights = vectors.counts[several].astype(np.float64) ** NEGATIVE_POWER
    size = min(n_words, len(several))
    return np.random.default_rng(seed).choice(several, size, replace=False, p=weights / weights.sum())


def pruned_mask(vectors: SenseVectors, threshold: float) -> Bools:
    """Return the senses that are left where no two senses of a word are nearer than *threshold*. *Shape:* (words, K).

    For each word, the sense in most pairs under it goes first; of equals the one with the smallest sum of distances,
    then the later one. A word keeps at least one sense.
    """
    kept = np.array(vectors.mask)
    for start in range(0, len(kept), _BLOCK):
        part = slice(start, start + _BLOCK)
        rows = np.asarray(vectors.senses[part], np.float64)
        lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1.0)
        kept[part] = _prune(1.0 - rows @ rows.transpose(0, 2, 1), kept[part], threshold)
    return kept


def _prune(distances: NDArray[np.float64], mask: Bools, threshold: float) -> Bools:
    """Drop a sense of every word that has a pair under the threshold, until none has. *distances* (words, K, K)."""
    left, n_senses = mask.copy(), mask.shape[1]
    apart = ~np.eye(n_senses, dtype=np.bool_)
    while True:
        there = left[:, :, None] & left[:, None, :] & apart
        under = there & (distances < threshold)
        pairs = under.sum(axis=2)
        crowded = np.flatnonzero(pairs.any(axis=1))
        if not len(crowded):
            return left
        closeness = -np.where(there, distances, 0.0).sum(axis=2)
        order = np.broadcast_to(np.arange(n_senses), pairs.shape)
        worst = np.lexsort((order, closeness, pairs), axis=1)[:, -1]
        left[crowded, worst[crowded]] = False


def prune_senses(
    folder: Path,
    *,
    out: Path,
    threshold: Annotated[
        float | None, Option("cosine distance under which two senses of a word are one. Default: λ")
    ] = None,
    seed: Annotated[int, Option("random seed of the words from which λ is drawn", least=0)] = 0,
    command: Sequence[str] = (),
) -> PrunedVectors:
    """Write the vectors of *folder* without duplicates to *out*; without a *threshold*, λ is drawn from them.

    The vectors stay as they are; the mask says which senses are left. Errors: those of :func:`pruning_threshold`;
    :class:`InputError` E714 for a threshold that is no cosine distance, or an *out* that holds vectors;
    :class:`RunError` for an *out* that holds other things or cannot be written to; :class:`SubjectError` for a damaged
    folder.
    """
    vectors, about = read_sense_vectors(folder), read_settings(folder)
    if threshold is not None and not 0 < threshold <= 2:
        raise InputError("a threshold is a cosine distance above 0, at most 2", code="E714")
    check_out_folder(out)
    with folder_lock(out):
        if (out / SETTINGS).is_file():
            hint = "name another folder, or delete this one"
            raise InputError("this folder holds vectors already", code="E714", place=Place(str(out)), hint=hint)
        how = pruning_threshold(vectors, seed=seed) if threshold is None else None
        value = threshold if how is None else how.value
        assert value is not None
        mask = pruned_mask(vectors, value)
        pruning: dict[str, Any] = {"threshold": value, "seed": seed, "from": about["files"], "given": how is None}
        if how is not None:
            pruning |= {"duplicates": how.duplicates, "neighbours": how.neighbours, "n_duplicates": how.n_duplicates}
        dropped = ("files", "shape", "n_senses", "versions", "kind", "command")
        kept = {name: value for name, value in about.items() if name not in dropped}
        record = {**kept, "pruned": pruning, "command": list(command)}
        write_senses(out, replace(vectors, mask=mask), record)
    return PrunedVectors(out, value, int(vectors.mask.sum()), int(mask.sum()))


def senses_by_frequency(vectors: SenseVectors, *, bins: int = 10) -> tuple[SensesByFrequency, ...]:
    """Return how many senses words have, in *bins* of equally many words by falling frequency.

    Errors: :class:`InputError` E714 for fewer words than bins.
    """
    return senses_by_rank(vectors.n_senses, vectors.mask.shape[1], bins=bins)


# -- sense counts ---------------------------------------------------------------------------------------------------
# How often a word has each of its senses in the corpus of the training, which is kept with the vectors as numbers.


# numbers that are looked through at once, and occurrences that are judged at once
_NUMBERS, _JUDGED = 1 << 22, 1 << 14


@dataclass(frozen=True, slots=True)
class SenseCounts:
    """What the corpus shows of a word: ``n`` occurrences; for each sense that is there, in order, its mean probability
    ``shares`` and in how many occurrences it is the most probable one, ``chosen``. Without occurrences shares are NaN.
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
