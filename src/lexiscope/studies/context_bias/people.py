"""People's answers to the same items: read from what the app and ``lexiscope choices`` write, divided by dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import DataError, InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.simulated import refuse_mixture
from lexiscope.items.given_answer import MEASURE_PAGE, read_view_judgments
from lexiscope.items.guessed_word import GUESS_OF, certain_forms, guessed_items, guesses_of, propose_forms
from lexiscope.items.inflection import EnglishForms
from lexiscope.items.tabular import is_item_table, read_items
from lexiscope.items.view_sheet import refuse_two_views
from lexiscope.resources import wordnet
from lexiscope.resources.tables import read_header
from lexiscope.studies.context_bias.material import AuditSet

_FORMS = "give wic_judgments.csv or link_judgments.csv of an export, or what lexiscope choices views --out has written"


def read_people(paths: Sequence[str], sets: Sequence[AuditSet]) -> dict[str, ResponseTable]:
    """Return people's answers by dataset; whom they came from stands in the column ``subject_id``.

    Files of items (with guessed words) hold no answers and are passed over.
    Errors: :class:`InputError` E471 for another file, or for an item that no dataset of the run has with a right
    answer, or that several have; E487 for a person who saw an item in two views, E508 for
    people and simulated participants together.
    """
    paths = [path for path in paths if not is_item_table(Path(path))]
    tables = [_read(Path(path)) for path in paths]
    refuse_two_views(tables)
    refuse_mixture({kind for table in tables for kind in table.unique("subject_kind")}, place=Place(", ".join(paths)))
    owners: dict[str, list[str]] = {}
    for audit in sets:
        for item in audit.labelled:
            owners.setdefault(item.item_id, []).append(audit.name)
    by_set: dict[str, list[Response]] = {}
    for path, table in zip(paths, tables, strict=True):
        for row in table.rows():
            names = owners.get(row.item_id, [])
            if not names:
                what = f"{row.subject_id} answered {row.item_id!r}, which is no labelled item of this run"
                hint = f"the run has {', '.join(each.name for each in sets)}"
                raise InputError(what, code="E471", place=Place(path, item_id=row.item_id), hint=hint)
            if len(names) > 1:
                what = f"{row.subject_id} answered {row.item_id!r}, which {' and '.join(names)} both have"
                hint = "run these datasets apart: their items are numbered alike"
                raise InputError(what, code="E471", place=Place(path, item_id=row.item_id), hint=hint)
            by_set.setdefault(names[0], []).append(_as_option(row))
    return {name: ResponseTable.from_rows(rows) for name, rows in by_set.items()}


def guessed_at(audit: AuditSet, answers: ResponseTable, files: Sequence[str]) -> tuple[tuple[Item, ...], str]:
    """Return the items of a dataset with guessed words in their place, and in words how their forms were found.

    They are read where one of the *files* holds them (``lexiscope choices guesses --out``). Else those guesses are
    taken whose form is certain; what a person would have to decide on is left out, and counted.
    """
    given = [item for path in files if is_item_table(Path(path)) for item in read_items(path)]
    own = {item.item_id for item in audit.labelled}
    chosen = tuple(item for item in given if item.conditions.get(GUESS_OF) in own)
    guesses = guesses_of(answers)
    if chosen or not guesses:
        return chosen, "Their forms were decided on by a person." if chosen else ""
    try:
        forms = EnglishForms.of(wordnet.load())
    except DataError as error:
        return (), f"{len(guesses)} guessed words were not put back: {error.what}."
    found = propose_forms(audit.labelled, guesses, forms)
    items = guessed_items(audit.labelled, found.slots, certain_forms(found.slots))
    told = f"{len(guesses)} words were guessed; {len(found.same)} of them are the hidden word, and "
    doubtful = len(guesses) - len(found.same) - len(items)
    return items, f"{told}{doubtful} were left out because a person has to decide on their form."


def _read(path: Path) -> ResponseTable:
    header = read_header(path)
    if "participant_id" in header:
        return read_view_judgments(path)
    if "subject_id" in header:
        return ResponseTable.read_csv(path)
    what = f"this is no file of people's answers: its columns are {', '.join(header[:6]) or 'none'}"
    raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)


def _as_option(row: Response) -> Response:
    """A page that was found is the entry that was retrieved, by its id where a list has resolved it."""
    found = row.option or row.raw or None
    return row if row.measure != MEASURE_PAGE else replace(row, measure="retrieved", option=found)
