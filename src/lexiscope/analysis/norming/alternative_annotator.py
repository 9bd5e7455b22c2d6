"""The alternative annotator test: is a model closer to the other annotators than an annotator is, one after the other?

Each annotator is excluded in turn. On every item of this annotator the model and the annotator are compared with the
remaining annotators; the share of items on which the model is at least as close is its *advantage probability*. An
annotator's test asks if that share exceeds the annotator's own share by more than −ε: ε is what the annotators' higher
cost is worth. Tests are corrected by Benjamini and Yekutieli's method, which holds for any dependence. The *winning
rate* ω is the share of annotators whose test is rejected; the procedure allows replacing annotators from ω = .5.

*Source:* Calderon, Reichart & Dror 2025 (ACL), "The Alternative Annotator Test for LLM-as-a-Judge".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import BoolArray, FloatArray, IntArray, student_share
from lexiscope.analysis.families import benjamini_yekutieli
from lexiscope.analysis.jackknife import LeftOut, jackknife_interval, left_out_groups
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, Undefined, statistic_name
from lexiscope.core.showing import counted

Closeness = Literal["rmse", "accuracy"]
EPSILONS: Mapping[str, float] = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}
"""The cost-benefit margins that the paper proposes for kinds of annotators."""
FEWEST_ITEMS, FEWEST_ANNOTATORS = 30, 3
"""Fewer items of an annotator are too few for the t test, fewer annotators for the procedure."""
_MOST_LEFT_OUT = 100
"""More annotators are excluded in this number of groups."""
PASSED = 0.5
Q = 0.05


@dataclass(frozen=True, slots=True)
class AnnotatorTest:
    """The test of one annotator. *Unit:* shares of the annotator's items, 0 to 1.

    ``model`` is the share on which the model is at least as close to the others as the annotator, ``annotator`` the
    reverse (ties count for both). ``p`` is one-sided; ``p_adjusted`` corrects for the number of annotators.
    """

    rater_id: str
    model: float
    annotator: float
    n: int
    p: float
    p_adjusted: float

    @property
    def is_won(self) -> bool:
        """Return whether the model is at least as good as this annotator, given ε."""
        return self.p_adjusted <= Q


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """The outcome for one model: a test for each annotator with enough items, and the annotators without.

    ``epsilon`` is the margin, ``intervals`` those of both mean shares, of the model and of the annotators, over raters;
    ``left_out`` are the annotators with too few items.
    """

    tests: tuple[AnnotatorTest, ...]
    epsilon: float
    closeness: Closeness
    intervals: tuple[Interval, Interval]
    left_out: tuple[str, ...] = ()

    @property
    def winning_rate(self) -> float:
        """ω, the share of annotators whose test is won."""
        return float(np.mean([test.is_won for test in self.tests]))

    def results(self) -> tuple[Estimate, ...]:
        """Return the winning rate, the average advantage probability, and the share that annotators have on average."""
        options = {"closeness": self.closeness, "epsilon": f"{self.epsilon:g}"}
        n = len(self.tests)
        note = (
            f"excluded: {counted(len(self.left_out), 'annotator')} with fewer than {FEWEST_ITEMS} items"
            if self.left_out
            else ""
        )
        name = statistic_name("winning_rate", **options, correction="benjamini_yekutieli", q=Q)
        rate = Estimate(
            name, self.winning_rate, n=n, unit="share", note=note, higher="the model is closer than more annotators are"
        )
        shares = (
            ("advantage_probability", [test.model for test in self.tests]),
            ("annotator_advantage", [test.annotator for test in self.tests]),
        )
        return (
            rate,
            *(
                Estimate(
                    statistic_name(name, closeness=self.closeness), float(np.mean(values)), interval, n, n, unit="share"
                )
                for (name, values), interval in zip(shares, self.intervals, strict=True)
            ),
        )


def alternative_annotator_test(
    ratings: Ratings,
    model: ArrayLike,
    *,
    epsilon: float = EPSILONS["crowd"],
    closeness: Closeness = "rmse",
    fewest_items: int = FEWEST_ITEMS,
    resamples: int = 2000,
) -> AlternativeAnnotator:
    """Return the alternative annotator test of a model.

    *Shape:* model (items,), in the order of ``ratings.item_ids``, NaN where there is no answer. *closeness* compares
    with the other annotators of an item by the root of the mean squared difference (``rmse``, for ratings) or by the
    share of equal answers (``accuracy``, for labels). Items with one annotator, or without an answer of the model, do
    not count. The intervals of both mean shares exclude one annotator after the other, also from the others of those
    who stay: the shares of annotators are not independent.

    Errors: :class:`StatisticError` with fewer than 3 annotators of 30 items each (*fewest_items*).

    >>> raters, items = np.repeat(["a", "b", "c"], 40), [f"i{i:02}" for i in range(40)] * 3
    >>> base = np.arange(40) % 5
    >>> ratings = Ratings.from_arrays(raters, items, np.concatenate([base, base, (base + 2) % 5]))
    >>> test = alternative_annotator_test(ratings, base, epsilon=0.2)
    >>> [round(own.model, 2) for own in test.tests], test.winning_rate  # as close as a and b are, closer than c
    ([1.0, 1.0, 1.0], 1.0)
    """
    answers = np.asarray(model, dtype=np.float64)
    compared = _comparisons(ratings, answers, closeness)
    tests: list[tuple[str, float, float, int, float]] = []
    left_out, tested = [], np.zeros(ratings.n_raters, dtype=np.bool_)
    for code in np.unique(ratings.rater).tolist():
        wins, losses = (column[compared.rater == code] for column in (compared.wins, compared.losses))
        if len(wins) < max(fewest_items, 2):
            left_out.append(ratings.rater_ids[code])
            continue
        tested[code] = True
        p = _p(losses - wins, epsilon)
        tests.append((ratings.rater_ids[code], float(wins.mean()), float(losses.mean()), len(wins), p))
    if len(tests) < FEWEST_ANNOTATORS:
        what = f"the alternative annotator test needs {FEWEST_ANNOTATORS} annotators of {fewest_items} items"
        raise StatisticError(what, why=f"there are {len(tests)}")
    adjusted = benjamini_yekutieli([test[-1] for test in tests]).tolist()
    made = tuple(AnnotatorTest(*test, p_adjusted=p) for test, p in zip(tests, adjusted, strict=True))
    whole = compared.mean_shares(tested).tolist()
    intervals = _intervals(ratings, answers, closeness, tested, whole, resamples)
    return AlternativeAnnotator(made, epsilon, closeness, intervals, tuple(left_out))


class _Comparisons(NamedTuple):
    """Which of model and annotator is at least as close to the others, 1 or 0. *Shape of each:* (compared ratings,)."""

    rater: IntArray
    wins: FloatArray
    losses: FloatArray

    def mean_shares(self, annotators: BoolArray) -> FloatArray:
        """Both shares, of the model and of the annotator, as means over annotators with a comparison."""
        n = np.bincount(self.rater, minlength=len(annotators))
        kept = annotators & (n > 0)
        sums = (np.bincount(self.rater, column, len(annotators)) for column in (self.wins, self.losses))
        return np.array([float(np.mean(own[kept] / n[kept])) if kept.any() else np.nan for own in sums])


def _comparisons(ratings: Ratings, answers: FloatArray, closeness: Closeness) -> _Comparisons:
    of_model, of_annotator = _scores(ratings, answers, closeness)
    known = ~np.isnan(of_model)
    gap = of_model[known] - of_annotator[known]
    return _Comparisons(ratings.rater[known], (gap >= 0).astype(np.float64), (gap <= 0).astype(np.float64))


def _intervals(
    ratings: Ratings, answers: FloatArray, closeness: Closeness, tested: BoolArray, whole: list[float], resamples: int
) -> tuple[Interval, Interval]:
    """The jackknife intervals of both mean shares over raters."""
    fold, n_folds = left_out_groups(ratings.n_raters, resamples=resamples, seed=0, most=_MOST_LEFT_OUT)
    shares = []
    for number in range(n_folds if resamples else 0):
        kept = fold[ratings.rater] != number
        others = replace(ratings, rater=ratings.rater[kept], item=ratings.item[kept], value=ratings.value[kept])
        shares.append(_comparisons(others, answers, closeness).mean_shares(tested))
    if not shares:
        return NO_INTERVAL, NO_INTERVAL
    sizes = np.bincount(fold, minlength=n_folds).astype(np.float64)
    first, second = (
        jackknife_interval(value, LeftOut(column, sizes), resampled="raters", scale="wilson")
        for value, column in zip(whole, np.array(shares).T, strict=True)
    )
    return first, second


def _scores(ratings: Ratings, answers: FloatArray, closeness: Closeness) -> tuple[FloatArray, FloatArray]:
    """How close the model and the annotator of each rating are to the item's other annotators. *Shape:* (ratings,)."""
    item, value = ratings.item, ratings.value
    others: FloatArray = ratings.counts()[item].astype(np.float64) - 1.0
    of_model = answers[item]
    if closeness == "accuracy":
        same = [_equal_to_others(ratings, column) for column in (of_model, value)]
        # the annotator's own answer is none of the others
        return _over(same[0] - (of_model == value), others, of_model), _over(same[1] - 1, others, of_model)
    # the mean squared difference from the others, from sums over all of the item less the annotator's own
    middle = ratings.means()[item]
    first = np.bincount(item, weights=value - middle, minlength=ratings.n_items)[item]
    second = np.bincount(item, weights=(value - middle) ** 2, minlength=ratings.n_items)[item]
    own = value - middle
    total, squares = first - own, second - own**2
    distances = [
        _over(squares - 2 * (point - middle) * total + others * (point - middle) ** 2, others, of_model)
        for point in (of_model, value)
    ]
    # equal in fact, different in the last bit
    rounded = [np.sqrt(np.maximum(distance, 0.0)).round(9) for distance in distances]
    return np.asarray(-rounded[0]), np.asarray(-rounded[1])


def _over(total: FloatArray, n: FloatArray, known: FloatArray) -> FloatArray:
    return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=(n > 0) & ~np.isnan(known)))


def _equal_to_others(ratings: Ratings, column: FloatArray) -> FloatArray:
    """How many ratings of the item of each rating equal the *column*. *Shape:* (ratings,)."""
    points, code = np.unique(np.concatenate([ratings.value, column]), return_inverse=True)
    n = len(points)
    counts = np.bincount(ratings.item * n + code[: len(ratings)], minlength=ratings.n_items * n)
    return np.asarray(counts[ratings.item * n + code[len(ratings) :]], dtype=np.float64)


def _p(difference: FloatArray, epsilon: float) -> float:
    """The one-sided p of a paired t test that the mean difference, annotator minus model, is below *epsilon*."""
    n = len(difference)
    spread = float(difference.std(ddof=1))
    gap = float(difference.mean()) - epsilon
    if spread < 1e-12:
        # no item differs from the others: the sign decides
        return 0.0 if gap < 0 else 1.0
    return student_share(gap / (spread / np.sqrt(n)), n - 1)


def undefined_test(reason: str, closeness: Closeness, epsilon: float) -> Undefined:
    """Return the winning rate of a model that cannot be tested, with the reason."""
    options = {"closeness": closeness, "epsilon": f"{epsilon:g}"}
    return Undefined(statistic_name("winning_rate", **options, correction="benjamini_yekutieli", q=Q), reason)
