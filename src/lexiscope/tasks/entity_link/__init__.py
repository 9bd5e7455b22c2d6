"""Entity link: to which page of an encyclopedia does a mention refer?

People look up the page in a list that the study names (:mod:`lexiscope.resources.corpora.entity_list`) and give its
title, or its URL if the list does not hold it; a participant who finds none says so. The mention is shown in its
sentence, hidden there, or alone. *Source:* the context–word bias study, §2.2 and §4 (AIDA).

A model ranks the entries of a search space, or the pages that are the item's ``options``.

An item has one usage, whose target is the mention; ``gold`` is the title or id of the page, several divided by ``|``
where each is right, or the condition ``page``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.screen import Habit
from lexiscope.core.task import Task
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.search_space import RETRIEVAL_MEASURES
from lexiscope.items.answers.sense_options import GLOSSES
from lexiscope.items.sheets.form import Sheet
from lexiscope.tasks.kit.asking import SEARCH_VARIANTS, Asking, search_screen, sentence_examples, told_sentence
from lexiscope.tasks.kit.judging import check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import Judgments, search_sheet

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "entity_link"
MEASURE = "page"
COLUMN_PAGE = "page"


def right_page(item: Item) -> str | None:
    """Return the title of the page that is right, or ``None`` where the item does not say."""
    return item.gold or str(item.conditions.get(COLUMN_PAGE, "")).strip() or None


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the title of the page."""
    return sentence_examples(SCREEN, language, task=NAME, gold=COLUMN_PAGE)


def _check_item(item: Item) -> Item:
    return check_usages(item, 1, task=NAME)


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return which page was linked to each mention."""
    return (search_sheet(judgments, "link_judgments.csv"),)


def _is_mention(item: Item) -> bool:
    """Whether an item is one text of which nothing else is asked: no definition, no senses to choose from."""
    return len(item.usages) == 1 and not {"definition", GLOSSES} & set(item.conditions)


SCREEN = replace(
    search_screen(FOLDER, MEASURE),
    # the context–word bias study, §4: 100 examples each
    habit=Habit(per_item=2, per_list=100),
    on_sheet=_is_mention,
    published=published_sheets,
)

asks = Asking(SCREEN, told_sentence, example_items, SEARCH_VARIANTS)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

TASK = Task(
    name=NAME,
    summary="To which page of an encyclopedia does a mention refer?",
    scale=None,
    item_fields=("usages", "gold"),
    answers=(("Judges", by_judgment),),
    measures=(
        (MEASURE, "title or URL of the page, in raw; without value; no unit, no direction"),
        ("flag_not_found", "1 where a person found no page, else 0"),
        *RETRIEVAL_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    baselines=("random", "most_linked"),
    # without any input the page cannot be found
    chance=0.0,
    learnt="bi_encoder",
)
