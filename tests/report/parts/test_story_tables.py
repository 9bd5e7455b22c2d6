"""Tables of stories: lengths, what endings do, and whether people disagree more about open stories."""

from __future__ import annotations

import itertools

from lexiscope.analysis.norms.story_effects import ENDINGS, MEANINGS, ending_effects, open_against_ended, story_places
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.result import Estimate
from lexiscope.report.parts.story_tables import directions_table, disagreement_table, lengths_table, shifts_table
from lexiscope.report.tables import IntervalCell

PLACES = list(itertools.product(ENDINGS, MEANINGS))
"""A1, A2, B1, B2, open 1, open 2."""


def stories(*setups: tuple[int, ...]) -> tuple[Ratings, dict[str, dict[str, object]]]:
    """The ratings of two people who rate alike but for open stories, where they are a point apart; their places."""
    rows, places = [], {}
    for number, means in enumerate(setups):
        for (ending, meaning), mean in zip(PLACES, means, strict=True):
            item = f"s{number}-{ending}{meaning}"
            places[item] = {"setup": f"s{number}", "ending_of": ending, "meaning": meaning}
            apart = int(ending == "open")
            rows += [("a", item, mean), ("b", item, mean + apart)]
    raters, items, values = zip(*rows, strict=True)
    return Ratings.from_arrays(raters, items, values), places


def test_endings_and_their_directions_have_a_row_each() -> None:
    """Endings A and B for meanings 1, 2: 5 and 1, 1 and 5, open 2 (2 and 3: 2.5): A against B differs by 4 each time;
    A1 and B2 are 2.5 above open, A2 and B1 1.5 below it: a mean of 2. Each ending works as it was meant to."""
    ratings, conditions = stories(*[(5, 1, 1, 5, 2, 2)] * 3)
    found = ending_effects(ratings, story_places(conditions), resamples=20)
    free, ends = shifts_table(found, source="a paper does").rows
    assert free[0] == "ended against open"
    assert free[1] == IntervalCell(2.0, 2.0, 2.0)
    assert (free[2], free[4]) == (0.5, 12)
    assert (ends[1], ends[2], ends[4]) == (IntervalCell(4.0, 4.0, 4.0), 0.0, 6)
    assert shifts_table(found, source="a paper does").columns[2].note == "Divided by n, as a paper does."
    above, raised = directions_table(found).rows
    assert (raised[0], raised[1]) == ("ending raises its meaning above the open story", IntervalCell(100, 100, 100))
    assert above[1:] == (IntervalCell(100, 100, 100), 0.0, 0.0), "only stories with an ending have an intended meaning"


def test_disagreement_has_a_row_for_each_condition() -> None:
    """People are a point apart on open stories (SD of 2 and 3: the root of .5) and agree on the others."""
    ratings, conditions = stories((5, 1, 1, 5, 2, 2), (4, 2, 2, 4, 3, 3))
    places = story_places(conditions)
    found = [one for part in ("all", "test") for one in open_against_ended(ratings, places, condition=part)]
    rows = disagreement_table(found).rows
    assert [row[0] for row in rows] == ["all", "test"]
    assert [round(float(cell), 9) for cell in rows[0][1:3]] == [round(0.5**0.5, 9), 0.0]
    # each of the 4 open items is above each of the 8 others
    assert rows[0][3] == 32


def test_lengths_have_a_row_for_each_part() -> None:
    """Parts in the order of a story, with the number of what was counted."""
    results = [Estimate(f"mean_words(of={part})", 4.5, n=2) for part in ("story", "ending", "sentence", "precontext")]
    table = lengths_table(results, number="2")
    assert table.rows == tuple((part, 4.5, 2) for part in ("precontext", "sentence", "ending", "story"))
