"""Why a model's rating of a story is wrong: a sheet on which people tag errors, and tags that are read back.

A row of the sheet is one error: a story with its ambiguous word in brackets, the meaning that was judged, what people
said and what a subject answered. Which subject that was is not shown. Several tags may apply; where none does, coders
say so, so that an empty row is one that was not looked at. *Source:* AmbiStory §5.2 (the three kinds of error).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.build.stories.stories import TASK, story_text
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, parse_mark

MEASURE = "error_tag"
TAGS: Mapping[str, str] = {
    "red_herring": "a word of the story goes with the wrong meaning, and seems to have decided the answer",
    "open_ended": "the story leaves the meaning open, and the answer takes a side",
    "sense_distinction": "the two meanings are close, and the answer does not keep them apart",
}
"""The tags, and what each means."""

NONE = "none_of_these"


@dataclass(frozen=True, slots=True)
class ErrorCase:
    """One wrong answer: the item, who gave it, the answer, and the mean and SD (n − 1) of people's ratings."""

    item: Item
    subject: str
    answer: float
    mean: float
    sd: float

    @property
    def case_id(self) -> str:
        """An id made of item and subject alone; it does not tell the subject's name."""
        digest = hashlib.sha256(f"{self.item.item_id}\0{self.subject}".encode()).hexdigest()
        return f"{self.item.item_id}#{digest[:10]}"


def write_tag_sheet(path: Path | str, cases: Sequence[ErrorCase]) -> None:
    """Write the sheet of some errors; coders put an x under each tag that applies, or under ``none_of_these``.

    Errors: :class:`InputError` for a case that occurs twice, or without the conditions of a story;
    :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    SHEET.write(path, _distinct(cases))


def read_tags(path: Path | str, cases: Sequence[ErrorCase], *, coder: str) -> ResponseTable:
    """Read a coded sheet: for each error a row per tag, 1 where it applies and 0 where not, the comment in ``raw``.

    The coder is the subject and the id of the case the item; the measure names the tag.
    Errors: :class:`InputError` E475 (a mark that is none, or a tag and also ``none_of_these``), E476 (nothing is
    marked), E505 for a coder without a name, and those of :meth:`~lexiscope.items.sheets.form.SheetForm.read`.
    """
    if not coder.strip():
        raise InputError("a sheet needs the name of its coder", code="E505", hint="use a code, not a full name")
    rows: list[Response] = []
    for position, row in enumerate(SHEET.read(path, _distinct(cases))):
        rows.extend(_tags(row, coder, position))
    return ResponseTable.from_rows(rows)


def tag_measure(tag: str) -> str:
    """Return the measure of a tag's rows.

    >>> tag_measure("red_herring")
    'error_tag(tag=red_herring)'

    Errors: :class:`InputError` where there is no such tag.
    """
    if tag not in TAGS:
        raise InputError(f"there is no tag {tag!r}", hint=f"the tags are {', '.join(TAGS)}")
    return statistic_name(MEASURE, tag=tag)


def _distinct(cases: Sequence[ErrorCase]) -> Sequence[ErrorCase]:
    seen: set[str] = set()
    for case in cases:
        if case.case_id in seen:
            raise InputError("an error stands twice", code="E472", place=Place(item_id=case.item.item_id))
        seen.add(case.case_id)
    return cases


SHEET: SheetForm[ErrorCase] = SheetForm(
    "a sheet of error tags",
    (
        TextColumn("case_id", lambda case: case.case_id),
        TextColumn("story", lambda case: story_text(case.item, case.item.usages[0].bracketed)),
        TextColumn("meaning", lambda case: str(case.item.condition("sense"))),
        TextColumn("example", lambda case: str(case.item.condition("example"))),
        TextColumn("people", lambda case: f"{case.mean:.2f} ± {case.sd:.2f}"),
        TextColumn("answer", lambda case: f"{case.answer:g}"),
        *(answer_column(name, parse_mark) for name in (*TAGS, NONE)),
        answer_column("comment"),
    ),
    key="case_id",
)
"""The columns of the sheet."""


def _tags(row: FilledRow[ErrorCase], coder: str, position: int) -> Iterator[Response]:
    applies = {tag: row.values[tag] for tag in TAGS}
    none = row.values[NONE]
    if none and any(applies.values()):
        hint = f"take the x away from {NONE}, or from the tags"
        row.refuse(NONE, "a tag stands beside none_of_these", code="E475", hint=hint)
    if not none and not any(applies.values()):
        row.refuse(
            next(iter(TAGS)), "this error has no tag", code="E476", hint=f"put an x under a tag, or under {NONE}"
        )
    for tag, given in applies.items():
        yield Response(
            subject_id=coder,
            subject_kind="participant",
            item_id=row.thing.case_id,
            task=TASK,
            measure=tag_measure(tag),
            value=float(given),
            position=position,
            raw=row.values["comment"] or None,
        )
