"""The frozen study gives one rule for places: newcomers and those who come back late are counted alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.annotation.store.record import NoPlaceLeft, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    CatchSection,
    DesignSection,
    Payment,
    RatingsSection,
    StudyDefinition,
    StudyTexts,
)
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

from ..store.made_study import Clock, qualified


def study(**changed: object) -> FrozenStudy:
    """One list of two items with one place; what is given replaces a setting."""
    usages = [Usage(f"Here is the word number {k}.", 12, 16, lemma="word", language="en") for k in range(4)]
    items = [Item(f"i{k}", "made", (usages[k], usages[3 - k])) for k in range(2)]
    definition = StudyDefinition(
        name="made",
        task="relatedness",
        language="en",
        items="items.csv",
        design=DesignSection(lists=1),
        ratings=RatingsSection(per_item=1),
        catch=CatchSection(per_list=0),
    )
    return freeze(definition.model_copy(update=changed), items)


@pytest.mark.parametrize("places", [1, 2, 3])
def test_an_added_place_is_there_for_who_comes_back_late(tmp_path: Path, places: int) -> None:
    """The list was full when the lease ran out: with a place that was added since, who comes back has it; with none
    they are surplus. A newcomer then finds what is left: *places* minus two."""
    frozen, clock = study(), Clock()
    with Store.open(
        tmp_path, frozen.record, clock=clock, steady=clock.steady, has_place=frozen.has_place, unsafe_fast=True
    ) as store:

        def take() -> str:
            who = qualified(store)
            store.take_place(who, choose=frozen.choose)
            return who

        late = take()
        clock.forward(minutes=frozen.record.hold_minutes + 1)
        take()
        store.set_places("1", places, actor="ana")
        assert store.renew_place(late).surplus == (places == 1)
        if places < 3:
            with pytest.raises(NoPlaceLeft):
                take()
        else:
            take()
        assert store.loads()["1"].free == 0
        assert {one.state for one in store.people()} == {State.QUALIFIED}


def test_a_place_that_was_taken_away_is_not_there(tmp_path: Path) -> None:
    """Who comes back late to a list whose only place was taken away is surplus, though nobody else is on it."""
    frozen, clock = study(), Clock()
    with Store.open(
        tmp_path, frozen.record, clock=clock, steady=clock.steady, has_place=frozen.has_place, unsafe_fast=True
    ) as store:
        late = qualified(store)
        store.take_place(late, choose=frozen.choose)
        clock.forward(minutes=frozen.record.hold_minutes + 1)
        store.set_places("1", 0, actor="ana")
        assert store.renew_place(late).surplus


@pytest.mark.parametrize(
    ("language", "duration", "pay"),
    [
        ("en", "Duration: about 12.5 min", "Pay: 2.50 GBP"),
        ("es", "Duración aproximada: 12.5 min", "Pago: 2.50 GBP"),
        ("de", "Dauer: etwa 12.5 Min.", "Vergütung: 2.50 GBP"),
        ("ar", "المدة: حوالي 12.5 دقيقة", "المكافأة: 2.50 GBP"),
    ],
)
def test_the_consent_has_duration_and_pay(language: str, duration: str, pay: str) -> None:
    """Both are in the consented text, in the study's language, between the researcher's text and the ethics line.

    Without a payment there is no line of pay, and the duration stays.
    """
    texts, paid = StudyTexts(consent="I agree."), Payment(amount=2.5, currency="GBP", minutes=12.5)
    frozen = study(language=language, texts=texts, ethics="Board 1", payment=paid)
    assert frozen.consent_text == f"I agree.\n\n- {duration}\n- {pay}\n\nBoard 1"
    unpaid = study(language=language, texts=texts, ethics="Board 1", payment=Payment(minutes=12.5))
    assert unpaid.consent_text == f"I agree.\n\n- {duration}\n\nBoard 1"
