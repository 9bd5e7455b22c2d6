"""Signal and noise, word by word: what a context says of a word's senses, and the noise of the training on it.

The signal is c̄·s_k, the product of a sense with the mean of the context. *Source:* GASI §2.5 and Figure 3, which has
its spread over all words. A number that all senses of a word share in a window changes no choice. So there are two
spreads: that of all signals, and that *between the senses of one window*, which the noise must be compared with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.bootstrap import bootstrap, mean_interval
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

GUMBEL_SD = math.pi / math.sqrt(6)
"""The standard deviation of the unscaled Gumbel noise, of GASI without a scaling factor."""
LEAST = 3
"""Smallest number of windows by which a word is judged."""


@dataclass(frozen=True, slots=True)
class WordSignal:
    """The signal of one word over ``n`` windows: ``sd`` of all of it, ``choice_sd`` between the senses of a window."""

    word: str
    n: int
    sd: float
    choice_sd: float


@dataclass(frozen=True, slots=True)
class SignalAndNoise:
    """The signal of words and the noise of a training, whose standard deviation is ``noise_sd`` (0: it has none).

    ``sd`` and ``choice_sd`` are medians over words; ``above_scaled`` and ``above_gumbel`` the shares of words whose
    ``choice_sd`` is above the training's noise, and above the Gumbel noise without a scale. Intervals resample words.
    ``n`` windows.
    """

    noise_sd: float
    sd: float
    sd_interval: Interval
    choice_sd: float
    choice_sd_interval: Interval
    above_scaled: float
    above_scaled_interval: Interval
    above_gumbel: float
    above_gumbel_interval: Interval
    n: int
    words: tuple[WordSignal, ...]

    def results(self) -> tuple[Estimate, ...]:
        """Return the medians and shares as results; without noise no word can be compared with the training's."""
        scaled = Estimate(above_name("scaled"), self.above_scaled, self.above_scaled_interval, len(self.words))
        return (
            Estimate(SIGNAL, self.sd, self.sd_interval, len(self.words)),
            Estimate(CHOICE_SIGNAL, self.choice_sd, self.choice_sd_interval, len(self.words)),
            *((scaled,) if self.noise_sd > 0 else ()),
            Estimate(above_name("gumbel"), self.above_gumbel, self.above_gumbel_interval, len(self.words)),
        )


SIGNAL = statistic_name("word_signal_sd", of="all", summary="median")
CHOICE_SIGNAL = statistic_name("word_signal_sd", of="senses_of_a_window", summary="median")


def above_name(noise: str) -> str:
    """Return the name of the share of words whose signal is above a noise, ``scaled`` or ``gumbel``.

    >>> above_name("scaled")
    'words_above_noise(noise=scaled)'
    """
    return statistic_name("words_above_noise", noise=noise)


def signal_and_noise(
    words: Sequence[str],
    signals: ArrayLike,
    *,
    noise_sd: float,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> SignalAndNoise:
    """Return how strong the signal of each word is, compared with the noise that a training puts on it.

    *signals* are c̄·s_k of each window and sense, NaN where a word has no such sense; *words* names the word of each
    window. A word with fewer than :data:`LEAST` windows, or with one sense, is excluded. Standard deviations: of all
    signals of the word (divided by their number), and between the senses of a window (divided by one less, as an
    estimate of what independent noise on each sense would have; root of the mean variance of the windows).
    *Shape:* words (windows,), signals (windows, K). *Unit:* that of a logit. *Source:* GASI Figure 3.
    Errors: :class:`InputError` for columns of unequal length; :class:`StatisticError` for fewer than two words.

    >>> rows = [[0.0, 2.0]] * 3 + [[5.0, 5.0], [6.0, 6.0], [7.0, 7.0]]
    >>> found = signal_and_noise(["ab"] * 3 + ["cd"] * 3, rows, noise_sd=0.5, resamples=9)
    >>> [(word.word, round(word.sd, 3), round(word.choice_sd, 3)) for word in found.words]  # √2, and no choice at all
    [('ab', 1.0, 1.414), ('cd', 0.816, 0.0)]
    >>> found.above_scaled
    0.5
    """
    values = np.asarray(signals, np.float64)
    if values.ndim != 2 or len(values) != len(words):
        raise InputError(f"{len(words)} words, signals {values.shape}")
    place, judged = np.array(words, dtype=str), list[WordSignal]()
    for word in sorted(set(words)):
        own = values[place == word]
        own = own[:, np.isfinite(own).all(axis=0)]
        if len(own) >= LEAST and own.shape[1] > 1:
            judged.append(WordSignal(word, len(own), float(own.std()), float(np.sqrt(own.var(axis=1, ddof=1).mean()))))
    if len(judged) < 2:
        why = f"{len(judged)} words have {LEAST} windows and two senses"
        raise StatisticError("signal and noise is a summary over words", why=why, hint="give more usages")
    sd, choice = (np.array([getattr(word, name) for word in judged]) for name in ("sd", "choice_sd"))

    def median(of: NDArray[np.float64]) -> tuple[float, Interval]:
        own = bootstrap(lambda rows: float(np.median(of[rows])), len(of), level=level, resamples=resamples, seed=seed,
                        resampled="words")  # fmt: skip
        return float(np.median(of)), own

    def share(above: float) -> tuple[float, Interval]:
        hits = (choice > above).astype(np.float64)
        return float(hits.mean()), mean_interval(hits, level=level, resamples=resamples, seed=seed, resampled="words")

    n = sum(word.n for word in judged)
    return SignalAndNoise(noise_sd, *median(sd), *median(choice), *share(noise_sd), *share(GUMBEL_SD), n, tuple(judged))
