"""Consistency of two tests over the same items: how often B comes out right given that A did, or did not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name


@dataclass(frozen=True, slots=True, eq=False)
class ConsistencyTable:
    """Counts and conditional shares of two tests, A and B, on the same items.

    *Shape:* ``counts`` (2, 2): rows are A wrong, A right; columns B wrong, B right. ``given`` (2, 2) is
    P(B = column | A = row), NaN in a row without items; its rows add up to 1. ``n`` is the number of items.
    """

    counts: IntArray
    given: FloatArray
    n: int

    def p(self, b: int, *, given: int) -> float:
        """Return P(B = b | A = given), with 1 for right and 0 for wrong."""
        return float(self.given[given, b])

    def results(self) -> tuple[Estimate | Undefined, ...]:
        """Return the four counts, each followed by its share: A wrong and B wrong, A wrong and B right, A right ….

        >>> [(each.name, each.value) for each in consistency_table([1, 1], [1, 0]).results()[6:]]
        [('n_consistent(a=1,b=1)', 1.0), ('given(a=1,b=1)', 0.5)]
        """
        found: list[Estimate | Undefined] = []
        for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
            share, n = statistic_name("given", a=a, b=b), int(self.counts[a].sum())
            found.append(Estimate(statistic_name("n_consistent", a=a, b=b), float(self.counts[a, b]), n=self.n))
            reason = "no item has this outcome in the first test"
            found.append(Estimate(share, self.p(b, given=a), n=n) if n else Undefined(share, reason))
        return tuple(found)

    @property
    def expected(self) -> FloatArray:
        """P(B = column) whatever A did: what the rows of ``given`` are where A says nothing about B. *Shape:* (2,)."""
        return np.asarray(self.counts.sum(axis=0) / self.n)


def consistency_table(first: ArrayLike, second: ArrayLike) -> ConsistencyTable:
    """Cross two columns of decisions (0 and 1). *Shape:* (items,) each. *Source:* Ivan et al. 2025, §4.4.

    >>> found = consistency_table([1, 1, 1, 0], [1, 1, 0, 0])
    >>> found.counts.tolist(), found.p(1, given=0), round(found.p(1, given=1), 3)
    ([[1, 0], [1, 2]], 0.0, 0.667)

    Errors: :class:`StatisticError` for unequal lengths, no items, or values other than 0 and 1.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise StatisticError(f"consistency needs two columns of one length, not shapes {a.shape} and {b.shape}")
    if not np.isin(a, (0.0, 1.0)).all() or not np.isin(b, (0.0, 1.0)).all():
        raise StatisticError("decisions are 0 and 1")
    counts = np.bincount((2 * a + b).astype(np.int64), minlength=4).reshape(2, 2).astype(np.int64)
    totals = counts.sum(axis=1, keepdims=True)
    given = np.divide(counts, totals, out=np.full((2, 2), np.nan), where=totals > 0)
    return ConsistencyTable(counts, given, len(a))
