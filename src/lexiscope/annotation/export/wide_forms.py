"""The wide tables of a study: those in which its task is published, and a row per item and view with what people said.

The latter has mean, SD, median and n of ratings; vote shares, majority and tie of choices. Only answers that count are
in both: to items, in the trials, of people who finished and are not excluded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lexiscope.annotation.export.collected import Collected
from lexiscope.core import catalog
from lexiscope.items.sheets.sheet import Sheet, SheetColumn, sheet_of
from lexiscope.tasks.kit.published_sheets import Cells, answers_by_item, number_cells

RATING = "rating"
"""The measure of answers that are numbers on a scale."""

_HEAD = (
    SheetColumn("item_id", "the item", "id"),
    SheetColumn("view", "what was shown of it", "category"),
    SheetColumn("word", "what items are grouped by", "id"),
    SheetColumn("n", "answers that count", "integer", low=0),
)
_CHOICES = (
    SheetColumn("majority", "the answer given most often; empty where two are tied", "text", answer=True),
    SheetColumn("majority_share", "share of the answers that the most frequent one has", "number", low=0, high=1),
    SheetColumn("tie", "two answers are the most frequent ones", "truth"),
    SheetColumn("vote_shares", "share of every answer: answer=share, joined by ' | '", "text"),
)


def wide_sheets(collected: Collected) -> tuple[Sheet, ...]:
    """Return the wide tables of a study: those of its task's paper, and one row per item with its statistics."""
    published = catalog.screen(collected.definition.task).published
    own = published(collected) if published is not None else ()
    return (*own, *plain_sheets(collected))


def plain_sheets(collected: Collected) -> tuple[Sheet, ...]:
    """Return the items with their statistics; none where the answers are texts, which have no mean and no vote."""
    answers = collected.valid_rows
    if answers and all(row["response"] is None for row in answers):
        return ()
    numbers = numbers_of(collected)
    of_item = answers_by_item(collected)
    statistics = _scale_columns(collected) if numbers is not None else _CHOICES
    rows: list[Cells] = []
    for view in dict.fromkeys(collected.definition.views):
        for item in collected.design.items:
            given = of_item.get((item.item_id, view), ())
            cells = number_cells([float(one) for one in given]) if numbers is not None else vote_cells(given)
            rows.append({"item_id": item.item_id, "view": view, "word": item.word, "n": len(given), **cells})
    return (sheet_of("item_statistics.csv", "one item in one view", (*_HEAD, *statistics), rows),)


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


def vote_cells(answers: Sequence[str]) -> Cells:
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


def _scale_columns(collected: Collected) -> tuple[SheetColumn, ...]:
    low, high = collected.scale.low, collected.scale.high
    return (
        SheetColumn("mean", "mean of the ratings", "number", "points", low, high),
        SheetColumn("sd", "standard deviation of the ratings (n − 1); empty below two ratings", "number", "points", 0),
        SheetColumn("median", "median of the ratings", "number", "points", low, high),
    )
