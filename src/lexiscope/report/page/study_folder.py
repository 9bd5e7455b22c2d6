"""The folder of a study's run: what it must hold to count as finished, and the files that every study writes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

from lexiscope.core import catalog
from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Record, read_records, to_json
from lexiscope.core.run import sha256_of, versions, write_atomically
from lexiscope.core.sealed import RUN, ChangedFile, altered_files, collected_names, read_sealed, seal_run
from lexiscope.core.settings import Settings, own_items
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.every_result import with_every_result
from lexiscope.report.page.html import write_report
from lexiscope.report.page.simulated import marked_report
from lexiscope.report.page.stored import store
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
    if run.get("settings") != json.loads(json.dumps(asdict(settings))):
        raise RunError(
            f"{out} holds the run of another question",
            why="its settings differ from those asked for",
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
    report = with_every_result(report, meanings)
    responses.write_parquet(out / "responses.parquet")
    write_atomically(out / _RESULTS, to_json(report.records))
    names = ["responses.parquet", _RESULTS, *store(report, out), *extra]
    run = dict(report.run) | {"command": command}
    write_report(report, out / "report.html")
    return seal_run(out, run, [*names, "report.html", *collected_names(out)])


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
