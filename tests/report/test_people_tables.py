"""Tables of people: ceilings and agreement by definition, norms with the sentences."""

from __future__ import annotations

from lexiscope.analysis.agreement import included, leave_one_out
from lexiscope.analysis.norms import norms
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate
from lexiscope.core.result import Interval as Bounds
from lexiscope.core.usage import Usage
from lexiscope.report.people_tables import agreement_table, ceilings_table, norms_table
from lexiscope.report.tables import Interval, Missing

RATINGS = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4])


def test_each_ceiling_has_a_row_of_its_own() -> None:
    """Each ceiling has its row with name and variant, definition, interval and raters."""
    name = "mean_rater_correlation(variant=leave_one_out,method=spearman)"
    table = ceilings_table([Estimate(name, 0.731, Bounds(0.71, 0.75, 0.95, "bootstrap"), 131, note="mean ρ")])
    assert table.rows == (("mean rater correlation (leave-one-out)", "mean ρ", Interval(0.71, 0.75, 0.731), 131),)


def test_each_definition_of_agreement_has_a_row_of_its_own() -> None:
    """Values .866, .5, .866 (doctest of leave_one_out) and 1, .5, 1: means, medians, lowest and highest."""
    table = agreement_table([one(RATINGS, resamples=0) for one in (leave_one_out, included)])
    first, second = ([cell if not isinstance(cell, float) else round(cell, 3) for cell in row] for row in table.rows)
    assert first == ["leave-one-out: the norm without the rater", 0.744, 0.866, 0.211, 0.5, 0.866, 3, 0]
    assert second == ["included: the rater's own rating stays in the norm", 0.833, 1.0, 0.289, 0.5, 1.0, 3, 0]


def test_an_item_without_ratings_is_among_the_norms() -> None:
    """Ratings 1, 1, 2 have the mean 4 / 3 and the median 1; the item that has none says so, and counts 0."""
    items = [Item(name, "own", (Usage("a bank", 2, 6, language="en"),)) for name in ("i", "unrated")]
    rated, unrated = norms_table(items, norms(RATINGS)).rows
    assert rated[:4] == ("i", "bank", "a bank", "")
    assert rated[4] == 4 / 3
    assert rated[6:] == (1.0, 3)
    assert unrated[4:] == (Missing("no rating"), Missing("no rating"), Missing("no rating"), 0)
