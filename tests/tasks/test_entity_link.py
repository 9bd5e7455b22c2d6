"""The entity-link task: the mention in its text, hidden there or alone, and a page as the answer."""

from __future__ import annotations

from dataclasses import replace

import jinja2
import pytest
from markupsafe import Markup

from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.tasks.entity_link import FOLDER, SCREEN, example_items, right_page

TEXT = "In spring Santiago floods, as the river does."
ITEM = Item("i", "d", (Usage(TEXT, 10, 18, language="en"),), gold="Santiago")


def test_three_views_of_a_mention() -> None:
    """The text with the mention marked, with [X] in its place, or the mention alone; revealed, the text again."""
    full = (("In spring ", False), ("Santiago", True), (" floods, as the river does.", False))
    assert SCREEN.views == ("full", "context", "word")
    assert SCREEN.stimulus(ITEM, Shown("full"))["sentence"] == full
    assert SCREEN.stimulus(ITEM, Shown("context"))["sentence"] == (full[0], ("[X]", True), full[2])
    assert SCREEN.stimulus(ITEM, Shown("word"))["sentence"] == (("Santiago", True),)
    assert SCREEN.stimulus(ITEM, Shown("context", revealed=True))["sentence"] == full


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_view_is_asked_in_its_own_words(language: str) -> None:
    """The question names the mention except where it is hidden, and speaks of a text only where there is one."""
    asked = {view: SCREEN.question(ITEM, language, view=view) for view in SCREEN.views}
    assert "Santiago" in asked["full"]
    assert "Santiago" in asked["word"]
    assert "Santiago" not in asked["context"]
    assert "[X]" in asked["context"]
    assert len(set(asked.values())) == 3


def test_the_mention_alone_is_drawn_as_a_heading() -> None:
    """The page marks the mention as the target where nothing else stands there."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True)
    environment.globals["line"] = lambda pieces: Markup("").join(text for text, _ in pieces)
    template = environment.from_string((FOLDER / "screen.html").read_text(encoding="utf-8"))
    for view, name in (("full", "sentence"), ("context", "sentence"), ("word", "target")):
        html = template.render(**SCREEN.stimulus(ITEM, Shown(view)), shown=Shown(view), language="en")
        assert f'<p class="{name}"' in html


def test_an_answer_is_a_title_an_address_or_none() -> None:
    """Text is stored as it was written; who finds no page says so and writes nothing; else an answer is needed."""
    address = "https://encyclopedia.example/wiki/Santiago_(disambiguation)"
    assert SCREEN.read({"text": f" {address} "}, ITEM).text == address
    empty = SCREEN.read({"flag_not_found": "1", "text": " "}, ITEM)
    assert (empty.text, empty.flags) == (None, ("not_found",))
    for form in ({}, {"text": "x" * 501}):
        with pytest.raises(AnswerInvalid, match="text"):
            SCREEN.read(form, ITEM)


def test_the_right_page_is_gold_or_a_column() -> None:
    """``gold`` or the column ``page``."""
    assert right_page(ITEM) == "Santiago"
    assert right_page(replace(ITEM, gold=None)) is None
    assert right_page(replace(ITEM, gold=None, conditions={"page": " Santiago "})) == "Santiago"


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_stand_in_the_guidelines(language: str) -> None:
    """Each example's mention and its page stand in the guidelines in bold."""
    text = " ".join(SCREEN.guidelines(language).split())
    for item in example_items(language):
        usage = item.usages[0]
        assert f"**{usage.target}**{usage.text[usage.end :]}".rstrip(".") in text
        assert f"**{item.gold}**" in text
