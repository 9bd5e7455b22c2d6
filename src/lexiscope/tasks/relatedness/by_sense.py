"""Relatedness by induced senses: the similarities that sense vectors are judged by, for words and for usages.

*Source:* GASI §5; Reisinger & Mooney 2010. The formulas are in :mod:`lexiscope.senses.similarity`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import ChoosesSense, Floats, Progress, Subject
from lexiscope.core.task import AnswerFunction
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import unknown_reason, with_seen_words
from lexiscope.items.arrange.views import view_item
from lexiscope.senses.similarity import avg_sim, avg_sim_c, avg_sim_c_upper, max_sim, max_sim_c
from lexiscope.tasks.kit.distances import cosine_distances

MAX_SIM, AVG_SIM = "max_sim", "avg_sim"
MAX_SIM_C, AVG_SIM_C, AVG_SIM_C_UPPER = "max_sim_c", "avg_sim_c", "avg_sim_c_upper"
OF_WORDS = (MAX_SIM, AVG_SIM)
"""Similarities of two words, regardless of their contexts."""
IN_CONTEXT = (MAX_SIM_C, AVG_SIM_C, AVG_SIM_C_UPPER)
"""Similarities of two usages: contexts weigh the senses. A pair of words without any context has none."""
SENSE_MEASURES = (
    (MAX_SIM, "cosine of the two nearest senses, from −1 to 1; higher means more similar"),
    (AVG_SIM, "mean cosine of all pairs of senses, from −1 to 1; higher means more similar"),
    (MAX_SIM_C, "cosine of the senses most probable in context, from −1 to 1; higher means more similar"),
    (AVG_SIM_C, "cosines weighted with the senses' probabilities in context (full sum); higher means more similar"),
    (AVG_SIM_C_UPPER, "the same summed over j ≥ i only, as printed; higher means more similar"),
)
_WHO = "a subject that has senses of words"
NO_LENGTH = "a sense of length zero"
# pairs whose vectors are in memory at once
_BLOCK = 512
Rows = dict[str, NDArray[np.float64]]


@runtime_checkable
class GivesSenses(Protocol):
    """A subject that can give the vectors of all senses of a word."""

    def senses_of(self, usages: Sequence[Usage]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return vectors *(usages, K, width)* and which of them are there *(usages, K)*; an unknown target has none."""


def similarity_function(
    task: str, distance: str, *, check: Callable[[Item], Item], otherwise: AnswerFunction | None = None
) -> AnswerFunction:
    """Return the answer function of a task of pairs for subjects that give the vectors of senses.

    *check* refuses an item that is no pair; *distance* is the measure of cosine distance. A subject that chooses senses
    and gives no vectors of them is left to *otherwise*.
    """

    def by_sense(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the similarities of :data:`SENSE_MEASURES`, and with the cosine distance at layer 0.

        The distance is 1 − MaxSimC. A pair of which a word is out of the vocabulary, or has a sense of length zero, has
        rows without value, and the reason in ``raw``. Words without any context have no rows of similarity in context.
        Rows: measure by measure, in the order of the items.
        Errors: :class:`CapabilityError` for a view that hides the word, or a subject without vectors of senses; what
        *check* raises.
        """
        if not isinstance(subject, GivesSenses):
            if otherwise is not None:
                return otherwise(items, subject, view=view, work=work, progress=progress)
            what = f"{subject.subject_id} chooses senses, but gives no vectors of them"
            raise CapabilityError(what, hint="ask it the task same_sense")
        shown = [with_seen_words(check(view_item(item, view)), who=_WHO) for item in items]
        blocks: list[tuple[Rows, list[str | None]]] = []
        for start in range(0, len(shown), _BLOCK):
            blocks.append(_similarities(shown[start : start + _BLOCK], subject, distance))
            if progress is not None:
                progress(min(start + _BLOCK, len(shown)), len(shown))
        who = {"subject_id": subject.subject_id, "subject_kind": subject.kind, "task": task, "view": view}
        return _response_table(who, shown, blocks)

    return by_sense


def _similarities(items: Sequence[Item], subject: GivesSenses, distance: str) -> tuple[Rows, list[str | None]]:
    """Return every measure of some pairs, *shape:* (pairs,) each, and why a pair has none."""
    sides = [[item.usages[side] for item in items] for side in (0, 1)]
    (left, left_there), (right, right_there) = (subject.senses_of(usages) for usages in sides)
    known = np.stack([left_there.any(axis=1), right_there.any(axis=1)], axis=1)
    left_there, right_there = _senses_with_length(left, left_there), _senses_with_length(right, right_there)
    p, q = _sense_probabilities(subject, sides[0], left_there), _sense_probabilities(subject, sides[1], right_there)
    masks = {"left_mask": left_there, "right_mask": right_there}
    similarities = {MAX_SIM: max_sim(left, right, **masks), AVG_SIM: avg_sim(left, right, **masks)}
    for measure, similarity in zip(IN_CONTEXT, (max_sim_c, avg_sim_c, avg_sim_c_upper), strict=True):
        similarities[measure] = similarity(left, right, p, q)
    covered: list[bool] = np.logical_and(left_there.any(axis=1), right_there.any(axis=1)).tolist()
    reasons: list[str | None] = []
    for item, row, has_all in zip(items, known.tolist(), covered, strict=True):
        unknown = [usage.target for usage, is_known in zip(item.usages, row, strict=True) if not is_known]
        reasons.append(None if has_all else unknown_reason(unknown) if unknown else NO_LENGTH)
    return similarities | {distance: _distances(left, right, p, q)}, reasons


def _senses_with_length(vectors: Floats, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which senses are there; a word with a sense of length zero counts as one without senses."""
    without = (there & ~(vectors != 0).any(axis=2)).any(axis=1)
    return np.asarray(there & ~without[:, None])


def _sense_probabilities(subject: object, usages: Sequence[Usage], there: NDArray[np.bool_]) -> NDArray[np.float64]:
    probabilities = np.zeros(there.shape, np.float64)
    known = np.flatnonzero(there.any(axis=1))
    if len(known):
        probabilities[known] = cast(ChoosesSense, subject).sense_distribution([usages[row] for row in known.tolist()])
    return probabilities


def _distances(left: Floats, right: Floats, p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 − MaxSimC, exactly 0 for one and the same vector."""
    covered = np.flatnonzero((p.sum(axis=1) > 0) & (q.sum(axis=1) > 0))
    distances = np.full(len(p), np.nan)
    pairs = [
        vectors_of_side[covered, weights[covered].argmax(axis=1)]
        for vectors_of_side, weights in ((left, p), (right, q))
    ]
    numbers = np.arange(len(covered))
    vectors = np.concatenate(pairs)[:, None]
    distances[covered] = cosine_distances(vectors, numbers, numbers + len(covered))[:, 0]
    return distances


def _response_table(
    who: dict[str, Any], items: Sequence[Item], blocks: Sequence[tuple[Rows, list[str | None]]]
) -> ResponseTable:
    ids = np.array([item.item_id for item in items], dtype=object)
    raw = np.array([reason for _, reasons in blocks for reason in reasons], dtype=object)
    in_context = np.array([any(usage.text.strip() != usage.target for usage in item.usages) for item in items])
    tables = []
    for measure in blocks[0][0]:
        kept = np.ones(len(items), np.bool_) if measure in OF_WORDS else in_context
        if kept.any():
            value = np.concatenate([block[measure] for block, _ in blocks])[kept]
            layer = {} if measure in (*OF_WORDS, *IN_CONTEXT) else {"layer": 0}
            columns = {"item_id": ids[kept], "measure": measure, "value": value, "raw": list(raw[kept])}
            tables.append(ResponseTable.from_columns(who | layer | columns))
    return ResponseTable.concat(tables)
