"""Right answers of models in a table: degrees and choices, by subject, view, measure and layer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.right_answers import choice_accuracy_by_layer, choices_right, degrees_right, mean_chance
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Curve, Estimate, Undefined

N = 40
ITEMS = [f"i{n}" for n in range(N)]
TRUTH = {item: n % 2 == 0 for n, item in enumerate(ITEMS)}
WORDS = GroupOf({item: f"w{n // 4}" for n, item in enumerate(ITEMS)}, "words")
rng = np.random.default_rng(5)
DISTANCES = rng.normal(size=(N, 3)) - 0.8 * np.array([list(TRUTH.values())] * 3).T * [0, 1, 2]
ODDS = -DISTANCES[:, 1]
YES = np.array(list(TRUTH.values()))


def table() -> ResponseTable:
    rows = [
        Response("e", "encoder", item, "same_sense", "cosine_distance", DISTANCES[n, layer], layer=layer, view="full")
        for n, item in enumerate(ITEMS)
        for layer in range(3)
    ]
    odds = "log_odds(wording=question)"
    rows += [Response("m", "causal_lm", item, "same_sense", odds, ODDS[n]) for n, item in enumerate(ITEMS)]
    rows += [Response("m", "causal_lm", item, "same_sense", "log_probability(bos=no)", -1.0) for item in ITEMS]
    return ResponseTable.from_rows(rows)


def test_the_area_is_that_of_scikit_learn() -> None:
    """Each layer's area under the ROC curve, and that of log-odds, to 1e-12; other measures have none."""
    found = degrees_right(table(), TRUTH, WORDS, resamples=200)
    assert [(type(result).__name__, result.subject) for result in found] == [
        ("Curve", "e"), ("Estimate", "e"), ("Estimate", "e"), ("Estimate", "m"), ("Estimate", "m"), ("Estimate", "m")
    ]  # fmt: skip
    curve, _, _, odds, decided, chance = found
    assert isinstance(curve, Curve)
    expected = [roc_auc_score(YES, -column) for column in DISTANCES.T]
    np.testing.assert_allclose(curve.array(), expected, atol=1e-12)
    assert isinstance(curve.chosen, Estimate)
    assert isinstance(odds, Estimate)
    assert odds.value == pytest.approx(roc_auc_score(YES, ODDS), abs=1e-12)
    assert (odds.layer, odds.condition) == (None, "log_odds(wording=question)")
    # higher odds mean yes, higher distances no: the same numbers give the same area
    assert odds.value == pytest.approx(curve.array()[1])
    assert isinstance(decided, Estimate)
    assert decided.name == "accuracy(threshold=other_words)"
    assert isinstance(chance, Estimate)
    assert chance.value == 0.5
    assert "over=words" in odds.interval.method or "resampled=words" in odds.interval.method


def test_items_without_a_value_are_left_out_and_counted() -> None:
    """A missing value is no answer: the area is that of the others, and the note says how many are missing."""
    rows = [
        Response("m", "causal_lm", item, "t", "gloss_substitution(bos=no)", None if n < 3 else ODDS[n])
        for n, item in enumerate(ITEMS)
    ]
    area, *_ = degrees_right(ResponseTable.from_rows(rows), TRUTH, WORDS, resamples=50)
    assert isinstance(area, Estimate)
    assert (area.n, area.note) == (N - 3, "excluded: 3 of 40 items without a value")
    assert area.value == pytest.approx(roc_auc_score(YES[3:], ODDS[3:]), abs=1e-12)


def test_what_cannot_be_had_says_why() -> None:
    """Items of one right answer have no area; two answers to one item are refused."""
    (found,) = degrees_right(table().where(subject_id="m"), dict.fromkeys(ITEMS, True), WORDS)
    assert isinstance(found, Undefined)
    assert "both" in found.reason or "same sense" in found.reason
    twice = ResponseTable.concat([table().where(subject_id="m"), table().where(subject_id="m")])
    with pytest.raises(InputError, match="several answers"):
        degrees_right(twice, TRUTH, WORDS)


def test_choices_by_layer() -> None:
    """The share of right choices is that of scikit-learn at each layer; a missing choice is wrong and counted."""
    options = [["a" if rng.random() < 0.3 + 0.2 * layer else "b" for layer in range(3)] for _ in ITEMS]
    rows = [
        Response("e", "encoder", item, "sense_choice", "choice", option=options[n][layer], layer=layer, view="full")
        for n, item in enumerate(ITEMS)
        for layer in range(3)
    ]
    rows += [Response("m", "causal_lm", item, "sense_choice", "choice(per=token)", option="a") for item in ITEMS[1:]]
    rows += [Response("m", "causal_lm", ITEMS[0], "sense_choice", "choice(per=token)")]
    right = {item: {"a"} for item in ITEMS}
    curve, chance, share, _ = choices_right(ResponseTable.from_rows(rows), right, dict.fromkeys(ITEMS, 4), WORDS)
    assert isinstance(curve, Curve)
    chosen = np.array(options)
    np.testing.assert_allclose(curve.array(), [accuracy_score(["a"] * N, chosen[:, layer]) for layer in range(3)])
    assert isinstance(chance, Estimate)
    assert chance.value == 0.25
    assert isinstance(share, Estimate)
    assert (share.value, share.condition) == ((N - 1) / N, "choice(per=token)")
    assert share.note == "1 of 40 choices are missing and count as wrong"


def test_the_layer_is_chosen_on_other_words() -> None:
    """A layer that is right about one word alone is not chosen for that word."""
    right = np.zeros((12, 2))
    right[:, 0] = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    right[:, 1] = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    words = [f"w{n // 4}" for n in range(12)]
    curve = choice_accuracy_by_layer(right, groups=words)
    assert curve.best == 0
    assert isinstance(curve.chosen, Estimate)
    # w0 is decided by layer 1 (2 of the other 8 are right), w1 and w2 by layer 0 (4 of the other 8)
    assert curve.chosen.value == 0 / 12
    assert curve.chosen.note == "chosen in the folds: layer 0 in 2, layer 1 in 1 of 3"


def test_chance_is_the_mean_of_right_options() -> None:
    """Items with unequal numbers of options, one with two right ones: (1/2 + 1/5 + 2/4) / 3; nonsense is refused."""
    assert mean_chance([2, 5, 4], [1, 1, 2]).value == pytest.approx((1 / 2 + 1 / 5 + 2 / 4) / 3)
    with pytest.raises(StatisticError, match="3 right of 2"):
        mean_chance([2], [3])
    with pytest.raises(StatisticError, match="no choices"):
        mean_chance([], [])
    with pytest.raises(StatisticError, match="not 0 or 1"):
        choice_accuracy_by_layer([[0.5]])
