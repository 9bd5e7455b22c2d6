"""Tables and figures of gap filling: criteria side by side, categories that add up to 100."""

from __future__ import annotations

import numpy as np

from lexiscope.analysis.choices.gap_answers import GapHits, gap_accuracy
from lexiscope.core.result import Estimate, statistic_name
from lexiscope.report.figures import Heading
from lexiscope.report.parts.accuracy_tables import gap_accuracy_figure, gap_accuracy_table, gap_categories


def hits(criterion: str, right: list[int]) -> GapHits:
    """One greedy prediction of each item."""
    measure = f"answer_found(answers={criterion},method=greedy,max_tokens=10)"
    ids = tuple(f"i{number}" for number in range(len(right)))
    return GapHits("m", measure, ids, np.array(right, dtype=float), np.array(right), 1, 2)


def test_a_row_for_each_decoding_and_a_column_for_each_criterion() -> None:
    """1 and 2 of 4 items; 2 items were left out of both."""
    given = [hits("curated", [1, 0, 0, 0]), hits("synset", [1, 1, 0, 0])]
    results = [gap_accuracy(each, resamples=0) for each in given]
    table = gap_accuracy_table(given, results, names={"m": "M"})
    assert [column.header for column in table.columns][-2:] == ["Curated, %", "Synset, %"]
    assert table.rows == (("M", "greedy, 10 tokens", 1, 2, 25.0, 50.0),)
    figure = gap_accuracy_figure(results, Heading("gaps", "", "Gaps", "Caption."), names={"m": "M"})
    assert list(figure.data["row"]) == ["one prediction, curated", "one prediction, synset"]


def test_categories_are_a_table_and_bars() -> None:
    """Three quarters and one quarter of four predictions; the caption is a note of the table."""
    results = [
        Estimate(statistic_name("gap_category", category=name), value, n=4, subject="m")
        for name, value in (("correct", 75.0), ("same_word", 25.0))
    ]
    heading = Heading("categories", "", "Categories", "Caption.")
    table, figure = gap_categories(results, ["correct", "same_word"], heading, names={"m": "M"})
    assert table.rows == (("M", 4, 75.0, 25.0),)
    assert (table.notes, [column.header for column in table.columns][-1]) == (("Caption.",), "same word")
    assert figure.name == "categories"
