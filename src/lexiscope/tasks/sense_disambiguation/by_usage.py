"""Sense disambiguation by labelled usages: the sense of the nearest usage of the same word whose sense is known.

*Source:* nearest neighbours among vectors of context: Melamud et al. 2016 (context2vec), Peters et al. 2018 (§5.3);
single usages in the place of their means.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.core.subject import Embeds, Progress, Subject
from lexiscope.core.task import AnswerFunction
from lexiscope.core.usage import Usage
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.items.arrange.views import view_item
from lexiscope.senses.word_groups import OptionDistances, blank_row, distance_rows
from lexiscope.tasks.kit.distances import distances_of_options

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
