"""P(B | A) of two tests over the same items."""

from __future__ import annotations

import pytest

from lexiscope.analysis.choices.design_answers import consistency_table
from lexiscope.core.errors import StatisticError


def test_counts_and_shares_of_the_papers_table_15() -> None:
    """Counts 16, 14, 49, 121: the shares are 16/30, 14/30, 49/170, 121/170 (the paper prints .57/.43 for the first)."""
    first = [0] * 30 + [1] * 170
    second = [0] * 16 + [1] * 14 + [0] * 49 + [1] * 121
    results = consistency_table(first, second)
    assert [count.value for count in results[::2]] == [16, 14, 49, 121]
    assert [round(share.value, 2) for share in results[1::2]] == [0.53, 0.47, 0.29, 0.71]
    assert [(count.n, share.n) for count, share in zip(results[::2], results[1::2], strict=True)] == [
        *((200, 30), (200, 30)),
        *((200, 170), (200, 170)),
    ]


def test_rows_add_up_to_one_and_an_empty_row_has_no_share() -> None:
    """Nothing is known of B given a wrong A where A was never wrong."""
    *_, wrong, _, right = consistency_table([1, 1, 1], [1, 0, 1])
    undefined = consistency_table([1, 1, 1], [1, 0, 1])[1:4:2]
    assert [share.reason for share in undefined] == ["no item has this outcome in the first test"] * 2
    assert wrong.value + right.value == pytest.approx(1.0)
    assert right.value == pytest.approx(2 / 3)


@pytest.mark.parametrize(("first", "second"), [([1], [1, 0]), ([], []), ([2], [1])])
def test_what_cannot_be_crossed_is_refused(first: list[int], second: list[int]) -> None:
    """Unequal columns, nothing, or values that are no decisions."""
    with pytest.raises(StatisticError):
        consistency_table(first, second)
