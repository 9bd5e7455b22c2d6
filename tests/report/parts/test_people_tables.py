"""Tables and records of people: ceilings and agreement by definition, norms, scores by view."""

from __future__ import annotations

from lexiscope.analysis.agreement.ceilings import single_rater
from lexiscope.analysis.agreement.raters import included, leave_one_out
from lexiscope.analysis.agreement.summary import VarianceComponents
from lexiscope.analysis.bias.people_by_view import people_by_view
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.analysis.norms.norms import norms
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate
from lexiscope.core.result import Interval as Bounds
from lexiscope.core.usage import Usage
from lexiscope.report.parts.people_tables import (
    agreement_table,
    ceilings_table,
    norms_table,
    people_records,
    single_raters_table,
    variance_table,
)
from lexiscope.report.tables import IntervalCell, Missing

RATINGS = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])


def test_each_ceiling_has_a_row_of_its_own() -> None:
    """Each ceiling has its row with name and variant, definition and interval, and says what it is a mean over."""
    name = "mean_rater_correlation(variant=leave_one_out,method=spearman)"
    first = Estimate(name, 0.731, Bounds(0.71, 0.75, 0.95, "bootstrap"), 131, note="mean ρ")
    row = ("mean rater correlation (leave-one-out)", "mean ρ", IntervalCell(0.71, 0.75, 0.731), "131 raters")
    table = ceilings_table([first])
    assert (table.rows, [column.header for column in table.columns][-1]) == ((row,), "Over")
    others = [
        Estimate("reliability_of_means(of=alpha,ratings=5)", 0.8, n=3798, condition="all"),
        Estimate("shuffled_best_rater(metric=spearman,shuffles=100)", 0.7, n=130, condition="test"),
        Estimate("shuffled_best_rater(metric=accuracy_within_sd,shuffles=100)", 0.8, n=130, condition="test"),
    ]
    labels = [(row[0], row[1], row[-1]) for row in ceilings_table(others).rows]
    assert labels == [
        ("reliability of means", "all", "3,798 items"),
        ("shuffled best rater (spearman)", "test", "130 groups of raters"),
        ("shuffled best rater (accuracy within sd)", "test", "130 groups of raters"),
    ]


def test_each_definition_of_agreement_has_a_row_of_its_own() -> None:
    """Values .866, .5, .866 (doctest of leave_one_out) and 1, .5, 1: means, medians, lowest and highest."""
    table = agreement_table([one(RATINGS, resamples=0) for one in (leave_one_out, included)])
    first, second = ([cell if not isinstance(cell, float) else round(cell, 3) for cell in row] for row in table.rows)
    assert first == ["leave-one-out: the norm without the rater", 0.744, 0.866, 0.211, 0.5, 0.866, 3, 0]
    assert second == ["included: the rater's own rating stays in the norm", 0.833, 1.0, 0.289, 0.5, 1.0, 3, 0]


def test_single_raters_have_a_row_for_each_condition() -> None:
    """The correlation over all ratings and the mean over raters stand apart; raters are those of the latter."""
    found = single_rater(RATINGS, resamples=20)
    results = [one.about(condition=part) for part in ("all", "test") for one in found]
    first, second = single_raters_table(results).rows
    assert (first[0], second[0], first[1:]) == ("all", "test", second[1:])
    assert (first[1], first[3], first[4], first[5]) == (found[0].value, found[3].value, found[2].value, 3)


def test_variances_have_a_row_for_each_source() -> None:
    """The components as they were computed; the test of raters and both reliabilities are in the note."""
    found = VarianceComponents(1.2, 0.1, 1.1, 2.0, (1, 3), 0.1, 1, 2, 2, 4)
    table = variance_table(found, found.results(4), 4)
    assert table.rows == (("sample", 1.2), ("rater", 0.1), ("residual", 1.1))
    # 1.2 / 2.4 and 1.2 / (1.2 + 1.2 / 4)
    assert "F(1, 3) = 2.00, p = .100. ICC(2,1) .500, ICC(2,4) .800." in table.notes[0]


def test_an_item_without_ratings_is_among_the_norms() -> None:
    """Ratings 1, 1, 2 have the mean 4 / 3 and the median 1; the item that has none says so, and counts 0."""
    items = [Item(name, "own", (Usage("a bank", 2, 6, language="en"),)) for name in ("i", "unrated")]
    rated, unrated = norms_table(items, norms(RATINGS)).rows
    assert rated[:4] == ("i", "bank", "a bank", "")
    assert rated[4] == 4 / 3
    assert rated[6:] == (1.0, 3)
    assert unrated[4:] == (Missing("no rating"), Missing("no rating"), Missing("no rating"), 0)


def test_every_number_is_a_record() -> None:
    """Two people who share two items, a third who answered one: accuracy, counts, agreement; what cannot be computed
    says why, and an assumed score stands for no view that was asked."""
    given = {"ana": "tft", "leo": "ttt", "eva": "f"}
    table = ResponseTable.from_rows(
        Response(who, "participant", item, "same_sense", "choice", option=option, view="full")
        for who, options in given.items()
        for item, option in zip("xyz"[-len(options) :], options, strict=True)
    )
    gold, words = dict.fromkeys("xyz", "t"), {"x": "oak", "y": "elm", "z": "ash"}
    found = people_by_view(table, right=gold, words=words, resamples=50)
    assumed = {"full": FixedScore(0.1, "assumed: never used"), "label": FixedScore(0.5, "assumed: nobody was asked")}
    records = people_records(found, assumed, dataset="made")
    by = {(record.statistic, record.subject, record.view): record for record in records}
    assert len(by) == len(records)
    assert by["accuracy", "ana", "full"].value == 2 / 3
    assert by["accuracy", "ana", "full"].low is not None
    assert (by["accuracy", "eva", "full"].value, by["accuracy", "eva", "full"].n) == (None, 1)
    assert "fewer than two words" in by["accuracy", "eva", "full"].note
    assert by["percent_agreement(over=items)", "ana and leo", "full"].value == 2 / 3
    assert by["cohen_kappa(weights=none)", "ana and leo", "full"].value == 0.0
    assert "at least 2 items" in by["cohen_kappa(weights=none)", "ana and eva", "full"].note
    label = by["accuracy", "people", "label"]
    assert (label.value, label.source, label.low) == (0.5, "assumed", None)
    assert [record.view for record in records if record.source == "assumed"] == ["label"]
    assert {record.dataset for record in records} == {"made"}
