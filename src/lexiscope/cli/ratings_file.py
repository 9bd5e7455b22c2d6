"""A long file of ratings, one row per rating, read without guessing: every doubt is an error with its line.

Column names are recognised only from the lists below (capitals, spaces, hyphens and points make no difference).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.cli.verb import existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import COLUMNS, ResponseTable
from lexiscope.core.scale import Scale

NAMES: dict[str, tuple[str, ...]] = {
    "rater": (
        *("rater", "rater_id", "participant", "participant_id", "subject", "subject_id"),
        *("annotator", "annotator_id", "worker", "worker_id", "judge", "judge_id"),
    ),
    "item": ("item", "item_id", "pair", "pair_id", "stimulus", "stimulus_id", "trial_id", "tag"),
    "value": ("value", "rating", "response", "score", "judgment", "judgement", "relatedness"),
}
MISSING = ("", "na", "n/a", "nan", "null", "none")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# a column of this kind that varies within an item says that something else identifies the items
_IDENTIFYING = re.compile(r"(sentence|text|word|target|version|pair|stim|item|tag)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold what, as the user named them; empty where a name is to be recognised.

    Several ``item`` columns identify an item together. ``group`` holds what several items share, for instance a word;
    ``rater_group`` what several raters share, for instance a country.
    """

    rater: str = ""
    item: tuple[str, ...] = ()
    value: str = ""
    group: str = ""
    rater_group: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RatingsFile:
    """A file's ratings as columns of equal length, NaN where a rating is missing. *Shape:* (rows,) each.

    ``groups`` maps an item to its group, ``rater_groups`` a rater to theirs, where the user named a column for it.
    """

    path: str
    raters: tuple[str, ...]
    items: tuple[str, ...]
    values: FloatArray
    groups: dict[str, str] | None = None
    rater_groups: dict[str, str] | None = None
    remarks: tuple[str, ...] = ()


def read_ratings(path: Path | str, columns: Columns | None = None, *, scale: Scale | None = None) -> RatingsFile:
    """Read a long table of ratings: CSV (comma, semicolon or tab), or a response table as CSV or Parquet.

    Errors: :class:`InputError` E001–E003 (no such file, folder, empty), E004 (not UTF-8), E005 (a spreadsheet), E006
    (column missing), E007 (column twice), E008 (ragged row), E105 (no rater or item), E301 (off the scale), E302 (not a
    number), E502 (rated twice).
    """
    path, columns = existing_file(path), columns or Columns()
    if path.suffix == ".parquet":
        return _from_responses(str(path), ResponseTable.read_parquet(path), columns, scale)
    text = _decoded(path)
    header = next(_rows(text, str(path)), (0, []))[1]
    if header == list(COLUMNS):
        return _from_responses(str(path), ResponseTable.read_csv(path), columns, scale)
    return _from_csv(str(path), text, header, columns, scale)


def recognise(header: Sequence[str], columns: Columns, *, path: str = "") -> Columns:
    """Return the columns with every name filled in.

    Errors: :class:`InputError` E006 where a name is missing, not recognised, or more than one fits; E007 where it
    stands twice. The message lists the columns that there are.

    >>> recognise(["", "Participant", "Response", "Tag"], Columns())
    Columns(rater='Participant', item=('Tag',), value='Response', group='', rater_group='')
    """
    known = Columns(
        rater=columns.rater or _recognised("rater", header, path),
        item=columns.item or (_recognised("item", header, path),),
        value=columns.value or _recognised("value", header, path),
        group=columns.group,
        rater_group=columns.rater_group,
    )
    for name in filter(None, [known.rater, *known.item, known.value, known.group, known.rater_group]):
        if header.count(name) != 1:
            code, what = ("E007", "stands twice") if name in header else ("E006", "is not in the file")
            raise InputError(f"the column {name!r} {what}", code=code, place=Place(path, 1), hint=_there_are(header))
    return known


def _recognised(part: str, header: Sequence[str], path: str) -> str:
    fitting = [name for name in header if re.sub(r"[\s.-]+", "_", name.strip().casefold()) in NAMES[part]]
    if len(fitting) == 1:
        return fitting[0]
    what = (
        f"more than one column may hold the {part}: {', '.join(fitting)}" if fitting else f"no column is named {part}"
    )
    hint = f"name it: --{part} COLUMN; {_there_are(header)}"
    why = f"recognised are: {', '.join(NAMES[part])}"
    raise InputError(what, code="E006", place=Place(path, 1), why=why, hint=hint)


def _there_are(header: Sequence[str]) -> str:
    return f"the columns are: {', '.join(repr(name) for name in header)}"


def _decoded(path: Path) -> str:
    data = path.read_bytes()
    if data[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        raise InputError("this is a spreadsheet", code="E005", place=Place(str(path)), hint="save it as CSV (UTF-8)")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line_start = data.rfind(b"\n", 0, error.start) + 1
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        place = Place(str(path), line, len(data[line_start : error.start].decode("utf-8", "replace")) + 1)
        hint = "save the file as UTF-8"
        raise InputError(f"byte {byte:#04x} is not UTF-8", code="E004", place=place, hint=hint) from error
    if "\0" in text:
        raise InputError("the file holds NUL signs: it is not text in UTF-8", code="E004", place=Place(str(path)))
    return text


def _rows(text: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which each row ends and its fields; blank lines are skipped."""
    first = text.lstrip("\r\n").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        yield from ((reader.line_num, fields) for fields in reader if fields)
    except csv.Error as error:
        place = Place(path, reader.line_num)
        raise InputError(f"this row cannot be read: {error}", code="E008", place=place) from error


def _from_csv(path: str, text: str, header: list[str], columns: Columns, scale: Scale | None) -> RatingsFile:
    known = recognise(header, columns, path=path)
    rows = list(_rows(text, path))[1:]
    if not rows:
        raise InputError("the file has a header but no row", code="E003", place=Place(path))
    for line, fields in rows:
        if len(fields) != len(header):
            what = f"{len(fields)} fields where the header has {len(header)}"
            raise InputError(what, code="E008", place=Place(path, line), hint="quote texts that hold the delimiter")
    at = {name: number for number, name in enumerate(header)}
    values = [_number(path, line, fields[at[known.value]], scale) for line, fields in rows]
    raters = [_name(path, line, fields, [at[known.rater]]) for line, fields in rows]
    items = [_name(path, line, fields, [at[name] for name in known.item]) for line, fields in rows]
    _refuse_repeats(path, raters, items, values, [line for line, _ in rows])
    remarks = [f"columns: rater = {known.rater}, item = {' + '.join(known.item)}, value = {known.value}"]
    remarks += _doubt(header, known, items, [fields for _, fields in rows], path, guessed=not columns.item)
    groups = _groups(path, items, rows, at[known.group]) if known.group else None
    of_rater = _groups(path, raters, rows, at[known.rater_group]) if known.rater_group else None
    remarks += _about_values(values, scale)
    return RatingsFile(path, tuple(raters), tuple(items), np.array(values), groups, of_rater, tuple(remarks))


def _name(path: str, line: int, fields: Sequence[str], numbers: Sequence[int]) -> str:
    parts = [fields[number].strip() for number in numbers]
    if not all(parts):
        raise InputError("a rater or an item has no name", code="E105", place=Place(path, line), hint="fill the field")
    return " | ".join(parts)


def _number(path: str, line: int, text: str, scale: Scale | None) -> float:
    text = text.strip()
    if text.casefold() in MISSING:
        return float("nan")
    place = Place(path, line)
    if not _NUMBER.fullmatch(text):
        hint = "write a decimal point" if "," in text else f"leave the field empty, or write {MISSING[1].upper()}"
        raise InputError(f"{text!r} is not a number", code="E302", place=place, hint=hint)
    return float(text) if scale is None else scale.check(float(text), place=place)


def _refuse_repeats(
    path: str, raters: Sequence[str], items: Sequence[str], values: Sequence[float], lines: Sequence[int]
) -> None:
    seen: dict[tuple[str, str], int] = {}
    for rater, item, value, line in zip(raters, items, values, lines, strict=True):
        if np.isnan(value):
            continue
        if (rater, item) in seen:
            raise InputError(
                f"rater {rater!r} rated this item twice, first in line {seen[rater, item]}",
                code="E502",
                place=Place(path, line, item_id=item),
                hint="keep one rating, or name further columns that identify the item (--item may be repeated)",
            )
        seen[rater, item] = line


def _doubt(
    header: Sequence[str],
    known: Columns,
    items: Sequence[str],
    rows: Sequence[Sequence[str]],
    path: str,
    *,
    guessed: bool,
) -> list[str]:
    """Columns that look as if they, too, identified the item: an error where the item's column was only recognised."""
    used = {known.rater, known.value, known.group, known.rater_group, *known.item}
    doubtful = [
        name
        for number, name in enumerate(header)
        if name not in used and _IDENTIFYING.match(name) and _varies(items, [fields[number] for fields in rows])
    ]
    if not doubtful:
        return []
    what = f"within one {' + '.join(known.item)} these columns have more than one value: {', '.join(doubtful)}"
    if guessed:
        hint = f"say what identifies an item, for instance --item {known.item[0]}, or --item A --item B for two columns"
        raise InputError(what, code="E006", place=Place(path, 1), hint=hint)
    return [f"{what}; is it the item that you mean?"]


def _groups(path: str, names: Sequence[str], rows: Sequence[tuple[int, list[str]]], number: int) -> dict[str, str]:
    """The group of each item or rater; one that stands in two groups is an error."""
    groups: dict[str, str] = {}
    for name, (line, fields) in zip(names, rows, strict=True):
        group = fields[number].strip()
        if groups.setdefault(name, group) != group:
            what = f"{name!r} is in two groups: {groups[name]!r} and {group!r}"
            raise InputError(what, code="E105", place=Place(path, line))
    return groups


def _varies(items: Sequence[str], values: Sequence[str]) -> bool:
    first: dict[str, str] = {}
    return any(first.setdefault(item, value) != value for item, value in zip(items, values, strict=True))


def _about_values(values: Sequence[float], scale: Scale | None) -> list[str]:
    given = [value for value in values if not np.isnan(value)]
    if not given:
        raise InputError("no rating has a value", code="E003")
    remarks = [f"{len(values) - len(given)} ratings are missing and left out"] if len(given) < len(values) else []
    if scale is None:
        remarks += [f"values run from {min(given):g} to {max(given):g}; --scale LOW HIGH would check them"]
    return remarks


def _from_responses(path: str, table: ResponseTable, columns: Columns, scale: Scale | None) -> RatingsFile:
    """People's ratings in a response table; a group is not among its columns."""
    if columns != Columns():
        raise InputError("a response table has its own columns", code="E006", hint="leave --rater, --item, --value out")
    people = table.where(subject_kind="participant", measure="rating")
    if not len(people):
        raise InputError("the response table holds no rating by a participant", code="E003", place=Place(path))
    if len(people.unique("task")) > 1:
        tasks = ", ".join(people.unique("task"))
        raise InputError(f"the ratings belong to several tasks: {tasks}", code="E006", place=Place(path))
    raters, items = list(people.column("subject_id")), list(people.column("item_id"))
    values = [float(value) for value in people.column("value")]
    if scale is not None:
        for item, value in zip(items, values, strict=True):
            _ = np.isnan(value) or scale.check(value, place=Place(path, item_id=item))
    _refuse_repeats(path, raters, items, values, range(2, len(values) + 2))
    return RatingsFile(path, tuple(raters), tuple(items), np.array(values), remarks=tuple(_about_values(values, scale)))
