"""The number that is learnt, and the two parts of a training."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.training.lora_examples import RatedItem, round_to_point, split_items, target_places


def rated(name: str, word: str, *ratings: float, **conditions: str) -> RatedItem:
    usage = Usage(f"The {word}.", 4, 4 + len(word), lemma=word, language="en")
    return RatedItem(Item(name, "made_up", (usage,), conditions=conditions), ratings or (3.0,))


@pytest.mark.parametrize(
    ("mean", "up", "even"),
    [(1.0, 1, 1), (1.5, 2, 2), (2.5, 3, 2), (3.5, 4, 4), (4.5, 5, 4), (4.4, 4, 4), (4.6, 5, 5), (5.0, 5, 5)],
)
def test_halves_are_rounded_by_the_rule_that_is_named(mean: float, up: int, even: int) -> None:
    """Half up takes the higher point, half even the even number, as Python's round does; all else is the nearest."""
    assert round_to_point(mean, Scale(1, 5), "half_up") == up
    assert round_to_point(mean, Scale(1, 5), "half_even") == even == round(mean)


def test_a_mean_of_six_ratings_may_be_a_half() -> None:
    """2, 2, 2, 3, 3, 3 is 15 / 6 = 2.5: the third point of the scale half up, the second half even."""
    item = rated("i", "bank", 2, 2, 2, 3, 3, 3)
    assert item.mean == 2.5
    assert target_places([item], Scale(1, 5), "half_up") == (2,)
    assert target_places([item], Scale(1, 5), "half_even") == (1,)


def test_other_scales_have_their_own_points() -> None:
    """Steps of a half, a scale from 0, one below zero."""
    assert round_to_point(1.25, Scale(0, 3, step=0.5)) == 1.5
    assert round_to_point(0.5, Scale(0, 4)) == 1
    assert round_to_point(-0.5, Scale(-3, 3)) == 0
    assert round_to_point(-1.5, Scale(-3, 3), "half_even") == -2


def test_ratings_off_the_scale_are_refused_with_their_item() -> None:
    """A continuous scale has no points, and a mean outside the scale no nearest one."""
    with pytest.raises(InputError, match="continuous"):
        round_to_point(0.4, Scale(0, 1, step=0))
    with pytest.raises(InputError, match="item 'far'"):
        target_places([rated("far", "bank", 9.0)], Scale(1, 5), "half_up")
    with pytest.raises(InputError, match="without a rating"):
        RatedItem(rated("i", "bank").item, ())


def test_whole_words_are_held_back() -> None:
    """By word, no word stands in both parts, about the share is held back, and the seed alone decides which."""
    items = [rated(f"i{n}", f"word{n % 10}") for n in range(40)]
    found = split_items(items, share=0.2, seed=4)
    words = [{each.item.word for each in part} for part in (found.training, found.validation)]
    assert found.how == "word"
    assert not words[0] & words[1]
    assert len(found.validation) == 8
    assert sorted(each.item.item_id for each in (*found.training, *found.validation)) == sorted(
        each.item.item_id for each in items
    )
    assert split_items(items, share=0.2, seed=4) == found != split_items(items, share=0.2, seed=5)


def test_the_split_of_a_dataset_is_kept() -> None:
    """Train is learnt from, dev decides, test is never seen; words in both parts are said."""
    items = [rated("a", "bank", split="train"), rated("b", "Bank", split="dev"), rated("c", "jam", split="test")]
    found = split_items(items)
    assert (found.how, found.left_out, found.shared_words) == ("own", 1, ("bank",))
    assert [each.item.item_id for each in (*found.training, *found.validation)] == ["a", "b"]
    by_word = split_items([*items, rated("d", "quay", split="dev")], how="word", share=0.5)
    assert (by_word.how, by_word.left_out) == ("word", 1)
    assert {each.item.item_id for each in (*by_word.training, *by_word.validation)} == {"a", "b", "d"}


def test_a_split_needs_two_parts() -> None:
    """One word cannot be split, items without the condition have no own split, a share lies between 0 and 1."""
    with pytest.raises(InputError, match="validation"):
        split_items([rated("a", "bank"), rated("b", "bank")])
    with pytest.raises(InputError, match="both parts"):
        split_items([rated("a", "bank", split="train")])
    with pytest.raises(InputError, match="condition 'split'"):
        split_items([rated("a", "bank")], how="own")
    with pytest.raises(InputError, match="share"):
        split_items([rated("a", "bank"), rated("b", "jam")], share=1.0)
