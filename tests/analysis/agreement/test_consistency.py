"""Groups of raters give the same norms or not, and items short of ratings are listed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.agreement.consistency import TopUp, coverage, group_consistency
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError


def dialects() -> tuple[Ratings, dict[str, str]]:
    """Three groups of eight raters: two follow one truth, the third has its own for half of 80 items."""
    generator = np.random.default_rng(0)
    truth = generator.uniform(1, 5, size=80)
    own = np.where(np.arange(80) < 40, truth, generator.uniform(1, 5, size=80))
    rows = []
    for group, means in (("chile", truth), ("mexico", truth), ("spain", own)):
        for rater in range(8):
            values = np.clip(np.rint(means + generator.normal(size=80)), 1, 5)
            rows += [(f"{group}{rater}", f"i{item:02}", value) for item, value in enumerate(values)]
    ratings = Ratings.from_arrays(*zip(*rows, strict=True))
    return ratings, {rater: rater.rstrip("01234567") for rater in ratings.rater_ids}


def test_the_planted_dialect_stands_out() -> None:
    """The two groups of one dialect agree above .8 (the paper's bound), the third clearly less."""
    ratings, groups = dialects()
    found = {pair.condition: pair for pair in group_consistency(ratings, groups, resamples=300)}
    assert set(found) == {"chile–mexico", "chile–spain", "mexico–spain"}
    assert found["chile–mexico"].value > 0.82
    assert found["chile–mexico"].interval.low > found["chile–spain"].interval.high
    assert {(pair.name, pair.n) for pair in found.values()} == {("group_consistency(method=pearson)", 80)}


def test_consistency_is_the_correlation_of_group_means() -> None:
    """Recomputed from the matrix with scipy, for each kind of correlation."""
    ratings, groups = dialects()
    matrix = ratings.matrix()
    of = np.array([groups[rater] for rater in ratings.rater_ids])
    x, y = matrix[of == "chile"].mean(axis=0), matrix[of == "spain"].mean(axis=0)
    expected = {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "r_squared": stats.pearsonr(x, y).statistic ** 2,
    }
    for kind, value in expected.items():
        rows = group_consistency(ratings, groups, kind=kind, resamples=20)  # type: ignore[arg-type]
        assert rows[1].value == pytest.approx(value, abs=1e-12)


def test_items_below_the_minimum_do_not_count() -> None:
    """An item counts only where both groups have enough ratings; with words, words are resampled."""
    ratings, groups = dialects()
    first = ratings.rater_ids.index("chile0")
    thinned = ratings.select(~((ratings.rater == first) & (ratings.item < 30)))
    rows = group_consistency(thinned, groups, minimum=8, resamples=50)
    assert [row.n for row in rows] == [50, 50, 80]
    words = {item: str(int(item[1:]) // 4) for item in ratings.item_ids}
    grouped = group_consistency(ratings, groups, words=words, resamples=50)
    assert grouped[0].n_groups == 20


def test_consistency_needs_two_groups_and_shared_items() -> None:
    """One group, an unknown rater, or too few shared items are errors."""
    ratings, groups = dialects()
    with pytest.raises(StatisticError, match="two groups"):
        group_consistency(ratings, dict.fromkeys(groups, "here"))
    with pytest.raises(InputError, match="have no group, first 'chile0'"):
        group_consistency(ratings, {})
    with pytest.raises(StatisticError, match="share 0 items with 9 ratings"):
        group_consistency(ratings, groups, minimum=9)


def test_coverage_lists_what_is_missing() -> None:
    """Items below the minimum and what they need, unrated ones too; a list needs as much as its shortest item."""
    rows = [(f"r{r}", "a", 3) for r in range(3)] + [(f"r{r}", "b", 3) for r in range(1)] + [("r9", "c", 3)]
    lists = {"a": "L1", "b": "L1", "c": "L2", "d": "L2"}
    found = coverage(Ratings.from_arrays(*zip(*rows, strict=True)), minimum=3, lists=lists)
    assert found.short == (TopUp("b", "L1", 1, 2), TopUp("c", "L2", 1, 2), TopUp("d", "L2", 0, 3))
    assert found.lists == (("L1", 2), ("L2", 3))
    assert (found.n_min, found.n_mean, found.n_max, found.n_items) == (0, (3 + 1 + 1 + 0) / 4, 3, 4)
    assert not found.is_complete


def test_coverage_refuses_items_outside_the_lists() -> None:
    """A rated item in no list would never be topped up."""
    ratings = Ratings.from_arrays(["r"], ["x"], [1])
    with pytest.raises(InputError, match="in no list, first 'x'"):
        coverage(ratings, lists={"a": "L1"})
    with pytest.raises(StatisticError, match="no items"):
        coverage(Ratings.from_arrays([], [], []))


@pytest.mark.published
def test_saw_c_coverage(sawc_ratings: Ratings, sawc_rows: list[dict[str, str]]) -> None:
    """SAW-C has at least 10 ratings of each pair (§3.2); a minimum of 12 would top up 162 + 82 pairs of three lists."""
    lists = {row["Tag"]: row["List"] for row in sawc_rows}
    assert coverage(sawc_ratings, minimum=10, lists=lists).is_complete
    found = coverage(sawc_ratings, minimum=12, lists=lists)
    assert len(found.short) == 162 + 82
    assert sorted(needed for _, needed in found.lists) == [1, 2, 2]
