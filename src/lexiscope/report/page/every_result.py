"""Every number of a run is in its report: a number that no table or figure shows is listed at its question.

Studies choose what their tables show. This module compares that choice with the records of the run, so that a
statistic that no table was written for is never dropped.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.core.errors import RunError
from lexiscope.core.result import Record, parse_statistic
from lexiscope.report.document import Report, Section
from lexiscope.report.page.comparison import published_records, value_cell
from lexiscope.report.page.simulated import MARK, marked_table, simulated_text
from lexiscope.report.tables import (
    INTEGER,
    P_VALUE,
    Cell,
    Format,
    IntervalCell,
    Missing,
    Noted,
    Table,
    columns,
    drop_empty,
)

FURTHER, BY_LAYER = "_further_results", "_results_by_layer"
"""Ends of the names of the tables that list records; the section's id comes first."""
_SECTION = "further"
_VALUE = Format("number", 4)
_DECIMALS = re.compile(r"[-+]?\d+(?:\.(\d+))?\Z")
_LAYER = re.compile(r"\blayers? (\d+)")
_NAMES = ("Statistic", "Subject", "Dataset", "Condition", "View")
_Name = tuple[str, str, str, str, str]


def with_every_result(report: Report, meanings: Mapping[str, str] | None = None) -> Report:
    """Return the report with a row for every record that none of its tables and figures shows.

    The rows are in the section of the record's question; records of no question, or of a question without a section,
    have a separate section. *meanings* are the statistics that the study knows, by name without parameters, and what
    each is: a statistic that is not among them is always listed. A report that shows everything is unchanged.
    """
    known = meanings or {}
    counts = Counter(series_of(record) for record in report.records)
    several = {name for name, count in counts.items() if count > 1}  # a statistic at one layer is no curve
    listed: set[int] = set()
    complete, places = report, _shown_places(report)
    while missing := [record for record in _records_not_shown(complete, places, known) if id(record) not in listed]:
        # whole curves first: the table that shows the best layer is then free for the record of the best layer
        curves = {series_of(record) for record in missing if _is_of_a_curve(record)} & several
        chosen = [r for r in report.records if series_of(r) in curves] if curves else missing
        listed |= {id(record) for record in chosen}
        complete = _with_lists(report, [record for record in report.records if id(record) in listed], known)
    return complete


def check_every_result(report: Report) -> None:
    """Check that every record of a report is in one of its tables or figures.

    Errors: :class:`RunError` naming the statistics that are not.
    """
    names = dict.fromkeys(record.statistic for record in _records_not_shown(report, _shown_places(report), {}))
    if names:
        raise RunError(
            f"the report shows no value of {', '.join(names)}",
            why=f"{len(names)} of the statistics in results.json are in no table and no figure of the report",
            hint="return a table of them with the question, or list them: "
            "lexiscope.report.page.every_result.with_every_result",
        )


# -- what is shown --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _ShownPlace:
    """A place of the report that holds a number; it shows one statistic of one subject, in one view or several."""

    section: str
    layers: frozenset[int]
    ends: tuple[str, str] | None
    taken: tuple[str, str] | None = None

    def may_show(self, record: Record, key: str) -> bool:
        """Return whether no conflict exists: no other statistic in this place, and no other interval."""
        if self.taken not in (None, (record.statistic, record.subject)):
            return False
        if self.ends is None or record.value is None:
            return True
        if record.low is None or record.high is None:
            return False
        times = 1 if key == _exact(record.value) else 100
        return self.ends == (_exact(times * record.low), _exact(times * record.high))


_Places = Mapping[str, Sequence[_ShownPlace]]


def _shown_places(report: Report) -> _Places:
    """Return the places of each number, other than those in tables that list records."""
    places: dict[str, list[_ShownPlace]] = defaultdict(list)
    for section in report.sections:
        for part in section.walk():
            for row in _rows(part):
                layers = frozenset(layer for cell in row for layer in _layers(cell))
                for cell in row:
                    ends = (_exact(cell.low), _exact(cell.high)) if isinstance(cell, IntervalCell) else None
                    for key in _keys(cell):
                        places[key].append(_ShownPlace(section.id, layers, ends))
    return places


def _records_not_shown(report: Report, places: _Places, known: Mapping[str, str]) -> list[Record]:
    """Return the records that the report does not show, in order; *places* are those of :func:`_shown_places`.

    A number is recognised by its value. A number of at most two decimals (a count, a share such as .5) could be another
    one by chance: it must be in the section of its question, in a row that names its layer if it has one.
    """
    of_questions = {record.question.lower() for record in report.records if record.question}
    listed = set(_listed_names(report))
    compared = {id(record) for record in published_records(report.records)}
    missing, used = list[Record](), list[_ShownPlace]()
    for record in report.records:
        # a list of simulated participants names a record with them in the place of people
        names = (series_of(record), tuple(map(simulated_text, series_of(record))))
        if id(record) in compared or listed & {(*name, record.layer) for name in names}:
            continue
        unknown = bool(known) and parse_statistic(record.statistic)[0] not in known
        place = None if unknown else _place(record, places, of_questions)
        if place is None:
            missing.append(record)
        else:
            place.taken = record.statistic, record.subject
            used.append(place)
    for place in used:
        place.taken = None
    return missing


def _place(record: Record, places: _Places, of_questions: set[str]) -> _ShownPlace | None:
    for key, is_distinct in _keys_of(record):
        for place in places.get(key, ()):
            near = place.section == record.question.lower() if record.question else place.section not in of_questions
            named = near and (record.layer is None or record.layer in place.layers)
            if (is_distinct or named) and place.may_show(record, key):
                return place
    return None


def _keys_of(record: Record) -> Iterator[tuple[str, bool]]:
    """Yield what a record may be printed as, and whether no other number looks like it."""
    if record.value is None:
        yield f"missing {record.note}", False
        yield f"missing {simulated_text(record.note)}", False
        return
    distinct = round(record.value, 2) != record.value
    for number in (record.value, 100 * record.value):  # tables print some shares as percent
        yield _exact(number), distinct
    for decimals in range(5):
        # "1" may be anything; a rounded number is known by two decimals, or by three digits
        if decimals >= 2 or record.value == round(record.value, decimals) or abs(record.value) >= 10 ** (2 - decimals):
            yield f"text {record.value:,.{decimals}f}", False


def _exact(number: float) -> str:
    return f"{number + 0.0:.12g}"


def _rows(part: Section) -> Iterator[tuple[Cell, ...]]:
    for table in part.tables:
        if not table.name.endswith((FURTHER, BY_LAYER)):
            yield from ((*row, table.title) for row in table.rows)
    for figure in part.figures:
        columns = [values.tolist() for values in figure.data.values()]
        yield from zip(*columns, strict=True)


def _keys(cell: Cell) -> Iterator[str]:
    match cell:
        case Missing(reason):
            yield f"missing {reason}"
        case IntervalCell(value=float() | int() as value):
            yield _exact(value)
        case bool():
            return
        case float() | int():
            yield _exact(cell)
        case str() | Noted():
            text = (cell.text if isinstance(cell, Noted) else cell).replace("−", "-")
            if _DECIMALS.match(text.replace(",", "")):
                yield f"text {text}"
                yield _exact(float(text.replace(",", "")))


def _layers(cell: Cell) -> Iterator[int]:
    match cell:
        case bool():
            return
        case int():
            yield cell
        case float():
            if cell.is_integer():
                yield int(cell)
        case str():
            yield from (int(layer) for layer in _LAYER.findall(cell))
            if cell.isdecimal():
                yield int(cell)


# -- what is listed -------------------------------------------------------------------------------------------------


def series_of(record: Record) -> _Name:
    """Return what the records of one curve over layers have in common."""
    return record.statistic, record.subject, record.dataset, record.condition, record.view


def _with_lists(report: Report, records: Sequence[Record], known: Mapping[str, str]) -> Report:
    """Return the report with these records in tables at the end of their questions' sections."""
    ids = {section.id for section in report.sections}
    of: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        home = record.question.lower()
        of[home if home in ids else _SECTION].append(record)
    # a report that was read from a run has lists of its own: further ones are numbered
    own = len(list(_lists(report)))
    prefix = f"more{own}_" if own else ""
    sections = [
        replace(section, tables=(*section.tables, *_tables(prefix + section.id, of[section.id], known)))
        if section.id in of
        else section
        for section in report.sections
    ]
    if _SECTION in of and _SECTION not in ids:
        text = "Numbers of this run that no other section shows."
        tables = _tables(prefix + _SECTION, of[_SECTION], known)
        title = f"Further results {MARK}" if any(table.people for table in tables) else "Further results"
        sections.append(Section(_SECTION, title, (text,), tables))
    return replace(report, sections=tuple(sections))


def _tables(section: str, records: Sequence[Record], known: Mapping[str, str]) -> tuple[Table, ...]:
    by_series: dict[_Name, list[Record]] = defaultdict(list)
    for record in records:
        by_series[series_of(record)].append(record)
    curves = [own for own in by_series.values() if len(own) > 1 and all(_is_of_a_curve(record) for record in own)]
    drawn = {id(record) for own in curves for record in own}
    rest = [record for record in records if id(record) not in drawn]
    tables = []
    if curves:
        tables.append(_by_layer(f"{section}{BY_LAYER}", curves, known))
    if rest:
        tables.append(_further(f"{section}{FURTHER}", rest, known))
    if any(record.people for record in records):
        return tuple(map(marked_table, tables))
    return tuple(tables)


def _is_of_a_curve(record: Record) -> bool:
    return record.layer is not None and record.p is None


def _by_layer(name: str, curves: Sequence[Sequence[Record]], known: Mapping[str, str]) -> Table:
    layers = sorted({layer for own in curves for record in own if (layer := record.layer) is not None})
    heads = columns(*_NAMES, "Analysis", ("n", INTEGER), *((str(layer), _VALUE) for layer in layers))
    rows: list[tuple[Cell, ...]] = []
    for own in curves:
        at = {record.layer: value_cell(record) for record in own}
        sizes = {record.n for record in own}
        n = sizes.pop() if len(sizes) == 1 else None
        rows.append((*series_of(own[0]), _confirmatory(own[0]), n, *(at.get(layer) for layer in layers)))
    notes = ("The numbered columns are layers.", *_meanings((own[0] for own in curves), known))
    return drop_empty(Table(name, "", "Further results, layer by layer", heads, tuple(rows), notes))


def _further(name: str, records: Sequence[Record], known: Mapping[str, str]) -> Table:
    heads = columns(
        *(*_NAMES, "Analysis"),
        *(("Layer", INTEGER), ("Value", _VALUE), ("p", P_VALUE), ("p, adjusted", P_VALUE), "Family"),
        *(("n", INTEGER), "Remark"),
    )
    # a value that is missing has its reason in its own cell
    notes = (record.note if record.value is not None else "" for record in records)
    rows = tuple(
        (*series_of(r), _confirmatory(r), r.layer, value_cell(r), r.p, r.p_adjusted, r.family, r.n, note)
        for r, note in zip(records, notes, strict=True)
    )
    return drop_empty(Table(name, "", "Further results", heads, rows, tuple(_meanings(records, known))))


def _confirmatory(record: Record) -> str:
    """The mark of a confirmatory record; every other one is exploratory, as its section says."""
    return record.analysis if record.analysis == "confirmatory" else ""


def _meanings(records: Iterable[Record], known: Mapping[str, str]) -> Iterator[str]:
    """Yield what each of the statistics is."""
    for name in dict.fromkeys(parse_statistic(record.statistic)[0] for record in records):
        if name in known:
            yield f"{name}: {known[name]}."


def _listed_names(report: Report) -> Iterator[tuple[str | int | None, ...]]:
    """Yield the names of the records in the report's own lists, each with its layer."""
    for table in _lists(report):
        headers = [column.header for column in table.columns]
        for row in table.rows:
            cells = dict(zip(headers, row, strict=True))
            series = tuple(str(cells.get(name) or "") for name in _NAMES)
            if table.name.endswith(FURTHER):
                layer = cells.get("Layer")
                yield (*series, layer if isinstance(layer, int) else None)
            else:
                for header in headers:
                    if header.isdecimal() and cells[header] is not None:
                        yield (*series, int(header))


def _lists(report: Report) -> Iterator[Table]:
    for top in report.sections:
        for table in (table for section in top.walk() for table in section.tables):
            if table.name.endswith((FURTHER, BY_LAYER)):
                yield table
