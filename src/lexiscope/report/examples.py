"""A table of single items: their text, what people said of them, and what each subject answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.example_rows import ExampleRow
from lexiscope.report.tables import Cell, Column, Format, Table


def examples_table(
    name: str,
    title: str,
    rows: Sequence[ExampleRow],
    texts: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    *,
    subjects: Sequence[str] = (),
    number: str = "",
) -> Table:
    """Return items as the rows of a table: *texts* of each, by its id, headed by *labels*, ratings, answers.

    People's mean and their single ratings follow; then the answers of *subjects*: one outside the standard deviation of
    the ratings (at least 1) is marked ×.

    >>> from lexiscope.analysis.example_rows import Answer
    >>> row = ExampleRow("i", 2.0, 1.0, (1.0, 3.0), (Answer("m", 5.0, within_sd=False),))
    >>> examples_table("t", "One item", [row], {"i": ["It shuts."]}, ["Sentence"], subjects=["m"]).rows
    (('It shuts.', 2.0, '1\xa03', '5 ×'),)
    """
    heads = [*map(Column, labels), Column("People, mean", Format("number", 2)), Column("Ratings")]
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        answers = [
            "not read" if one.predicted is None else f"{one.predicted:.3g}{'' if one.within_sd else ' ×'}"
            for one in row.answers
        ]
        ratings = "\u00a0".join(f"{value:g}" for value in row.ratings)
        cells.append((*texts[row.item_id], row.mean, ratings, *answers))
    return Table(name, number, title, (*heads, *map(Column, subjects)), tuple(cells))
