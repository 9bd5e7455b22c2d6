"""How often models, at each of their layers, give the right answer to the tests that people take."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexiscope.analysis.agreement.votes import share
from lexiscope.analysis.ratings import ResponseColumns
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Undefined


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
) -> tuple[tuple[Estimate | Undefined, int], ...]:
    """Return the share of right answers of every subject and layer, and how many items it left unanswered.

    They come in the order of the rows. An item without an option is wrong. *Unit:* share, 0 to 1.

    *right* names the right option of each item, *words* (item → word) what is resampled, *name* the statistic. An item
    that was asked several times counts each time.
    Errors: :class:`InputError` E506 for an item that *right* does not name.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("e", "encoder", item, "t", "choice", option=option, layer=1) for item, option in ("ix", "jy")]
    >>> hits = model_hits(ResponseTable.from_rows(rows), {"i": "x", "j": "x"}, name="hits", words={"i": "a", "j": "b"})
    >>> [(share.subject, share.layer, share.value, n_unanswered) for share, n_unanswered in hits]
    [('e', 1, 0.5, 0)]
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
    shares = []
    for (subject, layer), numbers in parts.items():
        hits = [float(options[number] == right[items[number]]) for number in numbers]
        groups = [words[items[number]] for number in numbers]
        try:
            accuracy: Estimate | Undefined = share(
                name, hits, np.ones(len(hits)), groups=groups, level=level, resamples=resamples, seed=seed
            )
        except StatisticError as error:
            accuracy = Undefined(name, error.what, len(hits))
        n_unanswered = sum(options[number] is None for number in numbers)
        shares.append((accuracy.about(subject=subject, layer=layer), n_unanswered))
    return tuple(shares)


_KEYS = ("subject_id", "item_id")


def _whole(layer: object) -> int | None:
    # a column with missing values comes as floats
    return None if layer is None or layer != layer else int(str(layer).partition(".")[0])
