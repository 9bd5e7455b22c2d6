"""The sense-disambiguation task: glosses as options, several right senses, nothing that tells which is first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import Shown
from lexiscope.core.usage import Usage
from lexiscope.items.read.importer import import_items
from lexiscope.subjects.baseline import Baseline
from lexiscope.tasks.sense_disambiguation import SCREEN, TASK, example_items, options

USAGE = Usage("They tarred the hull with pitch.", 26, 31, lemma="pitch", pos="n", language="en")
GLOSSES = "a field|how high a sound is|a black substance"
ITEM = Item("i", "d", (USAGE,), ("k1", "k2", "k3"), "k3", conditions={"glosses": GLOSSES, "split": "test"})


def test_the_glosses_are_the_options() -> None:
    """Each sense is shown by its gloss and stored by its id."""
    assert [(each.value, each.lines[0][0][0]) for each in options(ITEM, "full")] == [
        ("k1", "a field"),
        ("k2", "how high a sound is"),
        ("k3", "a black substance"),
    ]
    assert SCREEN.shuffles_options


def test_keys_do_not_tell_the_order_of_senses() -> None:
    """Keys follow the glosses: the lexicon's order changes none."""
    turned = replace(ITEM, options=("k3", "k2", "k1"), conditions={"glosses": "|".join(GLOSSES.split("|")[::-1])})
    assert {each.key: each.value for each in options(turned, "full")} == {
        each.key: each.value for each in options(ITEM, "full")
    }


def test_three_views() -> None:
    """The word is marked, hidden, or alone."""
    assert SCREEN.stimulus(ITEM, Shown("word"))["sentence"] == (("pitch", True),)
    assert SCREEN.stimulus(ITEM, Shown("context"))["sentence"][1] == ("[X]", True)  # type: ignore[index]


def test_an_item_file_is_enough(tmp_path: object) -> None:
    """A row with sentence, target and glosses is an item; its senses are a column or numbers."""
    path = f"{tmp_path}/items.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write("item_id,sentence,target,glosses,senses\na,A pitch.,pitch,x|y,s1|s2\n")
    (item,) = import_items(Path(path), dataset="d", task=TASK.name, language="en").items
    SCREEN.check(item)
    assert [each.value for each in options(item, "full")] == ["s1", "s2"]


def test_models_answer_with_one_option_people_are_not_asked() -> None:
    """An item with one sense is answered by a subject; a page with one option is refused."""
    single = replace(ITEM, options=("k1",), gold="k1", conditions={"glosses": "a field"})
    table = TASK.answer_function(Baseline("random"))([single], Baseline("random"), view="full")
    assert table.column("option").tolist() == ["k1"]
    with pytest.raises(InputError, match="two different options"):
        SCREEN.check(single)


def test_glosses_that_do_not_fit_stop_the_collection() -> None:
    """Before anything is answered the item is named."""
    answer = TASK.answer_function(Baseline("random"))
    with pytest.raises(InputError, match=r"item 'i'.*3 glosses need as many senses"):
        answer([replace(ITEM, options=("k1",))], Baseline("random"), view="full")
    with pytest.raises(InputError, match="one usage, this one has 2"):
        answer([replace(ITEM, usages=(USAGE, USAGE))], Baseline("random"), view="full")


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_stand_in_the_guidelines(language: str) -> None:
    """Each example's target is marked in the guidelines, and the gloss of its right sense stands there."""
    text = " ".join(SCREEN.guidelines(language).split())
    for item in example_items(language):
        usage = item.usages[0]
        assert f"{usage.text[: usage.start]}**{usage.target}**{usage.text[usage.end :]}".rstrip(".") in text
        right = next(each for each in options(item, "full") if each.value == item.gold)
        assert f"*{right.lines[0][0][0]}*" in text
