"""How many senses words have, by how frequent they are (GASI, Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError
from lexiscope.core.settings import Option


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
    found, first = [], 1
    for part in np.array_split(n_senses, bins):
        counts = np.bincount(part, minlength=most + 1)[1:]
        found.append(SensesByFrequency(first, first + len(part) - 1, tuple(counts.tolist()), float(part.mean())))
        first += len(part)
    return tuple(found)
