"""Items by name: a set that is read one language at a time is read in the language that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.items import study_items
from lexiscope.core.errors import InputError, SpecError
from lexiscope.items.read.item_source import load_items
from lexiscope.tasks.word_intrusion import intruder


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "language"), [("am2ico", "ka"), ("am2ico?language=ka", ""), ("am2ico?language=ka", "ka")]
)
def test_the_language_of_a_set(published: Path, name: str, language: str) -> None:
    """``--language ka`` and the option behind the name give the same items."""
    found = load_items(name, task="same_sense", language=language)
    assert found.items[0].item_id == "am2ico/ka/train/00001"
    assert set(found.checksums) == {f"am2ico/data/ka/{split}.tsv" for split in ("train", "dev", "test")}


@pytest.mark.published
def test_a_language_that_is_not_there(published: Path) -> None:
    """A language that the set lacks is refused with those that it has; so are two that contradict each other."""
    with pytest.raises(SpecError, match="am2ico has no language 'xx'"):
        load_items("am2ico", task="same_sense", language="xx")
    with pytest.raises(InputError, match="no items in 'fi'"):
        load_items("am2ico?language=ka", task="same_sense", language="fi")


def test_the_options_of_a_dataset_may_hold_points() -> None:
    """A number in an option is no suffix of a file."""
    source = load_items("planted_bias?word_sufficiency=0.5&context_sufficiency=0", task="same_sense")
    test = [item for item in source.items if item.conditions["split"] == "test"]
    assert sum(bool(item.conditions["word_tells"]) for item in test) == 500
    assert source.name == "planted_bias?word_sufficiency=0.5&context_sufficiency=0"


def test_a_file_of_word_intrusion_gives_the_items_that_people_get(tmp_path: Path) -> None:
    """Models are asked what the app asks of the same file: it has no sentences, and ``sense`` is a condition."""
    path = tmp_path / "own.csv"
    path.write_text("item_id,word,sense,options,intruder\ni1,bread,2,flour|oven|engine,engine\n", encoding="utf-8")
    definition = StudyDefinition(name="own", task="word_intrusion", language="en", items=str(path))
    (item,) = load_items(str(path), task="word_intrusion", language="en").items
    assert (item,) == study_items(definition)
    assert (item.word, item.conditions["sense"], intruder(item)) == ("bread", "2", "engine")
