"""A set of pairs: what a dataset gives every subject to answer, and what its ratings are compared with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lexiscope
from lexiscope.analysis.ranks import rank_results
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import SpecError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate
from lexiscope.studies.kit.pairs import PairSet, rank_name


def dataset(*, task: str = "relatedness", rated: bool = True, gold: str | None = None, told: bool = True) -> Dataset:
    """Four pairs of two words, rated by two simulated people; every second one has the same sense."""
    items = [
        lexiscope.pair(f"{word}/{n}", f"One {word} {n}.", f"A {word} again.", word, same_sense=not n, split=split)
        for word in ("bank", "bat")
        for n, split in enumerate(("train", "test"))
    ]
    given = [
        lexiscope.rating(f"simulated-{who}", item.item_id, number + who, kind="simulated")
        for number, item in enumerate(items, start=1)
        for who in range(2)
    ]
    card = replace(lexiscope.dataset("mini_relatedness").card, name="made", title="Made pairs: some", task=task)
    rows = ResponseTable.from_rows(given) if rated else ResponseTable.empty()
    made = (replace(item, gold=gold, conditions=item.conditions if told else {}) for item in items)
    return Dataset(card, tuple(made), rows)


def test_rated_pairs_have_the_mean_of_the_ratings() -> None:
    """Means in the order of the items; usages in texts are in context; who rated is known."""
    pairs = PairSet.of(dataset(), "made")
    assert (pairs.task, pairs.title, pairs.in_context, pairs.simulated) == ("relatedness", "Made pairs", True, True)
    assert pairs.ratings.tolist() == [1.5, 2.5, 3.5, 4.5]
    assert pairs.words == ["bank", "bank", "bat", "bat"]
    assert {name: [item.item_id for item in each.items] for name, each in pairs.splits.items()} == {
        "train": ["bank/0", "bat/0"],
        "test": ["bank/1", "bat/1"],
    }


def test_a_right_answer_is_the_gold_or_the_condition() -> None:
    """Without ratings the condition says what is right; of a set of the task only pairs outside training are asked."""
    told = PairSet.of(dataset(rated=False), "made", title="Mine")
    assert (told.task, told.title, [item.gold for item in told.items]) == ("same_sense", "Mine", ["t", "f", "t", "f"])
    tested = PairSet.of(dataset(task="same_sense", gold="t"), "made")
    assert [item.item_id for item in tested.items] == ["bank/1", "bat/1"]
    assert not len(tested.ratings)


@pytest.mark.parametrize("data", [dataset(rated=False, told=False), dataset(task="plausibility")])
def test_a_set_with_neither_is_refused(data: Dataset) -> None:
    """The message names the sets that could be used."""
    with pytest.raises(SpecError, match="use one of scws, wic, or another set of rated pairs"):
        PairSet.of(data, "made", others=("scws", "wic"))


def test_correlations_count_the_pairs_first() -> None:
    """Similarities in the order of the ratings correlate fully; how many pairs there are comes first."""
    pairs = PairSet.of(dataset(), "made")
    rows = [
        Response("m", "gasi", item.item_id, "relatedness", "max_sim", float(value))
        for item, value in zip(pairs.items, np.linspace(0, 1, 4), strict=True)
    ]
    found = pairs.correlations(ResponseTable.from_rows(rows), ["m"], ["max_sim"], resamples=0, seed=0)
    assert [(one.statistic, one.dataset) for one in found[:2]] == [("n_pairs", "made"), ("coverage", "made")]
    assert [one.value for one in found] == [4, 100, pytest.approx(100), pytest.approx(100)]


def test_ranks_are_those_of_the_similarities_on_the_pairs_that_all_cover() -> None:
    """One near and one far from the ratings: their ranks are sets; the third covers nothing; one alone has none."""
    words = [f"w{n}" for n in range(20)]
    items = tuple(lexiscope.pair(word, f"One {word} 1.", f"A {word} 2.", word) for word in words)
    dice = np.random.default_rng(3)
    ratings = dice.uniform(1, 5, len(items))
    near, far = ratings + 0.1 * dice.normal(size=20), dice.normal(size=20)
    rows = [
        Response(subject, "vectors", item.item_id, "", "max_sim", float(value))
        for subject, column in (("far", far), ("near", near))
        for item, value in zip(items[1:], column[1:], strict=True)
    ]
    pairs, answers = PairSet("set", "Set", "relatedness", items, ratings), ResponseTable.from_rows(rows)
    ranks = pairs.ranks(answers, ("far", "near", "none"), "max_sim", resamples=300, seed=1)
    assert [(rank.subject, rank.value, rank.low, rank.high) for rank in ranks] == [("far", 2, 2, 2), ("near", 1, 1, 1)]
    expected = rank_results(
        "spearman", {"far": far[1:], "near": near[1:]}, ratings[1:], groups=words[1:], resamples=300, seed=1
    )
    assert [rank.value for rank in ranks] == [result.value for result in expected if isinstance(result, Estimate)]
    assert {(rank.statistic, rank.dataset, rank.n) for rank in ranks} == {(rank_name("max_sim"), "set", 19)}
    assert pairs.ranks(answers, ("near",), "max_sim", resamples=300, seed=1) == []
