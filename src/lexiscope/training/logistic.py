"""Logistic regression with a quadratic penalty, small enough to be fitted many times.

How strongly weights are drawn to zero is chosen by the likelihood of items that were not learnt from. Among the choices
is no weight at all, the answer that is most frequent: what cannot be learnt is then not learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError

PENALTIES = (10.0, 1.0, 0.1, 0.01)
"""The strengths that are tried, from strong to weak, beside an infinite one."""

_ITERATIONS = 200

Floats = np.ndarray[Any, np.dtype[np.float64]]
Truths = np.ndarray[Any, np.dtype[np.bool_]]
Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """Weights and constant of a fitted regression. *Shape:* weights (features,)."""

    weights: Floats
    constant: float

    def log_odds(self, matrix: Any) -> Floats:
        """Return the log odds of *true* for each row; above 0 the answer is *true*."""
        return np.asarray(matrix @ self.weights).ravel() + self.constant


def fit_logistic(matrix: Any, truths: Truths, penalty: float) -> Logistic:
    """Return the regression of *truths* on the rows of a dense or sparse matrix; the constant is not penalised.

    Minimised is the sum of −log likelihood plus penalty/2 times the squared length of the weights. With an infinite
    penalty the weights are 0.

    >>> fitted = fit_logistic(np.array([[1.0], [1.0], [-1.0], [-1.0]]), np.array([True, True, False, False]), 0.1)
    >>> (fitted.log_odds(np.array([[1.0], [-1.0]])) > 0).tolist()
    [True, False]
    """
    # loaded here: the help of a verb must not wait for it
    from scipy.optimize import minimize

    signs = np.where(truths, 1.0, -1.0)
    share = (truths.sum() + 0.5) / (len(truths) + 1)
    start = np.zeros(matrix.shape[1] + 1)
    start[-1] = np.log(share / (1 - share))
    if not np.isfinite(penalty) or not matrix.shape[1]:
        return Logistic(start[:-1], float(start[-1]))
    turned = matrix.T.tocsr() if hasattr(matrix, "tocsr") else matrix.T

    def loss(point: Floats) -> tuple[float, Floats]:
        weights = point[:-1]
        margins = signs * (np.asarray(matrix @ weights).ravel() + point[-1])
        # of the logistic loss and its slope, both without overflow
        slopes = -signs / (1 + np.exp(np.clip(margins, -500, 500)))
        gradient = np.append(np.asarray(turned @ slopes).ravel() + penalty * weights, slopes.sum())
        return float(np.logaddexp(0, -margins).sum() + penalty / 2 * weights @ weights), gradient

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}).x
    return Logistic(found[:-1], float(found[-1]))


def fit_chosen(matrix: Any, truths: Truths, train: Rows, dev: Rows, *, refit: bool) -> tuple[Logistic, float]:
    """Return the regression on *train* whose penalty is best on *dev*, and that penalty; of equal ones the strongest.

    With *refit* it is fitted again on both together.
    """
    learnt, chosen = matrix[train], matrix[dev]
    best, least, fitted = np.inf, np.inf, None
    for penalty in (np.inf, *PENALTIES):
        found = fit_logistic(learnt, truths[train], penalty)
        loss = round(float(np.logaddexp(0, -np.where(truths[dev], 1.0, -1.0) * found.log_odds(chosen)).mean()), 12)
        # a weaker penalty than one that is too weak fits the dev items worse still
        if loss >= least:
            break
        best, least, fitted = penalty, loss, found
    if refit or fitted is None:
        both = np.concatenate([train, dev])
        fitted = fit_logistic(matrix[both], truths[both], best)
    return fitted, best


def answered(matrix: Any, golds: Sequence[str], parts: Sequence[tuple[Rows, Rows, Rows]], *, refit: bool) -> list[str]:
    """Return the answers to the rows that are tested, in the order of their numbers.

    *parts* are the rows that are learnt from, that the penalty is chosen by, and that are tested: of a split one such
    triple, of folds one for each. There are two answers; of equally probable ones it is the first in order. The gold
    of a row that is only tested is not looked at.
    Errors: :class:`InputError` if other than two answers are learnt.
    """
    known = sorted({golds[row] for train, dev, _ in parts for row in (*train.tolist(), *dev.tolist())})
    if len(known) != 2:
        raise InputError(f"two answers can be learnt, not {', '.join(known)}", hint="give items of both answers")
    truths = np.array([gold == known[1] for gold in golds])
    found: dict[int, str] = {}
    for train, dev, test in parts:
        fitted, _ = fit_chosen(matrix, truths, train, dev, refit=refit)
        for row, odds in zip(test.tolist(), fitted.log_odds(matrix[test]).tolist(), strict=True):
            found[row] = known[int(odds > 0)]
    return [found[row] for row in sorted(found)]
