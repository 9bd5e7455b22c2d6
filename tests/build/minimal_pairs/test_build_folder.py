"""Builds of verbs, adjectives and controls from a small table, with WordNet's senses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lexiscope.build.minimal_pairs.build_folder import PairBuildSettings, make_build, synonym_items
from lexiscope.build.minimal_pairs.curation_bench import write_curation_sheet
from lexiscope.build.minimal_pairs.tables import read_proposals
from lexiscope.core.errors import SpecError
from lexiscope.items.choice_sets.collection_file import read_collection
from lexiscope.items.sheets.choice_sheet import human_sheet
from lexiscope.items.tables.tabular import read_items
from lexiscope.resources.lexicons import wordnet

CORPUS = """\
sentence,lemma,sense,pos
We have to leave before the last bus of the evening is gone.,leave,leave%2:41:00::,VERB
His smile looked strained while he thanked the guests for the flowers.,strained,strained%5:00:02:affected:01,ADJ
The physician asked her to come back on the Monday after the holiday.,physician,physician%1:18:00::,NOUN
Her bicycle was found by the wall of the bakery after the storm.,bicycle,bicycle%1:06:00::,NOUN
"""


@pytest.mark.published
@pytest.mark.usefixtures("published")
def test_verbs_adjectives_and_controls(tmp_path: Path) -> None:
    """Each part of speech has its own senses, random words and controls; a control has one sense in all of them.

    By WordNet 3.0: *strained* is *forced* or *agonistic* in the cluster of *affected*, *labored* in that of *awkward*,
    so only the latter is a distractor; *physician* has one sense; *bicycle* is a verb too.
    """
    (tmp_path / "mine.csv").write_text(CORPUS, encoding="utf-8")
    settings = PairBuildSettings(
        corpus=str(tmp_path / "mine.csv"), pos=("noun", "verb", "adjective"), controls=5, n_items=0, n_random=2
    )
    said: list[str] = []
    counts = make_build(tmp_path / "made", settings, command="", say=said.append)
    assert counts is not None
    verb, adjective, control = items = read_collection(tmp_path / "made" / "collection.csv")
    assert [item.target for item in items] == ["leave", "strained", "physician"]
    assert [item.pos for item in items] == ["v", "a", "n"]
    assert verb.synonym == "depart"
    assert (adjective.synonym, adjective.distractor) in {("constrained", "labored"), ("forced", "labored")}
    assert (control.distractor, control.n_senses) == ("", 1)
    assert control.synonym in {"doctor", "doc", "medico"}
    lexicon = wordnet.load()
    assert all(lexicon.senses(word, item.pos) for item in items for word in item.random_nouns)
    made = read_items(tmp_path / "made" / "items.csv")
    assert "reference" not in {item.conditions["suite"] for item in made}
    assert said == ["The suite reference is excluded: Its texts are for a noun, and there is a verb among the items."]
    of_control = [item for item in made if item.conditions["senses"] == "one"]
    assert {item.conditions["condition"] for item in of_control} == {"random", "correct_vs_random"}
    with (tmp_path / "made" / "filters.csv").open(encoding="utf-8-sig") as stream:
        filters = {(row["stage"], row["filter"]): (row["in"], row["out"]) for row in csv.DictReader(stream)}
    assert filters["noun, one sense: occurrence", "one sense"] == ("2", "1")
    # agonistic and strained's own synonyms in its cluster
    assert filters["adjective: distractor", "another cluster of adjectives"] == ("3", "2")
    # a control has no second candidate for people, and no sentence with a distractor for curators
    assert [item.conditions["target"] for item in human_sheet(items)] == ["leave", "strained"]
    proposals = read_proposals(tmp_path / "made")
    write_curation_sheet(tmp_path / "curated.csv", proposals, {})
    with (tmp_path / "curated.csv").open(encoding="utf-8-sig", newline="") as stream:
        assert [bool(row["with_distractor"]) for row in csv.DictReader(stream)] == [True, True, False]
    # curators read the same proposals back
    again = synonym_items(proposals)
    assert [(item.target, item.pos, item.n_senses) for item in again] == [
        (item.target, item.pos, item.n_senses) for item in items
    ]


@pytest.mark.published
@pytest.mark.usefixtures("published")
def test_controls_need_random_words(tmp_path: Path) -> None:
    """Without them they would compete with nothing."""
    (tmp_path / "mine.csv").write_text(CORPUS, encoding="utf-8")
    settings = PairBuildSettings(corpus=str(tmp_path / "mine.csv"), controls=1, n_random=0)
    with pytest.raises(SpecError, match="they have only one option"):
        make_build(tmp_path / "made", settings, command="")
