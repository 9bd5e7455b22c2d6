"""What deserves a second look before a launch: each warning by the setting that causes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.annotation.study_file.definition import (
    Confusion,
    DesignSection,
    KnownQuestion,
    Payment,
    Platform,
    Retention,
    StudyDefinition,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.launch import launch_warnings
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

GOOD = StudyDefinition(
    name="s",
    task="same_sense",
    language="en",
    payment=Payment(amount=2),
    contact="team@example.org",
    retention=Retention(answers="Kept for ten years."),
)
CHECK = KnownQuestion(id="q", shows={"target": "bat", "sentence_1": "A bat.", "sentence_2": "The bat."}, accept=("t",))
TWO_ARMS = {"views": ("context", "full")}


def pair(name: str, *texts: str, word: str = "bank") -> Item:
    """A pair of texts; the first occurrence of the word is the target."""
    usages = tuple(Usage(text, text.index(word), text.index(word) + len(word)) for text in texts)
    return Item(name, "made", usages)


CLEAN = pair("clean", "A bank shuts.", "The bank of the river, near the embankment.")
TWICE = pair("twice", "A bank beside another Bank.", "The bank shuts.")
CASES = [
    ({}, []),
    ({"payment": Payment()}, ["W630"]),
    ({"payment": Payment(), "platform": Platform(kind="lab")}, []),
    ({"contact": " "}, ["W631"]),
    ({"retention": Retention()}, ["W632"]),
    ({"views": ("context",)}, []),
    ({"views": ("full", "word")}, []),
    ({**TWO_ARMS, "qualification": (CHECK,)}, ["W635"]),
    ({"views": ("full", "context"), "qualification": (CHECK,)}, []),
]


@pytest.mark.parametrize(("changes", "codes"), CASES)
def test_each_warning_has_its_cause(changes: dict[str, object], codes: list[str]) -> None:
    """A warning comes with its setting and with what to do, and not without its cause."""
    study = GOOD.model_copy(update=changes)
    found = launch_warnings(study, [CLEAN, TWICE])
    assert [warning.code for warning in found] == codes
    assert all(warning.what and warning.hint for warning in found)
    for warning in found:
        assert parse_definition(definition_yaml(study)).place(warning.keys).line is not None


def test_merged_rows_are_a_warning() -> None:
    """Rows that are one item together are told with the columns that are left out."""
    (warning,) = launch_warnings(GOOD, [CLEAN], merged="2 rows \u2192 1 item; columns that vary within an item: wave")
    assert (warning.code, warning.keys) == ("W634", ("items",))
    assert "wave" in warning.what


def test_variants_of_a_story_that_may_meet() -> None:
    """Two items of one setup, and no confusion set for setups: a list may hold both."""
    item = pair("one", "A bank shuts.")
    stories = [replace(item, item_id=name, conditions={"setup": "s"}) for name in ("a", "b")]
    study = GOOD.model_copy(update={"task": "plausibility"})
    (warning,) = launch_warnings(study, stories)
    assert (warning.code, "up to 2 items" in warning.what) == ("W636", True)
    apart = study.model_copy(update={"design": DesignSection(confusion=(Confusion(condition="setup", at_most=1),))})
    assert launch_warnings(apart, stories) == ()
    assert launch_warnings(study, stories[:1]) == ()


def test_a_word_that_the_guidelines_explain() -> None:
    """An example of the guidelines that stand on the page is no item; those of another view are not shown."""
    crust = pair("crust", "A thin crust.", "The crust.", word="crust")
    assert [(one.code, "crust" in one.what) for one in launch_warnings(GOOD, [crust])] == [("W637", True)]
    assert launch_warnings(GOOD.model_copy(update={"views": ("word",)}), [crust]) == ()
