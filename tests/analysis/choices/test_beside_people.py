"""People and models on the same items: values by hand, intervals that hold them, and what cannot be computed."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.analysis.choices.beside_people import PeopleAnswers, first_position, model_results, people_results
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined


def people(n: int = 20) -> PeopleAnswers:
    """*n* items in as many sentences with three answers each: two right in even ones, three in odd ones."""
    right = np.array([2.0 + number % 2 for number in range(n)])
    ids = tuple(f"i{number}" for number in range(n))
    return PeopleAnswers(ids, np.full(n, 3.0), right, GroupLabels(ids, "sentences"), 3, 0)


def by_name(results: list[Estimate | Undefined]) -> dict[str, Estimate]:
    return {result.name: result for result in results if isinstance(result, Estimate)}


def test_shares_of_people_by_hand() -> None:
    """50 of 60 answers; all 20 majorities; of 3 pairs of people 1 the same in even items, 3 in odd ones: 40 of 60."""
    made = by_name(people_results(people(), agree=True, resamples=200))
    values = {name: result.value for name, result in made.items()}
    assert values == pytest.approx({"people_right(of=answers)": 100 * 50 / 60, "people_right(of=items)": 100.0,
                                    "people_same": 100 * 40 / 60})  # fmt: skip
    same = made["people_same"]
    assert same.interval.low < same.value < same.interval.high
    assert "sentences" in str(same.interval)


def test_a_model_by_hand() -> None:
    """A model that is right in odd items only: 30 of 60 answers' items, 20 below 50; same as 10 wrong and 30 right."""
    right = {f"i{number}": bool(number % 2) for number in range(20)}
    made = by_name(model_results(people(), right, agree=True, resamples=200))
    assert made["right_on_same"].value == pytest.approx(50.0)
    assert made["above_people"].value == pytest.approx(100 * (30 - 50) / 60)
    assert made["same_as_people"].value == pytest.approx(100 * (10 + 30) / 60)
    above = made["above_people"]
    assert above.p is not None
    assert float(above.p) < 0.05
    assert above.interval.high < 0


def test_what_cannot_be_computed_has_its_reason() -> None:
    """No item in common, one sentence alone, no answer at all."""
    (missing,) = model_results(people(), {"other": True}, agree=False)
    assert isinstance(missing, Undefined)
    assert "no item in common" in missing.reason
    one = PeopleAnswers(("i", "j"), np.ones(2), np.ones(2), GroupLabels("ss", "sentences"), 1, 0)
    assert all(isinstance(result, Undefined) for result in people_results(one, agree=False))
    assert isinstance(first_position({"i": True}, {"i": "s"}), Undefined)
    empty = ResponseTable.from_rows([Response("a", "participant", "i", "t", "choice", option=None)])
    with pytest.raises(StatisticError, match="no person gave an answer"):
        PeopleAnswers.of(empty, lambda _item, _word: True, {"i": "s"}, column="option")


def test_empty_answers_are_counted_apart() -> None:
    """Three people, one of whom chose nothing: two answers."""
    given = {"a": "x", "b": "y", "c": None}
    rows = [Response(who, "participant", "i", "t", "choice", option=word) for who, word in given.items()]
    own = PeopleAnswers.of(ResponseTable.from_rows(rows), lambda _, word: word == "x", {"i": "s"}, column="option")
    assert (own.n.tolist(), own.right.tolist(), own.n_people, own.n_empty) == ([2.0], [1.0], 2, 1)
