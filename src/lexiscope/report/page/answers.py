"""The report of a run that only holds answers: who was asked what, how many answers came, and their means.

No person is compared with a model here: that takes the items' words and conditions, which a study knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.build.gap_filling.gaps import is_written
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.sealed import QUESTION, RESPONSES, check_run
from lexiscope.core.simulated import PARTICIPANT, SIMULATED, SIMULATED_PARTICIPANTS
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.simulated import marked_report
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.layers import trajectories
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Table

_MEAN = Format("number", 3)


@dataclass(frozen=True, slots=True)
class Described:
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


def holds_answers_only(folder: Path) -> bool:
    """Say whether a folder is a run of ``collect``, without an analysis of its own."""
    return (folder / QUESTION).is_file() and (folder / RESPONSES).is_file()


def describe_run(folder: Path) -> Report:
    """Describe the answers of a run; nothing is written to its folder.

    Errors: :class:`RunError` where a file of the run is damaged.
    """
    run: dict[str, Any] = check_run(folder)
    answers = ResponseTable.read_parquet(folder / RESPONSES)
    rows = describe(answers)
    records = tuple(_record(row) for row in rows)
    items = run.get("items", {})
    asked = f"{items.get('n', 'unknown')} items of {', '.join(items.get('datasets', [])) or 'a file'} were asked."
    note = "Answers are described as they are. A study compares people with models and knows which items share a word."
    section = Section("answers", "Answers", (asked, note), (_table(rows),), tuple(_figures(rows)))
    report = Report(f"Answers in {folder.name}", sections=(section,), run=run, records=records)
    # people and simulated participants are described apart here, each under their name
    marked = marked_report(report) if SIMULATED in answers.unique("subject_kind") else report
    return with_every_result(marked)


def describe(table: ResponseTable) -> list[Described]:
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
            Described(
                *key,
                n_subjects=len(set(subjects[codes == code])),
                n=len(own) - n_missing,
                n_missing=n_missing,
                mean=float(given.mean()) if len(given) else None,
                sd=float(given.std(ddof=1)) if len(given) > 1 else None,
            )
        )
    return rows


def _record(row: Described) -> Record:
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


def _table(rows: Sequence[Described]) -> Table:
    columns = (
        *(Column(name) for name in ("Subject", "View", "Measure")),
        *(Column(name, INTEGER) for name in ("Layer", "Subjects", "Answers", "Unanswered")),
        *(Column(name, _MEAN) for name in ("Mean", "SD")),
    )
    cells: list[tuple[Cell, ...]] = [
        (r.subject, r.view, r.measure, r.layer, r.n_subjects, r.n, r.n_missing, r.mean, r.sd) for r in rows
    ]
    return Table("answers", "1", "Answers by subject, measure and layer", columns, tuple(cells))


def _figures(rows: Sequence[Described]) -> list[Figure]:
    """Mean distance over layers, one curve per subject and view, where there is any."""
    series: dict[tuple[str, str], list[Described]] = {}
    for row in rows:
        if row.measure == "cosine_distance" and row.layer is not None and row.mean is not None:
            series.setdefault((row.subject, row.view), []).append(row)
    curves = [
        DrawnCurve(f"{subject}, {view}", np.array([r.layer for r in own]), np.array([r.mean for r in own], dtype=float))
        for (subject, view), own in series.items()
    ]
    heading = Heading("distance_by_layer", "1", "Mean cosine distance of all items by layer.")
    return [trajectories(curves, heading, statistic="Mean cosine distance")] if curves else []
