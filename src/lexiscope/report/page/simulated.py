"""The mark of simulated participants in a report: every heading, table, figure and number of such a run carries it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lexiscope.core.result import simulated_records
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, SIMULATED_ID, SIMULATED_PARTICIPANTS, TOLD_SIMULATED
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.results_page import ResultsPage
from lexiscope.report.document import Paragraph, Report, Section
from lexiscope.report.figures import Array, Figure
from lexiscope.report.page.stored_answers import page_from_json, page_to_json
from lexiscope.report.part import Part
from lexiscope.report.plots.style import texts_of, with_description
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
_ITEM_COLUMNS = re.compile(
    r"(?:item|item[_ ]id|word|lemma|target|sentence|text|story|ending|gloss|sense)s?(?:[_ ]\d+)?"
)


def _is_of_items(column: str) -> bool:
    return _ITEM_COLUMNS.fullmatch(column.casefold()) is not None


def simulated_text(text: str) -> str:
    """Return a text of such a run in which people are called what they are.

    >>> simulated_text("People agree more, raters' mean .30"), simulated_text("people's ratings")
    ("Simulated participants agree more, simulated raters' mean .30", "simulated participants' ratings")
    >>> [simulated_text(text) for text in ("Human ceilings by name", "people: 3 of 4", "human norms")]
    ['Ceilings of simulated participants by name', 'simulated participants: 3 of 4', 'simulated norms']
    >>> [simulated_text(text) for text in ("simulated participants", "people.csv", "people:1")]
    ['simulated participants', 'people.csv', 'people:1']
    >>> simulated_text("beside people's: nothing")
    "beside simulated participants': nothing"
    """
    return _PEOPLE.sub(_simulated_word, text)


def _simulated_word(match: re.Match[str]) -> str:
    if match["ceiling"]:
        new = f"{match['ceiling'].split()[1]} of {SIMULATED_PARTICIPANTS}"
    else:
        word = match["word"].casefold()
        new = {"human": SIMULATED, "raters": "simulated raters"}.get(word, SIMULATED_PARTICIPANTS)
        if match["possessive"]:
            new += "'" if new.endswith("s") else match["possessive"]
    return new[0].upper() + new[1:] if match[0][0].isupper() else new


def marked_report(report: Report) -> Report:
    """Return the report of a run in which judgments are those of simulated participants, with their mark.

    If the study has marked no number, all of them rest on these judgments and every part of the page is marked.
    Otherwise only the parts that the study has marked are, with the headings above them. The mark is put on here, after
    the analysis, so that no study and no table can leave it out.
    """
    whole = not any(record.people for record in report.records)
    notice = f"Simulated participants: {TOLD_SIMULATED}."
    notice += "" if whole else f" What they are behind is marked: {MARK}."
    first = Section("simulated", SIMULATED_PARTICIPANTS.capitalize(), (notice,))
    every = whole or all(record.people for record in report.records)
    title = _marked_title(report.title) if every else f"{report.title} [partly of {SIMULATED_PARTICIPANTS}]"
    sections = tuple(_marked_section(section, whole=whole) for section in report.sections)
    return replace(
        report,
        title=title,
        subtitle=simulated_text(report.subtitle),
        sections=(first, *sections),
        run={**report.run, KIND_COLUMN: SIMULATED},
        records=simulated_records(report.records) if whole else report.records,
        results=marked_results(report.results, whole=whole) if report.results is not None else None,
    )


def marked_results(page: ResultsPage, *, whole: bool) -> ResultsPage:
    """Return the Results page with the mark: in its title, its texts, and each drawing and table about people.

    *whole*: all numbers rest on these judgments, so that all drawings and tables are marked.
    """
    marked = page_from_json(_simulated_content(page_to_json(page)))

    def with_mark(answer: Answer) -> Answer:
        drawing, table = answer.drawing, answer.table
        if drawing is not None and (whole or _names_people(json.dumps(asdict(drawing), ensure_ascii=False))):
            drawing = replace(drawing, title=_marked_title(drawing.title), mark=MARK)
        if table is not None and (whole or has_people(table)):
            table = marked_table(table)
        return replace(answer, drawing=drawing, table=table)

    notice = " ".join(filter(None, (f"Simulated participants: {TOLD_SIMULATED}.", marked.top.caution)))
    return replace(
        marked,
        title=_marked_title(marked.title),
        top=with_mark(replace(marked.top, caution=notice)),
        questions=tuple(
            replace(q, text=_marked_title(q.text) if whole else q.text, answer=with_mark(q.answer))
            for q in marked.questions
        ),
    )


_NO_TEXTS = frozenset({"type", "kind", "name", "question_id", "top_question", "look", "brand"})
"""Keys whose values are names for programs, not texts for readers."""


def _simulated_content(content: Any, key: str = "") -> Any:
    """Return JSON values with people called what they are in every text."""
    if isinstance(content, dict):
        return {name: _simulated_content(value, name) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_simulated_content(value, key) for value in content]
    return simulated_text(content) if isinstance(content, str) and key not in _NO_TEXTS else content


def marked_part(part: Part) -> Part:
    """Return what an analysis yields with the mark in all of it."""
    return replace(
        part,
        records=simulated_records(part.records),
        tables=tuple(map(marked_table, part.tables)),
        figures=tuple(map(marked_figure, part.figures)),
        paragraphs=tuple(map(simulated_text, part.paragraphs)),
    )


def marked_where_people(part: Part) -> Part:
    """Return what an analysis yields with the mark on each number, table and figure that has people in it.

    For analyses that compare simulated participants with models of which the truth is known without people.
    """
    marked = dict(zip(part.records, simulated_records(part.records, keep_all=True), strict=True))
    records = tuple(
        marked[record] if _names_people(f"{record.subject}\n{record.statistic.replace('_', ' ')}") else record
        for record in part.records
    )
    figures = tuple(
        marked_figure(figure) if _names_people(f"{figure.title} {figure.alt}") else figure for figure in part.figures
    )
    tables, texts = tuple(map(_marked_if_people, part.tables)), tuple(map(simulated_text, part.paragraphs))
    return replace(part, records=records, tables=tables, figures=figures, paragraphs=texts)


def marked_section(section: Section) -> Section:
    """Return a section with the mark on what names people, in its words too; the rest of it stays as it is.

    For a report in which all people are simulated participants, with numbers that rest on no judgments.
    """
    inside = tuple(map(marked_section, section.subsections))
    texts, tables = _simulated_texts(section), tuple(map(_marked_if_people, section.tables))
    named = texts != section.paragraphs or tables != section.tables or _names_people(section.title)
    title = _marked_title(section.title) if named else section.title
    return replace(section, title=title, paragraphs=texts, tables=tables, subsections=inside)


def has_people(table: Table, *, rows_only: bool = False) -> bool:
    """Return whether a table has a row of people; without *rows_only* also whether its title or headings name them."""
    texts = [cell for row in table.rows for cell in row if isinstance(cell, str)]
    texts += [] if rows_only else [table.title, *(column.header for column in table.columns)]
    return any(map(_names_people, texts))


def _names_people(text: str) -> bool:
    return SIMULATED_ID in text or _PEOPLE.search(text) is not None


def _marked_if_people(table: Table) -> Table:
    return marked_table(table) if has_people(table) else table


def _simulated_texts(section: Section) -> tuple[Paragraph, ...]:
    return tuple(simulated_text(text) if isinstance(text, str) else text for text in section.paragraphs)


def marked_table(table: Table) -> Table:
    """Return a table with the mark in its title, in the name of people's rows, and in a column of its CSV."""
    if table.people:
        return table
    columns = tuple(
        replace(column, header=simulated_text(column.header), note=simulated_text(column.note))
        for column in table.columns
    )
    of_items = [bool(column.language) or _is_of_items(column.header) for column in table.columns]
    rows = tuple(
        tuple(_marked_cell(cell, kept=kept) for cell, kept in zip(row, of_items, strict=True)) for row in table.rows
    )
    notes = tuple(map(simulated_text, table.notes))
    return replace(table, title=_marked_title(table.title), columns=columns, rows=rows, notes=notes, people=SIMULATED)


def marked_figure(figure: Figure) -> Figure:
    """Return a figure with the mark in its title, its words, its drawing and its data."""
    if KIND_COLUMN in figure.data:
        return figure
    title, alt = _marked_title(figure.title), f"{simulated_text(figure.alt)} {MARK}"
    data = {
        simulated_text(name): np.asarray(values) if _is_of_items(name) else _marked_values(np.asarray(values))
        for name, values in figure.data.items()
    }
    data[KIND_COLUMN] = np.full(len(next(iter(data.values()), ())), SIMULATED)
    # the line below the drawing; texts of the drawing are unchanged: longer ones would be cut at its edge
    line = MARK
    if _PEOPLE.search(" ".join(texts_of(figure.svg))):
        line = f"{MARK[:-1]}; people and raters in this figure are these]"
    svg = with_description(figure.svg, title=title, alt=alt, visible=line)
    return replace(figure, title=title, caption=simulated_text(figure.caption), alt=alt, svg=svg, data=data)


def _marked_values(values: Array) -> Array:
    if values.dtype.kind not in "UO":
        return values
    cells = [simulated_text(cell) if isinstance(cell, str) else cell for cell in values.tolist()]
    return np.array(cells, dtype=object if values.dtype.kind == "O" else str)


def _marked_section(section: Section, *, whole: bool) -> Section:
    inside = tuple(_marked_section(inner, whole=whole) for inner in section.subsections)
    section = replace(section, subsections=inside)
    marked = any(table.people for table in section.tables)
    marked = marked or any(KIND_COLUMN in figure.data for figure in section.figures)
    if not whole and not marked and not any(MARK in inner.title for inner in inside):
        return section
    section = replace(section, title=_marked_title(section.title), paragraphs=_simulated_texts(section))
    if not whole:
        return section
    tables, figures = tuple(map(marked_table, section.tables)), tuple(map(marked_figure, section.figures))
    return replace(section, tables=tables, figures=figures)


def _marked_title(title: str) -> str:
    return title if not title or title.endswith(MARK) else f"{simulated_text(title.rstrip('.'))} {MARK}"


def _marked_cell(cell: Cell, *, kept: bool) -> Cell:
    """The cell of such a table; what was shown is *kept* as it is, a remark on it or a reason is not."""
    if isinstance(cell, Noted):
        return Noted(cell.text if kept else simulated_text(cell.text), simulated_text(cell.note))
    if isinstance(cell, Missing):
        return Missing(simulated_text(cell.reason))
    return simulated_text(cell) if isinstance(cell, str) and not kept else cell
