"""Distances between the vectors of usages, at every layer: of the two usages of an item, or of a usage and options.

Every task that is answered by vectors asks here: a distinct usage is embedded once, an error names the item, and the
distances are those of :func:`cosine_distances`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from lexiscope.core.errors import CapabilityError, Place, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Embeds, Floats, Progress, Subject
from lexiscope.core.task import AnswerFunction
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.senses.word_groups import OptionDistances

MEASURE_DISTANCE = "cosine_distance"
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]

# numbers of two blocks of vectors whose distances are taken at a time
_CELLS = 1 << 22


def pair_function(task: str, *, check: Callable[[Item], Item]) -> AnswerFunction:
    """Return the answer function of a task of pairs for subjects that embed.

    *check* returns an item, or refuses one that is no pair.
    """

    def by_embedding(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the cosine distance of the two targets' vectors, at every layer.

        Rows are in the order of the items, then of the layers. Each distinct usage is embedded once.
        *Higher means:* the usages are less related. Errors: those of :func:`pair_distances`; what *check* raises.
        """
        shown = [check(view_item(item, view)) for item in items]
        pairs = [(item.usages[0], item.usages[1]) for item in shown]
        distances = pair_distances(shown, pairs, subject, work=work, progress=progress)
        return distance_table(subject, task, view, items, cast(Embeds, subject).layers, distances)

    return by_embedding


def pair_distances(
    items: Sequence[Item],
    pairs: Sequence[tuple[Usage, Usage]],
    subject: Subject,
    *,
    work: Path | None = None,
    progress: Progress | None = None,
) -> Doubles:
    """Return the cosine distances of pairs of usages, one pair for each item; an item may come several times.

    *Shape:* (pairs, layers). *Unit:* 0 to 2. *Higher means:* less related.
    Errors: :class:`SubjectError` naming the item whose usage has no vector, or one of length zero;
    :class:`CapabilityError` for a subject without vectors.
    """
    if not isinstance(subject, Embeds):
        what = f"{subject.subject_id} gives no vectors, which this task is answered with"
        raise CapabilityError(what, hint="ask a subject that Embeds: lexiscope list pairings")
    usages, sides = distinct_usages(pairs)
    try:
        vectors = subject.embed(usages, work=work, progress=progress)
    except SubjectError as error:
        raise _with_item_id(error, items, pairs) from error
    left, right = sides.T
    _check_vector_lengths(vectors, left, right, items)
    return cosine_distances(vectors, left, right)


def distances_of_options(
    items: Sequence[Item],
    targets: Sequence[Usage],
    options: Sequence[Sequence[tuple[str, Usage]]],
    subject: Subject,
    *,
    work: Path | None = None,
    progress: Progress | None = None,
) -> list[OptionDistances]:
    """Return the distance of each item's target from each of its options; *options* are names with what is embedded.

    An option that comes several times has the distance of the nearest. *Shape of each:* (options, layers).
    Errors: those of :func:`pair_distances`.
    """
    if not items:
        return []
    counts = [len(own) for own in options]
    asked = [item for item, count in zip(items, counts, strict=True) for _ in range(count)]
    pairs = [(target, usage) for target, own in zip(targets, options, strict=True) for _, usage in own]
    distances = pair_distances(asked, pairs, subject, work=work, progress=progress)
    answers, start = [], 0
    for own, count in zip(options, counts, strict=True):
        names = tuple(dict.fromkeys(name for name, _ in own))
        nearest = np.full((len(names), distances.shape[1]), np.inf)
        np.minimum.at(nearest, [names.index(name) for name, _ in own], distances[start : start + count])
        answers.append(OptionDistances(names, nearest))
        start += count
    return answers


def distinct_usages(pairs: Sequence[tuple[Usage, Usage]]) -> tuple[list[Usage], Rows]:
    """Return the distinct usages of pairs in the order of first appearance, and the rows of each pair's two.

    *Shape:* (pairs, 2).
    """
    rows: dict[tuple[str, int, int], int] = {}
    usages: list[Usage] = []
    sides = np.empty((len(pairs), 2), dtype=np.int64)
    for number, pair in enumerate(pairs):
        for side, usage in enumerate(pair):
            if usage.key not in rows:
                rows[usage.key] = len(usages)
                usages.append(usage)
            sides[number, side] = rows[usage.key]
    return usages, sides


def distance_table(
    subject: Subject,
    task: str,
    view: str,
    items: Sequence[Item],
    layers: Sequence[int],
    distances: Doubles,
    *,
    measure: str = MEASURE_DISTANCE,
) -> ResponseTable:
    """Return distances as rows, in the order of the items, then of the layers. *Shape:* distances (items, layers)."""
    return ResponseTable.from_columns(
        {
            "subject_id": subject.subject_id,
            "subject_kind": subject.kind,
            "task": task,
            "view": view,
            "item_id": np.repeat(np.array([item.item_id for item in items], dtype=object), len(layers)),
            "measure": measure,
            "value": distances.ravel(),
            "layer": np.tile(np.asarray(layers), len(items)),
        }
    )


def cosine_distances(vectors: Floats, left: Rows, right: Rows) -> Doubles:
    """Return 1 − cosine between pairs of rows, at every layer.

    It is computed in double precision as half the squared distance between the vectors scaled to length 1, which
    equals 1 − cosine, is exactly 0 for equal vectors and never below 0.

    *Shape:* vectors (usages, layers, width), left and right (pairs,) → (pairs, layers). *Unit:* 0 to 2.
    *Higher means:* less related. *Source:* SAW-C §4.2.

    Right angle, then the opposite direction:

    >>> vectors = np.array([[[1.0, 0.0]], [[0.0, 2.0]], [[-3.0, 0.0]]], dtype=np.float32)
    >>> cosine_distances(vectors, np.array([0, 0]), np.array([1, 2])).ravel().tolist()
    [1.0, 2.0]
    """
    distances = np.empty((len(left), vectors.shape[1]))
    step = max(1, _CELLS // max(1, vectors.shape[2]))
    # layer by layer: the copies in double precision stay small compared with the vectors
    for layer in range(vectors.shape[1]):
        rows = vectors[:, layer].astype(np.float64)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        # and block by block: there may be many more pairs than usages
        for start in range(0, len(left), step):
            block = slice(start, start + step)
            difference = rows[left[block]] - rows[right[block]]
            distances[block, layer] = 0.5 * np.einsum("ij,ij->i", difference, difference)
    return distances


def _with_item_id(error: SubjectError, items: Sequence[Item], pairs: Sequence[tuple[Usage, Usage]]) -> SubjectError:
    """Return the same error with the id of the first item that holds the usage it is about."""
    place = error.place
    for item, pair in zip(items, pairs, strict=True) if place is not None and place.column is not None else ():
        assert place is not None
        assert place.column is not None
        if (place.text, place.column - 1) in {(usage.text, usage.start) for usage in pair}:
            named = Place(item_id=item.item_id, text=place.text, column=place.column, width=place.width)
            return SubjectError(error.what, code=error.code, place=named, why=error.why, hint=error.hint)
    return error


def _check_vector_lengths(vectors: Floats, left: Rows, right: Rows, items: Sequence[Item]) -> None:
    usable = np.isfinite(vectors).all(axis=2) & (vectors != 0).any(axis=2)
    bad = ~(usable[left] & usable[right])
    if not bad.any():
        return
    item, layer = (int(axis[0]) for axis in np.nonzero(bad))
    raise SubjectError(
        f"the cosine distance is undefined at layer {layer}: a target's vector is zero or not finite",
        place=Place(item_id=items[item].item_id),
        hint="leave the item out, or use another model",
    )
