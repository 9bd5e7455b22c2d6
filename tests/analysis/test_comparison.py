"""Paired differences: same draws on both sides, against a bootstrap written out, coverage, and sets of ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.metrics import roc_auc_score

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.bootstrap import GroupLabels, percentile_interval, resample_rows
from lexiscope.analysis.comparison import (
    Side,
    bootstrap_p,
    compare_sides,
    exchange_test,
    rank_sets,
    side_of_columns,
    side_of_ratings,
    side_of_rows,
)
from lexiscope.analysis.ranks import rank_results
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.significance import sign_flip
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost, Estimate, Undefined
from lexiscope.report.part import record_cell

GENERATOR = np.random.default_rng(5)
WORDS = np.repeat([f"w{number}" for number in range(12)], 4)
NORM = GENERATOR.normal(size=48).round(1)
FIRST, SECOND = (NORM + GENERATOR.normal(0, sd, 48) for sd in (0.8, 1.5))


def _written_out(
    first: Callable[[list[int]], float], second: Callable[[list[int]], float], resamples: int, seed: int
) -> list[float]:
    """The differences, one resample after the other: the words drawn by numpy, their rows listed, nothing shared."""
    names = sorted(set(WORDS.tolist()))
    draws = np.random.default_rng(seed).integers(0, len(names), size=(resamples, len(names)))
    found = []
    for drawn in draws.tolist():
        rows = [row for group in drawn for row in np.flatnonzero(names[group] == WORDS).tolist()]
        found.append(first(rows) - second(rows))
    return found


ORACLES: dict[str, Callable[[np.ndarray, list[int]], float]] = {
    "spearman": lambda x, rows: float(stats.spearmanr(x[rows], NORM[rows]).statistic),
    "pearson": lambda x, rows: float(stats.pearsonr(x[rows], NORM[rows]).statistic),
    "r_squared": lambda x, rows: float(stats.linregress(x[rows], NORM[rows]).rvalue ** 2),
    "accuracy": lambda x, rows: float(np.mean(x[rows] > 0)),
    "mean": lambda x, rows: float(np.mean(x[rows])),
}


def _side(statistic: str, x: np.ndarray) -> Side:
    labels = GroupLabels(WORDS.tolist(), "words")
    columns = {"accuracy": [x > 0], "mean": [x]}.get(statistic, [x, NORM])
    return side_of_columns(statistic, columns, labels)


def _bounds(draws: ArrayLike, n_groups: int = 12) -> tuple[float, float]:
    """Expanded percentiles, by scipy: the tail is Φ(−√(g / (g − 1)) · t) of g groups (Hesterberg 2015)."""
    tail = stats.norm.cdf(-np.sqrt(n_groups / (n_groups - 1)) * stats.t.ppf(0.975, n_groups - 1))
    return float(np.quantile(draws, tail)), float(np.quantile(draws, 1 - tail))


def test_p_is_below_the_level_where_the_interval_excludes_0() -> None:
    """Of any number of groups the interval and p decide alike, but for the draw that the data count as."""
    draws = np.random.default_rng(4).normal(size=2000)
    for n_groups, widest in ((3, 6.0), (5, 4.0), (6, 3.4), (12, 3.4), (60, 3.4)):
        for shift in np.linspace(1.6, widest, 37):
            low = percentile_interval(draws + shift, n_groups=n_groups).low
            if abs(low) > 0.02:
                assert (bootstrap_p(draws + shift, n_groups=n_groups) < 0.05) == (low > 0)


def test_p_of_few_groups_is_that_of_students_t() -> None:
    """Of every resample of 4 values' mean, p is that of the t test of the values; of equal draws, that of counting."""
    values = np.array([0.3, 1.1, 0.8, 2.0])
    draws = values[np.indices([4] * 4).reshape(4, -1).T].mean(axis=1)
    assert bootstrap_p(draws, n_groups=4) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-9)
    assert isinstance(bootstrap_p([1.0] * 99, n_groups=4), AtMost)


@pytest.mark.parametrize("statistic", sorted(ORACLES))
def test_a_difference_is_that_of_resamples_written_out(statistic: str) -> None:
    """Value, interval and p of each named statistic are those of scipy's and numpy's on the same words drawn."""
    oracle = ORACLES[statistic]
    found = compare_sides(_side(statistic, FIRST), _side(statistic, SECOND), resamples=60, seed=3)
    every = list(range(48))
    assert found.value == pytest.approx(oracle(FIRST, every) - oracle(SECOND, every), abs=1e-12)
    draws = _written_out(lambda rows: oracle(FIRST, rows), lambda rows: oracle(SECOND, rows), 60, 3)
    assert (found.interval.low, found.interval.high) == pytest.approx(_bounds(draws), abs=1e-9)
    assert found.p == bootstrap_p(draws, n_groups=12)
    assert found.interval.method.startswith("bootstrap(method=expanded_percentile,resampled=")
    assert (found.n, found.n_groups) == (48, 12)


def test_an_area_is_that_of_scikit_learn_in_each_resample() -> None:
    """Value, interval and p of a difference of two areas are those of ``roc_auc_score`` on the same words drawn."""
    rng = np.random.default_rng(8)
    truth = np.arange(48) % 2
    columns = [rng.normal(size=48) + weight * truth for weight in (1.5, 0.3)]
    labels = GroupLabels([f"w{row // 4}" for row in range(48)], "words")
    sides = [side_of_columns("auc", [column, truth], labels) for column in columns]
    found = compare_sides(*sides, resamples=40, seed=3)
    areas = [roc_auc_score(truth, column) for column in columns]
    assert (found.first, found.second) == pytest.approx(tuple(areas), abs=1e-12)
    codes = np.arange(48) // 4
    # words in the order of their names, as a bootstrap has them
    place = np.argsort(np.argsort([f"w{number}" for number in range(12)]))
    drawn = resample_rows(place[codes], 12, resamples=40, seed=3)
    draws = [
        roc_auc_score(truth[rows], columns[0][rows]) - roc_auc_score(truth[rows], columns[1][rows]) for rows in drawn
    ]
    assert (found.interval.low, found.interval.high) == pytest.approx(_bounds(draws), abs=1e-9)
    with pytest.raises(StatisticError, match="both kinds"):
        side_of_columns("auc", [columns[0], np.ones(48)], labels)


def test_a_statistic_of_ones_own_is_compared_like_a_named_one() -> None:
    """A callable of row indices gives the numbers of the named statistic, for any statistic."""
    own = [
        side_of_rows(
            lambda rows, x=x: float(stats.pearsonr(x[rows], NORM[rows]).statistic), WORDS.tolist(), name="pearson"
        )
        for x in (FIRST, SECOND)
    ]
    named = compare_sides(_side("pearson", FIRST), _side("pearson", SECOND), resamples=50)
    found = compare_sides(*own, resamples=50)
    assert (found.value, found.p) == pytest.approx((named.value, named.p))
    assert found.interval.low == pytest.approx(named.interval.low)


def test_alpha_of_two_sets_of_ratings() -> None:
    """The difference of alpha on resampled items is that of alpha of the items drawn, each copy an item of its own."""
    generator = np.random.default_rng(2)
    sets = []
    for sd in (0.4, 1.2):
        truth = np.arange(8) % 4
        rows = [
            (f"r{r}", f"i{i}", float(np.rint(truth[i] + generator.normal(0, sd)))) for r in range(3) for i in range(8)
        ]
        sets.append(Ratings.from_arrays(*map(list, zip(*rows, strict=True))))
    found = compare_sides(*map(side_of_ratings, sets), resamples=30, seed=4)
    draws = []
    for drawn in np.random.default_rng(4).integers(0, 8, size=(30, 8)).tolist():
        alphas = []
        for ratings in sets:
            copies = [
                (ratings.rater_ids[r], f"{copy}", v)
                for copy, item in enumerate(drawn)
                for r, i, v in zip(ratings.rater, ratings.item, ratings.value, strict=True)
                if ratings.item_ids[i] == f"i{item}"
            ]
            alphas.append(
                krippendorff_alpha(Ratings.from_arrays(*map(list, zip(*copies, strict=True))), resamples=0).value
            )
        draws.append(alphas[0] - alphas[1])
    assert (found.interval.low, found.interval.high) == pytest.approx(_bounds(draws, 8), abs=1e-9)


def test_two_conditions_share_the_words_that_are_drawn() -> None:
    """Rows of two conditions of the same words: each resample draws the same words for both; a word that is missing in
    one condition has no row there."""
    here, there = np.arange(48) % 4 < 2, (np.arange(48) % 4 >= 2) & (WORDS != "w3")
    sides = [side_of_columns("mean", [FIRST[rows]], WORDS[rows].tolist()) for rows in (here, there)]
    found = compare_sides(*sides, resamples=40, seed=1)

    def mean_of(kept: np.ndarray) -> Callable[[list[int]], float]:
        return lambda rows: float(np.mean([FIRST[row] for row in rows if kept[row]]))

    draws = _written_out(mean_of(here), mean_of(there), 40, 1)
    assert (found.interval.low, found.interval.high) == pytest.approx(_bounds(draws), abs=1e-9)
    correlations = [side_of_columns("spearman", [FIRST[k], NORM[k]], WORDS[k].tolist()) for k in (here, there)]
    spearman = compare_sides(*correlations, resamples=40, seed=1)
    draws = _written_out(
        lambda rows: float(
            stats.spearmanr(*([column[r] for r in rows if here[r]] for column in (FIRST, NORM))).statistic
        ),
        lambda rows: float(
            stats.spearmanr(*([column[r] for r in rows if there[r]] for column in (FIRST, NORM))).statistic
        ),
        40,
        1,
    )
    assert (spearman.interval.low, spearman.interval.high) == pytest.approx(_bounds(draws), abs=1e-9)


def test_a_side_compared_with_itself_differs_by_nothing() -> None:
    """Difference 0, interval from 0 to 0, p = 1: the draws are the same."""
    found = compare_sides(_side("spearman", FIRST), _side("spearman", FIRST), resamples=50)
    assert (found.value, found.interval.low, found.interval.high, found.p) == (0, 0, 0, 1)
    assert not found.excludes_zero


def test_what_cannot_be_compared() -> None:
    """Two statistics, an unknown one, columns of other lengths, missing values, an accuracy beyond 1, one group."""
    labels = WORDS.tolist()
    for call, reason in (
        (lambda: compare_sides(_side("mean", FIRST), _side("pearson", FIRST)), "two statistics"),
        (
            lambda: side_of_columns("kendall", [FIRST, NORM], labels),
            "valid names: spearman, pearson, r_squared, auc, accuracy",
        ),
        (lambda: side_of_columns("spearman", [FIRST], labels), "needs 2 columns of 48 rows"),
        (lambda: side_of_columns("mean", [[np.nan] * 48], labels), "missing or infinite"),
        (lambda: side_of_columns("accuracy", [[2.0] * 48], labels), "between 0"),
        (lambda: compare_sides(*[side_of_columns("mean", [FIRST], ["w"] * 48)] * 2), "at least 2 groups"),
    ):
        with pytest.raises(StatisticError, match=reason):
            call()


def _coverage(studies: int, words: int, resamples: int) -> tuple[float, float]:
    """How often the interval of a difference of two equally good models holds 0, and p is at most .05."""
    generator, held, rejected = np.random.default_rng(9), 0, 0
    labels = np.repeat(np.arange(words).astype(str), 4).tolist()
    for seed in range(studies):
        norm = np.repeat(generator.normal(size=words), 4) + generator.normal(size=4 * words)
        sides = [side_of_columns("pearson", [norm + generator.normal(0, 1, 4 * words), norm], labels) for _ in "ab"]
        found = compare_sides(*sides, resamples=resamples, seed=seed)
        held += found.interval.low <= 0 <= found.interval.high
        rejected += (found.p or 0) <= 0.05
    return held / studies, rejected / studies


def test_the_interval_of_a_difference_holds_no_difference() -> None:
    """Of 200 simulated studies with two equally good models and 40 words, 90 to 99 % of the intervals hold 0."""
    covered, rejected = _coverage(200, 40, 199)
    assert 0.90 <= covered <= 0.99
    assert rejected == pytest.approx(1 - covered, abs=0.02)


@pytest.mark.soak
def test_the_coverage_of_a_difference() -> None:
    """Of 2000 studies with 60 words, 93.5 to 96.5 % of the intervals hold 0 (SE .5 %)."""
    covered, _ = _coverage(2000, 60, 999)
    assert 0.935 - 0.01 <= covered <= 0.965 + 0.01


# -- sets of ranks --------------------------------------------------------------------------------------------------


def test_exchanged_means_are_those_of_words_that_both_sides_have() -> None:
    """Two conditions of the same words: signs of differences of word means; a word of one side alone is excluded."""
    first, second = [5.0, 7.0, 6.0, 9.0, 1.0], [4.0, 4.0, 5.0]
    labels = (["a", "a", "b", "c", "d"], ["a", "b", "c"])
    made = exchange_test("sign_flip", first, second, labels=labels, paired=False)
    assert made.statistic == pytest.approx((2 + 2 + 4) / 3)
    assert made.p == sign_flip([6, 6, 9], [4, 4, 5]).p == 0.25


def test_models_that_do_not_differ_share_their_ranks() -> None:
    """Two good models that are alike, and a bad one: ranks 1 to 2, 1 to 2, and 3; in any order of the models."""
    near = NORM + np.random.default_rng(8).normal(0, 0.8, 48)
    bad = np.random.default_rng(7).normal(size=48)
    sides = [_side("pearson", x) for x in (FIRST, near, bad)]
    assert [str(ranks) for ranks in rank_sets(sides, resamples=500)] == ["1–2", "1–2", "3"]
    assert [str(ranks) for ranks in rank_sets(sides[::-1], resamples=500)] == ["3", "1–2", "1–2"]
    assert [str(ranks) for ranks in rank_sets(sides[:1])] == ["1"]


def test_the_set_holds_the_rank_of_the_estimate() -> None:
    """The rank by value always lies in the set, and equal models have the whole range."""
    sides = [_side("spearman", NORM + np.random.default_rng(seed).normal(0, 1, 48)) for seed in range(6)]
    order = np.argsort([-side.value for side in sides]).tolist()
    for rank, place in enumerate(order, start=1):
        ranks = rank_sets(sides, resamples=300)[place]
        assert ranks.best <= rank <= ranks.worst
    same = [_side("spearman", FIRST)] * 3
    assert [str(ranks) for ranks in rank_sets(same, resamples=300)] == ["1–3"] * 3


def test_sets_of_equal_models_seldom_name_a_winner() -> None:
    """Family-wise: of 100 studies with five equally good models, at most 12 part any two of them (5 % + 3 SE)."""
    generator, parted = np.random.default_rng(3), 0
    labels = np.repeat(np.arange(40).astype(str), 3).tolist()
    for seed in range(100):
        sides = [side_of_columns("mean", [generator.normal(size=120)], labels) for _ in range(5)]
        parted += any(str(ranks) != "1–5" for ranks in rank_sets(sides, resamples=199, seed=seed))
    assert parted <= 12


def test_ranks_of_two_statistics_are_refused() -> None:
    """A mean and a correlation have no common order."""
    with pytest.raises(StatisticError, match="several statistics"):
        rank_sets([_side("mean", FIRST), _side("pearson", FIRST)])


def test_the_ranks_of_a_planted_case_by_hand() -> None:
    """Written out: ρ of every draw by scipy, the largest deviation of any pair over its SE, its 95 % quantile.

    Few groups: the quantile becomes that of Student's t times √(n / (n − 1)). A pair differs where its difference is
    further from 0 than that; a subject's set runs from 1 + those above it to all − those below it.
    """
    generator = np.random.default_rng(4)
    columns = {name: NORM + generator.normal(0, noise, 48) for name, noise in (("a", 0.3), ("b", 0.35), ("c", 4.0))}
    names, order = sorted(set(WORDS.tolist())), np.random.default_rng(2)
    picks = order.integers(0, len(names), size=(200, len(names)))
    rows = [np.concatenate([np.flatnonzero(names[k] == WORDS) for k in pick]) for pick in picks]
    rho = {name: stats.spearmanr(column, NORM).statistic for name, column in columns.items()}
    drawn = {name: np.array([stats.spearmanr(x[r], NORM[r]).statistic for r in rows]) for name, x in columns.items()}
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    differences = {pair: rho[pair[0]] - rho[pair[1]] for pair in pairs}
    off = {pair: drawn[pair[0]] - drawn[pair[1]] - differences[pair] for pair in pairs}
    errors = {pair: np.std(off[pair], ddof=1) for pair in pairs}
    bound = np.quantile(np.max([np.abs(off[pair]) / errors[pair] for pair in pairs], axis=0), 0.95)
    n = len(names)
    bound = stats.t.ppf(stats.norm.cdf(bound), n - 1) * np.sqrt(n / (n - 1))
    above = dict.fromkeys(columns, 0)
    below = dict(above)
    for pair in pairs:
        if abs(differences[pair]) > bound * errors[pair]:
            better, worse = pair if differences[pair] > 0 else pair[::-1]
            above[worse] += 1
            below[better] += 1
    found = rank_results("spearman", columns, NORM, groups=WORDS, resamples=200, seed=2)
    ordered = sorted(rho, key=lambda name: -rho[name])
    for estimate in found:
        assert isinstance(estimate, Estimate)
        name = estimate.subject
        assert estimate.value == 1 + ordered.index(name)
        assert (estimate.interval.low, estimate.interval.high) == (1 + above[name], 3 - below[name])
        assert estimate.n == 48
    assert {(e.subject, str(record_cell(e.records()[0]))) for e in found} == {("a", "1–2"), ("b", "1–2"), ("c", "3")}


def test_the_ranks_are_those_of_the_sides() -> None:
    """Drawn once for all columns or side by side: the same sets; the printed name says how they were made."""
    columns = {str(seed): NORM + np.random.default_rng(seed).normal(0, 1 + seed, 48) for seed in range(4)}
    for statistic in ("spearman", "pearson", "r_squared", "mean"):
        given = [[x, NORM] if statistic != "mean" else [x] for x in columns.values()]
        sides = [side_of_columns(statistic, x, WORDS.tolist()) for x in given]
        sets = rank_sets(sides, resamples=99, seed=3)
        groups = GroupLabels(WORDS.tolist(), "words")
        found = rank_results(statistic, columns, NORM, groups=groups, resamples=99, seed=3)
        assert [record_cell(estimate.records()[0]) for estimate in found] == [str(ranks) for ranks in sets]
        (record,) = found[0].records()
        assert record.statistic == f"rank(of={statistic},among=subjects)"
        assert record.interval == "set_of_ranks(method=simultaneous,resampled=words,level=0.95,resamples=99)"


def test_ranks_are_of_the_items_that_all_answered() -> None:
    """Items that one subject lacks are left out of all; without a common item, a value or resamples, a reason."""
    short, late = FIRST.copy(), NORM + np.random.default_rng(1).normal(size=48)
    short[:8] = np.nan
    found = rank_results("spearman", {"a": FIRST, "b": late, "short": short}, NORM, groups=WORDS, resamples=99)
    assert {estimate.n for estimate in found} == {40}
    assert found[0].note == "excluded: 8 items that not all of them answered"
    late[8:] = np.nan
    for columns, resamples, reasons in (
        ({"a": FIRST, "b": late, "short": short}, 99, ["there is no item that all subjects answered"] * 3),
        (
            {"a": FIRST, "b": NORM, "same": [2.0] * 48},
            99,
            ["", "", "the correlation is undefined: in x, all 48 values"],
        ),
        ({"a": FIRST, "none": [np.nan] * 48}, 99, ["no other subject has a value", "it answered no item"]),
        ({"a": FIRST, "b": NORM}, 0, ["a set of ranks needs resamples"] * 2),
    ):
        results = rank_results("spearman", columns, NORM, groups=WORDS, resamples=resamples)
        for result, reason in zip(results, reasons, strict=True):
            assert isinstance(result, Undefined if reason else Estimate)
            assert not reason or result.reason.startswith(reason)
    assert rank_results("spearman", {"a": FIRST}, NORM) == []
