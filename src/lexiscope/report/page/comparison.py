"""What a paper prints beside what the run finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lexiscope.core.result import Record
from lexiscope.report.document import Section
from lexiscope.report.tables import DASH, Cell, Column, Format, IntervalCell, Missing, Noted, Table

_ORDER = ("reproduced", "within rounding", "not reproduced", "not reproducible", "not computed", "undefined")
_WORDS = {"": "not compared"}
_FOUND = Format("number", 4)


def published_records(records: Sequence[Record]) -> list[Record]:
    """Return the records that a paper prints a value for, in order; a statistic may be undefined without any paper."""
    return [record for record in records if record.published is not None or record.status not in ("", "undefined")]


def published_table(records: Sequence[Record], *, name: str = "published", number: str = "") -> Table:
    """Return the table *paper prints / we find / status*, one row per record with a published value, in order."""
    chosen = published_records(records)
    columns = (
        Column("Statistic"),
        Column("Of"),
        Column("Printed in"),
        Column("Paper prints", align="right"),
        Column("We find", _FOUND, note="At four decimals, with its interval where one was computed."),
        Column("Status"),
    )
    title = "What the paper prints and what we find"
    return Table(name, number, title, columns, tuple(_row(record) for record in chosen))


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
    return Section("published", "What the paper prints and what we find", (text,), (published_table(records),))


def where_measured(record: Record) -> str:
    """Return dataset, layer, condition and view of a record in words.

    >>> where_measured(Record("r", 0.5, dataset="saw_c", layer=12, condition="same"))
    'saw_c, layer 12, same'
    """
    layer = f"layer {record.layer}" if record.layer is not None else ""
    return ", ".join(part for part in (record.dataset, layer, record.condition, record.view) if part)


def found_value(record: Record) -> Cell:
    """Return the value of a record with its interval, or the reason why it has none."""
    if record.value is None:
        return Missing(record.note)
    if record.low is None or record.high is None:
        # counts and layers are whole numbers: decimals would only hide that
        return str(int(record.value)) if record.value.is_integer() else record.value
    return IntervalCell(record.low, record.high, record.value)


def _row(record: Record) -> tuple[Cell, ...]:
    printed = DASH if record.published is None else f"{record.published:.10g}".replace("-", "−")
    status = _WORDS.get(record.status, record.status)
    noted = Noted(status, record.note) if record.note and record.value is not None else status
    of_what = ", ".join(part for part in (record.subject, where_measured(record)) if part)
    return record.statistic, of_what, record.source, printed, found_value(record), noted
