"""People's answers to the tests of senses, word intrusion and the choice of a sense, as files: read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.simulated import COLLECTED, TOLD_SIMULATED, refuse_mixture
from lexiscope.items.tabular import is_item_table, read_items
from lexiscope.resources.tables import read_header
from lexiscope.tasks.sense_choice import GROUP, groups_of
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION
from lexiscope.tasks.word_intrusion import words_of

MEASURE = "choice"
TASKS = (INTRUSION, SELECTION)
PEOPLE_KINDS = (*COLLECTED, "recorded")
"""Each ``subject_kind`` whose answers to tests of senses are people's."""
_FORMS = "give choices.csv of an export (or another table of responses), and the files of items that were asked"


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Answers to tests of senses, and the items that were asked, by id."""

    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    items: Mapping[str, Item] = field(default_factory=dict)


def read_people(paths: Sequence[str]) -> Judgments:
    """Read people's answers and the items of their tests, from several files of either kind.

    Errors: those of :func:`items_by_id` and :func:`judgments_of`; :class:`InputError` E471 for another file.
    """
    tables = [path for path in paths if is_item_table(Path(path))]
    items = items_by_id([(path, read_items(path)) for path in tables])
    return judgments_of([path for path in paths if path not in tables], items)


def items_by_id(files: Sequence[tuple[str, Sequence[Item]]]) -> dict[str, Item]:
    """Return the items of several files, each with its name, by their ids; a file may be given twice.

    Errors: :class:`InputError` E471 where two files have different items of one id: an answer could be to either.
    """
    found: dict[str, Item] = {}
    for path, items in files:
        for item in items:
            if found.setdefault(item.item_id, item) != item:
                what = "another item with this id was given before"
                hint = "make the test of each model under a name of its own: lexiscope senses … --name NAME"
                raise InputError(what, code="E471", place=Place(path, item_id=item.item_id), hint=hint)
    return found


def judgments_of(paths: Sequence[str], items: Mapping[str, Item]) -> Judgments:
    """Read people's answers to *items*.

    Errors: :class:`InputError` E471 for another file, ``responses.csv`` of an export, an answer to none of the items
    or that is none of an item's options, of a model, or to a task that is no test of senses; E508 for answers of people
    and of simulated participants together.
    """
    answers = ResponseTable.concat([_answers(Path(path), items) for path in paths])
    refuse_mixture(answers.unique("subject_kind"), place=Place(", ".join(map(str, paths))))
    return Judgments(answers, items)


def check_known(path: Path, answers: ResponseTable, items: Mapping[str, Item]) -> None:
    """Check that all answers of a file are to *items*. Errors: :class:`InputError` E471 naming one that is not."""
    unknown = [name for name in answers.unique("item_id") if name not in items]
    if unknown:
        what = f"{len(unknown)} items that it answers are in no file of items"
        raise InputError(what, code="E471", place=Place(str(path), item_id=unknown[0]), hint=_FORMS)


def task_of(item: Item) -> str:
    """Return which test an item belongs to: sense selection where it has groups of words, else word intrusion."""
    return SELECTION if any(name.startswith(GROUP) for name in item.conditions) else INTRUSION


def options_of(item: Item) -> tuple[str, ...]:
    """Return what can be answered to an item: its words, or the numbers of its senses."""
    return tuple(groups_of(item)) if task_of(item) == SELECTION else words_of(item)


def told_if_simulated(answers: ResponseTable) -> tuple[str, ...]:
    """Return what must be said where some of the people are simulated, else nothing."""
    return (f"Simulated participants: {TOLD_SIMULATED}.",) if holds_simulated(answers) else ()


def _answers(path: Path, items: Mapping[str, Item]) -> ResponseTable:
    header = read_header(path)
    if "subject_id" not in header:
        what = f"this is no table of responses: its columns are {', '.join(header[:6]) or 'none'}"
        raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)
    whole = ResponseTable.read_csv(path)
    # the one measure that an export's complete table always has: in it excluded people's answers are not marked
    if "completion_time" in whole.unique("measure"):
        what = "this is the complete table of an export: who is excluded is not marked in it"
        raise InputError(what, code="E471", place=Place(str(path)), hint="give choices.csv of the same export")
    table = whole.where(measure=MEASURE)
    for task in table.unique("task"):
        if task not in TASKS:
            what = f"it answers the task {task!r}, which is no test of senses"
            raise InputError(what, code="E471", place=Place(str(path)), hint=f"use {' or '.join(TASKS)}")
    # a model's answer in a majority of three would be a judgment that nobody made
    models = [kind for kind in table.unique("subject_kind") if kind not in PEOPLE_KINDS]
    if models:
        what = f"it holds answers of the kind {models[0]!r}, which no person gave"
        hint = "name the run of the models with --models instead"
        raise InputError(what, code="E471", place=Place(str(path)), hint=hint)
    check_known(path, table, items)
    _check_options(path, table, items)
    return table


def _check_options(path: Path, answers: ResponseTable, items: Mapping[str, Item]) -> None:
    """Check that every choice is on its page: another spelling would be counted as a wrong answer."""
    offered = {name: options_of(items[name]) for name in answers.unique("item_id")}
    for name, option in zip(answers.column("item_id").tolist(), answers.column("option").tolist(), strict=True):
        if option is not None and option not in offered[name]:
            what = f"the answer {option!r} is none of its options: {', '.join(offered[name])}"
            hint = "give the items that were asked, and answers as the app writes them"
            raise InputError(what, code="E471", place=Place(str(path), item_id=name), hint=hint)
