"""The kit on a task of another distribution, and on the screen of one whose page or examples have a fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.testing import SCREEN_CONTRACTS, TASK_CONTRACTS, ContractError, check_task
from lexiscope.testing.contract import hold
from lexiscope.testing.task import AskedTask

from .made_site import installed


def test_a_sound_task_keeps_every_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task without a screen owes those of every task; one with a screen all of them."""
    name = installed(tmp_path, monkeypatch, "sound_task")
    assert check_task(f"{name}_question") == tuple(TASK_CONTRACTS)
    assert check_task("relatedness") == (*TASK_CONTRACTS, *SCREEN_CONTRACTS)


@pytest.mark.parametrize(
    ("old", "new", "contract", "sentence"),
    [
        ("How long is a text?\",", 'How long is a text.",', "asks_a_question", "the summary does not end with"),
        ('"Judges", by', '"Guesses", by', "answers_name_known_capabilities", "Guesses is not one of Embeds"),
        ('"signs; unit: 1"', '" "', "measures_are_described", "the measure length has no description"),
        ("scale=None,", 'scale=None, baselines=("no_rule",),', "baselines_answer", ""),
    ],
)  # fmt: skip
def test_a_fault_of_a_task_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, contract: str, sentence: str
) -> None:
    """The error names the task, the contract that is broken, and what breaks it."""
    name = installed(tmp_path, monkeypatch, f"odd_{abs(hash(new))}", [("question", old, new)])
    with pytest.raises(ContractError, match=f"the task {name}_question breaks 1 contract") as caught:
        check_task(f"{name}_question", only=contract)
    assert any(text.startswith(sentence) for text in caught.value.broken[contract]), caught.value.broken


def told(asked: AskedTask) -> AskedTask:
    """The page shows the right answer."""
    stimulus = asked.screen.stimulus
    asked.screen = replace(asked.screen, stimulus=lambda item, shown: {**stimulus(item, shown), "right": item.gold})
    return asked


def named_wrongly(asked: AskedTask) -> AskedTask:
    """The page uses a name that it is not given."""
    asked.screen = replace(asked.screen, stimulus=lambda item, shown: {})
    return asked


def of_another_measure(asked: AskedTask) -> AskedTask:
    """The screen stores answers under a measure that the task does not have."""
    asked.screen = replace(asked.screen, measure="liking")
    return asked


def off_the_scale(asked: AskedTask) -> AskedTask:
    """The right answer of an example is no point of the scale."""
    examples = asked.examples
    asked.examples = lambda language: tuple(replace(item, gold="99") for item in examples(language))  # type: ignore[method-assign]
    return asked


@pytest.mark.parametrize(
    ("change", "contract", "sentence"),
    [
        (told, "gold_changes_nothing", "the page of the example "),
        (named_wrongly, "page_is_drawn", "the example "),
        (of_another_measure, "screen_and_task_agree", "the screen's measure 'liking' is not among the task's"),
        (off_the_scale, "right_answer_is_read", "the correct answer of the example "),
    ],
)
def test_a_fault_of_a_screen_is_named(change: Callable[[AskedTask], AskedTask], contract: str, sentence: str) -> None:
    """The sentence names the example, its language and where it shows."""
    with pytest.raises(ContractError) as caught:
        hold("task relatedness", change(AskedTask("relatedness")), SCREEN_CONTRACTS, contract)
    assert all(text.startswith(sentence) for text in caught.value.broken[contract])
