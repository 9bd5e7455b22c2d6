"""Ratings keep every id, count what is missing, and refuse what is ambiguous."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.analysis.agreement.choices import trust_of_checks
from lexiscope.analysis.agreement.forced_choice import forced_choice
from lexiscope.analysis.bias.people_by_view import people_by_view
from lexiscope.analysis.ratings import Ratings, choices_from_table, settle
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable

cells = st.dictionaries(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("ijklm")), st.integers(1, 5), min_size=1, max_size=25
)


def table(**columns: object) -> ResponseTable:
    return ResponseTable.from_columns({"subject_kind": "participant", "task": "relatedness", **columns})


def test_matrix_has_nan_where_nothing_was_rated() -> None:
    """Rows are raters, columns items, in the order of their sorted ids."""
    ratings = Ratings.from_arrays(["b", "a", "b"], ["j", "i", "i"], [3, 1, 2])
    assert (ratings.rater_ids, ratings.item_ids) == (("a", "b"), ("i", "j"))
    np.testing.assert_array_equal(ratings.matrix(), [[1, np.nan], [2, 3]])


@given(cells, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_rows_changes_nothing(given_cells, random) -> None:  # type: ignore[no-untyped-def]
    """Permuted rows give the same object."""
    rows = [(rater, item, value) for (rater, item), value in given_cells.items()]
    shuffled = rows.copy()
    random.shuffle(shuffled)
    first, second = (Ratings.from_arrays(*zip(*order, strict=True)) for order in (rows, shuffled))
    for name in ("rater", "item", "value"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (first.rater_ids, first.item_ids) == (second.rater_ids, second.item_ids)


def test_missing_ratings_are_counted_and_ids_stay() -> None:
    """A rater without any readable answer is still a rater, an item without one still an item."""
    ratings = Ratings.from_arrays(["a", "eva", "a"], ["i", "j", "i2"], [4, float("nan"), 5])
    assert (len(ratings), ratings.n_missing, ratings.n_raters, ratings.n_items) == (2, 1, 2, 3)
    assert ratings.counts().tolist() == [1, 1, 0]
    assert np.isnan(ratings.means()[2])


def test_a_repeated_rating_is_refused_unless_its_meaning_is_said() -> None:
    """Twice the same rater and item: an error that names both, or the mean, or the last one in row order."""
    rows = (["a", "b", "a", "a"], ["i", "i", "i", "j"], [1, 3, 4, 2])
    with pytest.raises(InputError, match=r"item 'i'.*rater 'a'") as caught:
        Ratings.from_arrays(*rows)
    assert caught.value.code == "E502"
    assert Ratings.from_arrays(*rows, repeats="mean").matrix()[0].tolist() == [(1 + 4) / 2, 2]
    last = Ratings.from_arrays(*rows, repeats="last")
    assert last.matrix()[0].tolist() == [4, 2]
    assert last.n_repeated == 1


def test_from_table_takes_the_measure_and_drops_missing_values() -> None:
    """Only rows of the measure count; a row without a value is missing, not absent."""
    responses = table(
        subject_id=["p2", "p1", "p1", "p1"],
        item_id=["i", "i", "j", "i"],
        measure=["rating", "rating", "rating", "rt"],
        value=[5.0, 3.0, None, 900.0],
    )
    ratings = Ratings.from_table(responses)
    assert ratings.rater_ids == ("p1", "p2")
    np.testing.assert_array_equal(ratings.matrix(), [[3, np.nan], [5, np.nan]])
    assert ratings.n_missing == 1
    with pytest.raises(InputError, match="'plausibility'") as caught:
        Ratings.from_table(responses, measure="plausibility")
    assert caught.value.code == "E504"


def test_from_table_equals_from_arrays() -> None:
    """The two constructors agree, whatever the order of first appearance."""
    raters, items, values = ["p2", "p10", "p1"], ["b", "a", "b"], [1.0, 2.0, 3.0]
    responses = table(subject_id=raters, item_id=items, measure="rating", value=values)
    first, second = Ratings.from_table(responses), Ratings.from_arrays(raters, items, values)
    assert (first.rater_ids, first.item_ids) == (second.rater_ids, second.item_ids)
    np.testing.assert_array_equal(first.matrix(), second.matrix())


def test_choices_become_codes_of_their_options() -> None:
    """A choice is the code of its option; no option chosen is missing."""
    responses = table(subject_id=["a", "b", "c"], item_id="i", measure="choice", option=["sense2", "sense1", None])
    ratings, options = choices_from_table(responses)
    assert options == ("sense1", "sense2")
    assert ratings.value.tolist() == [1, 0]
    assert ratings.n_missing == 1


def test_numeric_ids_become_text_in_code_point_order() -> None:
    """Ids are text: 10 stands before 9."""
    ratings = Ratings.from_arrays([10, 9], [1, 1], [1, 5])
    assert ratings.rater_ids == ("10", "9")
    assert ratings.matrix().tolist() == [[1], [5]]


def test_means_of_whole_numbers_tie_exactly() -> None:
    """6/4 and 3/2 are one mean; means of .1-steps are settled so that they tie too."""
    whole = Ratings.from_arrays(list("abcdab"), list("iiiijj"), [1, 1, 2, 2, 1, 2])
    assert whole.means()[0] == whole.means()[1]
    tenths = Ratings.from_arrays(list("abcabc"), list("iiijjj"), [0.1, 0.2, 0.3, 0.3, 0.2, 0.1])
    assert tenths.means()[0] == tenths.means()[1]
    assert settle(np.array([0.1 + 0.2]), np.array([1.0]))[0] == 0.3


def test_wrong_columns_are_refused() -> None:
    """Unequal lengths, infinite values, unknown raters and unlabelled items are errors that name the trouble."""
    with pytest.raises(InputError, match="differ in length"):
        Ratings.from_arrays(["a"], ["i", "j"], [1, 2])
    with pytest.raises(InputError, match=r"E503. a rating is not a number\n  why: .*'four'"):
        Ratings.from_arrays(["a", "b"], ["i", "i"], ["3", "four"])
    with pytest.raises(InputError, match="infinite"):
        Ratings.from_arrays(["a", "a"], ["i", "j"], [1, float("inf")])
    ratings = Ratings.from_arrays(["a"], ["i"], [1])
    with pytest.raises(InputError, match="'zoe'"):
        ratings.rater_code("zoe")
    with pytest.raises(InputError, match="1 items have no label"):
        ratings.item_labels({})
    assert ratings.rater_code("a") == 0


MIXED = {
    "subject_id": ["ana", "eva", "m", "ana"],
    "subject_kind": ["participant", "participant", "causal_lm", "participant"],
    "item_id": ["i", "i", "i", "j"],
    "measure": "rating",
    "value": [5.0, 4.0, 1.0, 2.0],
}


def test_models_are_raters_only_where_their_kind_is_named() -> None:
    """People are the raters: the mean of i is (5 + 4) / 2; with causal_lm named as a rater it is (5 + 4 + 1) / 3."""
    responses = table(**MIXED)
    assert Ratings.from_table(responses).means().tolist() == [(5 + 4) / 2, 2]
    both = Ratings.from_table(responses, kinds=("participant", "causal_lm"))
    assert both.rater_ids == ("ana", "eva", "m")
    assert both.means().tolist() == [(5 + 4 + 1) / 3, 2]
    assert Ratings.from_table(responses, kinds="causal_lm").rater_ids == ("m",)
    with pytest.raises(InputError, match=r"answers by causal_lm[\s\S]*kinds=") as caught:
        Ratings.from_table(responses.where(subject_kind="causal_lm"))
    assert caught.value.code == "E504"


def test_choices_of_models_are_no_votes() -> None:
    """A model's choice is left out unless its kind is named."""
    responses = table(**(MIXED | {"measure": "choice", "value": None, "option": ["t", "t", "f", "t"]}))
    assert choices_from_table(responses)[0].rater_ids == ("ana", "eva")
    assert choices_from_table(responses, kinds=("causal_lm",))[0].rater_ids == ("m",)


def test_ratings_on_two_scales_are_refused() -> None:
    """Two scales never meet in one mean: the error names both, an item of each, and what to do."""
    scales = table(**(MIXED | {"scale": ["0 to 4", "0 to 4", None, "1 to 100, continuous"]}))
    with pytest.raises(StatisticError, match=r"2 from 0 to 4 \(item 'i'\) and 1 from 1 to 100 \(item") as caught:
        Ratings.from_table(scales)
    assert "table.where(scale='0 to 4')" in caught.value.hint
    assert len(Ratings.from_table(scales.where(scale="0 to 4"))) == 2


def test_a_scale_with_other_steps_between_the_same_ends_is_one_scale() -> None:
    """Whole numbers from 1 to 5 and a model's expected value on 1 to 5 are one scale; an unstated one goes along."""
    same = table(**(MIXED | {"scale": ["1 to 5", "1 to 5, continuous", None, None]}))
    assert len(Ratings.from_table(same)) == 3


def test_participants_and_simulated_participants_are_no_raters_together() -> None:
    """A rehearsal counts by itself; with people in one table it is refused, and so it is where both are named."""
    rehearsed = table(**(MIXED | {"subject_kind": ["participant", "simulated", "causal_lm", "participant"]}))
    with pytest.raises(InputError, match="simulated participants") as caught:
        Ratings.from_table(rehearsed)
    assert caught.value.code == "E508"
    assert Ratings.from_table(rehearsed, kinds=("participant",)).rater_ids == ("ana",)
    assert Ratings.from_table(rehearsed.where(subject_kind="simulated")).rater_ids == ("eva",)


def test_statistics_of_people_count_no_model() -> None:
    """Every reader that makes people of a response table: a model among the answers changes nothing."""
    words = {"i": "bank", "j": "bat"}
    columns = {
        "subject_id": [who for who in ("ana", "eva", "m") for _ in words],
        "subject_kind": [kind for kind in ("participant", "participant", "chat") for _ in words],
        "item_id": [*words] * 3,
        "measure": "choice",
        "option": ["t", "f", "t", "f", "f", "t"],
        "view": "full",
    }
    everybody = table(**columns)
    people = everybody.where(subject_kind="participant")
    right, sides = dict.fromkeys(words, "t"), dict.fromkeys(words, ("t", "f"))
    (view,) = people_by_view(everybody, right=right, words=words, resamples=0)
    assert [who.participant for who in view.annotators] == ["ana", "eva"]
    chosen = forced_choice(everybody, right=right, sides=sides, resamples=0)
    assert [who.participant for who in chosen[0]] == ["ana", "eva"]
    assert repr(chosen) == repr(forced_choice(people, right=right, sides=sides, resamples=0))
    checks = table(**(columns | {"measure": "attention_check", "option": None, "value": 1.0}))
    assert sorted(trust_of_checks(checks)) == ["ana", "eva"]
