"""A user's own minimal pairs: whole texts or words with a template, spans found, faults at their line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.items.choice_sets.choice_set_file import (
    differing_spans,
    read_choice_sets,
    read_designed_sets,
    read_minimal_pairs,
)
from lexiscope.items.choice_sets.collection_file import write_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.read.item_source import load_items
from lexiscope.tasks.minimal_pair import check_choice_set


def read(tmp_path: Path, text: str) -> tuple[object, ...]:
    path = tmp_path / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    return read_choice_sets(path, dataset="own")


def test_texts(tmp_path: Path) -> None:
    """Whole texts: the options are what differs; other columns are conditions; a last option may be missing."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        "item_id,correct,incorrect_1,incorrect_2,phenomenon\n"
        "1,The keys are here.,The keys is here.,The keys be here.,agreement\n"
        "2,No cat sleeps.,No cat sleep.,,agreement\n",
        encoding="utf-8",
    )
    first, second = read_choice_sets(path, dataset="own")
    assert first.options == ("are", "is", "be")
    assert first.usages[1].text == "The keys is here."
    assert second.options == ("sleeps", "sleep")
    assert dict(first.conditions) == {"phenomenon": "agreement"}
    for item in (first, second):
        check_choice_set(item)
        assert item.gold == item.options[0]


def test_words_with_a_template(tmp_path: Path) -> None:
    """Words are put into the row's template."""
    path = tmp_path / "pairs.tsv"
    path.write_text("item_id\ttemplate\tcorrect\tincorrect_1\n1\tThe {word} of the river.\tshore\tlender\n", "utf-8")
    (item,) = read_choice_sets(path, dataset="own")
    assert [usage.text for usage in item.usages] == ["The shore of the river.", "The lender of the river."]
    assert [usage.target for usage in item.usages] == ["shore", "lender"]
    assert dict(item.conditions) == {}


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["He left.", "He left now."], ["left", "left now"]),
        (["Left he.", "He left."], ["Left he", "He left"]),
        (["a b c", "a d e c"], ["b", "d e"]),
        (["same end", "end"], ["same end", "end"]),
        (["Is it?", "Is it!"], ["it?", "it!"]),
        (["x y", "x z", "x w"], ["y", "z", "w"]),
    ],
)
def test_what_differs(texts: list[str], words: list[str]) -> None:
    """Whole words, the same stretch in every text, never empty."""
    assert [each.word for each in differing_spans(texts)] == words


@given(st.lists(st.text("ab .", min_size=1, max_size=12).filter(str.strip), min_size=2, max_size=3, unique=True))
def test_differing_parts_are_never_empty(texts: list[str]) -> None:
    """Outside of its part a text is what the others are; the part has no outer spaces."""
    for text, each in zip(texts, differing_spans(texts), strict=True):
        assert each.text == text
        assert each.word
        assert each.word == each.word.strip()


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("item_id,correct\n1,a\n", 1, "E006"),
        ("correct,incorrect_1\na,b\n", 1, "E006"),
        ("item_id,correct,correct,incorrect_1\n1,a,a,b\n", 1, "E007"),
        ("item_id,correct,incorrect_1\n1,a,b\n1,a,c\n", 3, "E403"),
        ("item_id,correct,incorrect_1\n1,a,a\n", 2, "E452"),
        ("item_id,correct,incorrect_1\n1,a,\n", 2, "E452"),
        ("item_id,correct,incorrect_1\n1,,a\n", 2, "E452"),
        ("item_id,correct,incorrect_1,template\n1,a,b,no slot\n", 2, "E453"),
        ("item_id,correct,incorrect_1\n ,a,b\n", 2, "E401"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, text: str, line: int, code: str) -> None:
    """File, line and a stable code."""
    with pytest.raises(InputError, match=rf"pairs\.csv:{line}(?s:.*)\[{code}\]"):
        read(tmp_path, text)


def test_a_collection_of_synonym_items_makes_choice_sets(tmp_path: Path) -> None:
    """Without random nouns the five controlled sets, with them all sixteen."""
    item = SynonymItem("a", "bank", "shore", "lender", "Near the bank.", 9, 13)
    path = tmp_path / "mine.csv"
    write_collection([item], path)
    found = read_minimal_pairs(path, dataset="mine")
    assert {each.conditions["condition"] for each in found} == {"controlled"}
    assert len(found) == 5
    write_collection([replace(item, random_nouns=("moon", "oak"))], path)
    assert len(read_minimal_pairs(path, dataset="mine")) == 16


def test_both_kinds_of_file_are_items_of_the_command_line(tmp_path: Path) -> None:
    """``collect --items FILE --task minimal_pair`` reads a table of pairs and a collection."""
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("item_id,correct,incorrect_1\n1,He is here.,He are here.\n", encoding="utf-8")
    source = load_items(str(pairs), task="minimal_pair")
    assert [item.options for item in source.items] == [("is", "are")]
    assert source.items[0].dataset == "pairs"
    collection = tmp_path / "mine.csv"
    write_collection([SynonymItem("a", "bank", "shore", "lender", "Near the bank.", 9, 13)], collection)
    assert load_items(str(collection), task="minimal_pair").items[0].item_id.startswith("mine/a/")


GERMAN = "item_id,sentence,target,synonym,distractor\n1,Er sah die Bank im Park.,Bank,Sitzbank,Sparkasse\n"


def test_items_in_another_language_have_no_english_texts(tmp_path: Path) -> None:
    """Of items that are not in English only the substitution is asked, whose text is the item's own."""
    path = tmp_path / "de.csv"
    path.write_text(GERMAN, encoding="utf-8")
    (item,) = read_minimal_pairs(path, dataset="own", language="de")
    assert [usage.text for usage in item.usages] == ["Er sah die Sitzbank im Park.", "Er sah die Sparkasse im Park."]
    assert {usage.language for usage in item.usages} == {"de"}
    assert len(read_minimal_pairs(path, dataset="own")) > 1


def test_conditions_follow_from_the_options(tmp_path: Path) -> None:
    """With numbers of items two options are controlled and three random; without, all are random, or E455."""
    rows = "1,a b,a c,a d\n1b,a b,a c,\n"
    path = tmp_path / "pairs.csv"
    path.write_text("item_id,correct,incorrect_1,incorrect_2\n" + rows, encoding="utf-8")
    with pytest.raises(InputError, match="3 and of 2 options") as caught:
        read_designed_sets(path)
    assert caught.value.code == "E455"
    numbered = rows.replace("\n", ",1\n")
    path.write_text("item_id,correct,incorrect_1,incorrect_2,item\n" + numbered, encoding="utf-8")
    assert [item.conditions["condition"] for item in read_designed_sets(path)] == ["random", "controlled"]


def test_texts_in_any_order(tmp_path: Path) -> None:
    """The right text is named by its number or by itself; the items are those of a table with it first."""
    path = tmp_path / "pairs.csv"
    path.write_text(
        "item_id,text_1,text_2,correct_option,kind_of_fault\n"
        "1,The keys is here.,The keys are here.,2,number\n"
        "2,No cat sleeps.,No cat sleep.,No cat sleeps.,number\n",
        encoding="utf-8",
    )
    first, second = read_choice_sets(path, dataset="own")
    assert (first.options, first.gold, second.options) == (("are", "is"), "are", ("sleeps", "sleep"))
    assert first.conditions == {"kind_of_fault": "number"}
    path.write_text("item_id,text_1,text_2,correct_option\n1,A b.,A c.,3\n", encoding="utf-8")
    with pytest.raises(InputError, match="not one of the texts") as caught:
        read_choice_sets(path, dataset="own")
    assert (caught.value.code, caught.value.place and caught.value.place.line) == ("E452", 2)
