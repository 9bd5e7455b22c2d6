"""Do two measures order the same subjects alike? Similarity to people's ratings beside how people read the senses.

*Source:* GASI §5.1: vectors that come nearest to ratings of similarity need not be those whose senses people recognise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from lexiscope.core.errors import StatisticError


@dataclass(frozen=True, slots=True)
class Orders:
    """How two measures order the subjects that have both.

    ``best_first`` and ``best_second`` are the best subjects by each; ``disagreeing`` are pairs (A, B) of which the
    first measure puts A above B and the second B above A; ``n_pairs`` counts the pairs that neither measure ties.
    """

    subjects: tuple[str, ...]
    best_first: str
    best_second: str
    disagreeing: tuple[tuple[str, str], ...]
    n_pairs: int

    @property
    def same_best(self) -> bool:
        """Whether both measures have the same best subject."""
        return self.best_first == self.best_second


def compare_orders(first: Mapping[str, float], second: Mapping[str, float]) -> Orders:
    """Compare the order of subjects by two measures, of each of which higher is better; only values are compared.

    Subjects without a value of either (absent, or not a number) are left out; of equals the first is the best.
    Errors: :class:`StatisticError` for fewer than two subjects with both.

    >>> found = compare_orders({"a": 60.0, "b": 55.0, "c": 50.0}, {"a": 0.5, "b": 0.7, "c": 0.4})
    >>> found.best_first, found.best_second, found.disagreeing, found.n_pairs
    ('a', 'b', (('a', 'b'),), 3)
    """
    both = [name for name in first if name in second and math.isfinite(first[name]) and math.isfinite(second[name])]
    if len(both) < 2:
        raise StatisticError(f"an order needs two subjects that have both measures, and there are {len(both)}")
    crossing = []
    n_pairs = 0
    for one, other in combinations(both, 2):
        left, right = first[one] - first[other], second[one] - second[other]
        n_pairs += left != 0 and right != 0
        if left * right < 0:
            crossing.append((one, other) if left > 0 else (other, one))
    return Orders(
        tuple(both), max(both, key=first.__getitem__), max(both, key=second.__getitem__), tuple(crossing), n_pairs
    )
