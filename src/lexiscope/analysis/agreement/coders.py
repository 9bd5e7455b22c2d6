"""Two coders who gave each thing one of some categories: how often they gave the same, and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.choices import Kappa, kappa_or_reason
from lexiscope.analysis.bootstrap import IntArray, cluster_labels
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Undefined


@dataclass(frozen=True, slots=True, eq=False)
class CoderAgreement:
    """Two coders on the things that both coded.

    ``percent`` is the share of equal codes. *Shape:* table (categories, categories), rows are the first coder's.
    ``by_category`` is, of the things that at least one of them gave a category, the share on which both did; missing
    where no coder gave it. ``n_missing`` things were coded by one of them only.
    """

    first: str
    second: str
    categories: tuple[str, ...]
    percent: Accuracy
    kappa: Kappa | Undefined
    table: IntArray
    by_category: tuple[float | None, ...]
    n_missing: int


def agreement_of_codes(
    codes: Mapping[str, Mapping[str, str | None]],
    categories: Sequence[str],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> CoderAgreement:
    """Compare the codes of two coders: coder → thing → category, or ``None`` for a thing without a code.

    *clusters* (thing → group) are resampled whole for the interval of ``percent``; that of kappa resamples things.
    *Higher means:* they agree more.
    Errors: :class:`InputError` E506 for a thing without a cluster; :class:`StatisticError` with fewer than two things
    that both coded.

    >>> found = agreement_of_codes({"a": {"x": "yes", "y": "no"}, "b": {"x": "yes", "y": "yes"}}, ["yes", "no"])
    >>> found.percent.value, found.table.tolist()
    (0.5, [[1, 0], [1, 0]])
    """
    (first, one), (second, two) = codes.items()
    pairs = {
        thing: (code, other)
        for thing, code in one.items()
        if code is not None and (other := two.get(thing)) is not None
    }
    if len(pairs) < 2:
        raise StatisticError(f"{first} and {second} coded {len(pairs)} answers in common; two are needed")
    place = {category: number for number, category in enumerate(categories)}
    counts = np.zeros((len(place), len(place)), dtype=np.int64)
    np.add.at(counts, ([place[a] for a, _ in pairs.values()], [place[b] for _, b in pairs.values()]), 1)
    either = counts.sum(axis=0) + counts.sum(axis=1) - np.diag(counts)
    same = [a == b for a, b in pairs.values()]
    labels = cluster_labels(list(pairs), clusters)
    return CoderAgreement(
        first=first,
        second=second,
        categories=tuple(categories),
        percent=accuracy(same, clusters=labels, level=level, resamples=resamples, seed=seed),
        kappa=kappa_or_reason(*zip(*pairs.values(), strict=True), level=level, resamples=resamples, seed=seed),
        table=counts,
        by_category=tuple(float(counts[k, k] / total) if total else None for k, total in enumerate(either.tolist())),
        n_missing=len(set(one) | set(two)) - len(pairs),
    )
