"""Sense retrieval: which of all the meanings of a lexicon does a word have in its sentence?

The possible meanings of a word are not given: the answer is searched in the whole lexicon (all 117,659 synsets of
WordNet). People search a list that the study names (:mod:`lexiscope.resources.corpora.entity_list`); a model ranks the
synsets.
*Source:* the context–word bias study, §2.1 and §2.4.

An item has one usage; ``gold`` is the id of the right synset, or several divided by ``|``: each of them is right.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.task import Task
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.search_space import RETRIEVAL_MEASURES
from lexiscope.items.sheets.form import Sheet
from lexiscope.tasks.kit.asking import SEARCH_VARIANTS, Asking, search_screen, sentence_examples, told_sentence
from lexiscope.tasks.kit.judging import check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import Judgments, search_sheet

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_retrieval"
MEASURE = "synset"


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the right meaning as the list names it."""
    return sentence_examples(SCREEN, language, task=NAME, gold="meaning")


def _check_item(item: Item) -> Item:
    return check_usages(item, 1, task=NAME)


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return which meaning was found for each word."""
    return (search_sheet(judgments, "search_judgments.csv"),)


SCREEN = replace(search_screen(FOLDER, MEASURE), published=published_sheets)

asks = Asking(SCREEN, told_sentence, example_items, SEARCH_VARIANTS)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

TASK = Task(
    name=NAME,
    summary="Which of all the meanings of a lexicon does a word have in its sentence?",
    scale=None,
    item_fields=("usages", "gold"),
    answers=(("Judges", by_judgment),),
    measures=(
        (MEASURE, "name or id of the meaning, in raw; without value; no unit, no direction"),
        *RETRIEVAL_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    learnt="bi_encoder",
)
