"""Forced choices as choice sets and back: the same words, ids that lead from one to the other, drawn orders."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.build.choice_items import choice_items, read_choice_items
from lexiscope.build.forced_choice import CHOICE_SET, as_choice_sets, in_drawn_orders, pages_in
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.datasets import mini_synonymy

ASKED = choice_items(mini_synonymy.collection(), dataset="mini_synonymy")


def test_each_page_names_its_choice_set() -> None:
    """40 pages, 40 choice sets with the same two words."""
    sets = {item.item_id: item for item in ASKED.items}
    assert len(ASKED.pages) == 40
    for page in ASKED.pages:
        assert set(page.options) == set(sets[str(page.condition(CHOICE_SET))].options)


def test_the_right_word_is_first_on_half_of_the_pages() -> None:
    """The order is drawn with the seed: 20 of 40, in another order with another seed, the same with the same."""
    firsts = {
        seed: [page.options[0] == page.gold for page in in_drawn_orders(ASKED.pages, seed=seed)] for seed in (1, 2)
    }
    assert [sum(first) for first in firsts.values()] == [20, 20]
    assert firsts[1] != firsts[2]
    assert firsts[1] == [page.options[0] == page.gold for page in in_drawn_orders(ASKED.pages, seed=1)]


def test_a_choice_is_a_value_of_each_option() -> None:
    """The right word chosen once of two answers is a tie; no answer leaves both options without a share."""
    first, second = ASKED.pages[:2]
    wrong = next(word for word in first.options if word != first.gold)
    rows = [
        Response("m", "chat", page.item_id, "substitution", "choice", option=word, repeat=repeat)
        for page, words in ((first, (first.gold, wrong)), (second, (None, None)))
        for repeat, word in enumerate(words)
    ]
    table = as_choice_sets(ResponseTable.from_rows(rows), ASKED.pages)
    by_set = {(row.item_id, row.option): row.value for row in table.rows()}
    assert by_set == {
        (str(first.condition(CHOICE_SET)), "correct"): 0.5,
        (str(first.condition(CHOICE_SET)), "incorrect_1"): 0.5,
        (str(second.condition(CHOICE_SET)), "correct"): 0.0,
        (str(second.condition(CHOICE_SET)), "incorrect_1"): 0.0,
    }


def test_a_table_of_forced_choices_is_read(tmp_path: Path) -> None:
    """A page and its two texts; the right word is the first option of the choice set."""
    file = tmp_path / "pages.csv"
    line = "She slid the bolt of the stable.,bolt,flash,lock,lock"
    file.write_text(f"sentence,target,option_1,option_2,correct_option\n{line}\n", encoding="utf-8")
    read = read_choice_items(file, language="en")
    ((page,), (made,)) = read.pages, read.items
    assert (page.options, page.gold) == (("flash", "lock"), "lock")
    assert [usage.text for usage in made.usages] == [
        "She slid the lock of the stable.",
        "She slid the flash of the stable.",
    ]
    file.write_text(f"sentence,target,option_1,option_2\n{line.rpartition(',')[0]}\n", encoding="utf-8")
    with pytest.raises(InputError, match="no right word"):
        pages_in(file, language="en")


def test_another_file_is_not_one_of_pages(tmp_path: Path) -> None:
    """A collection is read as before."""
    file = tmp_path / "own.csv"
    file.write_text("target,synonym,distractor,sentence\nbolt,lock,flash,She slid the bolt.\n", encoding="utf-8")
    assert pages_in(file, language="en") is None


def test_finished_texts_are_their_own_pages(tmp_path: Path) -> None:
    """Each place has the right text equally often, and a choice gives each option of the set its share."""
    file = tmp_path / "texts.csv"
    lines = [f"i{n},{word} one.,{word} two.,{word} three.," for n, word in enumerate(("A", "B", "C", "D", "E", "F"))]
    file.write_text("\n".join(["item_id,correct,incorrect_1,incorrect_2,note", *lines]) + "\n", encoding="utf-8")
    read = read_choice_items(file)
    assert read.pages == read.items
    drawn = in_drawn_orders(read.pages, seed=3)
    assert sorted(page.options.index("one") for page in drawn) == [0, 0, 1, 1, 2, 2]
    assert all([usage.target for usage in page.usages] == [*page.options] for page in drawn)
    rows = [Response("m", "chat", "i0", "minimal_pair", "choice", option="two")]
    values = {row.option: row.value for row in as_choice_sets(ResponseTable.from_rows(rows), drawn).rows()}
    assert values == {"correct": 0.0, "incorrect_1": 1.0, "incorrect_2": 0.0}
