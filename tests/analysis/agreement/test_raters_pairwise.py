"""All pairs of raters: the same correlations whatever the route, in bounded memory."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.agreement import raters as pairwise
from lexiscope.analysis.agreement.raters import correlate_raters, means_without_raters
from lexiscope.analysis.jackknife import left_out_groups
from lexiscope.analysis.ratings import Ratings


def table(n_raters: int, n_items: int, *, share: float = 1.0, whole: bool = True, seed: int = 0) -> Ratings:
    """Ratings that follow a value per item, of which a share is given; rater 0 gives one rating throughout."""
    generator = np.random.default_rng(seed)
    values = generator.uniform(1, 5, n_items) + generator.normal(size=(n_raters, n_items))
    values = np.rint(values) if whole else values
    values[0] = 3
    rater, item = np.nonzero(generator.random(values.shape) < share)
    return Ratings.from_arrays(rater, item, values[rater, item])


def one_by_one(ratings: Ratings, method: str) -> dict[tuple[int, int], tuple[int, float]]:
    """Every pair that shares an item: on how many, and the correlation by SciPy."""
    matrix, found = ratings.matrix(), {}
    for a, b in itertools.combinations(range(ratings.n_raters), 2):
        shared = ~np.isnan(matrix[a]) & ~np.isnan(matrix[b])
        x, y = matrix[a][shared], matrix[b][shared]
        if len(x):
            varies = len(x) >= 3 and np.ptp(x) > 0 and np.ptp(y) > 0
            correlate = stats.spearmanr if method == "spearman" else stats.pearsonr
            found[a, b] = (len(x), float(correlate(x, y).statistic) if varies else float("nan"))
    return found


@pytest.mark.parametrize("method", ["spearman", "pearson"])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("share", [1.0, 0.9, 0.3, 0.05])
def test_every_pair_has_the_correlation_of_its_shared_items(share: float, whole: bool, method: str) -> None:
    """Complete tables (one matrix product) and incomplete ones (a few raters at a time) equal SciPy to 1e-12."""
    ratings = table(14, 25, share=share, whole=whole)
    first, second, shared, correlations = correlate_raters(ratings, method=method, minimum=3)
    expected = one_by_one(ratings, method)
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == list(expected)
    n_items, values = zip(*expected.values(), strict=True)
    assert shared.tolist() == list(n_items)
    np.testing.assert_allclose(correlations, values, rtol=0, atol=1e-12)


def test_lists_without_a_common_item_have_no_pairs_between_them() -> None:
    """Two lists of three raters: 2 · 3 pairs, in the order of the raters, though the lists alternate."""
    rows = [(f"r{r}", f"i{item}", (item * (r + 1)) % 5) for r in range(6) for item in range(10) if item % 2 == r % 2]
    ratings = Ratings.from_arrays(*zip(*rows, strict=True))
    first, second, shared, _ = correlate_raters(ratings, method="spearman", minimum=3)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    assert pairs == [(0, 2), (0, 4), (1, 3), (1, 5), (2, 4), (3, 5)]
    assert set(shared.tolist()) == {5}


@pytest.mark.parametrize("whole", [True, False])
def test_the_size_of_a_step_changes_nothing(monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    """One rater at a time and all at once give the same numbers, bit for bit."""
    ratings = table(20, 30, share=0.7, whole=whole)
    together = correlate_raters(ratings, method="spearman", minimum=3)
    monkeypatch.setattr(pairwise, "_ROWS", 1)
    alone = correlate_raters(ratings, method="spearman", minimum=3)
    for one_by_one_column, column in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one_by_one_column, column)


def test_means_without_raters_leave_out_all_pairs_of_a_rater() -> None:
    """Without a rater, or a group of raters, the mean is over the pairs of the others; a group of all leaves none."""
    generator = np.random.default_rng(3)
    pairs = tuple(np.array(list(itertools.combinations(range(7), 2))).T)
    values = generator.normal(size=21)
    of_pair = dict(zip(zip(*pairs, strict=True), values, strict=True))
    left = means_without_raters(values, pairs, 7, resamples=2000, seed=0)
    assert left.sizes.tolist() == [1] * 7
    for rater, mean in enumerate(left.values):
        assert mean == pytest.approx(np.mean([v for pair, v in of_pair.items() if rater not in pair]), abs=1e-12)
    grouped = means_without_raters(values, pairs, 7, resamples=3, seed=0)
    dealt, _ = left_out_groups(7, resamples=3, seed=0)
    assert grouped.sizes.tolist() == np.bincount(dealt).tolist() == [3, 2, 2]
    for group, mean in enumerate(grouped.values):
        rest = [v for (a, b), v in of_pair.items() if group not in (dealt[a], dealt[b])]
        assert mean == pytest.approx(np.mean(rest), abs=1e-12)


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_memory_does_not_grow_with_the_shared_ratings(share: float) -> None:
    """300 raters of 100 items share 4.5 million ratings: the pairs are made within 64 MiB, not 100 bytes for each."""
    ratings = table(300, 100, share=share)
    tracemalloc.start()
    try:
        correlate_raters(ratings, method="spearman", minimum=3)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 2**20
