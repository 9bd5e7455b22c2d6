"""A report in a run folder: stored part by part, and rebuilt from the folder byte for byte.

``sections.json`` holds the structure and refers by name to ``tables/<name>.json`` (beside ``.csv`` and ``.tex``)
and to ``figures/<name>.svg`` (beside ``.csv`` and ``.json``). ``run.json`` and ``results.json`` belong to the run;
they are only read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.result import read_records
from lexiscope.core.run import read_json, unreadable_error, write_atomically, write_json
from lexiscope.core.sealed import RUN, check_run
from lexiscope.report.document import Paragraph, Report, RichText, Section
from lexiscope.report.figures import PROLOGUE, Figure, write_figure
from lexiscope.report.page.every_result import check_every_result
from lexiscope.report.tables import Cell, Column, Format, IntervalCell, Missing, Noted, Printed, Table, layout, to_csv
from lexiscope.resources.tables.delimited import read_csv

SECTIONS = "sections.json"


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
            about = {key: getattr(figure, key) for key in ("name", "number", "title", "caption", "alt")}
            write_json(target / "figures" / f"{figure.name}.json", about)
            names += [f"figures/{figure.name}.{end}" for end in ("svg", "csv", "json")]
    structure = {
        "title": report.title,
        "subtitle": report.subtitle,
        "language": report.language,
        "citations": list(report.citations),
        "sections": [_section_to_json(section) for section in report.sections],
    }
    write_json(target / SECTIONS, structure)
    return (*names, SECTIONS)


def load(folder: Path | str) -> Report:
    """Read a stored report back; rendered, it gives the same bytes as the report that was stored.

    Where the folder is that of a finished run, every file is checked before anything is read.
    Errors: :class:`RunError` where a file is absent or damaged, naming it.
    """
    source = Path(folder)
    run = check_run(source) if (source / RUN).exists() else {}
    structure = read_json(source / SECTIONS)
    results = source / "results.json"
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


def table_to_json(table: Table) -> dict[str, Any]:
    """Return a table as JSON values, nothing lost."""
    return {
        "name": table.name,
        "number": table.number,
        "title": table.title,
        "columns": [asdict(column) for column in table.columns],
        "rows": [[_cell_to_json(cell) for cell in row] for row in table.rows],
        "notes": list(table.notes),
        **({"people": table.people} if table.people else {}),
    }


def table_from_json(content: Mapping[str, Any]) -> Table:
    """Read a table back from :func:`table_to_json`."""
    columns = tuple(Column(**{**column, "format": Format(**column["format"])}) for column in content["columns"])
    rows = tuple(tuple(_cell_from_json(cell) for cell in row) for row in content["rows"])
    notes, people = tuple(content["notes"]), content.get("people", "")
    return Table(content["name"], content["number"], content["title"], columns, rows, notes, people)


def read_figure(name: str, folder: Path | str) -> Figure:
    """Read a stored figure; its data columns come back as text, exactly as they stand in the CSV file.

    Errors: :class:`RunError` where one of its files is absent or damaged.
    """
    source = Path(folder)
    about = read_json(source / f"{name}.json")
    svg = _text(source / f"{name}.svg").removeprefix(PROLOGUE).rstrip("\n")
    try:
        table = read_csv(source / f"{name}.csv", may_be_empty=True)
    except InputError as error:
        what = "the data of this figure are damaged"
        raise RunError(what, place=error.place, why=error.what) from error
    columns = {header: np.array(cells, dtype=str) for header, cells in table.columns.items()}
    return Figure(**{key: about[key] for key in ("name", "number", "title", "caption", "alt")}, svg=svg, data=columns)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable_error(path, error) from error


def _cell_to_json(cell: Cell) -> object:
    if isinstance(cell, Missing):
        return {"missing": cell.reason}
    if isinstance(cell, Noted):
        return {"text": cell.text, "note": cell.note}
    if isinstance(cell, IntervalCell):
        return {"low": cell.low, "high": cell.high, "value": cell.value}
    return cell


def _cell_from_json(cell: object) -> Cell:
    match cell:
        case {"missing": str(reason)}:
            return Missing(reason)
        case {"text": str(text), "note": str(note)}:
            return Noted(text, note)
        case {"low": float(low), "high": float(high), "value": float() | None as value}:
            return IntervalCell(low, high, value)
        case None | str() | bool() | int() | float():
            return cell
    raise InputError(f"a stored table cell cannot be {cell!r}")


def _section_to_json(section: Section) -> dict[str, Any]:
    return {
        "id": section.id,
        "title": section.title,
        "flag": section.flag,
        "paragraphs": [_paragraph_to_json(paragraph) for paragraph in section.paragraphs],
        "tables": [table.name for table in section.tables],
        "figures": [figure.name for figure in section.figures],
        "subsections": [_section_to_json(inner) for inner in section.subsections],
    }


def _paragraph_to_json(paragraph: Paragraph) -> dict[str, str]:
    return {"html": paragraph.html} if isinstance(paragraph, RichText) else {"text": paragraph}


def _section_from_json(content: Mapping[str, Any], source: Path) -> Section:
    return Section(
        id=content["id"],
        title=content["title"],
        flag=content["flag"],
        paragraphs=_paragraphs(content["paragraphs"]),
        tables=tuple(
            table_from_json(read_json(source / "tables" / f"{name}.json")) for name in map(_safe, content["tables"])
        ),
        figures=tuple(read_figure(name, source / "figures") for name in map(_safe, content["figures"])),
        subsections=tuple(_section_from_json(inner, source) for inner in content["subsections"]),
    )


def _safe(name: str) -> str:
    # a run folder may come from somebody else: a name must not lead out of it
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise RunError(f"{name!r} cannot name a part of a report", place=Place(SECTIONS))
    return name


def _paragraphs(content: Sequence[Mapping[str, str]]) -> tuple[Paragraph, ...]:
    return tuple(RichText(part["html"]) if "html" in part else part["text"] for part in content)


# -- tables in LaTeX, with the rules of the booktabs package --------------------------------------------------------


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "\n": " ",
    "−": r"\ensuremath{-}",
    "—": "---",
    "–": "--",
    "…": r"\dots{}",
    "×": r"\ensuremath{\times}",
    "·": r"\ensuremath{\cdot}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "≈": r"\ensuremath{\approx}",
    "→": r"\ensuremath{\rightarrow}",
    "∞": r"\ensuremath{\infty}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "\u00a0": "~",
    "\u202f": r"\,",
}
_GREEK = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "varepsilon",
    "η": "eta",
    "θ": "theta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "π": "pi",
    "ρ": "rho",
    "σ": "sigma",
    "τ": "tau",
    "φ": "varphi",
    "χ": "chi",
    "ω": "omega",
    "Δ": "Delta",
    "Σ": "Sigma",
}
_ESCAPES = str.maketrans(_SPECIAL | {letter: rf"\ensuremath{{\{name}}}" for letter, name in _GREEK.items()})


def escape(text: str) -> str:
    r"""Return *text* so that LaTeX prints it as it stands; letters of any alphabet stay themselves (UTF-8).

    >>> print(escape("señal_1 & R² > 50 %"))
    señal\_1 \& R\textsuperscript{2} \textgreater{} 50 \%
    """
    return text.translate(_ESCAPES)


def to_latex(table: Table) -> str:
    r"""Return the table as a floating ``table`` with caption, label ``tab:<name>``, booktabs rules, notes below.

    The document needs ``\usepackage{booktabs}`` and, before 2018, ``\usepackage[utf8]{inputenc}``.
    """
    laid = layout(table)
    align = "".join("r" if column.right else "l" for column in table.columns)
    notes = [rf"\textsuperscript{{{letter}}} {escape(text)}" for letter, text in laid.lettered]
    notes += [escape(note) for note in laid.notes]
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}[tbp]",
        r"\centering",
        rf"\caption{{{escape(table.title)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        _line(laid.headers),
        r"\midrule",
        *(_line(row) for row in laid.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {note}\par}}" for note in notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[Printed, ...]) -> str:
    # braces keep a leading bracket from being read as the optional argument of the row end before it
    return " & ".join(f"{{{escape(cell.text)}}}{_superscript(cell.mark)}" for cell in cells) + r" \\"


def _superscript(mark: str) -> str:
    return rf"\textsuperscript{{{mark}}}" if mark else ""
