"""Words left out: spans follow, what is planted is found, and two words that say the same share the credit."""

from __future__ import annotations

import itertools
import random

import pytest

from lexiscope.analysis.bias.attribution import word_attributions
from lexiscope.build.planted.bias import PLACES, TIMES, Dials, planted_items
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import divide_by_splits
from lexiscope.training.cues.word_removal import TARGET, Removal, plan_removals, without_places
from lexiscope.training.text_features import text_matrix
from lexiscope.training.view_models import regression_by_view


def test_the_span_follows_a_word_that_goes() -> None:
    """Words before, after and next to the target are deleted with one blank; the span is still that of the target."""
    item = Item("i", "d", (Usage("On the old bank, we sat down.", 11, 15),), gold="t")
    (usage,) = without_places(item, [(0, 0, 2), (0, 7, 10), (0, 24, 28)]).usages
    assert (usage.text, usage.target) == ("the bank, we sat.", "bank")
    (masked,) = without_places(item, [(-1, 0, 0)]).usages
    assert masked.text == "On the old [X], we sat down."


def test_two_words_that_say_the_same_share_the_credit() -> None:
    """The model says t wherever it sees *red* or *ripe*: left out by itself neither is missed, in orders both are."""
    item = Item("i", "d", (Usage("A red and ripe bank.", 15, 19),), gold="t")
    losses = {}
    hows: tuple[Removal, ...] = ("leave_one_out", "shapley")
    for how in hows:
        plan = plan_removals([item], "context", how, seed=3)
        tells = {own.shown.item_id: {"red", "ripe"} & set(own.shown.usages[0].text.split()) for own in plan.asked}
        answered = {name: ("t" if told else "f", 2.0 if told else -2.0) for name, told in tells.items()}
        losses[how] = {row.word: row.value for row in plan.lost_evidence(answered)}
    assert set(losses["leave_one_out"].values()) == {0.0}
    # efficiency: the losses add up to what the model loses with all words, 2 − (−2)
    assert sum(losses["shapley"].values()) == pytest.approx(4.0)
    assert losses["shapley"]["a"] == losses["shapley"]["and"] == 0.0
    assert min(losses["shapley"]["red"], losses["shapley"]["ripe"]) > 0


def test_losses_are_those_of_all_orders() -> None:
    """A model whose evidence is an arbitrary number for each set of words: leave-one-out is the difference to the whole
    text, exactly; Shapley values, by enumeration of all 24 orders, are the mean of what the random orders give."""
    item = Item("i", "d", (Usage("Red ripe old small bank.", 19, 23),), gold="t")
    words = ("red", "ripe", "old", "small")
    rng = random.Random(2)
    evidence = {
        frozenset(shown): rng.uniform(-2, 2) for size in range(5) for shown in itertools.combinations(words, size)
    }

    def losses(how: Removal, seed: int) -> dict[str, float]:
        plan = plan_removals([item], "context", how, seed=seed)
        shown = {
            own.shown.item_id: frozenset(own.shown.usages[0].text.casefold().split()) & {*words} for own in plan.asked
        }
        answered = {name: ("t", evidence[left]) for name, left in shown.items()}
        return {row.word: row.value for row in plan.lost_evidence(answered)}

    whole = frozenset(words)
    assert losses("leave_one_out", 1) == {word: evidence[whole] - evidence[whole - {word}] for word in words}
    exact = dict.fromkeys(words, 0.0)
    for order in itertools.permutations(words):
        for place, word in enumerate(order):
            left = whole - {*order[:place]}
            exact[word] += (evidence[left] - evidence[left - {word}]) / 24
    drawn = [losses("shapley", seed) for seed in range(200)]
    # 1,600 random orders; the largest standard error of the four means is .03
    means = {word: sum(own[word] for own in drawn) / len(drawn) for word in words}
    assert means == pytest.approx(exact, abs=0.1)
    assert all(sum(own.values()) == pytest.approx(evidence[whole] - evidence[frozenset()]) for own in drawn)


def test_planted_words_carry_the_answer() -> None:
    """Of a context that tells everything, times and places carry it, and no other word does; of a telling word, the
    target does, and no word of the context. (Time and place tell the same, so that the context needs orders.)"""
    cases: tuple[tuple[float, float, str, Removal], ...] = (
        (1.0, 0.0, "context", "shapley"),
        (0.0, 1.0, "full", "leave_one_out"),
    )
    for context, word, view, how in cases:
        splits = (("train", 600), ("dev", 100), ("test", 100))
        parts = divide_by_splits(planted_items(Dials(context, word, n_words=12, splits=splits)), 1)
        plan = plan_removals(parts.test, view, how, seed=1)
        found = regression_by_view(parts, (view,), text_matrix, task="same_sense", subject="words", removals=(plan,))
        lost = list(plan.lost_evidence(found.without_words[view]))
        pooled = word_attributions(lost, how=how, most=20, resamples=200)
        carrying = {TARGET} if view == "full" else {*TIMES, *PLACES}
        assert {mean.condition for mean in pooled[: len(carrying)]} == carrying
        assert all(mean.interval.low > 0 for mean in pooled[: len(carrying)])
        least, rest = pooled[len(carrying) - 1].value, pooled[len(carrying) :]
        assert all(abs(mean.value) < least / 5 for mean in rest), [(mean.condition, mean.value) for mean in pooled]
