"""Word-intrusion items: where intruders come from, how frequent they are, and what a seed fixes."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.build.sense_tests.intrusion import IntrusionRules, Match, SenseNeighbours, make_intrusion_items
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item


def world(seed: int, *, n_words: int = 3, n_senses: int = 3) -> tuple[list[SenseNeighbours], dict[str, float]]:
    """Made-up words with overlapping neighbours and frequencies over two orders of magnitude."""
    generator = np.random.default_rng(seed)
    vocabulary = [f"w{number:03}" for number in range(120)]
    senses = [
        SenseNeighbours(f"word{n}", f"s{m}", tuple(generator.choice(vocabulary, size=25, replace=False).tolist()))
        for n in range(n_words)
        for m in range(n_senses)
    ]
    names = [*vocabulary, *(f"word{n}" for n in range(n_words))]
    counts = np.exp(generator.uniform(np.log(100), np.log(1000), len(names))).round()
    counts[-n_words:] = 300
    return senses, dict(zip(names, counts.tolist(), strict=True))


def made(
    senses: list[SenseNeighbours], frequencies: dict[str, float], seed: int = 1, band: float = 3.0
) -> tuple[Item, ...]:
    """Items by the paper's rule: an intruder is as frequent as its word."""
    return make_intrusion_items(senses, frequencies, dataset="d", seed=seed, band=band, match="word")


@given(st.integers(0, 10_000), st.sampled_from([1.5, 2.0, 3.0]))
def test_intruders_keep_to_the_rules(seed: int, band: float) -> None:
    """G14: three different intruders for each sense, from another sense of the same word, as frequent as the word
    within the band, none of the sense's neighbours, nor the word; nine of the ten nearest neighbours stay."""
    senses, frequencies = world(seed)
    for sense in senses:
        others = {w for s in senses if s.word == sense.word and s.sense != sense.sense for w in s.neighbours}
        near = {w for w in others if 1 / band <= frequencies[w] / frequencies[sense.word] <= band}
        if len(near - set(sense.neighbours) - {sense.word}) < 3:
            with pytest.raises(InputError, match="can be its intruder"):
                made(senses, frequencies, seed, band)
            return
    items = made(senses, frequencies, seed, band)
    assert len(items) == 3 * len(senses)
    for sense, own in zip(senses, [items[n : n + 3] for n in range(0, len(items), 3)], strict=True):
        others = {w for s in senses if s.word == sense.word and s.sense != sense.sense for w in s.neighbours}
        assert len({item.gold for item in own}) == 3
        for item in own:
            assert item.gold is not None
            assert item.gold in others - set(sense.neighbours) - {sense.word}
            assert 1 / band <= frequencies[item.gold] / frequencies[sense.word] <= band
            assert set(item.options) == {*sense.neighbours[:10], item.gold} - {item.condition("replaced")}
            assert len(item.options) == 10
            assert list(item.options) == sorted(item.options)


def test_conditions_say_which_instance_it_is() -> None:
    """Word, sense, number of the intruder, what it replaced, which sense it is near and how near, and the model where
    it is named; ids are unique."""
    senses, frequencies = world(5)
    item = made(senses, frequencies)[4]
    origin = next(sense for sense in senses if sense.sense == item.condition("intruder_from"))
    assert origin.neighbours[int(item.condition("intruder_rank")) - 1] == item.gold
    assert dict(item.conditions) | {"replaced": ""} == {
        "word": "word0",
        "sense": "s1",
        "intruder_id": 2,
        "replaced": "",
        "intruder_from": origin.sense,
        "intruder_rank": origin.neighbours.index(str(item.gold)) + 1,
    }
    assert (item.item_id, item.word, item.usages[0].text) == ("word0/s1/2", "word0", "word0")
    named = make_intrusion_items(senses, frequencies, dataset="d", seed=1, band=3.0, match="word", model="beta")
    assert named[4].item_id == "beta/word0/s1/2"
    assert named[4].condition("model") == "beta"
    assert named[4].options == item.options


def test_a_seed_fixes_the_items() -> None:
    """The same seed gives the same items, whatever words stand beside; another seed gives others."""
    senses, frequencies = world(5)
    items = made(senses, frequencies)
    assert made(senses, frequencies) == items
    assert made(senses, frequencies, seed=2) != items
    assert made(senses[:3], frequencies) == items[:9]
    assert {item.item_id: item for item in made(senses[::-1], frequencies)} == {item.item_id: item for item in items}


def test_every_possible_intruder_and_place_is_drawn_alike() -> None:
    """Over 600 seeds each of the possible intruders is drawn equally often, and so is each place that is replaced:
    chi-square below its 99.9 % point (5 possible, 4 degrees: 18.47; 10 places, 9 degrees: 27.88)."""
    own = SenseNeighbours("word", "1", tuple(f"n{number}" for number in range(10)))
    other = SenseNeighbours("word", "2", tuple(f"m{number}" for number in range(10)))
    frequencies = {"word": 10.0} | {f"m{number}": 10.0 if number < 5 else 100.0 for number in range(10)}
    frequencies |= dict.fromkeys(own.neighbours, 10.0)
    drawn: dict[str, int] = {}
    left: dict[str, int] = {}
    for seed in range(600):
        item = make_intrusion_items([own, other], frequencies, dataset="d", seed=seed, n_intruders=1, match="word")[0]
        drawn[str(item.gold)] = drawn.get(str(item.gold), 0) + 1
        left[str(item.condition("replaced"))] = left.get(str(item.condition("replaced")), 0) + 1
    assert sorted(drawn) == ["m0", "m1", "m2", "m3", "m4"]
    assert sorted(left) == sorted(own.neighbours)
    assert sum((n - 120) ** 2 / 120 for n in drawn.values()) < 18.47
    assert sum((n - 60) ** 2 / 60 for n in left.values()) < 27.88


@given(st.integers(0, 10_000), st.integers(3, 8))
def test_a_pool_has_the_nearest_that_fit(seed: int, pool: int) -> None:
    """With *pool*, an intruder is one of so many nearest neighbours of another sense that fit, and no other."""
    senses, frequencies = world(seed)
    allowed: dict[str, set[str]] = {}
    for sense in senses:
        kept: set[str] = set()
        for other in senses:
            if other.word == sense.word and other.sense != sense.sense:
                fits = [w for w in other.neighbours if w not in sense.neighbours and 100 <= frequencies[w] <= 900]
                kept |= set(fits[:pool])
        allowed[f"{sense.word}/{sense.sense}"] = kept
    items = make_intrusion_items(senses, frequencies, dataset="d", seed=seed, band=3.0, match="word", pool=pool)
    assert all(item.gold in allowed[item.item_id.rpartition("/")[0]] for item in items)


def test_some_senses_alone_get_the_items_that_they_get_among_all() -> None:
    """*of* chooses whose items are made; the other senses still give intruders, and no draw changes."""
    senses, frequencies = world(5)
    some = make_intrusion_items(senses, frequencies, dataset="d", seed=1, band=3.0, match="word", of=["s1"])
    assert some == tuple(item for item in made(senses, frequencies) if item.condition("sense") == "s1")


def test_case_makes_no_other_word() -> None:
    """A neighbour in another case is the same word: never an intruder beside itself, and drawn once."""
    own = SenseNeighbours("word", "1", ("river", "shore", "tide", "x"))
    other = SenseNeighbours("word", "2", ("River", "WORDS", "coin", "Loan"))
    third = SenseNeighbours("word", "3", ("Coin", "loan", "x", "y"))
    frequencies = dict.fromkeys(["word", "River", "WORDS", "coin", "Coin", "loan", "Loan", "x"], 5.0)
    items = make_intrusion_items(
        [own, other, third], frequencies | {"river": 5, "tide": 5, "shore": 5}, dataset="d", seed=3, n_words=3
    )
    found = [str(item.gold).casefold() for item in items[:3]]
    assert sorted(found) == ["coin", "loan", "words"]


def test_wrong_input_is_refused_by_sense() -> None:
    """Each fault names the sense and its word."""
    senses, frequencies = world(5)
    first = senses[0]
    for broken, message in (
        (replace(first, neighbours=first.neighbours[:9]), "it has 9 neighbours, 10 are wanted"),
        (replace(first, neighbours=(*first.neighbours, first.neighbours[0].upper())), "empty or comes twice"),
        (replace(first, neighbours=(*first.neighbours, "Word0")), "among its own neighbours"),
        (replace(first, sense="s1"), "given twice"),
        (replace(first, word="other"), "no other sense"),
    ):
        with pytest.raises(InputError, match=rf"sense 's\d' of '\w+': .*{message}"):
            made([broken, *senses[1:]], frequencies)
    with pytest.raises(InputError, match="no frequency above 0"):
        made(senses, frequencies | {"word0": 0.0})
    with pytest.raises(InputError, match=r"only 0 words can be its intruder, 3 are wanted[\s\S]*wider band"):
        made(senses, frequencies | {"word0": 1.0})
    for settings in ({"band": 0.5}, {"n_intruders": 0}, {"n_words": 2}):
        with pytest.raises(InputError, match="at least are needed"):
            make_intrusion_items(senses, frequencies, dataset="d", seed=1, **settings)  # type: ignore[arg-type]


@given(st.integers(0, 10_000), st.sampled_from([1.5, 3.0]))
def test_an_intruder_may_be_as_frequent_as_the_page(seed: int, band: float) -> None:
    """By default the band lies around the geometric mean of the ten words, wherever the word lies: the matched rule."""
    senses, frequencies = world(seed)
    rare = frequencies | {f"word{n}": 1.0 for n in range(3)}
    items = make_intrusion_items(senses, rare, dataset="d", seed=seed, band=band, n_intruders=1)
    centres = {
        f"{sense.word}/{sense.sense}": np.exp(np.mean([np.log(frequencies[word]) for word in sense.neighbours[:10]]))
        for sense in senses
    }
    for item in items:
        centre = centres[item.item_id.rpartition("/")[0]]
        assert 1 / band <= frequencies[str(item.gold)] / centre <= band
    with pytest.raises(InputError, match="one of its neighbours has no frequency"):
        make_intrusion_items(senses, {"word0": 3.0}, dataset="d", seed=1)


def test_the_matched_rule_is_the_default_everywhere() -> None:
    """Statistics §7: intruders as frequent as the page's words by default, in the function and in the command's rules;
    the paper's rule, as frequent as the word, by its name."""
    assert IntrusionRules().match == "neighbours"
    assert inspect.signature(make_intrusion_items).parameters["match"].default == "neighbours"
    assert set(get_args(Match)) == {"word", "neighbours"}
    senses, frequencies = world(7)
    rare = frequencies | {f"word{n}": 5.0 for n in range(3)}
    assert make_intrusion_items(senses, rare, dataset="d", seed=1, band=3.0, n_intruders=1)
    with pytest.raises(InputError, match="can be its intruder"):
        make_intrusion_items(senses, rare, dataset="d", seed=1, band=3.0, n_intruders=1, match="word")
