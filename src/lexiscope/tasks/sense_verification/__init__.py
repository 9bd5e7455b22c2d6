"""Sense verification: is a word used in its text in the sense of a definition and its hypernyms (WiC-TSV)?

People see the text in full, or without the word (``context``), or the word alone (``word``), with the definition and
the broader terms below it, and choose yes or no. Both must hold: the definition fits and the broader terms do. As in
the same-meaning task, who cannot decide without the word says so: that stores *yes* and the flag ``undecided``.

An item has one usage and the conditions ``definition`` and ``hypernyms`` (broader terms, divided by commas; may be
empty); ``gold`` is ``t`` or ``f``. *Source:* the context–word bias study, §2.1 (the combined setting of WiC-TSV).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.screen import Habit, Screen, Shown
from lexiscope.core.task import Task
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.sense_options import GLOSSES, bracketed_lines, bracketed_text, truth_choices
from lexiscope.items.sheets.form import Sheet, SheetColumn
from lexiscope.tasks.kit.asking import Asking, sentence_examples
from lexiscope.tasks.kit.judging import TRAINED_MEASURES, judgment_function
from lexiscope.tasks.kit.published_sheets import CONTEXT, Judgments, label_sheet

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_verification"
MEASURE_CHOICE = "choice"
DEFINITION, HYPERNYMS = "definition", "hypernyms"
_NO_HYPERNYMS = "–"


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the text of the view, the definition, and the hypernyms where there are any."""
    checked = _check_item(item)
    return {
        "sentence": bracketed_lines(checked, shown.appears_as)[0],
        DEFINITION: str(checked.conditions[DEFINITION]),
        HYPERNYMS: str(checked.conditions.get(HYPERNYMS, "")),
    }


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the right answer, ``t`` or ``f``."""
    return sentence_examples(SCREEN, language, task=NAME, gold="answer", conditions=(DEFINITION, HYPERNYMS))


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the text of the view, the word in brackets where it is in a text."""
    usage = _check_item(item).usages[0]
    return {
        "sentence": bracketed_text(usage),
        DEFINITION: str(item.conditions[DEFINITION]),
        HYPERNYMS: str(item.conditions.get(HYPERNYMS, "")) or _NO_HYPERNYMS,
    }


def _check_item(item: Item) -> Item:
    if len(item.usages) != 1 or not str(item.conditions.get(DEFINITION, "")).strip():
        what = f"an item of this task has one usage (this one has {len(item.usages)}) and a definition"
        hint = f"give the definition in a column {DEFINITION!r}"
        raise InputError(what, code="E617", place=Place(item_id=item.item_id), hint=hint)
    return item


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the sheet of WiC-TSV: the context as it was shown, with its sense, label and guessed word."""
    sense = (SheetColumn(DEFINITION, "the sense that was asked about"), SheetColumn(HYPERNYMS, "its broader terms"))
    return (label_sheet(judgments, "verification_judgments.csv", (CONTEXT, *sense)),)


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE_CHOICE,
    stimulus=stimulus,
    options=truth_choices,
    requires=(DEFINITION,),
    shows=(HYPERNYMS,),
    advance="press",
    comment=False,
    views=("full", "context", "word"),
    guess_views=("context",),
    reveal_view="context",
    fold_outs=("guidelines",),
    # the context–word bias study, §4: 100 examples each
    habit=Habit(per_item=2, per_list=100),
    on_sheet=lambda item: len(item.usages) == 1 and DEFINITION in item.conditions and GLOSSES not in item.conditions,
    published=published_sheets,
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_CHOICE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

TASK = Task(
    name=NAME,
    summary="Is a word used in its text in the sense of a definition and its hypernyms?",
    scale=None,
    item_fields=("usages", "conditions", "gold"),
    answers=(("Judges", by_judgment),),
    measures=(
        (MEASURE_CHOICE, "t: used in this sense; f: used in another one"),
        ("flag_undecided", "1 where a person or chat model could not decide without the word, else 0"),
        ("guessed_word", "a person's guess of the hidden word in its basic form, in raw; without value"),
        ("revealed_choice", "t or f, answered again by the same person, the word now shown"),
        *TRAINED_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE_CHOICE, "revealed_choice"),
    options=SCREEN.values_of,
    baselines=("random",),
    truth=True,
    chance=0.5,
    learnt="verification",
)
