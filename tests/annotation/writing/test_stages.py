"""The stages feed each other: accepted sentences become setups, setups items, endings stories, stories samples."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from lexiscope.annotation.store.record import Review
from lexiscope.annotation.study_file.definition import CatchSection, Confusion, DesignSection
from lexiscope.annotation.study_file.design import build_design
from lexiscope.annotation.writing.review import AcceptedText, WrittenText
from lexiscope.annotation.writing.stages import (
    ending_items,
    missing_endings,
    rating_items,
    setup_id_of,
    setups,
)
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

SENSES = {"sense_1": "where money is kept", "example_1": "She went to the bank to pay."}
SENSES |= {"sense_2": "side of a river", "example_2": "The bank was muddy."}


def pool_item(name: str, form: str = "bank") -> Item:
    return Item(name, "pool", (Usage(form, 0, len(form), lemma="bank", language="en"),), conditions=SENSES)


def taken(answer_id: int, item_id: str, text: str, *, who: str = "p1", clean: str | None = None) -> AcceptedText:
    review = Review(answer_id, "accepted", "", clean, "editor", "t")
    return AcceptedText(WrittenText(answer_id, who, item_id, text), review)


POOL = {name: pool_item(name) for name in ("bank-1", "bank-2")}
SENTENCES = (taken(1, "bank-1", "we met at the bank", clean="They met at the Bank."), taken(2, "bank-2", "The bank."))
BEFORE = {"bank-1_1": " It rained. It was late. They were tired.\n", "bank-2_2": "One. Two. Three."}


def asked(n: int = 2) -> dict[str, Item]:
    """The items of an ending study with *n* setups."""
    sentences = [taken(k, "bank-1", f"The bank number {k} was shut.") for k in range(n)]
    made = setups(sentences, POOL)
    items = ending_items(made, {one.setup_id: "One. Two. Three." for one in made}, dataset="endings")
    return {item.item_id: item for item in items}


def endings_for(items: Mapping[str, Item]) -> list[AcceptedText]:
    """An accepted ending for every item; each of the two endings of a setup by another writer."""
    return [
        taken(k, name, f"Ending {k}.", who=f"w{item.condition('meaning')}")
        for k, (name, item) in enumerate(items.items(), start=100)
    ]


def test_an_accepted_sentence_makes_a_setup() -> None:
    """The clean text is the sentence, its word located with its case ignored; the pool gives the two meanings."""
    first, second = setups(SENTENCES, POOL)
    assert first.setup_id == setup_id_of("bank-1", 1) == "bank-1_1"
    assert first.usage == Usage("They met at the Bank.", 16, 20, lemma="bank", language="en")
    assert first.homonym == "Bank"
    assert first.meanings == ((SENSES["sense_1"], SENSES["example_1"]), (SENSES["sense_2"], SENSES["example_2"]))
    assert second.usage.text == "The bank."


def test_a_decomposed_sentence_is_composed_with_its_span() -> None:
    """Offsets count composed characters: a sentence in NFD keeps its word under its span."""
    pool = {"manana": pool_item("manana", "mañana")}
    (made,) = setups([taken(1, "manana", unicodedata.normalize("NFD", "Llegará mañana."))], pool)
    assert (made.usage.text, made.homonym) == ("Llegará mañana.", "mañana")


def test_meanings_that_an_editor_corrected_take_the_place_of_the_pool_s() -> None:
    """A05: a sentence that is ambiguous between other senses keeps its text and gets those senses."""
    other = {"sense_2": "row of switches", "example_2": "A bank of lamps."}
    first, second = setups(SENTENCES, POOL, corrected={"bank-1_1": other})
    assert first.meanings == ((SENSES["sense_1"], SENSES["example_1"]), ("row of switches", "A bank of lamps."))
    assert second.meanings[1][0] == SENSES["sense_2"]
    for wrong in ({"bank-9_9": other}, {"bank-1_1": {"sense_3": "x"}}):
        with pytest.raises(InputError) as caught:
            setups(SENTENCES, POOL, corrected=wrong)
        assert caught.value.code == "E646"


@pytest.mark.parametrize("text", ["They met at the river.", "A bank is a bank."])
def test_a_sentence_without_its_word_goes_no_further(text: str) -> None:
    """A review that was stored without its check does not let a lost or doubled word through."""
    with pytest.raises(InputError, match=r"E645[\s\S]*bank-1_7"):
        setups([taken(7, "bank-1", text)], POOL)


def test_a_setup_makes_two_items_one_for_each_meaning() -> None:
    """Both items show the same story; what one intends is the other meaning of the other; the task takes them."""
    first, second, *rest = ending_items(setups(SENTENCES, POOL), BEFORE, dataset="endings")
    assert len(rest) == 2
    assert [first.item_id, second.item_id] == ["bank-1_1_A", "bank-1_1_B"]
    assert first.usages == second.usages
    assert [one.condition("meaning") for one in (first, second)] == ["1", "2"]
    assert first.condition("precontext") == "It rained. It was late. They were tired."
    for name in ("sense", "example"):
        assert first.condition(name) == second.condition(f"other_{name}") == SENSES[f"{name}_1"]
        assert second.condition(name) == first.condition(f"other_{name}") == SENSES[f"{name}_2"]
    for item in (first, second):
        catalog.screen("story_ending").check(item)


def test_a_setup_without_precontext_is_named() -> None:
    """Writing precontexts is a step of its own: what lacks one is refused, by its id."""
    made = setups(SENTENCES, POOL)
    for before in ({}, {"bank-1_1": BEFORE["bank-1_1"], "bank-2_2": "  "}):
        with pytest.raises(InputError, match=r"E647[\s\S]*bank-2_2") as caught:
            ending_items(made, before, dataset="endings")
        assert ("bank-1_1" in str(caught.value)) == (not before)


def test_633_setups_make_1899_stories_and_3798_samples() -> None:
    """A09: 633 × 3 stories × 2 meanings = 3,798 samples, six of each setup, in AmbiStory's order."""
    items = asked(633)
    assert len(items) == 633 * 2
    samples = rating_items(endings_for(items), items, dataset="samples")
    assert len(samples) == 633 * 6 == 3798
    stories = {(one.condition("precontext"), one.usages[0].text, one.condition("ending")) for one in samples}
    assert len(stories) == 633 * 3 == 1899
    assert set(Counter(one.condition("setup") for one in samples).values()) == {6}
    assert Counter(str(one.condition("intended")) for one in samples) == {"yes": 1266, "no": 1266, "open": 1266}
    assert len({one.item_id for one in samples}) == 3798


def test_the_six_samples_of_a_setup() -> None:
    """Order and roles as in the released data (ambistory.md §1): A/1, A/2, B/1, B/2, open/1, open/2."""
    items = asked(1)
    samples = rating_items(endings_for(items), items, dataset="samples")
    roles = [tuple(one.condition(name) for name in ("ending_of", "meaning", "intended")) for one in samples]
    assert roles == [
        ("A", "1", "yes"),
        ("A", "2", "no"),
        ("B", "1", "no"),
        ("B", "2", "yes"),
        ("open", "1", "open"),
        ("open", "2", "open"),
    ]
    assert [one.condition("ending") for one in samples] == ["Ending 100."] * 2 + ["Ending 101."] * 2 + [""] * 2
    assert [one.condition("sense") for one in samples] == [SENSES["sense_1"], SENSES["sense_2"]] * 3
    assert {str(one.condition("homonym")) for one in samples} == {"bank"}
    for sample in samples:
        catalog.screen("plausibility").check(sample)


def test_setups_that_lack_an_ending_are_named_or_left_out() -> None:
    """A setup with one accepted ending makes no story: an error with its id, or, where asked, no samples."""
    items = asked(3)
    endings = endings_for(items)[:-1]
    assert missing_endings(endings, items) == ("bank-1_2_B",)
    with pytest.raises(InputError, match=r"E648[\s\S]*bank-1_2"):
        rating_items(endings, items, dataset="samples")
    samples = rating_items(endings, items, dataset="samples", leave_out_incomplete=True)
    assert {str(one.condition("setup")) for one in samples} == {"bank-1_0", "bank-1_1"}
    half = {name: item for name, item in items.items() if name != "bank-1_0_B"}
    with pytest.raises(InputError, match=r"E648[\s\S]*bank-1_0"):
        rating_items(endings_for(half), half, dataset="samples")


def test_two_endings_of_a_setup_are_by_two_writers_one_for_each_meaning() -> None:
    """A08: both by one person, or two for one meaning, are refused with the ids."""
    items = asked(1)
    first, second = endings_for(items)
    mine = replace(second, answer=replace(second.answer, participant_id=first.answer.participant_id))
    with pytest.raises(InputError, match=r"E649[\s\S]*bank-1_0"):
        rating_items([first, mine], items, dataset="samples")
    again = replace(first, answer=replace(first.answer, answer_id=999))
    with pytest.raises(InputError, match=r"E649[\s\S]*bank-1_0_A"):
        rating_items([first, second, again], items, dataset="samples")


def test_no_writer_gets_both_meanings_of_a_story() -> None:
    """A08: with at most one item of a setup in a list, the two endings are always by two people."""
    items = tuple(asked(60).values())
    settings = DesignSection(lists=6, confusion=(Confusion(condition="setup", at_most=1),), balance=("meaning",))
    design = build_design(items, settings, CatchSection(per_list=0))
    assert [len(one) for one in design.lists] == [20] * 6
    for one in design.lists:
        assert len({item.condition("setup") for item in one}) == 20
        assert Counter(str(item.condition("meaning")) for item in one) == {"1": 10, "2": 10}
