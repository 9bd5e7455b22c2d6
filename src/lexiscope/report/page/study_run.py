"""One run of a study: into a folder, once; a broken run is continued, a finished one only read."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lexiscope.core.lock import folder_lock
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, read_records
from lexiscope.core.sealed import write_machine
from lexiscope.core.settings import Settings
from lexiscope.core.simulated import SIMULATED, TOLD_SIMULATED
from lexiscope.core.study import Analysis, Mark, PlannedAnalysis, Question
from lexiscope.report.document import Report
from lexiscope.report.page.simulated import has_people, marked_table
from lexiscope.report.page.study_folder import Given, changed_files, write_run
from lexiscope.report.part import Part
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
    """What a study has computed: its report, the answers behind it, its parts, and the names of further files.

    ``meanings`` are the study's statistics, by name without parameters, and what each is.
    """

    report: Report
    responses: ResponseTable
    parts: Mapping[str, Part]
    files: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)


def run_study(
    settings: Settings,
    out: Path | str,
    compute: Callable[[Path], Computed],
    overview: Callable[[tuple[Record, ...]], Table],
    *,
    given: Given | None = None,
    command: str = "",
) -> Summary:
    """Run a study into a folder and return its summary.

    A finished run is not computed again; in a broken one *compute* finds the answers that were collected. Both end with
    the same bytes (``machine.json`` apart, which says where and how long). *given* returns the checksums of the
    files other than the items, for the records of the run: with another file it is another run.

    Errors: those of *compute*, and :class:`RunError` where the folder belongs to something else.
    """
    folder, started = Path(out), time.monotonic()
    with folder_lock(folder):
        changed = changed_files(folder, settings, given=given)
        if changed is not None and not changed:
            return _summary(folder, overview, (_FINISHED,))
        done = compute(folder)
        write_run(folder, done.report, done.responses, extra=done.files, command=command, meanings=done.meanings)
        write_machine(folder, time.monotonic() - started)
    remarks = dict.fromkeys(text for part in done.parts.values() for text in part.remarks)
    rebuilt = (
        f"{file.name} was not as it was written and was computed again (sha256 {file.actual})" for file in changed or ()
    )
    return _summary(folder, overview, (*rebuilt, *remarks))


def marked_records(
    parts: Mapping[str, Part],
    questions: Sequence[Question],
    settings: Settings,
    planned: Sequence[PlannedAnalysis] = (),
) -> tuple[Record, ...]:
    """Return the records of all parts, those of a question's part marked with the question.

    A record is confirmatory if a planned analysis covers it, and its question is not set to exploratory; every other
    record of a question is exploratory.
    """
    ids, kept = {question.question_id for question in questions}, analyses_in_force(planned, settings)

    def analysis_of(record: Record, question_id: str) -> Analysis:
        covered = any(analysis.question_id == question_id and analysis.covers(record) for analysis in kept)
        return "confirmatory" if covered else "exploratory"

    return tuple(
        replace(record, question=name, analysis=analysis_of(record, name)) if name in ids else record
        for name, part in parts.items()
        for record in part.records
    )


def analyses_in_force(planned: Sequence[PlannedAnalysis], settings: Settings) -> tuple[PlannedAnalysis, ...]:
    """Return the planned analyses without those of questions that the settings mark as exploratory."""
    set_aside = dict(settings.analyses)
    return tuple(analysis for analysis in planned if analysis.question_id not in set_aside)


def marked_questions(questions: Sequence[Question], records: Sequence[Record]) -> tuple[Question, ...]:
    """Return the questions with the mark that their records have in this run.

    Of data of which no paper prints a number, no paper has asked them: they name no place in one.
    """
    asked = any(record.published is not None for record in records)
    return tuple(
        replace(question, analysis=_mark_of(question, records), section=question.section if asked else "")
        for question in questions
    )


def _mark_of(question: Question, records: Sequence[Record]) -> Mark:
    marks = {record.analysis for record in records if record.question == question.question_id}
    if "confirmatory" not in marks:
        return "exploratory"
    return "confirmatory" if marks == {"confirmatory"} else "confirmatory in part"


def planned_text(question: Question, planned: Sequence[PlannedAnalysis]) -> tuple[str, ...]:
    """Return the sentence that says what of a question is confirmatory, and by which plan; none if nothing is."""
    own = [analysis for analysis in planned if analysis.question_id == question.question_id]
    if not own or question.analysis == "exploratory":
        return ()
    listed = "; ".join(f"{analysis.text} ({analysis.place})" for analysis in own)
    rest = " All other results of this section are exploratory." if question.analysis != "confirmatory" else ""
    return (f"Confirmatory, because planned before the data were collected: {listed}.{rest}",)


def _summary(folder: Path, overview: Callable[[tuple[Record, ...]], Table], remarks: tuple[str, ...]) -> Summary:
    records = read_records(folder / "results.json")
    simulated = any(record.people == SIMULATED for record in records)
    remarks = (TOLD_SIMULATED, *remarks) if simulated else remarks
    table = overview(records)
    # in a run with other people too only the rows of simulated participants are marked
    marked = simulated and (all(record.people for record in records) or has_people(table, rows_only=True))
    return Summary(folder / "report.html", len(records), remarks, marked_table(table) if marked else table)
