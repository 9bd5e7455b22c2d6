"""Recorded ratings, checked before they are analysed: on the scale, and one for each time of asking."""

from __future__ import annotations

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale


def check_ratings(rows: ResponseTable, scale: Scale) -> None:
    """Check the rows of one measure that are about to be averaged over the times that a question was asked.

    A value may lie between two points (an expected value), not beyond the ends. Two rows of a subject for one item are
    two times of asking where their column ``repeat`` differs; where it does not, it is unknown which one counts, and
    neither the mean nor the later one is taken.

    >>> twice = {"subject_id": "m", "subject_kind": "model", "task": "plausibility", "measure": "rating"}
    >>> table = ResponseTable.from_columns(twice | {"item_id": ["a", "a"], "value": [4.0, 5.0], "repeat": [0, 1]})
    >>> check_ratings(table, Scale(1, 5))

    Errors: :class:`InputError` E301 for a value beyond the scale, E502 for two rows of one time of asking; both name
    the subject and the item.
    """
    values = rows.column("value").astype(np.float64)
    beyond = np.flatnonzero((values < scale.low) | (values > scale.high))
    if len(beyond):
        subject, item = _subject_and_item(rows, int(beyond[0]))
        what = f"{subject}: {values[beyond[0]]:.12g} is not on the scale {scale.low:g} to {scale.high:g}"
        hint = f"{len(beyond)} rows are beyond it: correct them, or leave the value empty where there was no answer"
        raise InputError(what, code="E301", place=Place(item_id=item), hint=hint)
    columns = (
        rows.arrow.column(name).to_pylist() for name in ("subject_id", "item_id", "measure", "view", "layer", "repeat")
    )
    seen = set()
    for number, key in enumerate(zip(*columns, strict=True)):
        if key in seen:
            subject, item = _subject_and_item(rows, number)
            hint = "keep one row, or number the times of asking in the column repeat: they are averaged then"
            raise InputError(f"{subject} answered an item twice", code="E502", place=Place(item_id=item), hint=hint)
        seen.add(key)


def _subject_and_item(rows: ResponseTable, number: int) -> tuple[str, str]:
    return str(rows.column("subject_id")[number]), str(rows.column("item_id")[number])
