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
from lexiscope.core.errors import InputError
from lexiscope.core.result import Undefined

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


ORDERS = ("intended_above_other", "ending_raises_intended")
FIRST = [(5, 5), (1, 1), (2, 2), (4, 4), (3, 3), (4, 4)]
SECOND = [(3, 3), (3, 3), (5, 5), (1, 1), (2, 4), (2, 2)]


def test_differences_by_hand() -> None:
    """Endings move meaning 1 of the first setup from 3 to 5 and 2, meaning 2 from 4 to 1 and 4; and so on."""
    results = {one.name: one for one in ending_effects(*stories(FIRST, SECOND), resamples=50)}
    open_to_ended = [2, 3, 1, 0, 0, 1, 2, 1]
    mean = results["absolute_difference(between=open_and_ended)"]
    assert (mean.value, mean.n, mean.n_groups) == (sum(open_to_ended) / 8, 8, 2)
    for ddof in (0, 1):
        sd = results[f"absolute_difference_sd(between=open_and_ended,ddof={ddof})"]
        assert sd.value == pytest.approx(np.std(open_to_ended, ddof=ddof), abs=1e-12)
    # A - B: 5 - 2, 1 - 4, 3 - 5, 3 - 1
    between = results["absolute_difference(between=endings)"]
    assert (between.value, between.n) == ((3 + 3 + 2 + 2) / 4, 4)
    assert results["absolute_difference_sd(between=endings,ddof=0)"].value == 0.5


def test_orders_by_hand() -> None:
    """Intended against other: 5 > 1, 4 > 2, 3 = 3, 1 < 5. Against the open story: 5 > 3, 4 = 4, 3 = 3, 1 < 2."""
    results = ending_effects(*stories(FIRST, SECOND), resamples=50)[6:]
    names = [f"{order}(share={share})" for order in ORDERS for share in ("above", "equal", "below")]
    assert [one.name for one in results] == names
    assert [one.value for one in results] == [50, 25, 25, 25, 50, 25]
    assert {(one.n, one.unit) for one in results} == {(4, "percent")}
    # two setups are too few to be resampled
    assert not any(one.interval.is_defined for one in results)
    of_three = ending_effects(*stories(FIRST, SECOND, SECOND), resamples=50)[6:]
    shares = [one.interval.is_defined for one in of_three]
    assert shares == [True, False, False] * 2


def test_words_are_resampled_whole() -> None:
    """Setups of one word count as one group; a setup without a word is refused."""
    ratings, places = stories(FIRST, SECOND, FIRST)
    words = {"s0": "bank", "s1": "bank", "s2": "note"}
    assert ending_effects(ratings, places, groups=words, resamples=50)[0].n_groups == 2
    with pytest.raises(InputError, match="'s2' has no word"):
        ending_effects(ratings, places, groups={"s0": "bank", "s1": "bank"})


def test_comparisons_without_ratings_are_left_out() -> None:
    """Without ending A's meaning 1, three of its comparisons of one setup go; the note counts the item."""
    ratings, places = stories(FIRST, SECOND)
    shift, _, _, endings, *_ = ending_effects(ratings.select(ratings.item != 0), places, resamples=0)
    assert (shift.n, endings.n) == (7, 3)
    assert shift.note.startswith("1 items of these setups have no rating")
    with pytest.raises(InputError, match="no place in a story"):
        ending_effects(ratings, {})


def test_three_endings_and_three_meanings_by_hand() -> None:
    """One setup of three endings, each for one of three meanings, and no open story: 9 pairs of endings, 6 orders."""
    means = {"x": (5, 1, 1), "y": (2, 4, 1), "z": (3, 3, 3)}
    rows, places = [], {}
    for row, (ending, values) in enumerate(means.items()):
        for column, value in enumerate(values):
            item = f"{ending}{column}"
            places[item] = StoryPlace("s", ending, str(column), "intended" if row == column else "unintended")
            rows += [("a", item, value), ("b", item, value)]
    found = {one.name: one for one in ending_effects(Ratings.from_arrays(*zip(*rows, strict=True)), places)}
    assert isinstance(found["absolute_difference(between=open_and_ended)"], Undefined)
    between = found["absolute_difference(between=endings)"]
    # x and y: 3 3 0, x and z: 2 2 2, y and z: 1 1 2
    assert (between.value, between.n) == ((6 + 6 + 4) / 9, 9)
    assert not between.interval.is_defined, "one setup cannot be resampled"
    # x: 5 > 1, 5 > 1; y: 4 > 2, 4 > 1; z: 3 = 3, 3 = 3
    assert found["intended_above_other(share=above)"].value == pytest.approx(100 * 4 / 6)


def test_places_come_from_conditions() -> None:
    """Setup, ending, meaning and intention are read from an item's conditions; without an ending's name: refused."""
    conditions = {"i": {"setup": "s", "ending_of": "open", "meaning": "2", "split": "test"}}
    assert story_places(conditions) == {"i": StoryPlace("s", "open", "2")}
    assert story_places(conditions)["i"].kind == "open"
    assert [StoryPlace("s", *place).intended for place in (("A", "1"), ("A", "2"), ("C", "1"))] == [True, False, False]
    with pytest.raises(InputError, match="no place in a story"):
        story_places({"i": {"setup": "s", "meaning": "2"}})


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
    free, free_sd, _, ends, ends_sd, ends_sample_sd = found[:6]
    assert (round(free.value, 3), round(free_sd.value, 4), free.n) == (0.796, 0.6752, 2_532)
    assert (round(ends.value, 3), round(ends_sd.value, 4), ends.n) == (1.183, 0.9414, 1_266)
    assert round(ends_sample_sd.value, 4) == 0.9418
    assert free.n_groups == 633


@pytest.mark.published
def test_intended_meanings_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Above the other meaning in 67.2 % (tie 2.8 %); raised by the ending in 65.1 %, unchanged 8.8, lowered 26.1."""
    found = ending_effects(ambistory.everything, ambistory.places, resamples=200)
    assert [round(share.value, 1) for share in found[6:8]] == [67.2, 2.8]
    assert [round(share.value, 1) for share in found[9:]] == [65.1, 8.8, 26.1]


@pytest.mark.published
def test_open_against_ended_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Not significant on all splits (p = .183) nor on test (.134); on train open stories are lower (p = .013)."""
    parts = {"all": ambistory.everything, **ambistory.splits}
    found = {name: open_against_ended(part, ambistory.places, condition=name) for name, part in parts.items()}
    assert {name: round(found[name][3].value, 3) for name in ("all", "train", "test")} == {
        "all": 0.183,
        "train": 0.013,
        "test": 0.134,
    }
    assert found["train"][0].value < found["train"][1].value
    assert found["test"][0].value > found["test"][1].value
    mean, _, u, p, _ = found["train"]
    assert (mean.condition, u.condition, u.p) == ("train, open", "train", p.value)
    assert found["all"][2].n == 1_266 + 2_532
