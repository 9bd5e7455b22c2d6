"""The logistic regression of the audit, compared with scikit-learn's, and with nothing to learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from lexiscope.core.errors import InputError
from lexiscope.training.view_learners import fit_best_penalty, fit_logistic, predict_answers


@pytest.mark.parametrize("penalty", [10.0, 1.0, 0.1])
def test_weights_are_those_of_scikit_learn(penalty: float) -> None:
    """The same loss (sum of −log likelihood, penalty/2 · |w|², free constant), dense and sparse: weights to 1e-3."""
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(120, 6))
    truths = matrix @ rng.normal(size=6) + rng.logistic(size=120) > 0.5
    theirs = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=5000).fit(matrix, truths)
    for given in (matrix, sparse.csr_matrix(matrix)):
        ours = fit_logistic(given, truths, penalty)
        assert ours.weights == pytest.approx(theirs.coef_[0], abs=1e-3)
        assert ours.constant == pytest.approx(theirs.intercept_[0], abs=1e-3)


def test_what_cannot_be_learnt_gets_no_weight() -> None:
    """Labels by a coin, many features: the infinite penalty is chosen, and every answer is the most frequent one."""
    rng = np.random.default_rng(5)
    matrix, truths, rows = rng.normal(size=(300, 50)), rng.random(300) < 0.6, np.arange(300)
    fitted, penalty = fit_best_penalty(matrix, truths, rows[:200], rows[200:], refit=True)
    assert penalty == np.inf
    assert not fitted.weights.any()
    assert (fitted.log_odds(matrix) > 0).all()


def test_answers_come_in_the_order_of_the_rows() -> None:
    """Two folds in any order give one answer to each row; other than two answers are refused."""
    matrix = np.array([[1.0], [-1.0]] * 6)
    golds, rows = ["t", "f"] * 6, np.arange(12)
    parts = [(rows[:4], rows[4:6], rows[6:]), (rows[6:10], rows[10:], rows[:6])]
    assert predict_answers(matrix, golds, parts, refit=True) == golds
    with pytest.raises(InputError, match="two answers"):
        predict_answers(matrix, ["t"] * 12, parts, refit=True)
