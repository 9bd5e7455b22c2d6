"""Items in one view as a sheet: written as CSV, answered by hand, read back as responses.

The columns are those of the context–word bias study (its Figure 5): number, contexts, label, and in the view without
the target the guessed word; behind them stand the mark of who cannot decide, a comment, and what identifies the row.
Contexts are shown as people see them in the app: the target in brackets, or ``[X]`` in its place, or the words alone.
The sheet ``reveal`` shows the same items again in full to whoever answered them without the target; what is answered
there is a second judgment, under a measure of its own, and never mixed with that of another view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import Screen
from lexiscope.items.answers.truth_choice import DIFFERENT, SAME
from lexiscope.items.arrange.overlapping_lists import OverlappingLists
from lexiscope.items.arrange.views import shown_texts
from lexiscope.items.sheets.choice_sheet import checked_rows, is_marked
from lexiscope.items.sheets.given_answer import MEASURE_CHOICE, MEASURE_PAGE, GivenAnswer
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet, write_sheet

LABEL, PAGE = "label", "page"
REVEAL = "reveal"
SHEET_VIEWS = ("full", "context", "word", REVEAL)
"""The sheets that there are; ``reveal`` follows ``context``."""

_WHAT = "a sheet of items in one view"


@dataclass(frozen=True, slots=True)
class _ViewForm:
    """How a task's sheet looks in a view: columns that are shown, the answer, and what may be marked next to it.

    The last of ``shown`` are the conditions ``told``, which are shown in every view.
    """

    task: str
    shown: tuple[str, ...]
    answer: str
    beside: tuple[str, ...]
    told: tuple[str, ...]

    @property
    def header(self) -> tuple[str, ...]:
        """The columns as they are written."""
        return ("example_no", *self.shown, self.answer, *self.beside, "comment", "view", "list", "item_id")

    @property
    def checked(self) -> tuple[str, ...]:
        """The columns that must come back, those first that must come back unchanged."""
        return ("item_id", *self.shown, "view", "list", self.answer, *self.beside, "comment")


def write_view_sheet(path: Path | str, items: Sequence[Item], *, view: str, list_id: str = "1") -> None:
    """Write the sheet of a list in a view, in the order of the items; the right answers are not in it.

    Pairs and senses to verify are asked for ``label`` (t or f), mentions in one text for ``page``;
    :func:`read_view_sheet` reads it back.
    Errors: :class:`InputError` E619 for a view that has no sheet, E617 for items that are none of these, or not all of
    one kind; :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    form = _form(items, view)
    empty = [""] * (len(form.beside) + 2)
    rows = [
        (str(number), *_shown(item, view, form), *empty, view, list_id, item.item_id)
        for number, item in enumerate(items, start=1)
    ]
    write_sheet(path, form.header, rows)


def read_view_sheet(path: Path | str, drawn: OverlappingLists, *, participant: str) -> ResponseTable:
    """Read an answered sheet; the sheet says which view and which of the lists it is.

    An answer is ``t`` or ``f`` in any case; an empty one is a row without option. Who marks ``undecided`` has answered
    ``t``, as the study asks for, and has a row ``flag_undecided``. Guesses and comments are rows of their own: nothing
    that stands in the sheet is lost. Rows are in the order of the sheet.
    Errors: :class:`InputError` E471 (a row of no item of the list), E472 (an item stands twice), E473 (an item is
    missing), E474 (what was shown has been changed, or a view or list that there is not), E475 (no answer that can be
    given, a mark that is none, *undecided* beside ``f``), E505 (no name), and those of
    :func:`lexiscope.items.tables.spreadsheet.read_sheet`.
    """
    if not participant.strip():
        raise InputError("a sheet needs the name of its participant", code="E505", hint="use a code, not a full name")
    view, list_id = _of_sheet(path, len(drawn.lists))
    items = {item.item_id: item for item in drawn.lists[int(list_id) - 1]}
    form = _form(tuple(items.values()), view)
    shown = {key: (key, *_shown(item, view, form), view, list_id) for key, item in items.items()}
    rows: list[Response] = []
    for position, row in enumerate(checked_rows(path, form.checked, shown, what=_WHAT)):
        rows.extend(_given(row, form, view, participant, position).rows())
    return ResponseTable.from_rows(rows)


def refuse_two_views(answered: Sequence[ResponseTable]) -> None:
    """Check that nobody was asked about an item in two views; a reveal is a second look, not another view.

    Errors: :class:`InputError` E487 naming the person, the item and both views.
    """
    seen: dict[tuple[str, str], str] = {}
    for table in answered:
        asked = table.where(measure=(MEASURE_CHOICE, MEASURE_PAGE))
        columns = (asked.column(name).tolist() for name in ("subject_id", "item_id", "view"))
        for who, item_id, view in zip(*columns, strict=True):
            before = seen.setdefault((who, item_id), view)
            if before != view:
                what = f"{who} answered {item_id!r} in the views {before} and {view}"
                hint = "who has seen an item in one view cannot judge it in another: ask somebody else"
                raise InputError(what, code="E487", place=Place(item_id=item_id), hint=hint)


def _form(items: Sequence[Item], view: str) -> _ViewForm:
    """The form of the task that the items are of, told by what they hold; other tasks have no sheet."""
    if view not in SHEET_VIEWS:
        raise InputError(f"there is no sheet of the view {view!r}", code="E619", hint=f"use {', '.join(SHEET_VIEWS)}")
    screens = {name: screen for name, screen in catalog.screens().items() if screen.on_sheet is not None}
    tasks = {_task_of(item, screens) for item in items}
    if len(tasks) == 1 and tasks <= screens.keys():
        (task,) = tasks
        return _form_of(task, screens[task], view)
    what = (
        f"a sheet holds pairs, senses to verify, or mentions to link, all of one kind, not {', '.join(sorted(tasks))}"
    )
    raise InputError(what, code="E617", hint="draw from one dataset of these tasks, or ask in the app")


def _form_of(task: str, screen: Screen, view: str) -> _ViewForm:
    told = (*screen.requires, *screen.shows)
    if screen.widget == "search":
        return _ViewForm(task, ("mention" if view == "word" else "context", *told), PAGE, screen.flags, told)
    numbered = "word" if view == "word" else "context"
    shown = (*(f"{numbered}{number}" for number in range(1, screen.n_usages + 1)), *told)
    return _ViewForm(task, shown, LABEL, ("word", "undecided") if view in screen.guess_views else (), told)


def _task_of(item: Item, screens: Mapping[str, Screen]) -> str:
    """Return the task whose sheets ask such an item, else what the item is."""
    asked = [name for name, screen in screens.items() if screen.on_sheet is not None and screen.on_sheet(item)]
    if asked:
        return asked[0]
    return f"items of {len(item.usages)} texts with glosses" if item.usages else "items without a text"


def _shown(item: Item, view: str, form: _ViewForm) -> tuple[str, ...]:
    told = [str(item.conditions.get(name, "")) for name in form.told]
    return (*shown_texts(item, "full" if view == REVEAL else view), *told)


def _of_sheet(path: Path | str, n_lists: int) -> tuple[str, str]:
    """The view and the list of a sheet, as its first row has them; the other rows are checked against them."""
    first = next(read_sheet(path, ("view", "list"), what=_WHAT), None)
    if first is None:
        raise InputError(
            "the sheet has no rows", code="E473", place=Place(str(path)), hint="keep all rows of the sheet"
        )
    known = {"view": SHEET_VIEWS, "list": tuple(str(number) for number in range(1, n_lists + 1))}
    for column, values in known.items():
        if first.cells[column] not in values:
            what = f"there is no {column} {first.cells[column]!r}"
            raise InputError(what, code="E474", place=first.place(column), hint=f"it was one of {', '.join(values)}")
    return first.cells["view"], first.cells["list"]


def _given(row: SheetRow, form: _ViewForm, view: str, participant: str, position: int) -> GivenAnswer:
    cells, again = row.cells, view == REVEAL
    marks = {column: is_marked(row, column) for column in form.beside if column != "word"}
    return GivenAnswer(
        participant,
        cells["item_id"],
        form.task,
        "full" if again else view,
        label=_label(row, marks) if form.answer == LABEL else None,
        page=cells[PAGE] if form.answer == PAGE else None,
        marks={f"flag_{column}": marked for column, marked in marks.items()},
        guess=cells["word"].strip() if "word" in form.beside else "",
        comment=cells["comment"],
        raw=cells[form.answer],
        revealed=again,
        list_id=cells["list"],
        position=position,
    )


def _label(row: SheetRow, marks: dict[str, bool]) -> str | None:
    label, undecided = row.cells[LABEL].strip().casefold(), marks.get("undecided", False)
    if label not in ("", SAME, DIFFERENT):
        what, hint = (
            f"{row.cells[LABEL]!r} is no answer",
            "write t (the same meaning; it fits), f (another), or nothing",
        )
        raise InputError(what, code="E475", place=row.place(LABEL), hint=hint)
    if undecided and label == DIFFERENT:
        what, hint = "who cannot decide writes t, not f", "write t, or take the mark under undecided away"
        raise InputError(what, code="E475", place=row.place("undecided"), hint=hint)
    return SAME if undecided else label or None
