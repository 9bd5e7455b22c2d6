"""Sheets on which people tag single answers: why a model's rating of a story is wrong, what a rater's comment is about.

A row shows a story with its ambiguous word in brackets, the meaning that was judged, and the answer. Which subject, or
which rater, gave it is not shown. *Source:* AmbiStory §5.2 (the three kinds of error), §4.2 (what comments tell of
disagreement).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.build.stories.stories import TASK, story_text
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.showing import counted
from lexiscope.items.sheets.form import TextColumn
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.resources.tables.rows import RowReader

TAGS: Mapping[str, str] = {
    "red_herring": "a word of the story fits the wrong meaning, and seems to have decided the answer",
    "open_ended": "the story leaves the meaning open, and the answer takes a side",
    "sense_distinction": "the two meanings are close, and the answer does not keep them apart",
}
"""The tags of errors, and what each means."""
COMMENT_CODES: Mapping[str, str] = {
    "rare_meaning": "the rater did not know the meaning, did not think of it, or finds it rare",
    "several_meanings": "the rater finds several meanings possible: the story leaves it open",
    "close_meanings": "the rater cannot keep the meaning apart from another one, or finds them the same",
    "other_meaning": "the rater has a meaning in mind that is not the one shown",
    "odd_text": "the story, the sentence or the definition is odd, wrong, or makes no sense",
    "procedure": "about the page, the task, or a slip of the rater",
}
"""What a comment of a rater can be about, and what each code means."""


@dataclass(frozen=True, slots=True)
class RatedCase:
    """One answer to an item: the subject, the answer, and the mean and SD (n − 1) of people's ratings.

    ``comment`` is what a rater wrote with the rating.
    """

    item: Item
    subject: str
    answer: float
    mean: float
    sd: float
    comment: str = ""

    @property
    def case_id(self) -> str:
        """An id made of item and subject alone; it does not tell the subject's name."""
        digest = hashlib.sha256(f"{self.item.item_id}\0{self.subject}".encode()).hexdigest()
        return f"{self.item.item_id}#{digest[:10]}"


_COMMENT_COLUMNS = ("item_id", "participant_id", "comment")


def commented_cases(
    path: Path,
    items: Mapping[str, Item],
    ratings: Mapping[tuple[str, str], float],
    norms: Mapping[str, tuple[float, float]],
) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of a file with their ratings, and the number of those without one.

    The file is a table with the columns item_id, participant_id and comment, as the export of a study has them
    (``judgments.csv``); rows without a comment are passed over. *items* are by their ids, *ratings* by rater and item,
    *norms* are the mean and the SD (n − 1) of the ratings of each item.
    Errors: :class:`InputError` for a file without these columns, a rater with two comments on one item (with its line),
    and if no comment belongs to one of the ratings.
    """
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None or not set(_COMMENT_COLUMNS) <= set(header.fields):
        place = header.place() if header is not None else Place(str(path))
        raise InputError(f"not a table of comments: it needs {', '.join(_COMMENT_COLUMNS)}", code="E006", place=place)
    cases: dict[tuple[str, str], RatedCase] = {}
    n_others = 0
    for row in rows:
        cells = dict(zip(header.fields, row.fields, strict=True))
        item, rater, comment = (cells[name].strip() for name in _COMMENT_COLUMNS)
        if not comment:
            continue
        if (rater, item) in cases:
            what = "this rater has two comments on this item"
            raise InputError(what, code="E472", place=row.place(header.fields.index("comment")), hint="join the two")
        if (rater, item) not in ratings:
            n_others += 1
            continue
        answer = ratings[rater, item]
        cases[rater, item] = RatedCase(items[item], rater, answer, *norms[item], " ".join(comment.split()))
    if not cases:
        what = f"none of {counted(n_others, 'comment')} belongs to a rating of this run"
        hint = "give the judgments of the same study, with its ids of items and participants"
        raise InputError(what, place=Place(str(path)), hint=hint)
    return tuple(cases.values()), n_others


_SHOWN: tuple[TextColumn[RatedCase], ...] = (
    TextColumn("story", lambda case: story_text(case.item, case.item.usages[0].bracketed)),
    TextColumn("meaning", lambda case: str(case.item.condition("sense"))),
    TextColumn("example", lambda case: str(case.item.condition("example"))),
    TextColumn("people", lambda case: f"{case.mean:.2f} ± {case.sd:.2f}"),
    TextColumn("answer", lambda case: f"{case.answer:g}"),
)
ERROR_SHEET: TagSheet[RatedCase] = TagSheet(
    "a sheet of error tags",
    "error_tag",
    TASK,
    TAGS,
    _SHOWN,
    case_id=lambda case: case.case_id,
    item_id=lambda case: case.item.item_id,
    remarks="comment",
)
"""The sheet of wrong answers of models."""
COMMENT_SHEET: TagSheet[RatedCase] = TagSheet(
    "a sheet of raters' comments",
    "comment_code",
    TASK,
    COMMENT_CODES,
    (*_SHOWN, TextColumn("comment", lambda case: case.comment)),
    case_id=lambda case: case.case_id,
    item_id=lambda case: case.item.item_id,
)
"""The sheet of raters' comments."""
