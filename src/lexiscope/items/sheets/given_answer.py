"""The answer of a participant to an item in a view, with marks, guess and comment, as rows.

The same rows come from a sheet (:mod:`lexiscope.items.sheets.view_sheet`) and from the export of a study in the app
(:func:`read_view_judgments`), so that one analysis reads both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.simulated import KIND_COLUMN, kind_of_person
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet
from lexiscope.resources.corpora.entity_list import EntityList

MEASURE_CHOICE, MEASURE_PAGE = "choice", "page"
MEASURE_UNDECIDED, MEASURE_NOT_FOUND = "flag_undecided", "flag_not_found"
MEASURE_GUESS, MEASURE_COMMENT = "guessed_word", "comment"
REVEALED = "revealed_"
"""Begins the measures of an answer given again with the target shown: a second judgment (phase ``reveal``)."""

COMPLETE = "this is the complete table of an export: who is excluded is not marked in it"
"""Why a table for which :func:`is_complete_export` holds is not read as answers."""
_PAIRS = ("participant_id", "item_id", "view", "phase", "label", "word", "undecided")
_MENTIONS = ("participant_id", "item_id", "view", "page", "not_found")
_TRUTHS = {"true": True, "false": False, "": None}


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One answer. ``label`` is an option (``None``: none was chosen), ``page`` a title; one of them belongs to a task.

    ``marks`` are flags by measure. ``raw`` is the label as it was written. ``revealed``: given again, in full, by who
    had answered without the target. ``kind`` is what the file says of the participant, who may be a simulated one.
    """

    participant: str
    item_id: str
    task: str
    view: str
    label: str | None = None
    page: str | None = None
    marks: Mapping[str, bool] = field(default_factory=dict)
    guess: str = ""
    comment: str = ""
    raw: str = ""
    revealed: bool = False
    list_id: str | None = None
    position: int | None = None
    kind: str = ""

    def rows(self) -> Iterator[Response]:
        """Yield the answer, its flags, the guess and the comment as rows, each under a separate measure."""
        if self.page is None:
            yield self._row(MEASURE_CHOICE, option=self.label, raw=self.raw)
        else:
            yield self._row(MEASURE_PAGE, raw=self.page)
        yield from (self._row(measure, value=float(marked)) for measure, marked in self.marks.items())
        said = ((MEASURE_GUESS, self.guess), (MEASURE_COMMENT, self.comment))
        yield from (self._row(measure, raw=text) for measure, text in said if text)

    def _row(self, measure: str, *, option: str | None = None, value: float | None = None, raw: str = "") -> Response:
        return Response(
            subject_id=self.participant,
            subject_kind=kind_of_person(self.participant, self.kind),
            item_id=self.item_id,
            task=self.task,
            measure=f"{REVEALED if self.revealed else ''}{measure}",
            value=value,
            option=option,
            view=self.view,
            list_id=self.list_id,
            position=self.position,
            raw=raw or None,
        )


def is_complete_export(table: ResponseTable) -> bool:
    """Whether responses are all those of an export, with excluded participants: they always have a completion time."""
    return "completion_time" in table.unique("measure")


def read_view_judgments(path: Path | str) -> ResponseTable:
    """Read what people answered in the app: ``wic_judgments.csv`` of an export, ``verification_`` or ``link_``.

    Unlike ``choices.csv``, these tables have the guessed words, who could not decide, and the second judgments.
    Errors: :class:`InputError` E475 for a cell that is neither true nor false, and those of
    :func:`lexiscope.items.tables.spreadsheet.read_sheet`.
    """
    first = next(read_sheet(path, _PAIRS[:3], what="a table of judgments by view"), None)
    if first is None:
        return ResponseTable.empty()
    mentions = "page" in first.columns
    # of the tasks whose answers have this measure and whose items have these columns, the one that needs most
    screens = [(name, screen) for name, screen in catalog.screens().items() if screen.on_sheet is not None]
    measure = MEASURE_PAGE if mentions else MEASURE_CHOICE
    able = [(name, screen) for name, screen in screens if screen.measure == measure]
    task = max((len(screen.requires), name) for name, screen in able if set(screen.requires) <= set(first.columns))[1]
    rows: list[Response] = []
    for row in read_sheet(path, _MENTIONS if mentions else _PAIRS, what="a table of judgments by view"):
        rows.extend((_mention(row, task) if mentions else _pair(row, task)).rows())
    return ResponseTable.from_rows(rows)


def with_page_ids(table: ResponseTable, entities: EntityList) -> ResponseTable:
    """Return the answers with the id of each page as their option; what was written stays in ``raw``.

    An answer that names no entity of the list, or more than one, keeps no option: it is an unreadable answer.
    """
    pages = {MEASURE_PAGE, f"{REVEALED}{MEASURE_PAGE}"}
    options = []
    for row in table.rows():
        entity = entities.find_named(row.raw) if row.measure in pages and row.raw else None
        options.append(entity.entity_id if entity is not None else row.option)
    return table.with_column("option", options) if options else table


def _pair(row: SheetRow, task: str) -> GivenAnswer:
    cells, again = row.cells, row.cells["phase"] == "reveal"
    hidden = cells["view"] == "context" and not again
    return GivenAnswer(
        cells["participant_id"],
        cells["item_id"],
        task,
        cells["view"],
        label=cells["label"] or None,
        marks={MEASURE_UNDECIDED: _truth(row, "undecided")} if hidden else {},
        guess=cells["word"].strip(),
        raw=cells["label"],
        revealed=again,
        kind=cells.get(KIND_COLUMN, ""),
    )


def _mention(row: SheetRow, task: str) -> GivenAnswer:
    cells, marks = row.cells, {MEASURE_NOT_FOUND: _truth(row, "not_found")}
    return GivenAnswer(
        cells["participant_id"],
        cells["item_id"],
        task,
        cells["view"],
        page=cells["page"],
        marks=marks,
        kind=cells.get(KIND_COLUMN, ""),
    )


def _truth(row: SheetRow, column: str) -> bool:
    value = _TRUTHS.get(row.cells[column].casefold(), "")
    if value == "":
        what = f"{row.cells[column]!r} is neither true nor false"
        raise InputError(what, code="E475", place=row.place(column), hint="export the study again")
    return bool(value)
