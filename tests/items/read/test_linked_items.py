"""Items of entity linking: what of a text is shown, ids, mentions without a page, and the split by sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import split_by_sentence
from lexiscope.items.read.linked_items import linked_items, mention_sentence, word_window
from lexiscope.items.text_rules import sentence_spans
from lexiscope.resources.corpora.linked_text import LinkedText, Mention

WORDS = "The mill at Lee burned. Dr. Lee rebuilt St. Ives Inn. It stands\nNobody lives there."


def mention(text: str, word: str, *ids: str, place: int = 1) -> Mention:
    start = -1
    for _ in range(place):
        start = text.index(word, start + 1)
    return Mention(start, start + len(word), ids)


TEXT = LinkedText(
    "t",
    WORDS,
    (mention(WORDS, "Lee", "Q1"), mention(WORDS, "burned"), mention(WORDS, "Lee", "Q2", "Q3", place=2)),
)


def test_a_linked_mention_is_an_item() -> None:
    """Ids count all mentions of a text; a mention without a page is counted; several pages are all right."""
    found = linked_items([TEXT, TEXT], dataset="d", split="test", shown=mention_sentence())
    assert [item.item_id for item in found.items] == ["d/test/t/1", "d/test/t/3", "d/test/t~2/1", "d/test/t~2/3"]
    assert found.n_nil == 2
    assert [item.gold for item in found.items[:2]] == ["Q1", "Q2|Q3"]
    assert [item.usages[0].target for item in found.items] == ["Lee"] * 4


def test_the_sentence_of_a_mention() -> None:
    """Items of one sentence show one text and share the condition; abbreviations end none."""
    items = linked_items([TEXT], dataset="d", split="test", shown=mention_sentence()).items
    assert [item.usages[0].text for item in items] == ["The mill at Lee burned.", "Dr. Lee rebuilt St. Ives Inn."]
    assert items[0].conditions["sentence"] != items[1].conditions["sentence"]


def test_a_mention_joins_the_sentences_it_lies_in() -> None:
    """An end of a sentence inside a mention is none, for the other mentions of the text as well."""
    text = "He joined Wham! Ltd of Leeds. She did not."
    linked = (mention(text, "Wham! Ltd", "Q1"), mention(text, "Leeds", "Q2"), mention(text, "She", "Q3"))
    items = linked_items([LinkedText("t", text, linked)], dataset="d", split="s", shown=mention_sentence()).items
    assert [item.usages[0].text for item in items] == ["He joined Wham! Ltd of Leeds."] * 2 + ["She did not."]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 8))
def test_a_window_has_so_many_words_on_either_side(before: int, after: int, words: int) -> None:
    """As many words as asked for where there are so many, and the mention at its span."""
    left, right = "".join(f"l{n} " for n in range(before)), "".join(f"\n r{n}" for n in range(after))
    text = f"{left}New York{right}"
    linked = LinkedText("t", text, (Mention(len(left), len(left) + 8, ("Q1",)),))
    (item,) = linked_items([linked], dataset="d", split="s", shown=word_window(words)).items
    usage = item.usages[0]
    assert usage.target == "New York"
    assert len(usage.text[: usage.start].split()) == min(before, words)
    assert len(usage.text[usage.end :].split()) == min(after, words)


def test_sentences_cover_the_letters() -> None:
    """Sentences follow one another, without outer white space, and leave out nothing but white space."""
    spans = sentence_spans(WORDS)
    assert [WORDS[start:end] for start, end in spans] == [
        "The mill at Lee burned.",
        "Dr. Lee rebuilt St. Ives Inn.",
        "It stands",
        "Nobody lives there.",
    ]
    covered = "".join(WORDS[start:end] for start, end in spans)
    assert "".join(covered.split()) == "".join(WORDS.split())


def made(n_sentences: int, each: int = 3) -> list[Item]:
    items = []
    for number in range(n_sentences * each):
        about = {"sentence": f"s{number // each}", "split": "all"}
        items.append(Item(f"i{number}", "d", (Usage("x", 0, 1),), conditions=about))
    return items


def parts(items: tuple[Item, ...]) -> dict[str, str]:
    return {item.item_id: str(item.conditions["split"]) for item in items}


def test_so_many_sentences_and_none_divided() -> None:
    """2 sentences to test, 3 for dev, the rest to train; the items of a sentence stay together."""
    found = split_by_sentence(made(10), n_test=2, n_dev=3, seed=1)
    assert Counter(parts(found).values()) == {"test": 6, "dev": 9, "train": 15}
    assert all(len({item.conditions["split"] for item in found[n : n + 3]}) == 1 for n in range(0, 30, 3))


def test_neither_order_nor_item_decides() -> None:
    """The same sentences and seed give the same parts in any order of the items; another seed gives others."""
    items = made(20)
    asked = parts(split_by_sentence(items, n_test=5, n_dev=5, seed=3))
    assert parts(split_by_sentence(items[::-1], n_test=5, n_dev=5, seed=3)) == asked
    assert parts(split_by_sentence(items, n_test=5, n_dev=5, seed=4)) != asked


def test_the_process_does_not_decide() -> None:
    """Another PYTHONHASHSEED draws the same sentences."""
    code = (
        "from lexiscope.items.arrange.splits import split_by_sentence as s;"
        "from lexiscope.core.item import Item;"
        "from lexiscope.core.usage import Usage as U;"
        "i=[Item(f'i{n}','d',(U('x',0,1),),conditions={'sentence':f's{n}'}) for n in range(50)];"
        "print([x.conditions['split'] for x in s(i,n_test=9,n_dev=9,seed=5)])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_parts_that_cannot_be_filled() -> None:
    """Too few sentences, a negative number, or items that name no sentence."""
    for n_test, n_dev in ((5, 5), (-1, 2)):
        with pytest.raises(InputError, match="10 sentences are too few"):
            split_by_sentence(made(10), n_test=n_test, n_dev=n_dev)
    with pytest.raises(InputError, match="no condition 'sentence'"):
        split_by_sentence([replace(made(1)[0], conditions={})], n_test=0, n_dev=0)
