"""Resamples of words in which a word has the same weights wherever it occurs: in any line, of any model.

A share is computed line by line, and model by model, long after others were. Two of them can be compared, or averaged
with their covariance, only if they rest on the same resamples. So the weight of a word in a resample depends on the
word and the seed alone: it is drawn from a Poisson distribution with mean 1, under a seed made of both. What was
computed before needs no new draws when a line or a model is added.

The weights of a resample of g words sum to g on average, not exactly. Statistics that do not change if all weights are
multiplied by one number (means, shares, correlations) have the same variance as in resamples of exactly g words, to
1 / g. *Source:* Hanley & MacGibbon 2006, Computer Methods and Programs in Biomedicine 83; Chamandy et al. 2012.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray
from lexiscope.core.errors import StatisticError

RESAMPLES = 2000
"""How many resamples of words a profile draws."""


@dataclass(frozen=True, slots=True, eq=False)
class WordDraws:
    """The word of each row, and how often each word counts in each resample.

    *Shape:* codes (rows,), from 0; counts (resamples, words).
    """

    codes: IntArray
    counts: IntArray

    @property
    def n_words(self) -> int:
        """How many words the rows are of."""
        return len(set(self.codes.tolist()))

    def of(self, rows: IntArray | BoolArray) -> WordDraws:
        """Return the draws for some of the rows. *Shape:* rows (chosen,) of indices, or (rows,) of booleans."""
        return WordDraws(self.codes[rows], self.counts)

    def first(self, resamples: int) -> WordDraws:
        """Return the first of the resamples alone."""
        return WordDraws(self.codes, self.counts[:resamples])

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the weighted sum of the values in each resample. *Shape:* values (rows, …) → (resamples, …)."""
        by_word = np.zeros((self.counts.shape[1], *values.shape[1:]))
        np.add.at(by_word, self.codes, values)
        return np.tensordot(self.counts.astype(np.float64), by_word, axes=1)


def word_draws(words: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0) -> WordDraws:
    """Return the resamples of the words of some rows. *Shape:* words (rows,).

    Errors: :class:`StatisticError` for fewer than 2 words.

    >>> some, others = word_draws(["bank", "bat", "bank"], resamples=5), word_draws(["bat", "cup"], resamples=5)
    >>> (some.counts[:, 1] == others.counts[:, 0]).all()  # the weights of bat
    np.True_
    """
    names, codes = np.unique(np.asarray(words, dtype=object).astype(str), return_inverse=True)
    if len(names) < 2:
        raise StatisticError(f"resamples need at least 2 words, not {len(names)}", why="one word has no variation")
    columns = [_weights(str(name), resamples, seed) for name in names]
    return WordDraws(codes.reshape(-1).astype(np.int64), np.column_stack(columns))


@lru_cache(maxsize=1 << 14)
def _weights(word: str, resamples: int, seed: int) -> IntArray:
    digest = hashlib.sha256(f"{seed}\0{word}".encode()).digest()
    generator = np.random.default_rng(int.from_bytes(digest[:16], "big"))
    return generator.poisson(1.0, resamples).astype(np.int64)
