"""Sense choice: which group of words fits the meaning of a word in its sentence?

People see a sentence with its target marked and K groups of words, the nearest neighbours of each induced sense, and
choose one group: forced choice. *Source:* GASI §4.2 (K = 3, ten words in a group).

An item has one usage and a condition ``group_<sense>`` for each sense: the group's words divided by ``|``, in an item
file a column each (``group_1``, ``group_2``, ``group_3``). What follows ``group_`` is the sense's id: it is what the
answer stores, and never on the page. ``options`` names the senses where not all columns are meant. The conditions
``model_choice`` (an id), ``p_<sense>`` (the model's probabilities) and ``dummy_<sense>`` (true for a group that fills
up a word with too few senses) are for the analysis and are never shown; ``gold`` is the right sense where one is known.
``revision`` says which vectors the groups were made of, ``model`` what they are called:
:func:`lexiscope.build.sense_tests.selection_of_senses.build_selection` makes such items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.screen import Choice, Habit, Screen, Shown, emphasised_line
from lexiscope.core.subject import ChoosesSense, Embeds, Floats, Progress, Subject
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.known_words import unknown_reason, unknown_words, with_seen_words
from lexiscope.items.arrange.views import view_item
from lexiscope.items.sheets.form import Sheet, SheetColumn
from lexiscope.senses.word_groups import (
    CHOICE,
    DISTANCE_MEASURE,
    OptionDistances,
    blank_row,
    distance_rows,
    distances_from_groups,
    unit_vectors,
    usages_among_others,
    word_usage,
)
from lexiscope.tasks.kit.asking import Asking, sentence_examples, told_sentence
from lexiscope.tasks.kit.judging import check_usages, judgment_function
from lexiscope.tasks.kit.published_sheets import SHOWN_ORDER, Cells, Judgments, Row, first_condition, numbered_sheet
from lexiscope.tasks.kit.scoring import PMI_MEASURE, SCORED_MEASURES, ChoiceScoring

FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_choice"
MEASURE = "choice"
GROUP = "group_"
PROBABILITY = "probability"
REVISION = "revision"
"""The condition of an item that says which vectors its groups were made of."""

_FEWEST = 2


def groups_of(item: Item) -> dict[str, tuple[str, ...]]:
    """Return the groups of an item: sense id → words, in the order of its options or columns.

    An empty cell is not a group, so that words with fewer senses fit into the same file.
    Errors: :class:`InputError` E617 naming an item with fewer than two groups, one that ``options`` names but the item
    does not have, an empty word or one that comes twice in a group, or two groups of the same words.
    """
    named = tuple(GROUP + sense for sense in item.options)
    filled = (name for name, value in item.conditions.items() if name.startswith(GROUP) and str(value).strip())
    names = named or tuple(filled)
    if len(names) < _FEWEST:
        raise _group_error(item, f"an item of this task needs two groups of words at least, not {len(names)}")
    groups = {name.removeprefix(GROUP): _words(item, name) for name in names}
    if len({frozenset(words) for words in groups.values()}) < len(names):
        raise _group_error(item, "two groups have the same words, so participants cannot distinguish them")
    return groups


def stimulus(item: Item, _shown: Shown) -> Mapping[str, object]:
    """Return what the page shows above the groups: the sentence with its target marked."""
    usage = item.usages[0]
    return {"sentence": emphasised_line(usage.text, usage.start, usage.end)}


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the groups, each as a line of words."""
    groups = groups_of(item)
    # keys follow the words, not the senses: a model's first sense is often its most frequent one
    key = {sense: str(number) for number, sense in enumerate(sorted(groups, key=groups.__getitem__), start=1)}
    return tuple(Choice(key[sense], sense, (((", ".join(words), False),),)) for sense, words in groups.items())


def example_items(language: str) -> tuple[Item, ...]:
    """Return the worked examples in a language as items; ``gold`` is the sense whose group is right."""
    return sentence_examples(
        SCREEN, language, task=NAME, gold="sense", conditions=(f"{GROUP}1", f"{GROUP}2", f"{GROUP}3")
    )


def _words(item: Item, name: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in str(item.conditions.get(name, "")).split("|"))
    if not all(words) or len({word.casefold() for word in words}) < len(words):
        raise _group_error(item, f"{name} needs words, all different, not {' | '.join(words)!r}")
    return words


def _group_error(item: Item, what: str) -> InputError:
    hint = f"give each group in a column {GROUP}<sense>, its words divided by |"
    return InputError(what, code="E617", place=Place(item_id=item.item_id), hint=hint)


def _check_item(item: Item) -> Item:
    groups_of(check_usages(item, 1, task=NAME))
    return item


def published_sheets(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return which sense group people chose, with what the model chose."""
    columns = (
        SheetColumn("model", "the model whose senses are shown", "category"),
        SheetColumn("word", "the word", "id"),
        SheetColumn("sentence_id", "the sentence", "id"),
        SHOWN_ORDER,
        SheetColumn("choice", "the sense that was chosen", "text", answer=True),
        SheetColumn("model_choice", "the sense that the model chose", "text", answer=True),
        SheetColumn("model_probs", "the model's probability of each sense: sense=probability, joined by ' | '", "text"),
    )

    def cells(_row: Row, item: Item) -> Cells:
        names = ("model", "sentence_id", "model_choice")
        known = {name: first_condition(item.conditions, name) for name in names}
        shares = [f"{name[2:]}={value}" for name, value in item.conditions.items() if name.startswith("p_")]
        return {**known, "word": item.word, "model_probs": " | ".join(shares) or None}

    return (numbered_sheet(judgments, "sense_judgments.csv", columns, cells),)


SCREEN = Screen(
    folder=FOLDER,
    widget="choice",
    measure=MEASURE,
    stimulus=stimulus,
    options=options,
    shows=(f"{GROUP}*",),
    shuffles_options=True,
    comment=False,
    # two pages of one word share their groups
    habit=Habit(apart=("word",)),
    published=published_sheets,
)

asks = Asking(SCREEN, told_sentence, example_items)
"""Makes a chat question of an item."""

by_judgment = judgment_function(NAME, MEASURE, check=_check_item, asks=asks)
"""Answers with the judgments that a subject gives or has recorded."""


# -- sense choice by vectors, by sense and by scores ------------------------------------------------------------------
# - A subject that chooses among induced senses and is asked an item of its own making (the item's condition
#   ``revision`` is its own) answers with the sense that it finds most probable in the sentence. Dummies have
#   probability 0.
# - Asked an item of other vectors, it cannot know what their senses are: it compares its vector of the target, the
#   sense chosen in the sentence, with each group. Each word of a group is read in the middle of the others of its
#   group, which choose its sense. The group whose centroid has the lowest cosine distance is taken.
# - An encoder does the same at every layer, each word of a group read as a text of its own.
#
# - A subject that scores texts takes the group whose words, in the order of the item, gain most by the sentence.
#
# Of equal groups the first in the alphabetical order of their words is taken, as the page's keys have it.


def scored_fields(item: Item, _option: str) -> Mapping[str, str]:
    """Return what a wording says of an item to a subject that scores texts: the sentence and the word."""
    return {"plain": item.usages[0].text, "target": item.usages[0].target}


def group_texts(item: Item) -> dict[str, str]:
    """Return the words of each group, divided by commas, as they follow a wording."""
    return {sense: ", ".join(words) for sense, words in groups_of(item).items()}


by_scoring = ChoiceScoring(NAME, MEASURE, asks, scored_fields, _check_item, group_texts)
"""Answers with the group whose words the sentence makes more probable than they are without it (``pmi``)."""


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the group whose words, each read alone, are nearest to the target in its sentence, at every layer.

    Rows of each item: the choice of each layer, then the distance of each group (``cosine_distance``) at each layer.
    Errors: those of :func:`groups_of`; :class:`SubjectError` for a usage without a vector.
    """
    shown = [view_item(item, view) for item in items]
    groups = [_groups_by_words(groups_of(item)) for item in shown]
    read = [
        {sense: tuple(word_usage(word, item.usages[0].language) for word in words) for sense, words in own.items()}
        for item, own in zip(shown, groups, strict=True)
    ]
    answers = _distances_from_groups([item.usages[0] for item in shown], read, subject, work, progress)
    layers = subject.layers if isinstance(subject, Embeds) else ()
    rows = distance_rows(items, answers, blank_row(subject, NAME, view), layers=layers, pick=np.argmin)
    return ResponseTable.from_rows(rows)


def by_sense(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the most probable sense, or for other vectors' senses with the nearest group.

    Rows of an item of the subject's own making: the choice, then the probability of each group's sense; of another
    item: the choice, then the distance of each group. A target, or a word of a group, out of the vocabulary leaves the
    item without an answer, and its row says which word it is. Errors: :class:`CapabilityError` for a view that hides
    the word, and for items of other vectors where the subject gives no vectors; those of :func:`groups_of`.
    """
    shown = [with_seen_words(view_item(item, view)) for item in items]
    own = [item for item in shown if item.conditions.get(REVISION) == subject.facts.revision]
    others = [item for item in shown if item.conditions.get(REVISION) != subject.facts.revision]
    blank = blank_row(subject, NAME, view)
    groups = [_groups_by_words(groups_of(item)) for item in others]
    read = [
        {sense: usages_among_others(words, item.usages[0].language) for sense, words in group.items()}
        for item, group in zip(others, groups, strict=True)
    ]
    answers = (
        _distances_from_groups([item.usages[0] for item in others], read, subject, work, progress) if others else []
    )
    rows = [
        *_probability_rows(own, subject, blank),
        *distance_rows(others, answers, blank, layers=(None,), pick=np.argmin),
    ]
    place = {item.item_id: number for number, item in enumerate(items)}
    if progress is not None:
        progress(len(items), len(items))
    return ResponseTable.from_rows(sorted(rows, key=lambda row: place[row.item_id]))


def _probability_rows(items: Sequence[Item], subject: Subject, blank: Response) -> Iterator[Response]:
    """The rows of items of the subject's own making."""
    unknown = [unknown_words(subject, item.usages) for item in items]
    known = [item for item, missing in zip(items, unknown, strict=True) if not missing]
    shares = cast(ChoosesSense, subject).sense_distribution([item.usages[0] for item in known]) if known else ()
    share_of = {item.item_id: row for item, row in zip(known, shares, strict=True)}
    for item, missing in zip(items, unknown, strict=True):
        choice = replace(blank, item_id=item.item_id, measure=CHOICE)
        if missing:
            yield replace(choice, raw=unknown_reason(missing))
            continue
        probable = {sense: _sense_probability(item, sense, share_of[item.item_id]) for sense in groups_of(item)}
        # a dummy is no sense of the word's, even next to senses that are all improbable
        best = max((share, -int(sense)) for sense, share in probable.items() if not is_dummy(item, sense))
        yield replace(choice, option=str(-best[1]))
        for sense, share in probable.items():
            yield replace(choice, measure=PROBABILITY, value=share, option=sense)


def _sense_probability(item: Item, sense: str, shares: Floats) -> float:
    """The probability of a sense, whose id is its place in the distribution, from 1; 0 for a dummy."""
    if is_dummy(item, sense):
        return 0.0
    if not sense.isdecimal() or not 1 <= int(sense) <= len(shares):
        what = f"{sense!r} is not a sense of these vectors, although the item says that it was made of them"
        hint = f"ids of senses count from 1 to {len(shares)}; leave {REVISION} out where the groups are others"
        raise InputError(what, place=Place(item_id=item.item_id), hint=hint)
    return float(shares[int(sense) - 1])


def is_dummy(item: Item, sense: str) -> bool:
    """Return whether a group of an item fills up a word with too few senses: ``dummy_<sense>`` is true."""
    return str(item.conditions.get(f"dummy_{sense}", "")).casefold() in ("true", "1")


def _distances_from_groups(
    targets: Sequence[Usage],
    groups: Sequence[Mapping[str, Sequence[Usage]]],
    subject: Subject,
    work: Path | None,
    progress: Progress | None,
) -> list[OptionDistances]:
    """The distance of each target from the groups of its item."""
    asked = [[target, *(usage for words in own.values() for usage in words)]
             for target, own in zip(targets, groups, strict=True)]  # fmt: skip
    unknown = [tuple(dict.fromkeys(unknown_words(subject, usages))) for usages in asked]
    known = [usage for usages, missing in zip(asked, unknown, strict=True) if not missing for usage in usages]
    vectors = unit_vectors(subject, known, work=work, progress=progress)
    answers = []
    for target, own, missing in zip(targets, groups, unknown, strict=True):
        distances = None
        if not missing:
            sets = [np.stack([vectors[usage.key] for usage in words]) for words in own.values()]
            distances = distances_from_groups(vectors[target.key], sets)
        answers.append(OptionDistances(tuple(own), distances, missing))
    return answers


def _groups_by_words(groups: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {sense: groups[sense] for sense in sorted(groups, key=groups.__getitem__)}


# -- the task ---------------------------------------------------------------------------------------------------------

TASK = Task(
    name=NAME,
    summary="Which group of words fits the meaning of a word in its sentence?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(
        ("Judges", by_judgment),
        ("ChoosesSense", by_sense),
        ("Embeds", by_embedding),
        ("Scores", by_scoring),
    ),
    measures=(
        (MEASURE, "the id of the sense whose group was chosen, in the column option; no unit, no direction"),
        (PROBABILITY, "how probable a model takes the sense in option to be, 0 to 1; higher means more"),
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
