"""What templates ask about a collection: choice sets, turned, gaps, and what its items do not allow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.build.choice_items import CATEGORIES_OF_GAPS, GAPS, OTHER_SUITES, choice_items, read_choice_items
from lexiscope.core.errors import SpecError
from lexiscope.datasets import mini_synonymy
from lexiscope.items.choice_sets.collection_file import write_collection

ITEMS = mini_synonymy.collection()[:3]
TEMPLATES = """\
language: de
templates:
  - name: art
    suite: hyponymy
    expression: ist eine Art
    pattern: "{Target} gehört zu {word}."
"""
PAIRS = "item_id,correct,incorrect_1\n1,She saw the old gate.,She saw the new gate.\n"


def test_a_collection_with_everything() -> None:
    """Three items: each template in its conditions, the relations turned round, a gap each; nothing is left out."""
    found = choice_items(ITEMS, dataset="mine")
    suites = {str(item.conditions["suite"]) for item in found.items}
    assert {"substitution", "relation", "relation_turned"} <= suites
    assert [item.item_id for item in found.gap_items] == [
        f"mine/{each.item_id}/gap_filling/is_a_synonym_of" for each in ITEMS
    ]
    assert (found.language, found.gap is not None, found.token_deltas) == ("en", True, ())
    assert found.omitted == {}


def test_what_items_lack_is_left_out_with_its_reason() -> None:
    """No random nouns, no synsets; in another language the substitution alone, without templates of their own."""
    bare = [replace(item, random_nouns=(), synset=()) for item in ITEMS]
    found = choice_items(bare)
    assert {str(item.conditions["condition"]) for item in found.items} == {"controlled"}
    assert set(found.omitted) == {"Random conditions, best of several and both", "Gap filling by synset"}
    german = choice_items([replace(item, language="de") for item in ITEMS])
    assert {str(item.conditions["suite"]) for item in german.items} == {"substitution"}
    assert {OTHER_SUITES, GAPS, "The relation turned round"} == set(german.omitted)


def test_token_deltas_come_with_a_collection() -> None:
    """The column of each item, in the order of the items' numbers; of an item without one there are none."""
    with_deltas = [replace(item, extra=(("token_delta", str(-item.number)),)) for item in ITEMS]
    assert choice_items(with_deltas[::-1]).token_deltas == (-1.0, -2.0, -3.0)
    assert choice_items([*with_deltas[:2], ITEMS[2]]).token_deltas == ()


def test_both_kinds_of_files(tmp_path: Path) -> None:
    """A collection is asked in the language of its templates; choice sets are taken as they are, without templates."""
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(TEMPLATES, encoding="utf-8")
    write_collection(ITEMS, tmp_path / "own.csv")
    pairs = read_choice_items(tmp_path / "pairs.csv")
    assert (len(pairs.items), pairs.gap_items, set(pairs.omitted)) == (1, (), {GAPS})
    assert len(read_choice_items(tmp_path / "own.csv").gap_items) == 3
    with pytest.raises(SpecError, match="templates have no effect"):
        read_choice_items(tmp_path / "pairs.csv", templates=tmp_path / "own.yaml")
    german = tmp_path / "german.csv"
    german.write_text("target,synonym,distractor,sentence\nAmsel,Vogel,Fisch,Im Garten sang eine Amsel.\n", "utf-8")
    asked = read_choice_items(german, templates=tmp_path / "own.yaml")
    assert (asked.language, {item.conditions["suite"] for item in asked.items}) == ("de", {"hyponymy"})
    assert CATEGORIES_OF_GAPS not in asked.omitted, "there is no gap"
