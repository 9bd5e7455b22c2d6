"""Plausibility of a meaning in a story: how plausible is it that the word has this meaning?

People read a short story with an ambiguous sentence and one meaning of a word in it, and rate that meaning from 1 (not
plausible at all) to 5 (the only plausible one). The other meaning is never shown (AmbiStory §3.4, A.2.3).
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lexiscope.build.stories.instruments import (
    prediction_prompt,
    published_anchors,
    published_guidelines,
    published_page,
    published_qualification,
    training_prompt,
)
from lexiscope.build.stories.stories import story_text
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Habit, PaperWords, Screen, Shown, emphasised_line
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED
from lexiscope.core.subject import Embeds, Progress, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import whole_text
from lexiscope.items.answers.chat_answers import CHAT_MEASURES, RATING_MEASURES
from lexiscope.items.answers.scale_scoring import RATED, SCORING_MEASURES, scale_options, scoring_function
from lexiscope.items.sheets.form import Sheet, SheetColumn, sheet_of
from lexiscope.tasks.kit.asking import Asking, Variant, sentence_examples
from lexiscope.tasks.kit.distances import MEASURE_DISTANCE, distance_table, pair_distances
from lexiscope.tasks.kit.judging import judgment_function
from lexiscope.tasks.kit.published_sheets import (
    COMMENT,
    PARTICIPANT_ID,
    Judgments,
    Row,
    first_condition,
    judgment_cells,
)

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "plausibility"
MEASURE_RATING = "rating"
REQUIRED = ("precontext", "ending", "sense")
PARTS = (*REQUIRED, "example")
"""What an item has in addition to its ambiguous sentence, as conditions. An open story has the empty ending; only
``example``, a use of the meaning, may be missing."""

ANCHORS: dict[str, tuple[tuple[float, str], ...]] = {
    "en": (
        (1.0, "this meaning is not possible here"),
        (2.0, "possible, but other meanings fit the story better"),
        (3.0, "one of several meanings that fit about equally well"),
        (4.0, "this meaning fits best, but another one is still possible"),
        (5.0, "no other meaning is possible here"),
    ),
    "es": (
        (1.0, "nada plausible en este contexto"),
        (2.0, "concebible en teoría, pero menos plausible que otros significados"),
        (3.0, "una de varias interpretaciones igual de plausibles"),
        (4.0, "la interpretación más plausible; otros significados aún son concebibles"),
        (5.0, "el único significado plausible en este contexto"),
    ),
}
"""The words at the points of the scale, by language. They are ours; AmbiStory's (A.2.3) are read from the data folder
(``--wording published``)."""

SCALE = Scale(1, 5, anchors=ANCHORS["en"])


def story(item: Item) -> str:
    """Return the story as one text: precontext, ambiguous sentence and, if there is one, the ending.

    >>> from lexiscope.core.usage import Usage
    >>> shuts = Usage("The bank shuts.", 4, 8)
    >>> story(Item("i", "d", (shuts,), conditions={"precontext": "It is six. ", "ending": ""}))
    'It is six. The bank shuts.'
    """
    return story_text(item, item.usages[0].text)


def stimulus(item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return what the page shows: the parts of the story, the target marked in its sentence, and one meaning."""
    usage = item.usages[0]
    return {
        "precontext": _condition_text(item, "precontext").strip(),
        "sentence": emphasised_line(usage.text, usage.start, usage.end),
        "ending": _condition_text(item, "ending"),
        "target": usage.target,
        "sense": _condition_text(item, "sense"),
        "example": str(item.conditions.get("example", "")),
    }


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the rating that is right."""
    return sentence_examples(SCREEN, language, task=NAME, gold="rating", conditions=PARTS)


def _condition_text(item: Item, name: str) -> str:
    return str(item.condition(name))


def fields(item: Item, _language: str) -> Mapping[str, str]:
    """Return what a prompt says of an item: the story, its ambiguous sentence between ``**`` or plain, one meaning."""
    told = {"sense": _condition_text(item, "sense"), "example": str(item.conditions.get("example", ""))}
    marked = story_text(item, f"**{item.usages[0].text}**")
    return {"story": marked, "plain_story": story(item), "target": item.usages[0].target, **told}


# -- the published sheets ----------------------------------------------------------------------------------------------
# Plausibility ratings as AmbiStory released them: samples with the choices of all annotators, aligned by slot. Place
# *i* of ``choices`` is the same participant in every sample of a list, so that annotators stay analysable.


_JUDGMENTS = (
    SheetColumn("sample_id", "the sample: one meaning judged in one story", "id"),
    SheetColumn("group", "the group (list) of the participant", "category"),
    SheetColumn("slot", "the participant's place in the group; empty for a surplus one", "integer", low=1),
    PARTICIPANT_ID,
    SheetColumn("choice", "plausibility of the meaning; higher means more plausible", "text", "points", answer=True),
    SheetColumn("nonsensical", "the participant marked the text as nonsensical", "truth"),
    COMMENT,
)


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return a row per rating that counts."""
    rows = (
        judgment_cells(row) | {"sample_id": sample_id(judgments.items[row["item_id"]])} for row in judgments.valid_rows
    )
    return (sheet_of("ambistory_judgments.csv", "one rating of one sample by one participant", _JUDGMENTS, rows),)


def release_text(judgments: Judgments) -> str:
    """Return the samples as the published JSON has them: keyed by row number, four spaces, ASCII."""
    given: dict[str, list[Row]] = {}
    for row in judgments.valid_rows:
        if row["response"] is not None:
            given.setdefault(row["item_id"], []).append(row)
    items = sorted(judgments.asked, key=_sample_order)
    mark = {KIND_COLUMN: SIMULATED} if judgments.simulated else {}
    samples = {
        str(number): sample_fields(item, given.get(item.item_id, [])) | mark for number, item in enumerate(items)
    }
    return json.dumps(samples, indent=4) + "\n"


def sample_fields(item: Item, rows: list[Row]) -> dict[str, Any]:
    """Return one sample: what was shown and what was chosen. Average and SD (n − 1) are ``null`` where undefined."""
    values = [float(row["response"]) for row in rows]
    choices = [int(value) if value.is_integer() else value for value in values]
    shown, first = item.conditions, item.usages[0]
    return {
        "homonym": first_condition(shown, "homonym") or first.target,
        "judged_meaning": first_condition(shown, "judged_meaning", "sense", "meaning"),
        "precontext": first_condition(shown, "precontext") or "",
        "sentence": first_condition(shown, "sentence") or first.text,
        "ending": first_condition(shown, "ending") or "",
        "choices": choices,
        "average": float(statistics.fmean(choices)) if choices else None,
        "stdev": float(statistics.stdev(choices)) if len(choices) > 1 else None,
        "nonsensical": [bool(row["flag_nonsensical"]) for row in rows],
        "sample_id": sample_id(item),
        "example_sentence": first_condition(shown, "example_sentence", "example") or "",
    }


def sample_id(item: Item) -> str:
    """Return the id of a sample: the condition of this name, or the item's id."""
    return str(first_condition(item.conditions, "sample_id") or item.item_id)


def _sample_order(item: Item) -> tuple[object, ...]:
    name = sample_id(item)
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


# -- the page and the task -------------------------------------------------------------------------------------------


SCREEN = Screen(
    folder=FOLDER,
    widget="scale",
    measure=MEASURE_RATING,
    stimulus=stimulus,
    scale=SCALE,
    anchors=ANCHORS,
    requires=REQUIRED,
    flags=("nonsensical",),
    fold_outs=("guidelines",),
    # AmbiStory §3 and its setups
    habit=Habit(per_item=5, per_list=30, back=True, apart=("setup", "homonym")),
    published=published_sheets,
    release=("release.json", release_text),
    paper_words=lambda: PaperWords(
        published_guidelines("a23_guidelines_plausibility"),
        tuple(story.rated_question() for story in published_qualification()),
        # Figure 4
        published_page({"asked": "Given the context", "flag_nonsensical": "Check this box"}),
        published_anchors(),
    ),
)

VARIANTS = {
    "published": Variant(names_points=True, written=prediction_prompt),
    "published_training": Variant(takes_shots=False, names_points=True, written=lambda _shots: training_prompt()),
}
"""``published``: the prompt of AmbiStory, B.3, zero-shot or with up to four of its worked examples (``shots=4``).
``published_training``: the story and the string of §5.3.1, with which its models were trained. Both are read from the
data folder (:mod:`lexiscope.build.stories.instruments`)."""

asks = Asking(SCREEN, fields, example_items, VARIANTS)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE_RATING, check=SCREEN.check, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

by_scoring = scoring_function(NAME, MEASURE_RATING, asks)
"""Answers with the probability of each point of the scale behind the prompt."""


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the cosine distance of the story's vector and the meaning's, at every layer.

    The vector of a text is the mean over all of its tokens. It is a baseline: no text marks the word, and distances are
    not ratings. Rows are in the order of the items, then of the layers; each distinct text is embedded once. Only the
    view ``full`` has a story.
    *Higher means:* the meaning is further from the story. Errors: :class:`InputError` for another view;
    :class:`SubjectError` for a text that has no vector.
    """
    if view != "full":
        raise InputError(f"the distance of story and meaning has no view {view!r}", hint="use the view full")
    for item in items:
        SCREEN.check(item)
    pairs = [(whole_text(story(item)), whole_text(_condition_text(item, "sense"))) for item in items]
    distances = pair_distances(items, pairs, subject, work=work, progress=progress)
    return distance_table(subject, NAME, view, items, cast(Embeds, subject).layers, distances)


TASK = Task(
    name=NAME,
    summary="How plausible is one meaning of a word in a short story?",
    scale=SCALE,
    item_fields=("usages", "conditions"),
    answers=(("Judges", by_judgment), ("Scores", by_scoring), ("Embeds", by_embedding)),
    measures=(
        (MEASURE_RATING, "points of the item's scale, 1 to 5 where it names none; higher means more plausible"),
        *CHAT_MEASURES,
        *RATING_MEASURES,
        *SCORING_MEASURES,
        (MEASURE_DISTANCE, "1 − cosine of story and meaning, from 0 to 2; higher means less plausible"),
        ("flag_nonsensical", "1 where a person marked the text as nonsensical, else 0"),
    ),
    asks=asks,
    check=SCREEN.check,
    rated=RATED,
    # a story is one text: there are no two whose words could overlap
    baselines=("random", "constant"),
    wordings=(GUIDELINES, *VARIANTS),
    scored=scale_options(asks),
)
