"""Finished runs side by side: one report of one run folder or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import InputError
from lexiscope.core.result import Record
from lexiscope.core.simulated import SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.comparison import comparison_section, found_value
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.html import NOT_PRINTED
from lexiscope.report.page.simulated import marked_table
from lexiscope.report.page.stored import load
from lexiscope.report.plots.style import prefix_ids
from lexiscope.report.tables import DASH, INTEGER, Column, Format, Table

Row = tuple[int, Record]


def from_runs(folders: Sequence[Path | str]) -> Report:
    """Return the stored report of one run, or one report that shows several runs side by side and then one by one.

    Errors: :class:`InputError` where no folder is given; :class:`~lexiscope.core.errors.RunError` where one is damaged.
    """
    if not folders:
        raise InputError("name at least one run folder")
    # a run of an earlier version may hold numbers that its report does not show
    reports = [with_every_result(load(folder)) for folder in folders]
    return together(reports, [Path(folder).name for folder in folders])


def together(reports: Sequence[Report], names: Sequence[str]) -> Report:
    """Return one report of several, of runs with these *names*; a single one as it is."""
    if len(reports) == 1:
        return reports[0]
    parts = [_as_section(report, number) for number, report in enumerate(reports, start=1)]
    marks = [all(record.people for record in report.records) and bool(report.records) for report in reports]
    citations = dict.fromkeys(citation for report in reports for citation in report.citations)
    runs = {f"run {number}": _without_machine(report) for number, report in enumerate(reports, start=1)}
    return Report(
        title=_title(marks),
        subtitle="; ".join(f"run {number}: {name}" for number, name in enumerate(names, start=1)),
        language=reports[0].language,
        sections=(side_by_side([report.records for report in reports]), *parts),
        run=runs,
        citations=tuple(citations),
    )


def _title(simulated: Sequence[bool]) -> str:
    """The title of several runs, which says of how many the judgments are those of simulated participants."""
    if all(simulated):
        return f"{SIMULATED_PARTICIPANTS.capitalize()} and models side by side"
    some = f" [of {sum(simulated)} of {len(simulated)} runs: {SIMULATED_PARTICIPANTS}]" if any(simulated) else ""
    return f"People and models side by side{some}"


def side_by_side(records: Sequence[Sequence[Record]]) -> Section:
    """Return one table per statistic that at least two subjects or runs have, one row per run, subject and condition.

    Of a statistic that was measured layer by layer, the last layer of each subject is shown.
    """
    by_statistic: dict[str, list[Row]] = {}
    for number, run in enumerate(records, start=1):
        for record in last_layers(run):
            by_statistic.setdefault(record.statistic, []).append((number, record))
    shared = {name: rows for name, rows in by_statistic.items() if len({(n, r.subject) for n, r in rows}) > 1}
    tables = tuple(_statistic_table(index, name, rows) for index, (name, rows) in enumerate(shared.items(), start=1))
    text = (
        "Each table holds one statistic of all runs. Where it was measured layer by layer, the last layer is shown; "
        "the runs below show all layers."
    )
    nothing = "The runs have no statistic in common that two subjects share."
    return Section("side-by-side", "Subjects side by side", (text if tables else nothing,), tables)


def last_layers(records: Sequence[Record]) -> list[Record]:
    """Return the records without a layer and, of those with one, the last layer of each series."""
    last: dict[tuple[str, ...], int] = {}
    for record in records:
        if record.layer is not None:
            last[_series(record)] = max(record.layer, last.get(_series(record), record.layer))
    return [record for record in records if record.layer is None or record.layer == last[_series(record)]]


def _series(record: Record) -> tuple[str, ...]:
    return record.statistic, record.subject, record.dataset, record.condition, record.view


def _statistic_table(index: int, statistic: str, rows: Sequence[Row]) -> Table:
    columns = (
        Column("Subject"),
        Column("Run", INTEGER),
        Column("Judgments"),
        Column("Dataset"),
        Column("Condition"),
        Column("View"),
        Column("Layer", INTEGER),
        Column("Value", Format(digits=3)),
        Column("n", INTEGER),
    )
    cells = [
        (r.subject or DASH, number, _judged_by(r), r.dataset, r.condition, r.view, r.layer, found_value(r), r.n)
        for number, r in rows
    ]
    full = [i for i in range(len(columns)) if i < 2 or any(row[i] not in (None, "") for row in cells)]
    chosen = tuple(columns[i] for i in full)
    table = Table(f"shared{index}", "", statistic, chosen, tuple(tuple(row[i] for i in full) for row in cells))
    marks = [record.people == SIMULATED for _, record in rows]
    if all(marks):
        return marked_table(table)
    # the column says of which rows
    return replace(table, title=f"{statistic} [judgments: partly {SIMULATED_PARTICIPANTS}]") if any(marks) else table


def _judged_by(record: Record) -> str:
    """Whose judgments are behind a number where they are not people's: runs of both kinds may be compared here."""
    return SIMULATED_PARTICIPANTS if record.people == SIMULATED else ""


def _as_section(report: Report, number: int) -> Section:
    compared = comparison_section(report.records)
    inner = (*report.sections, compared) if compared is not None else report.sections
    prefix = f"run{number}-"
    subtitle = (report.subtitle,) if report.subtitle else ()
    inside = tuple(_prefixed(section, prefix) for section in inner)
    return Section(f"run{number}", f"Run {number}: {report.title}", subtitle, subsections=inside)


def _prefixed(section: Section, prefix: str) -> Section:
    return replace(
        section,
        id=f"{prefix}{section.id}",
        tables=tuple(replace(table, name=f"{prefix}{table.name}") for table in section.tables),
        figures=tuple(_renamed(figure, prefix) for figure in section.figures),
        subsections=tuple(_prefixed(inner, prefix) for inner in section.subsections),
    )


def _renamed(figure: Figure, prefix: str) -> Figure:
    return replace(figure, name=f"{prefix}{figure.name}", svg=prefix_ids(figure.svg, prefix))


def _without_machine(report: Report) -> dict[str, object]:
    return {key: value for key, value in report.run.items() if key not in NOT_PRINTED}
