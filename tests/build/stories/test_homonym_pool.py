"""The pool of homonyms: every filter does what it says, counts it, and leaves items for ``ambiguous_sentence``."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from lexiscope.build.stories.homonym_pool import (
    DIFFERENT,
    FILTERS,
    KNOWN,
    NO_PARTICLE,
    NOT_TWICE,
    SAME_POS,
    PoolStep,
    homonym_pool,
)
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import LexicalSense, Lexicon, Pos, Synset
from lexiscope.resources.lexicons.pun_senses import PunSenses, read_pun_senses
from lexiscope.tasks.ambiguous_sentence import REQUIRES, SCREEN

DATA = Path(__file__).parents[2] / "data"
_SENSES: dict[str, tuple[str, Pos, str]] = {
    "bench%1:06:00::": ("bench", "n", "seat"),
    "bench%1:14:01::": ("bench", "n", "judges"),
    "court%1:14:00::": ("court", "n", "judges"),
    "court%1:06:00::": ("court", "n", "yard"),
    "row%1:14:00::": ("row", "n", "line"),
    "row%2:38:00::": ("row", "v", "oar"),
    "draw%2:35:00::": ("draw", "v", "pull"),
    "draw_up%2:36:00::": ("draw_up", "v", "write"),
}
_EXAMPLES = {"yard": ("A yard was swept.", "The court was swept.")}


class StandIn:
    """A lexicon of eight senses."""

    language = "en"

    def find_sense(self, key: str) -> LexicalSense | None:
        lemma, pos, synset = _SENSES.get(key, ("", "n", ""))
        return LexicalSense(key, lemma, pos, synset, 1) if lemma else None

    def synset(self, name: str) -> Synset:
        return Synset(name, "n", (), f"gloss of {name}", _EXAMPLES.get(name, ()))


def test_every_filter_counts_what_it_drops() -> None:
    """Seven puns: one unknown, one noun with verb, one with particle, one synset twice, one pair turned round."""
    puns = read_pun_senses(DATA / "puns_stand_in.gold", DATA / "puns_stand_in.xml")
    pool = homonym_pool(puns, cast(Lexicon, StandIn()))
    assert pool.steps == (
        PoolStep(KNOWN, 7, 6),
        PoolStep(SAME_POS, 6, 5),
        PoolStep(NO_PARTICLE, 5, 4),
        PoolStep(DIFFERENT, 4, 3),
        PoolStep(NOT_TWICE, 3, 2),
    )
    assert tuple(step.rule for step in pool.steps) == FILTERS
    assert [item.item_id for item in pool.items] == ["benches-1", "court-1"]


def test_an_item_of_the_pool_is_one_of_the_writing_task() -> None:
    """Word alone, both meanings; an example only where the word stands in it, else the item is named as lacking one."""
    puns = read_pun_senses(DATA / "puns_stand_in.gold", DATA / "puns_stand_in.xml")
    pool = homonym_pool(puns, cast(Lexicon, StandIn()))
    court = pool.items[1]
    assert court.usages[0].target == "court"
    assert {name: court.condition(name) for name in REQUIRES} == {
        "sense_1": "gloss of judges",
        "example_1": "",
        "sense_2": "gloss of yard",
        "example_2": "The court was swept.",
    }
    examples = {item.item_id: (item.condition("example_1"), item.condition("example_2")) for item in pool.items}
    assert [item_id for item_id, texts in examples.items() if not all(texts)] == ["benches-1", "court-1"]
    assert set(SCREEN.requires) <= set(court.conditions)


@pytest.mark.published
def test_the_senses_of_wordnet_are_found(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With WordNet 3.0: *bank* as a slope and as an institution make one item; *bank* and *bank on* make none."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    lexicon = wordnet.load()
    puns = (
        PunSenses("a", "Bank", (("bank%1:17:01::",), ("bank%1:14:00::",))),
        PunSenses("b", "banked", (("bank%2:40:00::",), ("bank_on%2:31:11::",))),
    )
    pool = homonym_pool(puns, lexicon)
    assert [item.item_id for item in pool.items] == ["bank-1"]
    assert str(pool.items[0].condition("sense_1")).startswith("sloping land")
