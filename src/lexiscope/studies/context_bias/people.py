"""People's answers to the same items: read from what the app and ``lexiscope choices`` write, divided by dataset."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.analysis.view_scores import FixedScore
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.items.given_answer import MEASURE_GUESS, MEASURE_PAGE, read_view_judgments
from lexiscope.items.view_sheet import refuse_two_views
from lexiscope.studies.context_bias.material import AuditSet
from lexiscope.studies.context_bias.published import HUMAN

_FORMS = "give wic_judgments.csv or link_judgments.csv of an export, or what lexiscope choices views --out has written"


def read_people(paths: Sequence[str], sets: Sequence[AuditSet]) -> dict[str, ResponseTable]:
    """Return people's answers by dataset; whom they came from stands in the column ``subject_id``.

    Errors: :class:`InputError` E471 for another file, or for an item that no dataset of the run has with a right
    answer; E487 for a person who saw an item in two views.
    """
    tables = [_read(Path(path)) for path in paths]
    refuse_two_views(tables)
    owner = {item.item_id: audit.name for audit in sets for item in audit.labelled}
    by_set: dict[str, list[Response]] = {}
    for path, table in zip(paths, tables, strict=True):
        for row in table.rows():
            if row.item_id not in owner:
                what = f"{row.subject_id} answered {row.item_id!r}, which is no labelled item of this run"
                hint = f"the run has {', '.join(each.name for each in sets)}"
                raise InputError(what, code="E471", place=Place(path, item_id=row.item_id), hint=hint)
            by_set.setdefault(owner[row.item_id], []).append(_as_option(row))
    return {name: ResponseTable.from_rows(rows) for name, rows in by_set.items()}


def printed_scores(audit: AuditSet) -> dict[str, FixedScore]:
    """Return the scores of people that the paper prints of a dataset; empty where it is not the whole input's."""
    known = {each.view: each.fixed for each in HUMAN.get(audit.name, ())}
    return known if "full" in known else {}


def guesses_of(answers: ResponseTable) -> Iterator[tuple[str, str, str]]:
    """Yield who guessed which word of which item: (person, item id, guess), in the order of the answers."""
    for row in answers.where(measure=MEASURE_GUESS).rows():
        if row.raw and row.raw.strip():
            yield row.subject_id, row.item_id, row.raw.strip()


def with_guesses(audit: AuditSet, answers: ResponseTable) -> tuple[Item, ...]:
    """Return the labelled items of which somebody guessed the word, with the first guess to be put in its place."""
    first: dict[str, str] = {}
    for _, item_id, guess in guesses_of(answers):
        first.setdefault(item_id, guess)
    return tuple(
        replace(item, conditions={**item.conditions, "guessed_word": first[item.item_id]})
        for item in audit.labelled
        if item.item_id in first
    )


def _read(path: Path) -> ResponseTable:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = next(csv.reader(stream), [])
    if "participant_id" in header:
        return read_view_judgments(path)
    if "subject_id" in header:
        return ResponseTable.read_csv(path)
    what = f"this is no file of people's answers: its columns are {', '.join(header[:6]) or 'none'}"
    raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)


def _as_option(row: Response) -> Response:
    """A page that was found is the entry that was retrieved."""
    return row if row.measure != MEASURE_PAGE else replace(row, measure="retrieved", option=row.raw or None)
