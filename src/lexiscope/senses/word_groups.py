"""Groups of words as vectors: the distance of each word from what its group shares, and of a usage from each group.

What the tests of induced senses (word intrusion, sense choice) have in common when a model that gives vectors sits
them. Every vector is scaled to length 1 before a mean is taken, so that no word counts for more than another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import CapabilityError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response
from lexiscope.core.subject import Embeds, Floats, Progress, Subject
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import unknown_reason

Doubles = np.ndarray[Any, np.dtype[np.float64]]

CHOICE, DISTANCE = "choice", "cosine_distance"
"""The measures of an answer, and of the distance of an option from what it is compared with."""

DISTANCE_MEASURE = (DISTANCE, "distance of the option from what a model compares it with; higher means farther apart")
"""What a task says of the distances in its rows."""


@dataclass(frozen=True, slots=True)
class OptionDistances:
    """The distances of an item's options, or why it has none: the words that are unknown, or another reason.

    *Shape:* distances (options, layers). *Lower means:* nearer.
    """

    options: tuple[str, ...]
    distances: Doubles | None
    unknown: tuple[str, ...] = ()
    reason: str = ""


def word_usage(word: str, language: str) -> Usage:
    """Return a word as a text.

    >>> word_usage("oven", "en").text
    'oven'
    """
    return Usage(word, 0, len(word), language=language)


def usage_among(word: str, others: Sequence[str], language: str) -> Usage:
    """Return a word in the middle of others, which then choose its sense as a sentence would.

    >>> usage = usage_among("bank", ["river", "shore", "boat"], "en")
    >>> usage.text, usage.target
    ('river shore bank boat', 'bank')
    """
    half = (len(others) + 1) // 2
    left = " ".join([*others[:half], ""])
    return Usage(" ".join([*others[:half], word, *others[half:]]), len(left), len(left) + len(word), language=language)


def usages_among_others(words: Sequence[str], language: str) -> tuple[Usage, ...]:
    """Return each of some words in the middle of the others."""
    return tuple(usage_among(word, [*words[:place], *words[place + 1 :]], language) for place, word in enumerate(words))


def unit_vectors(
    subject: Subject, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None
) -> Mapping[tuple[str, int, int], Doubles]:
    """Return the vectors of usages by their keys, each scaled to length 1 at every layer. *Shape:* (layers, width).

    Equal usages are asked for once. Errors: :class:`CapabilityError` for a subject without vectors;
    :class:`SubjectError` naming a usage whose vector is zero or not finite.
    """
    if not isinstance(subject, Embeds):
        what = f"{subject.subject_id} gives no vectors, which this item is answered with"
        raise CapabilityError(what, hint="ask a subject that Embeds: lexiscope list pairings")
    distinct = {usage.key: usage for usage in usages}
    if not distinct:
        return {}
    vectors: Floats = subject.embed(list(distinct.values()), work=work, progress=progress)
    values = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(values, axis=2, keepdims=True)
    bad = np.argwhere(~np.isfinite(lengths[:, :, 0]) | (lengths[:, :, 0] == 0))
    if len(bad):
        usage = list(distinct.values())[int(bad[0, 0])]
        what = f"the vector of {usage.target!r} at layer {subject.layers[int(bad[0, 1])]} is zero or not finite"
        raise SubjectError(what, place=Place(text=usage.text, column=usage.start + 1, width=len(usage.target)))
    return dict(zip(distinct, values / lengths, strict=True))


def distances_from_centroid(words: Doubles) -> Doubles:
    """Return the distance of each word from the centroid of all: 1 − cosine.

    *Shape:* (words, layers, width) → (words, layers). *Unit:* 0 to 2. The order of the words is that of their distances
    from the centroid of the others.

    >>> words = np.array([[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]])
    >>> distances_from_centroid(words).round(3)[:, 0].tolist()  # 1-2/√5, 1-1/√5
    [0.106, 0.106, 0.553]
    """
    return np.asarray(1 - np.einsum("wld,ld->wl", words, _unit(words.mean(axis=0))))


def distances_from_groups(target: Doubles, groups: Sequence[Doubles]) -> Doubles:
    """Return the distance of a usage from the centroid of each group: 1 − cosine. *Unit:* 0 to 2.

    *Shape:* target (layers, width), each group (words, layers, width) → (groups, layers).

    >>> near, far = np.array([[[1.0, 0.0]]]), np.array([[[0.0, 1.0]], [[-1.0, 0.0]]])
    >>> distances_from_groups(np.array([[1.0, 0.0]]), [near, far]).round(3)[:, 0].tolist()  # 1 - 1; 1 + 1/√2
    [0.0, 1.707]
    """
    centroids = np.stack([_unit(group.mean(axis=0)) for group in groups])
    return np.asarray(1 - np.einsum("gld,ld->gl", centroids, target))


def distance_rows(
    items: Sequence[Item],
    answers: Sequence[OptionDistances],
    blank: Response,
    *,
    layers: Sequence[int | None],
    pick: Callable[[Doubles], Any],
    names: tuple[str, str] = (CHOICE, DISTANCE),
) -> Iterator[Response]:
    """Yield the rows of answers by distance: of each item its choice at every layer, then each option's distance.

    *blank* says who answers which task in which view. *pick* is ``np.argmin`` or ``np.argmax``; of equal distances the
    option that is first is taken. An item without distances has one row without option, the reason in
    ``raw``. *names* are the measures of the choice and of a distance.
    """
    for item, answer in zip(items, answers, strict=True):
        choice = replace(blank, item_id=item.item_id, measure=names[0])
        if answer.distances is None:
            yield replace(choice, raw=answer.reason or unknown_reason(answer.unknown))
            continue
        # distances that differ by less than rounding are equal: the first option is taken on every machine
        distances = np.round(answer.distances, 12)
        for place, layer in enumerate(layers):
            yield replace(choice, option=answer.options[int(pick(distances[:, place]))], layer=layer)
        for place, layer in enumerate(layers):
            for option, distance in zip(answer.options, distances[:, place].tolist(), strict=True):
                yield replace(choice, measure=names[1], value=distance, option=option, layer=layer)


def blank_row(subject: Subject, task: str, view: str) -> Response:
    """Return a row with the subject, the task and the view; the caller adds item and measure."""
    return Response(subject.subject_id, subject.kind, "", task, "", view=view)


def _unit(vectors: Doubles) -> Doubles:
    """Vectors of length 1; words that cancel out leave a centroid without direction, at a right angle to all."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0))
