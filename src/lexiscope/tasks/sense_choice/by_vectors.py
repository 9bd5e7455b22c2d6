"""Sense choice by vectors and by sense: the group of words that is nearest to the target in its sentence.

- A subject that chooses among induced senses and is asked an item of its own making (the item's condition ``revision``
  is its own) answers with the sense that it finds most probable in the sentence. Dummies have probability 0.
- Asked an item of other vectors, it cannot know what their senses are: it compares its vector of the target, the sense
  chosen in the sentence, with each group. Each word of a group is read in the middle of the others of its group, which
  choose its sense. The group whose centroid has the lowest cosine distance is taken.
- An encoder does the same at every layer, each word of a group read as a text of its own.

Of equal groups the first in the alphabetical order of their words is taken, as the page's keys have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.subject import ChoosesSense, Embeds, Floats, Progress, Subject
from lexiscope.core.task import AnswerFunction
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import unknown_reason, unknown_words, with_seen_words
from lexiscope.items.arrange.views import view_item
from lexiscope.senses.word_groups import (
    CHOICE,
    Answered,
    alone,
    blank_row,
    distance_rows,
    each_beside,
    embedded,
    from_groups,
)

GroupsOf = Callable[[Item], Mapping[str, tuple[str, ...]]]
PROBABILITY = "probability"
REVISION = "revision"
"""The condition of an item that says which vectors its groups were made of."""


def choosing_by_embedding(task: str, groups_of: GroupsOf) -> AnswerFunction:
    """Return the answer function for subjects that give vectors: the nearest group, at every layer.

    Rows of each item: the choice of each layer, then the distance of each group (``cosine_distance``) at each layer.
    Errors: those of *groups_of*; :class:`SubjectError` for a usage without a vector.
    """

    def by_embedding(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the group whose words, each read alone, are nearest to the target in its sentence."""
        shown = [view_item(item, view) for item in items]
        groups = [_in_order(groups_of(item)) for item in shown]
        read = [
            {sense: tuple(alone(word, item.usages[0].language) for word in words) for sense, words in each.items()}
            for item, each in zip(shown, groups, strict=True)
        ]
        found = _nearest([item.usages[0] for item in shown], read, subject, work, progress)
        layers = subject.layers if isinstance(subject, Embeds) else ()
        rows = distance_rows(items, found, blank_row(subject, task, view), layers=layers, pick=np.argmin)
        return ResponseTable.from_rows(rows)

    return by_embedding


def choosing_by_sense(task: str, groups_of: GroupsOf) -> AnswerFunction:
    """Return the answer function for subjects that choose among the senses of a word.

    Rows of an item of its own making: the choice, then the probability of each group's sense; of another item: the
    choice, then the distance of each group. A target, or a word of a group, out of the vocabulary leaves the item
    without an answer, and its row says which word it is. Errors: :class:`CapabilityError` for a view that hides the
    word, and for items of other vectors where the subject gives no vectors; those of *groups_of*.
    """

    def by_sense(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the most probable sense, or for other vectors' senses with the nearest group."""
        shown = [with_seen_words(view_item(item, view)) for item in items]
        own = [item for item in shown if item.conditions.get(REVISION) == subject.facts.revision]
        others = [item for item in shown if item.conditions.get(REVISION) != subject.facts.revision]
        blank = blank_row(subject, task, view)
        groups = [_in_order(groups_of(item)) for item in others]
        read = [_beside_each_other(each, item.usages[0].language) for item, each in zip(others, groups, strict=True)]
        found = _nearest([item.usages[0] for item in others], read, subject, work, progress) if others else []
        rows = [
            *_by_probability(own, groups_of, subject, blank),
            *distance_rows(others, found, blank, layers=(None,), pick=np.argmin),
        ]
        place = {item.item_id: number for number, item in enumerate(items)}
        if progress is not None:
            progress(len(items), len(items))
        return ResponseTable.from_rows(sorted(rows, key=lambda row: place[row.item_id]))

    return by_sense


def _by_probability(
    items: Sequence[Item], groups_of: GroupsOf, subject: Subject, blank: Response
) -> Iterator[Response]:
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
        probable = {sense: _share(item, sense, share_of[item.item_id]) for sense in groups_of(item)}
        # a dummy is no sense of the word's, even beside senses that are all improbable
        best = max((share, -int(sense)) for sense, share in probable.items() if not is_dummy(item, sense))
        yield replace(choice, option=str(-best[1]))
        for sense, share in probable.items():
            yield replace(choice, measure=PROBABILITY, value=share, option=sense)


def _share(item: Item, sense: str, shares: Floats) -> float:
    """The probability of a sense, whose id is its place in the distribution, from 1; 0 for a dummy."""
    if is_dummy(item, sense):
        return 0.0
    if not sense.isdecimal() or not 1 <= int(sense) <= len(shares):
        what = f"{sense!r} is no sense of these vectors, though the item says that it was made of them"
        hint = f"ids of senses count from 1 to {len(shares)}; leave {REVISION} out where the groups are others"
        raise InputError(what, place=Place(item_id=item.item_id), hint=hint)
    return float(shares[int(sense) - 1])


def is_dummy(item: Item, sense: str) -> bool:
    """Say whether a group of an item fills up a word with too few senses: its condition ``dummy_<sense>`` is true."""
    return str(item.conditions.get(f"dummy_{sense}", "")).casefold() in ("true", "1")


def _nearest(
    targets: Sequence[Usage],
    groups: Sequence[Mapping[str, Sequence[Usage]]],
    subject: Subject,
    work: Path | None,
    progress: Progress | None,
) -> list[Answered]:
    """How far each target is from the groups of its item."""
    asked = [[target, *(usage for words in each.values() for usage in words)]
             for target, each in zip(targets, groups, strict=True)]  # fmt: skip
    unknown = [tuple(dict.fromkeys(unknown_words(subject, usages))) for usages in asked]
    known = [usage for usages, missing in zip(asked, unknown, strict=True) if not missing for usage in usages]
    vectors = embedded(subject, known, work=work, progress=progress)
    found = []
    for target, each, missing in zip(targets, groups, unknown, strict=True):
        distances = None
        if not missing:
            sets = [np.stack([vectors[usage.key] for usage in words]) for words in each.values()]
            distances = from_groups(vectors[target.key], sets)
        found.append(Answered(tuple(each), distances, missing))
    return found


def _in_order(groups: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {sense: groups[sense] for sense in sorted(groups, key=groups.__getitem__)}


def _beside_each_other(groups: Mapping[str, tuple[str, ...]], language: str) -> dict[str, tuple[Usage, ...]]:
    return {sense: each_beside(words, language) for sense, words in groups.items()}
