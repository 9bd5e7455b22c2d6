"""How a subject that judges answers a task: people, recorded answers, chat models. The same for every task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.judged import judged
from lexiscope.core.prompt import AskFunction, Converses
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Progress, Subject
from lexiscope.core.task import AnswerFunction, no_check
from lexiscope.items.answers.chat_answers import chat_answers
from lexiscope.items.arrange.views import view_item

TRAINED_MEASURES = (
    ("probability", "how probable a subject takes the answer in the column option to be, 0 to 1; higher means more"),
    ("cosine_distance", "distance of what a probe compares, for the answer in option; higher means farther apart"),
)
"""What trained classifiers and probes say beside their choice."""
_NUMBERS = {2: "two"}


def check_usages(item: Item, number: int, *, task: str) -> Item:
    """Return an item that has this many usages, and no options that stand for usages of their own.

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


def answering(
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
        """Answer with the judgments that the subject gives or has recorded: :func:`lexiscope.core.judged.judged`.

        A subject that converses is asked in words: :func:`lexiscope.items.answers.chat_answers.chat_answers`.
        """
        shown = [view_item(item, view) for item in items]
        for item in shown:
            check(item)
        if asks is not None and isinstance(subject, Converses):
            how = {"work": work, "progress": progress}
            return chat_answers(shown, subject, asks, task=task, measure=measure, view=view, **how)  # type: ignore[arg-type]
        return judged(shown, subject, task=task, measure=measure, view=view, progress=progress)

    return by_judgment
