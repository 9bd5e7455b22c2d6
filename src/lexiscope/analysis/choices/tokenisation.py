"""How a subject's tokenizer cuts sentences and targets, and whether decisions depend on the number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.accuracy import share_interval
from lexiscope.analysis.bootstrap import FloatArray, groups_of
from lexiscope.analysis.families import holm
from lexiscope.analysis.layers.layers import values_by_layer
from lexiscope.analysis.significance import TestResult, independent_t
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import NO_INTERVAL, Estimate, Interval, Undefined, statistic_name

COUNTS = ("n_tokens_1", "n_tokens_2", "target_tokens")
"""The measures of a subject that counts tokens: those of both sentences, and of the target."""


def tokenisation(
    tokens_1: ArrayLike, tokens_2: ArrayLike, target_tokens: ArrayLike, words: ArrayLike
) -> tuple[Estimate, ...]:
    """Summarise token counts over sentence pairs: differences (mean, mode, largest) and tokens per target.

    Differences are |tokens of sentence 1 − tokens of sentence 2|; of equally frequent ones the smallest is the mode.
    The tokens per target are a mean over distinct words, and a mean over pairs, so that a word with more pairs counts
    more.

    *Shape:* all (pairs,): tokens of the two sentences, tokens of the target, and its word. *Unit:* tokens. A word
    whose target is cut differently in different pairs enters with its mean, and the note names it.
    *Source:* SAW-C Table 3 (target tokens over words).
    Errors: :class:`StatisticError` where there is no pair, the lengths differ, or a count is not a whole number ≥ 0.

    Differences 1, 0, 1; the word a has 1 token in two pairs, b has 4: over words (1 + 4) / 2, over pairs 6 / 3:

    >>> counts = tokenisation([7, 8, 9], [8, 8, 8], [1, 1, 4], ["a", "a", "b"])
    >>> [(count.name, count.value) for count in counts[1::2]]
    [('token_difference(summary=mode)', 1.0), ('target_tokens(mean_over=words)', 2.5)]
    """
    names, codes = np.unique(np.asarray(words), return_inverse=True)
    first, second, target = (_counts(values, len(codes)) for values in (tokens_1, tokens_2, target_tokens))
    differences = np.abs(first - second)
    frequency = np.bincount(differences)
    per_word = np.bincount(codes, weights=target) / np.bincount(codes)
    varying = [str(name) for code, name in enumerate(names) if len(np.unique(target[codes == code])) > 1]
    note = f"cut differently in different pairs: {', '.join(varying)}" if varying else ""
    summaries = {
        # integers are summed before the one division, so that equal means are equal to the last bit
        statistic_name("token_difference", summary="mean"): int(differences.sum()) / len(codes),
        statistic_name("token_difference", summary="mode"): float(frequency.argmax()),
        statistic_name("token_difference", summary="max"): float(differences.max()),
        statistic_name("target_tokens", mean_over="words"): float(per_word.mean()),
        statistic_name("target_tokens", mean_over="pairs"): int(target.sum()) / len(codes),
    }
    return tuple(Estimate(name, value, n=len(codes), unit="tokens", note=note) for name, value in summaries.items())


def tokenisation_of_answers(
    answers: ResponseColumns, item_ids: Sequence[str], words: Sequence[str]
) -> dict[tuple[str, str], tuple[Estimate, ...]]:
    """Return the token counts of each subject in each view among answers; only of those that counted every item.

    *words* are those of the items. Counts of the target do not depend on the view: those of one view serve all.
    """
    first = answers.where(measure=COUNTS[0])
    by_view = {}
    for subject in first.unique("subject_id"):
        own = answers.where(subject_id=subject)
        for view in first.where(subject_id=subject).unique("view"):
            try:
                first_tokens, other_tokens, target_tokens = (
                    _of_view(own.where(measure=measure), view, item_ids) for measure in COUNTS
                )
            except InputError:
                # a subject that did not count every item has no report
                continue
            by_view[subject, view] = tokenisation(first_tokens, other_tokens, target_tokens, words)
    return by_view


def _of_view(answers: ResponseColumns, view: str, item_ids: Sequence[str]) -> ArrayLike:
    rows = answers.where(view=view)
    alone = not len(rows) and COUNTS[2] in answers.unique("measure")
    _, matrix = values_by_layer(answers if alone else rows, item_ids)
    return np.asarray(matrix[:, 0])


def _counts(values: ArrayLike, n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    counts = np.asarray(values, dtype=np.float64)
    if counts.shape != (n,) or not n:
        raise StatisticError(f"{counts.shape} token counts for {n} pairs")
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts % 1).any():
        raise StatisticError("token counts are whole numbers, none of them missing")
    return counts.astype(np.int64)


# -- whether decisions go with the number of tokens: accuracy by token delta, tests, and a warning ------------------
# A score that is a mean over tokens rewards words that are cut into many predictable pieces; a sum punishes them.


WARN_P = 0.05
WARN_POINTS = 0.10


@dataclass(frozen=True, slots=True)
class DeltaLevel:
    """The decisions at one token delta: how many, how many right, and the tests against delta 0.

    ``interval`` is that of the share right, by sentences. ``welch`` and ``pooled`` are missing at delta 0 and where a
    sample is too small or neither varies.
    """

    delta: float
    n: int
    n_correct: int
    welch: TestResult | None = None
    pooled: TestResult | None = None
    interval: Interval = NO_INTERVAL

    @property
    def accuracy(self) -> float:
        """The share right."""
        return self.n_correct / self.n

    def results(self) -> tuple[Estimate, ...]:
        """Return the accuracy in percent, the number of decisions, and t and p of the tests that there are.

        >>> [(result.name, result.value) for result in DeltaLevel(0.0, 4, 3).results()]
        [('accuracy_by_delta(delta=0)', 75.0), ('n_by_delta(delta=0)', 4.0)]
        """
        delta, estimates = f"{self.delta:g}", []
        for variances, test in (("pooled", self.pooled), ("welch", self.welch)):
            for name, value in (("independent_t", test.statistic), ("independent_t_p", test.p)) if test else ():
                estimates.append(Estimate(statistic_name(name, delta=delta, variances=variances), value, n=self.n))
        right = Estimate(statistic_name("accuracy_by_delta", delta=delta), self.accuracy, self.interval, self.n)
        counted = Estimate(statistic_name("n_by_delta", delta=delta), float(self.n), n=self.n)
        return right.times(100, "percent"), counted, *estimates


@dataclass(frozen=True, slots=True)
class DeltaEffect:
    """Accuracy where the right option has fewer tokens, and where it has more; ``follows``: the decision goes with it.

    ``test`` compares more with fewer; it is missing where one side is too small. ``p_adjusted`` is its p adjusted for
    the ``n_tests`` tests that are read together (:func:`in_family`), Holm; a single test has its own p.
    """

    n_fewer: int
    n_more: int
    accuracy_fewer: float
    accuracy_more: float
    test: TestResult | None
    p_adjusted: float | None
    n_tests: int = 1

    @property
    def follows(self) -> bool:
        """Whether the accuracies differ by at least 10 points with an adjusted p < .05 (Welch, Holm)."""
        gap = abs(self.accuracy_more - self.accuracy_fewer)
        # without any variation on either side there is no t; a clean split of many items follows the delta all the same
        split = self.test is None and gap == 1 and min(self.n_fewer, self.n_more) > 4
        return split or (self.p_adjusted is not None and self.p_adjusted < WARN_P and gap >= WARN_POINTS)

    @property
    def note(self) -> str:
        """Which way the decision goes; empty where it does not follow the delta."""
        if not self.follows:
            return ""
        side = "more" if self.accuracy_more > self.accuracy_fewer else "fewer"
        high, low = sorted((self.accuracy_more, self.accuracy_fewer), reverse=True)
        text = f"right more often where the right word has {side} tokens ({high:.0%} against {low:.0%})"
        return text.replace("%", " %")

    def result(self) -> Estimate | Undefined:
        """Return by how many points the right option is chosen more often where it has more tokens.

        >>> round(delta_effect([1, 1, 1, 0, 0, 1], [1, 1, 1, -1, -1, -1]).result().value, 6)
        66.666667
        """
        gap, n = self.accuracy_more - self.accuracy_fewer, self.n_fewer + self.n_more
        if np.isnan(gap):
            return Undefined("follows_delta", "the right word never has more, or never fewer, tokens", n)
        p = self.test.p if self.test else None
        return Estimate("follows_delta", 100 * gap, n=n, p=p, unit="points", note=self.note)


def in_family(effects: Sequence[DeltaEffect]) -> tuple[DeltaEffect, ...]:
    """Return effects that are read together, with their p values adjusted by Holm's method for how many they are.

    >>> one = delta_effect([1] * 9 + [0] * 9, ([1] * 6 + [-1] * 3) + ([-1] * 6 + [1] * 3))
    >>> round(one.test.p, 3), [round(effect.p_adjusted, 3) for effect in in_family([one, one])]
    (0.176, [0.353, 0.353])
    """
    tested = [effect.test.p for effect in effects if effect.test]
    adjusted = iter(holm(tested).tolist())
    return tuple(
        replace(effect, p_adjusted=next(adjusted), n_tests=len(tested)) if effect.test else effect for effect in effects
    )


def accuracy_by_delta(
    correct: ArrayLike, deltas: ArrayLike, *, groups: ArrayLike | None = None, resamples: int = 2000
) -> tuple[DeltaLevel, ...]:
    """Return the decisions by token delta, in ascending order, each tested against delta 0.

    Intervals are those of :func:`~lexiscope.analysis.accuracy.share_interval`: *groups* are what varies (sentences);
    the tests take decisions as independent. *Shape:* (decisions,) each. *Source:* Ivan et al. 2025, §4.3 and Table 1.

    >>> [(level.delta, level.n, level.n_correct) for level in accuracy_by_delta([1, 0, 1, 1], [-1, 0, 0, 0])]
    [(-1.0, 1, 1), (0.0, 3, 2)]

    Errors: :class:`StatisticError` for unequal lengths or no decisions.
    """
    right, delta = _columns(correct, deltas)
    zero = right[delta == 0]
    levels = []
    for level in np.unique(delta):
        here = right[delta == level]
        tested = level != 0 and len(zero) > 0
        levels.append(
            DeltaLevel(
                float(level),
                len(here),
                int(here.sum()),
                _compare(here, zero, pooled=False) if tested else None,
                _compare(here, zero, pooled=True) if tested else None,
                share_interval(here, groups=groups_of(groups, delta == level), resamples=resamples)[0],
            )
        )
    return tuple(levels)


def delta_effect(correct: ArrayLike, deltas: ArrayLike) -> DeltaEffect:
    """Whether decisions follow the token delta. *Shape:* (decisions,) each.

    >>> delta_effect([1, 1, 1, 0, 0, 1] * 9, [1, 1, 1, -1, -1, -1] * 9).note
    'right more often where the right word has more tokens (100 % against 33 %)'

    Errors: :class:`StatisticError` for unequal lengths or no decisions.
    """
    right, delta = _columns(correct, deltas)
    fewer, more = right[delta < 0], right[delta > 0]
    low, high = (float(side.mean()) if len(side) else float("nan") for side in (fewer, more))
    test = _compare(more, fewer, pooled=False)
    return DeltaEffect(len(fewer), len(more), low, high, test, test.p if test else None)


def _compare(first: FloatArray, second: FloatArray, *, pooled: bool) -> TestResult | None:
    if min(len(first), len(second)) < 2 or (np.ptp(first) == 0 and np.ptp(second) == 0):
        return None
    return independent_t(first, second, variances="pooled" if pooled else "welch")


def _columns(correct: ArrayLike, deltas: ArrayLike) -> tuple[FloatArray, FloatArray]:
    right, delta = np.asarray(correct, dtype=np.float64), np.asarray(deltas, dtype=np.float64)
    if right.shape != delta.shape or right.ndim != 1 or not len(right):
        raise StatisticError(f"one token delta per decision is needed, not {delta.shape} for {right.shape}")
    return right, delta
