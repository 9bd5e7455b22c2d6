"""A file with ratings of the user's own as a dataset: ratings alone, items and ratings, or norms as they are published.

Norms are a table with a mean rating of each item, and columns with the ratings of models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.dataset import Dataset, own_card
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED, PARTICIPANT, SIMULATED
from lexiscope.items.choice_sets.choice_set_file import has_choice_sets
from lexiscope.items.read.item_source import load_items
from lexiscope.items.tables.columns import ColumnMap, FieldMap, columns_named
from lexiscope.items.tables.item_rows import item_columns
from lexiscope.items.tables.numbers import NumberForm, number_form
from lexiscope.items.tables.tabular import is_item_table
from lexiscope.items.tables.understood import TakenField, Understanding, missing_texts, sizes_of, understood
from lexiscope.resources.platforms.opened import OpenedFile, open_file
from lexiscope.resources.tables.cells import CellTable
from lexiscope.studies.kit.data import own_dataset
from lexiscope.studies.kit.ratings_file import has_texts, read_ratings, responses_in
from lexiscope.studies.kit.ratings_table import BY_RATER, LONG, RatingsFile, condition_values, far_warnings
from lexiscope.studies.kit.repeated_ratings import counted_ratings
from lexiscope.tasks import DEFAULT

WORD = "word"
"""The condition by which an item without texts names its word."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedFile:
    """The items and ratings of a file, and what was understood of it.

    ``groups`` are those of the raters, if a column for them was named. ``choices``: raters chose between options.
    """

    data: Dataset
    understood: Understanding
    groups: Mapping[str, str] | None = None
    choices: bool = False


def read_rated_file(
    path: Path | str,
    *,
    items: Path | str = "",
    task: str = "",
    language: str = "",
    scale: Scale | None = None,
    options: ReadingOptions | None = None,
) -> RatedFile:
    """Read a file with ratings: of items that it holds itself, of the items of a file or dataset *items*, or of none.

    The ratings of an export have the items of ``items.csv`` next to them. Errors: those of
    :func:`~lexiscope.studies.kit.ratings_file.read_ratings` and :func:`~lexiscope.studies.kit.data.own_dataset`;
    :class:`InputError` for a file without ratings, and for a rating of an item that *items* does not have.
    """
    path, options, task = existing_file(path), options or ReadingOptions(), task or DEFAULT
    try:
        return _read(path, str(items), task, language, scale, options)
    except InputError as error:
        if error.code not in _NO_RATINGS or options.columns:
            raise
        kind = _kind_without_ratings(path, options)
        if not kind:
            raise
        what, verb = kind
        raise InputError(
            f"The file has {what} and no ratings.", code="E002", place=Place(str(path)), hint=verb
        ) from error


_NO_RATINGS = ("E002", "E006")


def _kind_without_ratings(path: Path, options: ReadingOptions) -> tuple[str, str] | None:
    """What a file holds that is no table of ratings, and the command that takes it; ``None`` if that is not known."""
    if responses_in(path, options) is not None:
        return None
    header = open_file(path, options).header
    if has_choice_sets(header):
        return "choice sets", f"Compare models on them: lexiscope study synonymy --items {path} --subject SPEC"
    known = ColumnMap().with_usual_columns(header)
    if known.sentence_1 and (known.gold or known.same_sense or "label" in map(str.casefold, header)):
        return "labels", f"Test whether a part of the input predicts them: lexiscope bias {path} --out RUN"
    if known.sentence_1:
        return "items", f"Ask models about them: lexiscope collect {path} --subject SPEC --out RUN"
    return None


def _read(path: Path, items: str, task: str, language: str, scale: Scale | None, options: ReadingOptions) -> RatedFile:
    unused_texts = ""
    if not items and holds_items(path, task, options):
        try:
            named = _with_raters(path, options)
            data = own_dataset(path, task=task, language=language, scale=scale, options=named, any_scale=True)
            opened = open_file(path, named)
            data = _without_columns_of_program(data, opened, named)
            return RatedFile(data, _understood_items(data, opened, named, scale))
        except InputError as error:
            if error.code != "E102":
                raise
            # people saw the texts: their ratings can be analysed, and only a model needs to know which word is meant
            where = f" (item {error.place.item_id})" if error.place is not None and error.place.item_id else ""
            unused_texts = f"No model can be asked about the texts: {error.what}{where}; {error.hint}"
    if not items and responses_in(path, options) is None and norm_column(opened := open_file(path, options), options):
        data, about = read_means(path, opened, options, task=task, language=language, scale=scale)
        return RatedFile(data, about)
    read = read_ratings(path, options=options, scale=scale)
    if unused_texts:
        warnings = (*read.understood.warnings, unused_texts)
        read = replace(read, understood=replace(read.understood, warnings=warnings))
    table = _responses_of(read, path, task, options)
    if not items and (path.parent / "items.csv").is_file() and read.understood.program == "Lexiscope":
        items = str(path.parent / "items.csv") if (path.parent / "export.json").is_file() else ""
    if items:
        data = _of_items(table, read, items, task, language, scale, options)
    else:
        card = own_card(path, task=task, language=language or "und", scale=scale)
        card = replace(card, remarks=(read.understood.summary(), *read.understood.notes, *read.understood.warnings))
        bare = tuple(_bare_item(item, path.stem, read, scale) for item in table.unique("item_id"))
        data = Dataset(card, bare, table, ((path.name, sha256_of(path)),))
    return RatedFile(data, read.understood, read.rater_groups, bool(read.options))


def holds_items(path: Path, task: str, options: ReadingOptions) -> bool:
    """Return whether a file has a text with a target in each row, so that its items can be shown to a model."""
    if is_item_table(path):
        return True
    if responses_in(path, options) is not None:
        return False
    opened = open_file(path, options)
    given = FieldMap.parse(options.columns).of_items(opened.header)
    columns = given.with_usual_columns(opened.header)
    try:
        word_alone = catalog.screen(task).word_alone
    except SpecError:
        word_alone = False
    target = columns.target or columns.target_1 or columns.start_1
    return target is not None and has_texts(opened, given, word_alone=word_alone)


def _with_raters(path: Path, options: ReadingOptions) -> ReadingOptions:
    """The options with the columns of raters: a file that is analysed has ratings, in a column for each rater if in no
    other one."""
    if is_item_table(path):
        return options
    raters = item_columns(open_file(path, options), options, any_raters=True)[1].raters
    named = FieldMap.parse(options.columns).columns
    added = () if "rater_columns" in named else tuple(f"rater_columns={name}" for name in raters)
    return replace(options, columns=(*options.columns, *added))


def _without_columns_of_program(data: Dataset, opened: OpenedFile, options: ReadingOptions) -> Dataset:
    """The dataset without the conditions that are columns of the program (times, devices), unless they were named."""
    own = opened.own - set(FieldMap.parse(options.columns).columns.get("condition", ()))
    if not own:
        return data
    kept = [{name: value for name, value in item.conditions.items() if name not in own} for item in data.items]
    items = tuple(replace(item, conditions=conditions) for item, conditions in zip(data.items, kept, strict=True))
    return replace(data, items=items)


def _bare_item(item: str, dataset: str, read: RatingsFile, scale: Scale | None) -> Item:
    word: dict[str, Condition] = {WORD: read.words[item]} if read.words is not None and item in read.words else {}
    return Item(
        item, dataset, (), list_id=read.lists.get(item), conditions=word | _conditions_of(item, read), scale=scale
    )


def _conditions_of(item: str, read: RatingsFile) -> dict[str, Condition]:
    return {name: values[item] for name, values in read.conditions.items() if item in values}


def _responses_of(read: RatingsFile, path: Path, task: str, options: ReadingOptions) -> ResponseTable:
    """The ratings or choices of a file as responses, with the answers of models in a table of responses."""
    given = responses_in(path, options)
    measure = "choice" if read.options else "rating"
    if given is not None:
        # models may be among its subjects
        models = [kind for kind in given.unique("subject_kind") if kind not in COLLECTED]
        people = given.where(subject_kind=COLLECTED, measure=measure)
        people = counted_ratings(people, read.repeats)
        return ResponseTable.concat([people, given.where(subject_kind=tuple(models))]) if models else people
    kind = SIMULATED if read.simulated else PARTICIPANT
    columns: dict[str, object] = {"subject_id": read.raters, "subject_kind": kind, "item_id": read.items, "task": task}
    lists = [read.lists.get(item) for item in read.items] if read.lists else None
    columns |= {"measure": measure, "view": "full", "list_id": lists}
    models = [recorded_rows(read.models, task)] if read.models else []
    if not read.options:
        columns |= {"value": read.values, "repeat": read.repeat}
        people = counted_ratings(ResponseTable.from_columns(columns), read.repeats)
        return ResponseTable.concat([people, *models]) if models else people
    chosen = [None if value != value else read.options[int(value)] for value in read.values.tolist()]
    return ResponseTable.from_columns(columns | {"option": chosen})


def _of_items(
    table: ResponseTable,
    read: RatingsFile,
    items: str,
    task: str,
    language: str,
    scale: Scale | None,
    options: ReadingOptions,
) -> Dataset:
    """The ratings with the items of another file or of a dataset; conditions of the ratings' file are theirs, too."""
    if catalog.has("datasets", items):
        given = catalog.dataset(items)
    else:
        # of the columns that were named, those of the item file
        header = open_file(items, replace(options, where=(), columns=())).header
        own = replace(
            options, where=(), columns=tuple(pair for pair in options.columns if pair.partition("=")[2] in header)
        )
        source = load_items(items, task=task, language="" if language == "und" else language, scale=scale, options=own)
        card = own_card(Path(items), task=task, language=source.items[0].usages[0].language, scale=scale)
        given = Dataset(card, source.items, ResponseTable.empty(), tuple(source.checksums.items()))
    known = {item.item_id: item for item in given.items}
    unknown = [item for item in dict.fromkeys(read.items) if item not in known]
    if unknown:
        what = f"{items} does not have an item that was rated in {read.path}."
        hint = "Both files need the same ids: name the columns with --map item=COLUMN, --map item_id=COLUMN."
        raise InputError(what, place=Place(read.path, item_id=unknown[0]), hint=hint)
    rated = set(read.items)
    kept = tuple(
        replace(
            item,
            conditions=(_conditions_of(item.item_id, read) if item.item_id in rated else {}) | dict(item.conditions),
        )
        for item in given.items
        if item.conditions.get("catch") is not True
    )
    checksums = (*given.checksums, (Path(read.path).name, sha256_of(Path(read.path))))
    return Dataset(given.card, kept, table.where(item_id=tuple(item.item_id for item in kept)), checksums)


# -- items and ratings in one file ----------------------------------------------------------------------------------


def _understood_items(data: Dataset, opened: OpenedFile, options: ReadingOptions, scale: Scale | None) -> Understanding:
    """What was understood of a file of items with ratings."""
    table, header = opened.table, opened.header
    columns = item_columns(opened, options)[1]
    ratings = data.responses.where(measure=("rating", "norm"))
    values = ratings.column("value").astype(np.float64)
    known = values[~np.isnan(values)]
    if not len(known):
        hint = f"Name the column of the ratings: --map rating=COLUMN. Columns in the file: {', '.join(header)}"
        raise InputError("The file has no ratings.", code="E002", place=Place(table.path), hint=hint)
    raters, used = columns.raters, {name for _, name in columns.items()}
    # a column of words may be that of the targets, too
    parts = {name: part for part, name in columns.items() if name not in raters}
    taken = [TakenField.of(part.replace("_", " "), table, name) for name, part in parts.items()]
    taken += [TakenField("Raters", raters)] if raters else []
    conditions = {name: None for item in data.items for name in item.conditions}
    others = [name for name in header if name and name not in used]
    taken += [TakenField.of("Condition", table, name) for name in others if name in conditions]
    rated = list(raters) or [name for name in (columns.rating or columns.norm,) if name is not None]
    cells = [text for name in rated for text in table[name]]
    form = number_form(dict.fromkeys(cells), decimal=options.decimal, missing=options.missing)
    layout = LONG if columns.rating else BY_RATER if raters else "one row per item"
    return replace(
        understood(
            opened, decimal=form.decimal if any("," in text or "." in text for text in cells) else "", layout=layout
        ),
        taken=tuple(taken),
        missing=missing_texts(form.missing_counts(cells)),
        scale=str(scale or f"{known.min():g} to {known.max():g} (lowest and highest rating)"),
        sizes=sizes_of(len(known), len(data.items), len(ratings.where(subject_kind=COLLECTED).unique("subject_id"))),
        unused=tuple(name for name in others if name not in conditions),
        notes=(*opened.notes, *data.card.remarks),
        warnings=tuple(far_warnings(values, lambda _: Place(table.path)) if scale is None else ()),
    )


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
    n = sum(len(rows) - 1 for rows in rows_of.values())
    verb = "repeats" if n == 1 else "repeat"
    which = f"{options.repeats} of the rows" if options.repeats == "mean" else f"{options.repeats} row with a value"
    repeated = (f"{counted(n, 'row')} {verb} the item of an earlier row. The {which} counts.",) if n else ()
    card = replace(card, remarks=(about.summary(), *about.notes, *repeated))
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
