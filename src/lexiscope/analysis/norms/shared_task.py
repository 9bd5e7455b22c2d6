"""The official score of the shared task on AmbiStory (SemEval-2026 Task 5), number for number.

A prediction p is right where mean − s < p < mean + s, or |mean − p| < 1, with the sample standard deviation s (n − 1)
of the ratings. *Source:* the organisers' ``scoring.py``. Floating-point numbers are compared as they are, so that the
score is the organisers' own; :mod:`lexiscope.analysis.norms.within_sd` puts a distance within 1e-9 of the threshold on
it. On whole numbers the two agree on every published sample; a prediction with a decimal can differ in its last bit.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.correlation import correlation_value, is_constant
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Undefined


@dataclass(frozen=True, slots=True)
class OfficialScore:
    """The two numbers of the leaderboard, and what they rest on.

    ``spearman`` says why where it is undefined: the organisers' script writes ``NaN`` there, which is no JSON.
    ``n_non_integer``: predictions between the points of the scale, which gain three to five points of accuracy.
    """

    accuracy: float
    spearman: float | Undefined
    n: int
    n_correct: int
    n_non_integer: int

    def as_json(self) -> dict[str, float | None]:
        """Return the two numbers as the leaderboard names them, ``None`` where there is none."""
        rho = self.spearman
        return {"accuracy": self.accuracy, "spearman": None if isinstance(rho, Undefined) else rho}


def official_score(predictions: ArrayLike, ratings: Sequence[Sequence[int]]) -> OfficialScore:
    """Return the official score of predictions, given the ratings of each published row, in their order.

    *Shape:* predictions (rows,). *Higher means:* closer to people. *Source:* SemEval-2026 Task 5, ``scoring.py``.
    Errors: :class:`StatisticError` where the numbers of predictions and rows differ or one is no number, and where
    there is no row, or one with fewer than two ratings.

    >>> ratings = [[1, 2, 3], [5, 5, 5], [1, 5, 5]]  # means 2, 5, 3.67; thresholds 1, 1, 2.31
    >>> score = official_score([3, 4.5, 2], ratings)  # 1 is not below 1; 0.5 is; 1.67 is below 2.31
    >>> score.n_correct, score.n_non_integer
    (2, 1)
    >>> official_score([4, 4, 4], ratings).as_json()["spearman"] is None
    True
    """
    few = [row for row, several in enumerate(ratings) if len(several) < 2]
    if few or not len(ratings):
        where = f"row {few[0]} has fewer" if few else "there is no row"
        raise StatisticError(f"the score needs two ratings of every row; {where}")
    # exact fractions inside, as in the organisers' script: the last bit can decide
    mean = np.array([sum(several) / len(several) for several in ratings])
    sd = np.array([statistics.stdev(several) for several in ratings])
    values = np.asarray(predictions, dtype=np.float64)
    if values.shape != mean.shape or not np.isfinite(values).all():
        what = f"the score needs one number for each of {len(mean)} rows; there are {np.isfinite(values).sum()}"
        raise StatisticError(what)
    right = (mean - sd < values) & (values < mean + sd) | (np.abs(mean - values) < 1)
    return OfficialScore(
        accuracy=int(right.sum()) / len(values),
        spearman=_rho(values, mean),
        n=len(values),
        n_correct=int(right.sum()),
        n_non_integer=int((values != np.rint(values)).sum()),
    )


def _rho(values: FloatArray, mean: FloatArray) -> float | Undefined:
    if len(values) < 3:
        return Undefined("spearman", f"{len(values)} rows: a correlation needs 3", len(values))
    for name, column in (("predictions", values), ("mean ratings", mean)):
        if is_constant(column):
            return Undefined("spearman", f"all {name} are {column[0]:g}", len(values))
    return correlation_value(values, mean, kind="spearman")
