"""Families of tests: p values that are read together, adjusted for how many they are.

Of 100 tests without any effect, 5 are below .05. A family is declared with the question that it belongs to: a name, and
the statistics whose tests are its members. Every record of a test then has its adjusted p and the printed name of its
family, with the method and the number of tests: ``contrasts(method=holm,tests=84)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, p_of, parse_statistic, statistic_name

Method = Literal["holm", "benjamini_hochberg", "benjamini_yekutieli"]


def holm(p: ArrayLike) -> FloatArray:
    """Return p values adjusted by Holm's method: the chance of one false alarm or more in the family stays below each.

    It holds for any dependence of the tests. *Shape:* (tests,) kept. *Source:* Holm 1979.

    Errors: :class:`StatisticError` for a value that is no p.

    >>> holm([0.01, 0.04, 0.03]).tolist()  # 3 × .01, 2 × .03, and .04 is not below it
    [0.03, 0.06, 0.06]
    """
    values, order = _sorted(p)
    steps = np.arange(len(values), 0, -1)
    return _in_order(np.maximum.accumulate(np.minimum(steps * values[order], 1.0)), order)


def benjamini_hochberg(p: ArrayLike) -> FloatArray:
    """Return p values adjusted by Benjamini and Hochberg: of tests below a level, at most this share is false.

    It holds on average, for tests that are independent or positively dependent. *Shape:* (tests,) kept.
    *Source:* Benjamini & Hochberg 1995.

    Errors: :class:`StatisticError` for a value that is no p.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()  # 3/1 × .01, and 3/3 × .04 is below 3/2 × .03
    [0.03, 0.04, 0.04]
    """
    values, order = _sorted(p)
    raised = len(values) / np.arange(1, len(values) + 1) * values[order]
    return _in_order(np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0), order)


def benjamini_yekutieli(p: ArrayLike) -> FloatArray:
    """Return p values adjusted by Benjamini and Yekutieli: of tests below a level, at most this share is false.

    It holds on average, for any dependence of the tests. *Shape:* (tests,) kept. *Source:* Benjamini & Yekutieli 2001.

    Errors: :class:`StatisticError` for a value that is no p.

    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(6).tolist()  # 1 + 1/2 + 1/3 times those of Benjamini & Hochberg
    [0.055, 0.073333, 0.073333]
    """
    values, order = _sorted(p)
    harmonic = float((1 / np.arange(1, len(values) + 1)).sum())
    raised = harmonic * len(values) / np.arange(1, len(values) + 1) * values[order]
    return _in_order(np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0), order)


METHODS: Mapping[Method, Callable[[ArrayLike], FloatArray]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "benjamini_yekutieli": benjamini_yekutieli,
}
"""The methods of adjustment by name."""
TITLES: Mapping[Method, str] = {
    "holm": "Holm",
    "benjamini_hochberg": "Benjamini–Hochberg",
    "benjamini_yekutieli": "Benjamini–Yekutieli",
}
"""What the methods are called in tables."""


def adjust(p: ArrayLike, method: Method = "holm") -> FloatArray:
    """Return the p values of a family adjusted by *method*. *Shape:* (tests,) kept.

    Errors: :class:`StatisticError` for a value that is no p, and for an unknown method.
    """
    if method not in METHODS:
        raise StatisticError(f"no adjustment {method!r}; valid names: {', '.join(METHODS)}")
    return METHODS[method](p)


@dataclass(frozen=True, slots=True)
class TestFamily:
    """A family of tests as a question declares it.

    *members* are the statistics whose p values are the tests: a name stands for the statistics that have it and its
    parameters (``chi2``, ``chi2(test=sense)``). *repeats* are statistics that print one of these p values once more
    (``paired_t_p`` with ``paired_t``): they have the same adjusted p and do not count. *columns* are the heads of the
    columns that show its p values; without them, any column in which all p values are of this family does. *once* are
    parameters under which one test is printed several times (the name of a comparison, of a model that several
    comparisons share): records that differ in these alone, with one value and one p, count once.
    """

    __test__ = False

    name: str
    members: tuple[str, ...]
    repeats: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    method: Method = "holm"
    once: tuple[str, ...] = ()

    def holds(self, record: Record) -> bool:
        """Whether the record is a member, or repeats one."""
        return _is_named(record, self.members) or _is_named(record, self.repeats)

    def test_of(self, record: Record) -> object:
        """Return what the records of one test share."""
        name, given = parse_statistic(record.statistic)
        kept = tuple((key, value) for key, value in given.items() if key not in self.once)
        return name, kept, record.subject, record.layer, record.condition, record.view, record.dataset


@dataclass(frozen=True, slots=True)
class AdjustedFamily:
    """The tests of a family in one run: its members' p values, adjusted.

    ``of`` gives the adjusted p of a raw one: within a family it depends on the raw p alone.
    """

    name: str
    method: Method
    n: int
    of: Mapping[float, float] = field(repr=False)
    columns: tuple[str, ...] = ()

    def is_shown_in(self, header: str, p: Sequence[float]) -> bool:
        """Whether a column with this head and these p values shows tests of the family."""
        return (not self.columns or header in self.columns) and all(value in self.of for value in p)

    @property
    def label(self) -> str:
        """The printed name, with the method and the number of tests."""
        return statistic_name(self.name, method=self.method, tests=self.n)

    def header(self, p: str = "p") -> str:
        """Return the head of the column of adjusted p values next to one with the head *p*."""
        return f"{p}, {TITLES[self.method]}, {self.n} tests"


def adjusted_family(name: str, p: Iterable[float], method: Method = "holm") -> AdjustedFamily:
    """Return a family of these p values.

    >>> tests = adjusted_family("contrasts", [0.01, 0.04, 0.03])
    >>> tests.of[0.03], tests.label, tests.header()
    (0.06, 'contrasts(method=holm,tests=3)', 'p, Holm, 3 tests')
    """
    values = list(p)
    adjusted = adjust(values, method).tolist()
    return AdjustedFamily(name, method, len(values), dict(zip(values, adjusted, strict=True)))


def with_families(
    records: Sequence[Record], families: Sequence[TestFamily] = (), *, planned: Callable[[Record], bool] | None = None
) -> tuple[tuple[Record, ...], tuple[AdjustedFamily, ...]]:
    """Return the records of a question with the families of their tests, and these families.

    A test of no declared family is in a family with the others of the same statistic. *planned* says which records
    belong to an analysis that was planned: these are a separate family, for a plan does not grow by what was
    explored later. A test that is alone has no family. A record that has a family already keeps it.

    Errors: :class:`StatisticError` for a record that repeats a p value which no member of its family has.

    >>> tests = [Record("t", 2.1, p=0.04, condition="a"), Record("t", 2.9, p=0.01, condition="b"), Record("mean", 3.0)]
    >>> [(record.p_adjusted, record.family) for record in with_families(tests)[0]][1:]
    [(0.02, 't(method=holm,tests=2)'), (None, '')]
    """
    families = _with_those_of_no_family(records, families)
    chosen: list[tuple[TestFamily, bool] | None] = []
    raw: dict[tuple[TestFamily, bool], list[float]] = {}
    counted: set[object] = set()
    for record in records:
        p = p_of(record)
        family = None if p is None or record.family else next((f for f in families if f.holds(record)), None)
        key = None if family is None else (family, bool(planned and planned(record)))
        chosen.append(key)
        if key is not None and p is not None and not _is_named(record, key[0].repeats):
            test = (key, key[0].test_of(record), record.value, p)
            if not key[0].once or test not in counted:
                raw.setdefault(key, []).append(p)
            counted.add(test)
    both = {family for family, is_planned in raw if is_planned and (family, False) in raw}
    tests = {
        (family, is_planned): replace(
            adjusted_family(
                f"{family.name}_planned" if is_planned and family in both else family.name, values, family.method
            ),
            columns=family.columns,
        )
        for (family, is_planned), values in raw.items()
    }
    adjusted = tuple(
        record if key is None else _adjusted(record, tests, key) for record, key in zip(records, chosen, strict=True)
    )
    return adjusted, tuple(own for own in tests.values() if own.n > 1)


def _with_those_of_no_family(records: Sequence[Record], families: Sequence[TestFamily]) -> tuple[TestFamily, ...]:
    undeclared = dict.fromkeys(
        parse_statistic(record.statistic)[0]
        for record in records
        if p_of(record) is not None and not any(family.holds(record) for family in families)
    )
    return (*families, *(TestFamily(name, (name,)) for name in undeclared))


def _adjusted(
    record: Record, tests: Mapping[tuple[TestFamily, bool], AdjustedFamily], key: tuple[TestFamily, bool]
) -> Record:
    p = p_of(record)
    # a repeated p is in the family of its member, which may be the planned one
    of_family = [tests[other] for other in (key, (key[0], not key[1])) if other in tests]
    own = next((family for family in of_family if p in family.of), None)
    if p is None or own is None:
        raise StatisticError(
            f"{record.statistic} repeats p = {p:g}, which no test of the family {key[0].name} has",
            hint="name its own statistic among the members of a family",
        )
    return record if own.n < 2 else replace(record, p_adjusted=own.of[p], family=own.label)


def _is_named(record: Record, names: Sequence[str]) -> bool:
    name, parameters = parse_statistic(record.statistic)
    return any(name == other and given.items() <= parameters.items() for other, given in map(parse_statistic, names))


def _sorted(p: ArrayLike) -> tuple[FloatArray, IntArray]:
    values = np.asarray(p, dtype=np.float64).reshape(-1)
    if not ((values >= 0) & (values <= 1)).all():
        worst = values[~((values >= 0) & (values <= 1))][0]
        raise StatisticError(f"{worst:g} is not a p value", hint="p values are between 0 and 1")
    return values, np.argsort(values, kind="stable")


def _in_order(adjusted: FloatArray, order: IntArray) -> FloatArray:
    """Adjusted values of sorted tests, each at the place of its test."""
    placed = np.empty_like(adjusted)
    placed[order] = adjusted
    return placed
