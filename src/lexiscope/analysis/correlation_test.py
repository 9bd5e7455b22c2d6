"""The p of a correlation by Student's t, as papers report it: it takes items as independent."""

from __future__ import annotations

import math

from lexiscope.core.errors import StatisticError

_FEWEST = 4


def correlation_p(r: float, n: int) -> float:
    """Return the two-sided p of a correlation (Pearson, Spearman) of *n* items, by t with n − 2 degrees of freedom.

    Errors: :class:`StatisticError` with fewer than 4 items, or r outside −1..1.

    >>> round(correlation_p(0.5, 20), 6)  # t = 0.5 * sqrt(18 / 0.75) = 2.449490
    0.02477
    """
    from scipy import stats

    if n < _FEWEST or not -1 <= r <= 1:
        raise StatisticError(f"a correlation of {r:g} over {n} items has no p")
    if abs(r) == 1:
        return 0.0
    t = r * math.sqrt((n - 2) / (1 - r * r))
    return float(2 * stats.t.sf(abs(t), n - 2))
