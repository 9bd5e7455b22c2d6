"""Sense disambiguation: which of the senses that a dictionary gives a word does the word have in its sentence?

People see the sentence with its target marked, hidden, or the target alone, and choose among the glosses of the word's
senses; a model chooses among the senses by their ids. *Source:* unified WSD (Raganato, Camacho-Collados and Navigli
2017); the context–word bias study, §2.1.

An item has one usage, its senses as ``options`` (sense keys, in the lexicon's order) and their glosses in the condition
``glosses``, divided by ``|``. In an item file the ids may be in a column ``senses``, divided by ``|`` too; without
one the senses are numbered from 1. ``gold`` names the right sense, or several divided by ``|``: each of them is right.

:func:`labelled_task` answers by the nearest usage of the same word whose sense is known. *Source:* nearest neighbours
among vectors of context: Melamud et al. 2016 (context2vec), Peters et al. 2018 (§5.3); single usages in the place of
their means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item, items_sha256
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.core.screen import Choice, Screen
from lexiscope.core.subject import Embeds, Progress, Subject
from lexiscope.core.task import AnswerFunction, Task
from lexiscope.core.usage import Usage, whole_text
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.answers.sense_options import GLOSSES, SENSES, correct_ids, glosses_of
from lexiscope.items.arrange.views import view_item
from lexiscope.senses.word_groups import OptionDistances, blank_row, distance_rows
from lexiscope.tasks.kit.asking import Asking, sentence_examples, shown_sentence, told_sentence
from lexiscope.tasks.kit.distances import distances_of_options
from lexiscope.tasks.kit.judging import TRAINED_MEASURES, check_usages, judgment_function
from lexiscope.tasks.kit.scoring import PMI_MEASURE, SCORED_MEASURES, ChoiceScoring

MOST = 10
"""How many usages of a sense are compared at most."""

CHOICE, DISTANCE = (
    statistic_name("choice", by="nearest_usage", most=MOST),
    statistic_name("cosine_distance", to="nearest_usage", most=MOST),
)
NONE = "no labelled usage of its senses"
"""Why an item has no answer, in ``raw``."""


@dataclass(frozen=True, slots=True)
class LabelledUsages:
    """Usages whose senses are known, by word and sense: of each sense at most :data:`MOST`, regardless of their
    order."""

    by_sense: Mapping[tuple[str, str], tuple[Item, ...]]

    @classmethod
    def of(cls, items: Sequence[Item]) -> LabelledUsages:
        """Take the usages of items with a right sense; one with several right senses is a usage of each."""
        by_sense: dict[tuple[str, str], list[Item]] = {}
        for item in items:
            for sense in sorted(correct_ids(item)):
                by_sense.setdefault((item.word.casefold(), sense), []).append(item)
        return cls({key: tuple(sorted(own, key=_draw)[:MOST]) for key, own in by_sense.items()})

    def options_of(self, item: Item, senses: Sequence[str], view: str) -> list[tuple[str, Usage]]:
        """Return the senses of an item, each with its usages in a view; the text that is asked about is excluded."""
        asked = item.usages[0].text
        return [
            (sense, view_item(labelled, view).usages[0])
            for sense in senses
            for labelled in self.by_sense.get((item.word.casefold(), sense), ())
            if labelled.usages[0].text != asked
        ]


def nearest_usage_function(
    task: str,
    labelled: LabelledUsages,
    by_gloss: AnswerFunction,
    *,
    check: Callable[[Item], Item],
    senses: Callable[[Item], Sequence[str]],
) -> AnswerFunction:
    """Return the answer function of a task whose options are senses, for subjects that embed.

    *by_gloss* answers without labelled usages: its rows come first. *senses* returns the options of an item.
    """

    def by_usage(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer by the glosses, then with the sense of the labelled usage that is nearest to the target.

        Rows of each item, behind those by the glosses: the choice of each layer, then the distance of the nearest usage
        of each sense that has one. A sense without any cannot be chosen; an item of which no sense has one has a row
        without option, and the reason in ``raw``. Errors: those of *by_gloss*.
        """
        table = by_gloss(items, subject, view=view, work=work, progress=progress)
        options = [labelled.options_of(item, senses(item), view) for item in items]
        known = [place for place, own in enumerate(options) if own]
        asked = [check(view_item(items[place], view)) for place in known]
        made = distances_of_options(
            asked, [item.usages[0] for item in asked], [options[place] for place in known], subject, work=work
        )
        answers = [OptionDistances((), None, reason=NONE) for _ in items]
        for place, answer in zip(known, made, strict=True):
            answers[place] = answer
        blank, layers = blank_row(subject, task, view), cast(Embeds, subject).layers
        names = (CHOICE, DISTANCE)
        rows = distance_rows(items, answers, blank, layers=layers, pick=np.argmin, names=names)
        return ResponseTable.concat([table, ResponseTable.from_rows(rows)])

    return by_usage


def _draw(item: Item) -> str:
    # by the text, not by the place in a file: a corpus is in the order of its genres
    usage = item.usages[0]
    return hashlib.sha256(f"{usage.start}\n{usage.text}".encode()).hexdigest()


FOLDER = Path(__file__).parent
"""The folder of the task's words: guidelines.md, words.json, screen.html, prompt.txt, examples.jsonl."""

NAME = "sense_disambiguation"
MEASURE = "choice"
DISTANCE_TO_GLOSS = "cosine_distance(gloss=mean_of_tokens)"


def options(item: Item, _view: str) -> tuple[Choice, ...]:
    """Return the senses, each with its gloss."""
    key = {sense: str(number) for number, (sense, _) in enumerate(ranked_glosses(item), start=1)}
    return tuple(Choice(key[sense], sense, (((gloss, False),),)) for sense, gloss in glosses_of(item).items())


def ranked_glosses(item: Item) -> list[tuple[str, str]]:
    """Return the senses with their glosses in the order of the glosses.

    A lexicon's first sense is its most frequent one: its order must not decide, nor tell, which sense is right.
    """
    return sorted(glosses_of(item).items(), key=lambda pair: (pair[1], pair[0]))


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


def scored_fields(item: Item, _option: str) -> Mapping[str, str]:
    """Return what a wording says of an item to a subject that scores texts: the text and the word."""
    return {"plain": item.usages[0].text, "target": item.usages[0].target}


by_scoring = ChoiceScoring(NAME, MEASURE, asks, scored_fields, _check_item, glosses_of)
"""Answers with the sense whose gloss the text makes more probable than it is without the text (``pmi``)."""


def by_embedding(
    items: Sequence[Item],
    subject: Subject,
    *,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Answer with the sense whose gloss is nearest to the target in its text, at every layer.

    The vector of a gloss is the mean over all of its tokens. Rows of each item: the choice of each layer, then the
    distance of each gloss (``cosine_distance(gloss=mean_of_tokens)``) at each layer. Of equal glosses the first in the
    alphabet is taken: a lexicon's first sense is its most frequent one.
    Errors: those of :func:`~lexiscope.tasks.kit.distances.pair_distances`.
    """
    shown = [_check_item(view_item(item, view)) for item in items]
    options = [
        [(sense, whole_text(gloss, item.usages[0].language)) for sense, gloss in ranked_glosses(item)] for item in shown
    ]
    targets = [item.usages[0] for item in shown]
    answers = distances_of_options(shown, targets, options, subject, work=work, progress=progress)
    blank, layers = blank_row(subject, NAME, view), cast(Embeds, subject).layers
    names = (MEASURE, DISTANCE_TO_GLOSS)
    return ResponseTable.from_rows(distance_rows(items, answers, blank, layers=layers, pick=np.argmin, names=names))


def labelled_task(items: Sequence[Item]) -> Task:
    """Return the task with labelled usages given: subjects that embed answer with the nearest one, too.

    *items* are items of this task whose right sense is known (:mod:`~lexiscope.tasks.sense_disambiguation`).
    Errors: :class:`InputError` where no item has a right sense.
    """
    labelled = LabelledUsages.of([_check_item(item) for item in items])
    if not labelled.by_sense:
        raise InputError("none of the labelled items has a right sense", hint="give items with a column gold")
    by_usage = nearest_usage_function(
        NAME,
        labelled,
        by_embedding,
        check=_check_item,
        senses=lambda item: [sense for sense, _ in ranked_glosses(item)],
    )
    answers = tuple((name, by_usage if name == "Embeds" else function) for name, function in TASK.answers)
    return replace(TASK, answers=answers, given=items_sha256(items))


TASK = Task(
    name=NAME,
    summary="Which of its senses does a word have in its sentence?",
    scale=None,
    item_fields=("usages", "options", "gold"),
    answers=(("Judges", by_judgment), ("Embeds", by_embedding), ("Scores", by_scoring)),
    measures=(
        (MEASURE, "the id of the sense that was chosen, in the column option; no unit, no direction"),
        *TRAINED_MEASURES,
        PMI_MEASURE,
        *SCORED_MEASURES,
        *CHAT_MEASURES,
    ),
    asks=asks,
    check=_check_item,
    chosen=(MEASURE,),
    options=SCREEN.values_of,
    baselines=("random", "first_sense", "most_frequent_sense"),
    learnt="gloss",
    wordings=by_scoring.wordings,
    scored=by_scoring.options,
    labelled=labelled_task,
)
