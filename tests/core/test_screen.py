"""Screens: how a question is worded, what stores an answer, and what an item must have. Made of a folder of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Choice, Screen, Shown
from lexiscope.core.usage import Usage

ITEM = Item("i", "test", (Usage("A bank shuts", 2, 6, lemma="bank"),), conditions={"hint": "money", "n": 2})


def options(item: Item, view: str) -> tuple[Choice, ...]:
    undecided = (Choice("undecided", "t", flags=("undecided",)),) if view == "context" else ()
    return (Choice("t", "t"), Choice(str(item.condition("other")), "f"), *undecided)


@pytest.fixture
def screen(tmp_path: Path) -> Screen:
    words = {"question": "{target} ({hint}, {n})?", "question_context": "What is [X]?"}
    (tmp_path / "words.json").write_text(json.dumps({"en": words}), encoding="utf-8")
    return Screen(
        tmp_path,
        "choice",
        "choice",
        options=options,
        advance="press",
        views=("full", "context"),
        guess_views=("context",),
        reveal_view="context",
    )


def test_a_view_may_be_asked_otherwise(screen: Screen) -> None:
    """A question holds the target and the conditions; a view with a question of its own never names the target."""
    assert screen.question(ITEM, "en") == "bank (money, 2)?"
    assert screen.question(ITEM, "en-GB", view="context") == "What is [X]?"


def test_a_guess_is_not_lost_by_a_press(screen: Screen) -> None:
    """Where a word is guessed beside the options, an answer is stored by a button of its own."""
    assert screen.advance_in("full") == "press"
    assert screen.advance_in("context") == "next"


def test_options_follow_what_the_page_shows(screen: Screen) -> None:
    """A revealed target is answered as in full: nobody is undecided for want of the word."""
    item = Item("i", "test", ITEM.usages, conditions={"other": "f"})
    keys = {
        shown: [choice.key for choice in screen.choices(item, shown)]
        for shown in (Shown(), Shown("context"), Shown("context", revealed=True), Shown(order=(1, 0)))
    }
    assert list(keys.values()) == [["t", "f"], ["t", "f", "undecided"], ["t", "f"], ["f", "t"]]
    assert screen.read({"option": "undecided"}, item, view="context").flags == ("undecided",)
    with pytest.raises(AnswerInvalid, match="option"):
        screen.read({"option": "undecided"}, item, view="full")


def test_an_item_must_have_what_is_shown(screen: Screen) -> None:
    """What an item lacks is named before its options are asked for; options that are one are refused, by view."""
    with pytest.raises(InputError, match="needs 1 usages"):
        screen.check(Item("i", "test", ITEM.usages * 2))
    same = Item("i", "test", ITEM.usages, conditions={"other": "t"})
    with pytest.raises(InputError, match="two different options in the view 'full'"):
        screen.check(same)


def test_guidelines_by_view(screen: Screen) -> None:
    """What everybody reads comes first; a part is read only where its view is asked for; all parts without a choice."""
    text = "# en\n\nAll.\n\n## More\n\nStill all.\n\n# en/full\n\nSeen.\n\n# en/context\n\nHidden.\n\n# es\n\nTodos.\n"
    (screen.folder / "guidelines.md").write_text(text, encoding="utf-8")
    everybody = "All.\n\n## More\n\nStill all."
    assert screen.guideline_parts("en") == ("full", "context")
    assert screen.guidelines("en", views=()) == everybody
    assert screen.guidelines("en-GB", views=("full",)) == f"{everybody}\n\nSeen."
    assert screen.guidelines("en") == f"{everybody}\n\nSeen.\n\nHidden."
    assert screen.guidelines("es", views=("full",)) == "Todos."
    with pytest.raises(InputError) as caught:
        screen.guidelines("fi")
    assert caught.value.code == "E616"
