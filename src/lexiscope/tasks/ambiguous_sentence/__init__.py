"""Ambiguous sentence: can you write a sentence in which both meanings of a word are plausible?

People get a word with two of its meanings and an example of each, and write one sentence that holds the word exactly
once (AmbiStory §3.2). They may ask for a different word as often as they want to. The text that they wrote is the
answer; whether it is ambiguous, an editor decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexiscope.build.stories.instruments import (
    drafting_prompt,
    published_guidelines,
    published_page,
    published_qualification,
)
from lexiscope.build.stories.stories import (
    DraftRequest,
    drafting_question,
    precontext_faults,
    published_drafting_question,
)
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.screen import PaperWords, Screen, Shown, Writing
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.sheets.form import Sheet, SheetColumn, sheet_of
from lexiscope.items.text_rules import NOT_ONE_SENTENCE, WORD_NOT_ONCE, not_one_sentence, word_not_once
from lexiscope.tasks.kit.asking import Asking, Variant
from lexiscope.tasks.kit.judging import judgment_function
from lexiscope.tasks.kit.published_sheets import Cells, Judgments, first_condition, text_cells, text_columns

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "ambiguous_sentence"
MEASURE_TEXT = "text"
REQUIRES = ("sense_1", "example_1", "sense_2", "example_2")
"""The conditions of an item: both meanings, and a sentence that shows each."""

FAULTS = (WORD_NOT_ONCE, NOT_ONE_SENTENCE)
"""Why a text is rejected: the rules of :mod:`lexiscope.items.text_rules`."""


def stimulus(item: Item, shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the word, and its two meanings with an example each."""
    return {"target": item.usages[0].target, **{name: item.condition(name) for name in REQUIRES}}


def faults(text: str, item: Item) -> tuple[str, ...]:
    """Return what is wrong with a text: the word must be in it exactly once, and it must be one sentence."""
    usage = item.usages[0]
    reasons = (word_not_once(text, usage.target), not_one_sentence(text, usage.language))
    return tuple(fault for fault in reasons if fault is not None)


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is a sentence that serves."""
    return tuple(_example(row, number) for number, row in enumerate(SCREEN.examples(language), start=1))


def _example(row: Mapping[str, str], number: int) -> Item:
    word = row["word"]
    usage = Usage(word, 0, len(word), lemma=word, language=row["language"])
    conditions = {name: row[name] for name in REQUIRES}
    return Item(f"example-{row['language']}-{number}", NAME, (usage,), gold=row["sentence"], conditions=conditions)


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the word, and its two meanings with an example each."""
    return {"target": item.usages[0].target, **{name: str(item.condition(name)) for name in REQUIRES}}


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the sentences that were written, with how many words the writer passed over before each."""
    columns = (
        SheetColumn("pair_id", "the word with its two meanings", "id"),
        SheetColumn("form", "the word form", "id"),
        SheetColumn("sense1", "meaning 1", "text"),
        SheetColumn("sense2", "meaning 2", "text"),
        SheetColumn("skips", "other words that were asked for before this sentence", "integer", low=0),
    )
    rows: list[Cells] = []
    writer, skips = "", 0
    for row in judgments.valid_rows:
        skips = skips if row["participant_id"] == writer else 0
        writer = row["participant_id"]
        if row["response_text"] is None:
            skips += 1
            continue
        item = judgments.items[row["item_id"]]
        known = {
            "pair_id": first_condition(item.conditions, "pair_id") or item.item_id,
            "form": item.usages[0].target,
            "sense1": first_condition(item.conditions, "sense1", "sense_1", "meaning_1"),
            "sense2": first_condition(item.conditions, "sense2", "sense_2", "meaning_2"),
        }
        rows.append({**known, "skips": skips, **text_cells(judgments, row, "sentence")})
        skips = 0
    written = text_columns(columns, "sentence")
    return (sheet_of("written_sentences.csv", "one sentence that was written", written, rows),)


# -- what a language model may draft around ambiguous sentences ------------------------------------------------------
# The prompts follow what AmbiStory says of its own (B.1, B.2: spelling, grammar and third person and nothing else;
# three sentences that do not resolve the ambiguity). Their wording is ours; the paper's own is read from the data.


def cleaning_request(text: str, item: Item, *, draft_id: str, published: bool = False) -> DraftRequest:
    """Return the request to clean a sentence that was written for an item; the word must survive, exactly once.

    *published*: in the words of the paper (B.1). Errors: those of
    :func:`~lexiscope.build.stories.instruments.drafting_prompt`.
    """
    usage, variant = item.usages[0], f"{NAME}/clean"
    if published:
        told = drafting_prompt("b1_clean_sentence", {"sentence": text})
        question = published_drafting_question(told, variant=variant, language=usage.language)
    else:
        question = drafting_question(
            FOLDER / "clean.txt", text, word=usage.target, variant=variant, language=usage.language
        )
    return DraftRequest(draft_id, "sentence", text, question, lambda draft: faults(draft, item))


def precontext_request(
    usage: Usage, meanings: tuple[str, str], *, draft_id: str, published: bool = False
) -> DraftRequest:
    """Return the request for three sentences before an ambiguous one, both meanings left open.

    *published*: in the words of the paper (B.2). Errors: as of :func:`cleaning_request`.
    """
    word, language, variant = usage.target, usage.language, f"{NAME}/precontext"
    if published:
        senses = {f"word sense {number}": meaning for number, meaning in enumerate(meanings, start=1)}
        told = drafting_prompt("b2_precontext", {"sentence": usage.text, "homonym": word, **senses})
        question = published_drafting_question(told, variant=variant, language=language)
    else:
        about = f"Sentence: {usage.text}\nMeaning 1: {meanings[0]}\nMeaning 2: {meanings[1]}"
        question = drafting_question(FOLDER / "precontext.txt", about, word=word, variant=variant, language=language)
    return DraftRequest(draft_id, "precontext", "", question, lambda draft: precontext_faults(draft, word, language))


def example_request(item: Item, which: str) -> DraftRequest:
    """Return the request for an example of one meaning (``1`` or ``2``) of an item of the pool.

    Errors: :class:`InputError` E402 for another meaning.
    """
    usage = item.usages[0]
    about = f"Word: {usage.target}\nMeaning: {item.condition(f'sense_{which}')}"
    question = drafting_question(
        FOLDER / "example.txt", about, word=usage.target, variant=f"{NAME}/example", language=usage.language
    )
    raw = str(item.condition(f"example_{which}"))
    return DraftRequest(f"{item.item_id}#{which}", f"example_{which}", raw, question, lambda draft: faults(draft, item))


# -- the task ---------------------------------------------------------------------------------------------------------


SCREEN = Screen(
    folder=FOLDER,
    widget="text",
    measure=MEASURE_TEXT,
    stimulus=stimulus,
    faults=faults,
    requires=REQUIRES,
    word_alone=True,
    comment=False,
    drawn=True,
    max_length=500,
    writing=Writing("sentence", "story_ending", cleaning_request, precontext_request),
    published=published_sheets,
    paper_words=lambda: PaperWords(
        published_guidelines("a21_guidelines_sentence"),
        tuple(story.chosen_question("sense_disambiguation") for story in published_qualification()),
        # Figure 2
        {
            **published_page({"stuck": "Can't think"}),
            **published_page({"question": "Can you write"}, word="point", place="{target}"),
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
    summary="Can you write a sentence in which both meanings of a word are plausible?",
    scale=None,
    item_fields=("usages", "conditions"),
    answers=(("Judges", by_judgment),),
    measures=(
        (MEASURE_TEXT, "a sentence, in raw; without value"),
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=SCREEN.check,
)
