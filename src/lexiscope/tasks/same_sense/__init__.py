"""Same meaning: does a word mean the same in two texts (WiC, XL-WiC, AM²iCo)?

People see the texts in full, or without the word (``context``), or the two words alone (``word``), and choose *same* or
*different*. Who cannot decide without the word says so: that stores the answer *same*, as the paper asks for, and the
flag ``undecided`` with it (context–word bias, §2.2 and appendix G).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.screen import Habit, Screen, Shown
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.sense_options import DIFFERENT, SAME, bracketed_lines, bracketed_text, truth_choices
from lexiscope.items.sheets.form import Sheet, SheetColumn
from lexiscope.tasks.kit.asking import Asking, pair_examples
from lexiscope.tasks.kit.distances import pair_function
from lexiscope.tasks.kit.judging import TRAINED_MEASURES, check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import CONTEXT, Judgments, label_sheet
from lexiscope.tasks.kit.scoring import ODDS_MEASURE, SCORED_MEASURES, ChoiceScoring
from lexiscope.tasks.same_sense.by_sense import FLAG, sense_identity_function

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "same_sense"
MEASURE_CHOICE = "choice"
_USAGES = 2


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the two texts of the view, each in pieces and with its language."""
    view = shown.appears_as
    lines = zip(bracketed_lines(item, view), item.usages, strict=True)
    return {"texts": [{"line": line, "language": _language(usage)} for line, usage in lines]}


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the correct answer, ``t`` or ``f``."""
    return pair_examples(SCREEN, language, task=NAME, gold="answer")


def _check_item(item: Item) -> Item:
    return check_usages(item, _USAGES, task=NAME)


def _language(usage: Usage) -> str:
    return "" if usage.language == "und" else usage.language


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the two texts of the view, the word in brackets where it is in a text."""
    return {f"text_{number}": bracketed_text(usage) for number, usage in enumerate(item.usages, start=1)}


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the sheet of WiC and its kin (BIAS, Figure 5): contexts as they were shown, label, guessed word."""
    return (
        label_sheet(judgments, "wic_judgments.csv", (CONTEXT, SheetColumn("context2", "context 2 as it was shown"))),
    )


def scored_fields(item: Item, _option: str) -> Mapping[str, str]:
    """Return what a wording says of an item to a subject that scores texts: both texts as they are, and both words."""
    told = {f"plain_{number}": usage.text for number, usage in enumerate(item.usages, start=1)}
    return told | {f"target_{number}": usage.target for number, usage in enumerate(item.usages, start=1)}


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE_CHOICE,
    stimulus=stimulus,
    options=truth_choices,
    n_usages=_USAGES,
    advance="press",
    comment=False,
    views=("full", "context", "word"),
    guess_views=("context",),
    reveal_view="context",
    fold_outs=("guidelines",),
    # the context–word bias study, §4: 100 examples each
    habit=Habit(per_item=2, per_list=100),
    on_sheet=lambda item: len(item.usages) == _USAGES,
    published=published_sheets,
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_CHOICE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

by_embedding = pair_function(NAME, check=_check_item)
"""Answers with the cosine distance of the two usages, at every layer: a threshold on it is learnt in the analysis."""

by_scoring = ChoiceScoring(NAME, MEASURE_CHOICE, asks, scored_fields, _check_item)
"""Answers with the log-odds of *same* and *different* behind a wording."""

by_sense = sense_identity_function(NAME, MEASURE_CHOICE, same=SAME, different=DIFFERENT, check=_check_item)
"""Answers by whether the most probable induced sense of both usages is one."""

TASK = Task(
    name=NAME,
    summary="Does a word have the same meaning in two texts?",
    scale=None,
    item_fields=("usages", "gold"),
    answers=(
        ("Judges", by_judgment),
        ("ChoosesSense", by_sense),
        ("Embeds", by_embedding),
        ("Scores", by_scoring),
    ),
    measures=(
        (MEASURE_CHOICE, "t: the same meaning; f: different meanings"),
        ("flag_undecided", "1 where a person or chat model could not decide without the word, else 0"),
        (FLAG, "1 where sense identity cannot decide and the answer is random, with the reason in raw, else 0"),
        ("guessed_word", "a person's guess of the hidden word in its basic form, in raw; without value"),
        ("revealed_choice", "t or f, answered again by the same person, the word now shown"),
        *TRAINED_MEASURES,
        ODDS_MEASURE,
        *SCORED_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE_CHOICE, "revealed_choice"),
    options=SCREEN.values_of,
    baselines=("random",),
    truth=True,
    chance=0.5,
    learnt="pair",
    wordings=by_scoring.wordings,
    scored=by_scoring.options,
)
