"""Tables of biases: what a cell says where a number is undefined, fixed, or without an interval."""

from __future__ import annotations

import pytest

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.guess_flips import Guess
from lexiscope.analysis.bias.view_scores import (
    FixedScore,
    Scores,
    ViewScores,
    ambiguity_and_word_bias,
    human_model_gaps,
)
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.report.parts.bias_tables import (
    BiasRow,
    GapRow,
    ambiguity_table,
    biases_table,
    divided_table,
    examples_table,
    flips_table,
    human_gaps_table,
    recorded_scores_table,
    seeds_table,
    view_scores_table,
)
from lexiscope.report.tables import IntervalCell, Missing, Noted, to_text

WORDS = [f"w{number}" for number in range(50)]
HALF = FixedScore(0.5, "assumed")


def right(count: int) -> ViewScores:
    return ViewScores([1] * count + [0] * (50 - count), WORDS)


def row(full: int, context: int, word: int) -> BiasRow:
    scores: Scores = {"full": right(full), "context": right(context), "word": right(word), "label": HALF}
    return BiasRow("WiC", "model", context_word_bias(scores, resamples=200))


def test_biases_stand_with_their_intervals() -> None:
    """(.7 − .5) / (.9 − .5) = .50, (.6 − .5) / .4 = .25; gaps in points: min(20, 30)."""
    table = biases_table([row(45, 35, 30)])
    cells = dict(zip([column.header for column in table.columns], table.rows[0], strict=True))
    for header, value in (("Context bias", 0.5), ("Word bias", 0.25), ("FULL − LABEL", 40.0), ("Minimum gap", 20.0)):
        cell = cells[header]
        assert isinstance(cell, IntervalCell)
        assert cell.value == pytest.approx(value)
        assert cell.low < value < cell.high
    assert cells["Nearest to FULL"] == "context"
    assert cells["Words"] == 50


def test_an_undefined_bias_gives_its_reason_and_one_without_bounds_what_agrees() -> None:
    """FULL .46 lies below LABEL .50: a dash with the reason; FULL .62 may: its biases have half-lines for bounds."""
    below, near = row(23, 20, 20), row(31, 30, 28)
    table = biases_table([below, near])
    assert table.rows[0][4] == Missing("FULL (0.46) is not above LABEL (0.5).")
    assert isinstance(table.rows[1][4], Noted)
    assert "agree with the data" in table.rows[1][4].note.replace("agrees", "agree")
    assert "FULL (0.46) is not above LABEL (0.5)." in to_text(table)


def test_scores_that_were_not_measured_say_so() -> None:
    """An assumed score has a note, a view that was not asked is a dash, one that nobody has is left out."""
    table = view_scores_table([row(45, 35, 30), BiasRow("XL-WiC", "people", context_word_bias({"full": right(40)}))])
    headers = [column.header for column in table.columns]
    assert headers == ["Dataset", "Subject", "FULL", "CONTEXT", "WORD", "LABEL", "Items"]
    assert table.rows[0][headers.index("LABEL")] == Noted("50.0", "Not measured here: assumed.")
    assert table.rows[1][headers.index("WORD")] == Missing("Not asked in this view.")


def test_people_minus_model() -> None:
    """Table 5 of the study for AM²iCo: 3.0, 7.5, 16.9; printed scores have no interval and a note."""
    human = {
        view: FixedScore(value, "printed") for view, value in (("context", 0.69), ("word", 0.685), ("full", 0.879))
    }
    model = {view: FixedScore(value, "printed") for view, value in (("context", 0.66), ("word", 0.61), ("full", 0.71))}
    table = human_gaps_table([GapRow("AM²iCo", "BERT", human_model_gaps(model, human))])
    assert [column.header for column in table.columns] == ["Dataset", "Subject", "CONTEXT", "WORD", "FULL"]
    note = "The score of people is printed; the score of the model is printed."
    assert table.rows[0][2:] == (Noted("3.0", note), Noted("7.5", note), Noted("16.9", note))
    measured = human_gaps_table([GapRow("WiC", "m", human_model_gaps({"full": right(30)}, {"full": right(40)}))])
    cell = measured.rows[0][2]
    assert isinstance(cell, IntervalCell)
    assert cell.value == pytest.approx(20.0)


def test_divided_items_are_counted_by_split() -> None:
    """One item to learn from, one to choose by, two of one word tested; what no dataset has is no column."""
    items = [Item(f"i{n}", "d", (Usage("a bank", 2, 6, lemma=word),)) for n, word in enumerate("abcc")]
    table = divided_table([("d", "same meaning", ItemDivision((items[0],), (items[1],), (items[2], items[3])), None)])
    assert table.rows == (("d", "same meaning", 1, 1, 2, 1, "test"),)
    folds = ItemDivision((), (), tuple(items), (0, 1, 0, 1), "all, in folds")
    table = divided_table([("d", "same meaning", folds, None)])
    assert ([column.header for column in table.columns][2:], folds.sizes) == (
        ["Test", "Words tested", "Tested split"],
        {"folds": 4},
    )


def test_scores_over_seeds_stand_next_to_the_test() -> None:
    """The mean and SD on dev, what was best there, and the accuracy of that one on test, by view; times 100."""
    where = {"subject": "m", "dataset": "d"}
    records = [
        Record("dev_mean", 0.75, **where, view="context_span", n=3, note="rate 1e-05, seed 2"),
        Record("dev_sd", 0.02, **where, view="context_span", n=3),
        Record("accuracy", 0.5, **where, view="full", low=0.25, high=0.75),
        Record("accuracy", 0.625, **where, view="context_span", low=0.5, high=0.75),
    ]
    table = seeds_table(records)
    assert table.rows == (("d", "m", "CONTEXT SPAN", 75.0, 2.0, 3, "rate 1e-05, seed 2", 62.5),)


def test_recorded_scores_say_whether_they_are_printed_or_assumed() -> None:
    """In percent, by dataset and view, with the place where the paper has them."""
    value = PublishedValue("people_accuracy", "0.690", "Figure 3", "people (printed)", "am2ico", view="context")
    table = recorded_scores_table([value], {"people (printed)": "printed"})
    assert table.rows == (("am2ico", "CONTEXT", 69.0, "printed", "Figure 3"),)


def test_examples_stand_view_by_view() -> None:
    """A row for each view that is shown."""
    item = Item("i", "wic", (Usage("The iron was hot.", 4, 8),), gold="t")
    table = examples_table([("wic", "same_sense", item)], ("full", "context"))
    assert [line[2:4] for line in table.rows] == [("FULL", "The [iron] was hot."), ("CONTEXT", "The [X] was hot.")]


def test_ambiguity_is_ordered_and_its_correlation_noted() -> None:
    """Datasets from most to least ambiguous; where there is no correlation the note says why."""
    entropies, biases = {"a": 0.1, "b": 0.4, "c": 0.2}, {"a": 0.9, "b": 0.2, "c": float("nan")}
    table = ambiguity_table(entropies, biases, ambiguity_and_word_bias(entropies, biases))
    assert [line[0] for line in table.rows] == ["b", "c", "a"]
    assert table.rows[1][2] == Missing("The word bias is undefined.")
    assert table.notes == ("No rank correlation: only 2 datasets have both; a correlation needs at least 3.",)
    four = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    again = ambiguity_table(entropies, biases, ambiguity_and_word_bias(four, four))
    assert again.notes[0].startswith("Spearman's ρ = 1.00")


def test_flips_are_listed_and_counted() -> None:
    """Answers before and after, who changes, and the counts in the notes."""
    guesses = [
        Guess("i1", "iron", "starch", ("t", "f"), ("t", "t"), True),
        Guess("i2", "take", "get", ("t", None), ("t", "f")),
    ]
    table = flips_table(guesses)
    assert table.rows[0][3:] == (True, "t → f", "t → t", "person")
    assert table.rows[1][3:] == (Missing("Not judged."), "t → no answer", "t → f", "model")
    assert table.notes[0].startswith("1 of 2 guesses are valid other words")
    assert table.notes[1].endswith("the model keeps its own in 1.")
    with pytest.raises(InputError):
        flips_table([])
