"""Krippendorff's alpha equals its definition, its published example, and the figure of the AmbiStory paper."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexiscope.analysis.agreement import alpha
from lexiscope.analysis.agreement.alpha import LEVELS, Level, coincidence_matrix, krippendorff_alpha
from lexiscope.analysis.agreement.left_out import RESAMPLED
from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError

# Krippendorff 2011, section E: four observers, twelve units, missing values
EXAMPLE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""

units = st.lists(st.lists(st.integers(0, 4), min_size=0, max_size=5), min_size=2, max_size=8)


def example() -> Ratings:
    rows = [line.split() for line in EXAMPLE.strip().splitlines()]
    cells = [(f"o{r}", f"u{u:02}", value) for r, row in enumerate(rows) for u, value in enumerate(row)]
    values = [float("nan") if value == "." else float(value) for _, _, value in cells]
    return Ratings.from_arrays([cell[0] for cell in cells], [cell[1] for cell in cells], values)


def of_units(table: list[list[int]]) -> Ratings:
    rows = [(f"r{r}", f"u{u}", value) for u, row in enumerate(table) for r, value in enumerate(row)]
    return Ratings.from_arrays(*(zip(*rows, strict=True) if rows else ([], [], [])))


def by_definition(table: Sequence[Sequence[float]], level: Level) -> float:
    """1 − D_o / D_e, pair by pair, with the difference functions as Krippendorff writes them."""
    pairable = [row for row in table if len(row) > 1]
    values = [value for row in pairable for value in row]
    n = len(values)

    def difference(c: float, k: float) -> float:
        low, high = min(c, k), max(c, k)
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return float((c - k) ** 2)
        if level == "ratio":
            return ((c - k) / (c + k)) ** 2 if c + k else 0.0
        between = sum(low <= value <= high for value in values)
        return (between - (values.count(c) + values.count(k)) / 2) ** 2

    observed = sum(difference(a, b) / (len(row) - 1) for row in pairable for a, b in itertools.permutations(row, 2))
    expected = sum(difference(a, b) for a, b in itertools.permutations(values, 2)) / (n - 1)
    return 1 - observed / expected


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_published_example(level: Level, published: float) -> None:
    """Krippendorff 2011 prints .743, .815, .849 and .797 for the example with missing values."""
    found = krippendorff_alpha(example(), level=level)
    assert round(found.value, 3) == published
    assert found.name == f"krippendorff_alpha(level={level})"
    # 41 values, one of them alone in its unit
    assert (found.n, example().n_pairable, len(example())) == (11, 40, 41)
    assert found.interval.low < found.value < found.interval.high


def test_the_coincidence_matrix_of_the_published_example() -> None:
    """Krippendorff 2011 prints the matrix; its entries sum to the 40 pairable values."""
    values, matrix = coincidence_matrix(example())
    assert values.tolist() == [1, 2, 3, 4, 5]
    expected = [
        [7, 4 / 3, 1 / 3, 1 / 3, 0],
        [4 / 3, 10, 4 / 3, 1 / 3, 0],
        [1 / 3, 4 / 3, 8, 1 / 3, 0],
        [1 / 3, 1 / 3, 1 / 3, 4, 0],
        [0, 0, 0, 0, 3],
    ]
    np.testing.assert_allclose(matrix, expected, atol=1e-12)


@pytest.mark.parametrize("n", [400, pytest.param(2000, marks=pytest.mark.soak)])
def test_alpha_equals_its_definition(n: int) -> None:
    """On any table with missing ratings alpha equals the sum over pairs to 1e-12, or is undefined for a reason."""

    @given(units, st.sampled_from(LEVELS))
    @settings(max_examples=n, deadline=None)
    def check(table: list[list[int]], level: Level) -> None:
        pairable = [row for row in table if len(row) > 1]
        if not pairable or len({value for row in pairable for value in row}) < 2:
            with pytest.raises(StatisticError):
                krippendorff_alpha(of_units(table), level=level, resamples=0)
            return
        found = krippendorff_alpha(of_units(table), level=level, resamples=0)
        assert found.value == pytest.approx(by_definition(table, level), abs=1e-12)

    check()


@given(units, st.sampled_from(LEVELS), st.sampled_from(["raters", "items", "ratings", "two raters at once"]))
@settings(max_examples=300, deadline=None)
def test_alpha_without_some_ratings(table: list[list[int]], level: Level, what: str) -> None:
    """Leaving out raters, items, single ratings or groups of raters gives the alphas of tables without them."""
    pairable = [row for row in table if len(row) > 1]
    if not pairable or len({value for row in pairable for value in row}) < 2:
        return
    ratings = of_units(table)
    units, paired = alpha._units(ratings)
    kept = ratings.select(paired.kept)
    codes = {
        "raters": kept.rater,
        "items": paired.unit,
        "ratings": np.arange(len(kept)),
        "two raters at once": kept.rater // 2,
    }[what].astype(np.int64)
    found = alpha._left_out(units, paired, level, codes, int(codes.max()) + 1)
    for code, without in enumerate(found):
        rest = kept.select(codes != code)
        rows = [rest.value[rest.item == item].tolist() for item in range(rest.n_items)]
        left = [row for row in rows if len(row) > 1]
        if len({value for row in left for value in row}) < 2:
            assert np.isnan(without)
        else:
            assert without == pytest.approx(by_definition(left, level), abs=1e-9)


def test_an_interval_says_what_is_resampled() -> None:
    """Raters and items by default; one alone by name; words where items are grouped; an unknown name is refused."""
    ratings = example()
    names = [krippendorff_alpha(ratings, resampled=way).interval.method for way in RESAMPLED]
    scale = "scale=intraclass_z,level=0.95)"
    assert names == [f"jackknife(resampled={way},{scale}" for way in ("raters_and_items", "raters", "items")]
    words = GroupOf({item: item[1:2] + item[2:] for item in ratings.item_ids}, "words")
    grouped = krippendorff_alpha(ratings, groups=words).interval.method
    assert grouped == f"jackknife(resampled=raters_and_words,{scale}"
    with pytest.raises(StatisticError, match="nothing is resampled as 'people'"):
        krippendorff_alpha(ratings, resampled="people")  # type: ignore[arg-type]


def test_two_raters_have_no_interval_over_raters() -> None:
    """Without one of two raters no pair is left: a note says so and names the interval that holds them fixed."""
    ratings = of_units([[1, 2], [2, 2], [4, 5], [3, 1], [5, 5]])
    found = krippendorff_alpha(ratings).interval
    assert np.isnan(found.low)
    assert found.note == 'no interval: 2 raters are too few to be resampled; resampled="items" holds them fixed'
    assert krippendorff_alpha(ratings, resampled="items").interval.is_defined


def test_an_interval_over_raters_is_wider_where_they_differ_in_severity() -> None:
    """Five raters, each with a severity: held fixed they give less than three quarters of the width."""
    generator = np.random.default_rng(2)
    table = generator.normal(size=(60, 1)) + generator.normal(size=5) + generator.normal(size=(60, 5))
    ratings = Ratings.from_arrays(np.tile(np.arange(5), 60), np.repeat(np.arange(60), 5), table.ravel())
    both, items = (krippendorff_alpha(ratings, resampled=way).interval for way in ("raters_and_items", "items"))
    assert items.high - items.low < 0.75 * (both.high - both.low)


@given(units, st.sampled_from(LEVELS), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_alpha_does_not_know_who_said_what(table: list[list[int]], level: Level, random) -> None:  # type: ignore[no-untyped-def]
    """Swapping raters within items, reordering items and adding an empty rater change nothing."""
    pairable = [row for row in table if len(row) > 1]
    if not pairable or len({value for row in pairable for value in row}) < 2:
        return
    shuffled = [random.sample(row, len(row)) for row in random.sample(table, len(table))]
    ratings = of_units(shuffled)
    empty = Ratings.from_arrays(
        [*(ratings.rater_ids[k] for k in ratings.rater), "empty"],
        [*(ratings.item_ids[k] for k in ratings.item), ratings.item_ids[0]],
        [*ratings.value, float("nan")],
    )
    value = krippendorff_alpha(of_units(table), level=level, resamples=0).value
    assert krippendorff_alpha(empty, level=level, resamples=0).value == pytest.approx(value, abs=1e-10)


@given(units)
@settings(max_examples=100, deadline=None)
def test_levels_ignore_what_they_should(table: list[list[int]]) -> None:
    """Nominal alpha ignores relabelling, ordinal any monotone map, interval a shift and scale, ratio a scale."""
    pairable = [row for row in table if len(row) > 1]
    if not pairable or len({value for row in pairable for value in row}) < 2:
        return
    maps = {
        "nominal": lambda v: (3, 0, 4, 1, 2)[v],
        "ordinal": lambda v: v**3,
        "interval": lambda v: 7 * v - 3,
        "ratio": lambda v: 5 * v,
    }
    for level, change in maps.items():
        mapped = [[change(value) for value in row] for row in table]
        first, second = (
            krippendorff_alpha(of_units(rows), level=level, resamples=0).value  # type: ignore[arg-type]
            for rows in (table, mapped)
        )
        assert second == pytest.approx(first, abs=1e-10)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_items", [6, 60])
def test_the_size_of_a_step_changes_nothing(monkeypatch: pytest.MonkeyPatch, level: Level, n_items: int) -> None:
    """Continuous ratings, more or fewer values than items: one group at a time gives what all at once give."""
    generator = np.random.default_rng(4)
    values = np.round(generator.uniform(0, 5, size=(5, n_items)), 1)
    rater, item = np.indices(values.shape)
    ratings = Ratings.from_arrays(rater.ravel(), item.ravel(), values.ravel())
    together = krippendorff_alpha(ratings, level=level, resamples=100)
    monkeypatch.setattr(alpha, "_ENTRIES", 1)
    alone = krippendorff_alpha(ratings, level=level, resamples=100)
    numbers = [[found.value, found.interval.low, found.interval.high] for found in (together, alone)]
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=0, atol=1e-12)
    assert together.value == pytest.approx(by_definition(values.T.tolist(), level), abs=1e-12)


def test_memory_of_continuous_ratings_is_bounded() -> None:
    """10,000 distinct ratings, of 200 raters each: tables without each of them are made within 100 MiB."""
    generator = np.random.default_rng(5)
    rater, item = np.indices((200, 50))
    ratings = Ratings.from_arrays(rater.ravel(), item.ravel(), generator.normal(size=10_000))
    tracemalloc.start()
    try:
        krippendorff_alpha(ratings, level="ordinal", resamples=2000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20


def test_perfect_agreement_is_one() -> None:
    """Raters who always agree have alpha 1 at every level; that nothing varies is no reason for bounds of 1 and 1."""
    ratings = of_units([[1, 1, 1], [2, 2], [5, 5, 5], [3, 3]])
    for level in LEVELS:
        found = krippendorff_alpha(ratings, level=level, resamples=200)
        assert found.value == 1
        assert found.interval.note == "no interval: a value of 1 has no standard error"


def test_large_values_keep_their_digits() -> None:
    """An offset of a million (a reaction time) costs no digit of the interval alpha."""
    table = [[1, 2], [2, 2], [4, 5], [3, 1]]
    shifted = [[value + 1_000_000 for value in row] for row in table]
    first, second = (krippendorff_alpha(of_units(rows), resamples=0).value for rows in (table, shifted))
    assert second == pytest.approx(first, abs=1e-10)


def test_undefined_alpha_is_an_error() -> None:
    """One rater, no variation, an unknown level, negative values on a ratio scale, an item without a word."""
    with pytest.raises(StatisticError, match=r"no item has ratings of two raters \(1 raters"):
        krippendorff_alpha(of_units([[1], [2]]))
    with pytest.raises(StatisticError, match="all 4 ratings are 3"):
        krippendorff_alpha(of_units([[3, 3], [3, 3]]))
    with pytest.raises(StatisticError, match="no level 'metric'"):
        krippendorff_alpha(of_units([[1, 2], [2, 1]]), level="metric")  # type: ignore[arg-type]
    with pytest.raises(StatisticError, match="not negative"):
        krippendorff_alpha(of_units([[-1, 2], [2, 1]]), level="ratio")
    with pytest.raises(InputError, match="have no label"):
        krippendorff_alpha(of_units([[1, 2], [2, 1]]), groups={"u0": "bank"})


def test_items_of_a_word_are_resampled_together() -> None:
    """With groups the interval is wider where items of a word are alike."""
    generator = np.random.default_rng(0)
    table = [[int(value), int(value + generator.integers(0, 2))] for value in np.repeat(generator.integers(1, 5, 8), 6)]
    ratings = of_units(table)
    groups = {item: str(int(item[1:]) // 6) for item in ratings.item_ids}
    alone, grouped = (krippendorff_alpha(ratings, resampled="items", groups=g).interval for g in (None, groups))
    assert grouped.high - grouped.low > alone.high - alone.low


@pytest.mark.published
def test_ambistory_alpha(ambistory_ratings: dict[str, Ratings]) -> None:
    """Interval alpha over all 3,798 samples is .506 as printed (§4.1); train .5015, dev .4991, test .5215."""
    parts = {split: krippendorff_alpha(part, resamples=0).value for split, part in ambistory_ratings.items()}
    assert {split: round(value, 4) for split, value in parts.items()} == {
        "train": 0.5015,
        "dev": 0.4991,
        "test": 0.5215,
    }
    raters, items, values = [], [], []
    for split, part in ambistory_ratings.items():
        raters += [part.rater_ids[k] for k in part.rater]
        items += [f"{split} {part.item_ids[k]}" for k in part.item]
        values += part.value.tolist()
    everything = Ratings.from_arrays(raters, items, values)
    found = {level: krippendorff_alpha(everything, level=level, resamples=200) for level in LEVELS[:3]}
    assert {level: round(alpha.value, 4) for level, alpha in found.items()} == {
        "nominal": 0.2091,
        "ordinal": 0.5040,
        "interval": 0.5061,
    }
    assert found["interval"].interval.low < 0.506 < found["interval"].interval.high
    assert everything.n_pairable == 19_049
