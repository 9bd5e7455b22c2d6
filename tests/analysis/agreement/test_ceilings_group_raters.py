"""Single raters, the best of each group, the shuffled control: their definitions, and AmbiStory's figures."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from scipy import stats

from lexiscope.analysis.agreement import ceilings
from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.ceilings import (
    best_raters,
    rater_accuracy,
    reliability_of_means,
    shuffled_best_raters,
    single_rater,
)
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, StatisticError


def groups_of_four(n_groups: int, n_items: int, *, noise: float, seed: int) -> tuple[Ratings, dict[str, str]]:
    """Made-up ratings 1 to 5: each group of four raters has its own items, which they all rate."""
    generator = np.random.default_rng(seed)
    group, rater, item = np.indices((n_groups, 4, n_items))
    truth = generator.uniform(1, 5, size=(n_groups, 1, n_items))
    values = np.clip(np.rint(truth + noise * generator.normal(size=group.shape)), 1, 5)
    raters = [f"{g}-{r}" for g, r in zip(group.ravel(), rater.ravel(), strict=True)]
    items = [f"{g}/{i}" for g, i in zip(group.ravel(), item.ravel(), strict=True)]
    return Ratings.from_arrays(raters, items, values.ravel()), {each: each.partition("-")[0] for each in raters}


def test_the_recipe_spelled_out() -> None:
    """Column by column with scipy and statistics: the best Spearman and the best share of each group, averaged."""
    ratings, groups = groups_of_four(6, 5, noise=1.3, seed=2)
    matrix = ratings.matrix()
    rhos: dict[str, list[float]] = {}
    shares: dict[str, list[float]] = {}
    for code, rater in enumerate(ratings.rater_ids):
        group = groups[rater]
        fellows = [k for k, other in enumerate(ratings.rater_ids) if groups[other] == group and k != code]
        items = np.flatnonzero(~np.isnan(matrix[code]))
        others = matrix[np.ix_(fellows, items)]
        own = matrix[code, items]
        rho = stats.spearmanr(own, others.mean(axis=0)).statistic if np.ptp(own) else float("nan")
        rhos.setdefault(group, []).append(rho)
        right = [
            abs(x - statistics.mean(col)) < max(1, statistics.stdev(col)) - 1e-9
            for x, col in zip(own, others.T.tolist(), strict=True)
        ]
        shares.setdefault(group, []).append(sum(right) / len(right))
    best_rho, best_accuracy = best_raters(ratings, groups, resamples=0)
    assert best_rho.value == pytest.approx(np.mean([np.nanmax(group) for group in rhos.values()]), abs=1e-12)
    assert best_accuracy.value == pytest.approx(np.mean([max(group) for group in shares.values()]), abs=1e-12)
    assert (best_rho.n, best_accuracy.n) == (6, 6)
    every = [share for group in shares.values() for share in group]
    ids, values = rater_accuracy(ratings)
    assert ids == ratings.rater_ids
    assert values.mean() == pytest.approx(np.mean(every), abs=1e-12)
    assert single_rater(ratings, resamples=0)[3].value == pytest.approx(np.mean(every), abs=1e-12)


def test_a_constant_column_is_ignored() -> None:
    """A rater who gave one rating to everything has no correlation; the best of the group is another's."""
    ratings = Ratings.from_arrays(list("aaabbbccc"), list("ijkijkijk"), [1, 2, 3, 1, 2, 3, 4, 4, 4])
    two = Ratings.from_arrays(
        [*(ratings.rater_ids[code] for code in ratings.rater), *"dddeeefff"],
        [*(ratings.item_ids[code] for code in ratings.item), *"xyzxyzxyz"],
        [*ratings.value, 1, 2, 3, 2, 1, 3, 1, 2, 3],
    )
    best_rho, _ = best_raters(two, dict(zip("abcdef", "gggHHH", strict=True)), resamples=0)
    # a: 1 2 3 against (1 + 4) / 2, (2 + 4) / 2, (3 + 4) / 2: 1. d: 1 2 3 against 1.5 1.5 3: 1.5 / sqrt(2 * 1.5)
    assert best_rho.n == 2
    assert best_rho.value == pytest.approx((1 + 1.5 / 3**0.5) / 2, abs=1e-12)
    with pytest.raises(InputError, match="have no group"):
        best_raters(two, dict.fromkeys("abc", "g"))


def test_shuffling_is_what_selection_alone_gives() -> None:
    """Of raters who are all alike, the best of each group is as good as after shuffling; a seed gives it twice."""
    ratings, groups = groups_of_four(40, 7, noise=1.2, seed=5)
    first, second = (shuffled_best_raters(ratings, groups, shuffles=30, seed=seed) for seed in (4, 4))
    assert first == second
    best = best_raters(ratings, groups, resamples=0)
    sds = [float(result.note.rpartition(" ")[2].rstrip(")")) for result in first]
    for chosen, shuffled, sd in zip(best, first, sds, strict=True):
        assert chosen.value == pytest.approx(shuffled.value, abs=3 * sd)
    # and it is well above what one of these raters reaches
    one = single_rater(ratings, resamples=0)
    agreement = leave_one_out(ratings, resamples=0)
    assert first[0].value > one[1].value + 3 * sds[0]
    assert [(result.name, result.n) for result in one] == [
        ("single_rater_rho(over=ratings)", len(ratings)),
        ("single_rater_rho(over=raters)", agreement.n_raters),
        ("single_rater_rho_sd", agreement.n_raters),
        ("single_rater_accuracy_within_sd", len(ratings)),
    ]
    assert (one[1].value, one[2].value) == (agreement.mean, agreement.sd)
    names = [f"shuffled_best_rater(metric={metric},shuffles=30)" for metric in ("spearman", "accuracy_within_sd")]
    assert [result.name for result in first] == names
    assert {result.n for result in first} == {len(set(groups.values()))}
    with pytest.raises(StatisticError, match="at least two shuffles"):
        shuffled_best_raters(ratings, groups, shuffles=1)


def test_shuffling_keeps_the_ratings_of_each_item() -> None:
    """The same ratings of the same items, given by other raters of the item."""
    ratings, _ = groups_of_four(3, 6, noise=1.0, seed=7)
    mixed = ceilings._shuffle_ratings(ratings, np.random.default_rng(1))
    before, after = (sorted(zip(each.item.tolist(), each.value.tolist(), strict=True)) for each in (ratings, mixed))
    assert before == after
    assert (mixed.value != ratings.value).any()


def test_too_few_raters() -> None:
    """With two ratings of each item the others have no SD: there is no accuracy within it."""
    with pytest.raises(StatisticError, match="no item has three ratings"):
        rater_accuracy(Ratings.from_arrays(list("abab"), list("iijj"), [1, 2, 3, 4]))


@pytest.mark.published
def test_human_ceilings_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Best rater on test: .8341 and .8920 as printed (.834, .892), 6 constant columns; on all samples .7533, .8244."""
    test = ambistory.splits["test"]
    best = best_raters(test, ambistory.rater_groups, resamples=200)
    assert [(round(ceiling.value, 4), ceiling.n) for ceiling in best] == [(0.8341, 130), (0.8920, 130)]
    assert len(leave_one_out(test, minimum=2, resamples=0).undefined) == 6
    whole = best_raters(ambistory.everything, ambistory.rater_groups, resamples=0)
    assert [round(ceiling.value, 4) for ceiling in whole] == [0.7533, 0.8244]


@pytest.mark.published
def test_most_of_the_ceiling_is_selection(ambistory) -> None:  # type: ignore[no-untyped-def]
    """With raters shuffled within samples the same recipe gives .825 ± .008 and .882 ± .007."""
    shuffled = shuffled_best_raters(ambistory.splits["test"], ambistory.rater_groups, shuffles=60)
    assert [result.value for result in shuffled] == pytest.approx([0.825, 0.882], abs=0.003)
    sds = [float(result.note.rpartition(" ")[2].rstrip(")")) for result in shuffled]
    assert sds == pytest.approx([0.008, 0.007], abs=0.002)


@pytest.mark.published
def test_single_raters_of_ambistory(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Pooled ρ, mean ρ and accuracy of one rater: .637 .636 .703 on all samples, .650 .616 .698 on test."""
    whole = single_rater(ambistory.everything, resamples=0)
    test = single_rater(ambistory.splits["test"], resamples=0)
    assert [round(whole[k].value, 3) for k in (0, 1, 3)] == [0.637, 0.636, 0.703]
    assert [round(test[k].value, 3) for k in (0, 1, 3)] == [0.650, 0.616, 0.698]
    agreement = leave_one_out(ambistory.everything, resamples=0)
    assert [round(value, 2) for value in (whole[2].value, agreement.minimum, agreement.maximum)] == [0.15, 0.01, 0.91]
    assert (whole[1].n, len(agreement.undefined), whole[0].n) == (652, 0, 19_049)


@pytest.mark.published
@pytest.mark.parametrize(("kind", "rho", "share"), [("open", 0.600, 0.665), ("ended", 0.670, 0.714)])
def test_single_raters_of_open_and_ended_stories(ambistory, kind: str, rho: float, share: float) -> None:  # type: ignore[no-untyped-def]
    """On test, one rater against the others: .600 and .665 on open stories, .670 and .714 on ended ones."""
    test = ambistory.splits["test"]
    keep = np.array([ambistory.places[item].kind == kind for item in test.item_ids])
    found = single_rater(test.select(keep[test.item]), resamples=0)
    assert (round(found[0].value, 3), round(found[3].value, 3)) == (rho, share)


@pytest.mark.published
def test_reliability_of_five_ratings(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Spearman-Brown on alpha .5061 gives .837; alpha's interval by setup, the raters held fixed, is .485 to .525."""
    setups = {item: place.setup for item, place in ambistory.places.items()}
    alpha = krippendorff_alpha(ambistory.everything, resampled="items", groups=setups)
    assert round(alpha.value, 4) == 0.5061
    assert (alpha.interval.low, alpha.interval.high) == pytest.approx((0.485, 0.525), abs=0.002)
    found = reliability_of_means(alpha, 5)
    assert round(found.value, 3) == 0.837
    assert found.value == pytest.approx(5 * alpha.value / (1 + 4 * alpha.value), abs=1e-12)
    assert found.interval.low < found.value < found.interval.high


@pytest.mark.published
def test_alpha_of_open_and_ended_stories(ambistory) -> None:  # type: ignore[no-untyped-def]
    """Interval alpha is .4905 on open stories and .5128 on ended ones."""
    ratings = ambistory.everything
    kinds = np.array([ambistory.places[item].kind for item in ratings.item_ids])
    found = {
        kind: krippendorff_alpha(ratings.select((kinds == kind)[ratings.item]), resamples=0).value
        for kind in ("open", "ended")
    }
    assert {kind: round(value, 4) for kind, value in found.items()} == {"open": 0.4905, "ended": 0.5128}
