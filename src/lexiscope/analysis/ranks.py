"""Sets of ranks: the ranks of subjects that the paired differences of a statistic leave open.

Two subjects differ where the interval of their difference excludes 0; the intervals hold for all pairs together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import (
    MOST_UNDEFINED,
    FloatArray,
    IntArray,
    group_codes,
    groups_of,
    ratio_draws,
    resampled_units,
    student_quantile,
)
from lexiscope.analysis.correlation import Kind, correlation_draws, correlation_value
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Undefined, statistic_name
from lexiscope.core.showing import counted

CORRELATIONS: tuple[Kind, ...] = get_args(Kind)
MEANS = ("accuracy", "mean")


@dataclass(frozen=True, slots=True)
class RankSet:
    """The ranks of one of several sides that the differences leave open: from ``best`` to ``worst``; 1 is the highest.

    It is surely below ``best − 1`` others, and surely above all but ``worst − 1``.
    """

    best: int
    worst: int

    def __str__(self) -> str:
        return str(self.best) if self.best == self.worst else f"{self.best}–{self.worst}"


def rank_results(
    statistic: str,
    columns: Mapping[str, ArrayLike],
    target: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> list[Estimate | Undefined]:
    """Return the rank of each subject by a statistic of its answers, with its set of ranks in the place of an interval.

    *columns* are the answers by subject, NaN where there is none; *target* is what correlations are with (the norms).
    Only items that all subjects answered are compared; the note counts the others. The rank is that of the value, 1 the
    highest; the bounds are those of :func:`~lexiscope.analysis.comparison.rank_sets`. A subject whose statistic is
    undefined has no rank, and does not stop the others. Of one subject nothing is returned.

    *statistic* is ``spearman``, ``pearson``, ``r_squared``, ``accuracy`` or ``mean``.
    *Shape:* columns, target and groups (items,). *Source:* Mogstad, Romano, Shaikh & Wilhelm 2024.
    Errors: :class:`StatisticError` for another statistic.

    >>> right = {"a": [1] * 6, "b": [1] * 6, "c": [0] * 6}
    >>> [(rank.name, rank.value, rank.interval.high) for rank in rank_results("accuracy", right)][1:]
    [('rank(of=accuracy,among=subjects)', 1.0, 2.0), ('rank(of=accuracy,among=subjects)', 3.0, 3.0)]
    """
    if statistic not in (*CORRELATIONS, *MEANS):
        raise StatisticError(f"no ranks by {statistic!r}", hint=f"valid names: {', '.join((*CORRELATIONS, *MEANS))}")
    name = statistic_name("rank", of=statistic, among="subjects")
    subjects = list(columns)
    if len(subjects) < 2:
        return []
    answers = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns.values()])
    norm = np.zeros(len(answers)) if target is None else np.asarray(target, dtype=np.float64)
    # a subject that answered nothing would leave nothing for the others
    some = np.asarray(~np.isnan(answers).all(axis=0))
    both = np.asarray(~(np.isnan(answers[:, some]).any(axis=1) | np.isnan(norm)), dtype=bool)
    n, units, labels = int(both.sum()), resampled_units(groups), groups_of(groups, both)
    kind = next((kind for kind in CORRELATIONS if kind == statistic), None)
    known: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for place, subject in enumerate(subjects):
        if not some[place] or not n:
            reasons[subject] = "there is no item that all subjects answered" if some[place] else "it answered no item"
            continue
        try:
            column = answers[both, place]
            known[subject] = float(column.mean()) if kind is None else correlation_value(column, norm[both], kind=kind)
        except StatisticError as error:
            reasons[subject] = error.what
    values = np.array(list(known.values()))
    sets: tuple[RankSet, ...] = ()
    try:
        if len(known) < 2:
            raise StatisticError("no other subject has a value to compare it with")
        if not resamples:
            raise StatisticError("a set of ranks needs resamples of more than one group")
        codes, n_groups = group_codes(labels, n)
        kept = answers[both][:, [subject in known for subject in subjects]]
        # the same resamples for all columns
        draws = (
            ratio_draws(kept, np.ones(len(kept)), codes, n_groups, resamples=resamples, seed=seed)
            if kind is None
            else correlation_draws(kept, norm[both], kind=kind, groups=codes, resamples=resamples, seed=seed)
        )
        sets = rank_sets_of_draws(values, draws, level, n_groups)
    except StatisticError as error:
        reasons |= dict.fromkeys(known, error.what)
    dropped = len(answers) - n
    note = f"excluded: {counted(dropped, 'item')} that not all of them answered" if dropped else ""
    method = statistic_name(
        "set_of_ranks", method="simultaneous", resampled=units, level=f"{level:g}", resamples=resamples
    )
    ranked = {
        subject: Estimate(
            name,
            1.0 + int((values > value).sum()),
            Interval(float(ranks.best), float(ranks.worst), level, method, resamples),
            n,
            n_groups,
            subject=subject,
            unit="rank",
            higher="further from the first",
            note=note,
        )
        for (subject, value), ranks in zip(known.items(), sets, strict=bool(sets))
    }
    return [ranked.get(s) or Undefined(name, reasons[s], n, subject=s, unit="rank") for s in subjects]


def rank_sets_of_draws(values: FloatArray, draws: FloatArray, level: float, n_groups: int) -> tuple[RankSet, ...]:
    """Return the sets of ranks of values by their draws, all intervals of differences together.

    *Shape:* values (sides,), draws (resamples, sides), NaN where undefined. *n_groups* are the groups resampled.
    Errors: :class:`StatisticError` where too many draws have no value.
    """
    first, second, differences, reach = simultaneous_differences(values, draws, level, n_groups)
    return rank_sets_of_differences(first, second, differences, reach)


def rank_sets_of_differences(
    first: IntArray, second: IntArray, differences: FloatArray, reach: FloatArray
) -> tuple[RankSet, ...]:
    """Return the sets of ranks that the differences of all pairs leave open, in the order of the sides.

    *Shape:* (pairs,) each, as :func:`simultaneous_differences` returns them.

    >>> pairs = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> [str(ranks) for ranks in rank_sets_of_differences(*pairs, np.array([0.1, 0.5, 0.4]), np.full(3, 0.2))]
    ['1–2', '1–2', '3']
    """
    n = int(second.max()) + 1
    differ = np.abs(differences) > reach
    above = np.zeros((n, n), dtype=bool)
    above[first, second] = differ & (differences > 0)
    above[second, first] = differ & (differences < 0)
    beaten, beats = above.sum(axis=0).tolist(), above.sum(axis=1).tolist()
    return tuple(RankSet(1 + more, n - fewer) for more, fewer in zip(beaten, beats, strict=True))


def simultaneous_differences(
    values: FloatArray, draws: FloatArray, level: float, n_groups: int
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return, for each pair of sides, both numbers, their difference, and the length of its interval on either side.

    The intervals hold for all pairs together: the largest deviation of any pair in a resample, in standard errors of
    the pair, sets their width. *Shape:* as :func:`rank_sets_of_draws` → (pairs,) each.
    Errors: :class:`StatisticError` where too many draws have no value.
    """
    defined = draws[~np.isnan(draws).any(axis=1)]
    if len(defined) < (1 - MOST_UNDEFINED) * len(draws) or not len(defined):
        missing = f"{len(draws) - len(defined)} of {len(draws)} resamples"
        raise StatisticError(f"ranks are undefined: a value is missing in {missing}")
    first, second = np.triu_indices(len(values), 1)
    differences = values[first] - values[second]
    deviations = defined[:, first] - defined[:, second] - differences
    errors = deviations.std(axis=0, ddof=1)
    # two sides that never vary against each other differ as they do in the data
    sound = errors > 0
    scaled = np.abs(deviations[:, sound]) / errors[sound]
    bound = _expanded_bound(float(np.quantile(scaled.max(axis=1), level)), n_groups) if sound.any() else 0.0
    return first, second, differences, bound * errors


def _expanded_bound(bound: float, n_groups: int) -> float:
    """The bound of few groups: resamples vary too little, and Student's t reaches further than they do.

    As in the expanded percentiles of :func:`~lexiscope.analysis.bootstrap.percentile_interval`: √(n / (n − 1)) times
    the quantile of t that has the share of the bound under the normal distribution.
    """
    # beyond 7 the share cannot be told from 1
    share = 2 * NormalDist().cdf(min(bound, 7.0)) - 1
    return max(bound, math.sqrt(n_groups / (n_groups - 1)) * student_quantile(share, n_groups - 1))
