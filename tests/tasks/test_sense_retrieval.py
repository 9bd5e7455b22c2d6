"""The sense-retrieval task: a word in three views, and a meaning of the whole lexicon as the answer."""

from __future__ import annotations

import pytest

from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.tasks.sense_retrieval import SCREEN, TASK, example_items

TEXT = "His counter came too late."
ITEM = Item("i", "d", (Usage(TEXT, 4, 11, language="en"),), gold="counterpunch.n.01")


def test_three_views_of_a_word() -> None:
    """The sentence with the word marked, with [X] in its place, or the word alone; each is asked in its own words."""
    assert SCREEN.stimulus(ITEM, Shown("full"))["sentence"] == (
        ("His ", False),
        ("counter", True),
        (" came too late.", False),
    )
    assert SCREEN.stimulus(ITEM, Shown("context"))["sentence"] == (
        ("His ", False),
        ("[X]", True),
        (" came too late.", False),
    )
    assert SCREEN.stimulus(ITEM, Shown("word"))["sentence"] == (("counter", True),)
    asked = {SCREEN.question(ITEM, "en", view=view) for view in SCREEN.views}
    assert len(asked) == 3


def test_an_answer_is_a_name_or_that_there_is_none() -> None:
    """The name is stored as it was written; who finds no meaning says so."""
    assert SCREEN.read({"text": " counterpunch.n.01 "}, ITEM).text == "counterpunch.n.01"
    assert SCREEN.read({"flag_not_found": "1"}, ITEM).flags == ("not_found",)
    with pytest.raises(AnswerInvalid, match="text"):
        SCREEN.read({}, ITEM)


def test_models_answer_with_ranks() -> None:
    """The task describes the rows of a search beside those of people."""
    assert {"synset", "retrieved", "retrieved_next"} <= set(dict(TASK.measures))


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_stand_in_the_guidelines(language: str) -> None:
    """Each example's word and its meaning stand there in bold."""
    text = " ".join(SCREEN.guidelines(language).split())
    for item in example_items(language):
        usage = item.usages[0]
        assert f"**{usage.target}**{usage.text[usage.end :]}".rstrip(".") in text
        assert f"**{item.gold}**" in text
