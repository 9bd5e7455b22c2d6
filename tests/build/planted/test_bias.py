"""Planted bias: the proof that a measured bias is the planted one, at every setting of the dials."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

from lexiscope.analysis.bias.bias import Biases, context_word_bias
from lexiscope.analysis.bias.view_scores import scored_views
from lexiscope.build.planted.bias import Dials, count_answers, expected_scores, planted_items
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.items.arrange.views import view_item

VIEWS = ("full", "context", "word", "label")
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)


def part(items: Sequence[Item], split: str) -> list[Item]:
    return [item for item in items if item.conditions["split"] == split]


@cache
def measured(context: float, word: float) -> Biases:
    """The biases of the look-up learner, trained and tested on each view; its answers go the way of all responses."""
    items = planted_items(Dials(context, word))
    train, test = part(items, "train"), part(items, "test")
    rows = [
        Response("look-up", "classifier", item.item_id, "same_sense", "choice", option=answer, view=view)
        for view in VIEWS
        for item, answer in zip(test, count_answers(train, test, view), strict=True)
    ]
    gold, words = {item.item_id: str(item.gold) for item in test}, {item.item_id: item.word for item in test}
    scores = scored_views(ResponseTable.from_rows(rows), gold, words, subjects=["look-up"])
    return context_word_bias(scores, resamples=300)


@pytest.mark.parametrize("context", STEPS)
@pytest.mark.parametrize("word", STEPS)
def test_measured_biases_are_the_dials(context: float, word: float) -> None:
    """Each accuracy is the closed form up to .02, each bias up to .04: 1,000 test items, at all 25 settings."""
    found, truth = measured(context, word), expected_scores(Dials(context, word))
    value = {each.view: each.value for each in found.views}
    assert value["label"] == 0.5
    for view in ("full", "context", "word"):
        assert value[view] == pytest.approx(getattr(truth, view), abs=0.02)
    assert found.context.value == pytest.approx(truth.context_bias, abs=0.04)
    assert found.word.value == pytest.approx(truth.word_bias, abs=0.04)


@pytest.mark.parametrize("corner", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_corners_are_reached(corner: tuple[int, int]) -> None:
    """Only FULL solves; CONTEXT suffices; WORD suffices; both do. A part that suffices is right on every item."""
    found = measured(*map(float, corner))
    value = {each.view: each.value for each in found.views}
    assert value["full"] == 1.0
    for dial, view in zip(corner, ("context", "word"), strict=True):
        # a part that tells nothing is at chance: .5, SD .016 of 1,000 coin tosses
        assert value[view] == 1.0 if dial else abs(value[view] - 0.5) < 0.032
    gap = found.minimum_gap
    assert gap is not None
    assert gap.value == pytest.approx(0.0 if any(corner) else 0.5, abs=0.032)


def test_a_bias_rises_with_its_dial_and_not_with_the_other() -> None:
    """Along each dial the measured bias is strictly monotone; along the other it stays where it is."""
    for other in STEPS:
        along_context = [measured(step, other) for step in STEPS]
        along_word = [measured(other, step) for step in STEPS]
        rising = [[each.context.value for each in along_context], [each.word.value for each in along_word]]
        level = [[each.word.value for each in along_context], [each.context.value for each in along_word]]
        assert all(low < high for values in rising for low, high in itertools.pairwise(values))
        assert all(abs(value - other) < 0.04 for values in level for value in values)


def test_intervals_hold_the_planted_bias() -> None:
    """At the middle of both dials: the interval of each bias holds .5 and has a width."""
    found = measured(0.5, 0.5)
    for bias in (found.context, found.word):
        assert bias.interval.low < 0.5 < bias.interval.high


@pytest.mark.parametrize("dials", [Dials(), Dials(0.33, 0.77, 12, (("train", 101), ("test", 37)), 5), Dials(1, 1)])
def test_answers_are_balanced_and_shares_exact(dials: Dials) -> None:
    """In each split t and f differ by one item at most, and the telling items are as many as the dials say."""
    items = planted_items(dials)
    for split, size in dials.splits:
        own = part(items, split)
        gold = Counter(item.gold for item in own)
        assert len(own) == size
        assert abs(gold["t"] - gold["f"]) <= 1
        assert sum(bool(item.conditions["context_tells"]) for item in own) == round(size * dials.context_sufficiency)
        assert sum(bool(item.conditions["word_tells"]) for item in own) == round(size * dials.word_sufficiency)


def test_words_are_shared_and_spans_cover_them() -> None:
    """All words stand in all splits, in both usages of an item; a context shows no letter of them."""
    items = planted_items(Dials())
    words = {split: {item.word for item in part(items, split)} for split in ("train", "dev", "test")}
    assert words["train"] == words["dev"] == words["test"]
    assert len(words["test"]) == 48
    for item in items:
        assert {usage.target for usage in item.usages} == {item.word}
        assert item.usages[0].text != item.usages[1].text
        assert all(item.word not in usage.text for usage in view_item(item, "context").usages)


def test_without_telling_parts_each_part_is_a_coin() -> None:
    """At (0, 0) every word and every pair of contexts occurs as often with t as with f, up to chance and one item."""
    items = planted_items(Dials(0, 0, splits=(("test", 3840),)))
    for view in ("context", "word"):
        answers: dict[tuple[str, ...], Counter[str | None]] = {}
        for item in items:
            key = tuple(usage.text for usage in view_item(item, view).usages)
            answers.setdefault(key, Counter())[item.gold] += 1
        assert all(abs(count["t"] - count["f"]) <= 1 + 0.1 * count.total() for count in answers.values())


def test_the_seed_makes_the_items() -> None:
    """The same dials make the same items, another seed others."""
    assert planted_items(Dials()) == planted_items(Dials())
    assert planted_items(Dials()) != planted_items(Dials(seed=2))


@pytest.mark.parametrize("wrong", [{"context_sufficiency": 1.1}, {"n_words": 5}, {"n_words": 2}, {"splits": ()}])
def test_impossible_dials_are_refused(wrong: dict[str, object]) -> None:
    """Shares lie from 0 to 1, words are an even number, splits have items."""
    with pytest.raises(InputError):
        Dials(**wrong)  # type: ignore[arg-type]


def test_the_learner_says_what_it_saw_most() -> None:
    """Ties are t, unseen texts get the most frequent gold of all, items without gold teach nothing."""
    items = planted_items(Dials(splits=(("test", 40),)))
    yes = [item for item in items if item.gold == "t"]
    assert count_answers(yes, items, "full") == ("t",) * 40
    assert count_answers(items, items, "label") == ("t",) * 40
    with pytest.raises(InputError, match="to learn from"):
        count_answers([], items, "full")
