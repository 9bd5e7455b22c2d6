"""Whether decisions go with the number of tokens: accuracy by token delta, tests, and a warning.

A score that is a mean over tokens rewards words that are cut into many predictable pieces; a sum punishes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.significance import TestResult, independent_t
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name

WARN_P = 0.05
WARN_POINTS = 0.10


@dataclass(frozen=True, slots=True)
class DeltaLevel:
    """The decisions at one token delta: how many, how many right, and the tests against delta 0.

    ``welch`` and ``pooled`` are missing at delta 0 and where a sample is too small or neither varies.
    """

    delta: float
    n: int
    n_correct: int
    welch: TestResult | None = None
    pooled: TestResult | None = None

    @property
    def accuracy(self) -> float:
        """The share right."""
        return self.n_correct / self.n

    def results(self) -> tuple[Estimate, ...]:
        """Return the accuracy in percent, the number of decisions, and t and p of the tests that there are.

        >>> [(result.name, result.value) for result in DeltaLevel(0.0, 4, 3).results()]
        [('accuracy_by_delta(delta=0)', 75.0), ('n_by_delta(delta=0)', 4.0)]
        """
        delta, estimates = f"{self.delta:g}", []
        for variances, test in (("pooled", self.pooled), ("welch", self.welch)):
            for name, value in (("independent_t", test.statistic), ("independent_t_p", test.p)) if test else ():
                estimates.append(Estimate(statistic_name(name, delta=delta, variances=variances), value, n=self.n))
        right = Estimate(
            statistic_name("accuracy_by_delta", delta=delta), 100 * self.accuracy, n=self.n, unit="percent"
        )
        return right, Estimate(statistic_name("n_by_delta", delta=delta), float(self.n), n=self.n), *estimates


@dataclass(frozen=True, slots=True)
class DeltaEffect:
    """Accuracy where the right option has fewer tokens, and where it has more; ``follows``: the decision goes with it.

    ``follows`` is true where the two accuracies differ by at least 10 points with p < .05 (Welch). ``test`` compares
    more with fewer; it is missing where one side is too small. ``note`` says which way it goes.
    """

    n_fewer: int
    n_more: int
    accuracy_fewer: float
    accuracy_more: float
    test: TestResult | None
    follows: bool
    note: str

    def result(self) -> Estimate | Undefined:
        """Return by how many points the right option is chosen more often where it has more tokens.

        >>> round(delta_effect([1, 1, 1, 0, 0, 1], [1, 1, 1, -1, -1, -1]).result().value, 6)
        66.666667
        """
        gap, n = self.accuracy_more - self.accuracy_fewer, self.n_fewer + self.n_more
        if np.isnan(gap):
            return Undefined("follows_delta", "the right word never has more, or never fewer, tokens", n)
        p = self.test.p if self.test else None
        return Estimate("follows_delta", 100 * gap, n=n, p=p, unit="points", note=self.note)


def accuracy_by_delta(correct: ArrayLike, deltas: ArrayLike) -> tuple[DeltaLevel, ...]:
    """Return the decisions by token delta, in ascending order, each tested against delta 0.

    *Shape:* (decisions,) each. *Source:* Ivan et al. 2025, §4.3 and Table 1.

    >>> [(level.delta, level.n, level.n_correct) for level in accuracy_by_delta([1, 0, 1, 1], [-1, 0, 0, 0])]
    [(-1.0, 1, 1), (0.0, 3, 2)]

    Errors: :class:`StatisticError` for unequal lengths or no decisions.
    """
    right, delta = _columns(correct, deltas)
    zero = right[delta == 0]
    levels = []
    for level in np.unique(delta):
        here = right[delta == level]
        tested = level != 0 and len(zero) > 0
        levels.append(
            DeltaLevel(
                float(level),
                len(here),
                int(here.sum()),
                _compare(here, zero, pooled=False) if tested else None,
                _compare(here, zero, pooled=True) if tested else None,
            )
        )
    return tuple(levels)


def delta_effect(correct: ArrayLike, deltas: ArrayLike) -> DeltaEffect:
    """Say whether decisions follow the token delta. *Shape:* (decisions,) each.

    >>> delta_effect([1, 1, 1, 0, 0, 1] * 9, [1, 1, 1, -1, -1, -1] * 9).note
    'right more often where the right word has more tokens (100 % against 33 %)'

    Errors: :class:`StatisticError` for unequal lengths or no decisions.
    """
    right, delta = _columns(correct, deltas)
    fewer, more = right[delta < 0], right[delta > 0]
    low, high = (float(side.mean()) if len(side) else float("nan") for side in (fewer, more))
    test = _compare(more, fewer, pooled=False)
    gap = high - low
    # without any variation on either side there is no t; a clean split of many items follows the delta all the same
    split = test is None and abs(gap) == 1 and min(len(fewer), len(more)) > 4
    follows = split or (test is not None and test.p < WARN_P and abs(gap) >= WARN_POINTS)
    side = "more" if gap > 0 else "fewer"
    shares = (high, low) if gap > 0 else (low, high)
    note = f"right more often where the right word has {side} tokens ({shares[0]:.0%} against {shares[1]:.0%})"
    note = note.replace("%", " %") if follows else ""
    return DeltaEffect(len(fewer), len(more), low, high, test, follows, note)


def _compare(first: FloatArray, second: FloatArray, *, pooled: bool) -> TestResult | None:
    if min(len(first), len(second)) < 2 or (np.ptp(first) == 0 and np.ptp(second) == 0):
        return None
    return independent_t(first, second, variances="pooled" if pooled else "welch")


def _columns(correct: ArrayLike, deltas: ArrayLike) -> tuple[FloatArray, FloatArray]:
    right, delta = np.asarray(correct, dtype=np.float64), np.asarray(deltas, dtype=np.float64)
    if right.shape != delta.shape or right.ndim != 1 or not len(right):
        raise StatisticError(f"one token delta per decision is needed, not {delta.shape} for {right.shape}")
    return right, delta
