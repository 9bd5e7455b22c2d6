"""Sensorimotor strength: how strongly is what a word means in a sentence experienced through one sense or body part?

People read a sentence with a marked word and one way of experience (seeing, hearing, an action of the hand or arm, …),
and rate from 0 (not at all) to 5 (greatly). *Source:* the question of the Lancaster norms, asked of words in sentences
(Trott & Bergen 2022); the words are ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Habit, Screen
from lexiscope.core.task import Task
from lexiscope.items.answers.chat_answers import CHAT_MEASURES, RATING_MEASURES
from lexiscope.items.answers.scale_scoring import RATED, SCORING_MEASURES, scale_options, scoring_function
from lexiscope.tasks.kit.asking import Asking, sentence_examples, shown_sentence, told_sentence
from lexiscope.tasks.kit.judging import judgment_function

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sensorimotor"
MEASURE_RATING = "rating"
WAY = "way"
"""The condition of an item that names the way of experience, in the language of its sentence: *seeing*."""

ANCHORS: dict[str, tuple[tuple[float, str], ...]] = {
    "en": ((0.0, "not experienced at all in this way"), (5.0, "experienced greatly in this way")),
    "es": ((0.0, "no se experimenta nada de este modo"), (5.0, "se experimenta mucho de este modo")),
}
"""The words at the ends of the scale, by language."""

SCALE = Scale(0, 5, anchors=ANCHORS["en"])


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the rating that is right."""
    return sentence_examples(SCREEN, language, task=NAME, gold="rating", conditions=(WAY,))


def fields(item: Item, language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the sentence with its word between ``**``, the word, and the way."""
    return {**told_sentence(item, language), "target": item.usages[0].target, WAY: str(item.condition(WAY))}


SCREEN = Screen(
    folder=FOLDER,
    widget="scale",
    measure=MEASURE_RATING,
    stimulus=shown_sentence,
    scale=SCALE,
    anchors=ANCHORS,
    requires=(WAY,),
    advance="press",
    comment=False,
    fold_outs=("guidelines",),
    # Trott & Bergen (2022): 12 to 46 ratings of a sentence, 54 sentences of a participant
    habit=Habit(per_item=12, per_list=54, apart=("word",)),
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_RATING, check=SCREEN.check, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

by_scoring = scoring_function(NAME, MEASURE_RATING, asks)
"""Answers with the probability of each point of the scale behind the prompt."""

TASK = Task(
    name=NAME,
    summary="How strongly is what a word means in a sentence experienced through one sense or part of the body?",
    scale=SCALE,
    item_fields=("usages", "conditions"),
    answers=(("Judges", by_judgment), ("Scores", by_scoring)),
    measures=(
        (MEASURE_RATING, "points of the item's scale, 0 to 5 where it names none; higher means experienced more"),
        *CHAT_MEASURES,
        *RATING_MEASURES,
        *SCORING_MEASURES,
    ),
    asks=asks,
    check=SCREEN.check,
    rated=RATED,
    baselines=("random", "constant"),
    wordings=(GUIDELINES,),
    scored=scale_options(asks),
)
