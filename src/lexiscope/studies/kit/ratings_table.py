"""The ratings in a table of any layout: which column is what, the numbers, the items, their conditions.

A row is a rating (long), an item with a column for each rater, or a rater with a column for each item. Which columns
are which follows from their names (``items/tables/names.csv``), from the program that wrote the file, or from the user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.analysis.ratings import Repeats
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Condition
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions, option
from lexiscope.core.showing import counted, enumerated, listed
from lexiscope.core.simulated import KIND_COLUMNS, SIMULATED, TOLD_SIMULATED, kind_of_person, refuse_mixture
from lexiscope.items.read.item_source import catch_remark
from lexiscope.items.tables.columns import ColumnMap, FieldMap, columns_named, describes_rows, fitting_columns
from lexiscope.items.tables.numbers import NumberForm, far_numbers, number_form, parse_truth
from lexiscope.items.tables.understood import TakenField, Understanding, missing_texts, sizes_of, understood
from lexiscope.items.tables.wide import Of, answer_columns
from lexiscope.resources.platforms.durel import PROGRAM as DUREL
from lexiscope.resources.platforms.opened import OpenedFile
from lexiscope.resources.tables.cells import CellTable
from lexiscope.studies.kit.repeated_ratings import (
    HINT,
    first_repeat,
    repeat_numbers,
    repeats_remark,
    stated_order,
    which_count,
)

LONG = "one row per rating"
BY_RATER, _BY_ITEM = "one row per item, one column per rater", "one row per rater, one column per item"
# a column of this kind that varies within an item says that something else identifies the items
_IDENTIFYING = re.compile(r"(sentence|text|word|target|version|pair|stim|item|tag)", re.IGNORECASE)
_POINT = re.compile(r"([+-]?\d+)\s*[-–—:=.)]\s*\S.*", re.ASCII | re.DOTALL)
_MOST_OPTIONS, _MOST_LEVELS, _FEWEST_OF_LEVEL = 30, 12, 2
_TEXTS = (
    "item_id",
    "sentence_1",
    "sentence_2",
    "target",
    "target_1",
    "target_2",
    "start_1",
    "end_1",
    "start_2",
    "end_2",
)
_FLAGS = {"rater": "--rater", "item": "--item", "rating": "--value", "group": "--group", "rater_group": "--rater-group"}


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """The names of the columns, as the user gave them; empty if a name must be recognised."""

    rater: str = option(
        "", "column with the rater; recognised: rater, participant, subject and others", metavar="COLUMN"
    )
    item: tuple[str, ...] = option(
        (), "column with the item; repeat it if several columns identify it together", metavar="COLUMN"
    )
    value: str = option(
        "", "column with the rating; recognised: value, rating, response, score and others", metavar="COLUMN"
    )
    group: str = option("", "column of what items share (a word): resampled together", metavar="COLUMN")
    rater_group: str = option("", "column of what raters share (a country): groups compared", metavar="COLUMN")

    def fields(self) -> dict[str, tuple[str, ...]]:
        """Return the columns that were named, by field."""
        named = {"rater": self.rater, "rating": self.value, "group": self.group, "rater_group": self.rater_group}
        return {name: (column,) for name, column in named.items() if column} | (
            {"item": self.item} if self.item else {}
        )


@dataclass(frozen=True, slots=True, eq=False)
class RatingsFile:
    """A file's ratings as columns of equal length, NaN where a rating is missing. *Shape:* (rows,) each.

    ``groups`` maps an item to its group, ``rater_groups`` a rater to theirs, where the user named a column for it.
    ``options`` are those that people chose between: a value is then the place of the option chosen, counted from 0.
    ``models`` are the ratings of models by their column and item (``--map model=COLUMN``), NaN where one is missing.
    ``repeat`` numbers a rater's ratings of one item from 0, and ``repeats`` is which of them count; without repeated
    ratings, they are ``None`` and ``error``. *Shape of repeat:* (rows,).
    ``simulated``: the raters are simulated participants. ``words`` maps an item to its word, if a column has the usual
    name of one; ``conditions`` are columns with one value for each item, by name and item; ``lists`` are the lists of
    the items. ``understood`` is what was understood of the file.
    """

    path: str
    raters: tuple[str, ...]
    items: tuple[str, ...]
    values: FloatArray
    groups: dict[str, str] | None = None
    rater_groups: dict[str, str] | None = None
    remarks: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    simulated: bool = False
    words: dict[str, str] | None = None
    conditions: Mapping[str, Mapping[str, Condition]] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    understood: Understanding = field(default_factory=lambda: Understanding(""))
    models: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    repeat: IntArray | None = None
    repeats: Repeats = "error"

    def in_order(self) -> tuple[tuple[str, ...], tuple[str, ...], FloatArray]:
        """Return raters, items and values, a rater's repeated ratings of one item in the order of rating.

        *Shape:* (rows,) each.
        """
        if self.repeat is None:
            return self.raters, self.items, self.values
        order = np.argsort(self.repeat, kind="stable")
        raters, items = (tuple(column[row] for row in order.tolist()) for column in (self.raters, self.items))
        return raters, items, self.values[order]


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column as codes, from 0 in the order in which its texts occur. *Shape:* codes (rows,).

    A table may have a million rows, and few distinct texts: each question about a text is asked once.
    """

    codes: IntArray
    labels: tuple[str, ...]

    @classmethod
    def of(cls, cells: Sequence[str]) -> CodedColumn:
        """Return a column, its texts without outer white space.

        >>> CodedColumn.of(["a", "b", " a"]).labels
        ('a', 'b')
        """
        raw = {text: code for code, text in enumerate(dict.fromkeys(cells))}
        codes = np.fromiter(map(raw.__getitem__, cells), np.int64, len(cells))
        labels = {text: code for code, text in enumerate(dict.fromkeys(text.strip() for text in raw))}
        if len(labels) < len(raw):
            codes = np.array([labels[text.strip()] for text in raw], dtype=np.int64)[codes]
        return cls(codes, tuple(labels))

    @classmethod
    def joined(cls, factors: Sequence[CodedColumn]) -> CodedColumn:
        """Return the combinations of several columns, their texts with a bar between them.

        >>> CodedColumn.joined([CodedColumn.of(["a", "a"]), CodedColumn.of(["1", "2"])]).labels
        ('a | 1', 'a | 2')
        """
        if len(factors) == 1:
            return factors[0]
        keys = np.zeros(len(factors[0].codes), dtype=np.int64)
        for factor in factors:
            _, keys = np.unique(keys * len(factor.labels) + factor.codes, return_inverse=True)
        _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        labels = (" | ".join(factor.labels[factor.codes[row]] for factor in factors) for row in first[order].tolist())
        return cls(rank[codes].astype(np.int64), tuple(labels))

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each row."""
        return tuple(map(self.labels.__getitem__, self.codes.tolist()))

    def first_row(self, label: str) -> int:
        """Return the first row with a text."""
        return int(np.argmax(self.codes == self.labels.index(label)))

    def within(self, other: CodedColumn) -> IntArray | None:
        """Return the code of this factor for each level of another; ``None`` if it varies within one."""
        level = np.full(len(other.labels), -1, dtype=np.int64)
        level[other.codes] = self.codes
        return level if bool(np.all(level[other.codes] == self.codes)) else None


def ratings_of_table(
    opened: OpenedFile, columns: RatingColumns | None, options: ReadingOptions, scale: Scale | None
) -> RatingsFile:
    """Return the ratings of an opened file. *columns* are those that a command has options for; its errors name them.

    Errors: those of :func:`~lexiscope.studies.kit.ratings_file.read_ratings`.
    """
    reader = _Columns(opened, columns, options)
    return _RatingsReader(reader, scale).read()


# -- which column is what -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Columns:
    """The columns of an opened file by field: given, known from its program, or recognised by their names.

    ``table`` has a row per rating in the end, regardless of the ``layout`` of the file.
    """

    opened: OpenedFile
    columns: RatingColumns | None
    options: ReadingOptions
    table: CellTable = field(init=False)
    given: dict[str, tuple[str, ...]] = field(init=False)
    fields: dict[str, tuple[str, ...]] = field(init=False)
    notes: list[str] = field(init=False)
    layout: str = field(init=False, default=LONG)

    def __post_init__(self) -> None:
        self.notes = list(self.opened.notes)
        self.table = self._without_empty_rows(self.opened.table)
        self.given = FieldMap.parse(self.options.columns).of_ratings()
        self.given |= self.columns.fields() if self.columns is not None else {}
        self.fields = {**self.opened.fields, **self.given}
        if not len(self.table):
            hint, place = "write at least one row", Place(self.table.path)
            raise InputError("the file has a header but no row", code="E002", place=place, hint=hint)
        self._recognise()
        if self.layout != LONG:
            self._melt("rater" if self.layout == BY_RATER else "item")

    @property
    def taken(self) -> set[str]:
        """The columns that have a field."""
        return {name for columns in self.fields.values() for name in columns}

    def flag(self, name: str) -> str:
        """Return how a command names the column of a field."""
        return f"{_FLAGS[name]} COLUMN" if self.columns is not None else f"--map {name}=COLUMN"

    @property
    def header_place(self) -> Place:
        """Where the header is."""
        return self.table.header_row.place()

    def _without_empty_rows(self, table: CellTable) -> CellTable:
        """A spreadsheet may save rows of separators alone."""
        if not len(table) or all(text.strip() for text in dict.fromkeys(table.columns[0])):
            return table
        kept = [number for number in range(len(table)) if any(column[number].strip() for column in table.columns)]
        if len(kept) == len(table):
            return table
        self.notes.append(f"Skipped: {counted(len(table) - len(kept), 'row')} without any text.")
        return table.kept(kept)

    def _recognise(self) -> None:
        fields, doubt = self.fields, self.opened.doubt
        if doubt is not None and not {"item_columns", "rating"} & set(self.given):
            raise doubt
        wide = {"rater_columns": BY_RATER, "item_columns": _BY_ITEM}
        for name, names in list(fields.items()):
            if name in wide:
                fields[name] = fitting_columns(self.table.header, names)
            else:
                for column in names:
                    self._check_column(column)
        named = [name for name in wide if name in self.given] or [name for name in wide if name in fields]
        if named and not ("rating" in self.given and named[0] not in self.given):
            self.layout = wide[named[0]]
            fields.pop("rating", None)
            fields.pop("rater" if self.layout == BY_RATER else "item", None)
        needed = {LONG: ("rater", "item", "rating"), BY_RATER: ("item",), _BY_ITEM: ("rater",)}[self.layout]
        for name in needed:
            if name not in fields and (columns := self._usual(name)):
                fields[name] = columns
        if self.layout == LONG and not {"rater", "rating"} <= set(fields):
            self._recognise_wide()
        needed = {LONG: ("rater", "item", "rating"), BY_RATER: ("item",), _BY_ITEM: ("rater",)}[self.layout]
        absent = [name for name in needed if name not in fields]
        if absent:
            self._refuse_absent(absent)

    def _usual(self, name: str) -> tuple[str, ...]:
        """The column of a field by its usual name; several that fit are an error."""
        header, taken = self.table.header, self.taken
        of = {"rater": "rater", "item": "rated_item", "rating": "rating"}[name]
        fitting = [column for column in columns_named(of, header) if column not in taken]
        if name == "rating":
            fitting = fitting or [column for column in columns_named("chosen", header) if column not in taken]
            # of several columns, those that hold numbers or few texts: a comment may be called so, too
            rated = [column for column in fitting if _may_be_ratings(self.table[column])]
            fitting = rated if len(fitting) > 1 else fitting
        if len(fitting) > 1:
            what = f"More than one column may hold the {name}: {', '.join(fitting)}."
            hint = f"Add {self.flag(name)}. {self._column_list()}"
            raise InputError(what, code="E006", place=self.header_place, hint=hint)
        if not fitting and name == "item":
            # a file of sentences without ids: the sentences are the items
            known = ColumnMap().with_usual_columns(header)
            texts = [known.sentence_1, known.sentence_2, known.target if known.sentence_1 else None]
            fitting = [text for text in dict.fromkeys(texts) if text is not None and text not in taken]
        return tuple(fitting)

    def _recognise_wide(self) -> None:
        """Find the columns of raters in a table with a row per item, or of items in one with a row per rater."""
        usual = ColumnMap().with_usual_columns(self.table.header)
        others = self.taken | {column for part, column in usual.items() if part not in ("rating", "rater", "item_id")}
        if "rating" in self.fields:
            return
        numbers = NumberForm(missing=NumberForm().missing | {text.casefold() for text in self.options.missing})
        form = numbers if self.options.decimal == "point" else None
        of: Of = "item" if "rater" in self.fields else "rater"
        if {"rater", "item"} <= set(self.fields) or not {"rater", "item"} & set(self.fields):
            return
        columns = answer_columns(self.table, tuple(others), of, form)
        if columns.names:
            self.fields[f"{of}_columns"] = columns.names
            self.layout = BY_RATER if of == "rater" else _BY_ITEM
            if columns.others:
                self.notes.append(f"Columns of other numbers, not taken as {of}s: {listed(columns.others)}.")

    def _refuse_absent(self, absent: Sequence[str]) -> NoReturn:
        what = f"Cannot find the column{'s' if len(absent) > 1 else ''} for {enumerated(absent)}."
        hint = f"Add {' '.join(map(self.flag, absent))}. {self._column_list()}."
        if "rater" in absent:
            hint += " If the file has the mean rating of each item: --map norm=COLUMN."
        if {"rater", "rating"} <= set(absent):
            hint += " If each rater has a column, name them: --map rater_columns=p1, or by a pattern: p*."
        raise InputError(what, code="E006", place=self.header_place, hint=hint)

    def _check_column(self, name: str) -> None:
        count = self.table.header.count(name)
        if count != 1:
            code, what = ("E007", "occurs twice") if count else ("E006", "is not in the file")
            what = f"The column {name!r} {what}."
            raise InputError(what, code=code, place=self.header_place, hint=self._column_list())

    def _column_list(self) -> str:
        return f"Columns in the file: {', '.join(repr(name) for name in self.table.header)}"

    def _melt(self, of: Of) -> None:
        """Turn a row with several answers into a row for each."""
        names, table = self.fields[f"{of}_columns"], self.table
        for name in names:
            self._check_column(name)
        at = [table.header.index(name) for name in names]
        n, k = len(table), len(names)
        kept = [index for index in range(len(table.header)) if index not in at]
        rows = [number for number in range(n) for _ in range(k)]
        columns: list[Sequence[str]] = [[table.columns[index][number] for number in rows] for index in kept]
        columns.append(list(names) * n)
        columns.append([cell for cells in zip(*(table.columns[index] for index in at), strict=True) for cell in cells])
        own = (f"({of})", "(rating)")
        self.table = table.moved([*(table.header[index] for index in kept), *own], columns, rows, (*kept, None, at * n))
        self.fields[of], self.fields["rating"] = own[:1], own[1:]


def _may_be_ratings(cells: Sequence[str]) -> bool:
    """Whether a column holds numbers, or few texts: not sentences."""
    distinct = dict.fromkeys(text.strip() for text in cells)
    forms = (NumberForm(), NumberForm("comma"))
    return len(distinct) <= _MOST_OPTIONS or all(any(f.read(text) is not None for f in forms) for text in distinct)


# -- what the columns hold ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _RatingsReader:
    """Reads ratings, items and their conditions from the columns of a file."""

    columns: _Columns
    scale: Scale | None
    factors: dict[str, CodedColumn] = field(init=False, default_factory=dict)

    @property
    def table(self) -> CellTable:
        return self.columns.table

    @property
    def fields(self) -> dict[str, tuple[str, ...]]:
        return self.columns.fields

    def factor(self, name: str) -> CodedColumn:
        """A column as codes."""
        if name not in self.factors:
            self.factors[name] = CodedColumn.of(self.table[name])
        return self.factors[name]

    def read(self) -> RatingsFile:
        catch = self._drop_catch()
        fields, notes = self.fields, self.columns.notes
        (rater,), (rating,) = fields["rater"], fields["rating"]
        values, options, form, missing = self._values(rating)
        raters = self._identity(fields["rater"])
        items, added = self._items()
        doubts = self._doubts(items, added)
        repeat, repeats, repeated = self._repeats(raters, items, values, options)
        if np.isnan(values).all():
            hint = f"Check {self.columns.flag('rating')}." + (" Every cell means no answer." if missing else "")
            raise InputError("The file has no ratings.", code="E002", place=Place(self.table.path), hint=hint)
        warnings = []
        if self.scale is None and not options:
            warnings = far_warnings(values, lambda row: self.table.place(row, rating))
        groups = self._groups(items, "group")
        word = "" if groups is not None else self._word_column(items)
        lists = self._list_column(items)
        used = {rater, rating, *fields["item"], *added, word, lists}
        used |= {name for key in ("group", "rater_group", "catch", "model") for name in fields.get(key, ())}
        conditions, unused = self._conditions(items, used)
        simulated = self._are_simulated(raters)
        n_given = int(np.sum(~np.isnan(values)))
        about = replace(
            understood(self.columns.opened, decimal=self._decimal(rating, form, options), layout=self.columns.layout),
            taken=self._taken(items, added, word, list(conditions), "Choice" if options else "Rating"),
            missing=missing_texts(missing),
            scale=self._scale_text(values, options),
            sizes=sizes_of(n_given, len(items.labels), len(raters.labels), choices=bool(options)),
            unused=tuple(unused),
            notes=(*notes, *catch, *repeated),
            warnings=tuple(warnings),
        )
        remarks = [about.summary(), *about.notes, *doubts, *warnings, *([TOLD_SIMULATED] if simulated else [])]
        remarks += value_remarks(values, self.scale, options=options)
        return RatingsFile(
            self.table.path, raters.texts, items.texts, values, groups, self._groups(raters, "rater_group"),
            tuple(remarks), options, simulated, self._levels(items, word) if word else groups, conditions,
            self._levels(items, lists) if lists else {}, about, self._models(items, form), repeat, repeats,
        )  # fmt: skip

    def _drop_catch(self) -> tuple[str, ...]:
        """Leave out catch trials, by the column ``catch`` as item files have it; return a remark on them."""
        usual = ColumnMap().with_usual_columns(self.table.header).catch
        column = self.fields.get("catch", (usual,))[0]
        if column is None or ("catch" not in self.fields and column in self.columns.taken):
            return ()
        marks = self.factor(column)
        truths = [parse_truth(text) for text in marks.labels]
        for text, truth in zip(marks.labels, truths, strict=True):
            if truth is None and text:
                place = self.table.place(marks.first_row(text), column)
                hint = "Write true or false, or rename the column if it does not mark catch trials."
                raise InputError(f"{text!r} is neither true nor false.", code="E303", place=place, hint=hint)
        caught = np.array([truth is True for truth in truths])[marks.codes]
        if not caught.any():
            return ()
        if caught.all():
            place, hint = self.table.place(0, column), "add the ratings of the items"
            raise InputError("every row is a catch trial", code="E002", place=place, hint=hint)
        n = len(np.unique(self._identity(self.fields["item"]).codes[caught]))
        self.columns.table = self.table.kept(np.flatnonzero(~caught).tolist())
        self.factors.clear()
        return catch_remark(n)

    def _values(self, name: str) -> tuple[FloatArray, tuple[str, ...], NumberForm, Mapping[str, int]]:
        """The ratings as numbers (of choices the places of the options), the options, and the texts for no answer."""
        cells, said = self.factor(name), self.columns.options
        place = self.columns.header_place
        form = number_form(cells.labels, decimal=said.decimal, missing=said.missing, place=place)
        numbers = [form.read(text) for text in cells.labels]
        texts = [text for text, number in zip(cells.labels, numbers, strict=True) if number is None]
        options: tuple[str, ...] = ()
        points = [_POINT.fullmatch(text) for text in texts]
        if texts and all(points):
            # the points of a scale with their words: 5 = same meaning
            of_text = {match[0]: float(match[1]) for match in points if match}
            numbers = [of_text.get(text, number) for text, number in zip(cells.labels, numbers, strict=True)]
            self.columns.notes.append(f"Points of the scale with words: {listed(texts, 3)}.")
        elif texts and len(texts) <= _MOST_OPTIONS and all(n is None or np.isnan(n) for n in numbers):
            options = tuple(sorted(texts))
            if len(options) > 2:
                note = "Choices have no order. If they are points of a scale, write their numbers: 5 = WORDS."
                self.columns.notes.append(note)
            numbers = [
                float(options.index(text)) if text in options else number
                for text, number in zip(cells.labels, numbers, strict=True)
            ]
        elif texts:
            self._refuse_text(name, texts[0])
        if options and self.scale is not None:
            hint = "leave --scale out"
            raise InputError("options have no scale", code="E006", place=Place(self.table.path), hint=hint)
        for text, number in zip(cells.labels, numbers, strict=True) if self.scale is not None and not options else ():
            if self.scale is not None and number == number and not self.scale.contains(float(number or 0)):
                self._refuse_off_scale(self.scale, float(number or 0), self._place_of(name, text))
        count = np.bincount(cells.codes, minlength=len(cells.labels)).tolist()
        missing = {text: n for text, number, n in zip(cells.labels, numbers, count, strict=True) if number != number}
        return np.array(numbers, dtype=np.float64)[cells.codes], options, form, missing

    def _refuse_off_scale(self, scale: Scale, value: float, place: Place) -> None:
        """Raise the error E301; for a rating between two points, with what to do if that was possible."""
        try:
            scale.check(value, place=place)
        except InputError as error:
            if scale.low < value < scale.high:
                hint = "Correct the rating. If raters could choose values between the points, leave --scale out."
                raise InputError(error.what, code=error.code, place=place, hint=hint) from error
            raise

    def _refuse_text(self, name: str, text: str) -> NoReturn:
        hint = "Leave the cell empty if there was no answer, or name the text that means so: --missing TEXT."
        point = text.replace(",", ".")
        if "," in text and NumberForm().read(point) is not None:
            hint = f"Use a decimal point: {point}. If all numbers have a comma: --decimal comma."
        what = f"Cannot read {text!r} as a number."
        raise InputError(what, code="E302", place=self._place_of(name, text), hint=hint)

    def _place_of(self, name: str, text: str) -> Place:
        """The place of the first cell with this text."""
        return self.table.place(self.factor(name).first_row(text), name, width=max(1, len(text)))

    def _identity(self, names: Sequence[str]) -> CodedColumn:
        """What one or several columns name together. Errors: :class:`InputError` E105 for an empty cell."""
        for name in names:
            if "" in self.factor(name).labels:
                place, hint = (
                    self.table.place(self.factor(name).first_row(""), name),
                    "Fill in the cell or delete the row.",
                )
                raise InputError("Empty rater or item.", code="E105", place=place, hint=hint)
        return CodedColumn.joined([self.factor(name) for name in names])

    def _items(self) -> tuple[CodedColumn, tuple[str, ...]]:
        """The item of each row, and the conditions that identify it, too: in a Latin square an item is in several."""
        names, given = self.fields["item"], "item" in self.columns.given
        items = self._identity(names)
        usual = tuple(columns_named("condition", self.table.header))
        conditions = [name for name in self.fields.get("condition", usual) if name not in names and not given]
        added = tuple(name for name in conditions if self.factor(name).within(items) is None)
        if not added:
            return items, ()
        together = " and ".join((*names, *added))
        self.columns.notes.append(
            f"The same item occurs in several conditions: {together} together are what was rated."
        )
        return self._identity((*names, *added)), added

    def _doubts(self, items: CodedColumn, added: Sequence[str]) -> list[str]:
        """A remark on columns that seem to identify the item, too; an error if the item's column was recognised."""
        used = self.columns.taken | set(added)
        doubtful = [
            name
            for name in self.table.header
            if name not in used and _IDENTIFYING.match(name) and self.factor(name).within(items) is None
        ]
        if not doubtful or self.columns.opened.program:
            return []
        names = self.fields["item"]
        what = f"Within one {' + '.join(names)} these columns have more than one value: {', '.join(doubtful)}."
        if "item" in self.columns.given:
            return [f"{what} Is it the item column?"]
        flag = "--item " if self.columns.columns is not None else "--map item="
        hint = f"Name what identifies an item: {flag}{names[0]}, or {flag}{names[0]} {flag}{doubtful[0]} together."
        raise InputError(what, code="E006", place=self.columns.header_place, hint=hint)

    def _repeats(
        self, raters: CodedColumn, items: CodedColumn, values: FloatArray, options: Sequence[str]
    ) -> tuple[IntArray | None, Repeats, tuple[str, ...]]:
        """The numbers of repeated ratings, which of them count, and the remark on them; nothing if there are none.

        They are meant if the user says which count, if the program has them (DURel), or by a column ``repeat``.
        Errors: :class:`InputError` E502 otherwise, and for choices, which have no mean.
        """
        again = first_repeat(raters.codes.tolist(), items.codes.tolist(), values)
        if again is None:
            return None, "error", ()
        who, what_rated = raters.texts, items.texts
        stated = next((self.table[name] for name in columns_named("repeat", self.table.header)), ())
        meant = self.columns.opened.program == DUREL or stated_order(who, what_rated, stated) is not None
        how = which_count(self.columns.options.repeats, meant=meant)
        if how != "error" and not options:
            numbers = repeat_numbers(who, what_rated, stated)
            return numbers, how, (repeats_remark(who, what_rated, values, how),)
        row, before = again
        place = replace(self.table.place(row, self.fields["rating"][0]), item_id=items.labels[items.codes[row]])
        what = f"Two ratings by rater {raters.labels[raters.codes[row]]} for this item"
        what += f" (first: line {self.table.lines[before]})."
        hint = "Delete one" if options else HINT
        hint += f", or add {self.columns.flag('item')} for a further column that identifies the item."
        raise InputError(what, code="E502", place=place, hint=hint)

    def _groups(self, of: CodedColumn, key: str) -> dict[str, str] | None:
        """The group of each item or rater. Errors: :class:`InputError` E507 for an item or rater in two groups."""
        if key not in self.fields:
            return None
        (name,) = self.fields[key]
        groups = self.factor(name)
        if groups.within(of) is not None:
            return self._levels(of, name)
        pairs = np.unique(np.column_stack([of.codes, groups.codes]), axis=0, return_index=True)
        (codes, rows), seen = pairs, dict[int, int]()
        for (code, _), row in sorted(zip(codes.tolist(), rows.tolist(), strict=True), key=lambda pair: pair[1]):
            if seen.setdefault(code, row) != row:
                texts = f"{groups.labels[groups.codes[seen[code]]]!r} and {groups.labels[groups.codes[row]]!r}"
                what = f"{of.labels[code]!r} is in two groups: {texts}."
                raise InputError(what, code="E507", place=self.table.place(row, name), hint="Correct one of the two.")
        return None

    def _levels(self, items: CodedColumn, name: str) -> dict[str, str]:
        """The text of each item in a column that has one for each."""
        cells = self.factor(name)
        level = cells.within(items)
        assert level is not None
        return {label: cells.labels[code] for label, code in zip(items.labels, level.tolist(), strict=True)}

    def _models(self, items: CodedColumn, form: NumberForm) -> dict[str, dict[str, float]]:
        """The rating of each item in the columns of models.

        Errors: :class:`InputError` E006 for a column that varies within an item, E302 for a cell that is no number.
        """
        models: dict[str, dict[str, float]] = {}
        for name in self.fields.get("model", ()):
            if self.factor(name).within(items) is None:
                what = f"The ratings of the model {name} vary within an item."
                hint = "Name all columns that identify an item: --map item=COLUMN, once for each."
                raise InputError(what, code="E006", place=self.columns.header_place, hint=hint)
            numbers: dict[str, float] = {}
            for text in self.factor(name).labels:
                number = form.read(text)
                if number is None:
                    self._refuse_text(name, text)
                numbers[text] = number
            models[name] = {item: numbers[text] for item, text in self._levels(items, name).items()}
        return models

    def _word_column(self, items: CodedColumn) -> str:
        """The column with the word of the items, if one has a usual name and fewer words than there are items."""
        header = self.table.header
        for name in dict.fromkeys((*columns_named("word", header), *columns_named("target", header))):
            if name not in self.columns.taken:
                cells = self.factor(name)
                several = 1 < len(cells.labels) < len(items.labels) and "" not in cells.labels
                if several and cells.within(items) is not None:
                    return name
        return ""

    def _list_column(self, items: CodedColumn) -> str:
        named = self.fields.get("list_id", ()) or columns_named("list_id", self.table.header)
        return next((name for name in named if self.factor(name).within(items) is not None), "")

    def _conditions(self, items: CodedColumn, used: set[str]) -> tuple[dict[str, dict[str, Condition]], list[str]]:
        """The columns that are conditions of the items, with the value of each item; and the columns without a part."""
        conditions: dict[str, dict[str, Condition]] = {}
        unused: list[str] = []
        given = self.fields.get("condition", ())
        known = ColumnMap().with_usual_columns(self.table.header)
        texts = {getattr(known, part) for part in _TEXTS} | self.columns.opened.own
        for name in self.table.header:
            if name in used or name in KIND_COLUMNS or not name:
                continue
            cells = self.factor(name)
            level = cells.within(items)
            if name in given and level is None:
                what = f"The condition {name} varies within an item."
                hint = "Name all columns that identify an item: --map item=COLUMN, once for each."
                raise InputError(what, code="E006", place=self.columns.header_place, hint=hint)
            may = name in given if given else name not in texts and not describes_rows(name)
            may = may and level is not None
            labels = [cells.labels[code] for code in level.tolist()] if level is not None and may else []
            values = condition_values(labels, named=name in given)
            if values:
                conditions[name] = dict(zip(items.labels, values, strict=True))
            else:
                unused.append(name)
        return conditions, unused

    def _are_simulated(self, raters: CodedColumn) -> bool:
        """Whether the raters are simulated participants, by their ids or by the column that says so."""
        said = next((name for name in self.table.header if name in KIND_COLUMNS), None)
        both = raters if said is None else CodedColumn.joined([raters, self.factor(said)])
        kinds: set[str] = set()
        _, rows = np.unique(both.codes, return_index=True)
        for row in sorted(rows.tolist()):
            told = "" if said is None else self.table[said][row]
            kinds.add(kind_of_person(raters.labels[raters.codes[row]], told))
            if len(kinds) > 1:
                refuse_mixture(kinds, place=self.table.place(row, said))
        return SIMULATED in kinds

    # -- what is shown ----------------------------------------------------------------------------------------------

    def _decimal(self, name: str, form: NumberForm, options: Sequence[str]) -> str:
        if options or not any("," in text or "." in text for text in self.factor(name).labels):
            return ""
        return form.decimal

    def _scale_text(self, values: FloatArray, options: Sequence[str]) -> str:
        if options:
            return f"options: {listed(options)}"
        known = values[~np.isnan(values)]
        seen = f"{known.min():g} to {known.max():g} (lowest and highest rating)"
        return f"{self.scale} (ratings: {known.min():g} to {known.max():g})" if self.scale is not None else seen

    def _taken(
        self, items: CodedColumn, added: Sequence[str], word: str, conditions: Sequence[str], what: str
    ) -> tuple[TakenField, ...]:
        """The fields with their columns, and what is in the first row and in the next one of another item."""
        fields, layout = self.fields, self.columns.layout
        rows = (0, int(np.argmax(items.codes != items.codes[0])) or 1)

        def taken(field: str, *columns: str) -> TakenField:
            return TakenField.of(field, self.table, *columns, rows=rows)

        rater, item = taken("Rater", *fields["rater"]), taken("Item", *fields["item"], *added)
        rating = taken(what, *fields["rating"])
        if layout == BY_RATER:
            rater = TakenField("Raters", fields["rater_columns"])
        if layout == _BY_ITEM:
            item = TakenField("Items", fields["item_columns"])
        if layout != LONG:
            rating = replace(rating, columns=())
        words = fields.get("group") or ((word,) if word else ())
        more = [taken("Word", *words)] if words else []
        more += [taken("Rater group", *fields["rater_group"])] if "rater_group" in fields else []
        return (rater, item, rating, *more, *(taken("Condition", name) for name in conditions))


def condition_values(labels: Sequence[str], *, named: bool) -> list[Condition]:
    """Return the value of each item in a column that may be a condition: few levels of several items, or numbers.

    Empty for a column that names or describes single items, has one value only, or has none for some items; a column
    that the user *named* needs two values only.
    """
    distinct = dict.fromkeys(labels)
    if len(distinct) < 2 or ("" in distinct and not named):
        return []
    form = NumberForm()
    if all(form.read(text) is not None and not form.is_missing(text) for text in distinct):
        numbers = [float(text) for text in labels]
        whole = all(number.is_integer() for number in numbers)
        if whole and not named and len(distinct) == len(labels) == max(numbers) - min(numbers) + 1:
            # the rows of a list, counted
            return []
        return [int(number) if whole else number for number in numbers]
    few = len(distinct) <= _MOST_LEVELS and len(distinct) * _FEWEST_OF_LEVEL <= len(labels)
    return list(labels) if few or named else []


def far_warnings(values: FloatArray, place_of: Callable[[int], Place]) -> list[str]:
    """Return what may be wrong with ratings that are far from all others, if no scale was named.

    *values* are the ratings, NaN where one is missing; *place_of* gives the place of a row.
    Errors: :class:`InputError` E305 for numbers by which surveys say that there was no answer.

    >>> far_warnings(np.array([1.0, 2, 3, 4, 5, 55]), lambda row: Place("r.csv", row + 2))[0][:46]
    'W304 Rating far from all others: 55 (line 7); '
    """
    known, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    far = far_numbers(dict(zip(known.tolist(), counts.tolist(), strict=True)))
    if not far.counts:
        return []
    ends = f"all others are between {far.low:g} and {far.high:g}"
    place = place_of(int(np.flatnonzero(np.isin(values, list(far.codes or far.counts)))[0]))
    if far.codes:
        (code, n), *_ = far.codes.items()
        what = f"{code:g} occurs {counted(n, 'time')} as a rating; {ends}."
        hint = f"If it means no answer, add --missing {code:g}. If it is a rating, add "
        hint += f"--scale {min(far.low, code):g} {max(far.high, code):g}."
        raise InputError(what, code="E305", place=place, hint=hint)
    times = ", ".join(f"{value:g}" + (f" {n} times" if n > 1 else "") for value, n in far.counts.items())
    first = "" if place.line is None else f" ({'first in ' * (sum(far.counts.values()) > 1)}line {place.line})"
    return [f"W304 Rating far from all others: {times}{first}; {ends}. Correct it, or add --scale LOW HIGH."]


def value_remarks(values: FloatArray, scale: Scale | None, *, options: Sequence[str] = ()) -> list[str]:
    """Return what a user must know of ratings or choices: how many are missing, and their range if no scale is known.

    >>> value_remarks(np.array([1.0, np.nan, 5.0]), None)[0]
    '1 missing rating was excluded.'
    """
    given = values[~np.isnan(values)]
    n_missing = len(values) - len(given)
    remarks = []
    if n_missing:
        what = "missing choice" if options else "missing rating"
        remarks.append(f"{counted(n_missing, what)} {'was' if n_missing == 1 else 'were'} excluded.")
    if scale is None and not options:
        ends = f"{given.min():g} to {given.max():g}"
        remarks.append(f"Ratings range from {ends}. Add --scale LOW HIGH to reject other values.")
    return remarks
