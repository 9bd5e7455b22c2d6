"""Variance components are those of a two-way analysis of variance, pooled over groups."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.agreement.summary import variance_components
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError

# Shrout & Fleiss 1979, Table 2: six targets by four judges
TABLE = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def of_tables(*tables: list[list[float]]) -> tuple[Ratings, dict[str, str]]:
    """Each table (items by raters) is a group."""
    rows = [
        (f"{g}-{r}", f"{g}/{i}", value)
        for g, table in enumerate(tables)
        for i, row in enumerate(table)
        for r, value in enumerate(row)
    ]
    return Ratings.from_arrays(*zip(*rows, strict=True)), {row[0]: row[0].partition("-")[0] for row in rows}


def test_the_published_example() -> None:
    """Shrout & Fleiss print ICC(2,1) = .29 and ICC(2,4) = .62; mean squares 11.24, 32.49 and 1.02."""
    found = variance_components(*of_tables(TABLE))
    assert (round(found.icc_single, 2), round(found.icc_mean(4), 2)) == (0.29, 0.62)
    assert found.residual == pytest.approx(1.02, abs=0.005)
    assert found.f == pytest.approx(32.49 / 1.02, rel=0.01)
    assert found.df == (3, 15)
    assert found.item == pytest.approx((11.24 - 1.02) / 4, abs=0.01)
    results = {one.name: one for one in found.results(4)}
    assert [results[f"variance(of={of})"].value for of in ("sample", "rater", "residual")] == [
        found.item,
        found.rater,
        found.residual,
    ]
    assert round(results["icc(model=2,ratings=4)"].value, 2) == 0.62
    assert (results["rater_effect_f"].value, results["rater_effect_f"].p) == (found.f, found.p)


def test_groups_of_different_size_recover_what_was_planted() -> None:
    """300 groups with planted variances 1.5, .5 and 1: each comes out within 5 %."""
    generator = np.random.default_rng(9)
    tables = []
    for _ in range(300):
        items, raters = generator.integers(10, 20), generator.integers(3, 8)
        item, rater = generator.normal(size=(items, 1)) * 1.5**0.5, generator.normal(size=(1, raters)) * 0.5**0.5
        tables.append((item + rater + generator.normal(size=(items, raters))).tolist())
    found = variance_components(*of_tables(*tables))
    assert (found.item, found.rater, found.residual) == pytest.approx((1.5, 0.5, 1.0), rel=0.08)
    assert found.n_groups == 300


def test_what_has_no_components() -> None:
    """A missing rating, a rater without a group, a group of one rater, ratings that items and raters explain."""
    ratings, groups = of_tables(TABLE)
    with pytest.raises(StatisticError, match="has 23 ratings of 6 items by 4 raters"):
        variance_components(ratings.select(np.arange(24) > 0), groups)
    with pytest.raises(InputError, match="have no group"):
        variance_components(ratings, {})
    with pytest.raises(StatisticError, match="3 items by 1 raters"):
        variance_components(*of_tables([[1], [2], [3]]))
    with pytest.raises(StatisticError, match="nothing is left"):
        variance_components(*of_tables([[1, 2], [2, 3], [3, 4]]))


@pytest.mark.published
def test_components_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Sample 1.188, annotator .040, residual 1.126; F(522, 14729) = 2.04, p = 3e-37; ICC .505 and .836."""
    found = variance_components(ambistory.everything, ambistory.rater_groups)
    assert [round(value, 3) for value in (found.item, found.rater, found.residual)] == [1.188, 0.040, 1.126]
    assert (round(found.f, 2), found.df, f"{found.p:.0e}") == (2.04, (522, 14_729), "3e-37")
    assert (round(found.icc_single, 3), round(found.icc_mean(5), 3)) == (0.505, 0.836)
    assert (found.n_groups, found.n_raters, found.n_items, found.n_ratings) == (130, 652, 3_798, 19_049)
