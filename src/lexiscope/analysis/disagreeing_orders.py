"""Do two measures order the same subjects alike? Similarity to people's ratings beside how people read the senses.

*Source:* GASI §5.1: vectors that come nearest to ratings of similarity need not be those whose senses people recognise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from lexiscope.core.errors import StatisticError


@dataclass(frozen=True, slots=True)
class Orders:
    """How two measures order the subjects that have both.

    ``best_first`` and ``best_second`` are the best subjects by each; ``disagreeing`` are pairs (A, B) of which the
    first measure puts A above B and the second B above A; ``clear`` are those of them whose intervals overlap by
    neither measure. ``n_pairs`` counts the pairs that neither measure ties.
    """

    subjects: tuple[str, ...]
    best_first: str
    best_second: str
    disagreeing: tuple[tuple[str, str], ...]
    n_pairs: int
    clear: tuple[tuple[str, str], ...] = ()

    @property
    def same_best(self) -> bool:
        """Whether both measures have the same best subject."""
        return self.best_first == self.best_second


@dataclass(frozen=True, slots=True)
class Measured:
    """The values of a measure by subject, higher is better, and the intervals of those that have one."""

    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def compare_orders(first: Measured, second: Measured) -> Orders:
    """Compare the order of subjects by two measures.

    Subjects without a value of either (absent, or not a number) are left out; of equals the first is the best. A pair
    of which an interval is not known is not clear.
    Errors: :class:`StatisticError` for fewer than two subjects with both.

    >>> found = compare_orders(Measured({"a": 60.0, "b": 55.0, "c": 50.0}), Measured({"a": 0.5, "b": 0.7, "c": 0.4}))
    >>> found.best_first, found.best_second, found.disagreeing, found.n_pairs
    ('a', 'b', (('a', 'b'),), 3)
    """
    x, y = first.values, second.values
    both = [name for name in x if name in y and math.isfinite(x[name]) and math.isfinite(y[name])]
    if len(both) < 2:
        raise StatisticError(f"an order needs two subjects that have both measures, and there are {len(both)}")
    crossing = []
    n_pairs = 0
    for one, other in combinations(both, 2):
        left, right = x[one] - x[other], y[one] - y[other]
        n_pairs += left != 0 and right != 0
        if left * right < 0:
            crossing.append((one, other) if left > 0 else (other, one))
    clear = [pair for pair in crossing if _apart(first, *pair) and _apart(second, *pair)]
    best = max(both, key=x.__getitem__), max(both, key=y.__getitem__)
    return Orders(tuple(both), *best, tuple(crossing), n_pairs, tuple(clear))


def _apart(measured: Measured, one: str, other: str) -> bool:
    """Say whether two intervals are known and share no value."""
    known = [measured.intervals.get(name) for name in (one, other)]
    if known[0] is None or known[1] is None:
        return False
    return max(known[0][0], known[1][0]) > min(known[0][1], known[1][1])
