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
    StudyTexts,
    WordsSection,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.launch import launch_problems, launch_warnings
from lexiscope.annotation.study_file.page_texts import participants_texts
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
    assert (warning.code, "Up to 2 items" in warning.what) == ("W636", True)
    apart = study.model_copy(update={"design": DesignSection(confusion=(Confusion(condition="setup", at_most=1),))})
    assert launch_warnings(apart, stories) == ()
    assert launch_warnings(study, stories[:1]) == ()


def test_a_word_that_the_guidelines_explain() -> None:
    """An example of the guidelines that stand on the page is no item; those of another view are not shown."""
    crust = pair("crust", "A thin crust.", "The crust.", word="crust")
    assert [(one.code, "crust" in one.what) for one in launch_warnings(GOOD, [crust])] == [("W637", True)]
    assert launch_warnings(GOOD.model_copy(update={"views": ("word",)}), [crust]) == ()


def test_every_text_is_compared_with_the_language() -> None:
    """Spanish at the end of a German study is an error; English guidelines of one in Swahili are a warning."""
    spanish = (
        "Gracias por su interés. Este estudio no admite respuestas en este momento, por eso se le pide que lo intente."
    )
    study = GOOD.model_copy(update={"language": "de", "texts": StudyTexts(closed=spanish)})
    found = [problem for problem in launch_problems(study, [CLEAN]) if problem.code == "E639"]
    assert [(problem.keys, "'es'" in problem.what) for problem in found] == [(("texts", "closed"), True)]
    english = "Please decide how related the meanings of the word are in the two sentences, and choose a number for it."
    study = GOOD.model_copy(update={"language": "sw", "words": WordsSection(guidelines={"all": english})})
    assert "E639" not in {problem.code for problem in launch_problems(study, [CLEAN])}
    assert [warning.keys for warning in launch_warnings(study, [])] == [("words", "guidelines")]


def test_pages_and_words_of_a_language_that_is_not_there() -> None:
    """Without words the task has none in the language; with them, what they lack of task and pages is named."""
    lacking = launch_problems(GOOD.model_copy(update={"language": "sw"}), [CLEAN])
    assert "E616" in {problem.code for problem in lacking}
    words = WordsSection(task={"question": "?"}, guidelines={"all": "."}, pages={"Next": ">"})
    found = {
        problem.code: problem.what
        for problem in launch_problems(GOOD.model_copy(update={"language": "sw", "words": words}), [CLEAN])
        if problem.code in ("E616", "E633")
    }
    assert "words.option_t" in found["E616"]
    assert "words.question," not in found["E616"]
    assert "guidelines.full" in found["E616"]
    assert f"and {len(participants_texts()) - 1 - 3} more" in found["E633"]


def test_a_question_of_another_task_needs_its_words() -> None:
    """A question on the page of plausibility, in German, which that task does not have: found before the launch."""
    asked = CHECK.model_copy(update={"task": "plausibility"})
    problems = launch_problems(GOOD.model_copy(update={"language": "de", "qualification": (asked,)}), [CLEAN])
    assert ("qualification", 0, "task") in {problem.keys for problem in problems if problem.code == "E616"}
