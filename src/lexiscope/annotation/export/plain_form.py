"""One row per item and view with what people said of it: mean, SD, median, n; or vote shares, majority, tie."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from lexiscope.annotation.export.collected import Collected, Row
from lexiscope.items.sheets.sheet import Column, Sheet, sheet_of
from lexiscope.items.tables.neutral import Cell

RATING = "rating"
"""The measure of answers that are numbers on a scale."""

_HEAD = (
    Column("item_id", "the item", "id"),
    Column("view", "what was shown of it", "category"),
    Column("word", "what items are grouped by", "id"),
    Column("n", "answers that count", "integer", low=0),
)
_CHOICES = (
    Column("majority", "the answer given most often; empty where two are tied", "text", answer=True),
    Column("majority_share", "share of the answers that the most frequent one has", "number", low=0, high=1),
    Column("tie", "two answers are the most frequent ones", "truth"),
    Column("vote_shares", "share of every answer: answer=share, joined by ' | '", "text"),
)


def plain_sheets(collected: Collected) -> tuple[Sheet, ...]:
    """Return the items with their statistics; none where the answers are texts, which have no mean and no vote."""
    rows = collected.valid_rows
    if rows and all(row["response"] is None for row in rows):
        return ()
    numbers = numbers_of(collected)
    of_item = answers_by_item(collected)
    statistics = _scale_columns(collected) if numbers is not None else _CHOICES
    found: list[dict[str, Cell]] = []
    for view in dict.fromkeys(collected.definition.views):
        for item in collected.design.items:
            given = of_item.get((item.item_id, view), ())
            cells = number_cells([float(one) for one in given]) if numbers is not None else vote_cells(given)
            found.append({"item_id": item.item_id, "view": view, "word": item.word, "n": len(given), **cells})
    return (sheet_of("item_statistics.csv", "one item in one view", (*_HEAD, *statistics), found),)


def answers_by_item(collected: Collected) -> dict[tuple[str, str], list[str]]:
    """Return the answers that count by item and view, in the order of the places on the lists."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in collected.valid_rows:
        if row["response"] is not None:
            found.setdefault((row["item_id"], collected.view_of(row["list_id"])), []).append(row["response"])
    return found


def numbers_of(collected: Collected) -> list[float] | None:
    """Return the answers as numbers, or ``None`` where the task's answers are options.

    Which of the two follows from the response table, where a number is a value and an option is not; from the measure
    while there is no answer.
    """
    table = collected.responses.where(measure=collected.measure)
    if not len(table):
        return [] if collected.measure == RATING else None
    values = table.column("value")
    return None if np.isnan(values).all() else values[~np.isnan(values)].tolist()


def number_cells(values: Sequence[float]) -> dict[str, Cell]:
    """Return mean, SD (n − 1) and median; empty where they are undefined.

    >>> number_cells([1, 2, 4])["median"], number_cells([2])["sd"] is None
    (2.0, True)
    """
    if not values:
        return {"mean": None, "sd": None, "median": None}
    mean = math.fsum(values) / len(values)
    # deviations first, squares after: the shortcut loses the digits of a small SD
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else None
    return {"mean": mean, "sd": sd, "median": float(np.median(values))}


def vote_cells(answers: Sequence[str]) -> dict[str, Cell]:
    """Return the majority, its share, whether it is tied, and the share of every answer.

    >>> vote_cells(["t", "t", "f"])["majority"], vote_cells(["t", "f"])["tie"]
    ('t', True)
    """
    counts = sorted(Counter(answers).items(), key=lambda pair: (-pair[1], pair[0]))
    if not counts:
        return {"majority": None, "majority_share": None, "tie": None, "vote_shares": None}
    tie = len(counts) > 1 and counts[0][1] == counts[1][1]
    shares = " | ".join(f"{answer}={votes / len(answers):.4f}" for answer, votes in counts)
    top = counts[0][1] / len(answers)
    return {"majority": None if tie else counts[0][0], "majority_share": top, "tie": tie, "vote_shares": shares}


def first_condition(conditions: Mapping[str, object], *names: str) -> Cell:
    """Return the first of several names that an item's conditions have; missing where they have none.

    Item files of different origin name the same thing differently (``Gender_s1``, ``gender_1``).
    """
    value = next((conditions[name] for name in names if name in conditions), None)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def judgment_cells(row: Row) -> dict[str, Cell]:
    """Return what every wide form may show of a judgment beside its answer."""
    return {
        "Participant": row["participant_id"],
        "participant_id": row["participant_id"],
        "group": row["list_id"],
        "slot": row["slot"],
        "choice": row["response"],
        "nonsensical": row["flag_nonsensical"],
        "weird": row["flag_weird"],
        "undecided": row["label_undecided"],
        "word_guessed": row["guessed_word"],
        "comment": row["comment"],
        "shown_order": row["display_order"],
        "text": row["response_text"],
    }


def _scale_columns(collected: Collected) -> tuple[Column, ...]:
    low, high = collected.definition.scale.low, collected.definition.scale.high
    return (
        Column("mean", "mean of the ratings", "number", "points", low, high),
        Column("sd", "standard deviation of the ratings (n − 1); empty below two ratings", "number", "points", 0),
        Column("median", "median of the ratings", "number", "points", low, high),
    )
