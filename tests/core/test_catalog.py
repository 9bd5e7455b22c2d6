"""The catalog: names without imports, suggestions, and options of datasets behind a question mark."""

from __future__ import annotations

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError


def test_which_options_there_are() -> None:
    """A dataset says which options it has; most have none."""
    assert catalog.dataset_options("am2ico") == ("language",)
    assert catalog.dataset_options("mini_relatedness") == ()


@pytest.mark.parametrize(
    "name", ["am2ico?lang=zh", "am2ico?language=", "am2ico?language", "mini_relatedness?language=en"]
)
def test_a_wrong_option_is_refused(name: str) -> None:
    """An option that the dataset does not have, or one without a value, is refused, and the right ones are named."""
    with pytest.raises(SpecError, match=r"option 'lang(uage)?'") as caught:
        catalog.dataset(name)
    assert caught.value.hint in ("write am2ico?language=…", "write its name alone", "write NAME?key=value&key=value")


def test_a_card_does_not_depend_on_options() -> None:
    """The card is found with and without options."""
    assert catalog.card("am2ico?language=zh") is catalog.card("am2ico")


def test_the_catalog_names_without_importing_and_suggests() -> None:
    """Names come from files; an unknown one is refused with the nearest known name."""
    assert "saw_c" in catalog.names("datasets")
    assert catalog.summary("datasets", "saw_c")
    with pytest.raises(SpecError, match="saw_c"):
        catalog.module("datasets", "saw-c")


@pytest.mark.parametrize("name", catalog.names("tasks"))
def test_what_is_read_of_a_task_as_text_is_what_it_has(name: str) -> None:
    """Pairings are listed from the text of a task's file: its capabilities, words, method and baselines are those."""
    task = catalog.task(name)
    assert catalog.task_facts(name) == catalog.TaskFacts(
        tuple(capability for capability, _ in task.answers), task.asks is not None, task.learnt, bool(task.baselines)
    )


@pytest.mark.parametrize("kind", catalog.names("subjects"))
def test_what_is_read_of_a_kind_as_text_is_what_it_has(kind: str) -> None:
    """The same for a kind of subject: its capabilities, its tasks, and whether it judges in conversation."""
    module = catalog.module("subjects", kind)
    tasks = getattr(module, "TASKS", catalog.names("tasks"))
    assert catalog.subject_capabilities(kind) == module.CAPABILITIES
    assert catalog.subject_tasks(kind) == (tasks() if callable(tasks) else tasks)
    assert catalog.converses(kind) == getattr(module, "CONVERSES", False)


def test_tasks_are_chosen_by_what_they_say() -> None:
    """A method, baselines and a capability: each that is named must fit."""
    facts = catalog.TaskFacts(("Judges", "Embeds"), True, "pair", False)
    assert catalog.TasksThat().fits(facts)
    assert catalog.TasksThat(learnt=("pair", "gloss"), capability="Embeds").fits(facts)
    assert not catalog.TasksThat(learnt=("gloss",)).fits(facts)
    assert not catalog.TasksThat(by_rule=True).fits(facts)
    assert not catalog.TasksThat(learnt=("pair",), capability="Scores").fits(facts)
