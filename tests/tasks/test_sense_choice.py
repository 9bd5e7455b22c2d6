"""The sense-choice task: groups of words from columns, in shuffled order, with nothing of the model on the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.analysis.senses.sense_tests import ModelAnswers
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.items.read.importer import import_items
from lexiscope.tasks.sense_choice import SCREEN, example_items, groups_of, options, stimulus

SENTENCE = "The bank was steep and wet."
GROUPS = {"group_1": "loan|cash", "group_2": "river | shore", "group_x": "seat|bench"}
MODEL = {"model_choice": "2", "p_1": "0.25", "p_2": "0.75", "p_x": "0", "dummy_x": "true"}
ITEM = Item("i", "d", (Usage(SENTENCE, 4, 8, language="en"),), conditions={**GROUPS, **MODEL})


def test_groups_come_from_columns() -> None:
    """A column for each sense, in their order; an empty one is no group; ``options`` chooses among them."""
    assert groups_of(ITEM) == {"1": ("loan", "cash"), "2": ("river", "shore"), "x": ("seat", "bench")}
    assert list(groups_of(replace(ITEM, conditions={**ITEM.conditions, "group_1": " "}))) == ["2", "x"]
    assert list(groups_of(replace(ITEM, options=("x", "1")))) == ["x", "1"]


def test_the_page_shows_the_sentence_and_the_groups_alone() -> None:
    """The target is marked; neither ids nor the model's choice nor its probabilities stand on the page."""
    assert stimulus(ITEM, Shown()) == {"sentence": (("The ", False), ("bank", True), (" was steep and wet.", False))}
    shown = SCREEN.choices(ITEM, Shown(order=(2, 0, 1)))
    assert [choice.value for choice in shown] == ["x", "1", "2"]
    assert [choice.lines for choice in shown] == [
        ((("seat, bench", False),),),
        ((("loan, cash", False),),),
        ((("river, shore", False),),),
    ]
    other = replace(ITEM, conditions={**GROUPS, "model_choice": "1", "p_1": "1", "p_2": "0", "p_x": "0"})
    assert options(other, "full") == options(ITEM, "full")
    assert stimulus(other, Shown()) == stimulus(ITEM, Shown())


def test_keys_do_not_tell_the_senses() -> None:
    """Keys follow the groups' words: numbering the senses otherwise changes no key."""
    renamed = {"group_9": GROUPS["group_1"], "group_0": GROUPS["group_x"], "group_5": GROUPS["group_2"]}
    other = options(replace(ITEM, conditions=renamed), "full")
    assert {c.key: c.lines for c in other} == {c.key: c.lines for c in options(ITEM, "full")}


def test_a_choice_is_forced_and_stored_as_the_sense() -> None:
    """The answer is the id of the sense; without a choice there is no answer."""
    key = next(choice.key for choice in options(ITEM, "full") if choice.value == "2")
    assert SCREEN.read({"option": key}, ITEM).option == "2"
    assert SCREEN.shuffles_options
    assert not SCREEN.may_stay_empty
    with pytest.raises(AnswerInvalid, match="none of the options"):
        SCREEN.read({}, ITEM)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"group_1": "loan|cash"}, "two groups of words at least, not 1"),
        ({"group_1": "loan|cash", "group_2": "cash|loan"}, "two groups have the same words"),
        ({"group_1": "loan|", "group_2": "river"}, "group_1 needs words, all different, not 'loan | '"),
        ({"group_1": "loan|Loan", "group_2": "river"}, "group_1 needs words, all different"),
    ],
)
def test_wrong_groups_are_refused(broken: dict[str, str], message: str) -> None:
    """Each fault names the item and says how groups are written."""
    with pytest.raises(InputError, match=rf"item 'i': \[E617\] .*{message}".replace("|", r"\|")) as caught:
        SCREEN.check(replace(ITEM, conditions=broken))
    assert "group_<sense>" in caught.value.hint
    with pytest.raises(InputError, match="group_z needs words"):
        SCREEN.check(replace(ITEM, options=("1", "z")))


def test_an_item_file_is_enough(tmp_path: Path) -> None:
    """A table with sentence, target, a column for each group, and what the model says."""
    path = tmp_path / "items.csv"
    path.write_text("item_id,sentence,target,group_1,group_2,model_choice,p_1,p_2\na,A bank.,bank,x|y,z,1,.8,.2\n")
    (item,) = import_items(path, dataset="d", task="sense_choice", language="en").items
    SCREEN.check(item)
    assert groups_of(item) == {"1": ("x", "y"), "2": ("z",)}
    assert ModelAnswers.of([item]) == ModelAnswers({"a": "1"}, {"a": {"1": 0.8, "2": 0.2}})


def test_the_analysis_reads_what_the_page_hides() -> None:
    """The model's answers are read from the same item; a dummy group has probability 0."""
    assert ModelAnswers.of([ITEM]) == ModelAnswers({"i": "2"}, {"i": {"1": 0.25, "2": 0.75, "x": 0.0}})


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_stand_in_the_guidelines(language: str) -> None:
    """Each example's target is marked in the guidelines, and the words of its right group stand there."""
    text = " ".join(SCREEN.guidelines(language).split())
    for item in example_items(language):
        usage = item.usages[0]
        assert f"{usage.text[: usage.start]}**{usage.target}**{usage.text[usage.end :]}".rstrip(".") in text
        assert item.gold is not None
        assert ", ".join(groups_of(item)[item.gold]) in text
