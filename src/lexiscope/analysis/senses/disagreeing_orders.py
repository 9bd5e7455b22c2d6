"""Do two measures order the same subjects alike? Similarity to people's ratings, and how people read senses.

*Source:* GASI §5.1: vectors that come nearest to ratings of similarity need not be those whose senses people recognise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Record, statistic_name


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

    def results(self, **named: object) -> tuple[Estimate, ...]:
        """Return how many pairs are ordered differently, how many of them clearly, and how many are ordered at all.

        *named* are parameters of the names: which measures they are.
        """
        counts = {
            "n_disagreements": len(self.disagreeing),
            "n_clear_disagreements": len(self.clear),
            "n_orders": self.n_pairs,
        }
        return tuple(
            Estimate(statistic_name(name, **named), float(count), n=self.n_pairs) for name, count in counts.items()
        )


@dataclass(frozen=True, slots=True)
class MeasureValues:
    """The values of a measure by subject, higher is better, and the intervals of those that have one."""

    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> MeasureValues:
        """Return what records of one statistic say of their subjects."""
        known = {record.subject: record for record in records if record.value is not None}
        bounded = {name: (record.low, record.high) for name, record in known.items()}
        ends = {name: (low, high) for name, (low, high) in bounded.items() if low is not None and high is not None}
        return cls({name: record.value for name, record in known.items() if record.value is not None}, ends)


def compare_orders(first: MeasureValues, second: MeasureValues) -> Orders:
    """Compare the order of subjects by two measures.

    Subjects without a value of either (absent, or not a number) are excluded; of equals the first is the best. A pair
    of which an interval is not known is not clear.
    Errors: :class:`StatisticError` for fewer than two subjects with both.

    >>> first = MeasureValues({"a": 60.0, "b": 55.0, "c": 50.0})
    >>> found = compare_orders(first, MeasureValues({"a": 0.5, "b": 0.7, "c": 0.4}))
    >>> found.best_first, found.best_second, found.disagreeing, found.n_pairs
    ('a', 'b', (('a', 'b'),), 3)
    """
    x, y = first.values, second.values
    both = [name for name in x if name in y and math.isfinite(x[name]) and math.isfinite(y[name])]
    if len(both) < 2:
        raise StatisticError(f"an order needs two subjects that have both measures, and there are {len(both)}")
    crossing = []
    n_pairs = 0
    for subject, other in combinations(both, 2):
        left, right = x[subject] - x[other], y[subject] - y[other]
        n_pairs += left != 0 and right != 0
        if left * right < 0:
            crossing.append((subject, other) if left > 0 else (other, subject))
    clear = [pair for pair in crossing if _are_apart(first, *pair) and _are_apart(second, *pair)]
    best = max(both, key=x.__getitem__), max(both, key=y.__getitem__)
    return Orders(tuple(both), *best, tuple(crossing), n_pairs, tuple(clear))


def compare_every(
    records: Iterable[Record], first: Mapping[str, str], second: Mapping[str, str]
) -> dict[tuple[str, str], Orders]:
    """Compare the orders by each statistic of *first* and each of *second* (by what they are called), from records.

    Two of which fewer than two subjects have both are not compared.
    """
    every = list(records)
    measured = {
        name: MeasureValues.of(record for record in every if record.statistic == name)
        for name in set(first.values()) | set(second.values())
    }
    orders = {}
    for subject, x in first.items():
        for other, y in second.items():
            try:
                orders[subject, other] = compare_orders(measured[x], measured[y])
            except StatisticError:
                # fewer than two subjects have both: this pair of measures compares nothing
                continue
    return orders


def mean_over_datasets(records: Iterable[Record], datasets: Sequence[str], *, name: str) -> tuple[Estimate, ...]:
    """Return the mean value over datasets, under this *name*, of each subject that has a value in all of them.

    *records* are of one statistic. Several datasets then count as one measure of a subject.

    >>> made = [Record("rho", 40.0, "a", "one"), Record("rho", 60.0, "a", "two"), Record("rho", 50.0, "b", "one")]
    >>> [(one.subject, one.value, one.n) for one in mean_over_datasets(made, ["one", "two"], name="mean_rho")]
    [('a', 50.0, 2)]
    """
    values: dict[str, dict[str, float]] = {}
    for record in records:
        if record.dataset in datasets and record.value is not None:
            values.setdefault(record.subject, {})[record.dataset] = record.value
    return tuple(
        Estimate(name, sum(own.values()) / len(own), n=len(own), subject=subject)
        for subject, own in values.items()
        if len(own) == len(set(datasets))
    )


def _are_apart(measured: MeasureValues, subject: str, other: str) -> bool:
    """Whether two intervals are known and share no value."""
    known = [measured.intervals.get(name) for name in (subject, other)]
    if known[0] is None or known[1] is None:
        return False
    return max(known[0][0], known[1][0]) > min(known[0][1], known[1][1])
