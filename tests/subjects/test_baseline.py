"""Baselines: rules without understanding, seeded, independent of the neighbours."""

from __future__ import annotations

import math

import pytest

from lexiscope.core.catalog import subject as make
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.subjects.baseline import Baseline


def item(name: str, first: str, second: str, target: str = "bank") -> Item:
    usages = [Usage(text, text.index(target), text.index(target) + len(target)) for text in (first, second)]
    return Item(name, "test", tuple(usages))


ITEMS = [item(f"i{n}", "the bank of the river", "the bank in town") for n in range(500)]


def test_word_overlap_is_the_jaccard_distance_of_the_contexts() -> None:
    """Contexts {the, of, river} and {the, in, town}: 1 shared of 5, distance 1 − 1/5; the target does not count."""
    table = make("baseline:word_overlap").judge(ITEMS[:1], "relatedness")
    assert table.column("value").tolist() == [1 - 1 / 5]
    assert table.unique("measure") == ("jaccard_distance",)
    same = item("same", "The bank of the River", "the bank of the river")
    bare = item("bare", "bank", "bank")
    assert make("baseline:word_overlap").judge([same, bare], "relatedness").column("value").tolist() == [0.0, 0.0]


def test_random_is_seeded_and_uniform() -> None:
    """Another seed, other answers; the same seed, the same; every point of the scale about equally often."""
    values = make("baseline:random?seed=1").judge(ITEMS, "relatedness").column("value")
    assert values.tolist() == make("baseline:random?seed=1").judge(ITEMS, "relatedness").column("value").tolist()
    assert values.tolist() != make("baseline:random?seed=2").judge(ITEMS, "relatedness").column("value").tolist()
    assert set(values) == {1, 2, 3, 4, 5}
    # 500 draws at 1/5: mean 100 a point, SD √(500 · 1/5 · 4/5) ≈ 8.9; five SD are never left
    assert all(abs((values == point).sum() - 100) < 45 for point in range(1, 6))


def test_the_seed_of_the_run_counts_where_none_is_named() -> None:
    """A seed in the spec goes first; without one the run's seed decides, and the revision shows it."""
    named, unnamed = Baseline("random", seed=1), Baseline("random")
    assert named.with_seed(9).facts.revision == named.facts.revision
    assert unnamed.with_seed(9).facts.revision != unnamed.with_seed(8).facts.revision
    assert unnamed.with_seed(9).subject_id == "baseline:random"


def test_constant_is_the_middle_of_the_scale() -> None:
    """The constant answer is 3 on the scale from 1 to 5."""
    assert set(make("baseline:constant").judge(ITEMS, "relatedness").column("value")) == {3.0}


def test_what_is_no_baseline_is_refused() -> None:
    """Unknown rules, options and tasks are named."""
    for wrong in ("majority", "random?seed=x", "random?speed=1", "constant?seed=1"):
        with pytest.raises(SpecError):
            make(f"baseline:{wrong}")
    with pytest.raises(InputError, match="baseline:constant does not answer"):
        make("baseline:constant").judge(ITEMS, "story_ending")
    with pytest.raises(InputError, match="use baseline:frequency or baseline:random"):
        make("baseline:word_overlap").judge(ITEMS, "minimal_pair")
    with pytest.raises(InputError, match="needs two usages"):
        make("baseline:word_overlap").judge([Item("one", "test", (ITEMS[0].usages[0],))], "relatedness")


@pytest.mark.parametrize("task", ["same_sense", "sense_verification"])
def test_random_answers_true_or_false_at_chance(task: str) -> None:
    """Pairs and definitions get t or f, a choice and never a rating; 500 draws at 1/2: five SD are 56."""
    table = make("baseline:random?seed=1").judge(ITEMS, task)
    assert table.unique("measure") == ("choice",)
    drawn = table.column("option").tolist()
    assert set(drawn) == {"t", "f"}
    assert abs(drawn.count("t") - 250) < 56
    assert set(table.column("value").tolist()) <= {None} or all(map(math.isnan, table.column("value")))
    with pytest.raises(InputError, match="does not answer"):
        make("baseline:constant").judge(ITEMS, task)


def test_random_and_constant_answer_stories() -> None:
    """The rules that need one text rate the meanings of stories too; overlap of two contexts does not."""
    one = Item("i", "d", (Usage("The bank shut.", 4, 8),), conditions={"precontext": "It rained.", "ending": ""})
    for name in ("random", "constant"):
        (value,) = make(f"baseline:{name}").judge([one], "plausibility").column("value").tolist()
        assert value in (1.0, 2.0, 3.0, 4.0, 5.0)
    with pytest.raises(InputError, match="does not answer 'plausibility'"):
        make("baseline:word_overlap").judge([one], "plausibility")
