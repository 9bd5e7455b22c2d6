"""The sense-verification task: what each view shows, what an item needs, and what a prompt says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.items.read.importer import import_items
from lexiscope.tasks.sense_verification import SCREEN, asks, example_items, stimulus

SENSE = {"definition": "a bird with long legs", "hypernyms": "bird, animal"}
ITEM = Item("i", "test", (Usage("A crane lifts", 2, 7, lemma="crane", language="en"),), gold="f", conditions=SENSE)


def shown(view: Shown) -> str:
    return "".join(text for text, _ in stimulus(ITEM, view)["sentence"])  # type: ignore[attr-defined]


def test_what_each_view_shows() -> None:
    """Full: the word in brackets; context: [X] in its place; word: the word alone; the sense is there in all."""
    assert shown(Shown()) == shown(Shown("context", revealed=True)) == "A [crane] lifts"
    assert shown(Shown("context")) == "A [X] lifts"
    assert shown(Shown("word")) == "crane"
    for view in SCREEN.views:
        found = stimulus(ITEM, Shown(view))
        assert (found["definition"], found["hypernyms"]) == ("a bird with long legs", "bird, animal")


@pytest.mark.parametrize("language", ["en", "es"])
def test_no_question_names_the_word(language: str) -> None:
    """Each view has its own question; none of them names the hidden word."""
    asked = {view: SCREEN.question(ITEM, language, view=view) for view in SCREEN.views}
    assert len(set(asked.values())) == 3
    assert "[X]" in asked["context"]
    assert not [text for text in asked.values() if "crane" in text]


def test_only_a_hidden_word_leaves_undecided() -> None:
    """*Cannot decide* stores t and says so where the word is hidden; elsewhere it is refused."""
    reading = SCREEN.read({"option": "undecided", "guessed_word": "crane"}, ITEM, view="context")
    assert (reading.option, reading.flags, reading.guessed_word) == ("t", ("undecided",), "crane")
    with pytest.raises(AnswerInvalid):
        SCREEN.read({"option": "undecided"}, ITEM, view="full")


def test_a_prompt_holds_the_view_and_the_sense() -> None:
    """A chat model reads what people read: with the word hidden, no letter of it; without broader terms, a dash."""
    full, hidden = (asks(view_item(ITEM, view), view=view).messages[-1].content for view in ("full", "context"))
    assert "Text: A [crane] lifts\nDefinition: a bird with long legs\nBroader terms: bird, animal" in full
    assert "Text: A [X] lifts" in hidden
    assert "crane" not in hidden
    bare = replace(ITEM, conditions={"definition": "a bird"})
    assert "Broader terms: –" in asks(bare).messages[-1].content


def test_an_item_without_its_sense_is_refused() -> None:
    """A definition that is missing or blank, and a second usage, are refused with the item's name."""
    with pytest.raises(InputError, match=r"'i'.*E617.*definition"):
        SCREEN.check(replace(ITEM, conditions={}))
    for broken in (replace(ITEM, conditions={"definition": " "}), replace(ITEM, usages=ITEM.usages * 2)):
        with pytest.raises(InputError, match=r"'i'.*E617"):
            stimulus(broken, Shown())


def test_an_item_file_is_enough(tmp_path: Path) -> None:
    """A table with text, target, definition and hypernyms gives items of the task."""
    path = tmp_path / "items.csv"
    path.write_text("item_id,text,target,definition,hypernyms\na,A bank.,bank,land beside a river,slope\n")
    (item,) = import_items(path, dataset="d", task="sense_verification", language="en").items
    SCREEN.check(item)
    assert item.conditions == {"definition": "land beside a river", "hypernyms": "slope"}


@pytest.mark.parametrize("language", ["en", "es"])
def test_guidelines_hold_the_examples(language: str) -> None:
    """Every example stands in the guidelines with its word in brackets, its sense and its answer; one with [X] too."""
    guidelines = " ".join(SCREEN.guidelines(language).replace("*", "").split())
    words = SCREEN.words(language)
    items = example_items(language)
    assert {item.gold for item in items} == {"t", "f"}
    for item in items:
        usage = item.usages[0]
        assert usage.target == item.word
        assert f"{usage.text[: usage.start]}[{usage.target}]{usage.text[usage.end :]}".rstrip(".") in guidelines
        assert str(item.conditions["definition"]) in guidelines
        assert f"{words['hypernyms']} {item.conditions['hypernyms']}. " in guidelines
        assert f"→ {words[f'option_{item.gold}']}." in guidelines
    assert view_item(items[0], "context").usages[0].text.rstrip(".") in guidelines


@pytest.mark.published
def test_example_words_are_no_published_items(published: Path) -> None:
    """The example words are no targets of WiC-TSV."""
    used = {item.word for item in example_items("en")}
    for name in ("Training/train", "Development/dev", "Test/test"):
        lines = (published / f"wictsv/data/en/{name}_examples.txt").read_text(encoding="utf-8").splitlines()
        assert not used & {line.split("\t")[0] for line in lines}
