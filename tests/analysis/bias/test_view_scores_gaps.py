"""People minus models view by view, the spread over seeds, ambiguity beside word bias."""

from __future__ import annotations

import math

import pytest

from lexiscope.analysis.bias.view_scores import (
    FixedScore,
    Scores,
    ViewScores,
    ambiguity_and_word_bias,
    human_model_gaps,
)
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Undefined

WORDS = [f"w{number}" for number in range(40)]


def test_a_gap_is_people_minus_model_on_the_same_words() -> None:
    """People right everywhere, the model on half of the items: a gap of .5; on the same words it has an interval."""
    model: Scores = {"full": ViewScores([1, 0] * 20, WORDS), "word": FixedScore(0.5, "assumed")}
    human: Scores = {"full": ViewScores([1] * 40, WORDS), "context": FixedScore(0.7, "printed")}
    (gap,) = human_model_gaps(model, human)
    assert (gap.view, gap.value) == ("full", 0.5)
    assert gap.excludes_zero
    assert gap.interval.low < 0.5 < gap.interval.high


def test_equal_answers_have_no_gap_in_any_draw() -> None:
    """The same words are drawn for both, so the interval is 0 to 0."""
    same: Scores = {"full": ViewScores([1, 0] * 20, WORDS)}
    (gap,) = human_model_gaps(same, same)
    assert (gap.interval.low, gap.interval.high, gap.excludes_zero) == (0, 0, False)


def test_a_printed_score_is_named_in_the_gap() -> None:
    """The interval then holds the model's sampling alone, and the note says whose score is printed."""
    (gap,) = human_model_gaps({"full": ViewScores([1, 0] * 20, WORDS)}, {"full": FixedScore(0.879, "printed")})
    assert gap.note == "the score of people is printed"
    assert gap.value == pytest.approx(0.379)
    assert gap.interval.is_defined


def test_without_a_common_view_there_is_no_gap() -> None:
    """The error names the views of both."""
    with pytest.raises(StatisticError, match="people saw word, the model full"):
        human_model_gaps({"full": FixedScore(1, "x")}, {"word": FixedScore(1, "x")})


def test_ambiguity_needs_three_datasets() -> None:
    """Datasets with both numbers count; fewer than three, or one and the same bias, leave it undefined and say why."""
    few = ambiguity_and_word_bias({"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.5, "b": math.nan, "c": 0.4})
    assert isinstance(few, Undefined)
    assert few.reason == "only 2 datasets have both; a correlation needs at least 3"
    flat = ambiguity_and_word_bias({"a": 0.1, "b": 0.2, "c": 0.3}, dict.fromkeys("abc", 0.4))
    assert isinstance(flat, Undefined)
    level = ambiguity_and_word_bias(dict.fromkeys("abc", 0.4), {"a": 0.1, "b": 0.2, "c": 0.3})
    assert isinstance(level, Undefined)
