"""Collections as tables: the round trip loses nothing, a user's own columns are kept, faults name their line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.datasets.synonymy import collection
from lexiscope.items.choice_sets.collection_file import COLUMNS, read_collection, write_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem

FULL = SynonymItem(
    "a/1",
    "bank",
    "shore",
    "lender",
    'Near the bank, "under" a tree;\nthere\tit was.',
    9,
    13,
    number=12,
    language="en-GB",
    sentence_id="s1",
    sense_key="bank%1:17:01::",
    synset=("bank", "shore"),
    random_nouns=("apple", "moon"),
    plurals=("apple",),
    article="letter",
    published_distractor="lender,",
    published_targets=(("T13", "[shore]"), ("T14", "x=y")),
    extra=(("note", "by hand, twice"), ("rater", "")),
)


@pytest.mark.parametrize("name", ["items.csv", "items.tsv"])
def test_the_round_trip(tmp_path: Path, name: str) -> None:
    """Every field comes back, tabs, quotes and line breaks in a sentence too."""
    items = (FULL, replace(FULL, item_id="b", tokenised=True, article="sound", published_targets=(), synset=()))
    write_collection(items, tmp_path / name)
    assert read_collection(tmp_path / name) == items


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), max_size=20))
def test_any_text_comes_back(tmp_path: Path, text: str) -> None:
    """Whatever stands around the target, and in a column of one's own."""
    sentence = f"{text} bank {text}"
    item = replace(FULL, sentence=sentence, start=len(text) + 1, end=len(text) + 5, extra=(("note", text),))
    write_collection([item], tmp_path / "items.csv")
    assert read_collection(tmp_path / "items.csv") == (item,)


def test_the_least_that_is_needed(tmp_path: Path) -> None:
    """Three words and a sentence; id and number follow the rows, the span is found."""
    path = tmp_path / "own.csv"
    path.write_text("target;synonym;distractor;sentence;source\nbank;shore;lender;Near the bank.;me\n", "utf-8")
    (item,) = read_collection(path)
    assert (item.item_id, item.number, item.start, item.end, item.tokenised) == ("1", 1, 9, 13, False)
    assert item.extra == (("source", "me"),)


def test_part_of_speech_and_controls(tmp_path: Path) -> None:
    """A part of speech by its name or tag; an empty distractor only where the target has one sense."""
    path = tmp_path / "own.csv"
    rows = ["draw,sketch,attract,They draw boats.,VERB,", "fridge,refrigerator,,The fridge is open.,,1"]
    path.write_text("\n".join(["target,synonym,distractor,sentence,pos,n_senses", *rows]), "utf-8")
    verb, control = read_collection(path)
    assert (verb.pos, verb.n_senses, verb.is_control) == ("v", 0, False)
    assert (control.pos, control.n_senses, control.is_control) == ("n", 1, True)
    write_collection([verb, control], tmp_path / "again.csv")
    assert read_collection(tmp_path / "again.csv") == (verb, control)
    path.write_text("target,synonym,distractor,sentence\nfridge,refrigerator,,The fridge is open.\n", "utf-8")
    with pytest.raises(InputError, match=r"E441.*the distractor is missing(?s:.*)1 in a column n_senses"):
        read_collection(path)


def test_tokens_and_position(tmp_path: Path) -> None:
    """A tokenised sentence is given by its tokens and the target's place among them."""
    path = tmp_path / "own.tsv"
    path.write_text(
        "target\tsynonym\tdistractor\ttokens\tposition\nbank\tshore\tlender\tA bank , a bank .\t4\n", "utf-8"
    )
    (item,) = read_collection(path)
    assert (item.tokenised, item.position, item.sentence[item.start : item.end]) == (True, 4, "bank")


HEADER = "item_id,target,synonym,distractor,sentence"


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("item_id,target,synonym,sentence\n1,a,b,a c\n", 1, "E006"),
        ("target,synonym,distractor,tokens\na,b,c,a c\n", 1, "E006"),
        (f"{HEADER},start\n1,a,b,c,a c,0\n", 1, "E006"),
        (f"{HEADER},target\n1,a,b,c,a c,a\n", 1, "E007"),
        (f"{HEADER}\n1,a,b,c,a d\n1,a,b,c,a e\n", 3, "E403"),
        (f"{HEADER}\n1,a,b,b,a d\n", 2, "E441"),
        (f"{HEADER}\n1,a,,c,a d\n", 2, "E441"),
        (f"{HEADER}\n1,a,b,c,no d\n", 2, "E101"),
        (f"{HEADER}\n1,a,b,c,a and a\n", 2, "E102"),
        (f"{HEADER},start,end\n1,a,b,c,d a,0,1\n", 2, "E101"),
        (f"{HEADER},start,end\n1,a,b,c,d a,x,1\n", 2, "E447"),
        (f"{HEADER},tokenised\n1,a,b,c,d a,perhaps\n", 2, "E447"),
        (f"{HEADER},article\n1,a,b,c,d a,ear\n", 2, "E447"),
        ("target,synonym,distractor,tokens,position\na,b,c,a d,7\n", 2, "E442"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, text: str, line: int, code: str) -> None:
    """File, line and a stable code."""
    path = tmp_path / "own.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"own\.csv:{line}(?s:.*)\[{code}\]"):
        read_collection(path)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """A word with the sign between words, and an extra column that would hide a known one; nothing is left behind."""
    for broken in (replace(FULL, synset=("a|b",)), replace(FULL, extra=((COLUMNS[0], "1"),))):
        with pytest.raises(InputError, match="E448"):
            write_collection([broken], tmp_path / "items.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.published
def test_the_published_collection_comes_back(published: Path, tmp_path: Path) -> None:
    """All 200 items, letter for letter."""
    items = collection(published)
    write_collection(items, tmp_path / "items.tsv")
    assert read_collection(tmp_path / "items.tsv") == items
