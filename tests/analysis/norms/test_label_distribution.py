"""Label distributions: shares of points, halves and missing labels, and AmbiStory's Table 6."""

from __future__ import annotations

import math

import pytest

from lexiscope.analysis.accuracy import share_interval
from lexiscope.analysis.norms.label_distribution import (
    label_shares,
    label_table,
    mean_label_table,
    rating_shares,
    rounded_twice,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError


def test_shares_and_missing_labels() -> None:
    """Missing labels are counted apart; shares are of those that are there; groups are resampled whole."""
    found = label_shares([1, 1, 2, math.nan], name="toy", groups=["x", "y", "y", "z"], resamples=100)
    assert (found.n, found.n_missing, found.counts) == (3, 1, (2, 1, 0, 0, 0))
    assert found.shares == (2 / 3, 1 / 3, 0, 0, 0)
    of_groups = [share_interval(hits, groups=["x", "y", "y"])[0] for hits in ([1, 1, 0], [0, 0, 1], [0, 0, 0])]
    assert list(found.intervals[:3]) == of_groups
    # a point that no label has may be rare, and not impossible
    assert found.intervals[2].low == 0 < found.intervals[2].high
    first = found.results("label_share")[0]
    assert (first.name, first.value, first.n, first.unit) == ("label_share(point=1)", 100 * (2 / 3), 3, "percent")
    assert (first.interval.low, first.interval.high) == (100 * of_groups[0].low, 100 * of_groups[0].high)


def test_labels_must_be_points() -> None:
    """A label between two points is refused, and so is a column without labels."""
    with pytest.raises(InputError, match=r"2\.5 is not a point"):
        label_shares([1, 2.5], name="toy")
    with pytest.raises(StatisticError, match="has no labels"):
        label_shares([math.nan], name="toy")


def test_means_are_rounded_by_the_rule() -> None:
    """A mean of 2.5 is a 2 where halves go to even, and a 3 where they go up, as everywhere else."""
    ratings = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [2, 3, 4, 4, 1, 1, 5, 5])
    conditions = {"i": "open", "j": "ended", "k": "open", "l": "ended"}
    even = mean_label_table(ratings, conditions, rounding="half_even", resamples=0)
    up = mean_label_table(ratings, conditions, resamples=0)
    assert (even["all"].counts, up["all"].counts) == ((1, 1, 0, 1, 1), (1, 0, 1, 1, 1))


def test_conditions_of_a_models_labels() -> None:
    """Each condition has its own shares and its own missing labels; an item without a condition is refused."""
    labels = {"i": 1.0, "j": 5.0, "k": None, "l": 5.0, "m": 1.0}
    conditions = {"i": "open", "j": "open", "k": "ended", "l": "ended", "m": "ended"}
    table = label_table(labels, conditions, resamples=0)
    assert {part: (shares.counts, shares.n_missing) for part, shares in table.items()} == {
        "all": ((2, 0, 0, 0, 2), 1),
        "ended": ((1, 0, 0, 0, 1), 1),
        "open": ((1, 0, 0, 0, 1), 0),
    }
    assert [share.value for share in table["open"].results("share")] == [50, 0, 0, 0, 50]
    ends = table["all"].ends("share")
    assert (ends.name, ends.value, ends.n) == ("share(point=1_or_5)", 100, 4)
    with pytest.raises(InputError, match="no condition"):
        label_table(labels, {})


@pytest.mark.published
def test_all_ratings_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """22.0, 17.0, 15.0, 17.0, 28.9 % of 19,049 ratings; 51 % at the ends of the scale."""
    found = rating_shares(ambistory.everything, resamples=100)
    assert [round(100 * share, 1) for share in found.shares] == [22.0, 17.0, 15.0, 17.0, 28.9]
    assert round(100 * (found.shares[0] + found.shares[4]), 1) == 51.0
    assert found.n == 19_049


# the three rows of people in Table 6, as printed
PRINTED = {
    "all": (11.7, 21.8, 24.2, 24.0, 18.3),
    "ended": (13.4, 21.0, 22.7, 22.3, 20.7),
    "open": (8.4, 23.6, 27.1, 27.4, 13.6),
}


@pytest.mark.published
def test_the_human_cells_of_table_6(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Fifteen cells on test, within .06 of print; 23.6, 13.6 and 20.7 are twice-rounded (23.548, 13.548, 20.645)."""
    test = ambistory.splits["test"]
    kinds = {item: ambistory.places[item].kind for item in test.item_ids}
    table = mean_label_table(test, kinds, resamples=0)
    even = mean_label_table(test, kinds, rounding="half_even", resamples=0)
    assert table == even
    cells = [
        (100 * share, printed)
        for name, row in PRINTED.items()
        for share, printed in zip(table[name].shares, row, strict=True)
    ]
    assert len(cells) == 15
    assert max(abs(share - printed) for share, printed in cells) < 0.06
    twice = [(round(share, 3), printed) for share, printed in cells if round(share, 1) != printed]
    assert sorted(twice) == [(13.548, 13.6), (20.645, 20.7), (23.548, 23.6)]
    assert [rounded_twice(share) for share, _ in twice] == [printed for _, printed in twice]
