"""Story ending: can you end a story so that one meaning of its ambiguous word comes across, without using the word?

People read three sentences and an ambiguous one, are told which meaning is intended, and write the last sentence
(AmbiStory §3.3). The text that they wrote is the answer; whether it works, raters find out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexiscope.build.stories.instruments import (
    drafting_prompt,
    published_guidelines,
    published_page,
    published_qualification,
)
from lexiscope.build.stories.stories import DraftRequest, drafting_question, published_drafting_question
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.screen import Habit, PaperWords, Screen, Shown, Writing
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.sheets.form import Sheet, SheetColumn, sheet_of
from lexiscope.items.text_rules import NOT_ONE_SENTENCE, WORD_RECURS, not_one_sentence, word_recurs
from lexiscope.tasks.kit.asking import Asking, Variant
from lexiscope.tasks.kit.judging import judgment_function
from lexiscope.tasks.kit.published_sheets import ITEM_ID, Cells, Judgments, first_condition, text_cells, text_columns

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "story_ending"
MEASURE_TEXT = "text"
REQUIRES = ("precontext", "sense", "example", "other_sense", "other_example")
"""The conditions of an item: the text before it, the intended meaning, and the other one, with an example each."""

FAULTS = (WORD_RECURS, NOT_ONE_SENTENCE)
"""Why a text is rejected: the rules of :mod:`lexiscope.items.text_rules`."""


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the story so far, the intended meaning, and both meanings to fold out."""
    usage = item.usages[0]
    texts = {name: str(item.condition(name)).strip() for name in REQUIRES}
    both = (("sense", "example"), ("other_sense", "other_example"))
    return {
        "target": usage.target,
        "sentence": usage.text,
        **{name: texts[name] for name in ("precontext", "sense", "example")},
        "fold_definitions": tuple(((texts[sense], True), (f" ({texts[example]})", False)) for sense, example in both),
    }


def faults(text: str, item: Item) -> tuple[str, ...]:
    """Return what is wrong with a text: the word must not be in it, and it must be one sentence."""
    usage = item.usages[0]
    reasons = (word_recurs(text, usage.target), not_one_sentence(text, usage.language))
    return tuple(fault for fault in reasons if fault is not None)


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is an ending that serves."""
    return tuple(_example(row, number) for number, row in enumerate(SCREEN.examples(language), start=1))


def _example(row: Mapping[str, Any], number: int) -> Item:
    usage = Usage(row["sentence"], row["start"], row["end"], lemma=row["word"], language=row["language"])
    conditions = {name: row[name] for name in REQUIRES}
    return Item(f"example-{row['language']}-{number}", NAME, (usage,), gold=row["ending"], conditions=conditions)


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the story so far, its sentence between ``**``, and the intended meaning."""
    told = {name: str(item.condition(name)).strip() for name in ("sense", "example")}
    usage = item.usages[0]
    precontext = str(item.condition("precontext")).strip()
    return {"target": usage.target, "story": f"{precontext} **{usage.text}**", **told}


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the endings that were written."""
    columns = (
        SheetColumn("setup_id", "the story without its ending", "id"),
        SheetColumn("intended_sense", "the meaning that the ending had to bring out", "text"),
    )
    behind = (SheetColumn("comment", "the writer's comment", "text"), ITEM_ID)
    rows: list[Cells] = []
    for row in judgments.valid_rows:
        if row["response_text"] is not None:
            item = judgments.items[row["item_id"]]
            known = {
                "setup_id": first_condition(item.conditions, "setup_id", "setup", "story") or item.item_id,
                "intended_sense": first_condition(item.conditions, "intended_sense", "sense", "judged_meaning"),
            }
            said = {"comment": row["comment"], "item_id": item.item_id}
            rows.append({**known, **said, **text_cells(judgments, row, "ending")})
    written = text_columns(columns, "ending", *behind)
    return (sheet_of("written_endings.csv", "one ending that was written", written, rows),)


# -- what a language model may draft of an ending ---------------------------------------------------------------------
# AmbiStory's prompt (B.1) saw the sentence before the ending; this one does too. The wording is ours; the paper's own
# is read from the data.


def cleaning_request(text: str, item: Item, *, draft_id: str, published: bool = False) -> DraftRequest:
    """Return the request to clean an ending that was written for an item; the word must not come into it.

    *published*: in the words of the paper (B.1). Errors: those of
    :func:`~lexiscope.build.stories.instruments.drafting_prompt`.
    """
    usage, variant = item.usages[0], f"{NAME}/clean"
    if published:
        told = drafting_prompt("b1_clean_ending", {"sentence": usage.text, "ending": text})
        question = published_drafting_question(told, variant=variant, language=usage.language)
    else:
        about = f"Sentence before it: {usage.text}\nLast sentence: {text}"
        question = drafting_question(
            FOLDER / "clean.txt", about, word=usage.target, variant=variant, language=usage.language
        )
    return DraftRequest(draft_id, "ending", text, question, lambda draft: faults(draft, item))


# -- the task ---------------------------------------------------------------------------------------------------------


SCREEN = Screen(
    folder=FOLDER,
    widget="text",
    measure=MEASURE_TEXT,
    stimulus=stimulus,
    faults=faults,
    requires=REQUIRES,
    fold_outs=("definitions",),
    max_length=500,
    # AmbiStory §3 and its setups
    habit=Habit(per_item=1, per_list=20, back=True, apart=("setup",)),
    writing=Writing("ending", "plausibility", cleaning_request),
    published=published_sheets,
    paper_words=lambda: PaperWords(
        published_guidelines("a22_guidelines_ending"),
        tuple(story.chosen_question("sense_disambiguation") for story in published_qualification()),
        # Figure 3
        {
            **published_page({"read_story": "Read the first"}),
            **published_page({"intended": "In this story"}, word="resistance", place="{word}"),
            **published_page({"question": "Write an ending sentence"}, word="resistance", place="{target}"),
        },
    ),
)

VARIANTS = {GUIDELINES: Variant(max_tokens=200)}
"""An answer is a sentence: it needs no more tokens than that."""

asks = Asking(SCREEN, fields, example_items, VARIANTS)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_TEXT, check=SCREEN.check, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

TASK = Task(
    name=NAME,
    summary="Can you end a story so that one meaning of its ambiguous word comes across?",
    scale=None,
    item_fields=("usages", "conditions"),
    answers=(("Judges", by_judgment),),
    measures=(
        (MEASURE_TEXT, "the last sentence of a story, in raw; without value"),
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=SCREEN.check,
)
