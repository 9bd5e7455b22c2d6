"""The embedded items about senses: one list of sentences as items of six tasks, without shortcuts that we can see."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.datasets.mini_senses import CARD, load, senses
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.items.read.item_source import load_items
from lexiscope.tasks.kit.judging import check_usages

COUNTS = {
    "sense_disambiguation": 64,
    "same_sense": 64,
    "sense_verification": 128,
    "substitution": 64,
    "sense_choice": 64,
    "word_intrusion": 32,
}


@pytest.mark.parametrize("task", COUNTS)
def test_items_of_every_task(task: str) -> None:
    """As many items as the card says, each taken by its task, its right answer among what it offers; no responses."""
    data = catalog.dataset(f"mini_senses?task={task}")
    asked = catalog.task(task)
    assert (data.card.task, len(data.items), len(data.responses)) == (task, COUNTS[task], 0)
    assert len({item.item_id for item in data.items}) == COUNTS[task]
    for item in data.items:
        asked.check_item(item)
        assert asked.options is not None
        assert correct_ids(item) <= set(asked.options(item, "full"))
        check_usages(item, 2 if task == "same_sense" else 1, task=task)
    assert any(f"{task} ({COUNTS[task]}" in remark for remark in CARD.remarks)


def test_right_answers_are_balanced() -> None:
    """Half of the pairs and definitions are right, and each of two options is right as often as the other."""
    for task in ("same_sense", "sense_verification"):
        assert len(set(Counter(item.gold for item in load(task=task).items).values())) == 1
    for task in ("sense_disambiguation", "substitution"):
        places = Counter(item.options.index(str(item.gold)) for item in load(task=task).items)
        assert places == {0: 32, 1: 32}
    assert Counter(len({*item.options}) for item in load(task="word_intrusion").items) == {10: 32}


def test_no_word_gives_an_answer_away() -> None:
    """No word of a group or substitute stands in a sentence of its sense; both senses of a noun share no group word."""
    for pair in senses():
        assert not set(pair[0].group) & set(pair[1].group), pair[0].word
        assert len({usage.text for sense in pair for usage in sense.usages}) == 4
        for sense in pair:
            assert len(sense.group) == 9
            told = (*sense.group, sense.synonym)
            found = [word for word in told for usage in sense.usages if re.search(rf"\b{word}s?\b", usage.text, re.I)]
            assert found == [], (sense.word, found)
            assert sense.word not in (*told, *sense.gloss.split())


def test_the_task_that_is_asked_reads_its_items() -> None:
    """``--items mini_senses --task word_intrusion`` has the items of this task; a task without items is refused."""
    assert len(load_items("mini_senses", task="word_intrusion").items) == 32
    assert load_items("mini_senses", task="sense_disambiguation").items == load().items
    with pytest.raises(SpecError, match="no items of the task 'relatedness'"):
        load_items("mini_senses", task="relatedness")
