"""Centaur norms: the mean rating of an item by people, combined with what a model predicts for it.

An item's mean of n ratings is off by σ² / n, the variance of ratings of one item; a prediction from the model is off by
τ², the variance of true norms around it. The best combination weights the people's mean by τ² / (τ² + σ² / n) and the
prediction by the rest. This is the estimator of small-area statistics (Fay & Herriot 1979): few ratings lean on the
model, many ratings need none. The line from the model's answers to norms, τ² and σ² are learnt on the items of other
words (cross-fitting), so that no item's own ratings decide how they are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.bootstrap import FloatArray, IntArray, group_codes, group_folds
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError

FOLDS = 10
FEWEST = 8
"""A line, τ² and σ² are learnt from at least this number of rated items."""


@dataclass(frozen=True, slots=True, eq=False)
class CentaurNorms:
    """What combines people and a model, item by item. *Shape of each:* (items,). *Unit:* that of the ratings.

    ``predicted`` is the norm that the model's answer predicts, NaN if there is no answer. ``between`` is τ² and
    ``within`` σ², as learnt on other words; ``of_line`` and ``of_between`` are the variances of the line at the model's
    answer and of τ², which finitely many items leave open, ``freedom`` the degrees of freedom of σ². ``people`` is the
    mean of ``n`` ratings (NaN where n is 0).
    """

    predicted: FloatArray
    between: FloatArray
    within: FloatArray
    of_line: FloatArray
    of_between: FloatArray
    freedom: FloatArray
    people: FloatArray
    n: IntArray

    def of(self, rows: ArrayLike) -> CentaurNorms:
        """Return the same of some items. *Shape:* rows (items,), indices or booleans."""
        chosen = np.asarray(rows)
        return CentaurNorms(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def weight(self, n: ArrayLike) -> FloatArray:
        """Return the weight of the mean of *n* people; the prediction has the rest. 0 of no people.

        An item without an answer of the model leans on people alone.
        """
        number = np.asarray(n, dtype=np.float64)
        error = np.divide(self.within, number, out=np.full(self.within.shape, np.inf), where=number > 0)
        weight = np.where(
            np.isinf(error), 0.0, self.between / np.where(self.between + error > 0, self.between + error, 1)
        )
        weight = np.where((self.between == 0) & (self.within == 0) & (number > 0), 1.0, weight)
        return np.where(np.isnan(self.predicted), 1.0, weight)

    def combined(self, people: ArrayLike, n: ArrayLike) -> FloatArray:
        """Return the centaur norms of items whose mean of *n* people is *people*. *Shape:* (…, items)."""
        mean, weight = np.asarray(people, dtype=np.float64), self.weight(n)
        guess = np.where(np.isnan(self.predicted), 0.0, self.predicted)
        return np.where(weight == 0, guess, weight * np.where(weight == 0, 0.0, mean) + (1 - weight) * guess)

    @property
    def norms(self) -> FloatArray:
        """The centaur norm of each item."""
        return self.combined(self.people, self.n)

    @property
    def errors(self) -> FloatArray:
        """The standard error of each centaur norm, with what the learnt line, τ² and σ² add to it.

        With D = σ² / n, V = τ² + D and the weight w of people, the square is w D, the line's variance times (1 − w)²,
        and twice what wrong weights cost: D² / V times the relative variances of V and of D. For an item that no people
        rated, it is τ² and the line's variance. With everything taken as known, ± 1.96 errors held 85 % of the true
        norms where 60 items had two ratings each.
        *Source:* Prasad & Rao 1990, JASA 85; for this τ², Datta, Rao & Smith 2005, Biometrika 92; for an estimated D,
        Wang & Fuller 2003, JASA 98.
        """
        weight, given = self.weight(self.n), ~np.isnan(self.predicted)
        error = self.within / np.maximum(self.n, 1)
        whole = self.between + error
        some = whole > 0
        of_whole = np.divide(self.of_between, whole**2, out=np.zeros(len(whole)), where=some)
        cost = np.divide(error**2, whole, out=np.zeros(len(whole)), where=some) * (of_whole + 2 / self.freedom)
        learnt = np.where(given, (1 - weight) ** 2 * self.of_line + 2 * cost, 0.0)
        return np.sqrt(np.where(self.n > 0, weight * error + learnt, self.between + self.of_line))

    @property
    def errors_of_people(self) -> FloatArray:
        """The standard error of each mean of people alone, √(σ² / n); infinite without people."""
        return np.sqrt(np.where(self.n > 0, self.within / np.maximum(self.n, 1), np.inf))


def centaur_norms(
    ratings: Ratings, model: ArrayLike, *, groups: ArrayLike | None = None, folds: int = FOLDS, seed: int = 0
) -> CentaurNorms:
    """Return the centaur norms of the items of *ratings* with a model's answers, weights learnt on other *groups*.

    *Shape:* model, groups (items,), in the order of ``ratings.item_ids``. NaN is an item that the model did not answer.
    *Source:* Fay & Herriot 1979, JASA 74; τ² by Paule & Mandel 1982.

    Errors: :class:`StatisticError` with fewer than 8 rated and answered items, fewer than 2 groups, or without any
    item that two people rated.

    >>> items = [f"i{i:02}" for i in range(12)]
    >>> ratings = Ratings.from_arrays(["a"] * 12 + ["b"] * 12, items * 2, [*range(12), *range(2, 14)])
    >>> centaurs = centaur_norms(ratings, range(12))
    >>> round(float(centaurs.norms[3]), 6), float(centaurs.within[0])  # the model predicts people's means without error
    (4.0, 2.0)
    """
    answers = np.asarray(model, dtype=np.float64)
    counts = ratings.counts()
    means = ratings.means()
    squares = np.bincount(ratings.item, weights=(ratings.value - means[ratings.item]) ** 2, minlength=ratings.n_items)
    return centaur_norms_of(means, counts, squares.astype(np.float64), answers, groups=groups, folds=folds, seed=seed)


def centaur_norms_of(
    people: FloatArray,
    n: IntArray,
    squares: FloatArray,
    model: FloatArray,
    *,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    seed: int = 0,
) -> CentaurNorms:
    """Return the same of items some of which no people rated: their n is 0.

    *squares* are the sums of squared deviations of an item's ratings from their mean. *Shape of each:* (items,).
    """
    codes, n_groups = group_codes(groups, len(model))
    fold = group_folds(codes, n_groups, folds=folds, seed=seed)
    predicted, between, within, of_line, of_between, degrees = (np.full(len(model), np.nan) for _ in range(6))
    known = (n > 0) & ~np.isnan(model)
    for number in np.unique(fold).tolist():
        own, train = fold == number, known & (fold != number)
        if train.sum() < FEWEST:
            what = f"centaur norms need {FEWEST} items that people rated and the model answered"
            raise StatisticError(what, why=f"outside one tenth of the words there are {int(train.sum())}")
        freedom = float(np.maximum(n[train] - 1, 0).sum())
        if freedom <= 0:
            raise StatisticError("centaur norms need items with two ratings", why="one rating shows no variance")
        sigma2 = float(squares[train].sum()) / freedom
        predicted[own], of_line[own], between[own], of_between[own] = _line(
            model[train], people[train], sigma2 / n[train], model[own]
        )
        within[own], degrees[own] = sigma2, freedom
    return CentaurNorms(predicted, between, within, of_line, of_between, degrees, people, n)


def _line(
    x: FloatArray, y: FloatArray, error: FloatArray, at: FloatArray
) -> tuple[FloatArray, FloatArray, float, float]:
    """The line of y on x, where y has a known *error* variance, and the variance around it, each with its variance.

    Returned are the line and its variance at other x (*at*), τ² and its variance.
    """
    rank = 2 if np.ptp(x) > 0 else 1

    def weights(tau2: float) -> FloatArray:
        return np.asarray(1 / (tau2 + error + _TINY * (1 + float(np.var(y)))))

    def fit(weight: FloatArray) -> tuple[float, float, float, float]:
        middle, level = float(weight @ x / weight.sum()), float(weight @ y / weight.sum())
        spread = float(weight @ (x - middle) ** 2)
        slope = float(weight @ ((x - middle) * (y - level))) / spread if rank == 2 else 0.0
        return middle, level, slope, spread

    def squares(tau2: float) -> float:
        middle, level, slope, _ = fit(weight := weights(tau2))
        return float(weight @ (y - level - slope * (x - middle)) ** 2)

    low, high = 0.0, float(np.var(y)) + float(error.max())
    if squares(0.0) > len(x) - rank:
        # what is left over beyond the known error is τ²: weighted squares equal their degrees of freedom
        for _ in range(50):
            half = (low + high) / 2
            low, high = (half, high) if squares(half) > len(x) - rank else (low, half)
    tau2 = (low + high) / 2 if low > 0 else 0.0
    middle, level, slope, spread = fit(weight := weights(tau2))
    total = float(weight.sum())
    of_line = 1 / total + ((at - middle) ** 2 / spread if rank == 2 else np.zeros(len(at)))
    return level + slope * (at - middle), of_line, tau2, 2 * len(x) / total**2


_TINY = 1e-12
"""A share of the variance that keeps the weights of ratings without any error finite."""
