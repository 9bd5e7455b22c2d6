"""Word intrusion by vectors: the word that is farthest from what the words of the page share.

An encoder reads each word as a text of its own and answers at every layer. A subject with several vectors for a word
reads each word in the middle of the others, in alphabetical order, which choose its sense as the words of a sentence
would: with ten words and a window of five all nine others do. Either way the vectors are scaled to length 1, their mean
is the centroid, and the word with the highest cosine distance from it is taken to be the intruder; of equal ones the
first in alphabetical order. The word whose sense is tested is not used: people do not see it either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Embeds, Progress, Subject
from lexiscope.core.task import AnswerFunction
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import unknown_words
from lexiscope.senses.word_groups import (
    Answered,
    alone,
    blank_row,
    distance_rows,
    each_beside,
    embedded,
    from_centroid,
)

WordsOf = Callable[[Item], tuple[str, ...]]


def finding_by_embedding(task: str, words_of: WordsOf) -> AnswerFunction:
    """Return the answer function for subjects that give vectors: each word by itself, at every layer.

    Rows of each item: the choice of each layer, then the distance of each word from the centroid (``cosine_distance``)
    at each layer. Errors: those of *words_of*; :class:`SubjectError` for a word without a vector.
    """

    def by_embedding(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the word whose vector, read alone, is farthest from the centroid of all."""
        shown = [tuple(alone(word, _language(item)) for word in sorted(words_of(item))) for item in items]
        found = _answers(shown, subject, work, progress)
        layers = subject.layers if isinstance(subject, Embeds) else ()
        rows = distance_rows(items, found, blank_row(subject, task, view), layers=layers, pick=np.argmax)
        return ResponseTable.from_rows(rows)

    return by_embedding


def finding_by_sense(task: str, words_of: WordsOf) -> AnswerFunction:
    """Return the answer function for subjects that choose among the senses of a word.

    A word out of the vocabulary leaves the whole item without an answer, and its row says which word it is. Rows and
    errors as of :func:`finding_by_embedding`, without layers; :class:`CapabilityError` for a subject without vectors.
    """

    def by_sense(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the word whose vector, its sense chosen beside the others, is farthest from the centroid."""
        shown = [each_beside(sorted(words_of(item)), _language(item)) for item in items]
        found = _answers(shown, subject, work, progress)
        rows = distance_rows(items, found, blank_row(subject, task, view), layers=(None,), pick=np.argmax)
        return ResponseTable.from_rows(rows)

    return by_sense


def _answers(
    shown: Sequence[Sequence[Usage]], subject: Subject, work: Path | None, progress: Progress | None
) -> list[Answered]:
    unknown = [unknown_words(subject, usages) for usages in shown]
    asked = [usage for usages, missing in zip(shown, unknown, strict=True) if not missing for usage in usages]
    vectors = embedded(subject, asked, work=work, progress=progress)
    found = []
    for usages, missing in zip(shown, unknown, strict=True):
        words = tuple(usage.target for usage in usages)
        distances = None if missing else from_centroid(np.stack([vectors[usage.key] for usage in usages]))
        found.append(Answered(words, distances, missing))
    return found


def _language(item: Item) -> str:
    return item.usages[0].language
