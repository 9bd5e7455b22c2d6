"""Each rater against the group, with and without their own rating; pairs of raters; a model among raters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.raters import (
    included,
    leave_one_out,
    model_place,
    pairwise_agreement,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError

cells = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 7)), st.integers(1, 5), min_size=6, max_size=40)


def of_cells(table: dict[tuple[int, int], int]) -> Ratings:
    rows = [(f"r{rater}", f"i{item}", value) for (rater, item), value in table.items()]
    return Ratings.from_arrays(*zip(*rows, strict=True))


def one_rater(ratings: Ratings, code: int, *, own: bool, method: str) -> float:
    """A rater's agreement by the definition, from the matrix; NaN where it is undefined."""
    matrix = ratings.matrix()
    x, y = [], []
    for item in np.flatnonzero(~np.isnan(matrix[code])):
        others = [value for r, value in enumerate(matrix[:, item]) if not np.isnan(value) and (own or r != code)]
        if len(others) > own:
            x.append(matrix[code, item])
            y.append(sum(others) / len(others))
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(stats.spearmanr(x, y).statistic if method == "spearman" else stats.pearsonr(x, y).statistic)


@given(cells, st.sampled_from(["spearman", "pearson"]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_agreement_equals_its_definition(table: dict[tuple[int, int], int], method: str, own: bool) -> None:
    """Every rater has the value of the definition, or is listed as undefined; nobody is lost."""
    ratings = of_cells(table)
    expected = {rater: one_rater(ratings, code, own=own, method=method) for code, rater in enumerate(ratings.rater_ids)}
    agree = included if own else leave_one_out
    if sum(not np.isnan(value) for value in expected.values()) < 2:
        with pytest.raises(StatisticError, match="raters have a value"):
            agree(ratings, method=method, resamples=0)  # type: ignore[arg-type]
        return
    found = agree(ratings, method=method, resamples=0)  # type: ignore[arg-type]
    undefined = set(found.undefined)
    assert undefined == {rater for rater, value in expected.items() if np.isnan(value)}
    assert set(found.rater_ids) | undefined == set(ratings.rater_ids)
    for rater, value in zip(found.rater_ids, found.values, strict=True):
        assert value == pytest.approx(expected[rater], abs=1e-12)


@given(cells, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_names_and_order_do_not_matter(table: dict[tuple[int, int], int], random) -> None:  # type: ignore[no-untyped-def]
    """Renaming raters and items, permuting rows and adding a rater without ratings leave the values as they are."""
    names = random.sample(range(100), 5)
    renamed = {(names[rater], 7 - item): value for (rater, item), value in table.items()}
    try:
        first = leave_one_out(of_cells(table), resamples=0)
    except StatisticError:
        with pytest.raises(StatisticError):
            leave_one_out(of_cells(renamed), resamples=0)
        return
    second = leave_one_out(of_cells(renamed), resamples=0)
    np.testing.assert_allclose(np.sort(second.values), np.sort(first.values), atol=1e-10)
    ratings = of_cells(table)
    padded = Ratings.from_arrays(
        [*(ratings.rater_ids[k] for k in ratings.rater), "zoe"],
        [*(ratings.item_ids[k] for k in ratings.item), ratings.item_ids[0]],
        [*ratings.value, float("nan")],
    )
    third = leave_one_out(padded, resamples=0)
    np.testing.assert_allclose(third.values, first.values, atol=1e-12)
    assert "zoe" in third.undefined


def test_raters_without_a_value_are_listed_with_the_reason() -> None:
    """Constant, too few shared items, alone on their items: three different reasons."""
    rows = [("a", item, value) for item, value in zip("ijkl", [1, 2, 3, 5], strict=True)]
    rows += [("b", item, value) for item, value in zip("ijkl", [1, 3, 2, 4], strict=True)]
    rows += [("flat", item, 3) for item in "ijkl"]
    rows += [("short", "i", 1), ("short", "j", 2), ("alone", "x", 1), ("alone", "y", 4), ("alone", "z", 2)]
    found = leave_one_out(Ratings.from_arrays(*zip(*rows, strict=True)))
    assert found.undefined == {
        "flat": "gave 3 to all 4 items",
        "short": "2 items with a rating by others; at least 3 are needed",
        "alone": "0 items with a rating by others; at least 3 are needed",
    }
    assert found.rater_ids == ("a", "b")
    assert found.n_items.tolist() == [4, 4]


def test_others_who_do_not_vary_are_a_reason_too() -> None:
    """A rater whose fellow raters gave one value throughout has no agreement, through no fault of theirs."""
    rows = [("a", item, value) for item, value in zip("ijk", [1, 2, 3], strict=True)]
    rows += [("flat", item, 3) for item in "ijk"]
    rows += [(rater, item, v) for rater in "cd" for item, v in zip("xyz", [1, 2, 4], strict=True)]
    found = leave_one_out(Ratings.from_arrays(*zip(*rows, strict=True)))
    reasons = found.undefined
    assert reasons["a"] == "the others' means are the same on all 3 items"


def test_an_item_that_nobody_else_rated_agrees_with_nothing() -> None:
    """Where a mean is the own rating alone, it is left out of both variants: it would agree with itself."""
    shared = [
        (rater, item, v)
        for rater, row in {"a": [1, 2, 4], "b": [2, 1, 4]}.items()
        for item, v in zip("ijk", row, strict=True)
    ]
    own = [("a", "x", 1), ("a", "y", 5), ("b", "z", 3)]
    for variant in (leave_one_out, included):
        with_own = variant(Ratings.from_arrays(*zip(*(shared + own), strict=True)))
        assert with_own.values.tolist() == variant(Ratings.from_arrays(*zip(*shared, strict=True))).values.tolist()
        with pytest.raises(StatisticError, match="0 of 2 raters"):
            variant(Ratings.from_arrays(["a"] * 3 + ["b"] * 3, list("ijkxyz"), [1, 2, 3, 1, 2, 3]))


def test_one_rater_has_no_agreement() -> None:
    """Agreement needs two raters."""
    with pytest.raises(StatisticError, match="0 of 1 raters"):
        leave_one_out(Ratings.from_arrays(["a"] * 4, list("ijkl"), [1, 2, 3, 4]))


def test_means_that_tie_in_fact_tie_in_ranks() -> None:
    """Others' means from tenths: (.1 + .2 + .3) / 3 and (.3 + .2 + .1) / 3 share a rank although their sums differ."""
    rows = []
    for item, (own, *others) in {"i": [1, 0.1, 0.2, 0.3], "j": [2, 0.3, 0.2, 0.1], "k": [3, 0.5, 0.5, 0.6]}.items():
        rows += [("a", item, own)] + [(f"o{n}", item, value) for n, value in enumerate(others)]
    found = leave_one_out(Ratings.from_arrays(*zip(*rows, strict=True)), resamples=0)
    expected = stats.spearmanr([1, 2, 3], [0.2, 0.2, 1.6 / 3]).statistic
    assert found.values[found.rater_ids.index("a")] == pytest.approx(expected, abs=1e-12)


@given(cells, st.sampled_from(["spearman", "pearson"]))
@settings(max_examples=150, deadline=None)
def test_pairwise_agreement_equals_correlating_each_pair(table: dict[tuple[int, int], int], method: str) -> None:
    """The mean over pairs of raters of the correlation on shared items; pairs without a value do not count."""
    ratings = of_cells(table)
    matrix = ratings.matrix()
    values = []
    for a, b in itertools.combinations(range(ratings.n_raters), 2):
        shared = ~np.isnan(matrix[a]) & ~np.isnan(matrix[b])
        x, y = matrix[a][shared], matrix[b][shared]
        if len(x) >= 3 and np.ptp(x) > 0 and np.ptp(y) > 0:
            found_one = stats.spearmanr(x, y) if method == "spearman" else stats.pearsonr(x, y)
            values.append(float(found_one.statistic))
    if not values:
        with pytest.raises(StatisticError, match="no two raters share 3 items"):
            pairwise_agreement(ratings, method=method)  # type: ignore[arg-type]
        return
    found = pairwise_agreement(ratings, method=method, resamples=20)  # type: ignore[arg-type]
    assert found.value == pytest.approx(np.mean(values), abs=1e-12)
    assert found.n == len(values)


def test_keeping_ones_own_rating_raises_agreement_on_noise() -> None:
    """On ratings without any signal, true leave-one-out is about 0, the published variant far above it."""
    generator = np.random.default_rng(8)
    table = {(rater, item): int(generator.integers(1, 6)) for rater in range(6) for item in range(60)}
    honest, kept = leave_one_out(of_cells(table)), included(of_cells(table))
    assert abs(honest.mean) < 0.1
    # own rating is one of six independent terms of the mean: r = 1 / sqrt(6) = .41
    assert kept.mean == pytest.approx(1 / np.sqrt(6), abs=0.1)
    assert (honest.name, kept.name) == (
        "leave_one_out_agreement(method=spearman)",
        "included_agreement(method=spearman)",
    )


def test_model_place_counts_raters_strictly_below() -> None:
    """A model equal to a rater is not above that rater."""
    found = leave_one_out(Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 3, 2, 2, 3, 4]))
    place = model_place(found, float(found.values[0]))
    assert (place.n, place.value, place.note) == (3, 1 / 3, "1 of 3 raters are below ρ = 0.8660")
    assert place.name == "raters_below_model(among=leave_one_out,method=spearman)"
    allowing = model_place(found, 0.7, chosen=True)
    assert allowing.name == "raters_below_model(among=leave_one_out,method=spearman,layer=chosen)"
    assert allowing.value == 1 / 3
    with pytest.raises(StatisticError, match="not a correlation"):
        model_place(found, 1.5)


def test_wilson_interval_equals_scipy() -> None:
    """Wilson's interval of 7 of 131 is scipy's; 0 of n starts at 0."""
    for successes, n in ((7, 131), (0, 20), (20, 20)):
        reference = stats.binomtest(successes, n).proportion_ci(method="wilson")
        found = wilson_interval(successes, n)
        assert (found.low, found.high) == pytest.approx((reference.low, reference.high), abs=1e-12)
    with pytest.raises(StatisticError, match="0 right of 0 is not a share"):
        wilson_interval(0, 0)


@pytest.mark.parametrize("values", [[], [3.0], [float("nan")] * 4, [3.0] * 4])
def test_no_statistic_is_made_of_nothing(values: list[float]) -> None:
    """No ratings, one rating, only missing ones, or no variation: an error with a reason, no warning and no NaN."""
    ratings = Ratings.from_arrays(list("abab")[: len(values)], list("iijj")[: len(values)], values)
    for statistic in (leave_one_out, included, pairwise_agreement, krippendorff_alpha):
        with pytest.raises(StatisticError):
            statistic(ratings)


@pytest.mark.published
def test_saw_c_leave_one_out(sawc_ratings: Ratings) -> None:
    """True leave-one-out on SAW-C: mean .7306, range .2975–.8587, median .7545, SD .1033, 131 raters."""
    found = leave_one_out(sawc_ratings)
    summary = (found.mean, found.minimum, found.maximum, found.median, found.sd)
    assert [round(value, 4) for value in summary] == [0.7306, 0.2975, 0.8587, 0.7545, 0.1033]
    assert (found.n_raters, found.undefined) == (131, {})
    assert found.interval.low < 0.7306 < found.interval.high
    # the published .77 lies outside: keeping one's own rating is not a rounding matter
    assert found.interval.high < 0.77


@pytest.mark.published
def test_saw_c_published_agreement_keeps_the_own_rating(sawc_ratings: Ratings) -> None:
    """The paper's .77 (.39–.88) appears with the rater's own rating in the mean: .7725, .3946, .8834 (§3.4)."""
    found = included(sawc_ratings)
    assert [round(value, 4) for value in (found.mean, found.minimum, found.maximum)] == [0.7725, 0.3946, 0.8834]


@pytest.mark.published
def test_beto_among_the_raters(sawc_ratings: Ratings) -> None:
    """BETO's |rho| of .6116 lies above 7 of 131 raters (5.3 %, §4.4), or 11 (8.4 %) by true leave-one-out."""
    assert model_place(included(sawc_ratings), 0.6116).value == 7 / 131
    place = model_place(leave_one_out(sawc_ratings), 0.6116)
    assert (place.value, round(place.value, 3)) == (11 / 131, 0.084)


@pytest.mark.published
def test_raw_c_leave_one_out(rawc_ratings: Ratings) -> None:
    """RAW-C leaves the rater out: .7933 (published .79), median .8123, SD .0745, .5453–.8821; included .8254."""
    found = leave_one_out(rawc_ratings)
    summary = (found.mean, found.median, found.sd, found.minimum, found.maximum)
    assert [round(value, 4) for value in summary] == [0.7933, 0.8123, 0.0745, 0.5453, 0.8821]
    assert found.n_raters == 77
    assert round(included(rawc_ratings).mean, 4) == 0.8254


@pytest.mark.published
def test_raters_of_ambistory_against_the_others(ambistory_ratings: dict[str, Ratings]) -> None:
    """Every column against the others within its group, all splits: mean .636, SD .147 over 652 raters."""
    raters, items, values = [], [], []
    for split, part in ambistory_ratings.items():
        raters += [part.rater_ids[k] for k in part.rater]
        items += [f"{split} {part.item_ids[k]}" for k in part.item]
        values += part.value.tolist()
    found = leave_one_out(Ratings.from_arrays(raters, items, values), resamples=0)
    assert (found.n_raters, round(found.mean, 3), round(found.sd, 3)) == (652, 0.636, 0.147)
