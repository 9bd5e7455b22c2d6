"""Predictions are matched with people's ratings by item; their form is checked, missing ones are counted."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.norms.predictions import judged, predictions_of, rho_with_means, rounded
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined

PEOPLE = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 2, 2, 3, 5, 4, 5, 5])


def test_items_without_a_prediction_are_counted() -> None:
    """An unreadable answer and an item that was not asked are both missing; nothing is put in their place."""
    both = judged({"k": 4, "i": 2, "j": None, "l": float("nan")}, PEOPLE, form="integer")
    assert (both.item_ids, both.predicted.tolist(), both.n_missing) == (("i", "k"), [2.0, 4.0], 2)
    assert both.mean.tolist() == [(1 + 2) / 2, (5 + 4) / 2]
    assert both.sd.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])
    assert judged({"i": 2}, PEOPLE, form="integer").n_missing == 3


def test_the_forms_are_kept_apart() -> None:
    """A prediction of 3.5 is refused as an integer and taken as raw; an infinite one is neither."""
    with pytest.raises(InputError, match=r"3.5 is not a whole number"):
        judged({"i": 3.5}, PEOPLE, form="integer")
    assert judged({"i": 3.5}, PEOPLE, form="raw").predicted.tolist() == [3.5]
    with pytest.raises(InputError, match="inf is not a number"):
        judged({"i": float("inf")}, PEOPLE, form="raw")


def test_what_cannot_be_judged() -> None:
    """A prediction of another item, no prediction at all, an item with one rating."""
    with pytest.raises(InputError, match="items without ratings"):
        judged({"other": 3}, PEOPLE, form="raw")
    with pytest.raises(StatisticError, match="no item has a prediction"):
        judged({"i": None}, PEOPLE, form="raw")
    one = Ratings.from_arrays(["a"], ["i"], [3])
    with pytest.raises(StatisticError, match="fewer than two ratings"):
        judged({"i": 3}, one, form="raw")
    with pytest.raises(InputError, match="no group"):
        judged({"i": 3}, PEOPLE, form="raw").labels({"j": "bank"})


def test_a_constant_prediction_has_no_correlation() -> None:
    """n/a with a reason, not NaN; one that varies has an estimate that resamples groups."""
    constant = rho_with_means(dict.fromkeys("ijkl", 4), PEOPLE)
    assert constant == Undefined("spearman(of=predictions,with=norms)", "every prediction is 4", 4)
    words = {"i": "bank", "j": "bank", "k": "note", "l": "bat"}
    found = rho_with_means({"i": 1.5, "j": 3, "k": 2, "l": 5}, PEOPLE, groups=words, resamples=50)
    assert isinstance(found, Estimate)
    assert (found.n, found.n_groups) == (4, 3)


def test_predictions_are_read_from_responses() -> None:
    """One prediction per item and subject; a row without a value is a missing one; two rows are refused."""
    rows = [Response(who, "chat", item, "plausibility", "rating", value) for who, item, value in ANSWERS]
    table = ResponseTable.from_rows(rows)
    assert predictions_of(table, "m") == {"i": 4.0, "j": None}
    with pytest.raises(InputError, match="answered an item twice"):
        predictions_of(ResponseTable.from_rows([*rows, rows[0]]), "m")
    with pytest.raises(InputError, match="has no row"):
        predictions_of(table, "nobody")


ANSWERS = [("m", "i", 4.0), ("m", "j", None), ("n", "i", 2.0)]


def test_rounding_has_a_rule() -> None:
    """Halves go up, or to even; both stay on the scale."""
    values = np.array([0.4, 1.5, 2.5, 3.49, 5.6])
    assert rounded(values).tolist() == [1, 2, 3, 3, 5]
    assert rounded(values, rule="half_even").tolist() == [1, 2, 2, 3, 5]
