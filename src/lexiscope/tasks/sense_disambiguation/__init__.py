"""Sense disambiguation: which of the senses that a dictionary gives a word does the word have in its sentence?

People see the sentence with its target marked, hidden, or the target alone, and choose among the glosses of the word's
senses; a model chooses among the senses by their ids. *Source:* unified WSD (Raganato, Camacho-Collados and Navigli
2017); the context–word bias study, §2.1.

An item has one usage, its senses as ``options`` (sense keys, in the lexicon's order) and their glosses in the condition
``glosses``, divided by ``|``. In an item file the ids may be in a column ``senses``, divided by ``|`` too; without
one the senses are numbered from 1. ``gold`` names the right sense, or several divided by ``|``: each of them is right.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.screen import Choice, Screen
from lexiscope.core.task import Task
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.sense_options import GLOSSES, SENSES, glosses_of
from lexiscope.tasks.kit.asking import Asking, sentence_examples, shown_sentence, told_sentence
from lexiscope.tasks.kit.judging import TRAINED_MEASURES, check_usages, judgment_function

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_disambiguation"
MEASURE = "choice"


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the senses, each with its gloss."""
    glosses = glosses_of(item)
    # keys follow the glosses, not the senses: a lexicon's first sense is its most frequent one
    ranked = sorted(glosses, key=lambda sense: (glosses[sense], sense))
    key = {sense: str(number) for number, sense in enumerate(ranked, start=1)}
    return tuple(Choice(key[sense], sense, (((gloss, False),),)) for sense, gloss in glosses.items())


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the right sense."""
    return sentence_examples(SCREEN, language, task=NAME, gold="sense", conditions=(GLOSSES, SENSES))


def _check_item(item: Item) -> Item:
    glosses_of(check_usages(item, 1, task=NAME))
    return item


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE,
    stimulus=shown_sentence,
    options=options,
    requires=(GLOSSES,),
    shuffles_options=True,
    comment=False,
    views=("full", "context", "word"),
    fold_outs=("guidelines",),
)

asks = Asking(SCREEN, told_sentence, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

TASK = Task(
    name=NAME,
    summary="Which of its senses does a word have in its sentence?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(("Judges", by_judgment),),
    measures=(
        (MEASURE, "the id of the sense that was chosen, in the column option; no unit, no direction"),
        *TRAINED_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE,),
    options=SCREEN.values_of,
    baselines=("random", "first_sense", "most_frequent_sense"),
    learnt="gloss",
)
