"""Precision, recall and F1 of chosen senses; accuracy at rank k; what chance reaches."""

from __future__ import annotations

import itertools

import pytest

from lexiscope.analysis.choices.retrieval import (
    accuracy_at,
    chosen,
    random_choice,
    random_retrieval,
    ranked,
)
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import Response, ResponseTable

GOLD = {"a": {"x"}, "b": {"x", "y"}, "c": {"z"}, "d": {"z"}, "e": {"q"}}


def test_accuracy_at_k_counts_any_right_answer() -> None:
    """Any of the right answers among the first k; an item without an answer is wrong; chance is that of the space."""
    answers = {"a": ["x", "q"], "b": ["z", "y"], "c": ["x", "y"], "d": []}
    assert accuracy_at(answers, GOLD, 1, resamples=0).value == 1 / 5
    found = accuracy_at(answers, GOLD, 2, n_entries=10, resamples=0)
    assert found.value == 2 / 5
    assert found.chance == pytest.approx((4 * (2 / 10) + (1 - 8 / 10 * 7 / 9)) / 5)


def test_items_of_one_word_are_resampled_together() -> None:
    """The interval of clustered items counts words."""
    clusters = {"a": "w", "b": "w", "c": "v", "d": "v", "e": "v"}
    assert accuracy_at({"a": ["x"]}, GOLD, clusters=clusters, resamples=50).n_clusters == 2


def test_ranks_that_were_cut_off_are_no_answers() -> None:
    """Accuracy at 2 of answers that stop at rank 1 is refused, not lowered."""
    with pytest.raises(StatisticError, match="rank 2 needs 2 answers"):
        accuracy_at({"a": ["x"], "b": ["y"]}, GOLD, 2)


@pytest.mark.parametrize(("n_right", "n_entries", "k"), [(1, 5, 2), (2, 5, 2), (3, 4, 2), (2, 6, 6)])
def test_chance_is_the_share_of_all_draws(n_right: int, n_entries: int, k: int) -> None:
    """The closed form equals the share of right draws among all that there are."""
    draws = list(itertools.combinations(range(n_entries), k))
    share = sum(any(each < n_right for each in draw) for draw in draws) / len(draws)
    assert random_retrieval({"i": {f"{n}" for n in range(n_right)}}, n_entries, k) == pytest.approx(share)


def test_random_choice_is_the_mean_over_items() -> None:
    """The share of right options of each item; a right answer that is no option cannot be drawn."""
    assert random_choice({"a": "xy", "b": "xyzu"}, {"a": {"x"}, "b": {"x", "y", "w"}}) == (1 / 2 + 2 / 4) / 2


def test_answers_are_read_from_rows() -> None:
    """Options by item; the ranks of a search in their order; several rows of an item are refused."""
    rows = [
        Response("m", "classifier", "a", "sense_retrieval", "retrieved", 0.9, "x"),
        Response("m", "classifier", "a", "sense_retrieval", "retrieved_next", 0.8, "y"),
        Response("m", "classifier", "a", "sense_retrieval", "retrieved_next", 0.7, "z"),
        Response("m", "classifier", "b", "sense_retrieval", "retrieved"),
    ]
    table = ResponseTable.from_rows(rows)
    assert ranked(table) == {"a": ["x", "y", "z"], "b": []}
    assert chosen(table, "retrieved") == {"a": "x", "b": None}
    with pytest.raises(StatisticError, match="several rows"):
        chosen(table, "retrieved_next")


def test_what_has_no_score() -> None:
    """No items, items without gold, items without options, a space that is too small."""
    for call in (
        lambda: random_choice({}, {}),
        lambda: random_choice({}, {"a": set()}),
        lambda: random_choice({}, {"a": {"x"}}),
        lambda: random_retrieval({"a": {"x", "y"}}, 1),
        lambda: accuracy_at({"a": ["x"]}, {"a": {"x"}}, 0),
    ):
        with pytest.raises(StatisticError):
            call()
