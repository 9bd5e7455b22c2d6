"""The word-intrusion task: ten words and nothing else on the page, shuffled, one press."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import jinja2
import pytest

from lexiscope.build.sense_tests.intrusion import SenseNeighbours, make_intrusion_items
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import AnswerInvalid, Shown
from lexiscope.core.usage import Usage
from lexiscope.items.read.importer import import_items
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.tasks.word_intrusion import FOLDER, SCREEN, TASK, by_judgment, example_items, intruder, options, words_of

WORDS = ("river", "shore", "stream", "loan")
ITEM = Item("i", "d", (Usage("bank", 0, 4, language="en"),), WORDS, gold="loan", conditions={"sense": "1"})


class FakeJudge:
    subject_id, kind, facts = "recorded:fake", "recorded", None

    def judge(self, items: tuple[Item, ...], task: str) -> ResponseTable:
        rows = [Response("p1", "participant", each.item_id, task, "choice", option="loan") for each in items]
        return ResponseTable.from_rows(rows)


def test_the_page_shows_the_words_and_not_the_target() -> None:
    """The target stands nowhere: not in the stimulus, the question or an option."""
    html = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(
        (FOLDER / "screen.html").read_text(encoding="utf-8")
    )
    assert html.render(SCREEN.stimulus(ITEM, Shown())).strip() == ""
    for language in ("en", "es"):
        assert "bank" not in SCREEN.question(ITEM, language)
    assert [choice.lines for choice in options(ITEM, "full")] == [(((word, False),),) for word in WORDS]


def test_the_order_is_shuffled_and_a_press_answers() -> None:
    """A trial shows the words in its order; keys follow the alphabet, whatever the order of the file."""
    assert SCREEN.shuffles_options
    assert SCREEN.advance_in("full") == "press"
    shown = SCREEN.choices(ITEM, Shown(order=(3, 0, 2, 1)))
    assert [choice.value for choice in shown] == ["loan", "river", "stream", "shore"]
    turned = replace(ITEM, options=WORDS[::-1])
    assert {c.key: c.value for c in options(ITEM, "full")} == {c.key: c.value for c in options(turned, "full")}
    assert SCREEN.read({"option": shown[0].key}, ITEM).option == "loan"
    with pytest.raises(AnswerInvalid, match="none of the options"):
        SCREEN.read({"option": "loan"}, ITEM)


def test_words_come_from_options_or_a_column() -> None:
    """A file has them in one column, divided by |; too few, empty ones and repetitions are refused by item."""
    file = replace(ITEM, options=(), conditions={"sense": "1", "options": "river | shore|stream|loan"})
    assert words_of(file) == WORDS == words_of(ITEM)
    for broken in ("", "river|loan", "river||shore|loan", "river|shore|River|loan"):
        with pytest.raises(InputError, match=r"item 'i': \[E617\][\s\S]*divided by \|"):
            SCREEN.check(replace(file, conditions={"sense": "1", "options": broken}))


def test_an_item_file_is_enough(tmp_path: Path) -> None:
    """A table with the word, its sense, the words and the intruder: the word stands for sentence and target, and the
    sense is kept as a condition, which accuracy is counted by."""
    path = tmp_path / "items.csv"
    path.write_text("item_id,word,sense,intruder_id,options,intruder\na,bank,1,2,river|shore|loan,loan\n")
    columns = ColumnMap(sentence_1="word", target="word")
    (item,) = import_items(path, columns, dataset="d", task="word_intrusion", conditions=SCREEN.requires).items
    SCREEN.check(item)
    assert (item.usages[0].text, item.condition("sense"), item.condition("intruder_id")) == ("bank", "1", "2")
    assert (words_of(item), intruder(item)) == (("river", "shore", "loan"), "loan")


def test_the_intruder_is_gold_or_a_column() -> None:
    """``gold`` or the column ``intruder``; one that is no word of the item is refused."""
    assert intruder(ITEM) == "loan"
    assert intruder(replace(ITEM, gold=None)) is None
    assert intruder(replace(ITEM, gold=None, conditions={"intruder": "shore"})) == "shore"
    with pytest.raises(InputError, match="'coin' is not one of the words"):
        intruder(replace(ITEM, gold="coin"))


def test_made_items_are_items_of_the_task() -> None:
    """What make_intrusion_items makes is taken as it is, and its intruder is found."""
    senses = [SenseNeighbours("bank", "1", WORDS[:3]), SenseNeighbours("bank", "2", ("loan", "coin", "cash"))]
    frequencies = dict.fromkeys(["bank", *WORDS, "coin", "cash"], 1.0)
    for item in make_intrusion_items(senses, frequencies, dataset="d", seed=1, n_words=3):
        SCREEN.check(item)
        assert intruder(item) == item.gold


def test_judgments_are_answers() -> None:
    """Recorded choices come back in the order of the items, under the measure of the screen."""
    table = TASK.answer_function(FakeJudge())([ITEM], FakeJudge(), view="full")  # type: ignore[arg-type]
    assert table == by_judgment([ITEM], FakeJudge(), view="full")  # type: ignore[arg-type]
    assert table.column("option").tolist() == ["loan"]
    assert table.unique("measure") == (SCREEN.measure,)


@pytest.mark.parametrize("language", ["en", "es"])
def test_worked_examples_stand_in_the_guidelines(language: str) -> None:
    """Each example has ten words; they stand in the guidelines in this order, and the intruder is said."""
    text = " ".join(SCREEN.guidelines(language).split())
    for item in example_items(language):
        assert len(words_of(item)) == 10
        assert ", ".join(words_of(item)) in text
        assert f"**{intruder(item)}**" in text


@pytest.mark.parametrize("language", ["en", "es"])
def test_instructions_name_no_number_of_words(language: str) -> None:
    """How many words a page shows is a parameter of the test: people and models are told no other number."""
    told = SCREEN.guidelines(language).partition("\n*E")[0].casefold()
    assert told
    assert not {"ten", "nine", "diez", "nueve"} & set(re.findall(r"\w+", told))
