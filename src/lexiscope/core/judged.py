"""The answers of a subject that judges, arranged as every task owes them: one view, the order of the items, no gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

import numpy as np

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Judges, Progress, Subject


@runtime_checkable
class TrainedOnView(Protocol):
    """A subject that learnt from one view and must not be asked in another."""

    def check_view(self, view: str) -> None:
        """Refuse a view. Errors: :class:`SubjectError`."""


def judged(
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
    items is left out; an answer whose view is not stated counts for the view that is asked. An item without an answer
    in this view has a row of *measure* without value.
    Errors: :class:`SubjectError` for an item of which the subject says nothing at all, for an answer to an item that
    was not asked, and for a subject that returns no response table, that has no answer in this view, or that was
    trained on another one.
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
    found = table.filter(np.array([*(each == view for each in views), True])[codes])
    if not len(found):
        known = ", ".join(str(each) for each in table.unique("view"))
        raise SubjectError(f"{subject.subject_id} has no answer in the view {view!r}", hint=f"it has: {known}")
    return found


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
