"""What the two parts of the demo have in common: a section of the report, its numbers, its line for the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.result import Interval, Record
from lexiscope.report.document import Section
from lexiscope.report.tables import Interval as Range
from lexiscope.report.tables import Table

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the demo: its section of the report, its records, and what to say about it in a line or two."""

    section: Section
    records: tuple[Record, ...]
    words: tuple[str, ...]

    @property
    def table(self) -> Table:
        """The part's table."""
        return self.section.tables[0]


def in_cell(value: float, interval: Interval | None) -> Range | float:
    """Return a value with its interval as one cell of a table; the value alone where there is no interval."""
    if interval is None or not interval.is_defined:
        return value
    return Range(interval.low, interval.high, value)


def bounds(interval: Interval | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval for a record; nothing where it has none."""
    return (interval.low, interval.high) if interval is not None and interval.is_defined else (None, None)


def short(value: float | None) -> str:
    """Return a bounded number as the report prints it.

    >>> short(-0.6116), short(0.7306), short(None)
    ('−.61', '.73', 'undefined')
    """
    if value is None:
        return "undefined"
    return f"{value:.2f}".replace("-", "−").replace("0.", ".", 1)


def between(interval: Interval | None) -> str:
    """Return an interval in brackets, or nothing where it has no ends."""
    low, high = bounds(interval)
    return "" if low is None or high is None else f" [{short(low)}, {short(high)}]"
