"""Decisions: strictly greater wins, ties are wrong and reported; recorded outcomes come out the same way."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.choices.choice_sets import CORRECT, decide, option_values, recorded, token_deltas
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable

MEAN = "log_probability(bos=no,first=unscored,tokens=text,per=token)"


def rows(scores: dict[str, dict[str, float]], measure: str = MEAN, subject: str = "lm") -> list[Response]:
    return [
        Response(subject, "causal_lm", item, "minimal_pair", measure, value, option)
        for item, options in scores.items()
        for option, value in options.items()
    ]


def table(scores: dict[str, dict[str, float]], measure: str = MEAN) -> ResponseTable:
    return ResponseTable.from_rows(rows(scores, measure))


def eleven(right: float, *others: float) -> dict[str, float]:
    return {CORRECT: right} | {f"incorrect_{n}": value for n, value in enumerate(others, start=1)}


def test_the_right_option_must_be_strictly_greater() -> None:
    """Greater wins, smaller loses, equal loses and is a tie; the margin is right minus best other."""
    found = decide(
        table({"a": eleven(-1.0, -2.0), "b": eleven(-3.0, -2.0), "c": eleven(-2.0, -2.0)}), subject="lm", measure=MEAN
    )
    assert found.correct.tolist() == [True, False, False]
    assert found.tied.tolist() == [False, False, True]
    assert found.margin.tolist() == [1.0, -1.0, 0.0]
    assert found.n_tied == 1
    assert found.winner == ("correct", "incorrect_1", "correct")


def test_the_best_of_eleven_must_beat_all_ten() -> None:
    """One better random noun is enough to lose; a tie among wrong options is none of the right one's."""
    nine = [-9.0] * 9
    found = decide(table({"a": eleven(-1.0, *nine, -0.5), "b": eleven(-1.0, *nine, -9.0)}), subject="lm", measure=MEAN)
    assert found.correct.tolist() == [False, True]
    assert found.tied.tolist() == [False, False]
    assert found.n_options.tolist() == [11, 11]


def test_sets_of_two_and_of_eleven_stand_in_one_table() -> None:
    """An option that an item does not have takes no part in its decision."""
    found = decide(table({"two": eleven(-1.0, -2.0), "more": eleven(-1.0, -2.0, -0.5)}), subject="lm", measure=MEAN)
    assert found.correct.tolist() == [True, False]
    assert found.n_options.tolist() == [2, 3]


def test_a_uniform_model_ties_everywhere() -> None:
    """Equal values: nothing is right, everything is a tie."""
    found = decide(table({f"i{n}": eleven(-2.0, *[-2.0] * 10) for n in range(5)}), subject="lm", measure=MEAN)
    assert not found.correct.any()
    assert found.n_tied == 5


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"a": {"incorrect_1": -1.0, "incorrect_2": -2.0}}, "no right option"),
        ({"a": {CORRECT: -1.0}}, "no other option"),
        ({"a": {CORRECT: -1.0, "incorrect_1": float("nan")}}, "without a value"),
    ],
)
def test_an_incomplete_choice_set_is_refused_by_name(scores: dict[str, dict[str, float]], words: str) -> None:
    """No decision is made from what is missing; the item is named."""
    with pytest.raises(InputError, match=words) as error:
        decide(table(scores), subject="lm", measure=MEAN)
    assert error.value.place is not None
    assert error.value.place.item_id == "a"


def test_an_option_given_twice_is_refused() -> None:
    """Two values for one option: which one counts is not guessed."""
    twice = ResponseTable.concat([table({"a": eleven(-1.0, -2.0)})] * 2)
    with pytest.raises(InputError, match="two values"):
        option_values(twice, subject="lm", measure=MEAN)


def test_a_subject_without_the_measure_is_told_what_it_has() -> None:
    """The hint names the measures at hand."""
    with pytest.raises(InputError) as error:
        decide(table({"a": eleven(-1.0, -2.0)}), subject="lm", measure="log_probability")
    assert MEAN in (error.value.hint or "")


def test_recorded_outcomes_are_decisions_without_margins() -> None:
    """1 and 0 are right and wrong; nothing is known of ties, margins or winners."""
    given = ResponseTable.from_rows(
        [Response("OLMo", "recorded", f"i{n}", "minimal_pair", CORRECT, value) for n, value in enumerate([1.0, 0.0])]
    )
    found = recorded(given, subject="OLMo")
    assert found.correct.tolist() == [True, False]
    assert np.isnan(found.margin).all()
    assert found.n_tied == 0


def test_recorded_outcomes_are_zero_or_one() -> None:
    """Anything else is refused with its item."""
    given = ResponseTable.from_rows([Response("OLMo", "recorded", "i1", "minimal_pair", CORRECT, 0.5)])
    with pytest.raises(InputError, match="1 or 0"):
        recorded(given, subject="OLMo")


def test_decisions_are_put_in_the_order_of_the_items() -> None:
    """``aligned`` reorders, and refuses an item without a decision."""
    found = decide(table({"a": eleven(-1.0, -2.0), "b": eleven(-3.0, -2.0)}), subject="lm", measure=MEAN)
    assert found.aligned(["b", "a"]).correct.tolist() == [False, True]
    with pytest.raises(InputError, match="no decision on 1 of 2"):
        found.aligned(["a", "c"])


def test_token_deltas_are_right_minus_the_others() -> None:
    """With several others, minus their mean: 2 − (1 + 3 + 5) / 3."""
    given = table({"a": eleven(2.0, 3.0), "b": eleven(2.0, 1.0, 3.0, 5.0)}, "n_tokens")
    assert token_deltas(given, subject="lm") == {"a": -1.0, "b": -1.0}
