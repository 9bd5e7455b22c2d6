"""Why a model's rating of a story is wrong: a sheet on which people tag errors, and tags that are read back.

A row of the sheet is one error: a story with its ambiguous word in brackets, the meaning that was judged, what people
said and what a subject answered. Which subject that was is not shown. Several tags may apply; where none does, coders
say so, so that an empty row is one that nobody looked at. *Source:* AmbiStory §5.2 (the three kinds of error).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.build.stories.stories import story_text
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.items.sheets.choice_sheet import checked_rows, is_marked
from lexiscope.items.tables.spreadsheet import SheetRow, write_sheet

TASK = "plausibility"
MEASURE = "error_tag"
TAGS: Mapping[str, str] = {
    "red_herring": "a word of the story goes with the wrong meaning, and seems to have decided the answer",
    "open_ended": "the story leaves the meaning open, and the answer takes a side",
    "sense_distinction": "the two meanings are close, and the answer does not keep them apart",
}
"""The tags, and what each means."""

NONE = "none_of_these"
SHOWN = ("case_id", "story", "meaning", "example", "people", "answer")
COLUMNS = (*SHOWN, *TAGS, NONE, "comment")


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

    Errors: :class:`InputError` for a case that stands twice, or without the conditions of a story;
    :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    empty = ("",) * (len(TAGS) + 2)
    write_sheet(path, COLUMNS, [(*cells, *empty) for cells in _shown(cases).values()])


def read_tags(path: Path | str, cases: Sequence[ErrorCase], *, coder: str) -> ResponseTable:
    """Read a coded sheet: for each error a row per tag, 1 where it applies and 0 where not, the comment in ``raw``.

    The coder is the subject and the id of the case the item; the measure names the tag.
    Errors: :class:`InputError` E471 to E474 as in :func:`lexiscope.items.sheets.choice_sheet.read_choice_sheet`, E475
    (a mark that is none, or a tag beside ``none_of_these``), E476 (nothing is marked), E505 for a coder without a name.
    """
    if not coder.strip():
        raise InputError("a sheet needs the name of its coder", code="E505", hint="use a code, not a full name")
    rows: list[Response] = []
    for position, row in enumerate(checked_rows(path, COLUMNS, _shown(cases), what="a sheet of error tags")):
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


def _shown(cases: Sequence[ErrorCase]) -> dict[str, tuple[str, ...]]:
    """The cells that coders read, by the id of the case."""
    found: dict[str, tuple[str, ...]] = {}
    for case in cases:
        if case.case_id in found:
            raise InputError("an error stands twice", code="E472", place=Place(item_id=case.item.item_id))
        people = f"{case.mean:.2f} ± {case.sd:.2f}"
        meaning, example = (str(case.item.condition(name)) for name in ("sense", "example"))
        found[case.case_id] = (
            case.case_id,
            story_text(case.item, case.item.usages[0].bracketed),
            meaning,
            example,
            people,
            f"{case.answer:g}",
        )
    return found


def _tags(row: SheetRow, coder: str, position: int) -> Iterator[Response]:
    applies = {tag: is_marked(row, tag) for tag in TAGS}
    none = is_marked(row, NONE)
    if none and any(applies.values()):
        hint = f"take the x away from {NONE}, or from the tags"
        raise InputError("a tag stands beside none_of_these", code="E475", place=row.place(NONE), hint=hint)
    if not none and not any(applies.values()):
        hint = f"put an x under a tag, or under {NONE}"
        raise InputError("this error has no tag", code="E476", place=row.place(next(iter(TAGS))), hint=hint)
    for tag, given in applies.items():
        yield Response(
            subject_id=coder,
            subject_kind="participant",
            item_id=row.cells["case_id"],
            task=TASK,
            measure=tag_measure(tag),
            value=float(given),
            position=position,
            raw=row.cells["comment"] or None,
        )
