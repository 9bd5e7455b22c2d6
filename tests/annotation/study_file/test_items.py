"""The items of a study: what its task shows tells them apart, and variants of one story are known as such."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.design import build_design
from lexiscope.annotation.study_file.items import read_study_items
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.core import catalog
from lexiscope.items.read.importer import import_items

WORDS = ("bank", "seal", "mole")
ENDINGS = ("", "It was wet.", "It was closed.")
SENSES = ("one meaning", "another meaning")


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Stories as a linguist writes them down: no ids, no setups, a row for each ending and meaning."""
    rows = ["word,precontext,sentence,ending,sense,example"]
    for word, ending, sense in product(WORDS, ENDINGS, SENSES):
        rows.append(f"{word},It rained.,They talked about the {word}.,{ending},{sense},An example.")
    path = tmp_path / "stories.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def _study(path: Path, task: str = "plausibility") -> StudyDefinition:
    return StudyDefinition(name="s", task=task, language="en", items=str(path))


def test_no_two_variants_of_a_story_in_a_list(stories: Path) -> None:
    """A11: without a column ``setup``, stories of equal precontext and sentence never meet in one list."""
    items = read_study_items(_study(stories)).items
    assert len(items) == len(WORDS) * len(ENDINGS) * len(SENSES)
    assert len({item.condition("setup") for item in items}) == len(WORDS)
    draft = draft_definition(items, task="plausibility", items_file=str(stories), language="en", name="s")
    assert [one.condition for one in draft.design.confusion] == ["setup", "word"]
    lists = build_design(items, draft.design, draft.catch).lists
    assert len(lists) == len(ENDINGS) * len(SENSES)
    for held in lists:
        assert len({item.condition("setup") for item in held}) == len(held)


def test_a_setup_of_the_file_is_kept(stories: Path) -> None:
    """Who names the setups decides about them."""
    lines = stories.read_text(encoding="utf-8").splitlines()
    stories.write_text("\n".join([f"{lines[0]},setup", *(f"{line},mine" for line in lines[1:])]), encoding="utf-8")
    assert {item.condition("setup") for item in read_study_items(_study(stories)).items} == {"mine"}


def test_words_without_sentences(tmp_path: Path) -> None:
    """Two pairs of meanings of one word are two items of a file without sentences and ids."""
    path = tmp_path / "words.csv"
    path.write_text(
        "word,sense_1,example_1,sense_2,example_2\nbank,a,An a.,b,A b.\nbank,a,An a.,c,A c.\n", encoding="utf-8"
    )
    items = read_study_items(_study(path, "ambiguous_sentence")).items
    assert [item.usages[0].text for item in items] == ["bank", "bank"]
    assert [item.condition("sense_2") for item in items] == ["b", "c"]
    for item in items:
        catalog.screen("ambiguous_sentence").check(item)


def test_merged_rows_are_told(stories: Path) -> None:
    """What became of rows that are one item together is a part of the material."""
    lines = stories.read_text(encoding="utf-8").splitlines()
    stories.write_text("\n".join([*lines, lines[-1]]), encoding="utf-8")
    assert read_study_items(_study(stories)).merged == f"{len(lines)} rows → {len(lines) - 1} items"


@pytest.mark.published
def test_saw_c_keeps_its_items(published: Path) -> None:
    """A task without columns of its own imports SAW-C's pairs under the ids that they had: nothing is added to them."""
    source = published / "sawc" / "sawc_sentence_pairs.csv"
    study = _study(source, "relatedness").model_copy(update={"language": "es"})
    plain = import_items(source, dataset="s", language="es", scale=study.scale.scale())
    assert read_study_items(study).items == plain.items
    assert len(plain.items) == 812
