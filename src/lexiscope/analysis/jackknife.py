"""The jackknife: intervals from a statistic with each unit excluded, by Student's t on a named scale.

A bootstrap of few raters is too short: its draws vary less than samples do, and a rater who is drawn twice agrees with
a copy. Leaving each rater out once has neither fault, and needs as many values as there are raters. Where raters and
items are both samples, the two variances are added, and what both contain is subtracted once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import MOST_UNDEFINED, FloatArray, IntArray
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Interval, statistic_name

Scale = Literal["identity", "fisher_z", "root_fisher_z", "intraclass_z", "log_complement", "wilson"]
SCALES: tuple[Scale, ...] = ("identity", "fisher_z", "root_fisher_z", "intraclass_z", "log_complement", "wilson")
MOST = 500
"""Largest number of units that are excluded one by one; more units are excluded in equal groups."""

# a variance below this share of the squared value is what rounding leaves
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A statistic with each group of units excluded. *Shape:* values, sizes (groups,); NaN where it is undefined.

    ``sizes`` counts the units of each group: ones where units are excluded one by one.
    """

    values: FloatArray
    sizes: FloatArray

    @classmethod
    def singly(cls, values: ArrayLike) -> LeftOut:
        """Return values of which each leaves out one unit.

        >>> LeftOut.singly([0.5, 0.7]).sizes.tolist()
        [1.0, 1.0]
        """
        array = np.asarray(values, dtype=np.float64)
        return cls(array, np.ones(len(array)))

    @property
    def n(self) -> int:
        """How many groups are excluded in turn."""
        return len(self.values)

    @property
    def is_grouped(self) -> bool:
        """Whether a group has more than one unit."""
        return bool((self.sizes > 1).any())


def left_out_groups(n_units: int, *, resamples: int, seed: int, most: int = MOST) -> tuple[IntArray, int]:
    """Return the group with which each unit is excluded, and how many groups there are.

    Up to *resamples* units, and never more than *most*, are excluded one by one. More are dealt at random into that
    many groups of equal size, which gives the same interval on a few degrees of freedom less. *Shape:* → (units,).

    >>> left_out_groups(3, resamples=2000, seed=0)
    (array([0, 1, 2]), 3)
    >>> np.bincount(left_out_groups(9, resamples=3, seed=0)[0]).tolist()
    [3, 3, 3]
    """
    groups = max(1, min(n_units, resamples, most))
    order = np.arange(n_units, dtype=np.int64)
    if groups < n_units:
        order = np.random.default_rng(seed).permutation(n_units).astype(np.int64)
    return order % groups, groups


def jackknife_interval(
    value: float,
    left_out: LeftOut | ArrayLike,
    *,
    resampled: str,
    scale: Scale = "identity",
    level: float = 0.95,
    ratings: float = 2.0,
) -> Interval:
    """Return the interval of a statistic from its values with each unit excluded, by t on n − 1 degrees of freedom.

    *value* is the statistic on all units and the middle of the interval on its *scale*; *resampled* names the units in
    the plural. *ratings* is the number of ratings per item, for the scale ``intraclass_z``. Fewer than three units,
    or a value that no unit changes, leave a note instead of bounds.

    The scales: ``identity``; ``fisher_z``, atanh(x), for correlations; ``root_fisher_z``, atanh(√x), for
    squared correlations; ``intraclass_z``, Fisher's z for agreement of k
    ratings, log((1 + (k − 1) x) / (1 − x)); ``log_complement``, −log(1 − x); ``wilson``, for shares: the bounds p from
    which x is t standard errors away, where these grow with √(p (1 − p)).

    *Source:* Tukey 1958; of groups of several units, Busing, Meijer & van der Leeden 1999; ``intraclass_z``, Fisher
    1925; ``wilson`` with the variance of clusters, Korn & Graubard 1998.

    Errors: :class:`StatisticError` for an unknown scale or level.

    >>> found = jackknife_interval(2.0, [2.5, 2.0, 1.5], resampled="raters")  # the mean of 1, 2, 3: 2 ± 4.3027 / √3
    >>> round(found.low, 4), round(found.high, 4), found.method
    (-0.4841, 4.4841, 'jackknife(resampled=raters,scale=identity,level=0.95)')
    """
    parts = left_out if isinstance(left_out, LeftOut) else LeftOut.singly(left_out)
    name = _name(resampled, scale, level, parts)
    to, back = _transforms(scale, ratings)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre, moved = float(to(np.array(value))), to(parts.values)
    kept = np.isfinite(moved)
    undefined = int((~kept).sum())
    units = parts.sizes.sum()
    reason = f"a value of {value:g} has no standard error"
    if math.isfinite(centre):
        reason = _too_few(parts.n, undefined, resampled, int(units))
    if reason:
        return _without(reason, level, name, undefined)
    variance, freedom = _variance(centre, moved[kept], parts.sizes[kept]), int(kept.sum()) - 1
    if scale == "wilson":
        low, high = _wilson(value, variance, freedom, float(units), level)
        return Interval(low, high, level, name, undefined=undefined)
    if _is_nothing(variance, centre):
        return _without(f"the value is the same without any of the {resampled}", level, name, undefined)
    margin = quantile_of_t(level, freedom) * math.sqrt(variance)
    low, high = (float(back(np.array(end))) for end in (centre - margin, centre + margin))
    return Interval(low, high, level, name, undefined=undefined)


def crossed_jackknife_interval(
    value: float,
    by_rater: LeftOut,
    by_item: LeftOut,
    by_both: LeftOut,
    *,
    items: str = "items",
    raters: str = "raters",
    scale: Scale = "identity",
    level: float = 0.95,
    ratings: float = 2.0,
) -> Interval:
    """Return the interval of a statistic of raters × items where both are samples.

    *by_rater*, *by_item* and *by_both* hold the statistic without each rater (or wording: *raters* names them), each
    item (or word: *items* names them), and each rater's ratings of one item. The variance is that over raters, plus
    that over items, minus that over their ratings, which is contained in both; it is never below the larger of the
    two. The degrees of freedom are Satterthwaite's; raters count in them if their variance exceeds that of their
    ratings.

    *Source:* the three variances: Cameron, Gelbach & Miller 2011; Owen 2007.

    Errors: as :func:`jackknife_interval`.
    """
    sides = (by_rater, raters), (by_item, items)
    name = _name(f"{raters}_and_{items}", scale, level, *(part for part, _ in sides))
    to, back = _transforms(scale, ratings)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = float(to(np.array(value)))
        moved = [to(part.values) for part in (by_rater, by_item, by_both)]
    undefined = [int((~np.isfinite(values)).sum()) for values in moved]
    reasons = [
        _too_few(part.n, gone, units, int(part.sizes.sum()))
        for (part, units), gone in zip(sides, undefined[:2], strict=True)
    ]
    if not math.isfinite(centre):
        reasons = [f"a value of {value:g} has no standard error"]
    for reason in filter(None, reasons):
        return _without(reason, level, name, sum(undefined[:2]))
    of_raters, of_items, both = (
        _variance(centre, values[np.isfinite(values)], part.sizes[np.isfinite(values)])
        for values, part in zip(moved, (by_rater, by_item, by_both), strict=True)
    )
    variance = max(of_raters + of_items - both, of_raters, of_items)
    df_raters, df_items = (part.n - gone - 1 for part, gone in ((by_rater, undefined[0]), (by_item, undefined[1])))
    if scale != "wilson" and _is_nothing(variance, centre):
        reason = f"the value is the same without any of the {raters} or {items}"
        return _without(reason, level, name, sum(undefined[:2]))
    # the share of the raters' variance that is theirs alone; its fourth root rises fast from 0: tuned by simulation
    own = max(1 - both / of_raters, 0.0) if of_raters > 0 else 0.0
    spent = of_items**2 / df_items + of_raters**2 * own**0.25 / df_raters
    freedom = variance**2 / spent if spent > 0 else float(min(df_raters, df_items))
    if scale == "wilson":
        low, high = _wilson(value, variance, freedom, float(by_item.sizes.sum()), level)
    else:
        margin = quantile_of_t(level, freedom) * math.sqrt(variance)
        low, high = (float(back(np.array(end))) for end in (centre - margin, centre + margin))
    return Interval(low, high, level, name, undefined=sum(undefined[:2]))


def no_jackknife(reason: str, *, resampled: str, scale: Scale = "identity", level: float = 0.95) -> Interval:
    """Return an interval without bounds that has the reason.

    >>> no_jackknife("one item cannot be resampled", resampled="items").note
    'no interval: one item cannot be resampled'
    """
    return _without(reason, level, _name(resampled, scale, level), 0)


def quantile_of_t(level: float, freedom: float) -> float:
    """Return how many standard errors an interval of a *level* reaches on either side.

    Errors: :class:`StatisticError` for a level outside 0 to 1.

    >>> round(quantile_of_t(0.95, 2), 4)
    4.3027
    """
    # imported here: the command line must start without scipy
    from scipy import special

    if not 0 < level < 1:
        raise StatisticError(f"a confidence level is between 0 and 1, not {level}")
    return float(special.stdtrit(freedom, (1 + level) / 2))


def _name(resampled: str, scale: Scale, level: float, *parts: LeftOut) -> str:
    if scale not in SCALES:
        raise StatisticError(f"no scale {scale!r} of a jackknife; valid names: {', '.join(SCALES)}")
    groups = {"groups": "x".join(str(part.n) for part in parts)} if any(part.is_grouped for part in parts) else {}
    return statistic_name("jackknife", resampled=resampled, scale=scale, level=f"{level:g}", **groups)


def _without(reason: str, level: float, name: str, undefined: int) -> Interval:
    return Interval(math.nan, math.nan, level, name, undefined=undefined, note=f"no interval: {reason}")


def _too_few(n: int, undefined: int, resampled: str, units: int) -> str:
    """Why these units give no interval, or nothing."""
    if n < 3:
        return f"{units} {resampled} are too few to be resampled" if units != 1 else f"one of the {resampled} only"
    if undefined > MOST_UNDEFINED * n or n - undefined < 3:
        return f"the statistic is undefined without {undefined} of {n} {resampled}"
    return ""


def _variance(centre: float, moved: FloatArray, sizes: FloatArray) -> float:
    """The jackknife's variance of a statistic from its values without each group of *sizes* units."""
    if len(moved) < 2:
        return 0.0
    shares = sizes.sum() / sizes
    # the value that a group alone would stand for
    pseudo = shares * centre - (shares - 1) * moved
    middle = len(moved) * centre - float(((1 - 1 / shares) * moved).sum())
    return float(((pseudo - middle) ** 2 / (shares - 1)).mean())


def _is_nothing(variance: float, centre: float) -> bool:
    return math.sqrt(variance) <= _NOTHING * max(1.0, abs(centre))


def _wilson(share: float, variance: float, freedom: float, units: float, level: float) -> tuple[float, float]:
    """The shares p at which (share − p)² is t² times the variance that p would have."""
    spread = share * (1 - share)
    # where nothing varies, as many independent units
    effective = spread / variance if spread > 0 and not _is_nothing(variance, share) else units
    t = quantile_of_t(level, max(freedom, 1.0))
    weight = 1 + t * t / effective
    middle = (share + t * t / (2 * effective)) / weight
    margin = t * math.sqrt(max(spread, 0.0) / effective + t * t / (4 * effective * effective)) / weight
    # not beyond the share itself: at 0 and 1 rounding would leave 1e-17 of it out
    return max(0.0, min(share, middle - margin)), min(1.0, max(share, middle + margin))


_Transform = Callable[[FloatArray], FloatArray]


def _transforms(scale: Scale, ratings: float) -> tuple[_Transform, _Transform]:
    """A scale and its way back."""
    k = ratings

    def to_intraclass(x: FloatArray) -> FloatArray:
        return np.asarray(np.log(1 + (k - 1) * x) - np.log(1 - x))

    def from_intraclass(z: FloatArray) -> FloatArray:
        # (eᶻ − 1) / (eᶻ + k − 1), without an overflow
        return np.asarray(np.tanh(z / 2) * 2 / (2 + (k - 2) * (1 - np.tanh(z / 2))))

    pairs: dict[str, tuple[_Transform, _Transform]] = {
        "identity": (np.asarray, np.asarray),
        "wilson": (np.asarray, np.asarray),
        "fisher_z": (np.arctanh, np.tanh),
        "root_fisher_z": (lambda x: np.arctanh(np.sqrt(x)), lambda z: np.asarray(np.tanh(np.maximum(z, 0.0)) ** 2)),
        "intraclass_z": (to_intraclass, from_intraclass),
        "log_complement": (lambda x: np.asarray(-np.log1p(-x)), lambda z: np.asarray(-np.expm1(-z))),
    }
    return pairs[scale]
