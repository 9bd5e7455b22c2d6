"""Rows of a qualitative table hold what people and models said; examples are chosen by a stated rule."""

from __future__ import annotations

import pytest

from lexiscope.analysis.norms.example_rows import SubjectAnswer, choose_examples, example_rows
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError

PEOPLE = Ratings.from_arrays(list("abcabcabc"), list("iiijjjkkk"), [3, 1, 2, 5, 5, 5, 1, 5, 3])
SUBJECTS = {"m": {"i": 2.0, "j": 1.0, "k": None}, "n": {"i": 5.0, "j": 2.0, "k": 3.0}}


def test_a_row_holds_everything_said() -> None:
    """Mean, SD, the ratings in order, and each subject's answer, right or not; a missing answer is not right."""
    first, second = example_rows(["k", "i"], PEOPLE, SUBJECTS)
    assert (first.item_id, first.mean, first.sd, first.ratings) == ("k", 3.0, 2.0, (1.0, 3.0, 5.0))
    assert first.answers == (SubjectAnswer("m", None, within_sd=False), SubjectAnswer("n", 3.0, within_sd=True))
    assert [answer.within_sd for answer in second.answers] == [True, False]
    with pytest.raises(InputError, match="two ratings"):
        example_rows(["x"], PEOPLE, SUBJECTS)


def test_rules_of_choice() -> None:
    """Largest error: j (4 and 3); subjects disagree: i (3 points); people disagree: k, whoever answered."""
    assert choose_examples(PEOPLE, SUBJECTS, rule="largest_error", count=2) == ("j", "i")
    assert choose_examples(PEOPLE, SUBJECTS, rule="subjects_disagree", count=1) == ("i",)
    assert choose_examples(PEOPLE, {}, rule="people_disagree", count=2) == ("k", "i")
    with pytest.raises(StatisticError, match="2 items have every subject's prediction; 3"):
        choose_examples(PEOPLE, SUBJECTS, rule="largest_error", count=3)
