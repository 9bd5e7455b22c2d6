"""How a subject that judges answers a task: people, recorded answers, chat models. The same for every task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

import numpy as np

from lexiscope.core.errors import InputError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import AskFunction, Converses
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Judges, Progress, Subject
from lexiscope.core.task import AnswerFunction, no_check
from lexiscope.items.answers.chat_answers import chat_answers
from lexiscope.items.arrange.views import view_item

TRAINED_MEASURES = (
    ("probability", "how probable a subject takes the answer in the column option to be, 0 to 1; higher means more"),
    ("cosine_distance", "distance of what a probe compares, for the answer in option; higher means farther apart"),
)
"""Measures of trained classifiers and probes in addition to their choice."""
_NUMBERS = {2: "two"}


def check_usages(item: Item, number: int, *, task: str) -> Item:
    """Return an item that has this many usages, and no options with separate usages.

    Errors: :class:`InputError` E617 naming the item and what it has.
    """
    counted = "one usage" if number == 1 else f"{_NUMBERS[number]} usages"
    if len(item.usages) != number:
        what = f"a {task} item has {counted}, this one has {len(item.usages)}"
        raise InputError(what, code="E617", place=Place(item_id=item.item_id))
    if len(item.usages) > 1 and len(item.options) == len(item.usages):
        what = f"a {task} item has {counted}, this one has options ({', '.join(item.options)}), a text with each"
        raise InputError(what, code="E617", place=Place(item_id=item.item_id), hint="ask it the task minimal_pair")
    return item


def judgment_function(
    task: str, measure: str, *, check: Callable[[Item], object] = no_check, asks: AskFunction | None = None
) -> AnswerFunction:
    """Return the answer function of a task for subjects that judge.

    *measure* is the measure of a row without answer; *check* refuses an item that the task cannot ask. *asks* makes the
    questions for a subject that converses.
    """

    def by_judgment(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the judgments that the subject gives or has recorded: :func:`ordered_judgments`.

        A subject that converses is asked as text: :func:`lexiscope.items.answers.chat_answers.chat_answers`.
        """
        shown = [view_item(item, view) for item in items]
        for item in shown:
            check(item)
        if asks is not None and isinstance(subject, Converses):
            how = {"work": work, "progress": progress}
            return chat_answers(shown, subject, asks, task=task, measure=measure, view=view, **how)  # type: ignore[arg-type]
        return ordered_judgments(shown, subject, task=task, measure=measure, view=view, progress=progress)

    return by_judgment


# -- judgments as every task returns them: one view, the order of the items, no gaps ---------------------------------


@runtime_checkable
class TrainedOnView(Protocol):
    """A subject that learnt from one view and must not be asked in another."""

    def check_view(self, view: str) -> None:
        """Refuse a view. Errors: :class:`SubjectError`."""


def ordered_judgments(
    items: Sequence[Item],
    subject: Subject,
    *,
    task: str,
    measure: str,
    view: str,
    progress: Progress | None = None,
) -> ResponseTable:
    """Return the judgments that a subject gives or has recorded, in the order of the items.

    *items* are given as the subject is to see them: the task applies the view. An answer to another view of the same
    items is excluded; an answer whose view is not stated counts for the view that is asked. An item without an answer
    in this view has a row of *measure* without value.
    Errors: :class:`SubjectError` for an item without any row of the subject, for an answer to an item that was not
    asked, and for a subject that returns no response table, that has no answer in this view, or that was trained on
    another one.
    """
    if isinstance(subject, TrainedOnView):
        subject.check_view(view)
    everything = cast(Judges, subject).judge(items, task)
    if not isinstance(everything, ResponseTable):
        raise SubjectError(
            f"{subject.subject_id} answered with a {type(everything).__name__}, not with a response table",
            hint="return ResponseTable.from_rows([...]) with at least one row per item",
        )
    _check_none_silent(everything, items, subject)
    _check_asked(everything, items, subject)
    table = _in_view(everything, view, subject)
    answered = set(table.unique("item_id"))
    missing = [item.item_id for item in items if item.item_id not in answered]
    if progress is not None:
        progress(len(items), len(items))
    gaps = {"item_id": missing, "subject_id": subject.subject_id, "subject_kind": subject.kind, "view": view}
    together = ResponseTable.concat([table, ResponseTable.from_columns(gaps | {"task": task, "measure": measure})])
    return _in_order(together.with_column("view", view), items)


def _in_view(table: ResponseTable, view: str, subject: Subject) -> ResponseTable:
    codes, views = table.codes("view")
    # the code of a view that is not stated is -1: the last entry
    answers = table.filter(np.array([*(name == view for name in views), True])[codes])
    if not len(answers):
        known = ", ".join(str(name) for name in table.unique("view"))
        raise SubjectError(
            f"{subject.subject_id} has no answer in the view {view!r}", hint=f"views with answers: {known}"
        )
    return answers


def _check_none_silent(table: ResponseTable, items: Sequence[Item], subject: Subject) -> None:
    known = set(table.unique("item_id"))
    silent = [item.item_id for item in items if item.item_id not in known]
    if silent:
        raise SubjectError(
            f"{subject.subject_id} gave no row for {len(silent)} of {len(items)} items",
            place=Place(item_id=silent[0]),
            why="an item without an answer needs a row whose value is missing",
        )


def _check_asked(table: ResponseTable, items: Sequence[Item], subject: Subject) -> None:
    asked = {item.item_id for item in items}
    others = [name for name in table.unique("item_id") if name not in asked]
    if others:
        rows = len(table.where(item_id=others))
        raise SubjectError(
            f"{subject.subject_id} answered {len(others)} item{'s' if len(others) > 1 else ''} that it was not asked",
            place=Place(item_id=others[0]),
            why=f"{rows} row{'s' if rows > 1 else ''} would be lost: another item_id, or another file of items",
            hint="return rows of the items given to judge only, with their item_id unchanged",
        )


def _in_order(table: ResponseTable, items: Sequence[Item]) -> ResponseTable:
    """Return the rows in the order of the items, each item's rows as they stood."""
    position = {item.item_id: number for number, item in enumerate(items)}
    codes, names = table.codes("item_id")
    order = np.array([position[name] for name in names], dtype=np.int64)[codes]
    return table.take(np.argsort(order, kind="stable"))
