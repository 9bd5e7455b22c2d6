"""The numbers of figures and tables in a report: a paper's only beside what the paper prints, else in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.tables import Table

_PAPERS = re.compile(r"(?P<kind>figure|table)_\d+[a-z]?_")


def numbered(report: Report) -> Report:
    """Return the report as it is if it compares numbers with a paper's; else with its own running numbers.

    A study names its figures and tables after those of its paper. On other data these numbers point to nothing: every
    figure, and every table that has a number, gets the next one in reading order. Names of files that begin with a
    paper's number begin with the new one.
    """
    if any(record.published is not None for record in report.records):
        return report
    figures, tables = count(1), count(1)
    return replace(report, sections=tuple(_numbered(each, figures, tables) for each in report.sections))


def _numbered(section: Section, figures: Iterator[int], tables: Iterator[int]) -> Section:
    return replace(
        section,
        tables=tuple(_table(each, next(tables)) if each.number else each for each in section.tables),
        figures=tuple(_figure(each, next(figures)) for each in section.figures),
        subsections=tuple(_numbered(each, figures, tables) for each in section.subsections),
    )


def _table(table: Table, number: int) -> Table:
    return replace(table, name=_renamed(table.name, number), number=str(number))


def _figure(figure: Figure, number: int) -> Figure:
    name = _renamed(figure.name, number)
    # the ids in a drawing begin with its name
    return replace(figure, name=name, number=str(number), svg=figure.svg.replace(figure.name, name))


def _renamed(name: str, number: int) -> str:
    return _PAPERS.sub(lambda found: f"{found['kind']}_{number}_", name, count=1) if _PAPERS.match(name) else name
