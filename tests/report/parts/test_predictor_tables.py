"""Tables of predicted ratings: what each definition of an accuracy scores, with how many replies were read."""

from __future__ import annotations

from lexiscope.analysis.norms.predictions import Predictor, rank_predictors
from lexiscope.analysis.norms.within_sd import accuracy_name, random_within_sd, scores
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.result import Estimate
from lexiscope.report.figures import Heading
from lexiscope.report.parts.predictor_tables import scores_figure, scores_table
from lexiscope.report.tables import Missing

PEOPLE = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 1, 3, 3, 4, 4, 5, 5])
WHOLE = Predictor("m", "A model", {"i": 1.0, "j": 3.0, "k": 5.0, "l": None}, "integer", 4, {"refusal": 1}, 1)
PARTS = Predictor("e", "Expected", {"i": 1.2, "j": 2.4, "k": 4.4, "l": 3.6}, "raw", 4, {}, 1)


def test_predictions_have_columns_by_their_form() -> None:
    """Within 1 of the means 1, 3, 4, 5: whole 1, 3, 5 are 2 of 3 read and 2 of 4 asked; 1.2, 2.4, 4.4, 3.6 are 3 of 4
    as given, rounded (1, 2, 4, 4) 2 of 4, for a distance of 1 is not within it."""
    found = [one.about(subject=each.subject) for each in (WHOLE, PARTS) for one in scores(each, PEOPLE, resamples=0)]
    chance = random_within_sd(PEOPLE).about(subject="guessing")
    results = [chance, *found, *WHOLE.results(), *PARTS.results()]
    guessing, whole, parts = scores_table(results, (WHOLE, PARTS), number="3").rows
    # of each item one point of five: those that are 1 away are on the edge
    assert (guessing[0], guessing[2], guessing[-2:]) == ("guessing", 0.2, ("4 / 4", 0))
    assert isinstance(guessing[1], Missing)
    assert (whole[0], whole[2], whole[5], whole[6:]) == ("A model", 2 / 3, 0.5, ("3 / 4", 1))
    assert (parts[0], parts[3], parts[4], parts[6:]) == ("Expected", 0.5, 0.75, ("4 / 4", 0))
    assert whole[3] == whole[4] == Missing("Whole predictions.")
    figure = scores_figure(results, {"m": "A model"}, Heading("f", "", "T", "C"))
    assert figure is not None
    # unrounded predictions are not comparable with whole ones, and not drawn
    assert figure.data["subject"].tolist() == ["A model", "e"]
    assert set(figure.data["chance"].tolist()) == {20.0}
    assert scores_figure([chance], {}, Heading("f", "", "T", "C")) is None


def test_ranked_predictors_have_a_column_of_sets() -> None:
    """Two that rise with the means share the ranks 1 and 2; guessing is not ranked; an item that one lacks is left out.

    Without ranks, as of one subject, there is no such column.
    """
    items = "abcdefgh"
    people = Ratings.from_arrays(list("xy" * 8), [i for i in items for _ in "xy"], [1 + k // 4 for k in range(16)])
    rising = dict(zip(items, map(float, range(8)), strict=True))
    both = [
        Predictor("m", "A model", rising, "raw", 8, {}, 1),
        Predictor("e", "E", rising | {"h": None}, "raw", 8, {}, 1),
    ]
    ranks = rank_predictors(both, people, resamples=99)
    assert [(one.subject, one.value, one.n) for one in ranks if isinstance(one, Estimate)] == [("m", 1, 7), ("e", 1, 7)]
    table = scores_table([random_within_sd(people).about(subject="guessing"), *ranks], both)
    column = [head.header for head in table.columns].index("Rank")
    assert [row[column] for row in table.rows] == [Missing("not ranked"), "1–2", "1–2"]
    assert rank_predictors(both[:1], people, resamples=99) == []
    assert "Rank" not in [head.header for head in scores_table([], both[:1]).columns]


def test_the_name_of_an_accuracy_tells_its_definition() -> None:
    """Spread, edge, form, and what becomes of replies that were not read."""
    assert accuracy_name() == "accuracy_within_sd(sd=sample,edge=strict,predictions=integer)"
    assert accuracy_name("rounded", unread="wrong").endswith("predictions=rounded,unread=wrong)")
    assert accuracy_name(edge="inclusive", spread="population").startswith("accuracy_within_sd(sd=population,edge=incl")
