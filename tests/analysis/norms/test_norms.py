"""Norms equal the published ones and certified values; what one rating cannot give is flagged."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.analysis.norms.norms import condition_means, correlations_with_counts, item_sd, mean_item_sd, norms
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import Estimate, Undefined


def of_items(*values: list[float]) -> Ratings:
    """Ratings of items i0, i1 … by raters r0, r1 …"""
    rows = [(f"r{r}", f"i{i}", value) for i, row in enumerate(values) for r, value in enumerate(row)]
    return Ratings.from_arrays(*zip(*rows, strict=True))


@given(st.lists(st.lists(st.integers(1, 7), min_size=2, max_size=9), min_size=1, max_size=9))
@settings(max_examples=150, deadline=None)
def test_each_item_has_the_textbook_mean_sd_and_median(items: list[list[int]]) -> None:
    """Mean, SD (n − 1) and median equal those of the standard library, item by item."""
    found = norms(of_items(*items))
    for row, values in enumerate(items):
        assert found.mean[row] == sum(values) / len(values)
        assert found.sd[row] == pytest.approx(statistics.stdev(values), abs=1e-12)
        assert found.median[row] == statistics.median(values)
        assert found.n[row] == len(values)
        assert {point: values.count(point) for point in found.points} == dict(
            zip(found.points, found.point_counts[row].tolist(), strict=True)
        )


def test_one_rating_has_no_sd_and_none_has_no_mean() -> None:
    """NaN stands only where the item is listed as undefined."""
    ratings = Ratings.from_arrays(["a", "b", "a", "a"], ["i", "i", "j", "k"], [1, 2, 4, float("nan")])
    found = norms(ratings)
    assert (found.unrated, found.sd_undefined) == (("k",), ("j", "k"))
    assert np.isnan(found.sd).tolist() == [False, True, True]
    assert np.isnan(found.mean).tolist() == [False, False, True]
    assert (found.n_min, found.n_mean, found.n_max, found.row("j")) == (0, 3 / 3, 2, 1)


def test_sd_keeps_its_digits_where_the_values_are_large() -> None:
    """NIST's NumAcc designs: one centre value, then 500 pairs around it; the SD is certified as .1 (2: mean 1.2)."""
    for centre, digits in ((1.2, 12), (1_000_000.2, 8), (10_000_000.2, 7)):
        values = [centre] + [centre - 0.1, centre + 0.1] * 500
        found = norms(of_items(values))
        assert found.mean[0] == pytest.approx(centre, rel=1e-12)
        # the data themselves are rounded to about 1e-16 of their size; no digit beyond that is lost
        assert found.sd[0] == pytest.approx(0.1, rel=10.0**-digits)


def test_equal_ratings_have_an_sd_of_exactly_zero() -> None:
    """Five times .1 does not vary, although its mean is rounded."""
    assert item_sd(of_items([0.1] * 5)).tolist() == [0.0]


def test_points_of_the_scale_are_counted_even_where_unused() -> None:
    """With the scale given, unused points have a count of 0; a value off it is refused with its item."""
    found = norms(of_items([1, 1, 5]), points=[1, 2, 3, 4, 5])
    assert found.point_counts.tolist() == [[2, 0, 0, 0, 1]]
    with pytest.raises(InputError, match=r"item 'i0'.*rating 7"):
        norms(of_items([1, 7]), points=[1, 2, 3, 4, 5])


def test_a_continuous_scale_has_no_points() -> None:
    """Ratings that are not whole numbers are not counted by point."""
    found = norms(of_items([0.25, 0.5]))
    assert (found.points, found.point_counts.shape) == ((), (1, 0))


def test_condition_means_count_every_trial_once() -> None:
    """Mean and SD are over trials, not over item means."""
    ratings = of_items([1, 2, 3], [5], [4, 4])
    found = condition_means(ratings, {"i0": "different", "i1": "same", "i2": "same"})
    assert [(one.condition, one.value, one.n) for one in found[::2]] == [
        ("different", (1 + 2 + 3) / 3, 3),
        ("same", (5 + 4 + 4) / 3, 3),
    ]
    assert found[3].value == pytest.approx(statistics.stdev([5, 4, 4]))
    lone = condition_means(ratings, {"i0": "a", "i1": "lone", "i2": "a"})[2:]
    assert {one.reason for one in lone} == {"condition 'lone' has 1 ratings; an SD needs at least 2"}
    with pytest.raises(InputError, match="item 'i1'"):
        condition_means(ratings, {"i0": "a", "i2": "a"})


def test_undefined_norms_are_errors() -> None:
    """No items, an unknown item, or no item with two ratings."""
    with pytest.raises(StatisticError, match="no items"):
        norms(Ratings.from_arrays([], [], []))
    with pytest.raises(StatisticError, match="no item has two ratings"):
        mean_item_sd(of_items([1], [2]))
    with pytest.raises(InputError, match="no norm for item 'zzz'"):
        norms(of_items([1])).row("zzz")


def test_a_count_that_is_not_known_is_not_zero() -> None:
    """Items without a count are excluded: the others rank as their counts do, whatever the mean of those is."""
    people = Ratings.from_arrays(list("ab") * 5, list("iijjkkllmm"), [1, 1, 2, 3, 4, 3, 5, 5, 5, 4])
    words = {item: item for item in "ijklm"}
    known: dict[str, float | None] = {"i": 0, "j": 1, "k": 2, "l": 9, "m": None}
    rho, *_ = correlations_with_counts({"": known}, people, groups=words, resamples=0)
    assert isinstance(rho, Estimate)
    assert (rho.value, rho.n) == (1, 4)
    none, *_ = correlations_with_counts({"": dict.fromkeys("ijklm")}, people, groups=words)
    assert isinstance(none, Undefined)
    assert none.n == 0


def test_mean_item_sd_counts_the_items_it_left_out() -> None:
    """Items with one rating have no SD and are counted apart."""
    found = mean_item_sd(of_items([1, 3], [2], [4, 4]))
    assert (found.name, found.value, found.n) == ("mean_item_sd(ddof=1)", (2**0.5 + 0) / 2, 2)


@pytest.mark.published
def test_saw_c_norms_equal_the_published_ones(sawc_ratings: Ratings, published: Path) -> None:
    """All 812 rows: mean, SD and median to 1e-12, count exactly; 10 / 13.10 / 17 ratings per pair (§3.4)."""
    found = norms(sawc_ratings)
    with (published / "sawc" / "sawc_avg_relatedness.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found.item_ids) == 812
    for row in rows:
        k = found.row("__".join(sorted((row["Sentence_1"], row["Sentence_2"]))))
        expected = [float(row[f"{name}_relatedness"]) for name in ("mean", "sd", "median")]
        np.testing.assert_allclose([found.mean[k], found.sd[k], found.median[k]], expected, atol=1e-12)
        assert found.n[k] == int(row["count"])
    assert (found.n_min, round(found.n_mean, 3), found.n_max) == (10, 13.102, 17)
    assert found.point_counts.sum(axis=0).tolist() == [4116, 1264, 1205, 1067, 2987]


@pytest.mark.published
def test_saw_c_means_have_no_broken_ties(sawc_ratings: Ratings) -> None:
    """Integer sum over count gives 258 distinct means; the released means have 273, broken in the last bit."""
    assert len(np.unique(sawc_ratings.means())) == 258


@pytest.mark.published
def test_saw_c_condition_means(sawc_ratings: Ratings, sawc_rows: list[dict[str, str]]) -> None:
    """Same sense 4.3504 (SD 1.1426, n 3131), different sense 2.1099 (1.4135, n 7508): §3.5."""
    found = condition_means(sawc_ratings, {row["Tag"]: row["Same_sense"] for row in sawc_rows})
    pairs = zip(found[::2], found[1::2], strict=True)
    assert [(mean.condition, round(mean.value, 4), round(sd.value, 4), mean.n) for mean, sd in pairs] == [
        ("Different Sense", 2.1099, 1.4135, 7508),
        ("Same Sense", 4.3504, 1.1426, 3131),
    ]


@pytest.mark.published
def test_ambistory_mean_sd(ambistory_ratings: dict[str, Ratings]) -> None:
    """The mean SD per sample is .946 with n − 1 (AmbiStory §4.1), over 3,798 samples."""
    found = [mean_item_sd(ratings) for ratings in ambistory_ratings.values()]
    assert sum(part.n for part in found) == 3798
    assert round(sum(part.value * part.n for part in found) / 3798, 4) == 0.9459
