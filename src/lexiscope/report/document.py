"""A report as data: sections of text, tables and figures, the records behind them, and the history of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lexiscope.core.errors import InputError
from lexiscope.core.result import Record
from lexiscope.report.answers.results_page import ResultsPage
from lexiscope.report.figures import Figure
from lexiscope.report.tables import Table

_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class RichText:
    """Text with a little HTML (emphasis, links, lists), as a dataset's card may hold; sanitised when rendered."""

    html: str


Paragraph = str | RichText
Flag = Literal["", "confirmatory", "confirmatory in part", "exploratory"]


@dataclass(frozen=True, slots=True)
class Section:
    """A section: paragraphs first, then tables, then figures, then what is inside it.

    ``flag`` marks its analysis as confirmatory, in whole or in part, or as exploratory.

    Errors: :class:`InputError` where the id cannot be one.
    """

    id: str
    title: str
    paragraphs: tuple[Paragraph, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    subsections: tuple[Section, ...] = ()
    flag: Flag = ""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise InputError(f"{self.id!r} cannot be the id of a section", hint="use letters, digits, _ and -")

    def walk(self) -> Iterator[Section]:
        """Yield this section and all below it, in reading order."""
        yield self
        for section in self.subsections:
            yield from section.walk()


@dataclass(frozen=True, slots=True)
class Report:
    """All that one report shows.

    ``run`` is the content of ``run.json``; what in it depends on the machine or on the page is not printed.
    ``records`` are all numbers of the run: those with a published value make the comparison with the paper, and all
    of them can be downloaded from the page. ``results`` is the page with the answers, if the report has one.

    Errors: :class:`InputError` where an id, a table or a figure occurs twice.
    """

    title: str
    language: str = "en"
    sections: tuple[Section, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    subtitle: str = ""
    citations: tuple[str, ...] = ()
    results: ResultsPage | None = None

    def __post_init__(self) -> None:
        every = [section for top in self.sections for section in top.walk()]
        _unique("section", [section.id for section in every])
        _unique("table", [table.name for section in every for table in section.tables])
        _unique("figure", [figure.name for section in every for figure in section.figures])


def _unique(what: str, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the report has more than one {what} named {', '.join(twice)}")
