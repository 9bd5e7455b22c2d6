"""Which page of a report shows what: data and methods, reproduction, run record; and the numbers of its exhibits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.comparison import reproduction_sections
from lexiscope.report.tables import Table

Exhibit = TypeVar("Exhibit", Table, Figure)
#: Blocks of ``run.json`` that depend on the machine, on the run's folder, or on the page itself.
NOT_PRINTED = frozenset({"machine", "command", "files", "file", "seal"})


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section of a page, folded where it is opened on demand."""

    section: Section
    folded: bool = False


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page of a report: its id, its title in the bar, a shorter one for phones, its sections."""

    id: str
    title: str
    short: str = ""
    sections: tuple[ShownSection, ...] = ()


@dataclass(frozen=True, slots=True)
class RunGroup:
    """A group of lines of the run record: its title, (key, value) pairs, and how it is shown."""

    title: str
    rows: tuple[tuple[str, str], ...]
    folded: bool = False
    mono: bool = False


_DETAILS = ("questions", "further", "wordings")
"""Sections with results that belong to no single question."""
_ASKED, _CLAIMS = "asked", "claims"


def report_pages(report: Report) -> list[ReportPage]:
    """Return the pages after the results: what the report holds, each section once.

    If a report has answers, the page of data and methods begins with what the data are and how the results were
    computed; further tables and all results by question are folded.
    """
    if report.results is None:
        shown = [ShownSection(section) for section in report.sections if section.id != _CLAIMS]
        first = ReportPage("data", "Results", "", tuple(shown))
    else:
        first = ReportPage("data", "Data and methods", "Data", tuple(_data_and_methods(report)))
    pages = [first] if first.sections else []
    names = dict(report.results.names) if report.results is not None else {}
    paper = [ShownSection(section, is_folded) for section, is_folded in reproduction_sections(report.records, names)]
    paper += [ShownSection(section) for section in report.sections if section.id == _CLAIMS]
    if paper:
        pages.append(ReportPage("reproduction", "Reproduction", "", tuple(paper)))
    return [*pages, ReportPage("record", "Run record", "Record")]


def _data_and_methods(report: Report) -> Iterator[ShownSection]:
    assert report.results is not None
    cards, further, results = list[ShownSection](), list[ShownSection](), list[ShownSection]()
    methods = list[ShownSection]()
    for section in supplement(report):
        if section.id == _CLAIMS:
            continue
        if section.id == _ASKED:
            own = [part for part in section.subsections if part.id.startswith("data")]
            cards += [ShownSection(part) for part in own]
            further += [ShownSection(part, folded=True) for part in section.subsections if part not in own]
        elif re.fullmatch(r"q\d+", section.id) or section.id in _DETAILS:
            results.append(ShownSection(section, folded=True))
        else:
            methods.append(ShownSection(section))
    yield from cards
    yield from methods
    if report.results.unanswered:
        lines = tuple(f"{text} {why}" for text, why in report.results.unanswered)
        yield ShownSection(Section("not-applicable", "Questions without an answer", lines))
    if further:
        yield ShownSection(Section("materials", "Materials and models", _FURTHER))
        yield from further
    if results:
        yield ShownSection(Section("all-results", "All results by question", _RESULTS))
        yield from results


_FURTHER = ("Tables of the items, the answers and the models.",)
_RESULTS = ("Every number of the run, with its tables and figures.",)


def supplement(report: Report) -> tuple[Section, ...]:
    """Return the sections with numbers S1, S2 … for their tables and figures; those of a paper are named in the title.

    The Results page has separate numbers 1, 2 ….
    """
    of_paper = any(record.published is not None for record in report.records)
    numbers: Counter[str] = Counter()

    def numbered(exhibit: Exhibit, kind: str) -> Exhibit:
        numbers[kind] += 1
        title = exhibit.title
        if of_paper and exhibit.number:
            title = f"{title.rstrip('.')} ({kind} {exhibit.number} of the paper)"
        return replace(exhibit, number=f"S{numbers[kind]}", title=title)

    def with_numbers(section: Section) -> Section:
        return replace(
            section,
            tables=tuple(numbered(table, "Table") for table in section.tables),
            figures=tuple(numbered(figure, "Figure") for figure in section.figures),
            subsections=tuple(map(with_numbers, section.subsections)),
        )

    return tuple(map(with_numbers, report.sections))


def run_groups(report: Report) -> list[RunGroup]:
    """The run record in groups: what was run, the settings, versions, files with their checksums."""
    # a setting without a value says nothing
    rows = [(key, value) for key, value in run_rows(report.run) if value]
    groups: dict[str, list[tuple[str, str]]] = {}
    for key, value in rows:
        head, _, rest = key.partition(".")
        groups.setdefault(head if rest else "", []).append((rest or key, value))
    titles = {
        "settings": "Settings",
        "versions": "Versions",
        "data": "Data files (SHA-256)",
        "counts": "Counts",
        "given": "Files that the run depends on (SHA-256)",
        "": "",
    }
    order = ["", *(name for name in ("counts", "settings", "versions", "data") if name in groups)]
    order += [name for name in groups if name not in order]
    return [
        RunGroup(
            titles.get(name, name.replace("_", " ").capitalize()),
            tuple(map(_count_row, groups[name]) if name == "counts" else groups[name]),
            folded=name in ("settings", "data") or len(groups[name]) > 12,
            mono=name in ("data", "versions", "given", "code"),
        )
        for name in order
        if groups.get(name)
    ]


def _count_row(row: tuple[str, str]) -> tuple[str, str]:
    """Return a count as it is read: its name as words, thousands apart."""
    name, value = row
    return name.replace("_", " "), f"{int(value):,}" if value.isdigit() else value


def run_rows(run: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the run record as sorted (key, value) text, nested keys joined by points.

    Excluded is what says where the run took place or depends on the page itself: ``machine``, ``command`` (it names
    the folder of the run), ``files`` and ``seal`` (they hold the checksum of the page).

    >>> list(run_rows({"seed": 7, "versions": {"numpy": "2.4"}, "machine": {"host": "x"}}))
    [('seed', '7'), ('versions.numpy', '2.4')]
    """
    for key, value in sorted(run.items()):
        if not prefix and key in NOT_PRINTED:
            continue
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from run_rows(value, f"{name}.")
        elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            for index, part in enumerate(value, start=1):
                yield from run_rows(part, f"{name}.{index}.")
        elif isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value))
        else:
            yield name, "" if value is None else str(value)
