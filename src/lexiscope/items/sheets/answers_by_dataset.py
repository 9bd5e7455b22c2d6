"""People's answers to the items of several datasets: read from files that name items alone, divided by dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.simulated import refuse_mixture
from lexiscope.items.sheets.given_answer import MEASURE_PAGE, read_view_judgments
from lexiscope.items.sheets.view_sheet import refuse_two_views
from lexiscope.items.tables.tabular import is_item_table
from lexiscope.resources.tables.delimited import read_header

_FORMS = "give wic_judgments.csv or link_judgments.csv of an export, or what lexiscope choices views --out has written"


def answers_by_dataset(paths: Sequence[str], datasets: Mapping[str, Sequence[Item]]) -> dict[str, ResponseTable]:
    """Return people's answers by dataset; *datasets* are the items that have a right answer, by dataset.

    Files of items (with guessed words) hold no answers and are skipped. A page that was found is the entry that was
    retrieved, by its id if a list has resolved it.
    Errors: :class:`InputError` E471 for another file, or for an item that no dataset has, or several have; E487 for a
    person who saw an item in two views, E508 for people and simulated participants together.
    """
    paths = [path for path in paths if not is_item_table(Path(path))]
    tables = [_read(Path(path)) for path in paths]
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
    what, hint = f"{answered}, which is no labelled item of this run", f"the run has {', '.join(datasets)}"
    return InputError(what, code="E471", place=place, hint=hint)


def _read(path: Path) -> ResponseTable:
    header = read_header(path)
    if "participant_id" in header:
        return read_view_judgments(path)
    if "subject_id" in header:
        return ResponseTable.read_csv(path)
    what = f"this is no file of people's answers: its columns are {', '.join(header[:6]) or 'none'}"
    raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)
