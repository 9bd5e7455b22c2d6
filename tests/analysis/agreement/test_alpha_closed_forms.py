"""The closed forms of disagreement agree with each other wherever two of them apply, and with all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.agreement import alpha
from lexiscope.analysis.agreement.alpha import LEVELS, Level, krippendorff_alpha
from lexiscope.analysis.ratings import Ratings


def with_gaps(raters: int, items: int, *, digits: int, seed: int) -> Ratings:
    """Made-up ratings from 0 to 5 with every tenth missing; fewer digits make more ties."""
    generator = np.random.default_rng(seed)
    values = np.round(generator.uniform(0, 5, size=(raters, items)), digits)
    values[generator.random(values.shape) < 0.1] = np.nan
    rater, item = np.indices(values.shape)
    return Ratings.from_arrays(rater.ravel(), item.ravel(), values.ravel())


def by_pairs(ratings: Ratings, level: Level) -> float:
    """1 − D_o / D_e over all pairs, in tables of all by all."""
    kept = ratings.counts()[ratings.item] > 1
    value, item = ratings.value[kept], ratings.item[kept]
    first, second = value[:, None], value[None, :]
    if level == "nominal":
        distance = (first != second).astype(float)
    elif level == "interval":
        distance = (first - second) ** 2
    elif level == "ratio":
        distance = alpha.ratio_distances(value, value)
    else:
        rank = (value[:, None] > value[None, :]).sum(axis=1) + (value[:, None] == value[None, :]).sum(axis=1) / 2
        distance = (rank[:, None] - rank[None, :]) ** 2
    same = item[:, None] == item[None, :]
    observed = (distance * same / (ratings.counts()[item] - 1)[:, None]).sum()
    return float(1 - (len(value) - 1) * observed / distance.sum())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("raters", "items"), [(150, 12), (12, 150)])
@pytest.mark.parametrize("digits", [2, 12])
def test_continuous_ratings_with_gaps(level: Level, raters: int, items: int, digits: int) -> None:
    """Long and short units, tied and untied values beyond 512: alpha equals the sum over pairs to 1e-11."""
    ratings = with_gaps(raters, items, digits=digits, seed=raters + digits)
    found = krippendorff_alpha(ratings, level=level, resamples=0)
    assert found.value == pytest.approx(by_pairs(ratings, level), abs=1e-11)


@pytest.mark.parametrize(
    ("level", "name", "value", "digits"),
    [
        ("ordinal", "_FEW_VALUES", 0, 0),
        ("nominal", "_DENSE", 0, 0),
        ("ratio", "_DENSE", 0, 1),
        ("ratio", "EXACT_VALUES", 4, 1),
        ("ratio", "_PAIRS", 0, 1),
        ("ratio", "_PAIRS", 0, 12),
    ],
)
def test_both_forms_give_the_same_interval(
    monkeypatch: pytest.MonkeyPatch, level: Level, name: str, value: int, digits: int
) -> None:
    """Where a level has a form for few and one for many values, either gives the same alpha and the same interval."""
    ratings = with_gaps(8, 90, digits=digits, seed=3)
    groups = {item: str(int(item) % 20) for item in ratings.item_ids}
    first = krippendorff_alpha(ratings, level=level, groups=groups, resamples=150)
    monkeypatch.setattr(alpha, name, value)
    second = krippendorff_alpha(ratings, level=level, groups=groups, resamples=150)
    numbers = [[found.value, found.interval.low, found.interval.high] for found in (first, second)]
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("digits", [0, 1, 12])
def test_groups_are_resampled_as_their_units_are(level: Level, digits: int) -> None:
    """Weights of groups give what the same weights of their units give, few values or many."""
    ratings = with_gaps(9, 80, digits=digits, seed=5)
    units = alpha.Units(*_table(ratings))
    groups = np.arange(80, dtype=np.int64) % 7
    grouped = alpha.disagreement(units, level, groups, 7)
    single = alpha.disagreement(units, level, np.arange(80, dtype=np.int64), 80)
    weights = np.random.default_rng(6).integers(0, 4, size=(5, 7)).astype(float)
    for one, other in zip(grouped.sums(weights), single.sums(weights[:, groups]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def _table(ratings: Ratings):  # type: ignore[no-untyped-def]
    from scipy import sparse

    values, code = np.unique(ratings.value, return_inverse=True)
    table = sparse.csr_matrix((np.ones(len(code)), (ratings.item, code)), shape=(ratings.n_items, len(values)))
    return table, values, ratings.counts().astype(np.float64)


def test_a_million_ratings_need_no_square_table() -> None:
    """20,000 distinct values at the ratio level: the nodes are a few dozens, not 20,000 by 20,000 distances."""
    nodes = alpha.nodes_of(np.sort(np.random.default_rng(7).uniform(0.5, 5, 20_000)))
    # log(5 / .5) = 2.3: two boxes of 20 nodes
    assert nodes.distances.shape == (40, 40)
