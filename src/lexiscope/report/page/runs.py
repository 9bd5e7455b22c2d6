"""Reports of finished runs: one run, several compared, and a run that only holds responses."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from lexiscope.build.gap_filling.gaps import is_written
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.sealed import QUESTION, RESPONSES, check_run, possibly_paid
from lexiscope.core.simulated import PARTICIPANT, SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.report.document import Report, RichText, Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.page.comparison import value_cell
from lexiscope.report.page.every_result import series_of, with_every_result
from lexiscope.report.page.pages import NOT_PRINTED
from lexiscope.report.page.simulated import marked_report, marked_table
from lexiscope.report.page.stored import load
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.layers import trajectories
from lexiscope.report.sections import paid_caution
from lexiscope.report.tables import DASH, INTEGER, Cell, Format, Head, Table, drop_empty, table_of

Row = tuple[int, Record]
_MEAN = Format("number", 3)


def report_of_runs(folders: Sequence[Path | str], *, page: Path | None = None) -> Report:
    """Return the report of one run, or one report that compares several runs; each run has its own report.

    *page* is where the report will be written: links to the runs' own reports are relative to it.

    A run of ``collect``, which holds responses without an analysis, is described.
    Errors: :class:`InputError` where no folder is given; :class:`~lexiscope.core.errors.RunError` where one is damaged.
    """
    if not folders:
        raise InputError("name at least one run folder")
    reports = loaded_reports(folders)
    if len(reports) == 1:
        return reports[0]
    marks = [all(record.people for record in report.records) and bool(report.records) for report in reports]
    citations = dict.fromkeys(citation for report in reports for citation in report.citations)
    runs = {
        f"run {number}": {key: value for key, value in report.run.items() if key not in NOT_PRINTED}
        for number, report in enumerate(reports, start=1)
    }
    title = f"{SIMULATED_PARTICIPANTS.capitalize()} and models side by side"
    if not all(marks):
        # of how many runs the judgments are those of simulated participants
        some = f" [of {sum(marks)} of {len(marks)} runs: {SIMULATED_PARTICIPANTS}]" if any(marks) else ""
        title = f"People and models side by side{some}"
    return Report(
        title=title,
        subtitle="; ".join(f"run {number}: {Path(folder).name}" for number, folder in enumerate(folders, start=1)),
        language=reports[0].language,
        sections=(side_by_side([report.records for report in reports]), _links(reports, folders, page)),
        run=runs,
        citations=tuple(citations),
    )


def loaded_reports(folders: Sequence[Path | str]) -> list[Report]:
    """Return the report of each run; of one that only holds responses, its description."""
    # a run of an earlier version may hold numbers that its report does not show
    return [
        describe_run(Path(folder)) if holds_responses_only(Path(folder)) else with_every_result(load(folder))
        for folder in folders
    ]


def side_by_side(records: Sequence[Sequence[Record]]) -> Section:
    """Return one table per statistic that at least two subjects or runs have, one row per run, subject and condition.

    For a statistic that was measured layer by layer, the last layer of each subject is shown.
    """
    by_statistic: dict[str, list[Row]] = {}
    for number, run in enumerate(records, start=1):
        for record in last_layers(run):
            by_statistic.setdefault(record.statistic, []).append((number, record))
    shared = {name: rows for name, rows in by_statistic.items() if len({(n, r.subject) for n, r in rows}) > 1}
    tables = tuple(_statistic_table(index, name, rows) for index, (name, rows) in enumerate(shared.items(), start=1))
    text = (
        "Each table holds one statistic of all runs. If it was measured layer by layer, the last layer is shown; "
        "the runs below show all layers."
    )
    nothing = "The runs have no statistic in common that two subjects share."
    return Section("side-by-side", "Subjects side by side", (text if tables else nothing,), tables)


def last_layers(records: Sequence[Record]) -> list[Record]:
    """Return the records without a layer and, of those with one, the last layer of each series."""
    last: dict[tuple[str, ...], int] = {}
    for record in records:
        if record.layer is not None:
            last[series_of(record)] = max(record.layer, last.get(series_of(record), record.layer))
    return [record for record in records if record.layer is None or record.layer == last[series_of(record)]]


def _statistic_table(index: int, statistic: str, rows: Sequence[Row]) -> Table:
    cells: Mapping[Head, Callable[[Row], Cell]] = {
        "Subject": lambda row: row[1].subject or DASH,
        ("Run", INTEGER): lambda row: row[0],
        # whose judgments these are if they are not people's: runs of both kinds may be compared here
        "Judgments": lambda row: SIMULATED_PARTICIPANTS if row[1].people == SIMULATED else "",
        "Dataset": lambda row: row[1].dataset,
        "Condition": lambda row: row[1].condition,
        "View": lambda row: row[1].view,
        ("Layer", INTEGER): lambda row: row[1].layer,
        ("Value", Format(digits=3)): lambda row: value_cell(row[1]),
        ("n", INTEGER): lambda row: row[1].n,
    }
    table = drop_empty(table_of(f"shared{index}", statistic, rows, cells))
    are_simulated = [record.people == SIMULATED for _, record in rows]
    if all(are_simulated):
        return marked_table(table)
    if any(are_simulated):  # the column says which rows
        return replace(table, title=f"{statistic} [judgments: partly {SIMULATED_PARTICIPANTS}]")
    return table


def _links(reports: Sequence[Report], folders: Sequence[Path | str], page: Path | None) -> Section:
    """The runs with their folders, each with a link to its own report if that exists."""
    texts: list[RichText] = []
    for number, (report, folder) in enumerate(zip(reports, map(Path, folders), strict=True), start=1):
        name, own = escape(folder.name), folder / "report.html"
        link = name
        if page is not None and own.is_file():
            address = quote(Path(os.path.relpath(own, page.parent)).as_posix())
            link = f'<a href="{address}">{name}</a>'
        texts.append(RichText(f"<p>Run {number}: {escape(report.title)} ({link})</p>"))
    return Section("runs", "The runs", tuple(texts))


# -- a run that only holds responses ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ResponseSummary:
    """The answers of one subject, or of all people together, to one measure at one layer.

    ``n`` answers were given, ``n_missing`` were not. ``mean`` and ``sd`` are over answers with a value, ``None`` where
    there are too few: choices have none.
    """

    subject: str
    view: str
    measure: str
    layer: int | None
    n_subjects: int
    n: int
    n_missing: int
    mean: float | None
    sd: float | None


def holds_responses_only(folder: Path) -> bool:
    """Return whether a folder is a run of ``collect``, which has no analysis."""
    return (folder / QUESTION).is_file() and (folder / RESPONSES).is_file()


def describe_run(folder: Path) -> Report:
    """Return the report of a run that only holds responses: subjects, counts and means.

    No person is compared with a model: that takes the items' words and conditions, which a study knows.

    Errors: :class:`RunError` where a file of the run is damaged.
    """
    run: dict[str, Any] = check_run(folder)
    answers = ResponseTable.read_parquet(folder / RESPONSES)
    rows = describe(answers)
    records = tuple(_summary_record(row) for row in rows)
    items = run.get("items", {})
    asked = f"{items.get('n', 'unknown')} items of {', '.join(items.get('datasets', [])) or 'a file'} were asked."
    note = "Answers are described as they are. A study compares people with models and knows which items share a word."
    caution = paid_caution(possibly_paid(folder))
    texts = (asked, note, caution) if caution else (asked, note)
    section = Section("answers", "Answers", texts, (_summary_table(rows),), tuple(_distance_figures(rows)))
    report = Report(f"Answers in {folder.name}", sections=(section,), run=run, records=records)
    # people and simulated participants are described apart here, each under their name
    marked = marked_report(report) if SIMULATED in answers.unique("subject_kind") else report
    return with_every_result(marked)


def describe(table: ResponseTable) -> list[ResponseSummary]:
    """Return one row per subject (people together), view, measure and layer, in the order of the table."""
    kinds, names = table.column("subject_kind"), table.column("subject_id")
    for kind, name in ((PARTICIPANT, "people"), (SIMULATED, SIMULATED_PARTICIPANTS)):
        names = np.where(kinds == kind, name, names)
    keys = list(zip(names, table.column("view"), table.column("measure"), table.column("layer").tolist(), strict=True))
    keys = [(name, view or "", measure, None if layer != layer else int(layer)) for name, view, measure, layer in keys]
    distinct = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    codes = np.array([distinct[key] for key in keys], dtype=np.int64)
    values, subjects = table.column("value"), table.column("subject_id")
    rows = []
    for key, code in distinct.items():
        n_missing = len(table.filter(codes == code).unanswered(written=is_written(key[2])))
        own = values[codes == code]
        given = own[~np.isnan(own)]
        rows.append(
            ResponseSummary(
                *key,
                n_subjects=len(set(subjects[codes == code])),
                n=len(own) - n_missing,
                n_missing=n_missing,
                mean=float(given.mean()) if len(given) else None,
                sd=float(given.std(ddof=1)) if len(given) > 1 else None,
            )
        )
    return rows


def _summary_record(row: ResponseSummary) -> Record:
    missing = f"{row.n_missing} without an answer" if row.n_missing or row.mean is None else ""
    return Record(
        f"mean_{row.measure}",
        row.mean,
        subject=row.subject,
        layer=row.layer,
        view=row.view,
        n=row.n,
        status="undefined" if row.mean is None else "",
        note=missing,
    )


def _summary_table(rows: Sequence[ResponseSummary]) -> Table:
    cells: Mapping[Head, Callable[[ResponseSummary], Cell]] = {
        "Subject": lambda row: row.subject,
        "View": lambda row: row.view,
        "Measure": lambda row: row.measure,
        ("Layer", INTEGER): lambda row: row.layer,
        ("Subjects", INTEGER): lambda row: row.n_subjects,
        ("Answers", INTEGER): lambda row: row.n,
        ("Unanswered", INTEGER): lambda row: row.n_missing,
        ("Mean", _MEAN): lambda row: row.mean,
        ("SD", _MEAN): lambda row: row.sd,
    }
    return table_of("answers", "Answers by subject, measure and layer", rows, cells, number="1")


def _distance_figures(rows: Sequence[ResponseSummary]) -> list[Figure]:
    """Mean distance over layers, one curve per subject and view, if there are distances."""
    series: dict[tuple[str, str], list[ResponseSummary]] = {}
    for row in rows:
        if row.measure == "cosine_distance" and row.layer is not None and row.mean is not None:
            series.setdefault((row.subject, row.view), []).append(row)
    curves = [
        DrawnCurve(f"{subject}, {view}", np.array([r.layer for r in own]), np.array([r.mean for r in own], dtype=float))
        for (subject, view), own in series.items()
    ]
    heading = Heading("distance_by_layer", "1", "Mean cosine distance of all items by layer.")
    return [trajectories(curves, heading, statistic="Mean cosine distance")] if curves else []
