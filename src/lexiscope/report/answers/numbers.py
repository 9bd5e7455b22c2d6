"""The numbers of a run as answers look them up, and how they are printed (APA 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lexiscope.core.result import Record, p_of, parse_statistic, statistic_key
from lexiscope.report.figures import Figure
from lexiscope.report.marks.forest import ForestRow
from lexiscope.report.tables import Format, format_number, p_equation

_IS_CONDITION = re.compile(r"\w+=")
_PAIR = re.compile(r"(\w+)=([^,−]*[^,−\s])")
_TRUTH = {"True": "yes", "False": "no"}
_LEVEL = re.compile(r"level=([\d.]+)")


def words_of_condition(condition: str) -> str:
    """Return a condition, or its name, as readers see it.

    >>> words_of_condition("same_sense=True, place=before"), words_of_condition("same_sense")
    ('same sense: yes, place: before', 'same sense')
    """
    if "=" not in condition:
        return condition.replace("_", " ")
    return _PAIR.sub(lambda pair: f"{pair[1].replace('_', ' ')}: {_TRUTH.get(pair[2], pair[2])}", condition)


@dataclass(frozen=True, slots=True)
class Pick:
    """Which records are meant: the printed name of their statistic, and fields that they have.

    The order of the parameters in the name does not matter. A name that ends with ``(`` means every statistic of that
    name. A field may be a tuple (any of its values), or a function that returns whether a value matches.
    """

    statistic: str
    where: Mapping[str, object] = field(default_factory=dict)

    def fits(self, record: Record) -> bool:
        """Return whether a record matches."""
        if self.statistic.endswith("("):
            if not (record.statistic + "(").startswith(self.statistic):
                return False
        elif statistic_key(record.statistic) != statistic_key(self.statistic):
            return False
        return all(_has(record, name, value) for name, value in self.where.items())


def _has(record: Record, name: str, value: object) -> bool:
    own = getattr(record, name)
    if callable(value):
        return bool(value(own))
    return own in value if isinstance(value, tuple) else own == value


def pick(statistic: str, **where: object) -> Pick:
    """Return which records are meant: see :class:`Pick`.

    >>> pick("mean", condition=("a", "b")).fits(Record("mean", 2.0, condition="b"))
    True
    """
    return Pick(statistic, where)


@dataclass(frozen=True, eq=False)
class Numbers:
    """The records of a run, what its subjects are called, and its figures, whose data an answer may draw again.

    ``single`` are values of single people or items that no record holds, by name: an answer draws them as dots.
    ``other`` are the subjects of another kind than most, which drawings show hollow, and ``other_kind`` what they are.
    """

    records: tuple[Record, ...]
    titles: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    single: Mapping[str, Sequence[float]] = field(default_factory=dict)
    other: frozenset[str] = frozenset()
    other_kind: str = ""

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Record, ...]]:
        by_name: dict[str, list[Record]] = {}
        for record in self.records:
            by_name.setdefault(record.statistic.partition("(")[0], []).append(record)
        return {name: tuple(records) for name, records in by_name.items()}

    def all(self, wanted: Pick, **where: object) -> list[Record]:
        """Return the records that are meant, in order, those without a value too."""
        chosen = Pick(wanted.statistic, {**wanted.where, **where})
        return [record for record in self._by_name.get(wanted.statistic.partition("(")[0], ()) if chosen.fits(record)]

    def known(self, wanted: Pick, **where: object) -> list[Record]:
        """Return the records with a value."""
        return [record for record in self.all(wanted, **where) if record.value is not None]

    def first(self, wanted: Pick | None, **where: object) -> Record | None:
        """Return the first record with a value, or ``None``."""
        return next(iter(self.known(wanted, **where)), None) if wanted is not None else None

    def title(self, subject: str) -> str:
        """Return what a subject, a dataset or a condition is called; for a contrast (*a vs b*), its two sides."""
        if subject in self.titles:
            return self.titles[subject]
        if _IS_CONDITION.match(subject):
            return words_of_condition(subject)
        return " and ".join(self.titles.get(part, part) for part in subject.split(" vs "))

    def drawn(self, name: str) -> Iterator[dict[str, str]]:
        """Yield the rows of the data of the first figure whose name ends with *name*; none if there is none."""
        figure = next((figure for key, figure in self.figures.items() if key.endswith(name)), None)
        if figure is not None:
            columns = {column: [str(value) for value in values] for column, values in figure.data.items()}
            for row in zip(*columns.values(), strict=True):
                yield dict(zip(columns, row, strict=True))


@dataclass(frozen=True, slots=True)
class Quantity:
    """How a statistic is shown: its symbol, decimals, unit, and the range that it can have.

    ``sign`` −1 turns a statistic whose lower values mean more (ρ of distances), once, here; ``times`` is 100 for a
    share as percent. ``name`` is the long name for axes.
    """

    symbol: str
    name: str = ""
    bounds: tuple[float, float] | None = (-1.0, 1.0)
    digits: int = 2
    sign: float = 1.0
    times: float = 1.0
    unit: str = ""

    def value(self, record: Record) -> float:
        """Return the value of a record that has one, as it is shown."""
        assert record.value is not None
        return self.sign * self.times * record.value

    def ends(self, record: Record) -> tuple[float, float] | None:
        """Return the ends of the interval of a record as they are shown, if it has one."""
        if record.low is None or record.high is None:
            return None
        low, high = (self.sign * self.times * end for end in (record.low, record.high))
        return (low, high) if self.sign > 0 else (high, low)

    def number(self, value: float) -> str:
        """Return a value as text, without a leading zero if it cannot exceed 1, without its unit."""
        bounded = self.bounds is not None and max(map(abs, self.bounds)) <= 1
        return format_number(value, Format("number", self.digits, leading_zero=not bounded))

    def text(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.number(value)}{self.unit}"

    def interval(self, record: Record, *, named: bool = False) -> str:
        """Return the interval of a record in brackets, after ``95% CI`` if *named*; empty without one."""
        ends = self.ends(record)
        if ends is None:
            return ""
        level = _LEVEL.search(record.interval)
        percent = 100 * float(level[1]) if level else 95.0
        return f"{f'{percent:g}% CI ' if named else ''}[{self.number(ends[0])}, {self.number(ends[1])}]"

    def both(self, record: Record, *, named: bool = False) -> str:
        """Return the value with its unit and its interval: ``.66, 95% CI [.59, .72]``."""
        return (", " if named else " ").join(
            filter(None, (self.text(self.value(record)), self.interval(record, named=named)))
        )

    def head(self, records: Sequence[Record]) -> str:
        """Return the head of a column of values: it promises intervals only if there are any."""
        name = self.symbol or self.name
        return f"{name} [95% CI]" if any(self.ends(record) is not None for record in records) else name

    def row(self, record: Record, label: str, **about: Any) -> ForestRow:
        """Return a record as a row of a forest; *about* are its other fields."""
        low, high = self.ends(record) or (None, None)
        return ForestRow(label, self.value(record), low, high, shown=self.both(record), **about)

    def equation(self, record: Record, *, named: bool = False) -> str:
        """Return symbol and value: ``ρ = .66 [.59, .72]``."""
        return f"{self.symbol} = {self.both(record, named=named)}" if self.symbol else self.both(record, named=named)


RHO = Quantity("ρ", "Spearman’s ρ")
R_SQUARED = Quantity("R²", "R²", bounds=(0.0, 1.0))
SHARE = Quantity("", "Share", bounds=(0.0, 100.0), digits=0, times=100.0, unit="%")
PERCENT = Quantity("", "Percent", bounds=(0.0, 100.0), digits=0, unit="%")
ACCURACY = Quantity("", "Accuracy", bounds=(0.0, 100.0), digits=0, times=100.0, unit="%")
POINTS = Quantity("", "Points", bounds=None, digits=2, unit=" points")


def p_text(record: Record) -> str:
    """Return ``p = .037``, ``p < .001``, ``p > .999`` or ``p ≤ .005`` of a test's record; empty without a test."""
    p = p_of(record)
    return "" if p is None else p_equation(p)


def adjusted_text(record: Record) -> str:
    """Return the adjusted p with the size of its family; empty where the test is alone."""
    if record.p_adjusted is None:
        return ""
    tests = re.search(r"tests=(\d+)", record.family)
    return f"{p_equation(record.p_adjusted)} adjusted for {tests[1] if tests else 'all'} tests"


def likelihood_ratio_text(record: Record, *, p: str = "") -> str:
    """Return a likelihood-ratio test: ``χ²(1) = 39.59, p < .001``; with *p*, that text replaces the p of the record.

    >>> likelihood_ratio_text(Record("chi2(test=sense,df=1)", 39.5912, p=1e-9))
    'χ²(1) = 39.59, p < .001'
    """
    degrees = parse_statistic(record.statistic)[1].get("df", "")
    return f"χ²({degrees}) = {record.value or 0.0:.2f}, {p or p_text(record)}"


def text_of_tests(numbers: Numbers, tests: Sequence[tuple[str, Pick]]) -> str:
    """Return the tests that a run has, each after its name, with the p adjusted for its family."""
    texts = []
    for name, wanted in tests:
        record = numbers.first(wanted)
        if record is not None:
            adjusted = adjusted_text(record)
            texts.append(f"{name}, {likelihood_ratio_text(record)}{f' ({adjusted})' if adjusted else ''}")
    return ". ".join(texts) + ("." if texts else "")


def of_all(k: int, n: int, what: str) -> str:
    """Return how many of several, as a word if it is none or all.

    >>> of_all(3, 13, "models"), of_all(13, 13, "models"), of_all(0, 13, "models")
    ('3 of 13 models', 'all 13 models', 'none of 13 models')
    """
    return f"all {n} {what}" if k == n > 1 else f"{k or 'none'} of {n} {what}"


def capital(text: str) -> str:
    """Return a text that begins with a capital letter; the rest stays.

    >>> capital("the average person"), capital("ρ")
    ('The average person', 'ρ')
    """
    return text if text[:1] in "αβγδεκλμρσχ" else text[:1].upper() + text[1:]
