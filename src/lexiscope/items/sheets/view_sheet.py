"""Items in one view as a sheet: written as CSV, answered by hand, read back as responses.

The columns are those of the context–word bias study (its Figure 5): number, contexts, label, and in the view without
the target the guessed word; after them are the mark of participants who cannot decide, a comment, and what identifies
the row. Contexts are shown as people see them in the app: the target in brackets, or ``[X]`` in its place, or the words
alone. The sheet ``reveal`` shows the same items again in full to the participants who answered them without the target;
the answers there are second judgments, under a separate measure, and never mixed with those of another view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import Screen
from lexiscope.core.simulated import refuse_mixture
from lexiscope.items.answers.sense_options import DIFFERENT, SAME
from lexiscope.items.arrange.lists import OverlappingLists
from lexiscope.items.arrange.views import shown_texts
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, note_column, parse_mark
from lexiscope.items.sheets.given_answer import (
    MEASURE_CHOICE,
    MEASURE_PAGE,
    GivenAnswer,
    read_view_judgments,
    with_page_ids,
)
from lexiscope.items.tables.spreadsheet import read_sheet
from lexiscope.items.tables.tabular import is_item_table
from lexiscope.resources.corpora.entity_list import EntityList
from lexiscope.resources.tables.delimited import read_header

LABEL, PAGE = "label", "page"
REVEAL = "reveal"
SHEET_VIEWS = ("full", "context", "word", REVEAL)
"""The sheets that there are; ``reveal`` follows ``context``."""

_WHAT = "a sheet of items in one view"


_Numbered = tuple[int, Item]
"""An item with its number on the sheet, from 1."""


@dataclass(frozen=True, slots=True)
class _ViewSheet:
    """The sheet of a task in a view: which column holds the answer, and what may be marked or written next to it."""

    task: str
    answer: str
    extra: tuple[str, ...]
    form: SheetForm[_Numbered]


def write_view_sheet(path: Path | str, items: Sequence[Item], *, view: str, list_id: str = "1") -> None:
    """Write the sheet of a list in a view, in the order of the items; the correct answers are not in it.

    Pairs and senses to verify are asked for ``label`` (t or f), mentions in one text for ``page``;
    :func:`read_view_sheet` reads it back.
    Errors: :class:`InputError` E619 for a view that has no sheet, E617 for items that are none of these, or not all of
    one kind; :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    _view_sheet(items, view, list_id).form.write(path, enumerate(items, start=1))


def read_view_sheet(path: Path | str, drawn: OverlappingLists, *, participant: str) -> ResponseTable:
    """Read an answered sheet; the sheet says which view and which of the lists it is.

    An answer is ``t`` or ``f`` in any case; an empty one is a row without option. Who marks ``undecided`` has answered
    ``t``, as the study asks for, and has a row ``flag_undecided``. Guesses and comments are separate rows, so that no
    entry of the sheet is lost. Rows are in the order of the sheet.
    Errors: :class:`InputError` E474 (a view or list that there is not), E475 (no answer that can be given, a mark that
    is none, *undecided* with ``f``), E505 (no name), and those of
    :meth:`~lexiscope.items.sheets.form.SheetForm.read`.
    """
    if not participant.strip():
        raise InputError("a sheet needs the name of its participant", code="E505", hint="use a code, not a full name")
    view, list_id = _view_and_list(path, len(drawn.lists))
    items = drawn.lists[int(list_id) - 1]
    sheet = _view_sheet(items, view, list_id)
    rows: list[Response] = []
    for position, row in enumerate(sheet.form.read(path, enumerate(items, start=1))):
        rows.extend(_given_answer(row, sheet, view, participant, list_id, position).rows())
    return ResponseTable.from_rows(rows)


def refuse_two_views(answered: Sequence[ResponseTable]) -> None:
    """Check that no participant was asked about an item in two views; a reveal is a second look, not another view.

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
                hint = "a participant who has seen an item in one view cannot judge it in another: ask another one"
                raise InputError(what, code="E487", place=Place(item_id=item_id), hint=hint)


def _view_sheet(items: Sequence[Item], view: str, list_id: str) -> _ViewSheet:
    """Return the sheet of the task that the items are of, told by what they hold; other tasks have no sheet."""
    if view not in SHEET_VIEWS:
        raise InputError(f"there is no sheet of the view {view!r}", code="E619", hint=f"use {', '.join(SHEET_VIEWS)}")
    screens = {name: screen for name, screen in catalog.screens().items() if screen.on_sheet is not None}
    tasks = {_task_of(item, screens) for item in items}
    if len(tasks) == 1 and tasks <= screens.keys():
        (task,) = tasks
        return _sheet_of(task, screens[task], view, list_id)
    what = (
        f"a sheet holds pairs, senses to verify, or mentions to link, all of one kind, not {', '.join(sorted(tasks))}"
    )
    raise InputError(what, code="E617", hint="draw from one dataset of these tasks, or ask in the app")


def _sheet_of(task: str, screen: Screen, view: str, list_id: str) -> _ViewSheet:
    if screen.widget == "search":
        texts, answer, extra = ["mention" if view == "word" else "context"], answer_column(PAGE), screen.flags
    else:
        numbered = "word" if view == "word" else "context"
        texts, answer = (
            [f"{numbered}{number}" for number in range(1, screen.n_usages + 1)],
            answer_column(LABEL, _label),
        )
        extra = ("word", "undecided") if view in screen.guess_views else ()
    columns: list[TextColumn[_Numbered]] = [
        note_column("example_no", lambda numbered: str(numbered[0])),
        *(TextColumn(name, _text(at, view)) for at, name in enumerate(texts)),
        *(TextColumn(name, _condition(name)) for name in (*screen.requires, *screen.shows)),
        answer,
        *(answer_column(name, str.strip if name == "word" else parse_mark) for name in extra),
        answer_column("comment"),
        TextColumn("view", lambda _: view),
        TextColumn("list", lambda _: list_id),
        TextColumn("item_id", lambda numbered: numbered[1].item_id),
    ]
    return _ViewSheet(task, answer.name, extra, SheetForm(_WHAT, tuple(columns), key="item_id"))


def _text(at: int, view: str) -> Callable[[_Numbered], str]:
    return lambda numbered: shown_texts(numbered[1], "full" if view == REVEAL else view)[at]


def _condition(name: str) -> Callable[[_Numbered], str]:
    return lambda numbered: str(numbered[1].conditions.get(name, ""))


def _task_of(item: Item, screens: Mapping[str, Screen]) -> str:
    """Return the task whose sheets ask such an item, else what the item is."""
    asked = [name for name, screen in screens.items() if screen.on_sheet is not None and screen.on_sheet(item)]
    if asked:
        return asked[0]
    return f"items of {len(item.usages)} texts with glosses" if item.usages else "items without a text"


def _view_and_list(path: Path | str, n_lists: int) -> tuple[str, str]:
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


def _given_answer(
    row: FilledRow[_Numbered], sheet: _ViewSheet, view: str, participant: str, list_id: str, position: int
) -> GivenAnswer:
    values, again = row.values, view == REVEAL
    marks = {column: values[column] for column in sheet.extra if column != "word"}
    label = values.get(LABEL)
    if marks.get("undecided") and label == DIFFERENT:
        what, hint = "who cannot decide writes t, not f", "write t, or take the mark under undecided away"
        row.refuse("undecided", what, code="E475", hint=hint)
    return GivenAnswer(
        participant,
        row.thing[1].item_id,
        sheet.task,
        "full" if again else view,
        label=SAME if marks.get("undecided") and sheet.answer == LABEL else label,
        page=values.get(PAGE),
        marks={f"flag_{column}": marked for column, marked in marks.items()},
        guess=values.get("word", ""),
        comment=values["comment"],
        raw=row.row.cells[sheet.answer],
        revealed=again,
        list_id=list_id,
        position=position,
    )


def _label(text: str) -> str | None:
    label = text.strip().casefold()
    if label not in ("", SAME, DIFFERENT):
        hint = "write t (the same meaning; it fits), f (another), or nothing"
        raise InputError(f"{text!r} is not an answer", code="E475", hint=hint)
    return label or None


# -- answers to the items of several datasets -------------------------------------------------------------------------
# People's answers to the items of several datasets: read from files that name items alone, divided by dataset.


_FORMS = "give wic_judgments.csv or link_judgments.csv of an export, or what lexiscope choices views --out has written"


def answers_by_dataset(
    paths: Sequence[str], datasets: Mapping[str, Sequence[Item]], *, entities: str = ""
) -> dict[str, ResponseTable]:
    """Return people's answers by dataset; *datasets* are the items that have a correct answer, by dataset.

    Files of items (with guessed words) hold no answers and are skipped. A page that was found is the entry that was
    retrieved, by its id if a list has resolved it, or is one of the file *entities*.
    Errors: :class:`InputError` E471 for another file, or for an item that no dataset has, or several have; E487 for a
    person who saw an item in two views, E508 for people and simulated participants together.
    """
    paths = [path for path in paths if not is_item_table(Path(path))]
    tables = [_read(Path(path)) for path in paths]
    if entities:
        listed = EntityList.read(Path(entities))
        tables = [with_page_ids(table, listed) for table in tables]
    refuse_two_views(tables)
    refuse_mixture({kind for table in tables for kind in table.unique("subject_kind")}, place=Place(", ".join(paths)))
    owners: dict[str, list[str]] = {}
    for name, items in datasets.items():
        for item in items:
            owners.setdefault(item.item_id, []).append(name)
    by_dataset: dict[str, list[Response]] = {}
    for path, table in zip(paths, tables, strict=True):
        for row in table.rows():
            names = owners.get(row.item_id, [])
            if len(names) != 1:
                raise _owner_error(row, Place(path, item_id=row.item_id), names, datasets)
            if row.measure == MEASURE_PAGE:
                row = replace(row, measure="retrieved", option=row.option or row.raw or None)
            by_dataset.setdefault(names[0], []).append(row)
    return {name: ResponseTable.from_rows(rows) for name, rows in by_dataset.items()}


def _owner_error(
    row: Response, place: Place, names: Sequence[str], datasets: Mapping[str, Sequence[Item]]
) -> InputError:
    answered = f"{row.subject_id} answered {row.item_id!r}"
    if names:
        what = f"{answered}, which {' and '.join(names)} both have"
        return InputError(
            what, code="E471", place=place, hint="run these datasets apart: they number their items alike"
        )
    what, hint = f"{answered}, which is not a labelled item of this run", f"the run has {', '.join(datasets)}"
    return InputError(what, code="E471", place=place, hint=hint)


def _read(path: Path) -> ResponseTable:
    header = read_header(path)
    if "participant_id" in header:
        return read_view_judgments(path)
    if "subject_id" in header:
        return ResponseTable.read_csv(path)
    what = f"this is not a file of people's answers: its columns are {', '.join(header[:6]) or 'none'}"
    raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)
