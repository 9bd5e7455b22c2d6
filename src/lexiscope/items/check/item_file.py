"""The stimulus validator: reads a file once, never stops at the first finding, and names each with a stable code.

The codes, an example of each and what to do are listed in ``docs/reference/messages.md``. Source of the rules:
SAW-C §3.1, §3.2 and footnote 4.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Screen
from lexiscope.core.settings import Option, ReadingOptions
from lexiscope.core.showing import counted
from lexiscope.core.simulated import KIND_COLUMN, KIND_COLUMNS, SIMULATED, kind_of_person, refuse_mixture
from lexiscope.items.check.design import DesignChecks, QuestionKey, question_key
from lexiscope.items.check.rows import RowChecks, RowQuestion, sentence_statistics
from lexiscope.items.choice_sets.choice_set_file import (
    has_choice_sets,
    is_collection,
    read_designed_sets,
    read_minimal_pairs,
)
from lexiscope.items.tables.columns import ColumnMap, Indices, missing_columns
from lexiscope.items.tables.findings import CheckReport, Finding, Report
from lexiscope.items.tables.item_rows import item_rows
from lexiscope.items.tables.numbers import FarNumbers, far_numbers
from lexiscope.items.tables.tabular import is_item_table
from lexiscope.resources.tables.rows import Row


def check_file(
    path: Path | str,
    columns: ColumnMap | None = None,
    *,
    scale: Scale | None = None,
    min_ratings: Annotated[int, Option("ratings that each item needs", least=1)] = 10,
    options: ReadingOptions | None = None,
    language: Annotated[str, Option("language tag, if no column gives one")] = "und",
    task: Annotated[
        str, Option("the question of the items, from `lexiscope list tasks`; empty: as the columns say", metavar="TASK")
    ] = "",
) -> CheckReport:
    """Check a file of stimuli or of ratings, and return all findings.

    *columns* names the columns whose names are not usual ones. *scale* is what the raters used; without it, ratings
    are checked to be numbers only. *min_ratings*: how many ratings each item should have (SAW-C §3: 10). Items of a
    *task* that shows more than sentences (stories, pages of words) are distinguished by all that its page shows, and
    the rules for pairs and for the balance of senses do not apply to them (:func:`task_of_columns`). Minimal pairs are
    checked as ``study synonymy`` reads them, up to the first error. *options* are what the user said of the file.
    """
    findings: list[Finding] = []
    options = options or ReadingOptions()
    report_row: list[InputError] = []
    opened = item_rows(path, columns, report_row.append, options=options)
    if opened.header_row is None:
        return _report(opened.path, [Finding.from_error(error) for error in report_row], None, ())
    # a table that Lexiscope wrote has a column options for items of every kind
    task = task or ("" if is_item_table(path) else task_of_columns(opened.header))
    if not task and has_choice_sets(opened.header):
        task = next(iter(catalog.tasks_where(lambda known: known.reads is not None)))
    if task and catalog.task(task).reads is not None:
        return _check_minimal_pairs(opened.path, sum(1 for _ in opened.rows), language, task, options)
    page = _screen_of(task) if task else None
    patterns = (*page.requires, *page.shows) if page is not None else ()
    file = item_rows(
        path, columns, lambda error: findings.append(Finding.from_error(error)),
        options=options, conditions=patterns, word_alone=page is not None and page.word_alone,
    )  # fmt: skip
    known, header = file.columns, file.header_row
    assert header is not None
    if not check_header(header, file.header, known, findings.append):
        return replace(_report(file.path, findings, None, known.items()), opened=file.opened)
    row_checks = RowChecks(Indices.of(known, file.header), findings.append, scale, language, file.numbers)
    kind = next((number for number, name in enumerate(file.header) if name in KIND_COLUMNS), None)
    shown = [name for name in file.header if name in file.shown]
    numbers = tuple(file.header.index(name) for name in shown)
    checker = _FileChecks(row_checks, findings.append, min_ratings, file.path, kind, numbers, by_page=page is not None)
    lacking = [name for name in page.requires if name not in file.header] if page is not None else []
    if lacking:
        fault = f"the page of {task} also shows {', '.join(lacking)}, and the file has no such column"
        hint = "add it before people are asked; models are asked without it"
        findings.append(Finding.from_place("W216", fault, header.place(), hint=hint))
    for row in file.rows:
        checker.add(row)
    checker.finish()
    read = [*known.items(), *([] if kind is None else [(KIND_COLUMN, file.header[kind])])]
    taken = {*(name for _, name in read), *shown}
    unused = tuple(name for name in file.header if name not in taken)
    report = _report(file.path, findings, checker, read)
    return replace(report, unused=unused, simulated=SIMULATED in checker.kinds, task=task, opened=file.opened)


def task_of_columns(header: Sequence[str]) -> str:
    """Return the task whose items a file has, by columns that only its page shows; empty if there are none.

    Of several tasks it is the one that has the largest share of its columns there.

    >>> task_of_columns(["word", "precontext", "sentence", "ending", "sense"]), task_of_columns(["sentence_1", "word"])
    ('plausibility', '')
    """
    if has_choice_sets(header):
        return next(iter(catalog.tasks_where(lambda task: task.reads is not None)))
    usual = {name for _, name in ColumnMap().with_usual_columns(header).items()}
    own, n_usages = [name for name in header if name not in usual], 2 if "sentence_2" in header else 1
    shares: dict[str, float] = {}
    for task in catalog.names("tasks") if own else ():
        page = _screen_of(task)
        if page is not None and page.n_usages == n_usages:
            patterns = (*page.requires, *page.shows)
            there = [pattern for pattern in patterns if any(fnmatchcase(name, pattern) for name in own)]
            shares |= {task: len(there) / len(patterns)} if there else {}
    return max(shares, key=shares.__getitem__, default="")


def _screen_of(task: str) -> Screen | None:
    """The page of a task; ``None`` for a task that people are not asked."""
    try:
        return catalog.screen(task)
    except SpecError:
        catalog.task(task)
        return None


def _check_minimal_pairs(path: str, n_rows: int, language: str, task: str, options: ReadingOptions) -> CheckReport:
    try:
        collection = is_collection(path, options)
        read = partial(read_minimal_pairs, dataset=Path(path).stem) if collection else read_designed_sets
        words = {item.word for item in read(path, language=language, options=options)}
        findings: tuple[Finding, ...] = ()
    except InputError as error:
        words, findings = set(), (Finding.from_error(error),)
    n_items = 0 if findings else n_rows
    return CheckReport(path, n_rows, n_items, len(words), findings, sentence_statistics([], []), task=task)


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
            hint = "add a column with the sentences"
        hint += "; for ratings alone, use lexiscope analyse FILE or lexiscope agree FILE"
        before.append(_header_fault("E006", "no column holds the sentence", row, hint))
    if not any((columns.target, columns.target_1, columns.start_1, missing)):
        hint = "name the column of the target word (--map target=COLUMN), or those of its span (start_1, end_1)"
        before.append(_header_fault("E006", "no column names the target word", row, hint))
    used = [name for _, name in columns.items()]
    for name in sorted({name for name in header if header.count(name) > 1 and name in used}):
        before.append(_header_fault("E007", f"the column {name!r} occurs twice", row, "rename one of the two"))
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
    shown: tuple[int, ...] = ()
    by_page: bool = False
    kinds: set[str] = field(default_factory=set, init=False)
    n_rows: int = 0
    design: DesignChecks = field(init=False)
    ratings: RatingChecks = field(init=False)
    _not_nfc: list[Row] = field(default_factory=list)
    _n_not_nfc: int = 0

    def __post_init__(self) -> None:
        self.design = DesignChecks(
            self.report,
            self.rows.indices,
            repeats_allowed=self.rows.indices.get("rater") is not None,
            by_page=self.by_page,
        )
        scaled = self.rows.scale is not None
        self.ratings = RatingChecks(self.report, self.min_ratings, self.path, scaled=scaled)

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
        key: QuestionKey = (*question_key(question.usages), *(row.fields[number].strip() for number in self.shown))
        self.design.add(question, key)
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

    ``min_ratings`` is the number of ratings that every item should have (SAW-C §3: at least 10). ``scaled``: every
    rating was checked on a scale that was named.
    """

    report: Report
    min_ratings: int = 10
    path: str = ""
    _raters: dict[str, _Rater] = field(default_factory=dict)
    _items: dict[Hashable, list[int]] = field(default_factory=dict)
    _rows: dict[Hashable, tuple[Row, str | None]] = field(default_factory=dict)
    scaled: bool = False
    _seen: set[tuple[Hashable, str]] = field(default_factory=set)
    _counted: bool = False
    _values: dict[float, Row] = field(default_factory=dict)
    _n_values: Counter[float] = field(default_factory=Counter)

    def add(self, row: Row, item: Hashable, item_id: str | None, rater: str, value: float | None) -> None:
        """Read one rating (``None`` for a missing answer)."""
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
        self._values.setdefault(value, row)
        self._n_values[value] += 1
        entry.n += 1
        entry.low, entry.high = min(entry.low, value), max(entry.high, value)

    def add_count(self, row: Row, item: Hashable, item_id: str | None, n: float) -> None:
        """Read how many ratings are behind an item's norm."""
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
        self._report_far()
        for rater, entry in self._raters.items():
            if entry.n >= _CONSTANT_FROM and entry.low == entry.high:
                fault = f"rater {rater!r} gave the answer {entry.low:g} to all {entry.n} items"
                hint = "their correlation with others is undefined; decide by an exclusion rule"
                self.report(Finding.from_place("W203", fault, entry.row.place(), hint=hint))

    def _report_far(self) -> None:
        """Report ratings that are far from all others, if no scale was named."""
        far = far_numbers(self._n_values) if not self.scaled else FarNumbers()
        for value, n in far.counts.items():
            ends = f"all others are between {far.low:g} and {far.high:g}"
            fault = f"{counted(n, 'rating')} of {value:g}; {ends}"
            code, hint = "W304", "correct the value, or name the scale: --scale LOW HIGH"
            if value in far.codes:
                code, hint = (
                    "E305",
                    f"if it means no answer: --missing {value:g}; else name the scale: --scale LOW HIGH",
                )
            self.report(Finding.from_place(code, fault, self._values[value].place(), hint=hint))
