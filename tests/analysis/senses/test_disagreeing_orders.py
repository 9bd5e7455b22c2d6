"""Two measures of the same subjects: who is best by each, and which pairs stand in another order."""

from __future__ import annotations

import math

import pytest

from lexiscope.analysis.senses.disagreeing_orders import MeasureValues, compare_every, compare_orders
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record


def test_pairs_in_another_order_are_named_best_first() -> None:
    """A pair is named with the subject that the first measure prefers in front; ties count in no order."""
    found = compare_orders(
        MeasureValues({"a": 3, "b": 2, "c": 1, "d": 1}), MeasureValues({"a": 1, "b": 2, "c": 3, "d": 2})
    )
    # b and d tie by the second measure, c and d by the first
    assert set(found.disagreeing) == {("a", "b"), ("a", "c"), ("b", "c"), ("a", "d")}
    assert found.n_pairs == 4
    assert (found.best_first, found.best_second, found.same_best) == ("a", "c", False)


def test_subjects_without_a_value_are_left_out() -> None:
    """Who has only one of the measures, or no number, is not compared; one subject alone has no order."""
    found = compare_orders(
        MeasureValues({"a": 1, "b": 2, "c": math.nan}), MeasureValues({"a": 1, "b": 2, "c": 3, "d": 4})
    )
    assert found.subjects == ("a", "b")
    assert found.same_best
    assert found.disagreeing == ()
    with pytest.raises(StatisticError, match="there are 1"):
        compare_orders(MeasureValues({"a": 1, "b": 2}), MeasureValues({"a": 1}))


def test_a_pair_is_clear_where_intervals_do_not_overlap() -> None:
    """Both measures must tell the two apart; an interval that is not known tells nothing."""
    first = MeasureValues({"a": 3, "b": 2}, {"a": (2.6, 3.4), "b": (1.6, 2.4)})
    second = MeasureValues({"a": 1, "b": 2}, {"a": (0.6, 1.4), "b": (1.6, 2.4)})
    assert compare_orders(first, second).clear == (("a", "b"),)
    near = MeasureValues({"a": 1, "b": 2}, {"a": (0.6, 1.7), "b": (1.6, 2.4)})
    for other in (near, MeasureValues({"a": 1, "b": 2}, {"a": (0.6, 1.4)}), MeasureValues({"a": 1, "b": 2})):
        assert compare_orders(first, other).disagreeing == (("a", "b"),)
        assert compare_orders(first, other).clear == ()


def test_orders_are_numbers_under_the_names_of_both_measures() -> None:
    """The pair that both order is in another order, and not clearly; records without a value are no measure."""
    rows = [("a", 3.0, 2.6, 3.4), ("b", 2.0, None, None), ("c", None, None, None)]
    first = MeasureValues.of(Record("s", value, name, low=low, high=high, note="x") for name, value, low, high in rows)
    assert (first.values, first.intervals) == ({"a": 3.0, "b": 2.0}, {"a": (2.6, 3.4)})
    of_second = [Record("t", value, name) for name, value in (("a", 1.0), ("b", 2.0))]
    alone = Record("u", 1.0, "a")
    records = [
        *(Record("s", value, name, low=low, high=high, note="x") for name, value, low, high in rows),
        *of_second,
        alone,
    ]
    found = compare_every(records, {"one": "s"}, {"other": "t", "none": "u"})
    assert list(found) == [("one", "other")]
    assert [(each.name, each.value, each.n) for each in found["one", "other"].results(by="x")] == [
        ("n_disagreements(by=x)", 1.0, 1),
        ("n_clear_disagreements(by=x)", 0.0, 1),
        ("n_orders(by=x)", 1.0, 1),
    ]
