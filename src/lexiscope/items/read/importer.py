"""Any table of sentences, targets and ratings → items and the recorded ratings, checked.

The rules and codes are those of the check (:mod:`lexiscope.items.check.item_file`): an error stops the import at its
place, or, where asked, sets the row aside with its reason. Nothing is guessed about a target: it occurs once in its
sentence, or the file gives its span.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.core.item import SAME_SENSE, Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED, KIND_COLUMNS, SIMULATED, kind_of_person, refuse_mixture
from lexiscope.items.check.design import question_key
from lexiscope.items.check.item_file import check_header, read_ratings
from lexiscope.items.check.rows import RowChecks, RowQuestion
from lexiscope.items.tables.columns import ColumnMap, FieldMap, Indices, columns_named
from lexiscope.items.tables.findings import Finding
from lexiscope.items.tables.item_rows import item_rows
from lexiscope.resources.platforms.opened import OpenedFile
from lexiscope.resources.tables.rows import Row

_RATING_COLUMNS = ("subject_id", "subject_kind", "item_id", "measure", "value", "raw", "repeat")
NOTES = ("comment", "side")
"""What a program's export says of a rating: a rater's comment, and that a pair was shown in the other order
(``swapped``). Each is the measure of a row without a value whose ``raw`` text it is."""

BadRows = Literal["raise", "set_aside"]


def with_exported_options(item: Item) -> Item:
    """Return an item with its options, which the table of an export has as a list in the column ``options``.

    Errors: :class:`InputError` for a cell that is no list.
    """
    given = item.conditions.get("options")
    if item.options or not isinstance(given, str):
        return item
    try:
        options = parse_json(given or "[]")
    except ValueError:
        options = None
    if not isinstance(options, list):
        raise InputError(f"{given!r} cannot be read as a list of options", place=Place(item_id=item.item_id))
    conditions = {name: value for name, value in item.conditions.items() if name != "options"}
    return replace(item, options=tuple(map(str, options)), conditions=conditions)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import gave: items, recorded ratings, and the findings (warnings, and errors of rows set aside).

    ``columns`` is the map that was used. Every column that it does not name is a condition of the items;
    ``row_columns`` are those whose value changes between the rows of one item (a row number, the age of a rater): they
    describe ratings, not items, and are excluded. :attr:`row_summary` reports this as text. ``lines`` gives each item
    the line of its first row. ``opened`` is the file as it was understood, if it was not read strictly.
    ``repeats_meant``: a column ``repeat`` numbers a rater's ratings of one item.
    """

    items: tuple[Item, ...]
    responses: ResponseTable
    columns: ColumnMap
    findings: tuple[Finding, ...] = ()
    n_rows: int = 0
    n_set_aside: int = 0
    row_columns: tuple[str, ...] = ()
    opened: OpenedFile | None = field(default=None, repr=False, compare=False)
    lines: Mapping[str, int] = field(default_factory=dict)
    repeats_meant: bool = False

    def __repr__(self) -> str:
        sizes = (counted(len(self.items), "item"), counted(len(self.responses), "response"))
        return f"Imported({', '.join(sizes)}, {counted(len(self.findings), 'finding')})"

    @property
    def row_summary(self) -> str:
        """What became of rows that are one item together, for people to read; empty where every row is an item.

        >>> nothing = ResponseTable.from_columns({name: [] for name in (*_RATING_COLUMNS, "task")})
        >>> Imported((), nothing, ColumnMap(), n_rows=2, n_set_aside=2).row_summary
        ''
        """
        n_read = self.n_rows - self.n_set_aside
        if n_read == len(self.items):
            return ""
        varying = f"; columns that vary within an item: {', '.join(self.row_columns)}" if self.row_columns else ""
        return f"{n_read} rows → {len(self.items)} item{'s' if len(self.items) != 1 else ''}{varying}"


def import_items(
    path: Path | str,
    columns: ColumnMap | None = None,
    *,
    dataset: str,
    task: str | None = None,
    scale: Scale | None = None,
    language: str = "und",
    delimiter: str | None = None,
    bad_rows: BadRows = "raise",
    conditions: Collection[str] = (),
    word_alone: bool = False,
    options: ReadingOptions | None = None,
) -> Imported:
    """Read items, and ratings where there are any, from a table.

    *columns* names the columns whose names are not usual ones; all others become conditions. *conditions* are columns
    that are conditions regardless of their name (``group_*``: all that begin so): a task that shows a text ``sense``
    takes no sense id from it. Rows that differ in one of them are different items, whose generated ids differ if the
    file gives none. *word_alone*: the usage of a file without a column of sentences is the word itself. Ratings in long
    form are rows of measure ``rating`` by ``participant`` subjects; a norm is a row of measure ``norm``, subject
    ``norm``. An empty rating is a row without value. If a rater rated an item repeatedly, ``repeat`` numbers the
    ratings from 0, in the order of the rows or of a column ``repeat``. The :data:`NOTES` of a program's export are rows
    whose ``repeat`` is that of their rating. Ratings of simulated participants are rows of kind
    ``simulated``: their ids say so, or the column ``participant_kind``; a file that also has ratings of people is an
    error. A column ``gold`` gives the items' gold answers, for the tasks same_sense and sense_verification as ``t`` and
    ``f`` (without it, a column ``same_sense`` does); a column ``split`` the condition of that name, as train, dev or
    test. *bad_rows*: ``raise`` at the first error, or ``set_aside`` each such row. With *options* the file may be in
    any encoding, with any separator and decimal sign, or another program's export; without them it is read strictly, as
    UTF-8.
    Errors: :class:`InputError` with code, file, line, column and caret.
    """
    findings = _FindingCollector(bad_rows)
    file = item_rows(
        path, columns, lambda error: findings.take(Finding.from_error(error)),
        options=options, delimiter=delimiter, conditions=conditions, word_alone=word_alone,
    )  # fmt: skip
    known = file.columns
    if file.header_row is None or not check_header(file.header_row, file.header, known, findings.take):
        # without a readable header no row means anything: this is never set aside
        raise findings.kept[-1].error()
    checks = RowChecks(Indices.of(known, file.header), findings.take, scale, language, file.numbers)
    of_program = {} if file.opened is None else file.opened.fields
    notes = {measure: column for measure in NOTES for column in of_program.get(measure, ())}
    (asked_again, *_) = (*columns_named("repeat", file.header), "")
    of_models = FieldMap.parse(options.columns).columns.get("model", ()) if options is not None else ()
    extra = _extra_columns(known, file.header, file.shown, {*notes.values(), *of_models})
    shown = tuple(index for name, index in extra if name in file.shown)
    kind = next((index for index, name in enumerate(file.header) if name in KIND_COLUMNS), None)
    asked = task or catalog.default_task()
    truth = catalog.has("tasks", asked) and catalog.task(asked).truth
    at = {name: number for number, name in enumerate(file.header) if name}
    for name in of_models:
        if name not in at:
            hint = f"Columns in the file: {', '.join(file.header)}"
            raise InputError(f"no column is called {name!r}", code="E006", place=Place(file.path), hint=hint)
    items = _ItemCollector(
        dataset, asked, truth, checks, extra, shown, kind, {measure: at[name] for measure, name in notes.items()},
        at.get(asked_again), {name: at[name] for name in of_models},
    )  # fmt: skip
    for row in file.rows:
        items.add(row, findings)
    if not items.by_id:
        fault, hint = "no row of the file could be read as an item", "run lexiscope check on the file"
        raise Finding.from_place("E002", fault, Place(file.path), hint=hint).error()
    return replace(items.result(known, findings), opened=file.opened)


@dataclass(slots=True)
class _FindingCollector:
    """Takes findings: raises errors or keeps them, and counts rows and errors."""

    bad_rows: BadRows
    kept: list[Finding] = field(default_factory=list)
    n_rows: int = 0
    n_set_aside: int = 0
    n_errors: int = 0

    def take(self, finding: Finding) -> None:
        if finding.severity == "error" and self.bad_rows == "raise":
            raise finding.error()
        self.kept.append(finding)
        self.n_errors += finding.severity == "error"


@dataclass(slots=True)
class _ItemCollector:
    """Gathers the items and ratings of one file."""

    dataset: str
    task: str
    truth: bool
    checks: RowChecks
    extra: tuple[tuple[str, int], ...]
    shown: tuple[int, ...] = ()
    kind: int | None = None
    notes: Mapping[str, int] = field(default_factory=dict)
    asked_again: int | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    by_id: dict[str, Item] = field(default_factory=dict)
    _keys: dict[str, object] = field(default_factory=dict)
    _lines: dict[str, int] = field(default_factory=dict)
    _varying: set[str] = field(default_factory=set)
    _kinds: set[str] = field(default_factory=set)
    _ratings: dict[str, list[object]] = field(default_factory=lambda: {name: [] for name in _RATING_COLUMNS})

    def add(self, row: Row, findings: _FindingCollector) -> None:
        before = findings.n_errors
        findings.n_rows += 1
        question = self.checks.question(row)
        ratings = list(read_ratings(self.checks, row))
        gold = self._gold_answer(question, row) if question is not None else None
        item = self._item(question, gold, row, findings) if question is not None else None
        if item is not None:
            self._check_repeat(item, row, findings)
        if item is None or findings.n_errors > before:
            findings.n_set_aside += 1
            return
        if self._keep(item, row):
            self._keep_models(item, row)
        for rater, value, raw in ratings:
            self._keep_rating(item, rater, value, raw, row)

    def _gold_answer(self, question: RowQuestion, row: Row) -> str | None:
        """The correct answer; without gold, same_sense for a true-or-false question about two usages."""
        stated = question.same_sense if self.truth and len(question.usages) > 1 else None
        if self.checks.indices.get("gold") is None and stated is not None:
            return "t" if stated else "f"
        return self.checks.gold_answer(row, truth=self.truth)

    def _check_repeat(self, item: Item, row: Row, findings: _FindingCollector) -> None:
        """Report a question that occurs again with another gold answer, or in another split."""
        kept = self.by_id.get(item.item_id)
        if kept is None:
            return
        where = f"line {self._lines[item.item_id]}"
        faults = {
            "gold": ("E214", f"its gold answer is {item.gold or 'empty'} here and {kept.gold or 'empty'} in {where}"),
            "split": ("E215", f"it is in the split {item.conditions.get('split')!r} here and in another in {where}"),
        }
        same = {"gold": item.gold == kept.gold, "split": item.conditions.get("split") == kept.conditions.get("split")}
        for part, (code, fault) in faults.items():
            if not same[part]:
                place = row.place(self.checks.indices.get(part))
                hint = "keep one of the two rows"
                message = f"the question occurs twice: {fault}"
                findings.take(Finding.from_place(code, message, place, hint=hint, item_id=item.item_id))

    def _item(self, question: RowQuestion, gold: str | None, row: Row, findings: _FindingCollector) -> Item | None:
        item_id = question.item_id or _content_id(question, self._shown_of(row))
        key = (question_key(question.usages), self._shown_of(row))
        if self._keys.get(item_id, key) != key:
            hint = "give each question a unique ID"
            fault = "the item id is already used for another question"
            place = row.place(self.checks.indices.get("item_id"), width=len(item_id))
            findings.take(Finding.from_place("E211", fault, place, hint=hint, item_id=item_id))
            return None
        conditions: dict[str, Condition] = {}
        if question.same_sense is not None:
            conditions[SAME_SENSE] = question.same_sense
        if question.catch:
            conditions["catch"] = True
        if question.split is not None:
            conditions["split"] = question.split
        conditions |= {name: row.fields[index] for name, index in self.extra}
        usages, list_id = question.usages, question.list_id
        scale = self.checks.scale
        return Item(item_id, self.dataset, usages, gold=gold, list_id=list_id, conditions=conditions, scale=scale)

    def _shown_of(self, row: Row) -> tuple[str, ...]:
        return tuple(row.fields[index] for index in self.shown)

    def _keep(self, item: Item, row: Row) -> bool:
        """Keep an item; return whether this is its first row."""
        self._keys.setdefault(item.item_id, (question_key(item.usages), self._shown_of(row)))
        self._lines.setdefault(item.item_id, row.line)
        kept = self.by_id.setdefault(item.item_id, item)
        if kept is not item:
            self._varying |= {name for name, index in self.extra if kept.conditions[name] != row.fields[index]}
        return kept is item

    def _keep_models(self, item: Item, row: Row) -> None:
        """Keep what columns say that models rated; other rows of the item repeat it."""
        for name, index in self.models.items():
            text = row.fields[index].strip()
            value = self.checks.numbers.read(text)
            if value is None:
                place, hint = row.place(index, width=max(1, len(text))), "Leave the cell empty if there was no answer."
                raise InputError(f"Cannot read {text!r} as a number.", code="E302", place=place, hint=hint)
            for column, content in zip(
                _RATING_COLUMNS, (name, "recorded", item.item_id, "rating", value, text, None), strict=True
            ):
                self._ratings[column].append(content)

    def _keep_rating(self, item: Item, rater: str | None, value: float | None, raw: str, row: Row) -> None:
        norm = rater is None
        kind = kind_of_person(rater or "", "" if self.kind is None else row.fields[self.kind])
        self._kinds.add(kind)
        refuse_mixture(self._kinds, place=row.place(self.kind))
        if norm and kind != SIMULATED:
            kind = "norm"
        entry = ("norm" if norm else rater, kind, item.item_id)
        order = None if self.asked_again is None else row.fields[self.asked_again].strip()
        rows: list[tuple[object, ...]] = [("norm" if norm else "rating", value, raw, order)]
        texts = {measure: row.fields[index].strip() for measure, index in self.notes.items()}
        rows += [(measure, None, text, order) for measure, text in texts.items() if text]
        for cells in rows:
            for name, content in zip(_RATING_COLUMNS, (*entry, *cells), strict=True):
                self._ratings[name].append(content)

    def result(self, columns: ColumnMap, findings: _FindingCollector) -> Imported:
        items = tuple(self.by_id.values())
        if self._varying:
            kept = [{k: v for k, v in item.conditions.items() if k not in self._varying} for item in items]
            items = tuple(replace(item, conditions=own) for item, own in zip(items, kept, strict=True))
        lists: dict[str, str | None] = {item.item_id: item.list_id for item in items}
        repeats, meant = self._repeats()
        ratings: Mapping[str, object] = self._ratings | {
            "repeat": repeats,
            "task": [self.task] * len(self._ratings["item_id"]),
            "scale": [None if self.checks.scale is None else str(self.checks.scale)] * len(self._ratings["item_id"]),
            "list_id": [lists[str(item_id)] for item_id in self._ratings["item_id"]],
        }
        return Imported(
            items=items,
            responses=ResponseTable.from_columns(ratings),
            columns=columns,
            findings=tuple(findings.kept),
            n_rows=findings.n_rows,
            n_set_aside=findings.n_set_aside,
            row_columns=tuple(name for name, _ in self.extra if name in self._varying),
            lines=self._lines,
            repeats_meant=meant,
        )

    def _repeats(self) -> tuple[list[int | None], bool]:
        """Which of a rater's ratings of one item each row is, from 0, and whether the file says so.

        ``None`` for each row if no rater rated an item repeatedly.
        """
        rows = self._ratings
        counts: Counter[tuple[object, object]] = Counter()
        numbers: list[int | None] = []
        columns = (rows[name] for name in ("subject_id", "subject_kind", "item_id", "measure"))
        for rater, kind, item, measure in zip(*columns, strict=True):
            rated = measure == "rating" and kind in COLLECTED
            # notes are written behind their rating
            numbers.append(numbers[-1] if measure in NOTES else counts[rater, item] if rated else None)
            counts[rater, item] += rated
        if max(counts.values(), default=0) < 2:
            return [None] * len(numbers), False
        stated = [int(text) if isinstance(text, str) and text.isdecimal() else None for text in rows["repeat"]]
        keys = list(zip(rows["subject_id"], rows["item_id"], rows["measure"], stated, strict=True))
        unclear = any(said is None for said, number in zip(stated, numbers, strict=True) if number is not None)
        if unclear or len(set(keys)) < len(keys):
            return numbers, False
        first = min(number for number in stated if number is not None)
        return [None if number is None else number - first for number in stated], True


def _extra_columns(
    columns: ColumnMap, header: tuple[str, ...], conditions: Collection[str], taken: Collection[str]
) -> tuple[tuple[str, int], ...]:
    # same_sense and catch are already conditions; a column without a name cannot be one
    # whose ratings they are is no condition of an item either
    mapped = {name for _, name in columns.items()} - set(conditions)
    mapped |= {SAME_SENSE, "catch", "", *taken, *KIND_COLUMNS}
    if set(header) >= {"kind", _LISTS, "options"}:
        # the items of an export: which lists have an item belongs to the design
        mapped.add(_LISTS)
    extra = {name: index for index, name in enumerate(header) if name not in mapped}
    # an export writes a condition that is named like another of its columns as condition_NAME
    escaped = [name for name in extra if name.startswith(_ESCAPED) and name.removeprefix(_ESCAPED) in header]
    return tuple((extra | {name.removeprefix(_ESCAPED): extra.pop(name) for name in escaped}).items())


_ESCAPED, _LISTS = "condition_", "lists"


def _content_id(question: RowQuestion, shown: Sequence[str]) -> str:
    # an id from the content stays the same when rows are added, removed or reordered
    usages = (f"{usage.text}\x1e{usage.start}\x1e{usage.end}" for usage in question.usages)
    content = "\x1f".join((*usages, *shown))
    return f"{question.word}-{hashlib.sha256(content.encode()).hexdigest()[:10]}"


# -- recorded ratings, checked before they are analysed: on the scale, and one for each time of asking --------------


def check_ratings(rows: ResponseTable, scale: Scale) -> None:
    """Check the rows of one measure that are about to be averaged over the times that a question was asked.

    A value may be any number between the ends of the scale (an expected value). Two rows of a subject for one item are
    two times of asking if their column ``repeat`` differs; if it does not, it is unknown which one counts, and neither
    the mean nor the later one is taken.

    >>> twice = {"subject_id": "m", "subject_kind": "model", "task": "plausibility", "measure": "rating"}
    >>> table = ResponseTable.from_columns(twice | {"item_id": ["a", "a"], "value": [4.0, 5.0], "repeat": [0, 1]})
    >>> check_ratings(table, Scale(1, 5))

    Errors: :class:`InputError` E301 for a value beyond the scale, E502 for two rows of one time of asking; both name
    the subject and the item.
    """
    values = rows.column("value").astype(np.float64)
    beyond = np.flatnonzero((values < scale.low) | (values > scale.high))
    if len(beyond):
        subject, item = _subject_and_item(rows, int(beyond[0]))
        what = f"{subject}: {values[beyond[0]]:.12g} is not on the scale {scale.low:g} to {scale.high:g}"
        hint = f"{len(beyond)} rows are beyond it: correct them, or leave the value empty where there was no answer"
        raise InputError(what, code="E301", place=Place(item_id=item), hint=hint)
    columns = (
        rows.arrow.column(name).to_pylist() for name in ("subject_id", "item_id", "measure", "view", "layer", "repeat")
    )
    seen = set()
    for number, key in enumerate(zip(*columns, strict=True)):
        if key in seen:
            subject, item = _subject_and_item(rows, number)
            hint = "keep one row, or number the times of asking in the column repeat: they are averaged then"
            raise InputError(f"{subject} answered an item twice", code="E502", place=Place(item_id=item), hint=hint)
        seen.add(key)


def _subject_and_item(rows: ResponseTable, number: int) -> tuple[str, str]:
    return str(rows.column("subject_id")[number]), str(rows.column("item_id")[number])
