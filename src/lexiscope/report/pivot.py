"""A table as a pivot of results: which statistic a column shows, and which results a row is about.

A study declares its columns; the numbers, their intervals and the reasons for missing values come from the records::

    best = "max_r_squared_over_layers"
    columns = (Col("Highest R²", best), Col("at layer", best, show="layer"))
    pivot("relatedness", "Relatedness by layer", records, columns, rows_of(records, "subject", names=titles))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from lexiscope.core.result import Record, Result
from lexiscope.report.part import record_cell
from lexiscope.report.tables import (
    BOUNDED,
    INTEGER,
    P_VALUE,
    TEXT,
    Cell,
    Column,
    Format,
    Head,
    IntervalCell,
    Missing,
    Table,
    table_of,
)

Show = Literal["estimate", "value", "interval", "layer", "n", "p", "note", "condition"]
ABSENT = Missing("not computed")


@dataclass(frozen=True, slots=True)
class Col:
    """A column of a pivot: the statistic that it shows (several: the first that a row has), and what of its record.

    ``show`` is ``estimate`` (the value with its interval), or one field of the record; ``times`` multiplies (100 for
    percent); ``where`` are fields that the record must have in addition to those of the row; ``absent`` is the cell of
    a row without such a record. ``cell``, if given, makes the cell of the record instead.
    """

    header: str
    statistic: str | tuple[str, ...]
    format: Format = BOUNDED
    show: Show = "estimate"
    note: str = ""
    times: float = 1.0
    where: Mapping[str, object] = field(default_factory=dict)
    absent: Cell = ABSENT
    cell: Callable[[Record], Cell] | None = None

    @property
    def column(self) -> Column:
        """The column's head."""
        form = INTEGER if self.show in ("layer", "n") and self.format is BOUNDED else self.format
        return Column(self.header, form, note=self.note)

    def of(self, record: Record | None) -> Cell:
        """Return the cell of a record."""
        if record is None:
            return self.absent
        if self.cell is not None:
            return self.cell(record)
        if self.show in ("estimate", "interval"):
            cell = _times(record_cell(record), self.times)
            if self.show == "estimate":
                return cell
            # a value without an interval is none: its note says why
            none = Missing(record.note or "no interval")
            return IntervalCell(cell.low, cell.high) if isinstance(cell, IntervalCell) else none
        value = _times(getattr(record, self.show), self.times)
        whole = self.format.kind == "integer" and isinstance(value, float) and value.is_integer()
        return int(cast(float, value)) if whole else value


@dataclass(frozen=True, slots=True)
class PivotRow:
    """A row of a pivot: its first cells, and the fields of the records that it is about.

    ``of`` are further names for the braces of columns than the fields: with ``{"part": "ending"}`` the column of
    ``mean_words(of={part})`` shows ``mean_words(of=ending)``.
    """

    labels: tuple[Cell, ...]
    where: Mapping[str, object] = field(default_factory=dict)
    of: Mapping[str, object] = field(default_factory=dict)


def rows_of(
    results: Iterable[Record | Result], *fields: str, names: Mapping[Any, Cell] | None = None, **where: object
) -> tuple[PivotRow, ...]:
    """Return a row for each combination of *fields* that the results have, in their order.

    *names* are what values are called; *where* are fields that the results must have (as pivot columns have them).
    """
    named = names or {}
    keys = dict.fromkeys(
        tuple(getattr(record, name) for name in fields) for record in records_of(results) if _fits(record, where)
    )
    return tuple(
        PivotRow(tuple(named.get(value, value) for value in key), {**dict(zip(fields, key, strict=True)), **where})
        for key in keys
    )


def rows_of_subjects(titles: Mapping[str, str], **where: object) -> tuple[PivotRow, ...]:
    """Return a row for each subject by its title, whether or not it has results: a cell without one says so.

    *titles* are the subjects' titles by their ids; *where* are fields that the results must have.
    """
    return tuple(PivotRow((title,), {"subject": subject, **where}) for subject, title in titles.items())


def rank_columns(results: Iterable[Record | Result], statistic: str, by: str, **where: object) -> tuple[Col, ...]:
    """Return the column of the sets of ranks, where the results have them: of one subject there is none.

    *statistic* is the printed name of the rank, *by* says what it is by, *where* are fields that its records have.

    >>> rank_columns([Record("mean", 2.0)], "rank(of=mean,among=subjects)", "by mean")
    ()
    """
    if not any(record.statistic == statistic and _fits(record, where) for record in records_of(results)):
        return ()
    note = f"{by}; ranks that the paired differences leave open, all intervals together; 1 is the first"
    return (Col("Rank", statistic, TEXT, note=note, where=where, absent=Missing("not ranked")),)


def quantities(name: str, title: str, rows: Mapping[str, Record]) -> Table:
    """Return single numbers by their label: a whole number without decimals, any other with two.

    >>> quantities("t", "Sizes", {"Items": Record("n_items", 1200), "Mean": Record("mean", 2.5)}).rows
    (('Items', '1,200'), ('Mean', 2.5))
    """

    def cell(record: Record) -> Cell:
        if record.value is None:
            return Missing(record.note)
        return f"{record.value:,.0f}" if record.value == int(record.value) else record.value

    columns = (Column("Quantity"), Column("Value", Format("number", 2), align="right"))
    return Table(name, "", title, columns, tuple((label, cell(record)) for label, record in rows.items()))


def numbers_table(
    name: str,
    title: str,
    results: Iterable[Record | Result],
    *,
    label: str = "Statistic",
    notes: Sequence[str] = (),
) -> Table:
    """Return results as a list: statistic, condition (if any has one), value with interval, p (if any has one), n.

    >>> numbers_table("t", "Two", [Record("mean", 2.0, n=3), Record("sd", 0.5, p=0.1)]).rows
    (('mean', 2.0, None, 3), ('sd', 0.5, 0.1, None))
    """
    records = records_of(results)
    cells: dict[Head, Callable[[Record], Cell]] = {label: lambda record: record.statistic}
    if any(record.condition for record in records):
        cells["Condition"] = lambda record: record.condition.replace("=", ": ")
    cells["Value", Format("number", 3)] = record_cell
    if any(record.p is not None for record in records):
        cells["p", P_VALUE] = lambda record: record.p
    cells["n", INTEGER] = lambda record: record.n
    return table_of(name, title, records, cells, notes=notes)


def pivot(
    name: str,
    title: str,
    results: Iterable[Record | Result],
    columns: Sequence[Col],
    rows: Sequence[PivotRow],
    *,
    labels: Sequence[str | Column] = ("Subject",),
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return a table of results: a row for each of *rows*, headed by *labels*, and a cell for each column.

    A cell shows the first record with the column's statistic, the row's fields and the column's own.
    """
    by_name: dict[str, list[Record]] = {}
    for record in records_of(results):
        by_name.setdefault(record.statistic, []).append(record)

    def find_record(row: PivotRow, column: Col) -> Record | None:
        fills = {**row.where, **row.of}
        names = (column.statistic,) if isinstance(column.statistic, str) else column.statistic
        own = {key: value.format(**fills) if isinstance(value, str) else value for key, value in column.where.items()}
        records = (record for name in names for record in by_name.get(name.format(**fills), ()))
        return next((record for record in records if _fits(record, {**row.where, **own})), None)

    cells = tuple((*row.labels, *(column.of(find_record(row, column)) for column in columns)) for row in rows)
    heads = (label if isinstance(label, Column) else Column(label) for label in labels)
    return Table(name, number, title, (*heads, *(column.column for column in columns)), cells, tuple(notes))


def records_of(results: Iterable[Record | Result]) -> list[Record]:
    """Return the records of results; records stay as they are."""
    return [record for result in results for record in ((result,) if isinstance(result, Record) else result.records())]


def _fits(record: Record, where: Mapping[str, object]) -> bool:
    return all(getattr(record, key) == value for key, value in where.items())


def _times(cell: Cell, times: float) -> Cell:
    if times == 1.0 or isinstance(cell, bool):
        return cell
    if isinstance(cell, IntervalCell):
        return IntervalCell(times * cell.low, times * cell.high, None if cell.value is None else times * cell.value)
    return times * cell if isinstance(cell, int | float) else cell
