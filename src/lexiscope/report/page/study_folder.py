"""The run folder of a study: its files, what makes it finished, and how an interrupted run is continued."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from lexiscope.core import catalog
from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Record, read_records, to_json
from lexiscope.core.run import folder_lock, sha256_of, versions, write_atomically
from lexiscope.core.sealed import (
    RUN,
    ChangedFile,
    altered_files,
    possibly_paid,
    read_sealed,
    run_names,
    seal_run,
    write_machine,
)
from lexiscope.core.settings import Settings, own_items
from lexiscope.core.simulated import SIMULATED, TOLD_SIMULATED
from lexiscope.core.study import Analysis, Mark, PlannedAnalysis, Question
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.html import write_report
from lexiscope.report.page.simulated import has_people, marked_report, marked_table
from lexiscope.report.page.stored import store
from lexiscope.report.part import Part
from lexiscope.report.sections import paid_caution
from lexiscope.report.tables import Table

Given = Callable[[Sequence[Record]], Mapping[str, str]]
"""The checksums of the files that a run depends on in addition to the items, for its records."""
_RESULTS = "results.json"


def key_of(settings: Settings) -> str:
    """Return what makes two runs the same question: every setting, and the versions that numbers depend on."""
    content = {"settings": asdict(settings), "versions": versions(), **code_of(settings)}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def code_of(settings: Settings) -> dict[str, dict[str, str]]:
    """Return ``code``: the sha256 of each Python file by path that the settings name; nothing where they name none."""
    code = catalog.code_checksums(_texts(asdict(settings)))
    return {"code": code} if code else {}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | Sequence):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def changed_files(out: Path, settings: Settings, *, given: Given | None = None) -> list[ChangedFile] | None:
    """Return the files of a finished run that were changed or lost since; ``None`` where this run is not finished.

    *given* returns, for the records of the run, the checksums of its other files than the items, as
    :func:`about_run` has stored them.

    The answers that the run was computed from, in ``collected``, are files of the run. Errors: :class:`RunError` where
    the folder holds another question's run, or its record is damaged.
    """
    if not (out / RUN).exists():
        return None
    run = read_sealed(out / RUN)
    there, asked = run.get("settings", {}), json.loads(json.dumps(asdict(settings)))
    if there != asked:
        different = [name for name in {**there, **asked} if there.get(name) != asked.get(name)]
        raise RunError(
            f"{out} holds the run of another question",
            why=f"these settings differ from those asked for: {', '.join(different)}",
            hint="give another folder with --out, or remove this one",
        )
    items = own_items(settings)
    if items and run.get("data") != {Path(items).name: sha256_of(Path(items))}:
        return None  # the user has changed the items or the ratings since
    if run.get("key") != key_of(settings):
        return None
    changed = altered_files(out, run)
    if any(change.name == _RESULTS for change in changed):
        return changed  # records that were changed do not say what they were compared with
    return changed if run.get("given", {}) == dict(given(read_records(out / _RESULTS)) if given else {}) else None


def about_run(settings: Settings, *, data: Mapping[str, str], counts: Mapping[str, int], **more: Any) -> dict[str, Any]:
    """Return the part of ``run.json`` that the report prints: settings, versions, checksums, counts, and *more*."""
    return {
        "study": settings.study,
        "settings": json.loads(json.dumps(asdict(settings))),
        "key": key_of(settings),
        "versions": versions(),
        "data": dict(data),
        "counts": dict(counts),
        **code_of(settings),
        **more,
    }


def write_run(
    out: Path,
    report: Report,
    responses: ResponseTable,
    *,
    extra: Sequence[str],
    command: str,
    meanings: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write responses, results, tables, figures and the report; ``run.json`` comes last and seals the rest.

    Numbers that no table or figure shows are listed in the report (:mod:`lexiscope.report.page.every_result`);
    *meanings* are the statistics that the study knows. Where the judgments are those of simulated participants, the
    report and all its parts say so. On data of which no paper prints numbers, figures and tables have running numbers.

    Errors: :class:`InputError` E508 where people's are among them.
    """
    report = numbered_report(report)
    if holds_simulated(responses):
        report = marked_report(report)
    report = with_caution(with_every_result(report, meanings), paid_caution(possibly_paid(out)))
    responses.write_parquet(out / "responses.parquet")
    write_atomically(out / _RESULTS, to_json(report.records))
    names = ["responses.parquet", _RESULTS, *store(report, out), *extra]
    run = dict(report.run) | {"command": command}
    write_report(report, out / "report.html")
    return seal_run(out, run, [*names, "report.html", *run_names(out)])


def with_caution(report: Report, text: str) -> Report:
    """Return the report with a caution at the top of its Results page; without such a page, as its first section."""
    if not text:
        return report
    if report.results is None:
        return replace(report, sections=(Section("caution", "Caution", (text,)), *report.sections))
    top = report.results.top
    marked = replace(top, caution=" ".join(filter(None, (top.caution, text))))
    return replace(report, results=replace(report.results, top=marked))


# -- the numbers of figures and tables ------------------------------------------------------------------------------


def numbered_report(report: Report) -> Report:
    """Return the report as it is if it compares numbers with a paper's; else with its own running numbers.

    A study names its figures and tables after those of its paper. On other data these numbers point to nothing: every
    figure, and every table that has a number, gets the next one in reading order. Names of files that begin with a
    paper's number begin with the new one.
    """
    if any(record.published is not None for record in report.records):
        return report
    figures, tables = count(1), count(1)
    return replace(report, sections=tuple(_numbered_section(section, figures, tables) for section in report.sections))


def _numbered_section(section: Section, figures: Iterator[int], tables: Iterator[int]) -> Section:
    def numbered_table(table: Table) -> Table:
        number = next(tables)
        return replace(table, name=_numbered_name(table.name, number), number=str(number))

    def numbered_figure(figure: Figure) -> Figure:
        number = next(figures)
        name = _numbered_name(figure.name, number)
        # the ids in a drawing begin with its name
        return replace(figure, name=name, number=str(number), svg=figure.svg.replace(figure.name, name))

    return replace(
        section,
        tables=tuple(numbered_table(table) if table.number else table for table in section.tables),
        figures=tuple(map(numbered_figure, section.figures)),
        subsections=tuple(_numbered_section(inner, figures, tables) for inner in section.subsections),
    )


def _numbered_name(name: str, number: int) -> str:
    return re.sub(r"\A(figure|table)_\d+[a-z]?_", rf"\g<1>_{number}_", name)


# -- one run of a study: into a folder, once; a broken run is continued, a finished one only read -------------------


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
    identical files (except ``machine.json``, which records machine and duration). *given* returns the checksums of the
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
