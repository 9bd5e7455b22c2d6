"""Entity link: to which page of an encyclopedia does a mention refer?

People look up the page in a list that the study names (:mod:`lexiscope.resources.entity_list`) and give its title, or
its URL where the list does not hold it; whoever finds none says so. The mention is shown in its sentence, hidden there,
or alone. *Source:* the context–word bias study, §2.2 and §4 (AIDA).

A model ranks the entries of a search space, or the pages that are the item's ``options``.

An item has one usage, whose target is the mention; ``gold`` is the title or id of the page, several divided by ``|``
where each is right, or the condition ``page``.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.screen import Screen
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.asking import Asking, Variant
from lexiscope.items.chat_answers import CHAT_MEASURES
from lexiscope.items.judging import answering
from lexiscope.items.one_sentence import shown_sentence, told_sentence
from lexiscope.items.search_space import RETRIEVAL_MEASURES

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
    items = []
    for number, row in enumerate(SCREEN.examples(language), start=1):
        usage = Usage(row["sentence"], row["start"], row["end"], language=language)
        items.append(Item(f"example_{number}", NAME, (usage,), gold=row[COLUMN_PAGE]))
    return tuple(items)


SCREEN = Screen(
    folder=FOLDER,
    widget="search",
    measure=MEASURE,
    stimulus=shown_sentence,
    # the list need not be complete: an address that it lacks is an answer, and so is that there is no page
    flags=("not_found",),
    may_stay_empty=True,
    views=("full", "context", "word"),
    fold_outs=("guidelines",),
    max_length=500,
)

VARIANTS = {GUIDELINES: Variant(max_tokens=64)}
"""An answer is a title: it needs no more tokens than that."""

asks = Asking(SCREEN, told_sentence, example_items, VARIANTS)
"""Makes a chat question of an item."""

by_judgment = answering(NAME, MEASURE, asks=asks)
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
)
