"""Ratings that repeat an earlier one of the same item by the same rater: numbered, counted as stated, and kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray, IntArray
from lexiscope.analysis.ratings import Repeats
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED

REPEATED = "repeated_rating"
"""The measure of a rating that is kept and does not count, because another one of the same rater counts."""
_COUNTED = {
    "mean": "The mean of a rater's ratings of one item counts.",
    "first": "The first of a rater's ratings of one item counts.",
    "last": "The last of a rater's ratings of one item counts.",
}
HINT = "Delete one, number them in a column repeat, or name which one counts: --repeats mean|first|last"


def which_count(named: str, *, meant: bool) -> Repeats:
    """Return which of a rater's ratings of one item count: what the user *named*, or the mean if they are *meant*.

    >>> which_count("", meant=True), which_count("last", meant=True), which_count("", meant=False)
    ('mean', 'last', 'error')
    """
    known: dict[str, Repeats] = {"mean": "mean", "first": "first", "last": "last"}
    return known.get(named, "mean" if meant else "error")


def repeat_numbers(raters: Sequence[object], items: Sequence[object], stated: Sequence[object] = ()) -> IntArray:
    """Return which of a rater's ratings of one item each row is, from 0. *Shape:* (rows,).

    *stated* are the numbers in the file; without them, or if they are not different whole numbers, rows are in order.

    >>> repeat_numbers(["a", "a", "b"], ["i", "i", "i"]).tolist()
    [0, 1, 0]
    >>> repeat_numbers(["a", "a", "b"], ["i", "i", "i"], ["2", "1", "1"]).tolist()
    [1, 0, 0]
    """
    rows: dict[tuple[object, object], list[int]] = {}
    for row, key in enumerate(zip(raters, items, strict=True)):
        rows.setdefault(key, []).append(row)
    order = stated_order(raters, items, stated)
    numbers = np.zeros(len(raters), dtype=np.int64)
    for own in rows.values():
        for number, row in enumerate(own if order is None else sorted(own, key=order.__getitem__)):
            numbers[row] = number
    return numbers


def stated_order(
    raters: Sequence[object], items: Sequence[object], stated: Sequence[object]
) -> tuple[float, ...] | None:
    """Return the numbers of a column ``repeat``; ``None`` if they do not distinguish a rater's ratings of one item."""
    texts = [str(number).strip() for number in stated]
    if not texts or not all(text.removesuffix(".0").isdecimal() for text in texts):
        return None
    order = tuple(float(text) for text in texts)
    return order if len(set(zip(raters, items, order, strict=True))) == len(order) else None


def first_repeat(raters: Sequence[object], items: Sequence[object], values: FloatArray) -> tuple[int, int] | None:
    """Return the first row that repeats an earlier one, and that one; ``None`` if there is none. Missing: NaN."""
    seen: dict[tuple[object, object], int] = {}
    for row in np.flatnonzero(~np.isnan(values)).tolist():
        if seen.setdefault((raters[row], items[row]), row) != row:
            return row, seen[raters[row], items[row]]
    return None


def repeats_remark(raters: Sequence[object], items: Sequence[object], values: FloatArray, how: Repeats) -> str:
    """Return the sentence that counts repeated ratings and states which of them count."""
    given = np.flatnonzero(~np.isnan(values)).tolist()
    n = len(given) - len({(raters[row], items[row]) for row in given})
    verb = "repeats" if n == 1 else "repeat"
    said = f"{counted(n, 'rating')} {verb} an earlier rating of the same item by the same rater. {_COUNTED[how]}"
    return f"{said} Other choices: --repeats {'|'.join(name for name in _COUNTED if name != how)}."


def counted_ratings(responses: ResponseTable, how: Repeats) -> ResponseTable:
    """Return responses whose ratings of people are those that count; others have the measure :data:`REPEATED`.

    With the mean, all ratings count; statistics take the mean of a rater's ratings of one item.
    """
    if how not in ("first", "last"):
        return responses
    measures = list(responses.column("measure"))
    people = np.isin(responses.column("subject_kind").astype(str), COLLECTED)
    rated = people & (responses.column("measure") == "rating") & ~np.isnan(responses.column("value").astype(np.float64))
    rows = np.flatnonzero(rated)
    raters, items, asked = (responses.column(name)[rows].tolist() for name in ("subject_id", "item_id", "repeat"))
    # a comment has the number of its rating: only ratings are numbered
    numbers = repeat_numbers(raters, items, () if np.isnan(asked).any() else asked)
    counts: dict[tuple[object, object], int] = {}
    for own in np.argsort(-numbers if how == "last" else numbers, kind="stable").tolist():
        if counts.setdefault((raters[own], items[own]), own) != own:
            measures[rows[own]] = REPEATED
    return responses.with_column("measure", measures)


def settled_repeats(
    responses: ResponseTable, named: str, *, meant: bool, path: str
) -> tuple[ResponseTable, tuple[str, ...]]:
    """Return the responses of a file with the ratings that count, and the remark on repeated ones if there are any.

    *named* is which of them count, if the user said so (``mean``, ``first``, ``last``); *meant* says that the file has
    repeated ratings on purpose. Errors: :class:`InputError` E502 for repeated ratings otherwise.
    """
    rated = responses.where(measure="rating", subject_kind=COLLECTED)
    raters, items = list(rated.column("subject_id")), list(rated.column("item_id"))
    values = rated.column("value").astype(np.float64)
    again = first_repeat(raters, items, values)
    if again is None:
        return responses, ()
    how = which_count(named, meant=meant)
    if how == "error":
        row, _ = again
        what = f"Two ratings by rater {raters[row]} for this item."
        raise InputError(what, code="E502", place=Place(path, item_id=items[row]), hint=HINT)
    return counted_ratings(responses, how), (repeats_remark(raters, items, values, how),)
