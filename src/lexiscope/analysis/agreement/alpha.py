"""Krippendorff's alpha at four levels of measurement, with missing ratings and an interval over items.

Alpha is 1 minus observed over expected disagreement. Both follow from the coincidence matrix (``coincidence_matrix``);
they are summed in closed form (:mod:`lexiscope.analysis.agreement.disagreement`), which gives the same number, needs no
square matrix for many distinct values, and lets a resample of items be a reweighting. For N ratings with V distinct
values, alpha costs a sort, N log N, and sums in N; at the ratio level 20 V more where V is large. *Source:*
Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexiscope.analysis.agreement.disagreement import (
    LEVELS,
    Disagreement,
    Level,
    Units,
    disagreement,
    group_coincidences,
)
from lexiscope.analysis.bootstrap import (
    FloatArray,
    IntArray,
    group_codes,
    no_interval,
    percentile_interval,
    resample_counts,
)
from lexiscope.analysis.correlation import distinct_values
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, statistic_name

__all__ = ["LEVELS", "Alpha", "Level", "coincidence_matrix", "krippendorff_alpha"]


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha: 1 = perfect agreement, 0 = as by chance, negative = systematic disagreement.

    ``n_ratings`` counts the pairable ratings, ``n_unpaired`` those on items that only one rater rated (they do not
    enter).
    """

    name: str
    value: float
    interval: Interval
    n_items: int
    n_ratings: int
    n_unpaired: int
    n_raters: int

    @property
    def estimate(self) -> Estimate:
        """Alpha as a result; its n counts items."""
        return Estimate(self.name, self.value, self.interval, self.n_items)


# numbers held at once for a block of draws: about what a processor's cache holds
_CELLS = 1 << 18


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: Level = "interval",
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Alpha:
    """Return Krippendorff's alpha. The items are the units; ``groups`` (item id → word) are resampled whole.

    Alpha of one item is 0, because its disagreement is all that there is to expect; it has no interval.

    *Higher means:* raters agree more. *Source:* AmbiStory §4.1 (``level="interval"``).

    Errors: :class:`StatisticError` for one rater, no item with two ratings, no variation, an unknown level, or negative
    values at the ratio level.

    >>> ratings = Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2])
    >>> round(krippendorff_alpha(ratings, level="nominal", resamples=200).value, 9)  # 1 - 5 * 2 / (6² - 3² - 3²)
    0.444444444
    """
    if level not in LEVELS:
        raise StatisticError(f"no level {level!r} of Krippendorff's alpha; there are: {', '.join(LEVELS)}")
    units, kept = _units(ratings)
    if level == "ratio" and units.values.min() < 0:
        raise StatisticError("the ratio level needs ratings that are not negative", hint='use level="interval"')
    labels = None if groups is None else ratings.item_labels(groups)[kept]
    alone = len(units.size) == 1 or (labels is not None and len(set(labels.tolist())) == 1)
    codes, count = (np.zeros(len(units.size), dtype=np.int64), 1) if alone else group_codes(labels, len(units.size))
    # all units as one group: a single number needs no table of groups
    whole = disagreement(units, level, np.zeros_like(codes), 1)
    value = float(_alphas(whole, np.ones((1, 1)))[0])
    if np.isnan(value):
        raise StatisticError(
            f"alpha is undefined: all {int(units.size.sum())} ratings are {units.values[0]:g}",
            why="without variation there is no disagreement to expect",
        )
    n, name = int(units.size.sum()), statistic_name("krippendorff_alpha", level=level)
    if alone:
        what = "word" if labels is not None and len(units.size) > 1 else "item"
        interval = no_interval(f"one {what} cannot be resampled", level=confidence, resamples=resamples)
    else:
        draws = _draws(units, level, codes, count, resamples=resamples, seed=seed) if resamples else np.empty(0)
        interval = percentile_interval(draws, level=confidence)
    return Alpha(name, value, interval, len(units.size), n, len(ratings) - n, len(np.unique(ratings.rater)))


def coincidence_matrix(ratings: Ratings) -> tuple[FloatArray, FloatArray]:
    """Return the distinct values and how often each two coincide within an item, over its number of ratings − 1.

    *Shape:* (values,), (values, values); the entries sum to the number of pairable ratings.

    Errors: :class:`StatisticError` where no item has two ratings.

    >>> coincidence_matrix(Ratings.from_arrays(list("ababab"), list("iijjkk"), [1, 1, 2, 2, 1, 2]))[1].tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    units, _ = _units(ratings)
    # every unit in one group: the coincidences of the whole
    one = np.zeros(len(units.size), dtype=np.int64)
    return units.values, group_coincidences(units, one, 1)[0]


def _units(ratings: Ratings) -> tuple[Units, IntArray]:
    # imported here: the command line must start without scipy
    from scipy import sparse

    counts = ratings.counts()
    kept = np.flatnonzero(counts > 1).astype(np.int64)
    if not len(kept):
        raters = len(np.unique(ratings.rater))
        raise StatisticError(
            f"alpha is undefined: no item has ratings of two raters ({raters} raters, {ratings.n_items} items)"
        )
    row = np.full(ratings.n_items, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    paired = row[ratings.item] >= 0
    values, code = distinct_values(ratings.value[paired])
    entries = (np.ones(len(code)), (row[ratings.item[paired]], code))
    table = sparse.csr_matrix(entries, shape=(len(kept), len(values)))
    return Units(table, values, counts[kept].astype(np.float64)), kept


def _draws(units: Units, level: Level, codes: IntArray, n_groups: int, *, resamples: int, seed: int) -> FloatArray:
    """Alpha of each resample of the groups. *Shape:* codes (units,) → (resamples,)."""
    found = disagreement(units, level, codes, n_groups)
    step = max(1, _CELLS // found.width)
    blocks = resample_counts(n_groups, resamples=resamples, seed=seed)
    # a few draws at a time: a table of all draws by all distinct values would not fit into memory
    parts = (block[start : start + step] for block in blocks for start in range(0, len(block), step))
    return np.concatenate([_alphas(found, part.astype(np.float64)) for part in parts])


def _alphas(found: Disagreement, weights: FloatArray) -> FloatArray:
    """Alpha of each reweighting of the groups, NaN without variation. *Shape:* weights (draws, groups) → (draws,)."""
    n = weights @ found.size
    observed, expected = found.sums(weights)
    sound = expected > 0
    ratio = np.divide((n - 1) * observed, expected, out=np.full(len(n), np.nan), where=sound)
    return np.asarray(1 - ratio)
