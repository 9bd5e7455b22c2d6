"""A long file of ratings, one row per rating, read without guessing: every doubt is an error with its line.

Column names are recognised only from the lists below (capitals, spaces, hyphens and points make no difference).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.ratings import PEOPLE, check_one_scale
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable, has_columns, holds_simulated
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Option, option
from lexiscope.core.simulated import KIND_COLUMNS, SIMULATED, TOLD_SIMULATED, kind_of_person, refuse_mixture
from lexiscope.items.check.rows import parse_truth
from lexiscope.items.read.item_source import catch_remark
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.resources.tables.rows import PARQUET, Row, RowReader

NAMES: dict[str, tuple[str, ...]] = {
    "rater": (
        *("rater", "rater_id", "participant", "participant_id", "subject", "subject_id"),
        *("annotator", "annotator_id", "worker", "worker_id", "judge", "judge_id"),
    ),
    "item": ("item", "item_id", "pair", "pair_id", "stimulus", "stimulus_id", "trial_id", "tag"),
    "value": ("value", "rating", "response", "score", "judgment", "judgement", "relatedness"),
}
_MEASURES = ("rating", "choice")
COMPLETE = (
    "this looks like the complete table of a collected study, with catch trials and excluded people among its answers; "
    "its export has ratings.csv or choices.csv, which leave them out"
)
"""What is said of such a table."""
MISSING = ("", "na", "n/a", "nan", "null", "none")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# a column of this kind that varies within an item says that something else identifies the items
_IDENTIFYING = re.compile(r"(sentence|text|word|target|version|pair|stim|item|tag)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """The names of the columns, as the user gave them; empty if a name must be recognised."""

    rater: str = option("", "column of who rated; recognised: rater, participant, subject and others", metavar="COLUMN")
    item: tuple[str, ...] = option(
        (), "column of what was rated; repeat it where several columns identify it", metavar="COLUMN"
    )
    value: str = option(
        "", "column of the rating; recognised: value, rating, response, score and others", metavar="COLUMN"
    )
    group: str = option("", "column of what items share (a word): resampled together", metavar="COLUMN")
    rater_group: str = option("", "column of what raters share (a country): groups compared", metavar="COLUMN")


@dataclass(frozen=True, slots=True, eq=False)
class RatingsFile:
    """A file's ratings as columns of equal length, NaN where a rating is missing. *Shape:* (rows,) each.

    ``groups`` maps an item to its group, ``rater_groups`` a rater to theirs, where the user named a column for it.
    ``options`` are those that people chose between: a value is then the place of the option chosen, counted from 0.
    ``simulated``: the raters are simulated participants.
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


def read_ratings(
    path: Path | str,
    columns: RatingColumns | None = None,
    *,
    scale: Scale | None = None,
    measure: Annotated[str, Option("of a response table with several measures: this one", metavar="NAME")] = "",
    view: Annotated[str, Option("of a response table with several views: this one", metavar="NAME")] = "",
    kinds: Sequence[str] = PEOPLE,
) -> RatingsFile:
    """Read a long table of ratings: CSV (comma, semicolon or tab), or a response table as CSV or Parquet.

    A response table may hold options that people chose instead of ratings; ``measure`` and ``view`` say which of its
    answers are meant where it holds several; ``kinds`` names each ``subject_kind`` in it that counts as a rater.

    Errors: :class:`InputError` with the codes of the check: E001 (no such file), E002 (empty), E003 (not UTF-8), E004
    (wrong number of fields), E005 (broken quotes), E006 (column missing), E007 (column twice), E105 (no rater or item),
    E301 (off the scale), E302 (not a number); also E502 (rated twice), E507 (one item or rater in two groups), E508
    (ratings of people and of simulated participants together).
    """
    path, columns = existing_file(path), columns or RatingColumns()
    rows = [] if _is_parquet(path) else list(RowReader(path).rows())
    _refuse_nul(rows)
    if not rows or has_columns(rows[0].fields):
        if columns != RatingColumns():
            hint = "leave --rater, --item, --value out"
            raise InputError("a response table has its own columns", code="E006", hint=hint)
        table = ResponseTable.read_csv(path) if rows else ResponseTable.read_parquet(path)
        return _from_responses(str(path), table, scale, measure=measure, view=view, kinds=kinds)
    if tuple(kinds) != PEOPLE:
        hint = "leave --kind out: every row counts"
        raise InputError(
            "only a response table says of what kind a rater is", code="E006", place=Place(str(path)), hint=hint
        )
    if measure or view:
        hint = "leave --measure and --view out, or keep the rows that you mean"
        raise InputError("only a response table has measures and views", code="E006", place=Place(str(path)), hint=hint)
    return _from_csv(str(path), rows[0], rows[1:], columns, scale)


def responses_in(path: Path | str) -> ResponseTable | None:
    """Return a table of responses (CSV or Parquet) as it is; ``None`` for a file of another kind."""
    path = existing_file(path)
    if _is_parquet(path):
        return ResponseTable.read_parquet(path)
    return ResponseTable.read_csv(path) if has_columns(_header(path)) else None


def has_texts(path: Path | str, columns: ColumnMap | None = None, *, word_alone: bool = False) -> bool:
    """Whether a file of items has a column of texts, by its names; *word_alone*: a word is a text, too."""
    known = (columns or ColumnMap()).with_usual_columns(_header(existing_file(path)))
    return (known.with_word_alone() if word_alone else known).sentence_1 is not None


def _header(path: Path) -> list[str]:
    return [name.strip() for name in next(RowReader(path).rows()).fields]


def columns_of_ratings(columns: Mapping[str, str] | None) -> RatingColumns:
    """Return the columns of a table of ratings by part. Errors: :class:`InputError` for a part that it does not have.

    >>> columns_of_ratings({"rater": "wer", "item": "was"})
    RatingColumns(rater='wer', item=('was',), value='', group='', rater_group='')
    """
    known, given = ("rater", "item", "value", "group"), columns or {}
    for part in given:
        if part not in known:
            what = f"no part of a table of ratings is called {part!r}"
            raise InputError(what, hint=f"use one of {', '.join(known)}")
    item = (given["item"],) if "item" in given else ()
    return RatingColumns(
        rater=given.get("rater", ""), item=item, value=given.get("value", ""), group=given.get("group", "")
    )


def _is_parquet(path: Path) -> bool:
    """Whether a file is Parquet by its name in any case, or by its first bytes."""
    with path.open("rb") as stream:
        return path.suffix.casefold() == ".parquet" or stream.read(len(PARQUET)) == PARQUET


def recognise(header: Sequence[str], columns: RatingColumns, *, place: Place | None = None) -> RatingColumns:
    """Return the columns with every name filled in.

    Errors: :class:`InputError` E006 where a name is missing, not recognised, or more than one fits; E007 where it
    occurs twice. The message lists the columns of the file.

    >>> recognise(["", "Participant", "Response", "Tag"], RatingColumns())
    RatingColumns(rater='Participant', item=('Tag',), value='Response', group='', rater_group='')
    """
    given = {"rater": columns.rater, "item": " ".join(columns.item), "value": columns.value}
    recognised = _recognise_parts([part for part, name in given.items() if not name], header, place)
    known = RatingColumns(
        rater=columns.rater or recognised["rater"],
        item=columns.item or (recognised["item"],),
        value=columns.value or recognised["value"],
        group=columns.group,
        rater_group=columns.rater_group,
    )
    for name in filter(None, [known.rater, *known.item, known.value, known.group, known.rater_group]):
        if header.count(name) != 1:
            code, what = ("E007", "stands twice") if name in header else ("E006", "is not in the file")
            raise InputError(f"the column {name!r} {what}", code=code, place=place, hint=_column_list(header))
    return known


def _recognise_parts(parts: Sequence[str], header: Sequence[str], place: Place | None) -> dict[str, str]:
    plain = [re.sub(r"[\s.-]+", "_", name.strip().casefold()) for name in header]
    fitting = {part: [name for name, key in zip(header, plain, strict=True) if key in NAMES[part]] for part in parts}
    for part, names in fitting.items():
        if len(names) > 1:
            what = f"more than one column may hold the {part}: {', '.join(names)}"
            hint = f"say which: --{part} COLUMN; {_column_list(header)}"
            raise InputError(what, code="E006", place=place, hint=hint)
    absent = [part for part, names in fitting.items() if not names]
    if absent:
        why = "; ".join(f"recognised as {part} are: {', '.join(NAMES[part])}" for part in absent)
        hint = f"name it: {' '.join(f'--{part} COLUMN' for part in absent)}; {_column_list(header)}"
        if {"rater", "value"} <= set(absent):
            hint += "; a table with a column per rater must first be turned into one row per rating"
        raise InputError(f"no column is named {' or '.join(absent)}", code="E006", place=place, why=why, hint=hint)
    return {part: names[0] for part, names in fitting.items()}


def _column_list(header: Sequence[str]) -> str:
    return f"the columns are: {', '.join(repr(name) for name in header)}"


def _from_csv(path: str, first: Row, rows: list[Row], columns: RatingColumns, scale: Scale | None) -> RatingsFile:
    header = [name.strip() for name in first.fields]
    known = recognise(header, columns, place=first.place())
    if not rows:
        hint = "write at least one row"
        raise InputError("the file has a header but no row", code="E002", place=Place(path), hint=hint)
    at = {name: number for number, name in enumerate(header)}
    rows, catch = _without_catch(header, known, rows)
    values = [_field_number(row, at[known.value], scale) for row in rows]
    raters = [_field_name(row, [at[known.rater]]) for row in rows]
    items = [_field_name(row, [at[name] for name in known.item]) for row in rows]
    _refuse_repeats(raters, items, values, [row.place(at[known.value]) for row in rows])
    remarks = [f"columns: rater = {known.rater}, item = {' + '.join(known.item)}, value = {known.value}"]
    remarks += catch
    remarks += _doubt_remarks(header, known, items, rows, first.place(), guessed=not columns.item)
    groups = _groups(items, rows, at[known.group]) if known.group else None
    of_rater = _groups(raters, rows, at[known.rater_group]) if known.rater_group else None
    remarks += _value_remarks(path, values, scale)
    simulated = _are_simulated(header, raters, rows)
    remarks += [TOLD_SIMULATED] if simulated else []
    return RatingsFile(
        path, tuple(raters), tuple(items), np.array(values), groups, of_rater, tuple(remarks), simulated=simulated
    )


def _without_catch(header: Sequence[str], known: RatingColumns, rows: list[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """The rows that are no catch trials, by the column ``catch`` as item files have it, and a remark on the others."""
    column = ColumnMap().with_usual_columns(header).catch
    if column is None or column in {known.rater, known.value, known.group, known.rater_group, *known.item}:
        return rows, ()
    number = header.index(column)
    kept: list[Row] = []
    caught: set[str] = set()
    for row in rows:
        text = row.fields[number].strip()
        is_catch = parse_truth(text)
        if is_catch is None and text:
            place = row.place(number, width=len(text))
            hint = "write true or false, or rename the column if it does not mark catch trials"
            raise InputError(f"{text!r} is neither true nor false", code="E303", place=place, hint=hint)
        if is_catch:
            caught.add(_field_name(row, [header.index(name) for name in known.item]))
        else:
            kept.append(row)
    if not kept:
        hint = "add the ratings of the items"
        raise InputError("every row is a catch trial", code="E002", place=rows[0].place(number), hint=hint)
    return kept, catch_remark(len(caught))


def _are_simulated(header: Sequence[str], raters: Sequence[str], rows: Sequence[Row]) -> bool:
    """Whether the raters are simulated participants, by their ids or by the column that says so."""
    said = next((number for number, name in enumerate(header) if name in KIND_COLUMNS), None)
    kinds: set[str] = set()
    for rater, row in zip(raters, rows, strict=True):
        kinds.add(kind_of_person(rater, "" if said is None else row.fields[said]))
        refuse_mixture(kinds, place=row.place(said))
    return SIMULATED in kinds


def _refuse_nul(rows: Sequence[Row]) -> None:
    # UTF-16 without its mark reads as UTF-8 with a NUL next to each letter
    for row in rows:
        if "\0" in row.raw:
            hint = "save the file as text in UTF-8"
            raise InputError("a NUL character: this is not text", code="E003", place=row.place(), hint=hint)


def _field_name(row: Row, numbers: Sequence[int]) -> str:
    parts = [row.fields[number].strip() for number in numbers]
    for number, part in zip(numbers, parts, strict=True):
        if not part:
            place = row.place(number)
            raise InputError("a rater or an item has no name", code="E105", place=place, hint="fill the field")
    return " | ".join(parts)


def _field_number(row: Row, number: int, scale: Scale | None) -> float:
    text = row.fields[number].strip()
    if text.casefold() in MISSING:
        return float("nan")
    if not _NUMBER.fullmatch(text):
        missing = f"leave the field empty where there was no answer, or write {MISSING[1].upper()}"
        hint = "write a decimal point, not a comma" if "," in text else missing
        place = row.place(number, width=len(text))
        raise InputError(f"{text!r} is not a number", code="E302", place=place, hint=hint)
    if scale is not None and not scale.contains(float(text)):
        scale.check(float(text), place=row.place(number, width=len(text)))
    return float(text)


def _refuse_repeats(
    raters: Sequence[str], items: Sequence[str], values: Sequence[float], places: Sequence[Place]
) -> None:
    seen: dict[tuple[str, str], int | None] = {}
    for rater, item, value, place in zip(raters, items, values, places, strict=True):
        if np.isnan(value):
            continue
        if (rater, item) in seen:
            raise InputError(
                f"rater {rater!r} rated this item twice, first in line {seen[rater, item]}",
                code="E502",
                place=replace(place, item_id=item),
                hint="keep one rating, or name further columns that identify the item (--item may be repeated)",
            )
        seen[rater, item] = place.line


def _doubt_remarks(
    header: Sequence[str],
    known: RatingColumns,
    items: Sequence[str],
    rows: Sequence[Row],
    place: Place,
    *,
    guessed: bool,
) -> list[str]:
    """Return a remark on columns that seem to identify the item, too; an error if the item's column was recognised."""
    used = {known.rater, known.value, known.group, known.rater_group, *known.item}
    doubtful = [
        name
        for number, name in enumerate(header)
        if name not in used and _IDENTIFYING.match(name) and _varies(items, [row.fields[number] for row in rows])
    ]
    if not doubtful:
        return []
    what = f"within one {' + '.join(known.item)} these columns have more than one value: {', '.join(doubtful)}"
    if guessed:
        hint = f"say what identifies an item, for instance --item {known.item[0]}, or --item A --item B for two columns"
        raise InputError(what, code="E006", place=place, hint=hint)
    return [f"{what}; is it the item that you mean?"]


def _groups(names: Sequence[str], rows: Sequence[Row], number: int) -> dict[str, str]:
    """Return the group of each item or rater. Errors: :class:`InputError` E507 for an item or rater in two groups."""
    groups: dict[str, str] = {}
    for name, row in zip(names, rows, strict=True):
        group = row.fields[number].strip()
        if groups.setdefault(name, group) != group:
            what, hint = f"{name!r} is in two groups: {groups[name]!r} and {group!r}", "correct one of the two"
            raise InputError(what, code="E507", place=row.place(number, width=len(group)), hint=hint)
    return groups


def _varies(items: Sequence[str], values: Sequence[str]) -> bool:
    first: dict[str, str] = {}
    return any(first.setdefault(item, value) != value for item, value in zip(items, values, strict=True))


def _value_remarks(
    path: str, values: Sequence[float], scale: Scale | None, *, options: Sequence[str] = ()
) -> list[str]:
    given = [value for value in values if not np.isnan(value)]
    if not given:
        hint = "collect ratings first, or name the column that holds them: --value COLUMN"
        raise InputError("no rating has a value", code="E002", place=Place(path), hint=hint)
    what = "choices" if options else "ratings"
    remarks = [f"{len(values) - len(given)} {what} are missing and left out"] if len(given) < len(values) else []
    if scale is None and not options:
        remarks += [f"values run from {min(given):g} to {max(given):g}; --scale LOW HIGH would check them"]
    return remarks


def _from_responses(
    path: str, table: ResponseTable, scale: Scale | None, *, measure: str, view: str, kinds: Sequence[str]
) -> RatingsFile:
    """The raters' ratings or choices in a response table; a group is not among its columns."""
    people, remarks = _chosen_answers(path, table, measure, view, kinds)
    check_one_scale(people)
    raters, items = list(people.column("subject_id")), list(people.column("item_id"))
    options = tuple(sorted({option for option in people.column("option") if option is not None}))
    if options:
        code: dict[str | None, float] = {option: float(place) for place, option in enumerate(options)}
        values = [code.get(option, float("nan")) for option in people.column("option")]
    else:
        values = [float(value) for value in people.column("value")]
    for item, value in zip(items, values, strict=True):
        if scale is not None and not options and not np.isnan(value):
            scale.check(value, place=Place(path, item_id=item))
    if options and scale is not None:
        raise InputError("options have no scale", code="E006", place=Place(path), hint="leave --scale out")
    _refuse_repeats(raters, items, values, [Place(path, line) for line in range(2, len(values) + 2)])
    remarks += [f"options: {', '.join(options)}"] if options else []
    remarks += _value_remarks(path, values, scale, options=options)
    return RatingsFile(
        path,
        tuple(raters),
        tuple(items),
        np.array(values),
        remarks=tuple(remarks),
        options=options,
        simulated=holds_simulated(people),
    )


def _chosen_answers(
    path: str, table: ResponseTable, measure: str, view: str, kinds: Sequence[str]
) -> tuple[ResponseTable, list[str]]:
    """Return the answers of one measure, one view and one task, and the remarks on the table.

    If no measure is named, it is ``rating`` or ``choice``, whichever the table has, else its only measure.
    """
    people = table.where(subject_kind=tuple(kinds))
    simulated = holds_simulated(people, place=Place(path))
    there = list(people.unique("measure"))
    usual = [name for name in _MEASURES if name in there] or there
    if not there or (measure and measure not in there):
        what = f"the response table holds no {measure or 'rating'} by a participant"
        others = ", ".join(table.unique("subject_kind"))
        hint = f"it has the measures: {', '.join(there)}" if there else f"to count others as raters: --kind ({others})"
        raise InputError(what, code="E002", place=Place(path), hint=hint)
    if not measure and len(usual) > 1:
        what, hint = f"the table has several measures: {', '.join(usual)}", "say which: --measure NAME"
        raise InputError(what, code="E006", place=Place(path), hint=hint)
    remarks = [COMPLETE] if "completion_time" in there else []
    remarks += [TOLD_SIMULATED] if simulated else []
    people = people.where(measure=measure or usual[0])
    views = [name or "full" for name in people.unique("view")]
    if view:
        people = people.where(view=(view, None) if view == "full" else view)
    elif len(set(views)) > 1:
        # the same item seen in part and in full is not the same question: raters of two views do not disagree
        what, hint = f"the answers were given in several views: {', '.join(views)}", "say which: --view NAME"
        raise InputError(what, code="E006", place=Place(path), hint=hint)
    if not len(people):
        hint = f"there are: {', '.join(views)}"
        raise InputError(f"no answer was given in the view {view!r}", code="E002", place=Place(path), hint=hint)
    if len(people.unique("task")) > 1:
        tasks = ", ".join(people.unique("task"))
        raise InputError(f"the ratings belong to several tasks: {tasks}", code="E006", place=Place(path))
    return people, remarks
