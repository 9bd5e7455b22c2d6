"""Learners of one view: folds, further items, what they cannot see, and the logistic regression they rest on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.training.view_learners import (
    Further,
    counted_answers,
    fit_best_penalty,
    fit_logistic,
    predict_log_odds,
    regression_log_odds,
    unseen_texts,
    with_guesses,
)


def item(number: int, gold: str, text: str = "a bank") -> Item:
    """A pair of equal usages."""
    usage = Usage(text, 2, len(text))
    return Item(f"i{number}", "d", (usage, usage), gold=gold)


def test_a_further_item_is_answered_by_the_fold_of_the_item_behind_it() -> None:
    """The feature gives the label away, but in fold 0 its sign is turned: only a learner of the other folds gets that
    wrong, for the tested items of fold 0 and for the further item that belongs to one of them."""
    items = tuple(item(n, "tf"[n % 2]) for n in range(80))
    folds = tuple(n // 2 % 8 for n in range(80))
    sign = np.array([1.0 if one.gold == "t" else -1.0 for one in items])
    sign[np.array(folds) == 0] *= -1
    further = (Further(items[0], "guessed_word", "i0"), Further(items[2], "guessed_word", "i2"))
    matrix = np.concatenate([sign, [sign[0], sign[2]]])[:, None]
    answers = regression_log_odds(ItemDivision((), (), items, folds), matrix, further).answers
    right = [answer == one.gold for one, answer in zip(items, answers, strict=False)]
    # fold 7 is left aside: its penalty is chosen on fold 0
    assert [own for own, fold in zip(right, folds, strict=True) if fold < 7] == [
        fold != 0 for fold in folds if fold < 7
    ]
    # i0 is a t in fold 0, i2 a t in fold 1
    assert answers[80:] == ["f", "t"]


def test_of_splits_only_the_test_is_answered() -> None:
    """20 items to learn from, 4 to choose by, 4 tested: 4 answers, all of them right where the feature is the label."""
    items = tuple(item(n, "tf"[n % 2]) for n in range(28))
    matrix = np.array([1.0 if one.gold == "t" else -1.0 for one in items])[:, None]
    parts = ItemDivision(items[:20], items[20:24], items[24:])
    assert regression_log_odds(parts, matrix).answers == [str(one.gold) for one in items[24:]]


def test_guesses_are_asked_with_the_items_behind_them() -> None:
    """An item that is tested anyway is asked once; one that is not tested is asked in full too."""
    tested, other = item(1, "t"), item(2, "f")
    conditions = {"guess_of": "i2", "guess": "shore", "guessed_word_1": "shore", "guessed_word_2": "shore"}
    guess = Item("i2/shore", "d", other.usages, conditions=conditions)
    found = with_guesses(ItemDivision((), (), (tested,)), [guess], [tested, other])
    assert [(one.view, one.origin, one.shown.item_id) for one in found] == [
        ("guessed_word", "i2", "i2/shore"),
        ("full", "i2", "i2"),
    ]


def test_the_learner_that_counts_sees_only_texts_that_it_knows() -> None:
    """It answers the most frequent label of the same texts; if most tested texts are new, it cannot see the view."""
    train = (item(1, "f", "a bank"), item(2, "f", "a bank"), item(3, "t", "a bat"))
    known, new = item(4, "t", "a bank"), item(5, "t", "a bow")
    parts = ItemDivision(train, (), (known, new))
    assert counted_answers(parts, [known, new], "full") == ["f", "f"]
    assert unseen_texts(parts, "full") == ""
    told = unseen_texts(ItemDivision(train, (), (known, new, item(6, "t", "a bar"))), "full")
    assert told == "it recognises whole texts, and those of 1 of 3 tested items occur in training"


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
    assert predict_log_odds(matrix, golds, parts, refit=True).answers == golds
    with pytest.raises(InputError, match="two answers"):
        predict_log_odds(matrix, ["t"] * 12, parts, refit=True)
