"""The mark of simulated participants in a report: every heading, table, figure and number of such a run carries it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from lexiscope.core.result import simulated_records
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, SIMULATED_ID, SIMULATED_PARTICIPANTS, TOLD_SIMULATED
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Array, Figure
from lexiscope.report.part import Part
from lexiscope.report.plots.style import described, texts_of
from lexiscope.report.tables import Cell, Missing, Noted, Table

MARK = f"[judgments: {SIMULATED_PARTICIPANTS}]"
"""Ends every title of a run whose judgments are those of simulated participants."""

_PEOPLE = re.compile(
    # a name with other characters around it (a file, a model) is no word
    r"(?<![\w/:.-])(?:(?P<ceiling>human ceilings?)|(?:simulated )?(?P<word>people|humans?|participants|raters)"
    r"(?P<possessive>['’]s)?)(?![\w/-]|[.:]\w)",
    re.IGNORECASE,
)


# columns of what was shown: an item about the word "people" keeps its word and its text
_MATERIAL = re.compile(r"(?:item|item[_ ]id|word|lemma|target|sentence|text|story|ending|gloss|sense)s?(?:[_ ]\d+)?")


def _of_material(column: str) -> bool:
    return _MATERIAL.fullmatch(column.casefold()) is not None


def told(text: str) -> str:
    """Return a text of such a run in which people are called what they are.

    >>> told("People agree more, raters' mean .30"), told("people's ratings"), told("Human ceilings by name")
    ("Simulated participants agree more, simulated raters' mean .30", "simulated participants' ratings",
     'Ceilings of simulated participants by name')
    >>> told("simulated participants"), told("human norms"), told("people.csv"), told("people:1")
    ('simulated participants', 'simulated norms', 'people.csv', 'people:1')
    >>> told("people: 3 of 4"), told("beside people's: nothing")
    ('simulated participants: 3 of 4', "beside simulated participants': nothing")
    """
    return _PEOPLE.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    if found["ceiling"]:
        new = f"{found['ceiling'].split()[1]} of {SIMULATED_PARTICIPANTS}"
    else:
        word = found["word"].casefold()
        new = {"human": SIMULATED, "raters": "simulated raters"}.get(word, SIMULATED_PARTICIPANTS)
        if found["possessive"]:
            new += "'" if new.endswith("s") else found["possessive"]
    return new[0].upper() + new[1:] if found[0][0].isupper() else new


def marked_report(report: Report) -> Report:
    """Return the report of a run in which judgments are those of simulated participants, with their mark.

    Where the study has marked no number, all of them rest on these judgments and every part of the page is marked.
    Else the parts are marked that the study has marked, with the headings above them. The mark is put on here, after
    the analysis, so that no study and no table can leave it out.
    """
    whole = not any(record.people for record in report.records)
    notice = f"Simulated participants: {TOLD_SIMULATED}."
    notice += "" if whole else f" What they are behind is marked: {MARK}."
    first = Section("simulated", SIMULATED_PARTICIPANTS.capitalize(), (notice,))
    every = whole or all(record.people for record in report.records)
    title = _marked(report.title) if every else f"{report.title} [partly of {SIMULATED_PARTICIPANTS}]"
    sections = tuple(_marked_section(section, whole=whole) for section in report.sections)
    return replace(
        report,
        title=title,
        subtitle=told(report.subtitle),
        sections=(first, *sections),
        run={**report.run, KIND_COLUMN: SIMULATED},
        records=simulated_records(report.records) if whole else report.records,
    )


def marked_part(part: Part) -> Part:
    """Return what an analysis yields with the mark in all of it."""
    return replace(
        part,
        records=simulated_records(part.records),
        tables=tuple(map(marked_table, part.tables)),
        figures=tuple(map(marked_figure, part.figures)),
        paragraphs=tuple(map(told, part.paragraphs)),
    )


def marked_where_people(part: Part) -> Part:
    """Return what an analysis yields with the mark on each number, table and figure that has people in it.

    For analyses that set simulated participants beside models of which the truth is known without people.
    """
    marked = dict(zip(part.records, simulated_records(part.records, keep_all=True), strict=True))
    return replace(
        part,
        records=tuple(marked[each] if _of_people(each.subject) or _of_people(each.statistic.replace("_", " ")) else each
                      for each in part.records),
        tables=tuple(marked_table(each) if has_people(each) else each for each in part.tables),
        figures=tuple(marked_figure(each) if _of_people(f"{each.title} {each.alt}") else each for each in part.figures),
        paragraphs=tuple(map(told, part.paragraphs)),
    )  # fmt: skip


def marked_section(section: Section) -> Section:
    """Return a section with the mark on what names people, in its words too; the rest of it stays as it is.

    For a report in which all people are simulated participants, beside numbers that rest on nobody's judgments.
    """
    inside = tuple(map(marked_section, section.subsections))
    texts = tuple(told(each) if isinstance(each, str) else each for each in section.paragraphs)
    tables = tuple(marked_table(each) if has_people(each) else each for each in section.tables)
    named = texts != section.paragraphs or tables != section.tables or _of_people(section.title)
    title = _marked(section.title) if named else section.title
    return replace(section, title=title, paragraphs=texts, tables=tables, subsections=inside)


def has_people(table: Table, *, rows_only: bool = False) -> bool:
    """Say whether a table has a row of people; without *rows_only* also whether its title or headings name them."""
    texts = [cell for row in table.rows for cell in row if isinstance(cell, str)]
    texts += [] if rows_only else [table.title, *(column.header for column in table.columns)]
    return any(map(_of_people, texts))


def _of_people(text: str) -> bool:
    return SIMULATED_ID in text or _PEOPLE.search(text) is not None


def marked_table(table: Table) -> Table:
    """Return a table with the mark in its title, in the name of people's rows, and in a column of its CSV."""
    if table.people:
        return table
    columns = tuple(replace(column, header=told(column.header), note=told(column.note)) for column in table.columns)
    shown = [bool(column.language) or _of_material(column.header) for column in table.columns]
    rows = tuple(
        tuple(_marked_cell(cell, kept=kept) for cell, kept in zip(row, shown, strict=True)) for row in table.rows
    )
    notes = tuple(map(told, table.notes))
    return replace(table, title=_marked(table.title), columns=columns, rows=rows, notes=notes, people=SIMULATED)


def marked_figure(figure: Figure) -> Figure:
    """Return a figure with the mark in its title, its words, its drawing and its data."""
    if KIND_COLUMN in figure.data:
        return figure
    title, alt = _marked(figure.title), f"{told(figure.alt)} {MARK}"
    data = {
        told(name): np.asarray(values) if _of_material(name) else _marked_values(np.asarray(values))
        for name, values in figure.data.items()
    }
    n = len(next(iter(data.values()), ()))
    mark = np.array([SIMULATED] * n, dtype=str)
    return replace(
        figure,
        title=title,
        caption=told(figure.caption),
        alt=alt,
        svg=described(figure.svg, title=title, alt=alt, visible=_visible(figure.svg)),
        data={**data, KIND_COLUMN: mark},
    )


def _visible(svg: str) -> str:
    """The line below a drawing. Texts of the drawing stay as they are: longer ones would be cut at its edge."""
    if _PEOPLE.search(" ".join(texts_of(svg))) is None:
        return MARK
    return f"{MARK[:-1]}; people and raters in this figure are these]"


def _marked_values(values: Array) -> Array:
    if values.dtype.kind not in "UO":
        return values
    cells = [told(cell) if isinstance(cell, str) else cell for cell in values.tolist()]
    return np.array(cells, dtype=object if values.dtype.kind == "O" else str)


def _marked_section(section: Section, *, whole: bool) -> Section:
    inside = tuple(_marked_section(inner, whole=whole) for inner in section.subsections)
    section = replace(section, subsections=inside)
    marked = any(table.people for table in section.tables) or any(KIND_COLUMN in one.data for one in section.figures)
    if not whole and not marked and not any(MARK in one.title for one in inside):
        return section
    section = replace(
        section,
        title=_marked(section.title),
        paragraphs=tuple(told(each) if isinstance(each, str) else each for each in section.paragraphs),
    )
    if not whole:
        return section
    tables, figures = tuple(map(marked_table, section.tables)), tuple(map(marked_figure, section.figures))
    return replace(section, tables=tables, figures=figures)


def _marked(title: str) -> str:
    return title if not title or title.endswith(MARK) else f"{told(title.rstrip('.'))} {MARK}"


def _marked_cell(cell: Cell, *, kept: bool) -> Cell:
    """The cell of such a table; what was shown is *kept* as it is, a remark on it or a reason is not."""
    if isinstance(cell, Noted):
        return Noted(cell.text if kept else told(cell.text), told(cell.note))
    if isinstance(cell, Missing):
        return Missing(told(cell.reason))
    return told(cell) if isinstance(cell, str) and not kept else cell
