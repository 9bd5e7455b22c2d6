"""The draft of a study for every task that people can be asked, and what its launch still needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.annotation.study_file.definition import (
    CatchSection,
    DesignSection,
    KnownQuestion,
    Planned,
    Platform,
    PoolSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.study_file.launch import launch_problems
from lexiscope.annotation.study_file.template import about_you_questions, draft_definition, write_draft
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item

ASKED = [name for name in catalog.names("tasks") if getattr(catalog.module("tasks", name), "SCREEN", None)]
WRITTEN_BY_RESEARCHERS = {("texts", "consent"), ("ethics",)} | {
    ("codes", name) for name in ("completion", "no_consent")
}


def example_items(task: str, language: str = "en") -> tuple[Item, ...]:
    """The worked examples of a task as items of a study."""
    return tuple(catalog.module("tasks", task).example_items(language))  # type: ignore[attr-defined]


def draft(task: str, items: Sequence[Item] | None = None, **changes: object) -> StudyDefinition:
    made = draft_definition(
        items or example_items(task), task=task, items_file="items.csv", language="en", name="study"
    )
    return made.model_copy(update=changes)


@pytest.mark.parametrize("task", ASKED)
def test_every_task_can_be_drafted(task: str) -> None:
    """A draft lacks what only a researcher can write, and the file to search where the task searches one."""
    made, items = draft(task), example_items(task)
    lacking = {problem.keys for problem in launch_problems(made, items)}
    searches = catalog.screen(task).widget == "search"
    # the items of this test are the guidelines' own examples, which a study must not ask about
    wanted = WRITTEN_BY_RESEARCHERS | ({("search",)} if searches else set())
    assert lacking - {("texts", "instructions")} == wanted
    assert parse_definition(definition_yaml(made)).definition == made


@pytest.mark.parametrize("task", ASKED)
def test_every_draft_freezes(task: str) -> None:
    """What a draft says can run: its study freezes, and somebody on the first list has trials or draws them."""
    made = draft(task, search="entities.tsv")
    study = freeze(made, example_items(task))
    assert study.record.places
    assert study.screen.drawn or study.trials("1", number=1)


def test_habits_of_the_papers() -> None:
    """Ratings per item and Back are those of the papers that ran the task."""
    assert [draft(task).ratings.per_item for task in ("relatedness", "plausibility", "word_intrusion")] == [10, 5, 3]
    assert [draft(task).back for task in ("plausibility", "relatedness")] == [True, False]
    assert draft("same_sense").views == ("full", "context"), "of two equal words everybody says the same"
    assert draft("plausibility").catch.per_list == 0
    assert draft("ambiguous_sentence").design.lists == 1


def test_stories_are_kept_apart() -> None:
    """Where stories name their setup and their word form, no list holds two of either, and there are lists enough."""
    (story, *_) = example_items("plausibility")
    items = [
        replace(
            story,
            item_id=f"s{setup}-{variant}",
            conditions={**story.conditions, "setup": f"s{setup}", "homonym": f"w{setup // 2}"},
        )
        for setup in range(10)
        for variant in range(6)
    ]
    made = draft("plausibility", items)
    assert [(one.condition, one.at_most) for one in made.design.confusion] == [("setup", 1), ("homonym", 1)]
    # 60 stories of 30 to a list are two lists; a form has 12 stories, each in another list
    assert made.design.lists == 12
    for held in freeze(made, items).design.lists:
        assert len({item.conditions["homonym"] for item in held}) == len(held)


@pytest.mark.parametrize("task", ["word_intrusion", "sense_choice"])
def test_pages_of_one_word_are_kept_apart(task: str) -> None:
    """Pages of a test of senses share the neighbours of a word: nobody sees two of one word; there are lists enough."""
    (page, *_) = example_items(task)
    items = [
        replace(page, item_id=f"w{word}-{number}", usages=(replace(page.usages[0], lemma=f"w{word}"),))
        for word in range(4)
        for number in range(9)
    ]
    made = draft(task, items)
    assert [(one.condition, one.at_most) for one in made.design.confusion] == [("word", 1)]
    assert made.design.lists == 9
    for held in freeze(made, items).design.lists:
        assert len({item.word for item in held}) == len(held) == 4


CHOICE = KnownQuestion(
    id="q1",
    shows={"target": "bat", "sentence_1": "A bat flew.", "sentence_2": "The bat broke."},
    accept=("perhaps",),
)
REFUSED = [
    ("same_sense", {"language": "fi"}, "E616", ("language",)),
    ("same_sense", {"views": ("full", "label")}, "E619", ("views", 1)),
    ("same_sense", {"views": ("full", "full")}, "E619", ("views", 1)),
    ("same_sense", {"views": ("full", "word")}, "E619", ("views", 1)),
    ("same_sense", {"views": ("full",), "reveal": True}, "E619", ("reveal",)),
    ("same_sense", {"catch": CatchSection(per_list=1)}, "E619", ("catch", "per_list")),
    ("same_sense", {"exclusions": ("low_agreement(missing=keep)",)}, "E626", ("exclusions", 0)),
    ("same_sense", {"exclusions": ("failed_catch(items=x,expected=5)",)}, "E626", ("exclusions", 0)),
    ("same_sense", {"qualification": (CHOICE,)}, "E628", ("qualification", 0, "accept", 0)),
    ("same_sense", {"planned": Planned(model="rating ~ a", effect="a")}, "E627", ("planned", "model")),
    ("entity_link", {}, "E619", ("search",)),
    ("ambiguous_sentence", {"pool": PoolSection(per_person=9)}, "E625", ("pool", "per_person")),
    ("ambiguous_sentence", {"design": DesignSection(lists=2)}, "E625", ("design", "lists")),
    # three words: who writes two and asks for others twice finds none
    ("ambiguous_sentence", {"pool": PoolSection(per_person=2)}, "E625", ("pool", "per_person")),
    ("relatedness", {"platform": Platform(pattern="[0-9")}, "E634", ("platform", "pattern")),
    ("relatedness", {"platform": Platform(return_url="http://x.org/{code}")}, "E635", ("platform", "return_url")),
    ("relatedness", {"platform": Platform(return_url="https://x.org/")}, "E635", ("platform", "return_url")),
]


@pytest.mark.parametrize(("task", "changes", "code", "keys"), REFUSED)
def test_launch_knows_every_task(task: str, changes: dict[str, object], code: str, keys: tuple[str | int, ...]) -> None:
    """A setting that the task's page cannot show, or that judges what it does not collect, is found at its place."""
    made = draft(task, **changes)
    found = [(problem.code, problem.keys) for problem in launch_problems(made, example_items(task))]
    assert (code, keys) in found
    assert parse_definition(definition_yaml(made)).place(keys).line is not None


def test_written_answers_are_no_qualification() -> None:
    """No list of right answers judges what somebody writes; a question of a task with a scale may stand there."""
    meanings = {"sense_1": "a", "example_1": "b", "sense_2": "c", "example_2": "d"}
    own = KnownQuestion(id="q", shows={**meanings, "target": "bat", "sentence": "bat"}, accept=("bat",))
    problems = launch_problems(draft("ambiguous_sentence", qualification=(own,)), example_items("ambiguous_sentence"))
    assert "E628" in [problem.code for problem in problems]
    rated = CHOICE.model_copy(update={"task": "relatedness", "accept": (1, 2)})
    problems = launch_problems(draft("ambiguous_sentence", qualification=(rated,)), example_items("ambiguous_sentence"))
    assert "E628" not in [problem.code for problem in problems]


def test_items_that_the_page_cannot_show() -> None:
    """An item without what the page shows is named (E617)."""
    bare = tuple(replace(item, conditions={}) for item in example_items("plausibility"))
    problem = next(one for one in launch_problems(draft("plausibility"), bare) if one.code == "E617")
    assert "precontext" in problem.what
    assert bare[0].item_id in problem.what


@pytest.mark.parametrize("task", ASKED)
def test_a_written_draft_says_how_a_question_is_asked(task: str, tmp_path: Path) -> None:
    """The file reads back as the draft; its commented question, without the comment signs, is one that can be used."""
    made = draft(task)
    write_draft(made, tmp_path / "study.yaml")
    text = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    assert parse_definition(text).definition == made
    if catalog.screen(task).widget in ("text", "search"):
        return
    used = re.sub(r"# (qualification:\n)((?:#   .*\n)+)qualification: \[\]\n", _uncommented, text)
    study = parse_definition(used).definition
    assert len(study.qualification) == 1
    assert "E628" not in [problem.code for problem in launch_problems(study, example_items(task))]
    with pytest.raises(InputError, match="E615"):
        write_draft(made, tmp_path / "study.yaml")


def _uncommented(found: re.Match[str]) -> str:
    return found[1] + found[2].replace("#   ", "  ")


@pytest.mark.parametrize("language", ["en", "es-MX", "de"])
def test_country_and_gender_may_be_told(language: str) -> None:
    """Both are optional, and one answer about the gender is that it is not told; the values are those of the reader."""
    country, gender = about_you_questions(language, {})[2:]
    assert (country.measure, country.kind, country.required) == ("country", "text", False)
    assert (gender.measure, gender.required) == ("gender", False)
    assert [option.value for option in gender.options] == ["woman", "man", "another gender", "prefer not to say"]
    assert all(option.text for option in gender.options)


def test_a_language_without_these_words_asks_the_others() -> None:
    """A file of words with the four words of the first two questions: country and gender are not asked."""
    words = {"native_speaker": "Parlez-vous français ?", "yes": "oui", "no": "non", "age": "Quel âge avez-vous ?"}
    assert [question.measure for question in about_you_questions("fr", words)] == ["native_speaker", "age"]
