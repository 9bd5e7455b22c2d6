"""One run of a study: into a folder, once; a broken run is continued, a finished one only read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.core.lock import locked
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, read_records
from lexiscope.core.run import write_machine
from lexiscope.core.simulated import SIMULATED, TOLD_SIMULATED
from lexiscope.core.study import Question, StudySettings
from lexiscope.report.document import Report
from lexiscope.report.part import Part
from lexiscope.report.simulated import has_people, marked_table
from lexiscope.report.study_folder import is_finished, write_run
from lexiscope.report.tables import Table

_FINISHED = "this run was finished before: nothing was computed again"


@dataclass(frozen=True, slots=True)
class Summary:
    """What a finished run has to say on one screen: its page, how many numbers it holds, remarks, the main results."""

    report: Path
    n_records: int
    remarks: tuple[str, ...]
    overview: Table


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """What a study has computed: its report, the answers behind it, its parts, and the names of files beside them."""

    report: Report
    responses: ResponseTable
    parts: Mapping[str, Part]
    files: tuple[str, ...] = ()


def run_study(
    settings: StudySettings,
    out: Path | str,
    compute: Callable[[Path], Computed],
    overview: Callable[[tuple[Record, ...]], Table],
    *,
    given: Mapping[str, str] | None = None,
    command: str = "",
) -> Summary:
    """Run a study into a folder and return its summary.

    A finished run is not computed again; in a broken one *compute* finds the answers that were collected. Both end with
    the same bytes (``machine.json`` apart, which says where and how long). *given* are the checksums of the files
    beside the items: with another file it is another run.

    Errors: those of *compute*, and :class:`RunError` where the folder belongs to something else.
    """
    folder, started = Path(out), time.monotonic()
    with locked(folder):
        if is_finished(folder, settings, given=given):
            return _summary(folder, overview, (_FINISHED,))
        done = compute(folder)
        write_run(folder, done.report, done.responses, extra=done.files, command=command)
        write_machine(folder, time.monotonic() - started)
    remarks = dict.fromkeys(text for part in done.parts.values() for text in part.remarks)
    return _summary(folder, overview, tuple(remarks))


def marked_records(
    parts: Mapping[str, Part], questions: Sequence[Question], settings: StudySettings
) -> tuple[Record, ...]:
    """Return the records of all parts, those of a question's part marked with the question and its flag.

    A flag of the settings (confirmatory, exploratory) overrides the question's own.
    """
    flags = {question.question_id: question.analysis for question in questions} | dict(settings.analyses)
    return tuple(
        replace(record, question=name, analysis=flags[name]) if name in flags else record
        for name, part in parts.items()
        for record in part.records
    )


def _summary(folder: Path, overview: Callable[[tuple[Record, ...]], Table], remarks: tuple[str, ...]) -> Summary:
    records = read_records(folder / "results.json")
    simulated = any(record.people == SIMULATED for record in records)
    told = (TOLD_SIMULATED, *remarks) if simulated else remarks
    table = overview(records)
    # in a run with other people too only the rows of simulated participants are marked
    marked = simulated and (all(record.people for record in records) or has_people(table, rows_only=True))
    return Summary(folder / "report.html", len(records), told, marked_table(table) if marked else table)
