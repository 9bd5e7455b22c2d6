"""The share of the attainable: (model − chance) / (ceiling − chance), with the interval of both together.

The model and the ceiling vary with the words and with the raters. Words are resampled, with both on the same
resamples; raters, if they are persons, are excluded one by one: a resample of raters would hold copies, which agree
with each other. The two variances are added. A share may exceed 1; it is not cut off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lexiscope.analysis.attainable.reached import Reached
from lexiscope.analysis.bootstrap import MOST_UNDEFINED, FloatArray
from lexiscope.analysis.jackknife import quantile_of_t
from lexiscope.core.errors import StatisticError


@dataclass(frozen=True, slots=True, eq=False)
class Ceiling:
    """What a share is of: the value, the same in each resample of words, and without each rater.

    A printed figure has neither: its own error is not known. *Shape:* draws (resamples,); without (raters,).
    """

    value: float
    draws: FloatArray = field(default_factory=lambda: np.empty(0))
    without: FloatArray = field(default_factory=lambda: np.empty(0))
    raters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """A share of the attainable with its joint interval.

    ``deviations`` are by rater: by how much the share without the rater differs from the mean of all of these, so that
    the sum of their squares is the variance that raters bring. *Shape:* draws (resamples,).
    """

    value: float
    low: float
    high: float
    draws: FloatArray
    deviations: Mapping[str, float]
    n_words: int
    level: float = 0.95

    @property
    def of_raters(self) -> float:
        """The part of the variance that comes from the raters, 0 to 1."""
        raters = sum(part * part for part in self.deviations.values())
        words = _variance(self.draws)
        return raters / (raters + words) if raters + words > 0 else 0.0


def share_of(reached: Reached, ceiling: Ceiling, *, chance: float = 0.0, level: float = 0.95) -> Share:
    """Return the share of the attainable that a model reaches, with the joint interval.

    The interval is the share ± t standard errors; the degrees of freedom are Satterthwaite's, of the words and of the
    raters (±1.96 where both are many). Errors: :class:`StatisticError` where the ceiling is not higher than chance, or
    undefined in more than a tenth of the resamples.

    >>> reached = Reached(0.6, np.array([0.5, 0.6, 0.7]), 40, 20)
    >>> share = share_of(reached, Ceiling(0.9), chance=0.5)  # (.6 − .5) / (.9 − .5)
    >>> round(share.value, 6), round(share.high, 4)  # + t(19) · √(20 / 19) · .25
    (0.25, 0.7868)
    """
    above = ceiling.value - chance
    if not above > 0:
        raise StatisticError(f"the ceiling ({ceiling.value:.2f}) is not higher than chance ({chance:.2f})")
    value = (reached.value - chance) / above
    n = min(len(reached.draws), len(ceiling.draws)) if len(ceiling.draws) else len(reached.draws)
    over = ceiling.draws[:n] - chance if len(ceiling.draws) else np.full(n, above)
    with np.errstate(divide="ignore", invalid="ignore"):
        draws = np.where(over > 0, (reached.draws[:n] - chance) / over, np.nan)
    _check_defined(draws)
    deviations: dict[str, float] = {}
    if len(reached.without) and len(ceiling.without):
        with np.errstate(divide="ignore", invalid="ignore"):
            without = (reached.without - chance) / (ceiling.without - chance)
        known = np.flatnonzero(np.isfinite(without))
        if len(known) < max(3, (1 - MOST_UNDEFINED) * len(without)):
            raise StatisticError(f"the share is undefined without {len(without) - len(known)} of the raters")
        scale = math.sqrt((len(known) - 1) / len(known))
        middle = float(without[known].mean())
        deviations = {ceiling.raters[k]: scale * (float(without[k]) - middle) for k in known.tolist()}
    low, high = _interval(value, draws, reached.n_words, deviations, level)
    return Share(value, low, high, draws, deviations, reached.n_words, level)


def mean_share(shares: Sequence[Share]) -> Share:
    """Return the plain mean of the shares of several lines, with the interval of the mean.

    Lines that share words have the same resamples of these (:mod:`lexiscope.analysis.attainable.word_draws`), and
    lines that share raters the same deviations: their covariance is in the interval. *n_words* is that of the line
    with the fewest. Errors: :class:`StatisticError` without a share.

    >>> one = Share(0.2, 0.1, 0.3, np.array([0.1, 0.3]), {"ana": 0.05}, 40)
    >>> mean = mean_share([one, one])  # a line counted twice is not better known
    >>> mean.value, mean.deviations["ana"], mean.draws.tolist()
    (0.2, 0.05, [0.1, 0.3])
    """
    if not shares:
        raise StatisticError("no line has a share")
    n = min(len(share.draws) for share in shares)
    draws = np.mean([share.draws[:n] for share in shares], axis=0)
    _check_defined(draws)
    raters = dict.fromkeys(rater for share in shares for rater in share.deviations)
    deviations = {r: sum(share.deviations.get(r, 0.0) for share in shares) / len(shares) for r in raters}
    value = float(np.mean([share.value for share in shares]))
    words, level = min(share.n_words for share in shares), shares[0].level
    low, high = _interval(value, draws, words, deviations, level)
    return Share(value, low, high, draws, deviations, words, level)


def _check_defined(draws: FloatArray) -> None:
    undefined = int(np.isnan(draws).sum())
    if undefined > MOST_UNDEFINED * len(draws) or len(draws) - undefined < 2:
        raise StatisticError(f"the share is undefined in {undefined} of {len(draws)} resamples")


def _variance(draws: FloatArray) -> float:
    known = draws[~np.isnan(draws)]
    return float(known.var(ddof=1)) if len(known) > 1 else 0.0


def _interval(
    value: float, draws: FloatArray, n_words: int, deviations: Mapping[str, float], level: float
) -> tuple[float, float]:
    words = _variance(draws) * n_words / (n_words - 1)
    raters = sum(part * part for part in deviations.values())
    spent = words**2 / (n_words - 1) + (raters**2 / (len(deviations) - 1) if len(deviations) > 1 else 0.0)
    freedom = (words + raters) ** 2 / spent if spent > 0 else 1.0
    reach = quantile_of_t(level, freedom) * math.sqrt(words + raters)
    return value - reach, value + reach
