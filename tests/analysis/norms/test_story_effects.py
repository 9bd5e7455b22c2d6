"""Effects of endings are differences within a setup; open and ended stories are compared as the paper does."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.norms.predictions import Predictor
from lexiscope.analysis.norms.story_effects import (
    ENDINGS,
    MEANINGS,
    StoryPlace,
    accuracy_by_kind,
    ending_effects,
    open_against_ended,
    story_places,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError

Setup = dict[tuple[str, str], tuple[int, int]]


def stories(*setups: list[tuple[int, int]]) -> tuple[Ratings, dict[str, StoryPlace]]:
    """Two ratings of the six items of each setup, in the order A/1 A/2 B/1 B/2 open/1 open/2."""
    rows, places = [], {}
    for number, setup in enumerate(setups):
        for place, pair in enumerate(setup):
            item = f"s{number}-{place}"
            places[item] = StoryPlace(f"s{number}", ENDINGS[place // 2], MEANINGS[place % 2])
            rows += [(rater, item, value) for rater, value in zip("ab", pair, strict=True)]
    return Ratings.from_arrays(*zip(*rows, strict=True)), places


FIRST = [(5, 5), (1, 1), (2, 2), (4, 4), (3, 3), (4, 4)]
SECOND = [(3, 3), (3, 3), (5, 5), (1, 1), (2, 4), (2, 2)]


def test_differences_by_hand() -> None:
    """Endings move meaning 1 of the first setup from 3 to 5 and 2, meaning 2 from 4 to 1 and 4; and so on."""
    found = ending_effects(*stories(FIRST, SECOND), resamples=50)
    open_to_ended = [2, 3, 1, 0, 0, 1, 2, 1]
    assert found.open_to_ended.mean == sum(open_to_ended) / 8
    assert found.open_to_ended.sd == pytest.approx(np.std(open_to_ended, ddof=1), abs=1e-12)
    assert found.open_to_ended.sd_population == pytest.approx(np.std(open_to_ended), abs=1e-12)
    # A - B: 5 - 2, 1 - 4, 3 - 5, 3 - 1
    assert found.ending_to_ending.mean == (3 + 3 + 2 + 2) / 4
    assert (found.open_to_ended.n, found.ending_to_ending.n, found.open_to_ended.n_groups) == (8, 4, 2)
    results = {one.name: one for one in found.results()}
    mean = results["absolute_difference(between=open_and_ended)"]
    assert (mean.value, mean.interval, mean.n) == (10 / 8, found.open_to_ended.interval, 8)
    assert results["absolute_difference_sd(between=open_and_ended,ddof=1)"].value == found.open_to_ended.sd
    assert results["absolute_difference_sd(between=endings,ddof=0)"].value == found.ending_to_ending.sd_population


def test_orders_by_hand() -> None:
    """Intended against other: 5 > 1, 4 > 2, 3 = 3, 1 < 5. Against the open story: 5 > 3, 4 = 4, 3 = 3, 1 < 2."""
    found = ending_effects(*stories(FIRST, SECOND), resamples=50)
    other, free = found.intended_above_other, found.ending_raises_intended
    assert (other.above, other.equal, other.below, other.n) == (0.5, 0.25, 0.25, 4)
    assert (free.above, free.equal, free.below, free.n) == (0.25, 0.5, 0.25, 4)
    above, equal, below = free.results()
    assert (above.name, above.value, above.interval.low) == (
        "ending_raises_intended(share=above)",
        25,
        100 * free.interval.low,
    )
    assert (equal.value, below.value, below.unit, below.n) == (50, 25, "percent", 4)


def test_words_are_resampled_whole() -> None:
    """Setups of one word count as one group; a setup without a word is refused."""
    ratings, places = stories(FIRST, SECOND, FIRST)
    words = {"s0": "bank", "s1": "bank", "s2": "note"}
    assert ending_effects(ratings, places, groups=words, resamples=50).open_to_ended.n_groups == 2
    with pytest.raises(InputError, match="'s2' has no word"):
        ending_effects(ratings, places, groups={"s0": "bank", "s1": "bank"})


def test_setups_must_be_whole() -> None:
    """A setup of which one item has no ratings is refused by name; so is an item without a place."""
    ratings, places = stories(FIRST, SECOND)
    with pytest.raises(StatisticError, match=r"setup 's0' .* lacks ratings"):
        ending_effects(ratings.select(ratings.item != 0), places)
    with pytest.raises(InputError, match="no place in a story"):
        ending_effects(ratings, {})


def test_places_come_from_conditions() -> None:
    """Setup, ending and meaning are read from an item's conditions; an unknown ending is refused."""
    conditions = {"i": {"setup": "s", "ending_of": "open", "meaning": "2", "split": "test"}}
    assert story_places(conditions) == {"i": StoryPlace("s", "open", "2")}
    assert story_places(conditions)["i"].kind == "open"
    with pytest.raises(InputError, match="no place in a story"):
        story_places({"i": {"setup": "s", "ending_of": "C", "meaning": "2"}})


def test_accuracy_of_open_and_ended_stories() -> None:
    """All, open and ended items have their own n; a missing prediction is counted where it belongs."""
    ratings, places = stories(FIRST, SECOND)
    predictions: dict[str, float | None] = dict.fromkeys(ratings.item_ids, 3.0)
    predictions["s0-4"] = None
    subject = Predictor("m", "m", predictions, "integer", 12, {"refusal": 1}, 1)
    found = accuracy_by_kind(subject, ratings, places, resamples=0)
    note = "over readable replies: 1 samples without a prediction"
    assert [(each.subject, each.condition, each.n, each.note) for each in found] == [
        ("m", "all", 11, note),
        ("m", "open", 3, note),
        ("m", "ended", 8, ""),
        ("m", "all", 12, ""),
        ("m", "open", 4, ""),
        ("m", "ended", 8, ""),
    ]
    assert ["unread=wrong" in each.name for each in found] == [False] * 3 + [True] * 3
    # constant 3: of the ended items only the two with mean 3 are closer than 1
    assert found[2].value == 2 / 8


@pytest.mark.published
def test_endings_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """.796 (.6752) over 2,532 and 1.183 (.9414) over 1,266 differences; .675 and .941 are population SDs."""
    found = ending_effects(ambistory.everything, ambistory.places, resamples=200)
    free, ends = found.open_to_ended, found.ending_to_ending
    assert (round(free.mean, 3), round(free.sd_population, 4), free.n) == (0.796, 0.6752, 2_532)
    assert (round(ends.mean, 3), round(ends.sd_population, 4), ends.n) == (1.183, 0.9414, 1_266)
    assert round(ends.sd, 4) == 0.9418
    assert free.n_groups == 633


@pytest.mark.published
def test_intended_meanings_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Above the other meaning in 67.2 % (tie 2.8 %); raised by the ending in 65.1 %, unchanged 8.8, lowered 26.1."""
    found = ending_effects(ambistory.everything, ambistory.places, resamples=200)
    other, free = found.intended_above_other, found.ending_raises_intended
    assert [round(100 * share, 1) for share in (other.above, other.equal)] == [67.2, 2.8]
    assert [round(100 * share, 1) for share in (free.above, free.equal, free.below)] == [65.1, 8.8, 26.1]


@pytest.mark.published
def test_open_against_ended_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Not significant on all splits (p = .183) nor on test (.134); on train open stories are lower (p = .013)."""
    parts = {"all": ambistory.everything, **ambistory.splits}
    found = {name: open_against_ended(part, ambistory.places) for name, part in parts.items()}
    assert {name: round(found[name].test.p, 3) for name in ("all", "train", "test")} == {
        "all": 0.183,
        "train": 0.013,
        "test": 0.134,
    }
    assert found["train"].open_sd < found["train"].ended_sd
    assert found["test"].open_sd > found["test"].ended_sd
    assert found["all"].test.n == (1_266, 2_532)
    mean, _, u, p, _ = found["train"].results("train")
    assert (mean.condition, mean.value, u.condition) == ("train, open", found["train"].open_sd, "train")
    assert (u.p, p.value, u.n) == (found["train"].test.p, found["train"].test.p, sum(found["train"].test.n))
