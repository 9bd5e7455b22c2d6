"""The checks of ratings: how many per item, how many raters, raters who always say the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from lexiscope.core.errors import Place
from lexiscope.items.tables.findings import Finding, Report
from lexiscope.items.tables.rows import Row

# A rater with two equal answers is no surprise; from this many on a constant rater is.
_CONSTANT_FROM = 5


@dataclass(slots=True)
class _Rater:
    row: Row
    n: int = 0
    low: float = float("inf")
    high: float = float("-inf")


@dataclass(slots=True)
class RatingChecks:
    """Gathers ratings (item, rater, value) and reports what the whole file shows.

    ``min_ratings`` is the number of ratings that every item should have (SAW-C §3: at least 10).
    """

    report: Report
    min_ratings: int = 10
    path: str = ""
    _raters: dict[str, _Rater] = field(default_factory=dict)
    _items: dict[Hashable, list[int]] = field(default_factory=dict)
    _rows: dict[Hashable, tuple[Row, str | None]] = field(default_factory=dict)
    _seen: set[tuple[Hashable, str]] = field(default_factory=set)
    _counted: bool = False

    def add(self, row: Row, item: Hashable, item_id: str | None, rater: str, value: float | None) -> None:
        """Take in one rating (``None`` where there was no answer)."""
        self._counted = True
        self._rows.setdefault(item, (row, item_id))
        n = self._items.setdefault(item, [0])
        if (item, rater) in self._seen:
            fault = f"rater {rater!r} rated this item before"
            self.report(Finding.at("W213", fault, row.place(), hint="keep one of the two", item_id=item_id))
        self._seen.add((item, rater))
        entry = self._raters.setdefault(rater, _Rater(row))
        if value is None:
            return
        n[0] += 1
        entry.n += 1
        entry.low, entry.high = min(entry.low, value), max(entry.high, value)

    def add_count(self, row: Row, item: Hashable, item_id: str | None, n: float) -> None:
        """Take in how many ratings stand behind an item's norm."""
        self._rows.setdefault(item, (row, item_id))
        self._items[item] = [int(n)]

    def finish(self) -> None:
        """Report items with few ratings, a single rater, and raters without variance."""
        for item, (n,) in self._items.items():
            if n < self.min_ratings:
                row, item_id = self._rows[item]
                fault = f"the item has {n} ratings, fewer than {self.min_ratings}"
                hint = "collect more, or report the smaller number"
                self.report(Finding.at("W201", fault, row.place(), hint=hint, item_id=item_id))
        if self._counted and len(self._raters) == 1:
            fault = f"all ratings come from one rater ({next(iter(self._raters))!r})"
            hint = "agreement between raters is undefined; ask at least one more person"
            self.report(Finding.at("W202", fault, Place(self.path), hint=hint))
        for rater, entry in self._raters.items():
            if entry.n >= _CONSTANT_FROM and entry.low == entry.high:
                fault = f"rater {rater!r} gave the answer {entry.low:g} to all {entry.n} items"
                hint = "their correlation with others is undefined; decide by an exclusion rule"
                self.report(Finding.at("W203", fault, entry.row.place(), hint=hint))
