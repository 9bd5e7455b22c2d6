"""How often models, at each of their layers, give the right answer: people's tests, sat by models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.agreement.votes import share
from lexiscope.analysis.ratings import ResponseColumns
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Undefined


@dataclass(frozen=True, slots=True)
class ModelHits:
    """One subject at one layer (``None``: it has none): its share of right answers, an unanswered item being wrong.

    *Unit:* share, 0 to 1. ``n_unanswered`` items have a row without an option.
    """

    subject: str
    layer: int | None
    accuracy: Estimate | Undefined
    n_unanswered: int


def model_hits(
    table: ResponseColumns,
    right: Mapping[str, str],
    *,
    name: str,
    words: Mapping[str, str],
    measure: str = "choice",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[ModelHits, ...]:
    """Return the share of right answers of every subject and layer, in the order of the rows.

    *right* names the right option of each item, *words* (item → word) what is resampled, *name* the statistic. An item
    that was asked several times counts each time.
    Errors: :class:`InputError` E506 for an item that *right* does not name.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("e", "encoder", item, "t", "choice", option=option, layer=1) for item, option in ("ix", "jy")]
    >>> found = model_hits(ResponseTable.from_rows(rows), {"i": "x", "j": "x"}, name="hits", words={"i": "a", "j": "b"})
    >>> [(each.subject, each.layer, each.accuracy.value) for each in found]
    [('e', 1, 0.5)]
    """
    rows = table.where(measure=measure)
    subjects, items = ([names[code] for code in codes.tolist()] for codes, names in map(rows.codes, _KEYS))
    layers, options = rows.column("layer").tolist(), rows.column("option").tolist()
    unknown = next((item for item in items if item not in right), None)
    if unknown is not None:
        what, hint = "no right answer is known of this item", "give the file of items that was asked"
        raise InputError(what, code="E506", place=Place(item_id=unknown), hint=hint)
    parts: dict[tuple[str, int | None], list[int]] = {}
    for number, (subject, layer) in enumerate(zip(subjects, layers, strict=True)):
        parts.setdefault((subject, _whole(layer)), []).append(number)
    found = []
    for (subject, layer), numbers in parts.items():
        hits = [float(options[number] == right[items[number]]) for number in numbers]
        groups = [words[items[number]] for number in numbers]
        try:
            accuracy: Estimate | Undefined = share(
                name, hits, np.ones(len(hits)), groups=groups, level=level, resamples=resamples, seed=seed
            )
        except StatisticError as error:
            accuracy = Undefined(name, error.what, len(hits))
        found.append(ModelHits(subject, layer, accuracy, sum(options[number] is None for number in numbers)))
    return tuple(found)


_KEYS = ("subject_id", "item_id")


def _whole(layer: object) -> int | None:
    # a column with missing values comes as floats
    return None if layer is None or layer != layer else int(str(layer).partition(".")[0])
