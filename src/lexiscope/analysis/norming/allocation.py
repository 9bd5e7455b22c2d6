"""Which items to ask about next: items that people rate first, with the probability of each, so that estimates stay
unbiased.

Items where the model is uncertain, or where models disagree, get people with a higher probability; a share of the
probability is spread evenly, so that no item is hopeless. The sample has a fixed size and each item exactly its
probability (systematic sampling in random order). Each rated item then counts with the inverse of its probability: the
estimate of the mean over all items has no bias, wherever people were sent. *Source:* Zrnic & Candès 2024 ("active
statistical inference"); Gligorić et al. 2025 ("confidence-driven inference"); sampling: Madow 1949; its variance:
Deville 1999.

A sample is asked in waves. After each wave the interval is computed; the study stops when it is narrow enough. The rule
looks at the width alone, never at the estimate (Chow & Robbins 1965), and is stated before the first wave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray, require_finite, student_quantile
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

EVEN = 0.5
"""The share of the probability that is spread evenly over all items."""
_FEWEST = 5


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When a study with waves stops: the 95 % interval of a mean is at most this wide on either side, or waves end.

    >>> StoppingRule(0.1, 3).text
    'Stop after the first wave whose 95 % interval of the mean is ±0.1 points or narrower, at the latest after wave 3.'
    """

    half_width: float
    waves: int
    level: float = 0.95

    @property
    def text(self) -> str:
        """The rule as a sentence, for the registration and the study's documents."""
        return (
            f"Stop after the first wave whose {100 * self.level:g} % interval of the mean is ±{self.half_width:g} "
            f"points or narrower, at the latest after wave {self.waves}."
        )

    def is_met(self, estimate: Estimate, wave: int) -> bool:
        """Return whether the study stops after this wave (from 1)."""
        interval = estimate.interval
        narrow = interval.is_defined and (interval.high - interval.low) / 2 <= self.half_width
        return narrow or wave >= self.waves


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """Which items people rate, and in which wave. *Shape of each:* (items,).

    ``probability`` is that with which an item is in the sample; ``wave`` is from 1, and 0 of an item outside it. After
    *w* waves the probability is that of :meth:`probability_after`.
    """

    probability: FloatArray
    wave: IntArray

    @property
    def n(self) -> int:
        """How many items are in the sample."""
        return int((self.wave > 0).sum())

    def probability_after(self, wave: int) -> FloatArray:
        """Return the probability of each item to have been asked up to a wave. *Shape:* (items,)."""
        return self.probability * float(((self.wave > 0) & (self.wave <= wave)).sum()) / self.n


def sampling_probabilities(uncertainty: ArrayLike, n: int, *, even: float = EVEN) -> FloatArray:
    """Return the probability of each item to be rated by people: it grows with the uncertainty, and sums to *n*.

    *Shape:* uncertainty (items,), 0 or more → (items,). *even* is the share that is spread evenly. No probability
    exceeds 1: what is over is given to the others.

    Errors: :class:`StatisticError` for a negative uncertainty, and for *n* that is not between 1 and the items.

    >>> sampling_probabilities([0.0, 1.0, 3.0], 1, even=0.4).round(4).tolist()  # .4/3 + .6 · 0/4, 1/4, 3/4
    [0.1333, 0.2833, 0.5833]
    >>> sampling_probabilities([0.0, 1.0, 3.0], 2, even=0.4).round(4).tolist()  # the third is certain
    [0.32, 0.68, 1.0]
    """
    weight = np.asarray(uncertainty, dtype=np.float64)
    require_finite("a sampling probability", weight)
    if (weight < 0).any():
        raise StatisticError("an uncertainty is below 0")
    if not 1 <= n <= len(weight):
        raise StatisticError(f"people cannot rate {n} of {len(weight)} items")
    total = float(weight.sum())
    part = weight / total if total > 0 else np.full(len(weight), 1 / len(weight))
    share = even / len(weight) + (1 - even) * part
    certain = np.zeros(len(weight), dtype=np.bool_)
    while True:
        rest = n - int(certain.sum())
        open_total = float(share[~certain].sum())
        raised = np.where(certain, 1.0, share * rest / open_total if open_total > 0 else 0.0)
        over = ~certain & (raised >= 1)
        if not over.any():
            return np.minimum(raised, 1.0)
        certain |= over


def allocate(uncertainty: ArrayLike, n: int, *, waves: int = 3, even: float = EVEN, seed: int = 0) -> Allocation:
    """Return a sample of *n* items for people, in waves of equal size, with each item's probability.

    Each wave is a random part of the sample, so that a study that stops early has a sample as well.

    Errors: those of :func:`sampling_probabilities`.

    >>> plan = allocate(np.arange(100.0), 30, waves=3)
    >>> plan.n, np.bincount(plan.wave).tolist(), round(float(plan.probability.sum()), 9)
    (30, [70, 10, 10, 10], 30.0)
    """
    probability = sampling_probabilities(uncertainty, n, even=even)
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.arange(len(probability)))
    # a step of 1 along the probabilities in random order: each item is met with exactly its own
    reached = np.append(np.cumsum(probability[order])[:-1], float(n))
    ticks = rng.random() + np.arange(n)
    chosen = order[np.searchsorted(reached, ticks, side="right")]
    wave = np.zeros(len(probability), dtype=np.int64)
    wave[rng.permutation(chosen)] = np.arange(n) * waves // n + 1
    return Allocation(probability, wave)


def weighted_mean(
    rated: ArrayLike,
    predicted: ArrayLike,
    probability: ArrayLike,
    predicted_of_all: ArrayLike,
    *,
    tuning: float | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the mean of people's norms over all items from a sample with unequal probabilities.

    *Shape:* rated, predicted, probability (rated items,); predicted_of_all (items,). The model's mean of all items is
    corrected by the weighted mean error of the rated ones. *tuning* is λ, the weight of the model; by default the one
    with the smallest variance. With λ = 0 the model is not used.

    Errors: :class:`StatisticError` with fewer than 5 rated items, or a probability outside 0 to 1.

    >>> estimate = weighted_mean([2, 4, 6, 8, 10], [1, 3, 5, 7, 9], [0.5] * 5, np.arange(10), tuning=1.0)
    >>> estimate.value, estimate.interval.low  # 4.5 and, of each of 5 · 2 = 10 items, 1
    (5.5, 5.5)
    """
    y, f, share = (np.asarray(values, dtype=np.float64) for values in (rated, predicted, probability))
    every = np.asarray(predicted_of_all, dtype=np.float64)
    require_finite("a weighted mean", y, f, share, every)
    n, n_all = len(y), len(every)
    if n < _FEWEST:
        raise StatisticError(f"a weighted mean needs {_FEWEST} rated items, not {n}")
    if ((share <= 0) | (share > 1)).any():
        raise StatisticError("a sampling probability is not between 0 and 1")
    # of rated items, each counts for as many as its probability says
    weight = _tuned(y, f, share, every) if tuning is None else tuning
    error = y - weight * f
    value = weight * float(every.mean()) + float((error / share).sum()) / n_all
    spent = 1 if tuning is None else 0
    variance = _variance(error, share, spent) / n_all**2
    reach = student_quantile(level, max(n - 1 - spent, 1)) * math.sqrt(variance)
    name = statistic_name("weighted", by="inverse_probability", drawn="systematic", level=f"{level:g}")
    interval = Interval(value - reach, value + reach, level, name)
    return Estimate(
        statistic_name("mean_rating", source="people_and_model"), value, interval, n, note=f"λ = {weight:.2f}"
    )


def _tuned(y: FloatArray, f: FloatArray, share: FloatArray, every: FloatArray) -> float:
    """λ with the smallest variance: the slope of the weighted deviations of people on those of the model."""
    room = 1 - share
    if float(room.sum()) <= 0:
        return 0.0
    of_people, of_model = (_deviations(values, share) for values in (y, f))
    spread = float(room @ of_model**2)
    return float(room @ (of_people * of_model)) / spread if spread > 1e-12 * (1 + float(every.var())) else 0.0


def _deviations(values: FloatArray, share: FloatArray) -> FloatArray:
    """Weighted values less their mean as the fixed size of the sample makes it."""
    room, weighted = 1 - share, values / share
    return weighted - float(room @ weighted) / float(room.sum())


def _variance(error: FloatArray, share: FloatArray, spent: int) -> float:
    """The variance of the weighted sum of a sample of fixed size and high entropy (Deville 1999)."""
    room, n = 1 - share, len(error)
    if float(room.sum()) <= 0:
        return 0.0
    return n / max(n - 1 - spent, 1) * float(room @ _deviations(error, share) ** 2)
