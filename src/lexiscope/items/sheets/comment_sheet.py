"""What participants wrote with their answers, as a sheet on which people code it: the same for every task.

A row is a comment with what the page showed of its item and the answer, without the participant. A study that knows
more of its items (the story, what other people answered) shows that instead (:func:`comment_sheet`).
*Source of the codes:* AmbiStory §4.2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

from lexiscope.core.errors import InputError, Place
from lexiscope.core.showing import counted
from lexiscope.items.sheets.form import TextColumn
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.resources.tables.rows import Row, RowReader

T = TypeVar("T")
COMMENT_CODES: Mapping[str, str] = {
    "rare_meaning": "the rater did not know the meaning, did not think of it, or finds it rare",
    "several_meanings": "the rater finds several meanings possible: the story leaves it open",
    "close_meanings": "the rater cannot keep the meaning apart from another one, or finds them the same",
    "other_meaning": "the rater has a meaning in mind that is not the one shown",
    "odd_text": "the story, the sentence or the definition is odd, wrong, or makes no sense",
    "procedure": "about the page, the task, or a slip of the rater",
}
"""What a comment can be about, and what each code means."""
_COLUMNS = ("item_id", "participant_id", "comment")


@dataclass(frozen=True, slots=True)
class Comment:
    """What a participant wrote with an answer; ``answer`` is empty where the file does not have it."""

    item_id: str
    participant_id: str
    text: str
    answer: str = ""
    phase: str = ""
    kind: str = "item"
    task: str = ""
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class CommentedAnswer:
    """A comment with what the page showed of its item: the texts, targets in brackets, and further columns."""

    comment: Comment
    word: str
    texts: tuple[str, ...]
    also: tuple[str, ...]

    @property
    def case_id(self) -> str:
        """An id made of the item, the participant and the phase alone; it does not tell who the participant is."""
        return anonymous_case_id(self.comment.item_id, self.comment.participant_id, self.comment.phase)


def anonymous_case_id(item_id: str, *who: str) -> str:
    """Return the id of a case on a sheet: its item, and a digest of the item and of *who* answered.

    >>> anonymous_case_id("i1", "ana") == anonymous_case_id("i1", "ben")
    False
    """
    digest = hashlib.sha256("\0".join((item_id, *who)).encode()).hexdigest()
    return f"{item_id}#{digest[:10]}"


def read_comments(path: Path | str) -> tuple[Comment, ...]:
    """Return the comments of a table with the columns item_id, participant_id and comment: ``judgments.csv``.

    Rows without a comment are passed over.
    Errors: :class:`InputError` E006 for a file without these columns, E472 for a participant with two comments on one
    item in one phase (with its line).
    """
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None or not set(_COLUMNS) <= set(header.fields):
        place = header.place() if header is not None else Place(str(path))
        raise InputError(f"not a table of comments: it needs {', '.join(_COLUMNS)}", code="E006", place=place)
    comments: dict[tuple[str, str, str], Comment] = {}
    for cells, row in _cells_of(header, rows):
        text = " ".join(cells["comment"].split())
        key = (cells["participant_id"].strip(), cells["item_id"].strip(), cells.get("phase", ""))
        if text and key in comments:
            what = "this rater has two comments on this item"
            raise InputError(what, code="E472", place=row.place(header.fields.index("comment")), hint="join the two")
        if text:
            answer = cells.get("response", "") or cells.get("response_text", "")
            excluded = cells.get("excluded", "").casefold() in ("1", "true", "yes")
            kind, task, (rater, item, phase) = cells.get("kind", "item"), cells.get("task_type", ""), key
            comments[key] = Comment(item, rater, text, answer, phase, kind, task, excluded)
    return tuple(comments.values())


def commented_answers(
    export: Path, shows: Callable[[str], tuple[str, ...]]
) -> tuple[tuple[CommentedAnswer, ...], int, str]:
    """Return the comments of an export on its items, how many others there are, and the task.

    The others are those of excluded participants, and of checks and other pages that are no item. *shows* returns the
    columns of an item file that a task's page shows (``group_*``: all that begin so).
    Errors: those of :func:`read_comments`; :class:`InputError` where there is no comment on an item.
    """
    comments = read_comments(export / "judgments.csv")
    rows = RowReader(export / "items.csv").rows()
    header = next(rows)
    items = {cells["item_id"]: cells for cells, _ in _cells_of(header, rows)}
    kept = [
        comment for comment in comments if not comment.excluded and comment.kind == "item" and comment.item_id in items
    ]
    if not kept:
        what = f"no comment is on an item ({counted(len(comments), 'comment')} on other pages or of excluded people)"
        what = what if comments else "no participant wrote a comment"
        hint = "set comments: true in the study file before participants answer"
        raise InputError(what, place=Place(str(export / "judgments.csv")), hint=hint)
    task = kept[0].task
    patterns = shows(task)
    shown = [name for name in header.fields if any(fnmatchcase(name, pattern) for pattern in patterns)]
    cases = []
    for comment in kept:
        cells = items[comment.item_id]
        also = tuple(f"{name}: {cells[name]}" for name in shown if cells[name])
        cases.append(CommentedAnswer(comment, cells["word"], tuple(_texts_of(cells)), also))
    return tuple(cases), len(comments) - len(kept), task


def comment_sheet(
    task: str,
    shown: tuple[TextColumn[T], ...],
    *,
    comment: Callable[[T], str],
    case_id: Callable[[T], str],
    item_id: Callable[[T], str],
) -> TagSheet[T]:
    """Return the sheet of comments of a task: what is *shown* of a case, the comment, and a column for each code."""
    columns = (*shown, TextColumn("comment", comment))
    what = "a sheet of raters' comments"
    return TagSheet(what, "comment_code", task, COMMENT_CODES, columns, case_id=case_id, item_id=item_id)


def answers_sheet(task: str) -> TagSheet[CommentedAnswer]:
    """Return the sheet of the comments of an export (:func:`commented_answers`)."""
    shown: tuple[TextColumn[CommentedAnswer], ...] = (
        TextColumn("texts", lambda case: " / ".join(case.texts)),
        TextColumn("also_shown", lambda case: "; ".join(case.also)),
        TextColumn("answer", lambda case: case.comment.answer),
    )
    return comment_sheet(
        task,
        shown,
        comment=lambda case: case.comment.text,
        case_id=lambda case: case.case_id,
        item_id=lambda case: case.comment.item_id,
    )


def _cells_of(header: Row, rows: Iterator[Row]) -> Iterator[tuple[dict[str, str], Row]]:
    for row in rows:
        yield dict(zip(header.fields, row.fields, strict=True)), row


def _texts_of(cells: Mapping[str, str]) -> Iterator[str]:
    number = 1
    while text := cells.get(f"sentence_{number}", ""):
        start, end = int(cells[f"start_{number}"]), int(cells[f"end_{number}"])
        yield f"{text[:start]}[{text[start:end]}]{text[end:]}"
        number += 1
