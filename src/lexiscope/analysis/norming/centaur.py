"""Centaur norms: the mean rating of an item by people, combined with what a model predicts for it.

An item's mean of n ratings is off by σ² / n, the variance of ratings of one item; a prediction from the model is off by
τ², the variance of true norms around it. The best combination weights the people's mean by τ² / (τ² + σ² / n) and the
prediction by the rest. This is the estimator of small-area statistics (Fay & Herriot 1979): few ratings lean on the
model, many ratings need none. The line from the model's answers to norms, τ² and σ² are learnt on the items of other
words (cross-fitting), so that no item's own ratings decide how they are weighted.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    ``within`` σ², as learnt on other words. ``people`` is the mean of ``n`` ratings (NaN where n is 0).
    """

    predicted: FloatArray
    between: FloatArray
    within: FloatArray
    people: FloatArray
    n: IntArray

    def of(self, rows: ArrayLike) -> CentaurNorms:
        """Return the same of some items. *Shape:* rows (items,), indices or booleans."""
        chosen = np.asarray(rows)
        parts = (self.predicted[chosen], self.between[chosen], self.within[chosen], self.people[chosen])
        return CentaurNorms(*parts, self.n[chosen])

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
        """The standard error of each centaur norm: √(w σ² / n), or τ of an item that no people rated.

        It takes the line, τ² and σ² as known, which are learnt from many items.
        """
        weight, number = self.weight(self.n), np.maximum(self.n, 1)
        return np.sqrt(np.where(self.n > 0, weight * self.within / number, self.between))

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
    predicted, between, within = (np.full(len(model), np.nan) for _ in range(3))
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
        line, tau2 = _line(model[train], people[train], sigma2 / n[train])
        predicted[own] = line[0] + line[1] * model[own]
        between[own], within[own] = tau2, sigma2
    return CentaurNorms(predicted, between, within, people, n)


def _line(x: FloatArray, y: FloatArray, error: FloatArray) -> tuple[tuple[float, float], float]:
    """Intercept and slope of y on x with the variance around the line, where y has a known *error* variance."""
    rank = 2 if np.ptp(x) > 0 else 1

    def fit(tau2: float) -> tuple[float, float, float]:
        weight = 1 / (tau2 + error + _TINY * (1 + float(np.var(y))))
        middle, level = float(weight @ x / weight.sum()), float(weight @ y / weight.sum())
        spread = float(weight @ (x - middle) ** 2)
        slope = float(weight @ ((x - middle) * (y - level))) / spread if rank == 2 else 0.0
        intercept = level - slope * middle
        return intercept, slope, float(weight @ (y - intercept - slope * x) ** 2)

    low, high = 0.0, float(np.var(y)) + float(error.max())
    if fit(0.0)[2] > len(x) - rank:
        # what is left over beyond the known error is τ²: weighted squares equal their degrees of freedom
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if fit(middle)[2] > len(x) - rank else (low, middle)
    tau2 = (low + high) / 2 if low > 0 else 0.0
    return fit(tau2)[:2], tau2


_TINY = 1e-12
"""A share of the variance that keeps the weights of ratings without any error finite."""
