"""Accuracy by token delta, its tests against delta 0, and the warning where decisions follow the delta."""

from __future__ import annotations

import pytest
from scipy import stats

from lexiscope.analysis.choices.tokenisation import accuracy_by_delta, delta_effect, in_family
from lexiscope.core.errors import StatisticError


def planted(levels: dict[int, tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Decisions with so many right of so many at each delta."""
    right, deltas = [], []
    for delta, (k, n) in levels.items():
        right += [1] * k + [0] * (n - k)
        deltas += [delta] * n
    return right, deltas


PAPER = {-2: (14, 18), -1: (117, 150), 0: (214, 285), 1: (100, 126), 2: (14, 21)}


def test_the_published_counts_give_the_specifications_t() -> None:
    """−2 against 0: t = .26, p = .80; 2 against 0: −.85/.39 pooled, −.78/.45 Welch (specification §5)."""
    levels = {level.delta: level for level in accuracy_by_delta(*planted(PAPER))}
    assert {delta: (level.n_correct, level.n) for delta, level in levels.items()} == PAPER
    low, high = levels[-2], levels[2]
    assert low.pooled is not None
    assert low.welch is not None
    assert high.pooled is not None
    assert high.welch is not None
    assert (f"{low.pooled.statistic:.2f}", f"{low.pooled.p:.2f}") == ("0.26", "0.80")
    assert (f"{low.welch.statistic:.2f}", f"{low.welch.p:.2f}") == ("0.26", "0.80")
    assert (f"{high.pooled.statistic:.2f}", f"{high.pooled.p:.2f}") == ("-0.85", "0.39")
    assert (f"{high.welch.statistic:.2f}", f"{high.welch.p:.2f}") == ("-0.78", "0.45")
    assert levels[0].welch is None


def test_the_tests_are_scipys() -> None:
    """Student's and Welch's t on the 0/1 vectors."""
    right, deltas = planted({0: (3, 9), 3: (8, 10)})
    level = accuracy_by_delta(right, deltas)[1]
    assert level.pooled is not None
    assert level.welch is not None
    here, zero = [1] * 8 + [0] * 2, [1] * 3 + [0] * 6
    assert level.pooled.p == pytest.approx(stats.ttest_ind(here, zero).pvalue, abs=1e-12)
    assert level.welch.p == pytest.approx(stats.ttest_ind(here, zero, equal_var=False).pvalue, abs=1e-12)


def test_a_warning_needs_a_gap_that_is_large_and_not_by_chance() -> None:
    """80 against 40 % of 50 each follows the delta; 52 against 48 % does not; nor do five items of each."""
    assert delta_effect(*planted({1: (40, 50), -1: (20, 50)})).follows
    assert "more tokens (80 % against 40 %)" in delta_effect(*planted({1: (40, 50), -1: (20, 50)})).note
    assert "fewer tokens" in delta_effect(*planted({1: (20, 50), -1: (40, 50)})).note
    assert not delta_effect(*planted({1: (26, 50), -1: (24, 50)})).follows
    assert not delta_effect(*planted({1: (4, 5), -1: (2, 5)})).follows


def test_verdicts_that_are_read_together_are_adjusted() -> None:
    """A raw p of .03 follows alone, and not among three tests (3 × .03 > .05); a p below .05 / 3 does."""
    weak, strong = (delta_effect(*planted({1: (more, 50), -1: (20, 50)})) for more in (31, 40))
    assert weak.test is not None
    assert 0.02 < weak.test.p < 0.05
    assert weak.follows
    untested = delta_effect(*planted({1: (30, 30), -1: (0, 30)}))
    one, other, third, split = in_family([weak, strong, weak, untested])
    assert (one.n_tests, split.p_adjusted) == (3, None)
    assert one.p_adjusted == third.p_adjusted == pytest.approx(2 * weak.test.p)
    assert [effect.follows for effect in (one, other, third, split)] == [False, True, False, True]
    assert (one.note, one.result().note) == ("", "")
    assert "more tokens (80 % against 40 %)" in other.note


def test_a_perfect_split_follows_the_delta_though_t_is_undefined() -> None:
    """Always right with more tokens, never with fewer: neither sample varies, the decision follows all the same."""
    found = delta_effect(*planted({1: (30, 30), -1: (0, 30)}))
    assert found.test is None
    assert found.follows


def test_one_delta_per_decision() -> None:
    """Columns of two lengths are refused."""
    with pytest.raises(StatisticError):
        accuracy_by_delta([1, 0], [1])
