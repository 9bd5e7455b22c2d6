"""The stimulus validator: reads a file once, never stops at the first finding, and names each with a stable code.

The codes, an example of each and what to do are listed in ``docs/reference/check_codes.md``. Source of the rules:
SAW-C §3.1, §3.2 and footnote 4.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from lexiscope.core.errors import InputError, Place
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Option
from lexiscope.core.simulated import KIND_COLUMN, KIND_COLUMNS, SIMULATED, kind_of_person, refuse_mixture
from lexiscope.items.check.design import DesignChecks, question_key
from lexiscope.items.check.rows import RowChecks, RowQuestion, sentence_statistics
from lexiscope.items.tables.columns import ColumnMap, Indices, missing_columns
from lexiscope.items.tables.findings import CheckReport, Finding, Report
from lexiscope.resources.tables.rows import Row, RowReader


def check_file(
    path: Path | str,
    columns: ColumnMap | None = None,
    *,
    scale: Scale | None = None,
    min_ratings: Annotated[int, Option("ratings an item needs", least=1)] = 10,
    delimiter: Annotated[str | None, Option("the sign between columns, where it is not found by itself")] = None,
    language: Annotated[str, Option("language tag, where no column gives one")] = "und",
) -> CheckReport:
    """Check a file of stimuli or of ratings, and return all findings.

    *columns* names the columns whose names are not usual ones. *scale* is what the raters used; without it, ratings
    are checked to be numbers only. *min_ratings*: how many ratings each item should have (SAW-C §3: 10).
    """
    findings: list[Finding] = []
    reader = RowReader(path, lambda error: findings.append(Finding.from_error(error)), delimiter=delimiter)
    rows = reader.rows()
    header = next(rows, None)
    if header is None:
        return _report(reader.path, findings, None, ())
    known = (columns or ColumnMap()).with_usual_columns(reader.header)
    if not check_header(header, reader.header, known, findings.append):
        return _report(reader.path, findings, None, known.items())
    row_checks = RowChecks(Indices.of(known, reader.header), findings.append, scale, language)
    kind = next((number for number, name in enumerate(reader.header) if name in KIND_COLUMNS), None)
    checker = _FileChecks(row_checks, findings.append, min_ratings, reader.path, kind)
    for row in rows:
        checker.add(row)
    checker.finish()
    read = [*known.items(), *([] if kind is None else [(KIND_COLUMN, reader.header[kind])])]
    taken = {name for _, name in read}
    unused = tuple(name for name in reader.header if name not in taken)
    report = _report(reader.path, findings, checker, read)
    return replace(report, unused=unused, simulated=SIMULATED in checker.kinds)


def check_header(row: Row, header: tuple[str, ...], columns: ColumnMap, report: Report) -> bool:
    """Check that the header has the columns that are needed, and return whether the file can be read.

    Reports E006 (a column is missing) and E007 (a column occurs twice).
    """
    before: list[Finding] = []
    missing = missing_columns(columns, header)
    for name in missing:
        before.append(_header_fault("E006", f"there is no column {name!r}", row, "correct the name"))
    if columns.sentence_1 is None:
        hint = "name the column of the first sentence, or of the only one: --map sentence_1=COLUMN, or a ColumnMap"
        if columns.rating is not None:
            hint = "give the sentences beside the ratings; ratings alone are for lexiscope agree FILE --scale LOW HIGH"
        before.append(_header_fault("E006", "no column holds the sentence", row, hint))
    if not any((columns.target, columns.target_1, columns.start_1, missing)):
        hint = "name the column of the target word (--map target=COLUMN), or those of its span (start_1, end_1)"
        before.append(_header_fault("E006", "no column says which word is meant", row, hint))
    used = [name for _, name in columns.items()]
    for name in sorted({name for name in header if header.count(name) > 1 and name in used}):
        before.append(_header_fault("E007", f"the column {name!r} stands twice", row, "rename one of the two"))
    for finding in before:
        report(finding)
    return not before


@dataclass(slots=True)
class _FileChecks:
    """All checks of one file, fed row by row."""

    rows: RowChecks
    report: Report
    min_ratings: int
    path: str
    kind: int | None = None
    kinds: set[str] = field(default_factory=set, init=False)
    n_rows: int = 0
    design: DesignChecks = field(init=False)
    ratings: RatingChecks = field(init=False)
    _not_nfc: list[Row] = field(default_factory=list)
    _n_not_nfc: int = 0

    def __post_init__(self) -> None:
        self.design = DesignChecks(
            self.report, self.rows.indices, repeats_allowed=self.rows.indices.get("rater") is not None
        )
        self.ratings = RatingChecks(self.report, self.min_ratings, self.path)

    def add(self, row: Row) -> None:
        self.n_rows += 1
        if not row.raw.isascii() and not unicodedata.is_normalized("NFC", row.raw):
            self._n_not_nfc += 1
            self._not_nfc = self._not_nfc or [row]
        question = self.rows.question(row)
        ratings = list(read_ratings(self.rows, row))
        count = self.rows.number(row, "n_ratings")
        if question is None:
            return
        self.design.add(question)
        key = question_key(question.usages)
        for rater, value, _ in ratings:
            self._add_kind(row, rater or "")
            if rater is not None:
                self.ratings.add(row, key, question.item_id, rater, value)
        if count is not None:
            self.ratings.add_count(row, key, question.item_id, count)

    def _add_kind(self, row: Row, rater: str) -> None:
        """Note whether a person rated; the first row that makes it a mixture is reported."""
        known = len(self.kinds)
        self.kinds.add(kind_of_person(rater, "" if self.kind is None else row.fields[self.kind]))
        if len(self.kinds) > known:
            try:
                refuse_mixture(self.kinds, place=row.place(self.kind))
            except InputError as error:
                self.report(Finding.from_place("E508", error.what, row.place(self.kind), hint=error.hint or ""))

    def finish(self) -> None:
        if not self.n_rows:
            fault = "the file has a header but no row that can be read"
            self.report(Finding.from_place("E002", fault, Place(self.path), hint="write at least one row"))
        for row in self._not_nfc:
            fault = f"{self._n_not_nfc} rows hold letters in decomposed Unicode form (not NFC); this is the first"
            hint = "save all texts in form NFC: letters that look alike must be alike"
            self.report(Finding.from_place("W109", fault, row.place(), hint=hint))
        self.design.finish()
        self.ratings.finish()


def read_ratings(checks: RowChecks, row: Row) -> Iterator[tuple[str | None, float | None, str]]:
    """Yield (rater, value, text) for each rating of a row; the rater is ``None`` for a norm.

    A value that is not a number or off the scale is reported (E302, E301) and comes back as ``None`` with its text.
    """
    indices = checks.indices
    if indices.get("rating") is not None:
        rater = indices.text("rater", row.fields)
        if rater is None and indices.get("rater") is not None:
            place = row.place(indices.get("rater"))
            checks.report(Finding.from_place("E105", "the rating has no rater", place, hint="name the rater"))
        else:
            yield rater, checks.number(row, "rating"), indices.text("rating", row.fields) or ""
    if indices.get("norm") is not None:
        yield None, checks.number(row, "norm"), indices.text("norm", row.fields) or ""
    for name, index in indices.raters:
        yield name, checks.number(row, index), row.fields[index].strip()


def _header_fault(code: str, message: str, row: Row, hint: str) -> Finding:
    return Finding.from_place(code, message, row.place(), hint=hint)


def _report(
    path: str, findings: list[Finding], checker: _FileChecks | None, columns: Iterable[tuple[str, str]]
) -> CheckReport:
    # stable: findings of one line stay in the order in which the checks made them
    ordered = sorted(findings, key=lambda finding: finding.line or 0)
    statistics = checker.design.statistics() if checker is not None else sentence_statistics([], [])
    return CheckReport(
        path=path,
        n_rows=checker.n_rows if checker is not None else 0,
        n_items=checker.design.n_questions if checker is not None else 0,
        n_words=checker.design.n_words if checker is not None else 0,
        findings=tuple(ordered),
        statistics=statistics,
        columns=tuple(columns),
    )


__all__ = ["CheckReport", "ColumnMap", "Finding", "RowQuestion", "check_file"]


# -- the checks of ratings: how many per item, how many raters, raters who always say the same ----------------------


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
            self.report(Finding.from_place("W213", fault, row.place(), hint="keep one of the two", item_id=item_id))
        self._seen.add((item, rater))
        entry = self._raters.setdefault(rater, _Rater(row))
        if value is None:
            return
        n[0] += 1
        entry.n += 1
        entry.low, entry.high = min(entry.low, value), max(entry.high, value)

    def add_count(self, row: Row, item: Hashable, item_id: str | None, n: float) -> None:
        """Take in how many ratings are behind an item's norm."""
        self._rows.setdefault(item, (row, item_id))
        self._items[item] = [int(n)]

    def finish(self) -> None:
        """Report items with few ratings, a single rater, and raters without variance."""
        for item, (n,) in self._items.items():
            if n < self.min_ratings:
                row, item_id = self._rows[item]
                fault = f"the item has {n} ratings, fewer than {self.min_ratings}"
                hint = "collect more, or report the smaller number"
                self.report(Finding.from_place("W201", fault, row.place(), hint=hint, item_id=item_id))
        if self._counted and len(self._raters) == 1:
            fault = f"all ratings come from one rater ({next(iter(self._raters))!r})"
            hint = "agreement between raters is undefined; ask at least one more person"
            self.report(Finding.from_place("W202", fault, Place(self.path), hint=hint))
        for rater, entry in self._raters.items():
            if entry.n >= _CONSTANT_FROM and entry.low == entry.high:
                fault = f"rater {rater!r} gave the answer {entry.low:g} to all {entry.n} items"
                hint = "their correlation with others is undefined; decide by an exclusion rule"
                self.report(Finding.from_place("W203", fault, entry.row.place(), hint=hint))
