"""Learners that cost seconds, learnt from one view at a time: a regression on features, and a learner that counts.

Both answer the tested items of divided items (:class:`~lexiscope.items.arrange.splits.ItemDivision`); of folds each
is answered by a learner that learnt from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.build.planted.bias import count_answers, texts_of
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, InputError, Place
from lexiscope.core.item import Item
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.items.arrange.views import GUESSED_WORD, view_item
from lexiscope.items.sheets.guessed_word import GUESS_OF

Features = Callable[[Sequence[Item], Sequence[Item], str], Any]
"""The features of items, and of further ones, in a view: a dense or sparse matrix. *Shape:* (both, features)."""


@dataclass(frozen=True, slots=True)
class Further:
    """An item that is asked in addition to the tested ones, as it is shown, in which view, and the item behind it."""

    shown: Item
    view: str
    origin: str


def with_guesses(parts: ItemDivision, guessed: Sequence[Item], known: Sequence[Item]) -> tuple[Further, ...]:
    """Return guessed words in the place of the word, and those *known* items behind them that are not tested."""
    tested, wanted = {item.item_id for item in parts.test}, {str(item.condition(GUESS_OF)) for item in guessed}
    others = [item for item in known if item.item_id in wanted - tested]
    return (
        *(Further(view_item(item, GUESSED_WORD), GUESSED_WORD, str(item.condition(GUESS_OF))) for item in guessed),
        *(Further(item, "full", item.item_id) for item in others),
    )


def regression_log_odds(parts: ItemDivision, matrix: Any, further: Sequence[Further] = ()) -> FittedOdds:
    """Return the log odds of a logistic regression for the tested items, then for *further* ones.

    The rows of *matrix*, the features in one view, are those of the labelled items, then those of *further*. A penalty
    is chosen on dev, of folds on the next fold; a further item is asked with the item behind it.
    """
    items, n = parts.all_items, parts.n_folds
    rows, added = np.arange(len(items)), np.arange(len(items), len(items) + len(further))
    if n:
        folds = np.array(parts.folds)
        fold_of = {item.item_id: fold for item, fold in zip(items, parts.folds, strict=True)}
        of_added = np.array([fold_of[item.origin] for item in further], dtype=np.int64)
        turns = [
            (
                rows[(folds != fold) & (folds != (fold + 1) % n)],
                rows[folds == (fold + 1) % n],
                np.concatenate([rows[folds == fold], added[of_added == fold]]),
            )
            for fold in range(n)
        ]
    else:
        learnt, chosen = len(parts.train), len(parts.train) + len(parts.dev)
        turns = [(rows[:learnt], rows[learnt:chosen], np.concatenate([rows[chosen:], added]))]
    golds = [str(item.gold) for item in (*items, *(item.shown for item in further))]
    return predict_log_odds(matrix, golds, turns, refit=bool(n))


def counted_answers(parts: ItemDivision, items: Sequence[Item], view: str) -> list[str]:
    """Return the answers to tested *items*: the most frequent ones of the same shown texts in training."""
    answers: dict[str, str] = {}
    wanted = {item.item_id for item in items}
    for learnt, tested in parts.turns():
        asked = [item for item in tested if item.item_id in wanted]
        answers |= dict(zip([item.item_id for item in asked], count_answers(learnt, asked, view), strict=True))
    return [answers[item.item_id] for item in items]


def unseen_texts(parts: ItemDivision, view: str) -> str:
    """Return why the learner that counts cannot see a view: most texts of it are new to it; empty if it can."""
    seen = 0
    for learnt, tested in parts.turns():
        known = {texts_of(item, view) for item in learnt}
        seen += sum(texts_of(item, view) in known for item in tested)
    n = len(parts.test)
    if 2 * seen >= n:
        return ""
    return f"it recognises whole texts, and those of {seen} of {n} tested items occur in training"


def check_mask(encoder: str, item: Item) -> None:
    """Check, before anything is trained, that an encoder can hide a target.

    Errors: :class:`CapabilityError` naming *item* as one that it could not be shown; those of the encoder's files.
    """
    subject: Any = catalog.subject(f"encoder:{encoder}")
    try:
        # read for its refusal alone
        _ = subject.mask_token
    except CapabilityError as error:
        hint = "take an encoder that was trained with masks, such as minilm"
        raise CapabilityError(error.what, place=Place(item_id=item.item_id), hint=hint) from error


# -- logistic regression with a quadratic penalty, small enough to be fitted many times -----------------------------
# How strongly weights are drawn to zero is chosen by the likelihood of items that were not learnt from. Among the
# choices is no weight at all, the answer that is most frequent: what cannot be learnt is then not learnt.


PENALTIES = (10.0, 1.0, 0.1, 0.01)
"""The strengths that are tried, from strong to weak, in addition to an infinite one."""
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


@dataclass(frozen=True, slots=True, eq=False)
class FittedOdds:
    """The log odds of the second of two answers for each row, in nats. *Shape:* odds (rows,)."""

    known: tuple[str, str]
    odds: Floats

    @property
    def answers(self) -> list[str]:
        """The more probable answer of each row; of equally probable ones the first in order."""
        return [self.known[int(odds > 0)] for odds in self.odds.tolist()]

    def of_right(self, golds: Sequence[str]) -> list[float]:
        """Return the log odds of the correct answer of each row."""
        return [odds if gold == self.known[1] else -odds for odds, gold in zip(self.odds.tolist(), golds, strict=True)]


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

    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}).x
    return Logistic(optimum[:-1], float(optimum[-1]))


def fit_best_penalty(matrix: Any, truths: Truths, train: Rows, dev: Rows, *, refit: bool) -> tuple[Logistic, float]:
    """Return the regression on *train* whose penalty is best on *dev*, and that penalty; of equal ones the strongest.

    With *refit* it is fitted again on both together.
    """
    learnt, chosen = matrix[train], matrix[dev]
    best, least, fitted = np.inf, np.inf, None
    for penalty in (np.inf, *PENALTIES):
        candidate = fit_logistic(learnt, truths[train], penalty)
        loss = round(float(np.logaddexp(0, -np.where(truths[dev], 1.0, -1.0) * candidate.log_odds(chosen)).mean()), 12)
        # a weaker penalty than one that is too weak fits the dev items worse still
        if loss >= least:
            break
        best, least, fitted = penalty, loss, candidate
    if refit or fitted is None:
        both = np.concatenate([train, dev])
        fitted = fit_logistic(matrix[both], truths[both], best)
    return fitted, best


def predict_log_odds(
    matrix: Any, golds: Sequence[str], parts: Sequence[tuple[Rows, Rows, Rows]], *, refit: bool
) -> FittedOdds:
    """Return the log odds for the rows that are tested, in the order of their numbers.

    *parts* are the rows that are learnt from, that the penalty is chosen by, and that are tested: of a split one such
    triple, of folds one for each. The gold of a row that is only tested is not looked at.
    Errors: :class:`InputError` if other than two answers are learnt.
    """
    known = sorted({golds[row] for train, dev, _ in parts for row in (*train.tolist(), *dev.tolist())})
    if len(known) != 2:
        raise InputError(f"two answers can be learnt, not {', '.join(known)}", hint="give items of both answers")
    truths = np.array([gold == known[1] for gold in golds])
    odds: dict[int, float] = {}
    for train, dev, test in parts:
        fitted, _ = fit_best_penalty(matrix, truths, train, dev, refit=refit)
        odds |= dict(zip(test.tolist(), fitted.log_odds(matrix[test]).tolist(), strict=True))
    return FittedOdds((known[0], known[1]), np.array([odds[row] for row in sorted(odds)]))
