"""A table with a mean rating of each item, and columns with the ratings of models: norms as they are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.core.dataset import Dataset, own_card
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.showing import counted
from lexiscope.items.tables.columns import FieldMap, columns_named
from lexiscope.items.tables.numbers import NumberForm, number_form
from lexiscope.items.tables.understood import TakenField, Understanding, understood
from lexiscope.resources.platforms.opened import OpenedFile
from lexiscope.resources.tables.cells import CellTable
from lexiscope.studies.kit.ratings_table import condition_values

MODEL = "model"
"""The field of a column with a model's rating of each item; there may be several."""
RECORDED = "recorded"
_LAYOUT = "one row per item, with its mean rating"


def norm_column(opened: OpenedFile, options: ReadingOptions) -> str:
    """Return the column with the mean rating of each item; empty for a table with the ratings of raters.

    It is named (``--map norm=COLUMN``), or it has a usual name and no column is a rater's or a rating.
    """
    given = FieldMap.parse(options.columns).columns
    if "norm" in given:
        return given["norm"][0]
    of_raters = {"rater", "rating", "value", "rater_columns", "item_columns"} & {*given, *opened.fields}
    if of_raters or any(columns_named(name, opened.header) for name in ("rater", "rating")):
        return ""
    usual = columns_named("norm", opened.header)
    return usual[0] if len(usual) == 1 else ""


def read_means(
    path: Path, opened: OpenedFile, options: ReadingOptions, *, task: str, language: str, scale: Scale | None
) -> tuple[Dataset, Understanding]:
    """Return items without texts with their mean ratings and models' ratings, and what was understood of the file.

    Items are named by the columns of ``--map item=COLUMN`` (several together), or by a column with a usual name, two
    columns of words, or one. Other columns with few levels, or numbers, are conditions.
    Errors: :class:`InputError` E006 for a column that is not there, or items that cannot be told, E105 for an empty
    cell, E302 for a cell that is no number, E301 for a mean or a model's rating off the scale, E502 for an item with
    two rows where *options* do not say which of them counts, or with two values of a named condition.
    """
    table, given = opened.table, FieldMap.parse(options.columns).columns
    norm, models = norm_column(opened, options), given.get(MODEL, ())
    names = given.get("item", given.get("item_id", ())) or _item_columns(table, {norm, *models})
    for name in (norm, *models, *names):
        if table.header.count(name) != 1:
            what, hint = f"The column {name!r} is not in the file.", f"Columns in the file: {', '.join(table.header)}"
            raise InputError(what, code="E006", place=table.header_row.place(), hint=hint)
    rows_of = _rows_of_items(table, names, options.repeats)
    items = tuple(rows_of)
    cells = [text for name in (norm, *models) for text in table[name]]
    form = number_form(cells, decimal=options.decimal, missing=options.missing, place=table.header_row.place())
    means = _counted(_numbers(table, norm, form, scale), rows_of, options.repeats)
    ratings = {name: _counted(_numbers(table, name, form, scale), rows_of, options.repeats) for name in models}
    if np.isnan(means).all():
        raise InputError("The file has no ratings.", code="E002", place=Place(table.path), hint="Check --map norm=.")
    (word, *_) = (*given.get("word", given.get("group", ())), "")
    others = [name for name in table.header if name and name not in {norm, word, *models, *names}]
    conditions = _conditions(table, others, given.get("condition", ()))
    conditions |= {"word": list(table[word])} if word else {}
    # a column that differs between the rows of an item says nothing of the item
    differing = {name: row for name, values in conditions.items() if (row := _first_other(values, rows_of)) is not None}
    for name in given.get("condition", ()):
        if name in differing:
            what, hint = "Two values of a condition for one item.", "Delete one of the rows, or do not map this column."
            raise InputError(what, code="E502", place=table.place(differing[name], name), hint=hint)
    conditions = {name: values for name, values in conditions.items() if name not in differing}
    stem = path.stem
    own = tuple(
        Item(item, stem, (), conditions={name: values[rows[0]] for name, values in conditions.items()}, scale=scale)
        for item, rows in rows_of.items()
    )
    ends = f"{np.nanmin(means):g} to {np.nanmax(means):g} (lowest and highest mean)"
    taken = [TakenField.of("Item", table, *names), TakenField.of("Mean rating", table, norm)]
    taken += [TakenField.of("Model", table, name) for name in models]
    taken += [TakenField.of("Word", table, word)] if "word" in conditions else []
    taken += [TakenField.of("Condition", table, name) for name in conditions if name != "word"]
    about = replace(
        understood(opened, decimal=form.decimal if any("," in text or "." in text for text in cells) else ""),
        layout=_LAYOUT,
        taken=tuple(taken),
        scale=str(scale) if scale is not None else ends,
        sizes=f"{counted(int((~np.isnan(means)).sum()), 'mean rating')} of {counted(len(items), 'item')}",
        unused=tuple(name for name in others if name not in conditions),
    )
    card = own_card(path, task=task, language=language or "und", scale=scale)
    card = replace(card, remarks=(about.summary(), *about.notes, *_repeats_remark(rows_of, options.repeats)))
    rows = [recorded_rows({"norm": dict(zip(items, means.tolist(), strict=True))}, task, kind="norm", measure="norm")]
    rows += [recorded_rows({name: dict(zip(items, own, strict=True))}, task) for name, own in ratings.items()]
    return Dataset(card, own, ResponseTable.concat(rows), ((path.name, sha256_of(path)),)), about


def recorded_rows(
    models: Mapping[str, Mapping[str, float]], task: str, *, kind: str = RECORDED, measure: str = "rating"
) -> ResponseTable:
    """Return the ratings of models, by name and item, as responses; NaN is a row without a value."""
    rows = [(name, item, value) for name, ratings in models.items() for item, value in ratings.items()]
    subjects, items, values = zip(*rows, strict=True)
    columns: dict[str, object] = {"subject_id": subjects, "item_id": items, "value": np.array(values, dtype=float)}
    return ResponseTable.from_columns(columns | {"subject_kind": kind, "task": task, "measure": measure})


def _item_columns(table: CellTable, taken: set[str]) -> tuple[str, ...]:
    """The columns that name an item, by their usual names."""
    header = [name for name in table.header if name not in taken]
    named = columns_named("rated_item", header)
    if len(named) == 1:
        return (named[0],)
    pair = [columns_named(field, header) for field in ("target_1", "target_2")]
    if all(len(side) == 1 for side in pair):
        return pair[0][0], pair[1][0]
    words = columns_named("word", header)
    if len(words) == 1:
        return (words[0],)
    hint = f"Add --map item=COLUMN, once for each column that names an item. Columns in the file: {', '.join(header)}"
    raise InputError("Cannot find the columns for item.", code="E006", place=table.header_row.place(), hint=hint)


def _rows_of_items(table: CellTable, names: Sequence[str], repeats: str) -> dict[str, list[int]]:
    """Return the rows of each item, several only if *repeats* says which of them count."""
    rows: dict[str, list[int]] = {}
    for row, parts in enumerate(zip(*(table[name] for name in names), strict=True)):
        item = " | ".join(part.strip() for part in parts)
        if not all(part.strip() for part in parts):
            place = table.place(row, names[0])
            raise InputError("Empty item.", code="E105", place=place, hint="Fill in the cell or delete the row.")
        own = rows.setdefault(item, [])
        if own and not repeats:
            what = f"Two rows for the item {item!r} (first: line {table.lines[own[0]]})."
            hint = (
                "Delete one, add --map item=COLUMN for a further column that identifies the item, or name which row "
                "counts: --repeats mean|first|last"
            )
            raise InputError(what, code="E502", place=table.place(row, names[0]), hint=hint)
        own.append(row)
    return rows


def _counted(values: FloatArray, rows_of: Mapping[str, Sequence[int]], repeats: str) -> FloatArray:
    """Return one number for each item: the mean, the first or the last of its rows that have one. *Shape:* (items,)."""
    counted_values = np.full(len(rows_of), np.nan)
    for number, rows in enumerate(rows_of.values()):
        given = values[rows][~np.isnan(values[rows])]
        if len(given):
            counted_values[number] = {"first": given[0], "last": given[-1]}.get(repeats, given.mean())
    return counted_values


def _first_other(values: Sequence[object], rows_of: Mapping[str, Sequence[int]]) -> int | None:
    """Return the first row whose value is not that of the item's first row."""
    return next((row for own in rows_of.values() for row in own if values[row] != values[own[0]]), None)


def _repeats_remark(rows_of: Mapping[str, Sequence[int]], repeats: str) -> tuple[str, ...]:
    n = sum(len(rows) - 1 for rows in rows_of.values())
    verb = "repeats" if n == 1 else "repeat"
    which = "The mean of the rows counts." if repeats == "mean" else f"The {repeats} row with a value counts."
    return (f"{counted(n, 'row')} {verb} the item of an earlier row. {which}",) if n else ()


def _numbers(table: CellTable, name: str, form: NumberForm, scale: Scale | None) -> FloatArray:
    values = np.full(len(table), np.nan)
    for row, text in enumerate(table[name]):
        value = form.read(text)
        if value is None:
            hint = "Leave the cell empty if there was no answer, or name the text that means so: --missing TEXT."
            raise InputError(f"Cannot read {text!r} as a number.", code="E302", place=table.place(row, name), hint=hint)
        if scale is not None and (value < scale.low or value > scale.high):
            what = f"{value:g} is not between {scale.low:g} and {scale.high:g}."
            raise InputError(what, code="E301", place=table.place(row, name), hint="Correct it, or leave --scale out.")
        values[row] = value
    return values


def _conditions(table: CellTable, others: Sequence[str], given: Sequence[str]) -> dict[str, list[Condition]]:
    """The columns that are conditions: those that were named, or those with few levels."""
    conditions: dict[str, list[Condition]] = {}
    for name in given or others:
        labels = [text.strip() for text in table[name]]
        values = condition_values(labels, named=name in given)
        # of columns that nobody named, numbers are other norms, counts and errors of the item
        if values and (name in given or all(isinstance(value, str) for value in values)):
            conditions[name] = values
    return conditions
