"""What a paper prints, compared with what the run finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from lexiscope.core.result import Record
from lexiscope.report.document import Report, Section
from lexiscope.report.part import record_cell
from lexiscope.report.tables import DASH, Cell, Column, Format, Head, Noted, Table, table_of

_ORDER = ("reproduced", "within rounding", "not reproduced", "not reproducible", "not computed", "undefined")
_WORDS = {"": "not compared"}
_FOUR = Format("number", 4)
_TITLE = "What the paper prints and what we find"


def published_records(records: Sequence[Record]) -> list[Record]:
    """Return the records that a paper prints a value for, in order; a statistic may be undefined without any paper."""
    return [record for record in records if record.published is not None or record.status not in ("", "undefined")]


def published_table(records: Sequence[Record], *, name: str = "published", number: str = "") -> Table:
    """Return the table *paper prints / we find / status*, one row per record with a published value, in order."""
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Statistic": lambda record: record.statistic,
        "Of": lambda record: ", ".join(filter(None, (record.subject, where_measured(record)))),
        "Printed in": lambda record: record.source,
        Column("Paper prints", align="right"): lambda record: (
            DASH if record.published is None else f"{record.published:.10g}".replace("-", "−")
        ),
        Column("We find", _FOUR, note="At four decimals, with its interval where one was computed."): value_cell,
        "Status": _status_cell,
    }
    return table_of(name, _TITLE, published_records(records), cells, number=number)


def comparison_section(records: Sequence[Record]) -> Section | None:
    """Return the section with the comparison, or ``None`` where no record has a published value."""
    chosen = published_records(records)
    if not chosen:
        return None
    counts: Counter[str] = Counter(record.status for record in chosen)
    parts = [f"{counts[status]} {_WORDS.get(status, status)}" for status in (*_ORDER, "") if counts[status]]
    text = (
        f"The paper prints {len(chosen)} of the numbers of this run: {', '.join(parts)}. "
        "A number counts as reproduced where it rounds to the printed one, digit for digit, and as within rounding "
        "where it is off by at most one unit of the last printed digit."
    )
    return Section("published", _TITLE, (text,), (published_table(records),))


def sections_with_comparison(report: Report) -> tuple[Section, ...]:
    """Return the sections of a report, the comparison with published values after them if there is any."""
    return tuple(filter(None, (*report.sections, comparison_section(report.records))))


def where_measured(record: Record) -> str:
    """Return dataset, layer, condition and view of a record as text.

    >>> where_measured(Record("r", 0.5, dataset="saw_c", layer=12, condition="same"))
    'saw_c, layer 12, same'
    """
    layer = f"layer {record.layer}" if record.layer is not None else ""
    return ", ".join(filter(None, (record.dataset, layer, record.condition, record.view)))


def value_cell(record: Record) -> Cell:
    """Return the value of a record with its interval, or the reason why it has none; a whole number as text."""
    cell = record_cell(record)
    # counts and layers are whole numbers: decimals would only hide that
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else cell


def _status_cell(record: Record) -> Cell:
    status = _WORDS.get(record.status, record.status)
    return Noted(status, record.note) if record.note and record.value is not None else status
