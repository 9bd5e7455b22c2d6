"""Tables of accuracies: what is above a baseline and what is below, states of training, tests that differ."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.accuracy import accuracy
from lexiscope.analysis.choices.choice_sets import accuracy_with_random
from lexiscope.analysis.choices.design import Cell, ChoiceDesign
from lexiscope.analysis.choices.design_answers import consistency_table
from lexiscope.analysis.choices.gap_answers import GapHits, gap_accuracy
from lexiscope.analysis.choices.tokenisation import delta_effect
from lexiscope.core.result import Estimate, Interval, statistic_name
from lexiscope.datasets import mini_synonymy
from lexiscope.report.figures import Heading
from lexiscope.report.parts.accuracy_tables import (
    above_baseline_table,
    below_baseline,
    comparison_of_tests,
    consistency_of_tests,
    design_table,
    further_models_table,
    gap_accuracy_figure,
    gap_accuracy_table,
    gap_categories,
    random_answers_table,
    token_warnings,
    training_table,
)
from lexiscope.report.pivot import Col, PivotRow
from lexiscope.report.plots.accuracy import Dot, training_curve
from lexiscope.report.tables import INTEGER, IntervalCell, Noted

HALF = accuracy([1, 0], chance=0.25, resamples=0)
NAMES = {"m": "M", "k": "K", "one": "One", "two": "Two"}


def above(subject: str, condition: str, value: float, low: float = -9.0) -> Estimate:
    """A difference from the baseline, in points."""
    interval = Interval(low, value + 1, 0.95, "percentile")
    return Estimate("above_baseline", value, interval, 2, subject=subject, condition=condition)


def test_what_is_below_a_baseline_is_noted_and_said() -> None:
    """M is 3.5 points below in one of two cells: a note in the table, with minus signs, and a sentence; K is not."""
    results = [above("m", "one", -3.5), above("m", "two", 2.0), above("k", "one", 1.0)]
    table = above_baseline_table(results, {"one": HALF, "two": HALF}, counts="wordnet-3.0", names=NAMES)
    assert table is not None
    assert [column.header for column in table.columns] == ["Cell", "Word frequency", "M", "K"]
    assert table.rows[0][:3] == ("One", 50.0, Noted("−3.5 [−9.0, −2.5]", "Below what word frequency alone gives."))
    assert below_baseline(results, {"one": "One"}, NAMES) == [
        "M is below the word-frequency baseline in One (3.5 points)."
    ]
    assert above_baseline_table([], {"one": HALF}, counts="", names=NAMES) is None


def test_accuracy_over_training_is_a_table_and_lines() -> None:
    """Two states, one condition: percent right of each; the line of the condition has its chance."""
    whole = accuracy([1, 1], chance=0.25, resamples=0)
    table = training_table([("early", 10.0, {"c": HALF}), ("late", 20.0, {"c": whole})])
    assert table.rows == (("early", 10.0, 50.0), ("late", 20.0, 100.0))
    line = training_curve("c", [(10.0, HALF), (20.0, whole)])
    assert (line.baseline, line.layer.tolist(), line.value.tolist()) == (25.0, [10.0, 20.0], [50.0, 100.0])
    assert Dot.of_accuracy(HALF, "row", "M").value == 50.0


def test_the_contrasts_whose_tests_differ_are_named() -> None:
    """One contrast, on which t and the exact test fall on different sides of .05."""
    given = [Estimate(name, p, subject="m", condition="one") for name, p in (("paired_t_p", 0.04), ("mcnemar_p", 0.06))]
    assert comparison_of_tests(given, NAMES) == (
        "1 contrast. In 1 of them t and the exact test fall on different sides of p = .05: M, One."
    )
    two = [*given, *(estimate.about(subject="n", condition="two") for estimate in given[:1])]
    two.append(Estimate("mcnemar_p", 0.01, subject="n", condition="two"))
    assert comparison_of_tests(two, NAMES).startswith(
        "2 contrasts. After each p is the one adjusted for the number of tests of its family. In 1 of them"
    )


def test_random_answers_are_counted_by_reason() -> None:
    """Two of three are right, of two decided ones both; a column for each reason, and what is added at the end."""
    words, reasons = ["bank", "bat", "bat"], ["one sense", "two words"]
    results = accuracy_with_random(
        [True, False, True], [None, "one sense", None], words=words, counted=reasons, resamples=0
    )
    further = [Col("Again", "n_random(reason=one_sense)", INTEGER, show="value")]
    table = random_answers_table(
        "t", "T", results, [PivotRow(("a",))], reasons=reasons, labels=("Vectors",), further=further, notes=("First.",)
    )
    assert [column.header for column in table.columns[4:]] == ["Decided", "One sense", "Two words", "n", "Again"]
    assert table.rows[0][4:] == (2, 1, 0, 3, 1)
    assert (table.notes[0], len(table.notes)) == ("First.", 2)


def test_who_follows_the_tokens_is_warned_of() -> None:
    """One subject follows the delta in one of two cells; the other does not, and is not named."""
    follows = delta_effect([1] * 9 + [0] * 9, [1] * 9 + [-1] * 9)
    not_so = delta_effect([1, 0] * 8, [1, 1, -1, -1] * 4)
    rows = [("M", "One", follows), ("M", "Two", not_so), ("K", "One", not_so)]
    assert token_warnings(rows, {"M": "score"}) == [
        "Warning: decisions of M under score follow the token delta in 1 cell: One (accuracy 100 % with more tokens, "
        "0 % with fewer)."
    ]


def test_a_second_test_given_a_first_one() -> None:
    """Two rows a subject: the first test wrong, and right; counts and shares of the second."""
    found = [each.about(subject="m") for each in consistency_table([1, 1, 1, 0], [1, 1, 0, 0])]
    table = consistency_of_tests(found, names=NAMES, name="t", title="T")
    assert table is not None
    wrong, (*right, second_wrong, second_right) = table.rows
    assert wrong == ("M", "wrong", 1, 0, 1.0, 0.0), "one item has no interval"
    assert right == ["M", "right", 1, 2]
    # Wilson's interval of 1 and of 2 of 3
    assert second_wrong == IntervalCell(pytest.approx(0.0615, abs=1e-4), pytest.approx(0.7923, abs=1e-4), 1 / 3)
    assert second_right == IntervalCell(pytest.approx(0.2077, abs=1e-4), pytest.approx(0.9385, abs=1e-4), 2 / 3)
    assert consistency_of_tests([], names=NAMES, name="t", title="T") is None


def test_the_cells_of_a_design_with_an_example() -> None:
    """40 choice sets of two options and of eleven; the text of the first right option."""
    items = mini_synonymy.load().items
    labels = {Cell("substitution", "", condition): condition for condition in ("controlled", "random")}
    table = design_table(ChoiceDesign(items), labels)
    assert [row[:3] for row in table.rows] == [("controlled", 40, 2), ("random", 40, 11)]
    first = next(item for item in items if item.conditions["suite"] == "substitution")
    assert table.rows[0][3] == first.usages[0].text


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


def test_further_models_next_to_recorded_ones() -> None:
    """K and one more are recorded with 70 and 80 in the first cell, 50 and 50 in the second; M is inside in one."""
    values = {"k": (70.0, 50.0), "j": (80.0, 50.0), "m": (75.0, 49.5)}
    results = [
        Estimate("percent_right(per=token)", value, subject=subject, condition=cell)
        for subject, of_cells in values.items()
        for cell, value in zip(("one", "two"), of_cells, strict=True)
    ]
    # another denominator is another number
    results.append(Estimate("percent_right(per=text)", 10.0, subject="m", condition="one"))
    statistics = dict.fromkeys(values, "percent_right(per=token)")
    labels = {"one": "One", "two": "Two"}
    table = further_models_table(results, labels, statistics, ("k", "j"), names=NAMES | {"j": "J"})
    assert [row[0] for row in table.rows] == ["K", "J", "M"]
    assert table.rows[2][1:] == ("1 of 2", 75.0, 49.5)
