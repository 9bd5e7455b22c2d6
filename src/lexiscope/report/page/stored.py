"""A report in a run folder: stored part by part, and rebuilt from the folder byte for byte.

``sections.json`` holds the structure and refers by name to ``tables/<name>.json`` (with ``.csv`` and ``.tex``)
and to ``figures/<name>.svg`` (with ``.csv`` and ``.json``). ``run.json`` and ``results.json`` belong to the run;
they are only read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.result import read_records
from lexiscope.core.run import read_json, unreadable_error, write_atomically, write_json
from lexiscope.core.sealed import RUN, check_run
from lexiscope.report.document import Report, RichText, Section
from lexiscope.report.figures import PROLOGUE, Figure, write_figure
from lexiscope.report.page.every_result import check_every_result
from lexiscope.report.page.stored_answers import RESULTS_PAGE, page_from_json, page_to_json
from lexiscope.report.page.table_files import table_from_json, table_to_json, to_latex
from lexiscope.report.tables import Table, to_csv
from lexiscope.resources.tables.delimited import read_csv

SECTIONS = "sections.json"
_FIGURE_TEXTS = ("name", "number", "title", "caption", "alt")


def store(report: Report, folder: Path | str) -> tuple[str, ...]:
    """Write all tables, figures and the structure of *report* into a run folder; ``sections.json`` comes last.

    Returns the written names, relative to the folder. Each file is written whole or not at all.

    Errors: :class:`RunError` where the report has a record that none of its tables and figures shows.
    """
    check_every_result(report)
    target = Path(folder)
    names: list[str] = []
    for section in (part for top in report.sections for part in top.walk()):
        for table in section.tables:
            names += write_table(table, target / "tables")
        for figure in section.figures:
            write_figure(figure, target / "figures")
            write_json(target / "figures" / f"{figure.name}.json", {key: getattr(figure, key) for key in _FIGURE_TEXTS})
            names += [f"figures/{figure.name}.{end}" for end in ("svg", "csv", "json")]
    structure = {
        "title": report.title,
        "subtitle": report.subtitle,
        "language": report.language,
        "citations": list(report.citations),
        "sections": [_section_to_json(section) for section in report.sections],
    }
    if report.results is not None:
        write_json(target / RESULTS_PAGE, page_to_json(report.results))
        names.append(RESULTS_PAGE)
    write_json(target / SECTIONS, structure)
    return (*names, SECTIONS)


def load(folder: Path | str) -> Report:
    """Read a stored report back; rendered, it gives a page identical to that of the report that was stored.

    Where the folder is that of a finished run, every file is checked before anything is read.
    Errors: :class:`RunError` where a file is absent or damaged, naming it.
    """
    source = Path(folder)
    run = check_run(source) if (source / RUN).exists() else {}
    structure = read_json(source / SECTIONS)
    results, answers = source / "results.json", source / RESULTS_PAGE
    records = read_records(results) if results.exists() else ()
    try:
        return Report(
            title=structure["title"],
            subtitle=structure["subtitle"],
            language=structure["language"],
            citations=tuple(structure["citations"]),
            sections=tuple(_section_from_json(part, source) for part in structure["sections"]),
            run=run,
            records=records,
            results=page_from_json(read_json(answers)) if answers.exists() else None,
        )
    except (KeyError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise RunError(
            "the structure of this report is damaged", place=Place(str(source / SECTIONS)), why=why
        ) from error


def write_table(table: Table, folder: Path | str) -> list[str]:
    """Write ``<name>.csv``, ``.tex`` and ``.json`` into *folder*; return the names, as in ``tables/<name>.csv``."""
    target = Path(folder)
    write_atomically(target / f"{table.name}.csv", to_csv(table))
    write_atomically(target / f"{table.name}.tex", to_latex(table))
    write_json(target / f"{table.name}.json", table_to_json(table))
    return [f"{target.name}/{table.name}.{end}" for end in ("csv", "tex", "json")]


def read_figure(name: str, folder: Path | str) -> Figure:
    """Read a stored figure; its data columns come back as text, exactly as they are in the CSV file.

    Errors: :class:`RunError` where one of its files is absent or damaged.
    """
    source = Path(folder)
    texts, drawing = read_json(source / f"{name}.json"), source / f"{name}.svg"
    try:
        svg = drawing.read_bytes().decode("utf-8").removeprefix(PROLOGUE).rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable_error(drawing, error) from error
    try:
        table = read_csv(source / f"{name}.csv", may_be_empty=True)
    except InputError as error:
        what = "the data of this figure are damaged"
        raise RunError(what, place=error.place, why=error.what) from error
    columns = {header: np.array(cells, dtype=str) for header, cells in table.columns.items()}
    return Figure(**{key: texts[key] for key in _FIGURE_TEXTS}, svg=svg, data=columns)


def _section_to_json(section: Section) -> dict[str, Any]:
    return {
        "id": section.id,
        "title": section.title,
        "flag": section.flag,
        "paragraphs": [{"html": p.html} if isinstance(p, RichText) else {"text": p} for p in section.paragraphs],
        "tables": [table.name for table in section.tables],
        "figures": [figure.name for figure in section.figures],
        "subsections": [_section_to_json(inner) for inner in section.subsections],
    }


def _section_from_json(content: Mapping[str, Any], source: Path) -> Section:
    return Section(
        id=content["id"],
        title=content["title"],
        flag=content["flag"],
        paragraphs=tuple(RichText(p["html"]) if "html" in p else p["text"] for p in content["paragraphs"]),
        tables=tuple(
            table_from_json(read_json(source / "tables" / f"{name}.json")) for name in map(_safe, content["tables"])
        ),
        figures=tuple(read_figure(name, source / "figures") for name in map(_safe, content["figures"])),
        subsections=tuple(_section_from_json(inner, source) for inner in content["subsections"]),
    )


def _safe(name: str) -> str:
    # a run folder may come from another user: a name must not lead out of it
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise RunError(f"{name!r} cannot name a part of a report", place=Place(SECTIONS))
    return name
