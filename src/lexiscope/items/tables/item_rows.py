"""The rows of an item file in any spelling, with the columns that mean something and the form of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path

from lexiscope.core.errors import InputError
from lexiscope.core.settings import ReadingOptions
from lexiscope.items.tables.columns import ColumnMap, FieldMap
from lexiscope.items.tables.numbers import PLAIN, NumberForm, number_form, parse_truth
from lexiscope.items.tables.wide import answer_columns
from lexiscope.resources.platforms.opened import OpenedFile, open_file
from lexiscope.resources.tables.rows import Row, RowReader

_NUMBERS = ("rating", "norm", "n_ratings")


@dataclass(frozen=True, slots=True)
class ItemRows:
    """An item file: its header (``None`` where it cannot be read), its rows, which column is what.

    ``shown`` are the columns that are conditions regardless of their name. ``opened`` is the file as it was understood;
    ``None`` where it was read strictly, as UTF-8 only.
    """

    path: str
    header_row: Row | None
    header: tuple[str, ...]
    rows: Iterator[Row]
    columns: ColumnMap
    shown: frozenset[str]
    numbers: NumberForm = PLAIN
    opened: OpenedFile | None = None


def item_rows(
    path: Path | str,
    columns: ColumnMap | None,
    report: Callable[[InputError], None],
    *,
    options: ReadingOptions | None = None,
    delimiter: str | None = None,
    conditions: Collection[str] = (),
    word_alone: bool = False,
) -> ItemRows:
    """Open an item file. Without *options* it is read strictly: UTF-8, no export of another program.

    *columns* names the columns whose names are not usual ones, *conditions* (patterns) those that are conditions
    regardless of their name; *word_alone*: the usage of a file without a column of sentences is the word itself. Errors
    of rows are given to *report*. Errors: :class:`InputError` for a column that was named and is not there, and for a
    decimal sign that cannot be told.
    """
    if options is None:
        reader = RowReader(path, report, delimiter=delimiter)
        rows = reader.rows()
        header_row = next(rows, None)
        shown, known = _columns(reader.header, columns or ColumnMap(), conditions, word_alone=word_alone)
        return ItemRows(reader.path, header_row, reader.header, rows, known, shown)
    opened = open_file(path, options, report)
    table, header = opened.table, opened.header
    if not header:
        return ItemRows(table.path, None, (), iter(()), columns or ColumnMap(), frozenset(), opened=opened)
    shown, known = item_columns(opened, options, columns, conditions, word_alone=word_alone)
    numeric = [getattr(known, part) for part in _NUMBERS] + list(known.raters)
    cells = [text for name in numeric if name in header for text in dict.fromkeys(table[name])]
    place = table.header_row.place()
    form = number_form(cells, decimal=options.decimal, missing=options.missing, place=place)
    return ItemRows(table.path, table.header_row, header, table.rows(), known, shown, form, opened)


def item_columns(
    opened: OpenedFile,
    options: ReadingOptions,
    columns: ColumnMap | None = None,
    conditions: Collection[str] = (),
    *,
    word_alone: bool = False,
    any_raters: bool = False,
) -> tuple[frozenset[str], ColumnMap]:
    """Return the columns of an opened file that are conditions regardless of their name, and which column is what.

    Columns of raters are those with usual names (p1, rater_a); with *any_raters* also others with numbers on one scale.
    One column ``sense`` of pairs is ``same_sense`` if it has values such as same and different; otherwise it is a
    condition.
    Errors: :class:`InputError` for a column that was named and is not there, and with *any_raters* E006 if it is not
    clear which columns are raters'.
    """
    given = _merged(FieldMap.parse(options.columns).of_items(opened.header), columns or ColumnMap())
    known_to_program = FieldMap({name: own for name, own in opened.fields.items() if len(own) == 1}).of_items()
    shown, known = _columns(opened.header, _merged(given, known_to_program), conditions, word_alone=word_alone)
    if known.sense_1 is not None and given.sense_1 is None and known.sentence_2 and known.sense_2 is None:
        # one sense of two sentences is that of the pair: same or different, or else a condition
        truths = {parse_truth(text) for text in set(opened.table[known.sense_1]) - {""}}
        same = known.sense_1 if truths == {True, False} else None
        known = replace(known, sense_1=None, same_sense=known.same_sense or same)
    if known.rating or known.norm or known.raters:
        return shown, known
    taken = {name for _, name in known.items()} | shown
    answers = answer_columns(opened.table, tuple(taken), "rater", named_only=not any_raters)
    return shown, replace(known, raters=answers.names)


def table_rows(
    path: Path | str, options: ReadingOptions | None = None, *, delimiter: str | None = None
) -> Iterator[Row]:
    """Yield the header and the rows of a table; without *options* it is read strictly, as UTF-8.

    Errors: those of the reader.
    """
    if options is None:
        yield from RowReader(path, delimiter=delimiter).rows()
        return
    table = open_file(path, options).table
    yield table.header_row
    yield from table.rows()


def _columns(
    header: tuple[str, ...], given: ColumnMap, patterns: Collection[str], *, word_alone: bool
) -> tuple[frozenset[str], ColumnMap]:
    shown = frozenset(name for name in header if any(fnmatchcase(name, pattern) for pattern in patterns))
    known = given.with_usual_columns([name for name in header if name not in shown])
    return shown, known.with_word_alone() if word_alone else known


def _merged(first: ColumnMap, second: ColumnMap) -> ColumnMap:
    """Return the columns of both; if both have a part, the first's."""
    return replace(second, **{part.name: value for part in fields(first) if (value := getattr(first, part.name))})
