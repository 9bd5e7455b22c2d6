"""Word intrusion: which of ten words does not belong with the others?

Nine are nearest neighbours of one induced sense of a word, one is an intruder. If people find it, the sense hangs
together. The page does not show the word whose sense it is. *Source:* GASI §4.1.

An item has one usage, which is the word itself (``Usage(word, 0, len(word))``; an item file has a column ``word`` and
none of sentences), and its ten words as ``options`` or as the condition ``options``, divided
by ``|``. The intruder is ``gold``, or the condition ``intruder``. The conditions ``sense`` and ``intruder_id`` say
which instance it is. :func:`lexiscope.build.sense_tests.intrusion.make_intrusion_items` makes such items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.screen import Choice, Habit, Screen, Shown
from lexiscope.core.subject import Embeds, Progress, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.known_words import unknown_words
from lexiscope.items.sheets.form import Sheet, SheetColumn
from lexiscope.senses.word_groups import (
    DISTANCE_MEASURE,
    OptionDistances,
    blank_row,
    distance_rows,
    distances_from_centroid,
    unit_vectors,
    usages_among_others,
    word_usage,
)
from lexiscope.tasks.kit.asking import Asking
from lexiscope.tasks.kit.judging import check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import SHOWN_ORDER, Cells, Judgments, Row, first_condition, numbered_sheet
from lexiscope.tasks.kit.scoring import PMI_MEASURE, SCORED_MEASURES, ChoiceScoring

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "word_intrusion"
MEASURE = "choice"
COLUMN_WORDS = "options"
COLUMN_INTRUDER = "intruder"
# with two words it is undefined which one is the intruder
_FEWEST = 3


def words_of(item: Item) -> tuple[str, ...]:
    """Return the words of an item, in the order of its file.

    Errors: :class:`InputError` E617 naming an item with fewer than three words, an empty one, or one that comes twice.
    """
    given = item.options or tuple(str(item.conditions.get(COLUMN_WORDS, "")).split("|"))
    words = tuple(word.strip() for word in given)
    if len(words) < _FEWEST or not all(words) or len({word.casefold() for word in words}) < len(words):
        raise InputError(
            f"an item of this task needs its words (ten), all different, not {' | '.join(words)!r}",
            code="E617",
            place=Place(item_id=item.item_id),
            hint=f"give them in the column {COLUMN_WORDS}, divided by |",
        )
    return words


def intruder(item: Item) -> str | None:
    """Return the intruder of an item, or ``None`` where the item does not say.

    Errors: :class:`InputError` naming an item whose intruder is not one of its words.
    """
    word = item.gold or str(item.conditions.get(COLUMN_INTRUDER, "")).strip() or None
    if word is not None and word not in words_of(item):
        what = f"the intruder {word!r} is not one of the words"
        raise InputError(what, place=Place(item_id=item.item_id), hint=f"correct {COLUMN_INTRUDER} or {COLUMN_WORDS}")
    return word


def stimulus(_item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return nothing: the words are the options, and the word whose sense they come from is not shown."""
    return {}


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the words of an item."""
    words = words_of(item)
    # keys follow the alphabet: a file that always puts the intruder last must not tell it in the page's source
    key = {word: str(number) for number, word in enumerate(sorted(words), start=1)}
    return tuple(Choice(key[word], word, (((word, False),),)) for word in words)


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the intruder."""
    items = []
    for number, row in enumerate(SCREEN.examples(language), start=1):
        usage = Usage(row["word"], 0, len(row["word"]), language=language)
        conditions = {COLUMN_WORDS: row[COLUMN_WORDS], "sense": row["sense"], "intruder_id": row["intruder_id"]}
        items.append(Item(f"example_{number}", NAME, (usage,), gold=row[COLUMN_INTRUDER], conditions=conditions))
    return tuple(items)


def fields(_item: Item, _language: str) -> Mapping[str, str]:
    """Return nothing: the words are the options."""
    return {}


def _check_item(item: Item) -> Item:
    words_of(check_usages(item, 1, task=NAME))
    return item


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return who found which intruder."""
    columns = (
        SheetColumn("model", "the model whose senses are judged", "category"),
        SheetColumn("word", "the word", "id"),
        SheetColumn("sense", "the sense whose neighbours are shown", "category"),
        SheetColumn("intruder_id", "which of the sense's intruders", "category"),
        SHOWN_ORDER,
        SheetColumn("choice", "the word that was chosen as not belonging", "text", answer=True),
        SheetColumn("correct", "the choice is the intruder", "truth"),
    )

    def cells(row: Row, item: Item) -> Cells:
        known = {name: first_condition(item.conditions, name) for name in ("model", "sense", "intruder_id")}
        right = item.gold or first_condition(item.conditions, COLUMN_INTRUDER)
        correct = None if right is None or row["response"] is None else row["response"] == right
        return {**known, "word": item.word, "correct": correct}

    return (numbered_sheet(judgments, "intrusion_judgments.csv", columns, cells),)


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE,
    stimulus=stimulus,
    options=options,
    # not shown, but what accuracy is counted by; named here so that a file's column is kept under this name
    requires=("sense",),
    shows=(COLUMN_WORDS,),
    word_alone=True,
    shuffles_options=True,
    advance="press",
    comment=False,
    # two pages of one word share neighbours: who has seen one knows which words of the other belong together
    habit=Habit(apart=("word",)),
    published=published_sheets,
)

asks = Asking(SCREEN, fields, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""

# -- word intrusion by vectors and by scores --------------------------------------------------------------------------
# An encoder reads each word as a text of its own and answers at every layer. A subject with several vectors for a word
# reads each word in the middle of the others, in alphabetical order, which choose its sense as the words of a sentence
# would: with ten words and a window of five all nine others do. Either way the vectors are scaled to length 1, their
# mean is the centroid, and the word with the highest cosine distance from it is taken to be the intruder; of equal ones
# the first in alphabetical order. A subject that scores texts reads each word behind the others, in alphabetical order:
# the one that gains least by them is the intruder. The word whose sense is tested is not used: people do not see it
# either.


def scored_fields(item: Item, option: str) -> Mapping[str, str]:
    """Return what a wording says of a word of an item to a subject that scores texts: the other words, in order."""
    return {"others": ", ".join(word for word in sorted(words_of(item)) if word != option)}


def word_texts(item: Item) -> dict[str, str]:
    """Return each word as it follows the others."""
    return {word: word for word in words_of(item)}


by_scoring = ChoiceScoring(NAME, MEASURE, asks, scored_fields, _check_item, word_texts, lowest=True)
"""Answers with the word that the other words make the least probable, compared with the word without them (``pmi``)."""


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the word whose vector, read alone, is farthest from the centroid of all, at every layer.

    Rows of each item: the choice of each layer, then the distance of each word from the centroid (``cosine_distance``)
    at each layer. Errors: those of :func:`words_of`; :class:`SubjectError` for a word without a vector.
    """
    shown = [tuple(word_usage(word, item.usages[0].language) for word in sorted(words_of(item))) for item in items]
    layers = subject.layers if isinstance(subject, Embeds) else ()
    return _farthest_words(items, shown, subject, view, layers, work, progress)


def by_sense(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the word whose vector, its sense chosen by the others, is farthest from the centroid.

    A word out of the vocabulary leaves the whole item without an answer, and its row says which word it is. Rows and
    errors as of :func:`by_embedding`, without layers; :class:`CapabilityError` for a subject without vectors.
    """
    shown = [usages_among_others(sorted(words_of(item)), item.usages[0].language) for item in items]
    return _farthest_words(items, shown, subject, view, (None,), work, progress)


def _farthest_words(
    items: Sequence[Item],
    shown: Sequence[Sequence[Usage]],
    subject: Subject,
    view: str,
    layers: Sequence[int | None],
    work: Path | None,
    progress: Progress | None,
) -> ResponseTable:
    unknown = [unknown_words(subject, usages) for usages in shown]
    asked = [usage for usages, missing in zip(shown, unknown, strict=True) if not missing for usage in usages]
    vectors = unit_vectors(subject, asked, work=work, progress=progress)
    answers = []
    for usages, missing in zip(shown, unknown, strict=True):
        distances = None if missing else distances_from_centroid(np.stack([vectors[usage.key] for usage in usages]))
        answers.append(OptionDistances(tuple(usage.target for usage in usages), distances, missing))
    rows = distance_rows(items, answers, blank_row(subject, NAME, view), layers=layers, pick=np.argmax)
    return ResponseTable.from_rows(rows)


# -- the task ---------------------------------------------------------------------------------------------------------

TASK = Task(
    name=NAME,
    summary="Which of ten words does not belong with the others?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(
        ("Judges", by_judgment),
        ("ChoosesSense", by_sense),
        ("Embeds", by_embedding),
        ("Scores", by_scoring),
    ),
    measures=(
        (MEASURE, "the word that was chosen, in the column option; no unit, no direction"),
        DISTANCE_MEASURE,
        PMI_MEASURE,
        *SCORED_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE,),
    options=SCREEN.values_of,
    wordings=by_scoring.wordings,
    scored=by_scoring.options,
)
